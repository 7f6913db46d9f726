"""`jaxgames manual`."""

import argparse
from collections.abc import Iterator

import jaxgames
from jaxgames.cli import _grammar
from jaxgames.cli._exit import Exit
from jaxgames.cli._grammar import Command

EXAMPLE = "manual"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes: nothing."""


def run(args: argparse.Namespace) -> Exit:
    print("\n".join(_page(_grammar.commands())))
    return Exit.DONE


def _page(program: Command) -> Iterator[str]:
    yield f'.TH JAXGAMES 1 "" "jaxgames {jaxgames.__version__}" "User Commands"'
    yield ".SH NAME"
    yield "jaxgames \\- games on graphs"
    yield ".SH SYNOPSIS"
    yield f".B {_plain(program.usage)}"
    yield ".SH COMMANDS"
    for command in program.parts:
        yield from _command(command)
    yield ".SH EXIT STATUS"
    for code in Exit:
        yield from _item(str(code.value), code.meaning)
    yield ".SH FILES"
    yield from _item("$XDG_CACHE_HOME/jaxgames", "Programs that JAX compiled.")


def _command(command: Command) -> Iterator[str]:
    yield f'.SS "jaxgames {command.name}"'
    yield _plain(command.about)
    yield ".PP"
    yield f".B {_plain(command.usage)}"
    for option in command.arguments + command.options:
        names = ", ".join(option.names)
        yield from _item(f"{names} {option.value or ''}".strip(), option.about)
    for part in command.parts:
        yield from _item(_plain(part.usage.removeprefix("jaxgames ")), part.about)
    untaken, _, example = command.epilog.partition("example:\n")
    if untaken:
        yield ".PP"
        yield _plain(" ".join(untaken.split()).replace("not taken:", "Not taken:"))
    if example:
        yield ".PP"
        yield "Example:"
        yield ".EX"
        yield _plain(example)
        yield ".EE"


def _item(term: str, about: str) -> Iterator[str]:
    yield ".TP"
    yield f".B {_plain(term)}"
    yield _plain(about)


def _plain(text: str) -> str:
    r"""Text that roff takes as it is.

    Examples:
        >>> print(_plain(".pg is read\n'so'"))
        \&.pg is read
        \&'so'
    """
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(x if x.isascii() else f"\\[u{ord(x):04X}]" for x in text)
    lines = text.split("\n")
    return "\n".join(f"\\&{x}" if x[:1] in (".", "'") else x for x in lines)

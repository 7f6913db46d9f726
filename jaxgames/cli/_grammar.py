"""What the commands take, read from their parsers: for completion and the manual."""

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxgames import cli, io
from jaxgames.cli._options import Parser

CONDITIONS = "max even", "min even", "max odd", "min odd"


class Option(NamedTuple):
    """An option of a command, or something else that it takes.

    Attributes:
        names: how it is written, for an option.
        about: its help.
        value: what its value is called, or None if it takes none.
        values: those that are known, maybe none.
    """

    names: tuple[str, ...]
    about: str
    value: str | None
    values: tuple[str, ...]


class Command(NamedTuple):
    """A command, or a family of `generate`.

    Attributes:
        name: its name.
        about: what it does.
        usage: how it is called.
        options: its options.
        arguments: what it takes besides.
        parts: commands below it.
        epilog: what stands below its help.
    """

    name: str
    about: str
    usage: str
    options: list[Option]
    arguments: list[Option]
    parts: list["Command"]
    epilog: str


def commands() -> Command:
    """All commands, below the program."""
    # A command that is named in the arguments has its options declared.
    return _command("jaxgames", "", cli._parser(list(cli.COMMANDS)), "")


def _command(name: str, about: str, parser: Parser, above: str) -> Command:
    options, arguments, parts = [], [], []
    for action in _actions(parser):
        help = " ".join((action.help or "").split()) % {"prog": parser.prog}
        if isinstance(action, argparse._SubParsersAction):
            abouts = {x.dest: x.help or "" for x in action._choices_actions}
            for part, below in action.choices.items():
                parts.append(_command(part, abouts[part], below, above or part))
            continue
        takes = action.nargs != 0
        found = Option(
            tuple(action.option_strings),
            help,
            str(action.metavar or action.dest.upper()) if takes else None,
            _values(above, action) if takes else (),
        )
        (options if found.names else arguments).append(found)
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
    epilog = parser.epilog or ""
    return Command(name, about, usage, options, arguments, parts, epilog)


def _actions(parser: Any) -> Iterator[argparse.Action]:
    for action in parser._actions:  # argparse has no other way to ask
        if action.help != argparse.SUPPRESS:
            yield action


def _values(command: str, action: argparse.Action) -> tuple[str, ...]:
    """The values of an option that are known."""
    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.dest == "solver":
        return solvers(command)
    if action.dest == "preprocess":
        from jaxgames import parity

        return tuple(parity.preprocess.REDUCTIONS)
    known = {
        "format": tuple(suffix[1:] for suffix in io.FORMATS),
        "to_format": tuple(suffix[1:] for suffix in io.FORMATS),
        "device": ("cpu", "gpu", "tpu"),
        "condition": CONDITIONS,
        "to_condition": CONDITIONS,
        "dead_ends": ("error", "lose"),
        "opponent": ("random", "greedy", "tight"),
    }
    return known.get(action.dest, ())


def solvers(command: str) -> tuple[str, ...]:
    """Names of the solvers that a command takes."""
    from jaxgames import buchi, discounted, energy, graph, mdp, multienergy, parity

    registry = {
        "solve": parity.SOLVERS,
        "synth": parity.SOLVERS,
        "scc": graph.SOLVERS,
        "mec": mdp.SOLVERS,
        "energy": energy.SOLVERS,
        "meanpayoff": energy.SOLVERS,
        "discounted": discounted.SOLVERS,
        "energyparity": energy.SOLVERS,
        "emersonlei": parity.SOLVERS,
        "check": buchi.SOLVERS,
        "buchi": buchi.GAME_SOLVERS,
        "multienergy": multienergy.SOLVERS,
        "equiv": multienergy.SOLVERS,
        "probability": mdp.REACH_SOLVERS,
        "mdp": mdp.VALUE_SOLVERS,
    }.get(command)
    if registry is None:
        return ("auto", "host") if command == "warm" else ()
    return ("auto", *registry.places, *registry)

"""The parser of the command line, and options that several commands share."""

import argparse
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn

from jaxgames.quoting import clipped, guess, quoted


class Parser(argparse.ArgumentParser):
    """Options are written in full, help keeps its lines, errors are exceptions."""

    def __init__(self, **options: Any):
        super().__init__(
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **options,
        )
        self.untaken: dict[str, str] = {}

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses the arguments; files may stand before and behind options."""
        found, rest = self.parse_known_args(args, namespace)
        more = [word for word in rest if word == "-" or word[:1] != "-"]
        if hasattr(found, "words") and more:
            rest = [word for word in rest if word not in more]
            found.words += more
        elif hasattr(found, "files") and more:
            rest = [word for word in rest if word not in more]
            if hasattr(found, "solution"):  # it is the last of them
                more = [found.solution, *more]
                found.solution = more.pop()
            found.files += more
        if rest:
            option = rest[0].partition("=")[0]
            command = self._command(args)
            why = command.untaken.get(option)
            if why is not None:
                command.error(f"{found.command} takes no {option}: {why}")
            known = _options_of(self, args) if option[:1] == "-" else []
            meant = guess(option, known)
            if option in known and option not in _options_of(self, []):
                meant = f" ({option} belongs behind the command)"
            command.error(f"unrecognized arguments: {' '.join(rest)}{meant}")
        getattr(found, "arrange", lambda args: None)(found)
        return found

    def _command(self, words: Sequence[str]) -> "Parser":
        """The parser of the command among the words, or this one."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                name = next((x for x in words if x in action.choices), None)
                if name is not None:
                    return action.choices[name]._command(words)
        return self

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is not None and value not in choices:
            if action.metavar == "COMMAND":
                self._check_command(str(value))
            meant = guess(str(value), choices)
            known = ", ".join(map(repr, choices))
            raise argparse.ArgumentError(
                action, f"invalid choice: {quoted(value)}{meant} (choose from {known})"
            )

    def _check_command(self, word: str) -> None:
        """Says what is meant by a word in place of a command, where that is clear."""
        if word == "help":
            self.error("for the help of a command write jaxgames COMMAND --help")
        if os.path.exists(word):
            self.error(
                f"{quoted(word)} is no command: write jaxgames info {word} to "
                f"describe what the file holds, or jaxgames solve {word}"
            )

    def error(self, message: str) -> NoReturn:
        """Raises what is wrong with the arguments as a ValueError."""
        raise ValueError(f"{message} (see {self.prog} --help)")


def _options_of(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """The options of a parser, and of the commands in it that are among the words."""
    found = []
    for action in parser._actions:
        if action.help != argparse.SUPPRESS:
            found += action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                found += _options_of(command, words) if name in words else []
    return found


def take_no(parser: argparse.ArgumentParser, why: str, *options: str) -> None:
    """Says in the help, and to who asks for it, why an option is missing here."""
    assert isinstance(parser, Parser)
    parser.untaken |= dict.fromkeys(options, why)


def take_no_pictures(parser: argparse.ArgumentParser) -> None:
    """Says that an answer is not drawn."""
    take_no(parser, "this answer is not drawn; -o writes it", "--draw", "--dot")


def take_no_all(parser: argparse.ArgumentParser) -> None:
    """Says that nothing is left out of an object."""
    take_no(parser, "--json leaves nothing of this answer out", "--all")


def untaken_text(parser: argparse.ArgumentParser) -> str:
    """What the help says of options that a command does not take."""
    reasons: dict[str, list[str]] = {}
    for option, why in getattr(parser, "untaken", {}).items():
        reasons.setdefault(why, []).append(option)
    lines = (
        textwrap.fill(f"{', '.join(options)}: {why}", 78, subsequent_indent="    ")
        for why, options in reasons.items()
    )
    return "".join(f"  {line.replace(chr(10), chr(10) + '  ')}\n" for line in lines)


def add_file(
    parser: argparse.ArgumentParser,
    what: str,
    name: str = "FILE",
    option: str | None = None,
    *,
    many: bool = False,
    none: bool = False,
    among: Any = None,
) -> None:
    """The file that a command reads, and which format it has.

    There may be several with `many`, and with `none` also no file. `among` is a group
    of which one is to be given; `option` another word for the file there.
    """
    help = f"{what}. It may be compressed (.gz, .bz2, .xz). - is standard input"
    parser.set_defaults(brief=False)
    if many:
        help += ". If there are several files, each gets a line of output"
    if among is not None:
        unsaid = argparse.SUPPRESS
        among.add_argument("files", metavar=name, nargs="*", default=unsaid, help=help)
        add_source(among, option, name, unsaid)
    elif many:
        number = "*" if none else "+"
        parser.add_argument("files", metavar=name, nargs=number, help=help)
    else:
        parser.add_argument("file", metavar=name, help=help)
    parser.add_argument(
        "--format",
        metavar="NAME",
        help=f"format of {name}, named by a suffix without its dot (default: that of "
        "the suffix, or else of the content)",
    )


def add_source(among: Any, option: str | None, name: str, help: str) -> None:
    """An option of a group that names what is read, in the place of the file."""
    unsaid = argparse.SUPPRESS
    add: Any = among.add_argument
    add(option, dest="files", action="append", metavar=name, default=unsaid, help=help)


def add_game(
    parser: argparse.ArgumentParser,
    name: str = "FILE",
    what: str = "a game: .pg, .gm, .npz",
    *,
    many: bool = False,
    none: bool = False,
) -> None:
    """The file with the game, and how it is to be read."""
    add_file(parser, what, name, many=many, none=none)
    parser.add_argument(
        "--condition",
        default="max even",
        metavar="WHICH",
        help=f"what the priorities in {name} mean: 'max even' (default), 'min even', "
        "'max odd' or 'min odd'",
    )
    parser.add_argument(
        "--dead-ends",
        default="error",
        metavar="HOW",
        help="what a vertex without successors means: an 'error' (default), or 'lose': "
        "its owner loses there",
    )


def add_constants(parser: argparse.ArgumentParser, what: str) -> None:
    """Values of what a program in PRISM's language, or a property, leaves open."""
    parser.add_argument(
        "--const",
        action="append",
        default=[],
        metavar="NAME=VALUE[,...]",
        help=f"{what}, such as k=5,p=1/3,up=true",
    )


MOST_DIGITS = 1000
"""Digits of a constant, before a power of ten or by it."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(/\d+)?")


def constants(args: argparse.Namespace) -> dict[str, Any]:
    """The values that `--const` gives, numbers or truth values by name."""
    found: dict[str, Any] = {}
    for part in ",".join(args.const).split(",") if args.const else []:
        name, equals, text = (x.strip() for x in part.partition("="))
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ValueError(f"--const: expected NAME=VALUE, got {quoted(part)}")
        if name in found:
            raise ValueError(f"--const gives {name} two values; expected one")
        if text in ("true", "false"):
            found[name] = text == "true"
        elif _NUMBER.fullmatch(text) and not re.search(r"/0+$", text):
            one, _, other = text.partition("/")
            exponent = re.search(r"[eE]([+-]?\d+)$", one)
            if len(text) > MOST_DIGITS or (
                exponent and abs(int(exponent[1])) > MOST_DIGITS
            ):
                raise ValueError(f"--const: {name} is too long: {quoted(text)}")
            found[name] = Fraction(one) / Fraction(other or 1)
        else:
            more = "; of a range, ask for each value by itself" if ":" in text else ""
            raise ValueError(
                f"--const: {name} must be a number, true or false, got {quoted(text)}"
                f"{more}"
            )
    return found


def add_decomposition(
    parser: argparse.ArgumentParser,
    solver: Callable[[str], str] = str,
    *,
    kept: bool = True,
) -> None:
    """How a graph or a model is decomposed, and what is told of it."""
    parser.add_argument(
        *("-s", "--solver"),
        type=solver,
        default="auto",
        help="which algorithm (default: auto)",
    )
    add_verify(parser)
    add_stats(parser)
    add_limits(parser)
    add_max_steps(parser)
    if kept:
        add_checkpoint(parser)
    add_json(parser)
    add_quiet(parser)
    add_jax(parser)


def add_verify(
    parser: argparse.ArgumentParser,
    help: str = "check the answer without trusting the solver",
) -> None:
    """Whether what was found is checked."""
    parser.add_argument("-v", "--verify", action="store_true", help=help)


def add_common(parser: argparse.ArgumentParser) -> None:
    """What commands take that solve nothing by rounds."""
    add_limits(parser)
    add_json(parser)
    add_quiet(parser)
    add_jax(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """What time and what memory a command may take."""
    parser.add_argument(
        "-z",
        "--timeout",
        type=positive,
        metavar="SECONDS",
        help="stop the command after that time, and report what is known by then",
    )
    parser.add_argument(
        "--memory",
        type=size,
        metavar="SIZE",
        help="memory that it may use, such as 500M or 4G (default: what is free)",
    )


def add_max_steps(parser: argparse.ArgumentParser, of: str = "rounds") -> None:
    parser.add_argument(
        "--max-steps", type=natural, metavar="N", help=f"stop after N {of}"
    )


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Where a solve is kept, and whether it is gone on with."""
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="save the state of the solve there every minute, and when it ends early",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue from the file that --checkpoint names, if it exists",
    )


def add_jax(parser: argparse.ArgumentParser) -> None:
    """Where JAX computes, and whether it keeps what it compiles."""
    parser.add_argument(
        "--device", metavar="KIND", help="cpu, gpu or tpu (default: the best there is)"
    )
    parser.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="do not keep compiled programs for the next run",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Output for programs."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    if any(action.dest == "files" for action in parser._actions):
        parser.add_argument(
            "--jsonl",
            action="store_true",
            help="print one JSON object for each file, each on its own line",
        )


def add_all(
    parser: argparse.ArgumentParser,
    *names: str,
    what: str = "the answer of each vertex",
) -> None:
    """Whether objects hold the whole answer."""
    parser.add_argument(
        "--all",
        *names,
        dest="all",
        action="store_true",
        help=f"with --json: print {what}, too; jaxgames verify can check it",
    )


def add_stats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stats", action="store_true", help="print the solver's statistics"
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """Whether files that are there may be lost."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="overwrite output files that exist (drawings and solutions of parity "
        "games are always overwritten, inputs never)",
    )


def add_strategies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-strategies",
        dest="strategies",
        action="store_false",
        help="find winners or values only, which is faster",
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Output for nobody."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print only errors and JSON"
    )


def add_traceback(parser: argparse.ArgumentParser) -> None:
    """Help for the search of errors; read by `main`."""
    parser.add_argument(
        "--traceback", action="store_true", help="show where an error comes from"
    )


def positive(text: str) -> float:
    number = _number(float, text)
    if number is None or not number > 0:
        raise argparse.ArgumentTypeError(
            f"expected a positive number, got {clipped(text)}"
        )
    return number


def size(text: str) -> int:
    """Type of an option that takes bytes, by units of 1024."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)i?b?", text.strip().lower())
    number = _number(Fraction, found[1]) if found else None
    count = 0
    if found and number is not None:
        count = int(number * 1024 ** " kmgt".index(found[2] or " "))
    if count <= 0:
        raise argparse.ArgumentTypeError(
            f"expected a number of bytes, such as 500M or 4G, got {clipped(text)}"
        )
    return count


def natural(text: str) -> int:
    """Type of an option that takes an integer that is not negative."""
    number = _number(int, text)
    if number is None or number < 0:
        raise argparse.ArgumentTypeError(
            f"expected an integer from 0 on, got {clipped(text)}"
        )
    return number


def naturals(text: str) -> list[int]:
    """Type of an option that takes such integers, with commas between them."""
    return [natural(word) for word in text.split(",")]


def _number(kind: Callable[[str], Any], text: str) -> Any:
    """What a text says; None where it says no number, or one with too many digits."""
    try:
        return kind(text)
    except ValueError:
        return None

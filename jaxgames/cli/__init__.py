"""The command line: games in files are solved, checked, described, made and converted.

    jaxgames generate elevator 5 -o elevator.pg.gz
    jaxgames solve elevator.pg.gz --verify -o elevator.sol

Files are compressed or not, and `-` is standard input or output. Several files in one
call get a line each, and `--jsonl` makes each an object:

    jaxgames solve corpus/*.pg.gz --jsonl

A command prints what it finds on standard output. An error is one line on standard
error, `jaxgames: FILE:LINE: what is wrong`, and an exit code that scripts can rely on:

| code | meaning |
|---|---|
| 0 | done: solved, the solution is right, or the property holds |
| 1 | no: wrong answer, property violated, too little energy, target out of reach |
| 2 | bad input or usage |
| 3 | `--verify`: the answer is wrong (a bug in the solver) |
| 4 | not solved: the time limit, the step limit or the memory was reached |
| 5 | an output could not be written, such as on a full disk |
| 10 | `synth`: there is a controller |
| 20 | `synth`: there is none |
| 70 | a bug in this program |
| 130 | interrupted |
| 141 | the output was closed before all of it was printed |

Programs that JAX compiled are kept in `$XDG_CACHE_HOME/jaxgames` (by default
`~/.cache/jaxgames`): the next run starts sooner. JAX runs what it finds there, so the
folder is used only if it is the user's own and nobody else can write to it, or put
another one in its place; a line on standard error says why it is not. The folder that
`JAX_COMPILATION_CACHE_DIR` names is used as it is.

Each command is a module: `options(parser)` declares what it takes, `run(args)` does it.
`_check_options(args)` finds out before a long solve what would fail after it.
A module is imported when its command is called, so that help need not wait for JAX.
"""

import argparse
import contextlib
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from jaxgames.cli import _numpy as _numpy  # before anybody else imports numpy
from jaxgames.cli._exit import Exit as Exit
from jaxgames.cli._exit import complain, diagnose, with_options
from jaxgames.cli._interrupt import remembered
from jaxgames.cli._options import Parser, add_traceback, untaken_text
from jaxgames.cli._streams import all_printable, open_output, standard
from jaxgames.cli._watch import Watch, reached, subject
from jaxgames.solution import SolveError, Status

COMMANDS = {
    "solve": "Solve a parity game and say who wins where.",
    "verify": "Check an answer in a file and say where it is wrong.",
    "solvers": "List the solvers.",
    "info": "Describe a game, a graph, a model or an automaton.",
    "generate": "Make a game of a known family, or a random one.",
    "convert": "Convert a game or a model to the format of a file's suffix.",
    "scc": "Find the strongly connected components of a graph.",
    "mec": "Find the maximal end components of a Markov decision process.",
    "energy": "Solve an energy game: how much energy is enough, and how to play.",
    "meanpayoff": "Solve a mean-payoff game: the value of each vertex.",
    "discounted": "Solve a discounted game: the value of each vertex, between bounds.",
    "energyparity": "Solve an energy parity game or a mean-payoff parity game.",
    "emersonlei": "Solve a Rabin, Streett, Muller or any other Emerson-Lei game.",
    "check": "Check properties of a system: formulas of LTL, or an automaton.",
    "synth": "Decide whether a specification has a controller, and write it.",
    "equiv": "Compare processes by many notions of equivalence.",
    "buchi": "Solve a Büchi game: who can visit accepting vertices for ever.",
    "reach": "Find what is reached, or from where a player can force a visit.",
    "probability": "Find the probability to reach a target, between proved bounds.",
    "mdp": "Check properties of Markov models, in PRISM's language.",
    "multienergy": "Find all minimal budgets in a game of several energies.",
    "explore": "Make a system from a transition function in Python.",
    "warm": "Compile the programs for games of some sizes in advance.",
    "env": "Show versions, devices and folders, for bug reports.",
    "completion": "Print the completion for a shell: bash, fish or zsh.",
    "manual": "Print the manual page, for man.",
}
"""What each command does; command `x` is in the module `_x`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        argv: its arguments; None: those of the process, which is then ended where a
            limit is reached and the command does not end by itself.

    Returns:
        The exit code, an `Exit`.
    """
    ends_process = argv is None
    argv = sys.argv[1:] if argv is None else list(argv)
    watch = Watch(argv, ends_process)
    try:
        with _short_warnings(), remembered(), open_output(), all_printable():
            code = _run(argv, watch)
        print(end="", flush=True)
    except (Exception, KeyboardInterrupt) as error:
        # All of them: what Python does with others is exit code 1.
        if "--traceback" in argv:
            traceback.print_exc()
        code, message = diagnose(error)
        if code != Exit.BROKEN_PIPE:
            complain(message)
        _flush_if_possible()
    watch.close(code)
    return code


def _run(argv: list[str], watch: Watch) -> Exit:
    args = argparse.Namespace(
        command=next((word for word in argv if word in COMMANDS), None),
        file=None,
        json="--json" in argv or "--jsonl" in argv,
    )
    try:
        args = _parser(argv).parse_args(argv)
        return _done(args, watch)
    except SystemExit as end:  # of --help and --version
        return Exit(end.code or 0)
    except (Exception, KeyboardInterrupt) as error:
        code, message = diagnose(error)
        if code != Exit.BROKEN_PIPE:
            _tell_program(args, code, error, message)
        raise


def _done(args: argparse.Namespace, watch: Watch) -> Exit:
    """Does what the arguments say."""
    if not hasattr(args, "timeout"):
        return args.run(args)
    run = args.run
    if hasattr(args, "files"):
        args.file = args.files[0]
        several = len(args.files) > 1 or getattr(args, "several", False)
        if several or args.jsonl:
            run = importlib.import_module("jaxgames.cli._many").run
        if len(args.files) > 1:
            args.file = f"{len(args.files):,} files"
    with standard(args), watch.limits(args) as around:
        try:
            return run(args)
        except SolveError as error:
            from jaxgames.cli._checkpoint import how_to_go_on

            why = _why(args, error, around.phase) + how_to_go_on(args, error.status)
            complain(f"{subject(args)}: not done: {why}")
            interrupted = error.status == Status.INTERRUPTED
            code = Exit.INTERRUPTED if interrupted else Exit.UNSOLVED
            _tell_program(args, code, error, f"not done: {why}")
            return code


def _tell_program(
    args: argparse.Namespace, code: Exit, error: BaseException, message: str
) -> None:
    """Prints what failed as an object, if objects are asked for and none is there."""
    wanted = getattr(args, "json", False) or getattr(args, "jsonl", False)
    if not wanted or getattr(args, "told", False):
        return
    from jaxgames.cli import _report  # help need not wait for it

    with contextlib.suppress(OSError):  # that is told by other means
        _report.show_error(args, code, error, message)


def _why(args: argparse.Namespace, error: SolveError, phase: str) -> str:
    """Why a command ended in a phase from which nothing can be told."""
    if error.status == Status.TIMEOUT:
        return reached(args.timeout, phase)
    if error.status == Status.INTERRUPTED:
        return "interrupted"
    return with_options(str(error).removeprefix(f"{error.status.name}: "))


def _parser(argv: Sequence[str]) -> Parser:
    """The parser of the program; commands named in the arguments have their options.

    The others are listed, and share a parser that nobody asks: to make one takes time.
    """
    from jaxgames import __version__

    codes = (f"  {code:<5d}{code.meaning}" for code in Exit)
    parser = Parser(
        prog="jaxgames",
        description="Games on graphs, solved as jit-compiled array programs.",
        epilog="\n".join(["exit codes:", *codes]),
    )
    parser.add_argument(
        "--version", action="version", version=f"jaxgames {__version__}"
    )
    listed = Parser(add_help=False)

    def command_parser(named: bool, **options: Any) -> Parser:
        return Parser(**options) if named else listed

    commands = parser.add_subparsers(
        metavar="COMMAND",
        required=True,
        parser_class=command_parser,  # pyright: ignore[reportArgumentType]
    )
    for name, about in COMMANDS.items():
        named = name in argv
        command = commands.add_parser(name, help=about, description=about, named=named)
        if named:
            module = importlib.import_module(f"jaxgames.cli._{name}")
            module.options(command)
            add_traceback(command)
            command.set_defaults(run=module.run, command=name)
            untaken = untaken_text(command)
            command.epilog = f"not taken:\n{untaken}\n" if untaken else ""
            command.epilog += f"example:\n  jaxgames {module.EXAMPLE}"
    return parser


def _flush_if_possible() -> None:
    """Else Python tries it once more, and ends with its own message and exit code."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _short_warnings() -> Iterator[None]:
    """Shows warnings as one line, without the line of Python that they come from."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_: complain(f"warning: {message}")
        yield

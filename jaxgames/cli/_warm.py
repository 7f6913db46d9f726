"""`jaxgames warm`."""

import argparse

from jaxgames import programs
from jaxgames.cli import _options, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import start_jax
from jaxgames.limits import LimitError
from jaxgames.quoting import all_counted, guess, quoted
from jaxgames.solution import Status

EXAMPLE = "warm parity energy --sizes 1000 100000 --timeout 600"


def options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(file=None)
    parser.add_argument(
        "questions",
        metavar="QUESTION",
        nargs="*",
        help=f"what will be solved: {', '.join(programs.QUESTIONS)} (default: all)",
    )
    parser.add_argument(
        "--sizes",
        metavar="N",
        nargs="+",
        type=_options.natural,
        default=[1000],
        help="how many vertices, or states, the games will have (default: 1000)",
    )
    parser.add_argument(
        "--degree",
        metavar="N",
        type=_options.natural,
        help="how many edges each vertex has, or how many choices a state has at most",
    )
    parser.add_argument(
        "-s",
        "--solver",
        default="auto",
        help="which algorithm (default: auto, which is the engine of the host, and on "
        "an accelerator also the solver that it takes there)",
    )
    _options.add_common(parser)


def run(args: argparse.Namespace) -> Exit:
    """Compiles what each size of each question needs, and prints how long it took."""
    for question in args.questions:
        if question not in programs.QUESTIONS:
            meant = guess(question, programs.QUESTIONS)
            raise ValueError(f"there is no kind of game {quoted(question)}{meant}")
    start_jax(args)
    done, status = [], Status.SOLVED
    try:
        for question in args.questions or programs.QUESTIONS:
            for size in args.sizes:
                found = programs.warm(question, size, args.degree, solver=args.solver)
                done += found
                if not (args.json or args.quiet):
                    for each in found:
                        _tell(each)
    except LimitError as error:
        if not args.json:
            raise
        status = error.status
    if args.json:
        warmed = [each._asdict() for each in done]
        _report.show(args, {"status": status.name.lower(), "warmed": warmed})
    return Exit.DONE if status == Status.SOLVED else Exit.UNSOLVED


def _tell(each: programs.Warmed) -> None:
    name = f"{each.question}, {each.solver}"
    size = all_counted(vertex=each.vertices, edge=each.edges)
    print(f"  {name:22}{size:42}{each.seconds:9.3f} s", flush=True)

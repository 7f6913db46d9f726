"""`python -m jaxgames.testing`: all solvers against each other on many small games."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from jaxgames import io
from jaxgames.testing._checks import Check, all_checks
from jaxgames.testing._fuzz import Failure, Summary, fuzz, snippet

FAILED, INTERRUPTED = 1, 130
"""Exit codes: a game went wrong; somebody pressed Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code."""
    parser = _parser()
    args = parser.parse_args(argv)
    checks = all_checks(args.max_vertices, args.batch)
    if args.list:
        sys.stdout.write("\n".join(checks) + "\n")
        return 0
    try:
        chosen = _choose(checks, args.solvers)
    except ValueError as error:
        parser.error(str(error))
    terminal = sys.stderr.isatty()

    def progress(done: int, seconds: float) -> None:
        if terminal:
            sys.stderr.write(f"\r{_speed(done, seconds)}")
            sys.stderr.flush()

    summary = fuzz(
        chosen,
        games=args.games,
        seed=args.seed,
        start=args.start,
        max_vertices=args.max_vertices,
        edge_priorities=args.edge_priorities,
        batch=args.batch,
        time_limit=args.time_limit,
        progress=progress,
    )
    if terminal:
        sys.stderr.write("\n")
    sys.stdout.write(_describe(summary))
    if summary.failure is not None:
        sys.stdout.write(_report(summary.failure, args))
        return FAILED
    return INTERRUPTED if summary.interrupted else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jaxgames.testing", description=__doc__, allow_abbrev=False
    )
    add = parser.add_argument
    add("--games", type=int, default=100_000, metavar="N", help="how many games")
    add("--seed", type=int, default=0, metavar="S", help="of the games")
    add("--start", type=int, default=0, metavar="I", help="number of the first game")
    add("--max-vertices", type=int, default=12, metavar="K", help="of a game")
    add("--batch", type=int, default=256, metavar="B", help="games in a batch")
    add(
        "--solvers",
        default="all",
        metavar="A,B",
        help="what to check: names, or what they begin with up to a dot",
    )
    add("--edge-priorities", action="store_true", help="put priorities on edges")
    add("--time-limit", type=float, metavar="SECONDS", help="begin no batch later")
    add("--list", action="store_true", help="name all checks")
    add(
        "--output",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where a game that goes wrong is written",
    )
    return parser


def _choose(checks: dict[str, Check], names: str) -> list[Check]:
    """The checks of a list of names; ValueError for a name that there is not."""
    if names == "all":
        return list(checks.values())
    chosen = {}
    for wanted in names.split(","):
        found = [name for name in checks if f"{name}.".startswith(f"{wanted}.")]
        if not found:
            raise ValueError(
                f"no check is called {wanted!r}; there are: {list(checks)}"
            )
        chosen |= {name: checks[name] for name in found}
    return list(chosen.values())


def _speed(games: int, seconds: float) -> str:
    return f"{games} games in {seconds:.1f} s, {games / seconds:.0f} a second"


def _describe(summary: Summary) -> str:
    lines = [_speed(summary.games, summary.seconds)]
    for name, seconds in sorted(summary.seconds_of.items(), key=lambda x: -x[1]):
        lines.append(f"  {name:<32}{seconds:8.1f} s")
    if summary.interrupted:
        lines.append("interrupted")
    return "\n".join(lines) + "\n"


def _report(failure: Failure, args: argparse.Namespace) -> str:
    """What went wrong and how to see it again; writes the game to a file."""
    suffix = "npz" if failure.arena.priority is None else "pg"
    file = args.output / f"fuzz-{args.seed}-{failure.index}.{suffix}"
    args.output.mkdir(parents=True, exist_ok=True)
    io.save(file, failure.arena)
    options = f"--seed {args.seed} --start {failure.index} --games 1"
    options += f" --max-vertices {args.max_vertices} --solvers {failure.check}"
    options += " --edge-priorities" if args.edge_priorities else ""
    return (
        f"\n{failure.check} is wrong on game {failure.index} of seed {args.seed}; "
        f"made smaller, {file}:\n  {snippet(failure.arena)}\n  {failure.complaint}\n"
        f"again: python -m jaxgames.testing {options}\n"
    )


if __name__ == "__main__":
    sys.exit(main())

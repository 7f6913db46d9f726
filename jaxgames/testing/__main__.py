"""`python -m jaxgames.testing`: every slice on as many small cases as there is time."""

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jaxgames.testing._fuzz import LIMIT, TO_SHRINK, Failure, Summary, fuzz
from jaxgames.testing._slices import SLICES

FAILED, INTERRUPTED = 1, 130
"""Exit codes: something went wrong; somebody pressed Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code."""
    parser = _parser()
    args = parser.parse_args(argv)
    try:
        chosen = _choose(args.slices, args.solvers)
    except ValueError as error:
        parser.error(str(error))
    if args.hard:
        return _hard(args)
    if args.list:
        for name, checks in chosen.items():
            sys.stdout.write(f"{name}: {', '.join(checks)}\n")
        return 0

    def run(name: str) -> Summary:
        share = None if args.seconds is None else args.seconds * jobs / len(chosen)
        summary = fuzz(
            SLICES[name],
            chosen[name],
            games=args.games,
            seconds=share,
            seed=args.seed,
            start=args.start,
            limit=args.limit,
            to_shrink=args.shrink,
        )
        sys.stdout.write(_describe(summary))
        if summary.failure is not None:
            sys.stdout.write(_report(summary.failure, args))
        sys.stdout.flush()
        return summary

    jobs = min(args.jobs or os.cpu_count() or 1, len(chosen))
    if jobs == 1:
        summaries = []
        for name in chosen:
            summaries.append(run(name))
            if summaries[-1].interrupted:
                break
    else:
        with ThreadPoolExecutor(jobs) as pool:
            summaries = list(pool.map(run, chosen))
    if any(summary.failure for summary in summaries):
        return FAILED
    return INTERRUPTED if any(summary.interrupted for summary in summaries) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jaxgames.testing", description=__doc__, allow_abbrev=False
    )
    add = parser.add_argument
    add("--slices", default="all", metavar="A,B", help="which: see --list")
    add(
        "--solvers",
        default="all",
        metavar="A,B",
        help="what to check of them: names, or what they begin with up to a dot",
    )
    add("--games", type=int, default=100_000, metavar="N", help="cases of a slice")
    add(
        "--seconds",
        type=float,
        metavar="S",
        help="time for all slices together, beside what each check takes at first",
    )
    add("--seed", type=int, default=0, metavar="S", help="of the cases")
    add("--start", type=int, default=0, metavar="I", help="number of the first case")
    add(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="SECONDS",
        help="what a check may take for a batch (default %(default)s)",
    )
    add(
        "--shrink",
        type=float,
        default=TO_SHRINK,
        metavar="SECONDS",
        help="in which a case is made smaller (default %(default)s)",
    )
    add(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="slices at once; 0: as many as cores",
    )
    add("--list", action="store_true", help="name all slices and checks")
    add(
        "--hard",
        type=int,
        metavar="V",
        help="instead, search games of up to V vertices for those hard for the host",
    )
    add(
        "--output",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where a case that goes wrong is written",
    )
    return parser


def _choose(slices: str, solvers: str) -> dict[str, list[str]]:
    """Checks by slice; ValueError for a name that there is not."""
    names = list(SLICES) if slices == "all" else slices.split(",")
    for name in names:
        if name not in SLICES:
            raise ValueError(f"no slice is called {name!r}; there are: {list(SLICES)}")
    checks = {name: list(SLICES[name]().checks) for name in names}
    if solvers == "all":
        return checks
    chosen: dict[str, list[str]] = {}
    for wanted in solvers.split(","):
        met = False
        for name, there in checks.items():
            found = [x for x in there if f"{x}.".startswith(f"{wanted}.")]
            more = [x for x in found if x not in chosen.get(name, [])]
            if found:
                met = True
                chosen.setdefault(name, []).extend(more)
        if not met:
            raise ValueError(f"no check is called {wanted!r}; there are: {checks}")
    return chosen


def _hard(args: argparse.Namespace) -> int:
    """Searches hard parity games, and checks the answers of the hardest."""
    from jaxgames.io import save
    from jaxgames.testing import _hard as hard  # compiles nothing before it is asked

    found = hard.search(args.hard, args.games, args.seed, args.seconds)
    slowest = max(map(hard.seconds_of, found))
    sys.stdout.write(
        f"parity: {found[0].steps:,} steps for the hardest game of up to {args.hard} "
        f"vertices; {slowest:.4f} s for the slowest of the {len(found):,} hardest\n"
    )
    args.output.mkdir(parents=True, exist_ok=True)
    for name, game in (("hardest", found[0]), *(("wrong", x) for x in found)):
        said = hard.complaint(game) if name == "wrong" else None
        if name == "hardest" or said is not None:
            file = args.output / f"{name}-{args.hard}-{args.seed}-{game.number}.pg"
            save(file, game.arena)
            sys.stdout.write(f"{file}: {said or f'{game.steps:,} steps'}\n")
        if said is not None:
            return FAILED
    return 0


def _describe(summary: Summary) -> str:
    seconds = summary.seconds
    speed = summary.games / max(seconds, 1e-9)
    head = (
        f"{summary.subject}: {summary.games} cases in {seconds:.1f} s, "
        f"{speed:.0f} a second"
    )
    times = sorted(summary.seconds_of.items(), key=lambda x: -x[1])
    slowest = ", ".join(f"{name} {taken:.1f} s" for name, taken in times[:4])
    end = "; interrupted" if summary.interrupted else ""
    return f"{head} ({slowest}){end}\n"


def _report(failure: Failure, args: argparse.Namespace) -> str:
    """What went wrong and how to see it again; writes the case to a file."""
    file = args.output / f"fuzz-{failure.subject}-{args.seed}-{failure.index}.py"
    args.output.mkdir(parents=True, exist_ok=True)
    file.write_text(f'"""{failure.complaint}"""\n\n{failure.code}\n')
    code = failure.code.replace("\n", "\n  ")
    options = f"--slices {failure.subject} --solvers {failure.check} "
    options += f"--seed {args.seed} --start {failure.index} --games 1"
    if args.limit != LIMIT:
        options += f" --limit {args.limit:g}"
    return (
        f"\n{failure.subject}: {failure.check} is wrong on case {failure.index} of "
        f"seed {args.seed}; made smaller, {file}:\n  {code}\n  {failure.complaint}\n"
        f"again: python -m jaxgames.testing {options}\n\n"
    )


if __name__ == "__main__":
    sys.exit(main())

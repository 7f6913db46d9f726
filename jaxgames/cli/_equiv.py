"""`jaxgames equiv`."""

import argparse
from typing import Any

import numpy as np

from jaxgames import equivalence, io, plot
from jaxgames.cli import _options, _outputs, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import sizes, start_jax
from jaxgames.cli._parts import SUFFIXES as LABEL_SUFFIXES
from jaxgames.cli._parts import check_suffix, not_solved, write_arrays
from jaxgames.cli._phases import Phases
from jaxgames.quoting import guess, quoted
from jaxgames.solution import SolveError

EXAMPLE = "equiv vending.aut 0 4 --draw spectrum.svg"

MOST_MEMBERS = 12
"""Processes of a class that are printed."""

MOST_CLASSES = 30
"""Classes that are printed."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    _options.add_file(parser, "a transition system: .aut, .csv or .dot", "SYSTEM")
    parser.add_argument(
        "processes",
        metavar="STATE",
        nargs="*",
        type=_options.natural,
        help="two states to compare; without them all are, by classes",
    )
    parser.add_argument(
        "--notion",
        metavar="NAME",
        help="tell of one notion only: " + ", ".join(equivalence.NOTIONS),
    )
    parser.add_argument(
        "--weak",
        action="store_true",
        help="compare two states by the notions that do not count silent steps",
    )
    parser.add_argument(
        "--silent",
        action="append",
        metavar="LABEL",
        help="a label of silent steps for --weak (default: i and tau); may be repeated",
    )
    parser.add_argument(
        "--labels",
        metavar="OUT",
        help="write the class of each state by that notion: .npz, or .txt with one on "
        "each line; - is standard output",
    )
    parser.add_argument(
        "--draw",
        metavar="PICTURE",
        help="draw which notions relate the two states: .svg, .png or .pdf",
    )
    _options.add_force(parser)
    parser.add_argument(
        "--max-positions",
        type=_options.natural,
        metavar="N",
        help="give up a game that has more positions (default: what memory holds)",
    )
    _options.add_common(parser)


def run(args: argparse.Namespace) -> Exit:
    """Compares two processes or all, and prints and writes what was asked for."""
    _check_options(args)
    start_jax(args)
    phase = Phases(args)
    with phase("load") as notes:
        lts = equivalence.load(args.file, format=args.format)
        notes.append(sizes(lts))
    limits = {"max_positions": args.max_positions}
    try:
        if args.processes:
            return _compare(args, phase, lts, limits)
        return _relate(args, phase, lts, limits)
    except SolveError as error:
        return not_solved(args, error)


def _check_options(args: argparse.Namespace) -> None:
    """Finds out before a long computation what would fail after it."""
    if len(args.processes) not in (0, 2):
        raise ValueError(f"expected two states or none, got {len(args.processes)}")
    notions = equivalence.WEAK if args.weak else equivalence.STRONG
    if args.notion is not None and args.notion not in notions:
        raise ValueError(
            f"no notion is called {quoted(args.notion)}"
            f"{guess(args.notion, notions)}; there are " + ", ".join(notions)
        )
    if args.weak and not args.processes:
        raise ValueError("--weak goes with two states")
    if args.silent and not args.weak:
        raise ValueError("--silent goes with --weak")
    if args.labels:
        if args.processes or not args.notion:
            raise ValueError("--labels goes with --notion, and without states")
        check_suffix("--labels", args.labels, LABEL_SUFFIXES)
    if args.draw:
        if not args.processes:
            raise ValueError("--draw goes with two states")
        check_suffix("--draw", args.draw, plot.SUFFIXES)
    _outputs.check(args, labels=args.labels, draw=args.draw)


def _compare(
    args: argparse.Namespace, phase: Phases, lts: io.LTS, limits: dict[str, Any]
) -> Exit:
    p, q = args.processes
    for state in (p, q):
        if state >= lts.num_states:
            raise ValueError(
                f"{args.file}: expected a state from 0 to {lts.num_states - 1}, got "
                f"{state}"
            )
    with phase("compare"):
        if args.weak:
            found = equivalence.compare_weak(lts, p, q, silent=args.silent, **limits)
        else:
            found = equivalence.compare(lts, p, q, **limits)
    notions = [args.notion] if args.notion else list(found)
    with phase("explain"):
        formulas = {
            notion: [found.formula(notion, reverse=back) for back in (False, True)]
            for notion in notions
        }
    if args.json:
        _report.show(args, _facts(args, phase, found, formulas))
    elif not args.quiet:
        _tell(p, q, found, formulas)
    if args.draw:
        notions = equivalence.WEAK if args.weak else equivalence.STRONG
        covers = equivalence.covers(notions)
        plot.draw_spectrum(found, covers, args.draw, p=str(p), q=str(q))
    return Exit.DONE


def _facts(
    args: argparse.Namespace, phase: Phases, found: Any, formulas: dict[str, list]
) -> dict:
    """What is told of a comparison."""
    p, q = args.processes
    return {
        "status": "solved",
        "p": p,
        "q": q,
        "notions": {
            notion: {
                **found[notion]._asdict(),
                "formula": None if there is None else str(there),
                "reverse_formula": None if back is None else str(back),
            }
            for notion, (there, back) in formulas.items()
        },
        "budgets": found.budgets[0],
        "reverse_budgets": found.budgets[1],
        "seconds": dict(phase.seconds),
    }


def _tell(p: int, q: int, found: Any, formulas: dict[str, list]) -> None:
    """Prints a table, and formulas with the notions whose language has them."""
    wide = max(map(len, formulas))
    heads = f"{p} ≤ {q}", f"{q} ≤ {p}", "equivalent"
    print(f"{'':{wide}}  {'  '.join(heads)}")
    for notion in formulas:
        cells = (
            f"{'yes' if holds else 'no':{len(head)}}"
            for head, holds in zip(heads, found[notion], strict=True)
        )
        print(f"{notion:{wide}}  {'  '.join(cells)}".rstrip())
    for back, (one, other) in enumerate(((p, q), (q, p))):
        by_formula: dict[str, list[str]] = {}
        for notion, both in formulas.items():
            if both[back] is not None:
                by_formula.setdefault(str(both[back]), []).append(notion)
        if by_formula:
            print(f"{one} satisfies, and {other} does not:")
        for formula, notions in by_formula.items():
            print(f"  {formula}")
            print(f"    {', '.join(notions)}")


def _relate(
    args: argparse.Namespace, phase: Phases, lts: io.LTS, limits: dict[str, Any]
) -> Exit:
    with phase("relate") as notes:
        if args.notion:
            classes = equivalence.relation(lts, args.notion, **limits)
            labels, counts = classes.labels, {args.notion: classes.count}
        else:
            found = equivalence.spectrum(lts, **limits)
            labels = None
            counts = {
                notion: int(found.classes(notion).max(initial=-1)) + 1
                for notion in equivalence.NOTIONS
            }
            notes.append(
                f"{found.stats['classes']:,} processes that are not bisimilar, game of "
                f"{found.stats['positions']:,} positions"
            )
    if args.json:
        facts: dict[str, Any] = {"status": "solved", "classes": counts}
        if labels is not None:
            facts["labels"] = labels.tolist()
        _report.show(args, facts | {"seconds": dict(phase.seconds)})
    elif not args.quiet:
        wide = max(map(len, counts))
        for notion, count in counts.items():
            print(f"{notion:{wide}}  {count:,} class{'' if count == 1 else 'es'}")
        if labels is not None:
            _tell_classes(labels)
    if args.labels and labels is not None:
        count = np.int32(counts[args.notion])
        notion = np.str_(args.notion)
        arrays = {"labels": labels, "count": count, "notion": notion}
        write_arrays(args.labels, labels, **arrays)
    return Exit.DONE


def _tell_classes(labels: np.ndarray) -> None:
    """Prints the processes of each class, not all of many."""
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    for number, part in enumerate(parts[:MOST_CLASSES]):
        shown = ", ".join(map(str, part[:MOST_MEMBERS].tolist()))
        more = len(part) - MOST_MEMBERS
        print(f"  {number}: {shown}" + (f" and {more:,} more" if more > 0 else ""))
    if len(parts) > MOST_CLASSES:
        print(f"  and {len(parts) - MOST_CLASSES:,} more")

"""`jaxgames equiv`."""

import argparse
import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import equivalence, io, multienergy, plot
from jaxgames.cli import _checkpoint, _options, _outputs, _parts, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import sizes
from jaxgames.cli._parts import SUFFIXES as LABEL_SUFFIXES
from jaxgames.cli._parts import check_suffix, not_solved, write_arrays
from jaxgames.cli._phases import Phases
from jaxgames.quoting import counted, guess, quoted
from jaxgames.solution import Status

EXAMPLE = "equiv vending.aut 0 4 --draw spectrum.svg"

MOST_MEMBERS = 12
"""Processes of a class that are printed."""

MOST_CLASSES = 30
"""Classes that are printed."""


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(parser, "a transition system: .aut, .csv or .dot", "SYSTEM")
    parser.set_defaults(arrange=_arrange)
    parser.add_argument(
        "words",
        metavar="SYSTEM|STATE",
        nargs="*",
        help="a second system, and pairs of states to compare. The first state of a "
        "pair is one of the first system, the second one of the last. With two systems "
        "and no states the initial states are compared. With one system and no states "
        "all of its states are put into classes",
    )
    parser.add_argument(
        "--notion",
        metavar="NAME",
        help="report one notion only: " + ", ".join(equivalence.NOTIONS),
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
        *("-o", "--output", "--labels"),
        dest="labels",
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
    _options.add_decomposition(parser)
    _options.take_no(
        parser, "--draw draws the spectrum, and Graphviz does not", "--dot"
    )
    _options.take_no_all(parser)
    parser.add_argument(
        "--jsonl",
        action="store_true",
        help="print one JSON object for each pair, each on its own line",
    )


def _arrange(args: argparse.Namespace) -> None:
    """Tells the other system from the states."""
    is_file = args.words and not args.words[0].isdecimal()
    args.other = args.words[0] if is_file else None
    args.states = []
    for word in args.words[1 if is_file else 0 :]:
        if not word.isdecimal():
            raise ValueError(f"expected a state, got {quoted(word)}")
        args.states.append(int(word))


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, lts = _parts.begin(
        args, lambda args: equivalence.load(args.file, format=args.format)
    )
    if args.states or args.other:
        return _compare(args, phase, lts)
    return _relate(args, phase, lts)


def _check_options(args: argparse.Namespace) -> None:
    compares = bool(args.states or args.other)
    if len(args.states) % 2:
        raise ValueError(f"expected two states or none, got {len(args.states)}")
    notions = equivalence.WEAK if args.weak else equivalence.STRONG
    if args.notion is not None and args.notion not in notions:
        raise ValueError(
            f"no notion is called {quoted(args.notion)}"
            f"{guess(args.notion, notions)}; there are " + ", ".join(notions)
        )
    if args.weak and not compares:
        raise ValueError("--weak goes with two states")
    if args.silent and not args.weak:
        raise ValueError("--silent goes with --weak")
    if args.labels:
        if compares or not args.notion:
            raise ValueError("--labels goes with --notion, and without states")
        check_suffix("--labels", args.labels, LABEL_SUFFIXES)
    if args.draw:
        if not compares or len(args.states) > 2:
            raise ValueError("--draw goes with two states")
        check_suffix("--draw", args.draw, plot.SUFFIXES)
    if args.json and len(args.states) > 2 and not args.jsonl:
        raise ValueError("--json is for one pair; --jsonl prints a line for each")
    args.json = args.json or args.jsonl
    _parts.check_solver(multienergy.SOLVERS, args.solver)
    _checkpoint.check(args)
    _outputs.check(args, labels=args.labels, draw=args.draw)


# ---- pairs -----------------------------------------------------------------------


class _Side(NamedTuple):
    """One of the two processes of a pair.

    Attributes:
        process: its state in what is compared.
        state: its state in its file.
        name: what it is called.
    """

    process: int
    state: int
    name: str


def _compare(args: argparse.Namespace, phase: Phases, lts: io.LTS) -> Exit:
    lts, pairs = _pairs(args, phase, lts)
    how: dict[str, Any] = {"max_positions": args.max_positions}
    compare = equivalence.compare_many
    if args.weak:
        compare, how["silent"] = equivalence.compare_many_weak, args.silent
    given = [(one.process, other.process) for one, other in pairs]

    def front_door(lts: io.LTS, **more: Any) -> Any:
        return compare(lts, given, **how, **more)

    each = _parts.solve(args, phase, front_door, lts)
    if each.status != Status.SOLVED:
        if args.json:
            _report.show(args, _parts.solve_facts(each[0], phase.seconds, None))
        return not_solved(args, each)
    code = Exit.DONE
    for (one, other), found in zip(pairs, each, strict=True):
        notions = [args.notion] if args.notion else list(found)
        with phase("explain"):
            formulas = {
                notion: [found.formula(notion, reverse=back) for back in (False, True)]
                for notion in notions
            }
        verdict = _parts.verdict_on(args, phase, equivalence.verify, lts, found)
        facts = _facts(args, phase, found, formulas, verdict)
        facts |= {"p": one.state, "q": other.state}
        end = _parts.conclude(
            *(args, found, verdict, facts),
            functools.partial(_tell, one.name, other.name, found, formulas),
        )
        if end != Exit.DONE:
            code = end
        elif args.draw:
            notions = equivalence.WEAK if args.weak else equivalence.STRONG
            covers = equivalence.covers(notions)
            names = {"p": one.name, "q": other.name}
            plot.draw_spectrum(found, covers, args.draw, **names)
    return code


def _pairs(
    args: argparse.Namespace, phase: Phases, lts: io.LTS
) -> tuple[io.LTS, list[tuple[_Side, _Side]]]:
    """What is compared, in a system that has the states of both if there are two."""
    systems, files = [lts], [args.file]
    if args.other:
        with phase("load") as notes:
            systems.append(equivalence.load(args.other))
            notes.append(sizes(systems[-1]))
        files.append(args.other)
    whole, first = (lts, [0]) if len(systems) == 1 else equivalence.union(systems)
    states = args.states or [system.initial for system in systems]
    sides = []
    for place, state in enumerate(states):
        which = place % 2 if args.other else 0
        most = systems[which].num_states - 1
        if state > most:
            raise ValueError(
                f"{files[which]}: expected a state from 0 to {most}, got {state}"
            )
        name = str(state)
        if args.other:
            name = f"{files[which]}:{state}" if args.states else files[which]
        sides.append(_Side(int(first[which]) + state, state, name))
    return whole, list(zip(sides[::2], sides[1::2], strict=True))


def _facts(
    args: argparse.Namespace,
    phase: Phases,
    found: Any,
    formulas: dict[str, list],
    verdict: Any,
) -> dict:
    return {
        **({"other": args.other} if args.other else {}),
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
        **_parts.solve_facts(found, phase.seconds, verdict),
    }


def _tell(p: str, q: str, found: Any, formulas: dict[str, list]) -> None:
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


# ---- classes ---------------------------------------------------------------------


def _relate(args: argparse.Namespace, phase: Phases, lts: io.LTS) -> Exit:
    notion, limit = args.notion, {"max_positions": args.max_positions}

    def front_door(lts: io.LTS, **more: Any) -> Any:
        if notion:
            return equivalence.relation(lts, notion, **limit, **more)
        return equivalence.spectrum(lts, **limit, **more)

    def verify(lts: io.LTS, found: Any) -> Any:
        return equivalence.verify(lts, found, notion or "bisimulation")

    found = _parts.solve(args, phase, front_door, lts)
    verdict = _parts.verdict_on(args, phase, verify, lts, found)
    facts, labels = _parts.solve_facts(found, phase.seconds, verdict), None
    if found.status == Status.SOLVED and notion:
        labels = found.labels
        facts |= {"classes": {notion: found.count}, "labels": labels.tolist()}
    elif found.status == Status.SOLVED:
        counts = {
            name: int(found.classes(name).max(initial=-1)) + 1
            for name in equivalence.NOTIONS
        }
        facts["classes"] = counts

    end = _parts.conclude(
        *(args, found, verdict, facts), lambda: _tell_counts(facts, labels)
    )
    if end == Exit.DONE and args.labels and labels is not None:
        count = np.int32(found.count)
        arrays = {"labels": labels, "count": count, "notion": np.str_(notion)}
        write_arrays(args.labels, labels, **arrays)
    return end


def _tell_counts(facts: dict[str, Any], labels: np.ndarray | None) -> None:
    """Prints how many classes there are, and the classes of one notion."""
    counts = facts["classes"]
    wide = max(map(len, counts))
    for notion, count in counts.items():
        print(f"{notion:{wide}}  {counted(count, 'class')}")
    if labels is not None:
        _tell_classes(labels)


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

"""`jaxgames check` for conditions of all kinds, and fairness."""

import argparse
from collections.abc import Callable
from typing import Any

from jaxgames import buchi, io, ltl
from jaxgames.cli._systems import load_automaton
from jaxgames.ltl import Automaton, EmersonLei, Formula
from jaxgames.quoting import quoted
from jaxgames.systems import Fairness, MarkedProduct, System

ENGINES = ("auto", "host")
"""Names of solvers for which nothing is degeneralised."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what is asked of runs besides; `check` and `verify` take it."""
    parser.add_argument(
        "--fairness",
        choices=("weak", "strong"),
        help="look only at runs that are fair to each action: if it is enabled for "
        "ever (weak), or again and again (strong), it is taken again and again. The "
        "file must be a transition system",
    )
    parser.add_argument(
        "--process",
        action="append",
        metavar="ACTIONS",
        help="with --fairness: the actions of a process, such as a,b or send*. Runs "
        "are then fair to the processes, not to each action. May be repeated",
    )


def check(args: argparse.Namespace, asks: bool) -> None:
    """Finds out before long work what does not fit."""
    check_question(args, asks)
    if not args.fairness:
        return
    if args.solver not in ENGINES:
        raise ValueError(
            f"--fairness goes with --solver {' or '.join(ENGINES)}, got "
            f"{quoted(args.solver)}"
        )
    for name, value in (
        ("--max-steps", args.max_steps),
        ("--checkpoint", args.checkpoint),
    ):
        if value is not None:
            raise ValueError(f"{name} does not go with --fairness")


def check_question(args: argparse.Namespace, asks: bool) -> None:
    """Finds out whether what is asked of runs is asked of any."""
    if args.process and not args.fairness:
        raise ValueError("--process goes with --fairness weak or strong")
    if args.fairness and not asks:
        raise ValueError("--fairness goes with --ltl or --automaton")


def automaton(
    args: argparse.Namespace, formula: Formula | None
) -> Automaton | EmersonLei:
    """What must not happen; its acceptance may be of any kind where nobody minds."""
    if formula is None:
        return load_automaton(args.automaton)
    if _may_be_marked(args):
        found = ltl.translate(formula, negate=True, generalised=True)
        if is_marked(args, found):
            return found
    return ltl.translate(formula, negate=True)


def is_marked(args: argparse.Namespace, automaton: Automaton | EmersonLei) -> bool:
    """Whether the product shall have the marks of the automaton on its edges."""
    if args.fairness:
        return True
    several = isinstance(automaton, EmersonLei) or automaton.num_sets > 1
    return several and _may_be_marked(args)


def _may_be_marked(args: argparse.Namespace) -> bool:
    bounded = args.max_steps is not None or args.checkpoint is not None
    return args.solver in ENGINES and not bounded


def fairness(args: argparse.Namespace, system: System) -> Fairness | None:
    """What runs must be fair to, if the system has these actions and processes."""
    if not args.fairness:
        return None
    processes = None
    if args.process:
        processes = {
            text: [x.strip() for x in text.split(",") if x.strip()]
            for text in args.process
        }
    try:
        return Fairness.of_actions(system, processes, kind=args.fairness)
    except ValueError as error:
        message = str(error).replace(
            "make it by System.from_actions", "a transition system (.aut) has"
        )
        raise io.FormatError(args.file, None, message) from error


def doors(asked: Fairness | None) -> tuple[Callable, Callable]:
    """What solves, and what checks, as commands call it."""

    def solve(product: MarkedProduct, *, solver: str, **how: Any) -> Any:
        return buchi.fair_cycle(product, asked, solver=solver)

    def verify(product: MarkedProduct, found: Any) -> Any:
        return buchi.verify_fair(product, found, asked)

    return solve, verify

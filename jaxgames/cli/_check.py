"""`jaxgames check`."""

import argparse
import json
from typing import Any, get_args

from jaxgames import buchi, io, ltl, plot, systems
from jaxgames.buchi import Trace
from jaxgames.cli import _checkpoint, _models, _options, _outputs, _parts
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import sizes, start_jax
from jaxgames.cli._phases import Phases
from jaxgames.cli._systems import load_automaton, load_product, load_system
from jaxgames.io._files import COMPRESSIONS, writing
from jaxgames.ltl import Automaton, Formula
from jaxgames.systems import Product, System

EXAMPLE = 'check lock.kripke --ltl "G(wait -> F cs)"'

TEXT, JSON = (
    tuple(f".{kind}{more}" for more in ("", *COMPRESSIONS)) for kind in ("txt", "json")
)
"""Suffixes of the files that a lasso is written to."""

MOST_STEPS = 30
"""Steps of a prefix or a cycle that are printed."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    source = parser.add_mutually_exclusive_group(required=True)
    _options.add_file(
        parser,
        "a system: .kripke, .npz, .aut (its actions are propositions), .umb, .drn or "
        ".tra (its labels are); or without --ltl and --automaton a graph with "
        "accepting vertices: .npz",
        option="--graph",
        among=source,
    )
    source.add_argument(
        "--model",
        dest="file",
        metavar=_models.SYNTAX,
        help="a transition function in Python, as for jaxgames explore",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--ltl", metavar="FORMULA", help='what must hold, such as "G(wait -> F cs)"'
    )
    what.add_argument(
        "--automaton",
        metavar="AUTOMATON",
        help="what must not happen: a Büchi automaton, .hoa, or a .never claim",
    )
    parser.add_argument(
        "--initial",
        type=_numbers,
        metavar="N[,N...]",
        help="the initial states (default: those of the file, or else 0)",
    )
    parser.add_argument(
        "--deadlock",
        choices=get_args(systems.Deadlock),
        help="what a state without successor means: it stays for ever (stutter, the "
        "default), it must not be reached (error), or no run goes there (reject)",
    )
    parser.add_argument(
        "--lasso",
        metavar="OUT",
        help="write what shows the violation: .txt, or .json for programs; - is "
        "standard output",
    )
    parser.add_argument("--dot", metavar="DOT", help="write it for Graphviz")
    parser.add_argument("--draw", metavar="PICTURE", help="draw it: .svg, .png or .pdf")
    _options.add_force(parser)
    parser.add_argument(
        "--stats", action="store_true", help="print the solver's statistics"
    )
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    """Checks a system or a product, and prints and writes what was asked for."""
    _check_options(args)
    start_jax(args)
    phase = Phases(args)
    automaton, what = _what(args, phase)
    system = product = None
    facts: dict[str, Any] = {"property": what}
    with phase("load") as notes:
        if automaton is None:
            question = load_product(args)
            notes.append(sizes(question.arena))
        else:
            system = load_system(args, automaton.propositions)
            notes.append(sizes(system))
            facts |= {
                "states": system.num_states,
                "transitions": system.num_transitions,
            }
    if system is not None and automaton is not None:
        with phase("product") as notes:
            question = product = _product(args, system, automaton)
            notes.append(
                f"{product.num_vertices:,} vertices, {product.num_edges:,} edges"
            )
    question = buchi.prepare(question)
    with phase("prepare"):
        _parts.make_host_ready(args, question.arena.shape[1], _check_tiny)
    found = _parts.solve(args, phase, buchi.accepting_cycle, question)
    verdict = _parts.verdict_on(args, phase, buchi.verify, question, found)
    facts |= {
        "holds": not bool(found.exists) if found.decided else None,
        "vertices": question.arena.shape[0],
        "edges": question.arena.shape[1],
        "lasso": None,
        **_parts.solve_facts(found, phase.seconds, verdict),
    }
    trace = None
    if found.lasso is not None:
        trace = Trace.of(found.lasso, product, system, accepting=question.accepting)
        facts["lasso"] = trace.to_dict()
    end = _parts.conclude(
        args, found, verdict, facts, lambda: _tell(args, facts, trace)
    )
    if end != Exit.DONE or trace is None:
        return end
    _write(args, trace)
    return Exit.WRONG


def _numbers(text: str) -> list[int]:
    return [_options.natural(word) for word in text.split(",")]


def _check_tiny() -> None:
    loop = System.from_graph(([0, 1], [0]), {"p": [True]})
    product = systems.product(loop, ltl.translate("F p"))
    buchi.verify(product, buchi.accepting_cycle(product, solver="host"))


def _check_options(args: argparse.Namespace) -> None:
    """Finds out before a long search what would fail after it."""
    _parts.check_solver(buchi.SOLVERS, args.solver)
    _checkpoint.check(args)
    if _models.is_named_by(args.file):
        if not (args.ltl or args.automaton):
            raise ValueError("--model goes with --ltl or --automaton")
        if args.initial is not None:
            raise ValueError("--initial is for files: a model says where it begins")
    if args.deadlock and not (args.ltl or args.automaton):
        raise ValueError("--deadlock goes with --ltl or --automaton")
    for option, suffixes in (("lasso", TEXT + JSON), ("draw", plot.SUFFIXES)):
        path = getattr(args, option)
        if path:
            _parts.check_suffix(f"--{option}", path, suffixes)
    _outputs.check(args, lasso=args.lasso, dot=args.dot, draw=args.draw)


def _what(args: argparse.Namespace, phase: Phases) -> tuple[Automaton | None, str]:
    """What must not happen, and what that is called."""
    if args.ltl is not None:
        try:
            formula = Formula.parse(args.ltl)
        except ValueError as error:
            raise ValueError(f"--ltl: {error}") from error
        with phase("property") as notes:
            automaton = ltl.translate(formula, negate=True)
            notes.append(_size(automaton))
        return automaton, str(formula)
    if args.automaton is not None:
        with phase("property") as notes:
            automaton = load_automaton(args.automaton)
            notes.append(_size(automaton))
        return automaton, f"no run of {args.automaton}"
    return None, "no accepting cycle"


def _size(automaton: Automaton) -> str:
    return f"{automaton.num_states:,} states, {len(automaton.targets):,} edges"


def _product(args: argparse.Namespace, system: System, automaton: Automaton) -> Product:
    try:
        return systems.product(system, automaton, deadlock=args.deadlock or "stutter")
    except ValueError as error:
        message = str(error).replace("deadlock='stutter'", "--deadlock stutter")
        raise io.FormatError(args.file, None, message) from error


def _tell(args: argparse.Namespace, facts: dict, trace: Trace | None) -> None:
    if args.stats:
        told = {"solver": facts["solver"], **facts["stats"]}
        print("  stats   ", ", ".join(f"{name} {told[name]}" for name in told))
    answer = "holds" if facts["holds"] else "violated"
    print(f"{args.file}: {answer}: {facts['property']}")
    if trace is not None:
        print(trace.to_text(MOST_STEPS), end="")


def _write(args: argparse.Namespace, trace: Trace) -> None:
    if args.lasso:
        as_text = not args.lasso.lower().endswith(JSON)
        text = trace.to_text() if as_text else json.dumps(trace.to_dict()) + "\n"
        with writing(args.lasso) as file:
            file.write(text.encode())
    if args.dot:
        with writing(args.dot) as file:
            file.write(plot.lasso_to_dot(trace).encode())
    if args.draw:
        plot.draw_lasso(trace, args.draw)

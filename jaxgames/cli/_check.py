"""`jaxgames check`."""

import argparse
import functools
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

from jaxgames import buchi, io, ltl, plot, systems
from jaxgames.buchi import Trace
from jaxgames.cli import _checkpoint, _fair, _models, _options, _outputs, _parts
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import sizes, start_jax
from jaxgames.cli._phases import Phases
from jaxgames.cli._systems import formulas_in, load, load_product, system_of
from jaxgames.io._files import COMPRESSIONS, write_text
from jaxgames.ltl import Automaton, EmersonLei, Formula
from jaxgames.quoting import all_counted
from jaxgames.systems import MarkedProduct, Product, System

EXAMPLE = 'check lock.kripke --ltl "G(wait -> F cs)"'

TEXT, JSON = (
    tuple(f".{kind}{more}" for more in ("", *COMPRESSIONS)) for kind in ("txt", "json")
)
"""Suffixes of the files that a lasso is written to."""

MOST_STEPS = 30
"""Steps of a prefix or a cycle that are printed."""


def options(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    _options.add_file(
        parser,
        "a system: .kripke or .npz; .aut, whose actions are the propositions; .umb, "
        ".drn or .tra, whose labels are the propositions. Without a property: a graph "
        "with accepting vertices, .npz",
        option="--graph",
        many=True,
        among=source,
    )
    _options.add_source(
        *(source, "--model", _models.SYNTAX),
        "a transition function in Python, as for jaxgames explore",
    )
    parser.set_defaults(
        beside=("lasso", ".json"), check=_check_options, each=_each, arrange=_arrange
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--ltl",
        action="append",
        metavar="FORMULA",
        help='what must hold, such as "G(wait -> F cs)"; may be repeated, with '
        "a line of output for each",
    )
    what.add_argument(
        "--properties",
        metavar="LIST",
        help="a file with such formulas, one on each line; lines that begin with # are "
        "comments",
    )
    what.add_argument(
        "--automaton",
        metavar="AUTOMATON",
        help="what must not happen: an automaton (.hoa) or a never claim (.never)",
    )
    parser.add_argument(
        "--initial",
        type=_options.naturals,
        metavar="N[,N...]",
        help="the initial states (default: those of the file, or else 0)",
    )
    parser.add_argument(
        "--deadlock",
        choices=get_args(systems.Deadlock),
        help="what a state without successor means: the run stays there for ever "
        "(stutter, the default), the state must not be reached (error), or no run goes "
        "there (reject)",
    )
    _fair.options(parser)
    parser.add_argument(
        *("-o", "--output", "--lasso"),
        dest="lasso",
        metavar="OUT",
        help="write the run that violates the property: .txt, or .json for programs "
        "and for jaxgames verify; - is standard output. For several files it names a "
        "folder. For several properties the number of the property is added to the "
        "name",
    )
    parser.add_argument("--dot", metavar="DOT", help="write this run for Graphviz")
    parser.add_argument(
        "--draw", metavar="PICTURE", help="draw this run: .svg, .png or .pdf"
    )
    _options.add_force(parser)
    _options.add_decomposition(parser)
    _options.take_no_all(parser)


def run(args: argparse.Namespace) -> Exit:
    ((_, work),) = _works(args)
    return work()


class _Property(NamedTuple):
    """What is asked of a system.

    Attributes:
        formula: what must hold; None for an automaton or for no property.
        automaton: the file with what must not happen; None for a formula, or nothing.
        what: how it is told.
    """

    formula: Formula | None
    automaton: str | None
    what: str


class _Source:
    """What is read from a file, once for all properties."""

    def __init__(self) -> None:
        self.failed = False
        self._found: Any = None

    def read(self, args: argparse.Namespace) -> Any:
        """What the file holds."""
        if self._found is None:
            self.failed = True
            self._found = load(args)
            self.failed = False
        return self._found


def _each(some: Iterable[argparse.Namespace]) -> Iterator[tuple[Any, Any]]:
    """All properties of each file; of a file that is bad it is told once."""
    for args in some:
        yield from _works(args)


def _works(args: argparse.Namespace) -> Iterator[tuple[argparse.Namespace, Any]]:
    """The arguments for each property of a file, and what checks it."""
    _check_options(args)
    start_jax(args)
    properties, source = _properties(args), _Source()
    for number, asked in enumerate(properties, 1):
        one = args
        if len(properties) > 1 and args.lasso:
            stem, suffix = _parts.split(args.lasso, (*TEXT, *JSON))
            one = argparse.Namespace(
                **{**vars(args), "lasso": f"{stem}-{number}{suffix}"}
            )
            _outputs.check(one, lasso=one.lasso)
        yield one, functools.partial(_check, one, asked, source)
        if source.failed:
            return


def _check(args: argparse.Namespace, asked: _Property, source: _Source) -> Exit:
    phase = Phases(args)
    automaton = system = product = None
    facts: dict[str, Any] = {"property": asked.what}
    if asked.formula is not None or asked.automaton is not None:
        with phase("property") as notes:
            automaton = _fair.automaton(args, asked.formula)
            notes.append(_size(automaton))
    question: Any = None
    with phase("load") as notes:
        if automaton is None:
            question = load_product(args)
            notes.append(sizes(question.arena))
        else:
            system = system_of(args, source.read(args), automaton.propositions)
            notes.append(sizes(system))
            facts |= {
                "states": system.num_states,
                "transitions": system.num_transitions,
            }
    if system is not None and automaton is not None:
        with phase("product") as notes:
            product = _product(args, system, automaton)
            notes.append(
                all_counted(vertex=product.num_vertices, edge=product.num_edges)
            )
    fairness, accepting = None, None
    solve: Any = buchi.accepting_cycle
    verify: Any = buchi.verify
    if isinstance(product, MarkedProduct):
        assert system is not None
        question, shape = product, (product.num_vertices, product.num_edges)
        fairness = _fair.fairness(args, system)
        solve, verify = _fair.doors(fairness)
        if fairness is not None:
            facts["fairness"] = {"kind": args.fairness, "to": list(fairness.names)}
    else:
        question = buchi.prepare(question if product is None else product)
        shape, accepting = question.shape, question.accepting
    with phase("prepare"):
        _parts.make_host_ready(args, shape[1], _check_tiny)
    found = _parts.solve(args, phase, solve, question)
    verdict = _parts.verdict_on(args, phase, verify, question, found)
    facts |= {
        "holds": not bool(found.exists) if found.decided else None,
        "vertices": shape[0],
        "edges": shape[1],
        "lasso": None,
        **_parts.solve_facts(found, phase.seconds, verdict),
    }
    trace = None
    if found.lasso is not None:
        trace = Trace.of(found.lasso, product, system, accepting=accepting)
        facts["lasso"] = trace.to_dict()
    end = _parts.conclude(
        args, found, verdict, facts, lambda: _tell(args, facts, trace)
    )
    if end != Exit.DONE or trace is None:
        return end
    _write(args, trace)
    return Exit.WRONG


def _check_tiny() -> None:
    loop = System.from_graph(([0, 1], [0]), {"p": [True]})
    product = systems.product(loop, ltl.translate("F p"))
    buchi.verify(product, buchi.accepting_cycle(product, solver="host"))


# ---- what is asked ---------------------------------------------------------------


def _arrange(args: argparse.Namespace) -> None:
    """Tells whether there will be several answers for a file."""
    args.several = len(args.ltl or ()) > 1 or args.properties is not None


def _check_options(args: argparse.Namespace) -> None:
    _parts.check_solver(buchi.SOLVERS, args.solver)
    _checkpoint.check(args)
    asks = args.ltl or args.automaton or args.properties
    if any(map(_models.is_named_by, args.files)):
        if not asks:
            raise ValueError("--model goes with --ltl or --automaton")
        if args.initial is not None:
            raise ValueError("--initial is for files: a model names its initial states")
    if args.deadlock and not asks:
        raise ValueError("--deadlock goes with --ltl or --automaton")
    _fair.check(args, bool(asks))
    for option, suffixes in (("lasso", TEXT + JSON), ("draw", plot.SUFFIXES)):
        path = getattr(args, option)
        if path:
            _parts.check_suffix(f"--{option}", path, suffixes)
    _outputs.check(args, lasso=args.lasso, dot=args.dot, draw=args.draw)
    _properties(args)


def _properties(args: argparse.Namespace) -> list[_Property]:
    """What is asked, in the order in which it was given."""
    if args.automaton is not None:
        return [_Property(None, args.automaton, f"no run of {args.automaton}")]
    if args.properties is not None:
        lines = formulas_in(args.properties)
        return [_parsed(text, args.properties, line) for line, text in lines]
    if args.ltl is not None:
        return [_parsed(text) for text in args.ltl]
    return [_Property(None, None, "no accepting cycle")]


def _parsed(text: str, path: str | None = None, line: int | None = None) -> _Property:
    try:
        formula = Formula.parse(text)
    except ValueError as error:
        if path is not None:
            raise io.FormatError(path, line, str(error)) from error
        raise ValueError(f"--ltl: {error}") from error
    return _Property(formula, None, str(formula))


def _size(automaton: Automaton | EmersonLei) -> str:
    return all_counted(state=automaton.num_states, edge=automaton.num_edges)


def _product(
    args: argparse.Namespace, system: System, automaton: Automaton | EmersonLei
) -> Product | MarkedProduct:
    deadlock = args.deadlock or "stutter"
    try:
        if _fair.is_marked(args, automaton):
            return systems.marked_product(system, automaton, deadlock=deadlock)
        if isinstance(automaton, EmersonLei):
            automaton = automaton.to_buchi()
        return systems.product(system, automaton, deadlock=deadlock)
    except ValueError as error:
        message = str(error).replace("deadlock='stutter'", "--deadlock stutter")
        raise io.FormatError(args.file, None, message) from error


def _tell(args: argparse.Namespace, facts: dict, trace: Trace | None) -> None:
    answer = "holds" if facts["holds"] else "violated"
    print(f"{args.file}: {answer}: {facts['property']}")
    if trace is not None and not args.brief:
        print(trace.to_text(MOST_STEPS), end="")


def _write(args: argparse.Namespace, trace: Trace) -> None:
    if args.lasso:
        as_text = not args.lasso.lower().endswith(JSON)
        text = trace.to_text() if as_text else json.dumps(trace.to_dict()) + "\n"
        write_text(args.lasso, text)
    if args.dot:
        write_text(args.dot, plot.lasso_to_dot(trace))
    if args.draw:
        plot.draw_lasso(trace, args.draw)

"""`jaxgames synth`."""

import argparse
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jaxgames import io, parity, synth
from jaxgames.arena import Arena
from jaxgames.cli import _oink, _options, _outputs, _parts, _synth_parts
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._games import read, sizes, start_jax
from jaxgames.cli._phases import Phases
from jaxgames.cli._streams import STDIN
from jaxgames.cli._systems import formulas_in
from jaxgames.io._files import COMPRESSIONS
from jaxgames.quoting import all_counted, counted, quoted
from jaxgames.solution import SolveError
from jaxgames.synth import Decomposition, Specification

EXAMPLE = "synth arbiter.ehoa -o arbiter.aag"

SUFFIXES = tuple(
    f".{kind}{more}"
    for kind in ("aag", "aig", "ehoa", "hoa", "dot")
    for more in ("", *COMPRESSIONS)
)
"""Of the files that controllers are written to."""

AT_ONCE = 4096
"""Specifications whose games are one batch."""

Loaded = tuple[argparse.Namespace, Phases, Any]
"""Arguments for a specification, its times, and it, or what is wrong."""


def options(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    _options.add_file(
        parser,
        "a specification: .ehoa, .tlsf",
        option="--spec",
        many=True,
        among=source,
    )
    source.add_argument(
        "--ltl", metavar="FORMULA", help='what the system shall do, as "G(r -> F g)"'
    )
    source.add_argument(
        "--formulas",
        metavar="LIST",
        help="a file with a formula on each line, each of which gets a line of output; "
        "lines that begin with # are comments",
    )
    parser.set_defaults(
        beside=("output", ".aag"), check=_check_options, each=_each, arrange=_arrange
    )
    add_owners(parser, "with --ltl and --formulas")
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=N",
        help="the value of a parameter of a .tlsf file; may be repeated",
    )
    parser.add_argument(
        "--moore",
        action="store_true",
        help="the system sets its propositions before it knows the others",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the controller, or if there is none the machine of the "
        "environment: AIGER (.aag, or binary .aig), .ehoa, .hoa or .dot; - is standard "
        "output, as .aag; for several files it names a folder",
    )
    parser.add_argument("--game", metavar="GAME", help="write the parity game: .npz")
    parser.add_argument("--pg", metavar="PG", help="write this game for PGSolver: .pg")
    parser.add_argument(
        "-s",
        "--solver",
        type=_oink.solver,
        default="auto",
        help="which solver of parity games, see jaxgames solvers (default: auto)",
    )
    _options.add_verify(
        parser, "make the controller and check it, even if it is not written"
    )
    _options.add_force(parser)
    _options.add_all(parser, what="the machine as the text of an AIGER file")
    _options.add_stats(parser)
    _options.add_max_steps(parser, "rounds on the parity game")
    _options.add_common(parser)
    _options.take_no_pictures(parser)
    _options.take_no(
        parser,
        "most of the time is spent on automata, which have no state to keep. To keep "
        "the solve of a large game, write the game by --pg and use jaxgames solve",
        "--checkpoint",
        "--resume",
    )


def add_owners(parser: argparse.ArgumentParser, where: str) -> None:
    """Options that say who sets which propositions of a formula."""
    parser.add_argument(
        "--ins",
        metavar="NAMES",
        help=f"{where}: the propositions that the environment sets, such as a,b",
    )
    parser.add_argument(
        "--outs",
        metavar="NAMES",
        help=f"{where}: the propositions that the system sets; one of --ins and --outs "
        "may be left out",
    )


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    start_jax(args)
    # Scripts of the field read the word alone.
    phase = Phases(args, silent=not args.verify)
    return _solved(args, phase, _load(args, phase))


def _each(some: Iterable[argparse.Namespace]) -> Iterator[tuple[Any, Any]]:
    """Files in batches; all that is decided is done."""
    pending: list[argparse.Namespace] = []
    for place, args in enumerate(some):
        if not place:  # the others are told the same
            start_jax(args)
        if args.formulas is not None:
            yield from _listed(args)
            continue
        pending.append(args)
        if len(pending) == AT_ONCE:
            yield from _batch(pending)
            pending = []
    yield from _batch(pending)


def _listed(args: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    """The formulas of a list in batches, which are translated on all cores."""
    lines = formulas_in(args.formulas)
    ins, outs = _names(args.ins), _names(args.outs)
    for begin in range(0, len(lines), AT_ONCE):
        some = lines[begin : begin + AT_ONCE]
        whole = Phases(args, silent=True)
        with whole("load"):
            texts = [text for _, text in some]
            found = synth.specifications_or_why(texts, ins, outs, moore=args.moore)
        _note_fused(args, [x for x in found if isinstance(x, Specification)])
        loaded: list[Loaded] = []
        for (line, text), one in zip(some, found, strict=True):
            own = {"file": f"{args.formulas}:{line}", "formula": text}
            if args.output:
                stem, suffix = _parts.split(args.output, SUFFIXES[::-1])
                own["output"] = f"{stem}-{line}{suffix}"
            single = argparse.Namespace(**{**vars(args), **own})
            phase = Phases(single)
            phase.seconds["batch"] = whole.seconds["load"]
            loaded.append((single, phase, one))
        yield from _answered(loaded)


def _batch(some: list[argparse.Namespace]) -> Iterator[tuple[Any, Any]]:
    loaded: list[Loaded] = []
    for args in some:
        phase = Phases(args)
        try:
            found: Any = _load(args, phase)
            if isinstance(found, Specification):
                with phase("split"):
                    _arena(args, found)
        except Exception as error:  # is told of when it is this file's turn
            found = error
        loaded.append((args, phase, found))
    yield from _answered(loaded)


def _answered(loaded: list[Loaded]) -> Iterator[tuple[Any, Any]]:
    """What is to be done for each, once their games are solved as one batch."""
    good = [(phase, x) for _, phase, x in loaded if isinstance(x, Specification)]
    solutions: dict[int, Any] = {}
    try:
        if good:
            args = loaded[0][0]
            phase = Phases(args, silent=True)
            with phase("solve"):
                solver = args.solver
                found = synth.solve_many(
                    [x for _, x in good], solver, max_steps=args.max_steps, throw=False
                )
            for (own, _), _ in zip(good, found, strict=True):
                seconds = own.seconds.get("batch", 0.0) + phase.seconds["solve"]
                own.seconds["batch"] = seconds
            solutions = {id(x): y for (_, x), y in zip(good, found, strict=True)}
    except SolveError as error:
        solutions = {id(x): error for _, x in good}
    for args, phase, found in loaded:
        yield args, functools.partial(_of_batch, args, phase, found, solutions)


def _of_batch(
    args: argparse.Namespace, phase: Phases, found: Any, solutions: dict[int, Any]
) -> Exit:
    for wrong in (found, solutions.get(id(found))):
        if isinstance(wrong, Exception):
            raise wrong
    if isinstance(found, Decomposition):
        return _synth_parts.solved(args, phase, found)
    return _told(args, phase, found, solutions[id(found)])


# ---- what is asked ---------------------------------------------------------------


def _arrange(args: argparse.Namespace) -> None:
    """A formula is in the place of a file."""
    if not hasattr(args, "files"):
        if args.formulas == "-":
            args.formulas = STDIN
        args.files = ["--ltl" if args.formulas is None else args.formulas]
    args.several = args.formulas is not None


def _check_options(args: argparse.Namespace) -> None:
    listed = args.formulas is not None
    if listed or args.ltl is not None:
        option = "--formulas" if listed else "--ltl"
        if args.ins is None and args.outs is None:
            raise ValueError(f"{option} goes with --ins and --outs, or one of both")
    elif args.ins is not None or args.outs is not None:
        raise ValueError("--ins and --outs go with --ltl: a file says it by itself")
    if _parameters(args) and (listed or args.ltl is not None):
        raise ValueError("--param is for .tlsf files, a formula has none")
    parity.check_solver(args.solver)
    if args.output:
        _parts.check_suffix("-o", args.output, SUFFIXES)
    if args.game:
        _parts.check_suffix("--game", args.game, (".npz",))
    if args.pg:
        suffixes = tuple(f".pg{more}" for more in ("", *COMPRESSIONS))
        _parts.check_suffix("--pg", args.pg, suffixes)
    if (listed or len(args.files) > 1) and (args.game or args.pg):
        raise ValueError("--game and --pg are for one specification")
    outputs = {"output": args.output, "game": args.game, "pg": args.pg}
    _outputs.check(args, **outputs)


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def _note_fused(
    args: argparse.Namespace, asked: Sequence[Specification | Decomposition]
) -> None:
    """Says which names that nobody gave look like an operator and a name.

    Spot reads `Fg` as `F g`; here it is a proposition, and the side that no option
    names takes it.
    """
    if args.quiet or (args.ins is not None and args.outs is not None):
        return
    side, option = ("outputs", "--ins") if args.outs is None else ("inputs", "--outs")
    names = dict.fromkeys(name for one in asked for name in getattr(one, side))
    fused = [name for name in names if re.match("[FGX]+[a-z_]", name)]
    if fused:
        first = fused[0]
        rest = first.lstrip("FGX")
        meant = " ".join([*first[: len(first) - len(rest)], rest])
        complain(
            f"note: {', '.join(map(repr, fused))}: taken as {side}, since {option} "
            f"names only the others; to mean an operator, write {meant!r}"
        )


def _parameters(args: argparse.Namespace) -> dict[str, int]:
    found = {}
    for text in args.param:
        name, _, value = text.partition("=")
        if not value.strip().isdigit():
            raise ValueError(f"--param takes NAME=N, such as n=3, got {quoted(text)}")
        found[name.strip()] = int(value)
    return found


def _load(args: argparse.Namespace, phase: Phases) -> Specification | Decomposition:
    with phase("load") as notes:
        found = _asked(args)
        if isinstance(found, Decomposition):
            notes.append(counted(len(found.parts), "part"))
        else:
            automaton = found.automaton
            notes.append(
                all_counted(
                    state=automaton.num_states, proposition=len(automaton.propositions)
                )
            )
    return found


def _asked(args: argparse.Namespace) -> Specification | Decomposition:
    """The specification; taken apart, if it is a formula with independent parts."""
    apart = question(args)
    if isinstance(apart, Specification):
        return apart
    if not (args.game or args.pg):
        if len(apart.parts) > 1:
            return apart
        return apart.decidable()
    return Specification.from_ltl(
        apart.formula, apart.inputs, apart.outputs, moore=apart.moore
    )


def question(args: argparse.Namespace) -> Specification | Decomposition:
    """The specification that is a formula, or in a file; with who moves first."""
    if args.ltl is not None:
        ins, outs = _names(args.ins), _names(args.outs)
        found = Decomposition.from_ltl(args.ltl, ins, outs, moore=args.moore)
        _note_fused(args, [found])
        return found
    if io.format_of(args.file, format=args.format) == "tlsf":
        return io.tlsf.decomposition(
            args.file, parameters=_parameters(args), moore=args.moore
        )
    if args.param:
        raise ValueError("--param is for .tlsf files")
    found = read(args)
    if not isinstance(found, Specification):
        raise io.FormatError(
            args.file, None, f"expected a specification, found {quoted(found)}"
        )
    if not args.moore or found.moore:
        return found
    return Specification(found.automaton, found.controllable, True, found.formula)


# ---- what is found ---------------------------------------------------------------


def _solved(
    args: argparse.Namespace,
    phase: Phases,
    specification: Specification | Decomposition,
) -> Exit:
    if isinstance(specification, Decomposition):
        return _synth_parts.solved(args, phase, specification)
    with phase("split") as notes:
        notes.append(sizes(_arena(args, specification)))
    with phase("solve") as notes:
        solution = synth.solve(
            specification, args.solver, max_steps=args.max_steps, throw=False
        )
        notes.append(_parts.solver_note(solution.game))
    return _told(args, phase, specification, solution)


def _arena(args: argparse.Namespace, specification: Specification) -> Arena:
    """The game; where the automaton is not as it must be, the file is wrong."""
    try:
        return specification.arena()
    except ValueError as error:
        raise io.FormatError(args.file, None, str(error)) from error


def _told(
    args: argparse.Namespace,
    phase: Phases,
    specification: Specification,
    solution: synth.Solution,
) -> Exit:
    arena = specification.arena()
    if args.game:
        io.save(args.game, arena)
    if args.pg:
        io.save(args.pg, specification.arena(on_vertices=True), format="pg")
    return _synth_parts.told(
        *(args, phase, specification, solution.realizable, [solution]),
        solution.controller,
        lambda found: _is_right(specification, found, bool(solution.realizable)),
    )


def _is_right(
    specification: Specification, controller: synth.Controller, realizable: bool
) -> bool:
    """Whether the machine, and what its circuit comes to, do what they should."""
    if not synth.verify(specification, controller, realizable=realizable):
        return False
    text = io.aiger.dumps(controller)
    again = io.aiger.parse("the controller", text).controller()
    # States of a machine that was found answer differently; a circuit may have more.
    if again.is_same(controller) or again.reduced().is_same(controller):
        return True
    return synth.verify(specification, again, realizable=realizable)

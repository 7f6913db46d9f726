"""`jaxgames probability`."""

import argparse
import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import io, mdp
from jaxgames.cli import (
    _checkpoint,
    _objectives,
    _options,
    _parts,
    _players,
    _report,
    _rows,
    _vertices,
)
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._games import counts
from jaxgames.cli._phases import Phases
from jaxgames.quoting import clipped, counted, quoted
from jaxgames.solution import Status

EXAMPLE = "probability model.drn --to goal -o values.txt"

SHOWN = 10
"""Initial states of which the probability is told."""


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser,
        "a Markov decision process: .umb, .drn or .tra; or a stochastic game, .umb",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(
        "--to",
        metavar="TARGET",
        help=f"the target: a label of the model, or {_vertices.SYNTAX}",
    )
    _objectives.options(asked)
    parser.add_argument(
        "--through",
        metavar="STATES",
        help="states that a path may pass on its way, as for --to (default: all)",
    )
    optimum = parser.add_mutually_exclusive_group()
    optimum.add_argument(
        "--max",
        dest="optimum",
        action="store_const",
        const="max",
        default="max",
        help="the largest probability, over all schedulers (default)",
    )
    optimum.add_argument(
        "--min",
        dest="optimum",
        action="store_const",
        const="min",
        help="the smallest probability",
    )
    parser.add_argument(
        "--player",
        type=_options.natural,
        metavar="P",
        help="in a game: the player who wants this; all others play against this "
        "player (default: 0)",
    )
    parser.add_argument(
        "--zero-one",
        action="store_true",
        help="only find where it is zero and where it is one, which needs no "
        "probabilities",
    )
    parser.add_argument(
        "--for-ever",
        action="store_true",
        help="only find where some scheduler visits the target infinitely often with "
        "probability one",
    )
    parser.add_argument(
        "--epsilon",
        type=_options.positive,
        metavar="E",
        default=1e-6,
        help="how far a value may be from the true one (default: 1e-6)",
    )
    parser.add_argument(
        "--relative",
        action="store_true",
        help="E is relative to the true probability",
    )
    _rows.add_rows(parser)
    _options.add_decomposition(parser)
    _options.take_no_pictures(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, given = _parts.begin(args, _players.load)
    model = _players.model_of(given)
    if _objectives.is_asked(args):
        return _objectives.run(args, phase, given)
    target = states("--to", args.to, model)
    through = None
    if args.through is not None:
        through = states("--through", args.through, model)
    facts: dict[str, Any] = {
        **counts(model),
        "target": int(target.sum()),
        "optimum": args.optimum,
    }
    game = given if isinstance(given, mdp.Game) else None
    if game is not None:
        del facts["optimum"]
        facts["player"] = args.player = args.player or 0
    if args.zero_one or args.for_ever:
        return _qualitative(args, phase, model, target, through, facts)
    if model.probs is None:
        why = "this model has no probabilities (--zero-one needs none)"
        raise io.FormatError(args.file, None, why)
    solve = functools.partial(
        _solve if game is None else _players.solve,
        target=target,
        **({"optimum": args.optimum} if game is None else {"maximizer": args.player}),
        states=through,
        epsilon=args.epsilon,
        relative=args.relative,
    )
    found = _parts.solve(args, phase, solve, given)
    verdict = _parts.verdict_on(
        *(args, phase),
        lambda given, found: verdict_of(
            given, target, args.optimum if game is None else args.player, through, found
        ),
        *(given, found),
    )
    facts |= _parts.solve_facts(found, phase.seconds, verdict)
    arrays = {
        name: np.asarray(getattr(found, name))
        for name in (*_BOUNDS, "scheduler" if game is None else "strategy")
    }
    return conclude(args, model, found, verdict, facts, arrays)


def conclude(args, model, found, verdict, facts, arrays) -> Exit:
    """Prints and writes what was found of states.

    `arrays` are what each state, or row, has: bounds and a value are among it.
    """
    facts["gap"] = float((arrays["upper"] - arrays["lower"]).max(initial=0.0))
    facts["initial"] = [
        {"state": int(s), **{name: float(arrays[name][s]) for name in _BOUNDS}}
        for s in _initial(model)
    ]
    if args.all:
        facts |= {name: array.tolist() for name, array in arrays.items()}
    end = _parts.conclude(*(args, found, verdict, facts), lambda: tell(args, facts))
    written = end == Exit.DONE or found.status == Status.PRECISION
    if args.output and written:
        _rows.write_rows(args.output, **arrays)
    return end


_BOUNDS = "lower", "upper", "value"


def _check_options(args: argparse.Namespace) -> None:
    _rows.check_output(args)
    _parts.check_solver(mdp.REACH_SOLVERS, args.solver)
    _checkpoint.check(args)
    if args.zero_one and args.for_ever:
        raise ValueError("--zero-one and --for-ever are two questions: ask one")
    if args.for_ever and (args.optimum == "min" or args.through is not None):
        option = "--min" if args.optimum == "min" else "--through"
        raise ValueError(f"--for-ever does not go with {option}")
    if args.through is not None and _objectives.is_asked(args):
        raise ValueError("--through goes with --to")
    if args.checkpoint and (args.zero_one or args.for_ever):
        raise ValueError("--checkpoint keeps the rounds that bounds of a value take")


class _Said(NamedTuple):
    """What is said of values."""

    right: bool
    why: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return self.why


def verdict_of(given: Any, target: Any, who: Any, through: Any, found: Any):
    """What a check of bounds says, and of the values that are between them.

    Args:
        given: the model, or the game.
        target: bool `[S]`, what is to be reached.
        who: `"min"` or `"max"`; of a game, the player who wants to get there.
        through: bool `[S]`, what may be passed before; None for all.
        found: `lower`, `upper`, `value`, and `scheduler`, or `strategy` of a game.
    """
    if isinstance(given, mdp.Game):
        how: Any = {"maximizer": who, "states": through}
        verdict: Any = mdp.verify_game(given, target, found, **how)
    else:
        passed = np.ones(len(target), bool) if through is None else through
        marked = dataclasses.replace(given, labels={"passed": passed, "target": target})
        asked = f'P{who}=? [ "passed" U "target" ]'
        verdict = mdp.verify_values(marked, asked, found)
    between = (found.lower <= found.value) & (found.value <= found.upper)
    if verdict and not between.all():
        state = int(np.argmin(between))
        return _Said(False, f"state {state}: its value is not between its bounds")
    return verdict


def states(option: str, text: str, model: mdp.MDP) -> np.ndarray:
    """The states that an option names, by a label or by their numbers."""
    labels = model.labels or {}
    if text in labels:
        return np.asarray(labels[text])
    if text[:1] == "@" or text[:1].isdigit():
        return _vertices.mask(option, text, model.num_states, "state")
    there = clipped(", ".join(labels)) or "none at all"
    raise ValueError(
        f"{option}: the model has no label {quoted(text)}, only {there}; expected one, "
        f"or {_vertices.SYNTAX}"
    )


def _initial(model: mdp.MDP) -> np.ndarray:
    return np.array([0]) if model.initial is None else np.asarray(model.initial)


def _solve(model: mdp.MDP, *, target: Any, optimum: Any, **how: Any) -> Any:
    return mdp.reach_probability(model, target, optimum, **how)


def _qualitative(args, phase: Phases, model, target, through, facts: dict) -> Exit:
    """Where the probability is zero or one."""
    with phase("solve"):
        if args.for_ever:
            regions = {"one": mdp.almost_sure_buchi(model, target)}
        else:
            how = {"optimum": args.optimum, "states": through}
            regions = {
                "zero": mdp.prob0(model, target, **how),
                "one": mdp.prob1(model, target, **how),
            }
    verdict: Any = None
    if args.verify:
        with phase("verify") as notes:
            for name, region in regions.items():
                sought: Any = "for ever" if args.for_ever else name
                verdict = mdp.verify_region(
                    *(model, target, region, sought, args.optimum), states=through
                )
                if not verdict:
                    break
            notes.append("valid" if verdict else "WRONG")
    arrays = {}
    for name, region in regions.items():
        arrays[name] = np.asarray(region.states)
        if region.scheduler is not None:
            arrays[f"scheduler_{name}"] = np.asarray(region.scheduler)
    facts |= {"status": "solved", "seconds": dict(phase.seconds)}
    facts["verified"] = None if verdict is None else bool(verdict)
    facts |= {name: int(arrays[name].sum()) for name in regions}
    facts["initial"] = [
        {"state": int(s), **{name: bool(arrays[name][s]) for name in regions}}
        for s in _initial(model)
    ]
    if args.all:
        facts["found"] = {name: array.tolist() for name, array in arrays.items()}
    if args.json:
        _report.show(args, facts)
    elif not args.quiet:
        told = [f"{name} from {facts[name]:,}" for name in regions]
        print(f"{args.file}: probability {', '.join(told)} of {model.num_states:,}")
    if verdict is not None and not verdict:
        complain(f"{args.file}: the answer is wrong, nothing is written: {verdict}")
        return Exit.UNVERIFIED
    if args.output:
        columns = {name: array.astype(np.int32) for name, array in arrays.items()}
        _rows.write_rows(args.output, **columns)
    return Exit.DONE


def tell(args: argparse.Namespace, facts: dict) -> None:
    """Prints the probability in some initial states."""
    most = "largest" if args.optimum == "max" else "least"
    what = f"the {most} probability"
    if "player" in facts:
        what = f"player {facts['player']}'s probability"
    shown = facts["initial"][:1] if args.brief else facts["initial"][:SHOWN]
    for bar in shown:
        print(
            f"{args.file}: from state {bar['state']} {what} is "
            f"{bar['value']:.6g}, between {bar['lower']!r} and {bar['upper']!r}"
        )
    more = len(facts["initial"]) - len(shown)
    if more and not args.brief:
        print(f"  and from {counted(more, 'more initial state')}")

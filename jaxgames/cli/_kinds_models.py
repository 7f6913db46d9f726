"""What checks answers about models, systems and processes."""

import argparse
from types import SimpleNamespace
from typing import Any

import numpy as np

from jaxgames.cli._answers import Answer, narrow, of_vertices
from jaxgames.quoting import quoted
from jaxgames.solution import SolveError


def classes(args: argparse.Namespace, answer: Answer) -> Any:
    """Checks the classes of a notion."""
    from jaxgames import equivalence

    lts = equivalence.load(args.file, format=args.format)
    name = "labels" if "labels" in answer.arrays else "column"
    (labels,) = of_vertices(answer, lts.num_states, name)
    notion = str(answer.arrays.get("notion", args.notion))
    if args.notion not in (None, notion):
        raise answer.fail(f"these are classes of {notion}, not of {args.notion}")
    labels = narrow(labels, np.int64)
    verdict = answer.judged(equivalence.verify, lts, labels, notion)
    return {"states": lts.num_states, "transitions": lts.num_transitions}, verdict


def end_components(args: argparse.Namespace, answer: Answer) -> Any:
    """Checks maximal end components."""
    from jaxgames import mdp
    from jaxgames.cli import _mec

    model = _mec.load(args)
    (label,) = of_vertices(answer, model.num_states, "state_label")
    kept = answer.arrays["choice_kept"]
    if kept.shape != (model.num_choices,) or kept.dtype != bool:
        raise answer.fail(
            f"choice_kept must be bool [{model.num_choices}], got {kept.dtype} "
            f"{list(kept.shape)}"
        )
    verdict = mdp.verify(model, (narrow(label, np.int32), kept))
    return _sizes(model), verdict


def lasso(args: argparse.Namespace, answer: Answer) -> Any:
    """Checks a lasso of a graph, or a run of a system."""
    from jaxgames import buchi, ltl, systems
    from jaxgames.cli import _fair, _systems

    if args.ltl is None and args.automaton is None:
        question = _systems.load_product(args)
        prefix, cycle = (
            narrow(answer.arrays[part], np.int64) for part in ("prefix", "cycle")
        )
        vertices, edges = question.shape
        verdict = buchi.verify(question, buchi.Lasso(prefix, cycle))
        return {"vertices": vertices, "edges": edges}, verdict
    if "cycle_state" not in answer.arrays:
        raise answer.fail("its steps have no states: it is not the run of a system")
    if args.ltl is not None:
        try:
            violates = ltl.Formula.parse(args.ltl)
        except ValueError as error:
            raise ValueError(f"--ltl: {error}") from error
    else:
        violates = _systems.load_automaton(args.automaton)
    found = _systems.load(args)
    system = _systems.system_of(args, found, violates.propositions)
    prefix, cycle = (
        narrow(answer.arrays[f"{part}_state"], np.int64) for part in ("prefix", "cycle")
    )
    deadlock = args.deadlock or "stutter"
    verdict = systems.verify_run(
        system,
        prefix,
        cycle,
        violates,
        fairness=_fair.fairness(args, system),
        deadlock=deadlock,
    )
    sizes = {"states": system.num_states, "transitions": system.num_transitions}
    return sizes, verdict


# ---- probabilities and values ------------------------------------------------------


def probabilities(args: argparse.Namespace, answer: Answer) -> Any:
    """Checks bounds of the probability to reach a target."""
    from jaxgames import mdp
    from jaxgames.cli import _objectives, _players, _probability

    if args.prop:
        return values(args, answer)
    if _objectives.is_asked(args):
        game = _players.load(args)
        verdict = _objectives.checked(args, answer, game)
        return _sizes(_players.model_of(game)), verdict
    given, target, through = _question(args)
    is_game = isinstance(given, mdp.Game)
    model = given.model if is_game else given
    found = _bounds(answer, model.num_states, "strategy" if is_game else "scheduler")
    found.value = _real(answer, "value", model.num_states)
    who = args.player or 0 if is_game else args.optimum or "max"
    verdict = _probability.verdict_of(given, target, who, through, found)
    return _sizes(model), verdict


def values(args: argparse.Namespace, answer: Answer) -> Any:
    """Checks bounds of what a property asks for."""
    from jaxgames import mdp
    from jaxgames.cli import _mdp, _players

    if args.discount is not None:
        why = "there are bounds and no strategies, which checking needs"
        raise answer.fail(f"{why}: leave --no-strategies out")
    if len(args.prop) != 1:
        raise ValueError("values were asked with a property: name one again, by --prop")
    asked, constants = _mdp.asked(args)
    given, constants, named = _mdp.loaded(args, constants)
    model = _players.model_of(given)
    found = _bounds(answer, model.num_states)
    if len(asked) != 1 or not mdp.is_verifiable(asked[0]):
        raise ValueError(f"--prop {quoted(args.prop[0])}: nothing checks its values")
    nature = answer.arrays.get("nature")
    if model.lower is not None and nature is not None:
        # Where steps are counted values are computed anew, whatever nature does.
        one = nature.ndim == 1
        found.nature = _real(answer, "nature", model.num_branches) if one else None
    elif model.lower is not None:
        raise answer.fail("it does not say what nature does: write .npz")
    try:
        question = named(asked[0])
        verdict = mdp.verify_values(given, question, found, constants=constants)
    except mdp.PropertyError as error:
        raise ValueError(f"--prop {quoted(args.prop[0])}: {error}") from None
    except SolveError:
        raise
    except ValueError as error:
        raise answer.fail(str(error)) from error
    return _sizes(model), verdict


def regions(args: argparse.Namespace, answer: Answer) -> Any:
    """Checks where a probability is zero and where it is one."""
    from jaxgames import mdp

    model, target, through = _question(args)
    if not isinstance(model, mdp.MDP):
        raise answer.fail("sets are of models of one player, and this is a game")
    optimum = args.optimum or "max"
    sought = ("zero", "one") if "zero" in answer.arrays else ("for ever",)
    verdict: Any = None
    for name in sought:
        key = "one" if name == "for ever" else name
        (states,) = of_vertices(answer, model.num_states, key)
        if not np.isin(states, (0, 1)).all():
            raise answer.fail(f"{key} must be 0 or 1")
        scheduler = _scheduler(answer, f"scheduler_{key}", model.num_states)
        region = mdp.Region(states.astype(bool), scheduler)
        how: Any = {"optimum": optimum, "states": through}
        verdict = mdp.verify_region(model, target, region, name, **how)
        if not verdict:
            break
    return _sizes(model), verdict


def _question(args: argparse.Namespace) -> tuple[Any, Any, Any]:
    """The model or game, what is to be reached, and what may be passed before."""
    from jaxgames.cli import _players, _probability

    if args.to is None:
        raise ValueError(
            "probabilities were asked with --to, --through and --min, or, of a game, "
            "with --ltl, --automaton or --priority: name them again"
        )
    given = _players.load(args)
    model = _players.model_of(given)
    target = _probability.states("--to", args.to, model)
    through = None
    if args.through is not None:
        through = _probability.states("--through", args.through, model)
    return given, target, through


def _bounds(answer: Answer, size: int, name: str = "scheduler") -> SimpleNamespace:
    """Bounds of each state, and the choices that show them, which have a name."""
    return SimpleNamespace(
        lower=_real(answer, "lower", size),
        upper=_real(answer, "upper", size),
        **{name: _scheduler(answer, name, size)},
    )


def _real(answer: Answer, name: str, size: int) -> np.ndarray:
    column = answer.arrays[name]
    if column.shape != (size,) or column.dtype.kind not in "fiu":
        raise answer.fail(
            f"expected {name} as {size} numbers, found {column.dtype} "
            f"{list(column.shape)}"
        )
    return column.astype(np.float64)


def _scheduler(answer: Answer, name: str, size: int) -> np.ndarray | None:
    if name not in answer.arrays:
        return None
    if answer.arrays[name].ndim == 2:  # choices of each step
        return narrow(answer.arrays[name], np.int32)
    (column,) = of_vertices(answer, size, name)
    return narrow(column, np.int32)


def _sizes(model: Any) -> dict[str, int]:
    return {"states": model.num_states, "choices": model.num_choices}

"""Which properties come with a scheduler."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames.mdp._asked import as_constants, check_concrete, other_of
from jaxgames.mdp._game import Game
from jaxgames.mdp._model import MDP
from jaxgames.mdp._paths import General, Limit, Until, opposite
from jaxgames.mdp._property import (
    Cumulative,
    Instantaneous,
    Multi,
    Property,
    Query,
    as_property,
)
from jaxgames.mdp._verify_values import counts_steps, evaluating, path_of
from jaxgames.tuning.mdp import CHOICES_KEPT_UP_TO


def why_no_scheduler(
    model: MDP | Game,
    asked: str | Property,
    *,
    constants: Mapping[str, Any] | None = None,
) -> str | None:
    """Why `check` will have no scheduler for a property that it takes.

    Nothing is solved but what properties of states inside of it need.

    Args:
        model: the model or game.
        asked: the property.
        constants: as for `check`.

    Returns:
        The reason; None where there will be one.

    Raises:
        PropertyError: the property is none of this model.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1], labels={"a": [0, 1]}
        ... )
        >>> mdp.why_no_scheduler(model, 'Pmax=? [ F<=9 "a" ]')
        >>> mdp.why_no_scheduler(model, 'Pmax=? [ F ("a" & X "a") ]')
        'it would remember states of an automaton'
    """
    check_concrete(model)
    question = as_property(asked)
    node, player = question.formula, None
    if isinstance(model, Game):
        model, player = model.model, np.asarray(model.player)
    if isinstance(node, Multi):
        return "several objectives have several schedulers, which are in mdp.pareto"
    if not isinstance(node, Query):
        return "it is no query, such as Pmax=? [ ... ]"
    if model.exit_rates is not None:
        return "a chain in continuous time has no choices"
    if node.condition is not None:
        return "it would remember whether the condition is met, and begin anew"
    evaluated = evaluating(model, player, question, as_constants(constants))
    if evaluated.is_bounded_by_what_is_earned(node):
        return "it would remember what has been earned"
    path, optimum = path_of(evaluated, node), evaluated._optimum(node)
    if isinstance(path, Limit):
        if path.negated:
            optimum = other_of(optimum)
        shown = path if optimum == "max" and player is None else opposite(path)
        if player is not None or shown is None:
            path = General(path.path)
        elif any(len(term.again) > 1 for term in shown.terms):
            return "it would go from one of several sets of states to the next"
    if isinstance(path, General):
        return "it would remember states of an automaton"
    steps = _steps(evaluated, path)
    if steps * model.num_states > CHOICES_KEPT_UP_TO:
        return (
            f"it would have a choice for each of {steps} steps and {model.num_states} "
            f"states, more than {CHOICES_KEPT_UP_TO} in all"
        )
    return None


def _steps(evaluated: Any, path: Any) -> int:
    """How many steps a scheduler counts."""
    if isinstance(path, Until):
        return path.first if path.last is None else path.last
    if not counts_steps(path) or not isinstance(path, Cumulative | Instantaneous):
        return 0
    counted = path.steps if isinstance(path, Cumulative) else path.time
    return evaluated.natural(counted, "a number of steps")

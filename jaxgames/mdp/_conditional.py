"""Conditional probabilities: runs that break the condition begin anew."""

from typing import Any

import numpy as np

from jaxgames.mdp import host
from jaxgames.mdp._model import MDP, owner_of


def restarting(
    model: MDP, goal: np.ndarray, condition: np.ndarray, after: tuple, start: int
) -> tuple[MDP, np.ndarray]:
    """A model whose probability of a target is conditional in the one that is given.

    What is reached first decides: from the goal on only the condition counts, and from
    the condition on only the goal. A run that fails the condition begins anew, and so
    do those of schedulers that never meet it: then what is reached in the end is shared
    out among the runs that meet it [1].

    Args:
        model: a concrete model with probabilities.
        goal: bool `[S]`, what is to be reached.
        condition: bool `[S]`, what is known to be reached.
        after: float64 `[S]` twice: the largest probabilities to reach the condition,
            and to reach the goal.
        start: the state in which runs begin.

    Returns:
        The model, whose first states are those of the given one, and its target.

    References:
        [1] Baier, Klein, Klüppelholz and Märcker, Computing conditional probabilities
        in Markovian models efficiently, TACAS 2014, doi:10.1007/978-3-642-54862-8_43.
    """
    size, owner = model.num_states, owner_of(model)
    won, failed, lost = size, size + 1, size + 2
    ends = goal | condition
    rows = np.asarray(model.row_offsets)
    source = np.repeat(np.arange(model.num_choices), np.diff(rows))
    kept = np.flatnonzero(~np.append(ends, True)[owner])
    stays = np.isin(source, kept)
    new = np.full(model.num_choices, -1)
    new[kept] = np.arange(len(kept))
    parts: list[tuple[Any, Any, Any, Any]] = []  # state, choice, target, probability
    parts.append(
        (
            owner[source[stays]],
            new[source[stays]],
            np.asarray(model.columns)[stays],
            np.asarray(model.probs)[stays],
        )
    )
    count = len(kept)
    here = np.flatnonzero(ends)
    first = np.where(goal[here], after[0][here], after[1][here])
    other = np.where(goal[here], failed, lost)
    number = count + np.arange(len(here))
    parts.append((here, number, np.full(len(here), won), first))
    parts.append((here, number, other, 1 - first))
    count += len(here)
    free = np.asarray(host.prob0(model, condition, "min").states) & ~ends
    free = np.flatnonzero(free)
    number = count + np.arange(len(free))
    parts.append((free, number, np.full(len(free), failed), np.ones(len(free))))
    count += len(free)
    last = np.array([won, failed, lost])
    to = np.array([won, start, lost])
    parts.append((last, count + np.arange(3), to, np.ones(3)))
    state, choice, target, probs = (
        np.concatenate([part[i] for part in parts]) for i in range(4)
    )
    order = np.lexsort((choice, state))
    state, choice = state[order], choice[order]
    begins = np.flatnonzero(np.append(True, np.diff(choice) != 0))
    groups = np.searchsorted(state[begins], np.arange(size + 4))
    made = MDP.from_arrays(
        groups, np.append(begins, len(order)), target[order], probs[order]
    )
    return made, np.arange(size + 3) == won

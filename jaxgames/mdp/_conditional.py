"""Conditional probabilities: runs that break the condition begin anew."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.mdp import host
from jaxgames.mdp._model import MDP, owner_of


class After(NamedTuple):
    """What runs come to that have reached what counts first.

    Attributes:
        share: float64 `[S]`, the probability that they come to `then`, of states that
            count.
        then: int `[S]`: `WON`, `FAILED` or `LOST`.
        other: int `[S]`, what they come to else.
    """

    share: np.ndarray
    then: np.ndarray
    other: np.ndarray


WON, FAILED, LOST = range(3)
"""The goal and the condition; not the condition; the condition alone."""


def restarting(
    model: MDP, ends: np.ndarray, condition: np.ndarray, after: After, start: int
) -> tuple[MDP, np.ndarray]:
    """A model whose probability of a target is conditional in the one that is given.

    What is reached first decides: from the goal on only the condition counts, and from
    the condition on only the goal. A run that fails the condition begins anew, and so
    do those of schedulers that never meet it: then what is reached in the end is shared
    out among the runs that meet it [1].

    Args:
        model: a concrete model with probabilities.
        ends: bool `[S]`, the states that decide.
        condition: bool `[S]`, what is known to be reached.
        after: what follows in these.
        start: the state in which runs begin.

    Returns:
        The model, whose first states are those of the given one, and its target.

    References:
        [1] Baier, Klein, Klüppelholz and Märcker, Computing conditional probabilities
        in Markovian models efficiently, TACAS 2014, doi:10.1007/978-3-642-54862-8_43.
    """
    size, owner = model.num_states, owner_of(model)
    won, failed, lost = size + WON, size + FAILED, size + LOST
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
    first = after.share[here]
    number = count + np.arange(len(here))
    for to, prob in ((after.then, first), (after.other, 1 - first)):
        some = prob > 0  # what never happens is no branch
        parts.append((here[some], number[some], size + to[here[some]], prob[some]))
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


def may_begin_anew(model: MDP, states: np.ndarray, start: int) -> MDP:
    """A model with one choice more in some states, bool `[S]`: to the state `start`."""
    groups, rows = np.asarray(model.row_group_offsets), np.asarray(model.row_offsets)
    last = groups[1:][states]  # behind the choices that a state has
    width = np.insert(np.diff(rows), last, 1)
    return MDP(
        row_group_offsets=groups + np.append(0, np.cumsum(states)).astype(np.int32),
        row_offsets=np.append(0, np.cumsum(width)).astype(np.int32),
        columns=np.insert(np.asarray(model.columns), rows[last], start),
        probs=np.insert(np.asarray(model.probs), rows[last], 1.0),
    )

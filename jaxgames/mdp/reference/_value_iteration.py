"""Value iteration: what everybody knows, without a proof of how near it is."""

import numpy as np

from jaxgames.host import compiled, lend
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import Optimum
from jaxgames.mdp.reference._prob01 import prob0, prob1


def value_iteration(
    model: MDP, target, optimum: Optimum = "max", *, states=None, epsilon: float = 1e-6
) -> np.ndarray:
    """The largest or least probability to reach a target, from below.

    Values start from zero, but for states of probability one, and are replaced one
    after the other by those of the best choice until a round changes none by more than
    `epsilon`. They tend to the true ones, but may still be far away when that happens:
    [`mdp.reach_probability`][jaxgames.mdp.reach_probability] has bounds.

    Args:
        model: the model, with probabilities.
        target: the states to reach.
        optimum: `"max"` or `"min"`.
        states: what a path may pass before; None for all.
        epsilon: the change in a round that is too small to go on.

    Returns:
        float64 `[S]`.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2], [0.5, 0.25, 0.25, 1, 1]
        ... )
        >>> mdp.reference.value_iteration(model, [1]).round(5)
        array([0.5, 1. , 0. ])
    """
    if model.probs is None:
        raise ValueError("the model has no probabilities: pass probs to from_arrays")
    one = prob1(model, target, optimum, states=states).states
    zero = prob0(model, target, optimum, states=states).states
    groups, rows, columns = (
        lend(np.ascontiguousarray(x, np.int32))
        for x in (model.row_group_offsets, model.row_offsets, model.columns)
    )
    value, open_ = one.astype(np.float64), ~(one | zero)
    probs = lend(np.ascontiguousarray(model.probs, np.float64))
    _iterate(groups, rows, columns, probs, open_, value, optimum == "min", epsilon)
    return value


@compiled
def _iterate(groups, rows, columns, probs, open_, value, least, epsilon):
    change = 2 * epsilon
    while change > epsilon:
        change = 0.0
        for s in range(len(groups) - 1):
            if not open_[s]:
                continue
            best = -1.0
            for c in range(groups[s], groups[s + 1]):
                total = 0.0
                for e in range(rows[c], rows[c + 1]):
                    total += probs[e] * value[columns[e]]
                if best < 0 or (total < best if least else total > best):
                    best = total
            change = max(change, abs(best - value[s]))
            value[s] = best

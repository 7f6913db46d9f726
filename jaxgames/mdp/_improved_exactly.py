"""Strategies of stochastic games, improved in fractions where float64 cannot tell."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from jaxgames import limits
from jaxgames.mdp._model import MDP

Values = Sequence[Fraction | float]
"""By state; infinite ones are floats."""


def improved_exactly(
    model: MDP,
    strategy: np.ndarray,
    moves: np.ndarray,
    answers: np.ndarray,
    solve: Callable[[np.ndarray], Values | None],
    *,
    least: bool,
    reward: np.ndarray | None = None,
    discount: Fraction = Fraction(1),
) -> np.ndarray | None:
    """The best strategy of one side, and of the other an answer that is best, too.

    A choice that is better by one part in 2^40, since it hardly ever leads elsewhere,
    may lead to all there is to be had: values have to be known that exactly.

    Args:
        model: a concrete model with probabilities.
        strategy: int `[S]`, choices to begin with.
        moves: bool `[S]`, the states where a choice is taken if it is better.
        answers: bool `[S]`, those where in the end the other side's best is taken.
        solve: the values where the first side plays a strategy; None where that would
            take too long.
        least: whether the first side wants less.
        reward: float64 `[C]`, what choices earn; None for nothing.
        discount: what a step is worth beside the one before it.

    Returns:
        The choices of both; None where that would take too long.
    """
    groups = np.asarray(model.row_group_offsets).tolist()
    sign, strategy = -1 if least else 1, strategy.copy()
    rounds = 0
    while True:
        limits.tick("improving in rational arithmetic", rounds, "strategies")
        rounds += 1
        value = solve(strategy)
        if value is None:
            return None
        worth = means_exactly(model, value, reward, discount)
        stable = True
        for states, wants in ((moves, sign), (answers, -sign)):
            for state in np.flatnonzero(states).tolist():
                own = int(strategy[state])
                if not isinstance(value[state], Fraction) or own < 0:
                    continue
                best = value[state] if wants == sign else worth[own]
                for choice in range(groups[state], groups[state + 1]):
                    if wants * (worth[choice] - best) > 0:
                        best, own = worth[choice], choice
                if own != strategy[state]:
                    strategy[state] = own
                    stable &= wants != sign
        if stable:
            return strategy


def means_exactly(
    model: MDP,
    values: Values,
    reward: np.ndarray | None = None,
    discount: Fraction = Fraction(1),
) -> Values:
    """What each choice is worth by the values of where it leads.

    Args:
        model: a concrete model with probabilities.
        values: by state; an infinite one makes what may lead there as infinite.
        reward: float64 `[C]`, what choices earn; None for nothing.
        discount: what a step is worth beside the one before it.
    """
    rows = np.asarray(model.row_offsets)[: model.num_choices + 1].tolist()
    columns = np.asarray(model.columns).tolist()
    probs = [Fraction(x) for x in np.asarray(model.probs)[: rows[-1]].tolist()]
    found: list[Fraction | float] = []
    for choice, (begin, end) in enumerate(itertools.pairwise(rows)):
        here = [values[columns[branch]] for branch in range(begin, end)]
        endless = [x for x in here if not isinstance(x, Fraction)]
        if endless:
            found.append(endless[0])
            continue
        own = probs[begin:end]
        mean = sum((p * x for p, x in zip(own, here, strict=True)), Fraction(0))
        earned = Fraction(0) if reward is None else Fraction(float(reward[choice]))
        found.append(earned + discount * mean / (sum(own) or 1))
    return found

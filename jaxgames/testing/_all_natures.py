"""Values of interval models by definition: all that both sides may do, exactly."""

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from jaxgames.mdp._model import MDP
from jaxgames.mdp.reference import Exact, _chain_values


def corners(bounds: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, ...]]:
    """The extreme points of the distributions between bounds.

    Each has branches at their upper bounds, one that takes the rest, and others at
    their lower bounds: so every order of branches gives one, and there are no others.

    Examples:
        >>> half = Fraction(1, 2)
        >>> corners([(Fraction(0), half), (half, Fraction(1))])
        [(Fraction(0, 1), Fraction(1, 1)), (Fraction(1, 2), Fraction(1, 2))]
    """
    found = set()
    for order in itertools.permutations(range(len(bounds))):
        left = 1 - sum(low for low, _ in bounds)
        point = [low for low, _ in bounds]
        for i in order:
            more = min(left, bounds[i][1] - bounds[i][0])
            point[i] += more
            left -= more
        if left == 0:
            found.add(tuple(point))
    return sorted(found)


def values(
    model: MDP,
    bounds: Sequence[tuple[Fraction, Fraction]],
    kind: str,
    optimum: str,
    *,
    reward=None,
    target=None,
    states=None,
    steps: int | None = None,
    discount: Fraction = Fraction(1),
) -> list[Exact]:
    """Probabilities and rewards where nature is for or against the scheduler.

    Without a number of steps every memoryless scheduler and every choice of extreme
    points by nature make a Markov chain; for these questions nothing else is better.

    Args:
        model: a small model, for where branches lead.
        bounds: of each branch, as fractions.
        kind: as for `mdp.reference.values`: `"reach"`, `"until"` or `"total"`.
        optimum: two words, such as `"maxmin"`: the scheduler's, then nature's.
        reward: real numbers `[C]`.
        target: bool `[S]`.
        states: bool `[S]`, what may be passed before the target; None for all.
        steps: how many count; None for all.
        discount: what a step is worth beside the one before it.
    """
    groups = np.asarray(model.row_group_offsets).tolist()
    rows = np.asarray(model.row_offsets).tolist()
    columns = np.asarray(model.columns).tolist()
    size = len(groups) - 1
    better, nature = (min if word == "min" else max for word in (
        optimum[:3], optimum[3:],
    ))  # fmt: skip
    passed = [True] * size if states is None else [bool(x) for x in states]
    goal = [False] * size if target is None else [bool(x) for x in target]
    earned = [Fraction(x) for x in (np.zeros(len(rows)) if reward is None else reward)]
    points = [
        [
            [(columns[first + i], p) for i, p in enumerate(point) if p]
            for point in corners(bounds[first:last])
        ]
        for first, last in itertools.pairwise(rows)
    ]
    own = [range(*pair) for pair in itertools.pairwise(groups)]
    if steps is not None:
        value: list[Exact] = [Fraction(int(g and kind == "reach")) for g in goal]
        for _ in range(steps):
            worth = [
                earned[c] + discount * nature(sum(p * value[t] for t, p in point)
                for point in points[c])
                for c in range(len(points))
            ]  # fmt: skip
            best: list[Exact] = [better(worth[c] for c in own[s]) for s in range(size)]
            if kind == "reach":
                best = [
                    Fraction(1) if g else (b if p else Fraction(0))
                    for g, p, b in zip(goal, passed, best, strict=True)
                ]
            value = best
        return value
    found: list[Exact] | None = None
    for scheduler in itertools.product(*own):
        gains = [earned[c] for c in scheduler]
        least: list[Exact] | None = None
        for chain in itertools.product(*(points[c] for c in scheduler)):
            here = _chain_values(kind, list(chain), gains, goal, passed, discount)
            least = list(map(nature, least or here, here))
        assert least is not None
        found = list(map(better, found or least, least))
    return found or []

"""What schedulers can have together: points that mixtures attain, and half-spaces."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp.multi._game import dot, mixture
from jaxgames.mdp.multi._oracle import Answer
from jaxgames.tuning.mdp import FACETS_UP_TO

Vector = tuple[Fraction, ...]
Oracle = Callable[[list[list[Fraction]]], list[Answer]]


class Known(NamedTuple):
    """What has been asked so far, with signs: more is better in each coordinate."""

    answers: list[Answer]

    @property
    def points(self) -> list[Vector]:
        """What schedulers gain."""
        return [answer.point for answer in self.answers]


def _fractions(values) -> list[Fraction]:
    return [Fraction(x) for x in values]


def _rounded(weights: list[Fraction]) -> list[Fraction]:
    """Weights with few digits, which doubles have, with sum one: any will do."""
    found = [Fraction(round(w * (1 << 30)), 1 << 30) for w in weights]
    found[found.index(max(found))] += 1 - sum(found)
    return found


def start(oracle: Oracle, dims: int) -> Known:
    """The best of each objective alone, and of all of them alike."""
    units = [[Fraction(int(i == j)) for j in range(dims)] for i in range(dims)]
    return Known(oracle([*units, _rounded([Fraction(1, dims)] * dims)]))


class Goal(NamedTuple):
    """What a mixture has to have, with signs."""

    least: Vector  # of each coordinate
    strict: tuple[bool, ...]  # whether it must be more than that

    def beyond(self, weights: Sequence[Fraction], bound: Fraction) -> bool:
        """Whether it lies outside of a half-space."""
        here = dot(weights, self.least)
        if bound != here:
            return bound < here
        return any(w > 0 for w, x in zip(weights, self.strict, strict=True) if x)

    def missed(self, points: Sequence[Sequence[Fraction]]) -> list[Fraction] | None:
        """Weights by which no point is as good; None if a mixture of them has it all.

        If each coordinate that has to be more is so in some mixture that has the rest,
        then all are in a mixture of these.
        """
        found = mixture(points, self.least)
        if found.value != 0:
            return found.columns if found.value < 0 else None
        for i in np.flatnonzero(self.strict).tolist():
            more = Fraction(1)
            while True:  # the most by which half-spaces leave it more
                aim = [x + more * (i == j) for j, x in enumerate(self.least)]
                found = mixture(points, aim)
                if found.value >= 0:
                    break
                more += found.value / found.columns[i]
                if more <= 0:
                    return found.columns
        return None


def decide(best: Callable[[list[Fraction]], Vector | None], goal: Goal) -> bool | None:
    """Whether some mixture has all of a goal, by points that are exact.

    Each point is a vertex that was not known, so that this ends.
    """
    dims, points = len(goal.least), []
    weights: list[Fraction] | None = [Fraction(1, dims)] * dims
    while weights is not None:
        limits.tick("separating", len(points), "points")
        point = best(weights)
        if point is None:
            return None
        if goal.beyond(weights, dot(weights, point)):
            return False
        points.append(point)
        weights = goal.missed(points)
    return True


class Optimum(NamedTuple):
    """Bounds of the first coordinate, with signs; None where nothing is possible."""

    lower: Fraction | None
    upper: Fraction | None


def best_of_one(
    best: Callable[[list[Fraction]], Vector | None], goal: list[Fraction | None]
) -> Optimum | None:
    """The most of one coordinate where others have a goal, by points that are exact.

    The least is asked for that half-spaces leave no more of; where no mixture has it,
    the direction that separates it gives a new vertex, or leaves less of it. So this
    ends. None where a point is not known.
    """
    which = goal.index(None)
    points: list[Vector] = []
    aim: Fraction | None = None
    weights = [Fraction(int(i == which)) for i in range(len(goal))]
    while True:
        limits.tick("separating", len(points), "points")
        point = best(weights)
        if point is None:
            return None
        points.append(point)
        here = dot(weights, point)
        rest = here - sum(
            (w * x for w, x in zip(weights, goal, strict=True) if x is not None),
            Fraction(0),
        )
        if weights[which] > 0:
            most = rest / weights[which]
            aim = most if aim is None else min(aim, most)
        elif rest < 0:
            return Optimum(None, None)
        assert aim is not None
        found = mixture(points, [aim if x is None else x for x in goal])
        if found.value >= 0:
            return Optimum(aim, aim)
        weights = found.columns


def achieve(known: Known, oracle: Oracle, goal: Goal) -> bool | None:
    """Whether some mixture has all of a goal; None where bounds do not tell."""
    while True:
        limits.tick("separating", len(known.answers), "points")
        if any(goal.beyond(answer.weights, answer.bound) for answer in known.answers):
            return False
        apart = goal.missed(known.points)
        if apart is None:
            return True
        weights = _rounded(apart)
        answer, is_better = _asked(known, oracle, weights)
        if not goal.beyond(weights, answer.bound) and not is_better:
            return None


def _asked(
    known: Known, oracle: Oracle, weights: list[Fraction]
) -> tuple[Answer, bool]:
    """One more answer, and whether its point is better than all before."""

    def gained(point: Vector) -> Fraction:
        return dot(weights, point)

    (answer,) = oracle([weights])
    is_better = gained(answer.point) > max(map(gained, known.points))
    known.answers.append(answer)
    return answer, is_better


def optimise(
    known: Known, oracle: Oracle, goal: list[Fraction | None], epsilon: Fraction
) -> Optimum:
    """The most of one coordinate where others have a goal.

    The goal has None for the coordinate that is wanted; what is known is added to.
    """
    which = goal.index(None)
    others = [i for i in range(len(goal)) if i != which]
    least = min(point[which] for point in known.points)
    lower: Fraction | None = None
    while True:
        limits.tick("separating", len(known.answers), "points")
        upper = _most(known, goal, which, others)
        if upper is None:
            return Optimum(None, None)
        lower = _had(known, goal, which, min(least, upper) - 1, upper)
        if lower is not None and upper - lower <= epsilon:
            return Optimum(lower, upper)
        wanted = upper - epsilon / 2 if lower is None else (lower + upper) / 2
        if lower is None:
            wanted = min(least, upper) - 1
        full = tuple(wanted if i == which else x for i, x in enumerate(goal))
        found = mixture(known.points, full)  # type: ignore[arg-type]
        _, is_better = _asked(known, oracle, _rounded(found.columns))
        if not is_better and _most(known, goal, which, others) == upper:
            return Optimum(lower, upper)


def _most(known: Known, goal, which: int, others: list[int]) -> Fraction | None:
    """What half-spaces leave of a coordinate; None for nothing."""
    found = None
    for answer in known.answers:
        rest = answer.bound - sum(answer.weights[i] * goal[i] for i in others)
        if answer.weights[which] > 0:
            most = rest / answer.weights[which]
            found = most if found is None else min(found, most)
        elif rest < 0:
            return None
    assert found is not None
    return found


def _had(known: Known, goal, which: int, low: Fraction, high: Fraction):
    """The most of a coordinate that a mixture has, but for little; None for none."""

    def has(value: Fraction) -> bool:
        full = [value if i == which else x for i, x in enumerate(goal)]
        return mixture(known.points, full).value >= 0

    if has(high):
        return high
    if not has(low):
        return None
    for _ in range(40):
        middle = Fraction(float((low + high) / 2))
        if not low < middle < high:
            break
        low, high = (middle, high) if has(middle) else (low, middle)
    return low


def corners(known: Known, floor: list[float]) -> np.ndarray:
    """The extreme points of what half-spaces leave, above a floor: float64 `[M, D]`."""
    dims = len(floor)
    normals = [[float(w) for w in a.weights] for a in known.answers]
    bounds = [float(a.bound) for a in known.answers]
    for i in range(dims):
        normals.append([-float(i == j) for j in range(dims)])
        bounds.append(-floor[i])
    normal, bound = np.array(normals), np.array(bounds)
    both = np.unique(np.column_stack([normal, bound]).round(13), axis=0)
    normal, bound = both[:, :-1], both[:, -1]
    found = []
    for some in itertools.combinations(range(len(bound)), dims):
        rows = normal[list(some)]
        if abs(np.linalg.det(rows)) < 1e-11:
            continue
        point = np.linalg.solve(rows, bound[list(some)])
        if (normal @ point <= bound + 1e-9 * (1 + np.abs(bound))).all():
            found.append(point)
    return np.unique(np.array(found).reshape(-1, dims).round(12), axis=0)


def explore(known: Known, oracle: Oracle, epsilon: float) -> bool:
    """Asks until no point that half-spaces leave is far from what mixtures have.

    In each coordinate, that is, by more than epsilon; what is known is added to.
    Whether it has come to that.
    """
    asked: set[Vector] = {answer.weights for answer in known.answers}
    while len(known.answers) < FACETS_UP_TO:
        limits.tick("separating", len(known.answers), "points")
        points = np.array([[float(x) for x in p] for p in known.points])
        span = points.max(0) - points.min(0) + 1
        wanted: list[list[Fraction]] = []
        far = 0
        for corner in corners(known, (points.min(0) - span).tolist()):
            found = mixture(known.points, _fractions(corner.tolist()))
            if found.value >= -Fraction(epsilon):
                continue
            far += 1
            weights = _rounded(found.columns)
            if tuple(weights) not in asked:
                asked.add(tuple(weights))
                wanted.append(weights)
        if not far:
            return True
        if not wanted:
            return False
        known.answers.extend(oracle(wanted))
    return False

"""Exact values by bisection: all parts ask their question in one array solve."""

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxgames import graph
from jaxgames.arena import Arena
from jaxgames.meanpayoff import _parts, _rationals
from jaxgames.meanpayoff._rationals import Ratio, chosen, less
from jaxgames.states import Origin, register


@register
@dataclasses.dataclass(frozen=True)
class Standing:
    """What a solve goes on from: how much is known of each value.

    Attributes:
        part: integers `[V]`: which vertices have an interval in common.
        low: numerators and denominators of each part's interval, its lower end ...
        high: ... and its upper end; both may be the value.
        falls: how often the upper end alone moved, of each part, since the lower did.
        rounds: thresholds that each part has been asked.
        origin: the game; None where nobody says.
    """

    part: np.ndarray
    low: Ratio
    high: Ratio
    falls: np.ndarray
    rounds: int = 0
    origin: Origin | None = None


class Question(NamedTuple):
    """One energy game, and what its answer tells.

    Attributes:
        game: the energy game of all parts.
        standing: what is known before.
        edge: which edge each of its edges is.
        threshold: of each part.
        most: largest denominator that a value of each part has.
    """

    game: Arena
    standing: Standing
    edge: np.ndarray
    threshold: Ratio
    most: np.ndarray


def longest_cycle(arena: Arena) -> int:
    """A bound on the length of cycles: the vertices of the largest component."""
    labels = np.asarray(graph.scc(arena).labels)
    return int(np.bincount(labels[labels >= 0], minlength=1).max())


def beginning(arena: Arena) -> Standing:
    """One part of all vertices, and the range of the weights."""
    width = int(np.abs(arena.weight.astype(object)).max())
    kind = _rationals.number_type(width, longest_cycle(arena))
    weight = arena.weight
    one = np.ones(1, kind)
    return Standing(
        part=np.zeros(len(arena.owner), np.int64),
        low=(np.array([int(weight.min())], kind), one),
        high=(np.array([int(weight.max())], kind), one),
        falls=np.zeros(1, np.int64),
    )


def supposed(arena: Arena, value: Ratio) -> Standing | None:
    """What is known if these are the values; None where an edge tells otherwise."""
    (num, den), part = _rationals.distinct(value)
    if not _parts.are_traps(arena, part):
        return None
    width = int(np.abs(arena.weight.astype(object)).max())
    kind = _rationals.number_type(width, longest_cycle(arena))
    ratio = num.astype(kind), den.astype(kind)
    return Standing(part, ratio, ratio, np.zeros(len(num), np.int64))


def tightened(
    arena: Arena, standing: Standing, longest: int
) -> tuple[Standing, np.ndarray]:
    """Ends of intervals that may be values, and the largest denominator of each part.

    A value is the mean of a cycle, which stays in one part.
    """
    size = np.bincount(standing.part, minlength=len(standing.low[0]))
    most = np.minimum(size, longest).astype(standing.low[0].dtype)
    _, low = _rationals.neighbours(standing.low, most)
    high, _ = _rationals.neighbours(standing.high, most)
    return dataclasses.replace(standing, low=low, high=high), most


def is_found(standing: Standing) -> np.ndarray:
    """Which parts know their value: bool."""
    return ~less(standing.low, standing.high)


def question(
    arena: Arena, standing: Standing, edge: np.ndarray, longest: int
) -> Question:
    """Asks each part whether its values are at least a fraction near the middle.

    The one of least denominator in the middle quarter of the interval, which keeps
    numbers small; where its denominator is more than a value can have, the first above
    the middle that has not. Values are simple most of the time, and found before all
    else is excluded. So where the upper end moved 2, 4, 8 ... times in a row the
    question is whether there is anything above the lower end: if not, that is it.
    """
    standing, most = tightened(arena, standing, longest)
    low, high = standing.low, standing.high
    simple = _rationals.simplest(
        _rationals.between(low, high, 3), _rationals.between(low, high, 5)
    )
    _, middle = _rationals.neighbours(_rationals.between(low, high, 4), most)
    fits = np.asarray(simple[1] <= most, bool)
    threshold = chosen(fits, simple, middle)
    falls = standing.falls
    suspects = (falls >= 2) & (falls & (falls - 1) == 0)
    threshold = chosen(suspects, _rationals.above(low, most), threshold)
    part = standing.part
    num, den = (_rationals.shortest(x)[part] for x in threshold)
    game = _parts.game_at(arena, edge, num, den, ~is_found(standing)[part])
    return Question(game, standing, edge, threshold, most)


def answered(asked: Question, upper: np.ndarray) -> Standing:
    """What is known when the question is answered.

    The value of vertices in `upper`, bool `[V]`, is at least the threshold.
    """
    standing, (low, high) = asked.standing, (asked.standing.low, asked.standing.high)
    found = is_found(standing)
    part, pieces = _parts.numbered(standing.part, upper | found[standing.part])
    old, is_upper = pieces // 2, pieces % 2 == 1
    below = _rationals.below(asked.threshold, asked.most)
    rises, falls = is_upper & ~found[old], ~is_upper

    def of(ratio: Ratio) -> Ratio:
        return ratio[0][old], ratio[1][old]

    return Standing(
        part=part,
        low=chosen(rises, of(asked.threshold), of(low)),
        high=chosen(falls, of(below), of(high)),
        falls=np.where(rises, 0, standing.falls[old] + 1),
        rounds=standing.rounds + 1,
    )

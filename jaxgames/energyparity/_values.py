"""Values of mean-payoff parity games, by bisection."""

import math
from fractions import Fraction
from typing import NamedTuple, Unpack

import numpy as np

from jaxgames import drive, limits
from jaxgames.arena import Arena
from jaxgames.energyparity._problem import DECISIONS, Asked, EnergyParity
from jaxgames.limits import Bounds, limited
from jaxgames.solution import Status
from jaxgames.solver import Solver

PHASE = "comparing values with a threshold"


class Values(NamedTuple):
    """The value of each vertex of a mean-payoff parity game: a fraction, or none.

    Attributes:
        num: numerators, int64 `[V]`, or Python's integers.
        den: denominators, int64 `[V]`; 0 where player 1 can see to odd priorities, so
            that no mean is worth anything.
    """

    num: np.ndarray
    den: np.ndarray


@limited()
def values(
    arena: Arena, solver: str | Solver = "auto", **bounds: Unpack[Bounds]
) -> Values:
    """The largest mean that player 0 can get from each vertex, with even priorities.

    The threshold up to which he wins the mean-payoff parity game: the mean of a cycle
    without repetition [1], so that its denominator is at most the number of vertices.
    [`decide`][jaxgames.energyparity.decide] is asked for a simple fraction near the
    middle of what is possible; vertices that the answer tells apart are games of their
    own, since nobody wants to leave the better part, and who would can not. About
    `log(W n**2)` games for `n` vertices and weights up to `W`, over all of them.

    Args:
        arena: a game with one integer weight on each edge, and priorities on vertices;
            every vertex has a successor.
        solver: as for [`solve`][jaxgames.energyparity.solve].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the arena is no such game, or there is no such solver.
        LimitError: a limit was reached.

    References:
        [1] Chatterjee, Henzinger and Jurdziński, Mean-payoff parity games, LICS 2005,
        doi:10.1109/LICS.2005.26.

    Examples:
        >>> from jaxgames import Arena, energyparity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 0, 2], owner=[0, 0, 1],
        ...     weight=[1, -5, 0, 1], priority=[1, 2, 3],
        ... )
        >>> energyparity.values(arena)
        Values(num=array([1, 1, 0]), den=array([1, 1, 0]))
    """
    arena, _ = EnergyParity().read(arena)
    size = arena.shape[0]
    whole = arena.unpad()
    num, den = np.zeros(size, object), np.zeros(size, np.int64)
    weight = whole.weight
    low, high = (
        Fraction(int(weight.min(initial=0))),
        Fraction(int(weight.max(initial=0))),
    )
    # No mean is less: what is lost is lost for its priorities.
    mine = _at_least(whole, low, solver)
    part, vertices, _ = whole.subgame(mine)
    work = [(part, vertices, low, high)] if len(vertices) else []
    while work:
        part, vertices, low, high = work.pop()
        most = len(vertices)
        if (high - low) * most * most < 1:
            value = ((low + high) / 2).limit_denominator(most)
            num[vertices], den[vertices] = value.numerator, value.denominator
            continue
        quarter = (high - low) / 4
        threshold = simplest(low + quarter, high - quarter)
        upper = _at_least(part, threshold, solver)
        for mask, ends in ((upper, (threshold, high)), (~upper, (low, threshold))):
            if mask.any():
                piece, inside, _ = part.subgame(mask)
                work.append((piece, vertices[inside], *ends))
    fits = np.abs(num).max(initial=0) < 2**63
    return Values(num.astype(np.int64) if fits else num, den)


def _at_least(arena: Arena, threshold: Fraction, solver: str | Solver) -> np.ndarray:
    """Where player 0 gets a mean of at least a threshold: bool `[V]`."""
    found = drive.solve(
        DECISIONS, Asked(arena, threshold), solver, strategies=False, throw=False
    )
    if found.status != Status.SOLVED:
        limits.fail(found.status, PHASE)
    return np.asarray(found.winner) == 0


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator between two, which count, too.

    Examples:
        >>> simplest(Fraction(3, 10), Fraction(4, 10))
        Fraction(1, 3)
    """
    parts: list[int] = []
    # Continued fractions that begin alike go on with what is left, turned over.
    while True:
        whole = math.ceil(low)
        if whole <= high:
            break
        below = math.floor(low)
        parts.append(below)
        low, high = 1 / (high - below), 1 / (low - below)
    found = Fraction(whole)
    for part in reversed(parts):
        found = part + 1 / found
    return found

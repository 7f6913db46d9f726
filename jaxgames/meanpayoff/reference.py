"""Textbook algorithms for mean-payoff games, one vertex at a time.

Values by playing for many steps, and a check of strategies by the means of cycles:
neither knows of energy games or of thresholds, so that they are something to test
against. To read and for small games; where numba is installed (`pip install
jaxgames[host]`) the same source is compiled.
"""

from fractions import Fraction
from typing import Literal

import numpy as np

from jaxgames import graph, validity
from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.meanpayoff._checks import check
from jaxgames.meanpayoff._solution import Solution
from jaxgames.meanpayoff._verdict import Reason, Verdict
from jaxgames.solution import Stats, Status


def solve(arena: Arena) -> Solution:
    """The value of each vertex, by the game of so many steps that it can be no other.

    What player 0 can get in `k` steps differs from `k` times the value by at most `2 n
    W`, for `n` vertices and weights up to `W`, from which the middle of their range may
    be taken off first. Fractions with denominators up to `n` differ by at least
    `1/n**2`. So `4 n**3 W` steps tell them apart: O(n**3 W E) time.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor.

    Returns:
        Values without strategies. `stats` has the number of `steps`.

    Raises:
        ValueError: the arena is no such game, or sums of weights may not fit 64 bits.

    Reference:
        Zwick and Paterson, The complexity of mean payoff games on graphs, Theoretical
        Computer Science 158 (1996), doi:10.1016/0304-3975(95)00188-3.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 1], [0, 1, 0, 1], owner=[0, 1], weight=[1, 7, -2, 4]
        ... )
        >>> solve(arena)
        Solution(2 vertices with values from 5/2 to 5/2)
    """
    check(arena)
    slots, arena = len(arena.owner), arena.unpad()
    size = len(arena.owner)
    low, high = (int(f(arena.weight)) if size else 0 for f in (np.min, np.max))
    # Twice the weights less twice the middle of their range are integers.
    width = high - low
    steps = 2 * size**3 * width + 1
    if 2 * (steps + 1) * (width + 1) >= 2**62:
        raise ValueError(
            f"the game of {steps} steps has sums of weights that do not fit 64 bits: "
            "the reference is for small games"
        )
    weight = 2 * arena.weight.astype(np.int64) - (low + high)
    gain = np.zeros(size, np.int64)
    gain = _play(arena.row_ptr, arena.dst, weight, arena.owner, gain, steps)
    num, den = np.zeros(slots, np.int64), np.ones(slots, np.int64)
    for v in range(size):
        # In halves: the mean of the steps, and where the value is.
        mean = (Fraction(int(gain[v]), steps) + low + high) / 2
        value = mean.limit_denominator(size)
        assert abs(value - mean) * steps <= 2 * size * width
        num[v], den[v] = value.numerator, value.denominator
    return Solution(
        value_num=num,
        value_den=den,
        status=Status.SOLVED,
        stats=Stats(solver="reference", steps=steps),
    )


@compiled
def _play(row_ptr, dst, weight, owner, gain, steps):
    """What player 0 can get in so many steps from each vertex."""
    size = len(gain)
    for _ in range(steps):
        new = np.empty_like(gain)
        for v in range(size):
            first = row_ptr[v]
            best = weight[first] + gain[dst[first]]
            for e in range(first + 1, row_ptr[v + 1]):
                got = weight[e] + gain[dst[e]]
                best = min(best, got) if owner[v] else max(best, got)
            new[v] = best
        gain = new
    return gain


def secured(
    arena: Arena, strategy: np.ndarray, player: Literal[0, 1]
) -> list[Fraction]:
    """What a strategy of one player secures, from each vertex.

    The worst mean of a cycle that the other player can reach, by Karp's algorithm in
    each strongly connected component: O(V E) time.

    Args:
        arena: the game, without padding.
        strategy: integers `[V]`: an edge for each vertex of that player.
        player: 0 or 1.

    Returns:
        Fractions, one for each vertex.

    Reference:
        Karp, A characterization of the minimum cycle mean in a digraph, Discrete
        Mathematics 23 (1978), doi:10.1016/0012-365X(78)90011-0.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 1], [0, 1, 0, 1], owner=[0, 1], weight=[1, 7, -2, 4]
        ... )
        >>> secured(arena, np.array([1, -1]), 0)
        [Fraction(5, 2), Fraction(5, 2)]
    """
    sign = 1 if player == 0 else -1
    mine = arena.owner == bool(player)
    edges = [
        (int(arena.src[e]), int(arena.dst[e]), sign * int(arena.weight[e]))
        for e in range(len(arena.dst))
        if not mine[arena.src[e]] or strategy[arena.src[e]] == e
    ]
    size = len(arena.owner)
    src, dst = ([edge[k] for edge in edges] for k in (0, 1))
    left = Arena.from_edges(src, dst, owner=arena.owner, dead_ends="allow")
    _, label = graph.reference.scc(left)
    worst: list[Fraction | None] = [None] * size
    for component in np.unique(label):
        inside = [x for x in edges if label[x[0]] == component == label[x[1]]]
        mean = _least_mean(inside)
        for v in np.flatnonzero(label == component):
            worst[v] = mean
    changed = True
    while changed:
        changed = False
        for v, u, _ in edges:
            seen, own = worst[u], worst[v]
            if seen is not None and (own is None or seen < own):
                worst[v], changed = seen, True
    return [sign * x for x in worst if x is not None]


def _least_mean(edges: list[tuple[int, int, int]]) -> Fraction | None:
    """The least mean of a cycle of a strongly connected graph, if it has one."""
    if not edges:
        return None
    vertices = sorted({v for v, _, _ in edges})
    length: list[dict[int, int]] = [{vertices[0]: 0}]  # of walks of k edges
    for _ in vertices:
        walks: dict[int, int] = {}
        for v, u, weight in edges:
            if v in length[-1]:
                new = length[-1][v] + weight
                walks[u] = min(walks.get(u, new), new)
        length.append(walks)
    most = len(vertices)
    return min(
        max(
            Fraction(last - length[k][v], most - k)
            for k in range(most)
            if v in length[k]
        )
        for v, last in length[most].items()
    )


def verify(arena: Arena, solution: Solution) -> Verdict:
    """Checks a solution: what both strategies secure must be the value (host only).

    Args:
        arena: a small game.
        solution: its solution, with strategies.

    Returns:
        True if all is right, else what is wrong first, and where.

    Raises:
        ValueError: the arena is no mean-payoff game.

    Examples:
        >>> from jaxgames import meanpayoff
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], weight=[1, 2, 3]
        ... )
        >>> print(verify(arena, meanpayoff.solve(arena)))
        valid
    """
    check(arena)
    for name in ("value_num", "value_den", "strategy"):
        array, wide = getattr(solution, name), name != "strategy"
        validity.check_answer(name, array, arena.owner.shape, wide=wide)
    arena = arena.unpad()
    strategy = np.asarray(solution.strategy)[: len(arena.owner)]
    along = (strategy >= arena.row_ptr[:-1]) & (strategy < arena.row_ptr[1:])
    for reason, wrong in (
        (Reason.UNDECIDED, np.asarray(solution.value_den)[: len(strategy)] <= 0),
        (Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, ~along),
    ):
        if wrong.any():
            return Verdict.at(reason, int(np.argmax(wrong)))
    for v, least in enumerate(secured(arena, strategy, 0)):
        if least < solution.value(v):
            return Verdict.at(Reason.VALUE_TOO_LARGE, v)
    for v, most in enumerate(secured(arena, strategy, 1)):
        if most > solution.value(v):
            return Verdict.at(Reason.VALUE_TOO_SMALL, v)
    return Verdict.at(Reason.OK)

"""Two binary counters that wait for each other."""

from typing import Unpack

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._build import Vertices, from_vertices
from jaxgames.limits import Bounds, limited


@limited()
def two_counters(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """Van Dijk's two counters: exponential for attractor-based algorithms.

    Each player has a counter of `n` bits, whose carry resets bits of the other's, so
    that tangle learning, priority promotion and Zielonka's recursion count through
    both; recursive tangle learning does not. `3 * n**2 + 5 * n` vertices and
    `7 * n**2 + 4 * n` edges. Each player wins the own counter, but for vertices from
    which the other can leave it. Oink makes the same game by `tc`.

    Args:
        n: number of bits, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Tom van Dijk, *A parity game tale of two counters*, GandALF 2019,
        doi:10.4204/EPTCS.305.8.

    Examples:
        >>> two_counters(10)
        Arena(350 vertices, 740 edges, priority)
    """
    n = integer("n", n, 1)
    top = n * n + 9 * n

    def vertices() -> Vertices:
        for s in (0, 1):
            for i in range(n):
                low = 2 - s
                yield from _bit(n, s, i, top - 2 + s, top - 2 * n - 3 + s, low, [0])
                out = [("I", 1 - s, j) for j in range(i + 1 - s, n)]
                yield from _chain(s, i, 0, low, low - 1, out)

    return from_vertices(vertices(), 3 * n * n + 5 * n, 7 * n * n + 4 * n)


@limited()
def two_counters_plus(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """Van Dijk's two counters with a chain for each distraction.

    Recursive tangle learning counts through these, too; plain priority promotion, where
    everything below a promotion starts afresh, does not. `n**3 + n**2 + 6 * n` vertices
    and `2 * n**3 + 3 * n**2 + 5 * n` edges. Winners are as those of
    [`two_counters`][jaxgames.generate.two_counters]. Oink makes the same game by `tc+`.

    Args:
        n: number of bits, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Tom van Dijk, *A parity game tale of two counters*, GandALF 2019,
        doi:10.4204/EPTCS.305.8; Oink's generator `tc+`.

    Examples:
        >>> two_counters_plus(10)
        Arena(1160 vertices, 2350 edges, priority)
    """
    n = integer("n", n, 1)
    top = n * n + 9 * n

    def vertices() -> Vertices:
        for s in (0, 1):
            for i in range(n):
                low, chains = 2 + s, [0, *range(i + 1, n)]
                yield from _bit(n, s, i, top - s, top - 2 * n - 1 - s, low, chains)
                yield from _chain(s, i, 0, low, low + 2, [])
                for k in chains[1:]:
                    ends = low + 2 * (k - i + 1)
                    yield from _chain(s, i, k, low, ends, [("I", 1 - s, k)])

    return from_vertices(vertices(), n**3 + n * n + 6 * n, 2 * n**3 + 3 * n * n + 5 * n)


def _bit(n: int, s: int, i: int, high: int, middle: int, low: int, chains) -> Vertices:
    """A bit of the counter of player `s`: what it is won by, and its tangle."""
    tangle = "T", s, i
    yield ("H", s, i), s, high - 2 * i, [("I", s, (i - 1) % n)]
    yield ("I", s, i), 1 - s, middle - 2 * i, [tangle]
    begins = [("S", s, i, k, 0) if i else ("Z", s, i, k) for k in chains]
    yield tangle, 1 - s, low, [("H", s, i), *begins]


def _chain(s: int, i: int, k: int, low: int, last: int, out: list) -> Vertices:
    """Through the lower bits of both counters, and back to the tangle or out."""
    for j in range(i):
        after = ("S", s, i, k, j + 1) if j + 1 < i else ("Z", s, i, k)
        ways = [("A", s, i, k, j), ("B", s, i, k, j)]
        yield ("S", s, i, k, j), s, low - 1, ways
        yield ways[0], 1 - s, low - 1, [after, ("I", s, j)]
        yield ways[1], 1 - s, low - 1, [after, ("I", 1 - s, j)]
    yield ("Z", s, i, k), s, last, [("T", s, i), *out]

"""Binary counters: small games on which a solver counts up to an exponential number."""

from typing import Unpack

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._build import Vertices, from_vertices
from jaxgames.limits import Bounds, limited


@limited()
def counter_dp(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """A counter that priority promotion with delayed promotions counts through.

    `4 * n + 4` vertices, `7 * n + 5` edges and `n + 4` priorities. Even
    wins everywhere if `n` is even, Odd if it is odd. Oink makes the same game by
    `counter_dp`.

    Args:
        n: number of bits, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Benerecetti, Dell'Erba and Mogavero, *A delayed promotion policy for parity
        games*, GandALF 2016, arXiv:1609.04087.

    Examples:
        >>> counter_dp(10)
        Arena(44 vertices, 75 edges, priority)
    """
    n = integer("n", n, 1)

    def vertices() -> Vertices:
        for i in range(n + 1):
            q = i % 2
            yield ("a", i), 1 - q, i, [("b", i)]
            yield ("b", i), 1 - q, i, [("a", i), ("c", i), ("d", i + 1)]
            yield ("c", i), q, i, [("b", i), ("d", i - 1)]
            yield ("d", i), q, i + 3, [("c", i)]

    return from_vertices(vertices(), 4 * n + 4, 7 * n + 5)


@limited()
def counter_rr(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """A counter that priority promotion with region recovery counts through.

    `4 * n` vertices, `8 * n` edges and `2 * n` priorities. Even wins everywhere. Oink
    makes the same game by `counter_rr`.

    Args:
        n: number of bits, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Benerecetti, Dell'Erba and Mogavero, *Improving priority promotion for parity
        games*, HVC 2016, doi:10.1007/978-3-319-49052-6_8.

    Examples:
        >>> counter_rr(10)
        Arena(40 vertices, 80 edges, priority)
    """
    n = integer("n", n, 1)

    def vertices() -> Vertices:
        for i in range(n):
            player, after = (n + i) % 2, (i + 1) % n
            low, high = n - 1 - i, n + 1 + i
            yield ("a", i), player, low, [("b", i), ("A", i)]
            yield ("b", i), player, low, [("a", i), ("B", i)]
            yield ("A", i), player, high, [("B", i), ("a", after)]
            yield ("B", i), player, high, [("A", i), ("b", after)]

    return from_vertices(vertices(), 4 * n, 8 * n)


@limited()
def counter_m(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """Gazda's counter: exponential for Zielonka's recursion and priority promotion.

    `3 * n + 3` vertices and `6 * n + 3` edges. Odd wins everywhere if `n` is even, Even
    if it is odd. Oink makes the same game by `counter_m`.

    Args:
        n: number of bits, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Maciej Gazda, *Fixpoint logic, games, and relations of consequence*, PhD
        thesis, TU Eindhoven, 2016, section 3.5.

    Examples:
        >>> counter_m(10)
        Arena(33 vertices, 63 edges, priority)
    """
    n = integer("n", n, 1)

    def vertices() -> Vertices:
        for i in range(n + 1):
            q = i % 2
            yield ("a", i), q, i + 2, [("b", i), ("a", i + 1)]
            yield ("b", i), q, 1 - q, [("c", i), ("a", i + 1)]
            yield ("c", i), 1 - q, 1 - q, [("b", i), ("c", i - 1)]

    return from_vertices(vertices(), 3 * n + 3, 6 * n + 3)


@limited()
def counter_core(k: int, **bounds: Unpack[Bounds]) -> Arena:
    """The core family: exponential for algorithms that divide a game, and conquer.

    `6 * k + 3` vertices, `12 * k + 4` edges and `4 * k + 2` priorities. Even wins
    everywhere. Oink makes the same game by `counter_core`.

    Args:
        k: half the number of levels but one, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `k` is no integer or less than 1.

    References:
        Benerecetti, Dell'Erba and Mogavero, *Robust exponential worst cases for
        divide-et-impera algorithms for parity games*, GandALF 2017,
        doi:10.4204/EPTCS.256.9.

    Examples:
        >>> counter_core(10)
        Arena(63 vertices, 124 edges, priority)
    """
    k = integer("k", k, 1)
    return from_vertices(_core(2 * k, lambda i: []), 6 * k + 3, 12 * k + 4)


@limited()
def counter_rob(k: int, **bounds: Unpack[Bounds]) -> Arena:
    """The robust family: the core family, which is not split into components.

    Vertices of priority 0 link each two levels of
    [`counter_core`][jaxgames.generate.counter_core], so that to solve one strongly
    connected component after the other does not help. `3 * k**2 + 8 * k + 3` vertices
    and `10 * k**2 + 18 * k + 4` edges. Even wins everywhere. Oink makes the same game
    by `counter_rob`.

    Args:
        k: half the number of levels but one, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `k` is no integer or less than 1.

    References:
        Benerecetti, Dell'Erba and Mogavero, *Robust exponential worst cases for
        divide-et-impera algorithms for parity games*, GandALF 2017,
        doi:10.4204/EPTCS.256.9.

    Examples:
        >>> counter_rob(10)
        Arena(383 vertices, 1184 edges, priority)
    """
    k = integer("k", k, 1)
    n = 2 * k

    def links(i: int) -> list:
        below = [("y" if (i - j) % 2 else "x", j, i) for j in range(i)]
        return below + [("x", i, j) for j in range(i + 1, n + 1)]

    def vertices() -> Vertices:
        yield from _core(n, links)
        for i in range(n + 1):
            for j in range(i + 1, n + 1):
                x, y = ("x", i, j), ("y", i, j)
                if (i - j) % 2 == 0:
                    yield x, i % 2, 0, [("c", i), ("c", j)]
                else:
                    yield x, i % 2, 0, [("c", i), y]
                    yield y, j % 2, 0, [x, ("c", j)]

    return from_vertices(vertices(), 3 * k * k + 8 * k + 3, 10 * k * k + 18 * k + 4)


def _core(n: int, links) -> Vertices:
    """The levels of the core family; `links` tells what else `c` leads to."""
    for i in range(n + 1):
        q = i % 2
        yield ("a", i), q, n + 1 + i, [("b", i)]
        yield ("b", i), q, i, [("c", i), ("a", i - 1)]
        yield ("c", i), 1 - q, i, [("b", i), ("c", i), ("a", i + 1), *links(i)]


@limited()
def counter_qpt(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """A line with ways back: hard for the ordered quasi-polynomial progress measures.

    Even owns all of `2 * n` vertices, which have a priority each, and wins them all;
    `3 * n - 1` edges. Oink makes the same game by `counter_qpt`.

    Args:
        n: half the number of vertices, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Fearnley, Jain, Schewe, Stephan and Wojtczak, *An ordered approach to solving
        parity games in quasi polynomial time and quasi linear space*, SPIN 2017,
        doi:10.1145/3092282.3092286.

    Examples:
        >>> counter_qpt(10)
        Arena(20 vertices, 29 edges, priority)
    """
    n = integer("n", n, 1)

    def vertices() -> Vertices:
        for v in range(2 * n):
            yield v, 0, v + 1, [v + 1, 0] if v % 2 else [v + 1]

    return from_vertices(vertices(), 2 * n, 3 * n - 1)


@limited()
def counter_ortl(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """A counter that one-sided recursive tangle learning counts through.

    `5 * n + 1` vertices and `8 * n + 1` edges. Even wins everywhere. Oink makes the
    same game by `counter_ortl`.

    Args:
        n: number of bits, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Tom van Dijk, *Oink: an implementation and evaluation of modern parity game
        solvers*, TACAS 2018, doi:10.1007/978-3-319-89960-2_16; its generator
        `counter_ortl`.

    Examples:
        >>> counter_ortl(10)
        Arena(51 vertices, 81 edges, priority)
    """
    n = integer("n", n, 1)

    def vertices() -> Vertices:
        yield "r", 1, 0, ["r", *(("v", i) for i in range(n))]
        for i in range(n):
            high = 2 * (n + i + 1)
            yield ("v", i), 0, 2 * (n - i), ["r", ("d", i)]
            yield ("d", i), 0, high, [("s", i)]
            yield ("s", i), 1, 1, [("e", i)]
            yield ("e", i), 0, 1, [("s", i), ("h", i)]
            yield ("h", i), 0, high + 1, [("v", i)]

    return from_vertices(vertices(), 5 * n + 1, 8 * n + 1)


@limited()
def counter_symsi(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """A counter that symmetric strategy improvement counts through.

    `10 * n + 2` vertices and `22 * n + 4` edges. Even wins everywhere. Oink makes the
    same game by `counter_symsi`.

    Args:
        n: number of bits, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        van Dijk, Loho and Maat, *The worst-case complexity of symmetric strategy
        improvement*, CSL 2024, doi:10.4230/LIPIcs.CSL.2024.24.

    Examples:
        >>> counter_symsi(10)
        Arena(102 vertices, 224 edges, priority)
    """
    n = integer("n", n, 1)

    def vertices() -> Vertices:
        top, a0, d0 = 16 * n + 16, ("a", 0), ("d", 0)
        for i in range(n):
            w, up_a, up_d = 14 * i, ("a", i + 1), ("d", i + 1)
            yield ("a", i), 0, top + 2 * i - 1, [("c", i)]
            yield ("d", i), 1, top + 2 * i, [("h", i)]
            yield ("c", i), 0, w + 1, [("e", i), ("m", i), a0]
            yield ("m", i), 0, w + 3, [("c", i), ("f", i), a0]
            yield ("e", i), 1, w + 4, [up_a, ("m", i)]
            yield ("f", i), 1, w + 6, [up_d, ("c", i)]
            yield ("g", i), 1, w + 8, [("h", i), ("k", i), d0]
            yield ("h", i), 1, w + 10, [("l", i), ("g", i), d0]
            yield ("k", i), 0, w + 11, [up_a, ("h", i)]
            yield ("l", i), 0, w + 13, [up_d, ("g", i)]
        yield ("a", n), 0, 1, [("a", n), a0]
        yield ("d", n), 1, 2, [("d", n), d0]

    return from_vertices(vertices(), 10 * n + 2, 22 * n + 4)


@limited()
def dull(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """A dull game: two lines of player 0, whose steps down the line are counted.

    `3 * n` vertices and `4 * n` edges. Even wins everywhere.

    Args:
        n: number of loops, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Gazda and Willemse, *Zielonka's recursive algorithm: dull, weak and solitaire
        games and tighter bounds*, GandALF 2013, arXiv:1307.4465.

    Examples:
        >>> dull(10)
        Arena(30 vertices, 40 edges, priority)
    """
    n = integer("n", n, 1)

    def vertices() -> Vertices:
        for i in range(1, n + 1):
            yield ("u", i), 0, 1, [("u", i), ("v", 2 * i - 1)]
        for i in range(2 * n):
            yield ("v", i), 0, i + 2, [("v", max(i - 1, 0))]

    return from_vertices(vertices(), 3 * n, 4 * n)

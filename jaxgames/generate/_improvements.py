"""Games on which strategy improvement switches an exponential number of times."""

from typing import Unpack

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import flag
from jaxgames.generate._build import Vertices, from_vertices
from jaxgames.limits import Bounds, limited


@limited()
def friedmann(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """Friedmann's game: exponentially many improvements, if all edges are switched.

    `14 * n + 7` vertices and `34 * n + 7` edges. Odd wins everywhere. PGSolver makes
    the same game by `switchallexp`.

    Args:
        n: number of bits, at least 2.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 2.

    References:
        Oliver Friedmann, *An exponential lower bound for the latest deterministic
        strategy iteration algorithms*, LMCS 7(3), 2011; the generator `switchallexp`
        of PGSolver.

    Examples:
        >>> friedmann(10)
        Arena(147 vertices, 347 edges, priority)
    """
    n = integer("n", n, 2)

    def vertices() -> Vertices:
        yield "q", 1, 1, ["q"]
        yield "s", 0, 2, ["p", *(("k", i) for i in range(n))]
        yield "t", 0, 3, ["x", "s"]
        yield "y", 0, 5, ["w", ("l", 0)]
        yield "w", 0, 7, ["y", "p", *(("l", i) for i in range(1, n))]
        yield "d", 0, 12 * n + 8, ["t", "x"]
        yield "x", 0, 12 * n + 10, ["w", "y"]
        yield "p", 1, 16 * n + 12, ["q"]
        for j in range(2 * n):
            before = "d" if j < 2 else ("b", j - 1)
            yield ("a", j), 1, 8 * n + 2 * j + 8, [("b", j)]
            yield ("b", j), 0, 8 * n + 2 * j + 7, [before, "x", "s"]
        for i in range(n):
            ways = ["x", "s", ("h", i), ("f", i), ("g", i)]
            after = ("v", i) if i < n - 1 else "p"
            first, second = ("a", 2 * i), ("a", 2 * i + 1)
            yield ("e", i), 0, 6 * n + 2 * i + 7, [("a", 0), *ways]
            yield ("f", i), 0, 6 * i + 8, [("f", i - 1), "d", first]
            yield ("g", i), 0, 6 * i + 10, [("g", i - 1), "d", second]
            yield ("h", i), 1, 6 * n + 2 * i + 8, [("e", i), ("m", i)]
            yield ("m", i), 1, 12 * n + 4 * i + 14, [("z", i)]
            yield (
                ("z", i),
                0,
                12 * n + 4 * i + 11,
                ["p", after][: 2 if i < n - 1 else 1],
            )
            yield ("k", i), 1, 12 * n + 4 * i + 13, [("h", i)]
            yield ("l", i), 0, 6 * i + 11, [("k", i), ("z", i)]
            yield ("r", i), 0, 6 * i + 12, [("l", i), ("z", i)]
            if i < n - 1:
                on = [("v", i + 1)] if i < n - 2 else ["p"]
                yield ("v", i), 0, 6 * i + 9, [*on, ("r", i + 1)]

    return from_vertices(vertices(), 14 * n + 7, 34 * n + 7)


@limited()
def fearnley(n: int, *, gadgets: bool = True, **bounds: Unpack[Bounds]) -> Arena:
    """Friedmann's game with lanes, and gadgets against Fearnley's non-oblivious rule.

    Strategy improvement that switches all edges takes twice as many improvements for
    each bit, with or without the gadgets. `(3 * n**2 + 27 * n + 10) / 2` vertices, or
    `13 * n + 5` without them. Odd wins everywhere. PGSolver makes the same game by
    `fearnleysubexp`.

    Args:
        n: number of bits, at least 1.
        gadgets: whether those are there.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1; or `gadgets` no bool.

    References:
        John Fearnley, *Non-oblivious strategy improvement*, LPAR 2010; the generator
        `fearnleysubexp` of PGSolver.

    Examples:
        >>> fearnley(10)
        Arena(290 vertices, 941 edges, priority)
        >>> fearnley(10, gadgets=False)
        Arena(135 vertices, 651 edges, priority)
    """
    n, gadgets = integer("n", n, 1), flag("gadgets", gadgets)

    def vertices() -> Vertices:
        yield "x", 1, 1, ["x"]
        yield "s", 0, 10 * n + 6, ["z", *(("f", i) for i in range(n))]
        yield "c", 0, 10 * n + 4, ["s", "r"]
        yield "r", 0, 10 * n + 8, ["z", *(("g", i) for i in range(n))]
        yield "z", 1, 18 * n + 10, ["x"]
        for j in range(3 * n):
            before = [("t", j - 1)] if j else ["c"]
            yield ("a", j), 1, 4 * n + 2 * j + 4, [("t", j)]
            yield ("t", j), 0, 4 * n + 2 * j + 3, [*before, "r", "s"]
        for i in range(n):
            ways = ["s", "r", *(("a", j) for j in range(3 * i + 3))]
            above = ("u", i, n - 1) if gadgets and i < n - 1 else ("e", i)
            yield ("d1", i), 0, 4 * i + 3, [("d0", i), *ways]
            yield ("d0", i), 0, 4 * i + 3, [above, *ways]
            yield ("e", i), 1, 4 * i + 4, [("d1", i), ("h", i)]
            yield ("h", i), 1, 12 * n + 6 * i + 14, [("k", i)]
            higher = [("g", j) for j in range(i + 1, n)]
            yield ("k", i), 0, 12 * n + 6 * i + 9, ["z", *higher]
            yield ("f", i), 1, 12 * n + 6 * i + 11, [("e", i)]
            yield ("g", i), 0, 4 * i + 6, [("f", i), ("k", i)]
            for j in range(i + 1, n) if gadgets else ():
                down = ("u", i, j - 1) if j > i + 1 else ("e", i)
                yield ("u", i, j), 0, 3, [("v", i, j), ("w", i, j)]
                yield ("v", i, j), 1, 3, [("m", j), down]
                yield ("w", i, j), 1, 2, [("q", j), down]
            if gadgets:
                yield ("m", i), 1, 10 * n + 9 + 2 * i, [("e", i)]
                yield ("q", i), 1, 12 * n + 6 * i + 13, [("h", i)]

    return from_vertices(
        vertices(), (3 * n * n + 27 * n + 10) // 2, (13 * n * n + 57 * n + 12) // 2
    )

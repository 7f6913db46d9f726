"""The textbook: exact values by strategy improvement in fractions.

Plain, to read, and to compare with on small games: numbers grow with cycles.
"""

from fractions import Fraction
from typing import Any

from jaxgames.arena import Arena
from jaxgames.discounted._checks import check, exact


def solve(arena: Arena, discount: Any) -> tuple[list[Fraction], list[int]]:
    """The exact value of each vertex, and an edge that attains it.

    Player 1 takes better edges until he has none, then player 0 does, and so on [1].
    With one edge for each vertex a value is found along the path to a cycle.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor. Padding is left out.
        discount: the discount factor: a float, a `fractions.Fraction`, or a pair.

    Returns:
        Values and edges of all vertices.

    References:
        [1] Hoffman and Karp, On nonterminating stochastic games, Management Science 12
        (1966), doi:10.1287/mnsc.12.5.359.

    Examples:
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[3, 0])
        >>> solve(arena, (1, 2))
        ([Fraction(2, 1), Fraction(1, 1)], [0, 1])
    """
    check(arena)
    arena, factor = arena.unpad(), exact(discount)
    rows = [range(*arena.row_ptr[v : v + 2]) for v in range(arena.shape[0])]
    weight, dst = arena.weight.tolist(), arena.dst.tolist()
    move = [row[0] for row in rows]
    while True:
        value = values(arena, factor, move)

        def worth(e: int, value=value) -> Fraction:
            return (1 - factor) * weight[e] + factor * value[dst[e]]

        switched = False
        for player in (1, 0):
            if switched:
                break
            for v, row in enumerate(rows):
                if arena.owner[v] != player:
                    continue
                best = (min if player else max)(row, key=worth)
                if worth(best) != value[v]:
                    move[v], switched = best, True
        if not switched:
            return value, move


def values(arena: Arena, factor: Fraction, move: list[int]) -> list[Fraction]:
    """What plays are worth in which each vertex takes one edge, exactly.

    Args:
        arena: the game.
        factor: the discount factor.
        move: the edge of each vertex.
    """
    weight, dst = arena.weight.tolist(), arena.dst.tolist()
    found: dict[int, Fraction] = {}
    for start in range(len(move)):
        path, v = [], start
        while v not in found and v not in path:
            path.append(v)
            v = dst[move[v]]
        if v not in found:
            cycle = path[path.index(v) :]
            gain = sum(
                (1 - factor) * weight[move[u]] * factor**i for i, u in enumerate(cycle)
            )
            found[v] = Fraction(gain) / (1 - factor ** len(cycle))
        for u in reversed(path):
            if u not in found:
                after = found[dst[move[u]]]
                found[u] = (1 - factor) * weight[move[u]] + factor * after
    return [found[v] for v in range(len(move))]

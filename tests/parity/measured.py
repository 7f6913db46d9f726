"""Progress measures checked edge by edge, with Python's own integers."""

import numpy as np

from jaxgames import Arena

BITS = 31


def compressed(priority) -> list[int]:
    """Priorities renumbered without gaps, neighbours of one parity merged."""
    rank, number = {}, None
    for p in sorted(set(map(int, priority))):
        number = p % 2 if number is None else number + (number - p) % 2
        rank[p] = number
    return [rank[int(p)] for p in priority]


def numbers(words) -> list[int]:
    """The measures of one player, from words `[W, V]`."""
    return [
        sum(int(w) << BITS * k for k, w in enumerate(column[::-1]))
        for column in np.asarray(words).T
    ]


def assert_certificate(arena: Arena, solution) -> None:
    """The measures prove the solution: they fall, or do not rise, as they must."""
    arena = arena.unpad()
    winner, strategy = np.asarray(solution.winner), np.asarray(solution.strategy)
    words, cut = np.asarray(solution.measures.words), np.asarray(solution.measures.cut)
    assert words.dtype == cut.dtype == np.int32
    assert np.all(np.diff(cut, axis=1) <= 0)
    rho = [numbers(words[player]) for player in (0, 1)]
    on_edges = arena.edge_priority is not None
    priority = arena.edge_priority if on_edges else arena.priority[arena.src]
    for e, p in enumerate(compressed(priority)):
        u, w = int(arena.src[e]), int(arena.dst[e])
        a = int(winner[u])
        if arena.owner[u] == a and strategy[u] != e:
            continue
        assert winner[w] == a
        assert words[a, 0, u] != 2**31 - 1 != words[a, 0, w]
        rest = BITS * words.shape[1] - int(cut[a, p])
        here, there = rho[a][u] >> rest, rho[a][w] >> rest
        assert here > there if p % 2 != a else here >= there, (e, u, w, p, here, there)


def with_edge_priorities(arena: Arena, rng: np.random.Generator) -> Arena:
    """The same graph with random priorities on the edges."""
    return Arena.from_edges(
        arena.src,
        arena.dst,
        owner=arena.owner,
        edge_priority=rng.integers(0, 7, len(arena.src)),
    )


def split_all(arena: Arena) -> Arena:
    """Every edge `e` as two, with the vertex `V + e` of its priority in the middle."""
    size, edges = arena.shape
    middle = size + np.arange(edges)
    return Arena.from_edges(
        np.append(arena.src, middle),
        np.append(middle, arena.dst),
        owner=np.append(arena.owner, np.zeros(edges, bool)),
        priority=np.append(np.zeros(size, int), arena.edge_priority),
    )


def extended(arena: Arena, winner, strategy) -> tuple[np.ndarray, np.ndarray]:
    """A solution of a game as one of `split_all` of it."""
    winner, strategy = np.asarray(winner), np.asarray(strategy)
    after = winner[arena.dst]
    moves = np.where(after == 0, len(after) + np.arange(len(after)), -1)
    return np.append(winner, after), np.append(strategy, moves).astype(np.int32)

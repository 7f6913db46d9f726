"""Energy games of a few vertices, solved by trying all positional strategies."""

import itertools
import math

import numpy as np

from jaxgames import Arena


def tiny_games(seed, count, largest=4, weights=3):
    """Random games of a few vertices with at most 3 edges each."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = rng.integers(1, largest + 1)
        src = np.repeat(np.arange(size), rng.integers(1, 4, size))
        yield Arena.from_edges(
            src,
            rng.integers(0, size, len(src)),
            owner=rng.integers(0, 2, size),
            weight=rng.integers(-weights, weights + 1, len(src)),
        )


def strategies(arena, player):
    """Every choice of one edge for each vertex of a player: dictionaries."""
    own = [v for v in range(len(arena.owner)) if arena.owner[v] == player]
    rows = [range(arena.row_ptr[v], arena.row_ptr[v + 1]) for v in own]
    return [dict(zip(own, edges, strict=True)) for edges in itertools.product(*rows)]


def needed(arena, move):
    """What the only play from each vertex takes; infinite if it falls for ever."""
    found = []
    for start in range(len(arena.owner)):
        v, level, least = start, 0, 0
        seen = {}
        while v not in seen:
            seen[v] = level
            level += int(arena.weight[move[v]])
            least = min(least, level)
            v = int(arena.dst[move[v]])
        found.append(-least if level >= seen[v] else math.inf)
    return found


def worst(arena, fixed, player):
    """What each play takes at worst (player 1's choice) or at best (player 0's).

    Args:
        arena: the game.
        fixed: the moves of the other player.
        player: who may choose.
    """
    plays = [needed(arena, fixed | other) for other in strategies(arena, player)]
    plays = np.array(plays, object)  # of any size
    return np.max(plays, axis=0) if player else np.min(plays, axis=0)


def credits(arena):
    """The least credits, -1 where there is none; both players must show them."""
    from_above = np.min(
        [worst(arena, mine, 1) for mine in strategies(arena, 0)], axis=0
    )
    from_below = np.max(
        [worst(arena, yours, 0) for yours in strategies(arena, 1)], axis=0
    )
    np.testing.assert_array_equal(from_above, from_below)
    return np.where(from_above == math.inf, -1, from_above)


def wins(arena, credit, strategy):
    """Whether both players' moves reach what the credits promise, by all answers."""
    free = [range(arena.row_ptr[v], arena.row_ptr[v + 1]) for v in range(len(credit))]

    def answers(player):
        # The player's strategy where he wins, all moves elsewhere.
        rows = [
            [strategy[v]] if strategy[v] >= 0 and arena.owner[v] == player else free[v]
            for v in range(len(credit))
        ]
        return [needed(arena, edges) for edges in itertools.product(*rows)]

    lost = np.asarray(credit) < 0
    kept = np.max(answers(0), axis=0)
    lasts = np.min(answers(1), axis=0)
    enough = kept[~lost] <= np.asarray(credit)[~lost]
    return bool(enough.all() and np.isinf(lasts[lost]).all())

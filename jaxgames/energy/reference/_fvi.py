"""Fast value iteration [1], one vertex at a time and only where credits rise.

What is asked of a vertex is kept as a potential, its weights scaled so that no cycle
sums to zero: an edge `(v, u)` of weight `w` has the reduced cost

    r = potential(u) - potential(v) - (scale w + 1)

and the potentials are the least progress measure once player 0 has an edge with `r <=
0` at each of his vertices and player 1 none with `r > 0` at any of his. A turn finds
the vertices where that fails, and those that rely on them through edges with `r = 0`,
all others being content with what they have. These rise by the least energy with which
player 0 can leave them; player 1, who maximises, never takes an edge with `r < 0`. So
it is a shortest path problem of two players without negative costs, and Dijkstra's
order solves it: a vertex of player 0 has its distance from the first of its successors
to be known, one of player 1 from the last. Those that never get one are TOP.

Edges with `r = 0` form no cycle, since `r` and `w` sum up to the same on a cycle but
for their signs: who relies on whom is well founded. A turn costs what the vertices that
rise and their edges cost, times the logarithm of their number. There are few turns on
most games; at worst they are pseudo-polynomially many.

References:
    [1] Cadilhac, Casares and Ohlmann, Fast value iteration: a uniform approach to
    efficient algorithms for energy games, 2021, arXiv:2110.07346.
"""

import numpy as np

from jaxgames.energy.reference._game import LARGEST, Game
from jaxgames.energy.reference._turns import (
    FINISHED,
    GONE,
    MAXIMISES,
    POTENTIAL,
    STATE,
    TOO_LARGE,
    WHICH,
    Run,
    turns,
)
from jaxgames.host import interpreted


def potentials(
    game: Game,
    most: int,
    *,
    within: np.ndarray | None = None,
    dual: bool = False,
    stop: np.ndarray | None = None,
) -> tuple[np.ndarray | None, np.ndarray, dict[str, int]]:
    """The least scaled measure of a game.

    Args:
        game: the game.
        most: the largest credit that a vertex can need; with more it is TOP. Not for
            the dual.
        within: bool `[V]`: the vertices that there are, out of which no edge of the
            maximising player leads; None for all.
        dual: whether to solve the game in which players and gains change sides: what
            player 1 must spend from each vertex to keep the energy falling.
        stop: int8 `[1]`: gives up soon after it is not 0.

    Returns:
        `credit * (V + 1) - steps` for each vertex (with the dual's `+ steps`), where
        steps says how far it is to where nothing more is needed; int64, or Python's
        integers where these do not fit. None if stopped. Which vertices are TOP. And
        how many `turns` there were and vertices that rose, `lifts`.
    """
    size = len(game.owner)
    if not dual:
        # Nobody ever needs more, so that no edge need give or take more.
        game = _within(game, -most - 1, most)
    largest = max(int(game.weight.max(initial=0)), -int(game.weight.min(initial=0)))
    factor = size + 1
    ceiling = None if dual else factor * most
    if factor * largest + 1 < LARGEST // 4:
        table = np.zeros((size, 4), np.int64)
        outcome, counts = _run(game, table, factor, ceiling, within, dual, stop)
    else:
        outcome = TOO_LARGE
    if outcome == TOO_LARGE:
        table = np.zeros((size, 4), object)
        wide = game._replace(
            weight=game.weight.astype(object), in_weight=game.in_weight.astype(object)
        )
        with interpreted():
            outcome, counts = _run(wide, table, factor, ceiling, within, dual, stop)
    made, lifts = counts.tolist()
    top = (table[:, STATE] & WHICH) == GONE
    found = table[:, POTENTIAL].copy() if outcome == FINISHED else None
    return found, top.astype(bool), {"turns": made, "lifts": lifts}


def _within(game: Game, low: int, high: int) -> Game:
    """The game, its weights cut to a range around 0."""
    least, largest = game.weight.min(initial=0), game.weight.max(initial=0)
    if low <= least and largest <= high:
        return game
    low, high = max(low, int(least)), min(high, int(largest))
    return game._replace(
        weight=np.clip(game.weight, low, high),
        in_weight=np.clip(game.in_weight, low, high),
    )


def _run(
    game: Game, table, factor, ceiling, within, dual, stop
) -> tuple[int, np.ndarray]:
    """Solves a game in the numbers that the table has."""
    size, many = len(game.owner), len(game.dst)
    maximises = game.owner != dual
    table[:, STATE] = np.where(maximises, MAXIMISES, 0)
    if within is not None:
        table[~within, STATE] |= GONE
    counts = np.zeros(2, np.int64)
    sign, far = (1 if dual else -1), LARGEST
    scale, one = sign * factor, sign
    if table.dtype == np.int64:
        # Products with weights of 32 bits shall have 64, interpreted as well.
        scale, one, far = np.int64(scale), np.int64(one), np.int64(far)
    else:
        far = factor**3 * (LARGEST << 64)
    if ceiling is None or ceiling > far // 4:
        ceiling = far
    run = Run(
        game,
        table,
        scale,
        one,
        far,
        type(far)(ceiling),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size + many, table.dtype),
        np.empty(size + many, np.int32),
        counts,
        np.zeros(1, np.int8) if stop is None else stop,
        within is None,
    )
    return int(turns(run)), counts

"""Strategies of both players, from the credits alone.

Whatever found the credits, the strategies are the same: player 0 takes the first edge
that asks for no more than his credit. For player 1, who must make the energy fall for
ever, the same is done in the dual game on the vertices that he wins.
"""

import numpy as np

from jaxgames.energy._solution import TOP
from jaxgames.energy.reference._fvi import potentials
from jaxgames.energy.reference._game import Game
from jaxgames.host import compiled, interpreted
from jaxgames.solution import NO_EDGE


def strategies(
    game: Game, most: int, credit: np.ndarray, stop: np.ndarray, *, both: bool = True
) -> np.ndarray | None:
    """The edge to take at each vertex whose owner wins it.

    Player 0 takes the edge of least index with `credit(v) >= max(0, credit(u) - w)`.

    Player 1 wins the vertices where no credit is enough. There, let him be the keeper
    of another energy: an edge of weight `w` costs `(n + 1) w + 1` of it, for `n`
    vertices, so that he keeps it exactly on the cycles on which the energy falls. Let
    `need` be the least credits of this game; he takes the edge of least index that
    stays where he wins with `need(v) >= max(0, need(u) + (n + 1) w + 1)`.

    Args:
        game: the game.
        most: the largest credit that a vertex can need.
        credit: integers `[V]`, TOP where player 1 wins.
        stop: int8 `[1]`: gives up soon after it is not 0.
        both: whether player 1 shall have a strategy too.

    Returns:
        int32 `[V]`, NO_EDGE where the owner does not win; None if stopped.
    """
    size = len(game.owner)
    strategy = np.full(size, NO_EDGE, np.int32)
    lost = credit == TOP
    credit, unit, none = credit.astype(np.int64), np.int64(1), np.int64(0)
    _choose(game, credit, ~game.owner & ~lost, ~lost, unit, none, strategy)
    own = game.owner & lost
    if not both or not own.any():
        return strategy
    need, _, _ = potentials(game, most, within=lost, dual=True, stop=stop)
    if need is None:
        return None
    if need.dtype == np.int64:
        _choose(game, need, own, lost, -unit * (size + 1), -unit, strategy)
    else:
        wide = game._replace(weight=game.weight.astype(object))
        with interpreted():
            _choose(wide, need, own, lost, -(size + 1), -1, strategy)
    return strategy


@compiled
def _choose(game, need, own, inside, scale, one, strategy):
    """The first edge of each own vertex that stays inside and asks for no more."""
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    for v in range(len(own)):
        if not own[v]:
            continue
        for e in range(row_ptr[v], row_ptr[v + 1]):
            u = dst[e]
            if inside[u] and need[v] >= max(0, need[u] - scale * weight[e] - one):
                strategy[v] = e
                break

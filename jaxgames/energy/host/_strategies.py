"""Strategies of both players, from the credits alone.

Whatever found the credits, the strategies are the same: player 0 takes the first edge
that asks for no more than his credit. For player 1, who must make the energy fall for
ever, the same is done in the dual game on the vertices that he wins.
"""

import contextlib

import numpy as np

from jaxgames.energy._solution import TOP
from jaxgames.energy.host._fvi import (
    NO_LIMIT,
    forms,
    in_form,
    line_of,
    number,
    potentials,
    within_range,
)
from jaxgames.energy.host._game import Game
from jaxgames.energy.host._numbers import at, cost_at, largest, plus
from jaxgames.energy.host._numbers import words as number_words
from jaxgames.host import interpreted, linear
from jaxgames.solution import NO_EDGE


def strategies(
    game: Game,
    most: int,
    credit: np.ndarray,
    stop: np.ndarray | None,
    *,
    both: bool = True,
    limit: int = NO_LIMIT,
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
        stop: int8 `[1]`: gives up soon after it is not 0; None: never.
        both: whether player 1 shall have a strategy too.
        limit: gives up where so many vertices have risen.

    Returns:
        int32 `[V]`, NO_EDGE where the owner does not win; None if stopped.
    """
    size = len(game.owner)
    strategy = np.full(size, NO_EDGE, np.int32)
    lost = credit == TOP
    most_there = largest(credit)
    # What is more than all there is need not be told apart.
    near = within_range(game, -most_there - 1, most_there + 1)
    _choose(near, credit, ~game.owner & ~lost, ~lost, -1, 0, strategy)
    own = game.owner & lost
    if not both or not own.any():
        return strategy
    how = {"stop": stop, "limit": limit}
    need, _, _ = potentials(game, most, within=lost, dual=True, **how)
    if need is None:
        return None
    _choose(game, need, own, lost, size + 1, 1, strategy)
    return strategy


def _choose(game: Game, need, own, inside, scale, one, strategy) -> None:
    """The first edge of each own vertex that stays inside and asks for no more."""
    for words in forms(game, abs(scale)):
        if words == 1 and need.dtype == object:
            continue
        task = in_form(game, words, scale, one)
        have = need.astype(object) if words is None else need
        have = number_words(need) if words == 2 else have
        with interpreted() if words is None else contextlib.nullcontext():
            line = line_of(words, scale, one)
            _first_edges(task, have, own, inside, line, number(words, 0), strategy)
        return


@linear
def _first_edges(game, need, own, inside, line, none, strategy):
    """The first edge `e` with `need(v) >= max(0, need(u) + cost(e))`."""
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    for v in range(len(own)):
        if not own[v]:
            continue
        have = at(need, v)
        for e in range(row_ptr[v], row_ptr[v + 1]):
            u = dst[e]
            if not inside[u] or have < none:
                continue
            if have >= plus(at(need, u), cost_at(weight, line, e)):
                strategy[v] = e
                break

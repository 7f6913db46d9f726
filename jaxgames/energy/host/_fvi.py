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

import contextlib

import numpy as np

from jaxgames.energy.host._game import LARGEST, Game
from jaxgames.energy.host._numbers import BITS, costs, joined, largest
from jaxgames.energy.host._turns import (
    FINISHED,
    GONE,
    MAXIMISES,
    POTENTIAL,
    STATE,
    STOPPED,
    TOO_LARGE,
    WHICH,
    Run,
    turns,
)
from jaxgames.host import (
    SMALL,
    Impatience,
    can_compile,
    interpreted,
    plain,
    plain_left,
)

NO_LIMIT = 2**62
"""More lifts than anybody can wait for."""


def potentials(
    game: Game,
    most: int,
    *,
    within: np.ndarray | None = None,
    dual: bool = False,
    stop: np.ndarray | None = None,
    limit: int = NO_LIMIT,
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
        limit: gives up where so many vertices have risen.

    Returns:
        `credit * (V + 1) - steps` for each vertex (with the dual's `+ steps`), where
        steps says how far it is to where nothing more is needed; int64, or Python's
        integers where these do not fit. None if stopped. Which vertices are TOP. And
        how many `turns` there were and vertices that rose, `lifts`.
    """
    size = len(game.owner)
    if not dual:
        # Nobody ever needs more, so that no edge need give or take more.
        game = within_range(game, -most - 1, most)
    factor = size + 1
    ceiling = None if dual else factor * most
    outcome, found, top, counts = TOO_LARGE, None, None, None
    for words in forms(game, factor):
        how = game, words, factor, ceiling, within, dual
        small = len(game.dst) if stop is None and words == 1 else SMALL + 1
        run, outcome = _plainly(small, how, limit)
        if run is None:
            run = _run_of(*how, stop=stop, limit=limit)
            with interpreted() if words is None else contextlib.nullcontext():
                outcome = int(turns(run))
        counts, top = run.counts.tolist(), (run.table[:, STATE] & WHICH) == GONE
        if outcome == FINISHED:
            found = _potential_of(run)
        if outcome != TOO_LARGE:
            break
    assert top is not None  # the last form holds all there is
    assert counts is not None
    made, lifts = counts
    return found, top.astype(bool), {"turns": made, "lifts": lifts}


def _plainly(edges: int, how: tuple, limit: int) -> tuple[Run | None, int]:
    """A run as plain Python where that is sooner, else None; and how it ended."""
    with plain(edges) as sooner:
        if not sooner:
            return None, FINISHED
        stop = Impatience.of(plain_left())
        run = _run_of(*how, stop=stop, limit=limit)
        outcome = int(turns(run))
    late = outcome == STOPPED and bool(stop[0])
    return (None if late else run), outcome


def forms(game: Game, factor: int) -> list[int | None]:
    """What to compute in, the fastest first: so many words, None for Python's integers.

    Whether potentials fit is found out on the way. Where nothing is compiled two words
    are slower than integers of any size.
    """
    cost, found = factor * largest(game.weight) + 1, []
    if cost < LARGEST // 4 and game.weight.dtype != object:
        found.append(1)
    if cost < (LARGEST // 4) << BITS and factor < 2**31 and can_compile():
        found.append(2)
    return [*found, None]


def within_range(game: Game, low: int, high: int) -> Game:
    """The game, its weights cut to a range around 0."""
    least, most = game.weight.min(initial=0), game.weight.max(initial=0)
    if low <= least and most <= high:
        return game
    low, high = max(low, int(least)), min(high, int(most))
    return game._replace(
        weight=np.clip(game.weight, low, high),
        in_weight=np.clip(game.in_weight, low, high),
    )


def in_form(game: Game, words: int | None, scale: int, one: int) -> Game:
    """The game with weights, or costs, as loops take them in a form."""
    if words == 1:
        return game
    if words == 2:
        return game._replace(
            weight=costs(game.weight, scale, one),
            in_weight=costs(game.in_weight, scale, one),
        )
    return game._replace(
        weight=game.weight.astype(object), in_weight=game.in_weight.astype(object)
    )


def line_of(words: int | None, scale: int, one: int):
    """What multiplies weights and what is added, as loops take them in a form."""
    if words is None:
        return scale, one
    # Products with weights of 32 bits shall have 64, interpreted as well.
    return np.int64(scale), np.int64(one)


def number(words: int | None, value: int):
    """A number as loops take it in a form."""
    if words == 2:
        return np.int64(value >> BITS), np.int64(value & (2**BITS - 1))
    return (np.int64(value),) if words == 1 else (value,)


def _run_of(game: Game, words, factor, ceiling, within, dual, stop, limit) -> Run:
    """All that the loops need, in numbers of a form."""
    size, many = len(game.owner), len(game.dst)
    table = np.zeros((size, 4), np.int64 if words else object)
    table[:, STATE] = np.where(game.owner != dual, MAXIMISES, 0)
    if within is not None:
        table[~within, STATE] |= GONE
    sign = 1 if dual else -1
    if words is None:
        far = 8 * factor * (factor * largest(game.weight) + 1)
    else:
        far = LARGEST << BITS * (words - 1)
    if ceiling is None or ceiling > far // 4:
        ceiling = far
    return Run(
        in_form(game, words, sign * factor, sign),
        table,
        np.zeros((size, 2) if words == 2 else 0, np.int64),
        line_of(words, sign * factor, sign),
        number(words, 0),
        number(words, far),
        number(words, far // 4),
        number(words, ceiling),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty((size + many, 2) if words == 2 else size + many, table.dtype),
        np.empty(size + many, np.int32),
        np.zeros(2, np.int64),
        np.zeros(1, np.int8) if stop is None else stop,
        np.int64(limit),
        within is None,
    )


def _potential_of(run: Run) -> np.ndarray:
    """The potentials that a run has found."""
    low = run.table[:, POTENTIAL].copy()
    if run.high.ndim == 1:
        return low
    return joined(np.stack([run.high[:, POTENTIAL], low], axis=-1))

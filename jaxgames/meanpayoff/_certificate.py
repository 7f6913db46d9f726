"""Checks a solution of a mean-payoff game on the host."""

from typing import Unpack

import numpy as np

from jaxgames import energy, validity
from jaxgames.arena import Arena, as_checked_as
from jaxgames.arguments import fields
from jaxgames.energy import host as energies
from jaxgames.later import to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.meanpayoff import _parts, _rationals
from jaxgames.meanpayoff._checks import check
from jaxgames.meanpayoff._solution import Solution
from jaxgames.meanpayoff._verdict import Reason, Verdict
from jaxgames.solution import Status


@limited()
def verify(
    arena: Arena,
    solution: Solution,
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks values and strategies of a mean-payoff game, trusting nothing (host only).

    Values are right if each player's strategy secures them against all that the other
    can do. With player 0's no edge may lead to a smaller value, and no cycle of edges
    between vertices of a value `p/q` may have a mean below that: shown by potentials
    `f` with `f(v) >= f(u) - (q w - p)` on all these edges, which are found first and
    then checked by themselves. So it is for player 1, the other way round. A solution
    without strategies is checked with strategies made for it.

    Takes as long as an energy game of twice the size in which one player moves.

    Args:
        arena: the game.
        solution: its solution.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        True if all is right, else what is wrong first, and where.

    Raises:
        ValueError: the arena is no mean-payoff game, or the solution is not of its
            shape.

    Examples:
        >>> import dataclasses
        >>> from jaxgames import Arena, meanpayoff
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], weight=[1, 2, 3]
        ... )
        >>> solution = meanpayoff.solve(arena)
        >>> print(meanpayoff.verify(arena, solution))
        valid
        >>> wrong = dataclasses.replace(solution, strategy=np.array([0, 2], np.int32))
        >>> print(meanpayoff.verify(arena, wrong))
        vertex 0: with player 0's strategy player 1 can reach a cycle whose mean is ...
    """
    check(arena)
    names = "value_num", "value_den", "strategy"
    arrays = fields("solution", solution, *names)
    for name, array in zip(names, arrays, strict=True):
        values = name != "strategy"
        if array is not None or values:
            validity.check_answer(name, array, arena.owner.shape, wide=values)
    arena = as_checked_as(arena, to_numpy(arena.unpad()))
    size = len(arena.owner)
    num, den, strategy = (None if x is None else _plain(x)[:size] for x in arrays)
    assert num is not None  # as a type checker does not see
    assert den is not None
    if not size:
        return Verdict.at(Reason.OK)
    return _verdict(arena, num, den, strategy)


def _verdict(arena: Arena, num, den, strategy) -> Verdict:
    src, dst = arena.src, arena.dst
    terms = (np.gcd(num, np.maximum(den, 1)) != 1) | (den > len(den))
    width = int(np.abs(arena.weight.astype(object)).max(initial=0))
    for reason, wrong in (
        (Reason.UNDECIDED, den <= 0),
        (Reason.NO_MEAN_OF_A_CYCLE, terms),
        (Reason.VALUE_TOO_LARGE, num > width * den.astype(object)),
        (Reason.VALUE_TOO_SMALL, num < -width * den.astype(object)),
    ):
        if np.any(wrong):
            return Verdict.at(reason, int(np.argmax(wrong)))
    # Values as ranks, which are compared without overflow.
    rank = _rationals.distinct((num, den))[1]
    inside = rank[src] == rank[dst]
    taken = inside
    if strategy is not None:
        along = (strategy >= arena.row_ptr[:-1]) & (strategy < arena.row_ptr[1:])
        move = np.where(along, strategy, 0)
        leaves = rank[dst[move]] != rank
        for reason, wrong in (
            (Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, ~along),
            (Reason.STRATEGY_CHANGES_VALUE, leaves),
        ):
            if wrong.any():
                return Verdict.at(reason, int(np.argmax(wrong)))
        taken = move[src] == np.arange(len(src))
    better = np.where(arena.owner[src], rank[dst] < rank[src], rank[dst] > rank[src])
    if better.any():
        return Verdict.at(Reason.BETTER_SUCCESSOR, int(src[np.argmax(better)]))
    if strategy is None:
        stuck = ~np.logical_or.reduceat(inside, arena.row_ptr[:-1])
        if stuck.any():
            return Verdict.at(Reason.STRATEGY_CHANGES_VALUE, int(np.argmax(stuck)))
    for player, reason in ((0, Reason.VALUE_TOO_LARGE), (1, Reason.VALUE_TOO_SMALL)):
        free = inside & (taken | (arena.owner[src] != player))
        wrong = _gains(arena, num, den, free, player, strategy is not None)
        if wrong.any():
            return Verdict.at(reason, int(np.argmax(wrong)))
    return Verdict.at(Reason.OK)


def _gains(arena: Arena, num, den, free, player: int, fixed: bool) -> np.ndarray:
    """Where the rival of a player is better off than the value, with edges left free.

    An energy game in which the rival alone moves, if the player's moves are fixed.
    """
    edge = np.arange(len(free), dtype=np.int32)
    first = np.minimum.reduceat(
        np.where(free, edge, np.int32(len(free))), arena.row_ptr[:-1]
    )
    edge = np.where(free, edge, first[arena.src])
    game = _parts.game_at(arena, edge, num, den, swapped=player == 1)
    found = energies.solve(game, strategies=False)
    if found.status == Status.OVERFLOW:
        game = _parts.widened(game)
        found = energies.solve(game, strategies=False)
    credit = np.asarray(found.credit)
    wrong = credit == energy.TOP
    # What was found proves itself.
    exact = object if credit.dtype == object else np.int64
    credit, weight = credit.astype(exact), game.weight.astype(exact)
    short = credit[game.src] < credit[game.dst] - weight
    short |= (credit[game.src] < 0) | (credit[game.dst] < 0)
    if fixed:
        wrong[game.src[short]] = True
        return wrong
    moves = ~game.owner
    enough = np.logical_or.reduceat(~short, game.row_ptr[:-1])
    always = np.logical_and.reduceat(~short, game.row_ptr[:-1])
    return wrong | np.where(moves, ~enough, ~always)


def _plain(array) -> np.ndarray:
    """Integers of 64 bits, or Python's."""
    array = np.asarray(array)
    return array if array.dtype == object else array.astype(np.int64)

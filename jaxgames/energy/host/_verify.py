"""A solution is checked: credits, moves, and the cycles that are left."""

import contextlib
from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.energy._bounds import largest_credit
from jaxgames.energy._solution import TOP
from jaxgames.energy._verdict import Reason, Verdict
from jaxgames.energy.host._counters import credits
from jaxgames.energy.host._fvi import potentials, within_range
from jaxgames.energy.host._game import LARGEST, Game, game_of, turned
from jaxgames.energy.host._numbers import largest
from jaxgames.energy.host._strategies import strategies
from jaxgames.host import interpreted, linear
from jaxgames.solution import NO_EDGE


def verify(
    arena: Arena, credit: Any, strategy: Any = None, *, capacity: int | None = None
) -> Verdict:
    """Checks credits and strategies of an energy game, trusting nothing.

    Credits are enough if they are a progress measure, and player 0's strategy takes
    edges that keep to it; then no cycle that it allows loses energy. They are no more
    than what is needed if player 1 can lead every play from a vertex to where the
    credit is 0 without player 0 gaining anything on the measure. Player 1's strategy
    must stay where he wins and allow no cycle there that does not lose energy: shown by
    a measure of the steps and energy that are left, which is found first and then
    checked by itself.

    With a capacity, credits are no more than what is needed if value iteration with
    counters rises as far. Player 1 has no strategy there to be checked.

    Takes time for sorting edges, and as long as a solve of the vertices that player 1
    wins in which only player 0 moves.

    Args and results are those of
    [`reference.verify`][jaxgames.energy.reference.verify]; without a strategy, credits
    are checked with strategies made for them.
    """
    game = game_of(arena)
    validity.check_answer("credit", credit, arena.owner.shape, wide=True)
    if strategy is not None:
        validity.check_answer("strategy", strategy, arena.owner.shape)
    size, (most, _) = len(game.owner), largest_credit(arena, capacity)
    both, whole = capacity is None, game
    exact = game.weight.dtype == object and largest(np.asarray(credit)) >= LARGEST
    # With weights of 64 bits no credit is more than that, and what is less is wrong.
    credit = np.asarray(credit)[:size]
    credit = credit if exact else np.clip(credit, TOP - 1, LARGEST).astype(np.int64)
    largest_there = largest(credit)
    # What is more than all credits need not be told apart, and sums fit.
    game = within_range(game, -largest_there - 1, largest_there + 1)
    if game.weight.dtype == object and not exact:
        game = game._replace(
            weight=game.weight.astype(np.int64),
            in_weight=game.in_weight.astype(np.int64),
        )
    with interpreted() if exact else contextlib.nullcontext():
        reason, vertex = _credits(
            whole, game, credit, most if exact else min(most, LARGEST - 1), both
        )
        if reason == Reason.OK:
            if strategy is None:
                strategy = strategies(whole, most, credit, None, both=both)
            moves = np.asarray(strategy)[:size].astype(np.int64)
            reason, vertex = _moves(game, credit, moves, both)
            if reason == Reason.OK and both:
                reason, vertex = _lost(whole, credit, moves)
    return Verdict.at(Reason(reason), vertex)


def _credits(whole: Game, game: Game, credit: np.ndarray, most: int, forced: bool):
    """Whether credits are a least measure on the vertices that have one."""
    for reason, wrong in (
        (Reason.UNDECIDED, credit < TOP),
        (Reason.CREDIT_TOO_LARGE, credit > most),
    ):
        if wrong.any():
            return reason, int(np.argmax(wrong))
    small = int(_too_small(game, credit))
    if small >= 0:
        return Reason.CREDIT_TOO_SMALL, small
    if forced:
        large = (credit > 0) & ~_forced(game, credit)
    else:
        large = credit != credits(within_range(whole, -most - 1, most + 1), most)
    if large.any():
        return Reason.CREDIT_TOO_LARGE, int(np.argmax(large))
    return Reason.OK, -1


@linear
def _too_small(game, credit):
    """The first vertex whose credit is less than what its edges ask for, or -1."""
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    for v in range(len(credit)):
        if credit[v] == TOP:
            continue
        enough = game.owner[v]
        for e in range(row_ptr[v], row_ptr[v + 1]):
            target = credit[dst[e]]
            if (target != TOP and credit[v] >= target - weight[e]) != enough:
                enough = not enough
                break
        if not enough:
            return v
    return -1


@linear
def _forced(game, credit):
    """From where player 1 leads every play to a credit of 0, edge by tight edge.

    An edge is tight if it takes what it asks for and no more. Player 0 may leave the
    way by another edge only by losing for good some of what he has.
    """
    size = len(credit)
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    in_ptr, in_src, in_weight = game.in_ptr, game.in_src, game.in_weight
    forced, ways = np.zeros(size, np.bool_), np.zeros(size, np.int32)
    queue, count = np.empty(size, np.int32), 0
    for v in range(size):
        if credit[v] > 0 and not game.owner[v]:
            for e in range(row_ptr[v], row_ptr[v + 1]):
                target = credit[dst[e]]
                ways[v] += target != TOP and target - weight[e] <= credit[v]
        if credit[v] == 0:
            forced[v] = True
            queue[count] = v
            count += 1
    index = 0
    while index < count:
        v = queue[index]
        index += 1
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_src[k]
            if forced[u] or credit[u] == TOP or credit[v] - in_weight[k] != credit[u]:
                continue
            ways[u] -= 1
            if game.owner[u] or ways[u] == 0:
                forced[u] = True
                queue[count] = u
                count += 1
    return forced


def _moves(game: Game, credit: np.ndarray, moves: np.ndarray, both: bool):
    """Whether strategies are where they should be, and player 0's keeps to credits."""
    lost = credit == TOP
    wins = (lost == game.owner) & (both | ~lost)
    along = (moves >= game.row_ptr[:-1]) & (moves < game.row_ptr[1:])
    edge = np.where(along, moves, 0)
    target = credit[game.dst[edge]]
    for reason, wrong in (
        (Reason.STRATEGY_MISSING, wins & (moves == NO_EDGE)),
        (Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, wins & ~along),
        (Reason.STRATEGY_OF_LOSER, ~wins & (moves != NO_EDGE)),
        (Reason.STRATEGY_LEAVES_REGION, wins & lost & (target != TOP)),
        (
            Reason.STRATEGY_NEEDS_MORE_CREDIT,
            wins & ~lost & ((target == TOP) | (target - game.weight[edge] > credit)),
        ),
    ):
        if wrong.any():
            return reason, int(np.argmax(wrong))
    return Reason.OK, -1


def _lost(game: Game, credit, moves) -> tuple[int, int]:
    """Whether player 1 wins where the credit is TOP, by his strategy."""
    lost = credit == TOP
    if not lost.any():
        return Reason.OK, -1
    size = len(lost)
    src = np.repeat(np.arange(size, dtype=np.int32), np.diff(game.row_ptr))
    escapes = lost[src] & ~lost[game.dst] & ~game.owner[src]
    if escapes.any():
        return Reason.OPPONENT_ESCAPES, int(src[np.argmax(escapes)])
    # What player 1 does not take is as if it were not there.
    taken = ~game.owner[src] | (moves[src] == np.arange(len(src)))
    edge = np.flatnonzero(lost[src] & taken)
    row_ptr = np.searchsorted(src[edge], np.arange(size + 1)).astype(np.int32)
    dst, weight = game.dst[edge], game.weight[edge]
    left = Game(row_ptr, dst, weight, game.owner, *turned(row_ptr, dst, weight))
    need, endless, _ = potentials(left, 0, within=lost, dual=True)
    assert need is not None  # nobody stops it
    wrong = endless & lost
    if not wrong.any():
        # What was found proves itself: it falls along every edge, and has an end.
        if need.dtype != object and (size + 1) * largest(weight) >= LARGEST:
            need = need.astype(object)
        fall = need[src[edge]] - need[dst] - (size + 1) * weight.astype(need.dtype)
        wrong[src[edge][(fall < 1) | (need[dst] < 0)]] = True
    if wrong.any():
        return Reason.CYCLE_WON_BY_OPPONENT, int(np.argmax(wrong))
    return Reason.OK, -1

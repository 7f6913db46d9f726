"""The textbook: credits that rise from zero until no edge asks for more.

Plain NumPy, to read, and to compare the engines with: as many rounds as the credits are
large, each over all edges.
"""

from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.energy import _bounds
from jaxgames.energy._bounds import check_capacity, largest_credit
from jaxgames.energy._solution import TOP, Solution
from jaxgames.energy._verdict import Verdict
from jaxgames.solution import NO_EDGE, Stats, Status


def solve(
    arena: Arena, *, capacity: int | None = None, strategies: bool = True
) -> Solution:
    """The least credit of each vertex of an energy game, and strategies.

    Value iteration [1]: an edge of weight `w` to a vertex of credit `f` asks for the
    larger of 0 and `f - w`; player 0 takes the edge that asks for least, player 1 the
    one that asks for most; and what is more than any credit is TOP. O(V M) rounds of
    O(E) time where no credit is more than M.

    Player 0 takes the first edge that asks for no more than his credit. Player 1 wins
    where no credit is enough. There he is the keeper of another energy, of which an
    edge takes `(V + 1) w + 1`, so that he keeps it just on cycles on which the energy
    falls; and takes the first edge that asks for no more than the least credits of that
    game.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor. Weights may be Python's integers (an array of objects).
        capacity: energy above it is lost, as
            [`solve_with_capacity`][jaxgames.energy.solve_with_capacity] says; then only
            player 0 has a strategy. None: there is no such limit.
        strategies: whether strategies are wanted.

    Returns:
        Credits, winners and strategies of both players.

    Raises:
        ValueError: the arena is no such game, or the capacity is wrong.

    References:
        [1] Brim, Chaloupka, Doyen, Gentilini and Raskin, Faster algorithms for
        mean-payoff games, FMSD 38 (2011), doi:10.1007/s10703-010-0105-x.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], weight=[-3, 1, 2, -1]
        ... )
        >>> solve(arena).credit
        array([-1, -1, -1], dtype=int32)
        >>> richer = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], weight=[-3, 1, 3, -1]
        ... )
        >>> solve(richer).credit
        array([ 3,  0, -1], dtype=int32)
    """
    _bounds.check(arena, wide=True)
    if capacity is not None:
        check_capacity(capacity)
    most, kind = largest_credit(arena, capacity)
    shape, arena = arena.shape, arena.unpad()
    owner, factor = np.asarray(arena.owner), len(arena.owner) + 1
    # What is more than all credits need not be told apart.
    weight = np.clip(np.asarray(arena.weight).astype(object), -most - 1, most + 1)
    largest = factor * (factor * np.abs(weight).max(initial=0) + 1)
    weight = weight.astype(object if largest >= 2**62 else np.int64)
    credit = _least(arena, -weight, owner, np.ones(len(owner), bool), most)
    lost = credit > most
    move = None
    if strategies:
        keeps = ~lost[arena.dst] & (credit[arena.src] >= credit[arena.dst] - weight)
        move = _first(arena, keeps, ~owner & ~lost)
        if capacity is None:
            cost = factor * weight + 1
            need = _least(arena, cost, ~owner, lost, largest)
            keeps = lost[arena.dst] & (need[arena.src] >= need[arena.dst] + cost)
            move = np.maximum(move, _first(arena, keeps, owner & lost))
    more = (0, shape[0] - len(owner))
    return Solution(
        credit=np.pad(np.where(lost, TOP, credit), more).astype(kind),
        winner=np.pad(lost, more).astype(np.int8),
        strategy=None if move is None else np.pad(move, more, constant_values=NO_EDGE),
        status=Status.SOLVED,
        stats=Stats(solver="reference"),
    )


def verify(
    arena: Arena, credit: Any, strategy: Any = None, *, capacity: int | None = None
) -> Verdict:
    """Checks credits and strategies of an energy game by solving it.

    Credits are right if `solve` finds the same; and a player's strategy if it does so
    too, where he wins, in the game that leaves him no other edges.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor.
        credit: integers of the arena's length: the least credit, TOP where none is
            enough. Those of the padding do not matter.
        strategy: integers likewise: the edge to take at each vertex whose owner wins,
            -1 at all others. None: only credits are checked.
        capacity: as for [`solve`][jaxgames.energy.reference.solve].

    Returns:
        True if all is right, else the first of the reasons and the first vertex where
        it shows: [`Verdict`][jaxgames.energy.Verdict].

    Raises:
        ValueError: the arena is no such game, or an array is not of its shape.

    Examples:
        >>> from jaxgames import Arena
        >>> from jaxgames.energy import reference
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], weight=[-1, -2, 2]
        ... )
        >>> solution = reference.solve(arena)
        >>> print(reference.verify(arena, solution.credit, solution.strategy))
        valid
        >>> print(reference.verify(arena, [3, 0]))
        vertex 0: player 0 needs less than its credit
    """
    right = solve(arena, capacity=capacity, strategies=False)
    validity.check_answer("credit", credit, arena.owner.shape, wide=True)
    if strategy is not None:
        validity.check_answer("strategy", strategy, arena.owner.shape)
    arena = arena.unpad()
    size, owner = len(arena.owner), np.asarray(arena.owner)
    least, credit = right.credit[:size], np.asarray(credit)[:size]
    lost, given_up, none = least == TOP, credit == TOP, np.zeros(size, bool)
    wrong = [
        credit < TOP,
        none,
        ~given_up & (lost | (credit < least)),
        ~lost & (given_up | (credit > least)),
    ]
    if strategy is None or np.any(wrong):
        return Verdict.first_of(*wrong, *[none] * 7)
    move = np.asarray(strategy)[:size]
    wins = (lost == owner) & (~lost if capacity is not None else True)
    along = (move >= arena.row_ptr[:-1]) & (move < arena.row_ptr[1:])
    target = np.asarray(arena.dst)[np.where(along, move, 0)]
    wrong += [wins & (move == NO_EDGE), wins & ~along, ~wins & (move != NO_EDGE)]
    wrong += [wins & lost & ~lost[target], none]
    if np.any(wrong):
        return Verdict.first_of(*wrong, none, none)
    for player in (0, 1):
        fixed = (wins & (owner == player))[arena.src]
        keep = ~fixed | (move[arena.src] == np.arange(len(arena.src)))
        game = Arena.from_edges(
            *(x[keep] for x in (arena.src, arena.dst)),
            owner=owner,
            weight=arena.weight[keep],
        )
        found = solve(game, capacity=capacity, strategies=False).credit
        wrong.append((lost == player) & (found != least))
    return Verdict.first_of(*wrong)


def _least(arena: Arena, cost, maximises, there, most: int) -> np.ndarray:
    """The least `f >= 0` with `f(v) = max(0, f(u) + cost)` for the edge that v takes.

    Args:
        arena: the game.
        cost: integers `[E]`.
        maximises: bool `[V]`: who takes the edge that asks for most; others for least.
        there: bool `[V]`: the vertices that there are; at others `f` is too large.
        most: what is larger is `most + 1`.
    """
    value = np.where(there, 0, most + 1).astype(cost.dtype)
    while True:
        ahead = value[arena.dst]
        asked = np.where(ahead > most, most + 1, np.clip(ahead + cost, 0, most + 1))
        lifted = np.where(
            maximises,
            np.maximum.reduceat(asked, arena.row_ptr[:-1]),
            np.minimum.reduceat(asked, arena.row_ptr[:-1]),
        )
        lifted = np.where(there, lifted, most + 1)
        if (lifted == value).all():
            return value
        value = lifted


def _first(arena: Arena, edges: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The first of some edges (bool `[E]`) of each own vertex; -1 elsewhere."""
    found = np.full(len(own), NO_EDGE, np.int32)
    for e in np.flatnonzero(edges & own[arena.src])[::-1]:
        found[arena.src[e]] = e
    return found

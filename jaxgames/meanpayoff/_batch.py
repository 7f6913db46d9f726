"""Many mean-payoff games at once: side by side, each a part of its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.meanpayoff import _rationals
from jaxgames.meanpayoff._search import Standing
from jaxgames.meanpayoff._solution import Solution
from jaxgames.solution import NO_EDGE, Stats, Status
from jaxgames.tuning.energy import MOST_EDGES

MOST_CREDIT = 1 << 60
"""Games are put side by side as long as their credits cannot sum up to more."""


def solve(
    problem: drive.Problem, arenas: list[Arena], solver, *, state, strategies, **how
) -> tuple[list[Solution], Any]:
    """The values of all games, and a state to go on from."""
    plain = [arena.unpad() for arena in arenas]
    groups = list(_groups(plain))
    states = drive.states_of(groups, state)
    how |= {"strategies": strategies, "throw": False}
    found: list[Any] = [None] * len(arenas)
    for at, members in enumerate(groups):
        some = [plain[index] for index in members]
        whole, first = drive.union(some)
        begin = _beginning(some) if states[at] is None else states[at]
        one = drive.solve(problem, whole, solver, state=begin, **how)
        states[at] = one.state
        for index, start in zip(members, first, strict=False):
            found[index] = _part(arenas[index], plain[index], one, start)
    for index, arena in enumerate(arenas):
        if found[index] is None:  # it has no vertices
            found[index] = drive.solve(problem, arena, solver, strategies=strategies)
    return found, tuple(states)


def _groups(arenas: list[Arena]) -> Iterator[list[int]]:
    """Games to put side by side: as many as numbers and memory hold."""
    there = [index for index, arena in enumerate(arenas) if len(arena.owner)]
    kinds = drive.grouped(_number_type(arenas[index]) for index in there)
    for places in kinds.values():
        members: list[int] = []
        edges = vertices = widest = 0
        for index in map(there.__getitem__, places):
            size, more = arenas[index].shape
            # No weight of a question is more than twice a weight times a denominator,
            # which is at most the number of vertices of that game.
            width = 2 * (_width(arenas[index]) + 1) * size
            widest = max(widest, width)
            edges, vertices = edges + more, vertices + size
            most = widest * vertices
            if members and (edges > MOST_EDGES or most > MOST_CREDIT):
                yield members
                members, edges, vertices, widest = [], more, size, width
            members.append(index)
        yield members


def _number_type(arena: Arena) -> Any:
    """What ends of intervals are: Python's integers are slow."""
    return _rationals.number_type(_width(arena), arena.shape[0])


def _width(arena: Arena) -> int:
    return max(int(arena.weight.max()), -int(arena.weight.min()))


def _beginning(arenas: list[Arena]) -> Standing:
    """A part for each game, and the range of its weights."""
    longest = max(arena.shape[0] for arena in arenas)
    kind = _rationals.number_type(max(map(_width, arenas)), longest)
    one = np.ones(len(arenas), kind)
    sizes = [arena.shape[0] for arena in arenas]
    return Standing(
        part=np.repeat(np.arange(len(arenas)), sizes),
        low=(np.array([int(arena.weight.min()) for arena in arenas], kind), one),
        high=(np.array([int(arena.weight.max()) for arena in arenas], kind), one),
        falls=np.zeros(len(arenas), np.int64),
    )


def _part(whole: Arena, arena: Arena, found: Solution, first: np.ndarray) -> Solution:
    """The solution of one game, with its padding, from that of all."""
    size, slots = len(arena.owner), len(whole.owner)
    own = slice(first[0], first[0] + size)
    exact = _rationals.shortest(found.value_num[own])
    num, den = np.zeros(slots, exact.dtype), np.ones(slots, np.int64)
    num[:size], den[:size] = exact, found.value_den[own]
    strategy = None
    if found.strategy is not None:
        moves = found.strategy[own]
        strategy = np.full(slots, NO_EDGE, np.int32)
        strategy[:size] = np.where(moves == NO_EDGE, NO_EDGE, moves - first[1])
    known = den[:size] > 0
    # No numerator is more than a weight for each vertex of a cycle.
    kind = np.int32 if _width(arena) * size < 2**31 else num.dtype
    status = Status(int(found.status))
    values = {*zip(num[:size][known].tolist(), den[:size][known].tolist(), strict=True)}
    facts: dict[str, Any] = {**found.stats, "values": len(values)}
    return Solution(
        value_num=num.astype(kind),
        value_den=den if num.dtype == object else den.astype(kind),
        strategy=strategy,
        status=status,
        stats=Stats(**facts),
    )

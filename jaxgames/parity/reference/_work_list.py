"""Work lists: vertices that wait to be lifted, in the order of a lifting strategy."""

import heapq
from typing import Literal, NamedTuple, get_args

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.reference._game import NOBODY

Lifting = Literal["queue", "stack", "random"]

QUEUE, STACK, RANDOM = range(len(get_args(Lifting)))

LEHMER = 2**31 - 1
"""Modulus of Park and Miller's random numbers, doi:10.1145/63039.63042."""


class WorkList(NamedTuple):
    """Vertices that wait.

    Single occurrences in a queue or a stack stand in a line, linked both ways; the
    number of vertices marks both its ends. Several occurrences are kept in lists.
    """

    order: int  # QUEUE, STACK or RANDOM
    single: bool  # whether a vertex waits at most once
    waits: np.ndarray  # whether the vertex is in the work list
    before: np.ndarray
    after: np.ndarray
    came: list  # the latest comers, in order
    first: list  # those who came before them, the first one last
    drawn: list  # heap of pairs: a random number and a vertex
    random: np.ndarray  # the last random number


@compiled
def work_list(inside, order, single, seed):
    """A work list in which the vertices `inside` wait."""
    size = len(inside)
    work = WorkList(
        order,
        single,
        np.zeros(size, np.bool_),
        np.full(size + 1, size, np.int32),
        np.full(size + 1, size, np.int32),
        [v for v in range(0)],
        [v for v in range(0)],
        [(v, v) for v in range(0)],
        np.array([seed % (LEHMER - 1) + 1]),
    )
    for v in range(size):
        if inside[v]:
            enqueue(work, v)
    return work


@compiled
def enqueue(work, v):
    if work.single and work.waits[v]:
        if work.order != STACK:
            return
        _leave(work, v)
    work.waits[v] = True
    if work.order == RANDOM:
        work.random[0] = work.random[0] * 48271 % LEHMER
        heapq.heappush(work.drawn, (work.random[0], np.int64(v)))
    elif work.single:
        end = len(work.waits)
        last = work.before[end]
        work.after[last], work.before[v] = v, last
        work.after[v], work.before[end] = end, v
    else:
        work.came.append(v)


@compiled
def dequeue(work):
    """Takes out the next vertex, or NOBODY."""
    v = NOBODY
    if work.order == RANDOM:
        if len(work.drawn) > 0:
            v = heapq.heappop(work.drawn)[1]
    elif work.single:
        end = len(work.waits)
        v = work.before[end] if work.order == STACK else work.after[end]
        if v == end:
            return NOBODY
        _leave(work, v)
    elif work.order == STACK:
        if len(work.came) > 0:
            v = work.came.pop()
    else:
        if len(work.first) == 0:
            while len(work.came) > 0:
                work.first.append(work.came.pop())
        if len(work.first) > 0:
            v = work.first.pop()
    if v != NOBODY:
        work.waits[v] = False
    return v


@compiled
def _leave(work, v):
    work.after[work.before[v]] = work.after[v]
    work.before[work.after[v]] = work.before[v]

"""What is found of a concrete graph, and looks at its edges."""

import numpy as np

from jaxgames import drive
from jaxgames.arena import Arena, copied_within, numbered, pays
from jaxgames.buchi._solution import AcceptingCycle, Lasso
from jaxgames.buchi.host._nested_dfs import NO_CYCLE, STOPPED
from jaxgames.buchi.host._search import check_lasso, lasso_through, search
from jaxgames.graph import as_arena
from jaxgames.host import compiled, linear, on_all_cores, on_ranges, ranges_of
from jaxgames.solution import Stats, Status

NAME = "host"


def find(
    arena: Arena,
    accepting: np.ndarray,
    starts: np.ndarray,
    vertices: np.ndarray | None = None,
    track: drive.Track | None = None,
    *,
    lasso: bool = True,
) -> AcceptingCycle:
    """Looks for an accepting cycle by Tarjan's search; compiled where numba is.

    Accepting vertices are bool `[V]`, starts int32 `[K]`. Of `vertices`, bool `[V]`,
    None stands for all. If no lasso is wanted, it is only said where one is.
    """
    stop = None if track is None else track.stop
    witness = search(arena, accepting, starts, vertices=vertices, stop=stop)
    shown = None
    exists = witness not in (NO_CYCLE, STOPPED)
    if lasso and exists:
        shown = lasso_through(arena, starts, witness, vertices)
    stopped = witness == STOPPED
    return AcceptingCycle(
        status=Status.INTERRUPTED if stopped else Status.SOLVED,
        exists=np.bool_(exists),
        decided=np.bool_(not stopped),
        witness=np.int32(witness if exists else -1),
        lasso=shown,
        stats=Stats(solver=NAME),
    )


def checked(
    arena: Arena, lasso: Lasso, accepting: np.ndarray, starts: np.ndarray
) -> Lasso:
    """The lasso, with every edge looked up in the graph once more.

    Raises:
        AssertionError: it is none; then a solver is wrong.
    """
    fault, vertex = check_lasso(arena, lasso, accepting, starts)
    assert not fault, f"{fault} at vertex {vertex}: {lasso!r}"
    return lasso


def inside_components(arena: Arena, labels: np.ndarray) -> np.ndarray:
    """The vertices with an edge inside their component, so on a cycle: bool `[V]`.

    Args:
        arena: the graph.
        labels: int32 `[V]`, -1 for a vertex that is not there.
    """
    return _inside(np.asarray(arena.row_ptr), np.asarray(arena.dst), labels)


def inside_parts(arena: Arena, part: np.ndarray) -> tuple[Arena, np.ndarray]:
    """The vertices of parts alone, and the edges between two of one part.

    Args:
        arena: the graph, without padding.
        part: int32 `[V]`, 0 for a vertex that is not there.

    Returns:
        The graph, its vertices in their order; and the old number of each: int32 `[N]`.
    """
    there = part > 0
    vertices = np.flatnonzero(there).astype(np.int32)
    row_ptr, tail, head = map(np.asarray, (arena.row_ptr, arena.src, arena.dst))
    keep = there[tail] & (part[tail] == part[head])
    if keep.all() and there.all():
        return arena, vertices
    before = np.append(0, np.cumsum(keep, dtype=np.int32)).astype(np.int32)
    offsets = np.append(before[row_ptr[vertices]], before[-1])
    place = np.cumsum(there, dtype=np.int32) - 1
    return as_arena((offsets, place[head[keep]])), vertices


def narrowed(state: np.ndarray, states: int) -> np.ndarray | None:
    """A copy of the states of vertices, int8 or int16 `[V]`.

    None if a vertex, of integers `[V]`, is in no state from 0 to Q - 1.
    """
    kind = np.int8 if states <= np.iinfo(np.int8).max else np.int16
    return copied_within(state, 0, states - 1, kind)


def counted(
    arena: Arena, accepting: np.ndarray, state: np.ndarray, allowed: np.ndarray
) -> np.ndarray | None:
    """How many vertices of each kind each state has. O(V + E).

    Args:
        arena: the graph, without padding.
        accepting: bool `[V]`.
        state: integers `[V]`, from 0 to Q - 1.
        allowed: bool `[Q, Q]`, the edges between states.

    Returns:
        Integers `[Q, 4]`: rejecting vertices that have successors, and that have none;
        then accepting ones likewise. None if an edge is between states that have none.
    """
    row_ptr, dst = np.asarray(arena.row_ptr), np.asarray(arena.dst)
    size, states = len(state), len(allowed)
    free = allowed.all(axis=1)  # what leads from there need not be looked at
    work = size if free.all() else max(size, len(dst))
    if not pays(work):
        place = (state.astype(np.int32) * 2 + accepting) * 2 + (np.diff(row_ptr) == 0)
        counts = np.bincount(place, minlength=4 * states).reshape(-1, 4)
        return None if stray_edge(arena, state, allowed) >= 0 else counts
    ranges = numbered(ranges_of(size, work=work))
    counts = np.zeros((len(ranges), TABLES * states * 4 + LINE), np.int32)
    stray = np.zeros(1, np.bool_)
    given = row_ptr, dst, accepting, state, allowed, free
    on_ranges(_look, ranges, *given, counts, stray)
    return None if stray[0] else counts[:, :-LINE].reshape(-1, states, 4).sum(0)


TABLES = 4
"""Tables, a power of two, that a core counts in by turns: to count one more in a place
takes longer than to read what comes next, and the next place is often the same."""

LINE = 32
"""Entries that keep what two cores write to out of one line of the cache."""


def stray_edge(arena: Arena, state: np.ndarray, allowed: np.ndarray) -> int:
    """The first edge between two states that have none, or -1.

    States are integers `[V]`, the edges allowed between them bool `[Q, Q]`.
    """
    if allowed.all():
        return -1
    kept = allowed[state[np.asarray(arena.src)], state[np.asarray(arena.dst)]]
    return -1 if kept.all() else int(np.argmin(kept))


def quotient(arena: Arena, part: np.ndarray, count: int) -> np.ndarray:
    """Which parts edges lead to from each part: bool `[count, count]`."""
    leads = np.zeros((count, count), bool)
    rows, dst = np.asarray(arena.row_ptr), np.asarray(arena.dst)
    on_all_cores(_quotient, len(part), rows, dst, part, leads, work=len(dst))
    return leads


def ends(arena: Arena, edge: int) -> tuple[int, int]:
    """Where an edge begins and ends."""
    return int(np.asarray(arena.src)[edge]), int(np.asarray(arena.dst)[edge])


@linear
def _inside(row_ptr, dst, labels):
    found = np.zeros(len(labels), np.bool_)
    for v in range(len(labels)):
        for e in range(row_ptr[v], row_ptr[v + 1]):
            if labels[v] >= 0 and labels[dst[e]] == labels[v]:
                found[v] = True
                break
    return found


@compiled
def _look(
    row_ptr, dst, accepting, state, allowed, free, counts, stray, number, begin, end
):
    """Counts vertices; looks at the edges from states that are not free."""
    room = len(free) * 4
    for v in range(max(begin, 0), end):
        own, first, last = np.int64(state[v]), row_ptr[v], row_ptr[v + 1]
        place = (v & (TABLES - 1)) * room + own * 4 + np.int64(accepting[v]) * 2
        if first == last:
            counts[number, place + 1] += 1
        else:
            counts[number, place] += 1
            if not free[own]:
                for e in range(first, last):
                    if not allowed[own, state[dst[e]]]:
                        stray[0] = True
                        return


@linear
def _quotient(row_ptr, dst, part, leads, begin, end):
    for v in range(max(begin, 0), end):
        for e in range(row_ptr[v], row_ptr[v + 1]):
            leads[part[v], part[dst[e]]] = True

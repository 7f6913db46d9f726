"""What is found of a concrete graph, and looks at its edges."""

import numpy as np

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.buchi._solution import AcceptingCycle, Lasso
from jaxgames.buchi.host._nested_dfs import NO_CYCLE, STOPPED
from jaxgames.buchi.host._search import check_lasso, lasso_through, search
from jaxgames.graph import as_arena
from jaxgames.host import linear, on_all_cores
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


def stray_edge(arena: Arena, state: np.ndarray, allowed: np.ndarray) -> int:
    """The first edge between two states that have none, or -1.

    States are int32 `[V]`, the edges allowed between them bool `[Q, Q]`.
    """
    found, dst = np.zeros(1, np.bool_), np.asarray(arena.dst)
    rows = np.asarray(arena.row_ptr)
    given = rows, dst, state, allowed, found
    on_all_cores(_find_stray, len(state), *given, work=len(dst))
    if not found[0]:
        return -1
    return int(np.argmin(allowed[state[np.asarray(arena.src)], state[dst]]))


def quotient(arena: Arena, part: np.ndarray, count: int) -> np.ndarray:
    """Which parts edges lead to from each part: bool `[count, count]`."""
    leads = np.zeros((count, count), bool)
    rows, dst = np.asarray(arena.row_ptr), np.asarray(arena.dst)
    on_all_cores(_quotient, len(part), rows, dst, part, leads, work=len(dst))
    return leads


def met(place: np.ndarray, where: np.ndarray, count: int) -> np.ndarray:
    """The places, int32 `[V]` from 0, of some vertices, bool `[V]`: bool `[count]`."""
    found = np.zeros(count, np.bool_)
    on_all_cores(_meet, len(place), place, where, found)
    return found


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


@linear
def _find_stray(row_ptr, dst, state, allowed, found, begin, end):
    for v in range(max(begin, 0), end):
        for e in range(row_ptr[v], row_ptr[v + 1]):
            if not allowed[state[v], state[dst[e]]]:
                found[0] = True
                return


@linear
def _quotient(row_ptr, dst, part, leads, begin, end):
    for v in range(max(begin, 0), end):
        for e in range(row_ptr[v], row_ptr[v + 1]):
            leads[part[v], part[dst[e]]] = True


@linear
def _meet(place, where, found, begin, end):
    for v in range(max(begin, 0), end):
        if where[v] and not found[place[v]]:
            found[place[v]] = True

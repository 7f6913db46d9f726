"""Stacks: arenas of one size along a new axis, from lists of concrete ones (host)."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from jaxgames.arena import LABELS, ON_EDGES, Arena, bucket
from jaxgames.tuning.drive import FEW_CELLS, STEP


def buckets(arenas: Sequence[Arena]) -> dict[tuple, list[int]]:
    """Groups arenas that may share a stack.

    Returns:
        The indices of each group, by the padded numbers of vertices and edges and the
        labels; in the order of their first arenas.
    """
    return grouped(map(size_of, arenas))


def grouped(keys: Iterable[Any]) -> dict[Any, list[int]]:
    """The places of each key, in the order of the first ones."""
    groups: dict[Any, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(key, []).append(index)
    return groups


def states_of(groups: Sequence[Any], state: Any) -> list[Any]:
    """Where each group goes on: None at the beginning.

    Raises:
        ValueError: the state is that of other games.
    """
    states = [None] * len(groups) if state is None else list(state)
    if len(states) != len(groups):
        raise ValueError(
            f"state is of {len(states)} stacks, and the arenas make {len(groups)}"
        )
    return states


def size_of(arena: Arena) -> tuple:
    """What an arena is padded to in a stack: vertices and edges; and its labels."""
    priority, on_edges = arena.priority, arena.edge_priority
    weight, accepting = arena.weight, arena.accepting
    return (
        *_padded(len(arena.owner), len(arena.dst)),
        None if priority is None else priority.dtype,
        None if on_edges is None else on_edges.dtype,
        None if weight is None else (weight.dtype, weight.shape[1:]),
        None if accepting is None else accepting.dtype,
    )


@functools.lru_cache(maxsize=1 << 12)
def _padded(vertices: int, edges: int) -> tuple[int, int]:
    more = num_edges = bucket(vertices + 1)
    while num_edges < edges + more - vertices:
        num_edges *= STEP
    return more, num_edges


def joined(one: tuple, other: tuple) -> tuple | None:
    """A size that arenas of two sizes can be padded to; None where labels differ."""
    if one[2:] != other[2:]:
        return None
    small, large = sorted((one[:2], other[:2]))
    vertices = edges = large[0]
    while edges < max(large[1], small[1] + large[0] - small[0]):
        edges *= STEP
    return (vertices, edges, *one[2:])


def merged(
    groups: dict[Any, list[int]], join: Callable[[Any, Any], Any]
) -> dict[Any, list[int]]:
    """Fewer groups: one of few cells joins the next larger one that takes it in.

    Groups are indices by what they have in common: something, and a size. The size that
    two have in common `join` says, or None.
    """
    left = sorted(groups.items(), key=lambda group: _cells(group[0][1]))
    found: dict[Any, list[int]] = {}
    while left:
        (kind, size), members = left.pop(0)
        for at, ((other, larger), more) in enumerate(left):
            common = join(size, larger) if kind == other else None
            if common is not None and len(members) * _cells(common) <= FEW_CELLS:
                left[at] = (kind, common), sorted([*members, *more])
                break
        else:
            found.setdefault((kind, size), []).extend(members)
    return found


def _cells(size: Any) -> int:
    return sum(x for x in size if isinstance(x, int))


def stack(
    arenas: Sequence[Arena],
    num_vertices: int | None = None,
    num_edges: int | None = None,
) -> Arena:
    """Pads concrete arenas to one size and stacks them.

    Args:
        arenas: at least one; all with the same labels.
        num_vertices: vertices of each; None: the next common size.
        num_edges: edges of each; None: the next common size.

    Returns:
        An arena whose arrays have one axis more in front. Each game is as
        [`Arena.pad`][jaxgames.Arena.pad] makes it.

    Raises:
        ValueError: there is no arena, one is too large, or labels differ.

    Examples:
        >>> loop = Arena.from_edges([0], [0], owner=[1], priority=[1])
        >>> pair = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[3, 2])
        >>> stack([loop, pair]).priority.shape
        (2, 8)
    """
    if not arenas:
        raise ValueError("a stack needs at least one arena")
    shapes = np.array([(len(x.owner), len(x.dst)) for x in arenas], np.int32)
    more = shapes[:, 0].max() + 1 if num_vertices is None else num_vertices
    size = bucket(int(more)) if num_vertices is None else num_vertices
    loops = size - shapes[:, 0]
    if num_edges is None:
        num_edges = bucket(int((shapes[:, 1] + loops).max()))
    spare = num_edges - shapes[:, 1]
    wrong = np.flatnonzero((loops < 0) | (spare < loops) | ((spare > 0) & (loops == 0)))
    if len(wrong):
        raise ValueError(
            f"game {wrong[0]} has {tuple(shapes[wrong[0]].tolist())} vertices and edges"
            f", and cannot be padded to {(size, num_edges)}"
        )
    vertices, edges = _Places(shapes[:, 0], size), _Places(shapes[:, 1], num_edges)
    own, edge = np.arange(size, dtype=np.int32), np.arange(num_edges, dtype=np.int32)
    last = own - shapes[:, :1]
    end = np.where(last == loops[:, None] - 1, num_edges, shapes[:, 1:] + last + 1)
    end = vertices.put((arena.row_ptr[1:] for arena in arenas), end.astype(np.int32))
    to_itself = np.minimum(edge - shapes[:, 1:], loops[:, None] - 1) + shapes[:, :1]

    def labels(name: str) -> np.ndarray | None:
        places = edges if name in ON_EDGES else vertices
        values = [getattr(arena, name) for arena in arenas]
        there = [x is not None for x in values]
        if not any(there):
            return None
        if not all(there):
            raise ValueError(f"game {there.index(False)} has no {name}, others have")
        return places.put(values, 0)

    return Arena(
        row_ptr=np.pad(end, ((0, 0), (1, 0))),
        src=edges.put((arena.src for arena in arenas), to_itself),
        dst=edges.put((arena.dst for arena in arenas), to_itself),
        owner=vertices.put((arena.owner for arena in arenas), False),
        **{name: labels(name) for name in LABELS},
        num_vertices=np.array([a.num_vertices for a in arenas], np.int32),
        num_edges=np.array([a.num_edges for a in arenas], np.int32),
    )


class _Places:
    """Where the entries of rows of several lengths go in a table."""

    def __init__(self, lengths: np.ndarray, width: int):
        self._shape = len(lengths), width
        self._same = int(lengths[0]) if np.all(lengths == lengths[0]) else None
        if self._same is None:
            starts = np.arange(len(lengths)) * width
            before = np.cumsum(lengths) - lengths
            self._filled = np.arange(lengths.sum()) + np.repeat(
                starts - before, lengths
            )

    def put(self, rows: Iterable, fill: Any) -> np.ndarray:
        """The table of some rows, filled up with a number or from another table."""
        values = np.concatenate([np.asarray(row) for row in rows])
        more = values.shape[1:]
        table = np.empty((*self._shape, *more), values.dtype)
        if self._same is None:
            table[:] = fill
            table.reshape(-1, *more)[self._filled] = values
        else:
            first = self._same
            table[:, :first] = values.reshape(len(table), first, *more)
            table[:, first:] = fill[:, first:] if np.ndim(fill) else fill
        return table


def filled(rows: Iterable, lengths: np.ndarray, width: int, fill: Any) -> np.ndarray:
    """A table of this width from rows of several lengths, filled up.

    With a number, or from a table of the same shape.
    """
    return _Places(lengths, width).put(rows, fill)

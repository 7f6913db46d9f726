"""The edges of a concrete graph, laid out for the solvers."""

import jax
import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena, bucket
from jaxgames.buchi._trim import Windows
from jaxgames.graph import _links as of_graph
from jaxgames.ops import Links

WINDOW = 1 << 20
"""Edges of a window: about as many as take as long to read as a visit takes anyway."""


def successors(arena: Arena) -> Links:
    """Each vertex points at its successors; kept with the arena."""
    kept = _kept(arena)
    if "out" not in kept:
        row_ptr, dst = _padded(arena)
        size = len(row_ptr) - 1
        kept["out"] = ops.links(row_ptr, dst, size, ops.current_spread())
    return kept["out"]


def predecessors(arena: Arena) -> Links:
    """Each vertex points at its predecessors; kept with the arena."""
    kept = _kept(arena)
    if "into" not in kept:
        row_ptr, dst = _padded(arena)
        size = len(row_ptr) - 1
        back = ops.transpose(row_ptr, dst, size)
        kept["into"] = ops.links(*back, size, ops.current_spread())
    return kept["into"]


def windows(arena: Arena) -> Windows:
    """The edges in windows; kept with the arena.

    Raises:
        ValueError: they would be spread over several devices.
    """
    ops.refuse_spread(
        "solver='trim', which works on one window of the edges after the other,",
        "take map, owcty or scc",
    )
    kept = _kept(arena)
    if "windows" not in kept:
        kept["windows"] = _windows(*_padded(arena))
    return kept["windows"]


def num_rows(arena: Arena) -> int:
    """Vertices that the layouts have."""
    return of_graph.num_rows(*arena.shape, ops.current_spread())


def _kept(arena: Arena) -> dict:
    places = arena.__dict__.setdefault("_accepting_cycle", {})
    place = ops.current_spread() or jax.config.jax_default_device  # pyright: ignore
    return places.setdefault(place, {})


def _padded(arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    row_ptr = np.asarray(arena.row_ptr)
    more = num_rows(arena) - arena.shape[0]
    return np.pad(row_ptr, (0, more), "edge"), np.asarray(arena.dst)


def _windows(row_ptr: np.ndarray, dst: np.ndarray) -> Windows:
    size = len(row_ptr) - 1
    bounds = [0]
    while bounds[-1] < size:
        begin = bounds[-1]
        end = np.searchsorted(row_ptr, row_ptr[begin] + WINDOW, "right") - 1
        bounds.append(min(max(int(end), begin + 1), begin + WINDOW, size))
    first, end = np.array(bounds[:-1], np.int32), np.array(bounds[1:], np.int32)
    sizes = row_ptr[end] - row_ptr[first]
    # The vertices of one window alone are all there are: few sizes of graphs.
    height = size if len(first) == 1 else int((end - first).max())
    room = bucket(int(sizes.max(initial=1)))
    tail = np.full((len(first), room), height, np.int32)
    head = np.full((len(first), room), size, np.int32)
    degree = np.diff(row_ptr)
    for w, (begin, stop) in enumerate(zip(first, end, strict=True)):
        rows = np.arange(stop - begin, dtype=np.int32)
        tail[w, : sizes[w]] = np.repeat(rows, degree[begin:stop])
        head[w, : sizes[w]] = dst[row_ptr[begin] : row_ptr[stop]]
    found = Windows(tail, head, first, end - first, height, size)
    return jax.device_put(found, jax.device_put(np.int8(0)).device)

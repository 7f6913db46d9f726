"""The edges of a concrete graph, laid out for the solvers."""

import jax
import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena
from jaxgames.graph import _links as of_graph
from jaxgames.ops import Links, PairLinks


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


def pairs(arena: Arena) -> PairLinks:
    """Each vertex points at its successors, as a list of pairs; kept with the arena.

    Raises:
        ValueError: they would be spread over several devices.
    """
    ops.refuse_spread(
        "solver='trim', which works on a list of the edges,", "take map, owcty or scc"
    )
    kept = _kept(arena)
    if "pairs" not in kept:
        row_ptr, dst = _padded(arena)
        size = len(row_ptr) - 1
        kept["pairs"] = ops.listed(row_ptr, dst, size)
    return kept["pairs"]


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

"""The edges of a concrete graph, laid out for the solvers."""

import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena
from jaxgames.graph import _links as of_graph
from jaxgames.kept import kept
from jaxgames.later import jax
from jaxgames.ops import Links, PairLinks


def successors(arena: Arena) -> Links:
    """Each vertex points at its successors; kept with the arena."""

    def lay_out() -> Links:
        row_ptr, dst = _padded(arena)
        return ops.links(row_ptr, dst, len(row_ptr) - 1, ops.current_spread())

    return kept(arena, _key("successors"), lay_out)


def predecessors(arena: Arena) -> Links:
    """Each vertex points at its predecessors; kept with the arena."""

    def lay_out() -> Links:
        row_ptr, dst = ops.rows_where_laid_out(*_padded(arena), ops.current_spread())
        size = len(row_ptr) - 1
        back = ops.transpose(row_ptr, dst, size)
        return ops.links(*back, size, ops.current_spread())

    return kept(arena, _key("predecessors"), lay_out)


def pairs(arena: Arena) -> PairLinks:
    """Each vertex points at its successors, as a list of pairs; kept with the arena.

    Raises:
        ValueError: they would be spread over several devices.
    """
    ops.refuse_spread(
        "solver='trim', which works on a list of the edges,", "take map, owcty or scc"
    )

    def lay_out() -> PairLinks:
        row_ptr, dst = _padded(arena)
        return ops.listed(row_ptr, dst, len(row_ptr) - 1)

    return kept(arena, _key("pairs"), lay_out)


def num_rows(arena: Arena) -> int:
    """Vertices that the layouts have."""
    return of_graph.num_rows(*arena.shape, ops.current_spread())


def _key(which: str) -> tuple:
    place = ops.current_spread() or jax.config.jax_default_device  # pyright: ignore
    return "accepting cycle", which, place


def _padded(arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    row_ptr = np.asarray(arena.row_ptr)
    more = num_rows(arena) - arena.shape[0]
    return np.pad(row_ptr, (0, more), "edge"), np.asarray(arena.dst)

"""The edges of a concrete graph, laid out for the solvers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena, bucket
from jaxgames.graph import _links as of_graph
from jaxgames.kept import kept
from jaxgames.later import jax
from jaxgames.ops import Links, PairLinks


def successors(arena: Arena) -> Links:
    """Each vertex points at its successors; kept with the arena."""
    return _kept(arena, "successors", ops.links, ops.current_spread())


def predecessors(arena: Arena) -> Links:
    """Each vertex points at its predecessors; kept with the arena."""
    spread = ops.current_spread()

    def turned(row_ptr: Any, dst: Any, size: int) -> Links:
        rows = ops.rows_where_laid_out(row_ptr, dst, spread)
        return ops.links(*ops.transpose(*rows, size), size, spread)

    return _kept(arena, "predecessors", turned)


def pairs(arena: Arena) -> PairLinks:
    """Each vertex points at its successors, as a list of pairs; kept with the arena.

    Raises:
        ValueError: they would be spread over several devices.
    """
    ops.refuse_spread(
        "solver='trim', which works on a list of the edges,", "take map, owcty or scc"
    )

    def make() -> PairLinks:
        rows = num_rows(arena)
        given = np.asarray(arena.row_ptr), np.asarray(arena.dst)
        return ops.listed(*given, rows, rows)

    return kept(arena, _key("pairs"), make)


def num_rows(arena: Arena) -> int:
    """Vertices that the layouts have: of few numbers, that few programs serve all."""
    spread = ops.current_spread()
    rows = of_graph.num_rows(*arena.shape, spread)
    return bucket(rows) if spread is None else rows


def _kept(arena: Arena, which: str, lay_out: Callable[..., Any], *more: Any) -> Any:
    """What is made of the padded rows, and of their number."""

    def make() -> Any:
        row_ptr, size = np.asarray(arena.row_ptr), num_rows(arena)
        row_ptr = np.pad(row_ptr, (0, size - arena.shape[0]), "edge")
        return lay_out(row_ptr, np.asarray(arena.dst), size, *more)

    return kept(arena, _key(which), make)


def _key(which: str) -> tuple:
    place = ops.current_spread() or jax.config.jax_default_device  # pyright: ignore
    return "accepting cycle", which, place

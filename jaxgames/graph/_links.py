"""A graph as the array programs read it: links in both directions."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jaxgames import fixpoint, host, ops
from jaxgames.arena import Arena, bucket, eager, is_traced
from jaxgames.kept import is_kept, kept
from jaxgames.later import jax, jnp
from jaxgames.ops import EdgeList, Links
from jaxgames.tuning.graph import NARROW
from jaxgames.tuning.ops import LEAST_VERTICES

T = TypeVar("T")


class Directions(NamedTuple):
    """The edges of a graph, from both their ends.

    Attributes:
        out: each vertex points at its successors.
        into: each vertex points at its predecessors.
    """

    out: Links
    into: Links


def check(graph: Directions, vertices: Any, edges: Any) -> None:
    """Checks links made on the device, and masks, which may be traced.

    Raises:
        ValueError: they are not those of a graph; or a mask is not for them.
    """
    sizes = {size for links in graph for size in (links.num_rows, links.num_targets)}
    if len(sizes) != 1:
        raise ValueError(
            "the links of a graph must have a row and a target for each vertex, both "
            f"ways, got {[(x.num_rows, x.num_targets) for x in graph]}"
        )
    if edges is not None:
        raise ValueError("edges are those of an arena: leave links out instead")
    if vertices is not None and np.shape(vertices) != tuple(sizes):
        raise ValueError(
            f"vertices must have one boolean for each vertex ({sizes.pop()}), got "
            f"shape {np.shape(vertices)}"
        )


def prepare(
    arena: Arena, edges: np.ndarray | None = None, spread: ops.Spread | None = None
) -> Directions:
    """Lays a concrete graph out and puts it on the default device, or on a mesh.

    Small graphs are padded to a common size. Where all edges are there, the result is
    kept with the arena: a second call starts at once. Its padding has links as well; of
    `edges`, bool `[E]`, None stands for all.
    """
    if edges is not None:
        return _lay_out(*_kept_rows(arena, edges), spread)
    row_ptr, dst = arena.row_ptr, arena.dst
    return kept(arena, _key(spread), lambda: _lay_out(row_ptr, dst, spread))


def is_prepared(arena: Arena, spread: ops.Spread | None = None) -> bool:
    """Whether `prepare` has laid a concrete graph out."""
    return is_kept(arena, _key(spread))


def _key(spread: ops.Spread | None) -> tuple:
    return "directions", spread or jax.config.jax_default_device  # pyright: ignore


def edge_list(arena: Arena) -> tuple[EdgeList, jax.Array]:
    """What `ops.edge_list` makes of a concrete graph, which keeps it."""
    return kept(arena, _list_key(), lambda: listed(arena))


def listed(arena: Arena) -> tuple[EdgeList, jax.Array]:
    """The same for once."""
    return ops.edge_list(arena.row_ptr, arena.dst)


def is_listed(arena: Arena) -> bool:
    """Whether a graph keeps its list of edges."""
    return is_kept(arena, _list_key())


def _list_key() -> tuple:
    return "edge list", jax.config.jax_default_device  # pyright: ignore


def traced_list(arena: Arena, edges: Any = None) -> tuple[EdgeList, jax.Array]:
    """The same of a traced graph, or of some of its edges, bool `[E]` (pure)."""
    tail, head = jnp.asarray(arena.src), jnp.asarray(arena.dst)
    if edges is not None:
        head = jnp.where(edges, head, tail)  # a loop makes no difference
    count = jnp.asarray(arena.num_edges, jnp.int32)[None]
    real = jnp.arange(arena.shape[0], dtype=jnp.int32) < arena.num_vertices
    degree = jnp.where(real, jnp.diff(jnp.asarray(arena.row_ptr)), -1)
    return EdgeList(tail, head, count), degree


def real_rows(arena: Arena, size: int) -> jax.Array:
    """Which rows of a layout are vertices: bool `[size]`, kept with an arena."""

    def rows() -> jax.Array:
        return jnp.arange(size, dtype=jnp.int32) < arena.num_vertices

    if is_traced(arena):
        return rows()

    def find() -> jax.Array:
        with eager():  # it outlives somebody's jit that may be traced now
            return rows()

    place = ops.current_spread() or jax.config.jax_default_device  # pyright: ignore
    return kept(arena, ("real rows", size, place), find)


def _lay_out(row_ptr: Any, dst: Any, spread) -> Directions:
    size = num_rows(len(row_ptr) - 1, len(dst), spread)
    if size >= len(row_ptr):
        row_ptr = np.pad(row_ptr, (0, size + 1 - len(row_ptr)), "edge")
    row_ptr, dst = ops.rows_where_laid_out(row_ptr, dst, spread)
    back = ops.transpose(row_ptr, dst, size)
    return Directions(
        ops.links(row_ptr, dst, size, spread), ops.links(*back, size, spread)
    )


def num_rows(
    num_vertices: int, num_edges: int, spread: ops.Spread | None = None
) -> int:
    """Rows that a graph of this size has when it is laid out, as many in each share."""
    if spread is not None:
        return -(-num_vertices // spread.shares) * spread.shares
    if num_edges >= ops.SLICE_FROM:
        return num_vertices
    return max(bucket(num_vertices), LEAST_VERTICES)


def _kept_rows(arena: Arena, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    before = np.append(0, np.cumsum(edges, dtype=np.int32)).astype(np.int32)
    return before[np.asarray(arena.row_ptr)], np.asarray(arena.dst)[edges]


def traced(arena: Arena, edges: Any = None) -> Directions:
    """The links of a traced graph, or of some of its edges, bool `[E]` (pure)."""
    size = arena.shape[0]
    src, dst = jnp.asarray(arena.src), jnp.asarray(arena.dst)
    if edges is not None:
        src, dst = jnp.where(edges, src, size), jnp.where(edges, dst, size)
    return Directions(ops.pairs(src, dst, size, size), ops.pairs(dst, src, size, size))


def is_narrow(arena: Arena) -> bool:
    """Whether most vertices have one edge, out or in; kept with the arena."""

    def find() -> bool:
        out = np.diff(np.asarray(arena.row_ptr))
        into = np.bincount(np.asarray(arena.dst), minlength=len(out))
        single = np.count_nonzero((out == 1) | (into == 1))
        return bool(single > 0 and single >= NARROW * arena.shape[0])

    return kept(arena, "narrow", find)


def inside(arena: Arena, vertices: Any = None) -> Any:
    """Those of some vertices, bool `[V]`, that are no padding: bool `[V]`.

    None stands for all of them. Of a concrete graph they are an array of numpy.
    """
    xp = jnp if is_traced((arena, vertices)) else np
    real = xp.arange(arena.shape[0], dtype=np.int32) < arena.num_vertices
    return real if vertices is None else real & xp.asarray(vertices)


def on_host(arena: Arena, engine: str, traced: bool) -> bool:
    """Whether the sequential engine is to be taken.

    Args:
        arena: the graph.
        engine: `"host"`, `"device"`, or `"auto"`: the host if numba is there, and the
            backend is a CPU or the graph so small that launches alone would take
            longer; and without numba for a small graph.
        traced: whether anything is traced, which is for the device.

    Raises:
        ValueError: there is no such engine, or it cannot take what is traced.
    """
    if engine not in ("auto", "host", "device"):
        raise ValueError(f"engine must be 'auto', 'host' or 'device', got {engine!r}")
    if traced and engine == "host":
        raise ValueError("engine='host' cannot run under tracing by jax")
    if traced or engine != "auto":
        return engine == "host"
    return host.serves(arena.shape[1], ops.SLICE_FROM)


def searched(
    arena: Arena, engine: str, there: Callable[[], T], here: Callable[[], T]
) -> T:
    """What an engine finds in a concrete graph: as of `fixpoint.in_few_rounds`.

    Raises:
        ValueError: there is no such engine.
    """
    if on_host(arena, engine, False):
        return here()
    with eager():
        edges = arena.shape[1]
        return fixpoint.in_few_rounds(edges, there, here if engine == "auto" else None)

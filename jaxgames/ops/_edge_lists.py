"""A graph as a list of its edges: no layout is made for it.

On a GPU a sweep is a kernel (`_edge_kernels`), whose threads see what others have just
written. Elsewhere, and where somebody traces, it is a few gathers and scatters.
"""

import dataclasses
from typing import Any

from jaxgames.later import jax, jnp
from jaxgames.ops import _edge_kernels, _sliced_device
from jaxgames.ops._links import EdgeList
from jaxgames.ops._lists import compact, lower, take
from jaxgames.ops._transfers import default_device


def edge_list(offsets: Any, targets: Any) -> tuple[EdgeList, jax.Array]:
    """The edges of concrete rows, on the default device.

    Args:
        offsets: integers `[V + 1]`, ascending from 0 to E, of numpy or JAX.
        targets: integers `[E]`.

    Returns:
        The list, filled up to one of a few lengths; and how many edges begin at each
        vertex: int32, filled up likewise with -1.
    """
    tail, head, count, degree, _ = _sliced_device.edges_there(offsets, targets)
    return EdgeList(tail, head, count, kernels=runs_kernels()), degree


def unchecked_edge_list(
    offsets: Any, targets: Any
) -> tuple[EdgeList, jax.Array, jax.Array]:
    """The same of what may be no graph, and then has no edges; and whether it is one.

    It is if no row ends before it begins, and all targets are vertices: bool scalar.
    """
    tail, head, _, degree, (count, sound) = _sliced_device.edges_there(offsets, targets)
    return EdgeList(tail, head, count, kernels=runs_kernels()), degree, sound


def runs_kernels() -> bool:
    """Whether the default device is one for the kernels: a GPU of NVIDIA's."""
    device = default_device()
    return device.platform == "gpu" and "nvidia" in device.device_kind.lower()


def times(x: jax.Array, factor: jax.Array, size: int) -> jax.Array:
    """A number times an odd one, modulo a power of two that is at least `size` (pure).

    That is a permutation, and the inverse of the factor undoes it.
    """
    return _edge_kernels.times(x, factor, size)


def lower_both(
    edges: EdgeList,
    above: jax.Array,
    below: jax.Array,
    stamp: jax.Array,
    counts: jax.Array,
    sweep: int,
    now: jax.Array,
    inverse: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Signatures go along every edge, and jump (pure).

    What reaches the tail of an edge reaches its head as well, and what the head
    reaches, the tail does. So does what is known at the vertices that have these ranks,
    and they learn in turn.

    Args:
        edges: the edges.
        above: signatures `[V]`, the least rank that is known to reach each vertex.
        below: signatures `[V]`, the least that is known to be reached.
        stamp: int8 `[V]`, the time modulo 128 at which a vertex last learned something;
            edges between two vertices that did not now, or just before, may be passed
            over.
        counts: int32, about how many signatures each sweep has changed.
        sweep: which one this is. If `counts[sweep]` is 0 nothing is done; what it
            changes is added to the next: 0 only if nothing has changed.
        now: int32 `[1]`, the time of sweep 0; each takes 1.
        inverse: uint32 `[1]`, what a rank is multiplied by to have its vertex.

    Returns:
        `above`, `below`, `stamp` and `counts`.
    """
    if edges.kernels:
        return _edge_kernels.lower_both(
            *(edges.tail, edges.head, edges.count),
            *(above, below, stamp, counts, sweep, now, inverse),
        )
    size, there = len(above), _there(edges) & (counts[sweep] > 0)
    best, least = take(above, edges.tail), take(below, edges.head)
    first, last = (times(x, inverse[0], size) for x in (best, least))
    best = jnp.minimum(best, take(above, first))
    least = jnp.minimum(least, take(below, last))

    def lowered(x: jax.Array, value: jax.Array, known: jax.Array) -> jax.Array:
        for end in (edges.tail, edges.head, known):
            x = lower(x, jnp.where(there, end, size), value)
        return x

    told = lowered(above, best, last), lowered(below, least, first)
    changed = jnp.sum((told[0] != above) | (told[1] != below), dtype=jnp.int32)
    return *told, stamp, counts.at[sweep + 1].add(changed)


def spread_both(
    edges: EdgeList, ahead: jax.Array, behind: jax.Array, counts: jax.Array, sweep: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Marks go along every edge, and against every edge (pure).

    Args:
        edges: the edges.
        ahead: int8 `[V]`, 1 where a vertex is reached.
        behind: int8 `[V]`, 1 where it reaches.
        counts: as for `lower_both`, of new marks.
        sweep: likewise.

    Returns:
        `ahead`, `behind` and `counts`.
    """
    if edges.kernels:
        return _edge_kernels.spread_both(
            *(edges.tail, edges.head, edges.count, ahead, behind, counts, sweep)
        )
    size, there = len(ahead), _there(edges) & (counts[sweep] > 0)
    told, number = [], jnp.int32(0)
    for x, near, far in (
        (ahead, edges.tail, edges.head),
        (behind, edges.head, edges.tail),
    ):
        goes = there & (take(x, near) > 0) & (take(x, far) == 0)
        told.append(-lower(-x, jnp.where(goes, far, size), jnp.int8(-1)))
        number += jnp.sum(goes, dtype=jnp.int32)
    return *told, counts.at[sweep + 1].add(number)


def touched(edges: EdgeList, size: int) -> tuple[jax.Array, jax.Array]:
    """The vertices that edges leave, and those that edges enter (pure).

    Args:
        edges: the edges, of which loops do not count.
        size: V, the number of vertices.

    Returns:
        Two arrays, int8 `[V]`, of zeros and ones.
    """
    ends, none = (edges.tail, edges.head), jnp.zeros(size, jnp.int8)
    if edges.kernels:
        return _edge_kernels.touch_both(*ends, edges.count, none, jnp.copy(none))
    leads = _there(edges) & (edges.tail != edges.head)
    left, entered = (
        -lower(none, jnp.where(leads, end, size), jnp.int8(-1)) for end in ends
    )
    return left, entered


def keep_inside(
    edges: EdgeList, room: EdgeList, above: jax.Array, below: jax.Array
) -> EdgeList:
    """The edges within parts that are not done, at the front of another list (pure).

    A part is the vertices with the same two signatures, `[V]` each; it is done if these
    are the same. The room is a list of that length, which may be written to.
    """
    if edges.kernels:
        tail, head, count = _edge_kernels.keep_inside(
            edges.tail, edges.head, edges.count, above, below, room.tail, room.head
        )
    else:
        (first, second), (last, end) = (
            (take(x, edges.tail), take(x, edges.head)) for x in (above, below)
        )
        inside = (first == second) & (last == end) & (first != last)
        inside &= _there(edges) & (edges.tail != edges.head)
        where = compact(inside)
        tail, head = (
            x.at[where].get(mode="fill", fill_value=0) for x in (edges.tail, edges.head)
        )
        count = jnp.sum(inside, dtype=jnp.int32)[None]
    return dataclasses.replace(edges, tail=tail, head=head, count=count)


def _there(edges: EdgeList) -> jax.Array:
    return jnp.arange(len(edges.tail), dtype=jnp.int32) < edges.count

"""Rows of one degree, made under `jit` and `vmap`: what batches of small games read."""

from jaxgames.arena import Arena
from jaxgames.later import jax, jnp
from jaxgames.ops._layouts import SlicedArena
from jaxgames.ops._links import SlicedLinks
from jaxgames.ops._lists import take
from jaxgames.ops._rows import regular


def dense_rows(arena: Arena, degree: int) -> SlicedArena:
    """An arena with all its rows in one slice, in the order of its vertices (pure).

    A stack of such is read by a batched gather and reduced over a dense axis, where a
    stack of CSR arenas needs segment operations. Targets take one byte each up to 256
    vertices and two up to 65,536.

    Args:
        arena: the arena; each vertex has an edge.
        degree: the width of the rows: at least the largest out-degree. Further edges
            are left out, which is right for padding.

    Examples:
        >>> arena = Arena.from_edges([0, 0, 1], [1, 0, 1], owner=[0, 1])
        >>> jax.jit(dense_rows, static_argnums=1)(arena, 2).blocks[0]
        Array([[1, 1],
               [0, 1]], dtype=uint8)
    """
    row_ptr = jnp.asarray(arena.row_ptr)
    edge = _edges(row_ptr, degree)

    def columns(x):
        if x is None or x.ndim != 1:
            return None
        return (take(x, edge),)

    size = arena.shape[0]
    return SlicedArena(
        blocks=(take(arena.dst, edge).astype(_index_type(size)),),
        slot=None,
        row_ptr=row_ptr,
        real=jnp.arange(size, dtype=jnp.int32) < arena.num_vertices,
        owner=jnp.asarray(arena.owner),
        priority=arena.priority,
        accepting=arena.accepting,
        edge_priority=columns(arena.edge_priority),
        weight=columns(arena.weight),
    )


def dense_links(arena: Arena, degree: int) -> SlicedLinks:
    """The successors of each vertex in one slice (pure); there may be none.

    It is as wide as the largest out-degree, or wider.
    """
    row_ptr, size = jnp.asarray(arena.row_ptr), arena.shape[0]
    there = row_ptr[:-1] + _column(degree) < row_ptr[1:]
    edge = jnp.maximum(_edges(row_ptr, degree), 0)
    return regular(jnp.where(there, take(arena.dst, edge), size))


def _column(degree: int) -> jax.Array:
    return jnp.arange(degree, dtype=jnp.int32)[:, None]


def _edges(row_ptr: jax.Array, degree: int) -> jax.Array:
    """The edge in each column of each row: int32 `[D, V]`; short rows repeat theirs."""
    return jnp.minimum(row_ptr[:-1] + _column(degree), row_ptr[1:] - 1)


def _index_type(size: int):
    # Without a sign, so that indices are not looked at for negative ones.
    return jnp.uint8 if size <= 1 << 8 else jnp.uint16 if size <= 1 << 16 else jnp.int32

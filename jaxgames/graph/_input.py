"""What the functions of this package take as a graph, and as masks of its parts."""

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import ops, validity
from jaxgames.arena import MAX_SIZE, Arena, as_checked_as, is_traced
from jaxgames.arguments import as_array, check_array, refuse_masked
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.value import freeze

NO_COUNT = -1
"""Stands for the number of components where nobody says it."""


@limited()
def as_arena(graph: Any, **bounds: Unpack[Bounds]) -> Arena:
    """An arena from any of the forms in which a graph may be given.

    Vertices may lack successors, edges may repeat, and a vertex may have an edge to
    itself. The arena has arrays of its own: what is done to the given ones later does
    not change it.

    Args:
        graph: an [`Arena`][jaxgames.Arena], which is returned as it is; a pair of
            integer arrays `(indptr [V + 1], indices [E])`, the successors of vertex `v`
            being `indices[indptr[v] : indptr[v + 1]]`; or a sparse matrix with a method
            `tocsr`, as scipy's, each stored entry an edge from its row to its column.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: it is none of these, the matrix is not square, or a number is
            missing, negative or too large; the message says where.

    Examples:
        >>> as_arena(([0, 2, 2], [1, 1]))
        Arena(2 vertices, 2 edges)
        >>> as_arena(([0, 2, 2], [1, 2]))
        Traceback (most recent call last):
        ValueError: indices[1] is 2 (an edge from vertex 0), expected a vertex ...
    """
    if isinstance(graph, Arena):
        return graph if is_traced(graph) else validity.checked(graph, total=False)[0]
    if hasattr(graph, "tocsr"):
        rows, columns = graph.shape
        if rows != columns:
            raise ValueError(
                "the matrix of a graph must be square, with a row and a column for "
                f"each vertex, got {rows} rows and {columns} columns"
            )
        return _from_csr(*stored(graph)[:2])
    if isinstance(graph, (tuple, list)) and len(graph) == 2:
        return _from_csr(*graph)
    raise ValueError(
        "a graph must be an Arena, a pair (indptr, indices) or a sparse matrix with a "
        f"method tocsr, got {_described(graph)}"
    )


def stored(matrix: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """The entries that a sparse matrix stores, row by row.

    Scipy would add up those of a place that a list of coordinates names twice.

    Args:
        matrix: of scipy, `[V, W]`, or anything else with a method `tocsr`.

    Returns:
        Offsets `[V + 1]`, columns `[E]`, and values `[E]` where there are any.
    """
    if getattr(matrix, "format", None) != "coo":
        matrix = matrix.tocsr()
        return matrix.indptr, matrix.indices, getattr(matrix, "data", None)
    order = np.argsort(matrix.row, kind="stable")
    indptr = np.zeros(matrix.shape[0] + 1, matrix.col.dtype)
    np.cumsum(np.bincount(matrix.row, minlength=matrix.shape[0]), out=indptr[1:])
    return indptr, matrix.col[order], matrix.data[order]


def read(graph: Any) -> tuple[Arena, Any]:
    """As `as_arena`, but an arena may be traced; gives what `checked` does."""
    return validity.checked(as_arena(graph), total=False)


class Rows(NamedTuple):
    """Rows of numpy as a caller passed them: nobody has looked at their numbers yet."""

    indptr: np.ndarray
    indices: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """How many vertices there are, and how many edges."""
        return len(self.indptr) - 1, len(self.indices)


def rows_of(graph: Any) -> Rows | None:
    """Rows for an engine that looks at each number as it reads it, and copies none.

    From what `as_arena` takes; None where it has another form than machine code reads,
    or rows do not go from 0 to the number of edges.
    """
    rows = _arrays_of(graph)
    if rows is None or any(x.dtype != np.int32 for x in rows):
        return None
    if not all(x.flags.c_contiguous and x.flags.aligned for x in rows):
        return None
    indptr, indices = rows
    if not 0 < len(indptr) <= MAX_SIZE or len(indices) > MAX_SIZE:
        return None
    whole = indptr[0] == 0 and indptr[-1] == len(indices)
    return Rows(indptr, indices) if whole else None


def _arrays_of(graph: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The two arrays of rows, if they are of numpy and have one dimension."""
    if hasattr(graph, "tocsr") and graph.shape[0] == graph.shape[1]:
        graph = stored(graph)[:2]
    if not isinstance(graph, (tuple, list)) or len(graph) != 2:
        return None
    if not all(isinstance(x, np.ndarray) and x.ndim == 1 for x in graph):
        return None
    return graph[0], graph[1]


def sent(graph: Any, fewest: int) -> tuple[jax.Array, jax.Array] | None:
    """Rows of numpy on the default device, so that they are checked there.

    From what `as_arena` takes. None where the host looks at them: it is an arena, or
    has not even the `fewest` edges; the device has no memory of its own; or numbers do
    not fit.
    """
    rows = _arrays_of(graph)
    if rows is None or not len(rows[0]) or len(rows[1]) < fewest:
        return None
    if not ops.accelerated():
        return None
    if any(x.dtype != np.int32 for x in rows):
        fits = np.iinfo(np.int32)
        for x in rows:
            if x.dtype.kind not in "iu" or not len(x):
                return None
            if x.min() < fits.min or x.max() > fits.max:
                return None
        rows = [x.astype(np.int32) for x in rows]
    # Until it is there the caller's own array is read.
    indptr, indices = jax.block_until_ready([ops.joined(ops.send(x)) for x in rows])
    return indptr, indices


def _from_csr(indptr: Any, indices: Any) -> Arena:
    if is_traced((indptr, indices)):
        raise ValueError(
            "indptr and indices are traced by jax: call as_arena outside, and pass the "
            "Arena to the jitted function as an argument"
        )
    try:
        there = isinstance(indptr, jax.Array)
        zeros = jnp.zeros if there else np.zeros
        owner = freeze(zeros(np.size(indptr) - 1, bool))
        return Arena.from_csr(indptr, indices, owner=owner, dead_ends="allow")
    except ValueError as error:
        _explain(indptr, indices)
        raise ValueError(f"(indptr, indices) is not a graph: {error}") from None


def _explain(indptr: Any, indices: Any) -> None:
    """Raises ValueError with the first fault of a graph, if it is one of numbers."""
    arrays = []
    for name, values in (("indptr", indptr), ("indices", indices)):
        array = as_array(name, values)
        if array.ndim != 1:
            raise ValueError(f"{name} must have one dimension, got shape {array.shape}")
        if len(array) and array.dtype.kind not in "iu":
            raise ValueError(f"{name} must hold integers, got {array.dtype}")
        arrays.append(array)
    indptr, indices = arrays
    if len(indptr) == 0:
        raise ValueError(
            "indptr is empty, expected one entry more than there are vertices"
        )
    size, num_edges = len(indptr) - 1, len(indices)
    if indptr[0] != 0:
        raise ValueError(f"indptr[0] is {indptr[0]}, expected 0")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        v = int(falls[0])
        raise ValueError(
            f"indptr[{v + 1}] is {indptr[v + 1]}, less than indptr[{v}], which is "
            f"{indptr[v]}: the edges of vertex {v} end before they begin"
        )
    if indptr[-1] != num_edges:
        raise ValueError(
            f"indptr[{size}] is {indptr[-1]}, expected the number of edges, which is "
            f"{num_edges}"
        )
    wrong = np.flatnonzero((indices < 0) | (indices >= size))
    if len(wrong):
        e = int(wrong[0])
        v = int(np.searchsorted(indptr, e, side="right")) - 1
        raise ValueError(
            f"indices[{e}] is {indices[e]} (an edge from vertex {v}), expected a "
            f"vertex from 0 to {size - 1}"
        )


def _described(graph: Any) -> str:
    shape = getattr(graph, "shape", None)
    kind = type(graph).__name__
    if shape is not None:
        return f"{kind} of shape {tuple(shape)}"
    return f"{kind} of length {len(graph)}" if hasattr(graph, "__len__") else kind


def check_masks(arena: Arena, vertices: Any = None, edges: Any = None) -> None:
    """Checks masks of an arena's vertices and edges, which may be traced.

    Raises:
        ValueError: one holds no booleans, or has the wrong length.
    """
    for name, mask, size, what in (
        ("vertices", vertices, arena.shape[0], "vertex"),
        ("edges", edges, arena.shape[1], "edge"),
    ):
        if mask is None:
            continue
        refuse_masked(name, mask)
        dtype = mask.dtype if hasattr(mask, "dtype") else np.asarray(mask).dtype
        if dtype.kind != "b":
            raise ValueError(f"{name} must hold booleans, got {dtype}")
        if np.shape(mask) != (size,):
            raise ValueError(
                f"{name} must have one boolean for each {what} ({size}), got shape "
                f"{np.shape(mask)}"
            )


def check_concrete(what: str, *inputs: Any) -> None:
    """Raises ValueError if any of the inputs of a function of the host is traced."""
    if is_traced(inputs):
        raise ValueError(f"{what} runs on the host, not under tracing by jax")


def vertex_mask(name: str, arena: Arena, vertices: Any) -> Any:
    """Booleans `[V]` from such, or from vertices by number (concrete only).

    Raises:
        ValueError: they are neither; a number is no vertex.
    """
    length, traced = int(arena.shape[0]), is_traced(vertices)
    array = vertices if traced else as_array(name, vertices)
    if traced and array.dtype != bool:
        raise ValueError(f"{name} must hold booleans under tracing, got {array.dtype}")
    if array.dtype == bool:
        _check_mask(name, length, array)
        return array
    mask = np.zeros(length, bool)
    mask[_numbers(name, int(arena.num_vertices), array)] = True
    return mask


def vertices_of(name: str, size: int, length: int, vertices: Any) -> np.ndarray:
    """The vertices of a mask, or given by number: int32 `[K]`, ascending (host only).

    Of the argument of this name, for `size` vertices, which are `length` with padding.

    Raises:
        ValueError: as from `vertex_mask`.
    """
    array = as_array(name, vertices)
    if array.dtype != bool:
        return np.unique(_numbers(name, size, array)).astype(np.int32)
    _check_mask(name, length, array)
    return np.flatnonzero(array[:size]).astype(np.int32)


def _check_mask(name: str, length: int, array: Any) -> None:
    if array.shape != (length,):
        raise ValueError(
            f"{name} must have one boolean for each vertex ({length}), or vertices "
            f"by number, got booleans of shape {array.shape}"
        )


def _numbers(name: str, size: int, array: np.ndarray) -> np.ndarray:
    """Vertices by number, in an array of one axis; else raises ValueError."""
    if array.size == 0:
        array = array.astype(np.int32)
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold booleans, or vertices by number, got {array.dtype} of "
            f"shape {array.shape}"
        )
    array = np.atleast_1d(array)
    wrong = np.flatnonzero((array < 0) | (array >= size))
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"{name}[{at}] is {array[at]}, expected a vertex from 0 to {size - 1}"
        )
    return array


def labels_of(size: int, components: Any) -> tuple[Any, Any, Any]:
    """Labels of `size` vertices, which may be traced, checked in type and shape.

    Returns:
        The labels, how many components there are said to be (NO_COUNT where nobody
        says it), and what labels must be less than.
    """
    labels, count, most = components, NO_COUNT, size
    if hasattr(components, "labels"):
        labels, count = components.labels, validity.count_of(components)
        most = min(count, size) if isinstance(count, int) else count
    refuse_masked("labels", labels)
    labels = labels if hasattr(labels, "dtype") else np.asarray(labels)
    if labels.size == 0 and size == 0:
        labels = labels.astype(np.int32)
    check_array("labels", labels, (size,), "i")
    return labels, count, most


def concrete(
    graph: Any,
    vertices: Any,
    edges: Any,
    names: Iterable[str] = ("row_ptr", "src", "dst", "owner"),
) -> tuple[Arena, Any, Any]:
    """A graph and its masks as numpy arrays, checked; padding is masked out.

    Masks are bool `[V]` and `[E]`, or None where everything is there. Of arrays on a
    device only those of these names come.
    """
    check_concrete("this function", graph, vertices, edges)
    arena = as_arena(graph)
    check_masks(arena, vertices, edges)
    given = {name: getattr(arena, name) for name in names}
    arrays = {
        name: freeze(ops.to_host(x)) if isinstance(x, jax.Array) else np.asarray(x)
        for name, x in given.items()
    }
    if any(array is not given[name] for name, array in arrays.items()):
        arena = as_checked_as(arena, dataclasses.replace(arena, **arrays))
    vertices = None if vertices is None else np.asarray(vertices)
    edges = None if edges is None else np.asarray(edges)
    size = int(arena.num_vertices)
    if size < arena.shape[0]:
        real = np.arange(arena.shape[0]) < size
        vertices = real if vertices is None else real & vertices
    return arena, vertices, edges

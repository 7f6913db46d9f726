"""What `accepting_cycle` may be asked: checks of its arguments."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import Arena, is_traced
from jaxgames.buchi import host
from jaxgames.buchi._partition import Partition, kinds, of_product, partition_of
from jaxgames.graph import _input as of_graph
from jaxgames.graph import as_arena
from jaxgames.graph._input import vertex_mask
from jaxgames.kept import keeps, kept
from jaxgames.later import jax, jnp
from jaxgames.ltl._operations import Kind
from jaxgames.systems._checks import check_product
from jaxgames.systems._product import Product
from jaxgames.value import Value


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Question(Value):
    """A graph without padding, and what is asked of it, with checked arguments.

    Layouts that solvers need are kept with it, so that it pays to ask twice.

    Attributes:
        arena: the graph.
        accepting: bool `[V]`, or `[B, V]` for a batch.
        starts: int32 `[K]`, the initial vertices.
        partition: what the property says.
        all_reached: whether every vertex is known to be reached.
    """

    arena: Arena
    accepting: np.ndarray
    starts: np.ndarray
    partition: Partition
    all_reached: bool

    @property
    def many(self) -> bool:
        """Whether there is a batch of accepting sets."""
        return self.accepting.ndim == 2

    @keeps
    def kinds(self) -> list[Kind]:
        """The kind of each part, for one accepting set."""
        return kinds(self.partition, self.accepting, host.dead_ends(self.arena))

    def one(self, accepting: np.ndarray) -> "Question":
        """The same with one accepting set: bool `[V]`."""
        return dataclasses.replace(self, accepting=accepting)

    def __repr__(self) -> str:
        size, edges = self.arena.shape
        return f"Question({size} vertices, {edges} edges, {self.partition.count} parts)"

    def parts(self, wanted: list[bool]) -> np.ndarray:
        """int32 `[V]`: a positive number in wanted parts, else 0."""
        number = np.where(wanted, np.arange(1, len(wanted) + 1), 0).astype(np.int32)
        return host.looked_up(number, self.partition.part)

    def inner(self, wanted: tuple[Kind, ...]) -> tuple[Arena, np.ndarray]:
        """The edges inside the parts of some kinds; kept with the question. O(V + E).

        Returns:
            The graph of these edges and of the vertices of these parts, in their order;
            and the number that each has in the whole: int32 `[N]`.
        """

        def find() -> tuple[Arena, np.ndarray]:
            part = self.parts([kind in wanted for kind in self.kinds])
            return host.inside_parts(self.arena, part)

        return kept(self, ("inner", wanted), find)

    def of_inner(
        self, wanted: tuple[Kind, ...], vertex: int, mask: Any
    ) -> tuple[int, np.ndarray]:
        """A vertex of the inner graph, and a mask of at least its vertices, here."""
        _, vertices = self.inner(wanted)
        whole = np.zeros(self.arena.shape[0], bool)
        whole[vertices] = np.asarray(mask)[: len(vertices)]
        return int(vertices[vertex]), whole


def read(graph: Any, accepting: Any, initial: Any, partition: Any) -> Question:
    """Checks concrete arguments of `accepting_cycle`; else raises ValueError."""
    if isinstance(graph, (Product, Question)):
        _check_alone(graph, accepting, initial, partition)
        return graph if isinstance(graph, Question) else _of_product(graph)
    arena = as_arena(graph)
    accepting = _accepting(arena, accepting)
    all_reached = initial is None
    size = int(arena.num_vertices)
    if all_reached:
        starts = np.arange(size, dtype=np.int32)
    else:
        starts = np.flatnonzero(_initial(arena, initial)[:size]).astype(np.int32)
    if partition is not None and not isinstance(partition, tuple):
        partition = np.asarray(partition)
        if partition.shape == (arena.shape[0],):
            partition = partition[:size]
    plain = arena.unpad()
    return Question(
        arena=plain,
        accepting=accepting[..., :size],
        starts=starts,
        partition=partition_of(plain, partition),
        all_reached=all_reached,
    )


def _check_alone(graph: Any, accepting, initial, partition) -> None:
    what = type(graph).__name__
    for name, value, default in (
        ("accepting", accepting, None),
        ("initial", initial, 0),
        ("partition", partition, None),
    ):
        if value is not default:
            raise ValueError(
                f"a {what} has {name} vertices of its own: leave {name} out"
                if name != "partition"
                else f"a {what} has a partition of its own: leave partition out"
            )


def _of_product(product: Product) -> Question:
    check_product(product)

    def find() -> Question:
        return Question(
            arena=product.arena(),
            accepting=product.accepting,
            starts=product.initial,
            partition=of_product(product),
            all_reached=True,
        )

    return kept(product, "question", find)


def _accepting(arena: Arena, accepting: Any) -> np.ndarray:
    if accepting is None:
        if arena.accepting is None:
            raise ValueError(
                "accepting is None, and the graph has no accepting vertices of its own"
            )
        return np.asarray(arena.accepting)
    array = np.asarray(accepting)
    if array.ndim == 2:
        if array.dtype != bool or array.shape[1] != arena.shape[0]:
            raise ValueError(
                "a batch of accepting sets must be booleans, a row of "
                f"{arena.shape[0]} for each set, got {array.dtype} of shape "
                f"{array.shape}"
            )
        return array
    return np.asarray(vertex_mask("accepting", arena, accepting))


def _initial(arena: Arena, initial: Any) -> np.ndarray:
    array = np.asarray(initial)
    if array.ndim == 0 and array.dtype.kind in "iu":
        size = int(arena.num_vertices)
        if not 0 <= array < size:
            raise ValueError(
                f"initial is {array}, expected a vertex "
                + (f"from 0 to {size - 1}" if size else "of a graph that has some")
            )
    return np.asarray(vertex_mask("initial", arena, initial))


# ---- under tracing ---------------------------------------------------------------


class Marked(NamedTuple):
    """A graph of which something is traced, and what is asked of it.

    Attributes:
        arena: the graph, which may have padding.
        accepting: bool `[V]`.
        starts: bool `[V]`, the initial vertices.
        part: int32 `[V]` from 1.
    """

    arena: Any
    accepting: Any
    starts: Any
    part: Any

    @classmethod
    def of(cls, question: Question) -> "Marked":
        """The same of a concrete one."""
        starts = np.zeros(question.arena.shape[0], bool)
        starts[question.starts] = True
        part = question.partition.part + 1
        return cls(question.arena, question.accepting, starts, part.astype(np.int32))


def read_traced(arena: Any, accepting, initial, partition) -> tuple[Marked, Any]:
    """Accepting and initial vertices, and the part of each, where any is traced.

    Returns:
        The question, and whether it is none, as from `validity.checked`.

    Raises:
        ValueError: a type or shape is wrong.
    """
    if not isinstance(arena, Arena) and is_traced(arena):
        raise ValueError("a traced graph must be an Arena")
    arena, fault = of_graph.read(arena)
    size = arena.shape[0]
    accepting = arena.accepting if accepting is None else accepting
    if accepting is None:
        raise ValueError(
            "accepting is None, and the graph has no accepting vertices of its own"
        )
    accepting = (
        vertex_mask("accepting", arena, accepting)
        if _concrete(arena, accepting)
        else _booleans("accepting", accepting, size)
    )
    if initial is None:
        starts = jnp.ones(size, bool)
    elif np.ndim(initial) == 0 and jnp.issubdtype(
        jnp.result_type(initial), jnp.integer
    ):
        if not is_traced(initial) and not 0 <= int(initial) < size:
            raise ValueError(f"initial is {initial}, expected one of {size} vertices")
        starts = jnp.arange(size) == initial
    elif _concrete(arena, initial):
        starts = vertex_mask("initial", arena, initial)
    else:
        starts = _booleans("initial", initial, size)
    if partition is None:
        return Marked(arena, accepting, starts, jnp.ones(size, jnp.int32)), fault
    if isinstance(partition, tuple):
        raise ValueError(
            "under tracing partition must be the part of each vertex: integers "
            f"[{size}], not a pair"
        )
    partition = jnp.asarray(partition)
    if partition.shape != (size,) or partition.dtype.kind not in "iu":
        raise ValueError(
            f"partition must have one integer for each vertex ({size}), got "
            f"{partition.dtype} of shape {partition.shape}"
        )
    return Marked(arena, accepting, starts, partition.astype(jnp.int32) + 1), fault


def _concrete(arena: Arena, values: Any) -> bool:
    return not is_traced((arena.num_vertices, values))


def _booleans(name: str, values: Any, size: int) -> jax.Array:
    array = jnp.asarray(values)
    if array.dtype != bool or array.shape != (size,):
        raise ValueError(
            f"under tracing {name} must have one boolean for each vertex ({size}), got "
            f"{array.dtype} of shape {array.shape}"
        )
    return array

"""What `accepting_cycle` may be asked: checks of its arguments."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena, is_traced
from jaxgames.buchi import _sent, host
from jaxgames.buchi._partition import (
    Partition,
    kinds,
    looked_up,
    met_on_host,
    of_product,
    partition_of,
)
from jaxgames.graph import _input as of_graph
from jaxgames.graph import as_arena
from jaxgames.graph._input import vertex_mask, vertices_of
from jaxgames.kept import keeps, kept
from jaxgames.later import jax, jnp
from jaxgames.ltl._operations import Kind
from jaxgames.systems._checks import check_product
from jaxgames.systems._product import Product
from jaxgames.value import Value, freeze


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Question(Value):
    """A graph without padding, and what is asked of it, with checked arguments.

    Layouts that solvers need are kept with it, so that it pays to ask twice. A large
    one lies on the device, if there is one with memory of its own.

    Attributes:
        arena: the graph.
        accepting: bool `[V]`, or `[B, V]` for a batch; of numpy, or on the device.
        starts: int32 `[K]`, the initial vertices.
        partition: what the property says.
        all_reached: whether every vertex is known to be reached.
    """

    arena: Arena
    accepting: Any
    starts: np.ndarray
    partition: Partition
    all_reached: bool

    @property
    def was_sent(self) -> bool:
        """Whether it lies on the device."""
        return not isinstance(self.accepting, np.ndarray)

    @property
    def near(self) -> "Question":
        """The same of arrays of numpy, for the host; kept.

        They come back from the device, if it was sent: O(V + E).
        """
        return kept(self, "near", self._fetched) if self.was_sent else self

    def _fetched(self) -> "Question":
        arena, _, _ = of_graph.concrete(self.arena, None, None)
        part, state = (ops.to_host(x) for x in self.partition[:2])
        return dataclasses.replace(
            self,
            arena=arena,
            accepting=freeze(ops.to_host(self.accepting)),
            partition=self.partition._replace(part=freeze(part), state=freeze(state)),
        )

    @property
    def many(self) -> bool:
        """Whether there is a batch of accepting sets."""
        return self.accepting.ndim == 2

    @keeps
    def kinds(self) -> list[Kind]:
        """The kind of each part, for one accepting set."""
        met = _sent.met if self.was_sent else met_on_host
        return kinds(self.partition, met(self.arena, self.accepting, self.partition))

    def one(self, accepting: np.ndarray) -> "Question":
        """The same with one accepting set: bool `[V]`."""
        return dataclasses.replace(self, accepting=accepting)

    def __repr__(self) -> str:
        size, edges = self.arena.shape
        return f"Question({size} vertices, {edges} edges, {self.partition.count} parts)"

    def parts(self, wanted: list[bool]) -> Any:
        """int32 `[V]`: a positive number in wanted parts, else 0; where it lies."""
        number = np.where(wanted, np.arange(1, len(wanted) + 1), 0).astype(np.int32)
        return looked_up(number, self.partition.part)

    def inner(self, wanted: tuple[Kind, ...]) -> tuple[Arena, np.ndarray]:
        """The edges inside the parts of some kinds; kept with the question. O(V + E).

        Returns:
            The graph of these edges and of the vertices of these parts, in their order;
            and the number that each has in the whole: int32 `[N]`.
        """

        def find() -> tuple[Arena, np.ndarray]:
            part = self.near.parts([kind in wanted for kind in self.kinds])
            return host.inside_parts(self.near.arena, part)

        return kept(self, ("inner", wanted), find)

    def of_inner(
        self, wanted: tuple[Kind, ...], vertex: int, mask: Any
    ) -> tuple[int, np.ndarray]:
        """A vertex of the inner graph, and a mask of at least its vertices, here."""
        _, vertices = self.inner(wanted)
        whole = np.zeros(self.arena.shape[0], bool)
        whole[vertices] = np.asarray(mask)[: len(vertices)]
        return int(vertices[vertex]), whole


def read(
    graph: Any, accepting: Any, initial: Any, partition: Any, may_be_sent: bool = False
) -> Question:
    """Checks concrete arguments of `accepting_cycle`; else raises ValueError.

    If it `may_be_sent`, a large graph of numpy is, and is checked there.
    """
    if isinstance(graph, (Product, Question)):
        _check_alone(graph, accepting, initial, partition)
        if isinstance(graph, Question):
            return graph
        return _of_product(graph, may_be_sent and _sent.is_sent(graph.num_edges))
    sent = _sent.send(graph, accepting, partition) if may_be_sent else None
    if sent is not None:
        return Question(
            arena=sent.arena,
            accepting=sent.accepting,
            starts=_starts(sent.arena, initial),
            partition=sent.partition,
            all_reached=initial is None,
        )
    arena = as_arena(graph)
    accepting = _accepting(arena, accepting)
    size = int(arena.num_vertices)
    starts = _starts(arena, initial)
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
        all_reached=initial is None,
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


def _of_product(product: Product, sent: bool) -> Question:
    check_product(product)

    def find() -> Question:
        there = None
        if sent:
            rows = product.offsets, product.targets
            there = _sent.arrays_there(rows, product.accepting, product.automaton_state)
        arena, accepting, state = there or (
            *(product.arena(), product.accepting, product.automaton_state),
        )
        return Question(
            arena=arena,
            accepting=accepting,
            starts=product.initial,
            partition=of_product(product, state),
            all_reached=True,
        )

    return kept(product, ("question", sent), find)


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


def _starts(arena: Arena, initial: Any) -> np.ndarray:
    """The initial vertices in ascending order: int32 `[K]`."""
    size = int(arena.num_vertices)
    if initial is None:
        return np.arange(size, dtype=np.int32)
    array = np.asarray(initial)
    if array.ndim == 0 and array.dtype.kind in "iu":
        if not 0 <= array < size:
            raise ValueError(
                f"initial is {array}, expected a vertex "
                + (f"from 0 to {size - 1}" if size else "of a graph that has some")
            )
        return array.astype(np.int32)[None]
    return vertices_of("initial", arena, initial)


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

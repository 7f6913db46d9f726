"""What `accepting_cycle` may be asked: checks of its arguments."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.arguments import as_array, check_array
from jaxgames.buchi import _links, _sent, host
from jaxgames.buchi._partition import Property, Seen, kinds, of_automaton, partition_of
from jaxgames.buchi._sent import There
from jaxgames.graph import _input as of_graph
from jaxgames.graph import as_arena
from jaxgames.graph._input import vertex_mask, vertices_of
from jaxgames.kept import keeps, kept
from jaxgames.later import jax, jnp
from jaxgames.ltl._operations import Kind
from jaxgames.ops import PairLinks
from jaxgames.systems._checks import check_product
from jaxgames.systems._product import Product
from jaxgames.value import Value, freeze, own


class Near(NamedTuple):
    """A graph without padding, in arrays of numpy.

    Attributes:
        arena: the graph.
        accepting: bool `[V]`, or `[B, V]` for a batch.
        state: integers `[V]`, the state of the property that each vertex has.
        seen: the vertices by their states, where they have been counted already.
    """

    arena: Arena
    accepting: np.ndarray
    state: np.ndarray
    seen: Seen | None = None


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Question(Value):
    """A graph without padding, and what is asked of it, with checked arguments.

    Layouts that solvers need are kept with it, so that it pays to ask twice.

    Attributes:
        given: the graph, its accepting vertices and their states: on the host, or on a
            device with memory of its own, if it is large.
        starts: int32 `[K]`, the initial vertices.
        known: the states, and their parts.
        all_reached: whether every vertex is known to be reached.
    """

    given: Near | There
    starts: np.ndarray
    known: Property
    all_reached: bool

    @property
    def shape(self) -> tuple[int, int]:
        """How many vertices there are, and how many edges."""
        given = self.given
        return given.shape if isinstance(given, There) else given.arena.shape

    @property
    def near(self) -> Near:
        """What is given, on the host; O(V + E) for the first time, if it was sent."""
        given = self.given
        if isinstance(given, Near):
            return given

        def fetch() -> Near:
            offsets, targets, state = map(freeze, _sent.fetched(given))
            return Near(as_arena((offsets, targets)), self.accepting, state)

        return kept(self, "near", fetch)

    @property
    def arena(self) -> Arena:
        """The graph, on the host: see `near`."""
        return self.near.arena

    @property
    def accepting(self) -> np.ndarray:
        """The accepting vertices, on the host: bool `[V]`, or `[B, V]` for a batch."""
        given = self.given
        if isinstance(given, Near):
            return given.accepting
        return kept(self, "accepting", lambda: freeze(_sent.marked(given)))

    @property
    def many(self) -> bool:
        """Whether there is a batch of accepting sets."""
        return isinstance(self.given, Near) and self.given.accepting.ndim == 2

    @keeps
    def kinds(self) -> list[Kind]:
        """The kind of each part, for one accepting set."""
        given = self.given
        met = given.met if isinstance(given, There) else self.seen.met
        return kinds(self.known, met)

    @keeps
    def seen(self) -> Seen:
        """The vertices by their states, for one accepting set; O(V) on the host."""
        arena, accepting, state, seen = self.near
        if seen is not None:
            return seen
        return Seen.of(arena, accepting, state, len(self.known.edges))

    def one(self, accepting: np.ndarray) -> "Question":
        """The same with one accepting set: bool `[V]`."""
        near = self.near._replace(accepting=accepting, seen=None)
        return dataclasses.replace(self, given=near)

    def __repr__(self) -> str:
        size, edges = self.shape
        return f"Question({size} vertices, {edges} edges, {self.known.count} parts)"

    def parts(
        self, wanted: list[bool], vertices: np.ndarray | None = None
    ) -> np.ndarray:
        """A positive number in wanted parts, else 0: int32 `[V]`, or of some alone."""
        numbers, given = self.known.numbers(wanted), self.given
        if isinstance(given, Near):
            state = given.state if vertices is None else given.state[vertices]
            found = np.empty(len(state), np.int32)
            ops.look_up_on_host(numbers, state, found)
            return found
        found = ops.to_host(_sent.looked_up(numbers, given)[0])[: self.shape[0]]
        return found if vertices is None else found[vertices]

    def parts_there(self, wanted: list[bool]) -> tuple[Any, Any]:
        """The same where the solve is, with zeros behind; and how many are not.

        Of a graph that is on the host states are sent, which are narrow.
        """
        numbers, given = self.known.numbers(wanted), self.given
        if isinstance(given, There):
            return _sent.looked_up(numbers, given)
        rows, seen = _links.num_rows(given.arena), self.seen
        return _sent.by_state(numbers, seen.state, rows), seen.count(numbers > 0)

    def pairs(self) -> PairLinks:
        """Each vertex points at its successors, where the solve is."""
        given = self.given
        return given.pairs if isinstance(given, There) else _links.pairs(given.arena)

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
        whole = np.zeros(self.shape[0], bool)
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
        return _of_product(
            graph, may_be_sent and _sent.is_sent(graph.num_vertices, graph.num_edges)
        )
    sent = _sent.send(graph, accepting, partition) if may_be_sent else None
    if sent is not None:
        size = sent[0].shape[0]
        starts = _starts(size, size, initial)
        return Question(sent[0], starts, sent[1], all_reached=initial is None)
    arena = as_arena(graph)
    accepting = _accepting(arena, accepting)
    size = int(arena.num_vertices)
    starts = _starts(size, arena.shape[0], initial)
    if partition is not None and not isinstance(partition, tuple):
        partition = as_array("partition", partition)
        if partition.shape == (arena.shape[0],):
            partition = partition[:size]
    plain = arena.unpad()
    accepting = accepting[..., :size]
    state, seen, known = partition_of(plain, accepting, partition)
    near = Near(plain, accepting, state, seen)
    return Question(near, starts, known, all_reached=initial is None)


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
        known, there = of_automaton(product.automaton), None
        marks = product.accepting, product.automaton_state
        if sent:
            rows = product.offsets, product.targets
            there = _sent.looked_at(rows, *marks, known.edges)
        near = there or Near(product.arena(), *marks)
        return Question(near, product.initial, known, all_reached=True)

    return kept(product, ("question", sent), find)


def _accepting(arena: Arena, accepting: Any) -> np.ndarray:
    array = as_array("accepting", _given(arena, accepting))
    if array.ndim == 2:
        if array.dtype != bool or array.shape[1] != arena.shape[0]:
            raise ValueError(
                "a batch of accepting sets must be booleans, a row of "
                f"{arena.shape[0]} for each set, got {array.dtype} of shape "
                f"{array.shape}"
            )
        return own(array)
    mask = np.asarray(vertex_mask("accepting", arena, array))
    return own(mask) if mask is array else freeze(mask)


def _given(arena: Any, accepting: Any) -> Any:
    """Accepting vertices, or those of the graph itself."""
    found = arena.accepting if accepting is None else accepting
    if found is None:
        raise ValueError(
            "accepting is None, and the graph has no accepting vertices of its own"
        )
    return found


def _starts(size: int, length: int, initial: Any) -> np.ndarray:
    """The initial vertices that a user passed, ascending: int32 `[K]`.

    Of `size` vertices, which are `length` with padding.
    """
    if initial is None:
        return np.arange(size, dtype=np.int32)
    array = as_array("initial", initial)
    if array.ndim == 0 and array.dtype.kind in "iu":
        if not 0 <= array < size:
            raise ValueError(
                f"initial is {array}, expected a vertex "
                + (f"from 0 to {size - 1}" if size else "of a graph that has some")
            )
        return array.astype(np.int32)[None]
    return vertices_of("initial", size, length, initial)


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

    @property
    def shape(self) -> tuple[int, int]:
        """Vertices and edges, with padding."""
        return self.arena.shape

    @classmethod
    def of(cls, question: Question) -> "Marked":
        """The same of a concrete one."""
        starts = np.zeros(question.shape[0], bool)
        starts[question.starts] = True
        part = question.parts([True] * question.known.count)
        return cls(question.arena, question.accepting, starts, part)


def read_traced(arena: Any, accepting, initial, partition) -> tuple[Marked, Any]:
    """Accepting and initial vertices, and the part of each, where any is traced.

    Also whether the question is none, as from `validity.checked`.

    Raises:
        ValueError: a type or shape is wrong.
    """
    if not isinstance(arena, Arena) and is_traced(arena):
        raise ValueError("a traced graph must be an Arena")
    arena, fault = of_graph.read(arena)
    size = arena.shape[0]
    accepting = _given(arena, accepting)
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
        number = jnp.asarray(initial)
        if number.dtype.itemsize < 4:
            number = number.astype(jnp.int32)
        starts = jnp.arange(size, dtype=number.dtype) == number
        real = jnp.asarray(arena.num_vertices).astype(number.dtype)
        fault = validity.also(fault, (number < 0) | (number >= real))
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
    check_array("partition", partition, (size,), "iu")
    return Marked(arena, accepting, starts, partition.astype(jnp.int32) + 1), fault


def _concrete(arena: Arena, values: Any) -> bool:
    return not is_traced((arena.num_vertices, values))


def _booleans(name: str, values: Any, size: int) -> jax.Array:
    array = jnp.asarray(values)
    check_array(f"under tracing {name}", array, (size,), "b")
    return array

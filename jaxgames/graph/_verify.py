"""The certificate check of strongly connected components, on the device or the host."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.arena import MAX_SIZE, eager, is_traced
from jaxgames.graph import _links, reference
from jaxgames.graph._input import as_arena, check_masks
from jaxgames.graph._links import Directions
from jaxgames.graph._reach import Engine, spread
from jaxgames.graph._verdict import Verdict
from jaxgames.graph.reference import NO_COUNT, labels_of
from jaxgames.ops import Links
from jaxgames.solver import Solver


def verify(
    graph: Any,
    components: Any,
    *,
    vertices: Any = None,
    edges: Any = None,
    engine: Engine = "auto",
) -> Verdict:
    """Checks strongly connected components without trusting who found them.

    Every vertex must have a component, and these must be numbered in order of their
    smallest vertices. Inside each component its smallest vertex must reach all others
    and be reached by them; all components are searched at once. And no cycle may lead
    through several components: those without an edge to another one are taken away
    again and again, until nothing is left. Nothing of this is how a solver finds them.

    The host looks at every edge a few times: O(V + E). On the device a round does, and
    there are as many as the components are deep, and the graph of components is long.
    Works under `jax.jit` and `jax.vmap` on a traced arena.

    Args:
        graph: an [`Arena`][jaxgames.Arena], a pair `(indptr, indices)`, or a sparse
            matrix.
        components: what has `labels` and a `count`, as the answer of `graph.scc`; or
            labels alone, integers `[V]`.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.
        engine: `"host"`; `"device"`; or `"auto"`: under tracing the device, else the
            host if numba is there and the backend is a CPU or the graph is small.

    Returns:
        A [`Verdict`][jaxgames.graph.Verdict]: true if all is right, else the reason and
        the first vertex where it shows.

    Raises:
        ValueError: labels, a mask or the engine are wrong in type or shape.

    Examples:
        >>> from jaxgames import graph
        >>> two = ([0, 1, 3, 4], [1, 0, 2, 2])
        >>> print(graph.verify(two, [0, 0, 1]))
        valid
        >>> print(graph.verify(two, [0, 1, 2]))
        vertex 0: from its component one gets to a cycle of several components: ...
        >>> print(graph.verify(two, [0, 0, 0]))
        vertex 2: it does not reach the smallest vertex of its component inside the ...
    """
    arena = as_arena(graph)
    check_masks(arena, vertices, edges)
    labels, count, most = labels_of(arena, components)
    traced = is_traced((arena, labels, count, vertices, edges))
    if _links.on_host(arena, engine, traced):
        return reference.verify(arena, components, vertices=vertices, edges=edges)
    if traced:
        inside = _links.inside(arena, vertices)
        return _pure(_links.traced(arena, edges), inside, labels, count, most)
    with eager():
        links = _links.prepare(arena, None if edges is None else np.asarray(edges))
        more = links.out.num_rows - arena.shape[0]
        inside = np.pad(_links.inside(arena, vertices), (0, more))
        labels = np.clip(labels, -2, MAX_SIZE).astype(np.int32)
        labels = np.pad(labels, (0, more), constant_values=-1)
        return _pure_jit(links, inside, labels, np.int32(count), np.int32(most))


# ---- on the device ---------------------------------------------------------------


def _pure(directions: Directions, inside, labels, count, most) -> Verdict:
    size = directions.out.num_rows
    vertex = jnp.arange(size, dtype=jnp.int32)
    inside, labels = jnp.asarray(inside), jnp.asarray(labels)
    ranged = (labels >= -1) & (labels < most)
    small = jnp.where(ranged & inside & (labels >= 0), labels, size).astype(jnp.int32)
    smallest = jnp.append(ops.min_into(small, vertex, size, size), size)
    first = ops.take(smallest, small) == vertex
    found = jnp.cumsum(first, dtype=jnp.int32)

    within, between = (
        Directions(*(_where(links, small, same) for links in directions))
        for same in (True, False)
    )
    forward = spread(within.into, first, inside)
    backward = spread(within.out, first, inside)
    return Verdict.first_of(
        ~ranged,
        inside & (labels == -1),
        ~inside & (labels != -1),
        inside & first & (small != found - 1),
        (count != NO_COUNT) & (found[-1:].sum() != count),
        inside & ~forward,
        inside & ~backward,
        _peel(between.out, small, inside),
    )


_pure_jit = jax.jit(_pure)


def _where(links: Links, labels: jax.Array, same: bool) -> Links:
    """The links inside components, or those between two."""
    ends = zip(ops.at_rows(links, labels), ops.at_targets(links, labels), strict=True)
    return ops.keep_links(links, tuple((a == b) == same for a, b in ends))


class Problem(NamedTuple):
    """A graph of components.

    Attributes:
        links: each vertex points at its successors in other components.
        labels: int32 `[V]`, the component of each vertex; `V` where it has none.
        inside: bool `[V]`, the vertices that there are.
    """

    links: Links
    labels: Any
    inside: Any


class State(NamedTuple):
    """Vertices of components that are left, and whether the last round took some."""

    left: jax.Array
    shrinks: jax.Array


@dataclasses.dataclass(frozen=True)
class Peel(Solver):
    """Takes components without an edge to another one away, all in a round."""

    name: ClassVar[str] = "verify"

    def init(self, game: Problem) -> State:
        """All are left."""
        return State(game.inside, jnp.array(True))

    def step(self, game: Problem, state: State) -> State:
        """A component stays if one of its vertices has an edge to one that is left."""
        leads = ops.links_any(game.links, state.left).astype(jnp.int32)
        size = len(game.labels)
        stays = jnp.append(ops.max_into(game.labels, leads, size, 0), 0)
        left = state.left & (ops.take(stays, game.labels) > 0)
        return State(left, jnp.any(left != state.left))

    def done(self, game: Problem, state: State) -> jax.Array:
        """Nothing was taken in the last round."""
        del game
        return ~state.shrinks

    def answer(self, game: Problem, state: State) -> jax.Array:
        """What is left."""
        del game
        return state.left


def _peel(links: Links, labels, inside) -> jax.Array:
    """The vertices from whose components a cycle of components can be reached."""
    problem = Problem(links, labels, inside)
    solver = Peel(sweeps_per_check=fixpoint.default_sweeps(links))
    carry = fixpoint.start(solver, problem)
    return fixpoint.iterate(solver, problem, carry, fixpoint.MAX_ROUNDS).state.left

"""The certificate check of strongly connected components, on the device or the host."""

import functools
from typing import Any, Unpack

import numpy as np

from jaxgames import fixpoint, ops, validity
from jaxgames.arena import MAX_SIZE, eager, is_traced
from jaxgames.graph import _links, host
from jaxgames.graph._input import NO_COUNT, check_masks, labels_of, read
from jaxgames.graph._links import Directions
from jaxgames.graph._reach import Engine
from jaxgames.graph._verdict import Verdict
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.ops import Links


@limited()
def verify(
    graph: Any,
    components: Any,
    *,
    vertices: Any = None,
    edges: Any = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks strongly connected components without trusting who found them.

    Every vertex must have a component, and these must be numbered in order of their
    smallest vertices. Inside each component its smallest vertex must reach all others
    and be reached by them; all components are searched at once. And no cycle may lead
    through several components: those without an edge to another one are taken away
    again and again, until nothing is left. No state of a solver is asked for any of it.

    The host looks at every edge a few times: O(V + E). On the device a round does, and
    there are as many as the graph of components is long, and for the searches, which
    jump, about the logarithm of how deep components are. Works under `jax.jit` and
    `jax.vmap` on a traced arena.

    Args:
        graph: an [`Arena`][jaxgames.Arena]; a pair `(indptr, indices)`; a sparse
            matrix; or [`Directions`][jaxgames.graph.Directions] made on the device,
            where it is checked then.
        components: what has `labels` and a `count`, as the answer of `graph.scc`; or
            labels alone, integers `[V]`.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are; None for all.
        engine: `"host"`; `"device"`; or `"auto"`: under tracing the device, else the
            host if the graph is small, or numba is there and the backend is a CPU, or
            the graph of components turns out to be long.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

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
    if isinstance(graph, Directions):
        return _verify_links(graph, components, vertices, edges, engine)
    arena, fault = read(graph)
    check_masks(arena, vertices, edges)
    labels, count, most = labels_of(arena.shape[0], components)
    traced = is_traced((arena, labels, count, vertices, edges))
    if traced:
        _links.on_host(arena, engine, traced)  # says what is wrong
        inside = _links.inside(arena, vertices)
        found, _ = _pure(_links.traced(arena, edges), inside, labels, count, most)
        return validity.withdrawn(fault, found)

    def there() -> Verdict:
        links = _links.prepare(arena, None if edges is None else np.asarray(edges))
        more = links.out.num_rows - arena.shape[0]
        inside = np.pad(_links.inside(arena, vertices), (0, more))
        small = np.clip(np.asarray(labels), -2, MAX_SIZE).astype(np.int32)
        small = np.pad(small, (0, more), constant_values=-1)
        return _checked_there(links, inside, small, np.int32(count), np.int32(most))

    def here() -> Verdict:
        return host.verify(arena, components, vertices=vertices, edges=edges)

    return _links.searched(arena, engine, there, here)


def _verify_links(graph: Directions, components, vertices, edges, engine) -> Verdict:
    _links.check(graph, vertices, edges)
    if engine == "host":
        raise ValueError(
            "engine='host' cannot check a graph that was made on the device"
        )
    size = graph.out.num_rows
    labels, count, most = labels_of(size, components)
    inside = np.ones(size, bool) if vertices is None else vertices
    if isinstance(labels, np.ndarray):
        labels = np.clip(labels, -2, MAX_SIZE).astype(np.int32)
    if is_traced((graph, labels, count, inside)):
        return _pure(graph, inside, labels, count, most)[0]
    with eager():
        return _checked_there(graph, inside, labels, np.int32(count), np.int32(most))


# ---- on the device ---------------------------------------------------------------


def _checked_there(*claim: Any) -> Verdict:
    found, ended = _pure_jit(*claim, np.int32(fixpoint.rounds_left()))
    if not ended:
        raise fixpoint.TooDeepError
    return found


def _pure(
    directions: Directions, inside, labels, count, most, rounds=fixpoint.MAX_ROUNDS
) -> tuple[Verdict, jax.Array]:
    """The verdict, and whether it took no search more than so many rounds."""
    size = directions.out.num_rows
    vertex = jnp.arange(size, dtype=jnp.int32)
    inside, labels = jnp.asarray(inside), jnp.asarray(labels)
    ranged = (labels >= -1) & (labels < jnp.minimum(most, size))
    small = jnp.where(ranged & inside & (labels >= 0), labels, size).astype(jnp.int32)
    # Of neighbours with one label the first is enough: a large component would have
    # all its vertices written to one place.
    before = jnp.concatenate([jnp.full(1, size, jnp.int32), small[:-1]])
    heads = jnp.where(small != before, small, size)
    smallest = jnp.append(ops.min_into(heads, vertex, size, size), size)
    smallest = ops.take(smallest, small)
    first = smallest == vertex
    found = jnp.cumsum(first, dtype=jnp.int32)

    within, between = (
        Directions(*(_where(links, small, same) for links in directions))
        for same in (True, False)
    )
    above, up = _least_known(within.into, rounds)
    below, down = _least_known(within.out, rounds)
    left, none = _peel(between.out, small, inside, rounds)
    verdict = Verdict.first_of(
        ~ranged,
        inside & (labels == -1),
        ~inside & (labels != -1),
        inside & first & (small != found - 1),
        (count != NO_COUNT) & (found[-1:].sum(dtype=jnp.int32) != count),
        inside & (above != smallest),
        inside & (below != smallest),
        left,
    )
    return verdict, up & down & none


_pure_jit = jax.jit(_pure)


def _where(links: Links, labels: jax.Array, same: bool) -> Links:
    """The links inside components, or those between two."""
    ends = zip(ops.at_rows(links, labels), ops.at_targets(links, labels), strict=True)
    return ops.keep_links(links, tuple((a == b) == same for a, b in ends))


def _least_known(links: Links, rounds: Any) -> tuple[jax.Array, jax.Array]:
    """The least vertex that paths lead from to each, where rows are predecessors."""
    vertex = jnp.arange(links.num_rows, dtype=jnp.int32)
    return fixpoint.settled_within(functools.partial(nearer, links), vertex, rounds)


def nearer(links: Links, least: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A round of searches from all vertices at once, of which the least one counts.

    What reaches a predecessor, at which `links` point, reaches a vertex; and what
    reaches the least that is known to do so (int32 `[V]`): by that jump a search covers
    about twice the way in every round.

    Returns:
        What is known then, and whether that is the same.
    """
    new = jnp.minimum(least, ops.links_min(links, least))
    new = jnp.minimum(new, ops.take(new, new))
    return new, jnp.all(new == least)


def _peel(
    links: Links, labels: jax.Array, inside: jax.Array, rounds: Any
) -> tuple[jax.Array, jax.Array]:
    """The vertices from whose components a cycle of components can be reached.

    Components without an edge to another one are taken away, all in a round. Links
    point at successors in other components. Labels are int32 `[V]`, `V` where a vertex
    has none; those `inside` are bool `[V]`. With them goes whether so many rounds were
    enough.
    """
    size = len(labels)

    def step(left):
        leading = jnp.where(ops.links_any(links, left) & left, labels, size)
        stays = ops.max_into(leading, jnp.ones(size, jnp.int32), size, 0)
        new = left & (ops.take(jnp.append(stays, 0), labels) > 0)
        return new, jnp.all(new == left)

    sweeps = fixpoint.default_sweeps(links)
    return fixpoint.settled_within(step, inside, rounds, sweeps)

"""What can be reached: marks that spread along the edges."""

import dataclasses
from typing import Any, ClassVar, Literal, NamedTuple, Unpack

import numpy as np

from jaxgames import fixpoint, ops, validity
from jaxgames.arena import MAX_SIZE, is_traced
from jaxgames.graph import _links, host
from jaxgames.graph._input import check_masks, read, vertex_mask
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.ops import Links
from jaxgames.solver import Solver

Engine = Literal["auto", "host", "device"]


@limited()
def reachable(
    graph: Any,
    sources: Any,
    *,
    backward: bool = False,
    vertices: Any = None,
    edges: Any = None,
    max_steps: Any = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Any:
    """The vertices that paths from some vertices reach.

    On the device all edges are looked at in every round, and there are as many rounds
    as the farthest vertex is away: O(depth (V + E)) work. The host looks at every edge
    once: O(V + E). Works under `jax.jit` and `jax.vmap` on a traced arena.

    Args:
        graph: an [`Arena`][jaxgames.Arena], a pair `(indptr, indices)`, or a sparse
            matrix.
        sources: bool `[V]`, or vertices by number (not under tracing).
        backward: whether to find the vertices that reach the sources instead.
        vertices: bool `[V]`, the vertices that there are; None for all. A source
            elsewhere is none.
        edges: bool `[E]`, the edges that there are; None for all.
        max_steps: edges of a path at most, which are also the rounds on the device.
            None: any number.
        engine: `"host"`; `"device"`; or `"auto"`: under tracing the device, else the
            host if the graph is small, or numba is there and the backend is a CPU, or
            the search turns out to be deep.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        bool `[V]`; the sources themselves are reached, padding is not.

    Raises:
        ValueError: the graph, a vertex, a mask or the engine is wrong.

    Examples:
        >>> from jaxgames import graph
        >>> chain = ([0, 1, 2, 2], [1, 2])
        >>> graph.reachable(chain, [1])
        array([False,  True,  True])
        >>> graph.reachable(chain, [1], backward=True)
        array([ True,  True, False])
        >>> graph.reachable(chain, [0], max_steps=1)
        array([ True,  True, False])
    """
    most = MAX_SIZE if max_steps is None else fixpoint.checked_steps(max_steps)
    arena, fault = read(graph)
    check_masks(arena, vertices, edges)
    start = vertex_mask("sources", arena, sources)
    traced = is_traced((arena, start, vertices, edges, max_steps))
    if traced:
        _links.on_host(arena, engine, traced)  # says what is wrong
        links = _links.traced(arena, edges)
        inside = _links.inside(arena, vertices)
        found = spread(links.out if backward else links.into, start, inside, most)
        return validity.withdrawn(fault, found)

    def there() -> np.ndarray:
        links = _links.prepare(arena, None if edges is None else np.asarray(edges))
        inside = _links.inside(arena, vertices)
        return run(links.out if backward else links.into, start, inside, most)

    def here() -> np.ndarray:
        how: dict[str, Any] = {"backward": backward, "max_steps": max_steps}
        return host.reachable(arena, start, vertices=vertices, edges=edges, **how)

    return _links.searched(arena, engine, there, here)


def place_for(arena: Any, engine: Engine = "auto") -> str:
    """Where `reachable` and `attractor` search a concrete graph.

    Args:
        arena: the arena.
        engine: as for these.

    Returns:
        `"host"` or `"device"`.

    Raises:
        ValueError: there is no such engine, or it is no graph.

    Examples:
        >>> from jaxgames import Arena, graph
        >>> graph.place_for(Arena.from_edges([0], [0], owner=[0]), "device")
        'device'
    """
    return "host" if _links.on_host(read(arena)[0], engine, False) else "device"


# ---- the solver ------------------------------------------------------------------


class Problem(NamedTuple):
    """Where marks may spread.

    Attributes:
        links: each vertex points at those that it takes a mark from.
        sources: bool `[V]`, the vertices that are marked in the beginning.
        inside: bool `[V]`, the vertices that there are.
        most: int32, the rounds that may be made.
    """

    links: Links
    sources: Any
    inside: Any
    most: Any


class State(NamedTuple):
    """Marks, the rounds made, and whether the last one made a new mark."""

    mark: jax.Array
    rounds: jax.Array
    spreads: jax.Array


@dataclasses.dataclass(frozen=True)
class Reach(Solver):
    """Breadth-first search, one level a round."""

    name: ClassVar[str] = "reachable"

    def init(self, game: Problem) -> State:
        """The sources are marked."""
        return State(game.sources & game.inside, jnp.int32(0), jnp.array(True))

    def step(self, game: Problem, state: State) -> State:
        """A vertex is marked if one is that it points at."""
        going = state.rounds != game.most
        new = game.inside & ~state.mark & ops.links_any(game.links, state.mark) & going
        return State(
            state.mark | new, state.rounds + going.astype(jnp.int32), jnp.any(new)
        )

    def done(self, game: Problem, state: State) -> jax.Array:
        """Nothing was marked in the last round, or it was the last one to be made."""
        return ~state.spreads | (state.rounds == game.most)

    def answer(self, game: Problem, state: State) -> jax.Array:
        return state.mark


def spread(links: Links, sources: Any, inside: Any, most: Any = MAX_SIZE) -> jax.Array:
    """Marks all that points, directly or not, at a source: bool `[V]`."""
    masks = jnp.asarray(sources), jnp.asarray(inside)
    problem = Problem(links, *masks, most=jnp.asarray(most, jnp.int32))
    solver = Reach(sweeps_per_check=fixpoint.default_sweeps(links))
    return fixpoint.completed(solver, problem).mark


def run(links: Links, sources: np.ndarray, inside: np.ndarray, most: Any) -> np.ndarray:
    """As `spread`, for masks of numpy that may be shorter than `links`."""
    size = len(sources)
    more = links.num_rows - size
    masks = (np.pad(mask, (0, more)) for mask in (sources, inside))
    return np.asarray(spread(links, *masks, most=most))[:size]

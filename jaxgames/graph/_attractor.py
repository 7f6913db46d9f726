"""Attractors: where a player can force a visit."""

import dataclasses
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from jaxgames import fixpoint, ops, validity
from jaxgames.arena import MAX_SIZE, Arena, is_traced
from jaxgames.graph import _links, host
from jaxgames.graph._input import check_masks, vertex_mask
from jaxgames.graph._reach import Engine
from jaxgames.graph._solution import NO_RANK, Attractor
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.ops import Links
from jaxgames.solution import NO_EDGE
from jaxgames.solver import Solver

JOINED, OPEN, OUT = range(3)
"""Kinds of vertices: in the attractor, not yet, not there at all. In this order the
player prefers them as successors; with the first two exchanged, which is `kind ^ 1`,
his opponent does."""


@limited()
def attractor(
    arena: Arena,
    target: Any,
    player: Any,
    *,
    vertices: Any = None,
    max_steps: Any = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Attractor:
    """The attractor of a player to a set of vertices [1].

    It is the least set that contains the target; each vertex of the player that has an
    edge into it; and each vertex of his opponent that has an edge, and all of whose
    edges lead into it. From there the player can force a visit to the target, and from
    no other vertex.

    A vertex without successors is attracted only if it is in the target: a play that
    ends elsewhere does not visit it. So if whoever cannot move loses, put the
    opponent's vertices without successors into the target.

    On the device all edges are looked at in every round, and there are as many rounds
    as the largest rank: O(rank (V + E)) work. The host looks at every edge once:
    O(V + E). Works under `jax.jit` and `jax.vmap` on a traced arena.

    Args:
        arena: the arena, with the owners of its vertices.
        target: bool `[V]`, or vertices by number (not under tracing).
        player: 0 or 1.
        vertices: bool `[V]`, the vertices that there are; None for all. Edges from and
            to others are not there either.
        max_steps: moves at most, which are also the rounds on the device: the vertices
            from which the player can force a visit in so many. None: any number.
        engine: `"host"`; `"device"`; or `"auto"`: under tracing the device, else the
            host if the arena is small, or numba is there and the backend is a CPU, or
            ranks turn out to be large.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The [`Attractor`][jaxgames.graph.Attractor], the same from both engines.

    Raises:
        ValueError: an argument is wrong.

    References:
        [1] Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.

    Examples:
        >>> from jaxgames import Arena, graph
        >>> arena = Arena.from_edges([0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1])
        >>> won = graph.attractor(arena, [2], 0)
        >>> won.mask
        array([ True, False,  True])
        >>> won.strategy  # vertex 0 takes edge 1, to vertex 2
        array([ 1, -1, -1], dtype=int32)
        >>> graph.attractor(arena, [2], 0, max_steps=0).mask
        array([False, False,  True])
    """
    most = MAX_SIZE if max_steps is None else fixpoint.checked_steps(max_steps)
    if not isinstance(arena, Arena):
        raise ValueError(
            f"an attractor needs an Arena, which has owners, got {type(arena).__name__}"
        )
    arena, fault = validity.checked(arena, total=False)
    check_masks(arena, vertices)
    if not is_traced(player) and player not in (0, 1):
        raise ValueError(f"player must be 0 or 1, got {player!r}")
    goal = vertex_mask("target", arena, target)
    traced = is_traced((arena, goal, player, vertices, max_steps))
    if traced:
        _links.on_host(arena, engine, traced)  # says what is wrong
        return validity.withdrawn(fault, _pure(arena, goal, player, vertices, most))

    def there() -> Attractor:
        return _on_device(arena, goal, int(player), vertices, most)

    def here() -> Attractor:
        how: dict[str, Any] = {"vertices": vertices, "max_steps": max_steps}
        return host.attractor(arena, goal, int(player), **how)

    return _links.searched(arena, engine, there, here)


# ---- the solver ------------------------------------------------------------------


class Problem(NamedTuple):
    """An arena as the solver reads it.

    Attributes:
        out: each vertex points at its successors.
        foreign: int8 `[V]`, 1 for a vertex of the opponent.
        target: bool `[V]`.
        inside: bool `[V]`, the vertices that there are.
        most: int32, the rounds that may be made.
    """

    out: Links
    foreign: Any
    target: Any
    inside: Any
    most: Any = MAX_SIZE


class State(NamedTuple):
    """Ranks so far, the rounds made, and whether the last one attracted a vertex."""

    rank: jax.Array
    rounds: jax.Array
    grows: jax.Array


@dataclasses.dataclass(frozen=True)
class Attract(Solver):
    """All vertices that can join the attractor do, round by round."""

    name: ClassVar[str] = "attractor"

    def init(self, game: Problem) -> State:
        """The target."""
        joined = game.target & game.inside
        rank = jnp.where(joined, 0, NO_RANK).astype(jnp.int32)
        return State(rank, jnp.int32(0), jnp.array(True))

    def step(self, game: Problem, state: State) -> State:
        """A vertex joins if the successor that its owner likes best makes it."""
        joined = state.rank != NO_RANK
        kind = jnp.where(game.inside, jnp.where(joined, JOINED, OPEN), OUT)
        kinds = zip(
            ops.at_targets(game.out, kind.astype(jnp.int8)),
            ops.at_rows(game.out, game.foreign),
            strict=True,
        )
        seen = tuple(kind ^ foreign for kind, foreign in kinds)
        best = ops.links_min(game.out, seen)
        going = state.rounds != game.most
        new = game.inside & ~joined & (best == game.foreign) & going
        rounds = state.rounds + going.astype(jnp.int32)
        return State(jnp.where(new, rounds, state.rank), rounds, jnp.any(new))

    def done(self, game: Problem, state: State) -> jax.Array:
        """Nothing was attracted in the last round, or it was the last to be made."""
        return ~state.grows | (state.rounds == game.most)

    def answer(self, game: Problem, state: State) -> jax.Array:
        return state.rank


def _rank(out: Links, foreign, target, inside, most) -> jax.Array:
    masks = foreign.astype(np.int8), target, inside
    problem = Problem(out, *map(jnp.asarray, masks), most=jnp.asarray(most, jnp.int32))
    solver = Attract(sweeps_per_check=fixpoint.default_sweeps(out))
    return fixpoint.completed(solver, problem).rank


def _pure(arena: Arena, target, player, vertices, most) -> Attractor:
    owner = jnp.asarray(arena.owner)
    inside = _links.inside(arena, vertices)
    own = owner == (player == 1)
    rank = _rank(_links.traced(arena).out, ~own, target, inside, most)
    # The first edge that leads one rank down.
    misses = ops.edgewise(
        lambda here, there: (there != here - 1).astype(jnp.int32),
        ops.source(arena, rank),
        ops.target(arena, rank),
    )
    least, move = ops.out_argmin(arena, misses, bound=1)
    moves = own & (rank > 0) & (least == 0)
    strategy = ops.edge_of(arena, jnp.where(moves, move, NO_EDGE))
    return Attractor(rank != NO_RANK, strategy, rank)


def _on_device(arena: Arena, target, player: int, vertices, most) -> Attractor:
    out, size = _links.prepare(arena).out, arena.shape[0]
    inside = _links.inside(arena, vertices)
    own = np.asarray(arena.owner) == (player == 1)
    more = 0, out.num_rows - size
    foreign, goal, inside = (np.pad(x, more) for x in (~own, target, inside))
    rank = np.asarray(_rank(out, foreign, goal, inside, most))[:size]
    strategy = host.moves_down(arena, rank, own)
    return Attractor(rank != NO_RANK, strategy, rank)

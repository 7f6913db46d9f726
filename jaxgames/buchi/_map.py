"""Maximal accepting predecessors, here successors: MAP."""

import dataclasses
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.arena import is_traced
from jaxgames.buchi._solver import NONE, Answer, CycleSolver, Problem, first_of, inside
from jaxgames.later import jax, jnp
from jaxgames.ops import Pieces
from jaxgames.states import register

Order = Literal["reverse", "forward", "random"]

ORDERS: tuple[Order, ...] = ("reverse", "forward", "random")

_SEED = 2009


@register
class State(NamedTuple):
    """Parts, what each vertex knows, and the scalars of the machine."""

    part: jax.Array  # int32 [V], oldmap: 0 where no accepting cycle can be
    best: jax.Array  # int32 [V], map: the highest accepting rank reached, or 0
    live: Pieces  # bool on links: inside a part
    jump: jax.Array | None  # int32 [V]: a vertex that is reached, or itself
    trimming: jax.Array  # bool: which sweeps these are
    stable: jax.Array
    witness: jax.Array  # int32
    left: jax.Array  # bool: some accepting vertex may lie on a cycle
    outer: jax.Array  # int32: turns after propagation
    inner: jax.Array  # int32: sweeps that propagate
    trim: jax.Array  # int32: sweeps that trim


@dataclasses.dataclass(frozen=True)
class Map(CycleSolver):
    """Maximal accepting successors [1, 2].

    Each vertex learns the highest accepting vertex that it reaches by an edge or more;
    who learns of himself lies on an accepting cycle. If nobody does, vertices that have
    learned of different ones lie on no common cycle: they are different parts from now
    on, and edges between them go. An accepting vertex higher than all that it reaches
    lies on no cycle, and is deleted. What is left starts again.

    A sweep is O(V + E). There are up to V of them between two turns, and up to as many
    turns as there are accepting vertices, plus one; with a good order there are few. If
    ranks never rise along edges between different components, one turn is enough.

    Relabelling is one step for all vertices at once. Where it is fused into the
    propagation, as in algorithm 4 of [1], a vertex that has just been given to a new
    part must not be compared by its old one while that is still empty, or cycles are
    lost.

    Attributes:
        order: what makes an accepting vertex high: `"reverse"`, a small number, as fits
            vertices that were numbered by a search from the initial one; `"forward"`, a
            large one; `"random"`; or an array of distinct numbers, one for each vertex,
            which only a solver that is passed to `accepting_cycle` can have.
        jump: whether to follow pointers as well, which double in length with each
            sweep: one more gather, up to a few times fewer sweeps.
        trim: whether to delete vertices that have no successor in their part, again and
            again, before each propagation.

    References:
        [1] Barnat, Brim, Češka and Lamr, CUDA accelerated LTL model checking, ICPADS
        2009, doi:10.1109/ICPADS.2009.50.
        [2] Brim, Černá, Moravec and Šimša, Accepting predecessors are better than back
        edges in distributed LTL model-checking, FMCAD 2004,
        doi:10.1007/978-3-540-30494-4_25.

    Examples:
        >>> from jaxgames import buchi
        >>> graph = [0, 2, 4, 4, 5], [3, 2, 0, 2, 1]
        >>> found = buchi.accepting_cycle(graph, accepting=[0, 2], solver="map")
        >>> found.lasso.cycle
        array([0, 3, 1], dtype=int32)
    """

    order: Any = "reverse"
    jump: bool = False
    trim: bool = False

    name: ClassVar[str] = "map"

    def __post_init__(self):
        super().__post_init__()
        if isinstance(self.order, str) and self.order not in ORDERS:
            raise ValueError(
                f"order must be one of {ORDERS} or an array, got {self.order!r}"
            )

    def init(self, game: Problem) -> State:
        """Nobody knows anything."""
        zero = jnp.int32(0)
        state = State(
            part=jnp.asarray(game.part, jnp.int32),
            best=jnp.zeros_like(game.part),
            live=(),
            jump=None,
            trimming=jnp.array(self.trim),
            stable=jnp.array(False),
            witness=jnp.int32(NONE),
            left=jnp.array(True),
            outer=zero,
            inner=zero,
            trim=zero,
        )
        return self._begin(game, state)

    def _begin(self, game: Problem, state: State) -> State:
        """Links and pointers inside the parts; nobody knows anything."""
        live = inside(game.links, state.part)
        state = state._replace(
            best=jnp.zeros_like(state.best),
            live=live,
            left=jnp.any(game.accepting & (state.part > 0)),
            stable=jnp.array(False),
        )
        if not self.jump:
            return state
        heads = ops.link_targets(game.links)
        last = ops.links_max(game.links, heads, live)
        own = jnp.arange(len(state.part), dtype=jnp.int32)
        return state._replace(jump=jnp.where(last < 0, own, last))

    def sweep(self, game: Problem, state: State) -> State:
        """Ranks go along every edge of a part; or dead ends are deleted."""
        there, best = state.part > 0, state.best
        accepting = game.accepting & there
        known = jnp.where(accepting, jnp.maximum(best, game.rank), best)
        if not self.trim:
            seen = ops.links_max(game.links, known, state.live)
            return self._learn(game, state, known, seen)
        # Both are the same reduction: of what is known, or of what is there.
        known = jnp.where(state.trimming, there.astype(jnp.int32), known)
        seen = ops.links_max(game.links, known, state.live)
        stays = there & (seen > 0)
        new = self._learn(game, state, known, seen)
        return new._replace(
            part=jnp.where(state.trimming & ~stays, 0, state.part),
            best=jnp.where(state.trimming, best, new.best),
            witness=jnp.where(state.trimming, state.witness, new.witness),
            stable=jnp.where(state.trimming, jnp.all(stays == there), new.stable),
            inner=jnp.where(state.trimming, state.inner, new.inner),
            trim=state.trim + jnp.int32(state.trimming & ~state.stable & state.left),
        )

    def _learn(self, game: Problem, state: State, known, seen) -> State:
        best = jnp.maximum(state.best, seen)
        if state.jump is not None:
            own = jnp.arange(len(best), dtype=jnp.int32)
            ahead = ops.take(known, state.jump)
            best = jnp.maximum(best, jnp.where(state.jump == own, 0, ahead))
            state = state._replace(jump=ops.take(state.jump, state.jump))
        witness = first_of(game.accepting & (state.part > 0) & (best == game.rank))
        counts = ~state.stable & state.left & (state.witness == NONE)
        return state._replace(
            best=best,
            witness=jnp.where(state.witness == NONE, witness, state.witness),
            stable=jnp.all(best == state.best),
            inner=state.inner + jnp.int32(counts),
        )

    def turn(self, game: Problem, state: State) -> State:
        """Vertices that know different ones are different parts from now on."""
        lost = game.accepting & (state.best < game.rank)
        split = jnp.where(lost | (state.part == 0), 0, state.best)
        state = state._replace(
            part=jnp.where(state.trimming, state.part, split),
            outer=state.outer + jnp.int32(~state.trimming),
            trimming=~state.trimming & self.trim,
        )
        return self._begin(game, state)

    def done(self, game: Problem, state: State) -> jax.Array:
        """Somebody knows himself, or no accepting vertex is left."""
        return (state.witness != NONE) | ~state.left

    def answer(self, game: Problem, state: State) -> Answer:
        """Who knows himself, and his part."""
        at = jnp.maximum(state.witness, 0)
        exists = state.witness != NONE
        same = (state.part == ops.take(state.part, at)) & (state.part > 0)
        return Answer(exists, state.witness, same & exists)

    def stats(self, game: Problem, state: State) -> dict[str, Any]:
        """Turns, sweeps that propagate, and sweeps that trim."""
        return {"outer": state.outer, "inner": state.inner, "trim": state.trim}


def ranks(solver: Any, size: int, num_rows: int, traced: bool = False) -> Any:
    """The rank of each vertex: int32 `[num_rows]`, distinct, at least 1.

    Of `size` vertices in a layout of so many rows; if `traced`, an array of JAX. A
    solver that is no `Map` wants none.

    Raises:
        ValueError: an array of another length, or with a number twice.
    """
    order = getattr(solver, "order", "forward")
    xp = jnp if traced else np
    up = xp.arange(1, num_rows + 1, dtype=xp.int32)
    if isinstance(order, str):
        if order == "random":
            order = np.random.default_rng(_SEED).permutation(num_rows)
            return xp.asarray(order.astype(np.int32) + 1)
        return up if order == "forward" else up[::-1]
    if is_traced(order):
        raise ValueError("order is traced by jax: pass a name, or a concrete array")
    order = np.asarray(order)
    if order.shape != (size,) or order.dtype.kind not in "iuf":
        raise ValueError(
            f"order must have one number for each vertex ({size}), got {order.dtype} "
            f"of shape {order.shape}"
        )
    place = np.argsort(order, kind="stable")
    twice = np.flatnonzero(np.diff(order[place]) == 0)
    if len(twice):
        at = place[twice[0]], place[twice[0] + 1]
        raise ValueError(
            f"order must hold distinct numbers, got {order[at[0]]} for vertices "
            f"{at[0]} and {at[1]}"
        )
    rank = np.arange(1, num_rows + 1, dtype=np.int32)
    rank[place] = rank[:size].copy()
    return xp.asarray(rank)


def named(solver: Any) -> Any:
    """The solver without an array of its own, which `ranks` has read."""
    if isinstance(getattr(solver, "order", ""), str):
        return solver
    return dataclasses.replace(solver, order="forward")

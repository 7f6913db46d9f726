"""Büchi games by attractors in turn, as an array program."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames.buchi._solver import CycleSolver
from jaxgames.graph import _attractor
from jaxgames.graph.host import NO_RANK
from jaxgames.later import jax, jnp
from jaxgames.ops import Links
from jaxgames.solution import UNDECIDED
from jaxgames.states import register


class Problem(NamedTuple):
    """A game as the solver reads it.

    Attributes:
        links: each vertex points at its successors.
        owner: bool `[V]`, True for player 1.
        accepting: bool `[V]`.
        inside: bool `[V]`, the vertices that there are.
    """

    links: Links
    owner: Any
    accepting: Any
    inside: Any


@register
class State(NamedTuple):
    """What is left, what is lost, and the attractor that grows."""

    left: jax.Array  # bool [V]: not known to be lost for player 0
    lost_in: jax.Array  # int32 [V]: the turn in which it was lost, else 0
    lost_rank: jax.Array  # int32 [V]: its rank then
    rank: jax.Array  # int32 [V]: in the attractor that grows, or NO_RANK
    level: jax.Array  # int32: the last rank given
    losing: jax.Array  # bool: whose attractor it is
    stable: jax.Array
    over: jax.Array
    outer: jax.Array  # int32: games that were taken apart
    inner: jax.Array  # int32: sweeps


@register
class Regions(NamedTuple):
    """Who wins, and the ranks that strategies follow: down, inside one layer."""

    winner: jax.Array  # int8 [V]
    layer: jax.Array  # int32 [V]: 0 where player 0 wins
    rank: jax.Array  # int32 [V]


@dataclasses.dataclass(frozen=True)
class Attractors(CycleSolver):
    """The classical algorithm: attractors in turn [1].

    What player 0 cannot force into an accepting vertex that is left is lost for him,
    and so is what player 1 can force there. What remains is a smaller game; where
    nothing is lost any more, player 0 wins all of it.

    A sweep is O(V + E); as many as the attractors are deep, in up to V turns.

    References:
        [1] Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.

    Examples:
        >>> from jaxgames import Arena, buchi
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 2, 2], owner=[0, 1, 0], accepting=[1, 0, 0]
        ... )
        >>> buchi.solve(arena, "attractors").winner
        array([0, 1, 1], dtype=int8)
    """

    name: ClassVar[str] = "attractors"
    solves: ClassVar[str] = "Büchi games"

    def init(self, game: Problem) -> State:  # type: ignore[override]
        """Player 0 attracts to the accepting vertices."""
        none = jnp.zeros(len(game.inside), jnp.int32)
        zero = jnp.int32(0)
        goal = game.inside & game.accepting
        return State(
            left=jnp.asarray(game.inside),
            lost_in=none,
            lost_rank=none,
            rank=_target(goal),
            level=zero,
            losing=jnp.array(False),
            stable=jnp.array(False),
            over=~jnp.any(game.inside),
            outer=zero,
            inner=zero,
        )

    def sweep(self, game: Problem, state: State) -> State:  # type: ignore[override]
        """The attractor grows by all that can join it."""
        foreign = (game.owner != state.losing).astype(jnp.int8)
        none = jnp.zeros_like(state.left)
        problem = _attractor.Problem(game.links, foreign, none, state.left)
        grown = _attractor.State(state.rank, state.level, ~state.stable)
        grown = _attractor.Attract().step(problem, grown)
        return state._replace(
            rank=grown.rank,
            level=grown.rounds,
            stable=~grown.grows,
            inner=state.inner + (~state.stable & ~state.over).astype(jnp.int32),
        )

    def turn(self, game: Problem, state: State) -> State:  # type: ignore[override]
        """The other player's turn; or what he has attracted is lost."""
        joined = state.rank != NO_RANK
        avoids = state.left & ~joined
        lost = state.losing & joined
        left = state.left & ~lost
        outer = state.outer + (~state.losing).astype(jnp.int32)
        over = ~state.losing & ~jnp.any(avoids)
        goal = jnp.where(state.losing, left & game.accepting, avoids)
        return State(
            left=left,
            lost_in=jnp.where(lost, outer, state.lost_in),
            lost_rank=jnp.where(lost, state.rank, state.lost_rank),
            rank=jnp.where(over, state.rank, _target(goal)),
            level=jnp.int32(0),
            losing=~state.losing,
            stable=jnp.array(False),
            over=over,
            outer=outer,
            inner=state.inner,
        )

    def done(self, game: Problem, state: State) -> jax.Array:
        """Nothing was lost in the last turn."""
        return state.over

    def answer(self, game: Problem, state: State) -> Regions:  # type: ignore[override]
        """What is lost, and what is left if nothing more can be lost."""
        lost = state.lost_in > 0
        open_ = jnp.where(state.over, 0, UNDECIDED)
        winner = jnp.where(lost, 1, jnp.where(game.inside, open_, UNDECIDED))
        return Regions(
            winner.astype(jnp.int8),
            state.lost_in,
            jnp.where(lost, state.lost_rank, state.rank),
        )

    def stats(self, game: Any, state: State) -> dict[str, Any]:
        """Games taken apart, and sweeps."""
        return {"outer": state.outer, "inner": state.inner}


def _target(goal: jax.Array) -> jax.Array:
    return jnp.where(goal, 0, NO_RANK).astype(jnp.int32)

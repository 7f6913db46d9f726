"""Fixpoint iteration of credits: what a traced game is solved by."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.energyparity._solution import LOST, UNKNOWN
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.solution import UNDECIDED
from jaxgames.solver import Solver
from jaxgames.states import register


@register
class State(NamedTuple):
    """Arrays are over slots `[S]`, in the type of the weights."""

    credit: (
        jax.Array
    )  # energy that is estimated to be needed; infinite if none is enough
    cap: jax.Array  # no more than that is ever of use
    block: jax.Array  # the priority that the last round changed, or nothing(game)


class Found(NamedTuple):
    """Winners, and the least energy that player 0 wins with."""

    winner: Any
    credit: Any


@dataclasses.dataclass(frozen=True)
class Credits(Solver):
    """Fixpoint iteration of the least credits, for energy parity games.

    With energy as a part of the vertices, an energy parity game is a parity game whose
    winning sets hold all that lies above a level [1]: so a set is a number for each
    vertex, the least energy that is enough, and operations on sets are `min`, `max` and
    differences. The nested fixpoint that is the winning set is found as in simple
    fixpoint iteration [2]. Vertices of even priority begin with 0 and rise, those of
    odd priority begin with infinity and fall. A round evaluates all vertices, and
    changes those of the least priority that has some to change; less important ones of
    the other parity then begin afresh, while those of the same parity go on [3].

    A round is one sweep over the edges. Credits may rise by little in each round, up to
    `2 n d W` for `n` vertices, `d` priorities and weights that take `W` at most, and
    there may be as many rounds as that to the power of `d`: for small games, many at
    once.

    References:
        [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012),
        doi:10.1016/j.tcs.2012.07.038.
        [2] van Dijk and Rubbens, Simple fixpoint iteration to solve parity games,
        GandALF 2019, arXiv:1909.07659.
        [3] Emerson and Lei, Efficient model checking in fragments of the propositional
        mu-calculus, LICS 1986.
    """

    name: ClassVar[str] = "credits"

    def init(self, game: Game) -> State:
        """What each parity begins with."""
        cap = _cap(game)
        return State(_first(game, cap.dtype), cap, jnp.zeros((), game.priority.dtype))

    def step(self, game: Game, state: State) -> State:
        """Evaluates every vertex, changes one block, and resets those below."""
        credit, cap, _ = state
        own, priority = credit, game.priority
        most = _finite(cap.dtype)
        # What gains more than all that is needed does as well with less.
        weight = ops.edgewise(lambda w: jnp.clip(w, -most, most), ops.edge_weight(game))
        asked = ops.edgewise(jnp.subtract, ops.target(game, credit), weight)
        turn = jnp.where(jnp.asarray(game.owner), -1, 0).astype(cap.dtype)
        turned = ops.edgewise(jnp.bitwise_xor, asked, ops.source(game, turn))
        new = jnp.maximum(ops.out_min(game, turned) ^ turn, 0)
        new = jnp.where(new > cap, _infinite(cap.dtype), new)
        differs = new != own
        block = ops.known_to_all(jnp.min(jnp.where(differs, priority, nothing(game))))
        changes = differs & (priority == block)
        afresh = (priority < block) & ((priority ^ block) & 1 != 0)
        afresh &= block != nothing(game)
        credit = jnp.where(changes, new, credit)
        credit = jnp.where(afresh, _first(game, cap.dtype), credit)
        return State(credit, cap, block)

    def done(self, game: Game, state: State) -> jax.Array:
        """No block changed."""
        return state.block == nothing(game)

    def overflow(self, state: State) -> jax.Array:
        """More energy may be of use than numbers are sure to hold."""
        return state.cap >= _finite(state.cap.dtype)

    def answer(self, game: Game, state: State) -> Found:
        """At the fixpoint what is estimated is right; before it nothing is known."""
        known = self.done(game, state) & ~self.overflow(state)
        lost = state.credit > state.cap
        winner = jnp.where(known, lost.astype(jnp.int8), UNDECIDED)
        credit = jnp.where(lost, LOST, state.credit)
        return Found(winner, jnp.where(known, credit, UNKNOWN))


def nothing(game: Game) -> jax.Array:
    """In place of a block: more important than any."""
    return jnp.array(jnp.iinfo(game.priority.dtype).max, game.priority.dtype)


def _finite(dtype: Any) -> int:
    """Energy that is of use is less."""
    return (1 << jnp.iinfo(dtype).bits - 3) - 1


def _infinite(dtype: Any) -> int:
    """For no energy being enough: more than any cap, whatever is gained or lost."""
    return 3 << jnp.iinfo(dtype).bits - 3


def _first(game: Game, dtype: Any) -> jax.Array:
    """What vertices begin with."""
    odd = (game.priority & 1) != 0
    return jnp.where(odd, _infinite(dtype), 0).astype(dtype)


def _cap(game: Game) -> jax.Array:
    """Energy that is enough to tell apart, as the bound of [1]; at most `_finite`."""
    weight = ops.edge_weight(game)
    dtype, real = weight[0].dtype, ops.real(game)
    most = np.array(_finite(dtype), dtype)
    taken = jnp.maximum(-jnp.maximum(ops.out_min(game, weight), -most), 0)
    loss = ops.known_to_all(jnp.max(jnp.where(real, taken, 0), initial=0))
    size = jnp.sum(real, dtype=dtype)
    seen = jnp.sort(jnp.where(real, game.priority, nothing(game)))
    kinds = jnp.sum((seen[1:] != seen[:-1]) & (seen[1:] != nothing(game)), dtype=dtype)
    many = 2 * (size * (kinds + 1) + 1)
    # Floats tell whether the product would wrap round.
    parts = (x.astype(float) for x in (size, kinds, loss))
    vertices, priorities, most_lost = parts
    large = 2.0 * (vertices * (priorities + 1) + 1) * most_lost
    return jnp.where(large < 0.9 * float(most), many * loss, most).astype(dtype)

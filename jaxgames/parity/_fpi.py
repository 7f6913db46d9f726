"""Fixpoint iteration with freezing, all blocks evaluated at once."""

import dataclasses
from typing import ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.parity._game import Answer, answer
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.solver import Solver
from jaxgames.states import register

NOT_FROZEN = -1


@register
class State(NamedTuple):
    """Everything is an array over slots `[S]`, but for `block`."""

    estimate: jax.Array  # bool: who is estimated to win the vertex
    frozen: jax.Array  # the block whose change froze the vertex, or NOT_FROZEN
    move: jax.Array | None  # position of the owner's edge when last estimated for him
    block: jax.Array  # the priority that the last round changed, or nothing(game)


@dataclasses.dataclass(frozen=True)
class FPI(Solver):
    """Fixpoint iteration with freezing.

    A vertex is estimated to be won by the player of its priority's parity, until its
    owner's best successor says otherwise: then it is a distraction. A block is the set
    of vertices of one priority. The least important block that has a new distraction
    is changed; less important vertices are frozen if the change is in favour of whom
    they are estimated for, and start afresh if not. At the fixpoint all estimates are
    right.

    One sweep evaluates all blocks, so a round is a change and not an empty test.
    Exponentially many rounds in the number of priorities at worst; few where the
    alternation is low, as in most games of model checking.

    Reference:
        van Dijk and Rubbens, Simple fixpoint iteration to solve parity games, GandALF
        2019, arXiv:1909.07659.
    """

    name: ClassVar[str] = "fpi"

    def init(self, game: Game) -> State:
        """Nobody is distracted, nobody frozen."""
        size, move = ops.num_slots(game), None
        if self.strategies:
            move = jnp.full(size, NO_EDGE, ops.move_type(game))
        return State(
            estimate=(game.priority & 1) != 0,
            frozen=jnp.full(size, NOT_FROZEN, game.priority.dtype),
            move=move,
            block=jnp.zeros((), game.priority.dtype),
        )

    def step(self, game: Game, state: State) -> State:
        """Evaluates every vertex, changes one block, freezes or resets those below."""
        estimate, frozen, move, _ = state
        priority, owner = game.priority, game.owner
        parity = (priority & 1) != 0

        against = ops.edgewise(
            jnp.not_equal, ops.target(game, estimate), ops.source(game, owner)
        )
        if move is None:
            lost = ops.out_all(game, against)
        else:
            best, position = ops.out_argmin(game, against, bound=1)
            lost = best != 0
        outcome = owner ^ lost  # the owner moves to where he is estimated to win

        open_ = (estimate == parity) & (frozen == NOT_FROZEN)
        new = open_ & (outcome != parity)
        # The least important block with a new distraction.
        block = jnp.min(jnp.where(new, priority, nothing(game)))

        below = (block != nothing(game)) & (priority < block) & (frozen < block)
        # The change is in favour of the player against the block's parity.
        keep = estimate != ((block & 1) != 0)
        afresh = (below & ~keep) | (new & (priority == block))
        if move is not None:
            moves = open_ & (priority <= block) & ~lost
            move = jnp.where(moves, position.astype(move.dtype), move)
        return State(
            # A vertex that starts afresh is undistracted, a new distraction turns.
            estimate=jnp.where(afresh, jnp.where(below, parity, ~parity), estimate),
            frozen=jnp.where(below, jnp.where(keep, block, NOT_FROZEN), frozen),
            move=move,
            block=block,
        )

    def done(self, game: Game, state: State) -> jax.Array:
        """No block changed."""
        return state.block == nothing(game)

    def answer(self, game: Game, state: State) -> Answer:
        """At the fixpoint estimates are winners; before it nothing is known."""
        winner = state.estimate.astype(jnp.int8)
        winner = jnp.where(self.done(game, state), winner, UNDECIDED)
        return answer(game, winner, state.move)


def nothing(game: Game) -> jax.Array:
    """In place of a block: more important than any."""
    return jnp.array(jnp.iinfo(game.priority.dtype).max, game.priority.dtype)

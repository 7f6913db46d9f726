"""Zielonka's recursive algorithm as one flat loop of attractor sweeps."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.machine import Machine
from jaxgames.ops import Game
from jaxgames.parity._attract import (
    ATTRACTOR,
    OUT,
    PLAY,
    head,
    kinds,
    reads_little,
    sweep,
    when,
)
from jaxgames.parity._game import Answer, answer
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.states import register

HEAD, ESCAPE, RETURN, DONE = range(4)
"""Phases: growing the attractor to the head of the subgame, growing the opponent's
attractor to what he won below, handing a solved subgame to the level above, the end."""

TENTATIVE = 2
"""Added to a winner that stands only if the opponent wins nothing below."""


@register
class State(NamedTuple):
    """Arrays over slots `[S]`, and the scalars of the machine.

    The stack of the recursion lies in `removed`: a vertex in play belongs to the
    current subgame, one out of play was taken out at the depth noted there.
    """

    kind: jax.Array  # int8: ATTRACTOR, PLAY or OUT
    removed: jax.Array  # depth at which a vertex that is OUT was taken out
    winner: jax.Array  # int8: of a vertex that is OUT, in its subgame; or tentative
    move: Any  # position of the edge of the vertex's strategy; None if not wanted
    depth: jax.Array  # of the current subgame
    player: jax.Array  # bool: whose attractor grows
    fresh: jax.Array  # bool: the attractor holds its head alone
    phase: jax.Array  # int32


@dataclasses.dataclass(frozen=True)
class Zielonka(Machine):
    """Zielonka's recursion on the device, level-synchronous attractors.

    `solve(subgame)`: let a be the player of the most important priority, `head` the
    vertices more important than any of the other parity, A the attractor of a to
    `head`. Solve the rest. If the opponent wins nothing there, a wins all; else the
    opponent wins his attractor B to what he won, and what is left is solved anew.

    The recursion is unrolled into a machine whose every step is `sweeps` of an
    attractor and one transition, so that it batches; its stack takes one number a
    vertex. Exponentially many rounds in the number of priorities at worst, O(V) memory.

    Attributes:
        sweeps: attractor sweeps between two transitions. On a GPU a transition and the
            test for the end cost about as much as three sweeps; sweeps of a finished
            attractor are idle. None: 8 on an accelerator, 1 on a CPU.

    Reference:
        Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
    """

    name: ClassVar[str] = "zielonka"

    def init(self, game: Game) -> State:
        """All vertices are in play, the head is the attractor; padding is out."""
        size = ops.num_slots(game)
        in_play = ops.real(game)
        first, player, _ = head(game.priority, in_play)
        move = jnp.full(size, NO_EDGE, ops.move_type(game))
        return State(
            kind=kinds(first, in_play),
            removed=jnp.zeros(size, game.priority.dtype),
            winner=jnp.zeros(size, jnp.int8),
            move=move if self.strategies else None,
            depth=jnp.zeros((), game.priority.dtype),
            player=player,
            fresh=jnp.array(True),
            phase=jnp.int32(HEAD),
        )

    def step(self, game: Game, state: State) -> State:
        """Grows the attractor by some levels; when it stands still, goes on."""
        stable = jnp.array(False)
        for _ in range(self.sweeps_per_step(game)):
            state, stable = _grow(game, state)
        return when(
            stable | (state.phase == RETURN),
            lambda grown: _return(game, _close(game, grown, stable)),
            state,
            asks=reads_little(game),
        )

    def done(self, game: Game, state: State) -> jax.Array:
        """The game at depth 0 is solved."""
        return state.phase == DONE

    def answer(self, game: Game, state: State) -> Answer:
        """Winners at depth 0; before the end, those decided there for good."""
        decided = (state.removed == 0) & (state.winner < TENTATIVE)
        decided = (decided & (state.kind == OUT)) | (state.phase == DONE)
        winner = jnp.where(decided, state.winner, UNDECIDED)
        return answer(game, winner, state.move)


def _grow(game: Game, state: State) -> tuple[State, jax.Array]:
    """One sweep: vertices that the player can move, or the opponent must, join.

    Also whether the attractor stands still.
    """
    growing = (state.phase == HEAD) | (state.phase == ESCAPE)
    foreign = (game.owner != state.player).astype(jnp.int8)
    play = growing & (state.kind == PLAY)
    # A vertex of the head moves anywhere in the subgame: all of it is won if this is.
    starts = state.fresh & (state.phase == HEAD) & (state.kind == ATTRACTOR)
    rows = play | starts if reads_little(game) else None
    best, position = sweep(game, state.kind, foreign, rows)
    joins = play & (best == foreign.astype(best.dtype))
    moves, move = (foreign == 0) & (joins | starts), state.move
    if move is not None:
        move = jnp.where(moves, position.astype(move.dtype), move)
    state = state._replace(
        kind=jnp.where(joins, ATTRACTOR, state.kind).astype(jnp.int8),
        move=move,
        fresh=jnp.array(False),
    )
    return state, growing & ~jnp.any(joins)


def _close(game: Game, state: State, stable) -> State:
    """A finished attractor leaves play; what is left is the next subgame."""
    tentative = jnp.where(state.phase == HEAD, TENTATIVE, 0)
    leaves = stable & (state.kind == ATTRACTOR)
    winner = (tentative + jnp.int32(state.player)).astype(jnp.int8)
    left = state.kind == PLAY
    first, player, top = head(game.priority, left)
    some = top >= 0
    deeper = (stable & (state.phase == HEAD) & some).astype(state.depth.dtype)
    return State(
        kind=jnp.where(stable, kinds(first, left), state.kind),
        removed=jnp.where(leaves, state.depth, state.removed),
        winner=jnp.where(leaves, winner, state.winner),
        move=state.move,
        depth=state.depth + deeper,
        player=jnp.where(stable, player, state.player),
        fresh=stable,
        phase=jnp.where(stable, jnp.where(some, HEAD, RETURN), state.phase),
    )


def _return(game: Game, state: State) -> State:
    """Hands the solved subgame at `depth` to the level above."""
    active = state.phase == RETURN
    here = active & (state.kind == OUT) & (state.removed >= state.depth)
    # The opponent won nothing below, so the tentative winners of this level stand.
    winner = jnp.where(
        here & (state.winner >= TENTATIVE), state.winner - TENTATIVE, state.winner
    )
    above = active & (state.removed == state.depth - 1) & (state.winner >= TENTATIVE)
    player = jnp.any(above & (state.winner == TENTATIVE + 1))  # of the level above
    wins = [jnp.any(here & (winner == p)) for p in (0, 1)]

    ends = active & (state.depth == 0)
    escapes = active & ~ends & jnp.where(player, wins[0], wins[1])
    back = escapes & (here | above)
    lost = here & (winner != player.astype(winner.dtype))
    return State(
        kind=jnp.where(back, kinds(lost, back), state.kind),
        removed=state.removed,
        winner=winner,
        move=state.move,
        depth=jnp.where(active & ~ends, state.depth - 1, state.depth),
        player=jnp.where(escapes, ~player, state.player),
        fresh=state.fresh & ~escapes,
        phase=jnp.where(ends, DONE, jnp.where(escapes, ESCAPE, state.phase)),
    )

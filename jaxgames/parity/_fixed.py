"""What the forms of verification on the device share: checks of single vertices."""

from typing import NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.solution import NO_EDGE


class Fixed(NamedTuple):
    """A game whose winners' strategies are fixed, its single vertices checked."""

    game: Game
    winner: jax.Array  # int8 [S]
    kept: ops.Edges  # bool: the edges left when the winners' strategies are fixed
    found: Verdict


def fix_strategies(game: Game, winner, strategy) -> Fixed:
    """Checks everything that can be seen vertex by vertex."""
    real = ops.by_vertex(game, ops.real(game))
    owner = ops.by_vertex(game, game.owner).astype(jnp.int8)
    row, end = game.row_ptr[:-1], game.row_ptr[1:]
    has_move = strategy != NO_EDGE
    moves = (strategy >= row) & (strategy < end)

    side = ops.by_slot(game, winner, 0)
    move = ops.move_of(game, jnp.where(moves, strategy, NO_EDGE))
    follows = side == game.owner.astype(side.dtype)
    kept = ops.edgewise(
        lambda at, chosen, free: free | (at == chosen),
        ops.position(game),
        ops.source(game, move),
        ops.source(game, ~follows),
    )
    leaves = ops.out_any(
        game,
        ops.edgewise(
            lambda on, here, there: on & (here != there),
            kept,
            ops.source(game, side),
            ops.target(game, side),
        ),
    )
    leaves = ops.by_vertex(game, leaves)

    decided = (winner == 0) | (winner == 1)
    wins = decided & (winner == owner)
    found = Verdict.first_of(
        real & ~decided,
        real & wins & ~has_move,
        real & wins & has_move & ~moves,
        real & decided & ~wins & has_move,
        real & wins & leaves,
        real & decided & ~wins & leaves,
        *(False, False, False),  # what is looked for later
    )
    return Fixed(game, side, kept, found)


def verdict(fixed: Fixed, reason, vertex) -> Verdict:
    """The fault of a single vertex if there is one, else what was found later."""
    found = fixed.found
    reason = jnp.where(found.valid, jnp.asarray(reason, jnp.int32), found.reason)
    vertex = jnp.where(found.valid, jnp.asarray(vertex, jnp.int32), found.vertex)
    return Verdict(reason == Reason.OK, reason, vertex)

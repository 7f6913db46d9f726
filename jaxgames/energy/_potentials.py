"""What the solvers share: numbers, the best edge of each vertex, and moves.

A number is an integer of 32 or 64 bits, as the weights are. Finite ones stay below an
eighth of what the type holds, and so do costs; the number for "no credit is enough" is
three times as large. So a sum of two tells whether either was infinite, nothing wraps
round, and it is enough to look once a row instead of once an edge.
"""

from typing import Any, NamedTuple

from jaxgames import ops
from jaxgames.energy._solution import TOP, UNKNOWN
from jaxgames.later import jax, jnp
from jaxgames.ops import Edges, Game
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.states import register


@register
class Answer(NamedTuple):
    """Credits, winners and the moves of player 0, by vertex; `lost` is by slot."""

    credit: Any
    winner: Any
    strategy: Any
    lost: Any


def beyond(dtype) -> int:
    """Finite numbers are less; costs of so much or more are cut to it."""
    return (1 << jnp.iinfo(dtype).bits - 3) - 1


def limit(dtype) -> int:
    """The largest finite number."""
    return beyond(dtype) - 1


def infinite(dtype) -> int:
    """The number for no credit being enough."""
    return 3 << jnp.iinfo(dtype).bits - 3


def never(dtype) -> int:
    """A cost that makes an edge the worst for the rival, whatever its target has."""
    return -jnp.iinfo(dtype).max


def number_type(game: Game):
    """The type of numbers: that of the weights."""
    return ops.edge_weight(game)[0].dtype


def of_player(game: Game, player: int) -> jax.Array:
    """Which vertices belong to a player: bool `[S]`."""
    return jnp.asarray(game.owner) == bool(player)


def plus(value: jax.Array, cost: jax.Array) -> jax.Array:
    """What an edge asks for; infinite or not as its target is, see `settled`."""
    return value + cost


def minus(value: jax.Array, weight: jax.Array) -> jax.Array:
    """What an edge asks for that has a weight, likewise; it may be less than 0."""
    return value - weight


def settled(value: jax.Array) -> jax.Array:
    """A sum as a number again: what is too large is infinite."""
    return jnp.where(value >= beyond(value.dtype), infinite(value.dtype), value)


def best(
    game: Game, values: Edges, mine: jax.Array, *, once: bool = False
) -> jax.Array:
    """The least value over the edges of vertices that are mine, the largest elsewhere.

    One reduction does both, since the values of one owner are turned round. What is
    used only once may be found where it is.
    """
    turn = jnp.where(mine, 0, -1).astype(values[0].dtype)
    turned = ops.edgewise(jnp.bitwise_xor, values, ops.source(game, turn))
    return ops.out_min(game, turned, once=once) ^ turn


def costs(game: Game, scale: jax.Array, player: int) -> Edges:
    """What each edge costs a player in potentials that count `scale` bits of steps.

    Player 0 pays for the energy that an edge takes, and a step is worth the least bit,
    so that no cycle sums up to zero and those without a loss are good for him. Player 1
    pays the opposite.
    """

    def cost(weight):
        dtype = weight.dtype
        shift = scale.astype(dtype)
        cut = jnp.array(beyond(dtype), dtype)
        most = cut >> shift
        fits = (weight < most) & (weight > -most)
        paid = (jnp.where(fits, weight, 0) << shift) + 1
        paid = jnp.where(fits, paid, jnp.sign(weight) * cut)
        return -paid if player == 0 else paid

    return ops.edgewise(cost, ops.edge_weight(game))


def energy_of(potential: jax.Array, scale: jax.Array) -> jax.Array:
    """The energy of a potential, steps rounded away; infinite where it is."""
    dtype = potential.dtype
    shift = scale.astype(dtype)
    rounded = (potential + ((jnp.array(1, dtype) << shift) - 1)) >> shift
    return jnp.where(potential == infinite(dtype), potential, rounded)


def moves(game: Game, asked: Edges, have: jax.Array, who: jax.Array) -> jax.Array:
    """The first edge of some vertices that asks for no more than the vertex has.

    Args:
        game: the game.
        asked: numbers on edges.
        have: numbers `[S]`.
        who: bool `[S]`: the vertices that want a move.

    Returns:
        int32 `[V]`: indices of edges, NO_EDGE elsewhere.
    """
    wrong = ops.edgewise(
        lambda x, own: (x > own).astype(jnp.int32), asked, ops.source(game, have)
    )
    least, move = ops.out_argmin(game, wrong, bound=1)
    return ops.edge_of(game, jnp.where(who & (least == 0), move, NO_EDGE))


def answer(game: Game, credit: jax.Array, known: jax.Array, strategies: bool) -> Answer:
    """Credits as they are handed out, and the moves of player 0.

    Args:
        game: the game.
        credit: numbers `[S]`; infinite only where player 1 wins.
        known: bool scalar, whether finite credits are final.
        strategies: whether moves are wanted.
    """
    lost = credit == infinite(credit.dtype)
    strategy = None
    if strategies:
        who = known & ~lost & of_player(game, 0) & ops.real(game)
        asked = ops.edgewise(minus, ops.target(game, credit), ops.edge_weight(game))
        strategy = moves(game, asked, credit, who)
    shown = jnp.where(lost, TOP, jnp.where(known, credit, UNKNOWN))
    winner = jnp.where(lost, 1, jnp.where(known, 0, UNDECIDED)).astype(jnp.int8)
    return Answer(
        ops.by_vertex(game, shown.astype(credit.dtype)),
        ops.by_vertex(game, winner),
        strategy,
        lost & ops.real(game),
    )

"""Strategy improvement: values of strategies by doubling paths, and better edges."""

import dataclasses
from typing import ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.discounted import _equations
from jaxgames.discounted._equations import MARGIN_DOUBLES_AFTER, Answer, Task
from jaxgames.later import jax, jnp
from jaxgames.solver import Solver
from jaxgames.states import register

DOUBLINGS = 48
"""Paths are followed for as many edges as two to the power of this."""


@register
class State(NamedTuple):
    """Strategies of both players, and what they are worth."""

    move: jax.Array  # int32 [S], positions in rows
    value: jax.Array  # float [S]
    rounds: jax.Array
    still: jax.Array  # bool: no edge is better


@dataclasses.dataclass(frozen=True)
class StrategyImprovement(Solver):
    """Takes better edges, player 1 until he has none, then player 0 [1].

    With both strategies fixed each vertex has one edge. What the path from it is worth
    is found by doubling: of twice as many edges from what two halves are worth, 48
    times, after which nothing counts any more. A round is that, and a sweep over the
    edges; rounds are few, however near the discount factor is to 1.

    Whether an edge is better is told from rounding by a margin, which grows when
    rounds are many, so that it ends.

    References:
        [1] Hoffman and Karp, On nonterminating stochastic games, Management Science 12
        (1966), doi:10.1287/mnsc.12.5.359.
        [2] Hansen, Miltersen and Zwick, Strategy iteration is strongly polynomial for
        2-player turn-based stochastic games with a constant discount factor, JACM 60
        (2013), doi:10.1145/2432622.2432623.

    Examples:
        >>> from jaxgames import Arena, discounted
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[3, 0])
        >>> solution = discounted.solve(arena, 0.5, "improvement")
        >>> solution.value.round(5)
        array([2., 1.])
    """

    name: ClassVar[str] = "improvement"

    def init(self, game: Task) -> State:
        """The first edge of each vertex."""
        size = ops.num_slots(game.game)
        move = jnp.zeros(size, jnp.int32)
        value = jnp.zeros(size, game.discount.dtype)
        return State(move, value, jnp.int32(0), jnp.array(False))

    def step(self, game: Task, state: State) -> State:
        """Values of the strategies, and then better edges of one player."""
        value = worth(game, state.move)
        found, move = _equations.first_best(game, value)
        owner = game.game.owner
        doubled = (state.rounds // MARGIN_DOUBLES_AFTER).astype(value.dtype)
        margin = 2 * game.slack * 2.0**doubled
        gain = jnp.where(owner, value - found, found - value)
        better = (gain > margin) & ops.real(game.game)
        his = ops.known_to_all(jnp.any(better & owner))
        takes = better & (owner == his)
        still = state.still | ~ops.known_to_all(jnp.any(better))
        return State(
            jnp.where(takes & ~still, move.astype(jnp.int32), state.move),
            jnp.where(state.still, state.value, value),
            state.rounds + (~state.still).astype(jnp.int32),
            still,
        )

    def done(self, game: Task, state: State) -> jax.Array:
        """No edge is better."""
        return state.still

    def answer(self, game: Task, state: State) -> Answer:
        """Values, and what is best with them."""
        return _equations.answer(game, state.value, self.strategies)


def worth(task: Task, move: jax.Array) -> jax.Array:
    """What plays are worth in which each vertex takes one edge: float `[S]`."""
    game = task.game
    kind = task.discount.dtype
    taken = ops.edgewise(
        lambda at, chosen, w: jnp.where(at == chosen, w.astype(kind), -jnp.inf),
        ops.position(game),
        ops.source(game, move),
        ops.edge_weight(game),
    )
    real = ops.real(game)
    gain = (1 - task.discount) * jnp.where(real, ops.out_max(game, taken), 0)
    after = jnp.where(real, ops.slot_of_move(game, move), -1)
    value = _summed(gain, after, task.discount)
    # What is found first is refined by what the equations are missed by.
    missed = gain + task.discount * ops.at_slot(value, after, 0) - value
    return value + _summed(missed, after, task.discount)


def _summed(gain: jax.Array, after: jax.Array, discount: jax.Array) -> jax.Array:
    """Discounted sums along paths, which double: float `[S]`.

    Args:
        gain: float `[S]`, what is gained at each slot.
        after: int32 `[S]`, the next one.
        discount: the factor.
    """

    def double(carry, power):
        gain, after = carry
        gain = gain + discount**power * ops.at_slot(gain, after, 0)
        return (gain, ops.at_slot(after, after, -1)), None

    powers = 2.0 ** jnp.arange(DOUBLINGS, dtype=gain.dtype)
    return jax.lax.scan(double, (gain, after), powers)[0][0]

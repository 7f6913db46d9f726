"""Value iteration: the equations are applied to all vertices at once."""

import dataclasses
from typing import ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.discounted import _equations
from jaxgames.discounted._equations import Answer, Task
from jaxgames.later import jax, jnp
from jaxgames.solver import Solver
from jaxgames.states import register


@register
class State(NamedTuple):
    """Values so far, and how much the last round changed."""

    value: jax.Array  # float [S]
    change: jax.Array  # float scalar


@dataclasses.dataclass(frozen=True)
class ValueIteration(Solver):
    """Applies the equations until values change by no more than precision asks for.

    A round is a sweep over the edges, and brings values nearer to the true ones by the
    discount factor [1]: about `log(1/epsilon) / (1 - discount)` rounds.

    References:
        [1] Shapley, Stochastic games, PNAS 39 (1953), doi:10.1073/pnas.39.10.1095.

    Examples:
        >>> from jaxgames import Arena, discounted
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[3, 0])
        >>> solution = discounted.solve(arena, 0.5, discounted.ValueIteration())
        >>> solution.value.round(5)
        array([2., 1.])
    """

    name: ClassVar[str] = "vi"

    def init(self, game: Task) -> State:
        """From zero."""
        size = ops.num_slots(game.game)
        value = jnp.zeros(size, game.discount.dtype)
        return State(value, jnp.asarray(jnp.inf, value.dtype))

    def step(self, game: Task, state: State) -> State:
        """One sweep; values that are near enough stay as they are."""
        value = _equations.best(game, state.value)
        change = ops.known_to_all(jnp.max(jnp.abs(value - state.value), initial=0))
        done = self.done(game, state)
        return State(
            jnp.where(done, state.value, value), jnp.where(done, state.change, change)
        )

    def done(self, game: Task, state: State) -> jax.Array:
        """Bounds would be near enough, or rounding is all that changes."""
        # What changes next is less by the discount factor.
        after = _equations.radius(game, game.discount * state.change)
        return (2 * after <= game.width) | (state.change <= game.slack)

    def answer(self, game: Task, state: State) -> Answer:
        """Values, and what is best with them."""
        return _equations.answer(game, state.value, self.strategies)

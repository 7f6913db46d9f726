"""Interval iteration: bounds from below and above that meet."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Links, Pieces
from jaxgames.solution import Status
from jaxgames.solver import Solver
from jaxgames.states import register

UNDERFLOW = {"float64": 1e-290, "float32": 1e-30}
"""More than all products of a sum together that are too small to be told from zero."""


NOTHING = 1e-260
"""How far apart bounds may always be: shares of less cannot be told in float64."""


def ended(status: jax.Array, met: jax.Array, apart: Any = Status.PRECISION) -> Any:
    """A status where it may be that nothing moves any more (pure).

    Because the bounds have met, or never will.
    """
    end = jnp.where(met, Status.SOLVED, apart)
    return jnp.where(status == Status.OVERFLOW, end, status).astype(jnp.int32)


class System(NamedTuple):
    """The equations of the states whose value is not known, in one floating type.

    `N` is their number, `K` that of their choices.

    Attributes:
        branches: choices to the states among them that they may lead to.
        weights: on `branches`, the probabilities.
        base: `[K]`, the probability that a choice leads to a state of value one.
        choices: states to their choices.
        owner: int32 `[K]`, the state of each choice.
        above: `[N]`, upper bounds to start from.
        slack: scalar, more than the relative error that rounding makes in a sum.
        width: scalar, how far apart the bounds may stay.
    """

    branches: Links
    weights: Pieces
    base: Any
    choices: Links
    owner: Any
    above: Any
    slack: Any
    width: Any


@register
class Bounds(NamedTuple):
    """The bounds of each state's value."""

    lower: jax.Array  # float64 [N]
    upper: jax.Array  # float64 [N]
    moves: jax.Array  # bool: some bound moved in the last round


class Answer(NamedTuple):
    """The bounds, and the choices that reach the one that counts."""

    lower: Any  # float64 [N]
    upper: Any  # float64 [N]
    choice: Any  # int32 [N]


@dataclasses.dataclass(frozen=True)
class IntervalIteration(Solver):
    """Applies the equations to both bounds, rounding outwards.

    Attributes:
        least: whether schedulers look for the least value, instead of the largest.
        relative: whether `width` is relative to the lower bound.
    """

    least: bool = False
    relative: bool = dataclasses.field(default=False, metadata={"transient": True})

    name: ClassVar[str] = "interval"

    def init(self, game: System) -> Bounds:
        """From zero, and from bounds that are known."""
        return Bounds(jnp.zeros_like(game.above), game.above, jnp.array(True))

    def step(self, game: System, state: Bounds) -> Bounds:
        """The value of the best choice; bounds that were better stay."""
        # A sum may come out too large or too small by the slack, so it is made smaller
        # or larger by as much. Both bounds then hold in exact arithmetic.
        lower = self._best(game, state.lower) * (1 - game.slack)
        tiny = UNDERFLOW[game.slack.dtype.name]
        upper = self._best(game, state.upper) * (1 + game.slack) + tiny
        lower = jnp.maximum(state.lower, lower)
        upper = jnp.minimum(state.upper, upper)
        moves = jnp.any((lower > state.lower) | (upper < state.upper))
        return Bounds(lower, upper, moves)

    def done(self, game: System, state: Bounds) -> jax.Array:
        """The bounds have met."""
        width = game.width * state.lower if self.relative else game.width
        return jnp.all(state.upper - state.lower <= width)

    def subject(self, game: System) -> System:
        """The equations: bounds hold however near they are to come."""
        return game._replace(width=None)

    def overflow(self, state: Bounds) -> jax.Array:
        """Nothing moves any more: the bounds cannot be told apart further."""
        return ~state.moves

    def answer(self, game: System, state: Bounds) -> Answer:
        """The bounds, and the first choice that is best by the bound that counts.

        That is the lower one for the largest value: it does not exceed what the
        equations make of it, so it does not exceed the value of a scheduler of such
        choices either. For the least value it is the upper one.
        """
        value = self._value(game, state.upper if self.least else state.lower)
        best = ops.take(self._reduce(game, value), game.owner)
        number = jnp.arange(len(game.owner), dtype=jnp.int32)
        choice = ops.links_min(game.choices, number, value == best)
        return Answer(state.lower, state.upper, choice)

    def _value(self, game: System, x: jax.Array) -> jax.Array:
        return game.base + ops.links_sum(game.branches, x, game.weights)

    def _reduce(self, game: System, value: jax.Array) -> jax.Array:
        reduce = ops.links_min if self.least else ops.links_max
        return reduce(game.choices, value)

    def _best(self, game: System, x: jax.Array) -> jax.Array:
        return self._reduce(game, self._value(game, x))

"""Value iteration on a device: one vector, and a certificate of how near it is."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.mdp._equations import Equations, padded
from jaxgames.mdp._interval import UNDERFLOW
from jaxgames.mdp._prob01 import eagerly
from jaxgames.ops import Links, Pieces
from jaxgames.solution import Status
from jaxgames.solver import Solver
from jaxgames.states import register

STEPS, VALUES, BOUNDS, MET = range(4)
"""Phases of `ValueIteration`."""


class System(NamedTuple):
    """The equations of open states, in one floating type.

    `N` is their number, `K` that of their choices.

    Attributes:
        branches: choices to the states among them that they may lead to.
        weights: on `branches`, the probabilities.
        base: `[K]`, what a choice is worth beside.
        blur: `[K]`, how far from the truth that may be.
        choices: states to their choices.
        start: `[N]`, zeros.
        slack: scalar, more than the relative error that rounding makes in a sum.
        width: scalar, how far apart bounds may stay, relative to the lower one.
        apart: scalar, and more, as it is.
        low: scalar, a lower bound of all values; may be infinite.
        high: scalar, an upper bound likewise.
    """

    branches: Links
    weights: Pieces
    base: Any
    blur: Any
    choices: Links
    start: Any
    slack: Any
    width: Any
    apart: Any
    low: Any
    high: Any


@register
class Iterate(NamedTuple):
    """Values, what they are known to be between, and the steps that are left."""

    value: jax.Array  # float64 [N]
    steps: jax.Array  # float64 [N]: more than how many follow, once they are found
    lower: jax.Array  # float64 [N]
    upper: jax.Array  # float64 [N]
    phase: jax.Array  # int32
    moves: jax.Array  # bool: something moved in the last round


class Answer(NamedTuple):
    """The bounds."""

    lower: Any  # float64 [N]
    upper: Any  # float64 [N]


@dataclasses.dataclass(frozen=True)
class ValueIteration(Solver):
    """Applies the equations to one vector of values, until a certificate holds.

    First comes an upper bound `w` on the steps that can follow, whatever is chosen:
    `w >= 1 + P w`. With it, if a round adds at most `t` to values `x`, then `x + t w`
    is an upper bound, and likewise below. Bounds that are near but for small values
    then sharpen each other.

    Attributes:
        least: whether schedulers look for the least value, instead of the largest.
    """

    least: bool = False

    name: ClassVar[str] = "values"

    def init(self, game: System) -> Iterate:
        """From zero."""
        zero = game.start
        return Iterate(
            zero, zero, zero + game.low, zero + game.high, jnp.int32(0), jnp.array(True)
        )

    def step(self, game: System, state: Iterate) -> Iterate:
        """A round of the phase."""
        return jax.lax.switch(
            state.phase,
            [self._steps, self._values, self._bounds, lambda _, state: state],
            game,
            state,
        )

    def done(self, game: System, state: Iterate) -> jax.Array:
        """The bounds are near enough."""
        del game
        return state.phase == MET

    def overflow(self, state: Iterate) -> jax.Array:
        """Nothing moves any more: the bounds cannot be told apart further."""
        return ~state.moves & (state.phase != MET)

    def subject(self, game: System) -> System:
        """The equations: bounds hold however near they are to come."""
        return game._replace(width=None, apart=None)

    def answer(self, game: System, state: Iterate) -> Answer:
        """The bounds."""
        del game
        return Answer(state.lower, state.upper)

    def _steps(self, game: System, state: Iterate) -> Iterate:
        """One more step by the slowest choice; scaled once few are missing."""
        more = self._longest(game, state.steps)
        rest = jnp.max(more - state.steps, initial=0.0)
        scaled = more * ((1 + 1e-12) / (1 - jnp.minimum(rest, 0.9)))
        holds = (rest < 0.75) & jnp.all(self._longest(game, scaled) <= scaled)
        return state._replace(
            steps=jnp.where(holds, scaled, more),
            phase=jnp.where(holds, VALUES, STEPS).astype(jnp.int32),
            moves=jnp.array(True),
        )

    def _longest(self, game: System, steps: jax.Array) -> jax.Array:
        follow = ops.links_sum(game.branches, steps, game.weights)
        return ops.links_max(game.choices, 1 + follow * (1 + game.slack)) * (1 + 1e-15)

    def _values(self, game: System, state: Iterate) -> Iterate:
        """The values of the best choices, and what that says of all values."""
        x, w = state.value, state.steps
        worth, size = self._worth(game, x)
        off = game.slack * size + game.blur
        off = jnp.where(size > 0, off + UNDERFLOW[x.dtype.name], off)
        new = self._best(game, worth)
        up = jnp.max(self._best(game, worth + off) - x, initial=0.0)
        down = jnp.max(x - self._best(game, worth - off), initial=0.0)
        grown = 1 + 1e-15
        lower, upper = x - down * w * grown, x + up * w * grown
        tiny = 4e-16 * (jnp.abs(x) + (down + up) * w)
        lower = jnp.maximum(state.lower, jnp.where(down > 0, lower - tiny, lower))
        upper = jnp.minimum(state.upper, jnp.where(up > 0, upper + tiny, upper))
        met = self._met(game, lower, upper)
        top = jnp.max(jnp.abs(x), initial=0.0)
        wide = jnp.max((up + down) * w, initial=0.0)
        near = wide <= 0.5 * (game.width * top + game.apart)
        near |= ~jnp.any(new != x)  # it comes no nearer
        phase = jnp.where(met, MET, jnp.where(near, BOUNDS, VALUES))
        return Iterate(
            *(new, w, lower, upper, phase.astype(jnp.int32), jnp.array(True))
        )

    def _bounds(self, game: System, state: Iterate) -> Iterate:
        """What the equations make of bounds: they hold as well."""
        ends = []
        for bound, sign in ((state.lower, -1), (state.upper, 1)):
            worth, size = self._worth(game, bound)
            off = game.slack * size + game.blur
            off = jnp.where(size > 0, off + UNDERFLOW[bound.dtype.name], off)
            ends.append(self._best(game, worth + sign * off))
        lower = jnp.maximum(state.lower, ends[0])
        upper = jnp.minimum(state.upper, ends[1])
        nothing = self._nothing(game, state.value)
        lower, upper = (jnp.where(nothing, 0.0, x) for x in (lower, upper))
        moves = jnp.any((lower > state.lower) | (upper < state.upper))
        phase = jnp.where(self._met(game, lower, upper), MET, BOUNDS)
        return state._replace(
            lower=lower, upper=upper, phase=phase.astype(jnp.int32), moves=moves
        )

    def _nothing(self, game: System, x: jax.Array) -> jax.Array:
        """The states of value zero: best choices earn nothing, and stay among them."""
        earns = ((game.base > 0) | (game.blur > 0)).astype(x.dtype)
        some = (x != 0).astype(x.dtype)
        worth = earns + ops.links_sum(game.branches, some, game.weights)
        closed = jnp.all((x != 0) | (self._best(game, worth) == 0))
        return (x == 0) & closed & jnp.all(game.base >= 0)

    def _met(self, game: System, lower: jax.Array, upper: jax.Array) -> jax.Array:
        near = game.width * jnp.abs(lower) + game.apart
        return jnp.all(upper - lower <= near)

    def _worth(self, game: System, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """What each choice is worth, and the sum of the sizes of its terms."""
        worth = game.base + ops.links_sum(game.branches, x, game.weights)
        sizes = ops.links_sum(game.branches, jnp.abs(x), game.weights)
        return worth, jnp.abs(game.base) + sizes

    def _best(self, game: System, worth: jax.Array) -> jax.Array:
        reduce = ops.links_min if self.least else ops.links_max
        return reduce(game.choices, worth)


def iterate(
    part: Equations,
    solver: ValueIteration,
    *,
    width: float,
    apart: float,
    low: float,
    high: float,
    state: Any = None,
    max_steps: int | None = None,
    progress: Any = None,
) -> tuple[Answer, Status, int, Any]:
    """Runs the iteration in float64, and brings everything back to the host.

    Args:
        part: the equations, which no scheduler stays in for ever.
        solver: the solver.
        width: how far apart bounds may stay, relative to the lower one.
        apart: and more, as it is.
        low: a lower bound of all values.
        high: an upper bound of all values.
        state: to go on from.
        max_steps: rounds at most.
        progress: told between chunks of rounds.

    Returns:
        The bounds, a status, the rounds, and what to go on from.
    """
    real = len(part.groups) - 1
    if real == 0:
        return Answer(np.zeros(0), np.zeros(0)), Status.SOLVED, 0, None
    part = padded(part)
    size, choices = len(part.groups) - 1, len(part.choice)
    number = np.arange(choices, dtype=np.int32)
    branches = ops.links(part.rows, part.target, size)
    weights = ops.on_links(branches, part.rows, part.probs)
    sweeps = fixpoint.default_sweeps(branches)
    solver = dataclasses.replace(
        solver, sweeps_per_check=solver.sweeps_per_check or sweeps
    )
    with jax.enable_x64(True), eagerly():
        scalars = (part.slack, width, apart, low, high)
        game = System(
            branches,
            tuple(map(jnp.asarray, weights)),
            jnp.asarray(part.base),
            jnp.asarray(part.blur),
            ops.links(part.groups, number, choices),
            jnp.zeros(size),
            *map(jnp.float64, scalars),
        )
        outcome = fixpoint.run(
            solver, game, state, max_steps=max_steps, progress=progress
        )
        answer, carry = to_numpy((outcome.answer, outcome.carry))
    status = outcome.status
    status = Status.PRECISION if status == Status.OVERFLOW else status
    found = Answer(*(x[:real] for x in answer))
    return found, status, outcome.rounds, carry

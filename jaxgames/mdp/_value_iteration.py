"""Value iteration on a device: one vector, and a certificate of how near it is."""

import dataclasses
import functools
from collections.abc import Callable
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
from jaxgames.tuning import here
from jaxgames.tuning.mdp import (
    GOAL_OF_EQUATIONS,
    GOAL_OF_STEPS,
    MOST_EQUATIONS,
    MOST_PRODUCTS,
    READS_OF_EQUATIONS,
    ROUNDS_WITHOUT_EQUATIONS,
)

STEPS, VALUES, BOUNDS, MET, EQUATIONS, OF_STEPS = range(6)
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
    left: jax.Array  # int32: rounds of values before equations are solved
    solves: jax.Array  # int32: how often that was done


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

    Any values will do, so that where rounds bring them on slowly the equations of the
    choices that are best by then are solved, as far as some hundred products with their
    matrix do that, and other rounds look for better choices. So rounds grow about with
    the square root of the steps that can follow.

    Attributes:
        least: whether schedulers look for the least value, instead of the largest.
        between: rounds that are made without a look at what they say of bounds, for one
            with it.

    References:
        van der Vorst, Bi-CGSTAB, SIAM J. Sci. Stat. Comput. 13(2), 1992,
        doi:10.1137/0913035: how equations are solved. Puterman and Shin, Modified
        policy iteration algorithms for discounted Markov decision problems, Management
        Science 24(11), 1978, doi:10.1287/mnsc.24.11.1127.
    """

    least: bool = False
    between: int = dataclasses.field(default=0, kw_only=True)

    name: ClassVar[str] = "values"
    linear: ClassVar[bool] = True
    """Whether what a choice is worth is a sum, so that equations can be solved."""

    def init(self, game: System) -> Iterate:
        """From zero."""
        zero = game.start
        return Iterate(
            *(zero, zero, zero + game.low, zero + game.high),
            phase=jnp.int32(STEPS),
            moves=jnp.array(True),
            left=jnp.int32(ROUNDS_WITHOUT_EQUATIONS),
            solves=jnp.int32(0),
        )

    def step(self, game: System, state: Iterate) -> Iterate:
        """A round of the phase."""
        return jax.lax.switch(
            state.phase,
            [
                *(self._steps, self._values, self._bounds),
                lambda _, state: state,
                *([self._equations, self._equations_of_steps] if self.linear else []),
            ],
            game,
            state,
        )

    def advance(self, game: System, carry: fixpoint.Carry, limit) -> fixpoint.Carry:
        """Rounds until one has solved equations: that takes as long as many others.

        So the host is asked between two of these whether to go on.
        """
        before = carry.state.solves

        def over(carry: fixpoint.Carry) -> jax.Array:
            state = carry.state
            ended = self.done(game, state) | self.overflow(state)
            return ended | (carry.rounds >= limit) | (state.solves != before)

        def step(carry: fixpoint.Carry) -> fixpoint.Carry:
            return carry._replace(
                state=self.step(game, carry.state), rounds=carry.rounds + 1
            )

        return fixpoint.until(over, step, carry)

    def done(self, game: System, state: Iterate) -> jax.Array:
        """The bounds are near enough."""
        return state.phase == MET

    def overflow(self, state: Iterate) -> jax.Array:
        """Nothing moves any more: the bounds cannot be told apart further."""
        return ~state.moves & (state.phase != MET)

    def subject(self, game: System) -> System:
        """The equations: bounds hold however near they are to come."""
        return game._replace(width=None, apart=None)

    def answer(self, game: System, state: Iterate) -> Answer:
        """The bounds."""
        return Answer(state.lower, state.upper)

    def _steps(self, game: System, state: Iterate) -> Iterate:
        """Steps by the slowest choice; scaled once few are missing."""
        longest = functools.partial(self._longest, game)
        steps = fixpoint.repeat(self.between, longest, state.steps)
        more = self._longest(game, steps)
        rest = jnp.max(more - steps, initial=0.0)
        scaled = more * ((1 + 1e-12) / (1 - jnp.minimum(rest, 0.9)))
        holds = (rest < 0.75) & jnp.all(self._longest(game, scaled) <= scaled)
        left = state.left - 1
        phase = jnp.where(self._due(state, left), OF_STEPS, STEPS)
        return state._replace(
            steps=jnp.where(holds, scaled, more),
            phase=jnp.where(holds, VALUES, phase).astype(jnp.int32),
            moves=jnp.array(True),
            left=jnp.where(holds, ROUNDS_WITHOUT_EQUATIONS, left).astype(jnp.int32),
        )

    def _due(self, state: Iterate, left: jax.Array) -> jax.Array | bool:
        """Whether equations are to be solved, with so many rounds left before."""
        return self.linear and (left <= 0) & (state.solves < MOST_EQUATIONS)

    def _longest(self, game: System, steps: jax.Array) -> jax.Array:
        follow = self._follow(game, steps)
        return ops.links_max(game.choices, 1 + follow * (1 + game.slack)) * (1 + 1e-15)

    def _values(self, game: System, state: Iterate) -> Iterate:
        """The values of the best choices, and what that says of all values."""
        x, w = (
            fixpoint.repeat(self.between, self._round(game), state.value),
            state.steps,
        )
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
        left = state.left - 1
        phase = jnp.where(self._due(state, left), EQUATIONS, VALUES)
        phase = jnp.where(met, MET, jnp.where(near, BOUNDS, phase))
        return state._replace(
            value=new,
            lower=lower,
            upper=upper,
            phase=phase.astype(jnp.int32),
            moves=jnp.array(True),
            left=left,
        )

    def _round(self, game: System) -> Callable[[jax.Array], jax.Array]:
        """What values are by the best choices, if they are so after a step."""
        return lambda x: self._best(game, self._worth(game, x)[0])

    def _equations(self, game: System, state: Iterate) -> Iterate:
        """Nearer to the values of the choices that are best now."""
        best = functools.partial(self._best, game)
        top, wide = (
            jnp.max(jnp.abs(x), initial=0.0) for x in (state.value, state.steps)
        )
        goal = GOAL_OF_EQUATIONS * (game.width * top + game.apart) / wide
        value, left = self._nearer(game, state.value, game.base, best, goal)
        return state._replace(
            value=value, left=left, phase=jnp.int32(VALUES), solves=state.solves + 1
        )

    def _equations_of_steps(self, game: System, state: Iterate) -> Iterate:
        """Nearer to the steps that can follow the choices that are slowest now."""
        one = jnp.ones_like(game.base)
        slowest = functools.partial(ops.links_max, game.choices)
        steps, left = self._nearer(game, state.steps, one, slowest, GOAL_OF_STEPS)
        return state._replace(
            steps=steps, left=left, phase=jnp.int32(STEPS), solves=state.solves + 1
        )

    def _nearer(
        self, game: System, x: jax.Array, base: jax.Array, best: Any, goal: Any
    ) -> tuple[jax.Array, jax.Array]:
        """Solves the equations of the choices that are best now, as far as it goes.

        The method has no proof that it succeeds: what is no nearer is not taken.

        Returns:
            The solution, or `x`; and the rounds before it is tried again.
        """
        choice = self._chosen(game, base + self._follow(game, x), best)
        there = choice < len(base)
        at = jnp.where(there, choice, 0)

        def of_chosen(each: jax.Array) -> jax.Array:
            return jnp.where(there, ops.take(each, at), 0.0)

        own = of_chosen(base)

        # There are fewer of them than choices: they are read alone, again and again.
        alone = ops.picked(game.branches, game.weights, choice)

        def product(x: jax.Array) -> jax.Array:
            if alone is None:
                return x - of_chosen(self._follow(game, x))
            return x - ops.links_sum(alone[0], x, alone[1])

        before = own - product(x)
        cells = max(ops.num_cells(game.branches), 1)
        most = max(1, min(MOST_PRODUCTS, here(READS_OF_EQUATIONS) // (2 * cells)))
        found = x + _solved(product, before, goal, most)
        after = jnp.max(jnp.abs(own - product(found)), initial=0.0)
        nearer = after < jnp.max(jnp.abs(before), initial=0.0)  # false of no number
        go_on = nearer & (after > goal)
        left = jnp.where(go_on, 1, ROUNDS_WITHOUT_EQUATIONS).astype(jnp.int32)
        return jnp.where(nearer, found, x), left

    @staticmethod
    def _follow(game: System, x: jax.Array) -> jax.Array:
        return ops.links_sum(game.branches, x, game.weights)

    @staticmethod
    def _chosen(game: System, worth: jax.Array, best: Any) -> jax.Array:
        """The first of the best choices of each state; from K on where it has none."""
        own = ops.at_rows(game.choices, best(worth))
        are = ops.edgewise(jnp.equal, ops.at_targets(game.choices, worth), own)
        number = jnp.arange(len(worth), dtype=jnp.int32)
        return ops.links_min(game.choices, number, are)

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
        worth = game.base + self._follow(game, x)
        sizes = ops.links_sum(game.branches, jnp.abs(x), game.weights)
        return worth, jnp.abs(game.base) + sizes

    def _best(self, game: System, worth: jax.Array) -> jax.Array:
        reduce = ops.links_min if self.least else ops.links_max
        return reduce(game.choices, worth)


def _solved(
    product: Callable[[jax.Array], jax.Array],
    right: jax.Array,
    goal: jax.Array,
    most: int,
) -> jax.Array:
    """A vector whose product is near to the right side, by BiCGSTAB (pure).

    Args:
        product: with a square matrix.
        right: `[N]`.
        goal: how near each entry shall be.
        most: pairs of products.

    Returns:
        The vector where it has ended: there, after many products, or broken down.
    """

    def going(at: tuple) -> jax.Array:
        *_, rest, _, _, rho, count = at
        far = jnp.max(jnp.abs(rest), initial=0.0) > goal  # false of no number
        return far & (rho != 0) & (count < most)

    def step(at: tuple) -> tuple:
        x, rest, way, way_on, rho, count = at
        alpha = rho / jnp.vdot(right, way_on)
        half = rest - alpha * way_on
        half_on = product(half)
        omega = jnp.vdot(half_on, half) / jnp.vdot(half_on, half_on)
        # Where the first half ends there, nothing is left to be divided by.
        omega = jnp.where(jnp.any(half_on != 0), omega, 0.0)
        x, rest = x + alpha * way + omega * half, half - omega * half_on
        new = jnp.vdot(right, rest)
        beta = (new / rho) * (alpha / jnp.where(omega != 0, omega, 1.0))
        way = rest + beta * (way - omega * way_on)
        return x, rest, way, product(way), new, count + 1

    begin = (right * 0, right, right, product(right), jnp.vdot(right, right))
    return fixpoint.until(lambda at: ~going(at), step, (*begin, jnp.int32(0)))[0]


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

    Bounds may stay `width` apart, relative to the lower one, and `apart` more; all
    values are between `low` and `high`. No scheduler stays in the equations for ever.
    """
    real = len(part.groups) - 1
    if real == 0:
        return Answer(np.zeros(0), np.zeros(0)), Status.SOLVED, 0, None
    part = padded(part)
    size, choices = len(part.groups) - 1, len(part.base)
    number = np.arange(choices, dtype=np.int32)
    branches = ops.links(part.rows, part.target, size)
    weights = ops.on_links(branches, part.rows, part.probs)
    sweeps = solver.sweeps_per_check or fixpoint.default_sweeps(branches)
    solver = dataclasses.replace(solver, sweeps_per_check=1, between=sweeps - 1)
    with jax.enable_x64(True), eagerly():
        scalars = (part.slack, width, apart, low, high)
        made = System(
            branches,
            tuple(weights),
            part.base,
            np.zeros(choices) if part.blur is None else part.blur,
            ops.links(part.groups, number, choices),
            np.zeros(size),
            *map(np.float64, scalars),
        )
        game = jax.device_put(made)  # which compiles nothing
        outcome = fixpoint.run(
            solver, game, state, max_steps=max_steps, progress=progress
        )
        carry = to_numpy(outcome.carry)
        answer = solver.answer(game, carry.state)
    status = outcome.status
    status = Status.PRECISION if status == Status.OVERFLOW else status
    found = Answer(*(x[:real] for x in answer))
    return found, status, outcome.rounds, carry

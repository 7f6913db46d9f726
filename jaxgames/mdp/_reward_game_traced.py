"""Games of rewards before a target where they are traced: bounds from both sides.

As for games of reachability, with the sides changed: in end components that cost
nothing the others could stay for ever, by the equations alone. But then they never get
to the target, which costs infinitely much. So there lower bounds are raised to what it
costs them to leave.
"""

import dataclasses
import functools
from typing import Any, ClassVar, NamedTuple

from jaxgames import fixpoint, ops, validity
from jaxgames.later import jax, jnp
from jaxgames.mdp._game_traced import (
    Bounded,
    FromBothSides,
    Rules,
    first_of,
    means,
    rules,
)
from jaxgames.mdp._interval import UNDERFLOW
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.solution import Stats, Status
from jaxgames.solver import Solver
from jaxgames.tuning.mdp import GAME_ROUNDS, GAME_SWEEPS


class Paid(NamedTuple):
    """The equations of a game, in one floating type.

    Attributes:
        rules: those of its graph; what is open has values between zero and infinity.
        earned: float `[C]`, what choices earn.
        allowed: bool `[C]`, choices from which the others can still get to the target.
        sure: int32 `[S]`, the others' choices by which they do; -1 elsewhere.
        start: float `[S]`, upper bounds to begin with.
    """

    rules: Rules
    earned: Any
    allowed: Any
    sure: Any
    start: Any


class Walked(NamedTuple):
    """How many steps there may be until the target, at most on average."""

    steps: jax.Array  # float [S]
    rest: jax.Array  # scalar: how much they grew in the last round


@dataclasses.dataclass(frozen=True)
class Ranking(Solver):
    """Weights `w` of open states with `w >= 1 + P w`, whatever one player does.

    The other one plays what is sure to get there. As soon as numbers of steps grow by
    less than a half in a round, they are such weights, if scaled. They are rounded up.
    """

    name: ClassVar[str] = "ranking"

    def init(self, game: Paid) -> Walked:
        """No steps."""
        return Walked(jnp.zeros_like(game.start), jnp.ones((), game.start.dtype))

    def step(self, game: Paid, state: Walked) -> Walked:
        """One step more."""
        rules, layout = game.rules, game.rules.layout
        number = jnp.arange(len(game.earned), dtype=jnp.int32)
        taken = number == ops.take(game.sure, layout.owner)
        taken = layout.live & (ops.take(rules.mine, layout.owner) | taken)
        after = (1 + means(rules, state.steps)) * (1 + rules.slack)
        most = ops.links_max(layout.choices, after, taken)
        steps = jnp.where(rules.open_, most, 0)
        rest = jnp.max(steps - state.steps, initial=0) * (1 + rules.slack)
        return Walked(steps, rest)

    def done(self, game: Paid, state: Walked) -> jax.Array:
        """They hardly grow."""
        del game
        return state.rest < 0.5

    def overflow(self, state: Walked) -> jax.Array:
        """They have become too large."""
        return ~jnp.isfinite(state.rest) & (jnp.max(state.steps, initial=0) > 0)

    def answer(self, game: Paid, state: Walked) -> jax.Array:
        """The weights; infinite ones where there are none."""
        weights = state.steps / (1 - state.rest) * (1 + 8 * game.rules.slack)
        return jnp.where(self.done(game, state), weights, jnp.inf)


@dataclasses.dataclass(frozen=True)
class Inflation(FromBothSides):
    """Value iteration from both sides, with lower bounds that are inflated.

    Upper bounds begin with what the others pay at most by a strategy that is sure to
    get to the target; each round plays one step before that, and its choices stay sure.
    Lower bounds never exceed what the equations make of them, with the choices in `low`
    for the maximiser: who never gets to the target pays infinitely much anyway. An
    inflation keeps that, since he can stay in the component until the others leave it.
    """

    name: ClassVar[str] = "inflation"

    def init(self, game: Paid) -> Bounded:
        """From what is known, and the first choices."""
        lower = jnp.zeros_like(game.start)
        first = first_of(game.rules.layout, game.allowed)
        upper = jnp.where(game.rules.open_, game.start, lower)
        return Bounded(lower, upper, first, game.sure, jnp.array(True))

    def step(self, game: Paid, state: Bounded) -> Bounded:
        """Some sweeps, and an inflation."""
        after = fixpoint.repeat(GAME_SWEEPS, functools.partial(_swept, game), state)
        after = _inflated(game, after)
        moves = (after.lower > state.lower) | (after.upper < state.upper)
        return after._replace(moves=jnp.any(moves))

    def done(self, game: Paid, state: Bounded) -> jax.Array:
        """The bounds have met."""
        return self.met(game.rules, state)


def solve(
    model: MDP, mine: Any, reward: Any, target: Any, epsilon: Any, *, relative: bool
) -> tuple:
    """Two bounds and the strategies; status, statistics; what is no game (pure)."""
    bare, unsound = rules(model, mine, epsilon)
    layout, mine = bare.layout, bare.mine
    earned = jnp.asarray(reward).astype(bare.slack.dtype)
    unsound |= jnp.any(layout.live & ~((earned >= 0) & (earned < jnp.inf)))
    goal = jnp.asarray(target) & layout.states
    inside = layout.states & ~goal
    sure, towards, away = _sure(layout, mine, goal, inside, layout.live)
    endless = inside & ~sure
    allowed = layout.live & ~ops.links_any(layout.branches, endless)
    free = layout.live & (earned == 0)
    costs = ops.links_any(layout.choices, layout.live & (earned > 0))
    zero, gift, _ = _sure(layout, mine, goal, sure & inside & ~(mine & costs), free)
    open_ = inside & sure & ~zero
    most = jnp.max(jnp.where(ops.take(open_, layout.owner), earned, 0), initial=0)
    tiny = UNDERFLOW[earned.dtype.name]
    game = Paid(
        bare._replace(open_=open_),
        earned,
        allowed,
        towards,
        jnp.ones_like(mine, earned.dtype),
    )
    ranked = fixpoint.traced(Ranking(), game, None, GAME_ROUNDS)
    game = game._replace(start=ranked.answer * (2 * most + tiny))
    solver = Inflation(relative=relative)
    outcome = fixpoint.traced(solver, game, None, GAME_ROUNDS)
    found = outcome.answer
    met = solver.done(game, outcome.carry.state)
    apart = jnp.where(
        ranked.status == Status.MAX_STEPS, ranked.status, Status.PRECISION
    )
    ended = jnp.where(met, Status.SOLVED, apart)
    status = jnp.where(outcome.status == Status.OVERFLOW, ended, outcome.status)
    strategy = jnp.where(mine, found.low, found.high)
    strategy = jnp.where(zero & ~mine, gift, strategy)
    strategy = jnp.where(
        endless, jnp.where(mine, away, first_of(layout, layout.live)), strategy
    )
    strategy = jnp.where(inside, strategy, NO_CHOICE)
    stats = Stats(
        solver=solver.name,
        rounds=outcome.rounds,
        zero=jnp.sum(zero & inside),
        endless=jnp.sum(endless),
        open=jnp.sum(open_),
    )
    lower, upper = (jnp.where(endless, jnp.inf, x) for x in (found.lower, found.upper))
    return lower, upper, strategy, status.astype(jnp.int32), stats, unsound


def _sure(
    layout: Layout, mine: Any, goal: Any, inside: Any, choices: Any
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Where the others get to a goal with probability one, whatever he does.

    He chooses in `mine`, the others among `choices`; `inside` is passed before.

    Returns:
        These states; the others' choices by which they do; his by which he keeps the
        play away from there elsewhere.
    """
    nothing = jnp.full(len(goal), NO_CHOICE, jnp.int32)

    def leads_to(states: jax.Array, seen: jax.Array) -> jax.Array:
        """Choices that come nearer and do not leave these states."""
        stays = layout.live & ~ops.links_any(layout.branches, ~states)
        return stays & ops.links_any(layout.branches, seen)

    def within(states: jax.Array) -> tuple[jax.Array, jax.Array]:
        def step(now: tuple) -> tuple[tuple, jax.Array]:
            seen, choice = now
            leads = leads_to(states, seen)
            some = ops.links_any(layout.choices, leads & choices)
            other = ops.links_any(layout.choices, layout.live & ~leads)
            more = inside & states & ~seen & jnp.where(mine, ~other, some)
            choice = jnp.where(more, first_of(layout, leads & choices), choice)
            return (seen | more, choice), ~jnp.any(more)

        return fixpoint.settled(step, (goal & states, nothing))

    def step(now: tuple) -> tuple[tuple, jax.Array]:
        states, _, away = now
        seen, choice = within(states)
        keeps = first_of(layout, layout.live & ~leads_to(states, seen))
        away = jnp.where(states & ~seen, keeps, away)
        return (seen, choice, away), jnp.all(seen == states)

    return fixpoint.settled(step, (goal | inside, nothing, nothing))


def _worth(game: Paid, x: jax.Array, sign: int) -> jax.Array:
    """What choices are worth, rounded up or down."""
    rules = game.rules
    worth = (game.earned + means(rules, x)) * (1 + sign * rules.slack)
    return jnp.maximum(worth + sign * UNDERFLOW[rules.slack.dtype.name], 0)


def _best(game: Paid, worth: jax.Array) -> jax.Array:
    """What the one who chooses makes of the worth of choices."""
    choices = game.rules.layout.choices
    most = ops.links_max(choices, worth, game.allowed)
    return jnp.where(game.rules.mine, most, ops.links_min(choices, worth, game.allowed))


def _swept(game: Paid, state: Bounded) -> Bounded:
    """The value of the best choice; bounds that were better stay."""
    layout, open_ = game.rules.layout, game.rules.open_
    below, above = _worth(game, state.lower, -1), _worth(game, state.upper, 1)
    least, most = _best(game, below), _best(game, above)
    rises, falls = open_ & (least > state.lower), open_ & (most < state.upper)
    by_low = first_of(layout, game.allowed & (below == ops.take(least, layout.owner)))
    by_high = first_of(layout, game.allowed & (above == ops.take(most, layout.owner)))
    return Bounded(
        jnp.where(rises, least, state.lower),
        jnp.where(falls, most, state.upper),
        jnp.where(rises, by_low, state.low),
        jnp.where(falls, by_high, state.high),
        state.moves,
    )


def _inflated(game: Paid, state: Bounded) -> Bounded:
    """Lower bounds that hold where he may keep the play for nothing.

    The components are those in which he only takes what is best by the upper bounds.
    Any are sound; these have no exit of his that is better for him.
    """
    rules, layout = game.rules, game.rules.layout
    owner, size = layout.owner, len(rules.open_)
    high = _worth(game, state.upper, 1)
    most = ops.take(ops.links_max(layout.choices, high, game.allowed), owner)
    mine = ops.take(rules.mine, owner)
    # As good but for rounding.
    tied = high >= most * (1 - 64 * rules.slack)
    here = game.allowed & ops.take(rules.open_, owner)
    free = here & (game.earned == 0) & (~mine | tied)
    with validity.unchecked():  # it was
        found = mec(rules.model, "interleaved", states=rules.open_, choices=free)
    label = found.state_label
    exits = here & ~mine & ~found.choice_kept
    there = jnp.where(label >= 0, label, size)
    index = jnp.where(exits, ops.take(there, owner), size)
    cap = ops.min_into(index, _worth(game, state.lower, -1), size, jnp.inf)
    cap = ops.take(cap, jnp.maximum(label, 0))
    rises = (label >= 0) & (cap > state.lower) & (cap < jnp.inf)
    stays = first_of(layout, found.choice_kept)
    return state._replace(
        lower=jnp.where(rises, cap, state.lower),
        low=jnp.where(rises, stays, state.low),
    )

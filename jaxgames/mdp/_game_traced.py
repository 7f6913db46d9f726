"""Games of reachability where they are traced: bounds from both sides, and deflation.

No strategy is fixed, and nothing gets smaller. Bounds from above stop too high in end
components in which the others can keep the play: there they are lowered to what the
maximiser gets by leaving.
"""

import dataclasses
import functools
from typing import Any, ClassVar, NamedTuple

from jaxgames import fixpoint, ops, validity
from jaxgames.later import jax, jnp
from jaxgames.mdp._interval import UNDERFLOW
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._layout import traced as lay_out
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.ops import Pieces
from jaxgames.solution import Stats, Status
from jaxgames.solver import Solver
from jaxgames.tuning.mdp import GAME_ROUNDS, GAME_SWEEPS


class Rules(NamedTuple):
    """The equations of a game, in one floating type.

    Attributes:
        model: where branches lead, and nothing else.
        layout: of that.
        weights: on the layout's branches, the probabilities.
        mine: bool `[S]`, where the maximiser chooses.
        open_: bool `[S]`, the states whose value is not known.
        one: bool `[S]`, the states of value one; the others have value zero.
        slack: scalar, more than the relative error that rounding makes in a sum.
        width: scalar, how far apart the bounds may stay.
    """

    model: MDP
    layout: Layout
    weights: Pieces
    mine: Any
    open_: Any
    one: Any
    slack: Any
    width: Any


class Bounded(NamedTuple):
    """The bounds, and the choices that attain them."""

    lower: jax.Array  # float [S]
    upper: jax.Array  # float [S]
    low: jax.Array  # int32 [S]: the choice that raised the lower bound last
    high: jax.Array  # int32 [S]: the one that allowed the upper bound to fall last
    moves: jax.Array  # bool: some bound moved in the last round


@dataclasses.dataclass(frozen=True)
class FromBothSides(Solver):
    """What all value iteration from both sides has in common: how it ends.

    Attributes:
        relative: whether the width that is asked for is relative to the lower bound.
    """

    relative: bool = False

    def met(self, rules: Rules, state: Bounded) -> jax.Array:
        """Whether the bounds are as near as was asked for."""
        width = rules.width * state.lower if self.relative else rules.width
        return jnp.all(state.upper - state.lower <= width)

    def overflow(self, state: Bounded) -> jax.Array:
        """Nothing moves any more: the bounds cannot be told apart further."""
        return ~state.moves

    def answer(self, game: Any, state: Bounded) -> Bounded:
        """All of it."""
        del game
        return state


@dataclasses.dataclass(frozen=True)
class Deflation(FromBothSides):
    """Value iteration from both sides, with upper bounds that are deflated [1].

    Lower bounds never exceed what the equations make of them, with the choices in `low`
    for the maximiser. These are from different rounds, so that each leads to bounds
    that are older than its own: no circle can hold a bound up. Upper bounds are never
    less than what the equations make of them, with the choices in `high` for the
    others; a deflation keeps that, too. So both hold after each round.

    References:
        [1] Kelmendi, Krämer, Kretinsky and Weininger, Value iteration for simple
        stochastic games: stopping criterion and learning algorithm, CAV 2018,
        doi:10.1007/978-3-319-96145-3_36.
    """

    name: ClassVar[str] = "deflation"

    def init(self, game: Rules) -> Bounded:
        """From what is known, and the first choices."""
        lower = game.one.astype(game.slack.dtype)
        first = first_of(game.layout, game.layout.live)
        upper = jnp.where(game.open_, 1, lower)
        return Bounded(lower, upper, first, first, jnp.array(True))

    def step(self, game: Rules, state: Bounded) -> Bounded:
        """Some sweeps, and a deflation."""
        after = fixpoint.repeat(GAME_SWEEPS, functools.partial(_swept, game), state)
        after = _deflated(game, after)
        moves = (after.lower > state.lower) | (after.upper < state.upper)
        return after._replace(moves=jnp.any(moves))

    def done(self, game: Rules, state: Bounded) -> jax.Array:
        """The bounds have met."""
        return self.met(game, state)


def solve(
    model: MDP, mine: Any, target: Any, passed: Any, epsilon: Any, *, relative: bool
) -> tuple:
    """Two bounds and the strategies; status, statistics; what has no sum (pure)."""
    bare, unsound = rules(model, mine, epsilon)
    layout, mine = bare.layout, bare.mine
    goal = jnp.asarray(target) & layout.states
    inside = layout.states & ~goal
    if passed is not None:
        inside = inside & jnp.asarray(passed)
    reached = _possible(layout, mine, goal, inside)
    one, towards = _surely(layout, mine, goal, inside)
    zero = inside & ~reached
    game = bare._replace(open_=inside & reached & ~one, one=one)
    solver = Deflation(relative=relative)
    outcome = fixpoint.traced(solver, game, None, GAME_ROUNDS)
    found = outcome.answer
    # Nothing moves any more: because the bounds have met, or never will.
    met = solver.done(game, outcome.carry.state)
    ended = jnp.where(met, Status.SOLVED, Status.PRECISION)
    status = jnp.where(outcome.status == Status.OVERFLOW, ended, outcome.status)
    away = ~ops.links_any(layout.branches, reached)
    strategy = jnp.where(mine, found.low, found.high)
    strategy = jnp.where(one & mine, towards, strategy)
    strategy = jnp.where(zero, first_of(layout, layout.live & away), strategy)
    strategy = jnp.where(inside, strategy, NO_CHOICE)
    stats = Stats(
        solver=solver.name,
        rounds=outcome.rounds,
        zero=jnp.sum(zero),
        one=jnp.sum(one),
        open=jnp.sum(game.open_),
    )
    bounds = found.lower, found.upper
    return *bounds, strategy, status.astype(jnp.int32), stats, unsound


def rules(model: MDP, mine: Any, epsilon: Any) -> tuple[Rules, jax.Array]:
    """Equations of a model of which nothing is known, and what has no sum (pure)."""
    layout = lay_out(model)
    dtype = jnp.result_type(float)
    tail, own = layout.branches.tail, len(layout.owner)  # type: ignore
    probs = jnp.where(tail < own, jnp.asarray(model.probs), 0).astype(dtype)
    ones = jnp.ones(model.num_states, dtype)
    # Relative to their sum: files round, and so do sums.
    total = ops.links_sum(layout.branches, ones, (probs,))
    share = probs / ops.take(jnp.append(total, 1), jnp.minimum(tail, own))
    most = jnp.max(jnp.diff(jnp.asarray(model.row_offsets)), initial=0)
    made = Rules(
        model=MDP(model.row_group_offsets, model.row_offsets, model.columns),
        layout=layout,
        weights=(share,),
        mine=jnp.asarray(mine),
        open_=layout.states,
        one=jnp.zeros(model.num_states, bool),
        slack=(6 * most + 12).astype(dtype) * jnp.finfo(dtype).eps.astype(dtype),
        width=jnp.asarray(epsilon, dtype),
    )
    return made, jnp.any(layout.live & ~((total > 0) & (total < jnp.inf)))


def _possible(layout: Layout, mine, goal, inside) -> jax.Array:
    """Where the maximiser gets to the goal with more than probability zero."""

    def step(seen: jax.Array) -> tuple[jax.Array, jax.Array]:
        leads = ops.links_any(layout.branches, seen)
        some = ops.links_any(layout.choices, layout.live & leads)
        other = ops.links_any(layout.choices, layout.live & ~leads)
        more = seen | (inside & jnp.where(mine, some, ~other))
        return more, jnp.all(more == seen)

    return fixpoint.settled(step, goal)


def _surely(layout: Layout, mine, goal, inside) -> tuple[jax.Array, jax.Array]:
    """Where he gets there with probability one, and by which choices."""

    def within(states: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Where he may come nearer, and need not leave these states before."""
        stays = layout.live & ~ops.links_any(layout.branches, ~states)

        def step(now: tuple) -> tuple[tuple, jax.Array]:
            seen, choice = now
            leads = stays & ops.links_any(layout.branches, seen)
            some = ops.links_any(layout.choices, leads)
            other = ops.links_any(layout.choices, layout.live & ~leads)
            more = inside & ~seen & jnp.where(mine, some, ~other)
            choice = jnp.where(more, first_of(layout, leads), choice)
            return (seen | more, choice), ~jnp.any(more)

        nothing = jnp.full(len(goal), NO_CHOICE, jnp.int32)
        return fixpoint.settled(step, (goal, nothing))

    def step(now: tuple) -> tuple[tuple, jax.Array]:
        after = within(now[0])
        return after, jnp.all(after[0] == now[0])

    nothing = jnp.full(len(goal), NO_CHOICE, jnp.int32)
    return fixpoint.settled(step, (goal | inside, nothing))


def means(game: Rules, x: jax.Array) -> jax.Array:
    return ops.links_sum(game.layout.branches, x, game.weights)


def first_of(layout: Layout, wanted: jax.Array) -> jax.Array:
    """The first wanted choice of each state, -1 where there is none."""
    number = jnp.arange(len(wanted), dtype=jnp.int32)
    choice = ops.links_min(layout.choices, number, wanted)
    return jnp.where(choice < len(wanted), choice, NO_CHOICE).astype(jnp.int32)


def _best(game: Rules, worth: jax.Array) -> jax.Array:
    """What the one who chooses makes of the worth of choices."""
    choices = game.layout.choices
    most, least = ops.links_max(choices, worth), ops.links_min(choices, worth)
    return jnp.where(game.mine, most, least)


def _swept(game: Rules, state: Bounded) -> Bounded:
    """The value of the best choice; bounds that were better stay."""
    tiny = UNDERFLOW[game.slack.dtype.name]
    below = jnp.maximum(means(game, state.lower) * (1 - game.slack) - tiny, 0)
    above = means(game, state.upper) * (1 + game.slack) + tiny
    least, most = _best(game, below), _best(game, above)
    rises = game.open_ & (least > state.lower)
    falls = game.open_ & (most < state.upper)
    owner = game.layout.owner
    by_low = first_of(game.layout, game.layout.live & (below == ops.take(least, owner)))
    by_high = first_of(game.layout, game.layout.live & (above == ops.take(most, owner)))
    return Bounded(
        jnp.where(rises, least, state.lower),
        jnp.where(falls, most, state.upper),
        jnp.where(rises, by_low, state.low),
        jnp.where(falls, by_high, state.high),
        state.moves,
    )


def _deflated(game: Rules, state: Bounded) -> Bounded:
    """Upper bounds that hold where the others may keep the play together.

    The components are those in which the others only take what is best by the lower
    bounds. Any are sound; these have no exit of the others that is better for them.
    """
    layout, owner = game.layout, game.layout.owner
    low = means(game, state.lower)
    least = ops.take(ops.links_min(layout.choices, low), owner)
    mine = ops.take(game.mine, owner)
    # As good but for rounding.
    tied = low <= least * (1 + 64 * game.slack)
    free = layout.live & ops.take(game.open_, owner) & (mine | tied)
    with validity.unchecked():  # it was
        found = mec(game.model, "interleaved", states=game.open_, choices=free)
    label, size = found.state_label, len(game.open_)
    exits = layout.live & mine & ~found.choice_kept
    tiny = UNDERFLOW[game.slack.dtype.name]
    above = means(game, state.upper) * (1 + game.slack) + tiny
    there = jnp.where(label >= 0, label, size)
    index = jnp.where(exits, ops.take(there, owner), size)
    cap = ops.max_into(index, above, size, 0)
    cap = ops.take(cap, jnp.maximum(label, 0))
    falls = (label >= 0) & (cap < state.upper)
    stays = first_of(layout, found.choice_kept)
    return state._replace(
        upper=jnp.where(falls, cap, state.upper),
        high=jnp.where(falls, stays, state.high),
    )

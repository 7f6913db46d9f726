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
from jaxgames.mdp._interval import UNDERFLOW, ended
from jaxgames.mdp._layout import Layout, shares
from jaxgames.mdp._layout import traced as lay_out
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.ops import Pieces
from jaxgames.solution import Stats
from jaxgames.solver import Solver
from jaxgames.tuning.mdp import GAME_ROUNDS, GAME_SWEEPS


class Rules(NamedTuple):
    """The equations of a game, in one floating type; of rewards, if any are earned."""

    model: MDP  # where branches lead, and nothing else
    layout: Layout  # of that
    weights: Pieces  # on the layout's branches, the probabilities
    mine: Any  # bool [S]: where the maximiser chooses
    open_: Any  # bool [S]: the states whose value is not known, from zero to `start`
    one: Any  # bool [S]: the states of value one; the others have value zero
    slack: Any  # scalar, more than the relative error that rounding makes in a sum
    width: Any  # scalar, how far apart the bounds may stay
    start: Any = 1  # scalar or `[S]`, upper bounds to begin with
    sure: Any = None  # int32 [S]: choices that show these; None for the first ones
    earned: Any = None  # float [C]: what choices earn; None for nothing
    allowed: Any = None  # bool [C]: the choices that there are; None for all

    @property
    def live(self) -> jax.Array:
        """The choices that there are: bool `[C]`."""
        return self.layout.live if self.allowed is None else self.allowed

    def worth(self, x: jax.Array, sign: int) -> jax.Array:
        """What choices are worth, rounded up or down."""
        found = self.means(x)
        if self.earned is not None:
            found = self.earned + found
        found = found * (1 + sign * self.slack)
        return jnp.maximum(found + sign * UNDERFLOW[self.slack.dtype.name], 0)

    def means(self, x: jax.Array) -> jax.Array:
        """What states are worth where choices lead, on average."""
        return ops.links_sum(self.layout.branches, x, self.weights)

    def best(self, worth: jax.Array) -> jax.Array:
        """What the one who chooses makes of the worth of choices."""
        given = self.layout.choices, worth, self.allowed
        return jnp.where(self.mine, ops.links_max(*given), ops.links_min(*given))


class Bounded(NamedTuple):
    """The bounds, and the choices that attain them."""

    lower: jax.Array  # float [S]
    upper: jax.Array  # float [S]
    low: jax.Array  # int32 [S]: the choice that raised the lower bound last
    high: jax.Array  # int32 [S]: the one that allowed the upper bound to fall last
    moves: jax.Array  # bool: some bound moved in the last round


@dataclasses.dataclass(frozen=True)
class FromBothSides(Solver):
    """Value iteration from both sides, some bounds of which are mended.

    Attributes:
        relative: whether the width that is asked for is relative to the lower bound.
    """

    relative: bool = False

    def mended(self, game: Rules, state: Bounded) -> Bounded:
        """The bounds in end components where the play may be kept."""
        raise NotImplementedError

    def init(self, game: Rules) -> Bounded:
        """From what is known, and the first choices."""
        lower = game.one.astype(game.slack.dtype)
        first = first_of(game.layout, game.live)
        upper = jnp.where(game.open_, game.start, lower)
        sure = first if game.sure is None else game.sure
        return Bounded(lower, upper, first, sure, jnp.array(True))

    def step(self, game: Rules, state: Bounded) -> Bounded:
        """Some sweeps, and bounds are mended."""
        after = fixpoint.repeat(GAME_SWEEPS, functools.partial(_swept, game), state)
        after = self.mended(game, after)
        moves = (after.lower > state.lower) | (after.upper < state.upper)
        return after._replace(moves=jnp.any(moves))

    def done(self, game: Rules, state: Bounded) -> jax.Array:
        """The bounds are as near as was asked for."""
        width = game.width * state.lower if self.relative else game.width
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

    def mended(self, game: Rules, state: Bounded) -> Bounded:
        """Upper bounds that hold where the others may keep the play together.

        The components are those in which the others only take what is best by the lower
        bounds. Any are sound; these have no exit of the others that is better for them.
        """
        layout, owner = game.layout, game.layout.owner
        low = game.means(state.lower)
        least = ops.take(ops.links_min(layout.choices, low), owner)
        mine = ops.take(game.mine, owner)
        # As good but for rounding.
        tied = low <= least * (1 + 64 * game.slack)
        free = layout.live & ops.take(game.open_, owner) & (mine | tied)
        with validity.unchecked():  # it was
            found = mec(game.model, "interleaved", states=game.open_, choices=free)
        label, size = found.state_label, len(game.open_)
        exits = layout.live & mine & ~found.choice_kept
        there = jnp.where(label >= 0, label, size)
        index = jnp.where(exits, ops.take(there, owner), size)
        cap = ops.max_into(index, game.worth(state.upper, 1), size, 0)
        cap = ops.take(cap, jnp.maximum(label, 0))
        falls = (label >= 0) & (cap < state.upper)
        stays = first_of(layout, found.choice_kept)
        return state._replace(
            upper=jnp.where(falls, cap, state.upper),
            high=jnp.where(falls, stays, state.high),
        )


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
    one, towards, _ = surely(layout, ~mine, goal, inside, layout.live)
    zero = inside & ~reached
    game = bare._replace(open_=inside & reached & ~one, one=one)
    solver = Deflation(relative=relative)
    outcome = fixpoint.traced(solver, game, None, GAME_ROUNDS)
    found = outcome.answer
    status = ended(outcome.status, solver.done(game, outcome.carry.state))
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
    return *bounds, strategy, status, stats, unsound


def rules(model: MDP, mine: Any, epsilon: Any) -> tuple[Rules, jax.Array]:
    """Equations of a model of which nothing is known, and what has no sum (pure)."""
    layout = lay_out(model)
    _, share, total, slack = shares(layout, model)
    made = Rules(
        model=MDP(model.row_group_offsets, model.row_offsets, model.columns),
        layout=layout,
        weights=(share,),
        mine=jnp.asarray(mine),
        open_=layout.states,
        one=jnp.zeros(model.num_states, bool),
        slack=slack,
        width=jnp.asarray(epsilon, slack.dtype),
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


def surely(
    layout: Layout, mine: Any, goal: Any, inside: Any, choices: Any
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Where one side gets to a goal with probability one, whatever the other does.

    The other chooses in `mine`, this one elsewhere among `choices`; `inside` is passed
    before.

    Returns:
        These states; the side's choices by which it does; the other's by which it keeps
        the play away from there elsewhere.
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


def first_of(layout: Layout, wanted: jax.Array) -> jax.Array:
    """The first wanted choice of each state, -1 where there is none."""
    number = jnp.arange(len(wanted), dtype=jnp.int32)
    choice = ops.links_min(layout.choices, number, wanted)
    return jnp.where(choice < len(wanted), choice, NO_CHOICE).astype(jnp.int32)


def _swept(game: Rules, state: Bounded) -> Bounded:
    """The value of the best choice; bounds that were better stay."""
    layout, live = game.layout, game.live
    below, above = game.worth(state.lower, -1), game.worth(state.upper, 1)
    least, most = game.best(below), game.best(above)
    rises = game.open_ & (least > state.lower)
    falls = game.open_ & (most < state.upper)
    by_low = first_of(layout, live & (below == ops.take(least, layout.owner)))
    by_high = first_of(layout, live & (above == ops.take(most, layout.owner)))
    return Bounded(
        jnp.where(rises, least, state.lower),
        jnp.where(falls, most, state.upper),
        jnp.where(rises, by_low, state.low),
        jnp.where(falls, by_high, state.high),
        state.moves,
    )

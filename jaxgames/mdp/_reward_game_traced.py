"""Games of rewards before a target where they are traced: bounds from both sides.

As for games of reachability, with the sides changed: in end components that cost
nothing the others could stay for ever, by the equations alone. But then they never get
to the target, which costs infinitely much. So there lower bounds are raised to what it
costs them to leave.
"""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import fixpoint, ops, validity
from jaxgames.later import jax, jnp
from jaxgames.mdp._game_traced import (
    Bounded,
    FromBothSides,
    Rules,
    first_of,
    rules,
    surely,
)
from jaxgames.mdp._interval import UNDERFLOW, ended
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.solution import Stats, Status
from jaxgames.solver import Solver
from jaxgames.tuning.mdp import GAME_ROUNDS


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

    def init(self, game: Rules) -> Walked:
        """No steps."""
        steps = jnp.zeros(len(game.open_), game.slack.dtype)
        return Walked(steps, jnp.ones((), steps.dtype))

    def step(self, game: Rules, state: Walked) -> Walked:
        """One step more."""
        layout = game.layout
        number = jnp.arange(len(layout.owner), dtype=jnp.int32)
        taken = number == ops.take(game.sure, layout.owner)
        taken = layout.live & (ops.take(game.mine, layout.owner) | taken)
        after = (1 + game.means(state.steps)) * (1 + game.slack)
        most = ops.links_max(layout.choices, after, taken)
        steps = jnp.where(game.open_, most, 0)
        rest = jnp.max(steps - state.steps, initial=0) * (1 + game.slack)
        return Walked(steps, rest)

    def done(self, game: Rules, state: Walked) -> jax.Array:
        """They hardly grow."""
        del game
        return state.rest < 0.5

    def overflow(self, state: Walked) -> jax.Array:
        """They have become too large."""
        return ~jnp.isfinite(state.rest) & (jnp.max(state.steps, initial=0) > 0)

    def answer(self, game: Rules, state: Walked) -> jax.Array:
        """The weights; infinite ones where there are none."""
        weights = state.steps / (1 - state.rest) * (1 + 8 * game.slack)
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

    def mended(self, game: Rules, state: Bounded) -> Bounded:
        """Lower bounds that hold where he may keep the play for nothing.

        The components are those in which he only takes what is best by the upper
        bounds. Any are sound; these have no exit of his that is better for him.
        """
        layout, owner, size = game.layout, game.layout.owner, len(game.open_)
        high = game.worth(state.upper, 1)
        most = ops.take(ops.links_max(layout.choices, high, game.allowed), owner)
        mine = ops.take(game.mine, owner)
        # As good but for rounding.
        tied = high >= most * (1 - 64 * game.slack)
        here = game.live & ops.take(game.open_, owner)
        free = here & (game.earned == 0) & (~mine | tied)
        with validity.unchecked():  # it was
            found = mec(game.model, "interleaved", states=game.open_, choices=free)
        label = found.state_label
        exits = here & ~mine & ~found.choice_kept
        there = jnp.where(label >= 0, label, size)
        index = jnp.where(exits, ops.take(there, owner), size)
        cap = ops.min_into(index, game.worth(state.lower, -1), size, jnp.inf)
        cap = ops.take(cap, jnp.maximum(label, 0))
        rises = (label >= 0) & (cap > state.lower) & (cap < jnp.inf)
        stays = first_of(layout, found.choice_kept)
        return state._replace(
            lower=jnp.where(rises, cap, state.lower),
            low=jnp.where(rises, stays, state.low),
        )


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
    sure, towards, away = surely(layout, mine, goal, inside, layout.live)
    endless = inside & ~sure
    allowed = layout.live & ~ops.links_any(layout.branches, endless)
    free = layout.live & (earned == 0)
    costs = ops.links_any(layout.choices, layout.live & (earned > 0))
    zero, gift, _ = surely(layout, mine, goal, sure & inside & ~(mine & costs), free)
    open_ = inside & sure & ~zero
    most = jnp.max(jnp.where(ops.take(open_, layout.owner), earned, 0), initial=0)
    tiny = UNDERFLOW[earned.dtype.name]
    game = bare._replace(open_=open_, earned=earned, allowed=allowed, sure=towards)
    ranked = fixpoint.traced(Ranking(), game, None, GAME_ROUNDS)
    game = game._replace(start=ranked.answer * (2 * most + tiny))
    solver = Inflation(relative=relative)
    outcome = fixpoint.traced(solver, game, None, GAME_ROUNDS)
    found = outcome.answer
    late = ranked.status == Status.MAX_STEPS
    apart = jnp.where(late, ranked.status, Status.PRECISION)
    status = ended(outcome.status, solver.done(game, outcome.carry.state), apart)
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
    return lower, upper, strategy, status, stats, unsound

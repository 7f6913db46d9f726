"""Marks that spread over a model backwards: fixpoints for qualitative sets."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._region import NO_CHOICE, Region
from jaxgames.solver import Solver, check_positive

REMOVE, REACH, DONE = range(3)
"""Phases of `Surely`."""


class Problem(NamedTuple):
    """Where marks may spread.

    Attributes:
        layout: the model.
        goal: bool `[S]`, the states that are marked in the beginning.
        passed: bool `[S]`, the states that may be marked; none of the goal, and none
            without a choice.
    """

    layout: Layout
    goal: jax.Array
    passed: jax.Array


@jax.jit
def problem(layout: Layout, target: Any, states: Any = None) -> Problem:
    """Reaching a target through some states (pure).

    Args:
        layout: the model, or a part of it.
        target: bool `[S]`.
        states: bool `[S]`, or None for all.
    """
    goal = layout.states & jnp.asarray(target)
    passed = layout.states & ~goal & ops.links_any(layout.choices, layout.live)
    if states is not None:
        passed = passed & jnp.asarray(states)
    return Problem(layout, goal, passed)


# ---- with some choice, or with every one ---------------------------------------------


class SpreadState(NamedTuple):
    """Marks, and whether the last round made a new one."""

    mark: jax.Array
    spreads: jax.Array


@dataclasses.dataclass(frozen=True)
class Spread(Solver):
    """The least set that holds the goal and all states that lead there at once.

    Attributes:
        every: whether every choice of a state must possibly lead to a marked state;
            else one is enough.
    """

    every: bool = False

    name: ClassVar[str] = "spread"

    def init(self, game: Problem) -> SpreadState:
        """The goal is marked."""
        return SpreadState(game.goal, jnp.array(True))

    def step(self, game: Problem, state: SpreadState) -> SpreadState:
        """A state is marked if its choices may lead to a marked one."""
        layout = game.layout
        hit = ops.links_any(layout.branches, state.mark)
        if self.every:
            leads = ~ops.links_any(layout.choices, layout.live & ~hit)
        else:
            leads = ops.links_any(layout.choices, layout.live & hit)
        new = game.passed & ~state.mark & leads
        return SpreadState(state.mark | new, jnp.any(new))

    def done(self, game: Problem, state: SpreadState) -> jax.Array:
        """Nothing was marked in the last round."""
        return ~state.spreads

    def answer(self, game: Problem, state: SpreadState) -> jax.Array:
        """The marks."""
        return state.mark


# ---- almost surely -------------------------------------------------------------------


class SurelyState(NamedTuple):
    """A set that shrinks, and marks that spread in it."""

    inside: jax.Array  # bool [S]: states that have not been taken out
    safe: jax.Array  # bool [C]: choices that stay inside
    mark: jax.Array  # bool [S]: states that reach the goal by safe choices
    scheduler: jax.Array  # int32 [S]: the choice by which a state was marked
    phase: jax.Array  # int32


@dataclasses.dataclass(frozen=True)
class Surely(Solver):
    """The greatest set in which every state reaches the goal without leaving the set.

    Two phases in turn. States that have no choice left to stay in the set are taken out
    of it, until there are none. Then marks spread from the goal by choices that stay;
    what is not marked is taken out as well.

    Attributes:
        sweeps: rounds between two tests whether something has changed.
    """

    sweeps: int = 1
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "surely"

    def __post_init__(self):
        super().__post_init__()
        check_positive(sweeps=self.sweeps)

    def init(self, game: Problem) -> SurelyState:
        """All states that may be passed are in the set."""
        return SurelyState(
            inside=game.goal | game.passed,
            safe=game.layout.live,
            mark=game.goal,
            scheduler=_no_choices(game),
            phase=jnp.int32(REMOVE),
        )

    def step(self, game: Problem, state: SurelyState) -> SurelyState:
        """Some rounds of a phase; when it is over, goes on to the next."""
        return jax.lax.switch(
            state.phase,
            [self._remove, self._reach, lambda game, state: state],
            game,
            state,
        )

    def done(self, game: Problem, state: SurelyState) -> jax.Array:
        """All that is in the set was marked."""
        return state.phase == DONE

    def answer(self, game: Problem, state: SurelyState) -> Region:
        """The set, and the choices that lead to the goal."""
        return Region(state.inside, state.scheduler)

    def _remove(self, game: Problem, state: SurelyState) -> SurelyState:
        layout, inside, safe = game.layout, state.inside, state.safe
        before = inside
        for _ in range(self.sweeps):
            before = inside
            safe = layout.live & ops.links_all(layout.branches, inside)
            inside = inside & (game.goal | ops.links_any(layout.choices, safe))
        stable = ~jnp.any(inside != before)
        return SurelyState(
            inside=inside,
            safe=safe,
            mark=game.goal,
            scheduler=_no_choices(game),
            phase=jnp.where(stable, REACH, REMOVE).astype(jnp.int32),
        )

    def _reach(self, game: Problem, state: SurelyState) -> SurelyState:
        layout, mark, scheduler = game.layout, state.mark, state.scheduler
        number = jnp.arange(len(layout.owner), dtype=jnp.int32)
        new = mark
        for _ in range(self.sweeps):
            hit = state.safe & ops.links_any(layout.branches, mark)
            choice = ops.links_min(layout.choices, number, hit)
            new = state.inside & ~mark & (choice < len(number))
            mark = mark | new
            scheduler = jnp.where(new, choice, scheduler)
        stable = ~jnp.any(new)
        lost = jnp.any(state.inside & ~mark)
        after = jnp.where(lost, REMOVE, DONE)
        return SurelyState(
            inside=jnp.where(stable, mark, state.inside),
            safe=state.safe,
            mark=mark,
            scheduler=scheduler,
            phase=jnp.where(stable, after, REACH).astype(jnp.int32),
        )


def _no_choices(game: Problem) -> jax.Array:
    return jnp.full(game.goal.shape, NO_CHOICE, jnp.int32)


# ---- running them --------------------------------------------------------------------


def spread(game: Problem, *, every: bool = False) -> jax.Array:
    """What leads to the goal with some choice, or with every one: bool `[S]`."""
    sweeps = fixpoint.default_sweeps(game.layout.branches)
    return fixpoint.completed(Spread(every, sweeps_per_check=sweeps), game).mark


def surely(game: Problem) -> Region:
    """What some scheduler leads to the goal with probability one, and how."""
    sweeps = fixpoint.default_sweeps(game.layout.branches)
    found = fixpoint.completed(Surely(sweeps), game)
    return Region(found.inside, found.scheduler)

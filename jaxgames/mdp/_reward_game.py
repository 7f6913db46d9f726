"""Stochastic games for rewards: before a target, or discounted."""

from fractions import Fraction
from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import limits, validity
from jaxgames.arena import is_traced
from jaxgames.arguments import refuse_masked
from jaxgames.later import jnp
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import _questions, _reward_game_traced
from jaxgames.mdp._checks import precision
from jaxgames.mdp._game import Game, check_type, refuse_traced
from jaxgames.mdp._improved_exactly import improved_exactly
from jaxgames.mdp._model import MDP, first_choices, owner_of
from jaxgames.mdp._open import exactly
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._region import NO_CHOICE, as_states, check_quantitative
from jaxgames.mdp._stochastic_game import (
    IMPROVEMENTS,
    GameValues,
    are_near,
    best_choices,
    between,
    bounds_of,
    improved_to,
    means,
    part,
    taken,
    undecided_game,
)
from jaxgames.mdp._values_problem import ValueBounds
from jaxgames.mdp._values_verdict import ValueVerdict, claimed, ordered
from jaxgames.mdp._verify_values import verify_values
from jaxgames.solution import SolveError, Status
from jaxgames.tuning.mdp import IMPROVED_EXACTLY_UP_TO


def _undecided(status: Status, game: Game, *_: Any, **__: Any) -> GameValues:
    """What is true of any game."""
    return undecided_game(status, game, ends=(-np.inf, np.inf))


@limited(_undecided)
def solve_reward_game(
    game: Game,
    reward: Any,
    target: Any = None,
    *,
    discount: Any = None,
    maximizer: int = 0,
    epsilon: float = 1e-6,
    relative: bool = True,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> GameValues:
    """What a player earns at most against all others: before a target, or discounted.

    A run that never gets to the target earns infinitely much, even if its rewards are
    zero, as `R [ F target ]` has it: the others have to get there. From where they
    cannot be sure to, values are infinite [1]; elsewhere they begin with a strategy
    that is sure to, and change their choices where others are better by the most that
    he can earn against it: so it stays sure, and ends with the best one [2]. He then
    takes what is best by these values. The decision process that is left for the one
    bounds the value above, that for the other below, each by its own certificate.

    Inside `jax.jit` and `jax.vmap` rewards before a target have bounds from both sides,
    as `solve_game` has them. Where the others could stay for nothing, lower bounds are
    raised to what it costs them to leave; upper ones begin with a strategy of theirs
    that is sure to get to the target. All is computed in JAX's floating type, so look
    at `status`; a reward that is negative or infinite is `INVALID`.

    Args:
        game: the game.
        reward: what each choice earns, real `[C]`, or the name of rewards of the model;
            not negative, but for discounted ones.
        target: the states to reach: bool `[S]`, states by number, or a label. None for
            discounted rewards.
        discount: what a step is worth beside the one before it, between 0 and 1; the
            first one is worth what it is. None for rewards before a target.
        maximizer: the player who earns; all others want him to earn little.
        epsilon: how far apart the bounds of a value may be.
        relative: whether that is relative to the value.
        throw: whether to raise a `SolveError` where bounds are not that near; never
            under tracing.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the game or an argument is wrong.
        SolveError: the bounds have not met, and `throw` is set.

    References:
        [1] de Alfaro, Henzinger and Kupferman, Concurrent reachability games, TCS 386
        (2007), doi:10.1016/j.tcs.2007.07.008.
        [2] Patek and Bertsekas, Stochastic shortest path games, SIAM J. Control Optim.
        37 (1999), doi:10.1137/S0363012996299557.

    Examples:
        In 0 he chooses between 1 and a fair lot, in 1 the other one between going on
        for 3 and going back for nothing.

        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 4, 5], [0, 1, 3, 4, 5, 6], [1, 0, 2, 2, 0, 2],
        ...     [1, 0.5, 0.5, 1, 1, 1], player=[0, 1, -1],
        ... )
        >>> found = mdp.solve_reward_game(game, [1, 1, 3, 0, 0], [2])
        >>> found.value, found.strategy
        (array([4., 3., 0.]), array([ 0,  2, -1], dtype=int32))
    """
    before = isinstance(game, Game) and discount is None and target is not None
    if before and is_traced((game, reward, target, epsilon)):
        return _traced(game, reward, target, maximizer, epsilon, relative)
    asked = _asked(game, reward, target, discount, maximizer)
    precision(epsilon)
    found = _solved(asked, epsilon, relative)
    if throw and found.status != Status.SOLVED:
        raise SolveError(Status(found.status), found)
    return found


def _traced(
    game: Game, reward: Any, target: Any, maximizer: int, epsilon: Any, relative: bool
) -> GameValues:
    """The same question, of arrays whose values nobody can look at (pure)."""
    mine = game.states_of(maximizer)
    model, fault = check_quantitative(game.model)
    if not is_traced(epsilon):
        precision(epsilon)
    goal = as_states("target", model, target)
    earned = jnp.asarray(_earned(model, reward))
    lower, upper, strategy, status, stats, unsound = _reward_game_traced.solve(
        model, mine, earned, goal, epsilon, relative=bool(relative)
    )
    found = between(status, stats, lower, upper, strategy)
    # Of a game that is not traced rewards alone are not known to be right.
    fault = unsound if fault is False else fault | unsound | game.misplayed()
    return validity.withdrawn(fault, found)


@limited()
def verify_reward_game(
    game: Game,
    reward: Any,
    found: Any,
    target: Any = None,
    *,
    discount: Any = None,
    maximizer: int = 0,
    **bounds: Unpack[Bounds],
) -> ValueVerdict:
    """Checks values of a game for rewards by its strategies.

    Against his strategy nobody makes it less than the lower bounds, and against theirs
    he makes no more than the upper ones: both are asked of `verify_values`, which
    shares nothing with what solves, of the decision process that is left.

    Args:
        game: the game.
        reward: as for `solve_reward_game`.
        found: `GameValues`, or what has `lower`, `upper` and `strategy`.
        target: as for `solve_reward_game`.
        discount: likewise.
        maximizer: likewise.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A verdict: true if the bounds hold.

    Raises:
        ValueError: an argument is wrong, or an array of `found` is missing or has
            another shape or type.

    Examples:
        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays([0, 2], [0, 1, 2], [0, 0], [1, 1], [0])
        >>> found = mdp.solve_reward_game(game, [1, 2], discount=0.5)
        >>> found.value
        array([4.])
        >>> print(mdp.verify_reward_game(game, [1, 2], found, discount=0.5))
        valid
    """
    asked = _asked(game, reward, target, discount, maximizer)
    lower, upper, strategy = claimed(found, game.model.num_states)
    if strategy is None:
        raise ValueError("a strategy is needed to verify this: int [S]")
    verdict = ordered(asked.real, lower, upper)
    if not verdict:
        return verdict
    nothing = np.full(len(lower), -np.inf if asked.signed else 0.0)
    sides = (
        (asked.mine, "min", lower, np.full(len(lower), np.inf)),
        (~asked.mine, "max", nothing, upper),
    )
    for states, optimum, low, high in sides:
        small, old = asked.left(strategy, states)
        new = np.full(asked.game.model.num_choices + 1, NO_CHOICE)
        new[old] = np.arange(len(old))
        claim = _Claim(low, high, new[strategy])
        verdict = verify_values(small, asked.text(optimum), claim)
        if not verdict:
            return verdict
    return verdict


class _Claim(NamedTuple):
    """What `verify_values` looks at."""

    lower: Any
    upper: Any
    scheduler: Any


class _Asked(NamedTuple):
    """A question about a game."""

    game: Game
    reward: np.ndarray
    target: np.ndarray
    discount: Fraction | None
    mine: np.ndarray
    real: np.ndarray

    @property
    def signed(self) -> bool:
        return bool((self.reward < 0).any())

    def left(self, strategy: np.ndarray, states: np.ndarray) -> tuple[MDP, np.ndarray]:
        """The decision process where some states have made their choice."""
        kept = taken(strategy, states & self.real, owner_of(self.game.model))
        small, old = part(self.game.model, kept)
        goal = {} if self.discount is not None else {"target": self.target}
        return MDP(
            small.row_group_offsets,
            small.row_offsets,
            small.columns,
            small.probs,
            labels=goal,
            choice_rewards={"": self.reward[old]},
        ), old

    def text(self, optimum: str) -> str:
        """What is asked of it."""
        if self.discount is None:
            return f'R{optimum}=? [ F "target" ]'
        top, bottom = self.discount.numerator, self.discount.denominator
        return f"R{optimum}=? [ Cdiscount={top}/{bottom} ]"

    def posed(self, model: MDP, optimum: str) -> Posed:
        """The same for those who solve it."""
        reward = (model.choice_rewards or {})[""]
        if self.discount is None:
            return _questions.reward_until(model, reward, self.target, optimum)
        return _questions.discounted(model, reward, optimum, self.discount)


def _asked(
    game: Game, reward: Any, target: Any, discount: Any, maximizer: int
) -> _Asked:
    """Reads a question; else raises ValueError."""
    check_type(game)
    refuse_traced("games for rewards are solved", game, reward, target, discount)
    model, _ = check_quantitative(game.model)
    earned = np.asarray(_earned(model, reward), np.float64)
    if not np.isfinite(earned).all():
        at = int(np.argmin(np.isfinite(earned)))
        raise ValueError(
            f"the reward of choice {at} is {earned[at]}: expected a finite number"
        )
    if (discount is None) == (target is None):
        raise ValueError("pass either a target, or a discount")
    groups = np.asarray(model.row_group_offsets)
    real = groups[1:] > groups[:-1]
    goal = np.zeros(model.num_states, bool)
    if target is not None:
        goal = np.asarray(as_states("target", model, target))
        if (earned < 0).any():
            at = int(np.argmax(earned < 0))
            raise ValueError(
                f"the reward of choice {at} is {earned[at]}: before a target rewards "
                "must not be negative"
            )
    try:
        share = None if discount is None else Fraction(discount)
    except (TypeError, ValueError, OverflowError):
        share = Fraction(0)  # no number at all
    if share is not None and not 0 < share < 1:
        raise ValueError(f"discount must be between 0 and 1, got {discount!r}")
    mine = game.states_of(maximizer) & real
    return _Asked(game, earned, goal, share, mine, real)


def _earned(model: MDP, reward: Any) -> Any:
    """What is asked for, a number for each choice."""
    earned = _by_name(model, reward) if isinstance(reward, str) else reward
    refuse_masked("reward", earned)
    if np.shape(earned) != (model.num_choices,):
        raise ValueError(
            f"reward must be finite numbers [{model.num_choices}], or a name, got "
            f"shape {list(np.shape(earned))}"
        )
    return earned


def _by_name(model: MDP, name: str) -> Any:
    """Rewards of a model: those of states and choices."""
    states = (model.state_rewards or {}).get(name)
    choices = (model.choice_rewards or {}).get(name)
    if states is None and choices is None:
        known = [*(model.state_rewards or {}), *(model.choice_rewards or {})]
        there = ", ".join(map(repr, known)) or "none"
        raise ValueError(f"the model has no rewards {name!r}; it has {there}")
    like: Any = jnp if is_traced((model, states, choices)) else np
    found = like.zeros(model.num_choices)
    if states is not None:
        # Choices that are none are behind those of the last state.
        begins, number = model.row_group_offsets, np.arange(model.num_choices)
        owner = like.searchsorted(like.asarray(begins), number, side="right") - 1
        found = found + like.append(like.asarray(states), 0.0)[owner]
    return found if choices is None else found + like.asarray(choices)


def _solved(asked: _Asked, epsilon: float, relative: bool) -> GameValues:
    """Improves the others' strategy until none of their choices is better."""
    model, mine = asked.game.model, asked.mine
    groups, owner = np.asarray(model.row_group_offsets), owner_of(model)
    others, near = asked.real & ~mine, epsilon / 64
    strategy = np.where(asked.real, groups[:-1], NO_CHOICE)
    endless = np.zeros(model.num_states, bool)
    if asked.discount is None:
        strategy, endless = _sure(asked, strategy)
    rounds = 0
    while True:
        limits.tick("improving", rounds, "strategies")
        high = _values(asked, strategy, ~mine, "max", near, relative)
        rounds += 1
        worth = _worth(asked, high.upper)
        least = best_choices(worth, owner, model.num_states, largest=False)
        here = np.where(asked.real, strategy, 0)
        size = np.abs(high.upper[~endless]).max(initial=0.0)
        with np.errstate(invalid="ignore"):
            gain = worth[here] - worth[least]
            some = others & ~asked.target & ~endless
            off = 4 * near * (np.abs(worth[here]) if relative else 1.0)
            better = some & (gain > off + 1e-14 * size)
        if not better.any() or rounds >= IMPROVEMENTS:
            break
        strategy = np.where(better, least, strategy)
    best = best_choices(worth, owner, model.num_states, largest=True)
    his = np.where(mine & ~endless, best, strategy)
    answer = np.where(mine & ~endless & (high.scheduler >= 0), high.scheduler, his)
    low, taken = None, his
    # By values that are all but equal either may be the one that gets somewhere.
    for each in (his, answer):
        found = _values(asked, each, mine, "min", near, relative)
        if low is None or _gap(found.lower, high.upper) < _gap(low, high.upper):
            low, taken = found.lower, each
    assert low is not None
    strategy = np.where(mine, taken, strategy)
    upper = np.where(endless, np.inf, high.upper)
    met = are_near(low, upper, epsilon, relative).all()
    if not met and model.num_states <= IMPROVED_EXACTLY_UP_TO:
        sharp = _exactly(asked, strategy, endless)
        if sharp is not None:
            strategy = sharp
            high = _values(asked, strategy, ~mine, "max", near, relative)
            low = _values(asked, strategy, mine, "min", near, relative).lower
    strategy = np.where(asked.real & ~asked.target, strategy, NO_CHOICE)
    upper = np.where(endless, np.inf, np.maximum(high.upper, low))
    met = bool(are_near(low, upper, epsilon, relative).all())
    return improved_to(low, upper, strategy, met, rounds)


def _exactly(
    asked: _Asked, strategy: np.ndarray, endless: np.ndarray
) -> np.ndarray | None:
    """The best strategies of both sides, in fractions."""
    goes_on = asked.real & ~asked.target & ~endless

    def solve(strategy: np.ndarray):
        small, _ = asked.left(strategy, ~asked.mine)
        return exactly(small, asked.posed(small, "max"))

    return improved_exactly(
        *(asked.game.model, strategy, goes_on & ~asked.mine, goes_on & asked.mine),
        solve,
        least=True,
        reward=asked.reward,
        discount=Fraction(1) if asked.discount is None else asked.discount,
    )


def _gap(lower: np.ndarray, upper: np.ndarray) -> float:
    with np.errstate(invalid="ignore"):
        gap = np.where(lower == upper, 0.0, upper - lower)
    with np.errstate(over="ignore"):
        share = gap / np.maximum(np.abs(lower), 1e-300)
    return float(np.max(share, initial=0.0))


def _values(asked: _Asked, strategy, states, optimum, epsilon, relative) -> ValueBounds:
    """Bounds where some states have chosen; the scheduler names choices of the game."""
    small, old = asked.left(strategy, states)
    return bounds_of(small, asked.posed(small, optimum), epsilon, relative, old)


def _worth(asked: _Asked, values: np.ndarray) -> np.ndarray:
    """What each choice is worth by some values."""
    share = 1.0 if asked.discount is None else float(asked.discount)
    return asked.reward + share * means(asked.game.model, values)


def _sure(asked: _Asked, strategy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How the others are sure to get to the target, and where they cannot be.

    In turns: from where some path leads there whatever he does, and without leaving
    what is left; the rest is left out, and he knows how to get out or stay away.
    """
    model = asked.game.model
    owner, rows = owner_of(model), np.asarray(model.row_offsets)
    columns = np.asarray(model.columns)
    live = owner < model.num_states

    def some(states: np.ndarray) -> np.ndarray:
        hits = np.append(0, np.cumsum(states[columns]))
        return (hits[rows[1:]] > hits[rows[:-1]]) & live

    strategy, left = strategy.copy(), asked.real.copy()
    while True:
        limits.tick("looking who is sure to get there")
        stays = ~some(~left) & live
        there, way = asked.target & left, strategy.copy()
        while True:
            good = stays & some(there)
            picked = first_choices(model, good)
            bad = first_choices(model, ~good & live)
            new = left & ~there & np.where(asked.mine, bad < 0, picked >= 0)
            if not new.any():
                break
            way = np.where(new & ~asked.mine, picked, way)
            there |= new
        if np.array_equal(there, left):
            return np.where(left & ~asked.mine, way, strategy), asked.real & ~left
        # He leaves what is left, or does not get to where they are sure of a path.
        away = first_choices(model, live & ~(stays & some(there)))
        gone = left & ~there
        strategy = np.where(gone & asked.mine, away, strategy)
        left = there

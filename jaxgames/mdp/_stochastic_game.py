"""Stochastic games: some states belong to one player, some to the other."""

import dataclasses
from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import drive, limits, solution, validity
from jaxgames.arena import is_traced
from jaxgames.later import has_values, jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import _game_traced, _questions
from jaxgames.mdp._checks import precision
from jaxgames.mdp._game import Game, check_type, refuse_traced
from jaxgames.mdp._improved_exactly import improved_exactly
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._open import exactly
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._region import NO_CHOICE, as_states, check_model, check_quantitative
from jaxgames.mdp._values_problem import VALUES, Question, ValueBounds
from jaxgames.mdp._values_verdict import ValueVerdict, claimed, ordered
from jaxgames.mdp._verify_values import Claim
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.tuning.mdp import IMPROVED_EXACTLY_UP_TO

IMPROVEMENTS = 1_000
"""How often strategies are improved at most."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class GameValues(solution.Solution):
    """Values of a stochastic game.

    Attributes:
        lower: float64 `[S]`, proved lower bounds.
        upper: float64 `[S]`, proved upper bounds.
        value: float64 `[S]`, the middle between them.
        strategy: int32 `[S]`, a choice for each state, of whoever plays there: that of
            the maximiser is worth at least `lower` whatever the others do, theirs at
            most `upper`.
    """

    lower: Any = None
    upper: Any = None
    value: Any = None
    strategy: Any = None

    def __repr__(self) -> str:
        if not has_values(self.lower, self.upper) or self.lower.ndim != 1:
            return f"GameValues({getattr(self.lower, 'shape', '?')} states)"
        width = np.zeros(len(self.lower))  # of infinite values, too
        np.subtract(self.upper, self.lower, out=width, where=self.upper != self.lower)
        gap = width.max(initial=0.0)
        return f"GameValues({len(self.lower)} states, bounds at most {gap:.1e} apart)"


def between(
    status: Any, stats: Stats, lower: Any, upper: Any, strategy: Any
) -> GameValues:
    """Values between two bounds, which may be infinite."""
    like: Any = jnp if is_traced((lower, upper)) else np
    with np.errstate(invalid="ignore"):
        value = like.where(lower == upper, lower, lower + (upper - lower) / 2)
    return GameValues(status, lower, upper, value, strategy, stats=stats)


def improved_to(
    lower: np.ndarray, upper: np.ndarray, strategy: np.ndarray, met: bool, rounds: int
) -> GameValues:
    """What the improvement of strategies comes to, in so many rounds."""
    status = Status.SOLVED if met else Status.PRECISION
    stats = Stats(solver="strategies", rounds=rounds)
    return between(status, stats, lower, upper, strategy.astype(np.int32))


def undecided_game(
    status: Status, game: Game, *_: Any, ends: Any = (0.0, 1.0), **__: Any
) -> GameValues:
    """What is true of any game: all values are between two ends."""
    size = game.model.num_states
    lower, upper = (np.full(size, end) for end in ends)
    nothing = np.full(size, NO_CHOICE, np.int32)
    return between(status, Stats(solver="none", rounds=0), lower, upper, nothing)


@limited(undecided_game)
def solve_game(
    game: Game,
    target: Any,
    *,
    maximizer: int = 0,
    states: Any = None,
    epsilon: float = 1e-6,
    relative: bool = True,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> GameValues:
    """How likely a player gets to a target, who plays against all others.

    Strategies are improved in turn [1, 2]: against the maximiser's the others' best
    answer is found, as the least probability of the decision process that is left;
    where some choice of his is better by these values, he takes it. In the end the
    others choose what is least by these values, and the most that he gets against that
    is found. The first decision process bounds the value from below, the second from
    above, whatever went before: each by its own certificate, rounding included. So end
    components, which hold up bounds of value iteration from above, need no care. If the
    bounds stay apart, which they do where float64 cannot tell choices apart, strategies
    of small games are improved in rational arithmetic.

    Works inside `jax.jit` and `jax.vmap` on a traced game, target or set of states.
    There both bounds are iterated, and the upper ones are lowered in end components in
    which the others can keep the play [3]; the strategies show both. Types are those
    that JAX has there: float32, which seldom meets the default `epsilon`, unless
    `jax_enable_x64` is set. The bounds hold for probabilities that were rounded to it.
    The status is `PRECISION` where nothing moves any more, and `MAX_STEPS` after a
    fixed number of rounds, for games that take about a million steps to be left. There
    is no `deadline` then.

    Args:
        game: the game.
        target: the states to reach: bool `[S]`, states by number, or a label.
        maximizer: the player who wants to get there; all others want to prevent it.
        states: what may be passed before, given likewise; None for all.
        epsilon: how far apart the bounds of a value may be.
        relative: whether that is relative to the value.
        throw: whether to raise a `SolveError` where bounds are not that near; never
            under tracing.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the game or an argument is wrong.
        SolveError: the bounds have not met, and `throw` is set.

    References:
        [1] Hoffman and Karp, On nonterminating stochastic games, Management Science 12
        (1966), doi:10.1287/mnsc.12.5.359.
        [2] Condon, The complexity of stochastic games, Inf. Comput. 96 (1992),
        doi:10.1016/0890-5401(92)90048-K.
        [3] Kelmendi, Krämer, Kretinsky and Weininger, Value iteration for simple
        stochastic games, CAV 2018, doi:10.1007/978-3-319-96145-3_36.

    Examples:
        In 0 the maximiser tries for the goal 2, or goes to 1, where the other one
        chooses between going back and a fair lot.

        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7, 8], [2, 3, 1, 0, 2, 3, 2, 3],
        ...     [0.25, 0.75, 1, 1, 0.5, 0.5, 1, 1], player=[0, 1, -1, -1],
        ... )
        >>> found = mdp.solve_game(game, [2])
        >>> found.value.round(5), found.strategy
        (array([0.25, 0.25, 1.  , 0.  ]), array([ 0,  2, -1,  5], dtype=int32))
    """
    if isinstance(game, Game) and is_traced((game, target, states, epsilon)):
        return _traced(game, target, maximizer, states, epsilon, relative)
    (found,) = checked(
        game, target, maximizer, states, epsilon=epsilon, relative=relative
    ).solved(np.zeros(1, np.int64))
    if throw and found.status != Status.SOLVED:
        raise SolveError(Status(found.status), found)
    return found


def checked(
    game: Any,
    target: Any,
    maximizer: int = 0,
    states: Any = None,
    *,
    epsilon: float = 1e-6,
    relative: bool = True,
) -> "Asked":
    """What is asked by the arguments of `solve_game`.

    Raises:
        ValueError: one of them is wrong.
    """
    check_type(game)
    model, _ = check_quantitative(game.model)
    precision(epsilon)
    goal = as_states("target", model, target)
    passed = None if states is None else as_states("states", model, states)
    return Asked(game, goal, passed, maximizer, epsilon, relative)


def _traced(
    game: Game, target: Any, maximizer: int, states: Any, epsilon: Any, relative: bool
) -> GameValues:
    """The same question, of arrays whose values nobody can look at (pure)."""
    mine = game.states_of(maximizer)
    model, fault = check_quantitative(game.model)
    if not is_traced(epsilon):
        precision(epsilon)
    goal = as_states("target", model, target)
    passed = None if states is None else as_states("states", model, states)
    lower, upper, strategy, status, stats, unsound = _game_traced.solve(
        model, mine, goal, passed, epsilon, relative=bool(relative)
    )
    found = between(status, stats, lower, upper, strategy)
    if fault is not False:
        fault = fault | unsound | game.misplayed()
    return validity.withdrawn(fault, found)


class Asked(NamedTuple):
    """A question about a game, or about several side by side."""

    game: Game
    target: np.ndarray
    passed: np.ndarray | None
    maximizer: int
    epsilon: float
    relative: bool

    def solved(self, first: np.ndarray) -> list[GameValues]:
        """Improves strategies until none is better.

        Args:
            first: integers `[G]`, the first state of each game, which has states where
                there are several. Choices of all strategies are numbered as one.
        """
        model, groups = self.game.model, np.asarray(self.game.model.row_group_offsets)
        size, owner = model.num_states, owner_of(model)
        mine = self.game.states_of(self.maximizer)
        real = groups[1:] > groups[:-1]
        choice = np.where(real, groups[:-1], NO_CHOICE)
        # To begin with, he plays as if all others helped him.
        ease = self._values(np.ones(model.num_choices, bool), "max", self.epsilon)
        choice = np.where(mine & (ease.scheduler >= 0), ease.scheduler, choice)
        rounds, near = 0, self.epsilon / 64
        took = np.ones(len(first), np.int64)
        while True:
            limits.tick("improving", rounds, "strategies")
            low = self._values(taken(choice, mine, owner), "min", near)
            rounds += 1
            worth = means(model, low.lower)
            best = best_choices(worth, owner, size, largest=True)
            here = np.where(real, choice, 0)
            gain = worth[best] - worth[here]
            # Relative, however small it is: what leads far may begin with very little.
            better = mine & real & ~self.target & (gain > 4 * near * worth[best])
            if not better.any() or rounds >= IMPROVEMENTS:
                break
            took[_of_games(np.logical_or, better, first)] = rounds + 1
            choice = np.where(better, best, choice)
        # The others' answer to that strategy need not be right against all; what is
        # least by the values is.
        others = real & ~mine
        least = best_choices(worth, owner, size, largest=False)
        theirs = np.where(others, least, choice)
        high = self._values(taken(theirs, others, owner), "max", near)
        above = high.upper
        apart = _of_games(np.logical_or, ~self._near(low.lower, above), first)
        if apart.any():
            again = self._values(taken(low.scheduler, others, owner), "max", near)
            gaps = (
                _of_games(np.maximum, self._gap(low.lower, x), first)
                for x in (again.upper, above)
            )
            swaps = apart & np.less(*gaps)
            swaps = np.repeat(swaps, np.diff(first, append=size))
            above = np.where(swaps, again.upper, above)
            swaps &= others & (low.scheduler >= 0)
            theirs = np.where(swaps, low.scheduler, theirs)
            met = self._near(low.lower, above).all()
            if not met and size <= IMPROVED_EXACTLY_UP_TO:
                sharp = self._exactly(np.where(mine, choice, theirs))
                if sharp is not None:
                    choice = theirs = sharp
                    low = self._values(taken(choice, mine, owner), "min", near)
                    high = self._values(taken(theirs, others, owner), "max", near)
                    above = high.upper
        strategy = np.where(mine, choice, theirs)
        goes_on = real & ~self.target
        if self.passed is not None:
            goes_on &= self.passed
        strategy = np.where(goes_on, strategy, NO_CHOICE)
        lower, upper = low.lower, np.maximum(above, low.lower)
        met = self._near(lower, upper)
        owns = map(slice, first, np.append(first[1:], size))
        return [
            improved_to(
                lower[own], upper[own], strategy[own], bool(met[own].all()), int(many)
            )
            for own, many in zip(owns, took, strict=True)
        ]

    def _values(self, choices: np.ndarray, optimum: str, epsilon: float) -> ValueBounds:
        """Bounds of the decision process of some choices, and its scheduler."""
        small, old = part(self.game.model, choices)
        posed = _questions.reach(small, self.target, optimum, self.passed)
        return bounds_of(small, posed, epsilon, True, old)

    def _exactly(self, strategy: np.ndarray) -> np.ndarray | None:
        """The best strategies of both sides, in fractions."""
        model = self.game.model
        mine, owner = self.game.states_of(self.maximizer), owner_of(model)
        goes_on = ~self.target if self.passed is None else self.passed & ~self.target

        def solve(strategy: np.ndarray):
            small, _ = part(model, taken(strategy, mine, owner))
            return exactly(
                small, _questions.reach(small, self.target, "min", self.passed)
            )

        moves, answers = mine & goes_on, ~mine & goes_on
        return improved_exactly(model, strategy, moves, answers, solve, least=False)

    def _gap(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return (upper - lower) / (np.maximum(lower, 1e-300) if self.relative else 1.0)

    def _near(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return are_near(lower, upper, self.epsilon, self.relative)


def _of_games(reduce: np.ufunc, x: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Reduces what states have to what games have: zero where one has no states."""
    return reduce.reduceat(x, first) if len(x) else np.zeros(len(first), x.dtype)


def are_near(lower, upper, epsilon: float, relative: bool) -> np.ndarray:
    """Which bounds are as near as was asked, bool like them."""
    with np.errstate(invalid="ignore"):
        width = np.where(lower == upper, 0.0, upper - lower)
        return width <= epsilon * (np.abs(lower) if relative else 1.0)


def bounds_of(
    small: MDP, posed: Posed, epsilon: float, relative: bool, old: Any = None
) -> ValueBounds:
    """Bounds of what a part of a game is asked.

    The scheduler names choices by their numbers in `old`, int `[C]`, if there are such.
    """
    found = drive.solve(VALUES, Question(small, posed, epsilon, relative), throw=False)
    if found.status not in (Status.SOLVED, Status.PRECISION):
        limits.fail(Status(found.status), "solving equations")
    if old is None:
        return found
    scheduler = np.append(old, NO_CHOICE)[found.scheduler]
    return dataclasses.replace(found, scheduler=scheduler)


def means(model: MDP, values: np.ndarray) -> np.ndarray:
    """What each choice is worth by the values of where it leads: float64 `[C]`."""
    choice = np.repeat(np.arange(model.num_choices), np.diff(model.row_offsets))
    probs = np.asarray(model.probs, np.float64)[: len(choice)]
    total = np.bincount(choice, probs, minlength=model.num_choices)
    to = values[np.asarray(model.columns)[: len(choice)]]
    mean = np.bincount(choice, probs * to, minlength=model.num_choices)
    return mean / np.where(total > 0, total, 1)


def taken(choice: np.ndarray, states: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """All choices, but of some states the one that is chosen there: bool `[C]`."""
    kept = ~np.append(states, False)[owner]
    some = choice[states & (choice >= 0)]
    kept[some] = True
    free = states & (choice < 0)
    return kept | np.append(free, False)[owner]


def best_choices(worth: np.ndarray, owner: np.ndarray, size: int, *, largest: bool):
    """The first best choice of each state: int `[S]`."""
    order = np.lexsort((-worth if largest else worth, owner))
    first = np.searchsorted(owner[order], np.arange(size))
    return order[np.minimum(first, max(len(order) - 1, 0))]


def part(model: MDP, choices: np.ndarray) -> tuple[MDP, np.ndarray]:
    """A model with some of its choices, and which these were.

    Args:
        model: a concrete model with probabilities.
        choices: bool `[C]`, at least one of each state.
    """
    real = int(np.asarray(model.row_group_offsets)[-1])
    kept = np.flatnonzero(choices[:real])
    before = np.append(0, np.cumsum(choices[:real]))
    many = np.diff(model.row_offsets)[kept]
    offsets = np.append(0, np.cumsum(many))
    branch = np.repeat(np.asarray(model.row_offsets)[kept] - offsets[:-1], many)
    branch = branch + np.arange(offsets[-1])
    small = MDP(
        row_group_offsets=before[np.asarray(model.row_group_offsets)].astype(np.int32),
        row_offsets=offsets.astype(np.int32),
        columns=np.asarray(model.columns)[branch],
        probs=np.asarray(model.probs)[branch],
        initial=model.initial,
        labels=model.labels,
    )
    return small, kept


@limited()
def verify_game(
    game: Game,
    target: Any,
    found: Any,
    *,
    maximizer: int = 0,
    states: Any = None,
    **bounds: Unpack[Bounds],
) -> ValueVerdict:
    """Checks values of a stochastic game by its strategies, exactly.

    A lower bound holds that no choice of the others makes smaller where the maximiser
    plays his strategy, and that is zero where they can keep away for ever; an upper one
    that no choice of his makes larger where they play theirs. It shares nothing with
    what solves, and is exact: see [`verify_values`][jaxgames.mdp.verify_values].

    Args:
        game: the game.
        target: as for `solve_game`.
        found: `GameValues`, or what has `lower`, `upper` and `strategy`.
        maximizer: as for `solve_game`.
        states: likewise.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A verdict: true if the bounds hold.

    Raises:
        ValueError: an argument is wrong, or an array of `found` is missing or has
            another shape or type.

    Examples:
        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1], [0, -1]
        ... )
        >>> print(mdp.verify_game(game, [1], mdp.solve_game(game, [1])))
        valid
    """
    refuse_traced("bounds are checked exactly,", game, target, states)
    check_type(game)
    model = game.model
    check_model(model)
    goal = as_states("target", model, target)
    passed = np.ones(model.num_states, bool)
    if states is not None:
        passed = as_states("states", model, states)
    lower, upper, strategy = claimed(found, model.num_states)
    claim = Claim(model, lower, upper, strategy)
    verdict = ordered(claim.real, lower, upper)
    if not verdict:
        return verdict
    return shown(claim, game.states_of(maximizer), goal, passed)


def shown(
    claim: Claim, mine: np.ndarray, goal: np.ndarray, passed: np.ndarray
) -> ValueVerdict:
    """Whether strategies of both sides show bounds of how likely a goal is reached.

    Args:
        claim: the bounds, floats or fractions, and the strategies.
        mine: bool `[S]`, the states of those who want to get there.
        goal: bool `[S]`.
        passed: bool `[S]`, what may be passed before.
    """
    lower, upper, chosen = claim.lower, claim.upper, claim.chosen()
    if chosen is None:
        raise ValueError("a strategy is needed to verify this: int [S]")
    of_mine = np.append(mine, False)[claim.owner]
    own, others = chosen | ~of_mine, chosen | of_mine
    own, others = own & claim.live, others & claim.live
    end = claim.real & (goal | ~passed)
    open_ = claim.real & ~end
    here = np.append(open_, False)[claim.owner]
    worth = goal.astype(np.float64)
    away = claim.avoids(goal, open_, own)
    below = (end & (lower > worth)) | (open_ & away & (lower > 0))
    above = (end & (upper < worth)) | (open_ & (upper < 0))
    none = np.zeros(len(claim.owner))
    large = claim.have(claim.breaks(lower, own & here, none, -1))
    small = claim.have(claim.breaks(upper, others & here, none, 1))
    nowhere = np.zeros(len(end), bool)
    return ValueVerdict.first_of(
        nowhere, claim.misplaced(), below, above, nowhere, nowhere, large, small
    )

"""Stochastic parity games: two players and lots, and priorities that come for ever."""

from fractions import Fraction
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import _questions
from jaxgames.mdp._asked import one_less
from jaxgames.mdp._automata import components_of
from jaxgames.mdp._checks import precision
from jaxgames.mdp._game import NOBODY, Game, by_state, check_type, refuse_traced
from jaxgames.mdp._improved_exactly import Values, means_exactly
from jaxgames.mdp._model import MDP, owner_of, spans
from jaxgames.mdp._omega import followed_by
from jaxgames.mdp._open import exactly
from jaxgames.mdp._rational import rounded
from jaxgames.mdp._region import NO_CHOICE, check_quantitative
from jaxgames.mdp._stochastic_game import (
    IMPROVEMENTS,
    GameValues,
    are_near,
    best_choices,
    bounds_of,
    improved_to,
    means,
    part,
    taken,
    undecided_game,
)
from jaxgames.mdp._values_verdict import ValueReason, ValueVerdict, ordered
from jaxgames.mdp._verify_anew import accepted, decided, reach_bounds
from jaxgames.mdp._verify_values import Claim
from jaxgames.solution import SolveError, Status
from jaxgames.tuning.mdp import IMPROVED_EXACTLY_UP_TO


@limited(undecided_game)
def solve_parity_game(
    game: Game,
    priority: Any,
    *,
    maximizer: int = 0,
    epsilon: float = 1e-6,
    relative: bool = True,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> GameValues:
    """How likely the largest priority that comes again and again is even.

    One player wants that, all others do not. Strategies without memory are enough for
    both [1]. The maximiser's is improved in two ways, in turn [2]: where a choice is
    worth more by the values of the decision process that it leaves to the others, he
    takes it; where none is, only choices are left that are worth what their states are,
    and where he wins almost surely by these, he does so. Who wins almost surely is a
    parity game of two players, in which each lot is a few moves of both [3]. If he wins
    so nowhere but where he wins anyway, the others' moves in that game are best against
    all that he may do.

    The value is not the probability to get to where he wins almost surely: the others
    may have to choose between a loss where they are and a lot that is fairer.

    In the end each player's strategy leaves a decision process to the other one, and
    bounds of its value, with a certificate of their own, are the bounds of the game's:
    they do not depend on how the strategies were found.

    Args:
        game: a concrete game.
        priority: integers `[S]`, not negative.
        maximizer: the player who wants an even one; all others want an odd one.
        epsilon: how far apart the bounds of a value may be.
        relative: whether that is relative to the value.
        throw: whether to raise a `SolveError` where bounds are not that near.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        Bounds and a strategy without memory for each player. Each improvement takes the
        time of a decision process and a parity game; there are few, and exponentially
        many at worst.

    Raises:
        ValueError: the game or an argument is wrong.
        SolveError: the bounds have not met, and `throw` is set.

    References:
        [1] Chatterjee, Jurdziński and Henzinger, Quantitative stochastic parity games,
        SODA 2004, doi:10.5555/982792.982808.
        [2] Chatterjee and Henzinger, Strategy improvement and randomized subexponential
        algorithms for stochastic parity games, STACS 2006, doi:10.1007/11672142_42.
        [3] Chatterjee, Jurdziński and Henzinger, Simple stochastic parity games, CSL
        2003, doi:10.1007/978-3-540-45220-1_11.

    Examples:
        In 0 the other player stays, which is even, or leaves it to a fair lot.

        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
        ...     player=[1, -1, -1],
        ... )
        >>> found = mdp.solve_parity_game(game, [0, 2, 1])
        >>> found.value, found.strategy
        (array([0.5, 1. , 0. ]), array([1, 2, 3], dtype=int32))
        >>> print(mdp.verify_parity_game(game, [0, 2, 1], found))
        valid
    """
    asked = _asked(game, priority, maximizer)
    precision(epsilon)
    near: float | None = epsilon / 64
    found = None
    while True:
        again = asked.solved(near, epsilon, relative)
        if found is None or (again is not None and again.status == Status.SOLVED):
            found = again
        assert found is not None
        if found.status == Status.SOLVED or near is None:
            break
        # Values were too near each other, or too small.
        near = near / 1024 if near >= 1e-14 else None
        if near is None and game.model.num_states > IMPROVED_EXACTLY_UP_TO:
            break
    if throw and found.status != Status.SOLVED:
        raise SolveError(Status(found.status), found)
    return found


@limited()
def verify_parity_game(
    game: Game,
    priority: Any,
    found: Any,
    *,
    maximizer: int = 0,
    **bounds: Unpack[Bounds],
) -> ValueVerdict:
    """Checks values of a stochastic parity game by its strategies.

    Each strategy leaves a decision process to the other player, who does best by
    getting to end components whose largest priority is his. These are found anew and
    checked (`verify`), and so is how likely he gets there (`verify_values`); nothing is
    shared with what improves strategies.

    Args:
        game: the game.
        priority: as for `solve_parity_game`.
        found: `GameValues`, or what has `lower`, `upper` and `strategy`.
        maximizer: as for `solve_parity_game`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A verdict: true if the bounds hold.

    Examples:
        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1], [0, -1]
        ... )
        >>> found = mdp.solve_parity_game(game, [1, 2])
        >>> print(mdp.verify_parity_game(game, [1, 2], found))
        valid
        >>> found.strategy[0] = 0
        >>> print(mdp.verify_parity_game(game, [1, 2], found))
        state 0: its lower bound is not shown by those of where it leads
    """
    asked = _asked(game, priority, maximizer)
    size = game.model.num_states
    lower, upper = (np.asarray(x, np.float64) for x in (found.lower, found.upper))
    strategy = np.asarray(found.strategy)
    for name, array in (("lower", lower), ("upper", upper), ("strategy", strategy)):
        if array.shape != (size,):
            raise ValueError(f"{name} must have {size} entries, got {array.shape}")
    verdict = ordered(asked.real, lower, upper)
    if not verdict:
        return verdict
    groups = np.asarray(game.model.row_group_offsets)
    wrong = asked.real & ((strategy < groups[:-1]) | (strategy >= groups[1:]))
    if wrong.any():
        return ValueVerdict.at(ValueReason.NO_CHOICE_OF_IT, int(np.argmax(wrong)))
    for states, is_least in ((asked.mine, True), (~asked.mine, False)):
        small, _ = part(game.model, taken(strategy, states, owner_of(game.model)))
        verdict = _shown(small, asked, lower if is_least else upper, is_least)
        if not verdict:
            return verdict
    return ValueVerdict.at(ValueReason.OK, NO_CHOICE)


@limited()
def parity_product(
    game: Game, automaton: Any, **bounds: Unpack[Bounds]
) -> tuple[Game, np.ndarray]:
    """A stochastic game followed by a deterministic parity automaton.

    So objectives of linear temporal logic are those of a parity game. The automaton
    reads the states of a run, the first one too, as for
    [`acceptance_probability`][jaxgames.mdp.acceptance_probability].

    Args:
        game: a concrete game.
        automaton: an [`ltl.ParityAutomaton`][jaxgames.ltl.ParityAutomaton], as
            `ltl.deterministic` makes it of a formula.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The product and its priorities. State `q * S + s` is the one in which the
        automaton is in q before it reads s: the first S states have the values of runs
        that begin there.

    Raises:
        ValueError: the automaton has a proposition that is no property of states, or is
            no parity automaton.

    Examples:
        >>> from jaxgames import ltl, mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 3], [0, 1, 2, 3], [0, 1, 0], [1, 1, 1], player=[0, -1],
        ...     labels={"p": [0, 1]},
        ... )
        >>> product, priority = mdp.parity_product(game, ltl.deterministic("G F p"))
        >>> mdp.solve_parity_game(product, priority).value[:2]
        array([1., 1.])
    """
    if not hasattr(automaton, "colour"):
        raise ValueError(
            f"automaton must be an ltl.ParityAutomaton, got {type(automaton).__name__}"
        )
    refuse_traced("products are built", game)
    model, _ = check_quantitative(game.model)
    made, colour = followed_by(model, automaton.graph, np.asarray(automaton.colour))
    # What the automaton cannot follow it does not accept.
    priority = np.append(colour - colour.min(initial=0) // 2 * 2, 1)
    copies = len(colour) // model.num_states
    player = np.append(np.tile(np.asarray(game.player), copies), NOBODY)
    return Game(made, player.astype(np.int8)), priority


class _Asked(NamedTuple):
    """A question about a game.

    Attributes:
        game: states and who chooses.
        priority: int64 `[S]`, few of them: what lies between is left out.
        mine: bool `[S]`, where the maximiser chooses.
        real: bool `[S]`, which states have choices; others fill up the arrays.
    """

    game: Game
    priority: np.ndarray
    mine: np.ndarray
    real: np.ndarray

    def solved(
        self, near: float | None, epsilon: float, relative: bool
    ) -> GameValues | None:
        """Improves strategies until none is better.

        Choices are compared by bounds that are `near`; None to find values as
        fractions.
        """
        model, real = self.game.model, self.real
        groups, owner = np.asarray(model.row_group_offsets), owner_of(model)
        choice = np.where(real, groups[:-1], NO_CHOICE)
        rounds, slack = 0, 0.0 if near is None else 4 * near + 1e-14
        lower = upper = value = np.zeros(model.num_states)
        worth = np.zeros(model.num_choices)
        while True:  # at first nothing is worth anything
            limits.tick("improving", rounds, "strategies")
            best = best_choices(worth, owner, model.num_states, largest=True)
            here = np.where(real, choice, 0)
            better = self.mine & real & (worth[best] - worth[here] > slack)
            moves = best
            if not better.any() or rounds >= IMPROVEMENTS:
                surely, moves = self._won_besides(value, lower < 1, worth, slack)
                better = surely & self.mine
                if not surely.any() or rounds >= IMPROVEMENTS:
                    break
            choice = np.where(better, moves, choice)
            low = taken(choice, self.mine, owner)
            rounds += 1
            if near is None:
                exact = self._exactly(low, "min")
                if exact is None:
                    return None
                lower = np.array([rounded(x, -1) for x in exact])
                value, worth = _ranks(exact, means_exactly(model, exact))
            else:
                lower, upper = self._bounds(low, "min", near, False)
                value = lower + (upper - lower) / 2
                worth = means(model, value)
        theirs = real & ~self.mine
        strategy = np.where(theirs & (moves >= 0), moves, choice).astype(np.int32)
        if rounds and near is not None:
            low = taken(strategy, self.mine, owner)
            lower, _ = self._bounds(low, "min", near, relative)
        high = taken(strategy, theirs, owner)
        if near is None:
            exact = self._exactly(high, "max")
            if exact is None:
                return None
            upper = np.array([rounded(x, 1) for x in exact])
        else:
            _, upper = self._bounds(high, "max", near, relative)
        upper = np.where(real, np.maximum(upper, lower), lower)
        met = bool(are_near(lower, upper, epsilon, relative).all())
        return improved_to(lower, upper, strategy, met, rounds)

    def _exactly(
        self, choices: np.ndarray, optimum: Literal["min", "max"]
    ) -> list[Fraction] | None:
        """The values of the decision process of some choices; None if too long."""
        small, posed = self._posed(choices, optimum)
        found = exactly(small, posed)
        if found is None:
            return None
        values = [Fraction(x) for x in found]
        if optimum == "min":
            values = [1 - x for x in values]
        return [x * int(y) for x, y in zip(values, self.real.tolist(), strict=True)]

    def _posed(self, choices: np.ndarray, optimum: Literal["min", "max"]):
        """The decision process of some choices, and for whom it is to be reached."""
        small, _ = part(self.game.model, choices)
        parity = 0 if optimum == "max" else 1
        good = components_of(small, self.priority, parity)
        return small, _questions.reach(small, good, "max", None)

    def _bounds(
        self,
        choices: np.ndarray,
        optimum: Literal["min", "max"],
        near: float,
        relative: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the decision process of some choices."""
        small, posed = self._posed(choices, optimum)

        def solve(epsilon: float, relative: bool) -> tuple[np.ndarray, np.ndarray]:
            found = bounds_of(small, posed, epsilon, relative)
            return found.lower, found.upper

        if optimum == "max":
            return solve(near, relative)
        lower, upper = one_less(*solve(near, False))
        some = self.real & (lower > 0)
        if relative and np.any(some & (upper - lower > near * lower)):
            # What is near relative to the one is not so to the other.
            finer = max(near * float(lower[some].min()), 1e-15)
            lower, upper = one_less(*solve(finer, False))
        return np.where(self.real, lower, 0.0), np.where(self.real, upper, 0.0)

    def _won_besides(
        self, value: np.ndarray, unsure: np.ndarray, worth: np.ndarray, slack: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where he wins almost surely among states of other values than one.

        There are the choices alone that are worth what their states are: if he wins
        nowhere by these, the others win almost surely, or get out to where he wins no
        more than his strategy does.

        Args:
            value: float64 `[S]`, of his strategy.
            unsure: bool `[S]`, where it is not one.
            worth: float64 `[C]`, of choices by these values.
            slack: how far apart values may be that are one.

        Returns:
            surely: bool `[S]`.
            moves: int `[S]`, what to choose, his where he wins and the others'
                elsewhere; -1 where nothing is to be said.
        """
        model = self.game.model
        owner = owner_of(model)
        unsure = unsure & self.real
        kept = np.append(unsure, False)[owner]
        kept &= np.abs(worth - np.append(value, 0.0)[owner]) <= slack
        return won_almost_surely(model, self.priority, self.mine, np.flatnonzero(kept))


def _ranks(*numbers: Values) -> list[np.ndarray]:
    """The same numbers by their order, all together: float64."""
    rank = {x: float(i) for i, x in enumerate(sorted(set().union(*numbers)))}
    return [np.array([rank[x] for x in some]) for some in numbers]


def won_almost_surely(
    model: MDP,
    priority: np.ndarray,
    mine: np.ndarray,
    choices: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Where a player wins a stochastic parity game with probability one.

    A lot of priority p becomes a few moves [3]: the other player names an even 2k of at
    least p, or p - 1 if p is odd. Then the one who wants to win either grants that 2k
    is seen and the other one says what the lot says, or says so himself, for 2k + 1.

    Args:
        model: states, choices and branches.
        priority: int64 `[S]`.
        mine: bool `[S]`, where the player who wants it even chooses.
        choices: the choices that there are, by number; a state without one is lost.

    Returns:
        surely: bool `[S]`, where he wins; false for states without a choice.
        moves: int `[S]`, the winner's choice where that is who moves, else -1.
    """
    from jaxgames import parity

    size, owner = model.num_states, owner_of(model)
    rows, columns = np.asarray(model.row_offsets), np.asarray(model.columns)
    priority = np.asarray(priority)
    top = int(priority.max(initial=0))
    top += top % 2
    single = np.diff(rows)[choices] == 1
    draws = choices[~single]
    # Vertices: states, a sink that is lost, choices, and what becomes of lots.
    sink, first = size, size + 1
    at = np.full(model.num_choices, -1)
    at[choices] = first + np.arange(len(choices))
    sources: list[np.ndarray] = [np.array([sink])]
    targets: list[np.ndarray] = [np.array([sink])]
    owners = [~mine, np.array([False]), np.ones(len(choices), bool)]
    priorities = [priority, np.array([1]), np.zeros(len(choices), np.int64)]
    priorities[2][~single] = priority[owner[choices[~single]]]
    count = first + len(choices)

    def lead(source: np.ndarray, target: np.ndarray) -> None:
        sources.append(source)
        targets.append(target)

    def add(many: int, is_mine: bool, seen: int) -> np.ndarray:
        nonlocal count
        owners.append(np.full(many, not is_mine))
        priorities.append(np.full(many, seen))
        count += many
        return np.arange(count - many, count)

    def to_branches(vertices: np.ndarray, of: np.ndarray) -> None:
        many = np.diff(rows)[of]
        lead(np.repeat(vertices, many), columns[spans(rows[of], many)])

    lead(owner[choices], at[choices])
    one = choices[single]
    lead(at[one], columns[rows[one]])
    for even in range(0, top + 1, 2):
        limits.tick("making a parity game", even, "priorities")
        some = draws[priority[owner[draws]] <= even + 1]
        if not len(some):
            continue
        named = add(len(some), True, 0)
        lead(at[some], named)
        granted = add(len(some), False, even)
        lead(named, granted)
        to_branches(granted, some)
        if even < top:
            claimed = add(len(some), True, even + 1)
            lead(named, claimed)
            to_branches(claimed, some)
    there = np.zeros(size, bool)
    there[owner[choices]] = True
    bare = np.flatnonzero(~there)
    lead(bare, np.full(len(bare), sink))
    arena = Arena.from_edges(
        np.concatenate(sources),
        np.concatenate(targets),
        owner=np.concatenate(owners),
        priority=np.concatenate(priorities),
    )
    found = parity.solve(arena, "host")
    winner = np.asarray(found.winner)[:size]
    move = np.asarray(found.successor(arena))[:size]
    chosen = np.full(count, NO_CHOICE)
    chosen[at[choices]] = choices
    moves = np.where(move >= 0, chosen[move], NO_CHOICE)
    return (winner == 0) & there, np.where(there, moves, NO_CHOICE)


def _shown(
    small: MDP, asked: _Asked, bound: np.ndarray, is_least: bool
) -> ValueVerdict:
    """Whether a decision process shows a bound: how likely components are reached."""
    good = accepted(small, asked.priority, int(is_least))
    none, everywhere = np.zeros(len(bound)), np.ones(len(bound), bool)
    claim = Claim(small, none, bound, None)
    if is_least:  # others get no further than to the rest
        claim = claim.with_bounds(bound, everywhere * 1.0).flipped()
    verdict = decided(claim, reach_bounds(small, everywhere, good, "max"))
    if verdict or not is_least:
        return verdict
    return ValueVerdict.at(ValueReason.TOO_LARGE, int(verdict.vertex))


def _asked(game: Game, priority: Any, maximizer: int) -> _Asked:
    """Reads a question; else raises ValueError."""
    check_type(game)
    refuse_traced("stochastic parity games are solved", game, priority)
    model, _ = check_quantitative(game.model)
    given = by_state("priority", priority, model)
    if (given < 0).any():
        at = int(np.argmax(given < 0))
        raise ValueError(f"state {at} has priority {given[at]}, expected 0 or more")
    groups = np.asarray(model.row_group_offsets)
    real = groups[1:] > groups[:-1]
    mine = game.states_of(maximizer) & real
    return _Asked(game, _compressed(given), mine, real)


def _compressed(priority: np.ndarray) -> np.ndarray:
    """Priorities in the same order and of the same parities, as small as can be."""
    known, place = np.unique(priority, return_inverse=True)
    steps = np.diff(known % 2, prepend=0) != 0
    return np.cumsum(steps)[place]

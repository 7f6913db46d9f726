"""Checks bounds by a question that is put in another way, and whose answer is checked.

What an automaton follows, what is earned, and steps are remembered in a product: so the
question is how likely some of its states are reached. Bounds of that are found, nearer
and nearer, and are checked by their equations before they are compared.
"""

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from jaxgames.mdp._asked import initial_states, other_of
from jaxgames.mdp._automata import components_of
from jaxgames.mdp._game import Game
from jaxgames.mdp._model import MDP
from jaxgames.mdp._paths import General, Until
from jaxgames.mdp._property import Operation, Property, Query
from jaxgames.mdp._ranged import Ranged, met
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp._schedulers import induced_chain
from jaxgames.mdp._values_verdict import (
    Ends,
    ValueReason,
    ValueVerdict,
    decided,
    fraction,
)
from jaxgames.mdp._verify import verify
from jaxgames.mdp._verify_steps import Walk, stepped_ends
from jaxgames.mdp._verify_values import Claim, until, verify_values

EPSILONS = 1e-8, 1e-11, 1e-14
"""How near bounds are that a check tries, one after the other."""

MOST_PLACES = 1 << 24
"""Branches of a product of states and what was earned, at most."""


def reach_bounds(
    model: Any, left: np.ndarray, right: np.ndarray, optimum: str
) -> Iterator[Ends]:
    """Bounds of the probability of `left U right`, each checked by its equations.

    Args:
        model: a model with probabilities.
        left: bool `[S]`.
        right: bool `[S]`.
        optimum: `"min"` or `"max"`.
    """
    from jaxgames.mdp._check import check

    marked = MDP(
        *(model.row_group_offsets, model.row_offsets, model.columns, model.probs),
        labels={"left": left, "right": right},
    )
    text = f'P{optimum}=? [ "left" U "right" ]'
    for epsilon in EPSILONS:
        found = check(marked, text, epsilon=epsilon, relative=False, throw=False)
        _agreed(verify_values(marked, text, found))
        yield found.lower, found.upper
    found = check(marked, text, exact=True, throw=False)
    if found.exact is not None:
        values = np.array(found.exact, object)
        claim = Claim(marked, values, values, None)
        claim.scheduler = _of_values(claim, left, right, optimum)
        _agreed(until(claim, left, right, optimum))
        yield values, values


def _agreed(verdict: ValueVerdict) -> None:
    if not verdict:  # never seen
        raise AssertionError(f"what was found to compare with is wrong: {verdict}")


def _of_values(claim: Claim, left, right, optimum: str) -> np.ndarray:
    """A scheduler that attains values, fractions: int `[S]`.

    For the most it has to get nearer to the goal, too.
    """
    none, open_ = np.zeros(len(claim.owner)), left & ~right
    choices = claim.live & np.append(open_, False)[claim.owner]
    tight = choices.copy()
    for sign in (1, -1):
        tight &= ~claim.breaks(claim.lower, choices, none, sign)
    found = np.full(len(claim.real), NO_CHOICE)
    at = np.flatnonzero(tight)[::-1]
    found[claim.owner[at]] = at
    near = right & claim.real
    while optimum == "max":
        nearer = np.flatnonzero(tight & claim.may(near))[::-1]
        nearer = nearer[~near[claim.owner[nearer]]]
        if not len(nearer):
            break
        found[claim.owner[nearer]] = nearer
        near = near.copy()
        near[claim.owner[nearer]] = True
    return found


def accepted(model: MDP, priority: np.ndarray, parity: int) -> np.ndarray:
    """End components whose largest priority has a parity, checked: bool `[S]`."""

    def check(left: np.ndarray, found: Any) -> None:
        verdict = verify(model, found, states=left)
        if not verdict:  # never seen
            raise AssertionError(f"end components are wrong: {verdict}")

    return components_of(model, priority, parity, check)


def of_formula(claim: Claim, asked: Any, node: Query, optimum: str) -> ValueVerdict:
    """What there is to say of a formula of linear temporal logic.

    The automaton is that of the opposite formula, which solvers do not take.
    """
    path, size = node.path, len(claim.real)
    opposite = Operation("!", (path,), place=path.place)
    if asked.plays:
        return decided(claim, _of_game(asked, opposite, optimum, size))
    if optimum == "min":
        claim, opposite = claim.flipped(), path
    (automaton,), known = asked._automata(opposite)
    letters = asked._letters(known)

    def tries(model: MDP) -> Iterator[Ends]:
        made, priority = asked._followed(model, automaton, *letters)
        good = accepted(made, priority, 1)
        everywhere = np.ones(made.num_states, bool)
        for least, most in reach_bounds(made, everywhere, good, "max"):
            yield least[:size], most[:size]

    if claim.chosen() is not None and not claim.is_chain():
        verdict = claim.placed()
        if verdict:
            chain = _chain(claim, claim.scheduler)
            verdict = decided(claim.attained(True), tries(chain))
        if not verdict:
            return verdict
    return decided(claim, tries(claim.model))


def _chain(claim: Claim, scheduler: Any) -> MDP:
    """What the model is under a scheduler, int `[S]`, -1 for the first choice."""
    first = np.where(claim.real, claim.groups[:-1], NO_CHOICE)
    return induced_chain(claim.model, np.where(scheduler < 0, first, scheduler))


def _of_game(asked: Any, opposite: Any, optimum: str, size: int) -> Iterator[Ends]:
    """Bounds of what the coalition secures of a formula, by strategies of both."""
    from jaxgames.mdp._parity_game import solve_parity_game, verify_parity_game

    game, priority = asked.followed(General(opposite, negated=True), optimum)
    for epsilon in EPSILONS:
        how: dict[str, Any] = {"epsilon": epsilon, "relative": False}
        found = solve_parity_game(game, priority, throw=False, **how)
        _agreed(verify_parity_game(game, priority, found))
        yield found.lower[:size], found.upper[:size]


def from_some_step(claim: Claim, asked: Any, path: Until, optimum: str) -> ValueVerdict:
    """What there is to say of an until that counts from some step on."""
    left, right = asked.states(path.left), asked.states(path.right)
    if path.negated:
        claim, optimum = claim.flipped(), other_of(optimum)
    none, largest = np.zeros(len(claim.owner)), asked.largest(optimum)

    def tries(ends_of: Iterator[Ends], chosen: Any = None) -> Iterator[Ends]:
        for ends in ends_of:
            how: dict[str, Any] = {"left": left, "chosen": chosen}
            walks = [Walk(path.first, x, largest, none, **how) for x in ends]
            found = (stepped_ends(claim, walk) for walk in walks)
            for (least, _), (_, most) in zip(*found, strict=True):
                yield least, most

    if asked.plays:
        return decided(claim, tries(_secured(asked.game(optimum), left, right)))
    clock = claim.clock(path.first + 1)
    if clock is not None:
        verdict = claim.placed()
        if verdict:
            chain = reach_bounds(_chain(claim, clock[-1]), left, right, optimum)
            attained = claim.attained(optimum == "max")
            verdict = decided(attained, tries(chain, clock[:-1]))
        if not verdict:
            return verdict
    return decided(claim, tries(reach_bounds(claim.model, left, right, optimum)))


def _secured(game: Game, left: np.ndarray, right: np.ndarray) -> Iterator[Ends]:
    """Bounds of how likely player 0 gets to a target, by strategies of both."""
    from jaxgames.mdp._stochastic_game import solve_game, verify_game

    for epsilon in EPSILONS:
        how: dict[str, Any] = {"epsilon": epsilon, "relative": False}
        found = solve_game(game, right, states=left, throw=False, **how)
        _agreed(verify_game(game, right, found, states=left))
        yield found.lower, found.upper


def of_condition(claim: Claim, asked: Any, node: Query) -> ValueVerdict:
    """What there is to say of a probability under a condition, by its definition.

    It is known in the first initial state alone.

    Raises:
        ValueError: the model has choices, of which that is no quotient.
    """
    if not claim.is_chain():
        raise ValueError(
            f"'{node}' cannot be verified: under a condition that is a quotient only "
            "where there are no choices"
        )
    state, size = int(initial_states(claim.model)[0]), len(claim.real)
    both = Operation("&", (node.path, node.condition), place=node.path.place)
    (one, other), known = asked._automata(both, node.condition)
    letters = asked._letters(known)

    def ends_of(automaton: Any) -> Iterator[Ends]:
        made, priority = asked._followed(claim.model, automaton, *letters)
        good = accepted(made, priority, 0)
        everywhere = np.ones(made.num_states, bool)
        return reach_bounds(made, everywhere, good, "max")

    def tries() -> Iterator[Ends]:
        for wanted, given in zip(ends_of(one), ends_of(other), strict=False):
            ends = [np.array([Fraction(x)] * size, object) for x in (0, 1)]
            low, high = (fraction(x[state]) for x in given)
            least, most = (fraction(x[state]) for x in wanted)
            if low > 0:
                ends[0][state] = least / high
                ends[1][state] = min(most / low, Fraction(1))
            yield ends[0], ends[1]

    # Nothing is said of the others.
    real = np.arange(size) == state
    return decided(
        SimpleNamespace(real=real, lower=claim.lower, upper=claim.upper), tries()
    )


def of_threshold(
    model: Any, question: Property, asked: Any, claim: tuple, constants: Any
) -> ValueVerdict:
    """What there is to say of where a bound holds, by the number that it is of.

    Args:
        model: the model or game.
        question: the property.
        asked: what evaluates it.
        claim: bool `[S]`, the states that are no padding; and float64 `[S]` twice, one
            where it surely holds, and where it may hold.
        constants: as for `check`.
    """
    from jaxgames.mdp._check import check

    node = question.formula
    optimum = asked._optimum(node)
    words = optimum[:3], *([optimum[3:]] if optimum[3:] and not asked.plays else ())
    number = dataclasses.replace(
        question,
        formula=dataclasses.replace(node, relation=None, threshold=None, optimum=words),
    )
    threshold = asked.threshold(node)
    real, lower, upper = claim
    unclear = real
    for exact in (False, True):
        found = check(model, number, constants=constants, exact=exact, throw=False)
        verdict = verify_values(model, number, found, constants=constants)
        if not verdict:
            return verdict
        truth = met(node.relation, Ranged(found.lower, found.upper), threshold)
        wrong = (real & (lower > truth.upper), real & (upper < truth.lower))
        if wrong[0].any() or wrong[1].any():
            none = np.zeros(len(real), bool)
            return ValueVerdict.first_of(*[none] * 6, *wrong)
        unclear = (lower > truth.lower) | (upper < truth.upper)
        if not (real & unclear).any():
            return ValueVerdict.at(ValueReason.OK, NO_CHOICE)
    state = int(np.argmax(real & unclear))
    raise ValueError(
        f"the value of state {state} is too near to {node.threshold} to be verified"
    )


def of_levels(claim: Claim, asked: Any, node: Query, optimum: str) -> ValueVerdict:
    """What there is to say of a path that is bounded by what it earns."""
    until, window, levels = asked.earned_until(node.path)
    if until.negated:
        claim, optimum = claim.flipped(), other_of(optimum)
    model, size = claim.model, len(claim.real)
    left, right = asked.states(until.left), asked.states(until.right)
    lost = window.top + 1
    count = lost + (window.last is not None)
    if count * max(len(levels.units), 1) > MOST_PLACES:
        raise ValueError(
            f"'{node}' cannot be verified: what is earned would be followed on {count} "
            f"levels, of {len(levels.units)} branches each, at most {MOST_PLACES} in "
            "all"
        )
    real = int(claim.groups[-1])
    level = np.arange(count)[:, None]
    # The last level is that of all that is too much, or, without an end, enough.
    to = np.minimum(level + np.minimum(levels.units, count), count - 1)
    columns = to * size + claim.branch_target
    counts = (level >= window.first) & (level < lost)
    groups = np.append(0, np.cumsum(np.tile(np.diff(claim.groups), count)))
    widths = np.tile(np.diff(claim.rows[: real + 1]), count)
    made = MDP(
        row_group_offsets=groups.astype(np.int32),
        row_offsets=np.append(0, np.cumsum(widths)).astype(np.int32),
        columns=columns.ravel().astype(np.int32),
        probs=np.tile(np.asarray(model.probs, np.float64)[: len(claim.weight)], count),
    )
    goal = (counts & right).ravel()
    on = np.broadcast_to(left, (count, size)).ravel()

    def tries() -> Iterator[Ends]:
        for least, most in reach_bounds(made, on, goal, optimum):
            yield least[:size], most[:size]

    return decided(claim, tries())

"""Checks bounds of values by what their definition asks for, exactly.

It shares nothing with what solves: sets are found by searches of its own, inequalities
are looked at in floating point first and in fractions where that cannot tell, and
values of a chain are found in fractions where inequalities do not show them.
"""

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import limits
from jaxgames.arguments import as_array, fields
from jaxgames.kept import keeps
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._asked import Asked, as_constants, check_concrete, other_of
from jaxgames.mdp._game import Game
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._paths import Next, Until, read
from jaxgames.mdp._property import (
    Cumulative,
    Instantaneous,
    LongRun,
    Property,
    Query,
    Temporal,
    as_property,
)
from jaxgames.mdp._region import check_model
from jaxgames.mdp._timed import AskedInTime
from jaxgames.mdp._values_verdict import (
    ValueVerdict,
    decided,
    fraction,
    is_infinite,
    nearest,
    ordered,
)
from jaxgames.mdp._verify_sets import Ways
from jaxgames.mdp._verify_steps import Walk, stepped_ends
from jaxgames.mdp._verify_sums import kept_exactly
from jaxgames.mdp.robust._asked import (
    AskedOfIntervals,
    answering_nature,
    is_interval,
)
from jaxgames.tuning.mdp import CHAIN_SOLVED_UP_TO


@limited()
def verify_values(
    model: MDP | Game,
    asked: str | Property,
    found: Any,
    *,
    constants: Mapping[str, Any] | None = None,
    **bounds: Unpack[Bounds],
) -> ValueVerdict:
    """Checks what `check` has found of a property.

    An upper bound holds that the equations do not make larger, since the value is the
    least solution [1]; for the least value it is enough that the choices of the
    scheduler do not. A lower bound holds that they do not make smaller, and that is
    zero where the target is out of reach, by the choices of the scheduler for the
    largest value, and by all for the least. Infinite values are seen in the graph. All
    this is looked at in exact arithmetic, wherever floating point leaves a doubt.
    Values of a number of steps are computed anew. Of an interval model upper bounds
    hold against all that those do who want the most, be it the scheduler or nature, and
    lower bounds against all that those do who want the least.

    Averages in the long run hold that are shown by potentials of the states that are
    visited for ever: by those of the scheduler for its bound, of all for the other.
    Formulas of linear temporal logic are put as the opposite of what the automaton of
    the opposite formula accepts, in end components that are checked; bounds of what is
    earned by a product with that; and bounds from some step on by a walk back from what
    is so without. Each comes to how likely a target is reached, of which bounds are
    found and checked as above, and compared. So is the number that a threshold is of.

    Args:
        model: the model, or a game.
        asked: the property, a query. Properties of states inside of it are evaluated
            as `check` does.
        found: a `Checked`, or anything that has `lower`, `upper` and `scheduler`, and
            `nature` for an interval model.
        constants: as for `check`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A verdict: true if the bounds hold.

    Raises:
        ValueError: it cannot be verified, and why: what is no query, such as a filter;
            bounds of time; conditions of models with choices; averages and formulas of
            interval models; or what would need too many fractions. Or arrays have
            another length.

    References:
        [1] Puterman, Markov Decision Processes, Wiley, 1994, sections 6.2 and 7.2.

    Examples:
        >>> import dataclasses
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2], [0.5, 0.25, 0.25, 1, 1],
        ...     labels={"goal": [0, 1, 0]},
        ... )
        >>> found = mdp.check(model, 'P=? [ F "goal" ]')
        >>> print(mdp.verify_values(model, 'P=? [ F "goal" ]', found))
        valid
        >>> wrong = dataclasses.replace(found, lower=found.lower + [0.1, 0, 0])
        >>> print(mdp.verify_values(model, 'P=? [ F "goal" ]', wrong))
        state 0: its lower bound is larger than its upper one, or one of them is no ...
    """
    check_concrete(model)
    player = None
    if isinstance(model, Game):
        model, player = model.model, np.asarray(model.player)
    interval = is_interval(model)
    if not interval:
        check_model(model)
    question = as_property(asked)
    node = question.formula
    if not isinstance(node, Query):
        raise ValueError(
            f"'{question}' cannot be verified: expected a query such as Pmax=? [ ... ]"
        )
    size = model.num_states
    ends = fields("found", found, "lower", "upper")
    lower, upper = (np.asarray(as_array("found", x), np.float64) for x in ends)
    if lower.shape != (size,) or upper.shape != (size,):
        raise ValueError(
            f"lower and upper must have {size} entries, got {list(lower.shape)} and "
            f"{list(upper.shape)}"
        )
    evaluated = evaluating(model, player, question, as_constants(constants))
    if node.relation is not None:
        from jaxgames.mdp._verify_anew import of_threshold

        given = model if player is None else Game(model, player)
        groups = np.asarray(model.row_group_offsets)
        real = groups[1:] > groups[:-1]
        claim = real, lower, upper
        return of_threshold(given, question, evaluated, claim, constants)
    if interval:
        from jaxgames.mdp.robust._verify import verify

        return verify(model, evaluated, node, found)
    claim = Claim(evaluated.model, lower, upper, found.scheduler)
    return (_verdict if player is None else _played)(claim, evaluated, node)


def is_verifiable(asked: str | Property) -> bool:
    """Whether `verify_values` can check what a property comes to, of some model.

    Examples:
        >>> is_verifiable("Pmax=? [ F x=1 ]"), is_verifiable("Rmax=? [ LRA ] / 2")
        (True, False)
    """
    return isinstance(as_property(asked).formula, Query)


def evaluating(model: MDP, player: Any, question: Property, constants: dict) -> Any:
    """What evaluates the properties of states inside of a question."""
    from jaxgames.mdp._check import answering

    how = (question, constants, 1e-6, True)
    if is_interval(model):
        return AskedOfIntervals(model, *how, answering_nature("auto", [], []))
    jumps = dataclasses.replace(model, exit_rates=None)
    solve = answering(jumps, "auto", [], [])
    if player is not None:
        from jaxgames.mdp._asked_game import AskedOfGame

        return AskedOfGame(model, *how, solve, False, player)
    if model.exit_rates is not None:
        exits = np.asarray(model.exit_rates)
        return AskedInTime(jumps, *how, solve, False, exits)
    return Asked(model, *how, solve)


HAIR = 1e-12
"""What rounding may come to, in a bound that is found by solving many equations."""


class Claim:
    """Bounds and a scheduler that somebody claims to be right of a model."""

    def __init__(self, model: MDP, lower, upper, scheduler):
        self.model, self.lower, self.upper = model, lower, upper
        self.groups = np.asarray(model.row_group_offsets)
        self.rows = np.asarray(model.row_offsets)
        self.columns = np.asarray(model.columns)
        self.owner = owner_of(model)
        self.real = self.groups[1:] > self.groups[:-1]
        end = int(self.rows[int(self.groups[-1])])
        choice = np.repeat(np.arange(len(self.owner)), np.diff(self.rows))[:end]
        self.branch_choice, self.branch_target = choice, self.columns[:end]
        probs = np.ones(end) if model.probs is None else np.asarray(model.probs)
        self.weight = probs[:end]
        self.total = np.bincount(choice, self.weight, minlength=len(self.owner))
        self.live = np.arange(len(self.owner)) < self.groups[-1]
        self.scheduler = scheduler

    def is_chain(self) -> bool:
        """Whether no state has two choices."""
        return bool(np.all(np.diff(self.groups) <= 1))

    def with_bounds(self, lower, upper) -> "Claim":
        """Another claim about the same model and scheduler."""
        return Claim(self.model, lower, upper, self.scheduler)

    def flipped(self) -> "Claim":
        """The claim about the probability of the opposite, in fractions."""
        lower = np.array([_one_less(x) for x in self.upper.tolist()], object)
        upper = np.array([_one_less(x) for x in self.lower.tolist()], object)
        return self.with_bounds(lower, upper)

    def may(self, states: np.ndarray) -> np.ndarray:
        """The choices that may lead into a set: bool `[C]`."""
        hits = np.zeros(len(self.owner), bool)
        hits[self.branch_choice[states[self.branch_target]]] = True
        return hits

    def have(self, choices: np.ndarray) -> np.ndarray:
        """The states that have one of some choices: bool `[S]`."""
        found = np.zeros(len(self.real) + 1, bool)
        found[self.owner[choices]] = True
        return found[:-1]

    def clock(self, steps: int) -> np.ndarray | None:
        """The choices of the scheduler by step and state, if it has so many steps."""
        scheduler = self.scheduler
        if scheduler is None or np.shape(scheduler) != (steps, len(self.real)):
            return None
        return np.asarray(scheduler)

    def chosen(self) -> np.ndarray | None:
        """The choices of the scheduler, the first where it says nothing; bool `[C]`."""
        if self.scheduler is None:
            return None
        scheduler = np.asarray(self.scheduler)
        if scheduler.shape != self.real.shape:
            return None
        at = np.where(scheduler < 0, self.groups[:-1], scheduler)[self.real]
        mine = np.zeros(len(self.owner), bool)
        mine[at[at < len(mine)]] = True
        return mine & self.live

    def misplaced(self) -> np.ndarray:
        """The states whose choice by the scheduler is another's: bool `[S]`."""
        scheduler = np.atleast_2d(np.asarray(self.scheduler))
        if self.scheduler is None or scheduler.shape[-1:] != self.real.shape:
            return np.zeros(len(self.real), bool)
        some = self.real & (scheduler >= 0)
        inside = (scheduler >= self.groups[:-1]) & (scheduler < self.groups[1:])
        return np.any(some & ~inside, axis=0)

    def placed(self) -> ValueVerdict:
        """Whether each state's choice by the scheduler is its own."""
        bad = self.misplaced()
        none = np.zeros(len(bad), bool)
        return ValueVerdict.first_of(none, bad, *[none] * 6)

    def attained(self, largest: bool) -> "Claim":
        """The bound that the scheduler is to attain: the lower one for the most."""
        endless = np.full(len(self.real), np.inf)
        ends = (self.lower, endless) if largest else (-endless, self.upper)
        return self.with_bounds(*ends)

    # ---- sets --------------------------------------------------------------------

    @keeps
    def _ways(self) -> Ways:
        branches = self.branch_target, self.branch_choice
        return Ways.of(*branches, self.owner, len(self.real))

    def reaches(self, goal, passed, choices) -> np.ndarray:
        """From where some path of some choices leads to a goal."""
        return self._ways.reached(goal & self.real, passed, choices)

    def avoids(self, goal, passed, choices) -> np.ndarray:
        """From where one may see to it that a goal is never reached."""
        return self.real & ~self._ways.forced(goal & self.real, passed, choices)

    def surely(self, goal, choices, within=None) -> np.ndarray:
        """From where one can see to it that a goal is reached with probability one."""
        inside = self.real if within is None else within
        while True:
            open_ = inside & ~goal
            inner = inside & ~self._ways.forced(~inside, open_, choices)
            safe = choices & ~self.may(~inner)
            new = self.reaches(goal & inner, inner & ~goal, safe)
            if (new == inside).all():
                return inside
            inside = new

    def rests(self, choices) -> np.ndarray:
        """The states that can stay for ever among some choices: bool `[S]`."""
        return self.stays(self.real, choices)

    def stays(self, inside, choices) -> np.ndarray:
        """Those that can stay for ever inside of a set."""
        return inside & ~self._ways.forced(~inside, inside, choices)

    # ---- inequalities ------------------------------------------------------------

    def breaks(self, bound, choices, earned, sign, discount=Fraction(1)) -> np.ndarray:
        """The choices by which a bound is not kept: bool `[C]`.

        Args:
            bound: `[S]`, floats or fractions.
            choices: bool `[C]`, those to look at.
            earned: float64 `[C]`.
            sign: 1 if they must not make it larger, -1 if not smaller.
            discount: what a step is worth beside the one before it.
        """
        found = np.zeros(len(self.owner), bool)
        plain = bound.dtype != object
        doubtful = np.flatnonzero(choices)
        if len(doubtful):
            near = nearest(bound)
            with np.errstate(invalid="ignore"):
                terms = self.weight * near[self.branch_target]
                sums = np.bincount(self.branch_choice, terms, minlength=len(found))
                size = np.bincount(
                    self.branch_choice, np.abs(terms), minlength=len(found)
                )
                many = np.diff(self.rows) + 8.0
                share = float(discount)
                worth = earned + share * sums / np.maximum(self.total, 1e-300)
                off = (np.abs(earned) + size / np.maximum(self.total, 1e-300)) * (
                    many * 4e-16
                )
                own = near[np.minimum(self.owner, len(bound) - 1)]
                off += 0.0 if plain else 4e-16 * np.abs(own)  # it was rounded, too
                kept = sign * (own - worth) >= off
            doubtful = np.flatnonzero(choices & ~kept)
        if plain and len(doubtful):
            sure = kept_exactly(
                *(self.rows, self.branch_target, self.weight, bound),
                *(self.owner, earned, discount == 1, sign, doubtful),
            )
            doubtful = doubtful[~sure]
        for at in doubtful.tolist():
            limits.tick("verifying", at, "choices")
            found[at] = not self._holds(bound, at, earned, sign, discount)
        return found

    def misses_by_a_hair(self, bound, choices, earned, discount=Fraction(1)) -> bool:
        """Whether all that choices break a bound by may be rounding: see `breaks`."""
        # One less a number is as precise as one.
        whole = float(bound.dtype == object)
        bound = nearest(bound)
        own = bound[self.owner[choices]]
        terms = self.weight * bound[self.branch_target] / self.total[self.branch_choice]
        sums, sizes = (
            np.bincount(self.branch_choice, x, minlength=len(self.owner))[choices]
            for x in (terms, np.abs(terms))
        )
        gain = earned[choices]
        off = np.abs(own - gain - float(discount) * sums)
        return bool(np.all(off <= HAIR * (np.abs(own) + np.abs(gain) + sizes + whole)))

    def _holds(self, bound, at, earned, sign, discount) -> bool:
        """Whether a choice keeps a bound, in fractions."""
        own = bound[self.owner[at]]
        here = range(self.rows[at], self.rows[at + 1])
        targets = [bound[self.columns[b]] for b in here]
        if any(is_infinite(x) for x in targets):
            return sign < 0 or is_infinite(own)
        if is_infinite(own):
            return sign > 0
        probs = [Fraction(float(self.model.probs[b])) for b in here]
        worth = sum(p * fraction(x) for p, x in zip(probs, targets, strict=True))
        worth = Fraction(float(earned[at])) + discount * worth / sum(probs)
        return sign * (fraction(own) - worth) >= 0


def _one_less(value: float) -> Any:
    return 1 - Fraction(value) if np.isfinite(value) else -value


def are_endless(bound: np.ndarray) -> np.ndarray:
    """Which bounds are infinite, and positive: bool `[S]`."""
    if bound.dtype != object:
        return np.isposinf(bound)
    return np.array([is_infinite(x) and x > 0 for x in bound.tolist()], bool)


class Shape(NamedTuple):
    """A question in the form in which it is verified.

    Attributes:
        end: bool `[S]`, the states whose value is known: `worth`.
        worth: float64 `[S]`, that value.
        earned: float64 `[C]`, what a choice earns.
        optimum: `"min"` or `"max"`.
        discount: what a step is worth beside the one before it.
    """

    end: np.ndarray
    worth: np.ndarray
    earned: np.ndarray
    optimum: str
    discount: Fraction = Fraction(1)


def _verdict(claim: Claim, asked: Asked, node: Query) -> ValueVerdict:
    """What there is to say of a claim about a query."""
    verdict = ordered(claim.real, claim.lower, claim.upper)
    if not verdict:
        return verdict
    optimum = asked._optimum(node)
    from jaxgames.mdp import _verify_anew

    if node.condition is not None:
        return _verify_anew.of_condition(claim, asked, node)
    if asked.is_bounded_by_what_is_earned(node):
        return _verify_anew.of_levels(claim, asked, node, optimum)
    path = path_of(asked, node)
    if isinstance(asked, AskedInTime) and is_bounded(path):
        raise ValueError(
            f"'{node}' cannot be verified: values of a bounded time are found by "
            "uniformisation, and there is no other check of them"
        )
    if counts_steps(path):
        return _again(claim, walk_of(asked, node, path, optimum))
    if node.operator == "P":
        if not isinstance(path, Until):
            return _verify_anew.of_formula(claim, asked, node, optimum)
        if path.first:
            return _verify_anew.from_some_step(claim, asked, path, optimum)
        left, right = asked.states(path.left), asked.states(path.right)
        if path.negated:
            claim, optimum = claim.flipped(), other_of(optimum)
        return until(claim, left, right, optimum)
    if node.operator == "LRA" or isinstance(path, LongRun):
        from jaxgames.mdp._verify_average import Earned, of_average

        sign = 1 if optimum == "max" else -1
        return of_average(claim, Earned(*asked.averaged(node), sign))
    empty = np.zeros(len(claim.real), bool)
    zero = np.zeros(len(claim.real))
    shape = Shape(empty, zero, earned(asked, node), optimum)
    if isinstance(path, Temporal):
        target = asked.states(path.operands[0])
        return _unbounded(claim, shape._replace(end=target), "until", target)
    if path.discount is None:
        return _unbounded(claim, shape, "total", empty)
    shape = shape._replace(discount=asked.constant(path.discount))
    return _unbounded(claim, shape, "discounted", empty)


def until(
    claim: Claim, left: np.ndarray, right: np.ndarray, optimum: str
) -> ValueVerdict:
    """What there is to say of the probability of `left U right`, bool `[S]` each."""
    none = np.zeros(len(claim.owner))
    shape = Shape(right | ~left, right.astype(np.float64), none, optimum)
    return _unbounded(claim, shape, "reach", right)


class Known(NamedTuple):
    """What the graph says of a question.

    Attributes:
        nothing: bool `[S]`, where a lower bound may be zero at most.
        unlimited: bool `[S]`, where it may be infinite.
        finite: bool `[S]`, where an upper bound may be less than that.
    """

    nothing: np.ndarray
    unlimited: np.ndarray
    finite: np.ndarray


def _known(
    claim: Claim, shape: Shape, kind: str, target: np.ndarray, own: np.ndarray
) -> Known:
    """Where values are zero, infinite and finite, as far as it has to be shown."""
    real, live = claim.real, claim.live
    open_, none = real & ~shape.end, np.zeros(len(real), bool)
    largest = shape.optimum == "max"
    if kind == "discounted":
        return Known(none, none, real)
    if kind == "reach":
        away = claim.avoids(target, open_, live)
        if largest:
            away = real & ~claim.reaches(target, open_, own)
        return Known(away, none, real)
    if kind == "until" and largest:
        never = real & ~claim.reaches(target, open_, own)
        escapes = claim.avoids(target, open_, live)
        finite = ~claim.reaches(escapes, open_, live)
        return Known(none, claim.reaches(never, open_, own), finite)
    if kind == "until":
        unlimited = real & ~claim.surely(target, live)
        return Known(none, unlimited, claim.surely(target, own))
    if largest:
        # Where something can always still be earned, it will be, again and again.
        pays = claim.have(own & (shape.earned > 0))
        never = real & ~claim.reaches(pays, real, own)
        always = real & ~claim.reaches(never, real, own)
        return Known(never, claim.reaches(always, real, own), real)
    rests = claim.rests(live & (shape.earned == 0))
    return Known(rests, real & ~claim.surely(rests, live), real)


def _unbounded(
    claim: Claim, shape: Shape, kind: str, target: np.ndarray, sharp: bool = False
) -> ValueVerdict:
    """Inequalities, and what is seen in the graph.

    Bounds that are too near for that are compared with sharper ones, which are checked
    first, unless these are `sharp`.
    """
    own, real = claim.chosen(), claim.real
    if own is None:
        raise ValueError("a memoryless scheduler is needed to verify this")
    largest = shape.optimum == "max"
    open_, lower, upper = real & ~shape.end, claim.lower, claim.upper
    infinite, endless = are_endless(lower), are_endless(upper)
    known = _known(claim, shape, kind, target, own)
    below = (real & shape.end & (lower > shape.worth)) | (
        open_ & known.nothing & (lower > 0)
    )
    above = real & shape.end & (upper < shape.worth)
    if kind != "discounted":
        above |= open_ & (upper < 0)
    high = open_ & ~known.finite & ~endless
    low = open_ & infinite & ~known.unlimited
    below_here = open_ & ~infinite
    if largest:  # where the scheduler earns infinitely much, anything is less
        below_here &= ~known.unlimited
    lows = (own if largest else claim.live) & _of(claim, below_here)
    highs = (claim.live if largest else own) & _of(claim, open_ & ~endless)
    of_low = claim.breaks(lower, lows, shape.earned, -1, shape.discount)
    of_high = claim.breaks(upper, highs, shape.earned, 1, shape.discount)
    too_large, too_small = claim.have(of_low), claim.have(of_high)
    if too_large.any() or too_small.any():
        finite = open_ & ~known.unlimited & known.finite
        values = _optimal_values(claim, shape, kind, target, own, known, finite)
        pairs = (lower, of_low), (upper, of_high)
        too_many = values is None and finite.sum() > CHAIN_SOLVED_UP_TO
        how = shape.earned, shape.discount
        if too_many and not sharp:
            nearer = _nearer(claim, shape, kind, target, own, known, finite)
            if nearer is not None:
                return decided(claim, iter([nearer]))
            if all(claim.misses_by_a_hair(*x, *how) for x in pairs):
                raise ValueError(
                    f"a bound of state {int(np.argmax(too_large | too_small))} is too "
                    "near to its value to be verified without fractions, for which "
                    "there is too much to do"
                )
        if values is not None:
            for state, value in values.items():
                too_large[state] = fraction(lower[state]) > value
                too_small[state] = not endless[state] and (
                    fraction(upper[state]) < value
                )
    bad = claim.misplaced()
    nowhere = np.zeros(len(real), bool)
    return ValueVerdict.first_of(
        nowhere, bad, below, above, high, low, too_large, too_small
    )


def _nearer(
    claim: Claim, shape: Shape, kind, target, own, known: Known, finite
) -> tuple[np.ndarray, np.ndarray] | None:
    """Bounds of the values that are checked as any others, fractions `[S]`; or None."""
    from jaxgames.mdp._verify_sharp import narrow_bounds

    zero = _nothing(claim, shape, kind, target, own, known)
    open_ = finite & ~zero
    states = np.flatnonzero(open_)
    choice = np.full(len(claim.real) + 1, -1)
    choice[claim.owner[own]] = np.flatnonzero(own)
    others = np.where(shape.end, shape.worth, 0.0)
    leads = _of(claim, open_) & own & claim.may(~finite & ~shape.end)
    if shape.discount != 1 or leads.any():
        return None
    found = narrow_bounds(
        *(claim.rows, claim.branch_target, claim.weight, shape.earned),
        *(states, choice[states], others),
    )
    if found is None:
        return None
    ends = []
    for bound in found:
        values = np.array([Fraction(x) for x in others.tolist()], object)
        values[~finite & ~shape.end] = np.inf
        most = 1 if kind == "reach" else np.inf
        values[states] = [min(max(x, Fraction(0)), most) for x in bound.tolist()]
        ends.append(values)
    good = _unbounded(claim.with_bounds(*ends), shape, kind, target, sharp=True)
    return (ends[0], ends[1]) if good else None


def _nothing(claim: Claim, shape: Shape, kind, target, own, known: Known) -> np.ndarray:
    """Where the values of the scheduler are known to be zero: bool `[S]`."""
    if kind == "reach":
        return claim.real & ~claim.reaches(target, claim.real & ~shape.end, own)
    return known.nothing


def _of(claim: Claim, states: np.ndarray) -> np.ndarray:
    """The choices of some states: bool `[C]`."""
    return np.append(states, False)[claim.owner]


def _optimal_values(
    claim: Claim, shape: Shape, kind, target, own, known: Known, finite
) -> dict[int, Fraction] | None:
    """The values of the scheduler in fractions, if no choice improves them."""
    zero = _nothing(claim, shape, kind, target, own, known)
    open_ = finite & ~zero
    if open_.sum() > CHAIN_SOLVED_UP_TO:
        return None
    states = np.flatnonzero(open_).tolist()
    at = np.flatnonzero(own)
    choice = dict(zip(claim.owner[at].tolist(), at.tolist(), strict=True))
    rows, worth = [], []
    place = {state: i for i, state in enumerate(states)}
    for state in states:
        limits.tick("verifying", len(rows), "states")
        c = choice[state]
        here = range(claim.rows[c], claim.rows[c + 1])
        probs = [Fraction(float(claim.model.probs[b])) for b in here]
        row: dict[int, Fraction] = {}
        earned = Fraction(float(shape.earned[c]))
        for b, p in zip(here, probs, strict=True):
            to, share = int(claim.columns[b]), shape.discount * p / sum(probs)
            if to in place:
                row[place[to]] = row.get(place[to], Fraction(0)) + share
            elif shape.end[to]:
                earned += share * Fraction(float(shape.worth[to]))
            elif not zero[to]:
                return None  # it leads to what is infinite
        rows.append(row)
        worth.append(earned)
    solved = chain_values(rows, worth)
    if solved is None:
        return None
    values = np.array([Fraction(0)] * len(claim.real), object)
    values[shape.end] = [Fraction(float(x)) for x in shape.worth[shape.end]]
    values[~finite & ~shape.end] = np.inf
    values[open_] = solved
    sign = 1 if shape.optimum == "max" else -1
    choices = claim.live & _of(claim, open_)
    wrong = claim.breaks(values, choices, shape.earned, sign, shape.discount)
    if wrong.any() or (known.nothing & open_ & (values > 0)).any():
        return None
    return dict(zip(states, solved, strict=True))


def chain_values(rows: list[dict], worth: list[Fraction]) -> list[Fraction] | None:
    """Solves x = worth + rows x, by replacing one state after the other."""
    size = len(rows)
    for k in range(size):
        limits.tick("verifying", k, "states")
        loop = 1 - rows[k].pop(k, Fraction(0))
        if loop <= 0:
            return None
        rows[k] = {j: p / loop for j, p in rows[k].items()}
        worth[k] /= loop
        for i in range(k + 1, size):
            share = rows[i].pop(k, None)
            if share is not None:
                worth[i] += share * worth[k]
                for j, p in rows[k].items():
                    rows[i][j] = rows[i].get(j, Fraction(0)) + share * p
    for k in reversed(range(size)):
        worth[k] += sum(p * worth[j] for j, p in rows[k].items())
    return worth


def path_of(asked: Any, node: Query) -> Any:
    """What a query is about: of paths that have no condition as what was read."""
    plain = node.operator == "P" and node.condition is None
    return read(node.path, asked._bounds_of(node.path)) if plain else node.path


def counts_steps(path: Any) -> bool:
    """Whether a path that was read is about a number of steps."""
    return (
        isinstance(path, Next | Instantaneous)
        or (isinstance(path, Until) and path.last is not None)
        or (isinstance(path, Cumulative) and path.steps is not None)
    )


def is_bounded(path: Any) -> bool:
    """Whether a path that was read names a time from which, or up to which, it is."""
    later = isinstance(path, Until) and path.first > 0
    return later or (counts_steps(path) and not isinstance(path, Next))


def walk_of(asked: Any, node: Query, path: Any, optimum: str) -> Walk:
    """The steps that a query is about, whose path was read."""
    model = asked.model
    none = np.zeros(model.num_choices)
    if isinstance(path, Next):
        return Walk(1, asked.states(path.operand).astype(np.float64), optimum, none)
    if isinstance(path, Until):
        assert path.last is not None
        left, right = asked.states(path.left), asked.states(path.right)
        return Walk(
            *(path.last, right.astype(np.float64)),
            *(other_of(optimum) if path.negated else optimum, none, Fraction(1)),
            *(left, right, path.last - path.first, path.negated),
        )
    named = asked._reward_name(node)
    if isinstance(path, Instantaneous):
        start = np.asarray((model.state_rewards or {})[named], np.float64)
        steps = asked.natural(path.time, "a number of steps")
        return Walk(steps, start, optimum, none)
    steps, earned = (
        asked.natural(path.steps, "a number of steps"),
        asked._rewards(named),
    )
    found = Walk(steps, np.zeros(model.num_states), optimum, earned)
    if path.discount is None:
        return found
    return found._replace(discount=asked.constant(path.discount))


def _again(claim: Claim, walk: Walk) -> ValueVerdict:
    """Values of a number of steps, computed anew by their definition."""
    clock = claim.clock(walk.steps)
    if clock is not None:
        largest = (walk.optimum == "max") != walk.flips
        attained = claim.attained(largest)
        verdict = claim.placed() and _compared(attained, walk._replace(chosen=clock))
        if not verdict:
            return verdict
    return _compared(claim, walk)


def _compared(claim: Claim, walk: Walk) -> ValueVerdict:
    """The verdict of bounds of a number of steps."""
    return decided(claim, stepped_ends(claim, walk))


def _played(claim: Claim, asked: Any, node: Query) -> ValueVerdict:
    """What there is to say of a claim about a query of a game."""
    from jaxgames.mdp._reward_game import verify_reward_game
    from jaxgames.mdp._stochastic_game import shown

    verdict = ordered(claim.real, claim.lower, claim.upper)
    if not verdict:
        return verdict
    optimum, path = asked._optimum(node), path_of(asked, node)
    if counts_steps(path):
        walk = walk_of(asked, node, path, optimum)
        return _compared(claim, walk._replace(optimum=asked.largest(walk.optimum)))
    if node.operator == "P" and not (isinstance(path, Until) and path.first == 0):
        from jaxgames.mdp import _verify_anew

        if isinstance(path, Until):
            return _verify_anew.from_some_step(claim, asked, path, optimum)
        return _verify_anew.of_formula(claim, asked, node, optimum)
    strategy = np.asarray(claim.scheduler)
    if claim.scheduler is None or strategy.shape != claim.real.shape:
        raise ValueError("a strategy is needed to verify this: int [S]")
    if node.operator == "P":
        goal, left = asked.states(path.right), asked.states(path.left)
        if path.negated:
            optimum, claim = other_of(optimum), claim.flipped()
        return shown(claim, asked.largest(optimum), goal, left)
    how: dict[str, Any] = {}
    if isinstance(path, Temporal):
        how["target"] = asked.states(path.operands[0])
    elif isinstance(path, Cumulative):
        how["discount"] = asked.constant(path.discount)
    values = SimpleNamespace(lower=claim.lower, upper=claim.upper, strategy=strategy)
    return verify_reward_game(asked.game(optimum), earned(asked, node), values, **how)


def earned(asked: Any, node: Query) -> np.ndarray:
    """What choices earn of the rewards of a query, or how long they take: `[C]`."""
    if node.operator == "T":
        return asked._stays()
    return asked._rewards(asked._reward_name(node))

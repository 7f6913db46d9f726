"""A property of a concrete model, evaluated in all states."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import ge, gt, le, lt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import ltl
from jaxgames.arena import is_traced
from jaxgames.kept import kept
from jaxgames.mdp import _bounded, _questions, host
from jaxgames.mdp._automata import (
    MOST_STATES,
    components_of,
    deterministic,
    followed,
    formula_of,
    shared_atoms,
)
from jaxgames.mdp._average import average_reward
from jaxgames.mdp._budget import Levels, Window, earning, levels_of
from jaxgames.mdp._conditional import (
    FAILED,
    LOST,
    WON,
    After,
    may_begin_anew,
    restarting,
)
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._paths import General, Limit, Next, Term, Until, opposite, read
from jaxgames.mdp._property import (
    Bound,
    Constant,
    Cumulative,
    Earned,
    Filter,
    Instantaneous,
    Label,
    LongRun,
    Multi,
    Name,
    Operation,
    Property,
    PropertyError,
    Query,
    Temporal,
    is_path,
)
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._ranged import Ranged, combined, exactly, met, number
from jaxgames.mdp._rational import nearest
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp._swept import ToTarget
from jaxgames.quoting import guess, quoted
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.value import freeze

MOST_STEPS = 1 << 40
"""Steps that a bound may name."""


MOST_NAMES = 100
"""Definitions that may lead from one to the next."""


class Answer(NamedTuple):
    """What a query comes to in each state.

    Attributes:
        lower: float64 `[S]`.
        upper: float64 `[S]`.
        scheduler: int32 `[S]`, or `[k, S]` where it looks at a clock, or None.
        status: how it was found.
        stats: likewise.
        exact: the values as fractions, or infinite, None in states where they are not
            known; None where they are known nowhere.
        nature: float64 `[E]`, or `[k, E]` where it looks at a clock: the distributions
            that nature chooses in an interval model; else None.
    """

    lower: np.ndarray
    upper: np.ndarray
    scheduler: np.ndarray | None
    status: Status
    stats: Stats
    exact: Sequence[Any] | None = None
    nature: np.ndarray | None = None


@dataclasses.dataclass
class Asked:
    """What a property is evaluated with."""

    model: MDP  # a concrete model
    asked: Property
    constants: Mapping[str, Any]  # values by name, which the property's own may be
    epsilon: float  # how far apart bounds may stay
    relative: bool  # whether that is relative to the lower one
    # Bounds of a question that was posed: called with it, `epsilon`, `relative` and
    # `exact`.
    solve: Callable[..., Answer]
    exact: bool = False  # whether values are wanted as fractions, where they can be had
    plays: ClassVar[bool] = False
    """Whether there are players."""
    models: ClassVar[str] = "models"
    """What they are called."""

    def __post_init__(self):
        """Nothing has been looked up."""
        self._values: dict[str, Ranged] = {}
        self._open: set[str] = set()
        self._answers: list[tuple[Query, str, Answer]] = []
        self._known: dict[int, tuple[Query, Answer]] = {}  # by the query itself
        self.rounded = False  # whether a reward is none of float64
        self.statuses: list[Status] = []  # of all that is asked for as a number

    # ---- expressions -------------------------------------------------------------

    def value(self, node: Any) -> Ranged:
        """What a property of states comes to: numbers or truths, in all states."""
        if isinstance(node, Constant):
            exact = node.value
            return exactly(
                np.bool_(exact) if isinstance(exact, bool) else number(exact)
            )
        if isinstance(node, Label):
            return self._label(node)
        if isinstance(node, Name):
            return self._name(node)
        if isinstance(node, Operation):
            return combined(node, [self.value(part) for part in node.operands])
        if isinstance(node, Query):
            return self._query(node)
        if isinstance(node, Filter):
            return self._filter(node)
        if isinstance(node, Multi):
            raise PropertyError(
                node.place,
                "several objectives are a question of their own: no formula is around "
                "them",
            )
        if isinstance(node, Temporal):
            raise PropertyError(
                node.place, f"'{node}' is a property of paths, expected one of states"
            )
        raise AssertionError(node)

    def states(self, node: Any) -> np.ndarray:
        """The states in which something is true: bool `[S]`.

        Raises:
            PropertyError: it is a number.
            SolveError: it is undecided in some state.
        """
        found = self.value(node)
        if not found.is_truth:
            raise PropertyError(
                node.place, f"'{node}' is a number, expected true or false"
            )
        if found.lower is not found.upper:
            unclear = np.flatnonzero(
                np.broadcast_to(found.lower != found.upper, self.shape)
            )
            if len(unclear):
                raise SolveError(
                    Status.PRECISION,
                    None,
                    message=f"'{node}' is undecided in state {unclear[0]}: the bounds "
                    "are on both sides of the threshold. Ask for a smaller epsilon.",
                )
        return np.logical_and(found.lower, real_states(self.model))

    @property
    def shape(self) -> tuple[int]:
        """That of an array over states."""
        return (self.model.num_states,)

    def _label(self, node: Label) -> Ranged:
        model, name = self.model, node.name
        if name in self.asked.labels:
            return self._once(f'"{name}"', node, self.asked.labels[name])
        labels = model.labels or {}
        if name in labels:
            return exactly(np.asarray(labels[name]))
        if name == "init":
            found = np.zeros(self.shape, bool)
            found[initial_states(model)] = True
            return exactly(found)
        if name == "deadlock":  # every state has a choice
            return exactly(np.zeros(self.shape, bool))
        if name in self.asked.others:
            return self._once(f'"{name}"', node, self.asked.others[name])
        there = ", ".join(map(repr, labels)) or "none"
        raise PropertyError(
            node.place,
            f"the model has no label {quoted(name)}{guess(name, labels)}; it has "
            f"{there}",
        )

    def _name(self, node: Name) -> Ranged:
        name = node.name
        variables = self.model.valuations or {}
        if name in self.constants:
            return exactly(given(name, self.constants[name]))
        if name in self.asked.constants:
            defined = self.asked.constants[name]
            if defined is None:
                raise PropertyError(
                    node.place, f"the constant {name} has no value: pass constants="
                )
            return self._once(name, node, defined)
        if name in variables:
            return exactly(np.asarray(variables[name]))
        known = [*variables, *self.constants, *self.asked.constants]
        there = ", ".join(known) or "none"
        raise PropertyError(
            node.place,
            f"there is no variable or constant {quoted(name)}{guess(name, known)}; "
            f"the model has {there}",
        )

    def _once(self, key: str, node: Any, defined: Any) -> Ranged:
        """The value of what has a name; it may not be defined by itself."""
        if key not in self._values:
            if key in self._open:
                raise PropertyError(node.place, f"{key} is defined in terms of itself")
            if len(self._open) >= MOST_NAMES:
                raise PropertyError(
                    node.place,
                    f"{key} is one of more than {MOST_NAMES} that are defined in terms "
                    "of one another: that is too deep",
                )
            self._open.add(key)
            self._values[key] = self.value(defined)
            self._open.discard(key)
        return self._values[key]

    def threshold(self, query: Query) -> Fraction:
        """What a query's value is compared with; a probability is from 0 to 1."""
        found = self.constant(query.threshold)
        if query.operator in ("P", "LRA") and not 0 <= found <= 1:
            raise PropertyError(
                query.threshold.place,
                f"expected a probability from 0 to 1, found '{query.threshold}'",
            )
        return found

    def constant(self, node: Any) -> Fraction:
        """A number that is the same in all states; else raises PropertyError."""
        if isinstance(node, Constant) and not isinstance(node.value, bool):
            return node.value
        if isinstance(node, Name) and node.name in self.constants:
            exact = self.constants[node.name]
            if isinstance(exact, Fraction):
                return exact
        if isinstance(node, Name) and node.name not in self.constants:
            defined = self.asked.constants.get(node.name)
            if defined is not None:
                return self.constant(defined)
        if isinstance(node, Operation):
            found = _exact_operation(node.operator, node.operands, self.constant)
            if found is not None:
                return found
        found = self.value(node)
        if found.is_truth or found.lower is not found.upper:
            raise PropertyError(node.place, f"'{node}' is no number that is known")
        if np.ndim(found.lower) and len(np.unique(found.lower)) > 1:
            raise PropertyError(
                node.place, f"'{node}' is not the same number in all states"
            )
        flat = np.asarray(found.lower).ravel()
        if not np.isfinite(flat[:1]).all():
            raise PropertyError(node.place, f"'{node}' is {flat[0]}: no finite number")
        return Fraction(flat[0].item()) if len(flat) else Fraction(0)

    def natural(self, node: Any, what: str) -> int:
        """A number of steps.

        Raises:
            PropertyError: it is negative, or no integer, or far too large.
        """
        found = self.constant(node)
        if found.denominator != 1 or found < 0:
            raise PropertyError(
                node.place,
                f"{what} must be an integer from 0 on, but {quoted(str(node))} is "
                f"{nearest(found):g}",
            )
        if found > MOST_STEPS:
            raise PropertyError(
                node.place,
                f"{quoted(str(node))} is too large for {what}: at most {MOST_STEPS}",
            )
        return int(found)

    # ---- queries -----------------------------------------------------------------

    def _query(self, node: Query) -> Ranged:
        threshold = None if node.relation is None else self.threshold(node)
        answer = self.answer(node)
        found = Ranged(answer.lower, answer.upper)
        if node.relation is None or threshold is None:
            self.statuses.append(answer.status)
            return found
        truth = met(node.relation, found, threshold)
        if np.array_equal(truth.lower, truth.upper):
            return exactly(truth.lower)
        if answer.status == Status.MAX_STEPS:  # nobody is to work longer
            return truth
        # On both sides of it: it may well be the value itself.
        closer = dataclasses.replace(self, exact=True).answer(node)
        if closer.exact is None:
            return truth
        meets = {"<": lt, "<=": le, ">": gt, ">=": ge}[node.relation]
        known = [x is not None for x in closer.exact]
        holds = [x is not None and meets(x, threshold) for x in closer.exact]
        surely = np.array(holds, bool)
        if all(known):
            return exactly(surely)
        return Ranged(surely | truth.lower, (surely | ~np.array(known)) & truth.upper)

    def answer(self, node: Query) -> Answer:
        """Bounds of what a query asks for, in all states."""
        if (known := self._known.get(id(node))) is not None and known[0] is node:
            return known[1]
        optimum = self._optimum(node)
        if node.coalition is not None and not self.plays:
            raise PropertyError(
                node.place, f"'{node}' names players, and the model is not a game"
            )
        for other, how, found in self._answers:
            if how == optimum and _asks_of(other) == _asks_of(node):
                self._known[id(node)] = node, found
                return found
        found = self._answered(node, optimum)
        self._answers.append((node, optimum, found))
        self._known[id(node)] = node, found
        return found

    def _optimum(self, node: Query) -> str:
        """Whether schedulers do their least or their most."""
        if len(node.optimum) > 1:
            raise PropertyError(
                node.place, "two optima are for interval models, and this is not one"
            )
        if node.optimum:
            return node.optimum[0]
        if node.relation is not None:
            # For all schedulers, so for the worst.
            return "min" if node.relation in (">", ">=") else "max"
        if kept(self.model, "has choices", lambda: _has_choices(self.model)):
            raise PropertyError(
                node.place,
                f"'{node}' must say min or max, since the model has choices",
            )
        return "max"

    def _answered(self, node: Query, optimum: str) -> Answer:
        if self.model.probs is None:
            raise ValueError(
                "the model has no probabilities: pass probs to from_arrays"
            )
        return self._valued(node, optimum)

    def _valued(self, node: Query, optimum: str) -> Answer:
        """What a query of a model with all that it takes comes to."""
        if node.condition is not None:
            return self._conditional(node, optimum)
        if node.operator == "P":
            return self._probability(node, optimum)
        if node.operator == "LRA":
            share = self._average(self._of_choices(node.path), optimum)
            return share._replace(upper=np.minimum(share.upper, 1.0))
        if node.operator == "T":
            target = self.states(node.path.operands[0])
            return self._earned_until(self._stays(), target, optimum)
        return self._reward(node, optimum)

    # ---- probabilities -------------------------------------------------------------

    def _probability(self, node: Query, optimum: str) -> Answer:
        if self.is_bounded_by_what_is_earned(node):
            return self._earning(node.path, optimum)
        path = read(node.path, self._bounds_of(node.path))
        if isinstance(path, Next):
            return self._next(path, optimum)
        if isinstance(path, General):
            return self._general(path, optimum)
        if path.negated:
            return self._opposite(path._replace(negated=False), other_of(optimum))
        return self._positive(path, optimum)

    def _opposite(self, path: Until | Limit, optimum: str) -> Answer:
        """The probability that something is not so.

        It is found by its own equations: relative to itself, however small it is.
        """
        if isinstance(path, Limit):
            return self._not_limit(path, optimum)
        left, right = self.states(path.left), self.states(path.right)
        if path.last is None:
            found = self._missed(right, optimum, left)
            return self._after(found, left, path.first, other_of(optimum), missed=1.0)
        return self._in_steps(left, right, path, other_of(optimum), missed=1.0)

    def _less(self, find: Callable[["Asked"], Answer]) -> Answer:
        """One less what is found.

        Where that is small, what is near relative to the one is not so to the other:
        then it is asked for once more.
        """
        found = _complement(find(self))
        some = found.lower > 0
        width = (found.upper - found.lower)[some]
        if not self.relative or np.all(width <= self.epsilon * found.lower[some]):
            return found
        near = self.epsilon * float(found.lower[some].min())
        closer = dataclasses.replace(self, epsilon=max(near, 1e-15), relative=False)
        again = _complement(find(closer))
        return again if again.status == Status.SOLVED else found

    def is_bounded_by_what_is_earned(self, node: Query) -> bool:
        """Whether it asks for one operator that has such a bound."""
        path = inner(node.path)
        plain = isinstance(path, Temporal) and not any(map(is_path, path.operands))
        return plain and path.bound is not None and path.bound.earned is not None

    def earned_until(self, path: Any) -> tuple[Until, Window, Levels]:
        """What a path that is bounded by what it earns is about."""
        bound = inner(path).bound
        levels = levels_of(self.model, self._reward_name(bound.earned))
        window = self._window(bound, levels.unit)
        until = read(path, lambda _: window)
        assert isinstance(until, Until)
        return until, window, levels

    def _earning(self, path: Any, optimum: str) -> Answer:
        """The probability of a path that is bounded by what it earns."""
        until, window, levels = self.earned_until(path)
        left, right = self.states(until.left), self.states(until.right)

        def found(asked: "Asked", optimum: str) -> Answer:
            how = (asked.epsilon, asked.relative, asked.exact)
            lower, upper, exact, answers = earning(
                *(asked.model, left, right, levels, window),
                *(optimum, asked.solve, *how),
            )
            status = max((x.status for x in answers), default=Status.SOLVED)
            rounds = sum(int(x.stats["rounds"]) for x in answers)
            stats = Stats(solver="levels", rounds=rounds)
            return Answer(lower, upper, None, status, stats, exact)

        if not until.negated:
            return found(self, optimum)
        return self._less(lambda asked: found(asked, other_of(optimum)))

    def _window(self, bound: Bound, unit: Fraction) -> Window:
        """From which level to which a bound of what is earned is meant."""
        first, last = 0, None
        low = Fraction(0)
        if bound.lower is not None:
            low = self.constant(bound.lower) / unit
            first = max(math.floor(low) + 1 if bound.strict[0] else math.ceil(low), 0)
        if bound.upper is not None:
            high = self.constant(bound.upper) / unit
            last = math.ceil(high) - 1 if bound.strict[1] else math.floor(high)
            # What lies between two units is a bound, too: it is never met.
            if high < max(low, 0) or (high == 0 and bound.strict[1]):
                raise PropertyError(
                    bound.place, f"nothing that is earned is within '{bound}'"
                )
        return Window(first, last)

    def _bounds_of(self, path: Any) -> Callable[[Temporal], tuple]:
        """What gives the bounds of the operators of a path."""
        del path
        return self._bounds

    def _bounds(self, path: Temporal) -> tuple[int, int | None]:
        """The first and the last step of a temporal operator."""
        bound = path.bound
        if bound is None:
            return 0, None
        if bound.earned:
            raise PropertyError(
                bound.place,
                f"'{path}' has a bound of what is earned: that is supported for one "
                "operator around properties of states, of models in steps",
            )
        first, last = 0, None
        if bound.lower is not None:
            first = self.natural(bound.lower, "a step") + bound.strict[0]
        if bound.upper is not None:
            last = self.natural(bound.upper, "a step") - bound.strict[1]
            if last < first:
                raise PropertyError(
                    bound.place, f"no step is from {first} to {last}: '{bound}'"
                )
        return first, last

    def _positive(self, path: Until | Limit | General, optimum: str) -> Answer:
        if isinstance(path, Limit):
            return self._limit(path, optimum)
        if isinstance(path, General):
            return self._general(path, optimum)
        left, right = self.states(path.left), self.states(path.right)
        if path.last is None:
            found = self._reached(right, optimum, left)
            return self._after(found, left, path.first, optimum, missed=0.0)
        return self._in_steps(left, right, path, optimum, missed=0.0)

    def _in_steps(
        self, left, right, path: Until, optimum: str, *, missed: float
    ) -> Answer:
        """A goal in some of the first steps; or with `missed` one that it is missed."""
        assert path.last is not None
        window = path.last - path.first

        def fixed(steps_left: int) -> np.ndarray:
            counts = right & (steps_left <= window)
            return np.where(counts, 1.0 - missed, np.where(left, np.nan, missed))

        start = np.where(right, 1.0 - missed, missed)
        how = {"fixed": fixed, "changes": window, "sure": start == 1}
        how["steady"] = not path.first
        return _probable(self._walk(start, path.last, optimum, **how))

    def _next(self, path: Next, optimum: str) -> Answer:
        states = self.states(path.operand)
        return _probable(self._walk(states.astype(np.float64), 1, optimum, sure=states))

    def _after(
        self, found: Answer, left, first: int, optimum: str, *, missed: float
    ) -> Answer:
        """What is asked from some step on, of what it is from the first on.

        Until then `left`, bool `[S]`, is passed; where something else is, it is worth
        `missed`.
        """
        if first == 0:
            return found

        def fixed(_: int) -> np.ndarray:
            return np.where(left, np.nan, missed)

        ends = [
            self._walk(
                *(start, first, optimum),
                **{"fixed": fixed, "steady": False, "sure": found.lower == 1},
            )
            for start in (found.lower, found.upper)
        ]
        clock = ends[0].scheduler
        exact = None
        if self.exact and found.exact is not None:
            exact = self._walk_exactly(found.exact, first, optimum, fixed=fixed)
        return found._replace(
            exact=exact,
            lower=np.maximum(ends[0].lower, 0.0),
            upper=np.minimum(ends[1].upper, 1.0),
            scheduler=None
            if clock is None or found.scheduler is None
            else np.concatenate([clock, found.scheduler[None]]),
        )

    def _walk(
        self,
        start: np.ndarray,
        count: int,
        optimum: str,
        share: Fraction | None = None,
        **how: Any,
    ) -> Answer:
        """A number of steps back, each worth a share of the one before it."""
        share = Fraction(1) if share is None else share
        model, maximises = self.model, self.largest(optimum)
        found = _bounded.walk_back(
            *(model, _bounded.rows_of(model), start, count, maximises),
            **{"discount": float(share), **how},
        )
        stats = Stats(solver="steps", rounds=count)
        exact = None
        if self.exact:
            how = {k: how[k] for k in ("reward", "fixed") if k in how}
            exact = self._walk_exactly(start.tolist(), count, optimum, share, **how)
        # Roundings of billions of steps may add up to more than was asked for.
        near = self.epsilon * np.maximum(np.abs(found.lower) * self.relative, 1.0)
        with np.errstate(invalid="ignore"):  # both may be infinite
            unmet = np.any(found.upper - found.lower > near)
        status = Status.PRECISION if unmet else Status.SOLVED
        return Answer(*found, status, stats, exact)

    def _walk_exactly(self, start, count, optimum, share=Fraction(1), **how: Any):
        """The same in fractions; None where that is too much."""
        return _bounded.walk_exactly(
            *(self.model, start, count, self.largest(optimum)), discount=share, **how
        )

    def largest(self, optimum: str) -> np.ndarray:
        """The states in which the most is wanted: bool `[S]`."""
        return np.full(self.shape, optimum == "max")

    def _refused(self, node: Any, what: str) -> PropertyError:
        return PropertyError(
            node.place, f"{what} of {self.models} are not supported: '{node}'"
        )

    def _limit(self, path: Limit, optimum: str) -> Answer:
        """Terms of what holds in the long run: decided in end components."""
        if optimum == "max":
            return self._most_of(path)
        # The least of what it is, by the most of what it is not.
        other = opposite(path)
        if other is None:
            return self._general(General(path.path), optimum)
        return self._most_of(other, missed=True)

    def _not_limit(self, path: Limit, optimum: str) -> Answer:
        """One less it."""
        if optimum == "max":
            return self._most_of(path, missed=True)
        other = opposite(path)
        if other is None:
            return self._general(General(path.path, negated=True), "max")
        return self._most_of(other)

    def _most_of(self, path: Limit, missed: bool = False) -> Answer:
        """The most that they come to; or one less that."""
        model = self.model
        good = np.zeros(self.shape, bool)
        stay = np.full(self.shape, NO_CHOICE, np.int32)
        passed = np.ones(self.shape, bool)
        for term in path.terms:
            if term.ever:
                good |= self.states(next(iter(term.ever)))
                continue
            won, choices, passed = self._accepted(term)
            stay = np.where(won & ~good, choices, stay)
            good |= won
        found = self._solved(ToTarget(model, good, "max", passed, missed=missed))
        scheduler = None
        if all(len(term.again) <= 1 for term in path.terms):
            scheduler = np.where(good, stay, np.asarray(found.scheduler))
        return found._replace(scheduler=scheduler)

    def _accepted(self, term: Term) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """End components that a term accepts, how to stay, and what may be passed."""
        model = self.model
        passed = np.ones(self.shape, bool)
        for node in term.always:
            passed &= self.states(node)
        inside = passed.copy()
        for node in term.finally_:
            inside &= self.states(node)
        found = host.mec(model, states=inside)
        label = np.asarray(found.state_label)
        good = label >= 0
        targets = [self.states(node) for node in term.again]
        for target in targets:
            good &= np.isin(label, label[target & (label >= 0)])
        wanted = targets[0] if targets else np.ones(self.shape, bool)
        choices = _questions.circle(model, found, wanted)
        return good, np.where(good, choices, NO_CHOICE), passed

    def _general(self, path: General, optimum: str, missed: bool = False) -> Answer:
        """Any formula, by the product with an automaton; or one less it, at most."""
        if optimum == "min":
            path = path._replace(negated=not path.negated)
            return self._general(path, "max", missed=not missed)
        (automaton,), known = self._automata(path.path)
        made, priority = self._followed(self.model, automaton, *self._letters(known))
        good = components_of(made, priority, int(path.negated))
        posed = ToTarget(made, good, "max", missed=missed)
        how = {"epsilon": self.epsilon, "relative": self.relative}
        answer = self.solve(posed, **how, exact=self.exact, model=made)
        size = self.shape[0]
        exact = None if answer.exact is None else answer.exact[:size]
        return answer._replace(
            lower=answer.lower[:size],
            upper=answer.upper[:size],
            scheduler=None,  # it would look at the automaton
            exact=exact,
        )

    def _automata(
        self, *paths: Any
    ) -> tuple[list[ltl.ParityAutomaton], list[np.ndarray]]:
        """Automata of properties of paths, and where their propositions hold.

        These are bool `[S]`, in the order of the bits of letters.
        """
        known: dict[str, tuple[int, Any]] = {}

        def number(node: Any) -> int:
            return known.setdefault(str(node), (len(known), node))[0]

        how = number, self._bounds, shared_atoms(paths)
        formulas = [formula_of(path, *how) for path in paths]
        names = [f"p{bit}" for bit in range(len(known))]
        found = []
        for path, formula in zip(paths, formulas, strict=True):
            try:
                how = {"propositions": names, "max_states": MOST_STATES}
                found.append(ltl.deterministic(formula, **how))
            except ValueError as error:
                reason, *_ = str(error).split(":")  # what follows is advice
                raise PropertyError(
                    path.place, f"'{path}' takes too large an automaton: {reason}"
                ) from None
        return found, [self.states(node) for _, node in known.values()]

    def _letters(self, known: list[np.ndarray]) -> tuple[list[int], np.ndarray]:
        """The sets of properties that hold together, as bits; that of each state."""
        letter = np.zeros(self.shape, np.int64)
        for bit, states in enumerate(known):
            letter |= states.astype(np.int64) << bit
        letters, place = np.unique(letter, return_inverse=True)
        return letters.tolist(), place

    def _followed(
        self, model: MDP, automaton: Any, letters: list[int], place: np.ndarray
    ) -> tuple[MDP, np.ndarray]:
        """The product with a parity automaton, and the priorities of its states."""
        found = deterministic(automaton.graph, automaton.colour, letters)
        made, priority = followed(model, found, place)
        return made, np.append(priority, 0)  # the last state is never come to

    def _conditional(self, node: Query, optimum: str) -> Answer:
        """The probability of a path among those that meet a condition.

        It is found for the first initial state alone: that is where runs begin anew.
        """
        paths = node.path, node.condition
        plain = [self._target(path) for path in paths]
        sets = [] if None in plain else [self.states(target) for target in plain]
        start = int(initial_states(self.model)[0])
        possible = dataclasses.replace(node, path=node.condition, condition=None)
        met = dataclasses.replace(self, exact=False)._probability(possible, "max")
        if met.upper[start] == 0:
            raise PropertyError(
                node.condition.place,
                f"'{node.condition}' has probability zero in state {start}",
            )
        if not sets or self.exact:
            return self._among(node, optimum, start)
        goal, condition = sets
        if optimum == "max":
            ends = self._given(goal, condition, start, "max", self.epsilon)
        else:
            ends = self._less_given(goal, condition, start)
        lower, upper = np.zeros(self.shape), np.ones(self.shape)
        lower[start], upper[start] = ends
        stats = Stats(solver="restart", rounds=0)
        met = ends[1] - ends[0] <= self.epsilon * (ends[0] if self.relative else 1.0)
        status = Status.SOLVED if met else Status.PRECISION
        return Answer(lower, upper, None, status, stats)

    def _target(self, path: Any) -> Any:
        """What a path is to reach at some time; None where that is not all of it."""
        found = read(path, self._bounds)
        if isinstance(found, Until) and found == Until(Constant(True), found.right):
            return found.right
        return None

    def _among(self, node: Query, optimum: str, start: int) -> Answer:
        """A conditional probability of formulas, by the product with two automata.

        Where a run can meet both the condition and the goal surely, that is had; where
        it can surely fail the condition, it may begin anew [1]. The least is one less
        the same of the opposite goal.

        References:
            [1] Baier, Klein, Klüppelholz and Märcker, Computing conditional
            probabilities in Markovian models efficiently, TACAS 2014,
            doi:10.1007/978-3-642-54862-8_43.
        """
        goal, condition, least = node.path, node.condition, optimum == "min"
        if least:
            goal = Operation("!", (goal,), place=goal.place)
        both = Operation("&", (goal, condition), place=goal.place)
        (one, other), known = self._automata(both, condition)
        if one.num_states * other.num_states > MOST_STATES:
            raise PropertyError(
                goal.place,
                f"'{node.path} || {condition}' takes too large an automaton: "
                f"{one.num_states} times {other.num_states} states, expected at most "
                f"{MOST_STATES} in all",
            )
        letters, place = self._letters(known)
        made, priority = self._followed(self.model, one, letters, place)
        # The second one reads what the first one read; where it is lost, anything.
        place = np.append(np.tile(place, one.num_states), 0)
        made, own = self._followed(made, other, letters, place)
        won = components_of(made, np.append(np.tile(priority, other.num_states), 0), 0)
        failed = components_of(made, own, 1)
        again = may_begin_anew(made, failed & ~won, start)
        posed = ToTarget(again, won, "max", missed=least)
        how = {"epsilon": self.epsilon, "relative": self.relative}
        answer = self.solve(posed, **how, exact=self.exact, model=again)
        lower, upper = np.zeros(self.shape), np.ones(self.shape)
        lower[start], upper[start] = answer.lower[start], answer.upper[start]
        exact: list | None = None
        if answer.exact is not None:
            exact = [None] * self.shape[0]
            exact[start] = answer.exact[start]
        stats = Stats(solver="restart", rounds=0)
        return Answer(lower, upper, None, answer.status, stats, exact)

    def _less_given(self, goal, condition, start: int) -> tuple[float, float]:
        """The least conditional probability to get to a goal: one less that of not."""
        low, high, near = 0.0, 1.0, self.epsilon
        while True:
            ends = self._given(goal, condition, start, "min", near)
            # From a half on, what is missing to one is a number of float64.
            less, more = (1 - min(max(x, 0.0), 1.0) for x in reversed(ends))
            low = max(low, less if ends[1] >= 0.5 else float(np.nextafter(less, 0)))
            high = min(high, more if ends[0] >= 0.5 else float(np.nextafter(more, 1)))
            wanted = self.epsilon * (low if self.relative else 1.0)
            if high - low <= wanted or near <= 1e-11 or not self.relative:
                return low, high
            # What is near relative to the one need not be so to what it lacks.
            near = max(1e-11, min(near / 64, wanted / 2 if low > 0 else near))

    def _given(
        self, goal, condition, start: int, optimum: str, near: float
    ) -> tuple[float, float]:
        """Bounds of the most probable way to a goal given a condition; or never there.

        Args:
            goal: bool `[S]`.
            condition: bool `[S]`.
            start: the state in which runs begin.
            optimum: `"max"`: to get there; `"min"`: never to get there.
            near: how near bounds are to be, relative to them.
        """
        model, least = self.model, optimum == "min"
        how = {"epsilon": near / 8, "relative": True}
        after = self.solve(ToTarget(model, condition, optimum), **how, exact=False)
        then = ToTarget(model, goal, optimum, missed=least)
        reached = self.solve(then, **how, exact=False)
        sides = []
        for sign, name in ((-1, "lower"), (1, "upper")):
            # Never to get there is more probable where the condition is less so then.
            of_goal = after, -sign if least else sign
            shares = []
            for found, by in (of_goal, (reached, sign)):
                x = np.asarray(found.lower if by < 0 else found.upper)
                # A hair outside, as one less it is rounded.
                hair = np.minimum(x * (1 + by * 4e-16), 1.0)
                shares.append(np.where(x == 1, 1.0, hair))
            what = After(
                np.where(goal, *shares),
                np.where(goal, LOST if least else WON, WON),
                np.where(goal, FAILED, LOST),
            )
            made, target = restarting(model, goal | condition, condition, what, start)
            posed = ToTarget(made, target, "max")
            found = self.solve(posed, **how, exact=False, model=made)
            sides.append(float(getattr(found, name)[start]))
        return sides[0], sides[1]

    # ---- rewards -------------------------------------------------------------------

    def _reward(self, node: Query, optimum: str) -> Answer:
        path, name = node.path, self._reward_name(node)
        if isinstance(path, Instantaneous):
            return self._instantaneous(path, name, optimum)
        reward = self._rewards(name)
        if isinstance(path, LongRun):
            return self._off(self._average(reward, optimum), reward)
        if isinstance(path, Cumulative):
            found = self._cumulative(path, reward, optimum)
            return self._off(found, reward, self._discount(path))
        self._not_negative(node, name, reward)
        target = self.states(path.operands[0])
        return self._off(self._earned_until(reward, target, optimum), reward)

    def _off(self, found: Answer, reward, discount: Fraction | int = 0) -> Answer:
        """Bounds that hold for rewards before they were rounded, too.

        A share of what is not negative moves by as large a share at most; averages and
        discounted sums of both signs by as much as each reward does.
        """
        if not self.rounded:
            return found
        share = _bounded.rows_of(self.model).slack
        lower, upper = found.lower, found.upper
        if reward.min(initial=0) >= 0 or discount == 1:
            lower = np.minimum(lower * (1 - share), lower * (1 + share))
            upper = np.maximum(upper * (1 - share), upper * (1 + share))
        else:
            worst = share * float(np.abs(reward).max()) / (1 - float(discount))
            lower, upper = lower - worst, upper + worst
        return found._replace(lower=lower, upper=upper, exact=None)

    def _stays(self) -> np.ndarray:
        """How long it takes to be where a choice leads: float64 `[C]`."""
        return np.ones(self.model.num_choices)

    def _cumulative(self, path: Cumulative, reward: np.ndarray, optimum: str) -> Answer:
        discount = self._discount(path)
        if path.steps is not None:
            steps = self.natural(path.steps, "a number of steps")
            start = np.zeros(self.shape)
            found = self._walk(start, steps, optimum, discount, reward=reward)
            return _widened(found, discount, steps)
        if discount < 1:
            return self._discounted(reward, optimum, discount)
        self._not_negative(path, None, reward)
        return self._total(path, reward, optimum)

    def _discount(self, path: Cumulative) -> Fraction:
        """What a step is worth beside the one before it."""
        if path.discount is None:
            return Fraction(1)
        discount = self.constant(path.discount)
        if not 0 < discount <= 1:
            raise PropertyError(
                path.discount.place,
                f"a discount must be more than 0 and at most 1, got '{path.discount}'",
            )
        return discount

    def _of_choices(self, node: Any) -> np.ndarray:
        """One where a property of states holds, of each choice: float64 `[C]`."""
        states = self.states(node)
        own = states[np.minimum(owner_of(self.model), self.shape[0] - 1)]
        return own.astype(np.float64)

    def averaged(self, node: Query) -> tuple[np.ndarray, np.ndarray, MDP, float]:
        """What a query about an average is of, in a unit of time.

        Returns:
            What choices earn, float64 `[C]`; how often states are left, float64 `[S]`;
            and a model in whose steps as much is earned, and how often it has some.
        """
        if node.operator == "LRA":
            reward = self._of_choices(node.path)
        else:
            reward = self._rewards(self._reward_name(node))
        return reward, np.ones(self.shape), self.model, 1.0

    # ---- equations -----------------------------------------------------------------

    def _reached(self, target, optimum: str, passed) -> Answer:
        return self._solved(ToTarget(self.model, target, optimum, passed))

    def _missed(self, target, optimum: str, passed) -> Answer:
        """One less the probability to get there."""
        return self._solved(ToTarget(self.model, target, optimum, passed, missed=True))

    def _earned_until(self, reward, target, optimum: str) -> Answer:
        return self._solved(ToTarget(self.model, target, optimum, reward=reward))

    def _discounted(self, reward, optimum: str, discount: Fraction) -> Answer:
        posed = _questions.discounted(self.model, reward, optimum, discount)
        return self._solved(posed)

    def _total(self, path: Cumulative, reward, optimum: str) -> Answer:
        return self._solved(_questions.total_reward(self.model, reward, optimum))

    def _of_states(self, path: Instantaneous, name: str) -> np.ndarray:
        """What is earned in states at an instant: float64 `[S]`."""
        found = (self.model.state_rewards or {}).get(name)
        if found is None:
            raise PropertyError(
                path.place,
                f"the rewards {quoted(name)} are not rewards of states, which a reward "
                "at an instant needs",
            )
        return np.asarray(found, np.float64)

    def _instantaneous(self, path: Instantaneous, name: str, optimum: str) -> Answer:
        start = self._of_states(path, name)
        steps = self.natural(path.time, "a number of steps")
        return self._walk(start, steps, optimum)

    def _average(self, reward: np.ndarray, optimum: str) -> Answer:
        table = _bounded.rows_of(self.model)
        how = (optimum, self.epsilon, self.relative, table.slack)
        posed = average_reward(self.model, table.probs, reward, *how, self.exact)
        return self._solved(posed)

    def _reward_name(self, node: Query | Earned) -> str:
        """The name of the rewards that are meant.

        Raises:
            PropertyError: there are none of that name, or several and none is named.
        """
        names = reward_names(self.model)
        name = node.reward if isinstance(node, Query) else node.name
        if name is None:
            if len(names) == 1:
                return names[0]
            if "" in names:
                return ""
            there = ", ".join(map(repr, names)) or "none"
            more = "name one" if names else "there is nothing to be earned"
            raise PropertyError(
                node.place, f"the model has these rewards: {there}; {more}"
            )
        if name in names:
            return name
        if name in ("", "default") and {"", "default"} & set(names):
            return "" if "" in names else "default"
        if name.isdigit() and 1 <= int(name) <= len(names):
            return names[int(name) - 1]
        there = ", ".join(map(repr, names)) or "none"
        raise PropertyError(
            node.place,
            f"the model has no rewards {quoted(name)}{guess(name, names)}; it has "
            f"{there}",
        )

    def _rewards(self, name: str) -> np.ndarray:
        """What each choice earns on average, with its state: float64 `[C]`.

        It is noted if that is rounded.
        """
        if self.exact:
            found, is_rounded = self._summed(name)
        else:
            key = "rewards", name, named_arrays(self.model)
            found, is_rounded = kept(self.model, key, lambda: self._summed(name))
        self.rounded |= is_rounded
        return found

    def _summed(self, name: str) -> tuple[np.ndarray, bool]:
        """What each choice earns, and whether some of that is rounded.

        A sum of state and choice is the float64 that is nearest to it. Means of what
        branches earn are, too, where parts of them may cancel out, and where fractions
        are wanted.
        """
        model = self.model
        found, is_rounded = np.zeros(model.num_choices), False
        states = (model.state_rewards or {}).get(name)
        if states is not None:
            degrees: Any = np.diff(np.asarray(model.row_group_offsets))
            each = np.repeat(np.asarray(states), degrees)
            found[: len(each)] += each
        parts = [found]
        choices = (model.choice_rewards or {}).get(name)
        if choices is not None:
            one, other = found, np.asarray(choices, np.float64)
            parts, found = [one, other], one + other
            if states is not None:
                # What rounding has left out [Knuth, TAOCP 2, 4.2.2].
                with np.errstate(invalid="ignore"):  # infinite ones are refused below
                    part = found - one
                    left_out = (one - (found - part)) + (other - part)
                is_rounded = bool(left_out.any())
        branches = (model.branch_rewards or {}).get(name)
        if branches is not None:
            table = _bounded.rows_of(self.model)
            source = np.repeat(np.arange(model.num_choices), np.diff(table.rows))
            branches = np.asarray(branches, np.float64)[: len(source)]
            worth = table.probs[: len(source)] * branches
            found = found + np.bincount(source, worth, minlength=model.num_choices)
            of = np.zeros((2, model.num_choices), bool)  # gains, and losses
            for sign, one in zip((1, -1), of, strict=True):
                one[source[sign * branches > 0]] = True
            pays = of.any(0)
            of |= [np.any([s * x > 0 for x in parts], axis=0) for s in (1, -1)]
            near = np.flatnonzero(pays & (self.exact | of.all(0)))
            if np.isfinite(found[near]).all():
                exact = _means(model, parts, branches, near)
                found[near] = [float(x) for x in exact]
                is_rounded |= found[near].tolist() != exact
            is_rounded |= bool(pays.any()) and not self.exact
        if not np.isfinite(found).all():
            at = int(np.flatnonzero(~np.isfinite(found))[0])
            raise ValueError(
                f"the reward {name!r} of choice {at} is {found[at]}: expected a finite "
                "number"
            )
        found.flags.writeable = False
        return found, is_rounded

    def _not_negative(self, node: Any, name: str | None, reward: np.ndarray) -> None:
        if reward.min(initial=0) < 0:
            bad = np.flatnonzero(reward < 0)
            of = "" if name is None else f" of {name!r}"
            raise PropertyError(
                node.place,
                f"rewards{of} that are negative, such as {reward[bad[0]]:g} of choice "
                f"{bad[0]}, mean nothing here: F and C without bound want rewards "
                "from 0 on",
            )

    def _solved(self, posed: Posed | ToTarget) -> Answer:
        how = {"epsilon": self.epsilon, "relative": self.relative}
        return self.solve(posed, **how, exact=self.exact)

    def _fractions(self, node: Any) -> Sequence | None:
        """What is asked for as fractions, where that is a query that has them."""
        if not isinstance(node, Query) or node.relation is not None:
            return None
        closer = dataclasses.replace(self, exact=True)
        found = closer.answer(node).exact
        return None if closer.rounded or None in (found or ()) else found

    # ---- filters -------------------------------------------------------------------

    def _filter(self, node: Filter) -> Ranged:
        """One value for all states, or that of each."""
        found = self.value(node.operand)
        states = np.ones(self.shape, bool)
        if node.states is not None:
            states = self.states(node.states)
        states = states & (np.diff(self.model.row_group_offsets) > 0)
        if not states.any():
            raise PropertyError(node.place, f"no state is in the filter '{node}'")
        low, high = (np.broadcast_to(np.asarray(x), self.shape)[states] for x in found)
        kind = node.operator
        if kind in ("print", "printall"):
            return found
        if kind in ("forall", "exists", "count") and not found.is_truth:
            raise PropertyError(
                node.place, f"{kind} takes what is true or false: '{node.operand}'"
            )
        numeric = ("min", "max", "sum", "avg", "range", "argmin", "argmax")
        if kind in numeric and found.is_truth:
            raise PropertyError(node.place, f"{kind} takes numbers: '{node.operand}'")
        if kind == "forall":
            return Ranged(low.all(), high.all())
        if kind == "exists":
            return Ranged(low.any(), high.any())
        if kind == "count":
            return Ranged(np.int64(low.sum()), np.int64(high.sum()))
        if kind in ("argmin", "argmax"):
            ends = (low, high) if kind == "argmax" else (-high, -low)
            surely, maybe = (_spread(states, x) for x in _largest(*ends))
            if np.array_equal(surely, maybe):
                return exactly(surely)
            known = self._fractions(node.operand)
            if known is None:
                return Ranged(surely, maybe)
            some = [known[s] for s in np.flatnonzero(states).tolist()]
            best = max(some) if kind == "argmax" else min(some)
            return exactly(_spread(states, np.array([x == best for x in some])))
        if kind in ("first", "state"):
            if kind == "state" and states.sum() != 1:
                raise PropertyError(
                    node.place,
                    f"state wants one state, and '{node.states}' holds in "
                    f"{int(states.sum())}",
                )
            return Ranged(low[0], high[0])
        if kind == "range":
            if node is not self.asked.formula:
                raise PropertyError(
                    node.place,
                    "a range is two numbers, and can only be asked for alone: "
                    f"'{node}'",
                )
            return Ranged(low.min(), high.max())
        with np.errstate(invalid="ignore"):
            reduce = {"min": np.min, "max": np.max, "sum": np.sum, "avg": np.mean}[kind]
            ends = reduce(low), reduce(high)
        if kind in ("sum", "avg") and found.lower is not found.upper:
            off = len(low) * 2e-16 * float(np.abs(high).sum())
            off = off / len(low) if kind == "avg" else off
            off = 0.0 if not np.isfinite(off) else off
            ends = ends[0] - off, ends[1] + off
        return Ranged(*map(np.float64, ends))


def inner(path: Any) -> Any:
    """A path without negations around it."""
    while isinstance(path, Operation) and path.operator == "!":
        path = path.operands[0]
    return path


def _means(
    model: MDP, parts: list[np.ndarray], branches: np.ndarray, choices: np.ndarray
) -> list[Fraction]:
    """What some choices earn: parts of their own, and the mean of their branches."""
    offsets, found = np.asarray(model.row_offsets), []
    for choice in choices.tolist():
        here = slice(*offsets[choice : choice + 2].tolist())
        probs = [Fraction(p) for p in np.asarray(model.probs[here]).tolist()]
        earned = [Fraction(x) for x in branches[here].tolist()]
        mean = sum(p * x for p, x in zip(probs, earned, strict=True)) / sum(probs)
        found.append(sum((Fraction(float(x[choice])) for x in parts), mean))
    return found


def _largest(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which numbers are the largest for certain, by their bounds, and which may be."""
    top = int(np.argmax(high))
    others = np.full(len(high), high[top])
    others[top] = np.delete(high, top).max() if len(high) > 1 else low[top]
    return low >= others, high >= low.max()


def _spread(states: np.ndarray, some: np.ndarray) -> np.ndarray:
    found = np.zeros(len(states), bool)
    found[np.flatnonzero(states)] = some
    return found


def other_of(optimum: str) -> str:
    """What asks for the most where this asks for the least, of each word."""
    return optimum.translate(str.maketrans("inax", "axin"))


def one_less(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One less bounds, rounded outwards; 0 and 1 are exact."""
    hair = 2.3e-16
    low = np.where(upper == 0, 1.0, np.maximum(1 - upper - hair * (upper < 1), 0))
    high = np.where(lower == 1, 0.0, np.minimum(1 - lower + hair * (lower > 0), 1))
    return low, high


def _probable(found: Answer) -> Answer:
    """Bounds of a probability, which is from 0 to 1 however they were rounded."""
    lower, upper = np.maximum(found.lower, 0.0), np.minimum(found.upper, 1.0)
    return found._replace(lower=lower, upper=upper)


def _complement(found: Answer) -> Answer:
    """One less it, rounded outwards."""
    lower, upper = one_less(found.lower, found.upper)
    exact = None
    if found.exact is not None:
        exact = [None if x is None else 1 - x for x in found.exact]
    return found._replace(lower=lower, upper=upper, exact=exact)


def _widened(found: Answer, discount: Fraction, steps: int) -> Answer:
    """Bounds that hold for a discount that is no float64, too."""
    if Fraction(float(discount)) == discount:
        return found
    share = steps * 4e-16
    lower, upper = found.lower, found.upper
    return found._replace(
        lower=lower - np.abs(lower) * share, upper=upper + np.abs(upper) * share
    )


def _exact_operation(operator: str, operands: tuple, value: Any) -> Fraction | None:
    """What arithmetic makes of exact numbers; None for other operators."""
    if operator not in ("+", "-", "*", "/", "negative"):
        return None
    parts = [value(x) for x in operands]
    if operator == "negative":
        return -parts[0]
    if operator == "/" and parts[1] == 0:
        raise PropertyError(operands[1].place, f"'{operands[1]}' is zero")
    one, other = parts
    if operator == "/":
        return one / other
    return {"+": one + other, "-": one - other, "*": one * other}[operator]


def as_constants(constants: Any) -> dict[str, Any]:
    """Constants that a user passed, by their names; none for None.

    Raises:
        ValueError: they are no mapping.
    """
    if constants is not None and not isinstance(constants, Mapping):
        raise ValueError(
            f"constants must be values by name, got {type(constants).__name__}"
        )
    return dict(constants or {})


def given(name: str, value: Any) -> Any:
    """A constant that a user passed, as numpy has it.

    Raises:
        ValueError: it is neither a number nor a truth value.
    """
    if isinstance(value, bool | np.bool_):
        return np.bool_(value)
    found: Any = np.nan
    if isinstance(value, Fraction):
        found = number(value)
    elif isinstance(value, int | np.integer):
        found = number(Fraction(int(value)))
    elif isinstance(value, float | np.floating):
        found = np.float64(value)
    if np.isfinite(found):
        return found
    raise ValueError(
        f"the constant {name!r} must be a finite number or a truth value, got "
        f"{quoted(value)}"
    )


def _asks_of(node: Query) -> str:
    """What a query asks for, be there a threshold or not."""
    return str(dataclasses.replace(node, relation=None, threshold=None))


def real_states(model: MDP) -> np.ndarray:
    """The states that are no padding: bool `[S]`, kept with the model."""
    return kept(
        model, "real states", lambda: freeze(np.diff(model.row_group_offsets) > 0)
    )


def _has_choices(model: MDP) -> bool:
    return bool(np.any(np.diff(model.row_group_offsets) > 1))


def initial_states(model: MDP) -> np.ndarray:
    """The initial states of a model: the first one where it names none."""
    if model.initial is None or len(model.initial) == 0:
        return np.zeros(min(1, model.num_states), np.int64)
    return np.asarray(model.initial)


def reward_names(model: MDP) -> list[str]:
    """The names of all rewards of a model, in order."""
    kinds = (model.state_rewards, model.choice_rewards, model.branch_rewards)
    return list(dict.fromkeys(name for kind in kinds for name in kind or {}))


def named_arrays(model: MDP) -> tuple[int, ...]:
    """Which arrays a model has under names: what follows of them is kept by these.

    An array does not change, but a dictionary may get another one for a name. They are
    kept, so that no later one can be taken for one of them.
    """
    rewards = model.state_rewards, model.choice_rewards, model.branch_rewards
    parts = [x or {} for x in (model.labels, model.valuations, *rewards)]
    arrays = tuple(array for part in parts for array in part.values())
    names = tuple(tuple(part) for part in parts)
    key = *map(id, arrays), hash(names)
    kept(model, ("named", key), lambda: arrays)
    return key


def check_untimed(model: MDP) -> None:
    """Raises ValueError for a chain in continuous time."""
    if model.exit_rates is not None:
        raise ValueError(
            "chains in continuous time are for mdp.check alone; that of the jumps is "
            "dataclasses.replace(model, exit_rates=None)"
        )


def check_concrete(model: Any) -> None:
    """Raises ValueError for a traced model."""
    if is_traced(model):
        raise ValueError(
            "a property of a traced model cannot be checked: its graph decides what is "
            "to be solved; pose it outside of jax.jit"
        )

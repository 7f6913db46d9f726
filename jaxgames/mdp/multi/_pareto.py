"""The front door of several objectives."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from jaxgames import limits, solution
from jaxgames.later import jax
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._almost_sure import within
from jaxgames.mdp._asked import (
    Asked,
    as_constants,
    check_concrete,
    check_untimed,
    given,
    initial_states,
)
from jaxgames.mdp._checks import precision
from jaxgames.mdp._model import MDP
from jaxgames.mdp._property import Multi, Property, PropertyError, as_property
from jaxgames.mdp._rational import nearest
from jaxgames.mdp._region import NO_CHOICE, check_quantitative
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp.multi import _front
from jaxgames.mdp.multi._exact import Branches, Exactly, exactly
from jaxgames.mdp.multi._game import mixture
from jaxgames.mdp.multi._objectives import Objective, objectives
from jaxgames.mdp.multi._oracle import Answer, Circles, Setting, Stiff, ask, setting
from jaxgames.mdp.multi._product import Product, product
from jaxgames.solution import SolveError, Stats, Status


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Front(solution.Solution):
    """What schedulers can have together of several objectives.

    A scheduler is memoryless on a product of the model with what has to be remembered:
    which objectives are over, and steps that are counted. Others mix these, by a lot in
    the beginning.

    Attributes:
        kind: `"achievability"` where all objectives have bounds, `"numerical"` where
            one has none, `"pareto"` where several have none.
        points: float64 `[N, D]`, what schedulers have of each objective, at least, or
            at most where less is wanted.
        schedulers: int32 `[N, P]`, the choice of each of them in each state of the
            product, -1 where it stays for ever in an end component.
        vertices: int32, which of these points no mixture of others is better than.
        weights: float64 `[M, D]`, directions: by none of these the weighted sum, where
            less is wanted subtracted, ...
        bounds: float64 `[M]`, ... can be more than this.
        potentials: float64 `[M, P]`, which show that.
        corners: float64 `[L, D]`, extreme points of what these bounds leave; of a
            Pareto query alone.
        states: int64 `[P]`, the state of the model of each state of the product; the
            first one is where all begins.
        memory: int64 `[P]`, what it remembers.
        achievable: of an achievability query whether some mixture has it all; None
            where bounds do not tell, and fractions would take too long.
        lower: of a numerical query, a proved lower bound of the optimum.
        upper: likewise an upper one. Both are nan where nothing meets the constraints.
        exact: the optimum of a numerical query as a fraction, where that was asked for
            and is known; None else, and where nothing meets the constraints.
        goals: the bounds that the query asks for, `[D]`, nan where there is none.
        senses: int32 `[D]`, 1 where more is wanted, -1 where less is.
        asked: the text of the property.
    """

    kind: str = dataclasses.field(default="", metadata={"static": True})
    points: Any = None
    schedulers: Any = None
    vertices: Any = None
    weights: Any = None
    bounds: Any = None
    potentials: Any = None
    corners: Any = None
    states: Any = None
    memory: Any = None
    achievable: bool | None = dataclasses.field(default=None, metadata={"static": True})
    lower: float = dataclasses.field(default=np.nan, metadata={"static": True})
    upper: float = dataclasses.field(default=np.nan, metadata={"static": True})
    exact: Fraction | None = dataclasses.field(default=None, metadata={"static": True})
    goals: Any = None
    senses: Any = None
    asked: str = dataclasses.field(default="", metadata={"static": True})

    def mix(self, goal: Sequence[float]) -> tuple[np.ndarray, float]:
        """How to mix the schedulers so that all of a goal is met, as far as can be.

        Args:
            goal: `D` numbers.

        Returns:
            The share of each scheduler, float64 `[N]`, with sum one; and by how much
            the mixture is better than the goal in each objective at least: negative
            where it is not met.
        """
        if self.points is None:
            raise ValueError("nothing is known to be mixed")
        wanted = np.asarray(goal, np.float64)
        if wanted.shape != (len(self.senses),) or not np.isfinite(wanted).all():
            raise ValueError(
                f"goal must be {len(self.senses)} finite numbers, got {goal}"
            )
        sense = [int(x) for x in self.senses]
        points = [
            [s * Fraction(x) for s, x in zip(sense, row, strict=True)]
            for row in self.points[self.vertices].tolist()
        ]
        aims = [s * Fraction(x) for s, x in zip(sense, wanted.tolist(), strict=True)]
        found = mixture(points, aims)
        shares = np.zeros(len(self.points))
        shares[self.vertices] = [float(x) for x in found.rows]
        return shares, float(found.value)

    def __repr__(self) -> str:
        if self.points is None:
            return f"Front({self.asked}: nothing is known)"
        told = {
            "achievability": f"achievable {self.achievable}",
            "numerical": f"between {self.lower} and {self.upper}",
        }.get(self.kind, f"{len(self.vertices)} vertices")
        return f"Front({self.asked}: {told})"


def _undecided(
    status: Status, model: MDP, asked: Any, *_: Any, throw: bool = True, **__: Any
) -> Front:
    """What is known of a property that nobody has looked at."""
    return Front(
        status, stats=Stats(solver="none", rounds=0), asked=str(as_property(asked))
    )


@limited(_undecided)
def pareto(
    model: MDP,
    asked: str | Property,
    *,
    constants: Mapping[str, Any] | None = None,
    epsilon: float = 1e-6,
    exact: bool = False,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> Front:
    """What can be had together of several objectives, from the first initial state.

    The property is `multi(...)`, as PRISM and Storm write it. Where all objectives have
    bounds, such as `P>=0.9 [ F a ]` and `R<=3 [ C ]`, the question is whether some
    scheduler meets them all; where one has none, such as `Pmax=? [ F a ]`, what it can
    be at best while the others hold; where several have none, which of their values
    can be had together: the Pareto front. Schedulers may be mixed by a lot.

    Objectives are weighted; the best scheduler for the weighted sum is a vertex of what
    can be had, and its value a half-space that all of it lies in [1]. Where some corner
    of what half-spaces leave is not in reach of the vertices, the direction that
    separates it is asked for next, for all corners at once. Paths and targets that end
    are remembered in a product; end components of it, in which nothing is gained, are
    one state each, in which limits such as `G F a` are met as far as can be. A goal
    that is too near the border for float64 is decided in the same way in fractions; so
    is what rounds tell nothing of, since some states are hardly ever left.

    Args:
        model: a concrete model with probabilities.
        asked: the property, or its text. Objectives are probabilities of one temporal
            operator, with an upper bound of steps or without, or of combinations of
            `G F` and `F G`; and rewards `C`, `C<=k`, and `F` of a target that is surely
            reached.
        constants: as for `check`.
        epsilon: how far bounds may be apart, in each objective.
        exact: whether the optimum of a numerical query is wanted as a fraction,
            `Front.exact`.
        throw: whether to raise a `SolveError` where they have not come that near.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        PropertyError: the property is none of several objectives, or not supported.
        ValueError: another argument is wrong, or a reward comes again and again.
        SolveError: the bounds have not met, and `throw` is set.

    References:
        [1] Forejt, Kwiatkowska and Parker, Pareto curves for probabilistic model
        checking, ATVA 2012, doi:10.1007/978-3-642-33386-6_25.

    Examples:
        A sure gain of 1, or a lot for the goal.

        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [2, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
        ...     labels={"goal": [0, 1, 0]}, choice_rewards={"gain": [1, 0, 0, 0]},
        ... )
        >>> asked = 'multi(Pmax=? [ F "goal" ], R{"gain"}max=? [ C ])'
        >>> front = mdp.pareto(model, asked)
        >>> front.points[front.vertices].round(6)
        array([[0. , 1. ],
               [0.5, 0. ]])
        >>> front.mix([0.25, 0.5])[0][front.vertices].round(3)
        array([0.5, 0.5])
        >>> mdp.pareto(model, 'multi(P>=0.4 [ F "goal" ], R<=0.1 [ C ])').achievable
        True
    """
    case = posed(model, asked, constants, epsilon)
    if exact and case.kind == "pareto":
        raise ValueError(
            f"exact: '{case.text}' asks for a front, whose points are not found as "
            "fractions: leave it out"
        )
    with limits.ticking_beside("optimising weighted sums") as stop:
        try:
            found = case.solved(epsilon, stop, exact)
        except Stiff:
            found = _undecided(Status.PRECISION, model, asked)
    if throw and found.status != Status.SOLVED:
        raise SolveError(Status(found.status), found)
    return found


class Case:
    """A question about several objectives, ready to be solved or verified."""

    def __init__(
        self,
        model: MDP,
        text: str,
        made: list[Objective],
        where: Product,
        ends: Setting,
        rounded: bool,
    ):
        self.model, self.text, self.objectives = model, text, made
        self.product, self.setting, self.rounded = where, ends, rounded
        self.sense = np.array([x.sign for x in made])

    @property
    def goals(self) -> list[Fraction | None]:
        """The bounds that are asked for, with signs; of what is gained."""
        return [None if x.goal is None else x.goal for x in self.objectives]

    @property
    def goal(self) -> _front.Goal:
        """All of them, where each objective has one."""
        least = tuple(x for x in self.goals if x is not None)
        return _front.Goal(least, tuple(x.strict for x in self.objectives))

    def fractions(self) -> Exactly | None:
        """The setting in fractions; None where that is too much."""
        return None if self.rounded else exactly(self.setting, self.branches())

    def best(self) -> Callable[[list[Fraction]], tuple[Fraction, ...] | None]:
        """What finds the best by weights, with signs; None where that is too much."""
        where = self.fractions()

        def found(weights):
            point = None if where is None else where.best(weights)
            if point is None:
                return None
            pairs = zip(self.objectives, self.outside(point), strict=True)
            return tuple(x.sign * y for x, y in pairs)

        return found

    def decided(self, goal: _front.Goal) -> bool | None:
        """Whether a goal can be had, in fractions; None where that is too much."""
        return _front.decide(self.best(), goal)

    def optimum(self) -> _front.Optimum | None:
        """The best of one objective, in fractions; None where that is too much."""
        found = _front.best_of_one(self.best(), self.goals)
        if found is None or found.lower is None or not self.is_strict:
            return found
        possible = self.decided(self.below(found.lower))
        if possible is None:
            return None
        return found if possible else _front.Optimum(None, None)

    @property
    def is_strict(self) -> bool:
        """Whether a bound is not to be met on the border."""
        return any(x.strict for x in self.objectives)

    def below(self, value: Fraction) -> _front.Goal:
        """The bounds of others, with less than a value of the one without.

        If that can be had, so can all that is less than the best by bounds that may be
        met on the border: what can be had is convex.
        """
        least = tuple(value - 1 if x is None else x for x in self.goals)
        return _front.Goal(least, tuple(x.strict for x in self.objectives))

    def answers(self, weights: list[list[Fraction]], epsilon: float) -> list[Answer]:
        """The best schedulers for some vectors of weights, in fractions.

        Raises:
            Stiff: that is too much.
        """
        where = self.fractions()
        found = [None if where is None else where.answer(w, epsilon) for w in weights]
        if any(answer is None for answer in found):
            raise Stiff
        return [answer for answer in found if answer is not None]

    def branches(self) -> Branches:
        """Where each choice of the product leads, by the exact numbers of the model."""
        made, model = self.product, self.model
        own, theirs = (np.asarray(x.row_offsets).tolist() for x in (made.model, model))
        columns = np.asarray(made.model.columns).tolist()
        probs = [Fraction(x) for x in np.asarray(model.probs).tolist()]
        found = []
        for c, choice in enumerate(made.choice.tolist()):
            here = probs[theirs[choice] : theirs[choice + 1]]
            total = sum(here)
            targets = columns[own[c] : own[c + 1]]
            found.append([(t, p / total) for t, p in zip(targets, here, strict=True)])
        return found

    @property
    def kind(self) -> str:
        free = self.goals.count(None)
        return ("achievability", "numerical", "pareto")[min(free, 2)]

    def outside(self, point: Sequence[Fraction]) -> list[Fraction]:
        """The values that users mean, of what is gained with signs."""
        found = []
        for x, y in zip(self.objectives, point, strict=True):
            gained = y * x.sign * x.factor  # the sign of what is gained is both
            found.append(x.offset + x.factor * gained)
        return found

    def level(self, answer: Answer) -> Answer:
        """An answer in terms of values with signs: offsets are added."""
        point = tuple(  # as doubles, which is how they are told
            Fraction(_down(x.sign * y))
            for x, y in zip(self.objectives, self.outside(answer.point), strict=True)
        )
        more = sum(
            w * (x.sign * x.offset)
            for w, x in zip(answer.weights, self.objectives, strict=True)
        )
        bound = Fraction(-_down(-(answer.bound + more)))
        return answer._replace(point=point, bound=bound)

    def solved(self, epsilon: float, stop: np.ndarray, exact: bool = False) -> Front:
        dims, near = len(self.objectives), [True]

        def oracle(weights):
            try:
                found = ask(self.setting, weights, epsilon / 4, stop)
            except Stiff:
                if stop[0]:
                    limits.fail(Status.INTERRUPTED, "optimising weighted sums")
                found = self.answers(weights, epsilon / 4)
            near[0] &= all(answer.near for answer in found)
            return [self.level(answer) for answer in found]

        known = _front.start(oracle, dims)
        achievable, lower, upper, value, corners = None, np.nan, np.nan, None, None
        met = True
        if self.kind == "achievability":
            achievable = _front.achieve(known, oracle, self.goal)
            if achievable is None:
                achievable = self.decided(self.goal)
            met = achievable is not None
        elif self.kind == "numerical":
            found = self._best_of_one(known, oracle, Fraction(epsilon))
            which = self.goals.index(None)
            best = self.optimum() if exact and found.upper is not None else None
            if best is not None:
                found = best
                value = best.lower and int(self.sense[which]) * best.lower
            if found.upper is not None:
                low = -np.inf if found.lower is None else _down(found.lower)
                ends = low, -_down(-found.upper)
                lower, upper = ends if self.sense[which] > 0 else (-ends[1], -ends[0])
                met = found.lower is not None and found.upper - found.lower <= epsilon
                met &= best is not None or not exact
        else:
            met = _front.explore(known, oracle, epsilon)
            points = np.array([[float(x) for x in p] for p in known.points])
            floor = points.min(0)
            corners = _front.corners(known, floor.tolist()).round(9)
            corners = np.unique(corners, axis=0) * self.sense + 0.0
        told = self._told(known, met, achievable, lower, upper, corners)
        return dataclasses.replace(told, exact=value)

    def _best_of_one(self, known, oracle, epsilon: Fraction) -> _front.Optimum:
        """The best of one objective under bounds of others, as near as can be."""
        found = _front.optimise(known, oracle, self.goals, epsilon)
        if found.upper is None:
            return found
        if found.lower is not None and found.upper - found.lower <= epsilon:
            if not self.is_strict:
                return found
            possible = _front.achieve(known, oracle, self.below(found.lower))
            if possible is not None:
                return found if possible else _front.Optimum(None, None)
        # Bounds that are only met on the border, or may not be.
        return self.optimum() or _front.Optimum(None, found.upper)

    def _told(self, known, met, achievable, lower, upper, corners) -> Front:
        answers = known.answers
        status = Status.SOLVED if met else Status.PRECISION
        goals = [x.threshold for x in self.objectives]
        exact: np.ndarray = np.array(
            [
                [s * float(y) + 0.0 for s, y in zip(self.sense, a.point, strict=True)]
                for a in answers
            ]
        )
        return Front(
            status,
            stats=Stats(
                solver="weights",
                rounds=len(answers),
                product=self.product.model.num_states,
            ),
            kind=self.kind,
            points=exact,
            schedulers=np.array([self.scheduler(a.best) for a in answers], np.int32),
            vertices=_extreme(exact * self.sense),
            weights=np.array([[float(w) for w in a.weights] for a in answers]),
            bounds=np.array([float(a.bound) for a in answers]),
            potentials=np.array([a.potential for a in answers]),
            corners=corners,
            states=self.product.state,
            memory=self.product.memory,
            achievable=achievable,
            lower=float(lower) + 0.0,
            upper=float(upper) + 0.0,
            goals=np.array([np.nan if x is None else nearest(x) for x in goals]),
            senses=self.sense.astype(np.int32),
            asked=self.text,
        )

    def scheduler(self, best: np.ndarray) -> np.ndarray:
        """Choices of the model in states of the product: int32 `[P]`."""
        where, made = self.setting, self.product
        chosen = where.part.nat.choice[best]  # by node, of the product; -1 to stay
        own = np.asarray(chosen)[where.part.number]
        size = made.model.num_states
        found = np.full(size, NO_CHOICE, np.int64)
        groups = np.asarray(made.model.row_group_offsets)
        mine = (own >= groups[:-1]) & (own < groups[1:])
        found[mine] = own[mine]
        inside = where.label >= 0
        # Inside of a component: towards the state whose choice leaves it.
        if inside.any() and (mine & inside).any():
            some = EndComponents(
                status=Status.SOLVED,
                stats=Stats(solver="host", rounds=0),
                count=np.int32(where.label.max() + 1),
                state_label=where.label,
                choice_kept=where.kept,
            )
            inner = within(made.model, some, mine & inside)
            found = np.where(inside & ~mine & (own >= 0), inner, found)
        return np.append(made.choice, NO_CHOICE)[found].astype(np.int32)


def _down(value: Fraction) -> float:
    """A double that is not more than a number."""
    found = float(value)
    return found if Fraction(found) <= value else float(np.nextafter(found, -np.inf))


def _extreme(points: np.ndarray) -> np.ndarray:
    """The points that no mixture of others is as good as: int32, by the first one."""
    order = np.lexsort(points.T[::-1])
    exact = [[Fraction(x) for x in row] for row in points.tolist()]
    kept = order.tolist()
    for i in order.tolist():
        rest = [exact[j] for j in kept if j != i]
        if rest and mixture(rest, exact[i]).value >= -Fraction(1, 10**9):
            kept.remove(i)
    return np.array(kept, np.int32)


def posed(model: MDP, asked: Any, constants: Any, epsilon: float) -> Case:
    """Makes the product of a question; else raises ValueError."""
    check_concrete(model)
    check_untimed(model)
    check_quantitative(model)
    precision(epsilon)
    question = as_property(asked)
    node = question.formula
    if not isinstance(node, Multi):
        raise PropertyError(
            getattr(node, "place", question.formula.place),
            "expected several objectives: multi(...)",
        )
    values = {}
    for name, value in as_constants(constants).items():
        given(name, value)
        values[name] = value
    from jaxgames.mdp._check import answering

    how = (values, epsilon, True, answering(model, "auto", [], []))
    evaluated = Asked(model, question, *how)
    if model.num_states == 0:
        raise ValueError(
            "several objectives are asked from the first initial state, and the model "
            "has no states"
        )
    initial = int(initial_states(model)[0])
    made = objectives(evaluated, node, initial)
    where = product(model, initial, [x.part for x in made])
    signs = np.array([float(x.sign * x.factor) for x in made])
    try:
        ends = setting(where, [x.part for x in made], signs)
    except Circles as error:
        raise PropertyError(node.place, str(error)) from None
    return Case(model, str(question), made, where, ends, evaluated.rounded)

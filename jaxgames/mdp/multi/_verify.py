"""Checks what is claimed of several objectives, in exact arithmetic."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from jaxgames import limits, verdict
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._model import MDP
from jaxgames.mdp._property import Property
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp._verify_values import chain_values
from jaxgames.mdp.multi._game import mixture
from jaxgames.mdp.multi._pareto import Case, Front, posed
from jaxgames.tuning.mdp import CHAIN_SOLVED_UP_TO


class FrontReason(verdict.Reason):
    """What is wrong with a front, in the order in which it is looked for.

    Examples:
        >>> FrontReason.TOO_GOOD.message
        'its scheduler does not have what its point says'
    """

    OK = "nothing is wrong"
    NO_WEIGHTS = "its weights are negative, or have not the sum one"
    NOT_SHOWN = "its bound is not shown by its potential"
    NO_SCHEDULER = "its scheduler takes a choice that is not there, or never ends"
    TOO_GOOD = "its scheduler does not have what its point says"
    NO_ANSWER = "what is said of the question does not follow from the points"


class FrontVerdict(verdict.Verdict):
    """What a check of a front found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`FrontReason`][jaxgames.mdp.FrontReason], and whose `vertex` is the number of the
    point or half-space.
    """

    reasons = FrontReason
    place = "answer"


@limited()
def verify_pareto(
    model: MDP,
    asked: str | Property,
    front: Front,
    *,
    constants: Mapping[str, Any] | None = None,
    **bounds: Unpack[Bounds],
) -> FrontVerdict:
    """Checks what `pareto` has found, in fractions.

    The chain of each scheduler is solved exactly, and has what the point says or
    better. Each bound is shown by a potential that no choice makes larger, in what it
    leads to and earns by the weights, and that is not less than what staying for ever
    is worth. What is said of a question with bounds follows from points or half-spaces.
    The product, and its end components, are those of `pareto`.

    Args:
        model: the model.
        asked: the property.
        front: what was found.
        constants: as for `check`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the arrays do not belong to this question, or a scheduler's chain
            is too large to be solved in fractions.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [2, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
        ...     labels={"goal": [0, 1, 0]}, choice_rewards={"gain": [1, 0, 0, 0]},
        ... )
        >>> asked = 'multi(Pmax=? [ F "goal" ], R{"gain"}max=? [ C ])'
        >>> print(verify_pareto(model, asked, mdp.pareto(model, asked)))
        valid
    """
    case = posed(model, asked, constants, 1e-6)
    size, dims = case.product.model.num_states, len(case.objectives)
    if front.points is None:
        raise ValueError("nothing is known that could be checked: the front is empty")
    count = len(front.points)
    shapes = {
        "points": (count, dims),
        "schedulers": (count, size),
        "weights": (count, dims),
        "bounds": (count,),
        "potentials": (count, size),
    }
    for name, shape in shapes.items():
        if np.shape(getattr(front, name)) != shape:
            raise ValueError(
                f"{name} must have shape {list(shape)}, got "
                f"{list(np.shape(getattr(front, name)))}"
            )
    rows = case.branches()
    for k in range(count):
        limits.tick("verifying", k, "points")
        weights = [Fraction(x) for x in np.asarray(front.weights[k]).tolist()]
        if min(weights) < 0 or abs(sum(weights) - 1) > Fraction(1, 10**9):
            return FrontVerdict.at(FrontReason.NO_WEIGHTS, k)
        if not _is_shown(case, rows, weights, front.bounds[k], front.potentials[k]):
            return FrontVerdict.at(FrontReason.NOT_SHOWN, k)
        reason = _has(model, case, rows, weights, front, k)
        if reason != FrontReason.OK:
            return FrontVerdict.at(reason, k)
    if not _follows(case, front):
        return FrontVerdict.at(FrontReason.NO_ANSWER, NO_CHOICE)
    return FrontVerdict.at(FrontReason.OK, NO_CHOICE)


def _offset(case: Case, weights: list[Fraction]) -> Fraction:
    """The weighted sum of what is had before anything is chosen."""
    start = case.product.start.tolist()
    parts = zip(weights, case.objectives, start, strict=True)
    return sum(
        (w * x.sign * (x.offset + x.factor * Fraction(y)) for w, x, y in parts),
        Fraction(0),
    )


def _is_shown(case: Case, rows, weights, bound, potential) -> bool:
    """Whether a potential shows a bound."""
    where = case.setting
    if not np.isfinite(potential).all():
        return False
    u = [Fraction(x) for x in np.asarray(potential).tolist()]
    if _offset(case, weights) + u[0] > Fraction(float(bound)):
        return False
    groups = np.asarray(case.product.model.row_group_offsets).tolist()
    gains = (case.product.gains * where.signs).tolist()
    # What is gained is a sum of doubles: it may be more by a hair.
    hair = Fraction(2 * max(map(len, rows)) + 4, 2**53)
    for s in range(len(u)):
        limits.tick("verifying", s, "states")
        for c in range(groups[s], groups[s + 1]):
            gained = sum(
                (w * Fraction(x) for w, x in zip(weights, gains[c], strict=True) if x),
                Fraction(0),
            )
            size = sum(abs(w * Fraction(x)) for w, x in zip(weights, gains[c],
                strict=True))  # fmt: skip
            worth = gained + hair * size + sum(p * u[t] for t, p in rows[c])
            if worth > u[s]:
                return False
        if where.label[s] >= 0 and u[s] < max(
            _weighted(weights, end) for end in where.ends[where.label[s]]
        ):
            return False
    return True


def _has(model: MDP, case: Case, rows, weights, front: Front, k: int) -> FrontReason:
    """Whether a scheduler has what its point says."""
    where, made = case.setting, case.product
    chosen = np.asarray(front.schedulers[k]).tolist()
    groups = np.asarray(made.model.row_group_offsets).tolist()
    firsts = np.asarray(model.row_group_offsets)[made.state].tolist()
    number, order, choices = {0: 0}, [0], []
    for s in order:  # it grows
        choice = chosen[s]
        if choice < 0:
            if where.label[s] < 0:
                return FrontReason.NO_SCHEDULER
            choices.append(None)
            continue
        own = groups[s] + choice - firsts[s]
        if not groups[s] <= own < groups[s + 1]:
            return FrontReason.NO_SCHEDULER
        choices.append(own)
        for t, _ in rows[own]:
            if t not in number:
                number[t] = len(order)
                order.append(t)
    if len(order) > CHAIN_SOLVED_UP_TO:
        raise ValueError(
            f"the chain of scheduler {k} has {len(order)} states: at most "
            f"{CHAIN_SOLVED_UP_TO} are solved in fractions"
        )
    offsets = np.asarray(made.model.row_offsets).tolist()
    for j, objective in enumerate(case.objectives):
        table: list[dict[int, Fraction]] = []
        worth: list[Fraction] = []
        for s, own in zip(order, choices, strict=True):
            row: dict[int, Fraction] = {}
            if own is None:
                ends = where.ends[where.label[s]]
                best = max(ends, key=lambda end: _weighted(weights, end))
                worth.append(Fraction(int(best[j])))
            else:
                for t, p in rows[own]:
                    row[number[t]] = row.get(number[t], Fraction(0)) + p
                sign, paid = Fraction(where.signs[j]), Fraction(made.paid[own, j])
                wins = made.wins[offsets[own] : offsets[own + 1], j].tolist()
                won = sum(p for (_, p), x in zip(rows[own], wins, strict=True) if x)
                hair = Fraction(2 * len(wins) + 4, 2**53) if case.rounded else 0
                worth.append(sign * (paid + won) - hair * abs(paid))
            table.append(row)
        solved = chain_values(table, worth)
        if solved is None:
            return FrontReason.NO_SCHEDULER
        begun = objective.offset + objective.factor * Fraction(made.start[j])
        gained = objective.sign * begun + solved[0]
        claimed = objective.sign * Fraction(float(front.points[k][j]))
        if gained < claimed:
            return FrontReason.TOO_GOOD
    return FrontReason.OK


def _weighted(weights, end) -> Fraction:
    return sum((w for w, met in zip(weights, end, strict=True) if met), Fraction(0))


def _follows(case: Case, front: Front) -> bool:
    """Whether what is said of the question follows."""
    points = [
        [s * Fraction(x) for s, x in zip(case.sense.tolist(), row, strict=True)]
        for row in np.asarray(front.points).tolist()
    ]
    half = [
        ([Fraction(w) for w in row], Fraction(bound))
        for row, bound in zip(
            front.weights.tolist(), front.bounds.tolist(), strict=True
        )
    ]
    if case.kind == "achievability":
        if front.achievable is None:
            return True
        if front.achievable:
            shown = case.goal.missed(points) is None
        else:
            shown = any(case.goal.beyond(row, bound) for row, bound in half)
        # What lies on the border is decided once more, in fractions.
        return shown or case.decided(case.goal) is front.achievable
    if case.kind == "pareto":
        return True
    return _is_best(case, front, points, half) or _is_optimum(case, front)


def _is_best(case: Case, front: Front, points, half) -> bool:
    """Whether points and half-spaces show bounds of the best of one objective."""
    goals: list[Any] = case.goals
    which = goals.index(None)
    others = [i for i in range(len(goals)) if i != which]
    if np.isnan(front.lower) and np.isnan(front.upper):
        # What is wanted of the one without bound makes no difference.
        goal = case.below(Fraction(0))
        return any(row[which] == 0 and goal.beyond(row, bound) for row, bound in half)
    ends = [Fraction(x) for x in (front.lower, front.upper) if np.isfinite(x)]
    if len(ends) < 2:
        return False
    low, high = sorted(int(case.sense[which]) * x for x in ends)
    full = [low if i == which else x for i, x in enumerate(goals)]
    most = [
        (bound - sum(row[i] * goals[i] for i in others)) / row[which]
        for row, bound in half
        if row[which] > 0
    ]
    if mixture(points, full).value < 0 or min(most) > high:
        return False
    return not case.is_strict or case.below(low).missed(points) is None


def _is_optimum(case: Case, front: Front) -> bool:
    """Whether it is that in fractions, where bounds are only met on the border."""
    found = case.optimum()
    if found is None:
        return False
    if found.lower is None:
        return bool(np.isnan(front.lower) and np.isnan(front.upper))
    value = int(case.sense[case.goals.index(None)]) * found.lower
    ends = front.lower, front.upper
    return bool(np.isfinite(ends).all()) and Fraction(ends[0]) <= value <= Fraction(
        ends[1]
    )

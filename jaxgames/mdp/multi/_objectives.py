"""Objectives of a property, as what is gained in a product."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames.mdp import host
from jaxgames.mdp._asked import Asked
from jaxgames.mdp._paths import Limit, Next, Until, opposite, read
from jaxgames.mdp._property import (
    Cumulative,
    Multi,
    PropertyError,
    Query,
    Temporal,
)
from jaxgames.mdp.multi._product import UNBOUNDED, Part


class Objective(NamedTuple):
    """An objective: what is gained, and what a user means by it.

    Attributes:
        part: what is gained.
        sign: 1 where more of the value is wanted, -1 where less is.
        factor: the value is `offset + factor * gained`.
        offset: likewise.
        threshold: what it is compared with; None where the best is wanted.
        strict: whether it must differ from that.
    """

    part: Part
    sign: int
    factor: int
    offset: Fraction
    threshold: Fraction | None
    strict: bool

    @property
    def goal(self) -> Fraction | None:
        """The threshold as the least of what is maximised."""
        return None if self.threshold is None else self.sign * self.threshold


MOST_OBJECTIVES = 6


def objectives(asked: Asked, node: Multi, initial: int) -> list[Objective]:
    """The objectives of a property.

    Raises:
        PropertyError: one of them is not supported.
    """
    if not 1 <= len(node.objectives) <= MOST_OBJECTIVES:
        raise PropertyError(
            node.place,
            f"{len(node.objectives)} objectives: 1 to {MOST_OBJECTIVES} are supported",
        )
    return [_objective(asked, query, initial) for query in node.objectives]


def _objective(asked: Asked, query: Query, initial: int) -> Objective:
    if len(query.optimum) > 1:
        raise PropertyError(
            query.place, "two optima are for interval models, and this is not one"
        )
    threshold, strict = None, False
    if query.relation is not None:
        if query.optimum:
            raise PropertyError(
                query.place,
                f"'{query}' has a bound and an optimum: schedulers are to be found, so "
                "that the bound says it all",
            )
        sign = 1 if query.relation in (">", ">=") else -1
        strict = query.relation in (">", "<")
        threshold = asked.threshold(query)
    elif query.optimum:
        sign = 1 if query.optimum[0] == "max" else -1
    else:
        raise PropertyError(query.place, f"'{query}' must say min or max")
    if query.condition is not None or query.operator not in ("P", "R"):
        raise PropertyError(
            query.place, f"'{query}' is not supported among several objectives"
        )
    if query.operator == "R":
        part = _rewards(asked, query, initial)
        return Objective(part, sign, 1, Fraction(0), threshold, strict)
    part, factor = _path(asked, query, sign)
    offset = Fraction(int(factor < 0))
    return Objective(part, sign, factor, offset, threshold, strict)


def _path(asked: Asked, query: Query, sign: int) -> tuple[Part, int]:
    """What is gained of a path; and -1 where that is what must not be."""
    path = read(query.path, asked._bounds)
    if isinstance(path, Next):
        everything = np.ones(asked.shape, bool)
        # X a is a U[1,1]: the first state does not count.
        right = asked.states(path.operand)
        return Part("next", everything, right, last=1), 1
    if isinstance(path, Until):
        if path.first:
            raise PropertyError(
                query.place,
                f"'{query.path}' counts from a step on, which is not supported among "
                "several objectives",
            )
        last = UNBOUNDED if path.last is None else path.last
        left, right = asked.states(path.left), asked.states(path.right)
        part = Part("until", left, right, last=last)
        return part, -1 if path.negated else 1
    if isinstance(path, Limit):
        negated = path.negated != (sign < 0)
        turned = opposite(path) if negated else path
        terms = None if turned is None else turned.terms
        if terms is not None and not any(t.always or t.ever for t in terms):
            sets = []
            for term in terms:
                inside = np.ones(asked.shape, bool)
                for node in term.finally_:
                    inside &= asked.states(node)
                sets.append((inside, [asked.states(node) for node in term.again]))
            return Part("limit", terms=tuple(sets)), -1 if sign < 0 else 1
    raise PropertyError(
        query.place,
        f"'{query.path}' is not supported among several objectives: only one temporal "
        "operator, and combinations of G F and F G, are",
    )


def _rewards(asked: Asked, query: Query, initial: int) -> Part:
    path = query.path
    name = asked._reward_name(query)
    reward = asked._rewards(name)
    if isinstance(path, Cumulative) and path.discount is None:
        if path.steps is None:
            return Part("total", reward=reward)
        steps = asked.natural(path.steps, "a number of steps")
        return Part("total", reward=reward, last=steps)
    if isinstance(path, Temporal) and path.operator == "F":
        target = asked.states(path.operands[0])
        sure = np.asarray(host.prob1(asked.model, target, "min").states)
        if not sure[initial]:
            raise PropertyError(
                query.place,
                f"'{query.path}' may never come about from state {initial}, so that "
                "its reward is infinite: several objectives want finite ones",
            )
        return Part("before", right=target, reward=reward)
    raise PropertyError(
        query.place,
        f"'{query}' is not supported among several objectives: only F, C and C<= are",
    )

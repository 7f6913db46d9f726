"""Properties of paths, put as what the solvers know: until, limits, and steps."""

from typing import Any, NamedTuple

from jaxgames.mdp._property import (
    Constant,
    Operation,
    Temporal,
    is_path,
)

MOST_TERMS = 64
"""Conjunctions of limits that one property may come to."""


class Until(NamedTuple):
    """`left U[first,last] right`; or that this is not so.

    Attributes:
        left: a property of states.
        right: likewise.
        first: the first step at which it counts.
        last: the last one, or None.
        negated: whether the opposite is asked for.
    """

    left: Any
    right: Any
    first: int = 0
    last: int | None = None
    negated: bool = False


class Next(NamedTuple):
    """What holds after a step."""

    operand: Any


class Term(NamedTuple):
    """What holds for ever, from some time on, and again and again.

    Attributes:
        always: properties of states that hold in each step.
        finally_: properties of states that hold from some step on.
        again: properties of states, each of which holds again and again.
        ever: properties of states that hold at some time. A term that has one has
            nothing else.
    """

    always: frozenset = frozenset()
    finally_: frozenset = frozenset()
    again: frozenset = frozenset()
    ever: frozenset = frozenset()


class Limit(NamedTuple):
    """One of some terms holds; or that this is not so.

    Attributes:
        terms: those of which one holds.
        negated: whether the opposite is asked for.
        path: what they are of, as it was written, in this sense.
    """

    terms: tuple[Term, ...]
    negated: bool = False
    path: Any = None


class General(NamedTuple):
    """Any property of paths, or its opposite: it takes an automaton."""

    path: Any
    negated: bool = False


TRUE = Constant(True)


def read(path: Any, bound_of: Any) -> Until | Next | Limit | General:
    """What is asked of paths.

    `bound_of` gives the first and the last step of a temporal operator.

    Raises:
        PropertyError: a bound is none.
    """
    negated = False
    while isinstance(path, Operation) and path.operator == "!":
        negated, path = not negated, path.operands[0]
    if isinstance(path, Temporal) and not any(map(is_path, path.operands)):
        return _simple(path, negated, bound_of)
    return _limit(path, negated) or General(path, negated)


def _simple(path: Temporal, negated: bool, bound_of: Any) -> Until | Next:
    """One temporal operator around properties of states."""
    operator = path.operator
    if operator == "X":
        operand = path.operands[0]
        return Next(_not(operand) if negated else operand)
    first, last = bound_of(path)
    if operator == "F":
        return Until(TRUE, path.operands[0], first, last, negated)
    if operator == "G":
        return Until(TRUE, _not(path.operands[0]), first, last, not negated)
    left, right = path.operands
    if operator == "U":
        return Until(left, right, first, last, negated)
    if operator == "W":
        # It fails where both fail, before which the right one has never held.
        never = Operation("&", (left, _not(right)), place=path.place)
        fails = Operation("&", (_not(left), _not(right)), place=path.place)
        return Until(never, fails, first, last, not negated)
    return Until(_not(left), _not(right), first, last, not negated)


def _not(node: Any) -> Operation:
    return Operation("!", (node,), place=node.place)


# ---- limits --------------------------------------------------------------------------


def _limit(path: Any, negated: bool) -> Limit | None:
    """A combination of limits as terms, or its negation."""
    for turned in (False, True):
        terms = _terms(path, negated != turned)
        if terms is not None and _is_solved(terms):
            opposed = negated != turned
            return Limit(tuple(terms), turned, _not(path) if opposed else path)
    return None


def _is_solved(terms: list[Term]) -> bool:
    """Whether some terms can be decided without an automaton."""
    if len(terms) > MOST_TERMS or any(x.always for x in terms) and len(terms) > 1:
        return False
    return all(not x.ever or x == Term(ever=x.ever) and len(x.ever) == 1 for x in terms)


def opposite(path: Limit) -> Limit | None:
    """The terms of what does not hold; None where that takes an automaton."""
    terms = [Term()]
    for term in path.terms:
        parts = [Term(again=frozenset([_not(x)])) for x in term.finally_]
        parts += [Term(finally_=frozenset([_not(x)])) for x in term.again]
        parts += [Term(ever=frozenset([_not(x)])) for x in term.always]
        parts += [Term(always=frozenset([_not(x)])) for x in term.ever]
        terms = _both(terms, parts)
    return Limit(tuple(terms)) if _is_solved(terms) else None


def _both(one: list[Term], other: list[Term]) -> list[Term]:
    """Terms of which each is one of both."""
    return [
        Term(*(a | b for a, b in zip(first, second, strict=True)))
        for first in one
        for second in other
    ]


def _terms(path: Any, negated: bool) -> list[Term] | None:
    """Disjunction of terms; None where it is none."""
    if isinstance(path, Operation):
        return _joined(path, negated)
    if not isinstance(path, Temporal) or path.bound is not None:
        return None
    kind, inner = path.operator, path.operands[0]
    chain = ""
    while isinstance(path, Temporal) and path.operator in "FG" and path.bound is None:
        chain, inner, path = chain + path.operator, path.operands[0], path.operands[0]
    while isinstance(inner, Operation) and inner.operator == "!" and is_path(inner):
        return None
    if not chain or is_path(inner) or kind not in "FG":
        return None
    if negated:
        chain, inner = chain.translate(str.maketrans("FG", "GF")), _not(inner)
    while "FF" in chain or "GG" in chain:
        chain = chain.replace("FF", "F").replace("GG", "G")
    one = frozenset([inner])
    if chain == "G":
        return [Term(always=one)]
    if chain == "F":
        return [Term(ever=one)]
    # Of more than two the last two count: what holds for ever, or again and again.
    return [Term(again=one)] if chain[-2:] == "GF" else [Term(finally_=one)]


def _joined(path: Operation, negated: bool) -> list[Term] | None:
    """Terms of terms."""
    operator, operands = path.operator, path.operands
    if operator == "!":
        return _terms(operands[0], not negated)
    if operator == "=>":
        operator = "|"
        operands = (_not(operands[0]), operands[1])
    if operator not in ("&", "|"):
        return None
    one, other = (_terms(operand, negated) for operand in operands)
    if one is None or other is None:
        return None
    if (operator == "|") != negated:
        return one + other
    return _both(one, other)

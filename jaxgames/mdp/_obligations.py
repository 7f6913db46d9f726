"""What is still to be seen of a formula: progress, letter by letter.

A formula is in negation normal form: `("true",)`, `("false",)`, `("lit", k, positive)`,
`("and", parts)`, `("or", parts)`, or a temporal operator `("X", a)`, `("F", a)`,
`("G", a)`, `("U", a, b)`, `("W", a, b)`, `("M", a, b)`, `("R", a, b)`.
"""

import functools
from typing import Any

Formula = tuple[Any, ...]

TRUE: Formula = ("true",)
FALSE: Formula = ("false",)
DUAL = {"X": "X", "F": "G", "G": "F", "U": "R", "R": "U", "W": "M", "M": "W"}
FINITE = ("F", "U", "M")
"""Operators whose promise is kept after finitely many steps."""
LASTING = ("G", "W", "R")
"""Operators that are broken after finitely many steps."""


def both(*parts: Formula) -> Formula:
    """All of some formulas."""
    return _flat("and", parts, TRUE, FALSE)


def either(*parts: Formula) -> Formula:
    """One of some formulas."""
    return _flat("or", parts, FALSE, TRUE)


def _flat(kind: str, parts: Any, none: Formula, all_: Formula) -> Formula:
    found = set()
    for part in parts:
        found |= part[1] if part[0] == kind else {part}
    found.discard(none)
    if all_ in found:
        return all_
    if len(found) < 2:
        return found.pop() if found else none
    return (kind, frozenset(found))


def negated(formula: Formula) -> Formula:
    """The formula that holds where this one does not."""
    kind = formula[0]
    if kind == "lit":
        return ("lit", formula[1], not formula[2])
    if kind in ("true", "false"):
        return FALSE if kind == "true" else TRUE
    if kind in ("and", "or"):
        return (either if kind == "and" else both)(*map(negated, formula[1]))
    return (DUAL[kind], *map(negated, formula[1:]))


@functools.lru_cache(1 << 16)
def normal(formula: Formula) -> Formula:
    """One formula for all that are equal as Boolean combinations of temporal ones.

    A disjunction of conjunctions, none of which implies another.
    """
    terms = _terms(formula)
    least = [t for t in terms if not any(other < t for other in terms)]
    return either(*(both(*term) for term in least))


def _terms(formula: Formula) -> set[frozenset]:
    """Conjunctions of temporal formulas and literals."""
    kind = formula[0]
    if kind == "true":
        return {frozenset()}
    if kind == "false":
        return set()
    if kind == "or":
        return set().union(*map(_terms, formula[1]))
    if kind != "and":
        return {frozenset([formula])}
    found = {frozenset()}
    for part in formula[1]:
        found = {one | other for one in found for other in _terms(part)}
        found = {t for t in found if not any(other < t for other in found)}
    return {t for t in found if not any(negated(x) in t for x in t if x[0] == "lit")}


@functools.lru_cache(1 << 16)
def after(formula: Formula, letter: int) -> Formula:
    """What is to be seen from the next letter on [1, definition 2.3].

    The letter has the propositions that hold, as bits.

    References:
        [1] Esparza, Křetínský and Sickert, One theorem to rule them all: a unified
        translation of LTL into ω-automata, LICS 2018, doi:10.1145/3209108.3209161.
    """
    kind = formula[0]
    if kind == "lit":
        return TRUE if bool(letter >> formula[1] & 1) == formula[2] else FALSE
    if kind in ("true", "false"):
        return formula
    if kind in ("and", "or"):
        parts = [after(part, letter) for part in formula[1]]
        return normal((both if kind == "and" else either)(*parts))
    if kind == "X":
        return normal(formula[1])
    own = after(formula[1], letter)
    if kind == "F":
        return normal(either(own, formula))
    if kind == "G":
        return normal(both(own, formula))
    other = after(formula[2], letter)
    if kind in ("U", "W"):
        return normal(either(other, both(own, formula)))
    return normal(both(other, either(own, formula)))  # R, M


def temporal(formula: Formula, kinds: tuple[str, ...]) -> set[Formula]:
    """The parts of a formula that some operators make."""
    kind = formula[0]
    if kind in ("and", "or"):
        return set().union(*(temporal(x, kinds) for x in formula[1]))
    if kind in ("lit", "true", "false"):
        return set()
    found = set().union(*(temporal(x, kinds) for x in formula[1:]))
    return found | {formula} if kind in kinds else found


def lasting(formula: Formula, often: frozenset) -> Formula:
    """The formula where of finite promises those of a set are kept again and again.

    Others are not kept any more. What is left is broken after finitely many steps.
    """
    return _told(formula, often, FALSE, {"F": "F", "U": "W", "M": "R"})


def finite(formula: Formula, for_ever: frozenset) -> Formula:
    """The formula where of lasting promises those of a set are kept for ever.

    Others are broken at some time. What is left is kept after finitely many steps.
    """
    return _told(formula, for_ever, TRUE, {"G": "G", "W": "U", "R": "M"})


def _told(
    formula: Formula, known: frozenset, end: Formula, instead: dict[str, str]
) -> Formula:
    """A formula where promises come to an end, true or false, or to what is instead.

    True are those that are known; false those that are not.
    """
    kind: str = formula[0]
    if kind in ("lit", "true", "false"):
        return formula
    if kind in ("and", "or"):
        join = both if kind == "and" else either
        return join(*(_told(x, known, end, instead) for x in formula[1]))
    if kind in instead and (formula in known) == (end == TRUE):
        return end
    if kind in instead and kind in "FG":
        return FALSE if end == TRUE else TRUE
    parts = [_told(x, known, end, instead) for x in formula[1:]]
    return _made(instead.get(kind, kind), *parts)


def _made(kind: str, *parts: Formula) -> Formula:
    """A temporal formula, simpler where a part is true or false."""
    if kind in ("X", "F", "G"):
        return parts[0] if parts[0] in (TRUE, FALSE) else (kind, *parts)
    one, other = parts
    if kind in ("U", "W"):
        if other in (TRUE, FALSE) and (other == TRUE or kind == "U" or one == FALSE):
            return other
        if other == FALSE and kind == "W":
            return _made("G", one)
        if one == TRUE:
            return _made("F", other) if kind == "U" else TRUE
        return other if one == FALSE else (kind, one, other)
    if other == FALSE or (one == TRUE):
        return other
    if other == TRUE:
        return _made("F", one) if kind == "M" else TRUE
    if one == FALSE:
        return FALSE if kind == "M" else _made("G", other)
    return (kind, one, other)

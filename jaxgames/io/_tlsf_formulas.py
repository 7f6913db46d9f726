"""Formulas of TLSF files, with the constants folded away."""

import itertools
from collections.abc import Iterable

from jaxgames.ltl import Formula

TRUE, FALSE = Formula("true"), Formula("false")


def joined(kind: str, formulas: list[Formula]) -> Formula:
    if kind == "&&":
        return both(formulas)
    if kind == "||":
        return either(formulas)
    if kind == "->":
        return implies(*formulas)
    return Formula(kind, tuple(formulas))


def both(parts: Iterable[Formula]) -> Formula:
    return chain("&", parts, TRUE, FALSE)


def either(parts: Iterable[Formula]) -> Formula:
    return chain("|", parts, FALSE, TRUE)


def chain(sign: str, parts: Iterable[Formula], one: Formula, zero: Formula) -> Formula:
    flat = itertools.chain.from_iterable(
        x.operands if x.operator == sign else (x,) for x in parts
    )
    kept = [x for x in dict.fromkeys(flat) if x != one]
    if zero in kept:
        return zero
    if len(kept) < 2:
        return kept[0] if kept else one
    return Formula(sign, tuple(kept))


def implies(one: Formula, other: Formula) -> Formula:
    if one == TRUE:
        return other
    if one == FALSE or other == TRUE:
        return TRUE
    return Formula("->", (one, other))


def always(formula: Formula) -> Formula:
    return formula if formula in (TRUE, FALSE) else Formula("G", (formula,))


def until(always: Formula, require: Formula) -> Formula:
    """It holds as long as what is required has held, and once more."""
    return Formula("W", (always, Formula("!", (require,))))


def later(formula: Formula, count: int) -> Formula:
    if formula in (TRUE, FALSE):
        return formula
    for _ in range(count):
        formula = Formula("X", (formula,))
    return formula


def strongly_next(formula: Formula) -> Formula:
    """There is a next letter, and it holds there: also where `X` does not say so."""
    return Formula("!", (Formula("X", (Formula("!", (formula,)),)),))


def matching(name: str, pattern: str) -> Formula:
    """That the signals of a bus are as a pattern of bits says."""
    found = []
    for i, bit in enumerate(pattern):
        signal = Formula("name", name=f"{name}_{i}")
        if bit != "*":
            found.append(signal if bit == "1" else Formula("!", (signal,)))
    return both(found)

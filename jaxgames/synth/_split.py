"""Formulas taken apart into such that share nothing that one side sets.

A conjunction whose parts share no outputs is realizable if each part is: controllers
of the parts, side by side, are one of the whole. Dually, a disjunction whose parts
share no inputs is unrealizable if each part is. Both hold in both directions, since a
side that wins the whole wins each part by what it sets there. So assumptions that have
nothing to do with a guarantee fall away from it, as alternatives by themselves.

References:
    Finkbeiner, Geier and Passing, Specification decomposition for reactive synthesis,
    Innov. Syst. Softw. Eng. 2022, doi:10.1007/s11334-022-00462-6, arXiv:2103.08459.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from jaxgames import limits
from jaxgames.ltl import Formula
from jaxgames.ltl._normal_form import TRUE, both, either, later, normal_form, until
from jaxgames.ltl._normal_form import release as released

DEPTH = 64
"""How deeply a formula is looked into; what is deeper stays together."""

LEVELS = 16
"""How often conjunctions and disjunctions may follow one another."""

Names = frozenset[str]


class Node(NamedTuple):
    """A formula that was taken apart, or that was not.

    Attributes:
        operator: `&` or `|`; of a formula that was not, nothing.
        below: what it was taken apart into.
        formula: in negation normal form.
    """

    operator: str
    below: tuple["Node", ...]
    formula: Formula


def taken_apart(
    formula: Formula, inputs: Iterable[str], outputs: Iterable[str]
) -> Node:
    """A tree of formulas: `&` has such that share no outputs, `|` no inputs."""
    names = frozenset(inputs), frozenset(outputs)
    return _taken_apart(normal_form(formula), *names, LEVELS)


def _taken_apart(formula: Formula, inputs: Names, outputs: Names, levels: int) -> Node:
    limits.tick("taking a formula apart")
    if levels:
        for operator, negate, own in (("&", False, outputs), ("|", True, inputs)):
            given = normal_form(formula, True) if negate else formula
            parts = conjuncts(given, own)
            if len(parts) > 1:
                normal = (normal_form(x, True) if negate else x for x in parts)
                below = (_taken_apart(x, inputs, outputs, levels - 1) for x in normal)
                return Node(operator, tuple(below), formula)
    return Node("", (), formula)


def conjuncts(formula: Formula, own: Names) -> list[Formula]:
    """Formulas that together say what one does, and share none of some names.

    The formula is in negation normal form.
    """
    groups: list[Names] = []

    def note(names: Names) -> bool:
        touched = [x for x in groups if x & names or not (x or names)]
        groups[:] = [x for x in groups if x not in touched]
        groups.append(names.union(*touched))
        return True

    _restricted(formula, own, note, frozenset(), DEPTH, {})
    if len(groups) < 2:
        return [formula]
    groups.sort(key=sorted)
    return [
        _restricted(
            formula, own, lambda names, g=g: _within(names, g), Names(), DEPTH, {}
        )
        for g in groups
    ]


def _within(names: Names, group: Names) -> bool:
    return names <= group if names else not group


def _restricted(
    formula: Formula,
    own: Names,
    keep: Callable[[Names], bool],
    more: Names,
    depth: int,
    known: dict[tuple[int, Names, int], Formula],
) -> Formula:
    """A formula without those of its conjuncts that are not kept.

    `keep` is asked of each, given which of the names are in it. What was found of
    parts, which may be shared, at these depths, is `known`.
    """
    key = id(formula), more, depth
    if key not in known:
        limits.tick("taking a formula apart", len(known), "formulas")
        known[key] = _made_restricted(formula, own, keep, more, depth, known)
    return known[key]


def _made_restricted(
    formula: Formula,
    own: Names,
    keep: Callable[[Names], bool],
    more: Names,
    depth: int,
    known: dict[tuple[int, Names, int], Formula],
) -> Formula:
    def names_of(x: Formula) -> Names:
        return own.intersection(x.propositions)

    def inside(x: Formula, around: Names = more) -> Formula:
        return _restricted(x, own, keep, around, depth - 1, known)

    operands = formula.operands if depth else ()
    match formula.operator, operands:
        case "&", [_, *_]:
            return both([inside(x) for x in operands])
        case "|", [_, *_]:
            # x | (y & z) is (x | y) & (x | z).
            cores = [x for x in operands if names_of(x)]
            if len(cores) == 1:
                core = inside(cores[0])
                rest = [x for x in operands if x is not cores[0]]
                return TRUE if core == TRUE else either([*rest, core])
        case "X", [x]:
            core = inside(x)
            return TRUE if core == TRUE else later(core)
        case "R", [x, y]:
            core = inside(y, more | names_of(x))
            return TRUE if core == TRUE else released(x, core)
        case "U", [x, y] if x.operator == "&":
            core = inside(x, more | names_of(y))
            return TRUE if core == TRUE else until(core, y)
    return formula if keep(more | names_of(formula)) else TRUE


def alternatives(formula: Formula, own: Names) -> list[Formula]:
    """Formulas one of which holds where one does: a disjunction, multiplied out.

    Conjunctions are for disjunctions that have some of the names. It is for
    verification, and has nothing to do with how formulas are taken apart.
    """
    found: list[Formula] = []
    # What stands around a formula: functions, and how deep they are.
    work: list[tuple[Formula, Callable[[Formula], Formula], int]] = []
    work.append((formula, lambda x: x, DEPTH))
    while work:
        limits.tick("taking a formula apart", len(found), "formulas")
        node, around, depth = work.pop()
        operands = node.operands
        if not depth or not own.intersection(node.propositions):
            found.append(around(node))
        elif node.operator == "|":
            work += [(x, around, depth - 1) for x in operands]
        elif node.operator == "&":
            open_ones = [x for x in operands if own.intersection(x.propositions)]
            if len(open_ones) > 1:
                found.append(around(node))
                continue
            rest = [x for x in operands if x is not open_ones[0]]
            work.append(
                (open_ones[0], lambda x, f=around, y=rest: f(both([*y, x])), depth - 1)
            )
        elif node.operator == "X":
            work.append((operands[0], lambda x, f=around: f(later(x)), depth - 1))
        elif node.operator == "U":
            first, last = operands
            work.append((last, lambda x, f=around, y=first: f(until(y, x)), depth - 1))
        else:
            found.append(around(node))
    return found[::-1]

"""Formulas in negation normal form, made small by the laws of the logic.

What comes out knows `true false name ! & | X U R` alone, with `!` at names only; `F x`
is `true U x` and `G x` is `false R x`. The operands of `&` and `|` are in a fixed order
and nothing in them is implied by the rest, as far as it can be seen from the syntax.

References:
    Etessami and Holzmann, Optimizing Büchi automata, CONCUR 2000,
    doi:10.1007/3-540-44618-4_13.
    Somenzi and Bloem, Efficient Büchi automata from LTL formulae, CAV 2000,
    doi:10.1007/10722167_21.
"""

import functools
import weakref
from collections.abc import Iterable

from jaxgames import limits
from jaxgames.ltl._formula import Formula

_formulas: "weakref.WeakValueDictionary[tuple, Formula]" = weakref.WeakValueDictionary()


def _formula(
    operator: str, operands: tuple[Formula, ...] = (), name: str = ""
) -> Formula:
    """A formula; the same object as before, so that it is compared in no time."""
    key = operator, operands, name
    found = _formulas.get(key)
    if found is None:
        found = _formulas[key] = Formula(operator, operands, name)
    return found


TRUE, FALSE = _formula("true"), _formula("false")

MAX_COMPARED = 40
"""How deeply formulas are compared."""

_DUAL = {"true": "false", "&": "|", "U": "R", "X": "X"}
_DUAL |= {dual: operator for operator, dual in _DUAL.items()}


def normal_form(formula: Formula, negate: bool = False) -> Formula:
    """An equivalent formula in negation normal form; with `negate`, of the negation."""
    known: dict[tuple[int, bool], Formula] = {}
    work = [(formula, negate)]
    try:
        while work:
            limits.tick("simplifying", len(known), "formulas")
            node, other = work[-1]
            if (id(node), other) in known:
                work.pop()
                continue
            below = [x for x in _asked(node, other) if (id(x[0]), x[1]) not in known]
            if below:
                work += below
                continue
            known[id(node), other] = _normal(node, other, known)
            work.pop()
    except RecursionError:
        raise ValueError("the formula is nested too deeply to be simplified") from None
    return known[id(formula), negate]


def _asked(formula: Formula, negate: bool) -> list[tuple[Formula, bool]]:
    """Which normal forms that of a formula is made of."""
    operands = formula.operands
    match formula.operator:
        case "name":
            return []
        case "!":
            return [(operands[0], not negate)]
        case "->":
            return [(operands[0], not negate), (operands[1], negate)]
        case "<->":
            return [(x, other) for x in operands for other in (False, True)]
    return [(x, negate) for x in operands]


def _normal(
    formula: Formula, negate: bool, known: dict[tuple[int, bool], Formula]
) -> Formula:
    operator, operands = formula.operator, formula.operands

    def part(which: int, other_way: bool = False) -> Formula:
        return known[id(operands[which]), negate != other_way]

    if operator == "name":
        name = _formula("name", name=formula.name)
        return _formula("!", (name,)) if negate else name
    if operator == "!":
        return part(0, True)
    if operator == "->":
        return _make("&" if negate else "|", part(0, True), part(1))
    if operator == "<->":
        # The negation of an equivalence is that of one side alone.
        one, not_one = (known[id(operands[0]), x] for x in (False, True))
        two, not_two = (known[id(operands[1]), negate != x] for x in (False, True))
        return either([both([one, two]), both([not_one, not_two])])
    if operator in ("F", "G"):
        until = (operator == "F") != negate
        return _make("U" if until else "R", TRUE if until else FALSE, part(0))
    if operator in ("W", "M"):
        # x W y is y R (x | y), and x M y is y U (x & y).
        weak = (operator == "W") != negate
        x, y = part(0), part(1)
        if operator == "W":
            inner = both([x, y]) if negate else either([x, y])
        else:
            inner = either([x, y]) if negate else both([x, y])
        return _make("R" if weak else "U", y, inner)
    return _make(
        _DUAL[operator] if negate else operator,
        *(part(which) for which in range(len(operands))),
    )


def _make(operator: str, *operands: Formula) -> Formula:
    match operator:
        case "&":
            return both(operands)
        case "|":
            return either(operands)
        case "X":
            return later(operands[0])
        case "U":
            return until(*operands)
        case "R":
            return release(*operands)
    return _formula(operator)


def spread(formula: Formula) -> Formula:
    """What must hold again and again, or from some time on, each by itself.

    `G(F x & F y & z)` becomes `G F x & G F y & G z`, and `F(G x | G y | z)` the dual:
    the other way round from what makes formulas small, and better for automata.
    """
    known: dict[int, Formula] = {}
    for part in formula.parts():
        known[id(part)] = _spread(part, tuple(known[id(x)] for x in part.operands))
    return known[id(formula)]


def _spread(formula: Formula, parts: tuple[Formula, ...]) -> Formula:
    if formula.operator in ("U", "R"):
        inner = parts[1]
        release = formula.operator == "R"
        joins, neutral = ("&", FALSE) if release else ("|", TRUE)
        if parts[0] == neutral and inner.operator == joins:
            apart = [x for x in inner.operands if _recurs(x, release)]
            rest = [x for x in inner.operands if not _recurs(x, release)]
            if apart:
                if rest:
                    one = rest[0] if len(rest) == 1 else _formula(joins, tuple(rest))
                    apart.append(one)
                each = tuple(_formula(formula.operator, (neutral, x)) for x in apart)
                return each[0] if len(each) == 1 else _formula(joins, each)
    if formula.operator in ("&", "|"):
        flat = []
        for x in parts:
            flat += x.operands if x.operator == formula.operator else [x]
        parts = tuple(flat)
    return formula if parts == formula.operands else _formula(formula.operator, parts)


def _recurs(x: Formula, release: bool) -> bool:
    """Whether it is an eventually, or the dual."""
    if release:
        return x.operator == "U" and x.operands[0] == TRUE
    return x.operator == "R" and x.operands[0] == FALSE


# ---- constructors that simplify --------------------------------------------------


def later(x: Formula) -> Formula:
    """`X x`."""
    return x if _is_eventual(x) and _is_universal(x) else _formula("X", (x,))


def until(x: Formula, y: Formula) -> Formula:
    if _is_eventual(y) or x == FALSE or implies(x, y):
        return y
    if y.operator == "X" and (x == TRUE or x.operator == "X"):
        return later(until(*(z.operands[0] if z != TRUE else z for z in (x, y))))
    if y.operator == "U" and (x == TRUE or implies(x, y.operands[0])):
        return until(x, y.operands[1]) if x == TRUE else y
    if x == TRUE and y.operator == "&":
        # What neither the past nor the future changes need not wait.
        always, rest = _split(y, lambda z: _is_eventual(z) and _is_universal(z))
        if always:
            return both([*always, until(x, both(rest))])
    return _formula("U", (x, y))


def release(x: Formula, y: Formula) -> Formula:
    if _is_universal(y) or x == TRUE or implies(y, x):
        return y
    if y.operator == "X" and (x == FALSE or x.operator == "X"):
        return later(release(*(z.operands[0] if z != FALSE else z for z in (x, y))))
    if y.operator == "R" and (x == FALSE or implies(y.operands[0], x)):
        return release(x, y.operands[1]) if x == FALSE else y
    if x == FALSE and y.operator == "|":
        always, rest = _split(y, lambda z: _is_eventual(z) and _is_universal(z))
        if always:
            return either([*always, release(x, either(rest))])
    return _formula("R", (x, y))


def both(operands: Iterable[Formula]) -> Formula:
    """The conjunction."""
    return _combine("&", operands)


def either(operands: Iterable[Formula]) -> Formula:
    """The disjunction."""
    return _combine("|", operands)


def _combine(operator: str, operands: Iterable[Formula]) -> Formula:
    parts = _unite(operator, _flat(operator, operands))
    zero, one = (FALSE, TRUE) if operator == "&" else (TRUE, FALSE)
    for x in parts:
        if x == zero or (x.operator == "!" and x.operands[0] in parts):
            return zero
    # Of two parts, one of which implies the other, one says it all.
    kept: list[Formula] = []
    for x in parts:
        if not any(_weaker(operator, x, y) for y in kept):
            kept = [y for y in kept if not _weaker(operator, y, x)] + [x]
    if not kept:
        return one
    return kept[0] if len(kept) == 1 else _formula(operator, tuple(kept))


def _weaker(operator: str, x: Formula, y: Formula) -> bool:
    """Whether `x` adds nothing to `y` in a conjunction, or in a disjunction."""
    return implies(y, x) if operator == "&" else implies(x, y)


def _flat(operator: str, operands: Iterable[Formula]) -> list[Formula]:
    found = set()
    for x in operands:
        found.update(x.operands if x.operator == operator else [x])
    return sorted(found)


def _unite(operator: str, parts: list[Formula]) -> list[Formula]:
    """Unites parts that differ in one operand, over which the operator distributes.

    In conjunctions `X x`, `z R x` with like `z`, and `x U z`; in disjunctions the dual.
    """
    groups: dict[tuple[str, Formula | None], list[Formula]] = {}
    for x in parts:
        shared = None
        if x.operator in ("U", "R"):
            shared = x.operands[0 if _shares_first(x.operator, operator) else 1]
        elif x.operator != "X":
            shared = x
        groups.setdefault((x.operator, shared), []).append(x)
    if len(groups) == len(parts):
        return parts
    united = []
    for (kind, _), members in groups.items():
        if len(members) == 1:
            united += members
        elif kind == "X":
            united.append(later(_combine(operator, (x.operands[0] for x in members))))
        else:
            free = 1 if _shares_first(kind, operator) else 0
            inner = _combine(operator, (x.operands[free] for x in members))
            pair = list(members[0].operands)
            pair[free] = inner
            united.append(_make(kind, *pair))
    return _unite(operator, _flat(operator, united))


def _shares_first(kind: str, operator: str) -> bool:
    return (kind == "R") == (operator == "&")


def _split(formula: Formula, condition) -> tuple[list[Formula], list[Formula]]:
    """The operands for which a condition holds, and the others."""
    yes = [x for x in formula.operands if condition(x)]
    return yes, [x for x in formula.operands if x not in yes]


# ---- what can be seen from the syntax --------------------------------------------


def _is_eventual(x: Formula) -> bool:
    """Whether `x` holds on a word if it does on a suffix: then `F x` is `x`."""
    return _all_are(x, "U", TRUE)


def _is_universal(x: Formula) -> bool:
    """Whether `x` holds on all suffixes of a word on which it does: `G x` is `x`."""
    return _all_are(x, "R", FALSE)


def _all_are(x: Formula, operator: str, first: Formula) -> bool:
    """Whether no literal is outside of an operator with this first operand."""
    work, seen = [x], set()
    while work:
        node = work.pop()
        if node.operator == operator and node.operands[0] == first:
            continue
        if node.operator in ("name", "!"):
            return False
        if id(node) not in seen:
            seen.add(id(node))
            work += node.operands
    return True


@functools.lru_cache(maxsize=1 << 16)
def implies(x: Formula, y: Formula) -> bool:
    """Whether the syntax shows that `x` implies `y`."""
    limits.tick("simplifying")
    if x in (y, FALSE) or y == TRUE:
        return True
    if min(x.depth, y.depth) > MAX_COMPARED:
        return False
    if x.operator == "|":
        return all(implies(z, y) for z in x.operands)
    if y.operator == "&":
        return all(implies(x, z) for z in y.operands)
    if x.operator == "&" and any(implies(z, y) for z in x.operands):
        return True
    if y.operator == "|" and any(implies(x, z) for z in y.operands):
        return True
    if (
        x.operator == y.operator
        and x.operator in ("X", "U", "R")
        and all(map(implies, x.operands, y.operands))
    ):
        return True
    if y.operator == "U" and implies(x, y.operands[1]):
        return True
    if x.operator == "R" and implies(x.operands[1], y):
        return True
    if y.operator == "R" and all(implies(x, z) for z in y.operands):
        return True
    return x.operator == "U" and all(implies(z, y) for z in x.operands)

"""What a formula says anyhow, as far as its shape tells.

Deadlines are `f | X(f | X f)`: of several that are open at a time only the first one
matters. Without that each set of them would be a state of its own.
"""

from collections.abc import Iterator

from jaxgames import limits
from jaxgames.ltl._formula import Formula


def may_be(formula: Formula) -> bool:
    """Whether a formula is one of which others may say more, or less: a deadline."""
    if formula.operator == "X":
        formula = formula.operands[0]
    return formula.operator in ("&", "|")


class Implied:
    """Whether one formula says all that another one does; each pair is looked at once.

    The rules are sound and not complete: what is told to be implied is.

    Examples:
        >>> implied = Implied()
        >>> soon, late = (Formula.parse(f"F[0:{n}] g") for n in (2, 5))
        >>> implied(soon, late), implied(late, soon)
        (True, False)
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Formula, Formula], bool] = {}

    def __call__(self, one: Formula, other: Formula) -> bool:
        """Whether all words of the one are words of the other, as far as it shows."""
        # Formulas may be deeper than Python's recursion.
        work, known = [(one, other)], self._known
        while work:
            limits.tick("translating", len(known), "pairs of formulas")
            pair = work[-1]
            if pair in known or _shows(*pair):
                known.setdefault(pair, True)
                work.pop()
                continue
            for way in _ways(*pair):
                unknown = next((x for x in way if x not in known), None)
                if unknown is not None and all(known.get(x, True) for x in way):
                    work.append(unknown)
                    break
                if unknown is None and all(known[x] for x in way):
                    known[pair] = True
                    break
            else:
                known[pair] = False
        return known[one, other]


def _shows(one: Formula, other: Formula) -> bool:
    """Whether it needs no look at parts."""
    return one.operator == "false" or other.operator == "true" or one == other


def _ways(
    one: Formula, other: Formula
) -> Iterator[tuple[tuple[Formula, Formula], ...]]:
    """Pairs of smaller formulas: it is implied if all pairs of a way are."""
    if one.operator == "|":
        yield tuple((x, other) for x in one.operands)
        return
    if other.operator == "&":
        yield tuple((one, y) for y in other.operands)
        return
    if one.operator == "&":
        yield from (((x, other),) for x in one.operands)
    if other.operator == "|":
        yield from (((one, y),) for y in other.operands)
    if one.operator == other.operator and one.operator in ("X", "U", "R"):
        yield tuple(zip(one.operands, other.operands, strict=True))
    if one.operator == "R":  # what is released holds now
        yield ((one.operands[1], other),)
    if other.operator == "U":
        yield ((one, other.operands[1]),)

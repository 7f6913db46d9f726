"""Acceptance conditions of Emerson and Lei: which marks are met infinitely often.

Edges carry marks, numbered from 0 on. A condition is a formula of `Inf(i)`, which says
that mark `i` is met infinitely often, and `Fin(i)`, which says that it is not. Whether
a path accepts is decided by the set of marks that it meets infinitely often: a bit mask
here, a Python integer. Conditions may be nested very deeply, so nothing recurses.

References:
    Emerson and Lei, Modalities for model checking, Sci. Comput. Program. 8 (1987),
    doi:10.1016/0167-6423(87)90036-0.
    Babiak et al., The Hanoi Omega-Automata format, CAV 2015,
    doi:10.1007/978-3-319-21690-4_31.
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from jaxgames.arguments import integer

_DUAL = {"true": "false", "inf": "fin", "&": "|"}
_DUAL |= {dual: operator for operator, dual in _DUAL.items()}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Acceptance:
    """A condition on the set of marks that are met infinitely often.

    Build one with `inf`, `fin`, `both` and `either`, which simplify constants and have
    chains of one operator as one operator of many operands.

    Attributes:
        operator: `"true"`, `"false"`, `"inf"`, `"fin"`, `"&"` or `"|"`.
        operands: of `&` and `|`, two or more; none of them has the same operator.
        mark: of `inf` and `fin`.

    Examples:
        >>> condition = either([inf(2), both([fin(1), inf(0)])])
        >>> condition
        Acceptance(Inf(2) | (Fin(1) & Inf(0)))
        >>> condition.holds(0b001), condition.holds(0b011)
        (True, False)
    """

    operator: str
    operands: tuple["Acceptance", ...] = ()
    mark: int = -1

    def fold(
        self,
        leaf: Callable[["Acceptance"], Any],
        join: Callable[["Acceptance", list], Any],
    ) -> Any:
        """What comes of a condition from below, without recursion; O(size) calls.

        Args:
            leaf: makes something of what has no operands.
            join: makes something of an `&` or `|` and what came of its operands.
        """
        work: list[tuple[Acceptance, list, Acceptance | None]] = [(self, [], None)]
        while True:
            node, found, _ = work[-1]
            if len(found) < len(node.operands):
                work.append((node.operands[len(found)], [], node))
                continue
            made = join(node, found) if node.operands else leaf(node)
            work.pop()
            if not work:
                return made
            work[-1][1].append(made)

    @property
    def marks(self) -> tuple[int, ...]:
        """The marks that occur, ascending."""
        found: set[int] = set()
        work: list[Acceptance] = [self]
        while work:
            node = work.pop()
            found |= {node.mark} - {-1}
            work += node.operands
        return tuple(sorted(found))

    def holds(self, marks: int) -> bool:
        """Whether a path accepts that meets these marks infinitely often, and no other.

        Args:
            marks: a bit mask.
        """
        return self.assuming(marks, always=True).operator == "true"

    def assuming(self, marks: int, *, always: bool = False) -> "Acceptance":
        """What is left to be asked of a path that can meet these marks alone.

        Args:
            marks: a bit mask: `Inf` of others is false, and `Fin` of them true.
            always: whether these marks are known to be met infinitely often.
        """

        def leaf(node: Acceptance) -> Acceptance:
            if node.mark < 0 or (marks >> node.mark & 1 and not always):
                return node
            met = bool(marks >> node.mark & 1)
            return TRUE if met == (node.operator == "inf") else FALSE

        return self.fold(leaf, _joined)

    def negated(self) -> "Acceptance":
        """The condition that holds where this one does not."""
        return self.fold(
            lambda node: Acceptance(_DUAL[node.operator], mark=node.mark),
            lambda node, found: _join(_DUAL[node.operator], found),
        )

    def renamed(self, names: Callable[[int], "Acceptance"]) -> "Acceptance":
        """The condition with a condition in place of each `Inf(i)`.

        Args:
            names: gives the condition for a mark; `Fin(i)` becomes its negation.
        """

        def leaf(node: Acceptance) -> Acceptance:
            if node.mark < 0:
                return node
            found = names(node.mark)
            return found if node.operator == "inf" else found.negated()

        return self.fold(leaf, _joined)

    def colours(self) -> "tuple[dict[int, int], int] | None":
        """The condition as a parity condition, max even, if it is a chain.

        A chain is `Inf(i) | rest` or `Fin(i) & rest` again and again. All parity
        conditions are, and those of Büchi, co-Büchi and of one pair of Rabin or
        Streett.

        Returns:
            The colour of each mark that counts, and that of an edge without one. An
            edge with several has the largest of their colours. None where the
            condition is no chain.

        Examples:
            >>> either([inf(2), both([fin(1), inf(0)])]).colours()
            ({2: 4, 1: 3, 0: 2}, 1)
            >>> both([inf(0), inf(1)]).colours() is None
            True
        """
        levels: list[tuple[str, set[int]]] = []
        node, seen = self, set()
        while node.operator not in ("true", "false"):
            kind = {"inf": "|", "fin": "&"}.get(node.operator, node.operator)
            atom = "inf" if kind == "|" else "fin"
            parts = node.operands or (node,)
            marks = {x.mark for x in parts if x.operator == atom}
            rest = [x for x in parts if x.operator != atom]
            if not marks or len(rest) > 1:
                return None
            # What was met above decides there already.
            levels.append((atom, marks - seen))
            seen |= marks
            node = rest[0] if rest else (FALSE if kind == "|" else TRUE)
        lowest = 0 if node.operator == "true" else 1
        colours, colour = {}, lowest
        for atom, marks in reversed(levels):
            colour += 1
            colour += colour % 2 != (atom == "fin")
            colours |= dict.fromkeys(sorted(marks), colour)
        return dict(sorted(colours.items(), key=lambda item: -item[1])), lowest

    def __str__(self) -> str:
        texts = {"true": "t", "false": "f"}

        def leaf(node: Acceptance) -> str:
            return texts.get(node.operator) or f"{node.operator.title()}({node.mark})"

        def join(node: Acceptance, found: list[str]) -> str:
            parts = (
                f"({text})" if part.operands else text
                for part, text in zip(node.operands, found, strict=True)
            )
            return f" {node.operator} ".join(parts)

        return self.fold(leaf, join)

    def __repr__(self) -> str:
        return f"Acceptance({self})"


TRUE, FALSE = Acceptance("true"), Acceptance("false")


def inf(mark: int) -> Acceptance:
    """The mark, a number from 0 on, is met infinitely often."""
    return Acceptance("inf", mark=integer("mark", mark, 0))


def fin(mark: int) -> Acceptance:
    """The mark, a number from 0 on, is not met infinitely often."""
    return Acceptance("fin", mark=integer("mark", mark, 0))


def both(parts: Iterable[Acceptance]) -> Acceptance:
    """All of these conditions hold."""
    return _join("&", parts)


def either(parts: Iterable[Acceptance]) -> Acceptance:
    """Some of these conditions holds."""
    return _join("|", parts)


def parity(kind: str, count: int) -> Acceptance:
    """A parity condition on marks that are colours.

    Args:
        kind: `"max even"`, `"max odd"`, `"min even"` or `"min odd"`.
        count: how many colours there are.

    Examples:
        >>> parity("min odd", 3)
        Acceptance(Fin(0) & (Inf(1) | Fin(2)))
    """
    extreme, wanted = kind.split()
    order = range(count) if extreme == "max" else range(count)[::-1]
    even = wanted == "even"
    # Where there is no colour, the most important one is -1, or the next after all.
    none = -1 if extreme == "max" else count
    found = TRUE if (none % 2 == 0) == even else FALSE
    for colour in order:
        good = (colour % 2 == 0) == even
        found = either([inf(colour), found]) if good else both([fin(colour), found])
    return found


def _joined(node: Acceptance, found: list[Acceptance]) -> Acceptance:
    return _join(node.operator, found)


def _join(operator: str, parts: Iterable[Acceptance]) -> Acceptance:
    zero, one = (FALSE, TRUE) if operator == "&" else (TRUE, FALSE)
    flat: list[Acceptance] = []
    for part in parts:
        if part.operator == zero.operator:
            return zero
        if part.operator == operator:
            flat += part.operands
        elif part.operator != one.operator:
            flat.append(part)
    if len(flat) < 2:
        return flat[0] if flat else one
    return Acceptance(operator, tuple(flat))

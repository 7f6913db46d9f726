"""The smallest deterministic automata of obligations.

A formula in negation normal form without `U` is safe: a word that is wrong is seen to
be so after some letters. One without `R` is the negation of such a formula. Boolean
combinations of both are obligations. What is left to hold after each letter makes
automata of safe formulas, since all runs accept; a product decides combinations; and a
deterministic automaton in which no cycle is partly accepting, as here, is minimised
like one of finite words once its states on no cycle are coloured suitably. No
deterministic automaton has fewer states, with whatever acceptance condition: there is
one for each language of what may follow.

References:
    Löding, Efficient minimization of deterministic weak omega-automata, Inf. Process.
    Lett. 79 (2001), doi:10.1016/S0020-0190(00)00183-6.
    Sistla, Safety, liveness and fairness in temporal logic, Formal Aspects Comput. 6
    (1994), doi:10.1007/BF01211865.
"""

from typing import NamedTuple

from jaxgames import limits
from jaxgames.ltl._formula import Formula
from jaxgames.ltl._graph import Edges, Graph, TooLargeError, check_edges, components
from jaxgames.ltl._letters import Letters
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._progression import progressed

DONE, LOST = (-1,), (-2,)
"""States of a product in which all words, and none, are right."""

ACCEPTS, REJECTS = 2, 1
"""Colours."""


class _Part(NamedTuple):
    """A safe formula, or the negation of one, as a deterministic automaton.

    Attributes:
        edges: of each state, the letters to each target.
        sink: the state in which a safe formula is violated; -1 if there is none.
        safe: whether the formula is safe, and not the negation.
    """

    edges: list[dict[int, int]]
    sink: int
    safe: bool


Tree = int | tuple[str, list]
"""The number of a part, or `&` or `|` and what it joins."""


def is_obligation(formula: Formula) -> bool:
    """Whether the syntax of a formula in negation normal form shows that it is one."""
    work, seen = [formula], set()
    while work:
        node = work.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if has(node, "U") and has(node, "R"):
            if node.operator not in ("&", "|"):
                return False
            work += node.operands
    return True


def has(formula: Formula, operator: str) -> bool:
    """Whether an operator is in a formula."""
    return operator in formula.operators


def obligation(
    formula: Formula,
    letters: Letters,
    names: tuple[str, ...],
    max_states: int,
) -> Graph:
    """The smallest automaton of an obligation; marks are colours."""
    parts: list[_Part] = []

    def part_of(one: Formula) -> int:
        is_safe = not has(one, "U")
        normal = one if is_safe else spread(normal_form(one, True))
        edges, sink = progressed(normal, letters, names, max_states)
        parts.append(_Part(edges, sink, is_safe))
        return len(parts) - 1

    def tree_of(one: Formula) -> Tree:
        if not has(one, "U") or not has(one, "R"):
            return part_of(one)
        plain = "U" if one.operator == "&" else "R"
        together = [x for x in one.operands if not has(x, plain)]
        below = [tree_of(x) for x in one.operands if has(x, plain)]
        if together:
            joined = Formula(one.operator, tuple(together))
            below.append(part_of(together[0] if len(together) == 1 else joined))
        return one.operator, below

    return _minimal(*_product(parts, tree_of(formula), letters, max_states), letters)


def _value(tree: Tree, state: tuple[int, ...], parts: list[_Part]) -> bool | None:
    """Whether all words from a state are right, or none; None: that is open."""
    if isinstance(tree, int):
        part = parts[tree]
        return (not part.safe) if state[tree] == part.sink else None
    sign, below = tree
    values = [_value(x, state, parts) for x in below]
    decides = sign == "|"
    if decides in values:
        return decides
    return None if None in values else not decides


def _meanwhile(tree: Tree, state: tuple[int, ...], parts: list[_Part]) -> bool:
    """Whether a word is right that stays for ever in what it has come to."""
    if isinstance(tree, int):
        return parts[tree].safe != (state[tree] == parts[tree].sink)
    sign, below = tree
    values = (_meanwhile(x, state, parts) for x in below)
    return all(values) if sign == "&" else any(values)


def _product(
    parts: list[_Part], tree: Tree, letters: Letters, max_states: int
) -> tuple[list[dict[int, int]], list[bool]]:
    """The edges of pairs, and what is right of what stays in each for ever."""
    fixed = {True: DONE, False: LOST, None: None}

    def known(state: tuple[int, ...]) -> tuple[int, ...]:
        return fixed[_value(tree, state, parts)] or state

    start = known((0,) * len(parts))
    number, order, count = {start: 0}, [start], 0
    rows: list[dict[int, int]] = []
    for state in order:
        limits.tick("multiplying", len(order), "states")
        if len(order) > max_states:
            raise TooLargeError(f"the product has more than {max_states} states")
        if state in (DONE, LOST):
            rows.append({number[state]: letters.all})
            continue
        steps: dict[tuple[int, ...], int] = {(): letters.all}
        for part, q in zip(parts, state, strict=True):
            longer: dict[tuple[int, ...], int] = {}
            for done, some in limits.ticking(steps.items(), "multiplying"):
                for r, own in part.edges[q].items():
                    shared = letters.both(some, own)
                    if shared:
                        longer[*done, r] = shared
            steps = longer
            check_edges(count + len(steps))
        edges: dict[int, int] = {}
        for after, some in steps.items():
            after = known(after)
            if after not in number:
                number[after] = len(order)
                order.append(after)
            key = number[after]
            edges[key] = letters.either(edges.get(key, 0), some)
        rows.append(edges)
        count += len(edges)
    ends: dict[tuple[int, ...], bool] = {DONE: True, LOST: False}
    right = [ends[x] if x in ends else _meanwhile(tree, x, parts) for x in order]
    return rows, right


def _minimal(rows: list[dict[int, int]], right: list[bool], letters: Letters) -> Graph:
    """The smallest automaton: colours as large as they may be, and equal states one."""
    count, label = components([list(edges) for edges in rows])
    members: list[list[int]] = [[] for _ in range(count)]
    for q, one in enumerate(label):
        members[one].append(q)
    top = 2 * count + 2
    colour: list[int] = []
    for one in range(count):  # what an edge leads to has its colour already
        heads = {label[r] for q in members[one] for r in rows[q]}
        least = min((colour[x] for x in heads if x != one), default=top)
        odd = not right[members[one][0]]
        on_cycle = one in heads
        colour.append(least - (least % 2 != odd) if on_cycle else least)
    edges: list[Edges] = []
    for q, row in enumerate(rows):
        mark = REJECTS if colour[label[q]] % 2 else ACCEPTS
        edges.append({(r, mark): some for r, some in row.items()})
    return Graph(letters, edges, [0], 0).quotient()

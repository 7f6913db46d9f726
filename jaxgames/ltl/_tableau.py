"""From formulas to generalised Büchi automata whose guards are sets of letters.

A state is a set of formulas that must hold from here on: a bit mask. What one formula
asks of the next letter, and of what comes after it, is a table from pairs, of the set
that must hold then and of the untils that are put off, to letters. A conjunction
combines tables pair by pair; whatever asks for no less than another does, and puts off
no less, loses the letters that the other has.

References:
    Gastin and Oddoux, Fast LTL to Büchi automata translation, CAV 2001,
    doi:10.1007/3-540-44585-4_6.
    Duret-Lutz, LTL translation improvements in Spot 1.0, IJCCBS 5 (2014),
    doi:10.1504/IJCCBS.2014.059594.
"""

from collections.abc import Iterable

from jaxgames import limits
from jaxgames.ltl._formula import Formula
from jaxgames.ltl._graph import Graph, TooLargeError, by_size, check_edges, pruned
from jaxgames.ltl._guards import bits
from jaxgames.ltl._implied import Implied, may_be
from jaxgames.ltl._letters import Letters
from jaxgames.ltl._normal_form import FALSE, TRUE

Steps = dict[tuple[int, int], int]
"""By what must hold afterwards and which untils are put off: the letters."""


class Tableau:
    """Subformulas by number, and what each asks for."""

    def __init__(
        self,
        letters: Letters,
        names: tuple[str, ...],
        max_states: int,
        *,
        apart: bool = False,
    ):
        """Starts without formulas.

        With `apart` a disjunction is a choice among states, and not one state.
        """
        self._letters = letters
        self._apart = apart
        self._names = {name: i for i, name in enumerate(names)}
        self._max_states = max_states
        self._number: dict[Formula, int] = {}
        self._elements: list[Formula] = []
        self._always = 0  # mask of those that say what holds at all times
        self._deadlines = 0  # and of those of which others may say more
        self._implied = Implied()
        self._plain: dict[int, int] = {}  # sets without what these say anyhow
        self._untils: dict[Formula, int] = {}
        self._sets: dict[Formula, list[int]] = {}
        self._of_formula: dict[Formula, Steps] = {}
        self._of_set: dict[int, Steps] = {0: {(0, 0): letters.all}}

    def graph(self, formula: Formula) -> Graph:
        """The automaton of a formula in negation normal form."""
        number = {start: i for i, start in enumerate(self._sets_of(formula))}
        initial = list(range(len(number)))
        order, edges, count = list(number), [], 0
        for subset in order:
            limits.tick("translating", len(order), "states")
            if len(order) > self._max_states:
                raise TooLargeError(self._too_many())
            found: dict[tuple[int, int], int] = {}
            for (after, put_off), letters in self._steps_of_set(subset).items():
                after = self._without_implied(after)
                if after not in number:
                    number[after] = len(order)
                    order.append(after)
                key = number[after], put_off
                found[key] = self._letters.either(found.get(key, 0), letters)
            edges.append(found)
            count += len(found)
            check_edges(count)
        # Each until has a set, of the edges that do not put it off.
        every = (1 << len(self._untils)) - 1
        marked = [
            {(r, every & ~put_off): letters for (r, put_off), letters in found.items()}
            for found in edges
        ]
        return Graph(self._letters, marked, initial, len(self._untils))

    def _without_implied(self, subset: int) -> int:
        """Leaves out what an always, or an earlier deadline, says anyhow."""
        deadlines = subset & self._deadlines
        if not subset & self._always and not deadlines & (deadlines - 1):
            return subset
        found = self._plain.get(subset)
        if found is None:
            found = self._plain[subset] = self._made_plain(subset)
        return found

    def _made_plain(self, subset: int) -> int:
        for bit in bits(subset & self._always):
            inner = self._elements[bit.bit_length() - 1].operands[1]
            for part in inner.operands if inner.operator == "&" else (inner,):
                if part in self._number:
                    subset &= ~(1 << self._number[part])
        for bit in bits(subset & self._deadlines):
            formula = self._elements[bit.bit_length() - 1]
            others = bits(subset & self._deadlines & ~bit)
            if any(
                self._implied(self._elements[x.bit_length() - 1], formula)
                for x in others
            ):
                subset &= ~bit
        return subset

    def _sets_of(self, formula: Formula) -> list[int]:
        """Sets of formulas, one of which must hold for the formula to hold."""
        if formula.operator in ("true", "false"):
            return [0] if formula == TRUE else []
        known = self._sets.get(formula)
        if known is not None:
            return known
        if formula.operator == "&":
            found = [0]
            for part in formula.operands:
                limits.tick("translating", len(found), "sets of formulas")
                more = self._sets_of(part)
                if len(found) * len(more) > self._max_states:
                    found = _least(found)
                    if len(found) * len(more) > self._max_states:
                        raise TooLargeError(self._too_many())
                found = [a | b for a in found for b in more]
        elif formula.operator == "|" and self._apart:
            found = [a for part in formula.operands for a in self._sets_of(part)]
        else:
            found = [self._bit(formula)]
        found = self._sets[formula] = _least(found)
        return found

    def _too_many(self) -> str:
        return (
            f"the automaton has more than {self._max_states} states: simplify the "
            "formula, or allow more by max_states"
        )

    def _bit(self, formula: Formula) -> int:
        number = self._number.get(formula)
        if number is None:
            number = self._number[formula] = len(self._elements)
            self._elements.append(formula)
            self._plain.clear()
            if formula.operator == "R" and formula.operands[0] == FALSE:
                self._always |= 1 << number
            if may_be(formula):
                self._deadlines |= 1 << number
        return 1 << number

    def _steps_of_set(self, subset: int) -> Steps:
        """What a set of formulas asks for together."""
        # The set without its lowest formula is often known, or soon is.
        path = []
        while subset not in self._of_set:
            path.append(subset)
            subset &= subset - 1
        for subset in reversed(path):
            low = subset & -subset
            own = self._steps(self._elements[low.bit_length() - 1])
            self._of_set[subset] = self._both(own, self._of_set[subset ^ low])
        return self._of_set[path[0] if path else subset]

    def _steps(self, formula: Formula) -> Steps:
        """What a formula asks for; operands come first, without recursion."""
        work = [formula]
        while work:
            at = work[-1]
            if at in self._of_formula:
                work.pop()
                continue
            below = [x for x in _now(at) if x not in self._of_formula]
            if below:
                work += below
            else:
                self._of_formula[at] = self._unfolded(at)
                work.pop()
        return self._of_formula[formula]

    def _unfolded(self, formula: Formula) -> Steps:
        letters, operands = self._letters, formula.operands
        match formula.operator:
            case "true":
                return {(0, 0): letters.all}
            case "false":
                return {}
            case "name":
                return {(0, 0): letters.proposition(self._names[formula.name])}
            case "!":
                name = letters.proposition(self._names[operands[0].name])
                return {(0, 0): letters.minus(letters.all, name)}
            case "X":
                return {(x, 0): letters.all for x in self._sets_of(operands[0])}
            case "&":
                found = {(0, 0): letters.all}
                for part in operands:
                    found = self._both(found, self._of_formula[part])
                return found
            case "|":
                return self._either(self._of_formula[part] for part in operands)
        stay = self._bit(formula)
        if formula.operator == "U":
            until = 1 << self._untils.setdefault(formula, len(self._untils))
            first, second = (self._of_formula[x] for x in operands)
            wait = self._both(first, {(stay, until): letters.all})
            return self._either([second, wait])
        inner = _again(formula)
        if inner is not None:
            # Always eventually, of a letter: nothing need be remembered.
            until = 1 << self._untils.setdefault(formula, len(self._untils))
            good = self._of_formula[inner].get((0, 0), 0)
            bad = letters.minus(letters.all, good)
            return self._pruned({(stay, 0): good, (stay, until): bad})
        first, second = (self._of_formula[x] for x in operands)
        free = self._either([first, {(stay, 0): letters.all}])
        return self._both(second, free)

    def _both(self, one: Steps, other: Steps) -> Steps:
        both, either = self._letters.both, self._letters.either
        found: Steps = {}
        for (a, b), letters in one.items():
            limits.tick("translating", len(self._of_set), "sets of formulas")
            check_edges(len(found))
            for (c, d), more in other.items():
                shared = both(letters, more)
                if shared:
                    key = a | c, b | d
                    found[key] = either(found[key], shared) if key in found else shared
        if _share_nothing(one, other):
            # What includes a pair of both includes one of each, and both are pruned.
            return {key: found[key] for key in sorted(found, key=by_size)}
        return self._pruned(found)

    def _either(self, parts: Iterable[Steps]) -> Steps:
        found: Steps = {}
        for part in parts:
            for key, letters in part.items():
                old = found.get(key, 0)
                found[key] = self._letters.either(old, letters)
        return self._pruned(found)

    def _pruned(self, steps: Steps) -> Steps:
        """Without letters for which less can be asked."""
        return pruned(steps, self._letters)


def _least(sets: list[int]) -> list[int]:
    """The sets that include no other, each once."""
    sets = list(dict.fromkeys(sets))
    if len(sets) < 2:
        return sets
    return [
        x
        for x in limits.ticking(sets, "translating")
        if not any(x != y and not y & ~x for y in sets)
    ]


def _share_nothing(one: Steps, other: Steps) -> bool:
    """Whether nothing that one asks for afterwards, or puts off, the other does."""
    masks = []
    for steps in (one, other):
        after = put_off = 0
        for a, b in steps:
            after |= a
            put_off |= b
        masks.append((after, put_off))
    (a, b), (c, d) = masks
    return not (a & c or b & d)


def _now(formula: Formula) -> tuple[Formula, ...]:
    """The formulas whose steps are a part of those of a formula."""
    if formula.operator in ("X", "!"):
        return ()
    inner = _again(formula)
    return formula.operands if inner is None else (inner,)


def _again(formula: Formula) -> Formula | None:
    """What must be met again and again, if the formula says so of a letter."""
    if formula.operator != "R" or formula.operands[0] != FALSE:
        return None
    inner = formula.operands[1]
    if inner.operator != "U" or inner.operands[0] != TRUE:
        return None
    return inner.operands[1] if _is_boolean(inner.operands[1]) else None


def _is_boolean(formula: Formula) -> bool:
    return formula.operators.isdisjoint(("X", "U", "R"))

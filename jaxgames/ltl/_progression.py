"""Deterministic automata of safe formulas, by what is left to hold after each letter.

A state is a Boolean function: variables stand for what `X` and `R` ask for from here
on. A letter turns each variable into a function of those of the next letter, and the
function is made of these. As decision diagrams, whose upper variables are the
propositions of the letter and whose lower ones stand for formulas, all letters are read
at once: the nodes at the border between both are the successors.

A word is wrong if and only if it comes to the function that is false: a safe formula
is violated by some letters, and each literal is decided by one.

References:
    Esparza, Křetínský and Sickert, A unified translation of linear temporal logic to
    ω-automata, J. ACM 67 (2020), doi:10.1145/3417995.
"""

import itertools

from jaxgames import limits
from jaxgames.ltl import _diagrams
from jaxgames.ltl._diagrams import Diagrams
from jaxgames.ltl._formula import Formula
from jaxgames.ltl._graph import Graph, TooLargeError, check_edges
from jaxgames.ltl._implied import Implied, may_be
from jaxgames.ltl._letters import Letters

Row = dict[int, int]
"""The letters to each successor of a state."""


def progressed(
    formula: Formula, letters: Letters, names: tuple[str, ...], max_states: int
) -> tuple[list[Row], int]:
    """The smallest deterministic automaton of a safe formula, if it is not too large.

    The rows of its states, the first one initial, and the state in which the formula is
    violated; -1 if there is none.
    """
    try:
        rows, lost = _Progression(formula, letters, names).rows(max_states)
    except RecursionError:
        raise TooLargeError("the functions have too many variables") from None
    return _smallest(rows, lost, letters)


class _Progression:
    """What formulas are as functions, now and from the next letter on."""

    def __init__(self, formula: Formula, letters: Letters, names: tuple[str, ...]):
        self._letters, self._count = letters, len(names)
        self._store = store = Diagrams()
        self._now_of: dict[int, int] = {}  # of the variable of each level
        self._composed: dict[int, int] = {}
        self._read: dict[int, Row] = {}
        self._deadline_of: dict[int, Formula] = {}  # of the variable of each level
        self._implied, self._plain = Implied(), dict[int, int]()
        level = {name: i for i, name in enumerate(names)}
        # Of each formula: the function that says that it holds from some letter on,
        # with variables for that letter, and with variables for the one behind it.
        holds: dict[int, int] = {}
        now: dict[int, int] = {}
        names_seen: dict[str, int] = {}
        for x in formula.parts():
            limits.tick("translating", len(holds), "formulas")
            below = [holds[id(y)] for y in x.operands]
            read = [now[id(y)] for y in x.operands]
            match x.operator:
                case "true" | "false":
                    one = other = int(x.operator == "true")
                case "name":
                    other = store.variable(level[x.name])
                    if x.name not in names_seen:
                        names_seen[x.name] = self._variable(other)
                    one = names_seen[x.name]
                case "!":
                    one, other = store.negated(below[0]), store.negated(read[0])
                case "&":
                    one, other = store.all_of(below), store.all_of(read)
                case "|":
                    one, other = store.any_of(below), store.any_of(read)
                case "X":
                    other = below[0]
                    one = self._variable(other)
                    if may_be(x):
                        self._deadline_of[store.level[one]] = x
                case _:
                    # What is released holds now, so that the function says so too.
                    own = self._variable(0)
                    one = store.both(own, below[1])
                    other = store.both(read[1], store.either(read[0], one))
                    self._now_of[store.level[own]] = other
            holds[id(x)], now[id(x)] = one, other
        self.start = holds[id(formula)]
        self.store = store

    def _variable(self, now: int) -> int:
        """A variable for a formula, given what that is once a letter is read."""
        level = self._count + len(self._now_of)
        self._now_of[level] = now
        return self._store.variable(level)

    def rows(self, max_states: int) -> tuple[list[Row], int]:
        """The states that are reached, and which is false; -1: none."""
        number, order = {self.start: 0}, [self.start]
        rows: list[Row] = []
        count = 0
        for state in order:
            limits.tick("determinising", len(order), "states")
            if len(order) > max_states:
                raise TooLargeError(
                    f"the parity automaton has more than {max_states} states: allow "
                    "more by max_states"
                )
            row: Row = {}
            for after, some in self.successors(state).items():
                if after not in number:
                    number[after] = len(order)
                    order.append(after)
                row[number[after]] = some
            rows.append(row)
            count += len(row)
            check_edges(count)
        return rows, number.get(_diagrams.FALSE, -1)

    def successors(self, state: int) -> Row:
        """By which letters a state becomes which."""
        now = self._store.composed(state, self._now_of, self._composed)
        return self._successors(now)

    def _successors(self, node: int) -> Row:
        """By which letters a function becomes which, that has none of them."""
        level = self._store.level[node]
        if level >= self._count:
            return {self._without_implied(node): self._letters.all}
        found = self._read.get(node)
        if found is None:
            letters, found = self._letters, {}
            own = letters.proposition(level)
            for after, some in self._successors(self._store.low[node]).items():
                found[after] = letters.minus(some, own)
            for after, some in self._successors(self._store.high[node]).items():
                some = letters.both(some, own)
                found[after] = letters.either(found.get(after, 0), some)
            check_edges(len(found))
            self._read[node] = found
        return found

    def _without_implied(self, node: int) -> int:
        """The same function of deadlines, without those that others say anyhow.

        Variables do not know which of them says more. Where both must hold it is the
        one, where one of them must it is the other: either way one variable is left.
        """
        found = self._plain.get(node)
        if found is None:
            found = node
            while (fewer := self._with_fewer(found)) != found:
                found = fewer
            self._plain[node] = found
        return found

    def _with_fewer(self, node: int) -> int:
        store, deadline = self._store, self._deadline_of
        support = self._support(node)
        open_ = sorted(support & deadline.keys())
        for a, b in itertools.permutations(open_, 2):
            limits.tick("determinising", len(self._plain), "functions")
            if self._implied(deadline[a], deadline[b]):
                one, other = store.variable(a), store.variable(b)
                for level, by in (
                    (b, store.either(one, other)),
                    (a, store.both(one, other)),
                ):
                    fewer = store.composed(node, {level: by}, {})
                    if self._support(fewer) < support:
                        return fewer
        return node

    def _support(self, node: int) -> set[int]:
        """The levels of the variables that a function has."""
        store = self._store
        return {store.level[x] for x in store.below(node)} - {_diagrams.BELOW_ALL}


class Unfolding:
    """The automaton of a safe formula, made as far as it is asked for.

    The first state is initial, and the words that are right from a state are those of
    a function.
    """

    def __init__(self, formula: Formula, letters: Letters, names: tuple[str, ...]):
        """The initial state; raises TooLargeError if there are too many variables."""
        try:
            self._progression = _Progression(formula, letters, names)
        except RecursionError:
            raise TooLargeError("the functions have too many variables") from None
        self._node = [self._progression.start]
        self._number = {self._progression.start: 0}
        self._rows: dict[int, Row] = {}
        self._share: dict[int, float] = {_diagrams.FALSE: 0.0, _diagrams.TRUE: 1.0}

    def row(self, state: int) -> Row:
        """The letters to each successor of a state; else raises TooLargeError."""
        if state not in self._rows:
            try:
                found = self._progression.successors(self._node[state])
            except RecursionError:
                raise TooLargeError("the functions have too many variables") from None
            row = {}
            for node, some in found.items():
                if node not in self._number:
                    self._number[node] = len(self._node)
                    self._node.append(node)
                row[self._number[node]] = some
            self._rows[state] = row
        return self._rows[state]

    def is_lost(self, state: int) -> bool:
        """Whether no word is right from a state on, as far as that is seen at once."""
        return self._node[state] == _diagrams.FALSE

    def implies(self, one: int, other: int) -> bool:
        """Whether all words that are right from one state on are so from another."""
        return self._progression.store.implies(self._node[one], self._node[other])

    def share(self, state: int) -> float:
        """How much a state leaves open: for what share of values its function holds."""
        store, work = self._progression.store, [self._node[state]]
        while work:
            node = work[-1]
            if node not in self._share:
                below = store.low[node], store.high[node]
                open_ones = [x for x in below if x not in self._share]
                work += open_ones
                if open_ones:
                    continue
                self._share[node] = sum(self._share[x] for x in below) / 2
            work.pop()
        return self._share[self._node[state]]


def _smallest(rows: list[Row], lost: int, letters: Letters) -> tuple[list[Row], int]:
    """States from which nothing can be right are one, and those of like words."""
    before: list[list[int]] = [[] for _ in rows]
    left = [len(row) for row in rows]
    for q, row in enumerate(rows):
        for r in row:
            before[r].append(q)
    hopeless = [lost] if lost >= 0 else []
    seen = set(hopeless)
    for q in hopeless:
        for p in before[q]:
            left[p] -= 1
            if not left[p] and p not in seen:
                seen.add(p)
                hopeless.append(p)
    edges = []
    for q, row in enumerate(rows):
        united: dict[tuple[int, int], int] = {}
        for r, some in row.items():
            key = lost if r in seen else r, int(q not in seen)
            united[key] = letters.either(united.get(key, 0), some)
        edges.append(united)
    made = Graph(letters, edges, [0], 0).quotient()
    found = [{r: some for (r, _), some in row.items()} for row in made.edges]
    if lost < 0:
        return found, -1
    dead = (q for q, row in enumerate(made.edges) if any(not m for _, m in row))
    return found, next(dead)

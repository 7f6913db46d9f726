"""Decision diagrams: functions of Boolean variables, each function one node.

Nodes are integers; `FALSE` is 0 and `TRUE` is 1. A terminal stands for any value, so a
diagram may also say which of many values a letter gets. No recursion goes deeper than
there are variables.

References:
    Bryant, Graph-based algorithms for Boolean function manipulation, IEEE Trans.
    Comput. 35 (1986), doi:10.1109/TC.1986.1676819.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set

from jaxgames import limits
from jaxgames.ltl._guards import Guard, bits

FALSE, TRUE = 0, 1

BELOW_ALL = 1 << 30
"""The level of terminals."""


class TooManyNodesError(ValueError):
    """A store has as many nodes as it may have."""


class Diagrams:
    """A store of diagrams.

    Attributes:
        level: of each node: that of the variable it looks at; `BELOW_ALL` of terminals.
        low: where each node leads if its variable is false.
        high: where it leads if it is true.
        value: of each terminal.
        max_nodes: how many nodes there may be, about.

    Examples:
        >>> store = Diagrams()
        >>> a, b = store.variable(0), store.variable(1)
        >>> store.both(a, store.negated(a)) == FALSE
        True
        >>> store.either(store.both(a, b), store.negated(b)) == store.either(
        ...     a, store.negated(b)
        ... )
        True
    """

    def __init__(self, levels: Sequence[int] = (), *, max_nodes: float = math.inf):
        """An empty store; the proposition of the least level is on top.

        A few thousand nodes more than `max_nodes` are made before `TooManyNodesError`.
        """
        self.max_nodes = max_nodes
        self.level = [BELOW_ALL, BELOW_ALL]
        self.low, self.high = [0, 1], [0, 1]
        self.value: dict[int, Hashable] = {}
        self._levels = levels
        self._unique: dict[tuple[int, int, int], int] = {}
        self._terminals: dict[Hashable, int] = {}
        self._both: dict[tuple[int, int], int] = {}
        self._either: dict[tuple[int, int], int] = {}
        self._negated: dict[int, int] = {FALSE: TRUE, TRUE: FALSE}
        self._guards: dict[Guard, int] = {}

    def node(self, level: int, low: int, high: int) -> int:
        """The function that is `high` where a variable holds, and `low` elsewhere."""
        if low == high:
            return low
        key = (level, low, high)
        found = self._unique.get(key)
        if found is None:
            found = self._unique[key] = len(self.level)
            self.level.append(level)
            self.low.append(low)
            self.high.append(high)
            if not found & 4095:
                limits.tick("making decision diagrams", found, "nodes")
                if found > self.max_nodes:
                    raise TooManyNodesError
        return found

    def terminal(self, value: Hashable) -> int:
        """The node that stands for a value."""
        found = self._terminals.get(value)
        if found is None:
            found = self._terminals[value] = len(self.level)
            self.level.append(BELOW_ALL)
            self.low.append(found)
            self.high.append(found)
            self.value[found] = value
        return found

    def variable(self, level: int) -> int:
        """The function that a variable is."""
        return self.node(level, FALSE, TRUE)

    def cofactors(self, node: int, level: int) -> tuple[int, int]:
        """What a function is where the variable of a level is false, and true."""
        if self.level[node] != level:
            return node, node
        return self.low[node], self.high[node]

    def negated(self, node: int) -> int:
        found = self._negated.get(node)
        if found is None:
            low, high = self.negated(self.low[node]), self.negated(self.high[node])
            found = self._negated[node] = self.node(self.level[node], low, high)
            self._negated[found] = node
        return found

    def both(self, one: int, other: int) -> int:
        if one == other or other == TRUE:
            return one
        if one == TRUE:
            return other
        if FALSE in (one, other):
            return FALSE
        key = (one, other) if one < other else (other, one)
        found = self._both.get(key)
        if found is None:
            level = min(self.level[one], self.level[other])
            (a, b), (c, d) = self.cofactors(one, level), self.cofactors(other, level)
            found = self.node(level, self.both(a, c), self.both(b, d))
            self._both[key] = found
        return found

    def either(self, one: int, other: int) -> int:
        if one == other or other == FALSE:
            return one
        if one == FALSE:
            return other
        if TRUE in (one, other):
            return TRUE
        key = (one, other) if one < other else (other, one)
        found = self._either.get(key)
        if found is None:
            level = min(self.level[one], self.level[other])
            (a, b), (c, d) = self.cofactors(one, level), self.cofactors(other, level)
            found = self.node(level, self.either(a, c), self.either(b, d))
            self._either[key] = found
        return found

    def implies(self, one: int, other: int) -> bool:
        """Whether a function holds nowhere where another does not.

        Ends where the first is found that tells them apart, and makes no nodes.
        """
        work, seen = [(one, other)], set()
        while work:
            pair = work.pop()
            one, other = pair
            if one in (other, FALSE) or other == TRUE or pair in seen:
                continue
            if one == TRUE or other == FALSE:
                return False
            seen.add(pair)
            level = min(self.level[one], self.level[other])
            (a, b), (c, d) = self.cofactors(one, level), self.cofactors(other, level)
            work += [(b, d), (a, c)]
        return True

    def choice(self, test: int, high: int, low: int) -> int:
        """One function where another one holds, and a third one elsewhere."""
        return self.either(self.both(test, high), self.both(self.negated(test), low))

    def composed(self, node: int, by: Mapping[int, int], known: dict[int, int]) -> int:
        """A function with functions in the place of variables, by their levels.

        What was found with the same ones is `known`: it is used, and added to.
        """
        if node in (FALSE, TRUE):
            return node
        found = known.get(node)
        if found is None:
            level = self.level[node]
            low = self.composed(self.low[node], by, known)
            high = self.composed(self.high[node], by, known)
            test = by.get(level)
            test = self.variable(level) if test is None else test
            found = known[node] = self.choice(test, high, low)
        return found

    def some(self, node: int, levels: Set[int], known: dict[int, int]) -> int:
        """Whether a function holds for some values of the variables of these levels.

        What was found with the same levels is `known`: it is used, and added to.
        """
        if node in (FALSE, TRUE):
            return node
        found = known.get(node)
        if found is None:
            low = self.some(self.low[node], levels, known)
            level = self.level[node]
            if level in levels and low == TRUE:
                found = TRUE
            else:
                high = self.some(self.high[node], levels, known)
                found = (
                    self.either(low, high)
                    if level in levels
                    else self.node(level, low, high)
                )
            known[node] = found
        return found

    def all_of(self, nodes: Iterable[int]) -> int:
        """The conjunction of many."""
        found = TRUE
        for node in nodes:
            found = self.both(found, node)
        return found

    def any_of(self, nodes: Iterable[int]) -> int:
        """The disjunction of many, in pairs."""
        nodes = list(nodes)
        while len(nodes) > 1:
            pairs = zip(nodes[::2], nodes[1::2], strict=False)
            rest = nodes[len(nodes) & ~1 :]
            nodes = [self.either(a, b) for a, b in pairs] + rest
        return nodes[0] if nodes else FALSE

    def cube(self, must: int, never: int) -> int:
        """The conjunction of propositions that must and must not hold: bit masks."""
        literals = [
            (self._levels[bit.bit_length() - 1], bit) for bit in bits(must | never)
        ]
        found = TRUE
        for level, bit in sorted(literals, reverse=True):
            found = (
                self.node(level, FALSE, found)
                if must & bit
                else self.node(level, found, FALSE)
            )
        return found

    def guard(self, guard: Guard) -> int:
        if guard not in self._guards:
            cubes = [self.cube(must, never) for must, never in guard]
            self._guards[guard] = self.any_of(cubes)
        return self._guards[guard]

    def some_path(self, node: int) -> dict[int, bool]:
        """Values of the variables that decide, which do not lead to `FALSE`."""
        found = {}
        while self.level[node] < BELOW_ALL:
            high = self.low[node] == FALSE
            found[self.level[node]] = high
            node = self.high[node] if high else self.low[node]
        return found

    def below(self, node: int) -> list[int]:
        """A node and all that it leads to."""
        found = {node: None}
        work = [node]
        while work:
            node = work.pop()
            for side in (self.low[node], self.high[node]):
                if side not in found:
                    found[side] = None
                    work.append(side)
        return list(found)

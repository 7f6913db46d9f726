"""Zielonka trees: the memory that an Emerson-Lei condition asks for, and no more.

The root is the set of all marks. The children of a node are the maximal subsets whose
acceptance is the other way. A leaf is remembered; to read marks, climb from it to the
first node that has them all: its depth is the colour, and the next leaf is below the
child that follows, cyclically, the one from which the climb came. What is emitted is a
parity condition, max even, with the least memory and the fewest colours that a
deterministic automaton can do with.

References:
    Zielonka, Infinite games on finitely coloured graphs with applications to automata
    on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
    Casares, Colcombet and Fijalkow, Optimal transformations of games and automata using
    Muller conditions, ICALP 2021, doi:10.4230/LIPIcs.ICALP.2021.123.
"""

from jaxgames import limits
from jaxgames.acceptance import Acceptance, both
from jaxgames.arguments import integer

MAX_NODES = 100_000
"""Nodes that a tree may have, and sets that are tried to find the children of one."""


class Subsets:
    """The sets of marks that matter to a condition: each with those below it.

    Args:
        condition: the condition.
        max_sets: how many sets are tried to find those below one.
    """

    def __init__(self, condition: Acceptance, max_sets: int = MAX_NODES):
        self._condition = condition
        self._max_sets = max_sets
        self._known: dict[int, bool] = {}
        self._found: dict[int, list[int]] = {}
        self.every = sum(1 << mark for mark in condition.marks)

    def accepts(self, marks: int) -> bool:
        """Whether the condition holds where just these marks are met for ever."""
        if marks not in self._known:
            self._known[marks] = self._condition.holds(marks)
        return self._known[marks]

    def below(self, label: int) -> list[int]:
        """The maximal subsets that accept if this set does not, or the other way.

        Raises:
            ValueError: too many sets are to be tried.
        """
        if label not in self._found:
            # Of few marks there are soon fewer sets than a formula has choices.
            most = min(self._max_sets, 1 << label.bit_count())
            found = self._by_formula(label, most)
            self._found[label] = self._one_by_one(label) if found is None else found
        return self._found[label]

    def _by_formula(self, label: int, most: int) -> list[int] | None:
        """What a formula asks to be left out: all at once, or one choice or another.

        None where there are more choices than that.
        """
        condition = self._condition
        wanted = condition.negated() if self.accepts(label) else condition
        work, found, tried = [(label, wanted)], set(), 0
        while work:
            marks, asked = work.pop()
            tried += 1
            limits.tick("building a Zielonka tree", tried, "sets")
            if tried > most:
                return None
            left = asked.assuming(marks)
            if left.holds(marks):
                found.add(marks)
            elif left.operator == "fin":
                work.append((marks & ~(1 << left.mark), left))
            elif left.operator == "|":
                work += [(marks, part) for part in left.operands]
            elif left.operator == "&":
                out = {1 << x.mark for x in left.operands if x.operator == "fin"}
                if out:
                    work.append((marks & ~sum(out), left))
                    continue
                # Some operand is a choice, since not all marks that are met will do.
                choice = next(x for x in left.operands if x.operator == "|")
                rest = [x for x in left.operands if x is not choice]
                work += [(marks, both([part, *rest])) for part in choice.operands]
        largest = [x for x in found if all(x == y or x & ~y for y in found)]
        return sorted(largest, reverse=True)

    def _one_by_one(self, label: int) -> list[int]:
        """What is found by leaving one mark after the other out."""
        value, found = self.accepts(label), []
        level, tried = {label}, 0
        while level:
            below: set[int] = set()
            for marks in sorted(level, reverse=True):
                rest = marks
                while rest:
                    low = rest & -rest
                    rest ^= low
                    less = marks ^ low
                    if less not in below and all(less & ~x for x in found):
                        below.add(less)
            tried += len(below)
            limits.tick("building a Zielonka tree", tried, "sets")
            if tried > self._max_sets:
                raise ValueError(
                    f"the Zielonka tree asks for more than {self._max_sets} sets of "
                    f"{label.bit_count()} marks"
                )
            other = {x for x in below if self.accepts(x) != value}
            found += sorted(other, reverse=True)
            # What is in a set that was found on this level is not maximal.
            level = {x for x in below - other if all(x & ~y for y in found)}
            # And of some sets no subset is the other way.
            level = {x for x in level if self._condition.assuming(x).marks}
        return found


class ZielonkaTree:
    """The Zielonka tree of an acceptance condition.

    Nodes are numbered in the order in which they are met, depth first; node 0 is the
    root.

    Attributes:
        label: the marks of each node, a bit mask.
        parent: of each node; -1 for the root.
        place: which child of its parent each node is.
        children: of each node.
        colour: of each node, max even: the root has the largest.
        first_leaf: the leftmost leaf at or below each node.

    Examples:
        >>> from jaxgames.acceptance import both, inf
        >>> tree = ZielonkaTree(both([inf(0), inf(1)]))
        >>> tree.colour, tree.leaves
        ([2, 1, 1], [1, 2])
        >>> tree.read(1, 0b10), tree.read(1, 0b01), tree.read(1, 0)
        ((1, 1), (2, 2), (1, 1))
    """

    def __init__(
        self,
        condition: Acceptance,
        *,
        max_nodes: int = MAX_NODES,
        subsets: Subsets | None = None,
    ):
        """Builds the tree; exponential time at worst in the number of marks.

        Args:
            condition: it.
            max_nodes: how many nodes there may be, and sets of marks that are tried to
                find the children of one.
            subsets: what is known of the sets already, with a limit of its own.

        Raises:
            ValueError: the tree is too large.
        """
        max_nodes = integer("max_nodes", max_nodes, 1)
        subsets = Subsets(condition, max_nodes) if subsets is None else subsets
        self._every = every = subsets.every
        self.label, self.parent, self.place = [every], [-1], [0]
        self.children: list[list[int]] = [[]]
        depth, work = [0], [0]
        while work:
            node = work.pop()
            for place, label in enumerate(subsets.below(self.label[node])):
                child = len(self.label)
                limits.tick("building a Zielonka tree", child, "nodes")
                if child >= max_nodes:
                    raise ValueError(
                        f"the Zielonka tree of {len(condition.marks)} marks has "
                        f"more than {max_nodes} nodes"
                    )
                self.label.append(label)
                self.parent.append(node)
                self.place.append(place)
                self.children.append([])
                self.children[node].append(child)
                depth.append(depth[node] + 1)
                work.append(child)
        top = max(depth)
        top += (top % 2 == 0) != subsets.accepts(every)
        self.colour = [top - x for x in depth]
        self.first_leaf = list(range(len(self.label)))
        for node in reversed(range(len(self.label))):
            if self.children[node]:
                self.first_leaf[node] = self.first_leaf[self.children[node][0]]

    @property
    def leaves(self) -> list[int]:
        """The nodes without children."""
        return [node for node, below in enumerate(self.children) if not below]

    def read(self, leaf: int, marks: int) -> tuple[int, int]:
        """The leaf to go to from a leaf by an edge with some marks, and its colour."""
        marks &= self._every
        node, came = leaf, leaf
        while marks & ~self.label[node]:
            came, node = node, self.parent[node]
        if node == leaf:
            return leaf, self.colour[leaf]
        below = self.children[node]
        after = below[(self.place[came] + 1) % len(below)]
        return self.first_leaf[after], self.colour[node]

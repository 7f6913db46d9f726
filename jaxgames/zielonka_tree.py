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

from collections.abc import Iterable

from jaxgames import limits
from jaxgames.acceptance import Acceptance
from jaxgames.arguments import integer

MAX_NODES = 100_000
"""Nodes that a tree may have, and sets that are tried to find the children of one."""

_MAX_KNOWN = 1 << 16
"""Parts of a condition of which it is kept what is left of them."""


class _Asked:
    """A condition or a part of one, with the atoms of a node as bit masks.

    Attributes:
        every: whether all atoms and parts are asked for, else one of them.
        inf: the marks of the atoms `Inf`.
        fin: and of `Fin`.
        parts: what is no atom; they ask the other way.
        support: all marks in it.
        full: whether it holds where all of these are met for ever.
    """

    __slots__ = ("every", "fin", "full", "inf", "parts", "support")

    def __init__(self, every: bool, inf: int, fin: int, parts: "list[_Asked]"):
        self.every, self.inf, self.fin, self.parts = every, inf, fin, parts
        support = inf | fin
        for part in parts:
            support |= part.support
        self.support = support
        if every:
            self.full = not fin and all(part.full for part in parts)
        else:
            self.full = inf != 0 or any(part.full for part in parts)


_YES, _NO = _Asked(True, 0, 0, []), _Asked(False, 0, 0, [])


def _joined(every: bool, inf: int, fin: int, parts: Iterable[_Asked]) -> _Asked:
    """All of some atoms and parts, or one of them; of one alone, just this."""
    yes, no = (_YES, _NO) if every else (_NO, _YES)
    kept: list[_Asked] = []
    for part in parts:
        if part is no:
            return no
        if part is yes:
            continue
        if part.every == every or (
            not part.parts and (part.inf.bit_count() + part.fin.bit_count()) == 1
        ):
            inf |= part.inf
            fin |= part.fin
            kept += part.parts
        else:
            kept.append(part)
    if inf or fin:
        return _Asked(every, inf, fin, kept)
    if not kept:
        return yes
    return kept[0] if len(kept) == 1 else _Asked(every, 0, 0, kept)


def _asked(condition: Acceptance) -> tuple[_Asked, _Asked]:
    """A condition, and what holds where it does not."""

    def leaf(node: Acceptance) -> tuple[_Asked, _Asked]:
        if node.mark < 0:
            return (_YES, _NO) if node.operator == "true" else (_NO, _YES)
        met, missed = (
            _Asked(True, 1 << node.mark, 0, []),
            _Asked(True, 0, 1 << node.mark, []),
        )
        return (met, missed) if node.operator == "inf" else (missed, met)

    def join(node: Acceptance, found: list) -> tuple[_Asked, _Asked]:
        every = node.operator == "&"
        asked, refused = zip(*found, strict=True)
        return _joined(every, 0, 0, asked), _joined(not every, 0, 0, refused)

    return condition.fold(leaf, join)


class Subsets:
    """The sets of marks that matter to a condition: each with those below it.

    Args:
        condition: the condition.
        max_sets: how many sets are tried to find those below one.

    Attributes:
        every: the set of all its marks.
        tried: how many sets were tried so far.
    """

    def __init__(self, condition: Acceptance, max_sets: int = MAX_NODES):
        self._asked, self._refused = _asked(condition)
        self._max_sets = max_sets
        self.tried = 0
        self._left: dict[tuple[_Asked, int], _Asked] = {}
        self._found: dict[int, list[int]] = {}
        self.every = sum(1 << mark for mark in condition.marks)

    def accepts(self, marks: int) -> bool:
        """Whether the condition holds where just these marks are met for ever."""
        return self._assuming(self._asked, marks).full

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

    def _assuming(self, asked: _Asked, marks: int) -> _Asked:
        """What is left to be asked where no other marks are met; nothing recurses."""
        known = self._left
        if len(known) > _MAX_KNOWN:
            known.clear()
        work = [asked]
        while True:
            node = work[-1]
            if not node.support & ~marks:
                found = node
            elif node.inf & ~marks and node.every:
                found = _NO
            elif node.fin & ~marks and not node.every:
                found = _YES
            else:
                key = node, marks & node.support
                found = known.get(key)
                if found is None:
                    parts, unknown = [], False
                    for part in node.parts:
                        less = part
                        if part.support & ~marks:
                            less = known.get((part, marks & part.support))
                        if less is None:
                            work.append(part)
                            unknown = True
                        else:
                            parts.append(less)
                    if unknown:
                        continue
                    found = _joined(
                        node.every, node.inf & marks, node.fin & marks, parts
                    )
            work.pop()
            known[node, marks & node.support] = found
            if not work:
                return found

    def _by_formula(self, label: int, most: int) -> list[int] | None:
        """What a formula asks to be left out: all at once, or one choice or another.

        None where there are more choices than that.
        """
        wanted = self._refused if self.accepts(label) else self._asked
        work, found, tried = [(label, wanted)], set(), 0
        while work:
            marks, asked = work.pop()
            tried += 1
            limits.tick("building a Zielonka tree", tried, "sets")
            self.tried += 1
            if tried > most:
                return None
            left = self._assuming(asked, marks)
            if left.full:
                found.add(marks)
            elif not left.every:
                work += [(marks, one) for one in _choices(left)]
            elif left.fin:
                work.append((marks & ~left.fin, left))
            else:
                # Some part is a choice, since not all marks that are met will do.
                choice = next(x for x in left.parts if not x.full)
                rest = [x for x in left.parts if x is not choice]
                work += [
                    (marks, _joined(True, left.inf, 0, [one, *rest]))
                    for one in _choices(choice)
                ]
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
            self.tried += len(below)
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
            level = {x for x in level if self._assuming(self._asked, x).support}
        return found


def _choices(asked: _Asked) -> list[_Asked]:
    """Of what one is asked for, what does not come true by meeting all marks."""
    fin = asked.fin
    atoms = [1 << i for i in range(fin.bit_length()) if fin >> i & 1]
    return [_Asked(True, 0, x, []) for x in atoms] + asked.parts


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
        max_sets: int | None = None,
        subsets: Subsets | None = None,
    ):
        """Builds the tree; exponential time at worst in the number of marks.

        Args:
            condition: it.
            max_nodes: how many nodes there may be, and sets of marks that are tried to
                find the children of one.
            max_sets: how many sets may be tried in all; by default no more is asked.
            subsets: what is known of the sets already, with a limit of its own.

        Raises:
            ValueError: the tree is too large.
        """
        max_nodes = integer("max_nodes", max_nodes, 1)
        subsets = Subsets(condition, max_nodes) if subsets is None else subsets
        self._every = every = subsets.every
        most = MAX_NODES * max_nodes if max_sets is None else subsets.tried + max_sets
        self.label, self.parent, self.place = [every], [-1], [0]
        self.children: list[list[int]] = [[]]
        depth, work = [0], [0]
        while work:
            node = work.pop()
            below = subsets.below(self.label[node])
            if subsets.tried > most:
                raise ValueError(
                    f"the Zielonka tree of {len(condition.marks)} marks asks for more "
                    f"than {most} sets"
                )
            for place, label in enumerate(below):
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

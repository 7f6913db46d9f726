"""Automata while they are made: edges as tables, guards as sets of letters."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from jaxgames import limits
from jaxgames.graph import host
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._letters import Letters
from jaxgames.tuning.ltl import SEARCHED_PLAINLY_UP_TO, SIMULATED_UP_TO

Edges = dict[tuple[int, int], int]
"""The letters of an edge, by its target and its marks, a bit mask."""


MAX_EDGES = 1 << 22
"""Edges that an automaton may have while it is made: a few gigabytes."""


class TooLargeError(ValueError):
    """An automaton has more states than it may have, or more edges."""


def check_edges(count: int) -> None:
    """Sees to it that an automaton has not too many edges: raises TooLargeError."""
    if count > MAX_EDGES:
        raise TooLargeError(
            f"the automaton has more than {MAX_EDGES} edges: simplify the formula"
        )


@dataclasses.dataclass(frozen=True)
class Graph:
    """A generalised Büchi automaton that is being made.

    Attributes:
        letters: operations on sets of letters.
        edges: of each state.
        initial: the initial states.
        num_sets: how many marks must be met infinitely often.
    """

    letters: Letters
    edges: list[Edges]
    initial: list[int]
    num_sets: int

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of states and of edges."""
        return len(self.edges), sum(map(len, self.edges))

    def labels(self) -> tuple[list[int], list[bool]]:
        """The component of each state, and whether each is on an accepting cycle."""
        count, label = components([[r for r, _ in edges] for edges in self.edges])
        met, inner = [0] * count, [False] * count
        for q, edges in enumerate(self.edges):
            for r, marks in edges:
                if label[r] == label[q]:
                    met[label[q]] |= marks
                    inner[label[q]] = True
        every = (1 << self.num_sets) - 1
        good = [inner[c] and met[c] == every for c in range(count)]
        return label, [good[c] for c in label]

    def trimmed(self, *, on_states: bool = False) -> "Graph":
        """Without states on no accepting run, and marks that decide nothing.

        If marks are `on_states`, they stay so.
        """
        label, good = self.labels()
        useful = set(self._leading_to(good))
        reached, order = set(), []
        for q in self.initial:
            if q in useful and q not in reached:
                reached.add(q)
                order.append(q)
        for q in order:
            for r, _ in self.edges[q]:
                if r in useful and r not in reached:
                    reached.add(r)
                    order.append(r)
        number = {q: i for i, q in enumerate(order)}
        stays = order == list(range(len(self.edges)))
        either = self.letters.either
        found: list[Edges] = []
        for q in order:
            edges: Edges = self.edges[q]
            if stays and (
                on_states if good[q] else not any(marks for _, marks in edges)
            ):
                found.append(edges)
                continue
            edges = {}
            for (r, marks), letters in self.edges[q].items():
                if r not in number:
                    continue
                counts = good[q] and (on_states or label[r] == label[q])
                key = number[r], marks if counts else 0
                edges[key] = either(edges.get(key, 0), letters)
            found.append(edges)
        initial = [number[q] for q in dict.fromkeys(self.initial) if q in number]
        trimmed = Graph(self.letters, found, initial, self.num_sets)
        return trimmed if on_states else trimmed._needed([label[q] for q in order])

    def _leading_to(self, good: list[bool]) -> list[int]:
        before: list[list[int]] = [[] for _ in self.edges]
        for q, edges in enumerate(self.edges):
            for r, _ in edges:
                before[r].append(q)
        found = [q for q, on in enumerate(good) if on]
        seen = set(found)
        for q in found:
            for p in before[q]:
                if p not in seen:
                    seen.add(p)
                    found.append(p)
        return found

    def _needed(self, label: list[int]) -> "Graph":
        """Without sets that are met whenever another one is, or always."""
        inner = {
            marks
            for q, edges in enumerate(self.edges)
            for r, marks in edges
            if label[q] == label[r]
        }
        keep = list(range(self.num_sets))
        for i in range(self.num_sets):
            has = [marks for marks in inner if not marks >> i & 1]
            others = [j for j in keep if j != i]
            if not has or any(all(not m >> j & 1 for m in has) for j in others):
                keep = others
        if len(keep) == self.num_sets:
            return self
        new = {
            marks: sum((marks >> i & 1) << k for k, i in enumerate(keep))
            for marks in self.marks
        }
        return self.with_marks(new, len(keep))

    @property
    def marks(self) -> set[int]:
        """What edges have: masks, or colours."""
        return {marks for edges in self.edges for _, marks in edges}

    def with_marks(self, new: Mapping[int, int], num_sets: int) -> "Graph":
        """The same with other marks; edges that differ in nothing then are one."""
        either = self.letters.either
        found: list[Edges] = []
        for edges in self.edges:
            united: Edges = {}
            for (r, marks), letters in edges.items():
                key = r, new[marks]
                old = united.get(key)
                united[key] = letters if old is None else either(old, letters)
            found.append(united)
        return Graph(self.letters, found, self.initial, num_sets)

    def quotient(self) -> "Graph":
        """States with the same edges, up to such states, are one."""
        either = self.letters.either
        block, count = [0] * len(self.edges), min(1, len(self.edges))
        groups = [list(range(len(self.edges)))]
        while groups:
            limits.tick("simplifying", count, "states")
            finer, split = list(block), []
            for group in groups:  # a state alone needs no look at its edges
                parts: dict[frozenset, list[int]] = {}
                for q in group:
                    united: dict[tuple[int, int], int] = {}
                    for (r, marks), letters in self.edges[q].items():
                        key = block[r], marks
                        old = united.get(key)
                        united[key] = letters if old is None else either(old, letters)
                    parts.setdefault(frozenset(united.items()), []).append(q)
                for one in list(parts.values())[1:]:
                    for q in one:
                        finer[q] = count
                    count += 1
                split += (one for one in parts.values() if len(one) > 1)
            if finer == block:
                break
            block, groups = finer, split
        return self if count == len(self.edges) else self._united(block)

    def _united(self, block: list[int]) -> "Graph":
        """One state for each block, with the edges of its first."""
        leader: dict[int, int] = {}
        for q, b in enumerate(block):
            leader.setdefault(b, q)
        number = {b: i for i, b in enumerate(leader)}
        either, found = self.letters.either, []
        for q in leader.values():
            edges: Edges = {}
            for (r, marks), letters in self.edges[q].items():
                key = number[block[r]], marks
                edges[key] = either(edges.get(key, 0), letters)
            found.append(edges)
        initial = [number[block[q]] for q in self.initial]
        return Graph(self.letters, found, list(dict.fromkeys(initial)), self.num_sets)

    def reduced(self, *, on_states: bool = False) -> "Graph":
        """As small as simulation makes it, if it is not too large for that."""
        graph, size = self, None
        while size != (size := graph.size):
            trimmed = graph.trimmed(on_states=on_states)
            graph = trimmed.quotient()
            if graph.size[0] * graph.size[1] <= SIMULATED_UP_TO:
                graph = graph.simulated()
            elif graph is trimmed:
                break
        return graph

    def simulated(self) -> "Graph":
        """Unites states that simulate each other, and drops edges that others outdo.

        References:
            Etessami, Wilke and Schuller, Fair simulation relations, parity games, and
            state space reduction for Büchi automata, SIAM J. Comput. 34 (2005),
            doi:10.1137/S0097539703420675.
        """
        by = self.simulations()
        size = len(self.edges)
        # by[q] has the bit of each state that simulates q.
        leader = [
            next(p for p in range(size) if by[q] >> p & 1 and by[p] >> q & 1)
            for q in range(size)
        ]
        initial = [leader[q] for q in self.initial]
        initial = [
            q for q in initial if not any(by[q] >> p & 1 and p != q for p in initial)
        ]
        letters = self.letters
        found: list[Edges] = []
        for q in range(size):
            if leader[q] != q:
                found.append({})
                continue
            united: Edges = {}
            for (r, marks), some in self.edges[q].items():
                key = leader[r], marks
                united[key] = letters.either(united.get(key, 0), some)
            kept: Edges = {}
            for (r, marks), some in united.items():
                for (r2, marks2), more in united.items():
                    better = by[r] >> r2 & 1 and not marks & ~marks2
                    if better and (r, marks) != (r2, marks2):
                        some = letters.minus(some, more)
                if some:
                    kept[r, marks] = some
            found.append(kept)
        return Graph(letters, found, list(dict.fromkeys(initial)), self.num_sets)

    def simulations(self) -> list[int]:
        """The states that simulate each state, as bit masks.

        A state does if it answers every edge, letter by letter, by one with the same
        marks or more, to a state that simulates the target.
        """
        size, letters = len(self.edges), self.letters
        by = [(1 << size) - 1] * size
        rows = [list(edges.items()) for edges in self.edges]
        changed = True
        while changed:
            changed = False
            for q in range(size):
                limits.tick("simplifying", q, "states")
                for p in range(size):
                    if p == q or not by[q] >> p & 1:
                        continue
                    for (r, marks), some in rows[q]:
                        for (r2, marks2), more in rows[p]:
                            if by[r] >> r2 & 1 and not marks & ~marks2:
                                some = letters.minus(some, more)
                                if not some:
                                    break
                        if some:
                            by[q] &= ~(1 << p)
                            changed = True
                            break
        return by

    def degeneralised(self, *, on_states: bool) -> "Graph":
        """The same words with one set, of the edges of some states or of any edges."""
        made = [x.reduced(on_states=on_states) for x in self.unrolled(on_states)]
        return min(made, key=lambda graph: graph.size)

    def unrolled(self, on_states: bool) -> list["Graph"]:
        """Automata with a copy for each number of sets met: one, or one of each way."""
        label, good = self.labels()
        ways = self._entries(label, good) if on_states else [[0] * len(self.edges)]
        return [self._unrolled(label, good, entry, on_states) for entry in ways]

    def _entries(self, label: list[int], good: list[bool]) -> list[list[int]]:
        """Numbers of sets with which each state may be entered, one or two ways.

        Any will do where a component is entered, which is once: all of them, or those
        that all edges in it have.
        """
        count = self.num_sets
        common = [(1 << count) - 1] * len(self.edges)
        for q, edges in enumerate(self.edges):
            if good[q]:
                for r, marks in edges:
                    if label[q] == label[r]:
                        common[q] &= marks
        eager = [count if on else 0 for on in good]
        later = [
            _advance(0, marks, count) if on else 0
            for on, marks in zip(good, common, strict=True)
        ]
        return [eager] if eager == later else [eager, later]

    def _unrolled(
        self, label: list[int], good: list[bool], entry: list[int], on_states: bool
    ) -> "Graph":
        """A copy for each number of sets met; components are entered with some."""
        count, either = self.num_sets, self.letters.either
        initial = list(dict.fromkeys((q, entry[q]) for q in self.initial))
        number = {pair: i for i, pair in enumerate(initial)}
        order, found = list(initial), []
        for q, level in order:
            limits.tick("degeneralising", len(order), "states")
            edges: Edges = {}
            own = label[q] if good[q] else -1
            met = int(on_states and level == count and good[q])
            for (r, marks), letters in self.edges[q].items():
                accepts = met
                if label[r] != own:
                    after = entry[r]
                elif on_states:
                    after = _advance(0 if level == count else level, marks, count)
                else:
                    after = _advance(level, marks, count)
                    if after == count:
                        accepts = 1
                        after = _advance(0, marks, count)
                        after = 0 if after == count else after
                pair = r, after
                place = number.get(pair)
                if place is None:
                    place = number[pair] = len(order)
                    order.append(pair)
                key = place, accepts
                old = edges.get(key)
                edges[key] = letters if old is None else either(old, letters)
            found.append(edges)
        return Graph(self.letters, found, list(range(len(initial))), 1)

    def automaton(self, propositions: tuple[str, ...], name: str) -> Automaton:
        """The automaton, with guards as cubes."""
        ends = [(q, r) for q, edges in enumerate(self.edges) for r, _ in edges]
        marks = [m for edges in self.edges for _, m in edges]
        guards = [
            self.letters.cubes(letters)
            for edges in self.edges
            for letters in edges.values()
        ]
        sets = [[m >> i & 1 for m in marks] for i in range(self.num_sets)]
        table = np.array(ends, np.int32).reshape(-1, 2)
        return Automaton.of_cubes(
            table[:, 0],
            guards,
            table[:, 1],
            num_states=len(self.edges),
            initial=np.array(self.initial, np.int32),
            propositions=propositions,
            sets=np.array(sets, bool).reshape(self.num_sets, len(ends)),
            name=name,
        )


def _advance(level: int, marks: int, count: int) -> int:
    """How many of the sets are met in turn, behind an edge that is in some."""
    while level < count and marks >> level & 1:
        level += 1
    return level


def by_size(key: tuple[int, int]) -> tuple[int, tuple[int, int]]:
    """The order of pairs of masks in which what has less in it comes first."""
    return key[0].bit_count() + key[1].bit_count(), key


def pruned(steps: Edges, letters: Letters) -> Edges:
    """Without letters by which a pair of masks with no more in it can be come to."""
    if len(steps) < 2:
        return {key: some for key, some in steps.items() if some}
    minus, kept = letters.minus, []
    for number, (one, other) in enumerate(sorted(steps, key=by_size)):
        if not number & 15:
            limits.tick("translating", number, "sets")
        some = steps[one, other]
        beyond, beside = ~one, ~other
        for less, fewer, had in kept:
            if not less & beyond and not fewer & beside:
                some = minus(some, had)
                if not some:
                    break
        if some:
            kept.append((one, other, some))
    return {(one, other): some for one, other, some in kept}


def components(successors: list[list[int]]) -> tuple[int, list[int]]:
    """How many strongly connected components there are, and that of each vertex.

    They are numbered so that edges lead to equal or smaller numbers.
    """
    size = len(successors)
    if size > SEARCHED_PLAINLY_UP_TO:
        offsets = np.zeros(size + 1, np.int32)
        np.cumsum([len(row) for row in successors], out=offsets[1:])
        heads = np.array([r for row in successors for r in row], np.int32)
        label, _, begins = host.closing_order((offsets, heads))
        return len(begins) - 1, label.tolist()
    # Tarjan's algorithm, for graphs that need no machine code.
    number, low, label = [0] * size, [0] * size, [-1] * size
    count, index = 0, 0
    stack: list[int] = []
    for start in range(size):
        if number[start]:
            continue
        work = [(start, iter(successors[start]))]
        index += 1
        number[start] = low[start] = index
        stack.append(start)
        while work:
            v, rest = work[-1]
            for w in rest:
                if not number[w]:
                    index += 1
                    number[w] = low[w] = index
                    stack.append(w)
                    work.append((w, iter(successors[w])))
                    break
                if label[w] < 0:
                    low[v] = min(low[v], number[w])
            else:
                work.pop()
                if low[v] == number[v]:
                    while label[v] < 0:
                        label[stack.pop()] = count
                    count += 1
                elif work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[v])
    return count, label

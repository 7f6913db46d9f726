"""Machines that are found by counting: bounded synthesis.

A Büchi automaton of the words that a side must not make says when that side has lost:
some run meets marks for ever. If no run may meet more of them than some number, a state
is, for each state of the automaton, the most that a run to it has met. That makes a
deterministic automaton of some of the words that are right, in small steps, while a
determinisation is of all of them. A side that wins this game, which is one of safety,
wins; one that does not may do so with a larger number.

Both sides are tried, since a machine of the environment is one for the negation. What
is explored is one answer for each choice of the other side, the most promising first,
until it is seen to lose. Larger numbers ask for more: a state may stand for one with
smaller ones, and loses if one with smaller ones does.

Letters that no guard tells apart are one, so that a state and all that may follow it
are arrays.

References:
    Schewe and Finkbeiner, Bounded synthesis, ATVA 2007,
    doi:10.1007/978-3-540-75596-8_33.
    Filiot, Jin and Raskin, Antichains and compositional algorithms for LTL synthesis,
    Form. Methods Syst. Des. 39 (2011), doi:10.1007/s10703-011-0115-3.
"""

import functools
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.ltl import Formula, ParityAutomaton
from jaxgames.ltl._diagrams import BELOW_ALL, FALSE, TRUE
from jaxgames.ltl._graph import Graph, TooLargeError
from jaxgames.ltl._letters import Nodes, letters_of
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._parity_automaton import of_rows
from jaxgames.ltl._translate import graph_of
from jaxgames.synth._specification import Specification
from jaxgames.tuning.ltl import (
    COUNTED_CLASSES,
    COUNTED_STATES,
    COUNTED_STEPS,
    COUNTED_UP_TO,
)

LOST = 1 << 40
"""The rank of what leads to a state that loses."""

OVERHEAD = 1 << 14
"""Numbers that could be handled in the time that a few arrays take at least."""


class Counting:
    """A formula, and what was seen of its games so far."""

    def __init__(
        self, formula: Formula, inputs: list[str], outputs: list[str], *, moore: bool
    ):
        self._formula, self._outputs, self._moore = formula, tuple(outputs), moore
        self._names = (*outputs, *inputs) if moore else (*inputs, *outputs)
        self._first = len(outputs) if moore else len(inputs)
        # Numbers of marks, and sides, that have not lost with them; None: none is made.
        self._open: list[tuple[int, bool]] | None = None

    def _start(self) -> None:
        """Makes what is counted for each side, but for automata that are too large."""
        self._sides: dict[bool, _Classes] = {}
        for realizable in (True, False):
            try:
                graph = _against(self._formula, self._names, realizable)
                classes = _Classes(graph, len(self._names), self._first)
                self._sides[realizable] = classes
            except TooLargeError:
                continue
        self._open = [(bound, side) for bound in _bounds() for side in self._sides]

    def specification(
        self, steps: tuple[int, ...] = COUNTED_STEPS
    ) -> Specification | None:
        """A specification of which the same is true as of the formula: who wins.

        Its words are some of the formula's if the system wins, and others as well if it
        does not. None where nothing was found in so many steps for a number of marks.
        """
        if self._open is None:
            self._start()
        assert self._open is not None
        for most in steps:
            for bound, realizable in list(self._open):
                first = realizable == self._moore
                search = _Search(
                    self._sides[realizable], bound, most, moves_first=first
                )
                won = search.is_won()
                if won:
                    automaton = search.automaton(self._names)
                    if not realizable:
                        automaton = automaton.complement()
                    words = automaton.emerson_lei
                    return Specification(
                        words, self._outputs, self._moore, self._formula
                    )
                if won is False:
                    self._open.remove((bound, realizable))
        return None


def _bounds() -> list[int]:
    """Numbers of marks that are tried."""
    found = [0]
    while found[-1] < COUNTED_UP_TO:
        found.append(2 * found[-1] + 1)
    return found


def _against(formula: Formula, names: tuple[str, ...], realizable: bool) -> Graph:
    """A Büchi automaton of what the system, or else its foe, must not make."""
    wrong = spread(normal_form(formula, realizable))
    graphs = graph_of(wrong, letters_of(len(names)), names, COUNTED_STATES)
    made = (graph.degeneralised(on_states=False) for graph in graphs)
    return min(made, key=lambda graph: graph.size)


class _Edge(NamedTuple):
    """Of a Büchi automaton.

    Attributes:
        target: a state.
        stays: whether what was met counts on there.
        marked: whether one more is met.
        without: int8 `[C]`: 0 for each class of letters that it has, else -1.
    """

    target: int
    stays: bool
    marked: bool
    without: np.ndarray


class _Classes:
    """Letters that no guard tells apart, and what they do.

    Attributes:
        count: how many there are.
        initial: the initial states.
        rows: the edges of each state.
        members: int32 `[P]`: the classes that are left when the first side has moved,
            for each kind of such moves.
        begins: int32 `[M]`: where the classes of each kind of move begin there.
    """

    def __init__(self, graph: Graph, count: int, first: int):
        """Tells letters apart; the first propositions are those of who moves first."""
        self._nodes = Nodes(count)
        store = self._nodes.store
        label, good = graph.labels()
        guards = {
            some: store.guard(graph.letters.cubes(some))
            for edges in graph.edges
            for some in edges.values()
        }
        kinds = list(dict.fromkeys(guards.values()))
        self._root = self._apart(tuple(kinds), {})
        self._order = list(store.value)
        self._class = {node: i for i, node in enumerate(self._order)}
        holds = np.array([store.value[node] for node in self._order], bool)
        holds = holds.reshape(len(self._order), len(kinds))
        place = {kind: i for i, kind in enumerate(kinds)}
        self.count = len(self._order)
        self.initial = list(graph.initial)
        every = (1 << graph.num_sets) - 1  # 0: all that goes on for ever is wrong
        self.rows = []
        for q, edges in enumerate(graph.edges):
            row = []
            for (r, marks), some in edges.items():
                stays = good[q] and label[q] == label[r]
                without = holds[:, place[guards[some]]].astype(np.int8) - np.int8(1)
                row.append(_Edge(r, stays, stays and marks == every, without))
            self.rows.append(row)
        # The first side's moves end at the border to the other propositions.
        below = store.below(self._root)
        self._moves = [x for x in below if self._is_border(x, first)]
        some = [
            [self._class[x] for x in store.below(move) if x in self._class]
            for move in self._moves
        ]
        sizes = np.array([len(x) for x in some])
        self.members = np.concatenate(some).astype(np.int32)
        self.begins = np.append(0, np.cumsum(sizes)[:-1]).astype(np.int32)
        self._first = first

    def _apart(self, guards: tuple[int, ...], known: dict[tuple, int]) -> int:
        """A diagram that ends in values of guards."""
        found = known.get(guards)
        if found is None:
            limits.tick("telling letters apart", len(known), "cases")
            if len(known) > COUNTED_CLASSES:
                raise TooLargeError(
                    f"more than {COUNTED_CLASSES} letters are told apart"
                )
            store = self._nodes.store
            level = min((store.level[x] for x in guards), default=BELOW_ALL)
            if level == BELOW_ALL:
                found = store.terminal(tuple(x == TRUE for x in guards))
            else:
                sides = (
                    tuple(store.cofactors(x, level)[side] for x in guards)
                    for side in (0, 1)
                )
                found = store.node(level, *(self._apart(x, known) for x in sides))
            known[guards] = found
        return found

    def _is_border(self, node: int, first: int) -> bool:
        """Whether it asks for nothing of the first propositions, and is met by them."""
        return self._nodes.store.level[node] >= first and node in self._met(first)

    @functools.cache  # noqa: B019 -- one store, which ends with the search
    def _met(self, first: int) -> frozenset[int]:
        store = self._nodes.store
        if store.level[self._root] >= first:
            return frozenset((self._root,))
        found = set()
        for node in store.below(self._root):
            if store.level[node] < first:
                found |= {store.low[node], store.high[node]}
        return frozenset(x for x in found if store.level[x] >= first)

    def letters(self, classes: np.ndarray, move: int = -1) -> int:
        """The letters of classes, bool `[C]`, with one kind of move of the first."""
        store, known = self._nodes.store, dict[int, int]()

        def made(node: int, inside: bool) -> int:
            if node in self._class and inside:
                return TRUE if classes[self._class[node]] else FALSE
            if move >= 0 and not inside and store.level[node] >= self._first:
                return made(node, True) if node == self._moves[move] else FALSE
            key = 2 * node + inside
            if key not in known:
                low, high = (
                    made(store.low[node], inside),
                    made(store.high[node], inside),
                )
                known[key] = store.node(store.level[node], low, high)
            return known[key]

        return made(self._root, move < 0)

    @property
    def nodes(self) -> Nodes:
        return self._nodes


class _Search:
    """What is explored of a game of safety, for one side."""

    def __init__(
        self, classes: _Classes, bound: int, max_work: int, *, moves_first: bool
    ):
        self._classes, self._bound = classes, bound
        self._work_left, self._moves_first = max_work, moves_first
        size = len(classes.rows)
        start = np.full(size, -1, np.int8)
        start[classes.initial] = 0
        self._loses: list[bool] = []
        # What stands for a state, by its number.
        self._number: dict[bytes, int] = {}
        self._known = np.zeros((64, size), np.int8)
        # What loses, in the order in which that was seen.
        self._lost = np.zeros((64, size), np.int8)
        self._least = np.zeros(64, bool)  # whether no other asks for less
        self._count_lost = 0
        # Of each state that is explored: the states that may follow, which of them each
        # class of letters leads to, how much they ask for, which of them are chosen,
        # and by which move; and those who have chosen it.
        self._ends: list[np.ndarray] = []
        self._end_of: list[np.ndarray] = []
        self._rank: list[np.ndarray] = []
        self._chosen: list[list[int]] = []
        self._move: list[int] = []
        self._before: list[set[int]] = []
        # How many of those that lose were looked at for it.
        self._looked: list[int] = []
        self._stands = np.zeros(64, bool)  # for itself, and does not lose
        self._due: list[int] = []
        self._enter(start)

    def is_won(self) -> bool | None:
        """Whether the side wins from the start; None: too much must be explored."""
        while self._due:
            limits.tick("counting marks", len(self._loses), "states")
            q = self._due.pop()
            if self._is_outdone(q):
                continue
            self._expand(q)
            work = [q]
            while work:
                q = work.pop()
                if not self._stands[q] or self._choose(q):
                    continue
                if self._work_left <= 0:
                    return None
                self._loses[q], self._stands[q] = True, False
                if self._count_lost == len(self._lost):
                    self._lost = np.concatenate([self._lost, self._lost])
                    self._least = np.concatenate([self._least, self._least])
                row, count = self._known[q], self._count_lost
                self._least[:count] &= (self._lost[:count] < row).any(axis=1)
                self._lost[count], self._least[count] = row, True
                self._count_lost += 1
                work += self._before[q]
            if self._loses[0]:
                return False
        return True

    def _is_outdone(self, q: int) -> bool:
        """Whether a state that was found meanwhile stands for one: it asks for more."""
        if not q:
            return False
        row, count = self._known[q], len(self._loses)
        more = (self._known[:count] >= row).all(axis=1) & self._stands[:count]
        more[q] = False
        for other in np.flatnonzero(more)[:1].tolist():
            self._number[row.tobytes()] = other
            self._before[other] |= self._before[q]
            self._stands[q] = False
        return not self._stands[q]

    def _expand(self, q: int) -> None:
        """Finds what may follow a state."""
        counts = self._known[q]
        classes = self._classes.count
        after = np.full((len(counts), classes), -1, np.int8)
        for p in np.flatnonzero(counts >= 0).tolist():
            for edge in self._classes.rows[p]:
                met = int(counts[p]) + edge.marked if edge.stays else 0
                # Without the class it stays below all that counts.
                row = np.where(edge.without < 0, edge.without, np.int8(met))
                np.maximum(after[edge.target], row, out=after[edge.target])
                self._work_left -= classes
        good = (after <= self._bound).all(axis=0)
        ends, which = np.unique(after.T[good], axis=0, return_inverse=True)
        end_of = np.full(classes, -1)
        end_of[good] = which.reshape(-1)
        self._ends[q], self._end_of[q] = ends, end_of
        self._work_left -= ends.size + OVERHEAD
        self._rank[q] = (ends.astype(np.int64) + 1).sum(axis=1)

    def _enter(self, row: np.ndarray) -> int:
        """The number of a state, or of one that asks for more; -1: it loses."""
        key = row.tobytes()
        number = self._number.get(key, -1)
        if number >= 0 and self._stands[number]:
            return number
        least = self._lost[: self._count_lost][self._least[: self._count_lost]]
        if (least <= row).all(axis=1).any():
            return -1
        count = len(self._loses)
        self._work_left -= (count + len(least)) * len(row)
        more = (self._known[:count] >= row).all(axis=1) & self._stands[:count]
        for other in np.flatnonzero(more)[:1].tolist():
            self._number[key] = other
            return other
        if count == len(self._known):
            self._known = np.concatenate([self._known, self._known])
            self._stands = np.concatenate([self._stands, self._stands])
        self._known[count] = row
        self._number[key] = count
        self._stands[count] = True
        self._loses.append(False)
        self._looked.append(0)
        for some in (self._ends, self._end_of, self._rank):
            some.append(np.zeros(0))
        self._chosen.append([])
        self._move.append(-1)
        self._before.append(set())
        self._due.append(count)
        return count

    def _choose(self, q: int) -> bool:
        """Chooses ends that may win, in the place of those that lose; False: none."""
        classes, ends, rank = self._classes, self._ends[q], self._rank[q]
        new = slice(self._looked[q], self._count_lost)
        for row in self._lost[new][self._least[new]]:
            rank[(ends >= row).all(axis=1)] = LOST
        self._looked[q] = self._count_lost
        while self._work_left > 0:
            limits.tick("counting marks", len(self._loses), "states")
            self._work_left -= len(classes.members) + OVERHEAD
            of_class = np.append(rank, LOST)[self._end_of[q]]
            offered = of_class[classes.members]
            if self._moves_first:
                worst = np.maximum.reduceat(offered, classes.begins)
                total = np.add.reduceat(offered, classes.begins)
                move = int(np.lexsort((total, worst))[0])
                if worst[move] >= LOST:
                    return False
                stop = np.append(classes.begins[1:], len(offered))[move]
                some = classes.members[classes.begins[move] : stop]
                wanted = np.unique(self._end_of[q][some])
            else:
                move = -1
                best = np.minimum.reduceat(offered, classes.begins)
                if best.max() >= LOST:
                    return False
                # Of those that are alike the first one.
                kinds = np.repeat(
                    np.arange(len(best)),
                    np.diff(np.append(classes.begins, len(offered))),
                )
                at_best = np.flatnonzero(offered == best[kinds])
                _, where = np.unique(kinds[at_best], return_index=True)
                found = classes.members[at_best[where]]
                wanted = np.unique(self._end_of[q][found])
            # What asks for most is explored first, so that it stands for others.
            wanted = wanted[np.argsort(rank[wanted], kind="stable")]
            numbers = [self._enter(ends[i]) for i in wanted.tolist()]
            lost = [i for i, number in zip(wanted, numbers, strict=True) if number < 0]
            if not lost:
                self._chosen[q], self._move[q] = wanted.tolist(), move
                for number in numbers:
                    self._before[number].add(q)
                return True
            rank[lost] = LOST
        return False

    def automaton(self, names: tuple[str, ...]) -> ParityAutomaton:
        """The words of what is chosen; a state that rejects is for all others."""
        nodes = self._classes.nodes
        number, order, rows = {0: 0}, [0], []
        for q in order:
            limits.tick("counting marks", len(order), "states")
            rest = nodes.all
            edges: dict[int, np.ndarray] = {}
            for end in self._chosen[q]:
                after = self._enter(self._ends[q][end])
                if after not in number:
                    number[after] = len(order)
                    order.append(after)
                some = self._end_of[q] == end
                edges[after] = edges[after] | some if after in edges else some
            for r, classes in edges.items():
                some = self._classes.letters(classes, self._move[q])
                rest = nodes.minus(rest, some)
                rows.append((number[q], nodes.cubes(some), number[r], 2))
            if rest:
                rows.append((number[q], nodes.cubes(rest), -1, 1))
        lost = len(order)
        rows = [(q, some, lost if r < 0 else r, colour) for q, some, r, colour in rows]
        rows.append((lost, nodes.cubes(nodes.all), lost, 1))
        return of_rows(rows, num_states=lost + 1, propositions=names)

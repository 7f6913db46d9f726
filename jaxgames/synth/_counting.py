"""Machines that are found by counting: bounded synthesis.

A Büchi automaton of the words that a side must not make says when that side has lost:
some run meets marks for ever. If no run may meet more of them than some number, a state
is, for each state of the automaton, the most that a run to it has met. That makes a
deterministic automaton of some of the words that are right, in small steps, while a
determinisation is of all of them. A side that wins this game, which is one of safety,
wins; one that does not may do so with a larger number.

Both sides are tried, since a machine of the environment is one for the negation. What is
explored is one answer for each choice of the other side, the most promising first, until
it is seen to lose. Larger numbers ask for more: a state may stand for one with smaller
ones, and loses if one with smaller ones does.

References:
    Schewe and Finkbeiner, Bounded synthesis, ATVA 2007,
    doi:10.1007/978-3-540-75596-8_33.
    Filiot, Jin and Raskin, Antichains and compositional algorithms for LTL synthesis,
    Form. Methods Syst. Des. 39 (2011), doi:10.1007/s10703-011-0115-3.
"""

import numpy as np

from jaxgames import limits
from jaxgames.ltl import Formula, ParityAutomaton
from jaxgames.ltl._graph import Graph, TooLargeError
from jaxgames.ltl._letters import Letters, letters_of
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._parity_automaton import of_rows
from jaxgames.ltl._translate import graph_of
from jaxgames.synth._specification import Specification
from jaxgames.tuning.ltl import COUNTED_ENDS, COUNTED_STATES, COUNTED_UP_TO

State = tuple[int, ...]
"""For each state of a Büchi automaton: the most marks on a run there; -1: no run."""


def counted(
    formula: Formula,
    inputs: list[str],
    outputs: list[str],
    *,
    moore: bool,
    max_states: int,
) -> Specification | None:
    """A specification of which the same is true as of a formula: who wins.

    Its words are some of the formula's if the system wins, and others as well if it
    does not. None where nothing was found in this way.

    Args:
        formula: any.
        inputs: names.
        outputs: names.
        moore: whether the system goes first.
        max_states: how many states are explored for each number of marks.
    """
    names = (*outputs, *inputs) if moore else (*inputs, *outputs)
    first = len(outputs) if moore else len(inputs)
    letters = letters_of(len(names))
    sides = {}
    for realizable in (True, False):
        wrong = spread(normal_form(formula, realizable))
        try:
            found = graph_of(wrong, letters, names, COUNTED_STATES)
            made = (x.degeneralised(on_states=False) for x in found)
            sides[realizable] = min(made, key=lambda x: x.size)
        except TooLargeError:
            continue
    bound = 0
    while bound <= COUNTED_UP_TO:
        for realizable, graph in list(sides.items()):
            counts = _Counts(graph, bound)
            search = _Search(counts, first, max_states, moves_first=realizable == moore)
            try:
                won = search.is_won()
            except TooLargeError:
                del sides[realizable]
                continue
            if won:
                automaton = search.automaton(names)
                if not realizable:
                    automaton = automaton.complement()
                found = automaton.emerson_lei
                return Specification(found, tuple(outputs), moore, formula)
        bound = 2 * bound + 1
    return None


class _Counts:
    """The deterministic automaton of the words on which no run meets many marks.

    Attributes:
        letters: of the propositions.
        start: the initial state.
    """

    def __init__(self, graph: Graph, bound: int):
        self.letters, self._bound = graph.letters, bound
        label, good = graph.labels()
        size = len(graph.edges)
        self.start = tuple(0 if q in graph.initial else -1 for q in range(size))
        # How the runs in a state go on: where they lead, whether counted on, and what
        # is added; and the letters.
        self._moves: list[list[tuple[tuple[tuple[int, bool, int], ...], int]]] = []
        for q, edges in enumerate(graph.edges):
            moves = {(): self.letters.all}
            for (r, marks), some in edges.items():
                stays = good[q] and label[q] == label[r]
                end = r, stays, int(stays and marks > 0)
                finer: dict[tuple, int] = {}
                for ends, own in moves.items():
                    inside = self.letters.both(own, some)
                    outside = self.letters.minus(own, some)
                    if inside:
                        finer[*ends, end] = inside
                    if outside:
                        finer[ends] = outside
                moves = finer
                _check(moves)
            self._moves.append(list(moves.items()))

    def row(self, state: State) -> dict[State, int]:
        """The letters to each state that follows one; others lead to none.

        Raises:
            TooLargeError: there are too many.
        """
        letters, bound = self.letters, self._bound
        row = {(-1,) * len(state): letters.all}
        # What has met most decides most.
        for q in sorted(range(len(state)), key=lambda q: -state[q]):
            count = state[q]
            if count < 0:
                break
            limits.tick("counting marks")
            after: dict[State, int] = {}
            for known, some in row.items():
                for ends, own in self._moves[q]:
                    shared = letters.both(some, own)
                    if not shared:
                        continue
                    new = list(known)
                    for r, stays, more in ends:
                        met = count + more if stays else 0
                        if met > bound:
                            break
                        new[r] = max(new[r], met)
                    else:
                        key = tuple(new)
                        after[key] = letters.either(after.get(key, 0), shared)
            row = after
            _check(row)
        return row


def _check(found: dict) -> None:
    if len(found) > COUNTED_ENDS:
        raise TooLargeError(f"there are more than {COUNTED_ENDS} letters to tell apart")


class _Search:
    """What is explored of a game of safety, for one side."""

    def __init__(
        self, counts: _Counts, first: int, max_states: int, *, moves_first: bool
    ):
        self._counts, self._first, self._max_states = counts, first, max_states
        self._letters: Letters = counts.letters
        self._every = self._letters.first(self._letters.all, first)
        self._moves_first = moves_first
        self._states: list[State] = []
        self._loses: list[bool] = []
        # What stands for a state, by its number.
        self._number: dict[State, int] = {}
        self._known = np.zeros((64, len(counts.start)), np.int16)
        self._lost = np.zeros((0, len(counts.start)), np.int16)
        # Of each state that is explored: its row, the ends that are chosen, and those
        # for whom it is one.
        self._rows: list[dict[State, int]] = []
        self._chosen: list[dict[State, int]] = []
        self._before: list[set[int]] = []
        self._due: list[int] = []
        self._enter(counts.start)

    def is_won(self) -> bool:
        """Explores until it is known whether the side wins from the start.

        Raises:
            TooLargeError: too much would have to be explored.
        """
        while self._due:
            limits.tick("counting marks", len(self._states), "states")
            work = [self._due.pop()]
            self._rows[work[0]] = self._counts.row(self._states[work[0]])
            while work:
                q = work.pop()
                if self._loses[q] or self._choose(q):
                    continue
                self._loses[q] = True
                row = np.array(self._states[q], np.int16)
                kept = self._lost[~(self._lost >= row).all(axis=1)]
                self._lost = np.concatenate([kept, row[None]])
                work += self._before[q]
            if self._loses[0]:
                return False
        return True

    def _enter(self, state: State) -> int:
        """The number of a state, or of one that asks for more; -1: it loses."""
        number = self._number.get(state, -1)
        if number >= 0 and not self._loses[number]:
            return number
        if number >= 0 and self._states[number] == state:
            return -1
        row = np.array(state, np.int16)
        if (self._lost <= row).all(axis=1).any():
            return -1
        count = len(self._states)
        for other in np.flatnonzero((self._known[:count] >= row).all(axis=1)).tolist():
            if not self._loses[other]:
                self._number[state] = other
                return other
        if count >= self._max_states:
            raise TooLargeError(f"more than {self._max_states} states are explored")
        if count == len(self._known):
            self._known = np.concatenate([self._known, np.zeros_like(self._known)])
        self._known[count] = row
        self._number[state] = count
        self._states.append(state)
        self._loses.append(False)
        self._rows.append({})
        self._chosen.append({})
        self._before.append(set())
        self._due.append(count)
        return count

    def _choose(self, q: int) -> bool:
        """Chooses ends that may win, in the place of those that lose; False: none."""
        row = self._rows[q]
        ends = sorted(row, key=lambda state: (sum(state), state))
        way = self._some if self._moves_first else self._each
        chosen = way(q, ends)
        self._chosen[q] = chosen or {}
        return chosen is not None

    def _each(self, q: int, ends: list[State]) -> dict[State, int] | None:
        """An end for each choice of the other side."""
        letters, row = self._letters, self._rows[q]
        covered, chosen = 0, dict[State, int]()
        old = self._chosen[q]
        for state in sorted(ends, key=lambda state: state not in old):
            allowing = letters.first(row[state], self._first)
            if letters.minus(allowing, covered):
                number = self._enter(state)
                if number < 0:
                    del row[state]
                    continue
                self._before[number].add(q)
                chosen[state] = row[state]
                covered = letters.either(covered, allowing)
                if covered == self._every:
                    return chosen
        return None

    def _some(self, q: int, ends: list[State]) -> dict[State, int] | None:
        """The ends of a choice that leaves to the other side as little as may be."""
        letters, row = self._letters, self._rows[q]
        rest = letters.all
        for some in row.values():
            rest = letters.minus(rest, some)
        every = letters.minus(self._every, letters.first(rest, self._first))
        while every:
            # The worst are avoided first. What is left leads to the same ends.
            own, left = every, list[State]()
            for state in reversed(ends):
                less = letters.minus(own, letters.first(row[state], self._first))
                if less:
                    own = less
                else:
                    left.append(state)
            lost = [state for state in left if self._enter(state) < 0]
            if not lost:
                some = letters.whole(own, self._first)
                for state in left:
                    self._before[self._enter(state)].add(q)
                return {state: letters.both(row[state], some) for state in left}
            for state in lost:
                every = letters.minus(every, letters.first(row[state], self._first))
                ends.remove(state)
                del row[state]
        return None

    def automaton(self, names: tuple[str, ...]) -> ParityAutomaton:
        """The words of what is chosen; a state that rejects is for all others."""
        letters = self._letters
        number, order, rows = {0: 0}, [0], []
        for q in order:
            limits.tick("counting marks", len(order), "states")
            rest = letters.all
            edges: dict[int, int] = {}
            for state, some in self._chosen[q].items():
                after = self._enter(state)
                if after not in number:
                    number[after] = len(order)
                    order.append(after)
                edges[after] = letters.either(edges.get(after, 0), some)
                rest = letters.minus(rest, some)
            rows += [
                (number[q], letters.cubes(some), number[r], 2)
                for r, some in edges.items()
            ]
            if rest:
                rows.append((number[q], letters.cubes(rest), -1, 1))
        lost = len(order)
        rows = [(q, some, lost if r < 0 else r, colour) for q, some, r, colour in rows]
        rows.append((lost, letters.cubes(letters.all), lost, 1))
        return of_rows(rows, num_states=lost + 1, propositions=names)

"""Specifications that are explored only as far as a controller needs.

The automaton of a conjunction is a product of small ones, most of whose states no good
controller ever comes to. So for each state just one end for each input is explored at
first, the most promising. What was left out is counted as lost: then the words of this
automaton are words of the whole, and a controller for it is one for the whole. Where
the system loses, other ends are explored for each input: one at first, then two, four.

References:
    Filiot, Jin and Raskin, Antichains and compositional algorithms for LTL synthesis,
    Form. Methods Syst. Des. 39 (2011), doi:10.1007/s10703-011-0115-3.
    Meyer, Sickert and Luttenberger, Strix: explicit reactive synthesis strikes back!,
    CAV 2018, doi:10.1007/978-3-319-96145-3_31.
"""

import bisect
from collections.abc import Callable

from jaxgames import limits, parity
from jaxgames.ltl import Formula, ParityAutomaton
from jaxgames.ltl._deterministic import (
    Factors,
    State,
    Step,
    Unfolded,
    factors,
    of_obligation,
)
from jaxgames.ltl._graph import Edges, Graph, TooLargeError
from jaxgames.ltl._parity_automaton import of_rows
from jaxgames.synth._counting import Counting
from jaxgames.synth._reactivity import reactive
from jaxgames.synth._specification import Specification
from jaxgames.tuning.ltl import (
    COUNTED_FIRST,
    COUNTED_STEPS,
    EXPLORED_BEYOND,
    EXPLORED_FIRST,
    EXPLORED_ROUNDS,
    MADE_FIRST,
    TABLES_UP_TO,
)

STARTS = 8
"""States that are tried as the first one."""


def decidable(
    formula: Formula,
    inputs: list[str],
    outputs: list[str],
    *,
    moore: bool,
    max_states: int,
) -> Specification:
    """A specification that is realizable if and only if a formula is.

    Its controllers are those of the formula, but of a large formula that is realizable
    it may have fewer.
    """
    names = inputs, outputs
    counting = Counting(formula, inputs, outputs, moore=moore)
    found = reactive(formula, inputs, outputs, moore=moore)
    if found is not None:
        return found
    few = min(max_states, EXPLORED_BEYOND)
    # It is made of the obligations that are left, without a Büchi automaton.
    made = of_obligation(formula, (*inputs, *outputs), few)
    if made is not None:
        return Specification(made.emerson_lei, tuple(outputs), moore, formula)
    first = min(max_states, EXPLORED_FIRST)
    # The whole may take long to make where it is large, if it is only for nothing.
    if not moore and len(inputs) + len(outputs) > TABLES_UP_TO:
        found = counting.specification(COUNTED_STEPS[:1])
        if found is None:
            found = explored(formula, inputs, outputs, first, beyond=few)
        if found is not None:
            return found
    made_first = min(max_states, MADE_FIRST)
    try:
        return Specification.from_ltl(
            formula, *names, moore=moore, max_states=made_first
        )
    except TooLargeError:
        if made_first == max_states:
            raise
    found = counting.specification(COUNTED_STEPS[:COUNTED_FIRST])
    if found is not None:
        return found
    try:
        return Specification.from_ltl(formula, *names, moore=moore, max_states=few)
    except TooLargeError:
        if few == max_states:
            raise
    found = None if moore else explored(formula, inputs, outputs, max_states)
    if found is None:
        found = counting.specification(COUNTED_STEPS[COUNTED_FIRST:])
    if found is not None:
        return found
    return Specification.from_ltl(formula, *names, moore=moore, max_states=max_states)


def explored(
    formula: Formula,
    inputs: list[str],
    outputs: list[str],
    max_states: int,
    *,
    beyond: int = 0,
) -> Specification | None:
    """A realizable specification that asks for more than a formula; Mealy rules.

    None where none was found, or where the whole has so few states that nothing is
    saved: no more than `beyond`.
    """
    names = *inputs, *outputs
    try:
        product = factors(formula, names, max_states, EXPLORED_BEYOND)
        if product.bound <= beyond:
            return None
        living = product.without_failures()
        unfolds = any(isinstance(x, Unfolded) for x in product.parts)
        for stronger in (True, False) if unfolds else (False,):
            search = _Search(living, len(inputs), names, stronger)
            for number in range(EXPLORED_ROUNDS):
                if not search.expand(max_states, 1 << number):
                    break
                automaton = search.automaton().emerson_lei
                made = Specification(automaton, tuple(outputs), False, formula)
                winner = parity.solve(made.arena()).winner
                if winner[made.parity().initial] == 0:
                    start = search.start(winner)
                    if start:
                        automaton = search.automaton(start).emerson_lei
                        made = Specification(automaton, tuple(outputs), False, formula)
                    return made
                if not search.more(winner):
                    break
    except TooLargeError:
        pass
    return None


class _Search:
    """What is explored.

    The states of a safe part that is unfolded are functions. With `stronger` a state is
    taken for one that is known and asks for more there, and those that ask for most are
    explored first: then a part of many states mostly comes down to few.
    """

    def __init__(
        self, product: Factors, inputs: int, names: tuple[str, ...], stronger: bool
    ):
        self._product, self._inputs, self._names = product, inputs, names
        self._values: dict[State, float] = {}
        self._begun: dict[State, list[Step]] = {}
        self._promise = [_promise_of(product, i) for i in range(len(product.plain))]
        self._unfolded = [
            (i, x.states)
            for i, x in enumerate(product.parts)
            if stronger and isinstance(x, Unfolded)
        ]
        # The states that differ there alone, by what they share: how open they are, in
        # ascending order, and which they are.
        self._alike: dict[State, tuple[list[float], list[State]]] = {}
        self._order: list[State] = []
        self._number: dict[State, int] = {}
        # Of each state: ends that may yet be explored, the best first; those that are.
        self._left: list[list[tuple[State, int, int]]] = []
        self._edges: list[Edges] = []
        self._due: list[int] = []
        self._enter(product.start)

    def _enter(self, state: State) -> int:
        if state not in self._number:
            known = self._stronger(state) if self._unfolded else None
            if known is not None:
                self._number[state] = self._number[known]
                return self._number[state]
            self._number[state] = len(self._order)
            self._due.append(len(self._order))
            self._order.append(state)
        return self._number[state]

    def _stronger(self, state: State) -> State | None:
        """A known state that asks for more; if there is none, this one is known now."""
        key = list(state)
        for i, _ in self._unfolded:
            key[i] = -1
        shares, states = self._alike.setdefault(tuple(key), ([], []))
        share = self._openness(state)
        place = bisect.bisect_left(shares, share)
        # What asks for more leaves less open. What asks for little more comes first.
        for other in reversed(states[:place]):
            if all(x.implies(other[i], state[i]) for i, x in self._unfolded):
                return other
        shares.insert(place, share)
        states.insert(place, state)
        return None

    def start(self, winner) -> int:
        """The state to begin with: one that asks for more than the first, if it pays.

        A machine that begins as if there had been letters before needs no states for
        the time when there were few. So that it may stay there, the state follows
        itself.
        """
        best, fewest = 0, len(self._reached(0))
        tries = 0
        for q, edges in enumerate(self._edges if self._unfolded else ()):
            if winner[q] != 0 or not any(r == q for r, _ in edges):
                continue
            if self._asks_more(self._order[q], self._order[0]):
                size = len(self._reached(q))
                best, fewest = (q, size) if size < fewest else (best, fewest)
                tries += 1
                if tries == STARTS:
                    break
        return best

    def _asks_more(self, one: State, other: State) -> bool:
        """Whether all that is right from one state on is so from another."""
        unfolded = dict(self._unfolded)
        return all(
            unfolded[i].implies(a, b) if i in unfolded else a == b
            for i, (a, b) in enumerate(zip(one, other, strict=True))
        )

    def _reached(self, start: int) -> set[int]:
        found, work = {start}, [start]
        while work:
            new = {r for r, _ in self._edges[work.pop()]} - found
            found |= new
            work += new
        return found

    def _openness(self, state: State) -> float:
        """How much the unfolded parts leave open in a state."""
        return sum(states.share(state[i]) for i, states in self._unfolded)

    def _value(self, state: State) -> float:
        """How promising a state is."""
        found = self._values.get(state)
        if found is None:
            pairs = zip(self._promise, state, strict=False)
            found = self._values[state] = sum([of(q) for of, q in pairs])
        return found

    def expand(self, max_states: int, ends: int) -> bool:
        """So many ends more for each input, where due; False: too many states."""
        while self._due:
            limits.tick("exploring", len(self._order), "states")
            if len(self._order) > max_states:
                return False
            q = self._due.pop()
            while len(self._left) <= q:
                self._left.append([])
                self._edges.append({})
            if not self._edges[q]:
                self._left[q] = self._ranked(self._order[q])
            known = len(self._due)
            for _ in range(ends):
                self._choose(q)
            if self._unfolded:
                self._due[known:] = sorted(
                    self._due[known:], key=lambda r: -self._openness(self._order[r])
                )
        return True

    def _ranked(self, state: State) -> list[tuple[State, int, int]]:
        ranked = []
        for (after, colour), some in self._product.row(state, self._begun).items():
            good = colour if colour % 2 == 0 else -colour
            ranked.append((-good, -self._value(after), after, colour, some))
        ranked.sort(key=lambda x: x[:4])
        return [x[2:] for x in ranked]

    def _choose(self, q: int) -> None:
        letters = self._product.letters
        every = letters.first(letters.all, self._inputs)
        covered, left = 0, []
        for place, (after, colour, some) in enumerate(self._left[q]):
            if covered == every:
                # What is left need not be looked at: mostly it is most of all.
                left += self._left[q][place:]
                break
            allowing = letters.first(some, self._inputs)
            if letters.minus(allowing, covered):
                covered = letters.either(covered, allowing)
                end = self._enter(after), colour
                self._edges[q][end] = letters.either(self._edges[q].get(end, 0), some)
            else:
                left.append((after, colour, some))
        self._left[q] = left

    def more(self, winner) -> bool:
        """Has more explored where the system loses; False if there is no more."""
        self._due = [q for q, left in enumerate(self._left) if left and winner[q] == 1]
        return bool(self._due)

    def automaton(self, start: int = 0) -> ParityAutomaton:
        """What is explored; a state that rejects is for what is not."""
        letters, lost = self._product.letters, len(self._order)
        rows = [(lost, letters.cubes(letters.all), lost, 1)]
        for q, edges in enumerate(self._edges):
            limits.tick("exploring", q, "states")
            rest = letters.all
            for (r, colour), some in edges.items():
                rows.append((q, letters.cubes(some), r, colour))
                rest = letters.minus(rest, some)
            if rest:
                rows.append((q, letters.cubes(rest), lost, 1))
        return of_rows(
            rows, num_states=lost + 1, propositions=self._names, initial=start
        )


def _promise_of(product: Factors, part: int) -> Callable[[int], float]:
    """Of a state of a part: about how much it leaves open."""
    graph = product.plain[part]
    if isinstance(graph, Unfolded):
        return graph.states.share
    return _promises(product, graph).__getitem__


def _promises(product: Factors, graph: Graph) -> list[float]:
    """Of each state of a part: about how many of the letters have a good colour."""
    letters, found = product.letters, []
    for q, edges in enumerate(graph.edges):
        good, stays = 0, all(r == q for r, _ in edges)
        for (_, colour), some in edges.items():
            if colour % 2 == 0:
                good = letters.either(good, some)
        share = sum(
            0.5 ** (must | never).bit_count() for must, never in letters.cubes(good)
        )
        # A state in which a part has failed for ever is the last to come to.
        found.append(
            min(share, 1.0) if good or not stays else -float(len(product.plain))
        )
    return found

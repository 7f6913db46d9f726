"""Specifications of generalised reactivity of rank 1, decided by decision diagrams.

Where what is asked comes to this, that all of some marks are met again and again unless
one of others is not, the game is solved by a fixpoint of sets of states, which are
Boolean functions of bits of the states of all parts. So neither the product of the
parts is made nor letters are told apart. The machine pursues one goal after another.
Its outputs are chosen as functions of as few bits as may be, so that it mostly needs to
remember little of the states.

What the system does not win the environment does, by the sets that the fixpoint leaves
out. It keeps from a goal, and meanwhile meets one mark of fairness after another; which
goal that is, the state says.

References:
    Könighofer, Hofferek and Bloem, Debugging formal specifications using simple
    counterstrategies, FMCAD 2009, doi:10.1109/FMCAD.2009.5351127.
    Bloem, Jobstmann, Piterman, Pnueli and Sa'ar, Synthesis of reactive(1) designs,
    J. Comput. Syst. Sci. 78 (2012), doi:10.1016/j.jcss.2011.08.007.
"""

import functools
import operator
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.acceptance import Acceptance
from jaxgames.ltl import Formula, ParityAutomaton
from jaxgames.ltl._deterministic import apart
from jaxgames.ltl._diagrams import FALSE, TRUE, Diagrams
from jaxgames.ltl._graph import Graph
from jaxgames.ltl._letters import Letters
from jaxgames.ltl._parity_automaton import of_rows
from jaxgames.synth._controller import Circuit, Controller
from jaxgames.synth._gates import Gates
from jaxgames.synth._side_by_side import cone
from jaxgames.synth._specification import Specification
from jaxgames.tuning.ltl import (
    PART_STATES,
    REACTIVE_FROM,
    REACTIVE_NODES,
    REACTIVE_STATES,
)


def reactive(
    formula: Formula, inputs: list[str], outputs: list[str], *, moore: bool = False
) -> Specification | None:
    """A specification of the words of one controller of a formula, and of no others.

    Where there is no controller: of all words but those of one machine of the
    environment, none of which the formula has. None where nothing was found in this
    way, or where the formula has so few parts that nothing is saved.

    Args:
        formula: any.
        inputs: names.
        outputs: names.
        moore: whether the system goes first.
    """
    try:
        letters, parts, condition = apart(formula, (*inputs, *outputs), PART_STATES)
        if len(parts) < REACTIVE_FROM:
            return None
        game = _Game(letters, parts, condition, inputs, outputs, moore)
        won = game.is_won()
        machine = cone(game.circuit(), outputs if won else inputs)
        controller = machine.controller(max_states=REACTIVE_STATES)
    except limits.LimitError:
        raise
    except (ValueError, _OtherKindError, RecursionError):  # of sizes
        return None
    automaton = _words(controller, letters, (*inputs, *outputs), realizable=won)
    return Specification(automaton.emerson_lei, tuple(outputs), moore, formula)


def _words(
    machine: Controller, letters: Letters, names: tuple[str, ...], *, realizable: bool
) -> ParityAutomaton:
    """The words of a machine, or with `realizable` false all but these.

    A last state is for what is no word of the machine.
    """
    own, others = (2, 1) if realizable else (1, 2)
    reads = [1 << names.index(x) for x in machine.reads]
    writes = [1 << names.index(x) for x in machine.writes]
    every = sum(writes)
    lost = machine.num_states
    rows = [(lost, letters.cubes(letters.all), lost, others)]
    for q in range(lost):
        limits.tick("making a controller", q, "states")
        ends: dict[int, int] = {}
        rest = letters.all
        for path in machine.paths(q):
            must, never = (_of(mask, reads) for mask in path[:2])
            written = _of(int(machine.output[path[2]]), writes)
            some = letters.of_guard(((must | written, never | every & ~written),))
            after = int(machine.successor[path[2]])
            ends[after] = letters.either(ends.get(after, 0), some)
            rest = letters.minus(rest, some)
        rows += [(q, letters.cubes(some), r, own) for r, some in ends.items()]
        if rest:
            rows.append((q, letters.cubes(rest), lost, others))
    return of_rows(rows, num_states=lost + 1, propositions=names)


def _of(mask: int, bits: list[int]) -> int:
    return sum(bit for i, bit in enumerate(bits) if mask >> i & 1)


class _OtherKindError(Exception):
    """The condition is not of this kind."""


class _Mark(NamedTuple):
    """Of moves, those with a mark.

    Attributes:
        moves: the set.
        settles: whether from some move on all have the mark, or none has it.
    """

    moves: int
    settles: bool


class _Goal(NamedTuple):
    """How a goal is pursued: one of the system, or a mark of fairness to be met.

    Attributes:
        allowed: the moves that may be made.
        met: those that meet the goal.
    """

    allowed: int
    met: int


class _Step(NamedTuple):
    """What the system has lost at once.

    Attributes:
        goal: which it cannot meet.
        before: the states that it had not lost before.
        after: those of them that are left.
    """

    goal: int
    before: int
    after: int


class _Game:
    """Sets of states and of moves: functions of bits of states, inputs and outputs.

    A move is a state and a letter. The bits of the initial state are false.
    """

    def __init__(
        self,
        letters: Letters,
        parts: list[Graph],
        condition: Acceptance,
        inputs: list[str],
        outputs: list[str],
        moore: bool,
    ):
        self._inputs, self._outputs, self._moore = inputs, outputs, moore
        names = (*inputs, *outputs)
        # Propositions and the bits of states that they decide lie side by side.
        level: dict[str, int] = {}
        places: list[range] = []
        count = 0
        for part in parts:
            for name in _mentioned(part, names):
                if name not in level:
                    level[name] = count
                    count += 1
            width = (len(part.edges) - 1).bit_length()
            places.append(range(count, count + width))
            count += width
        for name in names:
            if name not in level:
                level[name] = count
                count += 1
        levels = [level[name] for name in names]
        self.store = Diagrams(levels, max_nodes=REACTIVE_NODES)
        self._level = level
        self._bits = [x for some in places for x in some]
        self._reads = frozenset(level[name] for name in inputs)
        self._writes = frozenset(level[name] for name in outputs)
        self._next = dict.fromkeys(self._bits, FALSE)
        self._known: dict[frozenset[int], dict[int, int]] = {}
        self._after: dict[int, int] = {}
        marks: list[_Mark] = []
        for part, some in zip(parts, places, strict=True):
            marks += self._marks_of(part, some, letters, len(marks))
        self._fair, self._goals = _sides(self.store, condition, marks)
        self._pursued: list[_Goal] = []
        self._won = False

    def _marks_of(
        self, part: Graph, places: range, letters: Letters, offset: int
    ) -> list[_Mark]:
        """Notes where a part goes, and finds the moves with each of its marks."""
        store, initial = self.store, part.initial[0]
        code = {q: q for q in range(len(part.edges))} | {0: initial, initial: 0}
        found = [FALSE] * part.num_sets
        for q, edges in enumerate(part.edges):
            here = TRUE
            for i, level in enumerate(places):
                bit = store.variable(level)
                here = store.both(here, bit if code[q] >> i & 1 else store.negated(bit))
            for (r, met), some in edges.items():
                move = store.both(here, store.guard(letters.cubes(some)))
                for i, level in enumerate(places):
                    if code[r] >> i & 1:
                        self._next[level] = store.either(self._next[level], move)
                for i in range(part.num_sets):
                    if met >> offset + i & 1:
                        found[i] = store.either(found[i], move)
        return [
            _Mark(moves, _settles(part, offset + i)) for i, moves in enumerate(found)
        ]

    # ---- sets ----------------------------------------------------------------

    def _some(self, node: int, levels: frozenset[int]) -> int:
        return self.store.some(node, levels, self._known.setdefault(levels, {}))

    def _every(self, node: int, levels: frozenset[int]) -> int:
        store = self.store
        return store.negated(self._some(store.negated(node), levels))

    def _into(self, states: int) -> int:
        """The moves that lead into some states."""
        return self.store.composed(states, self._next, self._after)

    def _forced(self, moves: int) -> int:
        """The states in which the system can see to it that a move is among some."""
        if self._moore:
            return self._some(self._every(moves, self._reads), self._writes)
        return self._every(self._some(moves, self._writes), self._reads)

    def is_won(self) -> bool:
        """Solves the game; whether the system wins from the initial state."""
        won, steps = TRUE, []
        while True:
            before, self._pursued = won, []
            for goal in self._goals:
                near, pursued = self._pursue(goal, won)
                if near != won:
                    steps.append(_Step(goal, won, near))
                won = near
                self._pursued.append(pursued)
                if not self._has_start(won):
                    self._pursued = self._kept_from(steps)
                    return False
            if won == before:
                self._won = True
                return True

    def _has_start(self, states: int) -> bool:
        store = self.store
        while states not in (FALSE, TRUE):
            states = store.low[states]
        return states == TRUE

    def _pursue(self, goal: int, won: int) -> tuple[int, _Goal]:
        """The states from which a goal is met without leaving some states, and how.

        Or some mark of fairness is not met from some move on.
        """
        store = self.store
        met = store.both(goal, self._into(won))
        near, allowed = FALSE, FALSE
        while True:
            limits.tick("solving", len(store.level), "nodes")
            before = near
            good = store.either(met, self._into(near))
            for fair in self._fair:
                *_, (states, _, moves) = self._waiting(good, fair, won)
                new = store.both(states, store.negated(near))
                allowed = store.either(allowed, store.both(new, moves))
                near = store.either(near, states)
            if near == before:
                return near, _Goal(allowed, goal)

    def _waiting(
        self, good: int, fair: int, states: int
    ) -> Iterator[tuple[int, int, int]]:
        """States in which moves are good, or unfair and back among them; ever fewer.

        Yields:
            The states, those that are left of them, and these moves; the last time
            all are left.
        """
        store, unfair = self.store, self.store.negated(fair)
        while True:
            limits.tick("solving", len(store.level), "nodes")
            moves = store.either(good, store.both(unfair, self._into(states)))
            less = store.both(states, self._forced(moves))
            yield states, less, moves
            if less == states:
                return
            states = less

    def _kept_from(self, steps: list[_Step]) -> list[_Goal]:
        """How the environment meets each mark of fairness, and the system no goal.

        What was lost at once is left only to what was lost before. There, for each
        mark, the environment comes nearer to a move with that mark; and the goal of the
        step is met by none of these moves.
        """
        store, found = self.store, [FALSE] * len(self._fair)
        for step in steps:
            good = store.either(
                store.both(step.goal, self._into(step.before)), self._into(step.after)
            )
            lost = store.both(step.before, store.negated(step.after))
            for i, fair in enumerate(self._fair):
                for states, less, moves in self._waiting(good, fair, step.before):
                    new = store.both(store.both(states, store.negated(less)), lost)
                    new = store.both(new, store.negated(moves))
                    found[i] = store.either(found[i], new)
        return [_Goal(*x) for x in zip(found, self._fair, strict=True)]

    # ---- the machine ---------------------------------------------------------

    def circuit(self) -> Circuit:
        """The machine of the winner, once the game is solved."""
        reads, writes = self._inputs, self._outputs
        if not self._won:
            reads, writes = writes, reads
        store, inputs = self.store, len(reads)
        width = (len(self._pursued) - 1).bit_length()
        latches = len(self._bits) + width
        making = Gates(inputs + latches)
        literal = {self._level[x]: 2 * (i + 1) for i, x in enumerate(reads)}
        literal |= {x: 2 * (inputs + 1 + i) for i, x in enumerate(self._bits)}
        counter = [2 * (inputs + 1 + len(self._bits) + i) for i in range(width)]
        ends: list[list[int]] = []
        known: dict[int, int] = {FALSE: 0, TRUE: 1}

        def made(node: int) -> int:
            if node not in known:
                low, high = made(store.low[node]), made(store.high[node])
                known[node] = making.choice(literal[store.level[node]], high, low)
            return known[node]

        for number, pursued in enumerate(self._pursued):
            limits.tick("making a controller", number, "goals")
            written = self._written(pursued.allowed, reads, writes)
            by = {self._level[x]: written[x] for x in writes}
            memo: dict[int, int] = {}
            met = made(store.composed(pursued.met, by, memo))
            follower = (number + 1) % len(self._pursued)
            bits = [made(store.composed(self._next[x], by, memo)) for x in self._bits]
            for i in range(width):
                here, there = number >> i & 1, follower >> i & 1
                bits.append(making.choice(met, there, here))
            ends.append([*(made(written[x]) for x in writes), *bits])

        def chosen(which: int, bit: int, first: int) -> int:
            if bit < 0 or first >= len(ends):
                return ends[min(first, len(ends) - 1)][which]
            low = chosen(which, bit - 1, first)
            if first + (1 << bit) >= len(ends):
                return low
            high = chosen(which, bit - 1, first + (1 << bit))
            return making.choice(counter[bit], high, low)

        count = len(writes) + latches
        found = [chosen(which, width - 1, 0) for which in range(count)]
        return Circuit(
            tuple(reads),
            tuple(writes),
            np.array(found[len(writes) :], np.int64),
            np.zeros(latches, np.int64),
            np.array(found[: len(writes)], np.int64),
            np.array(making.gates, np.int64).reshape(-1, 2),
        )

    def _written(
        self, allowed: int, reads: list[str], writes: list[str]
    ) -> dict[str, int]:
        """Functions of what is known that make moves that are allowed.

        Each is false where it may be, and depends on nothing that it need not depend
        on: on bits of states least of all.
        """
        store = self.store
        read = frozenset(self._level[x] for x in reads)
        if self._moore == self._won:  # the winner goes first
            allowed = self._every(allowed, read)
        order = [*self._bits, *sorted(read)]
        found = {}
        for place, name in enumerate(writes):
            level = self._level[name]
            rest = frozenset(self._level[x] for x in writes[place + 1 :])
            on, off = (
                self._some(store.composed(allowed, {level: x}, {}), rest)
                for x in (TRUE, FALSE)
            )
            least = store.both(on, store.negated(off))
            most = store.either(on, store.negated(off))
            for other in order:
                one = frozenset((other,))
                more, less = self._some(least, one), self._every(most, one)
                if store.implies(more, less):
                    least, most = more, less
            found[name] = least
            allowed = store.composed(allowed, {level: least}, {})
        return found


def _mentioned(part: Graph, names: tuple[str, ...]) -> list[str]:
    cubes = (
        cube
        for edges in part.edges
        for some in edges.values()
        for cube in part.letters.cubes(some)
    )
    masks = functools.reduce(operator.or_, (must | never for must, never in cubes), 0)
    return [name for i, name in enumerate(names) if masks >> i & 1]


def _settles(part: Graph, mark: int) -> bool:
    """Whether from some move on all have a mark, or none has it."""
    having = [{met >> mark & 1 for _, met in edges} for edges in part.edges]
    return any(
        all(
            having[r] == {side}
            for edges in part.edges
            for r, met in edges
            if met >> mark & 1 == side
        )
        for side in (0, 1)
    )


def _sides(
    store: Diagrams, condition: Acceptance, marks: list[_Mark]
) -> tuple[list[int], list[int]]:
    """Moves of fairness, and of goals: these are met for ever unless some of those not.

    A mark that settles is met for ever if and only if the moves without it are not. And
    moves that settle restrict all others of their side, so that there are fewer.
    """

    def moves(node: Acceptance, wanted: str) -> _Mark:
        if node.operator not in ("inf", "fin"):
            raise _OtherKindError
        found = marks[node.mark]
        if node.operator == wanted:
            return found
        if not found.settles:
            raise _OtherKindError
        return _Mark(store.negated(found.moves), True)

    def joined(some: list[_Mark]) -> list[int]:
        settling = store.all_of(x.moves for x in some if x.settles)
        rest = [store.both(x.moves, settling) for x in some if not x.settles]
        return rest or [settling]

    fair: list[_Mark] = []
    goals: list[_Mark] = []
    if condition.operator == "true":
        return [TRUE], [TRUE]
    if condition.operator == "false":
        return [TRUE], [FALSE]
    asked = condition.operands if condition.operator == "|" else (condition,)
    later: list[Acceptance] = []
    for node in asked:
        try:
            fair.append(moves(node, "fin"))
        except _OtherKindError:
            later.append(node)
    if len(later) > 1:
        raise _OtherKindError
    for node in later:
        for x in node.operands if node.operator == "&" else (node,):
            goals.append(moves(x, "inf"))
    return joined(fair), joined(goals) if later else [FALSE]

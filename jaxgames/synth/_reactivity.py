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
from jaxgames.ltl._diagrams import FALSE, TRUE, Diagrams, TooManyNodesError
from jaxgames.ltl._graph import Graph, components
from jaxgames.ltl._letters import Letters
from jaxgames.ltl._parity_automaton import of_rows
from jaxgames.synth._controller import Circuit, Controller
from jaxgames.synth._gates import Gates
from jaxgames.synth._side_by_side import cone, side_by_side
from jaxgames.synth._specification import Specification
from jaxgames.tuning.ltl import (
    PART_STATES,
    REACTIVE_FROM,
    REACTIVE_MACHINE_NODES,
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
    """
    try:
        letters, parts, condition = apart(formula, (*inputs, *outputs), PART_STATES)
        if len(parts) < REACTIVE_FROM:
            return None
        game = _Game(letters, parts, condition, inputs, outputs, moore)
        won = game.is_won()
        if won:
            game.ask_for_more()
        game.store.max_nodes = REACTIVE_MACHINE_NODES
        machine = cone(game.circuit(), outputs if won else inputs)
        controller = machine.controller(max_states=REACTIVE_STATES).reduced()
    except (ValueError, _OtherKindError, RecursionError):  # of sizes
        return None
    automaton = _words(controller, letters, (*inputs, *outputs), realizable=won)
    found = Specification(automaton.emerson_lei, tuple(outputs), moore, formula)
    reads, writes = (inputs, outputs) if won else (outputs, inputs)
    return found.of_machine(side_by_side([machine], tuple(reads), tuple(writes)))


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
        plain: those that have it in whatever state their part is.
        fails: whether those without it are those by which, and after which, the part
            has failed.
    """

    moves: int
    settles: bool
    plain: int = FALSE
    fails: bool = False


class _Failure(NamedTuple):
    """How a part fails for ever.

    Attributes:
        mark: its only mark, a place in all of them.
        state: where it has failed; -1: it cannot.
        side: what fails then: a `goal`, what is `fair`, or what must hold `always`.
        marked: whether it has its mark as long as it has not failed.
    """

    mark: int
    state: int
    side: str
    marked: bool


class _Goal(NamedTuple):
    """How a goal is pursued: one of the system, or a mark of fairness to be met.

    Attributes:
        allowed: the moves that may be made.
        met: those that meet the goal.
    """

    allowed: int
    met: int


class _Step(NamedTuple):
    """What the system has lost at once, as it cannot meet a goal.

    Attributes:
        goal: which.
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
        failures = list(_failures(parts, condition))
        # Parts whose failure decides the same share a bit that says so.
        sides = sorted({x.side for x in failures if x.state >= 0})
        failed = {side: i for i, side in enumerate(sides)}
        # Propositions and the bits of states that they decide lie side by side.
        level: dict[str, int] = {}
        places: list[range] = []
        count = len(failed)
        for part, failure in zip(parts, failures, strict=True):
            for name in _mentioned(part, names):
                if name not in level:
                    level[name] = count
                    count += 1
            size = len(part.edges) - (failure.state >= 0)
            width = (size - 1).bit_length()
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
        store, marks, failing = self.store, list[_Mark](), dict.fromkeys(sides, FALSE)
        for part, some, failure in zip(parts, places, failures, strict=True):
            found, moves = self._marks_of(part, some, letters, len(marks), failure)
            marks += found
            if failure.state >= 0:
                failing[failure.side] = store.either(failing[failure.side], moves)
        while by := self._like_others():
            memo: dict[int, int] = {}
            self._bits = [x for x in self._bits if x not in by]
            self._next = {
                x: store.composed(self._next[x], by, memo) for x in self._bits
            }
            marks = [
                x._replace(
                    moves=store.composed(x.moves, by, memo),
                    plain=store.composed(x.plain, by, memo),
                )
                for x in marks
            ]
            failing = {x: store.composed(y, by, memo) for x, y in failing.items()}
        fine: dict[str, int] = {}
        for side, bit in failed.items():
            self._bits.append(bit)
            self._next[bit] = store.either(failing[side], store.variable(bit))
            fine[side] = store.negated(self._next[bit])
        for x in failures:
            if x.state >= 0:
                moves = fine[x.side]
                moves = moves if x.marked else store.negated(moves)
                marks[x.mark] = _Mark(moves, True, fails=True)
        self._always, self._fair, self._goals = _sides(store, condition, marks)
        plain = [x._replace(moves=x.plain or x.moves) for x in marks]
        self._plain_goals = _sides(store, condition, plain)[2]
        self._pursued: list[_Goal] = []
        self._won = False

    def _marks_of(
        self,
        part: Graph,
        places: range,
        letters: Letters,
        offset: int,
        failure: _Failure,
    ) -> tuple[list[_Mark], int]:
        """Notes where a part goes, and finds the moves with each of its marks.

        Also those that make it fail. They go where they would from the initial state,
        so that what is noted of a letter is so always.
        """
        store, initial = self.store, part.initial[0]
        states = [
            q for q in range(len(part.edges)) if q not in (initial, failure.state)
        ]
        code = {q: i for i, q in enumerate([initial, *states])}
        found, failing = [FALSE] * part.num_sets, FALSE
        instead = [
            (r, some)
            for (r, _), some in part.edges[initial].items()
            if r != failure.state
        ]
        if instead and failure.state >= 0:  # all others go with the first of these
            rest = functools.reduce(letters.either, (x for _, x in instead[1:]), 0)
            instead[0] = instead[0][0], letters.minus(letters.all, rest)
        for q, edges in enumerate(part.edges):
            if q == failure.state:
                continue
            here = TRUE
            for i, level in enumerate(places):
                bit = store.variable(level)
                here = store.both(here, bit if code[q] >> i & 1 else store.negated(bit))
            for (r, met), some in edges.items():
                move = store.both(here, store.guard(letters.cubes(some)))
                ends = [(r, some)]
                if r == failure.state:
                    failing = store.either(failing, move)
                    ends = [(end, letters.both(some, x)) for end, x in instead]
                for end, some in ends:
                    move = store.both(here, store.guard(letters.cubes(some)))
                    for i, level in enumerate(places):
                        if code[end] >> i & 1:
                            self._next[level] = store.either(self._next[level], move)
                if r == failure.state:
                    continue
                for i in range(part.num_sets):
                    if met >> offset + i & 1:
                        found[i] = store.either(found[i], move)
        own = frozenset(places)
        return [
            _Mark(moves, _settles(part, offset + i), self._every(moves, own))
            for i, moves in enumerate(found)
        ], failing

    def _like_others(self) -> dict[int, int]:
        """The bits that are always as others are, with what stands in their place."""
        first: dict[int, int] = {}
        found: dict[int, int] = {}
        for bit in self._bits:
            same = first.setdefault(self._next[bit], bit)
            if same != bit:
                found[bit] = self.store.variable(same)
        return found

    # ---- sets ----------------------------------------------------------------

    def _some(self, node: int, levels: frozenset[int]) -> int:
        return self.store.some(node, levels, self._known.setdefault(levels, {}))

    def _every(self, node: int, levels: frozenset[int]) -> int:
        store = self.store
        return store.negated(self._some(store.negated(node), levels))

    def _into(self, states: int) -> int:
        """The moves that lead into some states, and do what must be done always."""
        into = self.store.composed(states, self._next, self._after)
        return self.store.both(into, self._always)

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

    def ask_for_more(self) -> None:
        """Makes goals of such as are seen by the letter alone, where it wins still.

        Then the machine need not know the states of their parts: an arbiter that grants
        again and again need not know who waits.
        """
        kept, best = list(self._goals), self._pursued
        every = list(self._plain_goals)
        try:
            for place in (None, *range(len(every))):
                goals = every  # or, if not all at once, those that go together
                if place is not None:
                    goals = [*kept[:place], every[place], *kept[place + 1 :]]
                if goals == kept:
                    continue
                self._goals = goals
                if self.is_won():
                    kept, best = goals, self._pursued
                    if place is None:
                        break
        except TooManyNodesError:
            pass
        self._goals, self._pursued, self._won = kept, best, True

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

        Each time those that are left of them, and these moves; last all are left.
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


def _failures(parts: list[Graph], condition: Acceptance) -> Iterator[_Failure]:
    """How each part fails."""
    roles: dict[int, tuple[str, bool]] = {}
    always, condition = _split(condition)
    sides = [("always", x) for x in always]
    for node in condition.operands if condition.operator == "|" else (condition,):
        if node.operator == "&":
            sides += [("goal", x) for x in node.operands]
        else:
            sides.append(("fair", node))
    for side, x in sides:
        role = side, (side == "fair") == (x.operator == "fin")
        if x.operator in ("inf", "fin") and roles.setdefault(x.mark, role) != role:
            # What must hold always is no goal besides.
            both_ask = roles[x.mark] == ("always", role[1]) and side == "goal"
            roles[x.mark] = roles[x.mark] if both_ask else ("", False)
    mark = 0
    for part in parts:
        side, marked = roles.get(mark, ("", False))
        state = -1
        if part.num_sets == 1 and side:
            state = _failed(part, mark, marked)
        yield _Failure(mark, state, side, marked)
        mark += part.num_sets


def _split(condition: Acceptance) -> tuple[tuple[Acceptance, ...], Acceptance]:
    """What must hold beside alternatives; and these, or the condition as it is."""
    if condition.operator == "&":
        alternatives = [x for x in condition.operands if x.operator == "|"]
        if len(alternatives) == 1:
            rest = (x for x in condition.operands if x is not alternatives[0])
            return tuple(rest), alternatives[0]
    return (), condition


def _failed(part: Graph, mark: int, marked: bool) -> int:
    """The state that is not left, and has a mark as nothing before has it; -1: none."""
    having = [{met >> mark & 1 for _, met in edges} for edges in part.edges]
    last = [q for q, edges in enumerate(part.edges) if {r for r, _ in edges} == {q}]
    _, label = components([[r for r, _ in edges] for edges in part.edges])
    for q in last:
        if having[q] == {int(not marked)} and q != part.initial[0]:
            others = (
                met >> mark & 1
                for p, edges in enumerate(part.edges)
                for r, met in edges
                if p != q and label[p] == label[r]  # others are met but once
            )
            if all(x == marked for x in others):
                return q
    return -1


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
) -> tuple[int, list[int], list[int]]:
    """Moves that must be made always, those of fairness, and those of goals.

    Goals are met for ever unless something of fairness is not.
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
        return TRUE, [TRUE], [TRUE]
    if condition.operator == "false":
        return TRUE, [TRUE], [FALSE]
    beside, condition = _split(condition)
    found = [moves(x, "inf") for x in beside]
    if not all(x.fails or x.moves in (FALSE, TRUE) for x in found):
        raise _OtherKindError
    always = store.all_of(x.moves for x in found)
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
    return always, joined(fair), joined(goals) if later else [FALSE]

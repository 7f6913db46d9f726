"""Model checks a controller against its specification."""

import contextlib
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from jaxgames import limits, ltl
from jaxgames.acceptance import Acceptance, both, inf
from jaxgames.kept import kept
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import Automaton, Formula
from jaxgames.ltl._emerson_lei import accepting_cycle
from jaxgames.ltl._graph import TooLargeError
from jaxgames.ltl._guards import MAX_PROPOSITIONS, covers
from jaxgames.ltl._normal_form import both as conjunction
from jaxgames.ltl._normal_form import normal_form, until
from jaxgames.ltl._normal_form import release as released
from jaxgames.ltl._parity_automaton import check_deterministic
from jaxgames.ltl._translate import MAX_STATES
from jaxgames.synth._controller import Circuit, Controller
from jaxgames.synth._decomposition import Decomposition
from jaxgames.synth._side_by_side import cone, needed_by
from jaxgames.synth._split import alternatives, conjuncts
from jaxgames.tuning.ltl import FEW_STATES, ROWS, WHOLE_STATES

if TYPE_CHECKING:
    from jaxgames.synth._specification import Specification

MAX_PAIRS = 1 << 24
"""Pairs of states that are looked at."""


@limited()
def verify(
    specification: "Specification | Decomposition",
    controller: Controller | Circuit | Automaton,
    *,
    realizable: bool = True,
    **bounds: Unpack[Bounds],
) -> bool:
    """Whether a controller does what is asked, on every run.

    Nothing of the game is used. The words of the controller are read by the automaton
    as it was given, with its own acceptance condition; the product must have no cycle
    that the negated condition accepts. If the specification was made of a formula, the
    words must be none of those that a Büchi automaton of the negated formula accepts.

    For that the negation is multiplied out, and an automaton of each alternative, or of
    as much of it as does, is compared with the words; of a circuit, with the part that
    what is mentioned depends on. Of a formula that was taken apart there is no other
    automaton; how it was taken apart plays no role.

    Args:
        specification: what is asked.
        controller: a machine or a circuit that reads the inputs and writes the outputs;
            with `moore` what it writes depends on its state alone. Or an automaton of
            the words that a machine can bring about, in which all runs accept. It may
            leave outputs open; then all that it allows must be right, and it must allow
            something for all inputs in each state that a word can lead to.
        realizable: False for a machine that shows that there is no controller: it reads
            the outputs, writes the inputs, and no run may do what is asked.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the propositions are others.

    Examples:
        >>> from jaxgames import synth
        >>> asked = synth.Specification.from_ltl("G(r <-> X g)", ["r"], ["g"])
        >>> verify(asked, synth.solve(asked).controller())
        True
        >>> other = synth.Specification.from_ltl("G(r <-> g)", ["r"], ["g"])
        >>> verify(asked, synth.solve(other).controller())
        False
    """
    reads, writes = specification.inputs, specification.outputs
    if not realizable:
        reads, writes = writes, reads
    first = specification.moore == realizable
    if isinstance(controller, Automaton):
        _check_names(controller, reads, writes)
        if not _answers(controller, reads, moore=first):
            return False
    else:
        is_circuit = isinstance(controller, Circuit)
        for what, found, expected in (
            ("reads", controller.inputs if is_circuit else controller.reads, reads),
            ("writes", controller.outputs if is_circuit else controller.writes, writes),
        ):
            if sorted(found) != sorted(expected):
                raise ValueError(
                    f"the controller {what} {' '.join(found) or 'nothing'}, the "
                    f"specification asks for {' '.join(expected) or 'nothing'}"
                )
    if isinstance(specification, Decomposition):
        bad = normal_form(specification.formula, realizable)
        return _is_right(bad, reads, writes, controller, moore=first)
    if isinstance(controller, Circuit):
        controller = controller.controller()
    if first and isinstance(controller, Controller) and not controller.is_moore:
        return False
    words = _words(controller, specification.automaton.propositions)
    automaton, condition = specification.automaton, specification.automaton.condition
    check_deterministic(automaton.graph)  # so that every word has one run
    wrong = condition.negated() if realizable else condition
    if _has_run(words, automaton.graph, wrong):
        return False
    if specification.formula is None:
        return True
    bad = normal_form(specification.formula, realizable)
    return _is_right(bad, reads, writes, controller, moore=first)


def _is_right(
    bad: Formula,
    reads: tuple[str, ...],
    writes: tuple[str, ...],
    machine: Controller | Circuit | Automaton,
    *,
    moore: bool,
) -> bool:
    """Whether no word of a machine satisfies a formula in negation normal form.

    With `moore` what is written must depend on the state alone.
    """
    own = frozenset(writes)
    parts = _Parts(machine)
    if moore and not all(map(parts.is_moore, writes)):
        return False

    def is_ruled_out(one: Formula, max_states: int = MAX_STATES) -> bool:
        """Whether no word satisfies a formula."""
        part = parts.of(tuple(name for name in writes if name in one.propositions))
        words = _words(part, one.propositions)
        found = ltl.translate(
            one,
            generalised=True,
            propositions=words.propositions,
            max_states=max_states,
        )
        return not _has_run(words, found, both(map(inf, range(found.num_sets))))

    def is_ruled_out_somehow(one: Formula) -> bool:
        # What no word satisfies need not be all of a conjunction: mostly it is what
        # has to do with one output.
        names = frozenset(one.propositions)
        for shared in (names, own):
            some = conjuncts(one, shared)
            some.sort(key=lambda each: own.isdisjoint(each.propositions))
            for each in some if len(some) > 1 else ():
                with contextlib.suppress(TooLargeError):
                    if is_ruled_out(each, max_states=FEW_STATES):
                        return True
        return is_ruled_out_by_few(one)

    def is_ruled_out_by_few(one: Formula) -> bool:
        """The same of a conjunction, of which as little as possible is translated.

        A word that satisfies some of it shows what else is needed: first of all what
        says more of the same propositions.
        """
        part = parts.of(tuple(name for name in writes if name in one.propositions))
        words = _words(part, one.propositions)
        with contextlib.suppress(TooLargeError):
            return is_ruled_out(one, max_states=WHOLE_STATES)
        rest = _operands("&", one)
        rest.sort(key=lambda x: (len(x.propositions), x.depth))
        some: list[Formula] = []
        known: set[str] = set()
        while True:
            limits.tick("verifying", len(some), "conjuncts")
            found = ltl.translate(
                conjunction(some), generalised=True, propositions=words.propositions
            )
            if not _has_run(words, found, both(map(inf, range(found.num_sets)))):
                return True
            word = words.intersect(found).some_word()
            assert word is not None
            broken = [x for x in rest if not x.holds_on(*word)]
            if not broken:
                return False
            more = min(
                broken,
                key=lambda x: (
                    known.isdisjoint(x.propositions),
                    len(set(x.propositions) - known),
                ),
            )
            known.update(more.propositions)
            rest.remove(more)
            some.append(more)

    def all_are(some: list[Formula]) -> bool:
        return all(
            (is_ruled_out_by_few if one.operator == "&" else is_ruled_out_somehow)(one)
            for one in limits.ticking(some, "verifying")
        )

    return all(all_are(_split(one)) for one in alternatives(bad, own))


def _split(one: Formula) -> list[Formula]:
    """A conjunction for each operand of the longest disjunction in a conjunction."""
    if one.operator != "&":
        return [one]
    parts = [_operands("|", x) for x in one.operands]
    place = max(range(len(parts)), key=lambda i: len(parts[i]))
    rest = [x for i, x in enumerate(one.operands) if i != place]
    return [conjunction([*rest, x]) for x in parts[place]]


def _operands(operator: str, formula: Formula) -> list[Formula]:
    """What is joined: `G(x & y)` is `G x & G y`, and `F(x | y)` is `F x | F y`."""
    around, first, make = {
        "&": ("R", "false", released),
        "|": ("U", "true", until),
    }[operator]
    found: list[Formula] = []
    work = [formula]
    while work:
        node = work.pop()
        if node.operator == operator:
            work += node.operands
            continue
        if node.operator == around and node.operands[0].operator == first:
            before, inner = node.operands
            if inner.operator == operator:
                work += [make(before, x) for x in inner.operands]
                continue
        found.append(node)
    return found


class _Parts:
    """The parts of a machine that sets of its outputs depend on.

    To explore a circuit takes longer than what is asked of it then, and many sets
    depend on the same inputs and latches. So one part has all outputs that depend on no
    others.
    """

    def __init__(self, machine: Controller | Circuit | Automaton):
        self._machine = machine
        self._known: dict[tuple[frozenset[int], tuple[str, ...]], Controller] = {}
        self._needs: dict[str, frozenset[int]] = {}
        if isinstance(machine, Circuit):
            end = len(machine.inputs) + len(machine.following) + 1
            for name in machine.outputs:
                needed = needed_by(machine, (name,))
                self._needs[name] = frozenset(x for x in needed if x < end)

    def is_moore(self, output: str) -> bool:
        """Whether an output depends on the state alone; of an automaton it is known."""
        part = self.of((output,))
        return isinstance(part, Automaton) or part.is_moore

    def of(self, writes: tuple[str, ...]) -> Controller | Automaton:
        """A part that writes some outputs at least."""
        machine = self._machine
        if not isinstance(machine, Circuit):
            return machine
        needs = frozenset[int]().union(*(self._needs[name] for name in writes))
        more = tuple(x for x in machine.outputs if self._needs[x] <= needs)
        if sum(x <= len(machine.inputs) for x in needs) + len(more) <= MAX_PROPOSITIONS:
            writes = more
        key = needs, writes
        if key not in self._known:
            self._known[key] = cone(machine, writes).controller()
        return self._known[key]


def _check_names(words: Automaton, reads: tuple[str, ...], writes: tuple[str, ...]):
    """Sees that a machine has no propositions of its own; it need not mention all."""
    names = (*reads, *writes)
    other = [name for name in words.propositions if name not in names]
    if other:
        raise ValueError(
            f"the machine mentions {' '.join(other)}, the specification asks for "
            f"{' '.join(reads) or 'nothing'} and {' '.join(writes) or 'nothing'}"
        )


def _answers(words: Automaton, reads: tuple[str, ...], *, moore: bool) -> bool:
    """Whether words go on after all that may be read, wherever they have led.

    With `moore` each output must be right for all inputs, else for one at least.
    """
    read = sum(
        1 << words.propositions.index(x) for x in {*reads} & {*words.propositions}
    )
    offsets = words.cube_offsets[words.offsets]
    cubes = list(zip(words.required.tolist(), words.forbidden.tolist(), strict=True))
    todo = words.initial.tolist()
    met = set(todo)
    while todo:
        limits.tick("verifying", len(met), "states")
        q = todo.pop()
        own = cubes[offsets[q] : offsets[q + 1]]
        if not own or not covers([(a & read, b & read) for a, b in own], (0, 0)):
            return False
        if moore and not all(covers(own, (a & ~read, b & ~read)) for a, b in own):
            return False
        for r in words.targets[words.offsets[q] : words.offsets[q + 1]].tolist():
            if r not in met:
                met.add(r)
                todo.append(r)
    return bool(met)


def _words(machine: Controller | Automaton, names: tuple[str, ...]) -> Automaton:
    """What the words of a machine say of some propositions, in this order."""
    if isinstance(machine, Controller):
        machine = kept(machine, "words", machine.automaton)
    return _mentioning(machine, names)


def _mentioning(words: Automaton, names: tuple[str, ...]) -> Automaton:
    """What words say of some propositions; those of others are left out."""
    edges = np.repeat(np.arange(words.num_edges), np.diff(words.cube_offsets))
    columns = [words.sources[edges], words.targets[edges]]
    for masks in (words.required, words.forbidden):
        found = np.zeros(len(edges), np.uint64)
        for i, name in enumerate(names):
            if name in words.propositions:
                place = np.uint64(words.propositions.index(name))
                found |= (masks >> place & np.uint64(1)) << np.uint64(i)
        columns.append(found)
    columns = np.unique(np.stack(columns, axis=1).astype(np.uint64), axis=0)
    tails, heads, must, never = columns.T
    return Automaton.of_cubes(
        tails.astype(np.int64),
        [(pair,) for pair in zip(must.tolist(), never.tolist(), strict=True)],
        heads.astype(np.int32),
        num_states=words.num_states,
        initial=words.initial,
        propositions=names,
        sets=np.zeros((0, len(tails)), bool),
        name=words.name,
    )


def _has_run(words: Automaton, automaton: Automaton, condition: Acceptance) -> bool:
    """Whether some of the words have a run in an automaton that a condition accepts.

    All runs of the words count; the condition is on the automaton's sets.
    """
    own, other = _cubes(words), _cubes(automaton)
    size, edges = automaton.num_states, automaton.num_edges
    # Pairs, edges and states of a chunk are told apart by one number.
    most = max(1, min(ROWS, (1 << 62) // max(1, words.num_states * edges)))
    order = [p * size + q for p in words.initial.tolist() for q in automaton.initial]
    number = {pair: i for i, pair in enumerate(order)}
    starts = np.arange(len(order))
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    done = 0
    while done < len(order):
        limits.tick("verifying", len(order), "pairs")
        if len(order) > MAX_PAIRS:
            raise ValueError(f"the product has more than {MAX_PAIRS} states")
        p, q = np.divmod(np.array(order[done : done + most], np.int64), size)
        counts = own.count[p] * other.count[q]
        ends = np.cumsum(counts)
        some = max(1, int(np.searchsorted(ends, ROWS, "right")))
        p, q, counts, ends = p[:some], q[:some], counts[:some], ends[:some]
        # Every cube of the one with every cube of the other.
        pair = np.repeat(np.arange(some), counts)
        place = np.arange(len(pair)) - (ends - counts)[pair]
        one, two = np.divmod(place, other.count[q][pair])
        one, two = one + own.begin[p][pair], two + other.begin[q][pair]
        fits = (words.required[one] & automaton.forbidden[two]) == 0
        fits &= (words.forbidden[one] & automaton.required[two]) == 0
        target, edge = own.target[one[fits]], other.edge[two[fits]]
        keys = np.unique((pair[fits] * words.num_states + target) * edges + edge)
        keys, edge = np.divmod(keys, max(1, edges))
        pair, target = np.divmod(keys, words.num_states)
        after, which = np.unique(
            target * size + automaton.targets[edge], return_inverse=True
        )
        for key in after.tolist():
            if key not in number:
                number[key] = len(order)
                order.append(key)
        heads = np.array([number[key] for key in after.tolist()], np.int64)
        parts.append((pair + done, heads[which.reshape(-1)], edge))
        done += some
    empty = np.zeros(0, np.int64)
    tails, heads, taken = map(np.concatenate, zip((empty,) * 3, *parts, strict=True))
    sets = automaton.sets[:, taken]
    found = accepting_cycle(len(order), tails, heads, sets, condition, starts)
    return found is not None


class _Cubes(NamedTuple):
    """Cubes of the guards of an automaton, by states.

    Attributes:
        begin: int64 `[A]`, the first cube of each state.
        count: int64 `[A]`, how many it has.
        edge: int64 `[C]`, the edge of each cube.
        target: int64 `[C]`, where that leads.
    """

    begin: np.ndarray
    count: np.ndarray
    edge: np.ndarray
    target: np.ndarray


def _cubes(automaton: Automaton) -> _Cubes:
    offsets = automaton.cube_offsets.astype(np.int64)
    bounds = offsets[automaton.offsets]
    edge = np.repeat(np.arange(automaton.num_edges), np.diff(offsets))
    target = automaton.targets[edge].astype(np.int64)
    return _Cubes(bounds[:-1], np.diff(bounds), edge, target)

"""Model checks a controller against its specification."""

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

import numpy as np

from jaxgames import limits, ltl
from jaxgames.acceptance import Acceptance, both, inf
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import Automaton, Formula
from jaxgames.ltl._emerson_lei import accepting_cycle
from jaxgames.ltl._graph import TooLargeError
from jaxgames.ltl._normal_form import normal_form
from jaxgames.ltl._parity_automaton import check_deterministic
from jaxgames.ltl._translate import MAX_STATES
from jaxgames.synth._controller import Circuit, Controller
from jaxgames.synth._decomposition import Decomposition
from jaxgames.synth._side_by_side import cone
from jaxgames.synth._split import alternatives, conjuncts
from jaxgames.tuning.ltl import FEW_STATES

if TYPE_CHECKING:
    from jaxgames.synth._specification import Specification

MAX_PAIRS = 1 << 24
"""Pairs of states that are looked at."""


@limited()
def verify(
    specification: "Specification | Decomposition",
    controller: Controller | Circuit,
    *,
    realizable: bool = True,
    **bounds: Unpack[Bounds],
) -> bool:
    """Whether a controller does what is asked, on every run.

    Nothing of the game is used. The words of the controller are read by the automaton
    as it was given, with its own acceptance condition; the product must have no cycle
    that the negated condition accepts. If the specification was made of a formula, the
    words must be none of those that a Büchi automaton of the negated formula accepts.

    Of a formula that was taken apart there is no automaton. Its negation is multiplied
    out, and a Büchi automaton of each alternative is compared with the part of the
    circuit that what it mentions depends on. How the formula was taken apart plays no
    role.

    Args:
        specification: what is asked.
        controller: a machine or a circuit that reads the inputs and writes the outputs;
            with `moore` what it writes depends on its state alone.
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
    first = specification.moore == realizable
    if isinstance(specification, Decomposition):
        bad = normal_form(specification.formula, realizable)
        return _is_right(bad, reads, writes, controller, moore=first)
    if is_circuit:
        controller = controller.controller()
    if first and not controller.is_moore:
        return False
    words = controller.automaton(specification.automaton.propositions)
    automaton, condition = specification.automaton, specification.automaton.condition
    check_deterministic(automaton.graph)  # so that every word has one run
    wrong = condition.negated() if realizable else condition
    if _has_run(words, automaton.graph, wrong):
        return False
    if specification.formula is None:
        return True
    bad = ltl.translate(
        specification.formula,
        negate=realizable,
        generalised=True,
        propositions=words.propositions,
    )
    return not _has_run(words, bad, both(map(inf, range(bad.num_sets))))


def _is_right(
    bad: Formula,
    reads: tuple[str, ...],
    writes: tuple[str, ...],
    machine: Controller | Circuit,
    *,
    moore: bool,
) -> bool:
    """Whether no word of a machine satisfies a formula.

    Args:
        bad: in negation normal form.
        reads: names.
        writes: names.
        machine: what its words are of.
        moore: whether what is written must depend on the state alone.
    """
    own = frozenset(writes)
    if moore and isinstance(machine, Controller) and not machine.is_moore:
        return False
    if moore and isinstance(machine, Circuit):
        singles = (_part(machine, (name,)) for name in writes)
        if not all(one.is_moore for one in singles):
            return False

    known: dict[tuple[str, ...], Controller] = {}

    def part_of(names: tuple[str, ...]) -> Controller:
        # To explore a circuit takes longer than what is asked of it then.
        if names not in known:
            known[names] = _part(machine, names)
        return known[names]

    def is_ruled_out(one: Formula, max_states: int = MAX_STATES) -> bool:
        """Whether no word satisfies a formula."""
        part = part_of(tuple(name for name in writes if name in one.propositions))
        asked = [x for x in reads if x in one.propositions or x in part.reads]
        words = part.automaton([*asked, *part.writes])
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
            parts = conjuncts(one, shared)
            parts.sort(key=lambda part: own.isdisjoint(part.propositions))
            for part in parts if len(parts) > 1 else ():
                with contextlib.suppress(TooLargeError):
                    if is_ruled_out(part, max_states=FEW_STATES):
                        return True
        return is_ruled_out(one)

    return all(
        is_ruled_out_somehow(one)
        for one in limits.ticking(alternatives(bad, own), "verifying")
    )


def _part(machine: Controller | Circuit, writes: Iterable[str]) -> Controller:
    """What some of the outputs depend on."""
    if isinstance(machine, Controller):
        return machine
    return cone(machine, writes).controller()


def _has_run(words: Automaton, automaton: Automaton, condition: Acceptance) -> bool:
    """Whether some of the words have a run in an automaton that a condition accepts.

    Args:
        words: all runs of it count.
        automaton: over the same propositions.
        condition: on its sets.
    """
    order = [(int(p), int(q)) for p in words.initial for q in automaton.initial]
    number = {pair: i for i, pair in enumerate(order)}
    starts = np.arange(len(order))
    tails: list[int] = []
    heads: list[int] = []
    taken: list[int] = []
    for i, (p, q) in enumerate(order):
        limits.tick("verifying", len(order), "pairs")
        if len(order) > MAX_PAIRS:
            raise ValueError(f"the product has more than {MAX_PAIRS} states")
        edges = slice(automaton.offsets[q], automaton.offsets[q + 1])
        begin, end = (
            automaton.cube_offsets[edges.start],
            automaton.cube_offsets[edges.stop],
        )
        required, forbidden = (
            automaton.required[begin:end],
            automaton.forbidden[begin:end],
        )
        ends = automaton.cube_offsets[edges.start : edges.stop] - begin
        for e in range(words.offsets[p], words.offsets[p + 1]):
            for must, never in words.guard(e):
                must, never = np.uint64(must), np.uint64(never)
                fits = (required & never == 0) & (forbidden & must == 0)
                some = (
                    np.flatnonzero(np.logical_or.reduceat(fits, ends))
                    if len(ends)
                    else np.zeros(0, int)
                )
                for edge in (some + edges.start).tolist():
                    pair = int(words.targets[e]), int(automaton.targets[edge])
                    if pair not in number:
                        number[pair] = len(order)
                        order.append(pair)
                    tails.append(i)
                    heads.append(number[pair])
                    taken.append(edge)
    sets = automaton.sets[:, np.array(taken, np.int64)]
    ends_at = np.array(tails, np.int64), np.array(heads, np.int64)
    found = accepting_cycle(len(order), *ends_at, sets, condition, starts)
    return found is not None

"""Model checks a controller against its specification."""

from typing import TYPE_CHECKING, Unpack

import numpy as np

from jaxgames import limits, ltl
from jaxgames.acceptance import Acceptance, both, inf
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import Automaton
from jaxgames.ltl._emerson_lei import accepting_cycle
from jaxgames.ltl._parity_automaton import check_deterministic
from jaxgames.synth._controller import Controller

if TYPE_CHECKING:
    from jaxgames.synth._specification import Specification

MAX_PAIRS = 1 << 24
"""Pairs of states that are looked at."""


@limited()
def verify(
    specification: "Specification",
    controller: Controller,
    *,
    realizable: bool = True,
    **bounds: Unpack[Bounds],
) -> bool:
    """Whether a controller does what is asked, on every run.

    Nothing of the game is used. The words of the controller are read by the automaton
    as it was given, with its own acceptance condition; the product must have no cycle
    that the negated condition accepts. If the specification was made of a formula, the
    words must be none of those that a Büchi automaton of the negated formula accepts.

    Args:
        specification: what is asked.
        controller: it reads the inputs and writes the outputs; with `moore` what it
            writes depends on its state alone.
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
    for what, found, expected in (
        ("reads", controller.reads, reads),
        ("writes", controller.writes, writes),
    ):
        if sorted(found) != sorted(expected):
            raise ValueError(
                f"the controller {what} {' '.join(found) or 'nothing'}, the "
                f"specification asks for {' '.join(expected) or 'nothing'}"
            )
    first = specification.moore == realizable
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

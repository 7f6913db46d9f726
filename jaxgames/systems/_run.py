"""Checks runs that are said to violate a property."""

from typing import Any, Unpack, get_args

import numpy as np

from jaxgames import verdict
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._emerson_lei import EmersonLei
from jaxgames.ltl._formula import Formula, as_formula
from jaxgames.systems._checks import check_system
from jaxgames.systems._fairness import Fairness
from jaxgames.systems._product import Deadlock
from jaxgames.systems._system import System


class RunReason(verdict.Reason):
    """What is wrong with a run, in the order in which it is looked for.

    Examples:
        >>> RunReason.NO_TRANSITION.message
        'the run goes on from it where there is no transition'
    """

    OK = "nothing is wrong"
    NO_CYCLE = "the run has an empty cycle, so that it ends"
    NO_STATE = "the run leads there, but there is no such state"
    NOT_INITIAL = "the run begins there, but it is not an initial state"
    NO_TRANSITION = "the run goes on from it where there is no transition"
    NOT_VIOLATED = "the run violates nothing: the property holds on it"
    UNFAIR = "the run is not fair to a process"


class RunVerdict(verdict.Verdict):
    """What a check of a run found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`RunReason`][jaxgames.systems.RunReason], and whose `vertex` is a state where it
    holds.
    """

    reasons = RunReason
    place = "state"


@limited()
def verify_run(
    system: System,
    prefix: Any,
    cycle: Any,
    violates: Formula | Automaton | EmersonLei | str,
    *,
    fairness: Fairness | None = None,
    deadlock: Deadlock = "stutter",
    **bounds: Unpack[Bounds],
) -> RunVerdict:
    """Checks that a run is one of a system, and violates a property.

    The run is followed along the transitions, and the property is looked at on its
    letters: neither a product nor the translation of a formula is trusted. O(L D) time
    for L steps from states with D transitions, and what the property takes on a word:
    see [`Formula.holds_on`][jaxgames.ltl.Formula.holds_on] and
    [`Automaton.accepts`][jaxgames.ltl.Automaton.accepts].

    Args:
        system: the system.
        prefix: integers, the states on the way to the cycle; may be empty.
        cycle: integers, the states of the cycle, from the last of which a transition
            leads to the first.
        violates: a formula that must hold, or its text; or an automaton that must not
            accept.
        fairness: what the run must be fair to, besides.
        deadlock: what a state without successor means. `"stutter"`: the run may stay
            there; `"error"` and `"reject"`: no run goes there.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: states are no integers, the text is no formula, the system has not
            all propositions, or an argument is unknown.

    Examples:
        >>> from jaxgames import systems
        >>> system = systems.System.from_graph(
        ...     ([0, 2, 3], [0, 1, 0]), {"on": [False, True]}
        ... )
        >>> print(systems.verify_run(system, [0], [1, 0], "G !on"))
        valid
        >>> print(systems.verify_run(system, [], [0], "G !on"))
        the run violates nothing: the property holds on it
        >>> print(systems.verify_run(system, [0], [1], "G !on"))
        state 1: the run goes on from it where there is no transition
    """
    check_system(system)
    if deadlock not in get_args(Deadlock):
        raise ValueError(
            f"deadlock must be one of {get_args(Deadlock)}, got {deadlock!r}"
        )
    if not isinstance(violates, (Automaton, EmersonLei)):
        violates = as_formula(violates)
    for name in violates.propositions:
        if name not in system.propositions:
            raise ValueError(f"the system has no proposition {name!r}")
    parts = [np.asarray(part) for part in (prefix, cycle)]
    for name, part in zip(("prefix", "cycle"), parts, strict=True):
        if part.ndim != 1 or (part.size and part.dtype.kind not in "iu"):
            raise ValueError(f"{name} must be a list of states, got {part.dtype}")
    steps = np.concatenate([part.astype(np.int64) for part in parts])
    back, size = len(parts[0]), len(system.offsets) - 1
    if len(steps) == back:
        return RunVerdict.at(RunReason.NO_CYCLE)
    outside = (steps < 0) | (steps >= size)
    if outside.any():
        return RunVerdict.at(RunReason.NO_STATE, int(steps[np.argmax(outside)]))
    if steps[0] not in system.initial:
        return RunVerdict.at(RunReason.NOT_INITIAL, int(steps[0]))
    after = np.append(steps[1:], steps[back])
    for state, following in zip(steps.tolist(), after.tolist(), strict=True):
        row = system.targets[system.offsets[state] : system.offsets[state + 1]]
        stays = deadlock == "stutter" and not len(row) and state == following
        if not stays and following not in row:
            return RunVerdict.at(RunReason.NO_TRANSITION, state)
    names = np.array(system.propositions, object)
    letters = [frozenset(names[system.labels[state]]) for state in steps.tolist()]
    word = letters[:back], letters[back:]
    if fairness is not None and not fairness.holds_on(parts[1]):
        return RunVerdict.at(RunReason.UNFAIR)
    if isinstance(violates, (Automaton, EmersonLei)):
        violated = violates.accepts(*word)
    else:
        violated = not violates.holds_on(*word)
    return RunVerdict.at(RunReason.OK if violated else RunReason.NOT_VIOLATED)

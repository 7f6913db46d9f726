"""Checks what was found about processes, without trusting who found it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from jaxgames import host, limits, multienergy, verdict
from jaxgames.arguments import as_array, check_array
from jaxgames.equivalence._build import pairs_that_enable_the_same
from jaxgames.equivalence._classes import Classes
from jaxgames.equivalence._compare import compare_many
from jaxgames.equivalence._comparison import Comparison
from jaxgames.equivalence._formula import Formula, price, satisfying
from jaxgames.equivalence._game import UNLIMITED
from jaxgames.equivalence._notions import NOTIONS, STRONG, check_notion
from jaxgames.equivalence._problem import classes_of
from jaxgames.equivalence._spectrum import Spectrum
from jaxgames.equivalence._system import System, check_process
from jaxgames.equivalence.host import _refine
from jaxgames.limits import Bounds, limited
from jaxgames.solution import Status

if TYPE_CHECKING:
    from jaxgames.io import LTS


class Reason(verdict.Reason):
    """What is wrong with what was found about processes.

    Examples:
        >>> Reason.NOT_APART.message
        'it is equivalent to a state of another class'
    """

    OK = "nothing is wrong"
    NO_CLASS = "it has no class"
    NOT_EQUIVALENT = "it is not equivalent to the first state of its class"
    NOT_APART = "it is equivalent to a state of another class"
    NO_WITNESS = "the formula for it tells nothing apart, or is not of the notion"
    WRONG_BUDGETS = "the budgets of the game that compares processes are wrong"


class Verdict(verdict.Verdict):
    """What a check of classes or of a comparison found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.equivalence.Reason], and whose `vertex` is a state where it
    holds.
    """

    reasons = Reason
    place = "state"


@limited()
def verify(
    lts: "LTS",
    found: Any,
    notion: str = "bisimulation",
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks a comparison, or classes, without trusting who found them.

    Of a comparison each "no" has a formula. One process must satisfy it and the other
    must not, by its meaning in the system as it was given; and it may not cost more
    than the notion allows. Each "yes" rests on the game: its budgets must pass
    [`multienergy.verify`][jaxgames.multienergy.verify].

    Bisimilarity classes must be stable: the states of a class have transitions by the
    same labels into the same classes. And they must be the coarsest: classes of the
    quotient are split, as long as they are not stable, until each is by itself. No
    hashes are used, and no game.

    Classes of another notion are compared by a game that is built and solved anew on
    the host: each two that enable the same labels, as above. Those of a
    [`Spectrum`][jaxgames.equivalence.Spectrum] too, for all notions, but without
    formulas; its preorders are not looked at.

    Args:
        lts: the system.
        found: a [`Comparison`][jaxgames.equivalence.Comparison] of two of its states;
            [`Classes`][jaxgames.equivalence.Classes] or integers `[V]`, the class of
            each state, however they are numbered; or a `Spectrum`.
        notion: of classes, one of [`NOTIONS`][jaxgames.equivalence.NOTIONS].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A [`Verdict`][jaxgames.equivalence.Verdict]: true if all is right, else the
        reason and a state where it shows.

    Raises:
        ValueError: there is no such notion, labels are not those of the states, or
            the solve stopped early.
        TooLargeError: the game of other notions has too many positions.

    Examples:
        >>> from jaxgames.equivalence import relation
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 0, 2, 3], "aaab", [1, 3, 3, 1])
        >>> print(verify(lts, relation(lts, "traces"), "traces"))
        valid
        >>> print(verify(lts, [0, 1, 1, 2]))
        state 2: it is not equivalent to the first state of its class
    """
    status = getattr(found, "status", Status.SOLVED)
    if status != Status.SOLVED:
        raise ValueError(f"nothing to verify: {Status(status).message}")
    if isinstance(found, Comparison):
        return _of_comparison(lts, found)
    if isinstance(found, Spectrum):
        if np.shape(found.bisimulation) != (lts.num_states,):
            raise ValueError(f"expected classes of {lts.num_states} states")
        each = {name: found.classes(name) for name in NOTIONS}
        return _of_classes(lts, each, explain=False)
    check_notion(notion)
    labels = found.labels if isinstance(found, Classes) else found
    labels = as_array("labels", labels)
    check_array("classes of states", labels, (lts.num_states,), "iu")
    if (labels < 0).any():
        return Verdict.at(Reason.NO_CLASS, int(np.argmax(labels < 0)))
    return _of_classes(lts, {notion: labels}, explain=True)


# ---- comparisons -----------------------------------------------------------------


def _of_comparison(lts: "LTS", found: Comparison) -> Verdict:
    check_process(lts, p=found.p, q=found.q)
    budgets = _of_budgets(found)
    if budgets is None:  # they are bisimilar, so that there was nothing to play
        classes = _split(System.of(lts))
        fine = classes[found.p] == classes[found.q]
        return Verdict.at(Reason.OK if fine else Reason.NOT_EQUIVALENT, found.q)
    return _of_formulas(lts, found, list(found)) if budgets else budgets


def _of_budgets(found: Comparison) -> Verdict | None:
    """Whether the game's budgets are right; None where there is no game."""
    solved = found._solved
    if solved is None or found._starts is None:
        return None
    fine = multienergy.verify(solved.whole, solved.fronts)
    return Verdict.at(Reason.OK if fine else Reason.WRONG_BUDGETS)


def _of_formulas(lts: "LTS", found: Comparison, notions: list[str]) -> Verdict:
    """Whether each notion that does not hold has a formula that shows it."""
    shown: dict[str, tuple[bool, bool]] = {}
    for notion in notions:
        for back in (False, True):
            if found[notion][back]:
                continue
            formula = found.formula(notion, reverse=back)
            one = found.q if back else found.p
            if formula is None or not _is_of(formula, notion):
                return Verdict.at(Reason.NO_WITNESS, one)
            if str(formula) not in shown:
                holds = satisfying(lts, formula)
                shown[str(formula)] = bool(holds[found.p]), bool(holds[found.q])
            if shown[str(formula)] != (not back, back):
                return Verdict.at(Reason.NO_WITNESS, one)
    return Verdict.at(Reason.OK)


def _is_of(formula: Formula, notion: str) -> bool:
    """Whether a formula costs no more than a notion allows, where that is known."""
    limit = STRONG.get(notion)
    if limit is None:  # formulas about silent steps have no price
        return True
    pairs = zip(price(formula), limit, strict=True)
    return all(most == UNLIMITED or spent <= most for spent, most in pairs)


# ---- classes ---------------------------------------------------------------------


def _of_classes(
    lts: "LTS", each: Mapping[str, np.ndarray], *, explain: bool
) -> Verdict:
    """Whether the classes by some notions are what they are said to be."""
    system = System.of(lts)
    named = {notion: _numbered(labels) for notion, labels in each.items()}
    for notion in named.keys() & {"bisimulation", "enabledness"}:
        check = _bisimilar if notion == "bisimulation" else _enabled
        verdict = check(system, named.pop(notion))
        if not verdict:
            return verdict
    if not named:
        return Verdict.at(Reason.OK)
    base = classes_of(system)
    if not _is_stable(system, base):
        base = _numbered(_split(system))
    # What holds of the first states of stable classes holds of all.
    first, of = _first(base), system.enabled().of
    for labels in named.values():
        for verdict in (_whole(base, labels), _enables(of, labels)):
            if not verdict:
                return verdict
    pairs = pairs_that_enable_the_same(system.quotient(base))
    pairs = first[pairs[pairs[:, 0] < pairs[:, 1]]]
    found = compare_many(lts, pairs.tolist(), "host", engine="host")
    if found:
        verdict = _of_budgets(found[0])
        if verdict is not None and not verdict:
            return verdict
    for one in found:
        limits.tick("verifying")
        for notion, labels in named.items():
            together = bool(labels[one.p] == labels[one.q])
            if together != one[notion].equivalent:
                why = Reason.NOT_EQUIVALENT if together else Reason.NOT_APART
                return Verdict.at(why, one.q)
            if explain and not together:
                verdict = _of_formulas(lts, one, [notion])
                if not verdict:
                    return verdict
    return Verdict.at(Reason.OK)


def _numbered(labels: np.ndarray) -> np.ndarray:
    """The same classes, numbered in the order of their first states."""
    names: dict[int, int] = {}
    each = [names.setdefault(label, len(names)) for label in labels.tolist()]
    return np.array(each, np.int32)


def _first(classes: np.ndarray) -> np.ndarray:
    """The first state of each class."""
    most = np.maximum.accumulate(classes)
    return np.flatnonzero(np.diff(most, prepend=-1))


def _enabled(system: System, labels: np.ndarray) -> Verdict:
    """Whether states are in one class just if they enable the same labels."""
    of = system.enabled().of
    verdict = _enables(of, labels)
    return _whole(of, labels) if verdict else verdict


def _enables(of: np.ndarray, labels: np.ndarray) -> Verdict:
    """Whether the states of each class enable the same labels."""
    wrong = of != of[_first(labels)[labels]]
    if wrong.any():
        return Verdict.at(Reason.NOT_EQUIVALENT, int(np.argmax(wrong)))
    return Verdict.at(Reason.OK)


def _bisimilar(system: System, labels: np.ndarray) -> Verdict:
    """Whether classes are stable, and no coarser ones are."""
    if _is_stable(system, labels):
        part = system.quotient(labels)
        coarse = _numbered(_split(part))[labels]
    else:
        coarse = _numbered(_split(system))
        wrong = coarse != coarse[_first(labels)[labels]]
        if wrong.any():
            return Verdict.at(Reason.NOT_EQUIVALENT, int(np.argmax(wrong)))
    return _whole(coarse, labels)


def _whole(coarse: np.ndarray, labels: np.ndarray) -> Verdict:
    """Whether no coarser class is torn into several."""
    torn = labels != labels[_first(coarse)[coarse]]
    if torn.any():
        return Verdict.at(Reason.NOT_APART, int(np.argmax(torn)))
    return Verdict.at(Reason.OK)


def _is_stable(system: System, labels: np.ndarray) -> bool:
    """Whether the states of each class have the same signatures."""
    rows = system.offsets, system.label, system.target
    with host.plain(len(system.label)):
        return bool(_refine.stable(*rows, labels, int(labels.max(initial=-1)) + 1))


def _split(system: System) -> np.ndarray:
    """The coarsest stable classes, by signatures that are compared whole.

    A round looks at the states that have a transition to one whose class got a new
    name. Where a class splits, those that are not looked at keep its name, or if all
    are, the largest part does.
    """
    classes, size = [0] * system.num_states, [system.num_states]
    rows = [system.row(state) for state in range(system.num_states)]
    back: list[set[int]] = [set() for _ in rows]
    for state, row in enumerate(rows):
        for _, target in row:
            back[target].add(state)
    look = set(range(len(rows)))
    while look:
        limits.tick("verifying", len(size), "classes")
        groups: dict[tuple[int, frozenset], list[int]] = {}
        for state in sorted(look):
            signature = frozenset((label, classes[t]) for label, t in rows[state])
            groups.setdefault((classes[state], signature), []).append(state)
        parts: dict[int, list[list[int]]] = {}
        for (own, _), states in groups.items():
            parts.setdefault(own, []).append(states)
        look = set()
        for own, split in parts.items():
            if sum(map(len, split)) == size[own]:
                split.remove(max(split, key=len))
            for states in split:
                size[own] -= len(states)
                for state in states:
                    classes[state] = len(size)
                    look |= back[state]
                size.append(len(states))
    return np.array(classes, np.int32)

"""Checks sets of probability zero and one by what their definition asks for.

It shares nothing with what finds them: sets are found by searches of its own.
"""

from typing import Any, Literal, Unpack

import numpy as np

from jaxgames import verdict
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._asked import check_concrete
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import Optimum, Region, as_states, check_model, check_optimum
from jaxgames.mdp._verify_values import Claim

Sought = Literal["zero", "one", "for ever"]
"""Probability zero, probability one, or visits for ever with probability one."""


class RegionReason(verdict.Reason):
    """What is wrong with a set of states, in the order in which it is looked for.

    Examples:
        >>> RegionReason.MISSING.message
        'it belongs to the set, and is not in it'
    """

    OK = "nothing is wrong"
    MISSING = "it belongs to the set, and is not in it"
    TOO_MANY = "it is in the set, and does not belong there"
    NO_CHOICE_OF_IT = "the scheduler takes a choice that it does not have"
    NOT_SHOWN = "the scheduler does not show that it belongs to the set"


class RegionVerdict(verdict.Verdict):
    """What a check of a set of states found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`RegionReason`][jaxgames.mdp.RegionReason], and whose `vertex` is a state where it
    holds.
    """

    reasons = RegionReason
    place = "state"


@limited()
def verify_region(
    model: MDP,
    target: Any,
    region: Region,
    sought: Sought,
    optimum: Optimum = "max",
    *,
    states: Any = None,
    **bounds: Unpack[Bounds],
) -> RegionVerdict:
    """Checks what `prob0`, `prob1` or `almost_sure_buchi` has found.

    The set is found once more by searches that look at each branch once [1]. Of a
    scheduler it is checked that whatever else is chosen, where it says nothing, every
    state of the set has what is sought. O(S + C + E) time, for sets of probability one
    that many times at most as states leave the set.

    Args:
        model: the model; its probabilities are not looked at.
        target: the states to reach: bool `[S]`, states by number, or the name of a
            label of the model.
        region: what was found: `states` bool `[S]`, and a `scheduler` or None.
        sought: `"zero"` for `prob0`, `"one"` for `prob1`, `"for ever"` for
            `almost_sure_buchi`.
        optimum: as it was asked for.
        states: what a path may pass before, given as `target` is; None for all.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A verdict: true if the set is the one that is sought, and a scheduler shows it.

    Raises:
        ValueError: a state, label or option is wrong, or an array of another length.

    References:
        [1] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997, section 3.3.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2])
        >>> found = mdp.prob1(model, [2])
        >>> print(mdp.verify_region(model, [2], found, "one"))
        valid
        >>> print(mdp.verify_region(model, [2], found, "one", "min"))
        state 0: it is in the set, and does not belong there
    """
    check_concrete(model)
    check_model(model)
    check_optimum(optimum)
    if sought not in ("zero", "one", "for ever"):
        raise ValueError(f"sought must be zero, one or for ever, got {sought!r}")
    if sought == "for ever" and (optimum == "min" or states is not None):
        raise ValueError("for ever goes with optimum max, and without states")
    size = model.num_states
    for name, array in (("states", region.states), ("scheduler", region.scheduler)):
        if array is not None and np.shape(array) != (size,):
            raise ValueError(
                f"{name} must have {size} entries, got {list(np.shape(array))}"
            )
    claim = Claim(model, None, None, region.scheduler)
    goal = np.asarray(as_states("target", model, target)) & claim.real
    passed = claim.real & ~goal
    if states is not None:
        passed = passed & np.asarray(as_states("states", model, states))
    said = np.asarray(region.states).astype(bool)
    right = _sought(claim, goal, passed, sought, optimum)
    for reason, wrong in (
        (RegionReason.MISSING, right & ~said),
        (RegionReason.TOO_MANY, said & ~right),
        (RegionReason.NO_CHOICE_OF_IT, _misplaced(claim)),
        (RegionReason.NOT_SHOWN, said & ~_shown(claim, said, goal, passed, sought)),
    ):
        if wrong.any():
            return RegionVerdict.at(reason, int(np.argmax(wrong)))
    return RegionVerdict.at(RegionReason.OK)


def _sought(claim: Claim, goal, passed, sought: str, optimum: str) -> np.ndarray:
    """The states that belong to the set."""
    real, live = claim.real, claim.live
    if sought == "zero":
        if optimum == "max":
            return real & ~claim.reaches(goal, passed, live)
        return claim.avoids(goal, passed, live)
    if sought == "one" and optimum == "min":
        return _always(claim, goal, passed, live)
    if sought == "one":
        return claim.surely(goal, live, goal | passed)
    inside = real
    while True:
        # What is visited is left again, without leaving the set.
        inner = claim.stays(inside, live)
        safe = live & ~claim.may(~inner)
        new = claim.surely(goal & inner, safe, inner)
        if (new == inside).all():
            return inside
        inside = new


def _always(claim: Claim, goal, passed, choices) -> np.ndarray:
    """From where a goal is reached with probability one, whatever is chosen."""
    never = claim.avoids(goal, passed, choices)
    return claim.real & ~claim.reaches(never, passed, choices)


def _misplaced(claim: Claim) -> np.ndarray:
    if claim.scheduler is None:
        return np.zeros(len(claim.real), bool)
    return claim.misplaced()


def _shown(claim: Claim, said, goal, passed, sought: str) -> np.ndarray:
    """Where a scheduler shows what is sought; everywhere if there is none."""
    if claim.scheduler is None:
        return claim.real | ~claim.real
    silent = np.append(np.asarray(claim.scheduler) < 0, True)[claim.owner]
    own = claim.live & (silent | _taken(claim))
    if sought == "zero":
        return claim.real & ~claim.reaches(goal, passed, own)
    if sought == "one":
        return _always(claim, goal, passed, own)
    stays = ~claim.have(own & claim.may(~said))
    return stays & _always(claim, goal, said & ~goal, own)


def _taken(claim: Claim) -> np.ndarray:
    """The choices of the scheduler where it takes one of the state: bool `[C]`."""
    found = np.zeros(len(claim.owner), bool)
    chosen = np.asarray(claim.scheduler)
    found[chosen[(chosen >= 0) & ~claim.misplaced()]] = True
    return found

"""Checks long-run averages by gains and potentials, exactly.

In a set of states that are visited for ever, take any number for each state, its
potential. What a choice earns, with the mean change of the potential, is its drift. The
average is no more than the largest drift, and no less than the least [1]. Elsewhere an
upper bound holds that no choice makes larger on average, and likewise a lower one.
Potentials may come from anywhere. Where drifts in floating point do not show a bound,
they are found in fractions.

References:
    [1] Puterman, Markov Decision Processes, Wiley, 1994, sections 8.4 and 9.3.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp import _bounded, host
from jaxgames.mdp._average_policies import Members, improved, members_of
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp._values_verdict import ValueVerdict, fraction
from jaxgames.mdp._verify import verify
from jaxgames.mdp._verify_values import Claim, chain_values
from jaxgames.mdp.host._steps import average
from jaxgames.tuning.mdp import AVERAGES_CHECKED_IN, CHAIN_SOLVED_UP_TO

NEAR = 1e-16
"""How near averages of policies are looked for, relative to them: as can be."""

CLOSE = 1e-9
"""How near averages are looked for by rounds first."""

IMPROVEMENTS = 100
"""How often a policy is improved in fractions: it is best already, nearly always."""


class Earned(NamedTuple):
    """What an average is of.

    Attributes:
        reward: float64 `[C]`, what choices earn in a step, or in a unit of time.
        rate: float64 `[S]`, how often states are left in that; one in discrete time.
        stepwise: a model of the same states and choices in whose steps as much is
            earned on average, for potentials.
        scale: by how much larger potentials are there.
        sign: 1 for the largest average, -1 for the least.
    """

    reward: np.ndarray
    rate: np.ndarray
    stepwise: MDP
    scale: float
    sign: int


class Sets(NamedTuple):
    """What some choices can stay in for ever.

    Attributes:
        label: int `[S]`, -1 outside.
        kept: bool `[C]`.
        members: of each set, with its choices.
    """

    label: np.ndarray
    kept: np.ndarray
    members: list[Members]


def of_average(claim: Claim, earned: Earned) -> ValueVerdict:
    """Whether bounds of averages hold, and the scheduler attains its one."""
    own = claim.live if claim.is_chain() else claim.chosen()
    if own is None:
        raise ValueError("a memoryless scheduler is needed to verify this")
    bad, none = claim.misplaced(), np.zeros(len(claim.real), bool)
    bounds = {-1: claim.lower, 1: claim.upper}
    sides = {-earned.sign: own, earned.sign: claim.live}
    sets = {sign: _sets(claim, earned, choices) for sign, choices in sides.items()}
    found = {
        sign: _unshown(claim, earned, bounds[sign], choices, sets[sign], sign)
        for sign, choices in sides.items()
    }
    wrong = {sign: x.states for sign, x in found.items()}
    refuted = {sign: x.refuted for sign, x in found.items()}
    # More states are left for ever than fractions can be found of.
    left = {sign: claim.real & (x.label < 0) for sign, x in sets.items()}
    many = {sign: x.sum() > CHAIN_SOLVED_UP_TO for sign, x in left.items()}
    if any(many[sign] and not x.near for sign, x in found.items()):
        refuted = wrong
    if refuted[-1].any() or refuted[1].any():
        wrong = refuted
    elif not bad.any() and (wrong[-1].any() or wrong[1].any()):
        values = _of_scheduler(claim, earned, own, sets[-earned.sign])
        best = _is_best(claim, earned, values, sets[earned.sign])
        for sign, states in wrong.items():
            for state in np.flatnonzero(states).tolist():
                off = sign * (values[state] - fraction(bounds[sign][state]))
                wrong[sign][state] = off > 0
                if off <= 0 and sign == earned.sign and not best:
                    raise ValueError(
                        f"a bound of state {state} is not shown by floating point, and "
                        "the scheduler is not the best one, so that fractions do not "
                        "tell either"
                    )
    return ValueVerdict.first_of(none, bad, *[none] * 4, wrong[-1], wrong[1])


class Unshown(NamedTuple):
    """Where a bound is not shown.

    Attributes:
        states: bool `[S]`.
        refuted: bool `[S]`, where it surely does not hold.
        near: whether what is not shown outside of sets may be by rounding.
    """

    states: np.ndarray
    refuted: np.ndarray
    near: bool


def _sets(claim: Claim, earned: Earned, choices: np.ndarray) -> Sets:
    """The sets that some choices can stay in, checked."""
    found = host.mec(claim.model, choices=choices)
    verdict = verify(claim.model, found, choices=choices)
    if not verdict:  # never seen
        raise AssertionError(f"end components are wrong: {verdict}")
    label, kept = np.asarray(found.state_label), np.asarray(found.choice_kept)
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], np.arange(int(found.count) + 1))
    probs = _bounded.rows_of(earned.stepwise).probs
    members = [
        members_of(earned.stepwise, kept, order[a:b], probs, earned.reward)
        for a, b in zip(ends[:-1], ends[1:], strict=True)
    ]
    return Sets(label, kept, members)


def _unshown(
    claim: Claim, earned: Earned, bound, choices, sets: Sets, sign: int
) -> Unshown:
    """The states whose bound, an upper one if `sign` is 1, is not shown."""
    wrong, refuted = np.zeros((2, len(bound)), bool)
    same = np.zeros(len(sets.members) + 1, bool)  # the last one is of no set
    for at, own in enumerate(sets.members):
        limits.tick("verifying", at, "components")
        mine = bound[own.states]
        same[at] = bool(np.all(mine == mine[0]))
        for values in _tried(claim, earned, own, sets.kept):
            drift, off = _drift(claim, earned, own.choices, values)
            most = np.max(sign * drift + off)
            wide = sign * mine.astype(np.longdouble)
            short = wide < most
            # By some choice of each state as much is earned, wherever one begins.
            least = np.maximum.reduceat(sign * drift - off, own.first).min()
            refuted[own.states] |= wide < least
            if not short.any() or refuted[own.states].any():
                break
        wrong[own.states] |= short
    # What leads to the same bound everywhere neither raises nor lowers it.
    inside = sets.kept & same[np.append(sets.label, -1)[claim.owner]]
    none = np.zeros(len(claim.owner))
    raises = claim.breaks(bound, choices & ~inside, none, sign)
    near = claim.misses_by_a_hair(bound, raises, none)
    return Unshown(wrong | claim.have(raises), refuted, near)


def _tried(
    claim: Claim, earned: Earned, own: Members, kept: np.ndarray
) -> Iterator[np.ndarray]:
    """Potentials of a set, long double `[S]`: nearer and nearer ones."""
    values, room = np.zeros((2, len(claim.real)))
    yield values.astype(np.longdouble)
    stepwise = _bounded.rows_of(earned.stepwise)
    members = np.ascontiguousarray(own.states, np.int32)
    reward = np.ascontiguousarray(earned.reward, np.float64)
    with limits.ticking_beside("verifying") as stop:
        average(
            *(*stepwise[:4], reward, kept, members, values, room),
            *(
                int(earned.sign < 0),
                stepwise.slack,
                CLOSE,
                0.0,
                AVERAGES_CHECKED_IN,
                stop,
            ),
        )
    values *= 0.9  # a tenth of each step stays where it is
    yield values.astype(np.longdouble) / earned.scale
    yield _potentials(earned, own, values)[0]


def _potentials(
    earned: Earned, own: Members, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Potentials of a set, long double `[S]`, and a policy that is best by them.

    The first policy is best by the potentials of the start, float64 `[S]`.
    """
    found = np.zeros(len(start), np.longdouble)
    stop = np.zeros(1, np.int8)
    how = earned.sign < 0, NEAR, 0.0, stop
    sharp = improved(own, own.probs, start[own.states], *how)
    if sharp is not None:
        high, low = (x.astype(np.longdouble) for x in (sharp.values, sharp.rest))
        found[own.states] = (high + low) / earned.scale
        return found, own.choices[sharp.policy]
    return found, own.choices[own.first]


def _drift(
    claim: Claim, earned: Earned, choices: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What some choices earn, with the change of values; and how far off that may be.

    Both are long doubles `[k]`.
    """
    first, many = claim.rows[choices], np.diff(claim.rows)[choices]
    begins = np.cumsum(many) - many
    branch = np.arange(many.sum()) + np.repeat(first - begins, many)
    owner = claim.owner[choices]
    # The difference is rounded once.
    change = values[claim.columns[branch]] - values[np.repeat(owner, many)]
    terms = claim.weight[branch].astype(np.longdouble) * change
    share = earned.rate[owner].astype(np.longdouble)
    share /= np.add.reduceat(claim.weight[branch].astype(np.longdouble), begins)
    reward = earned.reward[choices].astype(np.longdouble)
    size = np.abs(reward) + share * np.add.reduceat(np.abs(terms), begins)
    off = (2 * many + 16) * np.finfo(np.longdouble).eps * size
    off[~np.logical_or.reduceat(change != 0, begins)] = 0  # nothing is added
    return reward + share * np.add.reduceat(terms, begins), off


# ---- in fractions --------------------------------------------------------------------


def _rows(claim: Claim, choice: int) -> dict[int, Fraction]:
    """Where a choice leads, with probabilities relative to their sum."""
    here = slice(claim.rows[choice], claim.rows[choice + 1])
    weights, found = list(map(Fraction, claim.weight[here].tolist())), {}
    total = sum(weights)
    for to, weight in zip(claim.columns[here].tolist(), weights, strict=True):
        found[to] = found.get(to, Fraction(0)) + weight / total
    return found


def _exact_gain(claim: Claim, earned: Earned, own: Members) -> Fraction:
    """The best average of a set, which is shown by potentials in fractions.

    Raises:
        ValueError: it is too large for that.
    """
    if len(own.states) > CHAIN_SOLVED_UP_TO:
        raise ValueError(
            f"a bound of state {own.states[0]} is too near to its value to be verified "
            f"without fractions, and {len(own.states)} states that are visited for "
            "ever are too many for these"
        )
    states = own.states.tolist()
    number = {state: i for i, state in enumerate(states)}
    policy = _potentials(earned, own, np.zeros(len(claim.real)))[1].copy()
    rows = {c: _rows(claim, c) for c in own.choices.tolist()}
    reward = {c: Fraction(float(earned.reward[c])) for c in rows}
    time = [1 / Fraction(float(earned.rate[state])) for state in states]
    for _ in range(IMPROVEMENTS):
        mine = np.zeros(len(claim.owner), bool)
        mine[policy] = True
        label = np.asarray(host.mec(claim.model, choices=mine).state_label)
        homes = np.unique(label[label >= 0])
        if len(homes) != 1:
            break
        home = int(np.argmax(label == homes[0]))
        chain = [
            {number[t]: p for t, p in rows[c].items() if t != home}
            for c in policy.tolist()
        ]
        worth = [reward[c] * t for c, t in zip(policy.tolist(), time, strict=True)]
        gained = chain_values([dict(row) for row in chain], worth)
        spent = chain_values(chain, list(time))
        if gained is None or spent is None:
            break
        gain = gained[number[home]] / spent[number[home]]
        values = [x - gain * y for x, y in zip(gained, spent, strict=True)]
        values[number[home]] = Fraction(0)
        better = False
        best = dict.fromkeys(range(len(states)), gain)
        for c in own.choices.tolist():
            limits.tick("verifying", c, "choices")
            i = number[int(claim.owner[c])]
            change = sum(p * values[number[t]] for t, p in rows[c].items()) - values[i]
            drift = reward[c] + change / time[i]
            if earned.sign * (drift - best[i]) > 0:
                best[i], policy[i], better = drift, c, True
        if not better:
            return gain
    raise ValueError(
        f"the average of the states that are visited for ever with {states[0]} is not "
        "shown by potentials"
    )


def _of_scheduler(claim: Claim, earned: Earned, own, sets: Sets) -> np.ndarray:
    """What the scheduler earns on average: fractions `[S]`.

    Raises:
        ValueError: there are too many states for that.
    """
    values = np.array([Fraction(0)] * len(claim.real), object)
    for members in sets.members:
        values[members.states] = _exact_gain(claim, earned, members)
    states = np.flatnonzero(claim.real & (sets.label < 0)).tolist()
    if len(states) > CHAIN_SOLVED_UP_TO:
        raise ValueError(
            "some bound is too near to its value to be verified without fractions, and "
            f"{len(states)} states that are left for ever are too many for these"
        )
    number = {state: i for i, state in enumerate(states)}
    choice = np.full(len(claim.real) + 1, NO_CHOICE)
    choice[claim.owner[own]] = np.flatnonzero(own)
    rows, worth = [], []
    for state in states:
        leads = _rows(claim, int(choice[state]))
        rows.append({number[t]: p for t, p in leads.items() if t in number})
        left = (p * values[t] for t, p in leads.items() if t not in number)
        worth.append(sum(left, Fraction(0)))
    found = chain_values(rows, worth)
    assert found is not None  # each leads to some set at last
    for state, value in zip(states, found, strict=True):
        values[state] = value
    return values


def _is_best(claim: Claim, earned: Earned, values: np.ndarray, sets: Sets) -> bool:
    """Whether no choice, and no set, is better than some values, fractions `[S]`."""
    for own in sets.members:
        worst = min(values[own.states].tolist(), key=lambda x: earned.sign * x)
        if earned.sign * (_exact_gain(claim, earned, own) - worst) > 0:
            return False
    none = np.zeros(len(claim.owner))
    return not claim.breaks(values, claim.live, none, earned.sign).any()

"""Long-run averages: what an end component earns in a step, for ever."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp import host
from jaxgames.mdp._almost_sure import first_kept, within
from jaxgames.mdp._average_policies import exactly, improved, members_of
from jaxgames.mdp._eliminated import average_of_chain
from jaxgames.mdp._equations import Open, nothing_known
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP, first_choices, lent_rows, owner_of
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._rational import rounded
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp.host._steps import average
from jaxgames.tuning.mdp import (
    AVERAGES_SOLVED_UP_TO,
    ELIMINATED_FIRST_UP_TO,
    FEWEST_AVERAGES,
    FORESEEN_AVERAGES,
    MOST_AVERAGES,
    PATIENCE_WITH_AVERAGES,
    RATIONAL_UP_TO,
)


class Gains(NamedTuple):
    """Averages of components, and how to earn them."""

    lower: np.ndarray  # float64 [N]
    upper: np.ndarray  # float64 [N]
    scheduler: np.ndarray  # int32 [S]: what to choose in a component; -1 elsewhere
    scale: float = 0.0  # the largest reward that is earned, if they have both signs
    exact: tuple | None = None  # the averages as fractions


def average_reward(
    model: MDP,
    probs: np.ndarray,
    reward: np.ndarray,
    optimum: str,
    epsilon: float,
    relative: bool,
    slack: float,
    exact: bool = False,
) -> Posed:
    """What is earned in a step on average, in the long run.

    It is decided in the end components: each is made one state, where one may stop for
    what it earns [1, section 9.5].

    Args:
        model: the model.
        probs: float64 `[E]`, probabilities that sum up to one.
        reward: float64 `[C]`.
        optimum: `"min"` or `"max"`.
        epsilon: how far apart bounds of an average may stay.
        relative: whether that is relative to the lower one.
        slack: more than the relative error of a sum.
        exact: whether averages are wanted as fractions.

    References:
        [1] Puterman, Markov Decision Processes, Wiley, 1994.
    """
    found = mec(model)
    how = (optimum, epsilon, relative, slack)
    gains = _gains(model, probs, reward, found, *how, exact)
    start = nothing_known(model)
    stop = np.array([gains.lower, gains.upper])
    known = Open(
        start["value"],
        start["open_"],
        start["live"],
        start["reward"],
        found if int(found.count) else None,
        stop,
        exact_stop=gains.exact,
        scale=gains.scale,
    )
    scheduler = np.full(model.num_states, NO_CHOICE, np.int32)
    return Posed(known, optimum, scheduler, gains.scheduler)


def _gains(
    model: MDP,
    probs: np.ndarray,
    reward: np.ndarray,
    found: EndComponents,
    optimum: str,
    epsilon: float,
    relative: bool,
    slack: float,
    exact: bool,
) -> Gains:
    """The average of each component.

    By rounds, where these seem to be few; else by better policies, or by leaving out
    one state after the other of a Markov chain; and where those come to no bounds that
    are near in fractions, if it is small.
    """
    label, kept = np.asarray(found.state_label), np.asarray(found.choice_kept)
    count, owner = int(found.count), owner_of(model)
    least = optimum == "min"
    inside = np.flatnonzero(kept)
    home = label[owner[inside]]
    extreme = np.full(count, np.inf if least else -np.inf)
    (np.minimum if least else np.maximum).at(extreme, home, reward[inside])
    lower, upper = extreme.copy(), extreme.copy()
    scheduler = first_kept(model, found)
    known, fractions = np.zeros(count, bool), {}
    # Where one can stay with the best rewards alone, the average is known exactly.
    best = kept & (reward == np.append(extreme, 0)[np.append(label, -1)[owner]])
    plain = host.mec(model, choices=best)
    rests = np.asarray(plain.state_label) >= 0
    easy = np.zeros(count, bool)
    easy[label[rests]] = True
    towards = within(model, found, rests)
    scheduler = np.where(towards >= 0, towards, scheduler)
    scheduler = np.where(rests, first_kept(model, plain), scheduler)
    hard = np.flatnonzero(~easy)
    signed = bool((reward[inside] < 0).any())
    scale = float(np.abs(reward[inside]).max(initial=0.0)) if signed else 0.0
    if len(hard):
        order = np.argsort(label, kind="stable").astype(np.int32)
        ends = np.searchsorted(label[order], np.arange(count + 1))
        rows = lent_rows(model)
        values, room = np.zeros((2, model.num_states))
        shown = np.full(model.num_states, NO_CHOICE)  # what is better than by these
        width = epsilon / 4 if relative else 0.0
        apart = epsilon / 4 * (scale if relative else 1.0)
        for at in hard:
            members = np.ascontiguousarray(order[ends[at] : ends[at + 1]])
            own = members_of(model, kept, members, probs, reward)

            gaps = [np.inf]

            def rounds(patience: int, members=members, at=at, gaps=gaps) -> bool:
                with limits.ticking_beside("averaging") as stop:
                    low, high, met = average(
                        *rows, probs, reward, kept, members, values, room, int(least),
                        slack, width, apart, patience, stop,
                    )  # fmt: skip
                gaps.append(high - low)
                lower[at] = max(lower[at], low) if known[at] else low
                upper[at] = min(upper[at], high) if known[at] else high
                known[at] = True
                near = width * abs(lower[at]) + apart
                return bool(met) or bool(upper[at] - lower[at] <= near)

            def patiently(most: int, rounds=rounds, at=at, gaps=gaps) -> bool:
                """Rounds for as long as it seems that no more than so many are left."""
                many = 1 + FEWEST_AVERAGES // 16
                if rounds(many):
                    return True
                while most > 0:
                    if rounds(many):
                        return True
                    near, most = width * abs(lower[at]) + apart, most - many
                    before, gap = gaps[-2:]
                    if not 0 < near < gap < before:
                        return False
                    left = many * np.log(gap / near) / np.log(before / gap)
                    if left > most:
                        return False
                    many = int(min(left, 2 * many)) + 1
                return False

            few = max(PATIENCE_WITH_AVERAGES // len(members), FEWEST_AVERAGES)
            chain = len(own.choices) == len(members)

            def is_near(at=at) -> bool:
                near = width * abs(lower[at]) + apart
                return bool(known[at] and upper[at] - lower[at] <= near)

            def eliminate(own=own, at=at) -> bool:
                """Leaves out one state after the other."""
                with limits.ticking_beside("averaging") as stop:
                    ends_of = average_of_chain(own, slack, stop)
                if ends_of is not None:
                    lower[at] = max(lower[at], ends_of[0])
                    upper[at] = min(upper[at], ends_of[1])
                return is_near()

            small = len(members) <= ELIMINATED_FIRST_UP_TO
            done = chain and (patiently(FORESEEN_AVERAGES) or (small and eliminate()))
            done = done or (not chain and rounds(few))
            if not done and len(members) <= AVERAGES_SOLVED_UP_TO:
                raw = np.asarray(model.probs, np.float64)
                weights = members_of(model, kept, members, raw, reward).probs
                with limits.ticking_beside("averaging") as stop:
                    start = values[own.states]
                    sharp = improved(own, weights, start, least, width, apart, stop)
                if sharp is not None and sharp.lower <= sharp.upper:
                    lower[at] = max(lower[at], sharp.lower)
                    upper[at] = min(upper[at], sharp.upper)
                    # A tenth of each step of a round stays where it is.
                    values[own.states] = sharp.values / 0.9
                    shown[own.states] = own.choices[sharp.policy]
            if chain and not small and not is_near():
                eliminate()
            wide = not is_near()
            if (exact or wide) and len(members) <= RATIONAL_UP_TO:
                value = exactly(model, own, values[own.states] * 0.9, least)
                fractions[at] = value
                if value is not None:
                    lower[at], upper[at] = rounded(value, -1), rounded(value, 1)
            elif wide:
                rounds(MOST_AVERAGES)
        if not signed:
            lower = np.maximum(lower, 0.0)
        choice = _greedy(model, probs, reward, kept, values, least)
        choice = np.where(shown >= 0, shown, choice)
        scheduler = np.where(np.isin(label, hard), choice, scheduler)
    whole = None
    if exact and all(fractions.get(at) is not None for at in hard.tolist()):
        whole = tuple(
            fractions[at] if at in fractions else Fraction(float(lower[at]))
            for at in range(count)
        )
    return Gains(lower, upper, scheduler.astype(np.int32), scale, whole)


def _greedy(model: MDP, probs, reward, kept, values, least: bool) -> np.ndarray:
    """The first kept choice of each state that is best by some values."""
    rows, owner = np.asarray(model.row_offsets), owner_of(model)
    choice = np.repeat(np.arange(model.num_choices), np.diff(rows))
    worth = reward + 0.9 * np.bincount(
        choice, probs * values[np.asarray(model.columns)], minlength=model.num_choices
    )
    worth = np.where(kept, -worth if least else worth, -np.inf)
    most = np.full(model.num_states + 1, -np.inf)
    np.maximum.at(most, owner, worth)
    return first_choices(model, kept & (worth == most[owner]))

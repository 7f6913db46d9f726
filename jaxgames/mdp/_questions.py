"""Unbounded questions: what is known by the graph alone, and what is left open.

Each function answers one kind of question as far as where branches lead decides it, and
says which end components have to be made one state so that the rest has one solution.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames.host import linear, on_all_cores
from jaxgames.mdp import host
from jaxgames.mdp._almost_sure import first_kept, within
from jaxgames.mdp._equations import Open, lent, nothing_known
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP, first_choices, owner_of
from jaxgames.mdp._prob01 import on_host, prob0, prob1
from jaxgames.mdp._region import NO_CHOICE, Region
from jaxgames.mdp._solution import EndComponents


class Posed(NamedTuple):
    """A question: what is known, and how to behave where it is.

    Attributes:
        known: what is known, and what is open.
        optimum: `"min"` or `"max"`.
        scheduler: int32 `[S]`, a choice for each state: right where the value is
            known, any other where it is not.
        stay: int32 `[S]`, what to choose in a component in order to stay there; None
            where nobody stays.
        counts: numbers for the statistics.
    """

    known: Open
    optimum: str
    scheduler: np.ndarray
    stay: np.ndarray | None = None
    counts: dict | None = None


def reach(
    model: MDP,
    target: np.ndarray,
    optimum: str,
    passed: np.ndarray | None,
    worth: np.ndarray | None = None,
    *,
    engine: str = "auto",
) -> Posed:
    """The probability to get to a target through some states.

    Args:
        model: a concrete model with probabilities.
        target: bool `[S]`.
        optimum: `"min"` or `"max"`.
        passed: bool `[S]`, the states on the way; None for all.
        worth: float64 `[S]`, up to one: what it counts to get to the target in each of
            its states, that no run leaves; None for one.
        engine: what looks at the graph: `"auto"` or `"host"`.
    """
    zero, one = _sure(model, target, optimum, passed, engine)
    if worth is not None:
        one = _sure(model, worth == 1, optimum, passed, engine)[1]
    start = nothing_known(model)
    open_ = start["open_"] & ~(zero.states | one.states)
    value = one.states.astype(np.float64)
    if worth is not None:
        open_, value = open_ & ~target, np.where(target, worth, value)
    chain = model.num_choices == model.num_states  # it leaves what is open
    found = None
    if optimum == "max" and not chain and open_.any():
        found = _components(model, open_, engine=engine)
    known = Open(
        value,
        open_,
        start["live"],
        start["reward"],
        found,
    )
    ends = target if passed is None else target | ~passed
    scheduler = _joined(model, zero, one)
    scheduler[ends] = NO_CHOICE
    counts = {"zero": int(zero.states.sum()), "one": int(one.states.sum())}
    return Posed(known, optimum, scheduler, counts=counts)


def missed(posed: Posed) -> Posed:
    """The probability not to get to a target, of what asks for that to get there.

    Its equations are the same, but for what is known: so it is found relative to
    itself, however small it is, which one less the other is not.
    """
    known = posed.known
    value = np.where(known.open_, 0.0, 1.0 - known.value)
    other = "min" if posed.optimum == "max" else "max"
    return posed._replace(known=known._replace(value=value), optimum=other)


def _sure(
    model: MDP,
    target: np.ndarray,
    optimum: str,
    passed: np.ndarray | None,
    engine: str = "auto",
) -> tuple[Region, Region]:
    """Where the probability is zero, and where it is one."""
    if not on_host(model, engine) and host.sequence(model) is None:
        zero = _here(prob0(model, target, optimum, states=passed))  # type: ignore
        return zero, _here(prob1(model, target, optimum, states=passed))  # type: ignore
    if not target.any():
        there = nothing_known(model)["open_"]
        return Region(there), Region(np.zeros(model.num_states, bool))
    how = {"states": passed, "back": host.entering(model)}
    zero = host.prob0(model, target, optimum, **how)  # type: ignore
    one = host.prob1(model, target, optimum, zero=zero.states, **how)  # type: ignore
    return zero, one


def reward_until(
    model: MDP,
    reward: np.ndarray,
    target: np.ndarray,
    optimum: str,
    *,
    engine: str = "auto",
) -> Posed:
    """What is earned before a target is reached; infinite if it may never be."""
    start = nothing_known(model)
    there = start["open_"]
    if optimum == "max":
        never, one = _sure(model, target, "min", None, engine)
        sure = one.states
        lost = there & ~sure
        free = _towards(model, never.states, lost) if lost.any() else None
        scheduler = _joined(model, never, Region(lost, free))
        value = np.where(lost, np.inf, 0.0)
        known = Open(value, sure & ~target, start["live"], reward)
        return Posed(known, optimum, np.where(target, NO_CHOICE, scheduler))
    back = host.entering(model)
    sure = host.prob1(model, target, "max", back=back)
    ends = np.asarray(sure.states)
    # What is got for nothing is worth nothing, be there circles or not.
    lost = there & ~ends
    live = start["live"]
    if lost.any():
        live = live & ~_may_enter(model, lost)
    free = live & (reward == 0)
    gift = host.prob1(model, target, "max", choices=free, back=back)
    open_ = ends & ~np.asarray(gift.states)
    stays = free & np.append(open_, False)[owner_of(model)]
    found = _components(model, open_, stays, engine=engine)
    scheduler = _joined(model, _here(sure), _here(gift))
    value = np.where(lost, np.inf, 0.0)
    known = Open(value, open_, live, reward, found, proper=False)
    return Posed(known, optimum, np.where(target, NO_CHOICE, scheduler))


def total_reward(model: MDP, reward: np.ndarray, optimum: str) -> Posed:
    """All that is ever earned; infinite where that goes on for ever."""
    start = nothing_known(model)
    there = start["open_"]
    if optimum == "min":
        free = mec(model, choices=start["live"] & (reward == 0))
        rests = np.asarray(free.state_label) >= 0
        posed = reward_until(model, reward, rests, "min")
        stay = first_kept(model, free)
        return posed._replace(scheduler=np.where(rests, stay, posed.scheduler))
    all_ = mec(model)
    label, kept = np.asarray(all_.state_label), np.asarray(all_.choice_kept)
    pays = kept & (reward > 0)
    owner = owner_of(model)
    rich = np.isin(label, label[owner[pays]]) & (label >= 0)
    endless = there & ~np.asarray(host.prob0(model, rich, "max").states)
    sources = np.zeros(model.num_states, bool)
    sources[owner[pays]] = True
    first = first_choices(model, pays)
    scheduler = _towards(model, rich, endless)
    home = np.where(sources, first, within(model, all_, sources))
    scheduler = np.where(rich, home, scheduler)
    open_ = there & ~endless
    rest = mec(model, states=open_) if open_.any() else None
    value = np.where(endless, np.inf, 0.0)
    stop = None if rest is None or not rest.count else np.zeros((2, int(rest.count)))
    known = Open(value, open_, start["live"], reward, _some(rest), stop)
    stay = None if rest is None else first_kept(model, rest)
    return Posed(known, optimum, scheduler, stay)


def discounted(
    model: MDP, reward: np.ndarray, optimum: str, discount: Fraction
) -> Posed:
    """All that is ever earned, where each step is worth less than the one before."""
    start = nothing_known(model)
    open_, idle = start["open_"], Region(np.zeros(model.num_states, bool))
    if not (reward < 0).any():
        # Where nothing need, or can, be earned, that is all there is to say.
        owner = owner_of(model)
        free = start["live"] & (reward == 0)
        if optimum == "max":
            pays = np.zeros(model.num_states + 1, bool)
            pays[owner[start["live"] & (reward > 0)]] = True
            idle = _here(host.prob0(model, pays[:-1] & open_, "max"))
        else:
            rests = np.zeros(model.num_states + 1, bool)
            rests[owner[free]] = True
            must = open_ & ~rests[:-1]
            idle = _here(host.prob0(model, must, "min", choices=free))
        open_ = open_ & ~idle.states
    known = Open(start["value"], open_, start["live"], reward, discount=discount)
    return Posed(known, optimum, _joined(model, idle))


# ---- schedulers ----------------------------------------------------------------------


def _here(region: Region) -> Region:
    return Region(*(None if x is None else np.asarray(x) for x in region))


def _components(
    model: MDP,
    states: np.ndarray,
    choices: np.ndarray | None = None,
    *,
    engine: str = "auto",
) -> EndComponents | None:
    """The end components of some states and choices; None if there are none."""
    sequence = host.sequence(model)
    if sequence is None and engine == "host":
        return _some(host.mec(model, states=states, choices=choices))
    if sequence is None:
        return _some(mec(model, states=states, choices=choices))
    states = states & sequence.circles
    if not states.any():
        return None
    return _some(host.mec(model, states=states, choices=choices))


def _some(found: EndComponents | None) -> EndComponents | None:
    return None if found is None or not int(found.count) else found


def _joined(model: MDP, *regions: Region) -> np.ndarray:
    """The choices of the last region that says something; else the first choice."""
    groups = np.asarray(model.row_group_offsets, np.int32)
    scheduler = groups[:-1].copy()
    scheduler[groups[1:] == groups[:-1]] = NO_CHOICE
    for region in regions:
        if region.scheduler is not None:
            there = region.states & (region.scheduler >= 0)
            np.copyto(scheduler, region.scheduler, where=there)
    return scheduler


def _may_enter(model: MDP, states: np.ndarray) -> np.ndarray:
    """The choices that may lead into a set: bool `[C]`."""
    found = np.empty(model.num_choices, bool)
    _, rows, columns, _ = lent(model)
    given = rows, columns, states, found
    on_all_cores(_enter, len(found), *given, work=len(columns))
    return found


@linear
def _enter(rows, columns, states, found, start, end):
    """Whether each choice of a range may lead into a set."""
    for choice in range(max(start, 0), end):
        enters = False
        for branch in range(rows[choice], rows[choice + 1]):
            if states[columns[branch]]:
                enters = True
                break
        found[choice] = enters


def _towards(model: MDP, goal: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Choices by which some path leads to a goal from all of a set that can get there.

    Each may come a step nearer: int32 `[S]`, -1 in the goal and elsewhere.
    """
    limits = where | goal
    return np.asarray(host.shortest(model, goal, limits))


def circle(model: MDP, found: EndComponents, wanted: np.ndarray) -> np.ndarray:
    """How to stay in each component and visit some of its states again and again.

    Returns:
        int32 `[S]`: a choice in each state of a component with such a state.
    """
    wanted = wanted & (np.asarray(found.state_label) >= 0)
    return np.where(wanted, first_kept(model, found), within(model, found, wanted))

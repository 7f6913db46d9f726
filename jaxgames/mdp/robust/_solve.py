"""Bounds of values of interval models: directly, or by improving one side's answers."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp._interval import UNDERFLOW
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.robust._equations import (
    Equations,
    Routes,
    equations,
    routes,
    slack_of,
)
from jaxgames.mdp.robust._host import (
    Aim,
    Room,
    Vectors,
    iterate,
    look_at_all,
    mend,
    rise,
    settle,
)
from jaxgames.mdp.robust._improve import improve, local, work_of
from jaxgames.mdp.robust._natures import (
    Natures,
    distribute,
    fixed,
    numbers,
    of_choices,
)
from jaxgames.mdp.robust._pose import Asking, Posed, posed
from jaxgames.tuning.mdp import (
    ANSWERS,
    LAST_LOOKS,
    LOOKS_WITH_NATURE,
    MENDED_IN,
    PATIENCE_WITH_NATURE,
    WORK_OF_A_LOOK,
    WORK_WITH_NATURE,
)


class Found(NamedTuple):
    """Bounds of all states, and how both sides attain them.

    Attributes:
        lower: float64 `[S]`.
        upper: float64 `[S]`.
        scheduler: int32 `[S]`, choices of the question.
        nature: float64 `[B]`, a distribution for each choice.
        met: whether the bounds are near enough.
        rounds: how often equations were looked at.
    """

    lower: np.ndarray
    upper: np.ndarray
    scheduler: np.ndarray
    nature: np.ndarray
    met: bool
    rounds: int


Engine = Callable[[Equations, Aim, float, float, np.ndarray], tuple]
"""What solves equations: see `on_host`."""


def solve(asking: Asking, stop: np.ndarray, engine: Engine | None = None) -> Found:
    """Bounds of all states.

    Where nobody can stay among the open states for ever, equations have one solution.
    Where both sides want the same, what they can stay in is made one state each. Else
    one side's strategy is improved: that of the side for which staying for ever is
    worst. Against each the other side's best answer is found, which bounds the value
    from one side; an answer to the last one bounds it from the other.

    Args:
        asking: the question.
        stop: int8 `[1]`, set by another thread to end it.
        engine: what solves equations without circles; None for the host.
    """
    made = posed(asking, stop)
    if made.circles and not asking.agreed:
        return _improved(asking, made, stop, engine)
    return _direct(asking, made, stop, engine)


def near(lower: np.ndarray, upper: np.ndarray, asking: Asking) -> bool:
    """Whether bounds are near enough everywhere."""
    finite = np.isfinite(lower) & np.isfinite(upper)
    width = np.where(finite, upper, 0.0) - np.where(finite, lower, 0.0)
    most = asking.epsilon * (np.abs(np.where(finite, lower, 0.0)))
    most = most if asking.relative else asking.epsilon
    return bool(np.all(width <= most) and np.all((lower == upper) | finite))


# ---- one set of equations ------------------------------------------------------------


def _direct(
    asking: Asking, made: Posed, stop: np.ndarray, engine: Engine | None
) -> Found:
    if made.gains is not None:  # nothing counts that is earned on the way
        asking = dataclasses.replace(asking, reward=np.zeros(len(asking.reward)))
    reward = asking.reward[made.choices]
    # What it is worth to stay may have two bounds.
    parts = [
        equations(made.nat, made.value, made.open_, reward, made.found, stops=stops)
        for stops in ([None] if made.stops is None else np.unique(made.stops, axis=0))
    ]
    part = parts[0]
    size = len(part.order)
    floor, cap = -np.inf, np.inf
    if asking.kind not in ("discounted", "average"):
        floor, cap = 0.0, 1.0 if asking.kind == "reach" else np.inf
    proper = not (made.circles and asking.least and asking.kind in ("until", "total"))
    aim = Aim(
        *(int(asking.least), int(asking.nature), int(proper), asking.discount),
        *(slack_of(part.nat), UNDERFLOW["float64"]),
        asking.epsilon / 2 if asking.relative else 0.0,
        0.0 if asking.relative else asking.epsilon / 2,
        PATIENCE_WITH_NATURE,
    )
    # A device's bounds are near relative to the largest value; averages may be zero.
    if engine is None or not proper or asking.kind == "average":
        engine = on_host
    low, high, rounds = engine(part, aim, floor, cap, stop)
    rounds += 0 if made.gains is None else made.gains.rounds
    for other in parts[1:]:
        _, high, more = engine(other, aim, floor, cap, stop)
        rounds += more
    lower, upper = made.value.copy(), made.value.copy()
    where = part.number[made.open_]
    lower[made.open_], upper[made.open_] = low[:size][where], high[:size][where]
    ways = None
    if made.found is not None:
        bound = high if asking.least else low
        probs = np.zeros(len(part.nat.lower))
        worth, best = np.zeros(len(part.base)), np.zeros(size, np.int32)
        look_at_all(part.nat, part.base, bound, aim, probs, worth, best)
        staying = None if made.gains is None else made.gains.scheduler
        ways = routes(made.nat, part, made.found, best, staying)
    scheduler, nature = strategies(asking, made, lower, upper, ways)
    met = near(lower, upper, asking)
    return Found(lower, upper, scheduler, nature, met, rounds)


def on_host(
    part: Equations,
    aim: Aim,
    floor: float,
    cap: float,
    stop: np.ndarray,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Bounds of equations, and rounds, from near values if any: see `settle`."""
    size = len(part.order)
    if start is None:
        start = np.zeros(size)
    vectors = Vectors(
        np.append(start, part.constants),
        np.append(np.full(size, floor), part.constants),
        np.append(np.full(size, cap), part.constants),
        np.zeros(size + len(part.constants)),
    )
    counts = np.zeros(1, np.int64)
    only = np.full(size, NO_CHOICE, np.int32)
    room = Room(only, *np.zeros((2, len(part.nat.lower))))
    at, last = 0, len(part.parts) - 1
    while at < last:
        limits.tick("solving interval equations", at, "components")
        equal = (part.nat, part.base, part.order, part.parts, part.inside)
        at = settle(*equal, vectors, aim, counts, room, at, stop)
        if at < last:
            _slow(part, at, vectors, aim, (floor, cap), counts, room, stop)
        at += 1
    return (*mended(part, aim, vectors, floor, cap, stop), int(counts[0]))


def _slow(
    part: Equations,
    at: int,
    vectors: Vectors,
    aim: Aim,
    ends: tuple[float, float],
    counts: np.ndarray,
    room: Room,
    stop: np.ndarray,
) -> None:
    """Bounds of a component that is slow: by policies, if these are sooner than rounds.

    Args:
        part: the equations.
        at: the component.
        vectors: written to.
        aim: what is asked for.
        ends: what no value is below, and what none is above.
        counts: int64 `[1]`, rounds: added to.
        room: to work in.
        stop: int8 `[1]`, set by another thread to end it.
    """
    own = local(part, at)
    work = work_of(own)
    solved = work <= WORK_WITH_NATURE
    rounds = int(work / WORK_OF_A_LOOK) // len(own.states) if solved else 0

    def again(rounds: int) -> bool:
        how = (part.nat, part.base, own.states, part.inside, vectors, aim, counts)
        met = iterate(*how, room, rounds, stop)
        vectors.steps[own.states], room.only[own.states] = 0.0, NO_CHOICE
        return bool(met)

    if rounds > LOOKS_WITH_NATURE // len(own.states) and again(
        min(rounds, aim.patience)
    ):
        return
    if not solved:
        again(aim.patience)
    elif not improve(own, vectors, aim, ends, stop):
        again(min(aim.patience, LAST_LOOKS // len(own.states)))


def mended(
    part: Equations, aim: Aim, found: Any, floor: float, cap: float, stop: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds that keep their inequalities, to be seen by one look at each.

    All values are from `floor` to `cap`; what was found is written to.
    """
    probs = np.zeros(len(part.nat.lower))
    size = len(part.order)
    for bound, sign in ((found.lower, -1.0), (found.upper, 1.0)):
        how = (aim, sign, floor, cap, MENDED_IN, probs, stop)
        if not mend(part.nat, part.base, part.order, bound, *how):
            bound[:size] = floor if sign < 0 else cap
            if sign < 0 and aim.proper == 0:
                rise(
                    *(part.nat, part.base, part.order, bound, aim),
                    *(PATIENCE_WITH_NATURE, probs, stop),
                )
    return found.lower, found.upper


# ---- strategies ----------------------------------------------------------------------


def strategies(
    asking: Asking,
    made: Posed,
    lower: np.ndarray,
    upper: np.ndarray,
    ways: Routes | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """What scheduler and nature do: what is best by their bounds, or as is known.

    Args:
        asking: the question.
        made: what the graph says of it.
        lower: float64 `[S]`, which those who want most go by.
        upper: float64 `[S]`, which those who want least go by.
        ways: how components are left.
    """
    nat = asking.nat
    values = upper if asking.least else lower
    _, best = worths(asking, nat, values)
    scheduler = np.where(made.scheduler >= 0, made.scheduler, best)
    number = numbers(nat)
    mine = upper if asking.nature else lower
    keys = -mine[nat.target] if asking.nature else mine[nat.target]
    keys = np.where(made.steered[number], made.keys, keys)
    if made.gains is not None and made.found is not None:
        keys = np.where(made.found.kept[number], made.gains.keys, keys)
    if ways is not None:
        some = ways.scheduler >= 0
        scheduler[some] = made.choices[ways.scheduler[some]]
    if ways is not None and asking.agreed:  # else nature may not help anybody to leave
        here = np.zeros(len(nat.owner), bool)
        here[made.choices[ways.choices]] = True
        own = np.zeros(len(nat.target))
        own[made.branches] = ways.keys
        keys = np.where(here[number], own, keys)
    ends = asking.goal | ~asking.passed if asking.kind == "reach" else asking.goal
    scheduler = np.where(ends, NO_CHOICE, scheduler)
    if asking.kind == "reach" and not asking.least:
        scheduler = np.where(upper == 0, best, scheduler)
        scheduler = np.where(ends, NO_CHOICE, scheduler)
    return scheduler.astype(np.int32), distribute(nat, keys)


def worths(
    asking: Asking, nat: Natures, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The worth of each choice by values, and the first best choice of each state."""
    aim = Aim(
        *(int(asking.least), int(asking.nature), 1, asking.discount),
        *(0.0, 0.0, 0.0, 0.0, 0),
    )
    worth = np.zeros(len(nat.owner))
    best = np.full(len(nat.groups) - 1, NO_CHOICE, np.int32)
    probs = np.zeros(len(nat.lower))
    values = np.ascontiguousarray(values, np.float64)
    reward = np.ascontiguousarray(asking.reward, np.float64)
    look_at_all(nat, reward, values, aim, probs, worth, best)
    return worth, best


# ---- one against the other -----------------------------------------------------------


def _improved(
    asking: Asking, made: Posed, stop: np.ndarray, engine: Engine | None
) -> Found:
    """One side's strategy is improved, until none is better [Hoffman and Karp]."""
    least = asking.kind != "reach"  # which side improves: staying for ever is its worst
    by_scheduler = asking.least == least
    fine = dataclasses.replace(asking, epsilon=asking.epsilon / 64)
    nat, rounds = asking.nat, 0
    choice = _begin(asking, made)
    probs = distribute(nat, made.first_keys)
    side: Found | None = None
    for _ in range(ANSWERS):
        limits.tick("improving", rounds, "answers")
        side = _against(fine, choice, probs, by_scheduler, stop, engine)
        rounds += 1
        values = side.upper if least else side.lower
        better = (
            _better_choices(asking, choice, values, least)
            if by_scheduler
            else _better_natures(asking, probs, values, least)
        )
        if stop[0] or better is None:
            break
        if by_scheduler:
            choice = better
        else:
            probs = better
    assert side is not None
    # The other side's answer need not be right against all; what is best by these
    # values is.
    values = side.upper if least else side.lower
    keys = -values[nat.target] if asking.nature else values[nat.target]
    _, best = worths(asking, nat, values)
    if by_scheduler:
        probs = distribute(nat, keys)
    else:
        choice = np.where(made.open_, best, _begin(asking, made))
    other = _against(fine, choice, probs, not by_scheduler, stop, engine)
    lower, upper = (other.lower, side.upper) if least else (side.lower, other.upper)
    known = ~made.open_
    lower, upper = (np.where(known, made.value, x) for x in (lower, upper))
    scheduler, nature = strategies(asking, made, lower, upper)
    # Where it is open each does what its bound was found with.
    scheduler = np.where(made.open_, choice, scheduler)
    here = made.open_[nat.owner][numbers(nat)]
    nature = np.where(here, probs, nature)
    met = near(lower, upper, asking)
    return Found(lower, upper, scheduler.astype(np.int32), nature, met, rounds)


def _begin(asking: Asking, made: Posed) -> np.ndarray:
    """A choice for each state: one that is known to be right, or the first one."""
    groups = asking.nat.groups
    first = np.where(np.diff(groups) > 0, groups[:-1], NO_CHOICE)
    first = np.where(made.first >= 0, made.first, first)
    return np.where(made.scheduler >= 0, made.scheduler, first).astype(np.int32)


def _against(
    asking: Asking,
    choice: np.ndarray,
    probs: np.ndarray,
    by_scheduler: bool,
    stop: np.ndarray,
    engine: Engine | None,
) -> Found:
    """The best answer to a scheduler, or to what nature does everywhere."""
    nat = asking.nat
    if by_scheduler:
        kept = np.zeros(len(nat.owner), bool)
        kept[choice[choice >= 0]] = True
        part = of_choices(nat, kept)
        question = asking.among(part, kept, least=asking.nature)
    else:
        question = asking.among(fixed(nat, probs), nature=asking.least)
    return _direct(question, posed(question, stop), stop, engine)


def _better_choices(
    asking: Asking, choice: np.ndarray, values: np.ndarray, least: bool
) -> np.ndarray | None:
    """Choices that are better than the scheduler's; None where there are none."""
    worth, best = worths(asking, asking.nat, values)
    some = (best >= 0) & (choice >= 0) & ~asking.goal
    gain = _gain(worth[best[some]], worth[choice[some]], asking, least)
    if not gain.any():
        return None
    better = choice.copy()
    where = np.flatnonzero(some)[gain]
    better[where] = best[where]
    return better


def _better_natures(
    asking: Asking, probs: np.ndarray, values: np.ndarray, least: bool
) -> np.ndarray | None:
    """Distributions that are better than nature's; None where there are none."""
    nat, number = asking.nat, numbers(asking.nat)
    worth, _ = worths(asking, nat, values)
    with np.errstate(invalid="ignore"):
        terms = np.where(probs > 0, probs * values[nat.target], 0.0)
    now = asking.reward + asking.discount * np.bincount(
        number, terms, minlength=len(worth)
    )
    gain = _gain(worth, now, asking, least)
    if not gain.any():
        return None
    keys = -values[nat.target] if least else values[nat.target]
    return np.where(gain[number], distribute(nat, keys), probs)


def _gain(new: np.ndarray, old: np.ndarray, asking: Asking, least: bool) -> np.ndarray:
    """Where something is better by more than what bounds may be off."""
    with np.errstate(invalid="ignore"):
        gain = old - new if least else new - old
        return gain > asking.epsilon / 16 * np.abs(old) + 1e-14

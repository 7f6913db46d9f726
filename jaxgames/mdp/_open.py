"""Solves the equations of what is open on the host, and says what follows of states."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import on_all_cores
from jaxgames.mdp._almost_sure import within
from jaxgames.mdp._equations import Equations, equations, in_order
from jaxgames.mdp._improve import improve, narrow_parts
from jaxgames.mdp._interval import NOTHING, UNDERFLOW
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._rational import rational_values
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.host._values import (
    Aim,
    Bounds,
    System,
    choose_all,
    extremes,
    settle,
    spread,
)
from jaxgames.solution import Stats, Status
from jaxgames.tuning.mdp import (
    EXACT_UP_TO,
    FEW_STATES,
    LOOKS_AT_FEW,
    PATIENCE_WITH_FEW,
    PATIENCE_WITH_NARROW,
    PATIENCE_WITH_VALUES,
    RATIONAL_UP_TO,
)


class Found(NamedTuple):
    """Bounds of all states, a scheduler, and how they were found."""

    lower: np.ndarray  # float64 [S]
    upper: np.ndarray  # float64 [S]
    scheduler: np.ndarray  # int32 [S]
    status: Status
    stats: Stats


@np.errstate(over="ignore", invalid="ignore")  # such bounds say nothing
def on_host(
    model: MDP,
    posed: Posed,
    written: Callable[[], Equations],
    *,
    epsilon: float,
    relative: bool,
    stop: np.ndarray,
) -> Found:
    """Bounds by value iteration in place, component by component.

    Args:
        model: a concrete model.
        posed: what is asked of it.
        written: gives the equations of what is open.
        epsilon: how far apart bounds may stay.
        relative: whether that is relative to the lower one.
        stop: int8 `[1]`, set by another thread to end it.
    """
    if not posed.known.open_.any():
        nothing = {"components": 0, "rounds": 0, "looks": 0, "open": 0, "stiff": 0}
        stats = Stats(solver="host", **(posed.counts or {}), **nothing)
        ends = posed.known.value.copy(), posed.known.value.copy()
        return Found(*ends, posed.scheduler.astype(np.int32), Status.SOLVED, stats)
    part = written()
    system = in_order(part, stop)
    size = len(part.groups) - 1
    bounds = unknown(posed, size)
    counts = np.zeros(2, np.int64)
    status = Status.INTERRUPTED
    improved = 0
    if system is not None:
        aim = Aim(
            least=int(posed.optimum == "min"),
            proper=int(posed.known.proper),
            slack=part.slack,
            tiny=UNDERFLOW["float64"],
            width=float(epsilon) if relative else 0.0,
            apart=faint(posed, epsilon) if relative else float(epsilon),
            patience=PATIENCE_WITH_VALUES,
            few=FEW_STATES,
            few_patience=PATIENCE_WITH_FEW,
            few_looks=LOOKS_AT_FEW,
        )
        status, improved = _in_turn(
            model, posed, part, system, bounds, aim, counts, stop
        )
        near = aim.width * np.abs(bounds.lower) + aim.apart
        # What is open is finite: a bound that is not says nothing.
        apart = (bounds.upper - bounds.lower > near) | ~np.isfinite(bounds.lower)
        if status == Status.SOLVED and apart.any():
            status = Status.PRECISION
    stats = {
        "rounds": int(counts[0]),
        "looks": int(counts[1]),
        "open": size,
        "stiff": improved,
    }
    return told(model, posed, part, bounds, status, stats)


def exactly(
    model: MDP, posed: Posed, near: np.ndarray | None = None
) -> list[Fraction | float] | None:
    """The values of all states in rational arithmetic; None where that is too much.

    Policies begin with what is best by `near`, float64 `[S]`.
    """
    with limits.ticking_beside("solving in rational arithmetic") as stop:
        return _exactly(model, posed, near, stop)


def _exactly(
    model: MDP, posed: Posed, near: np.ndarray | None, stop: np.ndarray
) -> list[Fraction | float] | None:
    part = equations(model, posed.known)
    system = in_order(part, stop)
    size = len(part.groups) - 1
    blurred = (
        part.blur is not None and part.blur.any() and posed.known.exact_stop is None
    )
    if system is None or size > EXACT_UP_TO or blurred:
        return None
    parts = np.split(system.order, system.parts[1:-1]) if size else []
    if any(len(states) > RATIONAL_UP_TO for states in parts):
        return None
    least = int(posed.optimum == "min")
    guess = np.zeros(size)
    if near is not None:
        there = part.number >= 0
        guess[part.number[there]] = near[there]
    values = rational_values(model, posed.known, part, parts, least, guess)
    if values is None:
        return None
    known = posed.known.value.tolist()
    return [
        values[number] if number >= 0 else (Fraction(x) if np.isfinite(x) else x)
        for number, x in zip(part.number.tolist(), known, strict=True)
    ]


def unknown(posed: Posed, size: int) -> Bounds:
    """Bounds that hold of what nobody has looked at, and values to begin with."""
    known = posed.known
    value, steps = np.zeros((2, size))
    lower, upper = np.zeros(size), np.full(size, np.inf)
    reward = known.reward
    if known.stop is not None or (reward is not None and (reward < 0).any()):
        lower -= np.inf
    elif reward is None or not reward.any():
        upper = np.ones(size)
    return Bounds(value, lower, upper, steps)


def faint(posed: Posed, epsilon: float) -> float:
    """How far apart bounds may be in any case, where that is relative to values.

    Which probabilities are zero is known by the graph. Which rewards and averages are,
    nobody has looked: that bounds get down to it shows it. Averages of what has both
    signs are relative to that.
    """
    known = posed.known
    if known.stop is not None:
        return float(epsilon) * known.scale
    return NOTHING if known.reward is None else 0.0


def _in_turn(
    model: MDP,
    posed: Posed,
    part: Equations,
    system: System,
    bounds: Bounds,
    aim: Aim,
    counts: np.ndarray,
    stop: np.ndarray,
) -> tuple[Status, int]:
    """One component after the other; those that are stiff by better policies."""
    inside, last = system.inside, len(system.parts) - 1
    only = np.full(len(system.order), NO_CHOICE, np.int32)
    first, improved, status = 0, 0, Status.SOLVED
    narrow = narrow_parts(system)
    soon = aim._replace(patience=min(aim.patience, PATIENCE_WITH_NARROW))
    while True:
        how = soon if narrow[first:].any() else aim
        first = settle(system, bounds, inside, only, how, first, counts, stop)
        if how is soon and first < last and not narrow[first] and not stop[0]:
            first = settle(system, bounds, inside, only, aim, first, counts, stop)
        if stop[0]:
            return Status.INTERRUPTED, improved
        if first == last:
            return status, improved
        improved += 1
        rest = (
            part,
            system,
            bounds,
            inside,
            only,
            aim,
            first,
            bool(narrow[first]),
            stop,
        )
        if not improve(model, posed.known, *rest):
            status = Status.PRECISION
        if stop[0]:
            return Status.INTERRUPTED, improved
        first += 1


def told(
    model: MDP,
    posed: Posed,
    part: Equations,
    bounds: Any,
    status: Status,
    stats: dict[str, Any],
) -> Found:
    """What bounds of the equations say of the states of the model."""
    known = posed.known
    ends = -np.inf, np.inf
    if known.reward is None and known.stop is None:
        ends = extremes(known.value, known.open_)  # of which they are means
    size = len(part.number)
    lower, upper = np.empty((2, size))
    given = *(np.asarray(x) for x in (bounds.lower, bounds.upper)), *ends
    on_all_cores(
        spread, size, part.number, known.open_, known.value, *given, lower, upper
    )
    least = int(posed.optimum == "min")
    rows = part.groups, part.rows, part.target, part.probs, part.base
    value = bounds.upper if least else bounds.lower
    best = part.choice[choose_all(*rows, value, least)]
    scheduler = _scheduler(model, posed, part, best)
    components = 0 if known.components is None else int(known.components.count)
    stats = {**(posed.counts or {}), "components": components, **stats}
    return Found(lower, upper, scheduler, status, Stats(solver="host", **stats))


def _scheduler(
    model: MDP, posed: Posed, part: Equations, best: np.ndarray
) -> np.ndarray:
    """Puts the choices of all kinds of states together.

    `best` is the choice of each equation, as one of the model; -1 to stop.
    """
    known, scheduler = posed.known, posed.scheduler.astype(np.int32)
    if known.components is None and known.stop is None:
        scheduler[known.open_] = best
        return scheduler
    owner = owner_of(model)
    leaving = best[best >= 0]
    if known.components is not None:
        # In a component: to the state whose choice leaves it, or nowhere.
        leaves = np.zeros(model.num_states, bool)
        leaves[owner[leaving]] = True
        inside = within(model, known.components, leaves)
        scheduler = np.where(inside >= 0, inside, scheduler)
        if posed.stay is not None:
            label = np.asarray(known.components.state_label)
            stops = (label >= 0) & (np.append(best, 0)[part.number] < 0)
            scheduler = np.where(stops, posed.stay, scheduler)
    scheduler[owner[leaving]] = leaving
    return scheduler.astype(np.int32)

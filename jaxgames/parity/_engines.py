"""Where a concrete parity game is solved: on the device, on the host, or on both."""

import dataclasses
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.arena import Arena
from jaxgames.parity import _host
from jaxgames.parity._edges import split
from jaxgames.parity._game import Answer, normal_form
from jaxgames.parity._solution import Solution
from jaxgames.progress import Meter, Report, as_progress
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.solver import Solver

HOST = "host"
"""Name of the sequential engine, which stands beside the solvers."""

DEVICE = "device"

INLINE = 1 << 16
"""Edges up to which the host engine runs in the caller's thread."""

REPORT_SECONDS = 0.05
"""How often a race tells its meter where it stands."""


class Leg(NamedTuple):
    """A part of a run on the device: a solver, and rounds after which it gives up."""

    solver: Solver
    budget: int | None = None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LegState:
    """What a run of several legs goes on from.

    Attributes:
        carry: of the leg's solver.
        leg: which leg.
        spent: rounds of the legs before it.
    """

    carry: fixpoint.Carry
    leg: int = dataclasses.field(metadata={"static": True})
    spent: int = dataclasses.field(metadata={"static": True})


# ---- on the device -----------------------------------------------------------


def prepare(arena: Arena, solver: Solver | None = None) -> tuple[Arena, ops.Game]:
    """The normal form of a concrete arena, and its layout on the device; kept with it.

    Args:
        arena: the game.
        solver: says whether priorities may stay on edges.
    """
    on_edges = arena.edge_priority is not None and (
        solver is not None and solver.edge_priorities
    )
    kept = arena.__dict__.setdefault("_parity", {})
    if on_edges not in kept:
        kept[on_edges] = normal_form(arena, on_edges)
    return kept[on_edges], ops.prepare(kept[on_edges])


def on_device(
    arena: Arena,
    solver: Solver,
    *,
    state: fixpoint.Carry | None = None,
    max_steps: int | None = None,
    progress: Meter | None = None,
) -> Solution:
    """Runs one solver on the default device."""
    normal, game = prepare(arena, solver)
    solver = solver.fit(normal)
    outcome = fixpoint.run(solver, game, state, max_steps=max_steps, progress=progress)
    answer = outcome.answer
    if not isinstance(game, ops.SlicedArena) or arena.edge_priority is not None:
        # Cut on the host: a device would compile a slice for each number of vertices.
        answer = jax.device_get(answer)
        measures = answer.measures
        if measures is not None:
            measures = measures.resized(_kept(arena), arena.shape[0])
        answer = Answer(*_fit(arena, answer.winner, answer.strategy), measures)
    return device_solution(solver, game, outcome._replace(answer=answer))


def _kept(arena: Arena) -> int:
    """Vertices of an answer that are the arena's, and not its layout's.

    An arena with edge priorities may have lost its padding on the way.
    """
    return arena.shape[0] if arena.edge_priority is None else int(arena.num_vertices)


def _fit(arena: Arena, winner, strategy) -> tuple[np.ndarray, np.ndarray | None]:
    """An answer for the arena, without the vertices that split its edges."""
    kept = _kept(arena)

    def fit(x, fill: int):
        return np.pad(x[:kept], (0, arena.shape[0] - kept), constant_values=fill)

    return fit(winner, 0), None if strategy is None else fit(strategy, NO_EDGE)


def device_solution(
    solver: Solver, game: ops.Game, outcome: fixpoint.Outcome
) -> Solution:
    """What the outcome of a solver says."""
    answer = outcome.answer
    return Solution(
        winner=answer.winner,
        strategy=answer.strategy if solver.strategies else None,
        measures=answer.measures,
        status=outcome.status,
        stats=Stats(
            solver=solver.name,
            layout=ops.layout(game),
            rounds=outcome.rounds,
            cells=ops.num_cells(game),
            **solver.stats(game, outcome.carry.state),
        ),
        state=outcome.carry,
    )


def along_legs(
    arena: Arena,
    legs: Sequence[Leg],
    *,
    state: LegState | None = None,
    max_steps: int | None = None,
    progress: Meter | None = None,
) -> Solution:
    """Runs one solver after the other, until one is done within its budget."""
    spent, carry, first = 0, None, 0
    if state is not None:
        spent, carry, first = state.spent, state.carry, state.leg
    tried = [leg.solver.name for leg in legs[:first]]
    for index, leg in enumerate(legs[first:], start=first):
        left = None if max_steps is None else max_steps - spent
        limits = [limit for limit in (leg.budget, left) if limit is not None]
        solution = on_device(
            arena,
            leg.solver,
            state=carry,
            max_steps=min(limits, default=None),
            progress=progress,
        )
        state = LegState(solution.state, index, spent)
        over_budget = (
            solution.status in (Status.MAX_STEPS, Status.OVERFLOW)
            and (left is None or left > int(solution.stats["rounds"]))
            and index + 1 < len(legs)
        )
        if not over_budget:
            break
        tried.append(leg.solver.name)
        spent, carry = spent + int(solution.stats["rounds"]), None
    stats = dict(solution.stats)
    if tried:
        stats["tried"] = ", ".join(tried)
    return dataclasses.replace(solution, stats=Stats(**stats), state=state)


# ---- on the host -------------------------------------------------------------


def prepare_host(arena: Arena) -> _host.Prepared:
    """The arrays that the host engine works on; kept with the arena."""
    kept = arena.__dict__
    if "_parity_host" not in kept:
        kept["_parity_host"] = _host.prepare(split(arena))
    return kept["_parity_host"]


def on_host(
    arena: Arena, *, strategies: bool = True, progress: Meter | None = None
) -> Solution:
    """Runs the sequential engine.

    A small game is solved before anybody could ask about it; a large one in a thread,
    so that it can be interrupted.
    """
    if arena.shape[1] < INLINE:
        return _run_host(arena, strategies)
    track = _Track(arena.shape[0])
    return _first(track, {HOST: lambda: _run_host(arena, strategies, track)}, progress)


def _run_host(arena: Arena, strategies: bool, track: "_Track | None" = None):
    outcome = _host.run(
        prepare_host(arena),
        strategies=strategies,
        stop=None if track is None else track.stop,
        publish=None if track is None else track.decided,
    )
    winner, strategy = outcome.winner, outcome.strategy
    if arena.edge_priority is not None:
        winner, strategy = _fit(arena, winner, strategy)
    return Solution(
        winner=winner,
        strategy=strategy,
        status=Status.SOLVED if outcome.finished else Status.INTERRUPTED,
        stats=Stats(solver=HOST, **outcome.stats),
    )


# ---- on both -----------------------------------------------------------------


def race(
    arena: Arena,
    legs: Sequence[Leg],
    *,
    strategies: bool = True,
    progress: Meter | None = None,
) -> Solution:
    """Host and device solve the same game; the first to finish wins.

    The loser is told to stop, and not waited for. Under an interrupt or a deadline the
    device says what it has found, and its state is what a later call goes on from.

    Reference:
        Bootsma, Speeding up the small progress measures algorithm for parity games
        using the GPU, master's thesis, TU Eindhoven, section 4.3.
    """
    track = _Track(arena.shape[0])
    runners = {
        HOST: lambda: _run_host(arena, strategies, track),
        DEVICE: lambda: along_legs(arena, legs, progress=track.meter),
    }
    return _first(track, runners, progress)


class _Track:
    """What the engines of a race share."""

    def __init__(self, size: int):
        self.stop = np.zeros(1, np.int8)
        self.decided = np.full(size, UNDECIDED, np.int8)
        self.rounds = 0
        self.ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def meter(self, report: Report) -> Status | None:
        """Tells the device when to stop."""
        self.rounds = report.rounds
        return Status.INTERRUPTED if self.stop[0] else None


def _first(
    track: _Track, runners: dict[str, Callable[[], Solution]], progress: Meter | None
) -> Solution:
    """Runs each engine in a thread; the solution of the first that finishes."""
    meter = as_progress(progress)
    began = time.perf_counter()
    status, solution, failure = Status.INTERRUPTED, None, None
    try:
        for who, solve in runners.items():
            _start(track, who, solve)
        waiting = set(runners)
        while waiting:
            try:
                who, ended = track.ended.get(timeout=REPORT_SECONDS)
            except queue.Empty:
                seconds = time.perf_counter() - began
                stop = meter(Report(" and ".join(runners), track.rounds, seconds))
                if stop is not None:
                    status = stop
                    break
                continue
            waiting.remove(who)
            if isinstance(ended, BaseException):
                failure = ended
            elif ended.status == Status.SOLVED:
                return ended
            else:
                solution, status = ended, ended.status
    except KeyboardInterrupt:
        pass
    finally:
        track.stop[0] = 1
        meter.close()
    while waiting:
        who, ended = track.ended.get()
        waiting.remove(who)
        # What the device has found can be resumed, so it is preferred.
        if not isinstance(ended, BaseException) and (solution is None or who == DEVICE):
            solution = ended
    if solution is None:
        raise failure or RuntimeError("no engine was run")
    return dataclasses.replace(solution, status=status)


def _start(track: _Track, who: str, solve: Callable[[], Solution]) -> None:
    """Runs an engine in a thread of its own; what becomes of it is put into `ended`."""
    place = jax.config.jax_default_device  # pyright: ignore

    def run():
        try:
            with jax.default_device(place):
                track.ended.put((who, solve()))
        except BaseException as error:  # told in the thread that waits
            track.ended.put((who, error))

    threading.Thread(target=run, name=f"jaxgames {who}").start()

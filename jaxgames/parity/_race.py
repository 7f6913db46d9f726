"""The sequential engine on the host, and its race against the device."""

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import Unpack

import jax
import numpy as np

from jaxgames import fixpoint, ops, validity
from jaxgames import race as racing
from jaxgames.arena import Arena
from jaxgames.kept import kept
from jaxgames.limits import Bounds, limited
from jaxgames.parity import _host
from jaxgames.parity._device import Leg, along_legs, fit, on_device, prepare
from jaxgames.parity._edges import split
from jaxgames.parity._solution import Solution
from jaxgames.progress import Meter, Report
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.solver import Solver

HOST, DEVICE = "host", "device"
"""Names of the engines."""

INLINE = 1 << 18
"""Edges up to which the host engine begins in the caller's thread."""

INLINE_STEPS = 1 << 20
"""Steps after which it begins anew in another: far more than most such games need."""

SHARE_SECONDS = 1.0
"""How often the device looks at what the host has decided."""


@limited()
def prepare_host(arena: Arena, **bounds: Unpack[Bounds]) -> _host.Prepared:
    """The arrays that the host engine works on; kept with the arena.

    Args:
        arena: a concrete arena.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
    """
    game = validity.checked(arena)[0]
    return kept(arena, "parity host", lambda: _host.prepare(split(game)))


def on_host(
    arena: Arena, *, strategies: bool = True, progress: Meter | None = None
) -> Solution:
    """Runs the sequential engine.

    A small game is solved before anybody could ask about it, and sooner than a thread
    wakes up; a large or a hard one in a thread, so that it can be interrupted.
    """
    if arena.shape[1] < INLINE:
        solution = _run_host(arena, strategies, max_steps=INLINE_STEPS)
        if solution.status == Status.SOLVED:
            return solution
    track = _Track()
    engines = {HOST: lambda: _run_host(arena, strategies, track)}
    return racing.first(track, engines, progress=progress)


def _run_host(arena, strategies, track: "_Track | None" = None, max_steps=None):
    prepared, shared = prepare_host(arena), {}
    if track is not None:
        track.publish(prepared.size)
        shared = {"stop": track.stop, "publish": track.winner, "move": track.move}
    outcome = _host.run(prepared, strategies=strategies, max_steps=max_steps, **shared)
    winner, strategy = outcome.winner, outcome.strategy
    if arena.edge_priority is not None:
        winner, strategy = fit(arena, winner, strategy)
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

    The device takes over, now and then, what the host has decided for good. The loser
    is told to stop, and not waited for. Under an interrupt or a deadline the device
    says what it has found, and its state is what a later call goes on from.

    Reference:
        Bootsma, Speeding up the small progress measures algorithm for parity games
        using the GPU, master's thesis, TU Eindhoven, section 4.3.
    """
    track = _Track()
    engines = {
        DEVICE: lambda: along_legs(
            arena, legs, progress=track.meter, run=track.on_device
        ),
        HOST: lambda: _run_host(arena, strategies, track),
    }
    return racing.first(track, engines, progress=progress, prefer=DEVICE)


class _Track(racing.Track):
    """What the engines of a race share, and what the host has decided.

    Attributes:
        winner: int8, what the host has decided for good; None before it starts.
        move: int32, the edges to take there.
        share_seconds: after which the device looks at what the host has decided.
    """

    def __init__(self, share_seconds: float = SHARE_SECONDS):
        super().__init__()
        self.winner: np.ndarray | None = None
        self.move: np.ndarray | None = None
        self.share_seconds = share_seconds

    def publish(self, size: int) -> None:
        """Makes room for what the host decides."""
        self.move = np.full(size, NO_EDGE, np.int32)
        self.winner = np.full(size, UNDECIDED, np.int8)

    def on_device(
        self, arena: Arena, solver: Solver, *, state, max_steps, progress
    ) -> Solution:
        """Runs a solver that now and then takes over what the host has decided."""
        solution, known = None, np.array(UNDECIDED)
        while True:
            known, state = self._take_over(arena, solver, known, state, solution)
            began = time.perf_counter()

            def meter(report: Report) -> Status | None:
                stop = None if progress is None else progress(report)
                late = time.perf_counter() - began > self.share_seconds  # noqa: B023
                new = late and self._shares(arena, solver)
                return Status.INTERRUPTED if new and stop is None else stop

            solution = on_device(
                arena, solver, state=state, max_steps=max_steps, progress=meter
            )
            if solution.status != Status.INTERRUPTED or self.stop[0]:
                break
            state = solution.state
        if known.ndim == 0 or solution.strategy is None or self.move is None:
            return solution
        taken = known != UNDECIDED
        move = np.where(known == arena.owner, self.move, NO_EDGE)
        return dataclasses.replace(
            solution,
            strategy=np.where(taken, move, np.asarray(solution.strategy)),
            stats=Stats(**solution.stats, taken_over=int(taken.sum())),
        )

    def _shares(self, arena: Arena, solver: Solver) -> bool:
        """Whether there may be something to take over, and a solver that can."""
        return (
            self.winner is not None
            and solver.absorbs
            and arena.edge_priority is None  # or vertices have other numbers
        )

    def _take_over(self, arena: Arena, solver: Solver, known, state, solution):
        """What is known from the host by now, and the state that makes use of it."""
        if self.winner is None or not self._shares(arena, solver):
            return known, state
        winner = self.winner[: arena.shape[0]].copy()
        together = winner
        if solution is not None:
            found = np.asarray(solution.winner)
            together = np.where(found == UNDECIDED, winner, found)
        if not np.any(winner != known) or not _is_closed(arena, together):
            return known, state
        fitted, game = prepare(arena, solver)
        solver = solver.fit(fitted)
        if state is None:
            state = fixpoint.first(solver, game)
        padded = np.full(ops.num_vertices(game), UNDECIDED, np.int8)
        padded[: len(winner)] = winner
        return winner, state._replace(state=_absorb(solver, game, state.state, padded))


def _is_closed(arena: Arena, winner: np.ndarray) -> bool:
    """Whether what is decided is its own attractor, so that the rest is a game.

    What the host has decided is, but it may be writing while this is read; and together
    with what the device has decided it need not be.
    """
    open_ = winner == UNDECIDED
    row = open_[arena.src]
    ends = winner[arena.dst]
    lures = row & (ends == arena.owner[arena.src])
    stays = np.zeros(len(winner), bool)
    stays[arena.src[row & (ends == UNDECIDED)]] = True
    return not lures.any() and bool(stays[open_].all())


@functools.partial(jax.jit, static_argnums=0)
def _absorb(solver: Solver, game: ops.Game, state, winner):
    return solver.absorb(game, state, ops.by_slot(game, winner, UNDECIDED))

"""The sequential engine on the host, and its race against the device."""

import dataclasses
from typing import Any

from jaxgames import host
from jaxgames import race as racing
from jaxgames.arena import Arena
from jaxgames.energy import _device, reference
from jaxgames.energy._solution import Solution
from jaxgames.progress import Meter
from jaxgames.solution import Stats, Status
from jaxgames.solver import Solver

HOST, DEVICE, RACE = "host", "device", "race"

INLINE = 1 << 15
"""Edges up to which the host engine runs in the caller's thread, if that is enough."""

PATIENCE, PATIENCE_INTERPRETED = 1 << 18, 1 << 11
"""Lifts, a fraction of a second. Then it begins anew in a thread of its own, where it
can be watched and stopped.
"""


def on_host(
    arena: Arena,
    *,
    strategies: bool = True,
    progress: Meter | None = None,
    capacity: int | None = None,
) -> Solution:
    """Runs the sequential engine; in a thread of its own unless that takes longer."""
    how = {"strategies": strategies, "capacity": capacity}
    if racing.is_short(arena.shape[1], INLINE):
        patience = PATIENCE if host.can_compile() else PATIENCE_INTERPRETED
        found = _run(arena, **how, max_steps=patience)
        if found.status != Status.MAX_STEPS:
            return found
    track = racing.Track()
    engines = {HOST: lambda: _run(arena, **how, stop=track.stop)}
    return racing.first(track, engines, progress=progress)


def _run(arena: Arena, **how: Any) -> Solution:
    found = reference.solve(arena, **how)
    stats = Stats(**{**found.stats, "solver": HOST})
    return dataclasses.replace(found, stats=stats)


def race(
    arena: Arena,
    solver: Solver,
    *,
    strategies: bool = True,
    progress: Meter | None = None,
) -> Solution:
    """Host and device solve the same game; the first to finish wins.

    The loser is told to stop, and not waited for. Under an interrupt or a deadline the
    device says what it has found, and its state is what a later call goes on from.
    """
    track = racing.Track()
    engines = {
        DEVICE: lambda: _device.on_device(arena, solver, progress=track.meter),
        HOST: lambda: _run(arena, strategies=strategies, stop=track.stop),
    }
    return racing.first(track, engines, progress=progress, prefer=DEVICE)

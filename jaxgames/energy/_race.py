"""The sequential engine on the host, and its race against the device."""

import dataclasses

from jaxgames import race as racing
from jaxgames.arena import Arena
from jaxgames.energy import _device, reference
from jaxgames.energy._solution import Solution
from jaxgames.progress import Meter
from jaxgames.solution import Stats
from jaxgames.solver import Solver

HOST, DEVICE, RACE = "host", "device", "race"

INLINE = 1 << 15
"""Edges up to which the host engine runs in the caller's thread."""


def on_host(
    arena: Arena, *, strategies: bool = True, progress: Meter | None = None
) -> Solution:
    """Runs the sequential engine, in a thread of its own or else at once."""
    if racing.is_short(arena.shape[1], INLINE):
        return _run(arena, strategies)
    track = racing.Track()
    engines = {HOST: lambda: _run(arena, strategies, track)}
    return racing.first(track, engines, progress=progress)


def _run(arena: Arena, strategies: bool, track: racing.Track | None = None) -> Solution:
    found = reference.solve(
        arena, stop=None if track is None else track.stop, strategies=strategies
    )
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
        HOST: lambda: _run(arena, strategies, track),
    }
    return racing.first(track, engines, progress=progress, prefer=DEVICE)

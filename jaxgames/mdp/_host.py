"""The sequential engine as one that can be raced and interrupted."""

from jaxgames import race
from jaxgames.mdp import reference
from jaxgames.mdp._model import MDP
from jaxgames.mdp._solution import EndComponents
from jaxgames.progress import Meter, Progress

HOST, DEVICE, RACE = "host", "device", "race"
"""Names of the engines, and of both at once."""

INLINE = 1 << 20
"""Branches up to which the engine runs in the caller's thread."""


def on_host(
    model: MDP, states=None, choices=None, progress: Progress | Meter | None = None
) -> EndComponents:
    """Runs the engine of [`reference.mec`][jaxgames.mdp.reference.mec].

    A small model is taken apart before anybody could ask about it; a large one in a
    thread, so that it can be interrupted.

    Args:
        model: a concrete model.
        states: bool `[S]`, the states to look at; None for all.
        choices: bool `[C]`, the choices to look at; None for all.
        progress: told now and then; may end the search.
    """
    if race.is_short(model.num_branches, INLINE):
        return run_host(model, states, choices)
    track = race.Track()
    engines = {HOST: lambda: run_host(model, states, choices, track)}
    return race.first(track, engines, progress=progress)


def run_host(
    model: MDP, states=None, choices=None, track: race.Track | None = None
) -> EndComponents:
    """Runs the engine in this thread, until `track` says that it should stop."""
    stop = None if track is None else track.stop
    return reference.mec(model, states=states, choices=choices, stop=stop)

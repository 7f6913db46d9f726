"""What `solver="auto"` does, from facts that are known before the solve."""

from typing import Literal

import jax

from jaxgames import host, ops
from jaxgames.arena import Arena

Place = Literal["device", "host", "race"]


def place_for(arena: Arena) -> Place:
    """Chooses by backend, size and what is installed.

    Without numba there is no host engine to speak of. With it a CPU leaves the game to
    the host engine, and so does a GPU if the game is small, since launches alone would
    take longer; for all others both race.
    """
    if arena.owner.ndim != 1 or not host.can_compile():
        return "device"
    if jax.default_backend() == "cpu" or arena.shape[1] < ops.SLICE_FROM:
        return "host"
    return "race"

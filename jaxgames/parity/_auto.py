"""What `solver="auto"` does, from facts that are known before the solve."""

from typing import Literal

import jax

from jaxgames import host
from jaxgames.arena import Arena
from jaxgames.parity._alternating import Alternating
from jaxgames.parity._device import Leg, top_priority
from jaxgames.parity._promotion import PriorityPromotion
from jaxgames.parity._zielonka import Zielonka

Place = Literal["device", "host", "race"]

HOST_UNTIL = 1 << 16
"""Edges of a game that is left to the host alone: it takes a few milliseconds, and
the start of a race would be a good part of these."""

PROMOTION_BUDGET = 1 << 16
"""Rounds after which priority promotion is given up: far more than games need that it
is good for (docs: How to choose)."""

MEASURE_BUDGET = 1 << 14
"""Rounds after which the measures are given up."""

FEW_PRIORITIES = 64
"""Up to here measures take few words, and are tried."""


def place_for(arena: Arena) -> Place:
    """Chooses by backend, size and what is installed.

    Without numba there is no host engine to speak of. With it a CPU leaves the game to
    the host engine, and so does a GPU if the game is small; for all others both race.
    """
    if not host.can_compile():
        return "device"
    if jax.default_backend() == "cpu" or arena.shape[1] < HOST_UNTIL:
        return "host"
    return "race"


def legs(arena: Arena, strategies: bool = True) -> tuple[Leg, ...]:
    """The solvers that a device takes, one after the other.

    Priority promotion first, then measures where they are short, then Zielonka's
    algorithm without a limit.
    """
    found = [Leg(PriorityPromotion(strategies=strategies), PROMOTION_BUDGET)]
    if top_priority(arena) < FEW_PRIORITIES:
        found.append(Leg(Alternating(strategies=strategies), MEASURE_BUDGET))
    return (*found, Leg(Zielonka(strategies=strategies)))

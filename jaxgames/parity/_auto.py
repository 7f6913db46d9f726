"""What `solver="auto"` does, from facts that are known before the solve."""

from typing import Literal, NamedTuple

import jax

from jaxgames import host, ops
from jaxgames.arena import Arena
from jaxgames.parity._alternating import Alternating
from jaxgames.parity._engines import Leg
from jaxgames.parity._promotion import PriorityPromotion
from jaxgames.parity._zielonka import Zielonka

Place = Literal["device", "host", "race"]

PROMOTION_BUDGET = 1 << 16
"""Rounds after which priority promotion is given up: far more than games need that it
is good for (docs: How to choose)."""

MEASURE_BUDGET = 1 << 14
"""Rounds after which the measures are given up."""

FEW_PRIORITIES = 64
"""Up to here measures take few words, and are tried."""


class Plan(NamedTuple):
    """Where to solve, and with which solvers if on the device."""

    place: Place
    legs: tuple[Leg, ...]


def plan(arena: Arena, strategies: bool = True) -> Plan:
    """Chooses by backend, size, priorities and what is installed.

    Without numba there is no host engine to speak of. With it a CPU leaves the game to
    the host engine, and so does a GPU if the game is small, since launches alone would
    take longer; for all others both race. A device takes priority promotion first, then
    measures where they are short, and Zielonka's algorithm without a limit.
    """
    if not host.can_compile():
        place = "device"
    elif jax.default_backend() == "cpu" or arena.shape[1] < ops.SLICE_FROM:
        place = "host"
    else:
        place = "race"
    legs = [
        Leg(PriorityPromotion(strategies=strategies), PROMOTION_BUDGET),
        Leg(Alternating(strategies=strategies), MEASURE_BUDGET),
        Leg(Zielonka(strategies=strategies)),
    ]
    labels = arena.priority if arena.edge_priority is None else arena.edge_priority
    if int(labels.max(initial=0)) >= FEW_PRIORITIES:
        del legs[1]
    return Plan(place, tuple(legs))

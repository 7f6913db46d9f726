"""Small parity games that are hard for the host, found by climbing.

A search begins with one of the worst cases of the literature, or a random game, changes
a few labels and edges by lot, and goes on from the new game where the host takes more
steps to solve it. Where nothing is found any more it begins again.
"""

import heapq
import time
from typing import NamedTuple

import numpy as np

from jaxgames import generate, host, parity
from jaxgames.arena import Arena
from jaxgames.parity import Solution, reference
from jaxgames.parity import host as engine
from jaxgames.solution import Status
from jaxgames.testing._parity_games import WORST_CASES, up_to

KEPT = 2000
"""The hardest games, of which so many are kept."""

PATIENCE = 60
"""Changes without success after which a search begins again."""

MOST_DEGREE = 4
"""Edges for each vertex that a game gets at most: more make any game longer to solve,
and a climb would add them without end."""

MOST_STEPS = 10**8
"""After so many a game is hard enough."""


class Hard(NamedTuple):
    """A game, and how hard it is.

    Attributes:
        steps: of the host's engines together.
        number: which game of the search it is.
        arena: the game.
    """

    steps: int
    number: int
    arena: Arena


def search(size: int, games: int, seed: int, seconds: float | None) -> list[Hard]:
    """The hardest of some games with at least 9 vertices, from the hardest one on."""
    rng = np.random.default_rng(seed)
    end = np.inf if seconds is None else time.perf_counter() + seconds
    kept: list[Hard] = []
    best, failures = 0, PATIENCE
    current = _start(rng, size)
    number = 0
    while number < games and time.perf_counter() < end:
        fresh = failures == PATIENCE
        arena = _start(rng, size) if fresh else _changed(rng, current)
        found = Hard(_steps(arena), number, arena)
        number += 1
        failures += 1
        if fresh or found.steps > best:
            current, best, failures = arena, found.steps, 0
            heapq.heappush(kept, found)
        if len(kept) > KEPT:
            heapq.heappop(kept)
    return sorted(kept, reverse=True)


def complaint(game: Hard) -> str | None:
    """What is wrong with the host's answer, whose strategies are its proof."""
    found = engine.run(engine.prepare(game.arena))
    claim = Solution(Status.SOLVED, winner=found.winner, strategy=found.strategy)
    verdict = reference.verify(game.arena, claim)
    return None if verdict else str(verdict)


def seconds_of(game: Hard) -> float:
    """What the host takes to solve it once more, of the processor's time."""
    with host.compiling():
        parity.solve(game.arena, "host")
        began = time.process_time()
        parity.solve(game.arena, "host")
        return time.process_time() - began


def _steps(arena: Arena) -> int:
    prepared = engine.prepare(arena)
    return int(engine.run(prepared, max_steps=MOST_STEPS).stats["steps"])


def _start(rng: np.random.Generator, size: int) -> Arena:
    games = up_to(size, WORST_CASES[int(rng.integers(len(WORST_CASES)))])
    if games and rng.random() < 0.8:
        return games[-1]
    return generate.random_game(rng, size, num_priorities=size, max_degree=2)


def _changed(rng: np.random.Generator, arena: Arena) -> Arena:
    """One to three changes: a target, an owner, a priority, or one edge more.

    Games of the literature may have more edges than that, and then get none.
    """
    size, edges = arena.shape
    src, dst, owner, priority = (
        x.copy() for x in (arena.src, arena.dst, arena.owner, arena.priority)
    )
    for kind in rng.integers(0, 4, rng.integers(1, 4)):
        v = rng.integers(size)
        if kind == 0:
            dst[rng.integers(edges)] = v
        elif kind == 1:
            owner[v] = not owner[v]
        elif kind == 2:
            priority[v] = rng.integers(2 * size)
        elif len(src) < MOST_DEGREE * size:
            src, dst = np.append(src, v), np.append(dst, rng.integers(size))
    return Arena.from_edges(src, dst, owner=owner, priority=priority)

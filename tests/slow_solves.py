"""Solves of many rounds, which tests/test_checkpoint.py runs and kills.

    python slow_solves.py NAME FILE [--like-a-gpu]

There each round, or what the host lets a device do at a time, takes longer than an
interval between two checkpoints. One sweep is made between two tests, so that any
backend makes as many rounds however often a solve is stopped.
"""

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxgames import (
    checkpoint,
    energy,
    fixpoint,
    generate,
    graph,
    mdp,
    parity,
    solve_many,
)
from jaxgames.batch import stack

FPI = parity.FPI(sweeps_per_check=1)


def of_parity_games() -> Callable[..., Any]:
    return functools.partial(parity.solve, generate.recursive_ladder(6), FPI)


def of_energy_games() -> Callable[..., Any]:
    game = generate.ring_energy_game(0, 600, max_weight=9)
    return functools.partial(energy.solve, game, energy.VI(sweeps_per_check=1))


def of_components() -> Callable[..., Any]:
    size = 2000
    tails = np.arange(size + 1)
    ring = tails, np.roll(tails[:-1], -1)
    return functools.partial(graph.scc, ring, graph.FBTrim(sweeps_per_check=1))


def of_end_components() -> Callable[..., Any]:
    return functools.partial(
        mdp.mec, generate.ladder_mdp(40), mdp.Basic(sweeps_per_check=1)
    )


def of_batches() -> Callable[..., Any]:
    games = [generate.recursive_ladder(3 + seed % 3) for seed in range(8)]
    return functools.partial(solve_many, parity, stack(games), FPI)


SOLVES = {
    "parity games": of_parity_games,
    "energy games": of_energy_games,
    "components": of_components,
    "end components": of_end_components,
    "batches": of_batches,
}


def rounds_of(state: Any) -> int:
    """Rounds that were made when a state was written."""
    for name in ("course", "carry", "credits"):
        state = getattr(state, name, state)
    return int(state.rounds)


if __name__ == "__main__":
    if "--like-a-gpu" in sys.argv:  # as the tests that compare with it
        jax.default_backend = lambda: "gpu"
    fixpoint.FIRST_CHUNK, fixpoint.CHUNK_SECONDS = 1, 0
    checkpoint.solve(
        sys.argv[2],
        SOLVES[sys.argv[1]](),
        every=0.05,
        progress=lambda report: time.sleep(0.05),
    )

"""What JAX may do with a solve, for every solver that there is."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fake_devices import environment

from jaxgames import buchi, energy, graph, mdp, multienergy, parity
from jaxgames.solution import Status
from jaxgames.testing import check_transforms

PROGRAM = Path(__file__).with_name("four_devices.py")

EXPECTED = {
    "parity": [*parity.SOLVERS],
    "energy": [*energy.SOLVERS],
    "meanpayoff": [*energy.SOLVERS],
    "graph": [*graph.SOLVERS],
    "buchi": [*buchi.GAME_SOLVERS, *(x for x in buchi.SOLVERS if x != "trim")],
    "mdp": [*mdp.SOLVERS],
    "game": ["deflation"],
    "multienergy": [*multienergy.SOLVERS],
}


@pytest.mark.parametrize(
    "kinds",
    [
        ["parity", "multienergy"],
        ["energy", "meanpayoff"],
        ["buchi", "graph", "mdp", "game"],
    ],
    ids=" ".join,
)
def test_every_solver_may_be_transformed(kinds):
    """Several kinds share a process, which starts for seconds."""
    done = subprocess.run(
        [sys.executable, PROGRAM, *kinds],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = [tuple(line.split()) for line in done.stdout.splitlines()]
    assert names == [(kind, name) for kind in kinds for name in EXPECTED[kind]]


# ---- the kit finds what is wrong -------------------------------------------------


def found(winner) -> parity.Solution:
    return parity.Solution(jnp.int32(Status.SOLVED), winner=winner)


def numbers() -> jax.Array:
    return jnp.arange(2.0 * len(jax.devices()))


def test_answers_that_depend_on_the_batch_are_found():
    def solve(x):
        # The sum over a mapped axis is seen by `custom_vmap` only.
        @jax.custom_batching.custom_vmap
        def plus(x):
            return x

        @plus.def_vmap
        def _(size, batched, x):
            return x + 1, True

        return found(plus(x) > 2)

    with pytest.raises(AssertionError, match="winner of game 2 under vmap"):
        check_transforms(solve, jnp.arange(2.0 * len(jax.devices()) + 2))


def test_derivatives_that_go_through_are_found():
    with pytest.raises(AssertionError, match="goes through the solve"):
        check_transforms(found, numbers() + 1, nested=True)


def test_what_is_not_solved_is_found():
    def solve(x):
        return parity.Solution(jnp.int32(Status.MAX_STEPS), winner=x > 1)

    with pytest.raises(AssertionError, match="game 0: status 1 under jit"):
        check_transforms(solve, numbers())


def test_games_must_be_dealt_out_evenly():
    with pytest.raises(ValueError, match="a multiple of"):
        check_transforms(lambda x: found(x > 1), np.arange(3.0))

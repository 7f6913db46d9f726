"""What tests/test_parallel.py runs in processes of their own, with four CPU devices."""

import dataclasses
import sys

import jax
import numpy as np
import pytest

from jaxgames import Status, batch, energy, generate, parallel, parity, solve_many


def same(x, y) -> None:
    np.testing.assert_array_equal(x.winner, y.winner)
    np.testing.assert_array_equal(x.strategy, y.strategy)
    assert x.status == y.status == Status.SOLVED


def solvers() -> None:
    """Every solver gives on four devices what it gives on one, in as many rounds."""
    arena = generate.elevator(3)
    small = generate.random_game(3, 60, num_priorities=3)
    for name in parity.SOLVERS:
        alone = parity.solve(arena, name)
        with parallel.over(4):
            spread = parity.solve(arena, name)
        same(spread, alone)
        assert spread.stats["layout"] == "slices on 4 devices"
        assert spread.stats["rounds"] == alone.stats["rounds"]
    with parallel.over(3):  # a number that divides nothing
        found = parity.solve(small)  # the host would have it, were it not for the mesh
        same(found, parity.solve(small, "promotion"))
        assert found.stats["layout"] == "slices on 3 devices"
        assert parity.reference.verify(small, parity.solve(small, "host"))


def energies() -> None:
    """Credits and the strategies of both players, in 32 and 64 bits."""
    arena = generate.random_energy_game(1, 60, max_weight=9)
    wide = dataclasses.replace(arena, weight=arena.weight.astype(np.int64) << 40)
    for game in (arena, wide):
        for solver in ("fvi", "vi"):
            if solver == "vi" and game is wide:
                continue  # it counts up in small steps
            alone = energy.solve(game, solver)
            with parallel.over(4):
                spread = energy.solve(game, solver)
            same(spread, alone)
            np.testing.assert_array_equal(spread.credit, alone.credit)
            assert energy.verify(game, spread)


def many() -> None:
    """Games of a list and of a stack are dealt out, and no answer changes."""
    games = [generate.random_game(i, 20 + i % 7, num_priorities=4) for i in range(18)]
    stack = batch.stack(games[:8])
    alone, stacked = solve_many(parity, games), solve_many(parity, stack)
    with parallel.over(4):
        for spread, one in zip(solve_many(parity, games), alone, strict=True):
            same(spread, one)
        spread = solve_many(parity, stack)
    assert len(spread.winner.sharding.device_set) == 4
    np.testing.assert_array_equal(spread.winner, stacked.winner)
    np.testing.assert_array_equal(spread.strategy, stacked.strategy)
    with parallel.over(3), pytest.raises(ValueError, match="multiple of so many.*8"):
        solve_many(parity, stack)


def resume() -> None:
    """A solve goes on where it stopped on fewer devices, and on more."""
    arena = generate.random_game(0, 400, num_priorities=6)
    expected = parity.solve(arena, "zielonka")
    state = None
    for limit, devices in ((10, 4), (25, 1), (40, 2), (None, 4)):
        with parallel.over(devices, shares=4):
            found = parity.solve(
                arena, "zielonka", max_steps=limit, state=state, throw=False
            )
        state = found.state
        assert limit is None or found.stats["rounds"] == limit
    same(found, expected)


def one_of(processes: int, number: int, port: int) -> None:
    """One of several processes that solve a game together."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"localhost:{port}", processes, number)
    assert len(jax.devices()) == processes * len(jax.local_devices())
    arena = generate.random_game(0, 200, num_priorities=4)
    with parallel.over():
        found = parity.solve(arena, "promotion", progress=lambda report: None)
    assert parity.reference.verify(arena, found)
    print(found)


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    tasks = {x.__name__: x for x in (solvers, energies, many, resume, one_of)}
    tasks[task](*map(int, arguments))

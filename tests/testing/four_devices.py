"""Solves of one kind under JAX's transformations: for a process with four devices."""

import dataclasses
import functools
import sys

import jax
import numpy as np

from jaxgames import (
    Arena,
    batch,
    buchi,
    drive,
    energy,
    generate,
    graph,
    mdp,
    meanpayoff,
    multienergy,
    parity,
)
from jaxgames.testing import check_transforms
from jaxgames.testing._compiling import compile_fast

GAMES = 8


def arenas(make, **labels) -> Arena:
    """A stack of arenas of up to seven vertices, with more labels."""
    some = [make(seed, 4 + seed % 4) for seed in range(GAMES)]
    for name, values in labels.items():
        some = [
            dataclasses.replace(arena, **{name: values(seed, arena)})
            for seed, arena in enumerate(some)
        ]
    return batch.stack(some)


def accepting(seed: int, arena: Arena) -> np.ndarray:
    return np.random.default_rng(seed).random(arena.shape[0]) < 0.4


def models() -> mdp.MDP:
    rng = np.random.default_rng(1)
    some = []
    for _ in range(GAMES):
        groups = np.append(0, np.cumsum(rng.integers(1, 3, 5)))
        rows = np.append(0, np.cumsum(rng.integers(1, 3, groups[-1])))
        some.append(mdp.MDP.from_arrays(groups, rows, rng.integers(0, 5, rows[-1])))
    return drive.PROBLEMS["mec"].form.stack(some, (8, 16, 32))


def stochastic_games() -> mdp.Game:
    rng = np.random.default_rng(2)
    some = []
    for _ in range(GAMES):
        many = rng.integers(1, 3, 5)
        groups = np.append(0, np.cumsum(many))
        rows = np.arange(0, 2 * groups[-1] + 1, 2)
        to, half = rng.integers(0, 5, rows[-1]), np.full(rows[-1], 0.5)
        game = mdp.Game.from_arrays(groups, rows, to, half, rng.integers(0, 2, 5))
        some.append(game.pad(8, 16, 32))
    return jax.tree.map(lambda *x: np.stack(x), *some)


def several_energies() -> multienergy.Game:
    return multienergy.stack(
        [
            multienergy.Game.from_arrays(
                [0, 2, 4, 4, 4], [1, 2, 2, 3], [0, 1, 2, 1],
                [[-1, 0], [0, -k], [("min", 1), 0]],
                defender=[False, True, True, True], cap=9,
            )
            for k in range(1, GAMES + 1)
        ]
    )  # fmt: skip


def solves(kind: str):
    """The games of a kind, and its solves by name of the solver."""
    game = functools.partial(generate.random_game, max_degree=3)
    weighted = functools.partial(
        generate.random_energy_game, max_degree=3, max_weight=9
    )

    def named(solve, registry, **options):
        return {
            name: functools.partial(solve, solver=name, **options) for name in registry
        }

    if kind == "parity":
        return arenas(game), named(parity.solve, parity.SOLVERS)
    if kind == "energy":
        return arenas(weighted), named(energy.solve, energy.SOLVERS)
    if kind == "meanpayoff":
        decide = functools.partial(meanpayoff.decide, threshold=(1, 2))
        return arenas(weighted), named(decide, energy.SOLVERS)
    if kind == "graph":
        return arenas(game), named(graph.scc, graph.SOLVERS)
    if kind == "buchi":
        stack = arenas(game, accepting=accepting)
        traceable = [name for name in buchi.SOLVERS if name != "trim"]
        return stack, named(buchi.solve, buchi.GAME_SOLVERS) | named(
            buchi.accepting_cycle, traceable
        )
    if kind == "mdp":
        return models(), named(mdp.mec, mdp.SOLVERS)
    if kind == "game":
        return stochastic_games(), {"deflation": values_of_game}
    solvers = named(multienergy.solve, multienergy.SOLVERS)
    return several_energies(), {
        name: functools.partial(fronts, solve) for name, solve in solvers.items()
    }


def values_of_game(game: mdp.Game) -> mdp.GameValues:
    """Derivatives of real values do not stop by themselves."""
    return mdp.solve_game(jax.lax.stop_gradient(game), [0], epsilon=1e-3)


@dataclasses.dataclass
class Words:
    """The fronts of a game, as an array."""

    status: jax.Array
    words: jax.Array


def fronts(solve, game) -> Words:
    found = solve(game)
    return Words(found.status, jax.numpy.stack(found.words))


if __name__ == "__main__":
    compile_fast()
    assert len(jax.devices()) == 4
    nested = False
    for kind in sys.argv[1:]:
        stack, ways = solves(kind)
        for name, solve in ways.items():
            # All ways for the first, one program for each of the others.
            check_transforms(solve, stack, nested=nested)
            print(kind, name, flush=True)
            nested = True

"""The layouts suite: segment operations on CSR against slices of equal degree.

What it finds decides `ops.SLICE_FROM`: the number of edges from which a concrete arena
is sorted into slices.
"""

import time

import jax
import numpy as np

from benchmarks import schema
from benchmarks.run import Options
from benchmarks.traffic import bytes_per_round
from jaxgames import Arena, Status, fixpoint, generate, ops, parity


def run(options: Options, results: schema.Results) -> None:
    """Adds a row for every game in both layouts."""
    for power in (8,) if options.small else range(8, 21, 2):
        size = 2**power
        game = generate.random_game(power, size, num_priorities=4)
        _add(f"random 2^{power}", game, options, results)
    for floors in (3,) if options.small else (4, 5, 6):
        game = generate.elevator(floors, fair=False)
        _add(f"elevator {floors} unfair", game, options, results)
    options.keep(results)


def _add(name: str, arena: Arena, options: Options, results: schema.Results) -> None:
    normal, _ = parity.prepare(arena)
    solver = parity.Zielonka()
    winners = []
    for make in (lambda: normal.pad(), lambda: ops.slice_rows(normal)):
        began = time.perf_counter()
        game = jax.block_until_ready(jax.device_put(make(), jax.devices()[0]))
        prepare_s = time.perf_counter() - began

        def solve(game=game):
            return jax.block_until_ready(fixpoint.run(solver, game))

        outcome, first_s, *runs = _timed(solve, options.runs)
        solution = parity.Solution(
            outcome.status,
            winner=np.asarray(outcome.answer.winner)[: arena.shape[0]],
            strategy=np.asarray(outcome.answer.strategy)[: arena.shape[0]],
            state=outcome.carry,
        )
        winners.append(solution.winner)
        row = schema.Row(
            game=name,
            vertices=arena.shape[0],
            edges=arena.shape[1],
            priorities=len(np.unique(arena.priority)),
            solver=f"{solver.name}, {ops.layout(game)}",
            layout=ops.layout(game),
            prepare_s=prepare_s,
            compile_s=first_s - min(runs),
            solve_s=float(np.median(runs)),
            solve_runs=runs,
            rounds=int(outcome.rounds),
            bytes_per_round=bytes_per_round(solver, game),
            verified=bool(parity.verify(arena, solution)),
            status=Status(outcome.status).name,
        )
        print(f"{name}: {row.layout}: {row.solve_s:.6f} s", flush=True)
        results.put([row])
    if not np.array_equal(*winners):
        raise AssertionError(f"{name}: the layouts do not agree")


def _timed(solve, runs: int) -> list:
    """The answer, the seconds of the first call, and those of warm ones."""
    times = []
    for _ in range(1 + runs):
        began = time.perf_counter()
        outcome = solve()
        times.append(time.perf_counter() - began)
    return [outcome, *times]

"""The parity suite: games of the papers and random ones, every solver, every peer."""

import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from benchmarks import schema
from benchmarks.peers import side_by_side
from benchmarks.run import Options, timed
from jaxgames import Arena, Status, generate, host, io, ops, parity
from jaxgames.parity import reference
from jaxgames.progress import Deadline

NAME = "parity"

Generator = Callable[[], Arena]

FULL: dict[str, Generator] = {
    "elevator 7 unfair": lambda: generate.elevator(7, fair=False),
    "elevator 7 fair": lambda: generate.elevator(7, fair=True),
    "propagation tree 22": lambda: generate.propagation_tree(22, 2),
    "hanoi 12": lambda: generate.hanoi(12),
    "propagation 50x1000": lambda: generate.propagation(50, 1000),
    "jurdzinski 5x10": lambda: generate.jurdzinski(5, 10),
    "random 1e6, 4 priorities": lambda: generate.random_game(
        1, 10**6, num_priorities=4
    ),
    "random 1e6, 16 priorities": lambda: generate.random_game(
        2, 10**6, num_priorities=16
    ),
}
"""Games by name: those of the thesis that can be generated, and random ones."""

SMALL: dict[str, Generator] = {
    "elevator 4 unfair": lambda: generate.elevator(4, fair=False),
    "hanoi 6": lambda: generate.hanoi(6),
    "random 1e3, 4 priorities": lambda: generate.random_game(
        1, 10**3, num_priorities=4
    ),
}
"""Games for a quick look that everything runs."""

HOST = "reference (numba)"


def run(options: Options, results: schema.Results) -> None:
    """Adds a row for every game and solver, and for every peer."""
    for name, make in (SMALL if options.small else FULL).items():
        began = time.perf_counter()
        arena = make()
        generate_s = time.perf_counter() - began
        facts = {
            "game": name,
            "vertices": arena.shape[0],
            "edges": arena.shape[1],
            "priorities": len(np.unique(arena.priority)),
            "generate_s": generate_s,
            "load_s": _load_seconds(arena, options.scratch),
        }
        began = time.perf_counter()
        _, game = parity.prepare(arena)
        jax.block_until_ready(game)
        facts["prepare_s"] = time.perf_counter() - began

        rows = [_device_row(facts, arena, s, options) for s in parity.SOLVERS]
        if host.can_compile():
            rows.append(_host_row(facts, arena, options))
        winners = [winner for _, winner in rows if winner is not None]
        if any(not np.array_equal(w, winners[0]) for w in winners):
            raise AssertionError(f"{name}: our solvers do not agree")
        for row, _ in rows:
            print(f"{name}: {row.solver}: {row.status}, {row.solve_s} s", flush=True)
        results.rows += [row for row, _ in rows]
        if options.peers and winners:
            results.peers += side_by_side(
                name, arena, winners[0], time_limit_s=options.time_limit_s
            )


def _device_row(facts, arena, name, options) -> tuple[schema.Row, np.ndarray | None]:
    def solve():
        limit = Deadline(options.time_limit_s)
        solution = parity.solve(arena, name, progress=limit, throw=False)
        jax.block_until_ready((solution.winner, solution.strategy))
        return solution

    solution, first_s, runs = timed(solve, options)
    solved = solution.status == Status.SOLVED
    solver = parity.SOLVERS.resolve(name).fit(parity.prepare(arena)[0])
    row = schema.Row(
        **facts,
        solver=name,
        layout=solution.stats["layout"],
        compile_s=first_s - min(runs) if solved else None,
        solve_s=float(np.median(runs)) if solved else None,
        solve_runs=runs if solved else [],
        rounds=int(solution.stats["rounds"]),
        bytes_per_round=bytes_per_round(solver, parity.prepare(arena)[1], solution),
        verified=bool(_check(arena, solution, facts)) if solved else None,
        status=Status(solution.status).name,
    )
    return row, np.asarray(solution.winner) if solved else None


def _host_row(facts, arena, options) -> tuple[schema.Row, np.ndarray | None]:
    solution, first_s, runs = timed(lambda: reference.solve(arena), options)
    row = schema.Row(
        **{**facts, "prepare_s": None},
        solver=HOST,
        compile_s=first_s - min(runs),
        solve_s=float(np.median(runs)),
        solve_runs=runs,
        verified=bool(reference.verify(arena, solution)),
        status=Status(solution.status).name,
    )
    return row, np.asarray(solution.winner)


def _check(arena, solution, facts):
    few = facts["priorities"] <= 64
    return (parity.verify if few else reference.verify)(arena, solution)


def _load_seconds(arena: Arena, scratch: Path) -> float:
    """Reads the game from a PGSolver file, warm."""
    path = scratch / "load.pg"
    io.save(path, arena)
    began = time.perf_counter()
    io.load(path)
    return time.perf_counter() - began


def bytes_per_round(solver, game: ops.Game, solution) -> int:
    """Bytes that a round must move at the least, if nothing stays in a cache.

    Each cell of the layout is an index (4 bytes) and a gathered value; the state is
    read and written, the labels are read. A round of Zielonka holds several sweeps.
    """
    cells, state = ops.num_cells(game), solution.state.state
    labels = game.owner.nbytes + game.priority.nbytes
    once = 2 * sum(x.nbytes for x in jax.tree.leaves(state)) + labels
    gathered = 8 * solver.words if isinstance(solver, parity.SPM) else 1
    sweep = cells * (4 + gathered)
    if not isinstance(solver, parity.Zielonka):
        return sweep + once
    # Between sweeps only kind and move change.
    between = 2 * (state.kind.nbytes + state.move.nbytes) + game.owner.nbytes
    sweeps = solver.sweeps_per_step
    return sweeps * (sweep + between) + once

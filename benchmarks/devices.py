"""The suite `devices`: large arenas on several devices, and a batch dealt out to them.

Its experiments: `strong`, one arena on more and more devices, and `strong, large`, one
four times as large; `weak`, arenas that grow with their number, from the first one on;
`weak, small`, from a quarter of it on; `batch`, many small games. `phases` of rows tell
the `devices`, and of the program that makes the rounds how many `collectives` it has,
and how many `bytes` each device gets by them: those of one step. An answer is
`verified` if it is, in every bit, the answer of one device.

Arenas are made on the devices, as they lie there: each its own share.
"""

import functools
import math
import re
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

import jaxgames
from benchmarks import schema
from benchmarks.run import Options
from benchmarks.spread_arenas import (
    BITS,
    GRAIN,
    PRIORITIES,
    SHARES,
    directions,
    energy_game,
    mixed,
    parity_game,
)
from jaxgames import Status, energy, fixpoint, generate, graph, ops, parallel, parity
from jaxgames.graph._solver import Subgraph
from jaxgames.graph._turns import Turns


def run(options: Options, results: schema.Results) -> None:
    """Adds the rows of all experiments."""
    vertices = 24 << (8 if options.small else 20 if jax.device_count() > 1 else 18)
    meshes = [parallel.mesh(n) for n in (1, 2, 4, 8) if n <= jax.device_count()]
    suite = _Suite(options, results)
    for mesh in meshes:
        size = 5 * vertices // 3 // GRAIN * GRAIN
        bits = 12 if options.small else BITS
        suite.games("strong", mesh, size)
        suite.components("strong", mesh, bits)
        suite.games("strong, large", mesh, 4 * size)
        suite.components("strong, large", mesh, bits + 2)
        suite.games("weak", mesh, size * mesh.size)
        suite.components("weak", mesh, bits + mesh.size.bit_length() - 1)
        small = size // 4 // GRAIN * GRAIN * mesh.size
        suite.games("weak, small", mesh, small)
        suite.batch(mesh, 64 if options.small else 1_000_000)


class _Suite:
    """Where rows go, and how they are measured."""

    def __init__(self, options: Options, results: schema.Results):
        self.options, self.results = options, results
        self._answers: dict[tuple[str, str], int] = {}

    def games(self, experiment: str, mesh: Mesh, vertices: int) -> None:
        """A parity and an energy game."""
        for name, make, solvers in (
            ("parity", parity_game, (parity.PriorityPromotion(), parity.FPI())),
            ("energy", energy_game, (energy.FVI(strategies=False),)),
        ):
            title = f"random {name} game of {vertices:,} vertices"
            if not self._wanted(experiment, title, name):
                continue
            game, generate_s = timed(lambda make=make: make(mesh, vertices))
            about = {
                "vertices": vertices,
                "edges": ops.num_cells(game.game if name == "energy" else game),
                "priorities": PRIORITIES if name == "parity" else None,
                "generate_s": generate_s,
            }
            for solver in solvers:
                solve = functools.partial(fixpoint.run, solver, game)
                self._row(experiment, title, mesh, solver, solve, about, game)

    def components(self, experiment: str, mesh: Mesh, bits: int) -> None:
        """The components of a graph."""
        title = f"random graph of {1 << bits:,} vertices"
        if not self._wanted(experiment, title, "scc"):
            return
        found, generate_s = timed(lambda: directions(mesh, bits))
        about = {
            "vertices": 1 << bits,
            "edges": int(ops.count_links(found.out)),
            "generate_s": generate_s,
        }
        for solver in (graph.MaxId(), graph.FBTrim()):
            with parallel.over(mesh, SHARES):
                solve = functools.partial(graph.scc, found, solver)
                turns = Turns(solver=solver)
                game = Subgraph(found.out, found.into, jnp.ones(1 << bits, bool))
                self._row(experiment, title, mesh, turns, solve, about, game)

    def batch(self, mesh: Mesh, count: int) -> None:
        """Small games."""
        title = f"{count:,} random parity games"
        if not self._wanted("batch", title, "batch"):
            return
        keys = jax.random.split(jax.random.key(1), count)
        make = functools.partial(
            generate.random_game_by_key, num_vertices=50, num_priorities=4,
            min_degree=2, max_degree=2,
        )  # fmt: skip
        with parallel.over(mesh):
            stack = ops.dealt(jax.jit(jax.vmap(make))(keys))
            about = {"vertices": 50 * count, "edges": 100 * count, "games": count}
            solve = functools.partial(jaxgames.solve_many, parity, stack)
            self._row("batch", title, mesh, "auto", solve, about)

    def _wanted(self, experiment: str, title: str, group: str) -> bool:
        return self.options.wants_experiment(experiment) and self.options.wants_game(
            title, group
        )

    def _row(self, experiment, title, mesh, solver, solve, about, game=None) -> None:
        name = solver if isinstance(solver, str) else solver.name
        if not self.options.wants(name):
            return
        found, first_s = timed(solve)
        runs = [timed(solve)[1] for _ in range(self.options.runs)]
        if isinstance(found, fixpoint.Outcome):
            rounds = int(found.rounds)
        else:
            rounds = int(np.max(np.asarray(found.stats["rounds"])))
        sent = {} if game is None else exchanged(solver, game)
        answer = digest(getattr(found, "answer", None) or _answer(found))
        expected = self._answers.setdefault((title, name), answer)
        row = schema.Row(
            experiment=experiment,
            game=f"{title} on {mesh.size}",
            solver=name,
            layout="slices",
            compile_s=max(0.0, first_s - min(runs)),
            solve_s=statistics.median(runs),
            solve_runs=runs,
            rounds=rounds,
            phases={"devices": mesh.size, **sent},
            verified=answer == expected,
            status=Status(int(np.max(np.asarray(found.status)))).name,
            **about,
        )
        print(
            f"{experiment}: {row.game}: {row.solver}: {row.solve_s:.4f} s", flush=True
        )
        self.results.put([row])
        self.options.keep(self.results)


def _answer(found: Any) -> Any:
    """What is compared of a solution."""
    return found.labels if hasattr(found, "labels") else (found.winner, found.strategy)


@jax.jit
def _digest(answer: Any) -> jax.Array:
    found = jnp.uint32(0)
    for x in jax.tree.leaves(answer):
        place = jax.lax.iota(jnp.uint32, x.size).reshape(x.shape)
        found += jnp.sum(mixed(x.astype(jnp.uint32), 1) * (2 * place + 1))
    return found


def digest(answer: Any) -> int:
    """A number that tells answers apart, a pytree of integers and booleans."""
    return int(_digest(answer))


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and its seconds until that is there."""
    began = time.perf_counter()
    found = jax.block_until_ready(call())
    return found, time.perf_counter() - began


# ---- what is sent --------------------------------------------------------------------

_COLLECTIVE = re.compile(
    r"= (?P<shapes>.*?) (?P<kind>all-gather|all-reduce|reduce-scatter|all-to-all|"
    r"collective-permute)(-start)?\("
)
_SHAPE = re.compile(r"(pred|[suf]\d+)\[([\d,]*)\]")
_NARROW = 1 << 10
"""Fewer bytes than this are a scalar or two."""


def exchanged(solver: Any, game: Any) -> dict[str, int]:
    """The collectives of the program that makes the rounds, and what they send.

    Loops that are inside a step count once.

    Args:
        solver: the solver.
        game: what it works on, spread over devices.

    Returns:
        `collectives` of arrays, `reductions` of scalars, and the `bytes` that a device
        gets from others.
    """
    carry = fixpoint.first(solver, game)
    program = fixpoint._chunk.lower(solver, game, carry, jnp.int32(1)).compile()
    text = program.as_text() or ""
    found = list(collectives(text))
    mesh = ops.mesh_of(game)
    share = 0.0 if mesh is None else 1 - 1 / mesh.size
    wide = [(kind, size) for kind, size in found if size >= _NARROW]
    twice = {"all-reduce": 2}
    return {
        "collectives": len(wide),
        "reductions": len(found) - len(wide),
        "bytes": int(sum(twice.get(kind, 1) * size * share for kind, size in wide)),
    }


def collectives(text: str) -> Iterator[tuple[str, int]]:
    """Kind and bytes of each collective in the body of a loop of a program."""
    inside = False
    for line in text.splitlines():
        if line.endswith("{") and not line.startswith(" "):
            inside = not line.startswith("ENTRY")
        found = _COLLECTIVE.search(line)
        if inside and found:
            yield found["kind"], max(map(_bytes, _SHAPE.findall(found["shapes"])))


def _bytes(shape: tuple[str, str]) -> int:
    kind, lengths = shape
    width = 1 if kind == "pred" else int(kind[1:]) // 8
    return width * math.prod(int(n) for n in lengths.split(",") if n)

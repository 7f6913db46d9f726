"""What a solve takes is known before it starts, and is what its program says."""

import dataclasses
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import (
    Arena,
    TooLargeError,
    batch,
    buchi,
    energy,
    fixpoint,
    graph,
    mdp,
    meanpayoff,
    memory,
    ops,
    parallel,
    parity,
    solve_many,
)
from jaxgames.buchi import _device as of_cycles
from jaxgames.buchi._attractors import Problem
from jaxgames.energy import _device as of_energy
from jaxgames.energy._fvi import Task
from jaxgames.graph import InPlace, _links
from jaxgames.graph._problem import Masked
from jaxgames.graph._solver import Subgraph
from jaxgames.graph._turns import Turns
from jaxgames.mdp import _layout

SIZE, DEGREE = 20_000, 3

EDGES = SIZE * DEGREE


def arena(**labels) -> Arena:
    rng = np.random.default_rng(0)
    return Arena.from_csr(
        np.arange(SIZE + 1) * DEGREE,
        rng.integers(0, SIZE, EDGES, dtype=np.int32),
        owner=rng.random(SIZE) < 0.5,
        **labels,
    )


def of_parity(name):
    game = arena(priority=np.arange(SIZE, dtype=np.int32) % 6)
    fitted, laid_out = parity.prepare(game)
    return parity.SOLVERS[name]().fit(fitted), laid_out


def of_energy_games(name):
    game = arena(weight=(np.arange(EDGES, dtype=np.int32) % 19) - 9)
    laid_out = of_energy.laid_out(game, 32)
    if name == "fvi":
        lost = jnp.zeros(ops.num_slots(laid_out), bool)
        laid_out = Task(laid_out, jnp.int32(14), lost)
    return energy.SOLVERS[name](), laid_out


def of_components(name):
    if name == "in_place":
        return InPlace(), graph.PROBLEM.prepare(Masked(arena()), None)
    laid_out = Subgraph(*_links.prepare(arena()), jnp.ones(SIZE, bool))
    return Turns(solver=graph.SOLVERS[name]()), laid_out


def of_models(name):
    solver = mdp.SOLVERS[name]()
    return solver, _layout.prepare(model(), graph=solver.needs_graph)


def of_accepting_cycles(name):
    accepting = np.arange(SIZE) % 50 == 0
    solver = buchi.SOLVERS[name]()
    part = np.ones(SIZE, np.int32)
    return solver, of_cycles.problem_for(arena(), solver, accepting, part)


def of_buchi_games(name):
    laid_out = Problem(_links.prepare(arena()).out, *[jnp.ones(SIZE, bool)] * 3)
    return buchi.GAME_SOLVERS[name](), laid_out


def model() -> mdp.MDP:
    """Two choices of each state, with three branches each."""
    rng = np.random.default_rng(0)
    return mdp.MDP.from_arrays(
        np.arange(SIZE + 1) * 2,
        np.arange(2 * SIZE + 1) * DEGREE,
        rng.integers(0, SIZE, 2 * EDGES, dtype=np.int32),
    )


def shapes(make, solver, size: int, edges: int):
    """What a game with so many vertices and edges looks like."""
    links, mask = memory.shape_of_links(size, edges, size), memory.mask(size)
    if make is of_parity:
        return memory.shape_of_arena(size, edges, priority=np.int8)
    if make is of_energy_games:
        game = memory.shape_of_arena(size, edges, weight=np.int32)
        if solver.name == "vi":
            return game
        return Task(game, jax.ShapeDtypeStruct((), np.int32), mask)
    if make is of_components and solver.name == "in_place":
        return graph.PROBLEM.shapes(Masked(arena()), solver)
    if make is of_components:
        return Subgraph(links, links, mask)
    if make is of_models:
        return _layout.shape_of(Sizes(size, 2 * size, edges), graph=solver.needs_graph)
    if make is of_accepting_cycles:
        return of_cycles._shapes(size, edges)
    return Problem(links, mask, mask, mask)


class Sizes(NamedTuple):
    """Of a model."""

    num_states: int
    num_choices: int
    num_branches: int


PROBLEMS = {
    "parity games": (of_parity, parity.SOLVERS),
    "energy games": (of_energy_games, energy.SOLVERS),
    "components": (of_components, graph.SOLVERS),
    "end components": (of_models, mdp.SOLVERS),
    "accepting cycles": (of_accepting_cycles, ("map", "owcty")),
    "Büchi games": (of_buchi_games, buchi.GAME_SOLVERS),
}

SOLVERS = [(make, name) for make, names in PROBLEMS.values() for name in names]

QUICK = {"fpi", "fvi", "max_id", "basic", "attractors"}

FIXED = {"interleaved": 1 << 26}
"""Work space of fixed size, which comes on top."""


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(
            make, name, id=f"{make.__name__}-{name}",
            marks=() if name in QUICK else pytest.mark.sweep,
        )
        for make, name in SOLVERS
    ],
)  # fmt: skip
def test_needs_are_those_of_the_program(make, name):
    """In a half and twice as much."""
    solver, game = make(name)
    carry = fixpoint.first(solver, game)
    program = fixpoint._chunk.lower(solver, game, carry, jnp.int32(1)).compile()
    found = program.memory_analysis()
    taken = (
        found.argument_size_in_bytes
        + found.output_size_in_bytes
        + found.temp_size_in_bytes
    )
    edges = 2 * EDGES if make is of_models else EDGES
    layouts = 0 if make is of_components else 1
    known = memory.needs(solver, shapes(make, solver, SIZE, edges), layouts=layouts).on(
        1
    )
    assert taken - FIXED.get(name, 0) < 2 * known
    assert known < 2 * taken


def table() -> list[str]:
    """Bytes of a vertex and of an edge, as the documentation has them."""
    rows, size = [], 1 << 20
    for problem, (make, names) in PROBLEMS.items():
        for name in names:
            if name == "in_place":
                continue  # it takes one device
            solver = make(name)[0]
            layouts = 0 if make is of_components else 1
            few, more = (
                memory.needs(
                    solver, shapes(make, solver, size, edges * size), layouts=layouts
                ).on(1)
                / size
                for edges in (4, 5)
            )
            edge = more - few
            rows.append(f"| {problem} | `{name}` | {few - 4 * edge:.0f} | {edge:.0f} |")
    return rows


def test_the_documentation_has_these_numbers():
    page = Path(__file__).parent.parent / "docs" / "several-devices.md"
    assert "\n".join(table()) in page.read_text()


def test_a_solve_that_does_not_fit_says_so_with_the_number(monkeypatch):
    """Before anything is laid out, in every slice."""
    monkeypatch.setattr(memory, "UNCHECKED", 0)
    monkeypatch.setattr(memory, "free", lambda devices=None: 100_000)
    game = arena(priority=np.zeros(SIZE, np.int32))
    weighted = arena(weight=np.ones(EDGES, np.int32))
    marked = arena(accepting=np.ones(SIZE, bool))
    for solve in (
        lambda: parity.solve(game, "fpi"),
        lambda: energy.solve(weighted, "fvi"),
        lambda: meanpayoff.solve(weighted, "fvi"),
        lambda: graph.scc(game, "max_id"),
        lambda: mdp.mec(model(), "basic"),
        lambda: buchi.accepting_cycle(marked, solver="map"),
        lambda: buchi.solve(marked, "attractors"),
        lambda: solve_many(parity, batch.stack([game.unpad()] * 2), "fpi"),
    ):
        with pytest.raises(TooLargeError, match=r"takes about .* GB, and .* are free"):
            solve()
    assert not {"_prepared", "_directions"} & {*vars(game), *vars(weighted)}
    with (
        parallel.over(1, shares=2),
        pytest.raises(MemoryError, match="60,000 edges takes .*more devices"),
    ):
        parity.solve(game, "fpi")


def test_what_is_there_already_is_not_counted_twice(monkeypatch):
    game = arena(priority=np.arange(SIZE, dtype=np.int32) % 2)
    parity.prepare(game)
    shapes = memory.shape_of(parity.prepare(game)[0])
    needs = memory.needs(parity.FPI(), shapes)
    monkeypatch.setattr(memory, "UNCHECKED", 0)
    monkeypatch.setattr(memory, "free", lambda devices=None: needs.state)
    assert parity.solve(game, "fpi", max_steps=0, throw=False).state is not None
    with pytest.raises(TooLargeError):
        parity.solve(dataclasses.replace(game), "fpi")


def test_devices_share_what_a_solve_takes():
    needs = memory.Needs(layout=800, state=400, vertices=10)
    assert needs.on(1) == 1200
    assert needs.on(4) == 300 + 10 * memory.EVERYWHERE


def test_free_memory_is_that_of_the_default_device():
    room = memory.free()
    assert room is None or room > 0
    assert memory.free(jax.devices()[:1]) is not None or room is None


def test_shapes_of_one_size_are_made_once():
    """JAX takes long to make them, for calls that take a few milliseconds."""
    both = [jax.tree.leaves(_layout.shape_of(model())) for _ in range(2)]
    assert all(x is y for x, y in zip(*both, strict=True))
    both = [jax.tree.leaves(shapes(of_parity, None, SIZE, EDGES)) for _ in range(2)]
    assert all(x is y for x, y in zip(*both, strict=True))
    assert all(memory._shape(x) is x for x in both[0])
    array = np.zeros(3, np.int8)
    assert memory._shape(array) == jax.ShapeDtypeStruct((3,), np.int8)

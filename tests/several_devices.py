"""What tests/test_parallel.py runs in processes of their own, with four CPU devices."""

import contextlib
import dataclasses
import re
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import (
    Arena,
    Status,
    batch,
    buchi,
    checkpoint,
    energy,
    fixpoint,
    generate,
    graph,
    mdp,
    meanpayoff,
    ops,
    parallel,
    parity,
    solve_many,
)
from jaxgames.drive import _rounds
from jaxgames.energy import _paths
from jaxgames.graph._links import prepare
from jaxgames.graph._solver import Subgraph
from jaxgames.graph._turns import Turns
from jaxgames.testing._compiling import compile_fast


def same(x, y) -> None:
    np.testing.assert_array_equal(x.winner, y.winner)
    np.testing.assert_array_equal(x.strategy, y.strategy)
    assert x.status == y.status == Status.SOLVED


def solvers() -> None:
    """Every solver gives on four devices what it gives on one, in as many rounds."""
    arena = generate.elevator(3)
    assert arena.shape[1] % 3
    alone = {name: parity.solve(arena, name) for name in parity.SOLVERS}
    for name, expected in alone.items():
        with parallel.over(4):
            spread = parity.solve(arena, name)
        same(spread, expected)
        assert spread.stats["layout"] == "slices on 4 devices"
        assert spread.stats["rounds"] == expected.stats["rounds"]
    with parallel.over(4):
        _, game = parity.prepare(arena)
    assert len(game.slot) == len(game.owner)  # by vertex, and by slot
    assert game.slot.sharding.is_fully_replicated
    assert not game.owner.sharding.is_fully_replicated
    with parallel.over(4):  # several steps without a test between them
        found = parity.solve(arena, parity.FPI(sweeps_per_check=3))
    same(found, alone["fpi"])
    with parallel.over(3):  # a number that divides nothing
        found = parity.solve(arena)  # the host would have it, were it not for the mesh
        same(found, alone["promotion"])
        assert found.stats["layout"] == "slices on 3 devices"
        assert parity.reference.verify(arena, parity.solve(arena, "host"))


def constants() -> None:
    """A game that is a constant of somebody's jit is solved on one device only."""
    arena = generate.random_game(0, 200, num_priorities=4)
    for solve in (parity.solve, graph.scc):
        with parallel.over(4), pytest.raises(ValueError, match="solve it outside"):
            jax.jit(lambda x, solve=solve: (solve(arena), x)[1])(1)
    found = jax.jit(lambda x: x + jnp.sum(parity.solve(arena).winner))(0)
    assert found == parity.reference.solve(arena).winner.sum()


def sent() -> None:
    """A round sends one value of each vertex, and of all else a number or two."""
    arena = generate.random_game(3, 3000, num_priorities=3)
    solver = parity.FPI()
    with parallel.over(4):
        _, game = parity.prepare(arena, solver)
    carry = fixpoint.first(solver, game)
    assert carry.state.estimate.sharding.shard_shape((8,)) == (2,)
    program = fixpoint._chunk.lower(solver, game, carry, 1).compile().as_text()
    rounds, _ = program.split("ENTRY")
    assert len(re.findall(r" all-gather(-start)?\(", rounds)) == 1
    assert not re.search("all-to-all|collective-permute|reduce-scatter", rounds)
    for shape in re.findall(r"= \S*\[(\d*)\]\S* all-reduce", rounds):
        assert shape == ""
    for solver in (graph.MaxId(), graph.FBTrim()):
        turns = Turns(solver=solver)
        with parallel.over(4):
            out, into = prepare(arena, spread=ops.current_spread())
        course = fixpoint.first(turns, Subgraph(out, into, np.ones(3000, bool)))
        program = fixpoint._chunk.lower(turns, course.state.graph, course, 1)
        found = re.findall(r"\[([\d,]*)\]\S* all-gather", program.compile().as_text())
        assert found
        assert not any("," in shape for shape in found)  # no links


def sums() -> None:
    """Each device sums up its own, of any number of entries."""
    with parallel.over(4) as mesh:
        for size in (4096, 4095):
            x = np.random.default_rng(0).random(size) < 0.5
            there = ops.dealt(x) if size % 4 == 0 else x
            with ops.programs_for(mesh):
                total = jax.jit(ops.running_sum)
                np.testing.assert_array_equal(total(there), np.cumsum(x))
                assert adds_up_in_parts(total.lower(there).compile().as_text())


def adds_up_in_parts(program: str) -> bool:
    """Whether no sum is over windows of all entries: each would be added to each."""
    windows = re.findall(r"reduce-window.*size=([\dx]+)", program)
    return all(int(size) < 256 for window in windows for size in window.split("x"))


def parts() -> None:
    """Sweeps over some rows of a game, told apart, find what sweeps over all find."""
    arena = generate.random_energy_game(3, 500, max_weight=9)
    rng = np.random.default_rng(3)
    with parallel.over(4):
        game = energy.prepare(arena)

    @ops.for_devices
    def least(game, rows, x):
        part, slots, outward, ends = ops.own_part(game, rows, 1 / 4, x)
        own = ops.at_own(x, slots)
        seen = ops.edgewise(
            lambda out, end, inside, w: jnp.where(out, end, inside) + w,
            outward, ends, ops.target(part, own, beyond=0), ops.edge_weight(part),
        )  # fmt: skip
        found = jnp.where(ops.real(part), ops.out_min(part, seen), own)
        return ops.put_own(x, slots, found), jnp.sum(ops.real(part))

    expected = jax.jit(
        lambda game, rows, x: jnp.where(
            rows,
            ops.out_min(
                game, ops.edgewise(jnp.add, ops.target(game, x), ops.edge_weight(game))
            ),
            x,
        )
    )
    size = ops.num_slots(game)
    for density in (0.1, 0.0):
        rows = jnp.asarray((rng.random(size) < density) & np.asarray(game.real))
        x = jnp.asarray(rng.integers(1000, size=size).astype(np.int32))
        assert ops.fits_part(game, rows, 1 / 4)
        found, count = jax.jit(least)(game, rows, x)
        np.testing.assert_array_equal(found, expected(game, rows, x))
        assert count == rows.sum()
    assert not ops.fits_part(game, jnp.ones(size, bool), 1 / 4)


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
    large = generate.random_energy_game(2, 2000, max_weight=9)
    _paths.APART_FROM = 0  # as if it were
    alone = energy.solve(large, energy.FVI(strategies=False))
    with parallel.over(4):
        spread = energy.solve(large, energy.FVI(strategies=False))
    np.testing.assert_array_equal(spread.credit, alone.credit)
    assert spread.stats["inner"] == alone.stats["inner"]


def components() -> None:
    """Components, of a graph that shrinks on the way as well, in as many rounds."""
    rng = np.random.default_rng(2)
    size = 3000
    tail, head = rng.integers(size, size=(2, 2 * size))
    chain = np.arange(size - 1)
    large = Arena.from_edges(
        np.append(tail // 2, chain), np.append(head, chain + 1), dead_ends="allow",
        owner=np.zeros(size, bool),
    )  # fmt: skip
    masks = {"vertices": rng.random(size) < 0.9}
    masks["edges"] = rng.random(large.shape[1]) < 0.9
    compressed = graph.MaxId(compress=True)
    for solver, how in ((compressed, {}), ("max_id", masks), ("fb_trim", {})):
        alone = graph.scc(large, solver, **how)
        with parallel.over(2, shares=4):
            same = graph.scc(large, solver, **how)
        with parallel.over(4):
            spread = graph.scc(large, solver, **how)
        assert spread.count == alone.count
        np.testing.assert_array_equal(spread.labels, alone.labels)
        assert spread.stats["layout"] == "slices on 4 devices"
        for name in ("rounds", "outer", "inner"):
            assert int(spread.stats[name]) == int(same.stats[name])
        # Jumps do with what was sent for the sweep: they may know less.
        assert spread.stats["rounds"] <= 2 * alone.stats["rounds"]
    small = Arena.from_edges(
        [0, 1, 2, 4], [1, 0, 3, 4], owner=[0] * 5, dead_ends="allow"
    )
    with parallel.over(3):  # a number that divides nothing
        found = graph.scc(small)
    np.testing.assert_array_equal(found.labels, [0, 0, 1, 2, 3])


def end_components() -> None:
    """Both solvers, on a whole model and on a part of it."""
    model = generate.random_mdp(5, 300)
    states = np.random.default_rng(1).random(model.num_states) < 0.9
    for solver, part in (("interleaved", states), ("basic", None)):
        alone = mdp.mec(model, solver, states=part)
        with parallel.over(4):
            spread = mdp.mec(model, solver, states=part)
        assert spread.count == alone.count
        np.testing.assert_array_equal(spread.state_label, alone.state_label)
        np.testing.assert_array_equal(spread.choice_kept, alone.choice_kept)
        assert spread.stats["layout"] == "slices on 4 devices"
        assert spread.stats["rounds"] == alone.stats["rounds"]


def cycles() -> None:
    """Accepting cycles and Büchi games; what cannot be spread says so."""
    rng = np.random.default_rng(3)
    size = 400
    arena = Arena.from_edges(
        *rng.integers(size, size=(2, 600)), owner=rng.random(size) < 0.5,
        accepting=rng.random(size) < 0.03, dead_ends="allow",
    )  # fmt: skip
    for solver in ("map", "owcty", "scc", buchi.Owcty(form="forward"), "auto"):
        alone = buchi.accepting_cycle(arena, solver=solver, initial=None)
        with parallel.over(4):
            spread = buchi.accepting_cycle(arena, solver=solver, initial=None)
        assert spread.exists == alone.exists
        if solver != "auto":
            assert spread.witness == alone.witness
            assert solver == "scc" or spread.stats["rounds"] == alone.stats["rounds"]
    with parallel.over(4), pytest.raises(ValueError, match="trim.*cannot be spread"):
        buchi.accepting_cycle(
            arena, solver="trim", accepting=np.ones(size, bool), initial=None
        )
    game = Arena.from_edges(
        np.repeat(np.arange(size), 2), rng.integers(size, size=2 * size),
        owner=arena.owner, accepting=arena.accepting,
    )  # fmt: skip
    alone = buchi.solve(game, "attractors")
    with parallel.over(4):
        spread, found = buchi.solve(game, "attractors"), buchi.solve(game)
    same(spread, alone)
    same(found, alone)
    assert spread.stats["rounds"] == alone.stats["rounds"]


def many() -> None:
    """Games of a list and of a stack are dealt out, and no answer changes."""
    games = [generate.random_game(i, 20 + i % 7, num_priorities=4) for i in range(18)]
    stack = batch.stack(games[:8])
    alone, stacked = (
        solve_many(parity, games, "promotion"),
        solve_many(parity, stack, "promotion"),
    )
    with parallel.over(4):
        for spread, one in zip(
            solve_many(parity, games, "promotion"), alone, strict=True
        ):
            same(spread, one)
        spread = solve_many(parity, stack, "promotion")
    assert len(spread.winner.sharding.device_set) == 4
    np.testing.assert_array_equal(spread.winner, stacked.winner)
    np.testing.assert_array_equal(spread.strategy, stacked.strategy)
    with parallel.over(3), pytest.raises(ValueError, match="multiple of so many.*8"):
        solve_many(parity, stack, "promotion")
    packed_again()


def packed_again() -> None:
    """Those that are not over are dealt out anew, at a cost of the order of a round."""
    keys = jax.random.split(jax.random.key(0), 512)
    make = jax.vmap(lambda key: generate.random_game_by_key(key, 12))
    stack = jax.jit(make)(keys)
    alone, programs, packed = (
        solve_many(parity, stack, "promotion"),
        [],
        _rounds._packed,
    )

    def watched(*arguments):
        programs.append(packed.lower(*arguments).compile().as_text())
        game, standing = packed(*arguments)
        sharding, room = standing.ids.sharding, len(standing.ids)
        assert len(sharding.device_set) == 4
        assert room < 4 or sharding.shard_shape((room,)) == (room // 4,)
        return game, standing

    with pytest.MonkeyPatch.context() as patch, parallel.over(4):
        patch.setitem(_rounds.CELLS_WORTH_IT, "cpu", 1)
        patch.setattr(_rounds, "_packed", watched)
        found = solve_many(parity, stack)
    assert programs
    assert all(map(adds_up_in_parts, programs))
    np.testing.assert_array_equal(found.winner, alone.winner)
    np.testing.assert_array_equal(found.strategy, alone.strategy)


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
    arena = generate.random_energy_game(1, 60, max_weight=9)
    with parallel.over(4):
        first = energy.solve(arena, "fvi", max_steps=2, throw=False)
    with parallel.over(2, shares=4):  # what lies on edges comes along
        rest = energy.solve(arena, "fvi", state=first.state)
    same(rest, energy.solve(arena, "fvi"))
    chain = np.arange(399)
    edges_of = Arena.from_edges(
        np.append(chain, chain[::3] + 1), np.append(chain + 1, chain[::3]),
        owner=np.zeros(400, bool), dead_ends="allow",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.npz"
        for devices, limit in ((4, 1), (2, None)):  # the state holds the graph
            with parallel.over(devices, shares=4):
                begin = graph.scc(edges_of, "fb_trim", max_steps=0, throw=False).state
                state = checkpoint.load(file, begin) if file.exists() else None
                found = graph.scc(
                    edges_of, "fb_trim", max_steps=limit, state=state, throw=False
                )
                checkpoint.save(file, found.state, begin)
    np.testing.assert_array_equal(found.labels, graph.scc(edges_of, "host").labels)


def one_of(processes: int, number: int, port: int) -> None:
    """One of several processes that solve a game together."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"localhost:{port}", processes, number)
    assert len(jax.devices()) == processes * len(jax.local_devices())
    arena = generate.random_game(0, 200, num_priorities=4)
    with parallel.over():
        some = parity.solve(arena, "promotion", max_steps=9, throw=False)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.npz"
            checkpoint.save(path, some.state)
            state = checkpoint.load(path, some.state)
        found = parity.solve(
            arena, "promotion", state=state, progress=lambda report: None
        )
    assert parity.reference.verify(arena, found)
    print(found)


def each_its_own(processes: int, number: int, port: int) -> None:
    """One of several processes that each solve games of their own."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"localhost:{port}", processes, number)
    count = 3 + 2 * number  # nobody waits for the others
    games = [generate.random_game(9 * number + i, 20) for i in range(count)]
    weighted = [generate.random_energy_game(number + i, 9) for i in range(count)]
    expected = [parity.reference.solve(game).winner for game in games]
    for context in (contextlib.nullcontext(), parallel.over()):
        with context:
            found = solve_many(parity, games)
            values = solve_many(meanpayoff, weighted, "fvi")
        for one, winner in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one.winner, winner)
        for game, one in zip(weighted, values, strict=True):
            assert meanpayoff.verify(game, one)
    with parallel.over(jax.local_devices()):
        alone = parity.solve(games[0], "promotion", progress=lambda report: None)
    np.testing.assert_array_equal(alone.winner, expected[0])
    if number == 0:
        others = [each for each in jax.devices() if each.process_index]
        with (
            parallel.over(others),
            pytest.raises(ValueError, match="this one has none of the mesh"),
        ):
            solve_many(parity, games)
    print(f"process {number} solved {count}")


TASKS = (
    solvers, constants, sent, sums, parts, energies, components, end_components, cycles,
    many, resume, one_of, each_its_own,
)  # fmt: skip

if __name__ == "__main__":
    compile_fast()
    names, *arguments = sys.argv[1:]
    tasks = {x.__name__: x for x in TASKS}
    for name in names.split(","):
        print(name, flush=True)  # in the output of one that fails
        tasks[name](*map(int, arguments))

"""Reductions over edges: both layouts against plain loops."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, ops
from jaxgames.ops import _slices

BIG, SMALL = np.iinfo(np.int32).max, np.iinfo(np.int32).min


def random_arena(seed: int, dead_ends: bool = False, size: int = 60) -> Arena:
    rng = np.random.default_rng(seed)
    degree = rng.integers(0 if dead_ends else 1, 7, size)
    degree[::17] = 70  # a wide slice
    src = np.repeat(np.arange(size), degree)
    return Arena.from_edges(
        src,
        rng.integers(0, size, len(src)),
        owner=rng.integers(0, 2, size),
        priority=rng.integers(0, 300, size),
        dead_ends="allow",
    )


def layouts(arena: Arena) -> dict[str, ops.Game]:
    return {"csr": arena, "padded": arena.pad(), "slices": ops.slice_rows(arena)}


@jax.jit
def on_slots(game, x):
    return ops.by_slot(game, jnp.pad(x, (0, ops.num_vertices(game) - len(x))), 0)


@pytest.fixture(params=["csr", "padded", "slices"])
def layout(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["total", "dead ends"])
def arena(request):
    return random_arena(3, dead_ends=request.param)


def by_loop(arena, reduce, empty, values):
    return [
        reduce([values(e) for e in range(arena.row_ptr[v], arena.row_ptr[v + 1])])
        if arena.row_ptr[v] < arena.row_ptr[v + 1]
        else empty
        for v in range(arena.shape[0])
    ]


@jax.jit
def of_targets(game, slots):
    found = ops.out_min(game, slots), ops.out_max(game, slots)
    found += ops.out_any(game, slots > 10), ops.out_all(game, slots > 10)
    return [ops.by_vertex(game, x) for x in found]


def test_reductions_of_targets(arena, layout):
    game = layouts(arena)[layout]
    x = np.random.default_rng(0).integers(-50, 50, arena.shape[0]).astype(np.int32)
    slots, size = on_slots(game, x), arena.shape[0]
    at = lambda e: x[arena.dst[e]]  # noqa: E731
    least, most, some, every = jax.device_get(of_targets(game, slots))
    for got, reduce, empty, seen in [
        (least, min, BIG, at),
        (most, max, SMALL, at),
        (some, any, False, lambda e: at(e) > 10),
        (every, all, True, lambda e: at(e) > 10),
    ]:
        assert got[:size].tolist() == by_loop(arena, reduce, empty, seen)


def test_values_on_edges(arena, layout):
    game = layouts(arena)[layout]
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 99, (2, arena.shape[0])).astype(np.int32)

    @jax.jit
    def least(game, x, y):
        edges = ops.edgewise(
            lambda t, s, k: 1000 * t + 7 * s + k,
            ops.target(game, x),
            ops.source(game, y),
            ops.position(game),
        )
        return ops.by_vertex(game, ops.out_min(game, edges))

    got = np.asarray(least(game, on_slots(game, x), on_slots(game, y)))
    position = np.arange(arena.shape[1]) - arena.row_ptr[arena.src]
    expected = by_loop(
        arena,
        min,
        BIG,
        lambda e: 1000 * x[arena.dst[e]] + 7 * y[arena.src[e]] + position[e],
    )
    assert got[: arena.shape[0]].tolist() == expected


@pytest.mark.parametrize("bound", [None, 3])
def test_argmin_takes_the_first(layout, bound):
    arena = random_arena(5)
    game = layouts(arena)[layout]
    x = np.random.default_rng(2).integers(0, 4, arena.shape[0]).astype(np.int32)

    @jax.jit
    def argmin(game, slots):
        found = ops.out_argmin(game, slots, bound=bound)
        return [ops.by_vertex(game, x) for x in found]

    least, position = jax.device_get(argmin(game, on_slots(game, x)))
    size = arena.shape[0]
    for v, low, at in zip(
        range(size), least[:size].tolist(), position[:size].tolist(), strict=True
    ):
        row = x[arena.successors(v)].tolist()
        assert (low, at) == (min(row), row.index(min(row)))


def test_argmin_refuses_values_that_do_not_fit():
    arena = random_arena(5)
    with pytest.raises(ValueError, match="packs values up to 7"):
        ops.out_argmin(arena, jnp.zeros(arena.shape[0], jnp.int32), bound=8)


def test_reductions_over_incoming_edges(arena, layout):
    game = layouts(arena)[layout]
    size = arena.shape[0]
    x = np.random.default_rng(4).integers(-50, 50, size).astype(np.int32)

    @jax.jit
    def into_each(game, slots):
        found = ops.in_max(game, slots), ops.in_any(game, slots > 10)
        return [ops.by_vertex(game, x) for x in found]

    most, some = jax.device_get(into_each(game, on_slots(game, x)))
    into = [x[arena.src[arena.dst == v]].tolist() for v in range(size)]
    assert most[:size].tolist() == [max(row, default=SMALL) for row in into]
    assert some[:size].tolist() == [any(value > 10 for value in row) for row in into]


def test_edges_and_moves_are_inverse(layout):
    arena = random_arena(7)
    game = layouts(arena)[layout]
    rng = np.random.default_rng(0)
    edge = arena.row_ptr[:-1] + rng.integers(0, np.diff(arena.row_ptr))
    edge[::3] = -1
    size = game.row_ptr.shape[0] - 1
    edge = np.append(edge, np.full(size - len(edge), -1)).astype(np.int32)
    back = jax.jit(lambda game, edge: ops.edge_of(game, ops.move_of(game, edge)))
    back = back(game, edge)
    assert back.tolist() == edge.tolist()


def test_the_slot_of_a_move_is_the_target_of_its_edge(layout):
    arena = random_arena(7)
    game = layouts(arena)[layout]
    rng = np.random.default_rng(0)
    edge = arena.row_ptr[:-1] + rng.integers(0, np.diff(arena.row_ptr))
    edge[::3] = -1
    padding = game.row_ptr.shape[0] - 1 - len(edge)
    edge = np.append(edge, np.full(padding, -1)).astype(np.int32)

    @jax.jit
    def targets(game, edge, vertex):
        slot = ops.slot_of_move(game, ops.move_of(game, edge))
        return ops.by_vertex(game, ops.at_slot(vertex, slot, -7))

    vertex = on_slots(game, np.arange(arena.shape[0]))
    got = np.asarray(targets(game, edge, vertex))[: arena.shape[0]]
    edge = edge[: arena.shape[0]]
    assert got.tolist() == np.where(edge < 0, -7, arena.dst[edge]).tolist()


def test_at_slot_takes_values_from_outside():
    x = np.array([10, 20, 30], np.int8)
    got = jax.jit(ops.at_slot)(x, np.array([2, -1, 0]), np.array([1, 2, 3]))
    assert got.tolist() == [30, 2, 10]
    assert got.dtype == x.dtype


class TestSlices:
    def test_hold_every_edge_once_or_repeat_the_last(self):
        arena = random_arena(1, dead_ends=True)
        game = ops.slice_rows(arena)
        vertex_of = np.full(ops.num_slots(game), -1)
        vertex_of[game.slot[: arena.shape[0]]] = np.arange(arena.shape[0])
        starts = np.cumsum([0] + [b.shape[1] for b in game.blocks])
        for v in range(arena.shape[0]):
            which = np.searchsorted(starts, game.slot[v], side="right") - 1
            column = game.blocks[which][:, game.slot[v] - starts[which]]
            row = arena.successors(v).tolist()
            padded = row + row[-1:] * (len(column) - len(row))
            assert vertex_of[column].tolist() == padded

    def test_padding_leads_to_itself(self):
        game = ops.slice_rows(random_arena(1))
        assert game.real.sum() == 60
        start = 0
        for block in game.blocks:
            slots = start + np.arange(block.shape[1])
            idle = ~game.real[slots]
            assert (block[:, idle] == slots[idle]).all()
            start += block.shape[1]

    def test_of_no_vertices(self):
        game = ops.slice_rows(Arena.from_edges([], [], owner=[]))
        assert not game.real.any()
        assert jax.jit(ops.out_min)(game, np.zeros(8, np.int32)).shape == (8,)

    @pytest.mark.parametrize("seed", range(5))
    def test_widths_cost_least(self, seed):
        """Against all ways to cut few degrees into slices."""
        rng = np.random.default_rng(seed)
        histogram = np.zeros(8, np.int64)
        histogram[rng.choice(np.arange(1, 8), 5, replace=False)] = rng.integers(
            1, 200_000, 5
        )
        degrees = np.flatnonzero(histogram)

        def cost(widths):
            of = np.asarray(widths)[np.searchsorted(widths, degrees)]
            return (of * histogram[degrees]).sum() + ops.SLICE_COST * len(widths)

        every = [
            [d for d, on in zip(degrees[:-1], f"{bits:04b}", strict=True) if on == "1"]
            + [degrees[-1]]
            for bits in range(16)
        ]
        assert cost(_slices.slice_widths(histogram)) == min(map(cost, every))


def test_prepare_is_kept_and_narrows_priorities():
    arena = random_arena(9)
    game = ops.prepare(arena)
    assert ops.prepare(arena) is game
    assert game.priority.dtype == np.int16
    assert isinstance(game.owner, jax.Array)
    assert arena.priority.dtype == np.int32


def test_layout_is_chosen_by_size(monkeypatch):
    small = random_arena(9)
    assert ops.layout(ops.prepare(small)) == "csr"
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    assert ops.layout(ops.prepare(random_arena(9))) == "slices"


compact = jax.jit(ops.compact)
follow = jax.jit(ops.follow)
repeats = jax.jit(ops.repeats, static_argnums=3)
max_upwards = jax.jit(ops.max_upwards)


class TestShrinkingGraphs:
    def test_values_into_indices(self):
        index = np.array([0, 3, 3, 9, 0, 4], np.int32)
        values = np.array([5, 2, 7, 1, 8, -6], np.int32)
        least = jax.jit(lambda *x: ops.min_into(*x, 5, 6))(index, values)
        most = jax.jit(lambda *x: ops.max_into(*x, 5, 0))(index, values)
        assert least.tolist() == [5, 6, 6, 2, -6]
        assert most.tolist() == [8, 0, 0, 7, 0]

    @pytest.mark.parametrize("size", [1, 7, 100])
    def test_compact(self, size):
        keep = np.random.default_rng(size).random(size) < 0.5
        kept = np.flatnonzero(keep).tolist()
        expected = kept + [size] * (size - len(kept))
        assert compact(keep).tolist() == expected

    @staticmethod
    def end_of(pointer, start):
        way = [start]
        while pointer[way[-1]] not in way:
            way.append(int(pointer[way[-1]]))
        return min(way[way.index(pointer[way[-1]]) :])

    @pytest.mark.parametrize("size", [1, 2, 3, 30, 64, 65])
    def test_follow_random_pointers(self, size):
        rng = np.random.default_rng(size)
        for _ in range(20):
            near = np.minimum(np.arange(size) + rng.integers(0, 3, size), size - 1)
            pointer = np.where(
                rng.random(size) < 0.2, rng.integers(0, size, size), near
            )
            expected = [self.end_of(pointer, v) for v in range(size)]
            assert follow(pointer).tolist() == expected

    @pytest.mark.parametrize("size", [5, 8, 31, 257])
    def test_follow_the_longest_ways(self, size):
        rng = np.random.default_rng(0)
        for first in (
            0,
            size // 2,
            size - 1,
        ):  # where the way ends, or the cycle begins
            name = rng.permutation(size)
            pointer = np.empty(size, np.int32)
            pointer[name] = name[np.append(np.arange(1, size), first)]
            expected = [self.end_of(pointer, v) for v in range(size)]
            assert follow(pointer).tolist() == expected

    @pytest.mark.parametrize("size", [1, 2, 9, 64, 300])
    @pytest.mark.parametrize("shape", ["path", "shallow", "random"])
    def test_largest_below(self, size, shape):
        rng = np.random.default_rng(size)
        above = {
            "path": np.maximum(np.arange(size) - 1, 0),
            "shallow": np.arange(size) // 4 * 4,
            "random": rng.integers(0, np.arange(size) + 1),
        }[shape]
        name = rng.permutation(size)
        parent = np.empty(size, np.int32)
        values = rng.integers(-99, 99, size).astype(np.int32)
        parent[name] = name[above]
        expected = values.copy()
        for v in reversed(range(size)):
            expected[name[above[v]]] = max(expected[name[above[v]]], expected[name[v]])
        got = max_upwards(parent, values)
        assert got.tolist() == expected.tolist()

    @pytest.mark.parametrize(("size", "edges"), [(1, 5), (8, 300), (500, 2000)])
    def test_repeats(self, size, edges):
        rng = np.random.default_rng(size)
        tail, head = rng.integers(0, size, (2, edges)).astype(np.int32)
        among = rng.random(edges) < 0.7
        got = np.zeros(edges, bool)
        for salt in range(3):
            now = np.asarray(repeats(tail, head, among, size, np.uint32(salt)))
            seen = set()
            for e in np.flatnonzero(among):  # never one that is not
                pair = (int(tail[e]), int(head[e]))
                assert not now[e] or pair in seen
                seen.add(pair)
            got |= now
        # All of them, sooner or later.
        assert among.sum() - got.sum() == len(seen)
        assert not got[~among].any()

    def test_repeats_of_a_vertex_with_very_many_edges(self):
        edges = 200_000
        head = np.random.default_rng(0).integers(0, 60_000, edges).astype(np.int32)
        left = np.ones(edges, bool)
        tail = np.zeros(edges, np.int32)
        for salt in range(8):
            left &= ~np.asarray(repeats(tail, head, left, 60_000, np.uint32(salt)))
        different = len(np.unique(head))
        assert different <= left.sum() < 1.01 * different


def test_edge_weights(arena, layout):
    rng = np.random.default_rng(4)
    weight = rng.integers(-50, 50, arena.shape[1]).astype(np.int32)
    game = layouts(dataclasses.replace(arena, weight=weight))[layout]
    expected = by_loop(arena, max, SMALL, lambda e: weight[e])
    size = arena.shape[0]

    @jax.jit
    def of_all(game, rows):
        weights = ops.edge_weight(game)
        most = ops.by_vertex(game, ops.out_max(game, weights))
        twice = ops.with_edge_weight(game, ops.edgewise(lambda x: 2 * x, weights))
        return most, twice, ops.level_of(twice, rows)

    @functools.partial(jax.jit, static_argnums=2)
    def of_part(game, rows, level):
        part, slots = ops.part(game, rows, level)
        most = ops.out_max(part, ops.edge_weight(part))
        none = jnp.zeros(ops.num_slots(game), jnp.int32)
        return ops.by_vertex(game, ops.put(none, slots, most))

    rows = on_slots(game, np.arange(size) % 3 == 0)
    found, twice, level = of_all(game, rows)
    np.testing.assert_array_equal(np.asarray(found)[:size], expected)
    most = np.asarray(of_part(twice, rows, int(level)))
    some = (np.arange(size) % 3 == 0) & (np.diff(arena.row_ptr) > 0)
    np.testing.assert_array_equal(
        most[:size][some], 2 * np.array(expected, np.int64)[some]
    )

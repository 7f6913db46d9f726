"""Arena: building, checks of bad input, padding and the other arenas made of one."""

import copy
import dataclasses
import pickle

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxgames import Arena, generate, host, kept, parity
from jaxgames import arena as arena_module
from jaxgames.arena import CONDITIONS, MAX_PRIORITY, bucket, is_traced


def triangle(**labels) -> Arena:
    return Arena.from_edges([0, 1, 2], [1, 2, 0], owner=[0, 1, 0], **labels)


def edges_of(arena: Arena) -> list[tuple[int, int]]:
    return list(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))


def look_by_machine_code(monkeypatch):
    """Has arrays looked at by compiled loops, however short they are, in pieces."""
    monkeypatch.setattr(arena_module, "MANY", 0)
    monkeypatch.setattr(arena_module, "FEWEST", 0)
    monkeypatch.setattr(host, "FEWEST_PLACES", 5)
    monkeypatch.setattr(host, "num_cores", lambda: 3)


class TestFromEdges:
    def test_rows_keep_the_given_order(self):
        arena = Arena.from_edges(
            [2, 0, 2, 1, 2],
            [1, 2, 0, 1, 1],
            owner=[0, 1, 0],
            edge_priority=[5, 6, 7, 8, 9],
        )
        assert edges_of(arena) == [(0, 2), (1, 1), (2, 1), (2, 0), (2, 1)]
        assert arena.edge_priority.tolist() == [6, 8, 5, 7, 9]
        assert arena.row_ptr.tolist() == [0, 1, 2, 5]
        assert arena.successors(2).tolist() == [1, 0, 1]

    def test_types(self):
        arena = triangle(priority=[1, 2, 3], weight=[1, -2, 3], accepting=[1, 0, 1])
        assert arena.priority.dtype == np.int32
        assert arena.weight.dtype == np.int32
        assert arena.owner.dtype == bool
        assert arena.accepting.dtype == bool
        assert triangle(weight=[2**40, 0, 0]).weight.dtype == np.int64
        assert triangle(weight=np.zeros((3, 4), int)).weight.shape == (3, 4)

    @pytest.mark.parametrize("condition", CONDITIONS)
    def test_conditions_keep_the_winner_of_every_set_of_priorities(self, condition):
        rng = np.random.default_rng(0)
        priority = rng.integers(0, 9, 40)
        stored = Arena.from_edges(
            np.arange(40),
            np.arange(40),
            owner=np.zeros(40, int),
            priority=priority,
            condition=condition,
        ).priority
        extreme, parity = condition.split()
        pick = np.argmax if extreme == "max" else np.argmin
        for _ in range(200):
            cycle = rng.choice(40, rng.integers(1, 6))
            wins = priority[cycle][pick(priority[cycle])] % 2 == (parity == "odd")
            assert (stored[cycle].max() % 2 == 0) == wins

    def test_dead_end_is_named(self):
        with pytest.raises(ValueError, match=r"vertex 1 has no successor .*1 others"):
            Arena.from_edges([0], [1], owner=[0, 1, 0])

    def test_dead_ends_lose(self):
        arena = Arena.from_edges(
            [0, 0],
            [1, 2],
            owner=[0, 0, 1],
            priority=[3, 4, 5],
            edge_priority=[0, 0],
            weight=[7, 7],
            dead_ends="lose",
        )
        assert edges_of(arena) == [(0, 1), (0, 2), (1, 1), (2, 2)]
        # Player 0 is stuck in 1 and loses there, player 1 in 2.
        assert (arena.priority % 2).tolist() == [1, 1, 0]
        assert (arena.edge_priority[2:] % 2).tolist() == [1, 0]
        assert arena.weight[2] < 0 < arena.weight[3]

    def test_dead_ends_allowed(self):
        assert Arena.from_edges([], [], owner=[0, 1], dead_ends="allow").shape == (2, 0)

    def test_no_vertices(self):
        assert Arena.from_edges([], [], owner=[]).shape == (0, 0)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"src": [0, 1]}, "same length, got 2 and 3"),
            ({"src": [0, 1, 3]}, r"src\[2\] is 3, expected a value from 0 to 2"),
            ({"dst": [0, -1, 0]}, r"dst\[1\] is -1"),
            ({"dst": [0.0, 1.0, 2.0]}, "dst must hold integers, got float64"),
            ({"dst": [0, float("nan"), 0]}, "dst must hold integers"),
            ({"dst": [[0], [1], [2]]}, "dst must have one dimension"),
            ({"dst": [0, [1, 2], 0]}, "dst is not an array"),
            ({"owner": [0, 2, 0]}, r"owner\[1\] is 2, expected a value from 0 to 1"),
            ({"owner": [0.0, 1.0, 0.0]}, "owner must hold booleans or 0 and 1"),
            (
                {"priority": [1, 2]},
                r"priority must have one entry for each vertex \(3\)",
            ),
            ({"priority": [1, -2, 3]}, r"priority\[1\] is -2"),
            ({"priority": [1, MAX_PRIORITY + 1, 3]}, r"priority\[1\] is 2147483646"),
            ({"priority": [1.5, 2, 3]}, "priority must hold integers, got float64"),
            ({"edge_priority": [1]}, "edge_priority must have one entry for each edge"),
            ({"weight": [1.0, 2.0, 3.0]}, "weight must hold signed integers"),
            ({"weight": np.zeros((3, 1, 1), int)}, r"shape \[E\] or \[E, D\]"),
            ({"weight": [1, 2]}, "weight must have one entry for each edge"),
            ({"accepting": [1, 0]}, "accepting must have one entry for each vertex"),
            ({"condition": "maximal"}, "condition must be one of"),
            ({"dead_ends": "win"}, "dead_ends must be"),
        ],
    )
    def test_bad_input(self, change, message):
        good = {"src": [0, 1, 2], "dst": [1, 2, 0], "owner": [0, 1, 0]}
        Arena.from_edges(**good)
        with pytest.raises(ValueError, match=message):
            Arena.from_edges(**{**good, **change})

    def test_traced_input_is_refused(self):
        with pytest.raises(ValueError, match="dst is traced by jax"):
            jax.jit(lambda dst: Arena.from_edges([0], dst, owner=[0]).dst)(
                np.zeros(1, int)
            )


@pytest.mark.parametrize(
    ("row_ptr", "message"),
    [
        ([0, 1, 2], "one entry more than owner"),
        ([0, 2, 1, 3], "ascend"),
        ([1, 1, 2, 3], "ascend"),
        ([0, 1, 2, 2], "ascend from 0 to the number of edges"),
        ([0, 4, 2, 3], "ascend from 0 to the number of edges"),
    ],
)
@pytest.mark.parametrize("many", [True, False])
def test_bad_rows(row_ptr, message, many, monkeypatch):
    if many:
        look_by_machine_code(monkeypatch)
    with pytest.raises(ValueError, match=message):
        Arena.from_csr(row_ptr, [0, 1, 2], owner=[0, 0, 0])


class TestPad:
    @given(st.integers(1, 30), st.integers(0, 3), st.integers(0, 60))
    @settings(max_examples=60, deadline=None)
    def test_round_trip(self, size, more, loops):
        rng = np.random.default_rng(size)
        src = np.append(np.arange(size), rng.integers(0, size, size))
        arena = Arena.from_edges(
            src,
            rng.integers(0, size, 2 * size),
            owner=rng.integers(0, 2, size),
            priority=rng.integers(0, 9, size),
            weight=rng.integers(-9, 9, (2 * size, 2)),
        )
        wanted = (size + more, 2 * size + more + (loops if more else 0))
        padded = arena.pad(*wanted).validate()
        assert padded.shape == wanted
        # Nothing leads into the padding, and nothing out of it.
        assert (padded.dst[: 2 * size] < size).all()
        assert (padded.dst[2 * size :] == padded.src[2 * size :]).all()
        assert np.diff(padded.row_ptr).min() >= 1
        back = padded.unpad()
        for field in dataclasses.fields(Arena):
            np.testing.assert_array_equal(
                getattr(back, field.name), getattr(arena, field.name)
            )

    def test_default_sizes_are_few(self):
        shapes = {
            Arena.from_edges(range(n), range(n), owner=[0] * n).pad().shape
            for n in range(1, 60)
        }
        assert len(shapes) <= 5

    @pytest.mark.parametrize("sizes", [(2, 9), (3, 4), (5, 4)])
    def test_impossible_sizes(self, sizes):
        with pytest.raises(ValueError, match="cannot pad 3 vertices and 3 edges"):
            triangle().pad(*sizes)

    @given(st.integers(1, 2**31 - 2))
    def test_bucket_wastes_little(self, size):
        assert size <= bucket(size)
        assert bucket(size) <= max(8, size * 9 // 8 + 1 if size > 4096 else 2 * size)


class TestValidate:
    def test_accepts_what_was_built(self):
        arena = triangle(priority=[1, 2, 3])
        assert arena.validate() is arena

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"dst": np.array([1, 2, 3], np.int32)}, r"dst\[2\] is 3"),
            ({"src": np.array([0, 0, 2], np.int32)}, "src does not agree with row_ptr"),
            ({"num_vertices": np.int32(4)}, "num_vertices must be between 0 and 3"),
            ({"num_edges": np.int32(2)}, "have 3 edges, but num_edges is 2"),
            (
                {"num_vertices": np.int32(2), "num_edges": np.int32(2)},
                "into the padding",
            ),
        ],
    )
    def test_refuses(self, change, message):
        with pytest.raises(ValueError, match=message):
            dataclasses.replace(triangle(), **change).validate()


def test_reverse():
    arena = Arena.from_edges(
        [0, 0, 1, 2], [2, 1, 2, 2], owner=[0, 1, 0], edge_priority=[1, 2, 3, 4]
    )
    back = arena.reverse()
    assert edges_of(back) == [(1, 0), (2, 0), (2, 1), (2, 2)]
    assert back.edge_priority.tolist() == [2, 1, 3, 4]
    assert back.row_ptr.tolist() == [0, 0, 1, 4]
    assert arena.reverse() is back


def test_subgame():
    arena = Arena.from_edges(
        [0, 0, 1, 2, 2],
        [1, 2, 2, 0, 2],
        owner=[0, 1, 1],
        priority=[3, 4, 5],
        weight=[1, 2, 3, 4, 5],
    )
    game, vertices, edges = arena.subgame([True, False, True])
    assert vertices.tolist() == [0, 2]
    assert edges.tolist() == [1, 3, 4]
    assert edges_of(game) == [(0, 1), (1, 0), (1, 1)]
    assert game.owner.tolist() == [False, True]
    assert game.priority.tolist() == [3, 5]
    assert game.weight.tolist() == [2, 4, 5]
    with pytest.raises(ValueError, match="vertex 0 has no successor"):
        arena.subgame([False, True, False], dead_ends="error")
    with pytest.raises(ValueError, match="keep must have one entry for each vertex"):
        arena.subgame([True])


def test_is_a_pytree():
    arena = triangle(priority=[1, 2, 3])
    doubled = jax.jit(lambda a: jax.tree.map(lambda x: x, a))(arena)
    assert isinstance(doubled, Arena)
    assert doubled.weight is None
    np.testing.assert_array_equal(doubled.dst, arena.dst)


def test_repr():
    assert repr(triangle(weight=[1, 2, 3])) == "Arena(3 vertices, 3 edges, weight)"
    assert "padded to 8 and 8" in repr(triangle().pad())
    seen = []
    jax.jit(lambda a: seen.append(repr(a)) or a.dst)(triangle())
    assert "owner (3,)" in seen[0]


@pytest.mark.parametrize("seed", range(30))
def test_many_edges_in_order_and_in_none(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    size, edges = int(rng.integers(1, 12)), int(rng.integers(0, 40))
    src, dst = rng.integers(0, size, (2, edges))
    if seed % 3:
        src = np.sort(src)
    if seed % 3 == 2 and edges > 1:
        src[-2:] = src[-2:][::-1]
    how = {"owner": np.zeros(size, bool), "dead_ends": "allow"}
    few = Arena.from_edges(src, dst, **how)
    look_by_machine_code(monkeypatch)
    many = Arena.from_edges(src, dst, **how)
    for name in ("row_ptr", "src", "dst"):
        np.testing.assert_array_equal(getattr(many, name), getattr(few, name))
        assert getattr(many, name).dtype == np.int32


def test_what_is_seen_often_is_looked_at_by_machine_code(monkeypatch):
    monkeypatch.setattr(arena_module, "_looked_at", 0)
    monkeypatch.setattr(arena_module, "MANY", 100)
    monkeypatch.setattr(arena_module, "FEWEST", 10)
    pays = [arena_module.pays(entries) for entries in (60, 9, 40, 9, 10)]
    assert pays == [False, False, *(host.can_compile() and x for x in (1, 0, 1))]


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("labelled", [False, True])
def test_arrays_of_a_large_game_are_checked_while_they_are_copied(
    monkeypatch, kind, labelled
):
    look_by_machine_code(monkeypatch)
    degree = np.random.default_rng(3).integers(1, 5, 50)
    row_ptr = np.append(0, np.cumsum(degree)).astype(kind)
    dst = np.random.default_rng(4).integers(0, 50, row_ptr[-1]).astype(kind)
    priority = np.arange(50, dtype=kind) * 7 % 11
    given = {"row_ptr": row_ptr, "dst": dst} | (
        {"priority": priority} if labelled else {}
    )
    expected = {name: x.astype(np.int32) for name, x in given.items()}

    def built(**change):
        arrays = {name: x.copy() for name, x in given.items()}
        for name, (place, value) in change.items():
            arrays[name][place] = value
        arena = Arena.from_csr(**arrays, owner=np.zeros(50, bool), dead_ends="allow")
        for array in arrays.values():
            array[:] = 3  # it has copies
        return arena

    arena = built()
    for name, array in expected.items():
        np.testing.assert_array_equal(getattr(arena, name), array)
        assert getattr(arena, name).dtype == np.int32
        assert not getattr(arena, name).flags.writeable
    assert (arena.priority is None) == (not labelled)
    assert arena_module.kept(arena, arena_module.DEAD_END, lambda: 7) == -1
    arena = built(row_ptr=(31, row_ptr[30]))
    assert arena_module.kept(arena, arena_module.DEAD_END, lambda: 7) == 30
    wrong = [("dst", 50, "from 0 to 49"), ("dst", -1, "from 0 to 49")]
    wrong += [("row_ptr", row_ptr[20] - 1, "ascend")]
    wrong += [("priority", -1, "from 0"), ("priority", 2**31 - 2, "from 0")] * labelled
    for extreme in (np.iinfo(kind).min, np.iinfo(kind).max):  # differences wrap round
        wrong += [(name, extreme, "from 0") for name in given]
    for name, value, message in wrong:
        for place in (21, 48):
            if name != "row_ptr" or place == 21:
                with pytest.raises(ValueError, match=message):
                    built(**{name: (place, value)})


def test_rows_whose_differences_wrap_round_to_good_ones(monkeypatch):
    look_by_machine_code(monkeypatch)
    row_ptr, step = np.arange(51), 2**62
    row_ptr[21:24] = step, -2 * step, -step
    with np.errstate(over="ignore"):
        assert (np.diff(row_ptr) > 0).all()
    with pytest.raises(ValueError, match=r"row_ptr\[21\] is 4611686018427387904"):
        Arena.from_csr(row_ptr, np.zeros(50, int), owner=np.zeros(50, bool))


def test_sources_of_many_edges(monkeypatch):
    degree = np.random.default_rng(0).integers(0, 4, 50)
    row_ptr = np.append(0, np.cumsum(degree))
    dst, owner = np.zeros(row_ptr[-1], np.int32), np.zeros(50, bool)
    few = Arena.from_csr(row_ptr, dst, owner=owner, dead_ends="allow")
    look_by_machine_code(monkeypatch)
    many = Arena.from_csr(row_ptr, dst, owner=owner, dead_ends="allow")
    np.testing.assert_array_equal(few.src, np.repeat(np.arange(50), degree))
    np.testing.assert_array_equal(many.src, few.src)
    dst = np.where(np.arange(len(dst)) == 7, 50, 0)
    with pytest.raises(ValueError, match=r"dst\[7\] is 50, expected .* 0 to 49"):
        Arena.from_csr(row_ptr, dst, owner=owner, dead_ends="allow")
    assert many.src.dtype == np.int32
    with pytest.raises(ValueError, match="vertex 0 has no successor"):
        Arena.from_csr([0, 0, 1], np.array([1]), owner=[0, 1])


@pytest.mark.parametrize("by_machine_code", [False, True])
@pytest.mark.parametrize(
    "row_ptr", [[0, 2, 1, 4], [1, 2, 3, 4], [0, 2, 3, 3], [0, 5, 5, 4], [0, -1, 3, 4]]
)
def test_rows_that_do_not_ascend(monkeypatch, by_machine_code, row_ptr):
    if by_machine_code:
        look_by_machine_code(monkeypatch)
    first = arena_module.first_empty_row
    assert first(np.array([0, 1, 3, 4]), 4) == -1
    assert first(np.array([0, 3, 3, 4, 4]), 4) == 1
    assert first(np.array([0]), 0) == -1
    with pytest.raises(ValueError, match="must ascend from 0 to the number of edges"):
        first(np.array(row_ptr), 4)


@pytest.mark.parametrize("shared", [False, True])
def test_the_first_of_the_vertices_without_successor_is_kept(monkeypatch, shared):
    """As found by several cores, each of which looks at some of the rows."""
    look_by_machine_code(monkeypatch)
    rng = np.random.default_rng(shared)
    for _ in range(30):
        degree = rng.integers(0 if rng.random() < 0.3 else 1, 4, 12)
        degree[rng.integers(0, 12, rng.integers(0, 3))] = 0
        dst = rng.integers(0, 12, degree.sum())
        row_ptr = np.append(0, np.cumsum(degree))
        for array in (row_ptr, dst):
            array.setflags(write=not shared)
        how = {"owner": np.zeros(12, bool), "dead_ends": "allow"}
        arena = Arena.from_csr(row_ptr, dst, **how)
        first = kept.kept(arena, arena_module.DEAD_END, lambda: None)
        stuck = np.flatnonzero(degree == 0).tolist()
        assert first == (stuck or [-1])[0]
        np.testing.assert_array_equal(arena.row_ptr, row_ptr)
        np.testing.assert_array_equal(arena.dst, dst)


@pytest.mark.parametrize("by_machine_code", [False, True])
def test_rows_of_another_order_of_bytes(monkeypatch, by_machine_code):
    if by_machine_code:
        look_by_machine_code(monkeypatch)
    rows = np.array([0, 1, 2, 4], ">i4"), np.array([1, 2, 0, 1], ">i8")
    for array in rows:
        array.setflags(write=False)
    arena = Arena.from_csr(*rows, owner=[0, 0, 0])
    assert edges_of(arena) == [(0, 1), (1, 2), (2, 0), (2, 1)]
    with pytest.raises(ValueError, match=r"dst\[1\] is 3, expected .* 0 to 2"):
        Arena.from_csr(rows[0], np.array([1, 3, 0, 1], ">i4"), owner=[0, 0, 0])


def test_sources_are_found_when_they_are_read():
    tree = generate.propagation_tree(8, 2)
    how = {"owner": tree.owner, "priority": tree.priority}
    arena = Arena.from_csr(tree.row_ptr, tree.dst, **how)
    parity.solve(arena, "host")
    assert "src" not in vars(arena)
    again = pickle.loads(pickle.dumps(arena))
    assert "src" not in vars(again)
    expected = np.repeat(np.arange(arena.shape[0]), np.diff(arena.row_ptr))
    for each in (arena, again, jax.tree.map(lambda x: x, arena)):
        np.testing.assert_array_equal(each.src, expected)
        assert each.src.dtype == np.int32
        assert not each.src.flags.writeable
    assert arena.src is arena.src
    given = dataclasses.replace(arena, src=expected.astype(np.int32)[::-1])
    np.testing.assert_array_equal(given.src, expected[::-1])


def test_an_arena_is_traced_if_one_of_its_arrays_is():
    arena = generate.propagation_tree(3, 2)
    assert not is_traced((arena, None))
    assert "src" not in vars(arena)
    seen = []

    @jax.jit
    def look(priority):
        seen.append(is_traced((dataclasses.replace(arena, priority=priority), None)))
        return priority

    look(arena.priority)
    assert seen == [True]


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
def test_sources_are_written_by_several_cores(monkeypatch):
    """Short rows of one core end where those of another begin."""
    monkeypatch.setattr(host, "num_cores", lambda: 3)
    monkeypatch.setattr(host, "FEWEST_PLACES", 10)
    monkeypatch.setattr(arena_module, "pays", lambda entries: True)
    for most in (2, 4, 5, 12):
        degree = np.random.default_rng(most).integers(0, most + 1, 1000)
        row_ptr = np.append(0, np.cumsum(degree)).astype(np.int32)
        src, empty = arena_module.sources_of(row_ptr, int(row_ptr[-1]))
        np.testing.assert_array_equal(src, np.repeat(np.arange(1000), degree))
        assert empty


def test_columns_of_a_table_are_checked_where_compiled_loops_pay(monkeypatch):
    """They do not lie in a row, which machine code wants."""
    monkeypatch.setattr(arena_module, "pays", lambda entries: True)
    src, dst = np.array([(0, 1), (0, 0), (1, 0)]).T
    arena = Arena.from_edges(src, dst, owner=[0, 1])
    assert arena.dst.tolist() == [1, 0, 0]


def test_sources_are_written_when_they_are_asked_for():
    arena = Arena.from_csr([0, 2, 3], [0, 1, 0], owner=[0, 1], priority=[1, 2])
    assert "src" not in vars(arena)
    assert not arena_module.is_traced((arena, 3))
    other = arena_module.changed(arena, priority=np.array([3, 4], np.int32))
    again = pickle.loads(pickle.dumps(arena))
    assert all("src" not in vars(x) for x in (arena, other, again))
    for one in (arena, other, again, dataclasses.replace(arena), copy.copy(arena)):
        assert one.src.tolist() == [0, 0, 1]
        assert not one.src.flags.writeable
        assert "src" in vars(one)
    assert arena.src is arena.src
    assert jax.tree.leaves(arena)[1].tolist() == [0, 0, 1]
    assert other.priority.tolist() == [3, 4]
    with pytest.raises(AttributeError, match="an Arena has no attribute 'sources'"):
        arena.sources  # noqa: B018


@pytest.mark.parametrize("vertex", [-1, 2, 0.5])
def test_successors_of_no_vertex(vertex):
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1])
    with pytest.raises(ValueError, match="vertex must be"):
        arena.successors(vertex)

"""State spaces: both engines against a queue and a dictionary, and wrong functions."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import SolveError, Status, graph, host, limits
from jaxgames.graph import (
    Packing,
    _explore,
    _explore_device,
    _explore_host,
    _explore_room,
    _explore_rules,
    _explore_turn,
    _state_table,
)

ENGINES = ["host", "device"]
FIELDS = ["words", "offsets", "targets", "actions", "initial", "levels"]
RANGES = [97, 13, (-4, 4), 2]


def family(states):
    """Many graphs in one function: the first component says which one."""
    xp = states.__array_namespace__()
    seed, a, b, c = (states[:, k] for k in range(4))
    after = [
        (seed, (a * 7 + seed) % 13, b, c),
        (seed, a, -b, 1 - c),
        (seed, (a + 1) % (seed % 11 + 3), (b + a) % 5, c),
        (seed, (a * a) % 13, xp.minimum(b + 1, 4), 0 * c),
        (seed, a, -b, 1 - c),
    ]
    enabled = [
        a % (seed % 5 + 2) != 0,
        (seed % 3 == 0) & (b != 0),
        (a + seed) % 3 != 1,
        b < seed % 7 - 4,
        c == 0,
    ]
    rows = [xp.stack(row, axis=1) for row in after]
    return xp.stack(rows, axis=1), xp.stack(enabled, axis=1)


@functools.cache
def actions_of(successors, state):
    """The actions of a state, and where they lead."""
    after, enabled = successors(np.array([state], np.int32))
    actions = np.flatnonzero(enabled[0]).tolist()
    return [(action, tuple(after[0, action].tolist())) for action in actions]


def by_definition(successors, initial, parallel_edges=False, max_states=None):
    """A queue and a dictionary; one state after the other."""
    number = {tuple(x): i for i, x in enumerate(dict.fromkeys(map(tuple, initial)))}
    order, distance = list(number), [0] * len(number)
    rows = []
    for state in order:  # grows meanwhile
        row = {}
        for action, after in actions_of(successors, state):
            row.setdefault(action if parallel_edges else after, (after, action))
        fresh = [x for x, _ in row.values() if x not in number]
        if max_states is not None and len(order) + len(set(fresh)) > max_states:
            break
        for x in dict.fromkeys(fresh):
            number[x] = len(order)
            order.append(x)
            distance.append(distance[len(rows)] + 1)
        rows.append([(number[x], action) for x, action in row.values()])
    return order, rows, distance


def assert_is(space, expected):
    order, rows, distance = expected
    assert space.states.tolist() == [list(x) for x in order]
    assert space.num_expanded == len(rows)
    degree = [len(row) for row in rows] + [0] * (len(order) - len(rows))
    assert np.diff(space.offsets).tolist() == degree
    edges = list(itertools.chain(*rows))
    assert (
        list(zip(space.targets.tolist(), space.actions.tolist(), strict=True)) == edges
    )
    levels = np.searchsorted(distance, np.arange(max(distance) + 2))
    assert space.levels.tolist() == levels.tolist()
    assert space.depth == max(distance)
    dead = [v for v, row in enumerate(rows) if not row]
    assert space.deadlocks.tolist() == dead


@pytest.fixture(scope="module")
def random_starts():
    random = np.random.default_rng(3)
    starts = []
    for count in (1, 1, 1, 2, 3, 5) * 4:
        low = [x[0] if isinstance(x, tuple) else 0 for x in RANGES]
        high = [x[1] + 1 if isinstance(x, tuple) else x for x in RANGES]
        starts.append(random.integers(low, high, (count, len(RANGES))))
    return starts


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("parallel_edges", [False, True])
def test_random_functions(engine, parallel_edges, random_starts):
    sizes = []
    for initial in random_starts:
        space = graph.explore(
            family,
            initial,
            ranges=RANGES,
            engine=engine,
            parallel_edges=parallel_edges,
        )
        assert_is(space, by_definition(family, initial.tolist(), parallel_edges))
        assert space.status == Status.SOLVED
        assert space.stats["solver"] == engine
        assert space.initial.tolist() == list(range(space.levels[1]))
        sizes.append(space.num_states)
    assert max(sizes) > 200
    assert min(sizes) < 20


def counter(states):
    """A long way with a few side ways."""
    xp = states.__array_namespace__()
    after = xp.stack([states + 1, states * 3 % 400, states + 1], axis=1)
    again = (states > 9) & (states < 400)
    return after, xp.concatenate([states < 400, states % 3 == 0, again], axis=1)


def assert_same(one, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def test_all_rooms_and_turns(monkeypatch):
    """Small rooms, so that all of them grow, and turns that take few states."""
    starts = [[1], [120], [200], [300], [301], [0]]
    expected = graph.explore(counter, starts, engine="host")
    assert_is(expected, by_definition(counter, starts))
    cells = {"cpu": (7, 12), "gpu": (7, 12)}
    monkeypatch.setattr(_explore_device, "CELLS", cells)
    monkeypatch.setattr(_explore_device, "MORE", 1)
    monkeypatch.setattr(_explore_device, "FIRST_ROOM", {"cpu": 32, "gpu": 32})
    monkeypatch.setattr(_explore_device, "EDGES_A_STATE", 1)
    monkeypatch.setattr(_explore_room, "GROWTH", ((16, 0.5),))
    monkeypatch.setattr(_explore_turn, "SHORT_ROW", 1)
    monkeypatch.setattr(_explore_rules, "ONE_BY_ONE", 0)
    monkeypatch.setattr(_explore_room, "FIRST_STEPS", 3)
    assert_same(graph.explore(counter, starts, engine="device"), expected)


@pytest.mark.parametrize("compiled_from", [0, 200, 10**9])
def test_the_host_takes_some_at_a_time(monkeypatch, compiled_from):
    expected = graph.explore(counter, [1], engine="host")
    monkeypatch.setattr(_explore_host, "CELLS", 300)
    monkeypatch.setattr(_explore_host, "FIRST_ROOM", 2)
    monkeypatch.setattr(_explore_host, "COMPILED_FROM", compiled_from)
    with host.interpreted():
        other = graph.explore(counter, [1], engine="host")
    assert_same(other, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit(engine):
    initial = [[60, 3, 4, 1], [60, 3, 4, 1], [41, 1, 1, 1]]
    whole = by_definition(family, initial)
    limits = [2, 3, 10, 57, len(whole[0]) - 1, len(whole[0])]
    for most in limits:
        space = graph.explore(
            family, initial, ranges=RANGES, engine=engine, max_states=most, throw=False
        )
        assert_is(space, by_definition(family, initial, max_states=most))
        ended = most >= len(whole[0])
        assert space.status == (Status.SOLVED if ended else Status.MAX_STEPS)
    with pytest.raises(SolveError, match="max_states") as error:
        graph.explore(family, initial, ranges=RANGES, engine=engine, max_states=10)
    assert error.value.status == Status.MAX_STEPS
    assert error.value.solution.num_states <= 10
    with pytest.raises(ValueError, match="2 initial states, max_states is 1"):
        graph.explore(family, initial, ranges=RANGES, engine=engine, max_states=1)


@pytest.mark.parametrize("engine", ENGINES)
def test_in_pieces(engine, monkeypatch):
    monkeypatch.setattr(_explore, "PIECE", 4)
    initial = [[60, 3, 4, 1], [41, 1, 1, 1]]
    whole = graph.explore(family, initial, ranges=RANGES, engine=engine)
    pieces = list(graph.expansions(family, initial, ranges=RANGES, engine=engine))
    assert len(pieces) > (3 if engine == "host" else 0)
    np.testing.assert_array_equal(
        np.concatenate([x.states for x in pieces]), whole.states
    )
    for name in ("targets", "actions"):
        joined = np.concatenate([getattr(x, name) for x in pieces])
        np.testing.assert_array_equal(joined, getattr(whole, name))
    degrees = np.concatenate([np.diff(x.offsets) for x in pieces])
    np.testing.assert_array_equal(degrees, np.diff(whole.offsets))
    assert all(x.offsets[0] == 0 for x in pieces)


def test_no_more_is_searched_than_is_asked_for():
    asked = []

    def successors(states):
        asked.append(int(states.max()))
        return states[:, None] + 1, states >= 0

    pieces = graph.expansions(successors, [0], engine="host")
    first = next(pieces)
    assert len(first.states) == _explore.PIECE
    assert max(asked[1:]) < _explore.PIECE


@pytest.mark.parametrize("engine", ENGINES)
def test_a_meter_and_an_interruption(engine, monkeypatch):
    def find(**options):
        start = [60, 3, 4, 1]
        return graph.explore(family, start, ranges=RANGES, engine=engine, **options)

    whole, reports = find(), []
    monkeypatch.setattr(_explore_room, "FIRST_STEPS", 2)
    monkeypatch.setattr(_explore_host, "CELLS", 100)

    def stop(report):
        reports.append(report)
        return Status.TIMEOUT

    space = find(progress=stop, throw=False)
    assert space.status == Status.TIMEOUT
    assert (reports[0].solver, reports[0].unit) == ("explore", "states")
    assert 0 < space.num_expanded < space.num_states < whole.num_states
    edges = space.offsets[space.num_expanded]
    np.testing.assert_array_equal(space.targets, whole.targets[:edges])
    np.testing.assert_array_equal(space.words, whole.words[: space.num_states])

    def interrupt(report):
        raise KeyboardInterrupt

    with pytest.raises(SolveError) as error:
        find(progress=interrupt)
    assert error.value.status == Status.INTERRUPTED
    assert error.value.solution.num_states == space.num_states


def test_functions_of_one_kind():
    def by_jax(states):
        after = jnp.stack([states + 1, states * 2], axis=1)
        return after, after[:, :, 0] < 50

    def by_numpy(states):
        after = np.empty((len(states), 2, 1), np.int64)
        after[:, 0], after[:, 1] = states + 1, states * 2
        return after, after[:, :, 0] < 50

    expected = by_definition(by_numpy, [(1,)])
    assert_is(graph.explore(by_jax, [1], engine="host"), expected)
    assert_is(graph.explore(by_jax, [1], engine="device"), expected)
    assert_is(graph.explore(by_numpy, [1]), expected)
    with pytest.raises(ValueError, match="needs a transition function that JAX can"):
        graph.explore(by_numpy, [1], engine="device")


@pytest.mark.skipif(not host.can_compile(), reason="the host engine wants numba")
def test_who_is_asked_where_nothing_is_said():
    """A CPU leaves to the host what numpy does; JAX compiles its own functions."""

    def of_both(states):
        return states[:, None] + 1, states < 5

    def of_jax(states):
        return jnp.asarray(states)[:, None] + 1, jnp.asarray(states) < 5

    found = [graph.explore(function, [0]) for function in (of_both, of_jax)]
    on_cpu = jax.default_backend() == "cpu"
    first = "host" if on_cpu else "device"
    assert [space.stats["solver"] for space in found] == [first, "device"]
    np.testing.assert_array_equal(found[0].states, found[1].states)


def test_values_of_all_kinds():
    """Components that fill a word, and numbers that a word ends with."""
    lowest, highest = -(2**31), 2**31 - 1
    steps = {(lowest, 5): (highest, 7), (highest, 7): (0, 0), (0, 0): (lowest, 5)}

    def always(states):
        xp = states.__array_namespace__()
        after = xp.zeros_like(states)
        for before, then in steps.items():
            here = (states == xp.asarray(before, np.int32)).all(axis=1)
            after = xp.where(here[:, None], xp.asarray(then, np.int32), after)
        return after[:, None], states[:, :1] == states[:, :1]

    for engine in ENGINES:
        space = graph.explore(always, [lowest, 5], engine=engine)
        assert space.states.tolist() == [list(x) for x in steps]
        assert space.targets.tolist() == [1, 2, 0]


def test_a_game():
    def successors(states):
        xp = states.__array_namespace__()
        return xp.stack([states + 1, states + 2], axis=1), xp.concatenate(
            [states < 5, states < 4], axis=1
        )

    space = graph.explore(successors, [0], ranges=[8])
    arena = space.arena(
        owner=lambda states: states[:, 0] % 2 == 1,
        priority=np.arange(6),
        dead_ends="lose",
    )
    assert arena.owner.tolist() == [False, True] * 3
    assert arena.successors(3).tolist() == [4, 5]
    with pytest.raises(ValueError, match="vertex 5 has no successor"):
        space.arena(dead_ends="error")
    with pytest.raises(ValueError, match="must have one value for each"):
        space.evaluate(lambda states: states)
    assert space.at(5).tolist() == [5]
    assert space.at([[1, 2]]).tolist() == [[[1], [2]]]


# ---- packing ---------------------------------------------------------------------


def test_packing():
    random = np.random.default_rng(5)
    packed = []
    for _ in range(20):
        size = int(random.integers(1, 6))
        low = random.integers(-(2**31), 2**31 - 1, size)
        low = np.where(random.integers(2, size=size), low, random.integers(-3, 3, size))
        span = 2.0 ** random.integers(0, 33, size)
        high = np.minimum(low + span.astype(np.int64) - 1, 2**31 - 1)
        packing = Packing.of(list(zip(low.tolist(), high.tolist(), strict=True)), size)
        states = random.integers(low, high + 1, (20, size))
        states[0], states[1] = low, high
        words = packing.pack(states)
        np.testing.assert_array_equal(packing.unpack(words), states)
        packed.append((packing, states.astype(np.int32)))
        assert len(np.unique(words, axis=0)) == len(np.unique(states, axis=0))
        assert words.shape[1] <= packing.bits / 32 * 2 + 1
        assert not packing.outside(states).any()
        assert packing.outside(states + (high - low) + 1).all()
        assert packing.outside(states - (high - low) - 1).all()
    packings, all_states = zip(*packed, strict=True)

    @jax.jit  # all in one program
    def by_jax(*all_states):
        both = zip(packings, all_states, strict=True)
        return [packing.unpack(packing.pack(states)) for packing, states in both]

    for found, states in zip(by_jax(*all_states), all_states, strict=True):
        np.testing.assert_array_equal(found, states)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([2], r"one entry for each component \(2\), got 1"),
        ([2, 0], r"ranges\[1\] must be a range of int32 that is not empty, got 0"),
        ([(3, 2), 1], r"ranges\[0\] must be a range .* got \(3, 2\)"),
        ([(0, 2**31), 1], r"ranges\[0\] must be a range of int32"),
        ([(0, 1, 2), 1], r"ranges\[0\] must be a number of values or a pair"),
        ([(0, 1.5), 1], r"ranges\[0\] must be a number of values or a pair"),
    ],
)
def test_wrong_ranges(ranges, message):
    with pytest.raises(ValueError, match=message):
        graph.explore(right, [1, 0], ranges=ranges)


# ---- what is wrong ---------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_successors_out_of_range(engine):
    message = (
        r"successors of state \[60, 3, -4, 0\]: action 3 leads to \[60, 9, -3, 0\], "
        "which is out of range: component 1 is 9, expected 0 to 8"
    )
    with pytest.raises(ValueError, match=message):
        graph.explore(family, [60, 3, 4, 1], ranges=[97, 9, (-4, 4), 2], engine=engine)
    with pytest.raises(ValueError, match="expected 0 to 8"):
        list(
            graph.expansions(
                family, [60, 3, 4, 1], ranges=[97, 9, (-4, 4), 2], engine=engine
            )
        )


def right(states):
    return states[:, None], states[:, :1] > 0


@pytest.mark.parametrize(
    ("successors", "message"),
    [
        (None, "successors must be a function of states, got None"),
        (lambda x: x, "must return two arrays"),
        (lambda x: (x[:, None], [True]), "must return two arrays"),
        (lambda x: (x, x[:, :1] > 0), r"must have shape \[3, A, 2\], got \[3, 2\]"),
        (lambda x: (x[:2, None], x[:2, :1] > 0), r"got \[2, 1, 2\]"),
        (lambda x: (x[:, None, :1], x[:, :1] > 0), r"got \[3, 1, 1\]"),
        (lambda x: (x[:, None] * 0.5, x[:, :1] > 0), "must return integers, got float"),
        (lambda x: (x[:, None], x[:, :1]), r"booleans \[3, 1\] .* got int32"),
        (lambda x: (x[:, None], x > 0), r"got bool of shape \[3, 2\]"),
        (lambda x: (x[:, None][:, :0], x[:, :0] > 0), "one successor at least"),
    ],
)  # fmt: skip
def test_wrong_functions(successors, message):
    with pytest.raises(ValueError, match=message):
        graph.explore(successors, [1, 2])


def test_an_error_of_the_function_is_told_as_it_is():
    def successors(states):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        graph.explore(successors, [1, 2])


@pytest.mark.parametrize(
    ("initial", "options", "message"),
    [
        (1, {}, "initial must be a state"),
        ([], {}, "initial must be a state"),
        ([[0.5, 1]], {}, "initial must be a state, .* got float64"),
        ([5, 1], {"ranges": [5, 2]}, r"state \[5, 1\] .* component 0 is 5, expected 0"),
        ([1, 2**40], {}, "out of range: component 1"),
        ([1, 1], {"engine": "gpu"}, "engine must be 'auto', 'host' or 'device'"),
        ([1, 1], {"max_states": 0}, "max_states must be at least 1, got 0"),
        ([1, 1], {"progress": 3}, "progress must be a bool or callable"),
    ],
)  # fmt: skip
def test_wrong_arguments(initial, options, message):
    with pytest.raises(ValueError, match=message):
        graph.explore(right, initial, **options)


def test_too_many_are_told(monkeypatch):
    monkeypatch.setattr(_explore_host, "MAX_SIZE", 100)
    monkeypatch.setattr(_explore_device, "MAX_SIZE", 100)
    for engine in ENGINES:
        with pytest.raises(ValueError, match="more states or edges than int32"):
            graph.explore(counter, [1], engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_too_little_memory(engine, monkeypatch):
    """It is told before a search starts, and before its room grows."""
    memory = 0
    monkeypatch.setattr(_explore_room, "memory_of", lambda _: (10**12, memory))
    cells = {"cpu": (30,), "gpu": (30,)}
    monkeypatch.setattr(_explore_device, "CELLS", cells)
    monkeypatch.setattr(_explore_device, "FIRST_ROOM", {"cpu": 64, "gpu": 64})
    monkeypatch.setattr(_explore_host, "FIRST_ROOM", 64)
    monkeypatch.setattr(_explore_host, "CELLS", 30)
    with pytest.raises(
        MemoryError, match="does not fit: .* states .0 of them expanded"
    ):
        graph.explore(counter, [1], engine=engine)
    memory = 6000
    with pytest.raises(MemoryError, match=r"room for more takes .* 0.00 GB are free"):
        graph.explore(counter, [1], engine=engine)


def test_the_limit_of_a_call_is_one_of_rooms():
    with limits.within(memory=1 << 20):
        known = _explore_room.memory_of(None)
    assert known is not None
    assert known[1] <= 1 << 20


def test_rooms_grow_by_what_fits():
    free, each, large = 10**9, 10, _state_table.AT_ONCE
    grown = functools.partial(_explore_room.larger, each=each, free=free)
    assert grown(1 << 10, (1 << 10) + 1, 2**31) == 1 << 12
    assert grown(2 * large, 2 * large + 1, 2**31) == 8 * large
    assert grown(20 * large, 20 * large + 1, 2**31) == 40 * large
    assert grown(60 * large, 60 * large + 1, 2**31) == 75 * large
    assert grown(90 * large, 90 * large + 1, 2**31) == 91 * large
    assert grown(96 * large, 96 * large + 1, 2**31) is None
    most = 3 * large
    assert grown(2 * large, 2 * large + 1, most) == most
    assert grown(2 * large, most, most, free=None) == most

"""The game: its moves by definition, two builders with the same bits, its size."""

from itertools import chain

import jax
import jax.numpy as jnp
import numpy as np
import published
import pytest
from small_systems import COFFEE, random_system

from jaxgames import equivalence, host
from jaxgames.equivalence import (
    Spectroscopy,
    System,
    TooLargeError,
    _answers,
    _device,
    _room,
)
from jaxgames.equivalence._build import pairs_that_enable_the_same
from jaxgames.equivalence._device import build_on_device
from jaxgames.equivalence._found import Sizes
from jaxgames.equivalence._refinement import scramble
from jaxgames.equivalence.host import build_on_host


def minimised(lts) -> System:
    return System.of(lts).quotient(equivalence.bisimulation(lts, "host").labels)


def all_pairs(system: System) -> np.ndarray:
    return np.argwhere(~np.eye(system.num_states, dtype=bool)).astype(np.int32)


def moves_by_definition(system: System, position: tuple) -> list[tuple[int, tuple]]:
    """Kind and target of each move, with sets as sorted tuples."""
    enabled = [{a for a, _ in system.row(p)} for p in range(system.num_states)]
    match position:
        case "clause", p, q:
            return [(4, ("attack", p, (q,))), (5, ("attack", q, (p,)))]
        case "defend", p, rest, taken:
            clauses = [(3, ("clause", p, q)) for q in rest]
            return clauses + [(2, ("attack", p, taken))] * bool(taken)
        case "attack", p, ():
            return [(1, ("defend", p, (), ()))]
    _, p, whole = position
    moves = []
    for a, target in system.row(p):
        reached = {t for q in whole for b, t in system.row(q) if a == b}
        if target not in reached:
            moves.append((0, ("attack", target, tuple(sorted(reached)))))
    splits = [()]
    for fits in (
        lambda q: enabled[q] <= enabled[p],
        lambda q: enabled[p] <= enabled[q],
        lambda q: enabled[p] == enabled[q],
    ):
        taken = tuple(q for q in whole if fits(q))
        if taken not in splits and taken != whole:
            splits.append(taken)
    for taken in splits:
        rest = tuple(q for q in whole if q not in taken)
        moves.append((1, ("defend", p, rest, taken)))
    return moves


def check(system: System, game: Spectroscopy, pairs: np.ndarray) -> None:
    """Every move is there, in the order of the definition, and nothing else."""
    positions = [game.position(v) for v in range(game.num_positions)]
    assert len(set(positions)) == len(positions)
    for pair, start in zip(pairs.tolist(), game.starts.tolist(), strict=True):
        assert positions[start] == ("attack", pair[0], (pair[1],))
    known = dict.fromkeys(positions[v] for v in game.starts)
    for v, position in enumerate(positions):
        moves = [(kind, positions[to]) for kind, to in game.successors(v)]
        assert moves == moves_by_definition(system, position)
        assert game.defender[v] == (position[0] == "defend")
        known |= dict.fromkeys(to for _, to in moves)
    assert list(known) == positions  # breadth first


@pytest.mark.parametrize("seed", range(30))
def test_moves_are_those_of_the_definition(seed):
    system = minimised(random_system(seed, states=8, edges=18, labels=4))
    pairs = all_pairs(system)
    with host.interpreted():
        game = build_on_host(system, pairs, 10**6)
    assert game is not None
    check(system, game, pairs)


def test_an_example():
    system = minimised(COFFEE)
    game = equivalence.build(system, np.array([[0, 2]], np.int32))
    # From the start: one observation and the challenge of the pair.
    assert [kind for kind, _ in game.successors(0)] == [0, 1]
    assert repr(game).endswith("moves, 1 starts)")
    check(system, game, np.array([[0, 2]]))


def same(one: Spectroscopy | None, other: Spectroscopy | None) -> None:
    assert one is not None
    assert other is not None
    for name in one.arrays._fields:
        mine, its = getattr(one, name), getattr(other, name)
        np.testing.assert_array_equal(mine, its, err_msg=name)


@pytest.fixture
def little_room(monkeypatch):
    """Games of a few hundred positions take many turns, and rooms have to grow."""
    sizes = (Sizes(32, 128, 16, 64, 15),)
    monkeypatch.setattr(_device, "SIZES", {"cpu": sizes, "gpu": sizes})
    monkeypatch.setattr(_device, "FIRST_ROOM", {"cpu": 1, "gpu": 1})


def test_the_device_builds_the_same_bits(little_room):
    for seed in range(8):
        system = minimised(random_system(seed, states=8, edges=16, labels=3))
        pairs = all_pairs(system)
        repeated = np.concatenate([pairs, pairs[:2]])
        with host.interpreted():
            expected = build_on_host(system, repeated, 10**6)
        same(build_on_device(system, repeated, 10**6), expected)


TOO_SMALL = [
    (Sizes(1, 1, 1, 1, 1), Sizes(4, 4, 2, 2, 1)),
    (Sizes(2, 3, 1, 2, 1), Sizes(64, 64, 32, 64, 15)),
    (Sizes(8, 64, 8, 4, 1), Sizes(8, 64, 8, 4, 1)),
]


@pytest.mark.sweep
@pytest.mark.parametrize("sizes", TOO_SMALL)
def test_turns_that_are_too_small_become_larger(monkeypatch, sizes):
    """For the moves of a position, for the members of a set, and to search these."""
    monkeypatch.setattr(_device, "SIZES", {"cpu": sizes, "gpu": sizes})
    monkeypatch.setattr(_device, "FIRST_ROOM", {"cpu": 1, "gpu": 1})
    for seed in range(2):
        system = minimised(random_system(seed, states=12, edges=40, labels=2))
        pairs = all_pairs(system)[seed : 20 + seed]
        with host.interpreted():
            expected = build_on_host(system, pairs, 10**6)
        assert expected is not None
        assert np.diff(expected.set_offsets).max() > 1
        same(build_on_device(system, pairs, 10**6), expected)


@pytest.mark.sweep
def test_a_hash_that_misleads_is_found_out(monkeypatch):
    """Sets whose members add up to the same are taken for one another at first."""
    system = minimised(random_system(4, states=12, edges=40, labels=2))
    pairs = all_pairs(system)

    def sum_of_members(x, salt):
        bad = jnp.asarray(salt) < 2
        return jnp.where(bad, x.astype(jnp.uint32), scramble(x, salt))

    monkeypatch.setattr(_device, "scramble", sum_of_members)
    monkeypatch.setattr(_answers, "scramble", sum_of_members)
    jax.clear_caches()
    with host.interpreted():
        expected = build_on_host(system, pairs, 10**6)
    first = _device._Builder(system, pairs, 10**6, 0)
    while not first.done:
        first.advance()
    assert first.now.wrong > 0
    same(build_on_device(system, pairs, 10**6), expected)
    jax.clear_caches()


@published.needed
@pytest.mark.parametrize("name", ["peterson_mutex_weak", "vasy_0_1", "vasy_1_4"])
def test_sizes_of_published_games(name):
    """As many moves as gpuequiv counts, for which repeated transitions are several."""
    known, lts = published.expected(name), published.load(name)
    classes = equivalence.bisimulation(lts, "host").labels
    system = System.of(lts).quotient(classes, merge=False)
    pairs = pairs_that_enable_the_same(system)
    assert len(pairs) == known["start_pairs"]
    game = equivalence.build(system, pairs)
    assert game.num_positions == known["game_vertices"]
    assert game.num_moves == known["game_edges"]


@published.needed
@pytest.mark.sweep
@pytest.mark.parametrize("name", ["vasy_8_38", "vasy_8_24", "vasy_10_56", "cwi_1_2"])
def test_sizes_of_large_published_games(name):
    test_sizes_of_published_games(name)


@published.needed
@pytest.mark.sweep
@pytest.mark.parametrize("name", ["peterson_mutex_weak", "cwi_3_14", "vasy_8_24"])
def test_the_device_builds_published_games(name):
    system = minimised(published.load(name))
    pairs = pairs_that_enable_the_same(system)
    expected = build_on_host(system, pairs, 10**9)
    same(build_on_device(system, pairs, 10**9), expected)


def test_pairs_that_enable_the_same():
    system = minimised(COFFEE)
    enabled = [{a for a, _ in system.row(p)} for p in range(system.num_states)]
    expected = [
        [p, q]
        for p in range(system.num_states)
        for q in range(system.num_states)
        if p != q and enabled[p] == enabled[q]
    ]
    assert pairs_that_enable_the_same(system).tolist() == expected
    assert expected


@pytest.mark.parametrize("build", [build_on_host, build_on_device])
def test_a_large_game_is_given_up(build, little_room):
    system = minimised(COFFEE)
    with host.interpreted():
        assert build(system, all_pairs(system), 20) is None
        assert build(system, all_pairs(system), 1000) is not None


def test_what_does_not_fit_is_said_before_it_starts(monkeypatch):
    system = minimised(COFFEE)
    with pytest.raises(TooLargeError, match="at least 90 positions, and max_positions"):
        equivalence.build(system, all_pairs(system), max_positions=80)
    with pytest.raises(TooLargeError, match="more than 100 positions or moves"):
        equivalence.build(system, all_pairs(system), max_positions=100)
    monkeypatch.setattr(_room, "free_memory", lambda on_host: 5000)
    with pytest.raises(TooLargeError, match="of which 0.0 GB are free"):
        equivalence.build(system, all_pairs(system))
    assert _room.check_room(1, None) > 3


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="'auto', 'device' or 'host', got 'gpu'"):
        equivalence.build(
            minimised(COFFEE),
            np.array([[0, 1]]),
            engine="gpu",  # type: ignore[arg-type]
        )


def test_memory_of_a_game_is_what_is_told():
    system = minimised(COFFEE)
    game = equivalence.build(system, all_pairs(system))
    from jaxgames.equivalence._game import MOVE_BYTES, POSITION_BYTES

    per_position = [game.offsets[1:], game.process, game.first, game.second]
    taken = sum(x.nbytes for x in chain(per_position, [game.defender]))
    assert taken == POSITION_BYTES * game.num_positions
    assert game.targets.nbytes + game.moves.nbytes == MOVE_BYTES * game.num_moves


def test_the_host_has_room_for_every_game():
    # Plain Python checks the bounds of arrays that machine code writes to.
    for seed in range(60):
        small = minimised(random_system(seed, states=3 + seed % 8, edges=6 + seed % 17))
        pairs = np.argwhere(~np.eye(small.num_states, dtype=bool)).astype(np.int32)
        pairs = pairs[: 2 if seed % 3 == 0 else None]
        with host.interpreted():
            plain = build_on_host(small, pairs, 10**6)
        fast = build_on_host(small, pairs, 10**6)
        for one, other in zip(plain.arrays, fast.arrays, strict=True):
            np.testing.assert_array_equal(one, other)

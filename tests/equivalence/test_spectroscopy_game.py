"""The game: its moves by definition, two builders with the same bits, its size."""

from itertools import chain

import numpy as np
import published
import pytest
from small_systems import COFFEE, random_system

from jaxgames import equivalence, host
from jaxgames.equivalence import Spectroscopy, System, TooLargeError, _room
from jaxgames.equivalence._build import pairs_that_enable_the_same
from jaxgames.equivalence._host import build_on_host
from jaxgames.equivalence._levels import build_on_device


def minimised(lts) -> System:
    return System.of(lts).quotient(equivalence.bisimulation(lts, engine="host"))


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
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, vars(other)[name], err_msg=name)


def test_the_device_builds_the_same_bits():
    for seed in range(8):
        system = minimised(random_system(seed, states=8, edges=16, labels=3))
        pairs = all_pairs(system)
        repeated = np.concatenate([pairs, pairs[:2]])
        with host.interpreted():
            expected = build_on_host(system, repeated, 10**6)
        same(build_on_device(system, repeated, 10**6), expected)


@published.needed
@pytest.mark.parametrize("name", ["peterson_mutex_weak", "vasy_0_1", "vasy_1_4"])
def test_sizes_of_published_games(name):
    """As many moves as gpuequiv counts, for which repeated transitions are several."""
    known, lts = published.expected(name), published.load(name)
    classes = equivalence.bisimulation(lts, engine="host")
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
def test_a_large_game_is_given_up(build):
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
    monkeypatch.setattr(_room, "free_memory", lambda: 5000)
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

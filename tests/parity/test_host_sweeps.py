"""What the host wins by sweeps, against the reference and the verifier."""

import dataclasses

import numpy as np
import pytest
from repeats import some_of
from test_host_attempt import is_right, sparse

from jaxgames import Arena, drive, generate, host, parity
from jaxgames.kept import is_kept
from jaxgames.parity import _problem
from jaxgames.parity import host as engine
from jaxgames.parity._shared import Shared
from jaxgames.parity.host import _sweeps
from jaxgames.solution import NO_EDGE, UNDECIDED, Status


def reversed_numbers(arena):
    """The same game, whose last vertex is the first."""
    last = arena.shape[0] - 1
    return Arena.from_edges(
        last - arena.src,
        last - arena.dst,
        owner=arena.owner[::-1],
        priority=arena.priority[::-1],
    )


def grid(side, seed):
    """Steps to neighbours, of both players; a goal that Even wins has to be reached."""
    rng = np.random.default_rng(seed)
    place = np.arange(side * side).reshape(side, side)
    pairs = [(place[:, :-1], place[:, 1:]), (place[:-1], place[1:])]
    src = np.concatenate([x.ravel() for a, b in pairs for x in (a, b)])
    dst = np.concatenate([x.ravel() for a, b in pairs for x in (b, a)])
    owner, priority = rng.random(side * side) < 0.05, np.ones(side * side, np.int32)
    goal = side * side // 2
    owner[goal], priority[goal] = False, 2
    return Arena.from_edges(src, dst, owner=owner, priority=priority)


@some_of(300, 3000)
def test_games_that_are_swept_to_the_end(count, monkeypatch):
    """However many heads there are, and however little a sweep attracts."""
    monkeypatch.setattr(_sweeps, "FEW_HEADS", 1)
    monkeypatch.setattr(_sweeps, "LITTLE", 10**6)
    won, regions = 0, 0
    for arena in sparse(51, count, (3, 60), 6):
        with host.interpreted():
            found = engine.sweep(arena)
        if found is not None:
            is_right(arena, found.winner, found.move)
            won, regions = won + 1, regions + found.stats["regions"]
    assert won > count / 5
    assert regions > 1.2 * won


@pytest.mark.parametrize(
    "arena",
    [
        generate.propagation_tree(9, 2),
        generate.propagation_tree(6, 3),
        reversed_numbers(generate.propagation_tree(9, 2)),
        generate.propagation_tree(7, 2).pad(300, 600),
        grid(20, 1),
        grid(31, 2),
        generate.hanoi(7),
        generate.hanoi(5).pad(300, 1000),
    ],
    ids=[
        "tree",
        "wide",
        "reversed",
        "padded",
        "grid",
        "larger",
        "hanoi",
        "hanoi-padded",
    ],
)
def test_games_that_a_few_vertices_win(arena):
    found = engine.sweep(arena)
    assert found is not None
    assert found.finished
    is_right(arena, found.winner, found.move)
    assert found.stats["steps"] == arena.num_vertices
    assert np.all(found.move[int(arena.num_vertices) :] == NO_EDGE)
    again = parity.solve(arena, "host")
    np.testing.assert_array_equal(again.strategy, found.move)
    assert not is_kept(arena, "parity rows")


@pytest.mark.parametrize(
    "arena",
    [generate.jurdzinski(8, 20), generate.elevator(3), generate.random_game(1, 3000)],
    ids=["jurdzinski", "elevator", "random"],
)
def test_others_are_given_up(arena):
    """Those with the best priority are not few, or one of them can leave."""
    assert engine.sweep(arena) is None
    found = parity.solve(arena, "host")
    is_right(arena, np.asarray(found.winner), np.asarray(found.strategy))


def dense(seed, count, sizes, loops):
    """Games with many edges, some of them loops, some of these twice or alone."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(*sizes))
        edges = rng.random((size, size)) < rng.choice([0.5, 0.9])
        np.fill_diagonal(edges, rng.random(size) < loops)
        alone = rng.random(size) < 0.1
        edges[alone] = 0
        edges[alone, rng.integers(0, size, alone.sum())] = 1
        edges[alone, np.flatnonzero(alone)] |= rng.random(alone.sum()) < 0.3
        edges[np.arange(size), rng.integers(0, size, size)] = 1
        src, dst = np.nonzero(edges)
        more = np.flatnonzero((src == dst) & (rng.random(len(src)) < 0.5))
        yield Arena.from_edges(
            np.concatenate([src, src[more]]),
            np.concatenate([dst, dst[more]]),
            owner=rng.random(size) < 0.5,
            priority=rng.integers(0, rng.integers(1, 2 * size), size),
        )


@some_of(200, 3000)
@pytest.mark.parametrize("loops", [0.05, 0.5])
def test_dense_games_are_swept_from_loops(loops, count, monkeypatch):
    """Also where few join, and where vertices with loops keep nobody else."""
    monkeypatch.setattr(_sweeps, "LONG_ROWS", 1)
    won, regions = 0, 0
    for arena in dense(7, count, (1, 40), loops):
        with host.interpreted():
            found = engine.sweep(arena)
        if found is not None:
            is_right(arena, found.winner, found.move)
            won, regions = won + 1, regions + found.stats["regions"]
    assert won > count / 3
    assert regions > 1.2 * won


@pytest.mark.parametrize("seed", range(3))
def test_dense_games_with_a_few_loops_are_not_laid_out(seed):
    """No edges by target are made where a few loops win."""
    rng = np.random.default_rng(seed)
    arena = generate.clique(150)
    dst = np.where(
        rng.random(arena.num_edges) < 0.01,
        rng.integers(0, 150, arena.num_edges),
        arena.dst,
    )
    arena = Arena.from_edges(arena.src, dst, owner=arena.owner, priority=arena.priority)
    found = parity.solve(arena, "host")
    is_right(arena, np.asarray(found.winner), np.asarray(found.strategy))
    assert not is_kept(arena, "parity rows")


def test_a_dense_game_of_many_leaders_without_loops_is_given_up():
    arena = generate.clique(150)
    arena = dataclasses.replace(arena, priority=arena.priority // 2 % 2)
    assert engine.sweep(arena) is None


def test_a_game_whose_priorities_have_one_parity():
    arena = generate.random_game(1, 3000)
    arena = dataclasses.replace(arena, priority=arena.priority * 2 + 1)
    found = engine.sweep(arena)
    assert found is not None
    is_right(arena, found.winner, found.move)


def test_what_was_swept_in_vain_is_not_swept_again(monkeypatch):
    """Neither the look that was stopped, nor the short one, has shown anything."""
    arena, vain = generate.elevator(3), "parity swept in vain"
    track = drive.Track()
    track.stop[0] = 1
    _problem.attempted(arena, track, None)
    _problem.attempted(arena, None, arena.shape[0] - 1)
    assert not is_kept(arena, vain)
    first = parity.solve(arena, "host")
    assert is_kept(arena, vain)
    monkeypatch.setattr(engine, "sweep_up", None)
    again = parity.solve(arena, "host")
    np.testing.assert_array_equal(again.strategy, first.strategy)


@pytest.mark.parametrize("player", [0, 1])
def test_what_is_won_by_a_sink_keeps_its_moves(player):
    """A path to a sink, and a cycle whose vertices all have the same priority."""
    path, cycle = np.arange(200), np.arange(200, 300)
    arena = Arena.from_edges(
        np.concatenate([path, path[1:], cycle]),
        np.concatenate([np.maximum(path - 1, 0), path[1:], np.roll(cycle, 1)]),
        owner=np.full(300, player),
        priority=np.repeat([player, 3 - player, 4], [1, 199, 100]),
    )
    found = engine.sweep(arena)
    assert found is not None
    is_right(arena, found.winner, found.move)
    assert found.stats["regions"] == 2


def test_it_is_stopped():
    arena = generate.propagation_tree(9, 2)
    assert engine.sweep(arena, max_steps=arena.shape[0] - 1) is None
    assert engine.sweep(arena, stop=np.ones(1, np.int8)) is None
    assert engine.sweep(arena, max_steps=arena.shape[0]) is not None


def test_it_is_stopped_on_its_way():
    arena = generate.propagation_tree(11, 2)
    state = arena.owner.astype(np.uint8)
    move, queue = np.zeros((2, arena.shape[0]), np.int32)
    state[0] = 2
    stop = np.ones(1, np.int8)
    how = (arena.row_ptr, arena.dst, state, move, queue, 0, 0, stop)
    joined, _, going = _sweeps._go_on(*map(host.lend, how))
    assert (joined, going) == (1, False)  # it looks after each of a few at once
    stop[0], state[:], state[0] = 0, arena.owner, 2
    joined, _, going = _sweeps._go_on(*map(host.lend, how))
    own = np.count_nonzero(state & 2)
    assert own > _sweeps.POLL
    assert (joined, going) == (own, True)


def test_the_host_sweeps_before_it_lets_the_device_ahead(monkeypatch):
    waited = []

    class Waits(drive.Track):
        def let_ahead(self):
            waited.append(True)
            self.stop[0] = self.stops

    def solve(arena, stops):
        waited.clear()
        track = Shared()
        track.__class__ = type("Waits", (Waits, Shared), {"stops": stops})
        return _problem.PROBLEM.on_host(arena, track=track)

    assert solve(generate.propagation_tree(8, 2), 1).status == Status.SOLVED
    assert not waited
    game = generate.random_game(1, 2000, num_priorities=4)
    found = solve(game, 0)
    assert (found.status, waited) == (Status.SOLVED, [True])
    assert parity.verify(game, found)
    # The device has won meanwhile: nothing is begun.
    monkeypatch.setattr(_problem, "rows_for_host", None)
    monkeypatch.setattr(_problem, "for_host", None)
    late = solve(generate.random_game(2, 2000, num_priorities=4), 1)
    assert (late.status, waited) == (Status.INTERRUPTED, [True])
    assert (np.asarray(late.winner) == UNDECIDED).all()

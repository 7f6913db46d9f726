"""Component by component: right, in few calls, and honest about what it left."""

import dataclasses

import numpy as np
import pytest
import undoing

from jaxgames import Arena, Status, generate, host
from jaxgames.parity import preprocess, reference


def never(arena):
    raise AssertionError(f"called for {arena}")


def test_winners_and_strategies():
    for index, arena in enumerate(undoing.arenas(seed=1, count=200)):
        solution = preprocess.by_components(arena, undoing.solve)
        assert solution.status == Status.SOLVED
        undoing.assert_valid(arena, solution.winner, solution.strategy, index)


def clustered(seed, count):
    """Games of many components, some above others."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        parts, size = int(rng.integers(1, 9)), int(rng.integers(1, 7))
        part = np.repeat(np.arange(parts), size)
        src = np.repeat(np.arange(parts * size), 3)
        down = rng.random(len(src)) < 0.2
        into = np.where(down, rng.integers(0, part[src] + 1), part[src])
        yield Arena.from_edges(
            src,
            into * size + rng.integers(0, size, len(src)),
            owner=rng.integers(0, 2, parts * size),
            priority=rng.integers(0, 6, parts * size),
        )


def test_layers_of_components():
    calls = []
    for index, arena in enumerate(clustered(seed=2, count=200)):
        solution = preprocess.by_components(arena, undoing.solve)
        undoing.assert_valid(arena, solution.winner, solution.strategy, index)
        calls.append(solution.stats["calls"])
        assert solution.stats["largest"] <= arena.shape[0]
    assert max(calls) > 1


@pytest.mark.parametrize("player", [0, 1])
def test_what_the_solver_leaves_undecided_stays_so(player):
    """The solver knows one player's region only."""

    def half(arena):
        solution = undoing.solve(arena)
        keep = solution.winner == player
        return dataclasses.replace(
            solution,
            winner=np.where(keep, solution.winner, -1),
            strategy=np.where(keep, solution.strategy, -1),
            status=Status.SOLVED if keep.all() else Status.MAX_STEPS,
        )

    stopped = 0
    for arena in clustered(seed=3, count=150):
        solution = preprocess.by_components(arena, half)
        undoing.assert_partial(arena, solution.winner, solution.strategy)
        assert (solution.status == Status.SOLVED) == (solution.winner != -1).all()
        stopped += solution.status == Status.MAX_STEPS
    assert stopped > 10


def test_strategies_may_be_missing():
    def winners(arena):
        return dataclasses.replace(undoing.solve(arena), strategy=None)

    calls = 0
    for arena in clustered(seed=4, count=50):
        solution = preprocess.by_components(arena, winners)
        np.testing.assert_array_equal(solution.winner, undoing.solve(arena).winner)
        assert (solution.strategy is None) == (solution.stats["calls"] > 0)
        calls += solution.stats["calls"]
    assert calls > 10


def strip(size, owner, priority):
    """Cycles of two vertices, each with an edge down to the next cycle."""
    pair = np.arange(0, size, 2)
    src = np.concatenate([pair, pair + 1, pair[:-1]])
    dst = np.concatenate([pair + 1, pair, pair[1:]])
    return Arena.from_edges(src, dst, owner=owner, priority=priority)


def test_components_of_one_parity_or_owner_need_no_call():
    rng = np.random.default_rng(5)
    size = 20_000 if host.can_compile() else 2000
    one_owner = np.repeat(rng.integers(0, 2, size // 2), 2)
    one_parity = np.repeat(rng.integers(0, 2, size // 2), 2)
    anything = rng.integers(0, 2, size)
    for arena in (
        strip(size, one_owner, rng.integers(0, 9, size)),
        strip(size, anything, one_parity + 2 * rng.integers(0, 4, size)),
        Arena.from_edges(
            np.arange(size),
            np.minimum(np.arange(size) + 1, size - 1),
            owner=anything,
            priority=np.arange(size),
        ),
    ):
        solution = preprocess.by_components(arena, never)
        undoing.assert_valid(arena, solution.winner, solution.strategy)


def test_components_beside_each_other_are_solved_in_one_call():
    arenas = [generate.random_game(seed, 30, num_priorities=6) for seed in range(20)]
    offsets = np.cumsum([0, *(arena.shape[0] for arena in arenas)])
    pairs = list(zip(arenas, offsets[:-1], strict=True))
    arena = Arena.from_edges(
        np.concatenate([a.src + at for a, at in pairs]),
        np.concatenate([a.dst + at for a, at in pairs]),
        owner=np.concatenate([a.owner for a in arenas]),
        priority=np.concatenate([a.priority for a in arenas]),
    )
    alone = [preprocess.by_components(a, reference.solve).stats for a in arenas]
    solution = preprocess.by_components(arena, reference.solve)
    assert max(stats["calls"] for stats in alone) == solution.stats["calls"] > 0
    assert solution.stats["components"] == sum(s["components"] for s in alone)
    undoing.assert_valid(arena, solution.winner, solution.strategy)


def test_padding_stays_apart():
    arena = next(clustered(seed=6, count=1))
    solution = preprocess.by_components(arena.pad(), undoing.solve)
    size = arena.shape[0]
    undoing.assert_valid(arena, solution.winner[:size], solution.strategy[:size])


def test_no_game_is_refused():
    arena = Arena.from_edges([0], [0], owner=[0])
    with pytest.raises(ValueError, match="both None"):
        preprocess.by_components(arena, reference.solve)

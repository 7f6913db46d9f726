"""Games by key: what they are drawn from, and that they are arenas."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, generate
from jaxgames.generate import random_energy_game_by_key, random_game_by_key
from jaxgames.generate._on_device import _ascending, _scaled

GAMES, SIZE = 300, 6

RANGES = [
    {"min_degree": 2, "max_degree": 2},
    {"min_degree": 1, "max_degree": 4, "self_loops": False},
    {"min_degree": 1, "max_degree": 3, "parallel_edges": True},
]


def drawn(make, **how) -> list[Arena]:
    """Many games in one program, valid and without padding."""
    make = functools.partial(make, num_vertices=SIZE, **how)
    stack = jax.jit(jax.vmap(make))(jax.random.split(jax.random.key(5), GAMES))
    stack = jax.device_get(stack)
    games = [jax.tree.map(lambda x, at=at: x[at], stack) for at in range(GAMES)]
    return [game.validate().unpad().validate() for game in games]


def is_even(counts, share: float = 1) -> bool:
    """Whether counts are as even as draws are: 5 standard deviations."""
    counts = np.asarray(counts)
    mean = counts.mean()
    return bool(np.all(abs(counts - mean) < 5 * np.sqrt(mean * share)))


@pytest.mark.parametrize("how", RANGES, ids=["steady", "no loops", "parallel"])
def test_successors_and_degrees_are_uniform(how):
    games = drawn(random_game_by_key, **how)
    degrees, seen = [], np.zeros((SIZE, SIZE), int)
    for game in games:
        assert game.shape == (SIZE, game.num_edges)
        degrees.extend(np.diff(game.row_ptr))
        np.add.at(seen, (game.src, game.dst), 1)
        if not how.get("parallel_edges"):
            pairs = game.src * SIZE + game.dst
            assert np.all(np.diff(pairs) > 0)  # ascending, and each only once
    counts = np.bincount(degrees)
    low, high = how["min_degree"], how["max_degree"]
    assert np.flatnonzero(counts).tolist() == list(range(low, high + 1))
    assert is_even(counts[low:])
    if not how.get("self_loops", True):
        assert not seen.diagonal().any()
        seen = seen[~np.eye(SIZE, dtype=bool)]
    assert is_even(seen)


def test_labels_have_their_shares():
    how = {"num_priorities": 3, "owner_share": 0.25, "min_degree": 2, "max_degree": 2}
    games = drawn(random_game_by_key, **how)
    priorities = np.bincount(np.concatenate([game.priority for game in games]))
    assert len(priorities) == 3
    assert is_even(priorities)
    owned = np.mean([game.owner for game in games])
    assert abs(owned - 0.25) < 5 * np.sqrt(0.25 * 0.75 / (GAMES * SIZE))
    # Owners, priorities and targets have nothing to do with each other.
    first = np.array([game.dst[::2] for game in games]).ravel()
    labels = np.array([game.priority for game in games]).ravel()
    assert abs(np.corrcoef(first, labels)[0, 1]) < 5 / np.sqrt(len(first))


@pytest.mark.parametrize(("share", "owner"), [(0.0, False), (1.0, True)])
def test_all_vertices_of_one_player(share, owner):
    game = random_game_by_key(jax.random.key(1), 20, owner_share=share)
    assert set(np.asarray(game.owner[:20]).tolist()) == {owner}


def test_weights_are_uniform():
    games = drawn(random_energy_game_by_key, min_weight=-2, max_weight=1, max_degree=3)
    weights = np.concatenate([game.weight for game in games])
    assert sorted(set(weights.tolist())) == [-2, -1, 0, 1]
    assert is_even(np.bincount(weights + 2))
    assert games[0].priority is None


def test_a_key_is_a_game():
    one, same, other = (
        random_game_by_key(jax.random.key(seed), 30) for seed in (3, 3, 4)
    )
    assert all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(same)))
    assert not np.array_equal(one.dst, other.dst)


def test_bits_are_scaled_without_64_of_them():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 500, dtype=np.uint32)
    count = rng.integers(1, 2**31, 500, dtype=np.uint32)
    expected = bits.astype(np.uint64) * count >> np.uint64(32)
    found = _scaled(jnp.asarray(bits), jnp.asarray(count))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("width", [1, 5, 20])
def test_rows_are_sorted(width):
    rows = np.random.default_rng(width).integers(0, 9, (width, 30))
    found = _ascending([jnp.asarray(row) for row in rows])
    np.testing.assert_array_equal(np.stack(found), np.sort(rows, axis=0))


def test_what_is_refused():
    key = jax.random.key(0)
    with pytest.raises(ValueError, match=r"possible successors \(2\), got 3"):
        random_game_by_key(key, 3, max_degree=3, self_loops=False)
    with pytest.raises(ValueError, match="max_weight must be from 3 to"):
        random_energy_game_by_key(key, 3, min_weight=3, max_weight=2)
    with pytest.raises(ValueError, match="num_vertices must be at least 1, got 0"):
        random_game_by_key(key, 0)
    assert generate.random_game_by_key is random_game_by_key

import dataclasses
from fractions import Fraction
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxgames import Arena, energy, generate, meanpayoff
from jaxgames.parity import reference as parity_reference

DATA = Path(__file__).parents[3] / "shared/data"


def game(**labels):
    return Arena.from_edges([0, 0, 1, 2, 2], [1, 2, 0, 2, 0], owner=[0, 1, 1], **labels)


def load(name: str, **how) -> tuple[Arena, dict]:
    path = DATA / name
    if not path.exists():
        pytest.skip("the folder of shared data is not there")
    arrays = dict(np.load(path))
    labels = {"weights": "weight", "priority": "priority"}
    labels = {new: arrays[old] for old, new in labels.items() if old in arrays}
    arena = Arena.from_csr(
        arrays["offsets"], arrays["targets"], owner=arrays["owner"], **labels, **how
    )
    return arena, arrays


# ---- parity --------------------------------------------------------------------


def winners(arena: Arena) -> np.ndarray:
    return np.asarray(energy.solve(arena, "host", strategies=False).winner)


@pytest.mark.parametrize("by_component", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_each_player_wins_the_same_in_both_games(seed, by_component):
    rng = np.random.default_rng(seed)
    arena = generate.random_game(
        seed, 3 + 3 * seed, num_priorities=1 + seed, max_degree=3
    )
    if seed % 3 == 0:
        priority = rng.integers(0, 5, arena.shape[1])
        arena = dataclasses.replace(
            arena, priority=None, edge_priority=priority.astype(np.int32)
        )
    got = energy.from_parity(arena, by_component=by_component)
    assert got.priority is None
    assert got.edge_priority is None
    if arena.priority is None:
        expected = parity_reference.solve(split(arena)).winner[: arena.shape[0]]
    else:
        expected = parity_reference.solve(arena).winner
    np.testing.assert_array_equal(winners(got), expected)


def split(arena: Arena) -> Arena:
    """Priorities on a vertex in the middle of each edge."""
    size, edges = arena.shape
    middle = size + np.arange(edges)
    assert arena.edge_priority is not None
    return Arena.from_edges(
        np.concatenate([arena.src, middle]),
        np.concatenate([middle, arena.dst]),
        owner=np.concatenate([arena.owner, np.zeros(edges, bool)]),
        priority=np.concatenate([np.zeros(size, int), arena.edge_priority]),
    )


def test_the_highest_priority_decides_every_cycle():
    arena = generate.random_game(3, 40, num_priorities=9, max_degree=3)
    got = energy.from_parity(arena)
    rng = np.random.default_rng(0)
    for _ in range(200):  # walks until a vertex comes again: simple cycles
        path = [int(rng.integers(40))]
        edges = []
        while path[-1] not in path[:-1]:
            v = path[-1]
            edges.append(int(rng.integers(arena.row_ptr[v], arena.row_ptr[v + 1])))
            path.append(int(arena.dst[edges[-1]]))
        start = path.index(path[-1])
        total = int(got.weight[edges[start:]].sum())
        even = max(arena.priority[path[start:-1]]) % 2 == 0
        assert (total >= 0) == even
        assert total != 0


def test_only_the_component_counts():
    # Two cycles, and an edge from one to the other.
    arena = Arena.from_edges(
        [0, 1, 1, 2], [1, 0, 2, 2], owner=[0, 0, 0], priority=[2, 1, 3]
    )
    assert energy.from_parity(arena).weight.tolist() == [2, -1, 0, -1]
    whole = energy.from_parity(arena, by_component=False)
    assert whole.weight.tolist() == [2, -1, -1, -3]


def test_weights_that_do_not_fit_name_the_component():
    size = 130  # the weights double with each priority
    cycle = np.roll(np.arange(size), -1)
    arena = Arena.from_edges(
        np.arange(size), cycle, owner=[0] * size, priority=np.arange(size)
    )
    with pytest.raises(ValueError, match=r"component 0 .* up to the priority \d+ sum"):
        energy.from_parity(arena)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({}, "either on its vertices or on its edges"),
        ({"priority": [0, 1, 2], "edge_priority": [0] * 5}, "either on its vertices"),
    ],
)
def test_what_is_no_parity_game_has_no_weights(labels, message):
    with pytest.raises(ValueError, match=message):
        energy.from_parity(game(**labels))


def test_padding_stays_padding():
    arena = generate.random_game(1, 20)
    expected = energy.from_parity(arena)
    got = energy.from_parity(arena.pad(64, 256))
    np.testing.assert_array_equal(got.weight[: len(expected.weight)], expected.weight)
    assert not got.weight[len(expected.weight) :].any()


@pytest.mark.parametrize("name", ["elev3f", "elev3u", "hanoi4", "jurdz5_10", "tprop3"])
def test_games_of_verification(name):
    arena, _ = load(f"made/parity/{name}.npz", condition="min even")
    expected = parity_reference.solve(arena).winner
    np.testing.assert_array_equal(winners(energy.from_parity(arena)), expected)


def test_the_published_instance_is_made_again():
    arena, arrays = load("public/energy/ieee1394_prop4.npz")
    row = arena.weight[arena.row_ptr[:-1]]
    parity = dataclasses.replace(
        arena, weight=None, priority=np.where(row < 0, 1, 2).astype(np.int32)
    )
    again = energy.from_parity(parity, by_component=False)
    assert np.unique(again.weight).tolist() == [-1, 5670]
    np.testing.assert_array_equal(again.weight, arena.weight)
    assert arrays["credit"].max() == 0


# ---- mean payoff, and weights of vertices ---------------------------------------


@pytest.mark.parametrize("threshold", [3, (3, 2), (-6, -4), Fraction(-7, 3), (0, 5)])
def test_a_threshold_is_taken_off(threshold):
    arena = game(weight=[4, 9, -1, 1, 0])
    pair = threshold if isinstance(threshold, tuple) else (threshold, 1)
    ratio = Fraction(pair[0]) / pair[1]
    got = energy.from_mean_payoff(arena, threshold).weight
    expected = [ratio.denominator * int(w) - ratio.numerator for w in arena.weight]
    assert got.tolist() == expected
    assert got.dtype == np.int32


def test_arrays_on_a_device_are_counted_in_64_bits_too():
    # JAX has only 32 here, in which 3 * 10**9 - 1 is negative.
    arena = Arena.from_edges([0, 1], [0, 1], owner=[0, 1], weight=[3, -2])
    threshold = Fraction(1, 10**9)
    game = energy.from_mean_payoff(jax.device_put(arena), threshold)
    assert game.weight.tolist() == [3 * 10**9 - 1, -2 * 10**9 - 1]
    found = meanpayoff.decide(jax.device_put(arena), threshold)
    assert found.winner.tolist() == [0, 1]
    # Priorities of many components, which are told apart by their products.
    size, most = 64, 2**31 - 4
    loops = Arena.from_edges(
        range(size), range(size), owner=[0] * size, priority=[most, most - 1] * 32
    )
    for one in (loops, jax.device_put(loops)):
        assert energy.from_parity(one).weight.tolist() == [1, -1] * 32


def test_wide_numbers():
    arena = game(weight=[2**61, 2**61 - 1, 2**61 + 5, 2**61, 2**61])
    got = energy.from_mean_payoff(arena, (3 * 2**61 + 1, 3)).weight
    assert got.tolist() == [-1, -4, 14, -1, -1]
    wider = energy.from_mean_payoff(arena, (3, 7)).weight
    assert wider.tolist() == [7 * int(w) - 3 for w in arena.weight]
    assert wider.dtype == object
    far = energy.from_mean_payoff(game(weight=[2**62, 5, 0, 1, 2]), (2**63, 3))
    assert far.weight.tolist() == [3 * w - 2**63 for w in (2**62, 5, 0, 1, 2)]
    far = energy.from_mean_payoff(game(weight=[0] * 5), 2**62 - 1)
    assert far.weight.tolist() == [1 - 2**62] * 5


@pytest.mark.parametrize("threshold", [1.5, (1, 0), (1, 2, 3), "1/2", None, (1.0, 2)])
def test_what_is_no_threshold(threshold):
    with pytest.raises(ValueError, match="threshold must be an integer, a Fraction"):
        energy.from_mean_payoff(game(weight=[1] * 5), threshold)


def test_a_mean_needs_weights():
    with pytest.raises(ValueError, match="weight is None"):
        energy.from_mean_payoff(game(), 0)


def test_weights_of_vertices():
    got = energy.vertex_weights(game(), [-2, 3, 2**40])
    assert got.weight.tolist() == [-2, -2, 3, 2**40, 2**40]
    assert energy.vertex_weights(game(), [1, 2, 3]).weight.dtype == np.int32
    with pytest.raises(ValueError, match=r"one entry for each vertex, shape \(3,\)"):
        energy.vertex_weights(game(), [1, 2])
    with pytest.raises(ValueError, match="signed integers, got float64"):
        energy.vertex_weights(game(), [1.0, 2.0, 3.0])

"""Energy families against known games, their definitions and closed forms."""

from pathlib import Path

import numpy as np
import pytest

from jaxgames import energy, generate
from jaxgames.energy import reference

MADE = Path(__file__).parents[3] / "shared/data/made/energy"

SMALL = {"min_degree": 1, "max_degree": 3}
KNOWN = {
    **{f"hanoi_{n}": lambda n=n: generate.hanoi_energy_game(n) for n in (3, 5, 8, 10)},
    **{
        f"rand_n10_W5_s{s}": lambda s=s: random_game(s, 10, 5, **SMALL)
        for s in (0, 1, 2)
    },
    **{f"rand_n100_W20_s{s}": lambda s=s: random_game(s, 100, 20) for s in (0, 1)},
    "rand_n1000_W100_s7": lambda: random_game(7, 1000, 100),
    "rand_n1000_W10000_s7": lambda: random_game(7, 1000, 10_000),
    "rand_n1000_W2p40": lambda: random_game(11, 1000, 2**40),
    "rand_n1000_allwin": lambda: random_game(5, 1000, 16, min_weight=-4),
    "rand_n1000_alllose": lambda: random_game(5, 1000, 4, min_weight=-16),
    "rand_n1e4_W100_s7": lambda: random_game(7, 10_000, 100),
    "rand_n1e5_W10_s7": lambda: random_game(7, 100_000, 10),
}


def random_game(seed, size, weight, **options):
    options = {"min_weight": -weight, "max_weight": weight} | options
    return generate.random_energy_game(seed, size, **options)


@pytest.mark.skipif(not MADE.is_dir(), reason="the folder of energy games is not there")
@pytest.mark.parametrize("name", KNOWN)
def test_same_game_as_made_elsewhere(name):
    arena = KNOWN[name]().validate()
    with np.load(MADE / f"{name}.npz") as file:
        np.testing.assert_array_equal(arena.row_ptr, file["offsets"])
        np.testing.assert_array_equal(arena.dst, file["targets"])
        np.testing.assert_array_equal(arena.weight, file["weights"])
        np.testing.assert_array_equal(arena.owner, file["owner"])


@pytest.mark.parametrize("disks", [1, 2, 3, 6])
def test_hanoi_has_its_credits_in_closed_form(disks):
    arena = generate.hanoi_energy_game(disks)
    solution = reference.solve(arena)
    # Breadth first from the goal.
    goal, distance = (3**disks - 1) // 2, {}
    layer, steps = {goal}, 0
    while layer:
        distance |= dict.fromkeys(layer, steps)
        layer = {int(u) for v in layer for u in neighbours(v, disks)} - set(distance)
        steps += 1
    expected = [1 + distance[v] for v in range(3**disks)] + [0, -1]
    assert solution.credit.tolist() == expected
    assert max(expected) == 2**disks


def neighbours(state, disks):
    """Configurations one legal move away."""
    pegs = [state // 3**disk % 3 for disk in range(disks)]
    for disk, peg in enumerate(pegs):
        for other in {0, 1, 2} - {peg}:
            if peg not in pegs[:disk] and other not in pegs[:disk]:
                yield state + (other - peg) * 3**disk


def test_the_ring_needs_what_its_sums_fall():
    arena = generate.ring_energy_game(3, 50, min_weight=-9, max_weight=10)
    assert arena.weight.sum() >= 0
    around = np.concatenate([arena.weight, arena.weight])
    falls = [max(0, -np.cumsum(around[v : v + 50]).min()) for v in range(50)]
    assert reference.solve(arena).credit.tolist() == falls
    lost = generate.ring_energy_game(3, 50, min_weight=-10, max_weight=9)
    assert lost.weight.sum() < 0
    assert np.all(reference.solve(lost).winner == 1)


def test_shapes():
    torus = generate.torus_energy_game(0, 3, 4)
    assert torus.successors(11).tolist() == [8, 3]
    both = generate.torus_energy_game(0, 3, 4, both_ways=True)
    assert both.successors(0).tolist() == [1, 4, 3, 8]
    dense = generate.dense_energy_game(0, 5, min_weight=2, max_weight=2)
    assert dense.shape == (5, 25)
    assert set(dense.weight.tolist()) == {2}
    for player in (0, 1):
        game = generate.one_player_energy_game(1, 30, player=player)
        assert set(game.owner.tolist()) == {bool(player)}
    tilted = generate.random_energy_game(1, 2000, owner_share=0.1)
    assert 100 < tilted.owner.sum() < 300


@pytest.mark.parametrize(("backlog", "darkness"), [(0, 0), (0, 2), (1, 3), (3, 2)])
def test_the_solar_device_is_as_described(backlog, darkness):
    costs = {0: 1, 1: 3, 2: 7}
    arena = generate.solar_energy_game(
        backlog, darkness, harvest=9, sleep=1, slow=3, fast=7
    ).validate()
    names = [(q, k, 1) for q in range(backlog + 1) for k in range(darkness + 1)]
    names += [(q, k, 0) for q in range(backlog + 2) for k in range(darkness + 1)]
    number = {name: v for v, name in enumerate(names)}
    assert arena.shape[0] == len(names)
    for v, (waiting, dark, owner) in enumerate(names):
        assert arena.owner[v] == owner
        expected = []
        if owner:
            for task in (0, 1):
                expected.append((number[waiting + task, 0, 0], 0))
                if dark < darkness:
                    expected.append((number[waiting + task, dark + 1, 0], 0))
        else:
            for served, cost in costs.items():
                if 0 <= waiting - served <= backlog:
                    gain = (9 if dark == 0 else 0) - cost
                    expected.append((number[waiting - served, dark, 1], gain))
        edges = slice(arena.row_ptr[v], arena.row_ptr[v + 1])
        found = zip(
            arena.dst[edges].tolist(), arena.weight[edges].tolist(), strict=True
        )
        assert list(found) == expected


def test_a_battery_for_the_solar_device():
    """Waiting tasks can be put off until the sun shines: the battery may be smaller."""
    sizes = []
    for backlog in (0, 2, 4):
        arena = generate.solar_energy_game(backlog, 3)
        enough = [
            c for c in range(20) if energy.solve_with_capacity(arena, c).credit[0] >= 0
        ]
        sizes.append(enough[0])
        assert enough == list(range(enough[0], 20))
    assert sizes[0] > sizes[-1] > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: random_game(0, 0, 5), "num_vertices must be at least 1, got 0"),
        (lambda: random_game(0, 5, -1), "max_weight must be from 1 to .* got -1"),
        (lambda: random_game(0, 5, 5, min_degree=3, max_degree=2), "max_degree must"),
        (
            lambda: generate.one_player_energy_game(0, 5, player=2),
            "player must be from",
        ),
        (lambda: generate.solar_energy_game(-1, 5), "backlog must be at least 0"),
        (lambda: generate.solar_energy_game(1, 1, slow=-2), "slow must be from 0"),
        (lambda: generate.dense_energy_game(0, 10**6), "is too large"),
        (lambda: generate.torus_energy_game(0, 3, 0), "columns must be at least 1"),
        (lambda: generate.ring_energy_game(-1, 3), "seed must be at least 0"),
        (lambda: generate.hanoi_energy_game(19), "disks must be from 1 to 18, got 19"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

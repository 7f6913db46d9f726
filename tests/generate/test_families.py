"""The families against their definitions, their known sizes and winners."""

import colour_refinement
import jax
import numpy as np
import pytest
import textbook_families

from jaxgames import Arena, generate
from jaxgames.parity import reference

SMALL = [
    *[("clique", (n,), {}) for n in (2, 3, 4, 7)],
    *[("clique", (n,), {"self_loops": True}) for n in (1, 2, 5)],
    *[("ladder", (n,), {}) for n in (1, 2, 3, 8)],
    *[("recursive_ladder", (n,), {}) for n in (1, 2, 3, 4, 7)],
    *[("model_checker_ladder", (n,), {}) for n in (1, 2, 5)],
    *[("jurdzinski", (d, w), {}) for d, w in [(1, 1), (1, 3), (3, 1), (2, 2), (4, 5)]],
    *[("hanoi", (n,), {}) for n in (1, 2, 3, 5)],
    *[
        ("elevator", (n,), {"fair": fair})
        for n in (1, 2, 3, 4)
        for fair in (True, False)
    ],
]
MIN_PARITY = [
    *[("propagation", s, 4) for s in [(1, 1), (1, 4), (3, 1), (4, 3), (5, 6)]],
    *[("propagation_tree", s, 2) for s in [(1, 1), (1, 3), (4, 1), (3, 2), (3, 4)]],
]


def assert_same_game(arena, game, restate=lambda priority: priority):
    number = {name: v for v, name in enumerate(game)}
    assert arena.shape == (len(game), sum(len(s) for _, _, s in game.values()))
    for v, (owner, priority, successors) in enumerate(game.values()):
        assert arena.owner[v] == owner
        assert arena.priority[v] == restate(priority)
        assert sorted(arena.successors(v)) == sorted(number[s] for s in successors)


@pytest.mark.parametrize(("family", "sizes", "options"), SMALL)
def test_family_is_as_defined(family, sizes, options):
    arena = generate.FAMILIES[family](*sizes, **options)
    game = getattr(textbook_families, family)(*sizes, **options)
    assert_same_game(arena.validate(), game)


@pytest.mark.parametrize(("family", "sizes", "even"), MIN_PARITY)
def test_min_parity_family_is_as_defined(family, sizes, even):
    arena = generate.FAMILIES[family](*sizes)
    game = getattr(textbook_families, family)(*sizes)
    assert_same_game(arena.validate(), game, restate=lambda p: even - p)


# Bootsma's Table 8.1: vertices, edges, least and largest out-degree, priorities.
TABLE = {
    "elev7f": (lambda: generate.elevator(7), 861_780, 1_431_610, 1, 8, 3),
    "elev7u": (lambda: generate.elevator(7, fair=False), 876_780, 2_484_252, 1, 8, 3),
    "hanoi12": (lambda: generate.hanoi(12), 531_443, 1_594_321, 1, 3, 2),
    "jurdz5_10": (lambda: generate.jurdzinski(5, 10), 170, 429, 1, 7, 12),
    "prop50_1k": (lambda: generate.propagation(50, 1000), 50_003, 100_002, 1, 50, 5),
    "tprop21": (
        lambda: generate.propagation_tree(22, 2),
        4_194_305,
        8_388_607,
        1,
        3,
        3,
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_published_counts(name):
    make, *expected = TABLE[name]
    arena = make()
    degree = np.diff(arena.row_ptr)
    priorities = np.count_nonzero(np.bincount(arena.priority))
    assert [*arena.shape, degree.min(), degree.max(), priorities] == expected


@pytest.mark.parametrize("n", [1, 2, 3, 6, 11])
def test_sizes_of_docstrings(n):
    assert generate.clique(n + 1).shape == (n + 1, n * (n + 1))
    assert generate.clique(n, self_loops=True).shape == (n, n * n)
    assert generate.ladder(n).shape == (2 * n, 4 * n)
    assert generate.recursive_ladder(n).shape == (5 * n, 11 * n - 3)
    assert generate.model_checker_ladder(n).shape == (3 * n + 1, 4 * n + 1)
    for m in (1, 4):
        assert generate.jurdzinski(n, m).shape == (
            (3 * n + 2) * m,
            (8 * n + 4) * m - 2 * n - 1,
        )
        assert generate.propagation(n, m).shape == (n * m + 3, 2 * n * m + 2)
    nodes = sum(3**level for level in range(n))
    assert n > 6 or generate.propagation_tree(n, 3).shape == (nodes + 2, 2 * nodes + 1)
    assert generate.propagation_tree(n, 1).shape == (n + 2, 2 * n + 1)
    assert n > 6 or generate.hanoi(n).shape == (3**n + 2, 3 ** (n + 1) - 2)


def winners(arena):
    return reference.solve(arena).winner


@pytest.mark.parametrize("n", [4, 5, 8, 9])
def test_everybody_wins_the_own_vertices_of_a_clique_and_a_ladder(n):
    for arena in (generate.clique(n), generate.clique(n - 2, self_loops=True)):
        np.testing.assert_array_equal(winners(arena), arena.owner)
    for arena in (generate.ladder(n), generate.ladder(n - 3)):
        np.testing.assert_array_equal(winners(arena), arena.owner)


@pytest.mark.parametrize("n", range(1, 9))
def test_one_player_wins_a_whole_ladder(n):
    assert np.all(winners(generate.recursive_ladder(n)) == (n + 1) % 2)
    assert np.all(winners(generate.model_checker_ladder(n)) == 0)


@pytest.mark.parametrize("size", [(1, 1), (1, 4), (3, 2), (4, 5)])
def test_winners_of_the_published_games(size):
    _, width = size
    jurdzinski = winners(generate.jurdzinski(*size))
    assert np.all(jurdzinski[: -2 * width] == 0)
    assert np.all(jurdzinski[-2 * width :] == 1)
    assert np.all(winners(generate.propagation(*size)) == 0)
    assert np.all(winners(generate.propagation_tree(*size)) == 0)


@pytest.mark.parametrize("disks", [1, 2, 3, 6])
def test_hanoi_is_won_in_time(disks):
    arena = generate.hanoi(disks)
    winner = winners(arena)
    assert np.all(winner[:-1] == 0)
    assert winner[-1] == 1
    moves, reached = 0, np.zeros(arena.shape[0], bool)
    reached[3**disks] = True
    while not reached[:-1].all():
        reached[arena.src[reached[arena.dst]]] = True
        moves += 1
    assert moves == 2**disks


@pytest.mark.parametrize("floors", [1, 2, 3, 4])
def test_only_a_fair_elevator_serves_the_top_floor(floors):
    assert winners(generate.elevator(floors))[0] == 0
    assert winners(generate.elevator(floors, fair=False))[0] == (floors > 1)


def test_a_generated_game_is_a_pytree_of_numpy_arrays():
    assert all(
        isinstance(x, (np.ndarray, np.generic))
        for x in jax.tree.leaves(generate.hanoi(2))
    )


def test_fingerprint_sees_the_graph_and_not_the_numbering():
    arena = generate.jurdzinski(2, 3)
    new = np.random.default_rng(0).permutation(arena.shape[0])
    owner, priority = np.empty_like(arena.owner), np.empty_like(arena.priority)
    owner[new], priority[new] = arena.owner, arena.priority

    def renumbered(dst):
        return colour_refinement.fingerprint(
            Arena.from_edges(new[arena.src], new[dst], owner=owner, priority=priority)
        )

    original = colour_refinement.fingerprint(arena)
    np.testing.assert_array_equal(renumbered(arena.dst), original)
    swapped = arena.dst.copy()  # two edges exchange their targets: same degrees
    a, b = np.flatnonzero(arena.owner[arena.src] == 0)[[0, 5]]
    swapped[[a, b]] = swapped[[b, a]]
    assert not np.array_equal(renumbered(swapped), original)

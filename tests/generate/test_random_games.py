"""Random games: ranges, sets, distributions, seeds."""

import collections
import functools
import itertools

import numpy as np
import pytest

from jaxgames import generate


def successor_sets(arena):
    return [arena.successors(v).tolist() for v in range(arena.shape[0])]


def same(a, b):
    return all(
        np.array_equal(getattr(a, x), getattr(b, x))
        for x in ("row_ptr", "dst", "owner", "priority")
    )


one_cluster = functools.partial(generate.clustered_game, depth=0)


@pytest.mark.parametrize("make", [generate.random_game, generate.clustered_game])
def test_the_seed_decides(make):
    assert same(make(7, 200), make(7, 200))
    assert not same(make(7, 200), make(8, 200))
    assert same(make(7, 200), make(np.random.default_rng(7), 200))
    rng = np.random.default_rng(7)
    assert not same(make(rng, 200), make(rng, 200))


@pytest.mark.parametrize("make", [generate.random_game, one_cluster])
def test_labels_and_degrees_fill_their_ranges(make):
    arena = make(
        0, 3000, num_priorities=5, min_degree=2, max_degree=6, owner_share=0.25
    ).validate()
    assert set(arena.priority.tolist()) == set(range(5))
    counts = np.bincount(np.diff(arena.row_ptr), minlength=7)
    assert not counts[:2].any()
    assert np.all(counts[2:7] > 400)  # 600 expected of each
    assert abs(arena.owner.mean() - 0.25) < 0.05
    assert make(0, 50, owner_share=0).owner.sum() == 0
    assert make(0, 50, owner_share=1).owner.sum() == 50


def test_as_many_priorities_as_vertices():
    arena = generate.random_game(0, 10_000, num_priorities=10_000)
    # A share 1 - 1/e of the values is expected to occur.
    assert abs(len(np.unique(arena.priority)) / 10_000 - 0.632) < 0.02


@pytest.mark.parametrize("self_loops", [True, False])
def test_every_set_of_successors_is_equally_likely(self_loops):
    rng = np.random.default_rng(1)
    games, size, degree = 4000, 5, 2
    seen = collections.Counter()
    for _ in range(games):
        arena = generate.random_game(
            rng, size, min_degree=degree, max_degree=degree, self_loops=self_loops
        )
        seen.update((v, *s) for v, s in enumerate(successor_sets(arena)))
    possible = [
        (v, *pair)
        for v in range(size)
        for pair in itertools.combinations(range(size), degree)
        if self_loops or v not in pair
    ]
    assert set(seen) == set(possible)
    expected = games * size / len(possible)
    excess = sum((n - expected) ** 2 for n in seen.values()) / expected
    freedom = len(possible) - size  # each vertex's counts have a known sum
    assert excess < freedom + 4 * np.sqrt(2 * freedom)


@pytest.mark.parametrize(("size", "degree"), [(1, 1), (2, 2), (30, 30), (200, 150)])
def test_degrees_up_to_all_vertices(size, degree):
    arena = generate.random_game(3, size, min_degree=degree, max_degree=degree)
    for successors in successor_sets(arena):
        assert len(set(successors)) == degree
        assert successors == sorted(successors)


def test_no_self_loops():
    arena = generate.random_game(0, 5, min_degree=4, max_degree=4, self_loops=False)
    assert successor_sets(arena) == [[w for w in range(5) if w != v] for v in range(5)]


def test_parallel_edges_only_where_allowed():
    def repeats(**options):
        arena = generate.random_game(0, 40, min_degree=9, max_degree=9, **options)
        assert arena.shape == (40, 360)
        return sum(len(s) - len(set(s)) for s in successor_sets(arena))

    assert repeats() == 0
    assert repeats(parallel_edges=True) > 0
    alone = generate.random_game(0, 1, min_degree=3, max_degree=3, parallel_edges=True)
    assert successor_sets(alone) == [[0, 0, 0]]


def full_clusters(seed, size, **options):
    """A game where a vertex leads to its whole cluster."""
    return generate.clustered_game(
        seed, size, min_degree=size, max_degree=size, **options
    )


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_clusters_are_intervals_cut_in_parts(depth):
    arena = full_clusters(5, 400, depth=depth, breadth=4, links=0)
    clusters = {tuple(s) for s in successor_sets(arena)}
    # They partition the vertices, and each vertex lies in its own.
    assert sorted(itertools.chain(*clusters)) == list(range(400))
    assert all(list(c) == list(range(c[0], c[-1] + 1)) for c in clusters)
    assert all(v in s for v, s in enumerate(successor_sets(arena)))
    # Every cut adds three clusters; only those below four vertices stay whole.
    assert (len(clusters) - 1) % 3 == 0
    if depth < 3:
        assert len(clusters) == 4**depth
    else:
        assert 16 < len(clusters) <= 64


def test_small_clusters_stay_whole():
    arena = full_clusters(0, 5, depth=3, breadth=8)
    assert successor_sets(arena) == [list(range(5))] * 5


@pytest.mark.parametrize("seed", range(5))
def test_links_are_few_and_no_edge_is_double(seed):
    options = {"depth": 2, "breadth": 3, "min_degree": 2, "max_degree": 2}
    linked = generate.clustered_game(seed, 60, links=5, **options)
    assert all(len(s) == len(set(s)) for s in successor_sets(linked))
    within = np.minimum(2, [len(s) for s in successor_sets(linked)]).sum()
    assert 0 < linked.shape[1] - within <= 5 * (1 + 3)


def test_many_links_in_one_cluster_fill_it():
    arena = generate.clustered_game(0, 4, depth=1, breadth=2, links=1000)
    assert sorted(map(sorted, successor_sets(arena))) == [[0, 1, 2, 3]] * 4

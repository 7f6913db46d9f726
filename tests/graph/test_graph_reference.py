"""The textbook against closures, and against the engine on the host."""

import numpy as np
import odd_graphs

from jaxgames import graph
from jaxgames.graph import host, reference


def test_components_and_searches_against_closure():
    for masked in odd_graphs.graphs(seed=0, count=150):
        arena, vertices, edges = masked
        there = {"vertices": vertices, "edges": edges}
        count, labels = reference.scc(arena, **there)
        np.testing.assert_array_equal(labels, masked.labels)
        assert labels.dtype == np.int32
        assert count == masked.labels.max(initial=-1) + 1
        start = np.arange(arena.shape[0]) == 0
        expected = (masked.reach[:1].any(0), masked.reach[:, :1].any(1))
        for search in (reference.reachable, host.reachable):
            for backward, known in enumerate(expected):
                found = search(arena, start, backward=bool(backward), **there)
                np.testing.assert_array_equal(found, known)


def test_components_come_after_those_that_they_lead_to():
    for arena, vertices, edges in odd_graphs.graphs(seed=3, count=50):
        there = {"vertices": vertices, "edges": edges}
        number, members, begins = reference.closing_order(arena, **there)
        fast, _, ends = host.closing_order(arena, **there)
        assert len(begins) == len(ends)
        np.testing.assert_array_equal(np.diff(number[members]) >= 0, True)
        np.testing.assert_array_equal(np.bincount(number[members]), np.diff(begins))
        keep = (number[arena.src] >= 0) & (number[arena.dst] >= 0)
        keep &= True if edges is None else edges
        assert (number[arena.src] >= number[arena.dst])[keep].all()
        # The same components, perhaps in another order.
        assert len(
            {*zip(number.tolist(), fast.tolist(), strict=True)} - {(-1, -1)}
        ) == (len(begins) - 1)


def test_the_checks_of_textbook_and_engine_agree():
    rng, seen = np.random.default_rng(0), set()
    for masked in odd_graphs.graphs(seed=4, count=300):
        labels = masked.labels.copy()
        if len(labels) and rng.random() < 0.8:
            v, w = rng.integers(len(labels), size=2)
            labels[v] = rng.choice([-2, -1, labels[w], labels.max() + 1])
        there = {"vertices": masked.vertices, "edges": masked.edges}
        found = reference.verify(masked.arena, labels, **there)
        fast = host.verify(masked.arena, labels, **there)
        assert bool(found) == np.array_equal(labels, masked.labels)
        assert found.reason == fast.reason, (str(found), str(fast))
        seen.add(int(found.reason))
    assert seen == {*map(int, graph.Reason)} - {graph.Reason.WRONG_COUNT}

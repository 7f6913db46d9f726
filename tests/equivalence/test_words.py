"""Words alone: what tells processes apart without a game, for systems too large for it.

The processes that can do a word are those with a first step to one that can do the
rest: a set of words makes classes, and no two processes of different classes have the
same traces: as many classes as bisimilarity has prove that all notions between agree.
"""

from collections import deque

import numpy as np
import pytest

from jaxgames import equivalence
from jaxgames.io import LTS
from tests.equivalence import published


def classes_by_words(lts: LTS, enough: int) -> int:
    """How many classes words make, shorter words first, until these are enough."""
    label, size = np.asarray(lts.label), lts.arena.num_vertices
    source, target = np.asarray(lts.arena.src), np.asarray(lts.arena.dst)
    steps = [(source[label == a], target[label == a]) for a in np.unique(label)]
    every = np.ones(size, bool)
    queue, seen = deque([every]), {np.packbits(every).tobytes()}
    classes, count = np.zeros(size, np.int64), 1
    while queue and count < enough:
        rest = queue.popleft()
        for begin, end in steps:
            able = np.zeros(size, bool)
            able[begin[rest[end]]] = True
            key = np.packbits(able).tobytes()
            if key in seen:
                continue
            seen.add(key)
            queue.append(able)
            _, classes = np.unique(2 * classes + able, return_inverse=True)
            count = int(classes.max()) + 1
    return count


def test_words_make_the_classes_of_traces():
    # a.(b + c), and a.b + a.c with the same traces: 0 and 1; both differ from the rest.
    edges = [(0, "a", 2), (2, "b", 3), (2, "c", 3), (1, "a", 4), (1, "a", 5)]
    edges += [(4, "b", 3), (5, "c", 3)]
    lts = published.of_transitions([[p, q, a] for p, a, q in edges])
    traces = equivalence.relation(lts, "traces").labels
    assert classes_by_words(lts, 100) == len(np.unique(traces)) == 5
    assert traces[0] == traces[1]


@published.needed
@pytest.mark.parametrize(
    "name",
    [
        *("peterson_mutex", "vasy_0_1", "vasy_1_4"),
        pytest.param("cwi_1_2", marks=pytest.mark.sweep),
    ],
)
def test_words_make_as_many_classes_as_are_known(name):
    lts = published.load(name)
    found = equivalence.relation(lts, "traces").count
    assert classes_by_words(lts, 10**6 if name == "peterson_mutex" else found) == found


@published.needed
@pytest.mark.sweep
def test_words_tell_all_that_is_not_bisimilar_apart_in_vasy_18_73():
    lts = published.load("vasy_18_73")
    classes = equivalence.bisimulation(lts).count
    assert classes_by_words(lts, classes) == classes == 4087

"""Each notion on pairs of processes that tell it from those next to it.

What holds is decided by the definitions of the reference, which knows no budgets.
"""

import pytest
from small_systems import system

from jaxgames import equivalence
from jaxgames.equivalence import NOTIONS, System, reference
from jaxgames.io import LTS

APART = {
    ("enabledness", "traces"): "0 a 2, 1 a 3, 2 a 3",
    ("traces", "failures"): "1 a 2",
    ("traces", "simulation"): "0 b 2, 1 b 3, 1 b 4, 2 a 4, 2 b 3, 3 a 4, 4 b 3",
    ("failures", "revivals"): "0 a 2, 1 a 3, 1 a 4, 2 b 4, 3 a 4, 3 b 4",
    ("failures", "impossible_futures"): "0 a 3, 1 a 2, 1 a 3, 2 a 3",
    ("revivals", "readiness"): "0 b 2, 1 b 3, 1 b 4, 2 a 4, 2 b 3, 3 a 4, 4 b 3",
    ("revivals", "failure_traces"): ("0 b 4, 1 b 2, 1 b 3, 2 a 4, 2 b 3, 3 a 2, 4 a 4"),
    ("readiness", "readiness_traces"): (
        "0 b 4, 1 b 2, 1 b 3, 2 a 4, 2 b 3, 3 a 2, 4 a 4"
    ),
    ("readiness", "possible_futures"): "0 a 3, 1 a 2, 1 a 3, 2 a 3",
    ("failure_traces", "readiness_traces"): (
        "0 b 2, 1 b 3, 1 b 4, 2 a 4, 2 b 3, 3 a 4, 4 b 3"
    ),
    ("readiness_traces", "ready_simulation"): (
        "0 a 2, 1 a 3, 1 a 4, 2 a 4, 2 a 5, 3 a 4, 4 a 5"
    ),
    ("impossible_futures", "possible_futures"): (
        "0 a 2, 0 a 3, 1 a 2, 1 a 4, 2 a 3, 2 a 4, 3 a 4"
    ),
    ("possible_futures", "nested_2simulation"): (
        "0 a 2, 1 a 3, 1 a 4, 2 a 4, 2 a 5, 3 a 4, 4 a 5"
    ),
    ("simulation", "ready_simulation"): "1 a 2",
    ("ready_simulation", "nested_2simulation"): "0 a 3, 1 a 2, 1 a 3, 2 a 3",
    ("nested_2simulation", "bisimulation"): "0 a 2, 1 a 2, 1 a 3, 2 a 3",
}
"""For a notion and one that is next finer: 0 is below 1 by the first alone."""

DEEPER = [
    "0 a 3, 1 a 2, 1 a 3, 2 a 3, 3 a 4",
    "0 a 2, 0 a 3, 1 a 2, 1 a 4, 1 a 5, 2 a 3, 2 a 4, 3 a 4, 4 a 5",
    "0 a 3, 1 a 2, 1 a 3, 2 a 4, 3 a 4, 3 a 5, 4 a 5",
    "0 a 3, 1 a 2, 1 a 4, 1 b 3, 2 b 3, 3 a 5, 3 b 4, 4 a 5, 4 b 5",
]
"""Pairs that a budget would not tell apart if it had a limit where it has none."""


def written(transitions: str) -> LTS:
    return system(*transitions.split(", "), states=6)


@pytest.mark.parametrize(("coarse", "fine"), APART, ids="-".join)
def test_by_definition_a_pair_tells_the_next_finer_notion_apart(coarse, fine):
    rows = reference.rows_of(System.of(written(APART[coarse, fine])))
    assert reference.preorder(rows, coarse)[0, 1]
    assert not reference.preorder(rows, fine)[0, 1]


def test_all_notions_that_are_next_to_each_other_are_told_apart():
    assert set(equivalence.covers()) == set(APART)


def test_each_notion_is_what_its_definition_says():
    systems = [written(transitions) for transitions in [*APART.values(), *DEEPER]]
    whole, first = equivalence.union(systems)
    pairs = [(p, p + 1) for p in first.tolist()]
    compared = equivalence.compare_many(whole, pairs)
    for one, found in zip(systems, compared, strict=True):
        rows = reference.rows_of(System.of(one))
        below = {notion: reference.preorder(rows, notion) for notion in NOTIONS}
        expected = {
            notion: (bool(holds[0, 1]), bool(holds[1, 0]))
            for notion, holds in below.items()
        }
        assert {notion: found[notion][:2] for notion in NOTIONS} == expected

"""What checks comparisons and classes: it takes what is right, and nothing else."""

import numpy as np
import pytest

from jaxgames import equivalence
from jaxgames.equivalence import NOTIONS, Reason, System, reference, verify
from jaxgames.io import LTS
from jaxgames.solution import Status
from tests.equivalence.small_systems import COFFEE, random_system


def _classes(lts, notion):
    """By the definition."""
    below = reference.preorder(reference.rows_of(System.of(lts)), notion)
    return np.argmax(below & below.T, axis=1)


@pytest.mark.parametrize("seed", range(6))
def test_classes_by_the_definitions_are_right_and_others_wrong(seed):
    lts = random_system(seed)
    draw = np.random.default_rng(seed)
    for notion in NOTIONS:
        right = _classes(lts, notion)
        assert verify(lts, right, notion)
        wrong = right.copy()
        wrong[draw.integers(lts.num_states)] = draw.integers(lts.num_states)
        same = (wrong[:, None] == wrong) == (right[:, None] == right)
        verdict = verify(lts, wrong, notion)
        assert bool(verdict) == bool(same.all())
        if not verdict:
            # The state that is named is in a wrong place.
            v = int(verdict.vertex)
            assert not same[v].all()
            together = verdict.reason == Reason.NOT_EQUIVALENT
            first = wrong == wrong[v]
            assert (right[first] != right[v]).any() == together or not together


@pytest.mark.parametrize("seed", range(4))
def test_comparisons_are_right(seed):
    lts = random_system(seed)
    for find in (equivalence.compare, equivalence.compare_weak):
        for p in range(lts.num_states):
            assert verify(lts, find(lts, 0, p))
    assert verify(lts, equivalence.spectrum(lts))


def test_a_comparison_of_others_is_wrong():
    found = equivalence.compare(COFFEE, 0, 2)
    other = equivalence.union([COFFEE])[0]
    assert verify(other, found)
    found.p = 1  # the formulas are about coins
    assert verify(COFFEE, found).reason == Reason.NO_WITNESS
    found = equivalence.compare(COFFEE, 9, 9)
    found.p = 0
    assert verify(COFFEE, found).reason == Reason.NOT_EQUIVALENT


def test_wrong_budgets_are_seen():
    found = equivalence.compare(COFFEE, 0, 2)
    assert found._solved is not None
    front = found._solved.fronts
    spoilt = front.offsets, np.asarray(front.points) + 1
    found._solved = found._solved._replace(fronts=spoilt)
    assert verify(COFFEE, found).reason == Reason.WRONG_BUDGETS


def test_a_long_chain_is_split_step_by_step():
    size = 20_000
    chain = np.arange(size)
    lts = LTS.from_edges(chain, ["a"] * size, chain + 1)
    assert verify(lts, [*chain.tolist(), size])
    assert verify(lts, np.append(chain, 0)).reason == Reason.NOT_EQUIVALENT


def test_bad_input_is_told():
    with pytest.raises(ValueError, match=r"must hold integers of shape \(10,\)"):
        verify(COFFEE, [0])
    with pytest.raises(ValueError, match="no notion is called 'x'"):
        verify(COFFEE, [0] * 10, "x")
    stopped = equivalence.Classes(Status.MAX_STEPS, labels=[-1] * 10)
    with pytest.raises(ValueError, match="nothing to verify"):
        verify(COFFEE, stopped)
    assert verify(COFFEE, [-1] * 10).reason == Reason.NO_CLASS

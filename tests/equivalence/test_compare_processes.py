"""Notions on pairs and on all processes: by definition, published, and by formulas."""

import numpy as np
import published
import pytest
from repeats import first_of
from small_systems import COFFEE, HELD, random_system, system

from jaxgames import equivalence
from jaxgames.equivalence import NOTIONS, STRONG, System, price, reference, satisfying
from jaxgames.io import LTS


def explain(lts: LTS, found: equivalence.Comparison) -> None:
    """Each preorder that fails has a formula of its language, and no other has one."""
    for notion in NOTIONS:
        for back, (p, q) in enumerate(((found.p, found.q), (found.q, found.p))):
            formula = found.formula(notion, reverse=bool(back))
            assert (formula is None) == found[notion][back]
            if formula is None:
                continue
            holds = satisfying(lts, formula)
            assert holds[p], (notion, formula)
            assert not holds[q], (notion, formula)
            paid = np.minimum(price(formula), 3)
            assert (paid <= STRONG[notion]).all(), (notion, formula)


def check(lts: LTS) -> None:
    rows = reference.rows_of(System.of(lts))
    below = {notion: reference.preorder(rows, notion) for notion in NOTIONS}
    states = range(lts.num_states)
    pairs = [(p, q) for p in states for q in states]
    for (p, q), found in zip(pairs, equivalence.compare_many(lts, pairs), strict=True):
        for notion in NOTIONS:
            there, back = bool(below[notion][p, q]), bool(below[notion][q, p])
            assert found[notion] == (there, back, there and back), (notion, p, q)
        if p < q:
            explain(lts, found)
    whole = equivalence.spectrum(lts, preorders=True)
    for notion in NOTIONS:
        same = below[notion] & below[notion].T
        first = same.argmax(1)
        expected = np.unique(first, return_inverse=True)[1]
        np.testing.assert_array_equal(whole.classes(notion), expected)
        np.testing.assert_array_equal(
            equivalence.relation(lts, notion).labels, expected
        )
        representative = np.unique(whole.bisimulation, return_index=True)[1]
        told = {tuple(pair) for pair in whole.preorder(notion).tolist()}
        assert told == {
            (i, j)
            for i, p in enumerate(representative)
            for j, q in enumerate(representative)
            if i != j and below[notion][p, q]
        }


@pytest.mark.parametrize("seed", first_of(8, 20))
def test_against_the_definitions(seed):
    check(random_system(seed))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_against_the_definitions(seed):
    check(random_system(seed, states=7, edges=14))


@pytest.mark.parametrize("notion", HELD)
def test_textbook_pairs(notion):
    lts, p, q = HELD[notion]
    found = equivalence.compare(lts, p, q)
    assert found[notion].equivalent
    assert not found["bisimulation"].equivalent
    explain(lts, found)


def test_an_example():
    found = equivalence.compare(COFFEE, 0, 2)
    assert found["traces"].equivalent
    assert found["simulation"] == (False, True, False)
    assert found["failures"] == (True, False, False)
    assert str(found.formula("simulation")) in (
        "⟨coin⟩(⟨tea⟩ ∧ ⟨coffee⟩)",
        "⟨coin⟩(⟨coffee⟩ ∧ ⟨tea⟩)",
    )
    assert found.formula("simulation", reverse=True) is None
    assert found.formula("traces") is None
    assert found.budgets[1] == [(2, 2, 0, 0, 1, 1)]
    assert repr(found) == "Comparison(0 and 2: enabledness, traces)"
    assert list(found) == list(NOTIONS)


def test_bisimilar_and_equal_processes_are_related_by_all():
    lts = system("0 a 1", "1 a 0", "2 a 2")
    for found in equivalence.compare_many(lts, [(0, 2), (1, 1)]):
        assert all(holds == (True, True, True) for holds in found.values())
        assert found.budgets == ([], [])
        assert found.formula("bisimulation") is None


def test_several_systems_side_by_side():
    systems = [random_system(seed, states=4, edges=6) for seed in range(6)]
    lts, first = equivalence.union(systems)
    pairs = [(0, s.num_states - 1) for s in systems]
    moved = [(p + at, q + at) for (p, q), at in zip(pairs, first.tolist(), strict=True)]
    together = equivalence.compare_many(lts, moved)
    for one, (p, q), found in zip(systems, pairs, together, strict=True):
        assert dict(found) == dict(equivalence.compare(one, p, q))


def test_engines_and_solvers_agree():
    lts = random_system(3, states=6, edges=11)
    found = equivalence.spectrum(lts, preorders=True)
    other = equivalence.spectrum(lts, preorders=True, solver="fronts", engine="device")
    np.testing.assert_array_equal(found.apart, other.apart)
    counts = ("classes", "pairs", "positions", "moves")
    assert [found.stats[x] for x in counts] == [other.stats[x] for x in counts]


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="q must be from 0 to 9, got 10"):
        equivalence.compare(COFFEE, 0, 10)
    with pytest.raises(ValueError, match="p must be an integer from 0 to 9, got '0'"):
        equivalence.compare(COFFEE, "0", 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no notion is called 'trace'; there are ena"):
        equivalence.relation(COFFEE, "trace")
    with pytest.raises(ValueError, match="no notion is called 'x'"):
        equivalence.compare(COFFEE, 0, 2).formula("x")
    with pytest.raises(KeyError):
        equivalence.compare(COFFEE, 0, 2)["x"]


def test_the_lattice():
    lines = equivalence.covers()
    assert ("enabledness", "traces") in lines
    assert ("traces", "simulation") in lines
    assert ("simulation", "ready_simulation") in lines
    assert ("traces", "ready_simulation") not in lines
    assert [fine for coarse, fine in lines if coarse == "bisimulation"] == []


# ---- published systems ------------------------------------------------------


@published.needed
def test_budgets_are_the_published_ones():
    assert published.answers("notions")["strong"]["budgets"] == {
        notion: list(budget) for notion, budget in STRONG.items()
    }


@published.needed
def test_published_pairs():
    compared = 0
    for case in published.answers("lts_gpuequiv_cases"):
        lts = published.of_transitions(case["transitions"])
        for pair in case["pairs"]:
            found = equivalence.compare(lts, pair["p"], pair["q"])
            assert found.budgets[0] == sorted(map(tuple, pair["budgets"]))
            assert all(found[notion].preorder for notion in pair.get("holds", ()))
            assert not any(found[notion].preorder for notion in pair.get("fails", ()))
            explain(lts, found)
            compared += 1
        if "traces_classes" in case:
            classes = equivalence.relation(lts, "traces").labels
            assert classes.max() + 1 == case["traces_classes"]
            same = np.flatnonzero(classes == classes[0]).tolist()
            assert same == case["class_of_0_traces"]
    case = published.answers("lts_review_strong")
    lts = published.of_transitions(case["transitions"])
    for pair in case["expected"]:
        found = equivalence.compare(lts, pair["p"], pair["q"])
        held = [notion for notion in found if found[notion].preorder]
        assert sorted(held) == pair["all_preorders_that_hold"]
        assert found.budgets[0] == sorted(map(tuple, pair["budgets"]))
        explain(lts, found)
        compared += 1
    assert compared == 6


@published.needed
@pytest.mark.parametrize(
    "name", ["peterson_mutex_weak", "vasy_0_1", "vasy_1_4", "vasy_5_9", "vasy_25_25"]
)
def test_classes_of_published_systems(name):
    found = equivalence.spectrum(published.load(name))
    expected = published.expected(name)
    assert len(found.pairs) == found.stats["pairs"] == expected["start_pairs"]
    assert found.num_classes == expected["bisim_classes"]
    known = expected["classes_and_ordered_preorder_pairs"]
    for notion in NOTIONS:
        classes = int(found.classes(notion).max()) + 1
        assert [classes, len(found.preorder(notion))] == known[notion]


@published.needed
@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", ["cwi_3_14", "vasy_8_38", "vasy_8_24", "vasy_10_56", "cwi_1_2"]
)
def test_classes_of_large_published_systems(name):
    test_classes_of_published_systems(name)


@published.needed
@pytest.mark.sweep
@pytest.mark.parametrize("name", ["vasy_1_4", "vasy_5_9", "vasy_8_38", "cwi_3_14"])
def test_formulas_of_published_systems(name):
    lts = published.load(name)
    classes = equivalence.bisimulation(lts).labels
    first = np.unique(classes, return_index=True)[1]
    draw = np.random.default_rng(0)
    for _ in range(8):
        p, q = draw.choice(first, 2, replace=False).tolist()
        explain(lts, equivalence.compare(lts, p, q))

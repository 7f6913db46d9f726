"""The spectrum with silent steps: published pairs, definitions, formulas."""

import numpy as np
import published
import pytest
from repeats import first_of
from small_systems import COFFEE, system

from jaxgames import equivalence
from jaxgames.equivalence import WEAK, System, reference, satisfying
from jaxgames.io import LTS

ALIASES = {"stable-revival": "stable-revivals"}
"""Names that the published answers write in two ways."""


def strongest(found: equivalence.Comparison) -> list[str]:
    held = [notion for notion in found if found[notion].preorder]
    budgets = {notion: np.array(WEAK[notion]) for notion in held}
    return [
        notion
        for notion in held
        if not any(
            other != notion and (budgets[notion] <= budgets[other]).all()
            for other in held
        )
    ]


def explain(lts: LTS, found: equivalence.Comparison) -> None:
    for notion in WEAK:
        for back, (p, q) in enumerate(((found.p, found.q), (found.q, found.p))):
            formula = found.formula(notion, reverse=bool(back))
            assert (formula is None) == found[notion][back]
            if formula is not None:
                holds = satisfying(lts, formula)
                assert holds[p], (notion, formula)
                assert not holds[q], (notion, formula)


def random_system(seed: int) -> LTS:
    draw = np.random.default_rng(seed)
    states, edges = int(draw.integers(2, 6)), int(draw.integers(1, 9))
    names = ["tau", "a", "b"]
    return LTS.from_edges(
        draw.integers(0, states, edges),
        [names[i] for i in draw.integers(0, 3, edges)],
        draw.integers(0, states, edges),
        num_states=states,
    )


DEFINED = [
    "weak_traces",
    "weak_simulation",
    "eta_simulation",
    "weak_ready_simulation",
    "nested_2weak_simulation",
    "weak_bisimulation",
    "delay_bisimulation",
    "eta_bisimulation",
    "branching_bisimulation",
]


def check(lts: LTS) -> None:
    rows = reference.rows_of(System.of(lts))
    silent = {i for i, name in enumerate(lts.names) if name == "tau"}
    pairs = [(p, q) for p in range(len(rows)) for q in range(len(rows))]
    found = equivalence.compare_many_weak(lts, pairs)
    for notion in DEFINED:
        below = reference.weak_preorder(rows, silent, notion)
        # The languages of bisimilarities lack negations at the root: no formula may
        # tell p from q although one tells q from p.
        one_way = not notion.endswith("bisimulation")
        got = [one[notion][0 if one_way else 2] for one in found]
        assert got == [bool(below[pair]) for pair in pairs], notion
    for one in found[1::5]:
        explain(lts, one)


@pytest.mark.parametrize("seed", first_of(10, 25))
def test_against_the_definitions(seed):
    check(random_system(seed))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(100, 500))
def test_many_against_the_definitions(seed):
    check(random_system(seed))


def test_textbook_laws():
    # a.tau.b = a.b; a.(tau.b + c) and a.(tau.b + c) + a.b differ by branching only.
    lts = system("0 a 1", "1 tau 2", "2 b 9", "3 a 2")
    assert equivalence.compare_weak(lts, 0, 3)["branching_bisimulation"].equivalent
    lts = system("0 a 1", "1 tau 2", "2 b 9", "1 c 9", "3 a 1", "3 a 2")
    found = equivalence.compare_weak(lts, 3, 0)
    assert found["weak_bisimulation"].equivalent
    assert found["eta_bisimulation"].equivalent
    assert not found["delay_bisimulation"].equivalent
    explain(lts, found)


def test_preorders_of_the_textbook_look_at_the_processes_themselves():
    # tau.a + b answers all that a does, after a silent step; but a enables no b.
    lts = system("0 a 9", "1 tau 0", "1 b 9")
    found = equivalence.compare_weak(lts, 0, 1)
    assert found["weak_simulation"].preorder
    for notion in ("weak_ready_simulation", "nested_2weak_simulation"):
        assert found[notion] == (False, False, False)
        formula = found.formula(notion, reverse=False)
        assert formula is not None
        assert satisfying(lts, formula)[[0, 1]].tolist() == [True, False]
    explain(lts, found)


def test_without_silent_steps_weak_is_strong():
    found = equivalence.compare_weak(COFFEE, 0, 2)
    strong = equivalence.compare(COFFEE, 0, 2)
    for weak, notion in (
        ("weak_traces", "traces"),
        ("weak_failures", "failures"),
        ("stable_failures", "failures"),
        ("weak_simulation", "simulation"),
        ("branching_bisimulation", "bisimulation"),
    ):
        assert found[weak] == strong[notion]


def test_bad_input_is_told():
    with pytest.raises(
        ValueError, match="no transition has the label 'tau'; there are"
    ):
        equivalence.compare_weak(COFFEE, 0, 2, silent=["tau"])
    with pytest.raises(ValueError, match="p must be from 0 to 9, got 10"):
        equivalence.compare_weak(COFFEE, 10, 2)
    with pytest.raises(equivalence.TooLargeError, match="more than 8 positions"):
        equivalence.compare_weak(COFFEE, 0, 2, max_positions=8)
    formula = equivalence.Delay(("tau",), equivalence.TRUE)
    with pytest.raises(ValueError, match="has no price"):
        equivalence.price(formula)


def test_the_price_of_silence_is_the_published_one():
    lines = equivalence.covers(WEAK)
    assert ("weak_bisimulation", "delay_bisimulation") in lines
    assert ("weak_traces", "stable_failures") in lines
    assert not [line for line in lines if line[0].endswith("respecting_branching")]


@published.needed
def test_published_pairs():
    budgets = published.answers("notions")["weak_fiddle"]["budgets"]
    names = dict(zip(budgets, WEAK, strict=True))
    for published_name, budget in budgets.items():
        limits = tuple(3 if limit == "inf" else limit for limit in budget)
        assert limits == WEAK[names[published_name]]
    case = published.answers("lts_ltbts2_weak")
    lts = published.of_transitions(case["transitions"])
    for pair in case["expected"]:
        found = equivalence.compare_weak(lts, pair["p"], pair["q"])
        known = [names[name] for name in pair["strongest_preorders"]]
        assert sorted(strongest(found)) == sorted(known)
        for name in pair["distinguished_by_at_least"]:
            assert not found[names[ALIASES.get(name, name)]].preorder
        explain(lts, found)

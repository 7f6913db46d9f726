"""Deterministic parity automata, and automata with any acceptance condition."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

from jaxgames import limits, ltl
from jaxgames.acceptance import both, either, fin, inf
from jaxgames.io import _hoa
from jaxgames.io._whole import Whole
from jaxgames.limits import LimitError
from jaxgames.ltl import Automaton, EmersonLei, Formula, _braces
from jaxgames.ltl._deterministic import determinised, factors
from jaxgames.ltl._letters import Nodes, Tables, atoms
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._parity_automaton import check_deterministic, of_rows
from jaxgames.ltl._tableau import Tableau
from jaxgames.testing._ltl import _formula

NAMES = ["p", "q"]
DATA = Path(__file__).parent.parent.parent.parent / "shared/data/public/synthesis"


def words(rng: random.Random, count: int):
    for _ in range(count):
        yield tuple(
            [{x for x in NAMES if rng.random() < 0.5} for _ in range(length)]
            for length in (rng.randint(0, 3), rng.randint(1, 4))
        )


def agrees(seed: int, count: int, size: int) -> None:
    rng, lots = np.random.default_rng(seed), random.Random(seed)
    for _ in range(count):
        formula = _formula(rng, int(rng.integers(3, size)))
        found = ltl.deterministic(formula, propositions=NAMES)
        check_deterministic(found.graph)
        for prefix, cycle in words(lots, 8):
            expected = formula.holds_on(prefix, cycle)
            assert found.accepts(prefix, cycle) == expected, formula
            assert found.complement().accepts(prefix, cycle) != expected


@pytest.mark.parametrize("seed", range(3))
def test_the_words_of_formulas(seed):
    agrees(seed, 25, 14)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10, 20))
def test_the_words_of_many_formulas(seed):
    agrees(seed, 500, 18)


@pytest.mark.parametrize("seed", range(2))
def test_braces_alone(seed):
    rng, lots = np.random.default_rng(seed), random.Random(seed)
    for _ in range(25):
        formula = _formula(rng, int(rng.integers(3, 14)))
        letters = Tables(2)
        tableau = Tableau(letters, tuple(NAMES), 10_000)
        graph = tableau.graph(spread(normal_form(formula))).reduced()
        made = determinised(graph.degeneralised(on_states=False), 10_000)
        rows = [
            (q, letters.cubes(some), r, colour)
            for q, edges in enumerate(made.edges)
            for (r, colour), some in edges.items()
        ]
        found = of_rows(rows, num_states=len(made.edges), propositions=NAMES)
        for prefix, cycle in words(lots, 8):
            assert found.accepts(prefix, cycle) == formula.holds_on(prefix, cycle)


def response(count: int) -> str:
    return " & ".join(f"G(p{i} -> F q{i})" for i in range(count))


@pytest.mark.parametrize(
    ("text", "states"),
    [
        (response(4), 33),
        (f"!({response(3)})", 18),
        ("!((GF a & GF b & GF c & GF d) -> G(q -> F r))", 6),
        ("(GF a & GF b) -> (GF c & GF d)", 4),
        ("(GF a | FG b) & (GF c | FG d) & (GF e | FG f)", 6),
        ("FG a | FG b | FG c | FG d", 4),
        ("F(p & X X X X X X q)", 65),
        ("GF(p & X X X q)", 8),
        (f"GF(p & {10 * 'X '}q)", 1025),
        (f"FG(p | {10 * 'X '}q)", 1025),
        (response(3) + " & G(!(q0 & q1) & !(q0 & q2) & !(q1 & q2))", 14),
    ],
)
def test_families_stay_small(text, states):
    assert ltl.deterministic(text).num_states <= states


def test_what_takes_many_steps_is_refused(monkeypatch):
    """Few states would do, but each has many of a Büchi automaton."""
    text = "(F X((a R b) | G q)) U ((x | d) U (d W r))"
    assert ltl.deterministic(text, max_states=500).num_states < 100
    monkeypatch.setattr(_braces, "STEPS_ALWAYS", 50)
    monkeypatch.setattr(_braces, "STEPS_A_STATE", 0)
    with pytest.raises(ValueError, match="more than 50 steps: allow more by max"):
        ltl.deterministic(text, max_states=500)


def test_formulas_with_many_propositions():
    chain = " & ".join(f"G(a{i} -> X a{i + 1})" for i in range(7))
    chain += " & " + " & ".join(f"G b{i}" for i in range(8))
    found = ltl.deterministic(chain)
    cycle = [{*(f"a{i}" for i in range(8)), *(f"b{i}" for i in range(8))}]
    assert len(found.propositions) == 16
    assert found.accepts([], cycle)
    assert not found.accepts([], [{f"b{i}" for i in range(7)}])


def test_automata_are_made_in_time_and_no_larger_than_they_were():
    for count, states in ((3, 16), (5, 96)):
        assert ltl.translate(response(count)).num_states == states
    untils = "p0"
    for i in range(1, 8):
        untils = f"({untils}) U p{i}"
    assert ltl.translate(untils).num_states == 128
    finally_all = " & ".join(f"F p{i}" for i in range(7))
    assert ltl.translate(finally_all).num_states == 128
    again = " & ".join(f"G F p{i}" for i in range(8))
    assert ltl.translate(again, generalised=True).num_states == 1


def test_too_many_states_and_too_long():
    with pytest.raises(ValueError, match="more than 3 states"):
        ltl.deterministic("F(p & X X X X q)", max_states=3)
    with pytest.raises(ValueError, match="more than 4 states"):
        ltl.translate("F(p & X X X X X X X q) & G F r", max_states=4)
    hard = f"!({response(9)}) & F(a & X X X X X X X X b)"
    with pytest.raises(LimitError, match="time limit"):
        ltl.deterministic(hard, deadline=0.0001)


@pytest.mark.parametrize("seed", range(3))
def test_tables_and_nodes_are_alike(seed):
    rng = np.random.default_rng(seed)
    tables, nodes = Tables(3), Nodes(3)
    for _ in range(40):
        masks = rng.integers(8, size=(3, 2)).tolist()
        guard = tuple((a, b) for a, b in masks if not a & b)
        one, other = tables.of_guard(guard), nodes.of_guard(guard)
        for letters, some in ((tables, one), (nodes, other)):
            cubes = letters.cubes(some)
            assert letters.of_guard(cubes) == some
            for i in range(len(cubes)):  # none can be left out
                assert letters.of_guard(cubes[:i] + cubes[i + 1 :]) != some
        assert nodes.of_guard(tables.cubes(one)) == other
    some = nodes.both(nodes.proposition(1), nodes.proposition(2))
    found = atoms(nodes, [nodes.proposition(0), some])
    assert len(found) == 4


# ---- any condition -----------------------------------------------------------------


def random_automaton(rng: np.random.Generator) -> EmersonLei:
    size, edges, marks = (int(rng.integers(*x)) for x in ((1, 6), (1, 12), (1, 5)))
    graph = Automaton.from_edges(
        rng.integers(size, size=edges),
        ["true"] * edges,
        rng.integers(size, size=edges),
        num_states=size,
        sets=rng.integers(2, size=(marks, edges)),
    )
    atoms = [
        (inf if rng.integers(2) else fin)(int(rng.integers(marks))) for _ in range(6)
    ]
    parts = both(atoms[:2]), both([either(atoms[2:4]), either(atoms[4:])])
    return EmersonLei(graph, either(parts))


def is_empty(automaton: EmersonLei) -> bool:
    """By all sets of marks that may be the ones that are met again and again."""
    graph = automaton.graph
    reached = {int(q) for q in graph.initial}
    for _ in range(graph.num_states):
        pairs = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
        reached |= {t for s, t in pairs if s in reached}
    for met in range(1 << graph.num_sets):
        if not automaton.condition.holds(met):
            continue
        own = [i for i in range(graph.num_sets) if met >> i & 1]
        others = [i for i in range(graph.num_sets) if not met >> i & 1]
        keep = ~graph.sets[others].any(axis=0)
        part = Automaton.from_edges(
            graph.sources[keep],
            ["true"] * int(keep.sum()),
            graph.targets[keep],
            num_states=graph.num_states,
            initial=sorted(reached),
            sets=graph.sets[own][:, keep],
        )
        if not part.is_empty():
            return False
    return True


@pytest.mark.parametrize("seed", range(3))
def test_emptiness(seed):
    rng, seen = np.random.default_rng(seed), set()
    for _ in range(60):
        automaton = random_automaton(rng)
        expected = is_empty(automaton)
        seen.add(expected)
        assert automaton.is_empty() == expected
        assert automaton.to_buchi().is_empty() == expected
    assert seen == {True, False}


def test_words_of_a_rabin_automaton():
    graph = Automaton.from_edges(
        [0, 0], ["p", "!p"], [0, 0], sets=[[True, False], [False, True]]
    )
    rabin = EmersonLei(graph, both([inf(0), fin(1)]))
    for automaton in (rabin, rabin.to_buchi(), rabin.parity()):
        assert automaton.accepts([set()], [{"p"}])
        assert not automaton.accepts([], [{"p"}, set()])
    assert repr(rabin) == (
        "EmersonLei(1 state, 2 edges, Inf(0) & Fin(1), propositions p)"
    )


def test_a_condition_with_too_many_alternatives():
    streett = both(either([inf(2 * i), fin(2 * i + 1)]) for i in range(12))
    graph = Automaton.from_edges([0], ["true"], [0], sets=np.ones((24, 1), bool))
    assert not EmersonLei(graph, streett).is_empty()
    with pytest.raises(ValueError, match="alternatives, more than"):
        EmersonLei(graph, streett).to_buchi()


@pytest.mark.skipif(not DATA.exists(), reason="the files of others are not here")
def test_emptiness_of_automata_of_others():
    text = gzip.decompress((DATA / "emerson_lei/automata.hoa.gz").read_bytes()).decode()
    expected = json.loads((DATA / "emerson_lei/answers.json").read_text())["empty"]
    found = list(_hoa.automata(Whole.of("automata.hoa", text)))
    assert [x.is_empty() for x in found] == expected
    for automaton in [x for x in found if isinstance(x, EmersonLei)][::5]:
        assert automaton.to_buchi().is_empty() == automaton.is_empty()


def test_formulas_spread_apart():
    plain = Formula.parse("G(F p & F q & p) | F(G p | G q)")
    formula = spread(normal_form(plain))
    for prefix, cycle in words(random.Random(1), 50):
        assert formula.holds_on(prefix, cycle) == plain.holds_on(prefix, cycle)


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("X " * 400 + "p", 402),
        ("!" * 501 + "p", 2),
        (" U ".join(["p", "q"] * 150), 2),
        ("(p U (q & " * 150 + "p" + "))" * 150, 2),
        ("G(p -> X " * 200 + "q" + ")" * 200, 201),
    ],
)
def test_deep_formulas(text, states):
    formula = Formula.parse(text)
    assert Formula.parse(str(formula)) == formula
    found = ltl.translate(formula)
    assert found.num_states == states
    for prefix, cycle in words(random.Random(1), 3):
        assert found.accepts(prefix, cycle) == formula.holds_on(prefix, cycle)


def test_well_known_formulas_have_automata_as_small_as_others_make():
    families = pytest.importorskip("benchmarks.automata")
    page = (Path(families.__file__).parents[1] / "docs/synthesis.md").read_text()
    for name, states, colours, by_spot in families.rows():
        assert states <= 2 * by_spot, name
        assert f"| {name} | {states} | {colours} | {by_spot} |" in page


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("((F a U !x) R X y) R F(F x -> !c)", 64),
        ("F(F !c & (!a | (F !x & F y))) W X x", 64),
        ("G(F G !b U ((X F !a W X z) W F c))", 64),
    ],
)
def test_the_smaller_of_a_formula_and_its_negation_is_determinised(text, most):
    """The Büchi automaton of the negation has nine states, that of one of these 31."""
    formula = Formula.parse(text)
    found = ltl.deterministic(formula, max_states=4096)
    assert found.num_states < most
    lots = random.Random(3)
    for _ in range(100):
        prefix, cycle = (
            [{x for x in formula.propositions if lots.random() < 0.5} for _ in range(n)]
            for n in (lots.randint(0, 3), lots.randint(1, 4))
        )
        assert found.accepts(prefix, cycle) == formula.holds_on(prefix, cycle)


def test_limits_are_looked_at_while_the_successors_of_one_state_are_made(monkeypatch):
    """They may be very many, so that a time limit would pass unseen."""
    formula = Formula.parse(" & ".join(f"(F G p{i} | G F q{i})" for i in range(5)))
    product = factors(formula, formula.propositions, 1000, 1 << 30)
    assert [len(part.edges[0]) for part in product.parts] == [2] * 10
    seen = []
    monkeypatch.setattr(limits, "tick", lambda *where: seen.append(where))
    product.row(product.start)
    assert len(seen) >= sum(max(1, 2**i // 64) for i in range(10))

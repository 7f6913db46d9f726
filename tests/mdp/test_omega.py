"""Automata of any acceptance on models, against all schedulers of the product."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from jaxgames import acceptance, io, ltl, mdp
from jaxgames.testing import _exact as exact

CONDITIONS = {
    "Büchi": acceptance.inf(0),
    "co-Büchi": acceptance.fin(0),
    "Rabin": acceptance.either(
        [
            acceptance.both([acceptance.fin(0), acceptance.inf(1)]),
            acceptance.both([acceptance.fin(2), acceptance.inf(0)]),
        ]
    ),
    "Streett": acceptance.both(
        [
            acceptance.either([acceptance.fin(0), acceptance.inf(1)]),
            acceptance.either([acceptance.fin(2), acceptance.inf(0)]),
        ]
    ),
    "parity": acceptance.parity("max even", 3),
    "no": acceptance.either([]),
}


def drawn(rng, size: int) -> mdp.MDP:
    bare = exact.random_model(rng, size, 2, 2)
    return mdp.MDP.from_arrays(
        *(bare.row_group_offsets, bare.row_offsets, bare.columns, bare.probs),
        labels={"p": rng.random(size) < 0.5},
    )


def automaton(rng, condition) -> ltl.EmersonLei:
    """Two states; now and then there is no edge for a letter."""
    edges = list(itertools.product(range(2), ("p", "!p")))
    edges = [edge for edge in edges if rng.random() < 0.9]
    graph = ltl.Automaton.from_edges(
        *([q for q, _ in edges], [guard for _, guard in edges]),
        rng.integers(0, 2, len(edges)),
        num_states=2,
        initial=int(rng.integers(2)),
        propositions=["p"],
        sets=rng.random((3, len(edges))) < 0.4,
    )
    return ltl.EmersonLei(graph, condition)


def by_all_schedulers(model: mdp.MDP, found: ltl.EmersonLei, optimum: str):
    """The best over subsets of choices at each pair, each taken again and again.

    A scheduler with memory has, in the end, some choices of each pair of states that it
    takes for ever, and leaves pairs by one choice before; so that randomising among a
    set of choices is as good as any memory [de Alfaro 1997].
    """
    size, graph = model.num_states, found.graph
    p = (model.labels or {})["p"]
    pairs = list(itertools.product(range(size), range(graph.num_states)))
    place = {pair: i for i, pair in enumerate(pairs)}
    lost = len(pairs)
    choices, marks = [], []
    for s, q in pairs:
        edges = np.flatnonzero(graph.enabled([int(p[s])])[0] & (graph.sources == q))
        rows = []
        for choice in range(*model.row_group_offsets[s : s + 2].tolist()):
            out = exact.branches(model, choice)
            to = [(place[t, int(graph.targets[e])], x) for t, x in out for e in edges]
            rows.append(to if len(edges) else [(lost, Fraction(1))])
        choices.append(rows)
        sets = [i for i in range(3) if len(edges) and graph.sets[i, edges[0]]]
        marks.append(sum(1 << i for i in sets))
    choices.append([[(lost, Fraction(1))]])
    subsets = [
        [
            some
            for k in range(1, len(rows) + 1)
            for some in itertools.combinations(rows, k)
        ]
        for rows in choices
    ]
    best = None
    for picked in itertools.product(*subsets):
        chain = [
            [(t, x / len(rows)) for row in rows for t, x in row] for rows in picked
        ]
        reach = exact.closure(chain)
        good = np.zeros(lost + 1, bool)
        for i in range(lost):
            mine = np.flatnonzero(reach[i])
            if all(reach[j, i] for j in mine):
                met = 0
                for j in mine.tolist():
                    met |= marks[j]
                good[i] = found.condition.holds(met)
        value = exact.chain_values(chain, good, np.ones(lost + 1, bool))
        join = max if optimum == "max" else min
        best = value if best is None else list(map(join, best, value))
    assert best is not None
    start = int(graph.initial[0])
    return [best[place[s, start]] for s in range(size)]


def compare(name: str, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        model = drawn(rng, 2)
        found = automaton(rng, CONDITIONS[name])
        for optimum in ("min", "max"):
            value = by_all_schedulers(model, found, optimum)
            answer = mdp.acceptance_probability(model, found, optimum, exact=True)
            assert list(answer.exact or ()) == value, (model, found, optimum)
            answer = mdp.acceptance_probability(model, found, optimum)
            for low, high, x in zip(answer.lower, answer.upper, value, strict=True):
                assert Fraction(low) <= x <= Fraction(high)


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_against_all_schedulers(name):
    compare(name, seed=1, count=6)


@pytest.mark.sweep
@pytest.mark.parametrize("name", CONDITIONS)
def test_many_conditions_against_all_schedulers(name):
    compare(name, seed=2, count=150)


def test_formulas_are_worth_what_their_automata_are():
    rng = np.random.default_rng(3)
    for formula, text in (("G F p", 'G F "p"'), ("p U G !p", '"p" U G !"p"')):
        found = ltl.deterministic(formula)
        for _ in range(5):
            model = drawn(rng, 4)
            for optimum in ("min", "max"):
                one = mdp.check(model, f"P{optimum}=? [ {text} ]")
                other = mdp.acceptance_probability(model, found, optimum)
                assert (one.lower <= other.upper).all()
                assert (other.lower <= one.upper).all()


def test_what_fits_not_is_refused():
    model = drawn(np.random.default_rng(4), 3)
    twice = ltl.Automaton.from_edges([0, 0], ["p", "true"], [0, 0], sets=[[0, 1]])
    with pytest.raises(ValueError, match=r"not deterministic: state 0 has two edges"):
        mdp.acceptance_probability(model, twice)
    with pytest.raises(ValueError, match="'q' of the automaton is not a label"):
        mdp.acceptance_probability(model, ltl.deterministic("G F q"))
    with pytest.raises(ValueError, match="automaton must be"):
        mdp.acceptance_probability(model, "G F p")
    several = ltl.Automaton.from_edges(
        [0, 1], ["p", "p"], [0, 1], initial=[0, 1], sets=[[0, 1]]
    )
    with pytest.raises(ValueError, match="2 initial states"):
        mdp.acceptance_probability(model, several)


def test_propositions_may_be_expressions(tmp_path):
    model = mdp.MDP.from_arrays(
        *([0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1]),
        valuations={"x": [0, 1, 2]},
    )
    graph = ltl.Automaton.from_edges(
        [0, 0], ["a", "!a"], [0, 0], propositions=["a"], sets=[[1, 0]]
    )
    file = tmp_path / "some.hoa"
    io.hoa.save(file, graph)
    file.write_text(file.read_text().replace('"a"', '"x=1"'))
    found = mdp.acceptance_probability(model, io.load(file))
    assert found.value == 0.5

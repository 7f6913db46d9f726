"""Systems and products from transition functions."""

import numpy as np
import pytest

from jaxgames import SolveError, buchi, graph, ltl, systems

ENGINES = ["host", "device"]


def traffic(states):
    """Two lights that may turn green if the other one is red; the first may break."""
    xp = states.__array_namespace__()
    a, b = states[:, 0], states[:, 1]
    after = [(1 - a, b), (a, 1 - b), (0 * a + 2, b)]
    rows = xp.stack([xp.stack(pair, axis=1) for pair in after], axis=1)
    enabled = [(a < 2) & (b == 0), (a == 0) | (b == 1), (a == 0) & (b == 0)]
    return rows, xp.stack(enabled, axis=1)


LIGHTS = {
    "first": lambda states: states[:, 0] == 1,
    "second": lambda states: states[:, 1] == 1,
    "broken": lambda states: states[:, 0] == 2,
}
FORMULAS = [
    "G !(first & second)",
    "GF first",
    "GF (first | second)",
    "F broken",
    "G(broken -> FG !second)",
    "FG !first -> F broken",
    "G(broken -> G !second)",
    "X X second -> F first",
]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_system(engine):
    system = systems.explore(
        traffic,
        [0, 0],
        propositions=LIGHTS,
        ranges=[3, 2],
        components=["first", "second"],
        engine=engine,
    )
    states = [[0, 0], [1, 0], [0, 1], [2, 0]]
    assert system.space.states.tolist() == states
    for i, holds in enumerate(LIGHTS.values()):
        assert system.labels[:, i].tolist() == holds(np.array(states)).tolist()
    assert list(system.names) == [
        "first=0 second=0",
        "first=1 second=0",
        "first=0 second=1",
        "first=2 second=0",
    ]
    assert system.names[1:3] == ["first=1 second=0", "first=0 second=1"]
    assert repr(system) == (
        "Explored(4 states, 5 transitions, propositions first second broken)"
    )
    assert system.num_states == len(system.names)


def shows(search, lasso, automaton, propositions) -> None:
    """Fails unless a lasso is a run of both that accepts."""
    vertices = np.concatenate([lasso.prefix, lasso.cycle, lasso.cycle[:1]])
    states, at = search.states(vertices), search.automaton_states(vertices)
    after, enabled = traffic(states)
    letters = [
        automaton.letter([k for k, holds in propositions.items() if holds(state[None])])
        for state in states
    ]
    takes = automaton.enabled(letters)
    for i in range(len(vertices) - 1):
        follows = (after[i] == states[i + 1]).all(axis=1) & enabled[i]
        stutters = not enabled[i].any() and (states[i] == states[i + 1]).all()
        assert follows.any() or stutters
        edges = takes[i] & (automaton.sources == at[i])
        assert at[i + 1] in automaton.targets[edges]
    assert automaton.accepting[at[len(lasso.prefix) : -1]].any()


def test_a_system_without_propositions():
    system = systems.explore(traffic, [0, 0], ranges=[3, 2])
    known = systems.explore(traffic, [0, 0], propositions=LIGHTS, ranges=[3, 2])
    assert system.propositions == ()
    assert np.array_equal(system.targets, known.targets)


@pytest.mark.parametrize("formula", FORMULAS)
def test_products_on_the_fly(formula):
    automaton = ltl.translate(formula, negate=True)
    system = systems.explore(traffic, [0, 0], propositions=LIGHTS, ranges=[3, 2])
    product = systems.product(system, automaton)
    expected = buchi.accepting_cycle(product)
    search = systems.explore_product(
        traffic, [0, 0], automaton, propositions=LIGHTS, ranges=[3, 2]
    )
    found = buchi.accepting_cycle_of(search, initial=search.initial)
    assert found.exists == expected.exists
    if found.exists:
        first = np.concatenate([found.lasso.prefix, found.lasso.cycle])[0]
        assert first in search.initial
        shows(search, found.lasso, search.automaton, LIGHTS)
    assert search.num_vertices == product.num_vertices
    pairs = np.stack([product.system_state, product.automaton_state], axis=1)
    vertices = np.arange(search.num_vertices)
    states = search.states(vertices).tolist()
    numbers = [system.space.states.tolist().index(x) for x in states]
    others = np.stack([numbers, search.automaton_states(vertices)], axis=1)
    assert sorted(pairs.tolist()) == sorted(others.tolist())


def test_the_pieces_are_the_product_on_the_device_too():
    automaton = ltl.translate("G(broken -> FG !second)", negate=True)
    pieces = [
        list(
            systems.explore_product(
                traffic,
                [[0, 0], [0, 1]],
                automaton,
                propositions=LIGHTS,
                ranges=[3, 2],
                engine=engine,
            )
        )
        for engine in ENGINES
    ]
    for one, other in zip(*pieces, strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)


def test_dead_ends_on_the_fly():
    def stuck(states):
        return states[:, None] + 1, states < 3

    automaton = ltl.translate("F over", negate=True)
    for deadlock, exists in (("stutter", True), ("reject", False)):
        search = systems.explore_product(
            stuck,
            [0],
            automaton,
            propositions={"over": lambda states: states[:, 0] > 3},
            deadlock=deadlock,
        )
        assert buchi.accepting_cycle_of(search).exists == exists


def test_a_violation_ends_the_search():
    """Endless systems have no other end."""

    def count(states):
        xp = states.__array_namespace__()
        after = xp.stack([states + 1, 0 * states], axis=1)
        return after, xp.concatenate([states >= 0, states > 1500], axis=1)

    search = systems.explore_product(
        count,
        [0],
        ltl.translate("FG positive", negate=True),
        propositions={"positive": lambda states: states[:, 0] > 0},
        engine="host",
    )
    found = buchi.accepting_cycle_of(search)
    assert found.exists
    assert found.stats["built"] < 50_000
    states = search.states(found.lasso.cycle)[:, 0]
    assert (states == 0).any()
    assert states.max() > 1500


def test_a_product_is_compiled_once():
    """Also for another automaton with the same edges, and not for one with others."""
    traced = []

    def counted(states):
        traced.append(len(states))
        return traffic(states)

    def search(formula):
        automaton = ltl.translate(formula, negate=True)
        found = systems.explore_product(
            counted,
            [0, 0],
            automaton,
            propositions=LIGHTS,
            ranges=[3, 2],
            engine="device",
        )
        return [piece.targets.tolist() for piece in found], len(traced)

    first, once = search("GF first")
    assert search("GF first") == (first, once)
    other, twice = search("GF !first")
    assert twice > once
    assert other != first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deadlock": "error"}, "must be 'stutter' or 'reject' on the fly"),
        ({"propositions": {}}, "proposition 'first'; there are functions for none"),
        ({"propositions": {"q": None}}, "there are functions for q"),
        ({"ranges": [3]}, r"one entry for each component \(3\), got 2"),
    ],
)
def test_wrong_arguments_of_products(options, message):
    automaton = ltl.translate("GF first", negate=True)
    options = {"propositions": LIGHTS, "ranges": [3, 2], **options}
    with pytest.raises(ValueError, match=message):
        next(iter(systems.explore_product(traffic, [0, 0], automaton, **options)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"propositions": {"p": lambda x: x[:, 0]}}, "'p' must be boolean, got int32"),
        ({"propositions": {"p": lambda x: x > 0}}, "must have one value for each"),
        ({"components": ["a"]}, "2 components must have 2 names, got 1"),
        ({"ranges": [3, 1]}, r"action 1 leads to \[0, 1\], which is out of range"),
    ],
)
def test_wrong_arguments_of_systems(options, message):
    options = {"propositions": LIGHTS, **options}
    with pytest.raises(ValueError, match=message):
        systems.explore(traffic, [0, 0], **options)


def test_a_limit_of_systems():
    with pytest.raises(SolveError, match="max_states=2") as error:
        systems.explore(traffic, [0, 0], propositions=LIGHTS, max_states=2)
    assert isinstance(error.value.solution, graph.StateSpace)

"""Products of systems and automata: both engines, by their definition, by words."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from formulas import random_formulas

from jaxgames import buchi, host, ltl, systems
from jaxgames.arena import Arena
from jaxgames.graph import reference
from jaxgames.ltl import Automaton, Formula
from jaxgames.systems import Product, System, _expand
from jaxgames.systems.host import Rules, expand
from jaxgames.testing._words import Words

ENGINES = ["host", "device"]


def random_system(random: np.random.Generator, size: int, names=("p", "q")) -> System:
    degree = random.integers(0, 4, size)
    offsets = np.append(0, np.cumsum(degree))
    targets = random.integers(size, size=offsets[-1])
    labels = {name: random.integers(2, size=size).astype(bool) for name in names}
    initial = random.integers(size, size=random.integers(1, 3))
    return System.from_graph((offsets, targets), labels, initial=initial)


def by_definition(system: System, automaton: Automaton, stutter: bool) -> Product:
    """Breadth first, with lists, a dictionary and the names of propositions."""
    automaton = automaton.degeneralise()

    def moves(s: int, q: int) -> list[int]:
        here = {
            name
            for name, holds in zip(system.propositions, system.labels[s], strict=True)
            if holds
        }
        letter = automaton.letter(here)
        found = []
        for e in range(automaton.offsets[q], automaton.offsets[q + 1]):
            r = int(automaton.targets[e])
            if r not in found and any(
                letter & must == must and not letter & never
                for must, never in automaton.guard(e)
            ):
                found.append(r)
        # Edges to one target are one edge, which stands where the first of them does.
        every = automaton.targets[automaton.offsets[q] : automaton.offsets[q + 1]]
        return sorted(found, key=lambda r: every.tolist().index(r))

    def follow(s: int, q: int) -> list[tuple[int, int]]:
        after = system.arena().successors(s).tolist() or ([s] if stutter else [])
        return [(t, r) for t in after for r in moves(s, q)]

    level = [(int(s), int(q)) for s in system.initial for q in automaton.initial]
    number, order = {x: i for i, x in enumerate(level)}, list(level)
    while level:
        level = sorted({y for x in level for y in follow(*x)} - set(number))
        number |= {x: len(order) + i for i, x in enumerate(level)}
        order += level
    rows = [[number[y] for y in follow(*x)] for x in order]
    return Product(
        offsets=np.append(0, np.cumsum([len(row) for row in rows], dtype=int)),
        targets=np.array([v for row in rows for v in row], int),
        accepting=np.array([automaton.accepting[q] for _, q in order], bool),
        initial=np.arange(len(system.initial) * len(automaton.initial)),
        system_state=np.array([s for s, _ in order], int),
        automaton_state=np.array([q for _, q in order], int),
        automaton=automaton,
        levels=np.zeros(0),
    )


def assert_same(one: Product, other: Product) -> None:
    for name in ("offsets", "targets", "accepting", "initial", "system_state",
                 "automaton_state"):  # fmt: skip
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def has_accepting_cycle(product: Product) -> bool:
    graph = product.offsets, product.targets
    count, label = reference.scc(graph)
    tails = np.repeat(np.arange(product.num_vertices), np.diff(product.offsets))
    inside = label[tails] == label[product.targets]
    cyclic = np.zeros(count, bool)
    cyclic[label[tails[inside]]] = True
    return bool((cyclic[label] & product.accepting).any())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("deadlock", ["stutter", "reject"])
def test_products_are_those_of_the_definition(engine, deadlock):
    random = np.random.default_rng(3)
    for formula in random_formulas(11, 25, 9):
        system = random_system(random, int(random.integers(1, 30)))
        automaton = ltl.translate(formula, generalised=bool(random.integers(2)))
        found = systems.product(system, automaton, deadlock=deadlock, engine=engine)
        assert_same(found, by_definition(system, automaton, deadlock == "stutter"))


def test_detection_by_hashing_is_the_same(monkeypatch):
    random = np.random.default_rng(4)
    for formula in random_formulas(12, 12, 9):
        system = random_system(random, int(random.integers(1, 200)))
        automaton = ltl.translate(formula)
        expected = systems.product(system, automaton, engine="host")
        with monkeypatch.context() as patch:
            patch.setattr(_expand.expand_on_device, "__defaults__", (0,))
            found = systems.product(system, automaton, engine="device")
        assert_same(found, expected)
        np.testing.assert_array_equal(found.levels, expected.levels)


def test_larger_products_and_several_sizes_of_levels():
    random = np.random.default_rng(5)
    size = 2000
    targets = np.stack([
        np.minimum(np.arange(size) * 3 + i, size - 1 - i) for i in range(3)
    ])  # fmt: skip
    system = System.from_graph(
        (np.arange(size + 1) * 3, targets.T.ravel()),
        {"p": random.integers(2, size=size), "q": random.integers(2, size=size)},
        initial=[0, 1],
    )
    automaton = ltl.translate("F G(p | q)")
    one = systems.product(system, automaton, engine="host")
    other = systems.product(system, automaton, engine="device")
    assert one.num_vertices > 3_000
    assert_same(one, other)
    np.testing.assert_array_equal(one.levels, other.levels)


def test_interpreted_as_compiled():
    random = np.random.default_rng(6)
    system = random_system(random, 40)
    automaton = ltl.translate("G(p -> F q)")
    expected = systems.product(system, automaton, engine="host")
    with host.interpreted():
        assert_same(systems.product(system, automaton, engine="host"), expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_word_as_a_system_has_an_accepting_run_if_it_satisfies_the_formula(engine):
    words = Words(["p", "q"], 3)
    some = np.random.default_rng(8).choice(len(words.back), 12, replace=False)
    for formula in random_formulas(13, 8, 9):
        automaton = ltl.translate(formula, propositions=["p", "q"])
        holds = words.holds(formula)
        for i in some:
            letters = words.letters[i]
            system = System.from_graph(
                (np.arange(4), np.append([1, 2], words.back[i])),
                {"q": letters >> 1 & 1, "p": letters & 1, "other": [0, 1, 0]},
            )
            found = systems.product(system, automaton, engine=engine)
            assert has_accepting_cycle(found) == holds[i], str(formula)


DATA = Path(__file__).parents[3] / "shared/data/made/ltl"


@pytest.mark.parametrize(
    "name", ["phils-4.GFcs0", "phils-4.anyeat", "anderson-3.someone"]
)
def test_known_products(name):
    path = DATA / f"{name}.npz"
    if not path.is_file():
        pytest.skip("the known products are not there")
    known = np.load(path)
    # State 0 of the automaton for FG !x takes every letter: its copy of the system is
    # whole, and has edges into the other copy where x does not hold.
    tails = np.repeat(np.arange(len(known["accepting"])), np.diff(known["offsets"]))
    first, heads = known["prop_state"] == 0, known["targets"]
    number = np.cumsum(first) - 1
    inside = first[tails] & first[heads]
    counts = np.bincount(number[tails[inside]], minlength=number[-1] + 1)
    holds = np.ones(len(counts), bool)
    holds[number[tails[first[tails] & ~first[heads]]]] = False
    system = System.from_graph(
        (np.append(0, np.cumsum(counts)), number[heads[inside]]), {"x": holds}
    )
    found = systems.product(system, ltl.translate("GF x", negate=True))
    assert found.num_vertices == len(first)
    assert found.num_edges == len(heads)
    assert found.accepting.sum() == known["accepting"].sum()
    assert has_accepting_cycle(found) == bool(known["has_accepting_cycle"])


@pytest.mark.parametrize("engine", ENGINES)
def test_deadlocks(engine):
    system = System.from_graph(([0, 1, 1, 1], [1]), {"p": [False, True, True]})
    always = ltl.translate("F G p")
    found = systems.product(system, always, engine=engine)
    assert has_accepting_cycle(found)
    found = systems.product(system, always, deadlock="reject", engine=engine)
    assert not has_accepting_cycle(found)
    with pytest.raises(ValueError, match="reach state 1, which has no successor"):
        systems.product(system, always, deadlock="error", engine=engine)
    # State 2 has none either, but is not reached.
    going = System.from_graph(([0, 1, 2, 2], [1, 0]), {"p": [False, True, True]})
    found = systems.product(going, always, deadlock="error", engine=engine)
    assert set(found.system_state.tolist()) == {0, 1}


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_at_all(engine):
    system = System.from_graph(([0, 1], [0]), {"p": [True]})
    found = systems.product(system, ltl.translate("false"), engine=engine)
    assert (found.num_vertices, found.num_edges) == (0, 0)
    assert found.levels.tolist() == [0]
    nowhere = System.from_graph(([0, 1], [0]), {"p": [True]}, initial=[])
    found = systems.product(nowhere, ltl.translate("p"), engine=engine)
    assert (found.num_vertices, found.num_edges) == (0, 0)
    assert found.arena().shape == (0, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_many_propositions(engine):
    names = [f"p{i}" for i in range(64)]
    random = np.random.default_rng(9)
    labels = {name: random.integers(2, size=50) for name in names}
    system = System.from_graph(
        (np.arange(51) * 2, random.integers(50, size=100)), labels
    )
    guards = ["p0 & !p63", "p31 | p32", "!p63", "true"]
    automaton = Automaton.from_edges(
        [0, 0, 1, 1], guards, [0, 1, 0, 1], propositions=names, accepting=[0, 1]
    )
    found = systems.product(system, automaton, engine=engine)
    assert_same(found, by_definition(system, automaton, True))


def test_too_large_is_told():
    rules = Rules(
        np.array([0, 3]), np.zeros(3, np.int32), np.zeros(1, np.int32),
        np.array([0, 1 << 30], np.int32), np.zeros(1, np.int32), 1,
    )  # fmt: skip
    for search in (expand, _expand.expand_on_device):
        assert search(rules, np.zeros(1, np.int64)) is None


@pytest.mark.parametrize(
    ("graph", "labels", "initial", "message"),
    [
        (([0, 1], [1]), {}, 0, "indices"),
        (([0, 1], [0]), {"p": [1, 0]}, 0, "'p' must have one boolean for each of 1"),
        (([0, 1], [0]), {"p": [2]}, 0, "'p' must hold booleans or 0 and 1"),
        (([0, 1], [0]), {"p": [0.5]}, 0, "'p' must have one boolean .* got float64"),
        (([0, 1], [0]), ["p"], 0, "labels must be a mapping from names"),
        (([0, 1], [0]), {}, 1, "initial state 1 is not there: .* from 0 to 0"),
        (([0, 1], [0]), {}, -1, "initial state -1 is not there"),
        (([0, 1], [0]), {}, 0.5, "initial must be a state or several, got 0.5"),
    ],
)
def test_wrong_systems(graph, labels, initial, message):
    with pytest.raises(ValueError, match=message):
        System.from_graph(graph, labels, initial=initial)


def test_buchi_offers_what_it_stands_on():
    for package in (ltl, systems):
        for name in set(dir(package)) - {"verify_run", "Verdict", "Reason"}:
            value = getattr(package, name)
            if not name.startswith("_") and not inspect.ismodule(value):
                assert getattr(buchi, name) is value


def test_wrong_arguments():
    system = System.from_graph(([0, 1], [0]), {"p": [True]})
    automaton = ltl.translate("p & q")
    with pytest.raises(ValueError, match="the system has no proposition 'q', only p"):
        systems.product(system, automaton)
    with pytest.raises(ValueError, match="only p, or with blanks 'X p'"):
        systems.product(system, ltl.translate("Xp"))
    with pytest.raises(ValueError, match="deadlock must be 'stutter', 'error' or"):
        systems.product(system, automaton, deadlock="loop")  # pyright: ignore
    with pytest.raises(ValueError, match="engine must be"):
        systems.product(system, ltl.translate("p"), engine="gpu")  # pyright: ignore


def test_padding_of_an_arena_is_no_state():
    arena = Arena.from_csr([0, 1, 2], [1, 0], owner=[0, 0], dead_ends="allow").pad()
    system = System.from_graph(arena, {"p": [True, False]})
    assert system.num_states == 2
    assert repr(system) == "System(2 states, 2 transitions, propositions p)"
    assert repr(systems.product(system, ltl.translate(Formula("true")))) == (
        "Product(2 vertices, 2 edges)"
    )

"""The smallest automata of obligations."""

import itertools

import numpy as np
import pytest

from jaxgames import ltl
from jaxgames.ltl import Formula
from jaxgames.ltl._letters import letters_of
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._obligation import is_obligation
from jaxgames.ltl._parity_automaton import check_deterministic
from jaxgames.testing._ltl import _formula

NAMES = ["p", "q"]

LETTERS = range(4)

PREFIXES = [x for n in range(4) for x in itertools.product(LETTERS, repeat=n)]

CYCLES = [x for n in (1, 2) for x in itertools.product(LETTERS, repeat=n)]


def table(automaton: ltl.ParityAutomaton) -> tuple[np.ndarray, np.ndarray]:
    """Target and colour of each state and letter."""
    graph = automaton.graph
    target = np.full((graph.num_states, 4), -1)
    colour = np.zeros((graph.num_states, 4), int)
    for edge, q in enumerate(graph.sources.tolist()):
        for letter in LETTERS:
            if any(
                letter & must == must and not letter & never
                for must, never in graph.guard(edge)
            ):
                target[q, letter] = graph.targets[edge]
                colour[q, letter] = automaton.colour[edge]
    assert (target >= 0).all()
    return target, colour


def accepted(target: np.ndarray, colour: np.ndarray, cycle: tuple[int, ...]):
    """Which states accept a cycle that is read for ever."""
    size = len(target)
    at = np.arange(size)
    for _ in range(size):  # until all have come to where they go round
        for letter in cycle:
            at = target[at, letter]
    best = np.zeros(size, int)
    for _ in range(size):
        for letter in cycle:
            best = np.maximum(best, colour[at, letter])
            at = target[at, letter]
    return best % 2 == 0


def kinds(automaton: ltl.ParityAutomaton) -> set[tuple[bool, ...]]:
    """What is accepted of many words, from each state."""
    target, colour = table(automaton)
    of_cycle = [accepted(target, colour, cycle) for cycle in CYCLES]
    found = []
    for prefix in PREFIXES:
        at = np.arange(len(target))
        for letter in prefix:
            at = target[at, letter]
        found += [values[at] for values in of_cycle]
    return {tuple(row) for row in np.array(found).T.tolist()}


def obligations(seed: int, count: int, size: int):
    rng = np.random.default_rng(seed)
    while count:
        formula = _formula(rng, int(rng.integers(3, size)))
        if is_obligation(spread(normal_form(formula))):
            count -= 1
            yield formula


def looked_at(formula: Formula) -> None:
    found = ltl.deterministic(formula, propositions=NAMES)
    check_deterministic(found.graph)
    assert set(found.colour.tolist()) <= {1, 2}
    # States that a word tells apart cannot be one, in whatever automaton.
    assert len(kinds(found)) == found.num_states, formula
    for prefix in PREFIXES[::7]:
        for cycle in CYCLES[::3]:
            word = [
                [{x for i, x in enumerate(NAMES) if y >> i & 1} for y in part]
                for part in (prefix, cycle)
            ]
            assert found.accepts(*word) == formula.holds_on(*word), formula


@pytest.mark.parametrize("seed", range(2))
def test_no_state_could_be_missing(seed):
    for formula in obligations(seed, 15, 10):
        looked_at(formula)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10, 20))
def test_no_state_could_be_missing_of_many(seed):
    for formula in obligations(seed, 150, 12):
        looked_at(formula)


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("true", 1),
        ("false", 1),
        (" & ".join(f"F p{i}" for i in range(6)), 64),
        ("(p U q) | G p", 3),
        ("G(p -> X q) -> F(p & X p)", 3),
    ],
)
def test_known_sizes(text, states):
    assert ltl.deterministic(text).num_states == states


def test_what_is_none():
    for text in ("G F p", "p U G q", "G(p -> F q)"):
        assert not is_obligation(spread(normal_form(Formula.parse(text))))


def test_a_set_of_letters_that_is_a_cube():
    rng = np.random.default_rng(0)
    tables, nodes = letters_of(4), letters_of(13)
    cubes = [(a, b) for a in range(16) for b in range(16) if not a & b]
    assert all(tables.cubes(tables.of_guard((x,))) == (x,) for x in cubes)
    for _ in range(50):
        guard = tuple(cubes[i] for i in rng.integers(0, len(cubes), 3))
        for letters in (tables, nodes):
            some = letters.of_guard(guard)
            assert letters.of_guard(letters.cubes(some)) == some

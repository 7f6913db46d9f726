"""Of several deadlines the first one: what is implied, and how large automata are."""

import itertools

import numpy as np
import pytest

from jaxgames import ltl
from jaxgames.ltl import Formula
from jaxgames.ltl._implied import Implied
from jaxgames.ltl._normal_form import normal_form

LETTERS = [frozenset(x) for x in ((), "p", "q", "pq")]


@pytest.mark.parametrize(
    ("text", "states", "deterministic"),
    [
        ("G(r -> F[0:60] g)", 61, 62),
        ("G(r -> X F[0:60] g)", 62, 63),
        ("G(r -> G[0:60] g)", 61, 62),
        ("F(r & G[0:60] g)", None, 62),
        # Two that do not know of each other: each with each, and what is lost.
        ("G(p -> F[0:6] q) & G(r -> F[0:6] g)", 49, 50),
        ("F[0:300] g", 302, 303),
    ],
)
def test_automata_of_deadlines_are_as_large_as_these(text, states, deterministic):
    """Each set of open deadlines would be a state: more than there are atoms."""
    if states is not None:
        assert ltl.translate(text).num_states == states
    assert ltl.deterministic(text).num_states == deterministic


def random_text(random: np.random.Generator, size: int) -> str:
    """A formula with many deadlines."""
    if size <= 1:
        return ("p", "q", "!p", "!q")[random.integers(4)]
    kind = random.integers(8)
    if kind < 4:
        first, more = random.integers(2), random.integers(4)
        inner = random_text(random, size - 1)
        return f"{'FG'[kind % 2]}[{first}:{first + more}] ({inner})"
    left = int(random.integers(1, size)) if size > 2 else 1
    one, two = random_text(random, left), random_text(random, max(1, size - left))
    if kind == 7:
        return f"X({one})"
    sign = ("&", "|", "U", "&", "|", "R")[int(random.integers(6))]
    return f"(({one}) {sign} ({two}))"


def words():
    """All of one to three letters, with the place to which they return."""
    for length in (1, 2, 3):
        for word in itertools.product(LETTERS, repeat=length):
            for back in range(length):
                yield word[:back], word[back:]


def test_what_is_implied_is():
    random, implied, found = np.random.default_rng(5), Implied(), 0
    everything = list(words())
    some = [
        normal_form(Formula.parse(random_text(random, int(random.integers(1, 4)))))
        for _ in range(60)
    ]
    holds = [[formula.holds_on(*word) for word in everything] for formula in some]
    for i, j in itertools.product(range(len(some)), repeat=2):
        if some[i] != some[j] and implied(some[i], some[j]):
            found += 1
            assert all(y or not x for x, y in zip(holds[i], holds[j], strict=True))
    assert found > 100


@pytest.mark.parametrize("seed", range(4))
def test_automata_say_what_formulas_say(seed):
    random = np.random.default_rng(seed)
    everything = list(words())
    for _ in range(15):
        one, two = (random_text(random, int(random.integers(2, 4))) for _ in range(2))
        text = f"G(({one}) | ({two}))" if random.integers(2) else f"F({one}) & G({two})"
        formula = Formula.parse(text)
        automata = ltl.translate(formula), ltl.deterministic(formula)
        for at in random.choice(len(everything), 60, replace=False):
            word = everything[at]
            expected = formula.holds_on(*word)
            for automaton in automata:
                assert automaton.accepts(*word) == expected, (text, word)

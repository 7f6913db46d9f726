"""Automata determinised, complemented, united, and words that tell them apart."""

import itertools
import random

import numpy as np
import pytest
from repeats import first_of

from jaxgames import ltl
from jaxgames.ltl import Automaton
from jaxgames.ltl._parity_automaton import check_deterministic

NAMES = ["p", "q"]


def random_automaton(rng: np.random.Generator) -> Automaton:
    size, edges, marks = (int(rng.integers(*x)) for x in ((1, 4), (0, 9), (0, 3)))
    guards = ["p", "!p", "q", "!q", "true", "p & q", "p | q", "!p & q"]
    return Automaton.from_edges(
        rng.integers(size, size=edges),
        [guards[int(rng.integers(len(guards)))] for _ in range(edges)],
        rng.integers(size, size=edges),
        num_states=size,
        initial=sorted({int(x) for x in rng.integers(size, size=2)}),
        propositions=NAMES,
        sets=rng.integers(2, size=(marks, edges)).astype(bool),
    )


def words(rng: random.Random, count: int):
    for _ in range(count):
        yield tuple(
            [{x for x in NAMES if rng.random() < 0.5} for _ in range(length)]
            for length in (rng.randint(0, 3), rng.randint(1, 4))
        )


@pytest.mark.parametrize("seed", first_of(1, 3))
def test_words_of_what_is_made(seed):
    rng, lots = np.random.default_rng(seed), random.Random(seed)
    for _ in range(25):
        one, other = random_automaton(rng), random_automaton(rng)
        exact, rest = one.determinise(), one.complement()
        check_deterministic(exact.graph)
        united = one.union(other)
        assert one.intersect(rest).is_empty()
        for word in words(lots, 10):
            accepted = one.accepts(*word)
            assert exact.accepts(*word) == accepted
            assert rest.accepts(*word) != accepted
            assert united.accepts(*word) == (accepted or other.accepts(*word))


@pytest.mark.parametrize("seed", first_of(1, 3))
def test_words_that_tell_apart(seed):
    rng, lots, seen = np.random.default_rng(seed), random.Random(seed), set()
    for _ in range(25):
        one, other = random_automaton(rng), random_automaton(rng)
        found = one.some_word()
        assert (found is None) == one.is_empty()
        assert found is None or one.accepts(*found)
        apart = one.word_outside(other)
        seen.add(apart is None)
        if apart is not None:
            assert one.accepts(*apart)
            assert not other.accepts(*apart)
        else:
            for word in words(lots, 20):
                assert other.accepts(*word) or not one.accepts(*word)
    assert seen == {True, False}


def test_equal_formulas_have_no_word_apart():
    for one, other in (
        ("G F p & G F q", "G(F p & F q)"),
        ("p W q", "(p U q) | G p"),
        ("!(p U q)", "!p R !q"),
    ):
        pair = [ltl.translate(x, propositions=NAMES) for x in (one, other)]
        assert pair[0].word_outside(pair[1]) is None
        assert pair[1].word_outside(pair[0]) is None
    weak, strong = ltl.translate("p W q"), ltl.translate("p U q")
    prefix, cycle = weak.word_outside(strong) or ([], [])
    assert all("q" not in letter for letter in (*prefix, *cycle))


def test_automata_over_different_propositions_are_united():
    one, other = ltl.translate("G(q & !r)"), ltl.translate("F p & G q")
    united = one.union(other)
    assert united.propositions == ("q", "r", "p")
    either = ltl.Formula.parse("G(q & !r) | (F p & G q)")
    for letters in itertools.product(("", "q", "r", "p", "qr", "qp", "qrp"), repeat=2):
        prefix, cycle = [set(letters[0])], [set(letters[1])]
        assert united.accepts(prefix, cycle) == either.holds_on(prefix, cycle)
    assert one.word_outside(united) is None


def test_what_is_wrong():
    with pytest.raises(ValueError, match="more than 2 states"):
        ltl.translate("F(p & X X X q)").determinise(max_states=2)

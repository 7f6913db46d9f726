"""Runs that violate a property, and words on which a formula holds."""

import numpy as np
import pytest

from jaxgames import buchi, ltl, systems
from jaxgames.ltl import Formula
from jaxgames.systems import RunReason, System, verify_run
from jaxgames.testing import _ltl
from jaxgames.testing._words import Words

SYSTEM = System.from_graph(
    ([0, 2, 3, 3], [0, 1, 2]), {"p": [0, 1, 0], "q": [0, 0, 1]}, initial=[0]
)


def _letters(mask, names):
    return [name for i, name in enumerate(names) if mask >> i & 1]


@pytest.mark.parametrize("seed", range(60))
def test_formulas_hold_on_words_as_their_definitions_say(seed):
    rng = np.random.default_rng(seed)
    formula = _ltl._draw(rng, 0, 9)
    words = Words(_ltl.NAMES, 1 + seed % 3)
    expected = words.holds(formula)
    for row, back, holds in zip(words.letters, words.back, expected, strict=True):
        word = [_letters(int(mask), _ltl.NAMES) for mask in row]
        assert formula.holds_on(word[:back], word[back:]) == holds


@pytest.mark.parametrize("seed", range(30))
def test_lassos_that_are_found_violate_the_formula(seed):
    rng = np.random.default_rng(seed)
    formula = _ltl._draw(rng, 0, 7)
    system = _ltl.system_for(formula)
    product = systems.product(system, ltl.translate(formula, negate=True))
    found = buchi.accepting_cycle(product, solver="host")
    if found.lasso is None:
        return
    prefix = product.system_state[found.lasso.prefix]
    cycle = product.system_state[found.lasso.cycle]
    assert verify_run(system, prefix, cycle, formula)
    assert verify_run(system, prefix, cycle, product.automaton)
    negated = Formula("!", (formula,))
    assert verify_run(system, prefix, cycle, negated).reason == RunReason.NOT_VIOLATED


@pytest.mark.parametrize(
    ("prefix", "cycle", "deadlock", "reason", "state"),
    [
        ([0, 1], [2], "stutter", RunReason.OK, -1),
        ([0, 1], [2], "reject", RunReason.NO_TRANSITION, 2),
        ([0], [], "stutter", RunReason.NO_CYCLE, -1),
        ([0], [3], "stutter", RunReason.NO_STATE, 3),
        ([0], [-1], "stutter", RunReason.NO_STATE, -1),
        ([1], [2], "stutter", RunReason.NOT_INITIAL, 1),
        ([0], [1], "stutter", RunReason.NO_TRANSITION, 1),
        ([0], [2], "stutter", RunReason.NO_TRANSITION, 0),
        ([], [0], "stutter", RunReason.NOT_VIOLATED, -1),
    ],
)
def test_what_is_wrong(prefix, cycle, deadlock, reason, state):
    verdict = verify_run(SYSTEM, prefix, cycle, "G !p", deadlock=deadlock)
    assert (verdict.reason, verdict.vertex) == (reason, state)


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="no proposition 'r'"):
        verify_run(SYSTEM, [], [0], "G r")
    with pytest.raises(ValueError, match="prefix must be a list of states"):
        verify_run(SYSTEM, [0.5], [0], "G p")
    with pytest.raises(ValueError, match="the cycle of a word needs a letter"):
        Formula.parse("p").holds_on([["p"]], [])

"""Formulas of linear temporal logic, and conditional probabilities."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from test_check import rewarded

from jaxgames import ltl, mdp
from jaxgames.mdp import PropertyError
from jaxgames.testing import _exact as exact


def random_path(rng, depth: int) -> str:
    """A formula over two labels, in parentheses throughout."""
    kind = int(rng.integers(9)) if depth else 0
    one, other = (random_path(rng, depth - 1) if depth else "" for _ in range(2))
    match kind:
        case 0 | 1:
            return str(rng.choice(['"a"', '"b"', '!"a"', "true"]))
        case 2:
            return f"({one} & {other})"
        case 3:
            return f"({one} | {other})"
        case 4 | 5:
            return f"({rng.choice(['X', 'F', 'G'])} {one})"
        case 6:
            return f"(!{one})"
        case _:
            return f"({one} {rng.choice(['U', 'W', 'R'])} {other})"


def paths(seed: int, count: int, depth: int = 3):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        path = random_path(rng, depth)
        if any(x in path for x in "XFGUWR"):
            found.append(path)
    return found


def lasso(rng, size: int) -> mdp.MDP:
    """A chain without lots: a path that comes back to one of its states."""
    to = np.append(np.arange(1, size), rng.integers(size))
    labels = {"a": rng.random(size) < 0.5, "b": rng.random(size) < 0.5}
    return mdp.MDP.from_arrays(
        range(size + 1), range(size + 1), to, np.ones(size), labels=labels
    )


def test_formulas_on_single_words():
    rng = np.random.default_rng(1)
    held = 0
    for path in paths(seed=2, count=120):
        model = lasso(rng, int(rng.integers(1, 6)))
        labels = model.labels or {}
        letters = [
            [name for name in "ab" if labels[name][s]] for s in range(model.num_states)
        ]
        back = int(model.columns[-1])
        expected = ltl.Formula.parse(path).holds_on(letters[:back], letters[back:])
        found = mdp.check(model, f"P=? [ {path} ]")
        assert found.value == expected, path
        held += expected
    assert 20 < held < 100


def labelled(model: mdp.MDP) -> mdp.MDP:
    labels = model.labels or {}
    return mdp.MDP.from_arrays(
        *(model.row_group_offsets, model.row_offsets, model.columns, model.probs),
        labels={"a": labels["goal"], "b": labels["way"]},
    )


def test_a_formula_and_its_opposite_share_what_there_is():
    """Each is found by an automaton of its own."""
    for model, path in zip(rewarded(seed=21, count=60), paths(3, 60), strict=True):
        model = labelled(model)
        large = mdp.check(model, f"Pmax=? [ {path} ]")
        small = mdp.check(model, f"Pmin=? [ {path} ]")
        groups = np.asarray(model.row_group_offsets)
        chain = mdp.induced_chain(model, groups[:-1])
        one = mdp.check(chain, f"Pmax=? [ {path} ]")
        other = mdp.check(chain, f"Pmax=? [ !({path}) ]")
        assert np.all(one.lower + other.lower <= 1 + 1e-12), path
        assert np.all(one.upper + other.upper >= 1 - 1e-12), path
        assert np.all(one.upper - one.lower <= 1e-6)
        assert np.all(small.lower <= one.upper), path
        assert np.all(one.lower <= large.upper), path


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('F ("a" & X !"a")', None),
        ('(F "a") & true', 'F "a"'),
        ('("b" U "a") | (false & X "a")', '"b" U "a"'),
        ('X X F "a"', None),
        ('(G F "a") & (F G "b") & (F true)', '(G F "a") & (F G "b")'),
        ('(F<=3 "a") & (G true)', 'F<=3 "a"'),
        ('("b" U[1,3] "a") & X true', '"b" U[1,3] "a"'),
        ('("b" W<=3 "a") & X true', '"b" W<=3 "a"'),
    ],
)
def test_automata_agree_with_what_needs_none(text, same):
    for model in rewarded(seed=22, count=8):
        model = labelled(model)
        for optimum in ("min", "max"):
            found = mdp.check(model, f"P{optimum}=? [ {text} ]")
            assert np.all(found.upper - found.lower <= 1e-6 * found.lower + 1e-15)
            if same is not None:
                again = mdp.check(model, f"P{optimum}=? [ {same} ]")
                assert np.all(found.lower <= again.upper + 1e-15)
                assert np.all(again.lower <= found.upper + 1e-15)


def test_formulas_that_are_too_large():
    model = labelled(next(iter(rewarded(seed=1, count=1))))
    text = " & ".join(f'(F ("a" & X{k * " X"} G F "b"))' for k in range(9))
    with pytest.raises(PropertyError, match="takes too large an automaton"):
        mdp.check(model, f"Pmax=? [ {text} ]")
    with pytest.raises(PropertyError, match="inside of a formula may be 50 at most"):
        mdp.check(model, 'Pmax=? [ G F<=51 "a" ]')


# ---- conditional probabilities -------------------------------------------------------


def conditional(model: mdp.MDP, start: int) -> Fraction | None:
    """The largest over schedulers that know what was seen: by all of them."""
    labels = model.labels or {}
    size = model.num_states
    flags = list(itertools.product((False, True), repeat=2))
    number = {
        (s, *f): i for i, (s, f) in enumerate(itertools.product(range(size), flags))
    }
    groups = np.asarray(model.row_group_offsets)

    def enter(state, one, other):
        return number[
            state, one or bool(labels["a"][state]), other or bool(labels["b"][state])
        ]

    reached, todo = set(), [enter(start, False, False)]
    back = {i: x for x, i in number.items()}
    while todo:
        at = todo.pop()
        if at in reached:
            continue
        reached.add(at)
        state, one, other = back[at]
        for choice in range(groups[state], groups[state + 1]):
            for to, _ in exact.branches(model, choice):
                todo.append(enter(to, one, other))
    order = sorted(reached)
    place = {at: i for i, at in enumerate(order)}
    options = [range(groups[back[at][0]], groups[back[at][0] + 1]) for at in order]
    if np.prod([len(x) for x in options]) > 300:
        return Fraction(-1)  # not looked at
    best = None
    both = [all(back[at][1:]) for at in order]
    seen = [back[at][2] for at in order]
    for scheduler in itertools.product(*options):
        chain = [
            [
                (place[enter(to, *back[at][1:])], p)
                for to, p in exact.branches(model, choice)
            ]
            for at, choice in zip(order, scheduler, strict=True)
        ]
        everywhere = [True] * len(order)
        first = place[enter(start, False, False)]
        over = exact.chain_values(chain, seen, everywhere)[first]
        if over:
            share = exact.chain_values(chain, both, everywhere)[first] / over
            best = share if best is None else max(best, share)
    return best


def test_conditional_probabilities():
    looked_at = 0
    rng = np.random.default_rng(31)
    for _ in range(9):
        # In 0 and 3 there is a choice; 1 has a, 2 has b, and each may miss the other.
        columns, probs, rows = [], [], [0]
        for state in (0, 0, 1, 2, 3, 3, 4):
            to = {1: [2, 4, 0], 2: [1, 4, 3], 4: [4]}.get(state)
            to = rng.integers(0, 5, 3).tolist() if to is None else to
            weights = rng.integers(1, 6, len(to))
            columns += to
            probs += (weights / weights.sum()).tolist()
            rows.append(len(columns))
        model = mdp.MDP.from_arrays(
            *([0, 2, 3, 4, 6, 7], rows, columns, probs),
            labels={"a": np.arange(5) == 1, "b": np.arange(5) == 2},
        )
        value = conditional(model, 0)
        text = 'Pmax=? [ F "a" || F "b" ]'
        if value is None:
            with pytest.raises(PropertyError, match="has probability zero in state 0"):
                mdp.check(model, text)
        elif value >= 0:
            found = mdp.check(model, text)
            assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0])
            assert found.upper[0] - found.lower[0] <= 1e-6
            looked_at += 0 < value < 1
    assert looked_at > 3
    chain = mdp.induced_chain(model, np.asarray(model.row_group_offsets)[:-1])
    for text, message in (
        ('Pmax=? [ G "a" || F "b" ]', "only F without a bound is"),
        ('Pmax=? [ F "a" || F<=3 "b" ]', "only F without a bound is"),
    ):
        with pytest.raises(PropertyError, match=message):
            mdp.check(chain, text)

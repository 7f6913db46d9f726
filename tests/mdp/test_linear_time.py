"""Formulas of linear temporal logic, and conditional probabilities."""

import dataclasses
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
        (
            " & ".join(f'(F ("a" & X{k * " X"} G F "b"))' for k in range(9)),
            '(F "a") & (G F "b")',
        ),
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


def checked(model, path) -> bool:
    """Whether a formula holds on the one play of a model, as `check` says too."""
    letters = [
        [x for x, where in model.labels.items() if where[s]]
        for s in range(model.num_states)
    ]
    back = int(model.columns[-1])
    expected = ltl.Formula.parse(path).holds_on(letters[:back], letters[back:])
    assert mdp.check(model, f"P=? [ {path} ]").value == expected
    return expected


@pytest.mark.parametrize(("first", "steps"), [("F", 13), ("G F", 13), ("G F", 9)])
def test_what_is_remembered_of_many_steps(first, steps):
    """An automaton of thousands of states, where a few would do for one word."""
    rng = np.random.default_rng(5)
    path = f'{first} ("a" & {steps * "X "}!"b")'
    held = 0
    for size in (2, 4, 5):
        held += checked(lasso(rng, size), path)
    assert 0 < held < 3


def test_properties_of_states_with_parts_in_common():
    """An automaton for which `"b"` and `!"b"` are unrelated has too many states."""
    path = '(!"b" W G !"a") & (!"c" W ("a" | "c"))'
    path = f'F (({path}) W (!!"c" & ((!"c" R "b") W X "c")))'
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(20):
        size = int(rng.integers(2, 6))
        model = lasso(rng, size)
        names = {x: rng.random(size) < 0.5 for x in "abc"}
        model = dataclasses.replace(model, labels=names)
        held += checked(model, path)
    assert 0 < held < 20


def test_formulas_that_are_too_large():
    model = labelled(next(iter(rewarded(seed=1, count=1))))
    for text, said in (
        (f'F ("a" & {15 * "X "}"b")', "an automaton: .*more than 10000 states$"),
        (f'G F ("a" & {15 * "X "}"b")', "an automaton: .*more than 10000 states$"),
    ):
        with pytest.raises(PropertyError, match=said):
            mdp.check(model, f"Pmax=? [ {text} ]")
    long = f'F ("a" & {7 * "X "}"b")'
    with pytest.raises(PropertyError, match="129 times 129 states, expected at most"):
        mdp.check(model, f"Pmax=? [ {long} || {long} ]")
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


STEPS = {
    'F "a"': (lambda q, a, b: q or a, any),
    'G "b"': (lambda q, a, b: q or not b, lambda seen: not any(seen)),
    'G F "a"': (lambda q, a, b: a, any),
    'F G "b"': (lambda q, a, b: b, all),
    '"a" U "b"': (lambda q, a, b: q or (2 if b else not a), lambda seen: 2 in seen),
    '!(F "b")': (lambda q, a, b: q or b, lambda seen: not any(seen)),
    'X "a"': (lambda q, a, b: [1, 2 + a, 2, 3][q], lambda seen: 3 in seen),
    '(G F "b") & (F "a")': (
        lambda q, a, b: (b, a or (q and q[1])),
        lambda seen: any(x for x, _ in seen) and all(y for _, y in seen),
    ),
}
"""Formulas as deterministic automata, and which states seen for ever are good."""


def shares_of(model: mdp.MDP, goal: str, condition: str) -> set[Fraction]:
    """What schedulers come to that meet a condition: the share that meet a goal, too.

    By all memoryless ones of the product that stop in some end component for what is
    true there for ever, and all end components by their definition.
    """
    labels, groups = model.labels or {}, np.asarray(model.row_group_offsets)
    (step, good), (move, holds) = STEPS[goal], STEPS[condition]

    def enter(state: int, q, r) -> tuple:
        letter = bool(labels["a"][state]), bool(labels["b"][state])
        return state, step(q, *letter), move(r, *letter)

    states, rows = [enter(0, 0, 0)], []
    for state, q, r in states:
        rows.append([])
        for choice in range(groups[state], groups[state + 1]):
            to = [(enter(t, q, r), p) for t, p in exact.branches(model, choice)]
            states += [x for x in dict.fromkeys(x for x, _ in to) if x not in states]
            rows[-1].append([(states.index(x), p) for x, p in to])
    size = len(states)
    if size > 8:
        return set()
    ends = [set() for _ in states]
    for count in range(1, size + 1):
        for some in itertools.combinations(range(size), count):
            kept = [[[t for t, _ in row] for row in rows[s]] for s in some]
            kept = [[row for row in own if set(row) <= {*some}] for own in kept]
            back = {some[0]}
            for _ in some:
                back |= {s for s, own in zip(some, kept, strict=True)
                         if any(back & {*row} for row in own)}  # fmt: skip
            ahead = {some[0]}
            for _ in some:
                ahead |= {t for s, own in zip(some, kept, strict=True)
                          if s in ahead for row in own for t in row}  # fmt: skip
            if all(kept) and back == ahead == {*some}:
                true = holds({states[s][2] for s in some})
                won = true and good({states[s][1] for s in some})
                for s in some:
                    ends[s].add(size + (0 if won else 1 if true else 2))
    found, nowhere = set(), [[(size + k, Fraction(1))] for k in range(4)]
    options = [own + [[(e, Fraction(1))] for e in sorted(ends[s])]
               for s, own in enumerate(rows)]  # fmt: skip
    if np.prod([len(x) for x in options]) > 300:
        return set()
    for picked in itertools.product(*options):
        chain = [*picked, *nowhere]
        everywhere = [True] * len(chain)
        won, lost, failed = (
            exact.chain_values(chain, [i == size + k for i in range(len(chain))],
                               everywhere)[0] for k in range(3)
        )  # fmt: skip
        if won + lost + failed == 1 and won + lost:
            found.add(won / (won + lost))
    return found


def test_conditional_probabilities_of_formulas_against_all_schedulers():
    rng = np.random.default_rng(8)
    asked = between = 0
    for model in map(labelled, rewarded(seed=33, count=500, most=3)):
        goal, condition = rng.choice(list(STEPS), 2, replace=False)
        shares = shares_of(model, goal, condition)
        for optimum, best in (("min", min), ("max", max)):
            if shares:
                text = f"P{optimum}=? [ {goal} || {condition} ]"
                found, value = mdp.check(model, text), best(shares)
                assert found.lower[0] <= value <= found.upper[0], text
                assert found.upper[0] - found.lower[0] <= 1e-6 * value
                exactly = mdp.check(model, text, exact=True)
                assert exactly.exact[0] == value
                assert not any(exactly.exact[1:])
                if optimum == "max":
                    one = Fraction(value).limit_denominator(10**9)
                    ask = text.replace("max=?", f"<={one.numerator}/{one.denominator}")
                    assert mdp.check(model, ask).value is (value <= one)
                asked, between = asked + 1, between + (0 < value < 1)
    assert asked > 200
    assert between > 5


def test_a_condition_that_is_not_met():
    model = mdp.MDP.from_arrays(
        [0, 1, 2], [0, 1, 2], [1, 1], [1, 1], labels={"a": [1, 0], "b": [0, 0]}
    )
    for text in ('P=? [ F "b" || G "a" ]', 'P>0.5 [ F "a" || F<=3 "b" ]'):
        with pytest.raises(PropertyError, match="has probability zero in state 0"):
            mdp.check(model, text)
    found = mdp.check(model, 'P=? [ X "a" || F G !"a" ]')
    assert (found.lower[0], found.upper[0]) == (0, 0)
    assert (found.lower[1], found.upper[1]) == (0, 1)  # nothing is known of it
    text = f'F ("a" & {15 * "X "}"b")'
    with pytest.raises(PropertyError, match="takes too large an automaton"):
        mdp.check(model, f'P=? [ {text} || G F "a" | true ]')

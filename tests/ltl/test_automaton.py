"""Automata: guards, acceptance, and what is made of them."""

import dataclasses
import itertools

import numpy as np
import pytest

from jaxgames import buchi, io, ltl, systems
from jaxgames.ltl import Automaton, Kind, _guards
from jaxgames.testing._words import Words

NAMES = ["p", "q"]
WORDS = [Words(NAMES, length) for length in (1, 2, 3)]


def random_automaton(random: np.random.Generator, names=NAMES) -> Automaton:
    size, num_sets = int(random.integers(1, 6)), int(random.integers(0, 3))
    edges = int(random.integers(0, 4 * size + 1))
    return Automaton.from_edges(
        random.integers(size, size=edges),
        [
            [(must & more, never & ~must)]
            for must, more, never in random.integers(
                1 << len(names), size=(edges, 3)
            ).tolist()
        ],
        random.integers(size, size=edges),
        num_states=size,
        initial=random.integers(size, size=random.integers(1, 3)),
        propositions=names,
        sets=random.integers(2, size=(num_sets, edges)) == 0,
    )


def accepted(automaton: Automaton) -> np.ndarray:
    return np.concatenate([words.accepted(automaton) for words in WORDS[:2]])


# ---- guards ----------------------------------------------------------------------


def holds(guard: _guards.Guard, letter: int) -> bool:
    return any(letter & must == must and not letter & no for must, no in guard)


def random_guard(random: np.random.Generator, width: int, count: int) -> _guards.Guard:
    cubes = random.integers(1 << width, size=(count, 2)).tolist()
    return tuple((must, never & ~must) for must, never in cubes)


def test_guards_are_boolean_functions():
    random = np.random.default_rng(0)
    letters = range(1 << 5)
    for _ in range(150):
        one = random_guard(random, 5, int(random.integers(0, 5)))
        other = random_guard(random, 5, int(random.integers(0, 5)))
        first = [holds(one, x) for x in letters]
        second = [holds(other, x) for x in letters]
        pairs = list(zip(first, second, strict=True))
        for guard, expected in (
            (_guards.either(one, other), [a or b for a, b in pairs]),
            (_guards.both(one, other), [a and b for a, b in pairs]),
            (
                _guards.both(one, _guards.negated(other)),
                [a and not b for a, b in pairs],
            ),
            (_guards.negated(one), [not a for a in first]),
            (_guards.simplified(one), first),
        ):
            assert [holds(guard, x) for x in letters] == expected
            # Nothing in it is needless.
            for cube in guard:
                rest = tuple(x for x in guard if x != cube)
                assert [holds(rest, x) for x in letters] != expected
        implied = all(b or not a for a, b in pairs)
        assert all(_guards.covers(other, cube) for cube in one) == implied


def test_guards_have_few_enough_cubes():
    """Two formulas of 55 cubes each: their conjunction has 3025, in a file as well."""

    def pairs(letter):
        names = [f"{letter}{i}" for i in range(11)]
        return " | ".join(map(" & ".join, itertools.combinations(names, 2)))

    guard = f"({pairs('p')}) & ({pairs('q')})"
    with pytest.raises(ValueError, match="comes to 3025 cubes, more than 2048"):
        Automaton.from_edges([0], [guard], [0])
    many = tuple((1 << i, 0) for i in range(2049))
    with pytest.raises(ValueError, match="2049 times 2049 cubes, more than 4194304"):
        _guards.both(many, many)


def test_a_guard_of_a_file_has_few_enough_cubes(tmp_path):
    path = tmp_path / "large.hoa"
    sides = [range(11), range(11, 22)]
    label = " & ".join(
        f"({' | '.join(f'{i} & {j}' for i, j in itertools.combinations(side, 2))})"
        for side in sides
    )
    names = " ".join(f'"p{i}"' for i in range(22))
    path.write_text(
        f"HOA: v1\nStates: 1\nStart: 0\nAP: 22 {names}\nAcceptance: 1 Inf(0)\n"
        f"--BODY--\nState: 0\n[{label}] 0 {{0}}\n--END--\n"
    )
    with pytest.raises(io.FormatError, match=r"large\.hoa.*comes to 3025 cubes"):
        io.load(path)


CHANGED = {
    "offsets": ([0, 3, 2], "must go from 0 to 3, got 0 to 2"),
    "targets": ([0, 1, 2], r"targets\[2\] is 2, expected a number from 0 to 1"),
    "initial": ([-1], r"initial\[0\] is -1, expected a number from 0 to 1"),
}
"""Of two states and three edges, and what is said of them."""

CUBES = {
    "cube_offsets": ([0, 1, 1, 3], r"cube_offsets\[2\] is 1, expected 2 or more"),
    "required": ([1, 1], "cube_offsets must go from 0 to 2, got 0 to 3"),
    "sets": ([[1, 0]], r"sets must hold booleans of shape \(1, 3\), got"),
}

LABELS = {
    "labels": ([[True, True], [True, True]], r"labels must hold booleans of shape"),
    "names": (["a"], "names must have 2 names, got 1"),
}

VERTICES = {
    "accepting": ([True], r"accepting must hold booleans of shape \(\d+,\)"),
    "automaton_state": (None, r"automaton_state\[0\] is 9, expected .* from 0 to 1"),
    "system_state": (None, r"system_state\[0\] is -1, expected a number"),
}


def changed(value, name, values):
    like = getattr(value, name)
    if values is None:
        values = like.copy()
        values[0] = 9 if name == "automaton_state" else -1
    elif isinstance(like, np.ndarray):
        values = np.array(values, like.dtype)
    return dataclasses.replace(value, **{name: values})


def test_what_was_changed_by_hand_is_checked():
    automaton = Automaton.from_edges(
        [0, 0, 1], ["true", "!on", "!on"], [0, 1, 1], accepting=[False, True]
    )
    system = systems.System.from_graph(([0, 2, 3], [0, 1, 0]), {"on": [False, True]})
    found = systems.product(system, automaton, engine="host")
    answer = buchi.accepting_cycle(found, solver="host")
    for name, (values, message) in (CHANGED | CUBES).items():
        wrong = changed(automaton, name, values)
        for use in (wrong.is_empty, lambda x=wrong: systems.product(system, x)):
            with pytest.raises(ValueError, match=f"automaton.*{message}"):
                use()
    for name, (values, message) in (CHANGED | LABELS).items():
        wrong = changed(system, name, values)
        with pytest.raises(ValueError, match=f"system.*{message}"):
            systems.product(wrong, automaton)
    for name, (values, message) in VERTICES.items():
        wrong = changed(found, name, values)
        for use in (buchi.accepting_cycle, lambda x: buchi.verify(x, answer)):
            with pytest.raises(ValueError, match=f"product.*{message}"):
                use(wrong)
    wrong = dataclasses.replace(
        found, automaton=changed(automaton, "targets", [0, 1, 7])
    )
    with pytest.raises(ValueError, match=r"automaton.targets\[2\] is 7"):
        buchi.accepting_cycle(wrong)


def test_truth_tables_become_short_guards():
    every = [(letter, letter ^ 255) for letter in range(256)]
    assert _guards.simplified(every) == _guards.TRUE
    half = [cube for cube in every if cube[0] & 5 == 5]
    assert _guards.simplified(half) == ((5, 0),)
    assert _guards.simplified([]) == _guards.FALSE


def test_truth_tables_shorten_guards_as_cubes_do(monkeypatch):
    random = np.random.default_rng(1)
    places = [3, 5, 6, 17, 40, 63]
    some = [random_guard(random, 6, int(random.integers(1, 12))) for _ in range(150)]

    def spread(mask: int) -> int:
        return sum(1 << p for i, p in enumerate(places) if mask >> i & 1)

    wide = [[(spread(a), spread(b)) for a, b in guard] for guard in some]
    by_tables = [_guards.simplified(guard) for guard in wide]
    monkeypatch.setattr(_guards, "TABLES_UP_TO", -1)
    assert by_tables == [_guards.simplified(guard) for guard in wide]


def test_guards_are_given_as_text_or_masks():
    automaton = Automaton.from_edges(
        [0, 0, 1, 1, 1],
        ["p -> q", [(1, 2), (3, 3)], "p <-> !q", "p & !p", "!(p | false)"],
        [0, 1, 1, 0, 0],
    )
    assert automaton.propositions == ("p", "q")
    assert automaton.num_edges == 4  # one cannot be taken
    letters = np.arange(4, dtype=np.uint64)
    assert automaton.enabled(letters).T.astype(int).tolist() == [
        [1, 0, 1, 1],
        [0, 1, 0, 0],
        [0, 1, 1, 0],
        [1, 0, 1, 0],
    ]
    assert automaton.letter(["q", "other"]) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": [0, 2]}, "state 2 is not there: num_states is 2"),
        ({"targets": [0, -1]}, "targets must hold states"),
        ({"sources": [0.5, 1]}, "sources must hold states"),
        ({"initial": 3}, "state 3 is not there"),
        ({"targets": [0]}, "must have the same length, got 2, 2 and 1"),
        ({"guards": ["p", "X p"]}, "a guard must be Boolean, got 'X p'"),
        (
            {"guards": ["p", "q"], "propositions": ["p"]},
            "no proposition 'q', .* one of p",
        ),
        ({"guards": ["p", [(2, 0)]]}, "bits of the 1 propositions alone, got 0x2"),
        ({"propositions": ["p", "p"]}, "there are two propositions 'p'"),
        ({"propositions": map(str, range(65))}, "at most 64 propositions, got 65"),
        (
            {"accepting": [True]},
            "one boolean for each state \\(2\\), .* shape \\(1,\\)",
        ),
        ({"accepting": [0, 1], "sets": [[0, 1]]}, "accepting states or sets of edges"),
        (
            {"sets": [[True]]},
            "sets must have shape \\[N, E\\] with E = 2, got \\(1, 1\\)",
        ),
    ],
)
def test_wrong_automata(change, message):
    given = {"sources": [0, 1], "guards": ["p", "!p"], "targets": [1, 0]}
    given |= {"num_states": 2} | change
    with pytest.raises(ValueError, match=message):
        Automaton.from_edges(**given)


# ---- acceptance ------------------------------------------------------------------


def test_words_are_accepted_as_by_matrices():
    random = np.random.default_rng(1)
    some = 0
    for _ in range(12):
        automaton = random_automaton(random)
        for words in WORDS:
            expected = words.accepted(automaton)
            some += expected.sum()
            for i in random.choice(len(expected), min(25, len(expected)), False):
                letters = [
                    {x for k, x in enumerate(NAMES) if letter >> k & 1}
                    for letter in words.letters[i]
                ]
                back = words.back[i]
                assert automaton.accepts(letters[:back], letters[back:]) == expected[i]
    assert some > 100
    with pytest.raises(ValueError, match="the cycle of a word needs a letter"):
        automaton.accepts([{"p"}], [])


def test_accepting_states():
    automaton = ltl.translate("GF p")
    assert automaton.is_state_based
    assert automaton.accepting.sum() == 1
    generalised = ltl.translate("GF p", generalised=True)
    assert not generalised.is_state_based
    with pytest.raises(ValueError, match="has 1 acceptance set of edges: call degen"):
        generalised.accepting  # noqa: B018
    assert repr(ltl.translate("true", generalised=True)) == (
        "Automaton(1 state, 1 edge, 0 acceptance sets, propositions none)"
    )


def test_what_is_made_of_automata_accepts_the_right_words():
    random = np.random.default_rng(2)
    lucky = 0
    for _ in range(60):
        automaton, other = random_automaton(random), random_automaton(random)
        expected = accepted(automaton)
        lucky += 0 < expected.sum() < len(expected)
        plain = automaton.degeneralise()
        assert plain.num_sets == 1
        assert plain.is_state_based
        limit = automaton.num_states * (automaton.num_sets + 1)
        assert plain.num_states <= limit
        np.testing.assert_array_equal(accepted(plain), expected)
        np.testing.assert_array_equal(accepted(automaton.complete()), expected)
        np.testing.assert_array_equal(
            accepted(automaton.intersect(other)), expected & accepted(other)
        )
        if automaton.is_empty():
            assert not expected.any()
        assert automaton.is_empty() == plain.is_empty()
    assert lucky > 20


def test_complete_automata_take_every_letter():
    random = np.random.default_rng(3)
    letters = np.arange(4, dtype=np.uint64)
    for _ in range(30):
        full = random_automaton(random).complete()
        enabled = full.enabled(letters)
        for q in range(full.num_states):
            assert enabled[:, full.sources == q].any(axis=1).all()
        assert full.complete() is full


def test_propositions_of_an_intersection():
    one = ltl.translate("G(b -> F a)")
    other = ltl.translate("F(c & !b)")
    found = one.intersect(other)
    assert found.propositions == ("a", "b", "c")
    assert found.accepts([{"b"}], [{"a"}, {"c"}])
    assert not found.accepts([{"b"}], [{"c"}])
    assert not found.accepts([], [{"a"}, {"b", "c"}])


# ---- components ------------------------------------------------------------------


def cycles(automaton: Automaton, component: set[int]) -> list[set[int]]:
    """The sets of edges of all simple cycles of a component, and of pairs of those."""
    found = []

    def search(start: int, here: int, path: list[int], seen: set[int]) -> None:
        for e in range(automaton.offsets[here], automaton.offsets[here + 1]):
            there = int(automaton.targets[e])
            if there == start:
                found.append({*path, e})
            elif there in component and there not in seen and there > start:
                search(start, there, [*path, e], {*seen, there})

    for q in component:
        search(q, q, [], {q})
    return found


def test_kinds_of_components():
    random = np.random.default_rng(4)
    letters = np.arange(4, dtype=np.uint64)
    kinds = set()
    for _ in range(150):
        automaton = random_automaton(random)
        label, kind = automaton.components()
        assert len(kind) == label.max() + 1
        for c in range(len(kind)):
            component = set(np.flatnonzero(label == c).tolist())
            every = cycles(automaton, component)
            meet = [all(one[list(x)].any() for one in automaton.sets) for x in every]
            # A walk round all edges of a component meets most.
            inside = set().union(*every)
            accepts = bool(every) and all(
                one[list(inside)].any() for one in automaton.sets
            )
            assert (kind[c] != Kind.REJECTING) == accepts
            if accepts:
                assert (kind[c] == Kind.STRONG) == (not all(meet))
            if kind[c] in (Kind.TERMINAL, Kind.WEAK):
                enabled = automaton.enabled(letters)[:, sorted(inside)]
                tails = automaton.sources[sorted(inside)]
                total = all(enabled[:, tails == q].any(1).all() for q in component)
                assert (kind[c] == Kind.TERMINAL) == total
            kinds.add(kind[c])
    assert kinds == set(Kind)


def test_no_state_at_all():
    empty = Automaton.from_edges([], [], [], initial=[])
    assert empty.num_states == 0
    assert empty.is_empty()
    assert not empty.accepts([], [set()])
    assert empty.components().kind == ()
    assert empty.degeneralise().num_states == 0
    assert empty.complete().num_states == 1
    assert empty.complete().is_empty()
    pairs = itertools.product([empty, ltl.translate("p")], repeat=2)
    assert [a.intersect(b).is_empty() for a, b in pairs] == [True, True, True, False]

"""The Hanoi Omega-Automata format, read and written."""

import gzip
import itertools
from unittest import mock

import numpy as np
import pytest

from jaxgames import io, ltl
from jaxgames.io import FormatError, _hoa_loop, _pieces, _texts, hoa
from jaxgames.io._whole import Whole
from jaxgames.ltl import Automaton

HEADER = 'HOA: v1\nStates: 2\nStart: 0\nAP: 2 "a" "b"\nAcceptance: 1 Inf(0)\n--BODY--\n'
BODY = "State: 0 {0}\n[0 & !1] 1\n[1] 0\nState: 1\n[t] 1\n--END--\n"


def rows(automaton: Automaton) -> list[tuple]:
    """Edges with the letters that take them."""
    letters = np.arange(1 << len(automaton.propositions), dtype=np.uint64)
    return [
        (int(q), int(r), letters[takes].tolist(), marks.tolist())
        for q, r, takes, marks in zip(
            automaton.sources,
            automaton.targets,
            automaton.enabled(letters).T,
            automaton.sets.T,
            strict=True,
        )
    ]


def same(one: Automaton, other: Automaton) -> bool:
    return (
        rows(one) == rows(other)
        and one.propositions == other.propositions
        and one.initial.tolist() == other.initial.tolist()
        and one.num_states == other.num_states
        and one.name == other.name
    )


def test_explicit_labels_and_accepting_states():
    found = hoa.loads(HEADER + BODY)
    assert found.propositions == ("a", "b")
    assert found.initial.tolist() == [0]
    assert found.is_state_based
    assert found.accepting.tolist() == [True, False]
    assert rows(found) == [
        (0, 1, [1], [True]),
        (0, 0, [2, 3], [True]),
        (1, 1, [0, 1, 2, 3], [False]),
    ]


def test_implicit_labels_and_accepting_edges():
    found = hoa.loads(
        'HOA: v1 States: 1 Start: 0 AP: 2 "a" "b" Acceptance: 2 (Inf(0) & Inf(1))'
        " --BODY-- State: 0 0 0 {0} 0 {1} 0 {0 1} --END--"
    )
    assert rows(found) == [
        (0, 0, [0], [False, False]),
        (0, 0, [1], [True, False]),
        (0, 0, [2], [False, True]),
        (0, 0, [3], [True, True]),
    ]
    assert not found.is_state_based
    assert found.accepts([], [{"a"}, {"b"}])
    assert not found.accepts([], [{"a"}])


def test_implicit_labels_are_united():
    found = hoa.loads(HEADER + "State: 0 0 1 0 1 State: 1 {0} 1 1 1 1 --END--")
    assert rows(found) == [
        (0, 0, [0, 2], [False]),
        (0, 1, [1, 3], [False]),
        (1, 1, [0, 1, 2, 3], [True]),
    ]


def test_state_labels_aliases_comments_names_and_several_starts():
    found = hoa.loads(
        """/* first /* nested */ */ HOA: v1
        name: "a \\"good\\" one"
        tool: "some" "1.0" properties: state-labels weird-1 lower: 3 "x" t y
        Alias: @a 0 Alias: @not-both !(@a & 1)
        Start: 1 Start: 0 Start: 1
        AP: 2 "a" "x[0] >= 2"
        Acceptance: 1 Inf(!0)
        --BODY-- State: [@not-both | @a & f] 0 "first" 1 {0} 0
        State: [t] 1 {0} 0 --END--"""
    )
    assert found.name == 'a "good" one'
    assert found.propositions == ("a", "x[0] >= 2")
    assert found.initial.tolist() == [0, 1]
    assert rows(found) == [
        (0, 1, [0, 1, 2], [False]),
        (0, 0, [0, 1, 2], [True]),
        (1, 0, [0, 1, 2, 3], [False]),
    ]


@pytest.mark.parametrize(
    ("condition", "sets"),
    [
        ("t", []),
        ("f", [[0, 0, 0]]),
        ("Inf(0)", [[1, 0, 1]]),
        ("Inf(!0)", [[0, 1, 0]]),
        ("Inf(1) & Inf(0)", [[0, 1, 1], [1, 0, 1]]),
        ("Inf(0) | Inf(1)", [[1, 1, 1]]),
        ("(Inf(0) | t) & Inf(1)", [[0, 1, 1]]),
        ("Inf(0) & Inf(1) | f", [[1, 0, 1], [0, 1, 1]]),
        ("Inf(!1) | Inf(0) & Inf(1)", [[1, 0, 1], [1, 1, 1]]),
    ],
)
def test_conditions(condition, sets):
    found = hoa.loads(
        f"HOA: v1 Start: 0 Acceptance: 2 {condition} --BODY-- State: 0"
        "[t] 0 {0} [t] 1 {1} State: 1 [t] 0 {0 1} --END--"
    )
    assert found.sets.astype(int).tolist() == sets


def test_without_initial_states_or_states_nothing_is_accepted():
    assert hoa.loads(
        "HOA: v1 Acceptance: 0 t --BODY-- State: 0 [t] 0 --END--"
    ).is_empty()
    empty = hoa.loads("HOA: v1 States: 0 Acceptance: 0 t --BODY-- --END--")
    assert empty.num_states == 0
    assert empty.is_empty()


def test_several_automata_in_a_file(tmp_path):
    path = tmp_path / "many.hoa.gz"
    aborted = (
        "HOA: v1 Acceptance: 1 Inf(--ABORT--\n" + HEADER + "State: 0 [0] --ABORT--"
    )
    with gzip.open(path, "wt") as file:
        file.write(HEADER + BODY + aborted + HEADER + BODY.replace("{0}", ""))
    found = list(hoa.load_all(path))
    assert [x.sets.any() for x in found] == [True, False]
    with pytest.raises(
        FormatError, match="several automata: read them with hoa.load_all"
    ):
        hoa.load(path)
    path.write_bytes(gzip.compress(b"/* nothing */\n"))
    assert list(hoa.load_all(path)) == []
    with pytest.raises(
        FormatError, match="expected an automaton, but the file has none"
    ):
        hoa.load(path)


def test_the_first_automaton_comes_before_the_error_in_the_second(tmp_path):
    path = tmp_path / "two.hoa"
    path.write_text(HEADER + BODY + "HOA: v2")
    found = hoa.load_all(path)
    assert next(found).num_states == 2
    with pytest.raises(
        FormatError, match="two.hoa:13: column 6: expected version 'v1'"
    ):
        next(found)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("States: 2", 1, "column 1: expected 'HOA:', which begins an automaton"),
        (HEADER.replace("Inf(0)", "Fun(0)"), 5, "column 15: expected 'Inf', 'Fin', "),
        (
            HEADER.replace("Start: 0", "Start: 0&"),
            4,
            "column 1: expected the number of",
        ),
        (HEADER + "State: 0 [t] 0&", 7, "column 16: expected the number of a state"),
        (
            HEADER + "State: 2",
            7,
            "column 8: expected the number of a state, from 0 to 1",
        ),
        (HEADER + "State: 0 [t] 7", 7, "column 14: expected the number of a state"),
        (
            HEADER + "State: 0 [2] 1",
            7,
            "column 11: .* of a proposition, from 0 to 1, found '2'",
        ),
        (HEADER + "State: 0 [@x] 1", 7, "column 11: alias @x has not been defined"),
        (HEADER + "State: 0 {1}", 7, "column 11: .* from 0 to 0, found '1'"),
        (HEADER + "State: 0 0 1", 7, "column 1: expected labels, or 4 edges, .* has 2"),
        (HEADER + "State: 0 [0] 1 0", 7, "column 16: expected labels on all edges"),
        (HEADER + "State: [0] 0 [0] 1", 7, "column 14: the state already has a label"),
        (HEADER + "State: 0 State: 0", 7, "column 17: state 0 is listed twice"),
        (HEADER + "State: 0 --END--", 7, "column 10: state 1 of 2 is not listed"),
        (HEADER + BODY[:-8], 12, "column 1: expected 'State:', an edge or '--END--'"),
        (HEADER + "State: 0 [0 1", 7, "column 13: expected '\\]', found '1'"),
        (HEADER + "State: 0 /* oh", 7, "column 10: the comment is not closed"),
        (HEADER + 'State: 0 "oh', 7, "column 10: expected a closing quote"),
        (
            HEADER + "State: 0 [" + "!" * 3000 + "0] 1",
            7,
            "at most 100 nested operators",
        ),
        (HEADER + "State: 00 [t] 0", 7, "column 8: expected"),
        (
            HEADER.replace('2 "a"', '2 "b"'),
            4,
            "column 11: there are two propositions 'b'",
        ),
        (HEADER.replace("AP: 2", "AP: 3"), 5, "column 1: expected the names of 3 prop"),
        (HEADER.replace("AP: 2", "AP: 65"), 4, "column 5: .* from 0 to 64, found '65'"),
        (
            HEADER.replace("Acceptance: 1 Inf(0)\n", ""),
            5,
            "column 1: the header lacks 'Acceptance",
        ),
        (HEADER.replace("Inf(0)", "Inf(1)"), 5, "column 19: .* from 0 to 0, found '1'"),
        (HEADER.replace("1 Inf(0)", "0 Inf(0)"), 5, "column 19: .* there are none"),
        (
            HEADER.replace("Start: 0", "Special: 0"),
            3,
            "column 1: header 'Special:' is not supported",
        ),
        (
            HEADER.replace("Start: 0", "States: 2"),
            3,
            "column 1: there is a second 'States",
        ),
        (
            HEADER.replace("Start: 0", "Alias: @a t Alias: @a f"),
            3,
            "alias @a is defined",
        ),
        (HEADER.replace("Start: 0", "States"), 3, "column 1: expected a header or"),
        (
            "HOA: v1 Alias: @a 3 Acceptance: 0 t --BODY--",
            1,
            "there is no proposition 3",
        ),
        (HEADER + "State: 0 [t] $", 7, "column 14: expected a token, found '\\$'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, line, message):
    with pytest.raises(FormatError, match=message) as caught:
        hoa.loads(text)
    assert caught.value.line == line


def test_aliases_may_not_nest_without_end():
    aliases = "".join(f"Alias: @{i + 1} !@{i}\n" for i in range(3000))
    with pytest.raises(FormatError, match="is nested too deeply"):
        hoa.loads(
            "HOA: v1 Alias: @0 t\n" + aliases + "Acceptance: 0 t --BODY-- --END--"
        )


def test_conditions_may_not_explode():
    pairs = " | ".join(f"(Inf({2 * i}) & Inf({2 * i + 1}))" for i in range(30))
    text = f"HOA: v1 Start: 0 Acceptance: 60 {pairs} --BODY-- State: 0 [t] 0 --END--"
    with pytest.raises(FormatError, match="the acceptance condition needs .* sets"):
        hoa.loads(text)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "bad.hoa"
    path.write_bytes(b"HOA: v1\n\xff")
    with pytest.raises(FormatError, match="bad.hoa:2: expected UTF-8"):
        hoa.load(path)


FORMULAS = [
    "true",
    "false",
    "p",
    "G(p -> X q)",
    "GF p & GF q",
    "p U q",
    '"a b" & !"\\"q"',
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_is_written_is_read_back(formula, tmp_path):
    for generalised in (False, True):
        automaton = ltl.translate(formula, generalised=generalised)
        path = tmp_path / "automaton.hoa.xz"
        io.save(path, automaton)
        found = io.load(path)
        assert isinstance(found, Automaton)
        assert same(found, automaton)


def test_random_automata_are_read_back():
    random = np.random.default_rng(5)
    for size, num_sets in itertools.product((1, 3, 6), (0, 1, 3)):
        edges = 3 * size
        automaton = Automaton.from_edges(
            random.integers(size, size=edges),
            [
                [tuple(random.integers(8, size=2).tolist()) for _ in range(2)]
                for _ in range(edges)
            ],
            random.integers(size, size=edges),
            num_states=size,
            initial=random.integers(size, size=2),
            propositions=["p", "q", "r"],
            sets=random.integers(2, size=(num_sets, edges)).astype(bool),
            name="random",
        )
        assert same(hoa.loads(hoa.dumps(automaton)), automaton)


HEAD = 'HOA: v1 %s Start: 0 AP: 2 "a" "b" Alias: @x 0|1 Acceptance: %s --BODY-- '

BODIES = [
    *(
        "State:0[t]0--END--",
        "State: 0 [0&!0] 0 [f] 0 --END--",
        "State: 0 --END--",
        "--END--",
    ),
    'State: 1 "b]\\"" {0 1} [@x] 0 {} [!@x]1{1} State:0{ }\n[0 | !1&t] 1 {0}\n--END--',
    "State: 0 [0] 1 [1] 0 State: 1 --END-- HOA: v1 Acceptance: 0 t --BODY-- --END--",
    *("State: 0 [0] 0 State: 0 --END--", "State: 0 [0] 7 --END--", "State: 7 --END--"),
    *("State: 0 [0] 00 --END--", "State: 0 [2] 0 --END--", "State: 0 [] 0 --END--"),
    *(
        "State: 0 [0] 0 {7} --END--",
        "State: 0 0 0 0 0 --END--",
        "State: [0] 0 0 --END--",
    ),
    *(
        "State: 0 [0] 0 /* ] */ --END--",
        "State: 0 [0 /* ] */] 0 --END--",
        "[0] 0 --END--",
    ),
    *(
        "State: 0 [0] 0",
        "State: 0 [0] 0 --END-",
        "State: 0 [0",
        'State: 0 "a',
        "State: 0 {0",
    ),
    *(
        "State: 0 [--ABORT-- ] 0 --END--",
        "State: 0 [0] 0 --ABORT--",
        "State: 0 [0] 0&1",
    ),
    *(
        "State: 0 [0] 99999999999 --END--",
        "State: 0 {00} --END--",
        "State: 0 [@y] 0 --END--",
    ),
    'State: 0 "\N{GREEK SMALL LETTER PI}" [0] 0 --END--',
    "State: 0 [0] 0 --END-- $",
    "State: 0 [0] 0] --END--",
]


@pytest.mark.parametrize("states", ["", "States: 2", "States: 1"])
@pytest.mark.parametrize("condition", ["2 Inf(0)|Inf(!1)", "2 t", "0 t"])
@pytest.mark.parametrize("body", BODIES)
def test_bodies_are_read_at_once_as_tokens_say(tmp_path, states, condition, body):
    path = tmp_path / "a.hoa"
    path.write_text(HEAD % (states, condition) + body)
    said = []
    by_expression = _hoa_loop.scan
    ways = (False, lambda *_: None), (False, by_expression), (True, by_expression)
    for code, scan in ways:
        with (
            mock.patch.object(_pieces, "pays", return_value=code),
            mock.patch.object(_hoa_loop, "scan", scan),
        ):
            try:
                said.append([*map(hoa.dumps, hoa.load_all(path))])
            except FormatError as error:
                said.append(str(error))
    assert said[0] == said[1] == said[2]


CUT = (
    'State: 0 {1}\n[0] 1 {0}\n[!0] 0\nState: 1\n\nState: 2 "a"\n[t] 0\n--END--\n',
    'State: 0 "a\nState: 1\nState: 2\n"\n[0] 0\nState: 1\n[t] 1\n--END--\n',
    'State: 0 "a --END-- b"\n[0] 0\nState: 1\n[t] 1\n--END--\n',
    "State: 0 [0] 0 {\nState: 1 [t] 1\n--END--\n",
    "State: 0 [0\nState: 1] 1 [t] 1\n--END--\n",
    "State: 0 [0]\nState: 1\n[t] 1\n--END--\n",
)


def assert_same(one, other):
    for mine, theirs in zip(one, other, strict=True):
        if isinstance(mine, _texts.Texts):
            assert_same(mine, theirs)
        else:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("size", [1, 9, 17, 30])
@pytest.mark.parametrize("text", CUT)
def test_bodies_are_cut_only_between_states(text, size):
    """A piece that ends within a name or a bracket is not taken for a whole one."""
    whole = _hoa_loop.read(Whole.of("a", text), 0, 9)
    with mock.patch.object(_hoa_loop, "_BYTES_AT_ONCE", size):
        cut = _hoa_loop.read(Whole.of("a", text), 0, 9)
    assert (whole is None) == (cut is None)
    assert_same(whole or (), cut or ())


def test_plain_automata_are_read_at_once():
    """Otherwise they would be read right, but many times slower."""
    for formula in ("G(p -> F q)", "G F p & F G q", "true"):
        data = hoa.dumps(ltl.translate(formula, generalised=True)).encode()
        begin = data.index(b"--BODY--") + 8
        bodies = (
            _hoa_loop.read(Whole.of("a", data.decode()), begin, 100),
            _hoa_loop.scan(data.decode(), begin + 1, 100),
        )
        for body in bodies:
            assert body is not None
            assert data[body.end :] == b"--END--\n"
            assert_same(body, bodies[0] or ())

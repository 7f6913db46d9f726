"""Systems as text and as archives, and systems made of actions."""

import itertools

import numpy as np
import pytest

from jaxgames import Arena, io, ltl, systems
from jaxgames.io import FormatError, _kripke_loop, _pieces, kripke
from jaxgames.io._whole import Whole
from jaxgames.systems import System

TEXT = """\
/* out of order,
   and as it comes */
kripke ; propositions p "odd name" ; initial 2 0;
1 {"odd name" p} ->
  0 ;
0 "first \\"state\\"" -> 1 1 0;
2;
"""


def same(one: System, other: System) -> bool:
    names = [None if x.names is None else list(x.names) for x in (one, other)]
    arrays = ("offsets", "targets", "labels", "initial")
    return (
        one.propositions == other.propositions
        and names[0] == names[1]
        and all(np.array_equal(getattr(one, x), getattr(other, x)) for x in arrays)
    )


def random_system(seed: int) -> System:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    degree = rng.integers(0, 3, size)
    return System.from_graph(
        (np.append(0, np.cumsum(degree)), rng.integers(0, size, degree.sum())),
        {name: rng.random(size) < 0.5 for name in ("p", "a b", 'q"')[: seed % 4]},
        initial=rng.integers(0, size, 2),
        names=[f"n {i}\\" for i in range(size)] if seed % 2 else None,
    )


def test_text_as_it_comes():
    system = kripke.loads(TEXT)
    assert system.propositions == ("p", "odd name")
    assert system.offsets.tolist() == [0, 3, 4, 4]
    assert system.targets.tolist() == [1, 1, 0, 0]
    assert system.labels.tolist() == [[False, False], [True, True], [False, False]]
    assert system.initial.tolist() == [0, 2]
    assert list(system.names) == ['first "state"', "", ""]


@pytest.mark.parametrize("name", ["s.kripke", "s.kripke.gz", "s.npz"])
def test_what_is_written_is_read_again(tmp_path, name):
    for seed in range(12):
        system = random_system(seed)
        io.save(tmp_path / name, system)
        assert same(io.load(tmp_path / name), system), seed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "<text>:1: column 1: expected the word 'kripke', found the end"),
        ("kripke;\nstates 3;", ":2: column 1: expected 'propositions', found 'states'"),
        ("kripke; propositions p p;", ":1: column 24: proposition 'p' is listed twice"),
        ("kripke; propositions; initial;", "column 30: expected an initial state"),
        (
            "kripke; propositions; initial 0 -> 1;",
            "an initial state or ';', found '->'",
        ),
        (
            "kripke; propositions; initial 0;\n1;",
            ":2: column 1: there is a state 1, bu",
        ),
        (
            "kripke; propositions; initial 0;\n0 -> 2;",
            ":2: column 6: state 2 has no st",
        ),
        ("kripke; propositions; initial 3;\n0;", ":1: column 31: state 3 has no state"),
        (
            "kripke; propositions; initial 0;\n0;\n0;",
            ":3: column 1: state 0 already has a sta",
        ),
        (
            "kripke; propositions p; initial 0;\n0 {q};",
            ":2: column 4: unknown proposition 'q'; known: p",
        ),
        (
            "kripke; propositions; initial 0;\n0 {p",
            "unknown proposition 'p'; known: none",
        ),
        ("kripke; propositions; initial 0;\n0 {;", "expected a proposition or '}'"),
        (
            "kripke; propositions; initial 0;\n0 -> 0",
            "expected a successor or ';', fou",
        ),
        ("kripke; propositions; initial 0;\n0 p;", "expected a name, '{', '->' or ';'"),
        ('kripke; propositions; initial 0;\n0 "p;', "expected a closing quote"),
        ("kripke; propositions; initial 0; 99999999999;", "expected a state below"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, message):
    with pytest.raises(FormatError, match=message):
        kripke.loads(text)


def test_archives_that_are_no_systems(tmp_path):
    path = tmp_path / "s.npz"
    system = System.from_graph(([0, 1], [0]), {"p": [True], "q": [False]})
    io.save(path, system)
    with np.load(path) as archive:
        arrays = dict(archive)
    for changes, message in [
        ({"labels": np.ones((1, 1), bool)}, "a column for each of 2 propositions"),
        ({"labels": np.ones((3, 2), bool)}, "label 'p' must have one boolean for each"),
        ({"propositions": np.array(["p", "p"])}, "two propositions have the same name"),
        ({"initial": np.array([1])}, "initial state 1 is not there"),
        ({"targets": np.array([5])}, "s.npz: "),
        ({"names": np.array(["a", "b"])}, "1 states must have 1 names, got 2"),
        ({"version": np.array(2)}, "expected version '1', found '2'"),
        ({"labels": None}, "the archive has no array 'labels'"),
    ]:
        changed = {k: v for k, v in {**arrays, **changes}.items() if v is not None}
        np.savez(path, **changed)
        with pytest.raises(FormatError, match=message):
            io.load(path)


def test_names_of_very_many_states_are_left_out(tmp_path, monkeypatch):
    path = tmp_path / "s.npz"
    system = System.from_graph(([0, 1, 2], [0, 1]), {}, names=["a", "b"])
    io.save(path, system)
    assert io.load(path).names == ["a", "b"]
    monkeypatch.setattr(io.npz, "MOST_NAMES", 1)
    io.save(path, system)
    assert io.load(path).names is None


def test_products_of_other_programs(tmp_path):
    path = tmp_path / "p.npz"
    arrays = {"offsets": [0, 1, 1], "targets": [1], "accepting": [False, True]}
    np.savez(path, **arrays)
    arena = io.load(path)
    assert isinstance(arena, Arena)
    assert arena.accepting.tolist() == [False, True]
    product = io.npz.load_product(path)
    assert product is not None
    assert (product.initial, product.partition) == (None, None)
    np.savez(path, **arrays, initial=1, prop_state=[0, 0], prop_edges=[[0, 0]])
    product = io.npz.load_product(path)
    assert product is not None
    assert product.initial.tolist() == [1]
    assert [x.tolist() for x in product.partition] == [[0, 0], [[0, 0]]]


# ---- actions ---------------------------------------------------------------------


def words(system, length):
    """The words of all runs from the initial states, as tuples of sets."""
    found = set()

    def walk(state, word):
        if len(word) == length:
            found.add(word)
            return
        holds = np.flatnonzero(system.labels[state])
        word = (*word, frozenset(system.propositions[i] for i in holds))
        row = system.targets[system.offsets[state] : system.offsets[state + 1]]
        for target in row if len(row) else [state]:
            walk(target, word)

    for state in system.initial:
        walk(state, ())
    return found


def words_of_actions(offsets, targets, action, names, initial, length):
    """The same of a graph with actions; a dead end does nothing for ever."""
    found = set()

    def walk(state, word):
        if len(word) == length:
            found.add(word)
            return
        edges = range(offsets[state], offsets[state + 1])
        for e in edges:
            walk(targets[e], (*word, frozenset([names[action[e]]])))
        if not len(edges):
            walk(state, (*word, frozenset()))

    walk(initial, ())
    return found


def test_a_system_of_actions_has_their_words():
    names = ("a", "b", "c")
    rng = np.random.default_rng(5)
    for size, initial in itertools.product((1, 2, 5), (0, -1)):
        degree = rng.integers(0, 4, size)
        offsets = np.append(0, np.cumsum(degree))
        targets = rng.integers(0, size, offsets[-1])
        action = rng.integers(0, 3, offsets[-1])
        start = initial % size
        system = System.from_actions((offsets, targets), action, names, initial=start)
        given = (offsets, targets, action, names, start, 5)
        assert words(system, 5) == words_of_actions(*given)
        some = System.from_actions(
            (offsets, targets), action, names, initial=start, propositions=["b"]
        )
        only = {tuple(x & {"b"} for x in word) for word in words_of_actions(*given)}
        assert words(some, 5) == only
        assert len(list(system.names)) == system.num_states


@pytest.mark.parametrize(
    ("action", "more", "message"),
    [
        ([0], {}, "action must have one integer for each of 2 edges"),
        ([0, 3], {}, "actions must be from 0 to 1"),
        ([0, 1], {"initial": 2}, "initial state 2 is not there: expected .* 0 to 1"),
        ([0, 1], {"propositions": ["c"]}, "the system has no action 'c', only a, b"),
    ],
)
def test_what_is_no_system_of_actions(action, more, message):
    with pytest.raises(ValueError, match=message):
        System.from_actions(([0, 1, 2], [1, 0]), action, ("a", "b"), **more)


def test_names_of_states():
    system = System.from_actions(([0, 1, 1], [1]), [0], ("go",))
    assert system.names[-1] == "state 1, then nothing"
    assert system.names[:1] == ["state 0, then go"]
    with pytest.raises(ValueError, match="2 states must have 2 names, got 1"):
        System.from_graph(([0, 1, 1], [1]), {}, names=["a"])
    assert systems.product(system, ltl.translate("go")).num_vertices > 0


ODD_STATES = [
    *(
        "0;",
        "0 -> ;",
        "0 {} -> 0;",
        '0 "" {p "odd name"p};',
        '0"a\\"}"{"odd name"}->0;',
    ),
    *("00->000 0;", "/**/0/*;*/;", "0 -> 0/* /*/ */;", "0 -> 0 /* /*/;", "0 /*/;", "0"),
    *(
        "0; 1 -> 0",
        "0 -> 1;",
        "1;",
        "0;0;",
        "0 - > 0;",
        "0 -> 0 {p};",
        "0 {p",
        "0 {1};",
    ),
    *(
        '0 "a',
        '0 "a\n";',
        '0 "a\\\n";',
        "0 {q};",
        "0 {p /* } */};",
        "0 12345678901234;",
    ),
    *(
        "0 \N{NO-BREAK SPACE};",
        '0 "\N{GREEK SMALL LETTER PI}" -> 0;',
        "0 p;",
        ";",
        "0 -> 0",
    ),
    *(
        '1 -> 0 1;\n0 {p} "b";',
        '1 "b" -> 0 1;\n0 {p};',
        "0 -> 0,0;",
        "2;1;0 -> 2;",
        "0;;",
    ),
]


@pytest.mark.parametrize("body", ["", *ODD_STATES])
def test_machine_code_reads_what_tokens_say(body, monkeypatch):
    text = f'kripke; /* \u2660 */ propositions p "odd name";\ninitial 0; {body}'
    said = []
    for code in (False, True):
        monkeypatch.setattr(_pieces, "pays", lambda *_, code=code: code)
        try:
            system = kripke.loads(text)
            said.append(kripke.dumps(system) + str([*(system.names or ["-"])]))
        except FormatError as error:
            said.append(str(error))
    assert said[0] == said[1]


def test_plain_systems_are_read_by_machine_code():
    """Otherwise they would be read right, but a hundred times slower."""
    for seed in range(12):
        data = kripke.dumps(random_system(seed)).encode()
        begin = data.index(b";", data.index(b"initial")) + 1
        whole = Whole.of("a", data.decode())
        assert _kripke_loop.read(whole, begin, 100) is not None


CUT = (
    '0 "a;\n1" -> 1;\n1 {p} -> 0;\n2 {p q} -> 0 1;\n',
    "0 /* ;\n1; */ -> 1;\n1 -> 0;\n2 /* /* ;\n */ ;\n */;\n",
    '0 {p ";\n" q} -> 1;\n1;\n2 {"a;b"};\n',
    "0 -> 1 ;\n1 -> 0 ;\n2 {q} -> 2",
    "0 -> 1;\n1 -> 0;\n2 {q} -> 2; 3",
    "0;\n1;\n2;\n3;\n;\n4;\n",
    '0 "a\\";\n1;\n2;\n',
)


@pytest.mark.parametrize("size", [1, 4, 9, 17])
@pytest.mark.parametrize("text", CUT)
def test_systems_are_cut_only_between_statements(text, size, monkeypatch):
    """A piece that ends within a name or a comment is not taken for a whole one."""
    whole = _kripke_loop.read(Whole.of("a", text), 0, 9)
    monkeypatch.setattr(_kripke_loop, "_BYTES_AT_ONCE", size)
    cut = _kripke_loop.read(Whole.of("a", text), 0, 9)
    assert (whole is None) == (cut is None)
    if whole is not None and cut is not None:
        for one, other in zip(whole, cut, strict=True):
            pairs = zip(one, other, strict=True) if isinstance(one, tuple) else ()
            for mine, theirs in pairs or [(one, other)]:
                np.testing.assert_array_equal(mine, theirs)

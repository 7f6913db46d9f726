"""Text is read by machine code as by arrays: the same values, the same complaints."""

import contextlib
import dataclasses
import pathlib
import subprocess
import sys
import warnings
from unittest import mock

import numpy as np
import pytest
from repeats import some_of

from jaxgames import Arena, generate, io
from jaxgames.io import (
    _aut_loop,
    _decimal,
    _drn_loop,
    _entry_loop,
    _lines,
    _pieces,
    _statements,
    _table_loop,
    _weighted,
    _weighted_rows,
    _word_loop,
    energy,
    mpg,
)
from jaxgames.testing import _files

READERS = (
    *("a.pg", "a.sol", "a.energy", "a.mpg", "a.mtx", "a.aut", "a.drn", "a.tra"),
    *("a.kripke", "a.hoa", "a.csv", "a.dot"),
)

CASES = 30, 100
"""Of each reader, at each size of a stretch: few, and in a sweep."""

MOST_STRETCHES = 200
"""Of a case, some of which have a line thousands of times."""


@contextlib.contextmanager
def reading_by(code: bool, stretch: int):
    """Has files read in stretches of that size, by machine code or by arrays."""
    with (
        mock.patch.object(_pieces, "pays", return_value=code),
        mock.patch.object(_lines, "_STRETCH_BYTES", stretch),
        mock.patch.object(_statements, "_BLOCK_BYTES", max(stretch, 40)),
        mock.patch.object(_statements, "_LONG_BLOCK_BYTES", max(stretch, 40)),
        mock.patch.object(_weighted_rows, "_STRETCH_BYTES", max(stretch, 40)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def read(reader: str, folder: pathlib.Path, code: bool, stretch: int):
    """What is read, or what is said."""
    with reading_by(code, stretch):
        try:
            return plain(_files.READERS[reader].read(folder / reader))
        except (io.FormatError, FileNotFoundError) as error:
            return str(error)


def plain(value):
    """A value as one that can be compared: bits and types."""
    if dataclasses.is_dataclass(value):
        return {
            f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)
        }
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return list(map(plain, value)) if isinstance(value, (list, tuple)) else value


@some_of(*CASES)
@pytest.mark.parametrize("stretch", [1, 30, 1 << 20])
@pytest.mark.parametrize("reader", READERS)
def test_both_ways_say_the_same(tmp_path, reader, stretch, count):
    rng = np.random.default_rng([stretch, *reader.encode()])
    samples = _files.READERS[reader].samples(reader)
    said = 0
    for number in range(count):
        case = samples[number % len(samples)]
        if number >= len(samples):
            case = _files._mutated(rng, case, samples[0], 1 + number % 3)
        for old in tmp_path.iterdir():
            old.unlink()
        for name, data in case.parts.items():
            (tmp_path / name).write_bytes(data)
        size = max(stretch, sum(map(len, case.parts.values())) // MOST_STRETCHES)
        expected = read(reader, tmp_path, False, size)
        assert read(reader, tmp_path, True, size) == expected, case
        said += isinstance(expected, str)
    assert 0 < said < count


WORDS = [
    *(
        "0",
        "1",
        "-1",
        "+1",
        "007",
        "1.5",
        "-0",
        "-0.0",
        ".5",
        "1.",
        "1e5",
        "1E-5",
        "1e+2",
    ),
    *("0.1", "0.3333333333333333", "0.6666666666666666", "0.16666666666666666", "1/3"),
    *(
        "1.5/2.5",
        "-1/3",
        "1/-3",
        "1e-7/3",
        "9007199254740992",
        "9007199254740993",
        "0/5",
    ),
    *("123456789012345678", "0.00000000000000000000000000001", "1e22", "1e23", "1e-22"),
    *(
        "1.7976931348623157e308",
        "5e-324",
        "2.2250738585072014e-308",
        "4.35",
        "0.000001",
    ),
    *(
        "12345678901234567890123456789012345678901234567890",
        "0.1e1",
        "1e0001",
        "0e9999",
    ),
]

NO_NUMBERS = [
    *(
        ".",
        "-",
        "+",
        "e5",
        "1e",
        "1e+",
        "--1",
        "1-",
        "1..2",
        "1.2.3",
        "1/",
        "/1",
        "1/0",
    ),
    *("1/2/3", "0/0", "1e999", "1_0", "nan", "inf", "0x10", "1,5", "\u00b2", "1e5.0"),
]


def lines_of(words: list[str], code: bool) -> _lines.Lines:
    text = " ".join(words).encode()
    return _lines._cut("a", _lines._framed(text), 0, code)


def test_real_numbers_are_the_nearest():
    rng = np.random.default_rng(0)
    words = WORDS + [repr(x) for x in rng.random(2000).tolist()]
    words += [f"{x:.{k % 20}g}" for k, x in enumerate(10 ** rng.uniform(-30, 30, 2000))]
    words += [f"{a}/{b}" for a, b in rng.integers(1, 10**9, (500, 2)).tolist()]
    every = np.arange(len(words))
    found = lines_of(words, True).reals(every, "a number", _lines.Reals())
    for word, value in zip(words, found.tolist(), strict=True):
        upper, _, lower = word.partition("/")
        expected = float(upper) / float(lower or 1)
        assert (value, np.signbit(value)) == (expected, np.signbit(expected)), word
    plain = lines_of(WORDS, True)
    sure = _word_loop.reals(plain.byte, plain.start, plain.end)
    assert np.count_nonzero(np.isnan(sure)) < len(WORDS) / 2


@pytest.mark.parametrize("word", NO_NUMBERS)
@pytest.mark.parametrize("code", [False, True])
def test_what_is_no_real_number(word, code):
    lines = lines_of(["1", word, "2", word], code)
    with pytest.raises(io.FormatError, match="a:1: expected a share .a finite num"):
        lines.reals(np.arange(4), "a share", _lines.Reals())


def test_texts_are_numbered_by_their_first_appearance():
    words = ["b", "a", "b", "ab", "a", "b" * 100, "ab", "b" * 100] * 50
    for code in (False, True):
        known = {b"a": 0}
        lines = lines_of(words, code)
        every = np.arange(len(words))
        found = lines.codes(
            every, every, lambda _, text, k=known: k.setdefault(text, len(k))
        )
        assert found.dtype == np.int32
        assert found.tolist() == [1, 0, 1, 2, 0, 3, 2, 3] * 50
        assert list(known) == [b"a", b"b", b"ab", b"b" * 100]


def test_what_is_wrong_first_is_told_first(tmp_path):
    """Also where a part behind it, which is read ahead, is worse."""
    path = tmp_path / "a.aut"
    path.write_text("des (0, 3, 2)\n(0,a,1)\n(0,a,x)\n(0," + "a" * 3000 + ",1)\n")
    for code in (False, True):
        with reading_by(code, 10), pytest.raises(io.FormatError) as caught:
            io.load(path, limits=io.Limits(statement=1000))
        assert caught.value.line == 3


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_pieces_that_are_unpacked_ahead(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(_pieces, "_IMPORTED_BYTES", 0)
    monkeypatch.setattr(_lines, "_STRETCH_BYTES", 1000)
    lts = io.LTS.from_edges(range(999), ["a"] * 999, range(1, 1000))
    path = tmp_path / f"a.aut{suffix}"
    io.save(path, lts)
    assert plain(io.load(path)) == plain(lts)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(io.FormatError, match=f"broken {suffix} data"):
        io.load(path)


WEIGHTED = [
    "arena 2 7; 2 MAX 2:0; 1 MIN 0:2; 0 MAX 1:-5,2:7;",
    'parity 2 ;\n0 MAX\n1 : -5\n,2:7 "a; name,\n 1:2" ; 1 MIN 0:2"";\n\n2 MAX 2:0;',
    *("0;0 MAX 0:1", "0;0 MAX 0:1,;", "0;0 MAX;", "0;0 MAX ;", "0;0 MIX 0:1;"),
    *("0;0MAX 0:1;", "0;0 MAX0:1;", "0;0 MAX 0:1 0:1;", "0;0 MAX 0 1;"),
    *("0;0 MAX 0:+1;", "0;0 MAX 0:;", "0;0 MAX -0:-0;"),
    *("0;-0 MAX 0:99999999999999999999;", "0;0 MAX 0:123456789012345678;"),
    *('0;"x" 0 MAX 0:1;', '0;0 MAX 0:1 "a" "b";', '0;0 MAX 0:1 "a'),
    *("0;0 MAX 0:1;0 MIN 0:1;", "1;0 MAX 0:1;", "0;0 MAX 1:1;", "0;0 MAX", "0;0 M"),
    *("0;0", "0;", "0;\n;", "0;0 MAX 0:1;\n1"),
]

PLAIN = [
    "energy 3\n0 0 1 -5,2 7\n1 1 0 2\n2 0 2 0\n",
    *("energy 1\n\n 0 1\t0  -5 , 0 7 \r\n\n", "energy 1\n0 0", "energy 1\n0 0 "),
    *("energy 1\n0 0 0", "energy 1\n0 0 0 1,", "energy 1\n0"),
    *("energy 1\n0 0 0 1,\n0 1", "energy 1\n0 0 0\n1", "energy 1\n00 0 0 1"),
    *("energy 1\n0 2 0 1", "energy 1\n0 0 0 1 0 1", "energy 1\n0 0 0,1"),
    *('energy 1\n0 0 0 1 "a"', "energy 1\n0 00 1", "energy 2\n1 0 0 1\n0 1 1 -1"),
    *("energy 2\n1 0 0 1\n\n1 1 1 -1", "energy 1\n,0 0 0 1"),
]


@pytest.mark.parametrize("text", WEIGHTED + PLAIN)
def test_rows_with_weights(tmp_path, text):
    reader = "a.energy" if text.startswith("energy") else "a.mpg"
    (tmp_path / reader).write_text(text)
    expected = read(reader, tmp_path, False, 1 << 20)
    for stretch in (1 << 20, 40):
        assert read(reader, tmp_path, True, stretch) == expected


@pytest.mark.parametrize("text", [WEIGHTED[0], WEIGHTED[1], PLAIN[0], PLAIN[1]])
def test_plain_rows_are_read_by_machine_code(text):
    """Otherwise they would be read right, but more slowly."""
    form = energy._FORM if text.startswith("energy") else mpg._FORM
    header = form.header.match(text.encode())
    found = _weighted._by_code(text.encode()[header.end() :], 0, form, 3)
    assert found is not None


def test_plain_lines_of_models_are_read_by_machine_code():
    """Otherwise they would be read right, but more slowly."""
    text = b"state 0 init\n\taction go [1]\n\t0 : 1\n// c\n//[x=1]\n0 : 1/2\nstate 1"
    found = _drn_loop.read(_lines._framed(text), 7, 1)
    assert found is not None
    assert (*found.kinds, *found.numbers) == (0, 0, 8, 14)
    assert found.state.tolist() == [[0, 1], [8, 14], [0, 1]]
    assert found.action.tolist() == [[0], [9]]
    assert found.branch.tolist() == [[0, 0], [10, 13]]
    assert found.prob.tolist() == [1.0, 0.5]
    assert [notes.texts for notes in found.notes] == [[b"init", b""], [b"go [1]"]]
    assert (found.values, found.valued.tolist()) == ([b"//[x=1]"], [1])


def test_plain_rows_of_tables_are_read_by_machine_code():
    text = b"0 1 2 0.5 go\n\n 2 0 0 1\r\n"
    found = _table_loop.read(_lines._framed(text), 1, True, 2, 1)
    assert found is not None
    assert found.numbers.tolist() == [[0, 2], [1, 0], [2, 0]]
    assert (found.prob.tolist(), found.line.tolist()) == ([0.5, 1.0], [2, 4])
    assert [found.names[code] for code in found.which] == [b"go", b""]
    chain = _table_loop.read(_lines._framed(b"0 2 1"), 0, False, 2, 1)
    assert chain is not None
    assert chain.numbers.tolist() == [[0], [0], [2]]


@pytest.mark.parametrize("text", ["0 3 0.5", "0 0 0.5 a b", "0 1\x01 1", "0 0 [0,1]"])
def test_odd_rows_of_tables_are_not(text):
    byte = _lines._framed(text.encode())
    assert _table_loop.read(byte, 0, False, 2, 1) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "state 0\nstate 1",
            "action a\nstate 1",
            "state 0\n0 : 1",
            "state 2",
            "action",
        ),
        *("state 01", "0 : -1", "0 : [0, 1]", "0 : 1 1", "state 0\x01", "0: 1"),
    ],
)
def test_odd_lines_of_models_are_not(text):
    assert _drn_loop.read(_lines._framed(text.encode()), 0, 1) is None


def test_small_files_are_read_without_a_compiler(tmp_path):
    """Which takes longer to be imported than they to be read."""
    size = 20_000
    game = generate.random_game(1, size)
    io.save(tmp_path / "a.pg", game)
    io.save(tmp_path / "a.pg.gz", game)
    graph = Arena.from_csr(game.row_ptr, game.dst, owner=np.zeros(size, bool))
    io.save(tmp_path / "a.mtx", graph)
    io.save(
        tmp_path / "a.aut",
        io.LTS.from_arrays(game.src, game.src, game.dst, map(str, range(size)), size),
    )
    io.save(tmp_path / "a.energy", generate.random_energy_game(1, size))
    io.save(tmp_path / "a.tra", generate.random_mdp(1, 5000))
    io.save(tmp_path / "a.drn", generate.random_mdp(1, 5000))
    program = (
        "import pathlib, sys\n"
        "from jaxgames import io\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        "    if path.suffix != '.lab':\n"
        "        io.load(path)\n"
        "        print(path.name, 'numba' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        capture_output=True,
        check=True,
        text=True,
    )
    names = sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".lab")
    assert done.stdout.splitlines() == [f"{name} False" for name in names]


def test_plain_transitions_are_read_by_machine_code():
    text = b'(0,"go, on",1)\n\n ( 2 , a b ,0 ) \r\n(1,"go, on",2)'
    byte = _lines._framed(text)
    found = _aut_loop.read(byte, _decimal.MARGIN, 2)
    assert found is not None
    assert found.ends.tolist() == [[0, 2, 1], [1, 0, 2]]
    assert [found.names[code] for code in found.which] == [b"go, on", b"a b", b"go, on"]


@pytest.mark.parametrize(
    "text",
    ["(0,a,3)", "(3,a,0)", "(0,1)", "(0,a,)", "(0,a,1", "0,a,1)", "(,a,1)", "(0", "("]
    + [
        "(0 ",
        "(0,",
        "(0,a,1) x",
        "(0a,b,1)",
        "(0,,1\n)",
        "(\n0,a,1)",
        "(0,a,-1)",
        "()",
    ],
)
def test_odd_transitions_are_not(text):
    assert _aut_loop.read(_lines._framed(text.encode()), _decimal.MARGIN, 2) is None


def test_plain_entries_of_matrices_are_read_by_machine_code():
    byte = _lines._framed(b"1 2\n\n 3\t1 \r\n2 2")
    found = _entry_loop.read(byte, _decimal.MARGIN, 3, "pattern")
    assert found is not None
    assert found.tolist() == [[0, 2, 1], [1, 0, 1]]
    byte = _lines._framed(b"1 2 -0.5\n3 1 1e3 \n2 2 0")
    found = _entry_loop.read(byte, _decimal.MARGIN, 3, "real")
    assert found is not None
    assert found.tolist() == [[0, 2, 1], [1, 0, 1]]


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ("pattern", ["0 1", "1 4", "1", "1 ", "1\n2", "1 2 3", "a 1", "1 2x", "% 1 2"]),
        ("real", ["1 2", "1 2 ", "1 2\n3", "1 2 nan", "1 2 x", "1 2 3 4", "1 2 inf"]),
        ("integer", ["1 2 3"]),
    ],
)
def test_odd_entries_of_matrices_are_not(field, texts):
    for text in texts:
        byte = _lines._framed(text.encode())
        assert _entry_loop.read(byte, _decimal.MARGIN, 3, field) is None, text


@pytest.mark.parametrize("seed", range(20))
def test_choices_of_tables_start_where_arrays_say(seed):
    """Of tables in order; all others are left to those who can say what is wrong."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    degree = rng.integers(1, 4, size)
    state = np.repeat(np.arange(size), degree)
    choice = np.concatenate([np.arange(many) for many in degree])
    width = rng.integers(1, 4, len(state))
    state, choice = (np.repeat(x, width).astype(np.int32) for x in (state, choice))
    action = np.repeat(rng.integers(0, 3, len(width)), width).astype(np.int32)
    assert _table_loop.read(_lines._framed(b"0 2 1"), 0, False, 2, 1) is not None
    found = _table_loop.choices(state, choice, action, size + 2)
    assert found is not None
    first, groups = found
    assert first.tolist() == [0, *np.cumsum(width).tolist()]
    ends = np.cumsum(degree).tolist()
    assert groups.tolist() == [0, *ends, ends[-1], ends[-1]]
    assert _table_loop.choices(state[::-1].copy(), choice, action, size) is None
    assert _table_loop.choices(state, choice + 1, action, size) is None
    wide = np.flatnonzero(width > 1)
    if len(wide):
        other = action.copy()
        other[np.cumsum(width)[wide[0]] - 1] += 1
        assert _table_loop.choices(state, choice, other, size) is None

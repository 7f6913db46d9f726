"""PGSolver's text: what is read, what is refused, and that both readers agree."""

import contextlib
import dataclasses
import gzip
import pathlib
import re
import sys
import warnings
from unittest import mock

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from jaxgames import Arena, Status, host, io
from jaxgames.arena import CONDITIONS, MAX_PRIORITY
from jaxgames.io import (
    _decimal,
    _pieces,
    _statement_loop,
    _statements,
    _weighted_write,
    pgsolver,
)
from jaxgames.parity import Solution

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "../shared/data/public/parity"

few = hypothesis.settings(deadline=None, max_examples=100)
many = hypothesis.settings(deadline=None, max_examples=10_000)


def equal(a: Arena, b: Arena) -> bool:
    return all(
        (getattr(a, f.name) is None) == (getattr(b, f.name) is None)
        and np.array_equal(getattr(a, f.name), getattr(b, f.name))
        for f in dataclasses.fields(Arena)
    )


@st.composite
def arenas(draw, dead_ends=False):
    size = draw(st.integers(1, 12))
    priorities = st.integers(0, 9) | st.integers(0, MAX_PRIORITY - 2)
    rows = draw(
        st.lists(
            st.lists(st.integers(0, size - 1), min_size=not dead_ends, max_size=4),
            min_size=size,
            max_size=size,
        )
    )
    return Arena.from_csr(
        np.cumsum([0] + [len(row) for row in rows]),
        [w for row in rows for w in row],
        owner=draw(st.lists(st.booleans(), min_size=size, max_size=size)),
        priority=draw(st.lists(priorities, min_size=size, max_size=size)),
        dead_ends="allow",
    )


WAYS = pytest.mark.parametrize("by_code", [False, True], ids=["arrays", "code"])


@contextlib.contextmanager
def reading_by(code: bool, block: int):
    """Has files read in blocks of that size, by machine code or by arrays."""
    with (
        mock.patch.object(_pieces, "pays", return_value=code),
        mock.patch.object(_statements, "_BLOCK_BYTES", block),
        mock.patch.object(_statements, "_LONG_BLOCK_BYTES", block),
    ):
        yield


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes, name: str = "game.pg") -> pathlib.Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


# ---- games that are read ----------------------------------------------------

GAME = Arena.from_edges([0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[3, 2, 0])


@pytest.mark.parametrize(
    "text",
    [
        "parity 2;\n0 3 0 1,2;\n1 2 1 0;\n2 0 1 2;\n",
        "0 3 0 1,2;\n1 2 1 0;\n2 0 1 2;",
        "parity 3;\n0 3 0 1,2;\n1 2 1 0;\n2 0 1 2;\n",
        "parity 2;\nstart 1;\n0 3 0 1,2;\n1 2 1 0;\n2 0 1 2;\n",
        "parity 2;\r\n0 3 0 1,2;\r\n1 2 1 0;\r\n2 0 1 2;\r\n",
        "parity 2;0 3 0 1,2;1 2 1 0;2 0 1 2;",
        "\n parity\t2 ;\n 0\n3\n0\n1 , 2\n;\t1  2 1\r0 ; 2 0 1 2\f;\v\n\n",
        "parity 2;\n2 0 1 2;\n0 3 0 1,2;\n1 2 1 0;\n",
        'parity 2;\n0 3 0 1,2 "a";\n1 2 1 0;\n2 0 1 2 "b";\n',
        'parity 2;\n0 3 0 1,2"a"\n;\n1 2 1 0 "";\n2 0 1 2  "b;";',
        'parity 2;\n0 3 0 1,2 "1 1 0 1;\n2,";\n1 2 1 0 ";;\n";\n2 0 1 2;',
        "parity 2;\n00 03 0 1,0000000000000000000000000002;\n1 2 1 0;\n2 0 1 2;\n",
    ],
)
@pytest.mark.parametrize("block", [12, 1 << 18])
@WAYS
def test_every_way_to_write_a_game(write, text, block, by_code):
    with reading_by(by_code, 1 << 18 if "start" in text else block):
        assert equal(io.load(write(text)), GAME)


WHOLE = (
    'parity 4;\r\n4 0 0 1,\t2;\n0 3 0 1,2 "a;\n;1,"\f;1 2 1 0;\n\n2 00 1 2,3 ,4"";'
    "\n3 2147483645 1\v4;"
)


@WAYS
def test_blocks_end_at_every_byte(write, by_code):
    path = write(WHOLE)
    expected = io.load(path)
    assert expected.shape == (5, 9)
    for block in range(9, len(WHOLE) + 2):
        with reading_by(by_code, block):
            assert equal(io.load(path), expected), block


@WAYS
@pytest.mark.parametrize("end", range(10, len(WHOLE)))
def test_a_file_that_ends_at_any_byte(write, by_code, end):
    check_both_parsers(write(""), WHOLE[:end].encode(), 16, by_code)


def test_parallel_edges_keep_their_order(write):
    arena = io.load(write("parity 1;\n1 0 0 0,1,0;\n0 0 0 1,1,0;\n"))
    assert arena.dst.tolist() == [1, 1, 0, 0, 1, 0]


def test_a_header_far_too_large_is_told(write):
    path = write("parity 5;\n0 3 0 1,2;\n1 2 1 0;\n2 0 1 2;\n")
    with pytest.warns(
        UserWarning, match=r"up to 5, but the last is 2; was the file cut"
    ):
        assert equal(io.load(path), GAME)


def test_conditions(write):
    path = write("0 0 0 1;\n1 1 0 2;\n2 4 1 0;\n")
    # Even numbers for priorities that player 0 likes, the larger the more important.
    expected = {
        "max even": [0, 1, 4],
        "min even": [4, 3, 0],
        "max odd": [1, 2, 5],
        "min odd": [5, 4, 1],
    }
    for condition, priority in expected.items():
        assert io.load(path, condition=condition).priority.tolist() == priority
    with pytest.raises(ValueError, match="condition must be one of"):
        io.load(path, condition="min")  # type: ignore[arg-type]


def test_dead_ends(write):
    path = write('parity 1;\n0 1 0 ;\n1 1 1 "stuck";\n')
    with pytest.raises(io.FormatError, match=r"game.pg:2: vertex 0 has no successor"):
        io.load(path)
    assert io.load(path, dead_ends="allow").shape == (2, 0)
    lost = io.load(path, dead_ends="lose")
    assert lost.dst.tolist() == [0, 1]
    assert lost.priority.tolist() == [1, 0]


def test_names(write):
    path = write('parity 3;\n2 0 0 2;\n0 0 0 1 "a;\n,1";\n1 0 0 1 "";3 0 0 3 "\xe9";')
    names = ["a;\n,1", "", None, "é"]
    assert io.names(path) == io.names(path, io.load(path)) == names


@pytest.mark.parametrize("suffix", [".pg", ".mpg"])
def test_names_are_kept(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(_statements, "_BLOCK_STATEMENTS", 2)
    monkeypatch.setattr(_weighted_write, "_STRETCH_ROWS", 2)
    label = {"weight": [1, -2, 3, 4]} if suffix == ".mpg" else {"priority": [0, 1, 2]}
    arena = Arena.from_edges([0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], **label)
    names = ["start; 7", None, "1 \u00e9\n"]
    path = tmp_path / f"game{suffix}"
    io.save(path, arena, names=names)
    assert io.names(path) == names
    assert io.load(path).dst.tolist() == arena.dst.tolist()
    io.save(path, arena, names=[None] * 3)
    assert '"' not in path.read_text()
    with pytest.raises(ValueError, match="vertex 1 has a quote in it: 'a\"b'"):
        io.save(path, arena, names=[None, 'a"b', None])
    with pytest.raises(ValueError, match="one for each of 3 vertices.* got 2"):
        io.save(path, arena, names=["a", "b"])
    with pytest.warns(UserWarning, match="left out: the names of 2 vertices"):
        io.save(tmp_path / "game.npz", arena, names=names)
    assert io.names(tmp_path / "game.npz") is None


# ---- games that are refused -------------------------------------------------

REFUSED = {
    "empty file": ("", 1, "'parity N;' or the identifier .*found the end of the file"),
    "blank file": (" \n\n", 3, "found the end of the file"),
    "header alone": ("parity 3;\n", None, "no vertices after the header"),
    "some other text": ("\nhello world\n", 2, "expected 'parity N;' .*found 'hello'"),
    "binary": (b"\x7fELF\x02\x01\x01\0\0;\0", 1, "expected 'parity N;'"),
    "numbers, no game": (
        "1 2 3\n4 5 6\n",
        1,
        "the owner of vertex 1 .*0 to 1.*found '3'",
    ),
    "header too large": (
        f"parity {'9' * 20};\n0 0 0 0;",
        1,
        "'parity N;', N a number of up to 18 digits, found 'parity 9{20}'",
    ),
    "header without number": ("parity;\n0 0 0 0;", 1, "expected 'parity N;'"),
    "header without semicolon": ("parity 0\n0 0 0 0;", 1, "expected 'parity N;'"),
    "solution": ("paritysol 1;\n0 0 0;\n1 1;\n", 1, "expected 'parity N;'"),
    "truncated after identifier": (
        "parity 1;\n0 0 0 1;\n1",
        3,
        "expected the priority of vertex 1 .*found the end of the file",
    ),
    "truncated after owner": (
        "parity 1;\n0 0 0 1;\n1 0 0",
        3,
        "expected a successor of vertex 1 .*found the end of the file",
    ),
    "truncated after comma": (
        "parity 1;\n0 0 0 1;\n1 0 0 1,\n",
        4,
        "expected a successor of vertex 1 .*found the end of the file",
    ),
    "truncated after successor": (
        "parity 1;\n0 0 0 1;\n1 0 0 1\n\n",
        3,
        "expected ',' or ';' after a successor of vertex 1, found the end of the file",
    ),
    "truncated in a name": (
        'parity 1;\n0 0 0 1;\n1 0 0 1 "abc;\n',
        3,
        "the name has no closing quote",
    ),
    "missing semicolon": (
        "parity 1;\n0 0 0 1\n1 0 0 1;\n",
        2,
        "expected ',' or ';' after a successor of vertex 0, found '1'",
    ),
    "missing semicolon after a name": (
        'parity 1;\n0 0 0 1 "x"\n1 0 0 1;\n',
        2,
        "expected ';' after the name of vertex 0, found '1'",
    ),
    "missing comma": (
        "parity 2;\n0 0 0 1 2;\n1 0 0 1;\n2 0 0 2;\n",
        2,
        "expected ',' or ';' .*found '2'",
    ),
    "a comma less here, one more there": (
        "parity 2;\n0 0 0 1 2;\n1 0 0,1;\n2 0 0 2;\n",
        2,
        "expected ',' or ';' .*found '2'",
    ),
    "a blank less here, one more there": (
        "parity 0;\n0,0 0 0 0;\n",
        2,
        "expected the priority of vertex 0 .*found ','",
    ),
    "statement too short": (
        "parity 1;\n0 0 0 1;\n1 0;\n",
        3,
        "expected the owner of vertex 1 .*found ';'",
    ),
    "something between two numbers": (
        "parity 2;\n0 0 0 1-2;\n1 0 0 1;\n2 0 0 2;\n",
        2,
        "expected a successor of vertex 0 .*found '1-2'",
    ),
    "comma before the successors": (
        "parity 1;\n0 0 0 1;\n1 0 0,1;\n",
        3,
        "expected a successor of vertex 1 .*found ','",
    ),
    "two commas": ("parity 1;\n0 0 0 1,,1;\n1 0 0 1;\n", 2, "a successor .*found ','"),
    "two semicolons": ("parity 1;\n0 0 0 1;;\n1 0 0 1;\n", 2, "identifier .*found ';'"),
    "two names": (
        'parity 1;\n0 0 0 1 "a" "b";\n1 0 0 1;\n',
        2,
        "expected ';' after the name of vertex 0, found '\"b\"'",
    ),
    "name before the successors": (
        'parity 1;\n0 0 0 "a" 1;\n1 0 0 1;\n',
        2,
        "expected ';' after the name of vertex 0, found '1'",
    ),
    "quote in a name": ('parity 0;\n0 0 0 0 "a"b";\n', 2, "after the name .*found 'b'"),
    "duplicate": (
        "parity 1;\n0 0 0 1;\n1 0 0 1;\n1 0 1 0;\n",
        4,
        "vertex 1 occurs twice",
    ),
    "unknown successor": (
        "parity 1;\n0 0 0 0,1;\n1 0 0 1,7;\n",
        3,
        "vertex 1 has successor 7, which is not in the file",
    ),
    "unknown successor in a gap": (
        "parity 9;\n0 0 0 0;\n9 0 0 0,4;\n",
        3,
        "vertex 9 has successor 4, which is not in the file",
    ),
    "gap": (
        "parity 3;\n0 0 0 0;\n1 0 0 1;\n3 0 0 3;\n",
        None,
        "vertex 2 is missing: .*here 3, without gaps",
    ),
    "gap at the start": (
        "parity 2;\n1 0 0 2;\n2 0 0 1;\n",
        None,
        "vertex 0 is missing",
    ),
    "no successor": ("parity 1;\n0 0 0 1;\n1 0 0;\n", 3, "vertex 1 has no successor"),
    "negative priority": (
        "parity 1;\n0 0 0 1;\n1 -1 0 1;\n",
        3,
        "expected the priority of vertex 1 .a number from 0 to 2147483645., found '-1'",
    ),
    "huge priority": (
        f"parity 1;\n0 {MAX_PRIORITY} 0 1;\n1 {MAX_PRIORITY + 1} 0 1;\n",
        3,
        "expected the priority of vertex 1 .*found '2147483646'",
    ),
    "priority of 5000 digits": (
        f"0 {'9' * 5000} 0 0;",
        1,
        r"expected the priority of vertex 0 .*found '9{77}\.\.\.'",
    ),
    "fraction": ("parity 0;\n0 1.5 0 0;\n", 2, "expected the priority .*found '1.5'"),
    "word": ("parity 0;\n0 0 0 x0;\n", 2, "expected a successor .*found 'x0'"),
    "owner": (
        "parity 1;\n0 0 2 1;\n1 0 0 1;\n",
        2,
        "expected the owner of vertex 0 .a number from 0 to 1., found '2'",
    ),
    "beyond the header": (
        "parity 1;\n0 0 0 1;\n1 0 0 2;\n2 0 0 0;\n",
        4,
        "vertex 2 is larger than the header's largest, 1",
    ),
    "second header": ("parity 0;\n0 0 0 0;\nparity 0;\n", 3, "found 'parity'"),
    "bad start": ("parity 0;\nstart x;\n0 0 0 0;\n", 2, "found 'start'"),
    "zero byte": ("parity 0;\n0 0\0 0 0;\n", 2, r"expected the priority .*'0\\x00'"),
    "Windows line ends": (
        'parity 1;\r\n0 0 0 1 "a\r\nb";\r\n1 0 0 9;\r\n',
        4,
        "successor 9",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("block", [16, 1 << 18])
@WAYS
def test_refused(write, case, block, by_code):
    text, line, message = REFUSED[case]
    path = write(text)
    with reading_by(by_code, block), pytest.raises(io.FormatError) as caught:
        io.load(path)
    assert caught.value.path == str(path)
    assert caught.value.line == line
    assert re.search(message, caught.value.message), caught.value.message
    place = str(path) if line is None else f"{path}:{line}"
    assert str(caught.value) == f"{place}: {caught.value.message}"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("7 0 2 0;", "the owner of vertex 7"),
        ("0 0 0 0;", "vertex 0 occurs twice"),
        ("100000 0 0 100001;", "successor 100001, which"),
    ],
)
def test_line_of_an_error_far_into_a_large_file(write, bad, message):
    lines = [f'{v} 0 0 {v} "two\nlines";' for v in range(100_000)]
    lines.insert(76_543, bad)
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load(write("\n".join(lines)))
    assert caught.value.line == 2 * 76_543 + 1


def test_a_long_statement_takes_few_reads(write, monkeypatch):
    """A read for every block, each joined to the last, would take quadratic time."""
    monkeypatch.setattr(_statements, "_BLOCK_BYTES", 16)
    path = write("0 0 0 " + ",".join(["0"] * 100_000))
    with path.open("rb") as file:
        counted = mock.Mock(wraps=file)
        assert b"".join(_statements._cut(path, counted, 16)) == path.read_bytes()
    assert counted.read.call_count < 20
    with pytest.raises(io.FormatError, match="found the end of the file"):
        io.load(path)


# ---- against a second parser ------------------------------------------------


class RefusedError(Exception):
    pass


def parse_by_characters(text: bytes):
    """The grammar once more, a character at a time, sharing nothing with the package.

    Returns for each vertex its priority, owner and successors.
    """
    at = 0
    symbols = text.decode("latin-1") + "\0"

    def skip():
        nonlocal at
        start = at
        while symbols[at] in " \t\n\v\f\r":
            at += 1
        return at > start

    def number(largest):
        nonlocal at
        start = at
        while symbols[at] in "0123456789":
            at += 1
        if at == start or int(symbols[start:at]) > largest:
            raise RefusedError
        return int(symbols[start:at])

    def literal(word):
        nonlocal at
        if not symbols.startswith(word, at):
            raise RefusedError
        at += len(word)

    def entry(word):
        literal(word)
        if not skip():
            raise RefusedError
        value = number(10**18 - 1)
        skip()
        literal(";")
        skip()
        return value

    skip()
    header = None
    if symbols[at] == "p":
        header = entry("parity")
        if symbols[at] == "s":
            entry("start")
    vertices = {}
    while at < len(text):
        vertex = number(2**31 - 3)
        fields = []
        for largest in (2**31 - 3, 1):
            if not skip():
                raise RefusedError
            fields.append(number(largest))
        blank = skip()
        successors = []
        if symbols[at] not in ';"':
            if not blank:
                raise RefusedError
            while True:
                successors.append(number(2**31 - 3))
                skip()
                if symbols[at] != ",":
                    break
                at += 1
                skip()
        if symbols[at] == '"':
            at = symbols.find('"', at + 1) + 1
            if at == 0:
                raise RefusedError
            skip()
        literal(";")
        skip()
        if vertex in vertices:
            raise RefusedError
        vertices[vertex] = (*fields, successors)
    last = len(vertices) - 1
    if sorted(vertices) != list(range(last + 1)) or last < 0:
        raise RefusedError
    if header is not None and header < last:
        raise RefusedError
    for _, _, successors in vertices.values():
        if not successors or max(successors) > last:
            raise RefusedError
    return [vertices[v] for v in range(last + 1)]


@st.composite
def texts(draw):
    """Games as text, with names and odd spacing, then perhaps damaged."""
    size = draw(st.integers(1, 6))
    blank = st.sampled_from([" ", " ", " ", "\n", "\t", "  ", "\r\n"])
    space = st.sampled_from(["", "", "", "", " ", "\n"])
    name = st.sampled_from(["", "", "", ' "a"', '"b;1,\n"', ' ""', '"c" ', ' "\xff"\n'])
    text = draw(st.sampled_from(["", f"parity {size - 1};", f"parity {size};\n"]))
    for v in draw(st.permutations(range(size))) if draw(st.booleans()) else range(size):
        row = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
        text += f"{v}{draw(blank)}{draw(st.integers(0, 12))}{draw(blank)}"
        text += f"{draw(st.integers(0, 1))}{draw(blank)}{row[0]}"
        for w in row[1:]:
            text += f"{draw(space)},{draw(space)}{w}"
        text += f"{draw(name)};{draw(space)}"
    symbols = list(text)
    for _ in range(draw(st.integers(0, 3))):
        where = draw(st.integers(0, len(symbols) - 1))
        what = draw(st.sampled_from(list('0123456789 ,;"\n-x\0') + ["", "99999999999"]))
        if draw(st.booleans()):
            symbols[where] = what
        else:
            symbols.insert(where, what)
    return "".join(symbols).encode("latin-1")


def attempt(path: pathlib.Path) -> Arena | io.FormatError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a header far too large
        try:
            return io.load(path)
        except io.FormatError as error:
            return error


def check_both_parsers(path: pathlib.Path, text: bytes, block: int, by_code: bool):
    path.write_bytes(text)
    try:
        expected = parse_by_characters(text)
    except RefusedError:
        expected = None
    with reading_by(by_code, block):
        arena = attempt(path)
    if isinstance(arena, io.FormatError):
        assert expected is None, arena
        assert arena.line is None or 1 <= arena.line <= text.count(b"\n") + 1
        return
    assert expected is not None
    assert arena.priority.tolist() == [priority for priority, _, _ in expected]
    assert arena.owner.tolist() == [bool(owner) for _, owner, _ in expected]
    rows = [arena.successors(v).tolist() for v in range(len(expected))]
    assert rows == [row for _, _, row in expected]


fuzz = hypothesis.given(texts(), st.sampled_from([40, 1 << 18]), st.booleans())


@hypothesis.settings(few, max_examples=400)
@fuzz
def test_fuzz(tmp_path_factory, text, block, by_code):
    path = tmp_path_factory.getbasetemp() / "fuzz.pg"
    check_both_parsers(path, text, block, by_code)


@pytest.mark.sweep
@many
@fuzz
def test_fuzz_long(tmp_path_factory, text, block, by_code):
    path = tmp_path_factory.getbasetemp() / "fuzz.pg"
    check_both_parsers(path, text, block, by_code)


def assert_same_block(block, expected):
    assert len(block.fields) == len(expected.fields)
    for a, b in zip(
        (*block.fields, *block[1:]), (*expected.fields, *expected[1:]), strict=True
    ):
        np.testing.assert_array_equal(a, b)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)


@few
@hypothesis.given(texts())
def test_arrays_and_code_read_what_words_read(text):
    text = re.sub(rb"^parity\W\w+;", b"", text)
    for read in (_statements._by_arrays, _statements._by_code):
        block = read(pgsolver._GAME, text)
        if block is not None:
            assert_same_block(block, _statements._by_words(pgsolver._GAME, text))


@pytest.mark.parametrize("read", [_statements._by_arrays, _statements._by_code])
def test_plain_text_is_read_fast(read):
    """Otherwise it would be read right, but a hundred times slower."""
    for text in (
        b"0 1 0 1,2;\n1 0 1 0;\n",
        b'0 1 0 1, 2 "x";\r\n1 0 1 0"";',
        b'0 1 0 1 , 2 ;\n1 0 1 123456789;\n2 0 1;3 0 1"a";',
        b"",
        b"\n",
    ):
        assert read(pgsolver._GAME, text) is not None


def test_the_compiler_waits_for_a_long_text(monkeypatch):
    """It takes longer to import than a short text to read."""
    code = _statement_loop.read
    monkeypatch.setitem(code.__dict__, "_machine_code", None)
    assert code.ready
    assert not _pieces.pays(code, 100_000)
    assert _pieces.pays(code, 1_000_000) == host.can_compile()
    monkeypatch.delitem(code.__dict__, "_machine_code")
    assert not code.ready
    assert not _pieces.pays(code, 1_000_000)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert not _pieces.pays(code, 10_000_000)
    host.can_compile.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not _pieces.pays(code, 1 << 40)
    monkeypatch.undo()
    host.can_compile.cache_clear()


# ---- round trips ------------------------------------------------------------


def test_saved_text(tmp_path):
    path = tmp_path / "game.pg"
    io.save(path, GAME.pad())
    assert path.read_text() == "parity 2;\n0 3 0 1,2;\n1 2 1 0;\n2 0 1 2;\n"
    io.save(path, GAME, condition="min even")
    assert path.read_text() == "parity 2;\n0 1 0 1,2;\n1 2 1 0;\n2 4 1 2;\n"


@few
@hypothesis.given(
    arenas(dead_ends=True),
    st.sampled_from([".pg", ".gm", ".pgsolver", ".pg.gz", ".GM.BZ2"]),
    st.sampled_from([3, 1 << 15]),
)
def test_round_trip(tmp_path_factory, arena, suffix, block):
    path = tmp_path_factory.getbasetemp() / f"game{suffix}"
    with mock.patch.object(_statements, "_BLOCK_STATEMENTS", block):
        io.save(path, arena)
    assert equal(io.load(path, dead_ends="allow"), arena)


@few
@hypothesis.given(arenas(), st.sampled_from(CONDITIONS))
def test_round_trip_under_another_condition(tmp_path_factory, arena, condition):
    hypothesis.assume(arena.priority.max() < MAX_PRIORITY - 4)
    path = tmp_path_factory.getbasetemp() / "game.pg"
    io.save(path, arena, condition=condition)
    again = io.load(path, condition=condition)
    shift = again.priority - arena.priority
    assert np.all(shift == shift[0])
    assert shift[0] % 2 == 0
    assert equal(dataclasses.replace(again, priority=arena.priority), arena)


@few
@hypothesis.given(
    st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 10**5), min_size=1), st.data()
)
def test_decimal_numbers(numbers, data):
    array = np.array(numbers, np.int64)
    after = np.full(len(numbers), _decimal.separator(", "))
    text = "".join(f"{n}, " for n in numbers)
    assert _decimal.write(array, after).tobytes().decode() == text

    numbers = [n * data.draw(st.integers(1, 10**6)) for n in numbers]
    text = "x" * _decimal.MARGIN + "".join(f"{n:02d}/" for n in numbers)
    byte = np.frombuffer(text.encode(), np.uint8)
    end = np.flatnonzero(byte == ord("/"))
    start = np.concatenate([[_decimal.MARGIN], end[:-1] + 1])
    assert _decimal.read(byte, start, end).tolist() == numbers


@pytest.mark.parametrize(
    ("arena", "message"),
    [
        (Arena.from_edges([0], [0], owner=[0]), "vertices with priorities"),
        (Arena.from_edges([], [], owner=[], priority=[]), "vertices with priorities"),
        (
            Arena.from_edges([0], [0], owner=[0], priority=[1], weight=[3]),
            "cannot hold weight; .npz can",
        ),
        (
            Arena.from_edges([0], [0], owner=[0], priority=[1], accepting=[1]),
            "cannot hold accepting",
        ),
    ],
)
def test_what_cannot_be_saved(tmp_path, arena, message):
    with pytest.raises(ValueError, match=message):
        io.save(tmp_path / "game.pg", arena)
    assert not any(tmp_path.iterdir())


# ---- solutions --------------------------------------------------------------


def test_saved_solution(tmp_path):
    path = tmp_path / "game.sol"
    solution = Solution(
        Status.SOLVED,
        winner=np.array([1, 1, -1], np.int8),
        strategy=np.array([0, 2, -1], np.int32),
    )
    io.save_solution(path, GAME, solution)
    assert path.read_text() == "paritysol 2;\n0 1;\n1 1 0;\n"


def test_loaded_solution(write):
    arena = Arena.from_edges(
        [0, 0, 0, 1, 1, 2, 3],
        [0, 2, 2, 1, 3, 2, 0],
        owner=[0, 1, 0, 1],
        priority=[0] * 4,
    ).pad()
    path = write("paritysol 3 ;\r\n2 0 2;0 0\n2;\n1 0;\n", "game.sol")
    solution = io.load_solution(path, arena)
    size = arena.shape[0]
    assert solution.status == Status.INTERRUPTED
    assert solution.winner.tolist() == [0, 0, 0] + [-1] * (size - 3)
    assert solution.strategy.tolist() == [1, -1, 5] + [-1] * (size - 3)
    assert solution.successor(arena)[:4].tolist() == [2, -1, 2, -1]


@st.composite
def solved(draw):
    arena = draw(arenas())
    winner = draw(
        st.lists(
            st.sampled_from([0, 1, -1]),
            min_size=len(arena.owner),
            max_size=len(arena.owner),
        )
    )
    strategy = [-1] * len(winner)
    for v, owner in enumerate(arena.owner):
        if winner[v] == owner and draw(st.booleans()):
            # The first of parallel edges stands for them all.
            target = draw(st.sampled_from(arena.successors(v).tolist()))
            strategy[v] = arena.row_ptr[v] + arena.successors(v).tolist().index(target)
    return arena, np.array(winner, np.int8), np.array(strategy, np.int32)


@few
@hypothesis.given(solved(), st.sampled_from([".sol", ".sol.gz"]))
def test_solution_round_trip(tmp_path_factory, game, suffix):
    arena, winner, strategy = game
    path = tmp_path_factory.getbasetemp() / f"game{suffix}"
    status = Status.INTERRUPTED if -1 in winner else Status.SOLVED
    solution = Solution(status, winner=winner, strategy=strategy)
    io.save_solution(path, arena, solution)
    again = io.load_solution(path, arena)
    np.testing.assert_array_equal(again.winner, winner)
    np.testing.assert_array_equal(again.strategy, strategy)
    assert again.winner.dtype == np.int8
    assert again.strategy.dtype == np.int32
    assert again.status == status


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "expected 'paritysol N;' .*found the end of the file"),
        ("parity 2;\n0 3 0 1,2;\n", 1, "expected 'paritysol N;' .*found 'parity'"),
        (
            "paritysol 2;\n0 0 2;\n1 2;\n",
            3,
            "the winner of vertex 1 .*0 to 1.*found '2'",
        ),
        ("paritysol 2;\n0 0 2\n1 1;\n", 2, "expected ',' or ';' .*found '1'"),
        (
            "paritysol 2;\n0 1;\n3 1;\n",
            3,
            "vertex 3 is not in the game, which has 3 vertices",
        ),
        ("paritysol 2;\n0 1;\n1 1 0;\n0 1;\n", 4, "vertex 0 occurs twice"),
        ("paritysol 2;\n0 0 1,2;\n", 2, "vertex 0 has more than one successor"),
        (
            "paritysol 2;\n0 1 2;\n",
            2,
            "vertex 0 has a successor, but is not won by its",
        ),
        ("paritysol 2;\n0 0 0;\n", 2, "vertex 0 has no edge to its successor"),
        ("paritysol 2;\n0 0 9;\n", 2, "vertex 0 has no edge to its successor"),
        ("paritysol 2;\n0 0 -1;\n", 2, "a successor of vertex 0 .*found '-1'"),
    ],
)
def test_refused_solution(write, text, line, message):
    path = write(text, "game.sol")
    with pytest.raises(io.FormatError, match=message) as caught:
        io.load_solution(path, GAME)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_solution_of_another_game_is_not_saved(tmp_path):
    solution = Solution(
        Status.SOLVED, winner=np.zeros(2, np.int8), strategy=np.zeros(2, np.int32)
    )
    with pytest.raises(
        ValueError, match=r"winner must have .* shape \(3,\), got \(2,\)"
    ):
        io.save_solution(tmp_path / "game.sol", GAME, solution)
    assert not any(tmp_path.iterdir())


# ---- the corpus -------------------------------------------------------------


def check_corpus(files: list[pathlib.Path]):
    if not files:
        pytest.skip(f"no games in {CORPUS}")
    with np.load(CORPUS / "winners.npz") as winners:
        for path in files:
            arena = io.load(path)
            key = path.relative_to(CORPUS).with_suffix("").as_posix()
            assert arena.shape[0] == int(winners[key][:8].view("<i8")[0]), path
            with gzip.open(path) as file:
                size = _statements._BLOCK_BYTES
                texts = _statements._open(path, file, pgsolver._GAME, size)[1]
                for text in texts:
                    block = _statements._by_arrays(pgsolver._GAME, text)
                    assert block is not None, path
                    expected = _statements._by_words(pgsolver._GAME, text)
                    assert_same_block(block, expected)
                    assert_same_block(_statements._by_code(pgsolver._GAME, text), block)


def test_some_of_the_corpus():
    files = sorted(CORPUS.glob("*/*.pg.gz"))
    check_corpus([path for path in files[::15] if path.stat().st_size < 50_000])


@pytest.mark.sweep
def test_all_of_the_corpus():
    check_corpus(sorted(CORPUS.glob("*/*.pg.gz")))

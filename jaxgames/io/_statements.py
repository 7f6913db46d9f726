"""Text made of statements: some numbers, a list of numbers, a name, a semicolon.

PGSolver's games and solutions are such text. It is read in blocks, by several threads,
each block by machine code (`_statement_loop`), or in a short file by a few array
operations (`_by_arrays`). A block in which these meet anything out of the ordinary is
read again word by word (`_by_words`), which says what is wrong and where.
"""

import functools
import itertools
import re
from collections.abc import Iterator
from typing import IO, NamedTuple, NoReturn

import numpy as np

from jaxgames import limits
from jaxgames.arena import MAX_SIZE
from jaxgames.io import _decimal, _limits, _names, _pieces, _statement_loop
from jaxgames.io._files import FilePath, FormatError, line_at, reading, writing
from jaxgames.quoting import quoted
from jaxgames.tuning.io import BLOCK_BYTES as _BLOCK_BYTES
from jaxgames.tuning.io import BLOCK_STATEMENTS as _BLOCK_STATEMENTS
from jaxgames.tuning.io import LONG_BLOCK_BYTES as _LONG_BLOCK_BYTES

MAX_IDENTIFIER = MAX_SIZE - 1


class Grammar(NamedTuple):
    """What the header and the statements of a file look like."""

    word: str
    """What the header starts with."""
    fields: dict[str, int]
    """The numbers that every statement starts with, and the largest allowed."""


class Statement(NamedTuple):
    """One statement, and where it starts in its block."""

    position: int
    fields: list[int]
    targets: list[int]


class Block(NamedTuple):
    """What the `S` statements of a stretch of text say."""

    fields: tuple[np.ndarray, ...]
    """The numbers that each statement starts with: int32 `[S]`, the last bool `[S]`."""
    ends: np.ndarray
    """int32 `[S]`, where the targets of each statement end."""
    targets: np.ndarray
    """int32, the targets of all statements."""
    lines: int
    """How many lines end in the text."""


class Statements:
    """All statements of a file, in its order.

    Attributes:
        header: the header's number, None where there is no header.
        fields: the numbers that each statement starts with: int32 `[S]`, the last of
            them bool `[S]`.
        row_ptr: integers `[S + 1]`; statement `s` lists
            `targets[row_ptr[s]:row_ptr[s + 1]]`.
        targets: int32, the targets of all statements.
        ascend: whether each statement's first number is larger than the one before.
        largest: the largest target, -1 where there is none.
        all_list: whether every statement lists some target.
    """

    def __init__(self, path: FilePath, grammar: Grammar):
        """Reads a file; else raises FormatError."""
        self._path = path
        self._grammar = grammar
        blocks: list[Block] = []
        seen: list[_Seen] = []
        _pieces.keep_freed_memory()
        size = _pieces.length(path)
        self._by_code = _pieces.pays(_statement_loop.read, size)
        parse = functools.partial(_parse, grammar, self._by_code)
        if self._by_code:
            _by_code(grammar, b"")  # compiled by one thread
        with reading(path) as file:
            self.header, texts = self._open(file)
            try:
                for block, about in _pieces.in_order(parse, texts, size):
                    blocks.append(block)
                    seen.append(about)
            except _MalformedError as error:
                line = 1 + sum(block.lines for block in blocks) + error.lines_before
                raise FormatError(path, line, error.message) from None
        self._extents = [(len(block.ends), block.lines) for block in blocks]
        columns = zip(*(block.fields for block in blocks), strict=True)
        self.fields = tuple(map(_pieces.joined, columns))
        self.row_ptr = _row_ptr(blocks)
        self.targets = _pieces.joined([block.targets for block in blocks])
        bounds = [x for about in seen for x in about.bounds]
        self.ascend = all(about.ascend for about in seen) and all(
            x < y for x, y in zip(bounds[1::2], bounds[2::2], strict=False)
        )
        self.largest = max(about.largest for about in seen)
        self.all_list = all(about.all_list for about in seen)

    @property
    def degree(self) -> np.ndarray:
        """How many targets each statement lists: integers `[S]`."""
        return np.diff(self.row_ptr)

    def _open(self, file: IO[bytes]) -> tuple[int | None, Iterator[bytes]]:
        """Reads the header; returns its number and the blocks of statements."""
        at_once = _LONG_BLOCK_BYTES if self._by_code else _BLOCK_BYTES
        return _open(self._path, file, self._grammar, at_once)

    def refuse(self, index: int, message: str) -> NoReturn:
        """Raises a FormatError at a statement, after finding its line in the file."""
        line = 1
        which = 0
        for length, lines in self._extents:
            if index < length:
                break
            which, index, line = which + 1, index - length, line + lines
        with reading(self._path) as file:
            texts = self._open(file)[1]
            text = next(itertools.islice(texts, which, None))
        statements = _statements(self._grammar, text)
        position = next(itertools.islice(statements, index, None)).position
        raise FormatError(self._path, line + text.count(b"\n", 0, position), message)


# ---- blocks -----------------------------------------------------------------


class _Seen(NamedTuple):
    """What is known of a block."""

    bounds: list[int]
    """The first number of its first and of its last statement; none without any."""
    ascend: bool
    """As for `Statements`, like the rest."""
    largest: int
    all_list: bool


def _look(block: Block) -> _Seen:
    """Looks at a block on the thread that has read it: it is in its caches."""
    first, ends = block.fields[0], block.ends
    return _Seen(
        [int(first[0]), int(first[-1])] if len(first) else [],
        bool(np.all(first[1:] > first[:-1])),
        int(block.targets.max(initial=-1)),
        bool(np.all(ends[1:] > ends[:-1]) and np.all(ends[:1])),
    )


def _row_ptr(blocks: list[Block]) -> np.ndarray:
    """Where the targets of each statement of some blocks start, and where all end."""
    before = 0
    parts: list[np.ndarray] = [np.zeros(1, np.int32)]
    for block in blocks:
        ends = block.ends
        if before + len(block.targets) > MAX_SIZE:
            ends = ends.astype(np.int64)
        parts.append(np.add(ends, before, out=ends) if before else ends)
        before += len(block.targets)
    return _pieces.joined([part.astype(parts[-1].dtype, copy=False) for part in parts])


def _open(
    path: FilePath, file: IO[bytes], grammar: Grammar, at_once: int
) -> tuple[int | None, Iterator[bytes]]:
    """Reads the header; returns its number and the blocks of statements."""
    texts = _cut(path, file, at_once)
    text = next(texts, b"")
    header = re.match(
        rb"\s*(?:%s\s+(\d{1,18})\s*;\s*(?:start\s+\d+\s*;\s*)?)?"
        % grammar.word.encode(),
        text,
    )
    assert header is not None  # it matches the empty text
    lines, rest = header[0].count(b"\n"), text[header.end() :]
    if header[1] is None and not rest[:1].isdigit():
        expected = f"expected '{grammar.word} N;' or the identifier of a vertex"
        found = _shown(rest)
        if rest.split(None, 1)[:1] == [grammar.word.encode()]:
            expected = f"expected '{grammar.word} N;', N a number of up to 18 digits"
            found = quoted(rest.partition(b";")[0].splitlines()[0])
        raise FormatError(path, 1 + lines, f"{expected}, found {found}")
    # The header's line ends stay, so that lines are counted right.
    texts = itertools.chain([b"\n" * lines + rest], texts)
    return None if header[1] is None else int(header[1]), texts


def _cut(path: FilePath, file: IO[bytes], at_once: int) -> Iterator[bytes]:
    """Cuts a file into blocks that end with a statement, but for the last one."""
    rest, before, most = b"", 0, _limits.statement()
    # A statement longer than a block is met by ever larger reads.
    while more := file.read(max(at_once, len(rest))):
        text = rest + more
        end = text.rfind(b";") + 1
        # Few files have names: to look for one quote takes far less than to count.
        if b'"' in text and text.count(b'"', 0, end) % 2:  # it is part of a name
            byte = np.frombuffer(text, np.uint8)
            in_name = np.logical_xor.accumulate(byte == ord('"'))
            ends = np.flatnonzero((byte == ord(";")) & ~in_name)
            end = int(ends[-1]) + 1 if len(ends) else 0
        if end:
            yield text[:end]
        rest, before = text[end:], before + end
        if len(rest) > most:
            _limits.check_statement(path, line_at(path, before), len(rest))
    if rest:
        yield rest


def _parse(grammar: Grammar, by_code: bool, text: bytes) -> tuple[Block, _Seen]:
    read = _by_code if by_code else _by_arrays
    block = read(grammar, text) or _by_words(grammar, text)
    return block, _look(block)


def _by_code(grammar: Grammar, text: bytes) -> Block | None:
    """Reads a block whose statements are well-formed; None if one may not be."""
    largest = tuple(grammar.fields.values())
    found = _statement_loop.parse(text, largest, MAX_IDENTIFIER)
    return found and Block(*found, lines=_pieces.lines(text))


# ---- by arrays --------------------------------------------------------------


def _by_arrays(grammar: Grammar, text: bytes) -> Block | None:
    """Reads a block whose statements are well-formed; None if one may not be."""
    width = len(grammar.fields)
    byte = np.frombuffer(b" " * _decimal.MARGIN + text + b" ", np.uint8)
    lines = int(np.count_nonzero(byte == ord("\n")))
    if b'"' in text:
        quote = np.flatnonzero(byte == ord('"'))
        if len(quote) % 2 or np.any(byte[quote[1::2] + 1] != ord(";")):
            return None
        # Names are cut out, each with a blank before it.
        quote[::2] -= _is_blank(byte[quote[::2] - 1])
        quote[1::2] += 1
        length = np.diff(quote, prepend=0, append=len(byte))
        byte = byte[np.repeat(np.arange(len(length)) % 2 == 0, length)]

    # Where a number starts, where it ends, and every character that is neither part of
    # a number nor blank.
    digit, blank = _is_digit(byte), _is_blank(byte)
    place = np.flatnonzero((digit[1:] != digit[:-1]) | ~(digit | blank)[1:]) + 1
    character = byte.take(place)
    number = _is_digit(character)
    if not len(number):
        return _block([], [], [], lines, width)
    double = ~(number[:-1] | number[1:])
    if not double.any():
        start, end = place[::2], place[1::2]
    else:
        # A blank may stand before a comma or a semicolon.
        if not _is_blank(character[:-1][double]).all():
            return None
        start, end = place[number], place[1:][number[:-1]]
        character = character[np.append(~double, True)]
    if not number[0] or (end - start).max() > _decimal.MARGIN:
        return None

    # Now every second character is what follows a number.
    follower = character[1::2]
    is_field = _is_blank(follower)
    is_last = follower == ord(";")
    last = np.flatnonzero(is_last)
    if not is_last[-1] or not np.all(is_field | is_last | (follower == ord(","))):
        return None
    first = np.concatenate([[0], last[:-1] + 1])
    degree = last - first + 1 - width
    if degree.min() < 0:
        return None
    # Blanks follow the fields, not the last one where there are no targets, and stand
    # nowhere else.
    *before, final = (is_field[first + k] for k in range(width))
    if not all(blanks.all() for blanks in before) or np.any(final != (degree > 0)):
        return None
    blanks = len(before) * len(first) + np.count_nonzero(final)
    if np.count_nonzero(is_field) != blanks:
        return None

    values = _decimal.read(byte, start, end)
    if values.max() > MAX_IDENTIFIER:
        return None
    values = values.astype(np.int32)
    is_target = np.ones(len(values), bool)
    fields = []
    for k, largest in enumerate(grammar.fields.values()):
        fields.append(values.take(first + k))
        is_target[first + k] = False
        if fields[k].max() > largest:
            return None
    return _block(fields, degree, values[is_target], lines, width)


def _block(fields, degree, targets, lines: int, width: int) -> Block:
    """A block, of arrays or lists."""
    *others, last = fields or [[]] * width
    return Block(
        (*(np.asarray(x, np.int32) for x in others), np.asarray(last, bool)),
        np.cumsum(degree, dtype=np.int32),
        np.asarray(targets, np.int32),
        lines,
    )


def _is_digit(byte: np.ndarray) -> np.ndarray:
    return byte - ord("0") < 10  # uint8: what is smaller wraps round


def _is_blank(byte: np.ndarray) -> np.ndarray:
    return (byte == ord(" ")) | (byte - ord("\t") < 5)


# ---- by words ---------------------------------------------------------------


class _MalformedError(Exception):
    """What is wrong in a block, and how many of its lines come before that."""

    def __init__(self, text: bytes, position: int, message: str):
        super().__init__(message)
        self.lines_before = text.count(b"\n", 0, position)
        self.message = message


def _by_words(grammar: Grammar, text: bytes) -> Block:
    """Reads any block; else raises _MalformedError."""
    statements = list(_statements(grammar, text))
    return _block(
        list(zip(*(statement.fields for statement in statements), strict=True)),
        [len(statement.targets) for statement in statements],
        [target for statement in statements for target in statement.targets],
        text.count(b"\n"),
        len(grammar.fields),
    )


# At the end of the text it matches the empty word.
_WORD = re.compile(rb'\s*([,;]|"[^"]*"?|[^\s,;"]+|\Z)')


def _statements(grammar: Grammar, text: bytes) -> Iterator[Statement]:
    """Reads a block word by word: the grammar, written out."""
    words = ((match.start(1), match[1]) for match in _WORD.finditer(text))
    position, word = next(words)
    while word:
        start = position
        fields: list[int] = []
        for field, largest in grammar.fields.items():
            what = f"the {field} of vertex {fields[0]}" if fields else f"an {field}"
            fields.append(_number(text, position, word, what, largest))
            position, word = next(words)
        targets = []
        before = start
        if word != b";" and not word.startswith(b'"'):
            what = f"a successor of vertex {fields[0]}"
            targets.append(_number(text, position, word, what, MAX_IDENTIFIER))
            before = position
            position, word = next(words)
            while word == b",":
                position, word = next(words)
                targets.append(_number(text, position, word, what, MAX_IDENTIFIER))
                before = position
                position, word = next(words)
        expected = "',' or ';' after a successor"
        if word.startswith(b'"'):
            if word[-1:] != b'"' or len(word) < 2:
                raise _MalformedError(text, position, "the name has no closing quote")
            expected = "';' after the name"
            before = position + len(word)
            position, word = next(words)
        if word != b";":
            # It is missing where the word before ends, which may be lines ago.
            raise _MalformedError(
                text,
                before,
                f"expected {expected} of vertex {fields[0]}, found {_shown(word)}",
            )
        yield Statement(start, fields, targets)
        position, word = next(words)


def _number(text: bytes, position: int, word: bytes, what: str, largest: int) -> int:
    # Of a number with thousands of digits int() would refuse to tell the value.
    digits = word.lstrip(b"0") or b"0"
    if word.isdigit() and len(digits) < 20 and int(digits) <= largest:
        return int(digits)
    raise _MalformedError(
        text,
        position,
        f"expected {what} (a number from 0 to {largest}), found {_shown(word)}",
    )


def _shown(text: bytes) -> str:
    """The start of some text, as it can stand in a message."""
    if not text:
        return "the end of the file"
    return quoted(text[:400].split()[0])


# ---- writing ----------------------------------------------------------------


def write(
    path: FilePath,
    header: str,
    fields: np.ndarray,
    row_ptr: np.ndarray,
    targets: np.ndarray,
    names: _names.Names | None = None,
) -> None:
    """Writes a file, with a line for each statement.

    Args:
        path: the file.
        header: its first line.
        fields: integers `[F, S]`, not negative.
        row_ptr: integers `[S + 1]`; statement `s` lists
            `targets[row_ptr[s]:row_ptr[s + 1]]`.
        targets: integers, not negative.
        names: a name for each statement, or None.
    """
    _pieces.keep_freed_memory()
    with writing(path) as file:
        file.write(f"{header}\n".encode("ascii"))
        for start in range(0, fields.shape[1], _BLOCK_STATEMENTS):
            limits.tick("writing", start, "statements")
            stop = start + _BLOCK_STATEMENTS
            rows = row_ptr[start : stop + 1]
            block = targets[rows[0] : rows[-1]]
            text = _text(fields[:, start:stop], rows - rows[0], block).data
            file.write(_names.added(text, names and names[start:stop]))


def _text(fields: np.ndarray, row_ptr: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The text of a block: uint8."""
    width, length = fields.shape
    first = row_ptr[:-1] + width * np.arange(length)
    numbers = np.empty(width * length + len(targets), np.int32)
    after = np.full(len(numbers), _decimal.separator(","))
    is_target = np.ones(len(numbers), bool)
    for k, field in enumerate(fields):
        numbers[first + k] = field
        after[first + k] = _decimal.separator(" ")
        is_target[first + k] = False
    numbers[is_target] = targets
    after[first + width - 1 + np.diff(row_ptr)] = _decimal.separator(";\n")
    return _decimal.write(numbers, after)

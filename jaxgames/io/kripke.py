r"""Systems as text: states with the propositions that hold there, and successors.

    kripke;
    propositions wait cs;
    initial 0;
    0 "idle" -> 1;
    1 {wait} -> 1 2;
    2 {cs} -> 0;

After the names of the propositions and the initial states, one or several, comes a
statement for each state: its number, perhaps its name in double quotes, perhaps the
propositions that hold in braces, perhaps an arrow and its successors. Statements may
come in any order, white space and line ends may be any, and comments stand between
slash-star and star-slash. Numbers go from 0 on without gaps. What is no plain word is
written in double quotes, also the name of a proposition.
"""

import re

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _kripke_loop, _limits, _texts
from jaxgames.io._files import FilePath, write_text
from jaxgames.io._limits import OversizeError
from jaxgames.io._tokens import Token, Tokens
from jaxgames.io._whole import Whole
from jaxgames.quoting import clipped, quoted
from jaxgames.systems import System
from jaxgames.value import freeze

HOLDS = System
"""What `load` returns and `save` takes."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_TOKEN = re.compile(
    rf"(?P<number>[0-9]+)|(?P<word>{_WORD.pattern})"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<sign>->|[{};])'
)


def load(path: FilePath) -> System:
    """Reads a system.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: the file is something else; tells the line and the column.
        OSError: the file cannot be read.
    """
    return _read(Whole.coming(path))


def loads(text: str) -> System:
    """Reads a system from a text, as `load` does from a file.

    Examples:
        >>> loads("kripke; propositions on; initial 0; 0 -> 0 1; 1 {on} -> 0;")
        System(2 states, 3 transitions, propositions on)
    """
    return _read(Whole.of("<text>", text))


def save(path: FilePath, system: System) -> None:
    """Writes a system.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        system: the system.

    Raises:
        OSError: the file cannot be written.
    """
    write_text(path, dumps(system))


def dumps(system: System) -> str:
    """The text of a system.

    Examples:
        >>> system = System.from_graph(([0, 2, 3], [0, 1, 0]), {"on": [False, True]})
        >>> print(dumps(system))
        kripke;
        propositions on;
        initial 0;
        0 -> 0 1;
        1 {on} -> 0;
        <BLANKLINE>
    """
    words = [_word(name) for name in system.propositions]
    lines = [
        "kripke",
        " ".join(["propositions", *words]),
        " ".join(["initial", *map(str, system.initial)]),
    ]
    targets = system.targets.tolist()
    for state in range(system.num_states):
        parts = [str(state)]
        if system.names is not None:
            parts.append(_quoted(system.names[state]))
        holds = [words[i] for i in np.flatnonzero(system.labels[state])]
        if holds:
            parts.append(f"{{{' '.join(holds)}}}")
        row = targets[system.offsets[state] : system.offsets[state + 1]]
        if row:
            parts += ["->", *map(str, row)]
        lines.append(" ".join(parts))
    return ";\n".join([*lines, ""])


def _word(name: str) -> str:
    return name if _WORD.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    text = re.sub(r'(["\\])', r"\\\1", text)
    return '"' + text.replace("\n", " ").replace("\r", " ") + '"'


def _read(whole: Whole) -> System:
    if _kripke_loop.pays(whole.about):
        try:
            found = _Reader(whole.path, whole.head(0)).by_code(whole)
        except OversizeError:
            raise
        except ValueError:  # what is wrong is told by those who read all in order
            found = None
        if found is not None:
            return found
    return _Reader(whole.path, whole.text).system(whole.size)


class _Reader:
    """Reads one system, statement after statement."""

    def __init__(self, path: FilePath, text: str):
        self._path, self._text = path, text
        self._tokens = Tokens(path, text, _TOKEN, nested=False)
        self._at: dict[int, Token] = {}
        self._names: dict[int, str] = {}
        self._holds: dict[int, list[int]] = {}
        self._rows: dict[int, list[Token]] = {}

    def _header(self) -> tuple[dict[str, int], list[Token]]:
        """The propositions with their numbers, and the initial states."""
        tokens = self._tokens
        tokens.take("kripke", expected="the word 'kripke'")
        tokens.take(";")
        tokens.take("propositions")
        propositions: dict[str, int] = {}
        while tokens.next.kind in ("word", "string"):
            token = tokens.take()
            if _text(token) in propositions:
                tokens.refuse(
                    f"proposition {quoted(_text(token))} is listed twice", token
                )
            propositions[_text(token)] = len(propositions)
        tokens.take(";", expected="the name of a proposition or ';'")
        tokens.take("initial")
        initial = [tokens.take_kind("number", "an initial state")]
        initial += self._numbers("an initial state or ';'")
        return propositions, initial

    def system(self, length: int) -> System:
        """The system, read token by token from a text of so many bytes."""
        propositions, initial = self._header()
        while self._tokens.next.kind != "end":
            self._statement(propositions)
        size = self._check(initial)
        self._check_size(size, len(propositions), length)
        labels = np.zeros((size, len(propositions)), bool)
        for state, holds in self._holds.items():
            labels[state, holds] = True
        rows = [self._rows[state] for state in range(size)]
        targets = [_number(token) for row in rows for token in row]
        names = [self._names.get(state, "") for state in range(size)]
        return System(
            offsets=np.cumsum([0, *map(len, rows)]).astype(np.int32),
            targets=np.array(targets, np.int32),
            propositions=tuple(propositions),
            labels=labels,
            initial=np.unique([_number(token) for token in initial]).astype(np.int32),
            names=tuple(names) if self._names else None,
        )

    def _check_size(self, size: int, propositions: int, length: int) -> None:
        what = f"{propositions} propositions of {size} states"
        _limits.check(self._path, None, what, size * propositions, length)

    def by_code(self, whole: Whole) -> System | None:
        """The system whose header alone is this reader's text; None: token by token."""
        propositions, initial = self._header()
        if self._tokens.next.kind == "end":
            return None
        begin = len(self._text[: self._tokens.next.position].encode())
        found = _kripke_loop.read(whole, begin, MAX_SIZE - 1)
        if found is None or not len(found.number):
            return None
        size = len(found.number)
        starts = np.unique([_number(token) for token in initial])
        if max(starts[-1], found.targets.max(initial=0)) >= size:
            return None
        order = None
        if not np.array_equal(found.number, np.arange(size, dtype=np.int32)):
            order = np.argsort(found.number, kind="stable")
            if not np.array_equal(found.number[order], np.arange(size)):
                return None
        which, held = found.held.which, found.held.places.T.tolist()
        sets = [_members(whole.part(i, j), propositions) for i, j in held]
        if None in sets:
            return None
        self._check_size(size, len(propositions), whole.size)
        table = np.zeros((len(sets), len(propositions)), bool)
        for row, members in zip(table, sets, strict=True):
            row[members] = True
        names = None
        if found.name[1].any():
            pairs = zip(*found.name.tolist(), strict=True)
            names = [_unescaped(whole.part(i, j)) for i, j in pairs]
        labels = _texts.rows(table, which)
        row_ptr, targets = found.row_ptr, found.targets
        if order is not None:
            degree = np.diff(row_ptr)
            edges = np.argsort(np.repeat(found.number, degree), kind="stable")
            labels, targets = labels[order], targets[edges]
            row_ptr = np.cumsum(np.append(0, degree[order])).astype(np.int32)
            names = names and [names[state] for state in order]
        return System(
            offsets=freeze(row_ptr),
            targets=freeze(targets),
            propositions=tuple(propositions),
            labels=labels,
            initial=starts.astype(np.int32),
            names=names and tuple(names),
        )

    def _statement(self, propositions: dict[str, int]) -> None:
        tokens = self._tokens
        token = tokens.take_kind("number", "the number of a state")
        state = _number(token)
        if state in self._at:
            tokens.refuse(f"state {state} already has a statement", token)
        if state >= MAX_SIZE:
            tokens.refuse(f"expected a state below {MAX_SIZE}", token)
        self._at[state] = token
        if tokens.next.kind == "string":
            self._names[state] = _text(tokens.take())
        self._holds[state], self._rows[state] = [], []
        if tokens.next.text == "{":
            tokens.take()
            while tokens.next.text != "}":
                if tokens.next.kind not in ("word", "string"):
                    tokens.fail("a proposition or '}'")
                name = tokens.take()
                if _text(name) not in propositions:
                    tokens.refuse(
                        f"unknown proposition {quoted(_text(name))}; known: "
                        f"{clipped(', '.join(propositions)) or 'none'}",
                        name,
                    )
                self._holds[state].append(propositions[_text(name)])
            tokens.take()
        if tokens.next.text == "->":
            tokens.take()
            self._rows[state] = self._numbers("a successor or ';'")
        else:
            tokens.take(";", expected="a name, '{', '->' or ';'")

    def _numbers(self, expected: str) -> list[Token]:
        """The numbers up to a semicolon."""
        found = []
        while self._tokens.next.kind == "number":
            found.append(self._tokens.take())
        self._tokens.take(";", expected=expected)
        return found

    def _check(self, initial: list[Token]) -> int:
        """How many states there are; every number must be one of them."""
        size = len(self._at)
        for state, token in self._at.items():
            if state >= size:
                gap = min(set(range(size)) - self._at.keys())
                self._tokens.refuse(
                    f"there is a state {state}, but state {gap} has no statement", token
                )
        for token in (*initial, *(t for row in self._rows.values() for t in row)):
            if _number(token) >= size:
                self._tokens.refuse(
                    f"state {clipped(token.text)} has no statement", token
                )
        return size


def _number(token: Token) -> int:
    """What a number says; of one that is too large, that it is."""
    digits = token.text.lstrip("0") or "0"
    return int(digits) if len(digits) < 12 else MAX_SIZE


def _text(token: Token) -> str:
    return _unescaped(token.text[1:-1]) if token.kind == "string" else token.text


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text


def _members(text: str, propositions: dict[str, int]) -> list[int] | None:
    """The propositions in a list; None where there is something else."""
    found, at = [], 0
    for match in _TOKEN.finditer(text):
        if (
            match.lastgroup not in ("word", "string")
            or text[at : match.start()].strip()
        ):
            return None
        token = Token(match.lastgroup, match[0], match.start())
        if _text(token) not in propositions:
            return None
        found.append(propositions[_text(token)])
        at = match.end()
    return None if text[at:].strip() else found

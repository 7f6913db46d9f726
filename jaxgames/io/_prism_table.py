"""The table of transitions in PRISM's and Storm's explicit files."""

import re
from typing import NamedTuple

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _lines, _models, _pieces, _table_loop
from jaxgames.io._files import FilePath, FormatError
from jaxgames.quoting import quoted

_MODELS = {"mdp": True, "dtmc": False}
"""Storm's names of the models that are read, and whether their lines tell choices."""


_TYPES = ("MDP", "DTMC", "IMDP", "IDTMC")
"""PRISM's names of them, in the comment before the table."""

_COMMENTS = 8
"""How many comments are looked at for the type of the model."""

_DTYPES = (np.int32, np.int32, np.int32, np.float64, np.float64, np.int32, np.int32)
"""Of the columns."""


class Table(NamedTuple):
    """The columns, each `[E]`, and what the header tells."""

    state: np.ndarray
    choice: np.ndarray
    """The number of the choice among the state's."""
    target: np.ndarray
    lower: np.ndarray
    """The probability, or its lower bound."""
    upper: np.ndarray
    """The probability, or its upper bound."""
    action: np.ndarray
    """An index into the names."""
    line: np.ndarray
    names: list[str]
    """Of actions; the first is empty and means no action."""
    num_states: int | None
    num_choices: int | None
    tells_choices: bool
    """Whether lines tell the choice: a chain's do not."""
    intervals: bool
    """Whether the file says that it has bounds, or they differ."""

    def by_choices(
        self, path: FilePath, num_states: int
    ) -> tuple["Table", np.ndarray, np.ndarray]:
        """Sorted by state, then by choice; with where choices and states start.

        Returns:
            The table in order; int32 `[C + 1]`, the first row of each choice, and the
            number of rows; int32 `[S + 1]`, the first choice of each state, and `C`.

        Raises:
            FormatError: choices have gaps, or more than one action, or are not as many
                as the header says.
        """
        found = _table_loop.choices(self.state, self.choice, self.action, num_states)
        if found is not None:
            _lines.check_count(path, self.num_choices, len(found[0]) - 1, "choice")
            return self, *found
        table = self._in_order()
        first = table._first_of_choices()
        table._check(path, first)
        groups = _models.offsets(table.state[first], num_states)
        rows = np.append(first, len(table.state)).astype(np.int32)
        return table, rows, groups

    def _in_order(self) -> "Table":
        """Sorted by state, then by choice."""
        same = self.state[1:] == self.state[:-1]
        falls = (self.state[1:] < self.state[:-1]) | (same & (np.diff(self.choice) < 0))
        if not falls.any():
            return self
        order = np.lexsort((self.choice, self.state))
        return self._replace(
            **{name: getattr(self, name)[order] for name in Table._fields[:7]}
        )

    def _first_of_choices(self) -> np.ndarray:
        """Where each choice starts, in a table in order."""
        opens = np.ones(len(self.state), bool)
        opens[1:] = (np.diff(self.state) != 0) | (np.diff(self.choice) != 0)
        return np.flatnonzero(opens)

    def _check(self, path: FilePath, first: np.ndarray) -> None:
        """Refuses a table in order whose choices have gaps, or more than one action."""
        _lines.check_count(path, self.num_choices, len(first), "choice")
        begins = np.ones(len(first), bool)
        begins[1:] = np.diff(self.state[first]) != 0
        choice = np.arange(len(first))
        place = choice - np.maximum.accumulate(np.where(begins, choice, 0))
        self._refuse_any(
            path,
            first[self.choice[first] != place],
            "is listed, but the choice before it is not",
        )
        width = np.diff(np.append(first, len(self.state)))
        other = self.action != np.repeat(self.action[first], width)
        self._refuse_any(path, np.flatnonzero(other), "has two different actions")

    def _refuse_any(self, path: FilePath, rows: np.ndarray, why: str) -> None:
        if len(rows):
            state, choice = self.state[rows[0]], self.choice[rows[0]]
            message = f"choice {choice} of state {state} {why}"
            raise FormatError(path, int(self.line[rows[0]]), message)


class _Header(NamedTuple):
    states: int | None
    choices: int | None
    transitions: int | None
    tells_choices: bool


def read(path: FilePath) -> Table:
    """Reads a file, in its order; else raises FormatError."""
    header: _Header | None = None
    names, reals, intervals = {b"": 0}, _lines.Reals(), False
    parts = [tuple(np.empty(0, dtype) for dtype in _DTYPES)]

    def rows(byte: np.ndarray, before: int) -> _table_loop.Rows | None:
        if header is None:  # the comments before it are long
            return None
        last = _last(header)
        return _table_loop.read(byte, before, header.tells_choices, last, MAX_SIZE)

    for lines in _lines.read_rows(path, rows):
        if isinstance(lines, _table_loop.Rows):
            numbered = [names.setdefault(name, len(names)) for name in lines.names]
            action = np.array(numbered, np.int32)[lines.which]
            prob = lines.prob
            parts.append((*lines.numbers, prob, prob, action, lines.line))
            continue
        if header is None:
            intervals |= _check_type(lines)
        lines = lines.keep(lines.initials != ord("#"))
        if header is None and len(lines.number):
            header = _header(lines)
            lines = lines.skip(1)
        if header is not None and len(lines.number):
            parts.append(_columns(lines, header, names, reals))
    if header is None:
        raise FormatError(path, None, "the file is empty")
    # Numbers that are no intervals are joined once.
    narrow = all(part[3] is part[4] for part in parts[1:])
    columns = list(zip(*parts, strict=True))
    state, choice, target, lower = map(_pieces.joined, columns[:4])
    upper = lower if narrow else _pieces.joined(columns[4])
    action, line = map(_pieces.joined, columns[5:])
    _lines.check_count(path, header.transitions, len(state), "transition")
    return Table(
        state=state,
        choice=choice,
        target=target,
        lower=lower,
        upper=upper,
        action=action,
        line=line,
        names=[name.decode(errors="replace") for name in names],
        num_states=header.states,
        num_choices=header.choices,
        tells_choices=header.tells_choices,
        intervals=intervals or not (narrow or np.array_equal(lower, upper)),
    )


def _check_type(lines: _lines.Lines) -> bool:
    """Whether a comment says that this is an interval model; refuses other kinds."""
    intervals = False
    for line in np.flatnonzero(lines.initials == ord("#"))[:_COMMENTS].tolist():
        text = lines.text(line)
        kind = re.fullmatch(r"# Transitions \((\w+)\)", text)
        if kind and kind[1] not in _TYPES:
            expected = f"expected transitions of type {', '.join(_TYPES)}"
            lines.fail(line, f"{expected}, found {quoted(kind[1])}")
        intervals |= bool(kind) and kind[1].startswith("I")
    return intervals


def _header(lines: _lines.Lines) -> _Header:
    words = lines.words(0)
    if len(words) == 1 and words[0].lower() in _MODELS:
        return _Header(None, None, None, _MODELS[words[0].lower()])
    if len(words) not in (2, 3) or not all(word.isdigit() for word in words):
        expected = "'states choices transitions', 'states transitions', 'mdp' or 'dtmc'"
        lines.fail(0, f"expected {expected}, found {quoted(lines.text(0))}")
    sizes = lines.integers(np.arange(len(words)), "a size", 0, MAX_SIZE).tolist()
    choices = sizes[1] if len(sizes) == 3 else None
    return _Header(sizes[0], choices, sizes[-1], choices is not None)


def _last(header: _Header) -> int:
    """The last state."""
    return (MAX_SIZE if header.states is None else header.states) - 1


def _columns(
    lines: _lines.Lines, header: _Header, names: dict[bytes, int], reals: _lines.Reals
) -> tuple[np.ndarray, ...]:
    """The first six columns of the table; enters new actions into the names."""
    first, count = lines.first[:-1], lines.count
    width = 4 if header.tells_choices else 3
    columns = "state choice target" if header.tells_choices else "state target"
    right = (count == width) | (count == width + 1)
    lines.expect(right, f"'{columns} probability' and perhaps an action")
    last = _last(header)
    state = lines.integers(first, "a state", 0, last).astype(np.int32)
    choice = np.zeros_like(state)
    if header.tells_choices:
        choice = lines.integers(first + 1, "a choice", 0, MAX_SIZE).astype(np.int32)
    target = lines.integers(first + width - 2, "a state", 0, last).astype(np.int32)
    words = first + width - 1
    lower, upper = lines.intervals(words, "a probability", reals)
    _models.refuse_negative(lines, words, lower)
    action = np.zeros(len(first), np.int32)
    named = np.flatnonzero(count > width)
    words = first[named] + width
    action[named] = lines.codes(
        words, words, lambda _, text: names.setdefault(text, len(names))
    )
    number = lines.number.astype(np.int32)
    return state, choice, target, lower, upper, action, number

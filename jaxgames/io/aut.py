"""Labelled transition systems as Aldebaran's text.

    des (0, 3, 2)
    (0,"send",1)
    (1,"receive",0)
    (1,"tau",1)

The header tells the initial state, the number of transitions and the number of states;
then comes a line for each transition: from where, its label, to where. A label may lack
the quotes, and may hold commas, parentheses and quotes, but no line end.

References:
    CADP manual page *aldebaran*, format AUT. https://cadp.inria.fr/man/aut.html
"""

import dataclasses
import re
from typing import Any

import numpy as np

from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.arguments import as_array
from jaxgames.io import _aut_loop, _decimal, _limits, _lines, _pieces
from jaxgames.io._files import FilePath, FormatError
from jaxgames.quoting import quoted
from jaxgames.value import Value, freeze


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class LTS(Value):
    """A labelled transition system: a graph with a label at each edge.

    Attributes:
        arena: the states and transitions; all states belong to player 0.
        label: int32 `[E]`, the label of each edge, an index into `names`.
        names: what the labels are called.
        initial: the initial state.

    Examples:
        >>> lts = LTS.from_edges([0, 1, 1], ["send", "receive", "tau"], [1, 0, 1])
        >>> lts
        LTS(2 states, 3 transitions, 3 labels)
        >>> [lts.names[label] for label in lts.label]
        ['send', 'receive', 'tau']
    """

    arena: Arena
    label: np.ndarray
    names: tuple[str, ...]
    initial: int = 0

    @classmethod
    def from_edges(
        cls, src, labels, dst, *, num_states: int | None = None, initial: int = 0
    ) -> "LTS":
        """Builds a system from a list of transitions.

        They are sorted by source, stably. Labels are numbered in the order of their
        first appearance in the list.

        Args:
            src: integers `[E]`, where each transition starts.
            labels: strings `[E]`.
            dst: integers `[E]`, where it ends.
            num_states: how many states there are; by default those that occur.
            initial: the initial state.

        Raises:
            ValueError: a state is no integer or out of range, or the lengths differ.
        """
        numbers: dict[str, int] = {}
        label = [numbers.setdefault(str(name), len(numbers)) for name in labels]
        src, dst = _integers("src", src), _integers("dst", dst)
        if num_states is None:
            last = max(src.max(initial=-1), dst.max(initial=-1), initial)
            num_states = int(last) + 1
        return cls.from_arrays(src, label, dst, numbers, num_states, initial)

    @classmethod
    def from_arrays(
        cls, src, label, dst, names, num_states: int, initial: int = 0
    ) -> "LTS":
        """Builds a system from transitions whose labels are numbers.

        Args:
            src: integers `[E]`, where each transition starts.
            label: integers `[E]`, indices into the names.
            dst: integers `[E]`, where it ends.
            names: strings.
            num_states: how many states there are.
            initial: the initial state.

        Raises:
            ValueError: a state or a label is no integer or out of range, or the lengths
                differ.
        """
        src, dst = _integers("src", src), _integers("dst", dst)
        label, names = _integers("label", label), tuple(names)
        if label.shape != src.shape:
            raise ValueError(
                f"src and label must have the same length, got {src.shape} and "
                f"{label.shape}"
            )
        if len(label) and not 0 <= label.min() <= label.max() < len(names):
            raise ValueError(f"labels must be from 0 to {len(names) - 1}")
        if not 0 <= initial < max(num_states, 1):
            raise ValueError(
                f"the initial state must be from 0 to {num_states - 1}, got {initial}"
            )
        label = label.astype(np.int32, copy=False)
        if len(src) and np.any(src[1:] < src[:-1]):
            order = np.argsort(src, kind="stable")
            src, dst = src[order], dst[order]
            label = freeze(label[order])
        arena = Arena.from_edges(
            src, dst, owner=np.zeros(num_states, bool), dead_ends="allow"
        )
        return cls(arena, label, names, int(initial))

    @property
    def num_states(self) -> int:
        """Number of states."""
        return self.arena.shape[0]

    @property
    def num_transitions(self) -> int:
        """Number of transitions."""
        return self.arena.shape[1]

    def __repr__(self) -> str:
        return (
            f"LTS({self.num_states} states, {self.num_transitions} transitions, "
            f"{len(self.names)} labels)"
        )


def _integers(name: str, values: Any) -> np.ndarray:
    """What a user passed as integers, flat; without any it is an empty list."""
    array = as_array(name, values)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a list of integers, got {array.dtype} of shape "
            f"{array.shape}"
        )
    return array


HOLDS = LTS
"""What `load` returns and `save` takes."""


def load(path: FilePath) -> LTS:
    r"""Reads a labelled transition system.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        The system; its labels are numbered in the order of their first appearance in
        the file.

    Raises:
        FormatError: the file is something else, or the header's numbers are wrong.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.aut")
        >>> _ = path.write_text('des (0, 2, 2)\n(0,"a",1)\n(1,"b, c",0)\n')
        >>> load(path).names
        ('a', 'b, c')
    """
    sizes: list[int] = []
    names: dict[bytes, int] = {}
    parts = [tuple(np.empty((3, 0), np.int32))]

    def rows(byte: np.ndarray, _: int) -> _aut_loop.Rows | None:
        return _aut_loop.read(byte, _decimal.MARGIN, sizes[2] - 1) if sizes else None

    for lines in _lines.read_rows(path, rows):
        if isinstance(lines, _aut_loop.Rows):
            numbered = [names.setdefault(name, len(names)) for name in lines.names]
            label = np.array(numbered, np.int32)[lines.which]
            parts.append((lines.ends[0], label, lines.ends[1]))
            continue
        if not sizes and len(lines.number):
            sizes = _header(lines)
            lines = lines.skip(1)
        if len(lines.number):
            parts.append(tuple(_transitions(lines, sizes[2], names)))
    if not sizes:
        raise FormatError(path, None, "the file is empty")
    initial, transitions, states = sizes
    src, label, dst = map(_pieces.joined, zip(*parts, strict=True))
    _lines.check_count(path, transitions, len(src), "transition")
    _limits.check_vertices(path, states)
    texts = (name.decode(errors="replace") for name in names)
    return LTS.from_arrays(src, label, dst, texts, states, initial)


def save(path: FilePath, lts: LTS) -> None:
    """Writes a labelled transition system.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        lts: the system.

    Raises:
        ValueError: the system has no states, or a label has a line end.
        OSError: the file cannot be written.
    """
    if not lts.num_states:
        raise ValueError(
            "Aldebaran's format needs an initial state, but the system has no states"
        )
    for name in lts.names:
        if "\n" in name or "\r" in name or "\0" in name:
            raise ValueError(f"Aldebaran's format cannot hold the label {quoted(name)}")
    labels = np.array([f',"{name}",'.encode() for name in lts.names] or [b""], "S")
    _lines.write(
        path,
        f"des ({lts.initial}, {lts.num_transitions}, {lts.num_states})\n",
        b"(",
        _lines.decimals(lts.arena.src),
        labels[lts.label],
        _lines.decimals(lts.arena.dst),
        b")\n",
    )


def _header(lines: _lines.Lines) -> list[int]:
    """Initial state, number of transitions, number of states."""
    text = lines.text(0)
    match = re.fullmatch(
        r"des\s*\(\s*([0-9]+)\s*,\s*([0-9]+)\s*,\s*([0-9]+)\s*\)", text
    )
    if not match:
        expected = "'des (initial state, number of transitions, number of states)'"
        lines.fail(0, f"expected {expected}, found {quoted(text)}")
    initial, transitions, states = (
        int((word.lstrip("0") or "0")[:18]) for word in match.groups()
    )
    if not (transitions <= MAX_SIZE and 1 <= states <= MAX_SIZE):
        lines.fail(
            0, f"expected 1 to {MAX_SIZE} states and transitions, found {quoted(text)}"
        )
    if initial >= states:
        lines.fail(
            0, f"expected an initial state from 0 to {states - 1}, found {initial}"
        )
    return [initial, transitions, states]


def _transitions(
    lines: _lines.Lines, states: int, names: dict[bytes, int]
) -> np.ndarray:
    """Sources, labels and targets; enters new labels into the names."""
    byte, start = lines.byte, lines.start[lines.first[:-1]]
    end = lines.end[lines.first[1:] - 1]
    comma = np.flatnonzero(byte == ord(","))
    before = np.searchsorted(comma, start)
    after = np.searchsorted(comma, end) - 1
    right = (byte[start] == ord("(")) & (byte[end - 1] == ord(")")) & (after > before)
    lines.expect(right, "'(from,\"label\",to)'")
    first, last = comma[before], comma[after]
    source, target = _trim(byte, start + 1, first), _trim(byte, last + 1, end - 1)
    ends = lines._replace(
        start=np.concatenate([source[0], target[0]]).astype(np.int32),
        end=np.concatenate([source[1], target[1]]).astype(np.int32),
        first=np.arange(2 * len(start) + 1),
        number=np.tile(lines.number, 2),
    )
    what = "a state"
    vertices = ends.integers(np.arange(2 * len(start)), what, 0, states - 1)
    begin, stop = _trim(byte, first + 1, last)
    in_quotes = (
        (stop - begin > 1) & (byte[begin] == ord('"')) & (byte[stop - 1] == ord('"'))
    )
    label = lines.named(begin + in_quotes, stop - in_quotes, names)
    src, dst = vertices.reshape(2, -1)
    return np.array([src, label, dst], np.int32)


def _trim(byte: np.ndarray, start: np.ndarray, end: np.ndarray):
    """Moves starts and ends over the blanks within."""
    shown = np.append(np.flatnonzero(byte > ord(" ")), len(byte))
    after = np.searchsorted(shown, start)  # the first that is no blank
    before = np.searchsorted(shown, end) - 1  # the last
    start = np.minimum(shown[after], end)
    return start, np.maximum(shown[before] + 1, start)

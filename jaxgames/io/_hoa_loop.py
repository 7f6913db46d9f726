"""States and edges of an automaton in text, read one after the other.

A long text is read by machine code, a short one by a regular expression. Anything
unusual is left to slower code, which can tell what is wrong.
"""

import re
from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.io import _pieces, _texts, _whole
from jaxgames.io._whole import Whole
from jaxgames.io._word_loop import letters, natural
from jaxgames.tuning.io import HOA_BYTES as _BYTES_AT_ONCE
from jaxgames.tuning.io import HOA_SLOWER as _SLOWER

ODD = -1
"""Instead of a position: something may be malformed, or has no label."""

_DASHES = 64
"""How many dashes are tried before the whole sign is searched."""

_STATE, _END = (int.from_bytes(word, "big") for word in (b"State:", b"--END--"))

_LINE = re.compile(
    r"""(?:State:\s*(?P<state>0|[1-9][0-9]{0,9})\s*(?:"(?:\\.|[^\\"])*"\s*)?
    |\[(?P<label>[^]"/[]*)\]\s*(?P<target>0|[1-9][0-9]{0,9})\s*)
    (?:\{(?P<marks>[\s0-9]*)\}\s*)?""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
"""A state or an edge, up to the next one."""


class Body(NamedTuple):
    """The contents of `S` states and their `E` edges, in their order."""

    state: np.ndarray
    """int32 `[S]`, the number of each state."""
    offsets: np.ndarray
    """int32 `[S + 1]`, where the edges of each start, and where all end."""
    target: np.ndarray
    """int32 `[E]`."""
    label: _texts.Texts
    """`[E]`, the label of each edge, in brackets."""
    common: _texts.Texts
    """`[S]`, the acceptance sets of each state; from 0 to 0 are none."""
    marks: _texts.Texts
    """`[E]`, those of each edge."""
    end: int
    """The position of `--END--`."""


def pays(size: int) -> bool:
    """Whether reading so many bytes is faster than token by token."""
    return _pieces.pays(_parse, size * _SLOWER)


def scan(text: str, begin: int, most: int) -> Body | None:
    """Reads states, whose edges have labels, from a position on.

    Gives None where something may be malformed.
    """
    states: list[tuple[int, int, int, int]] = []
    edges: list[tuple[int, int, int, int, int]] = []
    at = begin
    for line in _LINE.finditer(text, begin):
        if line.start() != at:
            break
        at = line.end()
        start, stop = line.span("marks") if line["marks"] is not None else (0, 0)
        if line["state"] is None:
            place = line.span("label")
            edges.append((int(line["target"]), *place, start, stop))
        else:
            states.append((int(line["state"]), len(edges), start, stop))
    if not text.startswith("--END--", at) or (states and states[0][1]):
        return None
    if edges and not states:
        return None
    states.append((0, len(edges), 0, 0))
    # Engines take rows that lie together, so columns become such.
    listed = np.ascontiguousarray(np.array(states, np.int64).T)
    found = np.ascontiguousarray(np.array(edges, np.int64).reshape(-1, 5).T)
    if max(listed[0].max(), found[0].max(initial=0)) > most:
        return None
    listed, found = listed.astype(np.int32), found.astype(np.int32)
    label, common, marks = (
        _told_apart(text, places) for places in (found[1:3], listed[2:, :-1], found[3:])
    )
    return Body(listed[0, :-1], listed[1], found[0], label, common, marks, at)


def _told_apart(text: str, at: np.ndarray) -> _texts.Texts:
    """The different texts at some places."""
    starts, ends = at.tolist()
    texts = [text[a:b] for a, b in zip(starts, ends, strict=True)]
    number = {each: i for i, each in enumerate(dict.fromkeys(texts))}
    which = np.array([number[each] for each in texts], np.int32)
    # Written from the last to the first, the first one stays.
    first = np.zeros(len(number), np.int32)
    first[which[::-1]] = np.arange(len(texts) - 1, -1, -1)
    return _texts.Texts(which, at[:, first])


def read(whole: Whole, begin: int, most: int) -> Body | None:
    """Reads states, whose edges have labels, from a position on.

    A long text is cut where states start, and read by all cores. Gives None where
    something may be malformed, the text is not UTF-8, or a name holds the sign for the
    end.
    """
    if has_come := whole.has_come:  # others may follow
        end = _end_of(whole.byte, begin)
        if end < 0:
            return None
        whole = Whole(whole.path, whole.byte[: end + 15])

    def parse(byte: np.ndarray, begin: int, end: int) -> Body | None:
        return _parsed(byte[: end + 8], begin, most)

    def is_last(body: Body) -> bool:
        return whole.start(body.end).startswith(b"-")

    found = whole.parsed(parse, begin, b"\nState:", _BYTES_AT_ONCE, is_last=is_last)
    if found is not None:
        return _joined(whole.byte, found) if len(found) > 1 else found[0]
    # A name may have been cut.
    if not has_come:
        return read(Whole(whole.path, whole.byte), begin, most)
    body = parse(whole.byte, begin, whole.size)
    return body if body is not None and is_last(body) else None


def _joined(byte: np.ndarray, parts: list[Body]) -> Body:
    before = np.cumsum([0, *(part.offsets[-1] for part in parts)], dtype=np.int32)
    offsets = [n + part.offsets[:-1] for n, part in zip(before, parts, strict=False)]
    return Body(
        _pieces.joined([part.state for part in parts]),
        np.concatenate([*offsets, before[-1:]]),
        _pieces.joined([part.target for part in parts]),
        _texts.joined(byte, [part.label for part in parts]),
        _texts.joined(byte, [part.common for part in parts]),
        _texts.joined(byte, [part.marks for part in parts]),
        parts[-1].end,
    )


def _end_of(byte: np.ndarray, begin: int) -> int:
    """Where the sign for the end is, or -1.

    A single character is looked for ten times as fast as a word.
    """
    size = len(byte) - 8
    end = begin - 1
    for _ in range(_DASHES):
        end = _whole.find(byte, b"-", end + 1, size)
        if end < 0 or byte[end : end + 7].tobytes() == b"--END--":
            return end
    return _whole.find(byte, b"--END--", end, size)


def _parsed(byte: np.ndarray, begin: int, most: int) -> Body | None:
    """Reads a piece up to the sign for the end, or a state; eight bytes follow it."""
    if not _whole.is_utf8(byte[begin:-8]):
        return None
    # The shortest are `State:0` and `[t]0`.
    size = len(byte) - begin
    states = np.empty((4, size // 7 + 2), np.int32)
    edges = np.empty((5, size // 4 + 2), np.int32)
    count, links, end = _parse(byte, begin, most, states, edges)
    if end == ODD:
        return None
    return Body(
        states[0, :count].copy(),
        states[1, : count + 1].copy(),
        edges[0, :links].copy(),
        _texts.told_apart(byte, edges[1:3, :links]),
        _texts.told_apart(byte, states[2:, :count]),
        _texts.told_apart(byte, edges[3:, :links]),
        end,
    )


@compiled
def _parse(byte, begin, most, states, edges):
    size = len(byte) - 8
    count = 0
    links = 0
    at = _skip(byte, begin, size)
    while at < size:
        is_edge = byte[at] == 91
        if is_edge and count > 0:  # a label
            at += 1
            edges[1, links] = at
            while at < size and byte[at] != 93:
                if byte[at] == 34 or byte[at] == 47 or byte[at] == 91:
                    return count, links, ODD
                at += 1
            edges[2, links] = at
            at += 1
        elif letters(byte, at, 6) == _STATE:
            at += 6
        elif letters(byte, at, 7) == _END:
            states[1, count] = links
            return count, links, at
        else:
            return count, links, ODD
        at = _skip(byte, at, size)
        first = at
        value, at = natural(byte, at)
        if value < 0 or value > most or (byte[first] == 48 and at - first > 1):
            return count, links, ODD
        at = _skip(byte, at, size)
        if not is_edge and byte[at] == 34:  # a name
            at += 1
            while at < size and byte[at] != 34:
                at += 2 if byte[at] == 92 else 1
            at = _skip(byte, at + 1, size)
        start = 0
        stop = 0
        if byte[at] == 123:  # acceptance sets
            at += 1
            start = at
            while byte[at] == 32 or 9 <= byte[at] <= 13 or 48 <= byte[at] <= 57:
                if at >= size:
                    break
                at += 1
            if byte[at] != 125:
                return count, links, ODD
            stop = at
            at = _skip(byte, at + 1, size)
        if is_edge:
            edges[0, links] = value
            edges[3, links] = start
            edges[4, links] = stop
            links += 1
        else:
            states[0, count] = value
            states[1, count] = links
            states[2, count] = start
            states[3, count] = stop
            count += 1
    if at > size:
        return count, links, ODD
    states[1, count] = links
    return count, links, at  # where a piece ends, before another state


@compiled
def _skip(byte, at, size):
    """The next place without a blank."""
    while at < size and (byte[at] == 32 or 9 <= byte[at] <= 13):
        at += 1
    return at

"""The lattice of notions of equivalence, with what holds."""

import os
from collections.abc import Iterable, Mapping

import numpy as np

from jaxgames.plot._game import FILL, LINE
from jaxgames.plot._page import FAINT, FONT, SMALL, Picture, check_suffix, text_width
from jaxgames.solution import UNDECIDED

_ROW = 46.0
_GAP = 18.0

_STATES = (
    ("equivalent", FILL[0], LINE[0]),
    ("only p is below q", "#eef5fb", LINE[0]),
    ("only q is below p", FILL[1], LINE[1]),
    ("told apart both ways", FILL[UNDECIDED], LINE[UNDECIDED]),
    ("not known", "#ffffff", LINE[UNDECIDED]),
)


def draw_spectrum(
    holds: Mapping[str, tuple[bool | None, ...]],
    covers: Iterable[tuple[str, str]],
    path: str | os.PathLike | None = None,
    *,
    p: str = "p",
    q: str = "q",
) -> Picture:
    """Draws which notions relate two processes, and saves it where a path is given.

    The finest notion is at the top; lines lead down to the next coarser ones.

    Args:
        holds: for each notion whether p is below q, q is below p, and both, as
            [`equivalence.compare`][jaxgames.equivalence.compare] returns it.
        covers: pairs of notions of which the first is next coarser, as
            [`equivalence.covers`][jaxgames.equivalence.covers] returns them.
        path: a file to write, `.svg`, `.png` or `.pdf`; the last two take matplotlib.
        p: what the first process is called.
        q: what the second one is called.

    Returns:
        The picture, which a notebook shows.

    Raises:
        ValueError: another suffix.
        ImportError: matplotlib is needed and not installed.

    Examples:
        >>> holds = {"traces": (True, True, True), "simulation": (True, False, False)}
        >>> draw_spectrum(holds, [("traces", "simulation")], p="0", q="4")
        Picture('notions that relate 0 and 4')
    """
    if path is not None:
        check_suffix(path)
    picture = Picture(f"notions that relate {p} and {q}")
    names, lines = list(holds), [(coarse, fine) for coarse, fine in covers]
    at = _places(names, lines)
    for coarse, fine in lines:
        ends = at[fine] + (0, 11), at[coarse] - (0, 11)
        picture.curve(
            np.linspace(*ends, 4),
            line="#9a9a9a" if not holds[fine][2] else LINE[0],
            tip=f"{fine} implies {coarse}",
        )
    for name in names:
        _, fill, line = _STATES[_state(holds[name])]
        half = np.array([text_width(name, FONT) / 2 + 6, 11])
        picture.box(
            at[name] - half,
            2 * half,
            fill=fill,
            line=line,
            width=1.6 if holds[name][2] else 1.0,
            tip=f"{name}: {_say(_state(holds[name]), p, q)}",
        )
        picture.words(at[name], name.replace("_", " "))
    (left, _), (_, bottom) = picture.bounds()
    y = bottom + 22
    for state in sorted({_state(holds[name]) for name in names}):
        _, fill, line = _STATES[state]
        picture.box((left, y - 5), (16, 10), fill=fill, line=line)
        text = _say(state, p, q)
        picture.words((left + 22, y), text, size=SMALL, anchor="start", color=FAINT)
        y += 16
    if path is not None:
        picture.save(path)
    return picture


def _state(holds: tuple[bool | None, ...]) -> int:
    forth, back, both = holds
    if forth is None or back is None:
        return 4
    return 0 if both else 1 if forth else 2 if back else 3


def _say(state: int, p: str, q: str) -> str:
    words = {"p": p, "q": q}
    return " ".join(words.get(word, word) for word in _STATES[state][0].split())


def _places(names: list[str], lines: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    """A row for each length of the longest way down, each centred; few crossings."""
    below: dict[str, list[str]] = {name: [] for name in names}
    for coarse, fine in lines:
        below[fine].append(coarse)
    height: dict[str, int] = {}

    def rise(name: str) -> int:
        if name not in height:
            height[name] = 1 + max(map(rise, below[name]), default=-1)
        return height[name]

    rows: dict[int, list[str]] = {}
    for name in names:
        rows.setdefault(rise(name), []).append(name)
    x = {name: float(i) for row in rows.values() for i, name in enumerate(row)}
    near: dict[str, list[str]] = {name: [*below[name]] for name in names}
    for coarse, fine in lines:
        near[coarse].append(fine)
    for _ in range(12):  # each to the middle of what it is connected with
        for row in rows.values():
            middle = {
                name: float(np.mean([x[n] for n in near[name]] or [x[name]]))
                for name in row
            }
            row.sort(key=lambda name: (middle[name], names.index(name)))
            spread = _spread(row)
            shift = float(np.mean([90 * middle[name] for name in row]))
            shift -= sum(spread) / len(spread)
            x |= {n: (s + shift) / 90 for n, s in zip(row, spread, strict=True)}
    return {
        name: np.array([90 * x[name], -_ROW * level])
        for level, row in rows.items()
        for name in row
    }


def _spread(row: list[str]) -> list[float]:
    """Middles of boxes side by side."""
    places, edge = [], 0.0
    for name in row:
        half = text_width(name, FONT) / 2 + 6
        places.append(edge + half)
        edge += 2 * half + _GAP
    return places

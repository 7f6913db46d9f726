r"""Values of variables in DRN: Storm writes them as a comment after each state.

state 3 goal
//[x=2	& !done]
"""

import re
from collections.abc import Mapping

import numpy as np

from jaxgames.io import _lines

START = "//["
"""How such a comment starts."""

_NAME = re.compile(r"[^\s&=!\[\]][^\s&=\[\]]*")


def read(texts: list[bytes]) -> tuple[dict[str, np.ndarray], list[str]]:
    """Takes apart the comments of all states.

    Returns:
        For each variable int64, float64 or bool `[S]`; and what is left out. A text
        that is no list of values is a comment like any other, and then there are none.
    """
    rows = [
        [part.strip() for part in text.decode(errors="replace").split("&")]
        for text in (text.strip()[len(START) : -1] for text in texts)
    ]
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        return {}, []
    found, left_out = {}, []
    known: dict[str, tuple[str, bool | int | float] | None] = {}
    reals = _lines.Reals()
    for place in range(width):
        column = []
        for row in rows:
            if row[place] not in known:
                known[row[place]] = _assignment(row[place], reals)
            column.append(known[row[place]])
        if None in column:
            return {}, []
        # Some versions of Storm write nothing where a variable is true.
        names = {name for name, _ in column if name}
        kinds = {type(value) for _, value in column}
        if not names and kinds == {bool}:
            left_out.append("a variable that is always true, and not named")
            continue
        if (
            len(names) != 1
            or names & found.keys()
            or (bool in kinds) > (kinds == {bool})
        ):
            return {}, []
        kind = bool if bool in kinds else np.float64 if float in kinds else np.int64
        found[names.pop()] = np.array([value for _, value in column], kind)
    return found, left_out


def _assignment(
    text: str, reals: _lines.Reals
) -> tuple[str, bool | int | float] | None:
    """A variable and its value; None where there is none."""
    name, equals, value = text.partition("=")
    if not equals:
        bare = text.removeprefix("!")
        if text and not _NAME.fullmatch(bare):
            return None
        return bare, not text.startswith("!")
    if not _NAME.fullmatch(name):
        return None
    if re.fullmatch("-?[0-9]{1,19}", value) and -(1 << 63) <= int(value) < 1 << 63:
        return name, int(value)
    try:
        return name, float(reals[value.encode()])
    except _lines.NotANumberError:
        return None


def can_hold(name: str, values: np.ndarray) -> bool:
    """Whether a variable can be written."""
    return bool(_NAME.fullmatch(name)) and bool(np.isfinite(values).all())


def columns(valuations: Mapping[str, np.ndarray], part: slice) -> list[_lines.Column]:
    """The comments of some states, as columns of text."""
    if not valuations:
        return []
    parts: list[_lines.Column] = []
    for name, values in valuations.items():
        parts.append(b"\t& " if parts else START.encode())
        text = name.encode()
        if values.dtype == bool:
            parts.append(np.where(values[part], text, b"!" + text))
            continue
        parts += [text + b"=", _lines.numbers(values[part])]
    return [*parts, b"]\n"]

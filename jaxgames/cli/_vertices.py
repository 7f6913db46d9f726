"""Sets of vertices on the command line: numbers, ranges, or a file with these."""

import re
from collections.abc import Iterator

import numpy as np

from jaxgames.io._errors import FormatError
from jaxgames.io._files import reading
from jaxgames.quoting import quoted

SYNTAX = "numbers and ranges, such as 0,4,10-19, or @FILE with these"
"""How a set is written, for help texts."""


def mask(option: str, text: str, size: int, what: str = "vertex") -> np.ndarray:
    """The set that an option names: bool `[size]`.

    Raises ValueError if a word is no number or range, or a vertex is not there; in a
    file FormatError, with the line.
    """
    found = np.zeros(size, bool)
    for path, line, word in _words(text):
        numbers = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", word)
        first, last = (numbers[1], numbers[2] or numbers[1]) if numbers else ("0", "0")
        why = ""
        if not numbers or int(first) > int(last):
            why = f"expected {what} numbers or ranges such as 10-19, got {quoted(word)}"
        elif int(last) >= size:
            why = f"there is no {what} {last}, expected 0 to {size - 1}"
        if why and path:
            raise FormatError(path, line, why)
        if why:
            raise ValueError(f"{option}: {why}")
        found[int(first) : int(last) + 1] = True
    return found


def _words(text: str) -> Iterator[tuple[str, int, str]]:
    """The words of a set, each with the file and the line where it is."""
    if not text.startswith("@"):
        yield from (("", 0, word.strip()) for word in text.split(","))
        return
    with reading(text[1:]) as lines:
        for number, data in enumerate(lines, 1):
            line = data.decode(errors="replace")
            for word in re.split(r"[,\s]+", line.partition("#")[0].strip()):
                if word:
                    yield text[1:], number, word

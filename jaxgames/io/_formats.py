"""Which format a file has: its suffix says so, or else its content.

Formats are named by their suffixes without the dot. A module of a format is imported
when the first file of that format is read or written.
"""

import contextlib
import importlib
import os
import re
from collections.abc import Iterator
from types import ModuleType

from jaxgames.io._errors import FormatError
from jaxgames.io._files import COMPRESSIONS, FilePath, reading
from jaxgames.io._limits import OversizeError
from jaxgames.quoting import guess, quoted
from jaxgames.tuning.io import HEAD as _HEAD

FORMATS: dict[str, str] = {
    ".pg": "jaxgames.io.pgsolver",
    ".gm": "jaxgames.io.pgsolver",
    ".pgsolver": "jaxgames.io.pgsolver",
    ".energy": "jaxgames.io.energy",
    ".eg": "jaxgames.io.energy",
    ".mpg": "jaxgames.io.mpg",
    ".eparity": "jaxgames.io.eparity",
    ".mtx": "jaxgames.io.matrix_market",
    ".aut": "jaxgames.io.aut",
    ".csv": "jaxgames.io.lts_csv",
    ".dot": "jaxgames.io.lts_dot",
    ".umb": "jaxgames.io.umb",
    ".drn": "jaxgames.io.drn",
    ".tra": "jaxgames.io.prism",
    ".prism": "jaxgames.io.program",
    ".pm": "jaxgames.io.program",
    ".nm": "jaxgames.io.program",
    ".sm": "jaxgames.io.program",
    ".kripke": "jaxgames.io.kripke",
    ".hoa": "jaxgames.io.hoa",
    ".ehoa": "jaxgames.io.ehoa",
    ".tlsf": "jaxgames.io.tlsf",
    ".aag": "jaxgames.io.aiger",
    ".aig": "jaxgames.io.aiger",
    ".never": "jaxgames.io.never",
    ".npz": "jaxgames.io.npz",
}
"""By suffix, the name of the module with `load` and `save`."""

_MODELS = (
    "models are read from .umb and .drn files, from PRISM's .tra files, and from "
    "programs in PRISM's language: Markov chains, also with rates, decision processes "
    "and, in .umb files, games"
)

UNREAD = {
    ".ma": f"Markov automata are not read; {_MODELS}",
    ".jani": f"models in JANI are not read; {_MODELS}",
}
"""What is said of files that others read, by suffix."""

_BESIDE = {
    ".lab": "labels",
    ".sta": "values of variables",
    ".srew": "rewards of states",
    ".trew": "rewards of transitions",
}
"""What PRISM's files beside a `.tra` file hold, some of which start as that does."""

UNREAD |= {
    suffix: f"{what} of a model are read with it: name the .tra file"
    for suffix, what in _BESIDE.items()
}

NEVER_PACKED = (".npz",)
"""Suffixes of what is not written compressed: it is already."""

_BLANK = rb"(?:\s|/\*(?>.*?\*/)|//[^\n]*+\n|#[^\n]*+\n)*+"
"""What may stand before the first word, in some format; never tried in another way."""

_ROW = rb"[ \t]*\d+[ \t]+\d+[ \t]+(?:\d+[ \t]+)?"
"""How a row of a table of transitions begins."""

_PROBABILITY = rb"(?:\d+(?:[./]\d+)?(?:[eE][-+]?\d+)?|\[[^\]\n]*\])"

SIGNS = {
    suffix: re.compile(_BLANK + sign, re.DOTALL)
    for suffix, sign in {
        ".mpg": rb"(?:(?:arena|parity)\s+)?\d+(?:\s+\d+)?\s*;\s*\d+\s+(?:MAX|MIN)\b",
        ".pg": rb"(?:parity\s+\d+\s*;(?!\s*\d+\s+M)"
        rb'|\d+\s+\d+\s+[01]\s+\d+(?:\s*,\s*\d+)*\s*(?:"[^"]*"\s*)?;)',
        ".energy": rb"energy[ \t]+\d",
        ".eparity": rb"energyparity[ \t]+\d",
        ".mtx": rb"%%(?i:MatrixMarket)\b",
        ".aut": rb"des\s*\(",
        ".csv": rb"\d+[ \t]*,[ \t]*\d+[ \t]*,",
        ".dot": rb"(?:strict\s+)?(?:digraph|graph)\b[^;\n]*\{",
        ".drn": rb"@\w+",
        ".tra": rb"(?:(?:mdp|dtmc)[ \t\r]*\n|\d+[ \t]+\d+(?:[ \t]+\d+)?[ \t\r]*\n)"
        + rb"(?:#[^\n]*\n)*%s%s[ \t\r]*(?:[^\s;,]+[ \t\r]*)?(?:\n|\Z)"
        % (_ROW, _PROBABILITY),
        ".prism": rb"(?:(?:mdp|dtmc|ctmc|probabilistic|nondeterministic|stochastic"
        + rb"|ma|pta|popta|pomdp|smg|csg|imdp|idtmc)\s+"  # which its reader refuses
        + rb"(?:const|module|formula|label|global|rewards|init|system|player"
        + rb"|observables|//|/\*)"
        + rb"|module\s+\w+\s+\w+\s*:\s*(?:bool|\[))",
        ".kripke": rb"kripke\s*;",
        ".hoa": rb"HOA\s*:(?!.*?\scontrollable-AP\s*:)",
        ".ehoa": rb"HOA\s*:.*?\scontrollable-AP\s*:",
        ".tlsf": rb"INFO\s*\{",
        ".aag": rb"(?:(?:UN)?REALIZABLE\s+)?a[ai]g \d+ \d+ \d+ \d+ \d+\s",
        ".never": rb"never\b[^{;]*\{",
    }.items()
}
"""How texts begin, by the format's first suffix; archives have marks of their own."""


def of(path: FilePath, name: str | None) -> tuple[ModuleType, str]:
    """The module that reads a file, and the suffix of the format.

    Args:
        path: the file.
        name: of the format; None: by the suffix, or where that says nothing, by what
            the file begins with.

    Raises:
        FormatError: nobody says which format it is.
        ValueError: no format has that name.
        OSError: the file cannot be read.
    """
    if name is not None:
        return _named(name)
    suffix = suffix_of(path)
    if suffix in FORMATS:
        return _module(suffix), suffix
    head = _head(path)
    found = _signs(head)
    if suffix in UNREAD and (len(found) != 1 or suffix in _BESIDE):
        raise FormatError(path, None, UNREAD[suffix])
    if len(found) != 1:
        why = "its content is not that of any known format" if head else "it is empty"
        if found:
            why = f"{' and '.join(found)} files start like this"
        raise FormatError(
            path,
            None,
            f"{'unknown suffix' if suffix else 'no suffix'}, and {why}; pass format=, "
            f"one of {_names()}",
        )
    return _module(found[0]), found[0]


def of_output(path: FilePath, name: str | None) -> tuple[ModuleType, str]:
    """The module that writes a file, and the suffix of the format.

    Raises:
        FormatError: neither suffix nor name tells the format.
        ValueError: no format has that name.
    """
    if name is not None:
        return _named(name)
    suffix = suffix_of(path)
    packed = os.fspath(path).lower().endswith(COMPRESSIONS)
    if suffix not in FORMATS or (packed and suffix in NEVER_PACKED):
        text = ", ".join(x for x in FORMATS if x not in NEVER_PACKED)
        raise FormatError(
            path,
            None,
            f"unknown suffix; known: {text} (and these followed by "
            f"{', '.join(COMPRESSIONS)}) and {', '.join(NEVER_PACKED)}; or pass "
            "format=",
        )
    return _module(suffix), suffix


@contextlib.contextmanager
def hinting(path: FilePath, suffix: str) -> Iterator[None]:
    """Adds to an error that the file starts like those of another format."""
    try:
        yield
    except OversizeError:
        raise
    except FormatError as error:
        if error.path != os.fspath(path):
            raise
        found = _signs(_head(path))
        if len(found) != 1 or FORMATS[found[0]] == FORMATS[suffix]:
            raise
        raise FormatError(
            path,
            error.line,
            f"{error.message}; it starts like {found[0]} files: if it is one, pass "
            f"format={found[0][1:]!r}",
        ) from error


def suffix_of(path: FilePath) -> str:
    """The suffix of a file that tells its format, before that of a compression."""
    stem, suffix = os.path.splitext(os.fspath(path).lower())
    return os.path.splitext(stem)[1] if suffix in COMPRESSIONS else suffix


def _named(name: str) -> tuple[ModuleType, str]:
    suffix = f".{name.lower().removeprefix('.')}"
    if suffix not in FORMATS:
        meant = guess(suffix[1:], [known[1:] for known in FORMATS])
        plain, packing = os.path.splitext(suffix)
        if packing in COMPRESSIONS and plain in FORMATS:
            meant = f" (did you mean {plain[1:]!r}? Compression is no part of a name)"
        raise ValueError(f"there is no format {quoted(name)}{meant}; known: {_names()}")
    return _module(suffix), suffix


def _module(suffix: str) -> ModuleType:
    return importlib.import_module(FORMATS[suffix])


def _names() -> str:
    return ", ".join(suffix[1:] for suffix in FORMATS)


def _head(path: FilePath) -> bytes:
    with reading(path) as file:
        return file.read(_HEAD)


def _signs(head: bytes) -> list[str]:
    """The formats of which a file begins like that."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return [".npz"]
    if head[257:262] == b"ustar":
        return [".umb"]
    head = head.removeprefix(b"\xef\xbb\xbf")
    return [suffix for suffix, sign in SIGNS.items() if sign.match(head)]

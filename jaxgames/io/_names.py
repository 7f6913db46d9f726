"""Names of vertices, in texts whose statements may end with a name in quotes."""

import re
from collections.abc import Sequence

from jaxgames import limits
from jaxgames.io._files import FilePath, reading

_PART = re.compile(rb'([^";]*+)(?:;|"([^"]*+)")')
"""What stands before the end of a statement, or before a name, and the name."""

Names = Sequence[str | None]
"""A name for each vertex, or None for one without."""


def read(path: FilePath, count: int) -> list[str | None]:
    """The names in a file that a game was read from."""
    found: list[str | None] = [None] * count
    with reading(path) as file:
        text = file.read()
    at, vertex = (0 if b'"' in text else len(text)), b""
    while part := _PART.match(text, at):
        limits.tick("reading names", at, "bytes")
        at, vertex = part.end(), vertex or part[1].lstrip()
        if part[2] is None:
            vertex = b""
        elif vertex:  # some readers take quotes anywhere
            found[int(vertex.split(None, 1)[0])] = part[2].decode(errors="replace")
    return found


def check(names: Names | None, count: int) -> Names | None:
    """The names, or None if no vertex has one.

    Raises:
        ValueError: there is not one for each vertex, or one has a quote in it.
    """
    if names is None:
        return None
    if len(names) != count:
        raise ValueError(
            f"names must be one for each of {count} vertices, or None for one without, "
            f"got {len(names)}"
        )
    for vertex, name in enumerate(names):
        if name is not None and '"' in name:
            raise ValueError(f"the name of vertex {vertex} has a quote in it: {name!r}")
    return None if all(name is None for name in names) else names


def added(text: bytes | memoryview, names: Names | None) -> bytes | memoryview:
    """Some statements, a line for each that ends with a semicolon, with their names."""
    if names is None:
        return text
    lines = bytes(text).split(b";\n")
    return b"".join(
        line + (b";\n" if name is None else b' "%b";\n' % name.encode())
        for line, name in zip(lines, names, strict=False)
    )

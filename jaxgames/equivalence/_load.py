"""Reads labelled transition systems."""

import os
from typing import TYPE_CHECKING, Unpack

from jaxgames.limits import Bounds, limited

if TYPE_CHECKING:
    from jaxgames.io import LTS


@limited()
def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    **bounds: Unpack[Bounds],
) -> "LTS":
    r"""Reads a labelled transition system from a file.

    Args:
        path: the file: `.aut` (Aldebaran), `.csv` (lines `from,to,label`) or `.dot`;
            compressed if `.gz`, `.bz2` or `.xz` follows.
        format: which of these it is: `"aut"`, `"csv"` or `"dot"`. By default the suffix
            says it, or where that says nothing the content.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        FormatError: the file holds something else; a ValueError that tells the file and
            the line.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.csv")
        >>> _ = path.write_text("0,1,a\n1,0,b\n")
        >>> load(path)
        LTS(2 states, 2 transitions, 2 labels)
    """
    from jaxgames import io  # files hold games of all slices, this one's too

    found = io.load(path, format=format)
    if not isinstance(found, io.LTS):
        raise io.FormatError(
            path, None, f"expected a labelled transition system, found {found!r}"
        )
    return found

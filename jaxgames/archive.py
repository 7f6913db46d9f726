"""NumPy archives from anybody: an array is made only of bytes that are there.

What the header of an array says is compared with the bytes of its member before any
memory is asked for, and an array holds plain values: numbers, booleans or text, as
texts and booleans can be.
"""

import math
import zipfile
from collections.abc import Callable, Collection
from typing import IO, Any

import numpy as np

from jaxgames.tuning.base import BYTES_AT_ONCE as _AT_ONCE
from jaxgames.value import freeze

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class ArchiveError(ValueError):
    """An archive is broken, or holds something else than plain arrays."""


def read(
    file: IO[bytes],
    names: Collection[str] | None = None,
    grant: Callable[[int], None] = lambda size: None,
) -> dict[str, np.ndarray]:
    """Reads arrays from an archive that may be anything: those of these names, or all.

    The file can be sought in. What grants memory is told how many bytes they will take,
    and may raise.

    Returns:
        The arrays by name, read-only, in the byte order of the machine.

    Raises:
        ArchiveError: with what is wrong.
        OSError: the file cannot be read.

    Examples:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, a=[1, 2], b=[True])
        >>> read(file, ["a", "c"])
        {'a': array([1, 2])}
    """
    try:
        archive = zipfile.ZipFile(file)
        members = {
            info.filename.removesuffix(".npy"): info
            for info in archive.infolist()
            if info.filename.endswith(".npy")
        }
    except Exception as error:
        raise _broken(error) from error
    members = {
        name: info for name, info in members.items() if names is None or name in names
    }
    grant(sum(info.file_size for info in members.values()))
    found = {}
    for name, info in members.items():
        try:
            with archive.open(info) as member:
                found[name] = _array(member, info.file_size)
        except ArchiveError as error:
            raise ArchiveError(f"array {name[:80]!r} {error}") from None
        except Exception as error:
            raise _broken(error) from error
    return found


def _broken(error: Exception) -> ArchiveError:
    """What to raise for what NumPy and Python raise, which depends on the break."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error  # the machine's trouble, not the file's
    return ArchiveError(str(error)[:200] or type(error).__name__)


def _array(member: Any, size: int) -> np.ndarray:
    version = np.lib.format.read_magic(member)
    if version not in _HEADERS:
        raise ArchiveError(f"has a header of version {version}, expected (1, 0)")
    shape, by_columns, dtype = _HEADERS[version](member)
    if dtype.hasobject:
        raise ArchiveError("holds Python objects, which are never unpickled")
    if dtype.kind not in "biufcSU" or dtype.subdtype is not None:
        raise ArchiveError(f"has type {str(dtype)[:80]}, expected numbers or text")
    there = size - member.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != there:
        raise ArchiveError(
            f"has {there} bytes, which are not those of shape {str(shape)[:80]} and "
            f"type {str(dtype)[:80]}"
        )
    if not dtype.itemsize and math.prod(shape):
        raise ArchiveError("has entries without bytes")
    array = np.empty(math.prod(shape), dtype)
    data, at = array.view(np.uint8) if there else np.empty(0, np.uint8), 0
    while at < there:
        part = member.read(min(there - at, _AT_ONCE))
        if not part:
            raise ArchiveError(f"ends after {at} of {there} bytes")
        data[at : at + len(part)] = np.frombuffer(part, np.uint8)
        at += len(part)
    member.read(1)  # at the end, the checksum is compared
    if dtype.kind == "b" and data.max(initial=0) > 1:
        raise ArchiveError("holds bytes that are not booleans")
    array = array.astype(dtype.newbyteorder("="), copy=False)
    if dtype.kind == "U":
        code = array.view(np.uint32) if there else data
        if np.any((code > 0x10FFFF) | ((code >= 0xD800) & (code < 0xE000))):
            raise ArchiveError("holds text that is not Unicode")
    return freeze(array.reshape(shape, order="F" if by_columns else "C"))

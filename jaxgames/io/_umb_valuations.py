"""The values of variables in UMB files: some bits for each variable of each state."""

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

FILE = "valuations/states/valuations.bin"
"""The member with the bits of each state, one state after the other."""

Refuse = Callable[[str, str], NoReturn]
"""Raises the error about a member of the archive."""

_SIZES = {"bool": 1, "uint": 64, "int": 64, "double": 64, "rational": 128, "string": 64}
"""How many bits a variable of each type has where the file does not say."""

_READ = ("bool", "uint", "int", "double")


class _Variable(NamedTuple):
    name: str
    type: str
    start: int
    """Its first bit among those of a state; the presence bit of an optional one."""
    size: int
    optional: bool
    offset: int


def read(
    description: Any, data: bytes, states: int, refuse: Refuse
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Takes the values out of a member.

    Args:
        description: what the index says about the valuations of the states.
        data: the member.
        states: how many states there are.
        refuse: called with the member and with what is wrong.

    Returns:
        For each variable int64, float64 or bool `[S]`; and the variables that are left
        out, since a model has no place for their values.
    """
    variables, width = _variables(description, refuse)
    if width % 8 or len(data) * 8 != width * states:
        refuse(FILE, f"expected {states} times {width} bits, found {len(data)} bytes")
    raw = np.frombuffer(data, np.uint8).reshape(states, width // 8)
    found, left_out = {}, []
    for variable in variables:
        if variable.name in found or variable.name in left_out:
            refuse("index.json", f"there are two variables {variable.name[:80]!r}")
        values = _values(raw, variable)
        if values is None:
            left_out.append(variable.name)
        elif values.dtype == np.float64 and np.isnan(values).any():
            refuse(
                FILE, f"variable {variable.name[:80]!r} is not a number in some state"
            )
        else:
            found[variable.name] = values
    return found, left_out


def _variables(description: Any, refuse: Refuse) -> tuple[list[_Variable], int]:
    """The variables, and how many bits a state has."""

    def fail(found: Any) -> NoReturn:
        refuse("index.json", f"not supported in valuations: {str(found)[:80]}")

    classes = description.get("classes") if isinstance(description, dict) else None
    if not isinstance(classes, list) or len(classes) != 1:
        fail(description)
    entries = classes[0].get("variables") if isinstance(classes[0], dict) else None
    if not isinstance(entries, list):
        fail(classes[0])
    variables, at = [], 0
    for entry in entries:
        if not isinstance(entry, dict):
            fail(entry)
        if "padding" in entry:
            if not _is_size(entry["padding"]):
                fail(entry)
            at += entry["padding"]
            continue
        about, name = entry.get("type"), entry.get("name")
        kind = about.get("type") if isinstance(about, dict) else None
        if about is None or not isinstance(name, str) or not isinstance(kind, str):
            fail(entry)
        size = about.get("size")
        size = _SIZES.get(kind, 64) if size is None else size
        optional, offset = entry.get("is-optional"), entry.get("offset")
        whole = offset is None or (
            type(offset) is int and -(1 << 63) <= offset < 1 << 63
        )
        if not _is_size(size) or not whole or optional not in (None, True, False):
            fail(entry)
        variables.append(_Variable(name, kind, at, size, bool(optional), offset or 0))
        at += size + bool(optional)
    return variables, at


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 < value < 1 << 20


def _values(raw: np.ndarray, variable: _Variable) -> np.ndarray | None:
    """The values in all states, None for those that no array of a model can hold."""
    start, size = variable.start, variable.size
    if variable.type not in _READ or size > 64:
        return None
    if variable.optional:
        if not _bits(raw, start, 1).all():
            return None
        start += 1
    bits = _bits(raw, start, size)
    if variable.type == "bool":
        return bits != 0
    if variable.type == "double":
        return bits.view(np.float64) if size == 64 else None
    if variable.type == "int":
        unused = np.uint64(64 - size)
        bits = (bits << unused).view(np.int64) >> unused.astype(np.int64)
    if len(bits):
        least, most = int(bits.min()), int(bits.max())
        if least + variable.offset < -(1 << 63) or most + variable.offset >= 1 << 63:
            return None
    # Wraps round, and back.
    return (bits.view(np.uint64) + np.uint64(variable.offset % (1 << 64))).view(
        np.int64
    )


def _bits(raw: np.ndarray, start: int, size: int) -> np.ndarray:
    """Up to 64 bits of each state as numbers: uint64, the first bit the lowest."""
    first, shift = divmod(start, 8)
    columns = raw[:, first : (start + size + 7) // 8].T.astype(np.uint64)
    found = np.zeros(len(raw), np.uint64)
    for place, column in enumerate(columns):
        up = 8 * place - shift
        found |= column << np.uint64(up) if up >= 0 else column >> np.uint64(-up)
    return found & np.uint64((1 << size) - 1)


def write(valuations: dict[str, np.ndarray]) -> tuple[dict[str, Any], bytes]:
    """The entry of the index, and the member, for the values of some variables.

    An integer has as many bits as its range needs, and its least value as its offset.
    """
    variables: list[dict[str, Any]] = []
    columns = []
    for name, values in valuations.items():
        about: dict[str, Any] = {"name": name}
        if values.dtype == bool:
            size, kind, bits = 1, "bool", values.astype(np.uint64)
        elif values.dtype.kind == "f":
            size, kind = 64, "double"
            bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
        else:
            least, most = int(values.min(initial=0)), int(values.max(initial=0))
            if len(values):
                least, most = int(values.min()), int(values.max())
            size, kind = max((most - least).bit_length(), 1), "uint"
            bits = values.astype(np.int64).view(np.uint64) - np.uint64(
                least % (1 << 64)
            )
            about |= {"lower": least, "upper": most, "offset": least}
        variables.append(about | {"type": {"type": kind, "size": size}})
        data = np.ascontiguousarray(bits, "<u8").view(np.uint8).reshape(-1, 8)
        unpacked = np.unpackbits(data, axis=1, bitorder="little")
        columns.append(unpacked[:, :size])
    width = sum(column.shape[1] for column in columns)
    if width % 8:
        variables.append({"padding": -width % 8})
    packed = np.packbits(np.concatenate(columns, axis=1), axis=1, bitorder="little")
    description = {"unique": False, "classes": [{"variables": variables}]}
    return description, packed.tobytes()

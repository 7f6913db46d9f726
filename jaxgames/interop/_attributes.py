"""What other packages' graphs carry: taken where there is a place for it, else told."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np


def column(values: list[Any], name: Any, what: str) -> np.ndarray:
    """An attribute of all nodes or edges, which all must have."""
    if any(value is None for value in values):
        at = [value is None for value in values].index(True)
        raise ValueError(f"{what} number {at} has no attribute {name!r}")
    return np.array(values) if values else np.empty(0, np.int32)


def say_left_out(what: str, there: Iterable[Any], taken: Iterable[Any], how: str):
    """Warns of attributes that an arena was not told to take, and says how to."""
    left = sorted({str(name) for name in there} - {str(name) for name in taken})
    if left:
        shown = ", ".join(map(repr, left[:8])) + (", ..." if len(left) > 8 else "")
        warnings.warn(
            f"attributes of {what} are left out: {shown}; {how}",
            UserWarning,
            stacklevel=3,
        )


def rows(arrays: dict[str, np.ndarray | None], length: int) -> list[dict]:
    """For each entry the values of the arrays, by name."""
    names = [name for name, array in arrays.items() if array is not None]
    columns = [array.tolist() for array in arrays.values() if array is not None]
    if not columns:
        return [{} for _ in range(length)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

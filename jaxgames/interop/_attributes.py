"""What other packages' graphs carry: taken where there is a place for it, else told."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from jaxgames.arena import Arena


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


def both_ways(
    src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Two edges, one each way, for each without direction, but for a self-loop."""
    between = src != dst
    if weights is not None:
        weights = np.append(weights, weights[between])
    return np.append(src, dst[between]), np.append(dst, src[between]), weights


def payloads(arena: Arena) -> tuple[list[dict], list[dict]]:
    """What each vertex has, and what each edge has, by name."""
    of_nodes = {
        "owner": arena.owner.astype(int),
        "priority": arena.priority,
        "accepting": arena.accepting,
    }
    of_edges = {"priority": arena.edge_priority, "weight": arena.weight}
    return _rows(of_nodes, arena.shape[0]), _rows(of_edges, arena.shape[1])


def _rows(arrays: dict[str, np.ndarray | None], length: int) -> list[dict]:
    """For each entry the values of the arrays, by name."""
    names = [name for name, array in arrays.items() if array is not None]
    columns = [array.tolist() for array in arrays.values() if array is not None]
    if not columns:
        return [{} for _ in range(length)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

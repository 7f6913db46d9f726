"""Checks of what the generators are asked for."""

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.arguments import integer


def usual_degree(min_degree, candidates: int | None) -> int:
    """The largest out-degree where none is asked for."""
    most = 4 if candidates is None else max(min(4, candidates), 1)
    return max(most, integer("min_degree", min_degree, 1))


def flag(name: str, value) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def share(name: str, value) -> float:
    real = isinstance(value, (int, float, np.integer, np.floating))
    if real and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")


def generator(seed) -> np.random.Generator:
    """The random number generator that a seed stands for."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(integer("seed", seed, 0))


def fits(vertices: int, edges: int) -> None:
    """Refuses a game whose vertices or edges int32 indices cannot name."""
    if max(vertices, edges) > MAX_SIZE:
        raise ValueError(
            f"a game with up to {vertices} vertices and {edges} edges is too large: "
            f"expected at most {MAX_SIZE} of each"
        )

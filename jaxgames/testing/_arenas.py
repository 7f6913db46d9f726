"""Small random arenas of odd shapes."""

from collections.abc import Iterator

import numpy as np

from jaxgames.arena import Arena

SHAPES = (
    "single vertex",
    "self-loops",
    "parallel edges",
    "chain",
    "one owner",
    "one priority",
    "many priorities",
    "dense",
    "sparse",
    "two components",
)
"""The kinds of arenas that `odd_arenas` goes through."""


def odd_arena(
    shape: str,
    rng: np.random.Generator,
    max_vertices: int = 24,
    *,
    edge_priorities: bool = False,
) -> Arena:
    """A small random parity game of one of the `SHAPES`.

    Args:
        shape: which kind.
        rng: where randomness comes from.
        max_vertices: vertices at most, at least 4.
        edge_priorities: whether priorities are on edges instead of vertices.

    Examples:
        >>> odd_arena("chain", np.random.default_rng(0), max_vertices=8).shape[0] <= 8
        True
    """
    if shape not in SHAPES:
        raise ValueError(f"shape must be one of {SHAPES}, got {shape!r}")
    size = 1 if shape == "single vertex" else int(rng.integers(2, max_vertices + 1))
    high = {"dense": 8, "sparse": 2, "single vertex": 3}.get(shape, 4)
    degree = rng.integers(1, high + 1, size)
    src = np.repeat(np.arange(size), degree)
    dst = rng.integers(0, size, len(src))
    if shape == "self-loops":
        dst = np.where(rng.random(len(src)) < 0.4, src, dst)
    elif shape == "parallel edges":
        src, dst = np.repeat(src, 3), np.repeat(dst, 3)
    elif shape == "chain":
        src = np.arange(size)
        dst = np.append(src[1:], rng.integers(size))
        back = rng.integers(0, size, size // 3)
        src, dst = np.append(src, back), np.append(dst, back // 2)
    elif shape == "two components":
        half = size // 2
        dst = np.where(src < half, dst % max(half, 1), half + dst % (size - half))
    owner = rng.integers(0, 2, size)
    if shape == "one owner":
        owner[:] = rng.integers(2)
    priorities = {"one priority": 1, "many priorities": 3 * size}.get(shape, 6)
    count = len(src) if edge_priorities else size
    priority = rng.integers(0, priorities, count) + rng.integers(2)
    if edge_priorities:
        return Arena.from_edges(src, dst, owner=owner, edge_priority=priority)
    return Arena.from_edges(src, dst, owner=owner, priority=priority)


def odd_arenas(
    seed: int, count: int, max_vertices: int = 24, *, edge_priorities: bool = False
) -> Iterator[Arena]:
    """Random parity games, one of each of the `SHAPES` in turn."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        yield odd_arena(
            SHAPES[index % len(SHAPES)],
            rng,
            max_vertices,
            edge_priorities=edge_priorities,
        )

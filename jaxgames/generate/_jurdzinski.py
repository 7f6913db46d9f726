"""Jurdziński's games."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits
from jaxgames.generate._build import from_pairs
from jaxgames.limits import Bounds, limited


@limited()
def jurdzinski(depth: int, width: int, **bounds: Unpack[Bounds]) -> Arena:
    """Jurdziński's game: exponentially many lifts for small progress measures.

    `depth` levels over a bottom line. A level is a line of `2 * width` vertices,
    linked both ways, and `width` vertices above it: Odd may climb from the even
    columns to the vertex above, which leads to the column on the right; Even may
    drop from the odd columns to the bottom line, and Odd may rise from there to any
    level. Levels have two priorities each, the highest at the top; the last column
    of every line has a self-loop.

    `(3 * depth + 2) * width` vertices, `(8 * depth + 4) * width - 2 * depth - 1` edges
    and `2 * depth + 2` priorities. Odd wins the bottom line (the last `2 * width`
    vertices), Even wins the levels.

    PGSolver's later `jurdzinskigame` closes the lines in another way and has
    `(3 * width - 1) * depth` vertices.

    Args:
        depth: number of levels, at least 1.
        width: number of vertices above a line, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is no integer or less than 1.

    References:
        Marcin Jurdziński, *Small progress measures for solving parity games*, STACS
        2000, doi:10.1007/3-540-46541-3_24; `jurdzinski(5, 10)` is the game jurdz5_10
        of P.J.A. Bootsma, *Speeding up the small progress measures algorithm for
        parity games using the GPU*, master's thesis, TU Eindhoven, chapter 8.

    Examples:
        >>> jurdzinski(5, 10)
        Arena(170 vertices, 429 edges, priority)
    """
    depth, width = integer("depth", depth, 1), integer("width", width, 1)
    columns = 2 * width
    size = 3 * width * depth + columns
    fits(size, (8 * depth + 4) * width - 2 * depth - 1)

    levels = np.arange(3 * width * depth).reshape(depth, 3 * width)
    above, line = levels[:, :width], levels[:, width:]
    bottom = np.arange(3 * width * depth, size)
    lines = np.vstack([line, bottom])

    owner = np.zeros(size, bool)
    owner[line[:, ::2]] = True
    owner[bottom[1::2]] = True
    height = 2 * np.arange(depth, 0, -1)[:, None]
    priority = np.zeros(size, np.int32)
    priority[above] = height + 1
    priority[line] = height
    priority[bottom[1::2]] = 1
    return from_pairs(
        (lines[:, 1:], lines[:, :-1]),
        (lines[:, :-1], lines[:, 1:]),
        (lines[:, -1], lines[:, -1]),
        (above, line[:, 1::2]),
        (line[:, ::2], above),
        (line[:, 1:-1:2], bottom[1:-1:2]),
        (bottom[1::2], line[:, 1::2]),
        owner=owner,
        priority=priority,
    )

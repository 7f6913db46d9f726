"""PGSolver's ladders: small games that are hard for one algorithm or another."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits
from jaxgames.generate._build import NO_SUCCESSOR, from_rows
from jaxgames.limits import Bounds, limited


@limited()
def ladder(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """PGSolver's ladder game: a ring where each vertex leads to the next two.

    Vertex `v` has priority `v % 2` and belongs to the player of that parity. `2 * n`
    vertices and `4 * n` edges. Each player wins just the own vertices, by always
    leaping over the opponent's.

    Args:
        n: number of rungs, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Oliver Friedmann and Martin Lange, *The PGSolver Collection of Parity Game
        Solvers*, University of Munich (the generator `laddergame`).

    Examples:
        >>> ladder(14)
        Arena(28 vertices, 56 edges, priority)
        >>> ladder(14).successors(5)
        array([6, 7], dtype=int32)
    """
    n = integer("n", n, 1)
    size = 2 * n
    fits(size, 2 * size)
    vertex = np.arange(size)
    successors = np.sort((vertex[:, None] + [1, 2]) % size)
    return from_rows(successors, owner=vertex % 2, priority=vertex % 2)


@limited()
def recursive_ladder(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """PGSolver's recursive ladder: exponential for Zielonka's recursion.

    A chain of `n` blocks of five vertices, linked to their neighbours in both
    directions; the players change roles from block to block. `5 * n` vertices,
    `11 * n - 3` edges and up to `3 * n + 2` priorities. Even wins everywhere if
    `n` is odd, Odd if `n` is even.

    Args:
        n: number of blocks, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Oliver Friedmann, *Recursive algorithm for parity games requires exponential
        time*, RAIRO 2011, doi:10.1051/ita/2011124; the generator `recursiveladder`
        of PGSolver.

    Examples:
        >>> recursive_ladder(5)
        Arena(25 vertices, 52 edges, priority)
        >>> recursive_ladder(5).successors(11)
        array([ 6, 12, 16], dtype=int32)
    """
    n = integer("n", n, 1)
    fits(5 * n, 11 * n - 3)
    block = np.arange(n)[:, None]
    first = 5 * block
    none = np.full_like(first, NO_SUCCESSOR)
    back = np.where(block > 0, first - 4, none)
    ahead = np.where(block < n - 1, first + 6, none)
    next_block = np.where(block < n - 1, first + 5, none)
    fork = np.hstack([first + 1, first + 4, none])
    successors = np.stack(
        [
            fork,
            np.hstack([back, first + 2, ahead]),
            fork,
            fork,
            np.hstack([first + 3, next_block, none]),
        ],
        axis=1,
    )
    role = block % 2
    owner = role ^ [1, 0, 1, 0, 1]
    priority = np.hstack([3 * block + [5, 4, 3], role, role])
    return from_rows(
        successors.reshape(5 * n, 3), owner=owner.ravel(), priority=priority.ravel()
    )


@limited()
def model_checker_ladder(n: int, **bounds: Unpack[Bounds]) -> Arena:
    """PGSolver's model checker ladder: exponential for its local model checker.

    A chain of `n` steps and the way back to its start; in each step Odd, who owns
    all vertices, may see one more odd priority or not, but the highest priority is
    seen on every way round, and it is even. `3 * n + 1` vertices, `4 * n + 1` edges
    and `2 * n + 1` priorities. Even wins everywhere.

    Args:
        n: number of steps, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or less than 1.

    References:
        Oliver Friedmann and Martin Lange, *The PGSolver Collection of Parity Game
        Solvers*, University of Munich (the generator `modelcheckerladder`).

    Examples:
        >>> model_checker_ladder(15)
        Arena(46 vertices, 61 edges, priority)
        >>> [model_checker_ladder(15).successors(v).tolist() for v in (0, 1, 2, 45)]
        [[1], [2, 3], [3], [0]]
    """
    n = integer("n", n, 1)
    fits(3 * n + 1, 4 * n + 1)
    vertex = np.arange(3 * n + 1)
    step, place = np.divmod(vertex, 3)
    onwards = np.where(vertex < 3 * n, vertex + 1, 0)
    around = np.where(place == 1, vertex + 2, NO_SUCCESSOR)
    priority = np.where(place == 1, 0, 2 * (n - step) - (place == 2))
    return from_rows(
        np.stack([onwards, around], axis=1),
        owner=np.ones(len(vertex), bool),
        priority=priority,
    )

"""The towers of Hanoi as a game."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._build import NO_SUCCESSOR, from_rows
from jaxgames.limits import Bounds, limited


@limited()
def hanoi(disks: int, **bounds: Unpack[Bounds]) -> Arena:
    """Towers of Hanoi: Even moves disks until all lie on the last peg.

    The ternary digits of vertex `v` are the pegs of the disks, the smallest disk
    first: vertex 0 has all of them on the first peg, vertex `3**disks - 1` on the
    last; from there the only move leads to vertex `3**disks`, a self-loop that Even
    wins. The last vertex is a self-loop that Odd wins and nobody reaches. All
    vertices are Even's; priority 1 at every move makes playing on for ever a loss.

    `3**disks + 2` vertices and `3**(disks + 1) - 2` edges. Even wins everywhere but
    at the last vertex, in up to `2**disks` moves.

    Args:
        disks: number of disks, from 1 to 18 (more edges than int32 can index
            above).
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `disks` is no integer or out of range.

    References:
        P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity
        games using the GPU*, master's thesis, TU Eindhoven, section 8.1 (his hanoi12
        is `hanoi(12)`).

    Examples:
        >>> hanoi(12)
        Arena(531443 vertices, 1594321 edges, priority)
        >>> hanoi(2).successors(3)  # small disk on peg 0, large one on peg 1
        array([4, 5, 6], dtype=int32)
    """
    disks = integer("disks", disks, 1, 18)
    successors = moves(disks, goal=3**disks - 1)
    priority = np.ones(len(successors), np.int32)
    priority[3**disks] = 0
    return from_rows(successors, owner=np.zeros(len(priority), bool), priority=priority)


def moves(disks: int, goal: int) -> np.ndarray:
    """The successors of every vertex: int32 `[3**disks + 2, 3]`.

    The configuration `goal` only leads to vertex `3**disks`.
    """
    states = 3**disks
    state = np.arange(states, dtype=np.int32)
    smallest = state % 3
    successors = np.full((states + 2, 3), NO_SUCCESSOR, np.int32)
    for column in (0, 1):
        peg = (smallest + 1 + column) % 3
        successors[:states, column] = state - smallest + peg
    # Of the disks away from the smallest, the topmost moves between the other pegs.
    third = successors[:states, 2]
    for disk in range(1, disks):
        peg = state // 3**disk % 3
        moved = (third == NO_SUCCESSOR) & (peg != smallest)
        step = 3 - smallest - 2 * peg
        third[moved] = (state + 3**disk * step)[moved]
    won, lost = states, states + 1
    successors[[goal, won, lost]] = NO_SUCCESSOR
    successors[[goal, won, lost], 0] = won, won, lost
    return successors

"""Propagation games: a single fact that has to travel through the whole graph."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits
from jaxgames.generate._build import from_pairs
from jaxgames.limits import Bounds, limited


@limited()
def propagation(paths: int, length: int, **bounds: Unpack[Bounds]) -> Arena:
    """Propagation game: paths, linked both ways, from a source to two targets.

    Vertex 0 is the source and leads to the first vertex of each path, the last one
    of each path to the targets, which lead to each other. Owners alternate from path
    to path, Even first; on no path can its owner win a loop. In min-parity the
    priorities are 4 at the source, 3 on Even's paths, 2 on Odd's, 0 and 1 at the
    targets.

    `paths * length + 3` vertices and `2 * paths * length + 2` edges. Even wins
    everywhere; on Even's paths the way out must be found from the end backwards.

    Args:
        paths: number of paths, at least 1.
        length: number of vertices on a path, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is no integer or less than 1.

    References:
        P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity
        games using the GPU*, master's thesis, TU Eindhoven, section 8.1 (his
        prop50_1k is `propagation(50, 1000)`).

    Examples:
        >>> propagation(4, 3)
        Arena(15 vertices, 26 edges, priority)
    """
    paths, length = integer("paths", paths, 1), integer("length", length, 1)
    fits(paths * length + 3, 2 * paths * length + 2)
    path = 1 + np.arange(paths * length).reshape(paths, length)
    source, target = 0, paths * length + 1
    owner = np.zeros(target + 2, bool)
    owner[path[1::2]] = True
    priority = np.full(target + 2, 3)
    priority[owner] = 2
    priority[[source, target, target + 1]] = 4, 0, 1
    return from_pairs(
        (source, path[:, 0]),
        (path[:, :-1], path[:, 1:]),
        (path[:, 1:], path[:, :-1]),
        (path[:, -1], target),
        (target, target + 1),
        (target + 1, target),
        owner=owner,
        priority=priority,
        condition="min even",
    )


@limited()
def propagation_tree(levels: int, fan_out: int, **bounds: Unpack[Bounds]) -> Arena:
    """Propagation tree: a complete tree, linked both ways, with one way out.

    Vertex 0 is the root; the children of vertex `v` are `fan_out * v + 1` and the
    next ones. The last leaf also leads to two targets, which lead to each other. All
    vertices are Even's; in min-parity the priorities are 2 at the root, 1 in the
    tree, 0 at the targets.

    With `T = (fan_out**levels - 1) / (fan_out - 1)` vertices in the tree, `T + 2`
    vertices and `2 * T + 1` edges. Even wins everywhere, but only by the way out.

    Args:
        levels: number of levels of the tree, at least 1.
        fan_out: number of children of a vertex, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is no integer or less than 1, or the tree is too
            large.

    References:
        P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity
        games using the GPU*, master's thesis, TU Eindhoven, section 8.1 (his tprop21
        is `propagation_tree(22, 2)`).

    Examples:
        >>> propagation_tree(3, 2)
        Arena(9 vertices, 15 edges, priority)
    """
    fan_out = integer("fan_out", fan_out, 1)
    levels = integer("levels", levels, 1, None if fan_out == 1 else 30)
    size = levels if fan_out == 1 else (fan_out**levels - 1) // (fan_out - 1)
    fits(size + 2, 2 * size + 1)
    child = np.arange(1, size, dtype=np.int32)
    parent = (child - 1) // fan_out
    last_leaf, target = size - 1, size
    priority = np.ones(size + 2, np.int32)
    priority[0] = 2
    priority[target:] = 0
    return from_pairs(
        (parent, child),
        (child, parent),
        (last_leaf, target),
        (target, target + 1),
        (target + 1, target),
        owner=np.zeros(size + 2, bool),
        priority=priority,
        condition="min even",
    )

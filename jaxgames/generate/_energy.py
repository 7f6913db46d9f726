"""Energy games: random ones of several shapes, and the towers of Hanoi.

Everything is drawn in the order out-degrees, targets, weights, owners; edges are in the
order in which their rows are described.
"""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits, flag, generator, share
from jaxgames.generate._build import from_rows
from jaxgames.generate._hanoi import moves
from jaxgames.limits import Bounds, limited

MOST = 2**62
"""Weights are from minus this to this."""

COIN = 0.5
"""Share of the owners that is drawn as a coin, one bit each."""


@limited()
def random_energy_game(
    seed: int | np.random.Generator,
    num_vertices: int,
    *,
    min_weight: int = -100,
    max_weight: int = 100,
    min_degree: int = 2,
    max_degree: int = 4,
    owner_share: float = 0.5,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Random energy game with out-degrees and weights from ranges.

    Every vertex draws its out-degree and its owner, every edge its target and its
    weight, each uniformly from its range, so that there may be self-loops and parallel
    edges. The same seed gives the same game on every machine with the same numpy, and
    games that differ in the weights alone have the same edges.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        num_vertices: number of vertices, at least 1.
        min_weight: least weight.
        max_weight: largest weight.
        min_degree: least out-degree, at least 1.
        max_degree: largest out-degree.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    Examples:
        >>> random_energy_game(0, 1000, min_weight=-5, max_weight=10)
        Arena(1000 vertices, 3040 edges, weight)
    """
    rng = generator(seed)
    size = integer("num_vertices", num_vertices, 1)
    low = integer("min_degree", min_degree, 1)
    high = integer("max_degree", max_degree, low)
    fits(size, size * high)
    degree = rng.integers(low, high, size, endpoint=True)
    return _weighted(
        rng,
        np.concatenate([[0], np.cumsum(degree)]),
        rng.integers(0, size, degree.sum()),
        _weights(min_weight, max_weight),
        owner_share,
    )


@limited()
def one_player_energy_game(
    seed: int | np.random.Generator,
    num_vertices: int,
    *,
    player: int = 0,
    min_weight: int = -60,
    max_weight: int = 40,
    min_degree: int = 2,
    max_degree: int = 3,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Random energy game in which one player owns all vertices.

    What player 0 needs is a shortest path to a cycle that does not lose energy; player
    1 looks for a cycle that does.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        num_vertices: number of vertices, at least 1.
        player: who owns them, 0 or 1.
        min_weight: least weight.
        max_weight: largest weight.
        min_degree: least out-degree, at least 1.
        max_degree: largest out-degree.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    Examples:
        >>> one_player_energy_game(0, 5, player=1).owner
        array([ True,  True,  True,  True,  True])
    """
    return random_energy_game(
        seed,
        num_vertices,
        min_weight=min_weight,
        max_weight=max_weight,
        min_degree=min_degree,
        max_degree=max_degree,
        owner_share=integer("player", player, 0, 1),
    )


@limited()
def dense_energy_game(
    seed: int | np.random.Generator,
    num_vertices: int,
    *,
    min_weight: int = -100,
    max_weight: int = 100,
    owner_share: float = 0.5,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Random energy game with an edge from every vertex to every vertex.

    Edges are in order of their targets; `num_vertices**2` of them.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        num_vertices: number of vertices, at least 1.
        min_weight: least weight.
        max_weight: largest weight.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    Examples:
        >>> dense_energy_game(0, 3).dst
        array([0, 1, 2, 0, 1, 2, 0, 1, 2], dtype=int32)
    """
    rng = generator(seed)
    size = integer("num_vertices", num_vertices, 1)
    fits(size, size * size)
    return _weighted(
        rng,
        np.arange(size + 1) * size,
        np.tile(np.arange(size), size),
        _weights(min_weight, max_weight),
        owner_share,
    )


@limited()
def torus_energy_game(
    seed: int | np.random.Generator,
    rows: int,
    columns: int,
    *,
    min_weight: int = -10,
    max_weight: int = 10,
    owner_share: float = 0.5,
    both_ways: bool = False,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Energy game on a torus, with random weights and owners.

    Vertex `row * columns + column` leads to the next column, then to the next row, and
    with `both_ways` to the column and the row before as well, in this order.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        rows: number of rows, at least 1.
        columns: number of columns, at least 1.
        min_weight: least weight.
        max_weight: largest weight.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        both_ways: whether edges lead back, too.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    Examples:
        >>> torus_energy_game(0, 2, 3).successors(2)
        array([0, 5], dtype=int32)
    """
    rng = generator(seed)
    rows, columns = integer("rows", rows, 1), integer("columns", columns, 1)
    degree = 4 if flag("both_ways", both_ways) else 2
    size = rows * columns
    fits(size, size * degree)
    row, column = np.divmod(np.arange(size), columns)
    steps = [(0, 1), (1, 0), (0, -1), (-1, 0)][:degree]
    targets = [
        (row + down) % rows * columns + (column + right) % columns
        for down, right in steps
    ]
    return _weighted(
        rng,
        np.arange(size + 1) * degree,
        np.stack(targets, axis=1).ravel(),
        _weights(min_weight, max_weight),
        owner_share,
    )


@limited()
def ring_energy_game(
    seed: int | np.random.Generator,
    num_vertices: int,
    *,
    min_weight: int = -100,
    max_weight: int = 100,
    owner_share: float = 0.5,
    **bounds: Unpack[Bounds],
) -> Arena:
    """One cycle with random weights: easy to solve, but not for many at once.

    Vertex `v` leads to `v + 1`, the last one to the first. Nobody has a choice; what a
    vertex needs is how low the sum of the weights falls from there, which may depend on
    all the others.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        num_vertices: number of vertices, at least 1.
        min_weight: least weight.
        max_weight: largest weight.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    Examples:
        >>> ring_energy_game(0, 4).dst
        array([1, 2, 3, 0], dtype=int32)
    """
    rng = generator(seed)
    size = integer("num_vertices", num_vertices, 1)
    fits(size, size)
    targets = (np.arange(size) + 1) % size
    weights = _weights(min_weight, max_weight)
    return _weighted(rng, np.arange(size + 1), targets, weights, owner_share)


@limited()
def hanoi_energy_game(disks: int, **bounds: Unpack[Bounds]) -> Arena:
    """Towers of Hanoi, each move for a unit of energy.

    The vertices and edges of [`hanoi`][jaxgames.generate.hanoi], but all disks shall
    lie on the middle peg: at vertex `(3**disks - 1) / 2`. All edges have weight -1 but
    the self-loop of vertex `3**disks`, which has `3**disks + 2`. So the credit of that
    vertex is 0, that of any configuration one more than the moves that it is away from
    the goal, at most `2**disks`; and player 1 wins the last vertex, a self-loop that
    nobody reaches. Player 0 owns them all.

    Args:
        disks: number of disks, from 1 to 18.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `disks` is no integer or out of range.

    References:
        Formisano, Gentilini and Vella, Accelerating energy games solvers on modern
        architectures, IA3 2017, doi:10.1145/3149704.3149771 (games M3 and M4 of Table 1
        are `hanoi_energy_game(12)` and `hanoi_energy_game(13)`).

    Examples:
        >>> game = hanoi_energy_game(12)
        >>> game
        Arena(531443 vertices, 1594321 edges, weight)
        >>> int(game.weight.max())
        531443
    """
    disks = integer("disks", disks, 1, 18)
    successors = moves(disks, goal=(3**disks - 1) // 2)
    weight = np.full(successors.shape, -1, np.int32)
    weight[3**disks] = len(successors)
    return from_rows(
        successors, owner=np.zeros(len(successors), bool), priority=None, weight=weight
    )


def _weights(min_weight, max_weight) -> tuple[int, int]:
    low = integer("min_weight", min_weight, -MOST, MOST)
    return low, integer("max_weight", max_weight, low, MOST)


def _weighted(rng, row_ptr, targets, weights, owner_share) -> Arena:
    owner_share = share("owner_share", owner_share)
    size, many = len(row_ptr) - 1, len(targets)
    weight = rng.integers(*weights, many, endpoint=True)
    if owner_share == COIN:
        owner = rng.integers(0, 2, size)
    else:
        owner = (rng.random(size) < owner_share).astype(np.int8)
    return Arena.from_csr(row_ptr, targets, owner=owner, weight=weight)

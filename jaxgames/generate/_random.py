"""Random games."""

from typing import Unpack

import numpy as np

from jaxgames.arena import MAX_PRIORITY, Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits, flag, generator, share, usual_degree
from jaxgames.generate._build import NO_SUCCESSOR, from_pairs, from_rows
from jaxgames.limits import Bounds, limited


@limited()
def random_game(
    seed: int | np.random.Generator,
    num_vertices: int,
    *,
    num_priorities: int = 16,
    min_degree: int = 1,
    max_degree: int | None = None,
    owner_share: float = 0.5,
    self_loops: bool = True,
    parallel_edges: bool = False,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Random game with out-degrees from a range and uniform targets.

    Every vertex draws its owner, its priority, its out-degree (each uniform in the
    range given) and a uniform set of that many successors. The same seed gives the
    same game on every machine with the same numpy.

    Takes time `O(num_vertices * max_degree**2)`, without the square where parallel
    edges are allowed.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        num_vertices: number of vertices, at least 1.
        num_priorities: priorities are drawn from 0 to `num_priorities - 1`; with
            `num_vertices` or more of them few vertices share one.
        min_degree: least out-degree, at least 1.
        max_degree: largest out-degree; the same as `min_degree` for a steady one. None:
            4, or as many as there are possible successors if these are fewer, or
            `min_degree` if that is more.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        self_loops: whether a vertex may be its own successor.
        parallel_edges: whether a vertex may have the same successor twice (its
            successors are then drawn independently).
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range, or there are
            fewer possible successors than `max_degree`.

    Examples:
        >>> game = random_game(0, 1000, num_priorities=5, min_degree=2, max_degree=2)
        >>> game
        Arena(1000 vertices, 2000 edges, priority)
        >>> int(game.priority.max())
        4
    """
    rng = generator(seed)
    size = integer("num_vertices", num_vertices, 1)
    self_loops = flag("self_loops", self_loops)
    parallel_edges = flag("parallel_edges", parallel_edges)
    candidates = size if self_loops else size - 1
    if max_degree is None:
        max_degree = usual_degree(min_degree, None if parallel_edges else candidates)
    low, high = _degrees(min_degree, max_degree)
    if candidates < (1 if parallel_edges else high):
        raise ValueError(
            f"max_degree must be at most the number of possible successors "
            f"({candidates}), got {high}"
        )
    fits(size, size * high)
    labels = _labels(rng, size, num_priorities, owner_share)
    degree = rng.integers(low, high, size, endpoint=True)
    below = np.full(size, candidates)
    if parallel_edges:
        successors = rng.integers(0, below[:, None], (size, high))
        successors[np.arange(high) >= degree[:, None]] = NO_SUCCESSOR
    else:
        successors = _subsets(rng, degree, below)
    if not self_loops:
        successors += successors >= np.arange(size)[:, None]
    return from_rows(successors, **labels)


@limited()
def clustered_game(
    seed: int | np.random.Generator,
    num_vertices: int,
    *,
    depth: int = 2,
    breadth: int = 8,
    links: int = 4,
    num_priorities: int = 16,
    min_degree: int = 1,
    max_degree: int = 4,
    owner_share: float = 0.5,
    **bounds: Unpack[Bounds],
) -> Arena:
    """Random game of clusters within clusters that few edges link.

    The vertices are one cluster, in order. A cluster that is not yet at the given
    depth is cut at random places into `breadth` smaller ones, and `links` edges are
    drawn between any two vertices of it. In a cluster at the last level every vertex
    draws its out-degree in the range given (less where the cluster is smaller) and a
    uniform set of that many successors in the cluster, itself included. So there are
    many small strongly connected components, ordered by few edges, where
    [`random_game`][jaxgames.generate.random_game] has a single large one.

    `num_vertices` vertices in up to `breadth**depth` clusters; a link that is already
    an edge is dropped.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        num_vertices: number of vertices, at least 1.
        depth: how often clusters are cut; 0 for one cluster.
        breadth: parts that a cluster is cut into, at least 2; it stays whole where it
            has fewer vertices.
        links: edges added in each cluster that is cut.
        num_priorities: priorities are drawn from 0 to `num_priorities - 1`.
        min_degree: least out-degree within a cluster, at least 1.
        max_degree: largest out-degree within a cluster.
        owner_share: probability that a vertex belongs to player 1, from 0 to 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    References:
        Oliver Friedmann and Martin Lange, *The PGSolver Collection of Parity Game
        Solvers*, University of Munich (the generator `clusteredrandomgame`, which
        draws breadth and links from ranges too).

    Examples:
        >>> clustered_game(0, 1000, depth=1, breadth=10, links=0, max_degree=1)
        Arena(1000 vertices, 1000 edges, priority)
    """
    rng = generator(seed)
    size = integer("num_vertices", num_vertices, 1)
    depth, breadth = integer("depth", depth, 0, 64), integer("breadth", breadth, 2)
    links = integer("links", links, 0)
    low, high = _degrees(min_degree, max_degree)
    fits(size, size * high)
    labels = _labels(rng, size, num_priorities, owner_share)

    first, count = np.zeros(1, np.int64), np.array([size])
    ends = np.empty((2, 0), np.int64)
    for _ in range(depth):
        splits = count >= breadth
        chosen = np.repeat(np.flatnonzero(splits), links)
        drawn = first[chosen] + rng.integers(0, count[chosen], (2, len(chosen)))
        ends = np.hstack([ends, drawn])
        cuts = _subsets(rng, np.where(splits, breadth - 1, 0), count - 1)
        starts = (first[:, None] + 1 + cuts)[cuts != NO_SUCCESSOR]
        first = np.sort(np.concatenate([first, starts]))
        count = np.diff(first, append=size)

    first, count = np.repeat(first, count), np.repeat(count, count)
    degree = np.minimum(rng.integers(low, high, size, endpoint=True), count)
    within = _subsets(rng, degree, count)
    successors = np.where(within == NO_SUCCESSOR, NO_SUCCESSOR, first[:, None] + within)
    return from_pairs(
        (np.repeat(np.arange(size), degree), successors[successors != NO_SUCCESSOR]),
        _new_edges(successors, *ends),
        **labels,
    )


def _degrees(min_degree, max_degree) -> tuple[int, int]:
    low = integer("min_degree", min_degree, 1)
    return low, integer("max_degree", max_degree, low)


def _labels(rng: np.random.Generator, size: int, num_priorities, owner_share) -> dict:
    """Random owners and priorities, as keywords for building an arena."""
    num_priorities = integer("num_priorities", num_priorities, 1, MAX_PRIORITY + 1)
    owner_share = share("owner_share", owner_share)
    return {
        "owner": rng.random(size) < owner_share,
        "priority": rng.integers(0, num_priorities, size),
    }


def _subsets(
    rng: np.random.Generator, size: np.ndarray, below: np.ndarray
) -> np.ndarray:
    """Uniform random sets, one for each row.

    Robert Floyd's method: the k-th element is drawn from one more candidate than the
    one before, and where it is there already, the new candidate is taken.

    Args:
        rng: source of randomness.
        size: integers `[N]`, how many elements each set has.
        below: integers `[N]`, at least `size`; elements are from 0 to `below - 1`.

    Returns:
        Integers `[N, max(size)]`, each row ascending, filled with `NO_SUCCESSOR` in
        front.
    """
    drawn = np.full((size.max(), len(size)), NO_SUCCESSOR)
    for k in range(len(drawn)):
        rows = np.flatnonzero(k < size)
        newest = (below - size + k)[rows]
        pick = rng.integers(0, newest, endpoint=True)
        taken = (drawn[:k, rows] == pick).any(axis=0)
        drawn[k, rows] = np.where(taken, newest, pick)
    return np.sort(drawn.T, axis=1)


def _new_edges(
    successors: np.ndarray, sources: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Those of the edges that are not there yet, each once, in order."""
    new = ~(successors[sources] == targets[:, None]).any(axis=1)
    order = np.lexsort((targets[new], sources[new]))
    sources, targets = sources[new][order], targets[new][order]
    again = (np.diff(sources, prepend=-1) == 0) & (np.diff(targets, prepend=-1) == 0)
    return sources[~again], targets[~again]

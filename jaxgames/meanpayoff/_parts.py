"""Parts of a game whose values lie in one interval, as one energy game (host only).

Where a threshold has split a part, no optimal play goes from one piece to the other:
player 1 cannot leave the upper piece and player 0 not the lower one, and edges that the
other player has there are to his disadvantage. So these are taken out, and both pieces
go on by themselves. To keep the shape of the game, an edge that is taken out becomes a
copy of the first edge of its vertex that stays.
"""

import dataclasses

import numpy as np

from jaxgames.arena import Arena, as_checked_as


def edges_inside(arena: Arena, edge: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Which edge each edge is now, when parts have been split.

    Args:
        arena: the game, without padding.
        edge: integers `[E]`: which it was before.
        part: integers `[V]`: the part of each vertex; every vertex has an edge that
            stays inside.

    Returns:
        Indices of edges that stay inside: int32 `[E]`.
    """
    size = len(edge)
    stays = part[arena.src] == part[arena.dst]
    own = np.where(stays, np.arange(size, dtype=np.int32), np.int32(size))
    first = np.minimum.reduceat(own, arena.row_ptr[:-1])
    return np.where(stays[edge], edge, first[arena.src]).astype(np.int32)


def are_traps(arena: Arena, rank: np.ndarray) -> bool:
    """Whether nobody can leave a part for a better one, and everybody can stay.

    Parts have ranks, integers `[V]`, larger ones for larger values.
    """
    own, there = rank[arena.src], rank[arena.dst]
    leaves = np.where(arena.owner[arena.src], there < own, there > own)
    stays = np.logical_or.reduceat(own == there, arena.row_ptr[:-1])
    return bool(stays.all() and not leaves.any())


def game_at(
    arena: Arena,
    edge: np.ndarray,
    num: np.ndarray,
    den: np.ndarray,
    asked: np.ndarray | None = None,
    *,
    swapped: bool = False,
) -> Arena:
    """The energy game of all parts, each with a threshold of its own.

    Args:
        arena: the game, without padding.
        edge: which edge each edge is now.
        num: integers `[V]`, numerators of the thresholds; the same in each part.
        den: integers `[V]`, their denominators.
        asked: bool `[V]`: the vertices that are in question; on the edges of others no
            energy is taken. None: all.
        swapped: whether player 1 is to keep the energy, which goes the other way.

    Returns:
        Weights of 32 or 64 bits, or of Python's integers where these are too few.
    """
    src, weight = arena.src, arena.weight
    weight = weight if weight.dtype == object else weight.astype(np.int64)
    least, most = int(weight.min()), int(weight.max())
    largest = max(most, -least) * int(den.max()) + max(int(num.max()), -int(num.min()))
    if largest >= 2**61:
        weight, num, den = (x.astype(object) for x in (weight, num, den))
    weight = den[src] * weight[edge] - num[src]
    if asked is not None:
        weight[~asked[src]] = 0
    if swapped:
        weight = -weight
    small = np.iinfo(np.int32)
    if weight.min() >= small.min and weight.max() <= small.max:
        weight = weight.astype(np.int32)
    game = dataclasses.replace(
        arena,
        dst=arena.dst[edge],
        weight=weight,
        owner=~arena.owner if swapped else arena.owner,
    )
    return as_checked_as(arena, game)


def widened(game: Arena) -> Arena:
    """The energy game with weights of Python's integers: then credits are such too."""
    return dataclasses.replace(game, weight=game.weight.astype(object))


def numbered(part: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers the pieces of parts that were split.

    Args:
        part: integers `[V]` from 0 on.
        upper: bool `[V]`: which piece of its part a vertex is in.

    Returns:
        The piece of each vertex, integers `[V]` from 0 on, and for each piece twice
        its old part, and one more for an upper one.
    """
    pieces, piece = np.unique(2 * part + upper, return_inverse=True)
    return piece.reshape(-1), pieces

"""What a mean-payoff game is."""

import numpy as np

from jaxgames.arena import Arena, is_traced


def check(arena: Arena, *, batches: bool = False) -> None:
    """Checks that an arena is a mean-payoff game; it may be traced.

    Args:
        arena: the game.
        batches: whether it may be a stack of games.

    Raises:
        ValueError: naming what is missing.
    """
    weight = arena.weight
    if weight is None:
        raise ValueError(
            "a mean-payoff game needs a weight on each edge: weight is None"
        )
    if np.ndim(weight) != np.ndim(arena.owner):
        raise ValueError(
            "a mean-payoff game has one weight on each edge, shape [E]: weight has "
            f"shape {np.shape(weight)}"
        )
    if not np.issubdtype(weight.dtype, np.signedinteger):
        raise ValueError(f"weight must hold signed integers, got {weight.dtype}")
    if not batches and np.ndim(arena.owner) != 1:
        raise ValueError(
            "one game at a time, not a batch: arena.owner has shape "
            f"{np.shape(arena.owner)}"
        )
    if is_traced((arena.row_ptr, weight)):
        return
    dead = np.diff(arena.row_ptr) == 0
    if dead.any():
        raise ValueError(
            f"vertex {np.argwhere(dead)[0][-1]} has no successor: games are total; "
            "build the arena with dead_ends='lose' if its owner loses there"
        )

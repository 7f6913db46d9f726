"""What games are made of, as far as stacks go: arenas, or something else."""

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.drive._stack import joined, size_of, stack


@dataclasses.dataclass(frozen=True)
class Form:
    """How games of a kind are stacked and told apart again (host).

    Attributes:
        kind: the class of a game and of a stack.
        what: what one is called, in messages.
        is_stack: whether the arrays of one have one axis more in front.
        size: what a game is padded to, and what else games of a stack share.
        stack: the stack of some games of one such size.
        shape: how many games a stack has, how many vertices each, and how many edges.
        cut: the answers of one game, from those of the padded one: numpy arrays.
        join: the size that games of two sizes have in common; None where they cannot.
        question: what one of them is where it is asked alone.
    """

    kind: type
    what: str
    is_stack: Callable[[Any], bool]
    size: Callable[[Any], Hashable]
    stack: Callable[[Sequence[Any], Any], Any]
    shape: Callable[[Any], tuple[int, int, int]]
    cut: Callable[[Any, Any], Any]
    join: Callable[[Any, Any], Any] = lambda one, other: None
    question: Callable[[Any], Any] = lambda game: game


def cut(answer: Any, arena: Arena) -> Any:
    """Arrays over the vertices of a padded arena, for those of the arena itself."""
    size = len(arena.owner)
    return type(answer)(
        *(x if x is None else x[:size] if x.ndim else x for x in answer)
    )


ARENAS = Form(
    kind=Arena,
    what="arena",
    is_stack=lambda arena: np.ndim(arena.row_ptr) == 2,
    size=size_of,
    stack=lambda arenas, size: stack(arenas, size[0]),
    shape=lambda arena: (len(arena.owner), *arena.shape),
    cut=cut,
    join=joined,
)
"""Games that are arenas."""

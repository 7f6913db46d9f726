"""What a reduction gives: a smaller game, and the way back for its solution."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena, is_traced
from jaxgames.parity._edges import check_priorities
from jaxgames.solution import NO_EDGE, UNDECIDED

Answer = tuple[np.ndarray, np.ndarray]
"""Winners (int8, -1 where undecided) and strategy (edge indices, -1 for none)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Reduced:
    """A game that was made easier, and how to return to the one it came from.

    Attributes:
        arena: the reduced game; it may have no vertices at all.
        undo: takes winners (int8 `[V']`, -1 where undecided) and strategy (int32
            `[V']`, edge indices, -1 for none) of the reduced game to those of the
            original. Undecided vertices stay undecided, but for those that the
            reduction itself decided or whose winner follows from others. With None
            for the strategy only winners come back.

    Examples:
        >>> from jaxgames.parity import preprocess, reference
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[2, 1]
        ... )
        >>> reduced = preprocess.self_loops(arena)
        >>> reduced.arena
        Arena(2 vertices, 2 edges, priority)
        >>> solution = reference.solve(reduced.arena)
        >>> reduced.undo(solution.winner, solution.strategy)
        (array([0, 0], dtype=int8), array([ 0, -1], dtype=int32))
    """

    arena: Arena
    undo: Callable[[np.ndarray, Any], tuple[np.ndarray, Any]]

    def then(self, reduction: "Reduction") -> "Reduced":
        """Reduces further; the new `undo` goes all the way back."""
        more = reduction(self.arena)
        return Reduced(
            more.arena,
            lambda winner, strategy: self.undo(*more.undo(winner, strategy)),
        )


Reduction = Callable[[Arena], Reduced]


def identity(arena: Arena) -> Reduced:
    """The game as it is."""
    return Reduced(arena, lambda winner, strategy: (winner, strategy))


def reduction(*, edge_priorities: bool):
    """Decorator of reductions: checks the arena and takes care of its padding.

    The decorated function gets the real part of the arena as writable numpy arrays. Its
    `undo` gets arrays too, also where a user has no strategy. If it does not read edge
    priorities, a game that has them is refused.
    """

    def decorate(function):
        @functools.wraps(function)
        def reduce(arena: Arena, *args, **kwargs) -> Reduced:
            game = _checked(arena)
            if game.edge_priority is not None and not edge_priorities:
                raise ValueError(
                    f"{function.__name__} reads vertex priorities only, but this arena "
                    "has edge priorities"
                )
            inner = function(game, *args, **kwargs)
            padding = arena.shape[0] - game.shape[0]

            def undo(winner, strategy):
                answer = _answer(inner.arena, winner, strategy)
                winner, moves = inner.undo(*answer)
                winner = np.pad(winner, (0, padding))
                moves = np.pad(moves, (0, padding), constant_values=NO_EDGE)
                return winner, None if strategy is None else moves

            return Reduced(inner.arena, undo)

        return reduce

    return decorate


def _checked(arena: Arena) -> Arena:
    """The real part of a total game, in arrays that compiled loops take."""
    if is_traced(arena):
        raise ValueError(
            "the arena is traced by jax: preprocessing runs on the host, outside of "
            "transformed functions"
        )
    arena, _ = validity.checked(arena)
    check_priorities(arena)
    arena = arena.unpad()
    names = ("row_ptr", "src", "dst", "owner", "priority", "edge_priority")
    present = [name for name in names if getattr(arena, name) is not None]
    arrays = {name: np.ascontiguousarray(getattr(arena, name)) for name in present}
    return dataclasses.replace(arena, **arrays)


def _answer(arena: Arena, winner, strategy) -> Answer:
    """Winners and strategy for an arena, checked for their length."""
    size = arena.shape[0]
    if strategy is None:
        strategy = np.full(size, NO_EDGE, np.int32)
    for name, array in (("winner", winner), ("strategy", strategy)):
        if np.shape(array) != (size,):
            raise ValueError(
                f"{name} must have one entry for each vertex of the reduced arena "
                f"({size}), got shape {np.shape(array)}"
            )
    return np.asarray(winner, np.int8), np.asarray(strategy, np.int32)


# ---- building blocks of reductions --------------------------------------------


def edge_priorities(arena: Arena) -> np.ndarray:
    """The priority of each edge: its own, or that of its source."""
    if arena.edge_priority is not None:
        return arena.edge_priority
    return arena.priority[arena.src]


def translate(strategy: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """A strategy in which `edges[e]` stands for the edge `e`."""
    none = np.append(edges, NO_EDGE).astype(np.int32)  # index -1 is its last entry
    return none[strategy]


def induced(
    arena: Arena, vertices: np.ndarray, place: np.ndarray | None = None
) -> tuple[Arena, np.ndarray]:
    """The game on distinct vertices, in this order, and the old indices of its edges.

    Each has an edge to one of them. Takes time for these vertices and their edges alone
    if `place` is given: int32 `[V]`, all -1, which it is again afterwards.
    """
    if place is None:
        place = np.full(arena.shape[0], -1, np.int32)
    place[vertices] = np.arange(len(vertices), dtype=np.int32)
    begins = arena.row_ptr[vertices]
    edges = ranges(begins, arena.row_ptr[vertices + 1] - begins)
    edges = edges[place[arena.dst[edges]] >= 0]
    reduced = Arena.from_edges(
        place[arena.src[edges]],
        place[arena.dst[edges]],
        owner=arena.owner[vertices],
        priority=None if arena.priority is None else arena.priority[vertices],
        edge_priority=(
            None if arena.edge_priority is None else arena.edge_priority[edges]
        ),
    )
    place[vertices] = -1
    return reduced, edges


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The concatenation of `start .. start + length - 1`, as int32.

    Examples:
        >>> ranges(np.array([5, 0]), np.array([2, 3]))
        array([5, 6, 0, 1, 2], dtype=int32)
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    shift = (starts - ends + lengths).astype(np.int32)
    return np.arange(total, dtype=np.int32) + np.repeat(shift, lengths)


def with_edges(arena: Arena, edges: np.ndarray) -> Reduced:
    """The game with the edges of these indices (ascending) only."""
    row_ptr = np.zeros(arena.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(arena.src[edges], minlength=arena.shape[0]), out=row_ptr[1:])
    reduced = Arena.from_csr(
        row_ptr,
        arena.dst[edges],
        owner=arena.owner,
        priority=arena.priority,
        edge_priority=(
            None if arena.edge_priority is None else arena.edge_priority[edges]
        ),
    )
    return Reduced(
        reduced, lambda winner, strategy: (winner, translate(strategy, edges))
    )


def on_vertices(arena: Arena, vertices: np.ndarray, winner, move) -> Reduced:
    """The game on some vertices, in the order of their new numbers; others are decided.

    The winners of those, int8 `[V]`, are known, and moves, int32 `[V]`, edges that they
    take there; what is said of others does not matter.
    """
    reduced, edges = induced(arena, vertices)

    def undo(new_winner, new_strategy) -> Answer:
        winners = winner.copy()
        strategy = np.where(winner == arena.owner, move, NO_EDGE).astype(np.int32)
        winners[vertices] = new_winner
        strategy[vertices] = translate(new_strategy, edges)
        return winners, strategy

    return Reduced(reduced, undo)


def undecided(arena: Arena, winner, move) -> Reduced:
    """The game on the vertices that have no winner yet."""
    return on_vertices(arena, np.flatnonzero(winner == UNDECIDED), winner, move)

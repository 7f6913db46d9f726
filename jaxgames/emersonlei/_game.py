"""A game whose condition is one of Emerson and Lei."""

import dataclasses
import functools
from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np

from jaxgames import acceptance
from jaxgames.acceptance import Acceptance, both, either, fin, inf
from jaxgames.arena import Arena
from jaxgames.arguments import as_array, check_array
from jaxgames.emersonlei._edges import marks_along
from jaxgames.later import has_values, jax
from jaxgames.value import freeze

MOST_MARKS = 62
"""Marks that fit the bits of a word."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Game:
    """A game graph with marks, and a condition on those that are met again and again.

    Player 0 wins a play if the condition holds of the marks that it meets infinitely
    often. Build one with `Game.of`, `streett`, `rabin`, `generalised_parity` or
    `muller`.

    Attributes:
        arena: the graph, and who moves where.
        condition: the [`Acceptance`][jaxgames.acceptance.Acceptance].
        vertex_marks: int64 `[V]`, the marks of each vertex as bits; or None.
        edge_marks: int64 `[E]`, those of each edge; or None.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0])
        >>> Game.streett(arena, [([0], [1])])
        Game(2 vertices, 3 edges, Fin(0) | Inf(1))
    """

    arena: Arena
    condition: Acceptance = dataclasses.field(metadata={"static": True})
    vertex_marks: Any = None
    edge_marks: Any = None

    @classmethod
    def of(
        cls,
        arena: Arena,
        condition: Acceptance,
        *,
        vertex_marks: Any = None,
        edge_marks: Any = None,
    ) -> "Game":
        """A game from marks as bits.

        Args:
            arena: the graph; its labels do not matter.
            condition: on the marks.
            vertex_marks: integers `[V]`: bit `i` says that a vertex has mark `i`.
            edge_marks: integers `[E]`, likewise.

        Raises:
            ValueError: an array has another shape or type, or there are too many marks.
        """
        if not isinstance(condition, Acceptance):
            raise ValueError(f"condition must be an Acceptance, got {condition!r}")
        if condition.marks and condition.marks[-1] >= MOST_MARKS:
            raise ValueError(
                f"there may be marks up to {MOST_MARKS - 1}, got {condition.marks[-1]}"
            )
        vertices, edges = arena.shape
        marks = {}
        for name, values, size in (
            ("vertex_marks", vertex_marks, vertices),
            ("edge_marks", edge_marks, edges),
        ):
            if values is None:
                continue
            array = as_array(name, values)
            if not array.size and not hasattr(values, "dtype"):
                array = array.astype(np.int64)
            check_array(name, array, (size,), "iu")
            if array.size and (array.min() < 0 or array.max() >= 1 << MOST_MARKS):
                raise ValueError(f"{name} must be bits of {MOST_MARKS} marks")
            marks[name] = freeze(array.astype(np.int64))
        return cls(arena, condition, **marks)

    @classmethod
    def of_sets(
        cls, arena: Arena, condition: Acceptance, sets: Sequence[Any]
    ) -> "Game":
        """A game from the vertices of each mark.

        Args:
            arena: the graph.
            condition: on the marks.
            sets: for each mark vertices by number, in a set or a list; or bool `[V]`.

        Raises:
            ValueError: there is no such vertex, or an array is of another shape.
        """
        size = arena.shape[0]
        marks = np.zeros(size, np.int64)
        if len(sets) > MOST_MARKS:
            raise ValueError(f"there may be {MOST_MARKS} marks, got {len(sets)}")
        for mark, vertices in enumerate(sets):
            if isinstance(vertices, Set):
                vertices = sorted(vertices)
            array = as_array(f"the set of mark {mark}", vertices)
            if array.dtype == bool:
                if array.shape != (size,):
                    raise ValueError(
                        f"the set of mark {mark} must be booleans [{size}], got "
                        f"{list(array.shape)}"
                    )
                array = np.flatnonzero(array)
            array = array.astype(np.int64) if not array.size else array
            if array.dtype.kind not in "iu" or array.ndim != 1:
                raise ValueError(f"the set of mark {mark} must be vertices by number")
            if array.size and not 0 <= array.min() <= array.max() < size:
                raise ValueError(
                    f"the set of mark {mark} has a vertex that is not one of 0 to "
                    f"{size - 1}"
                )
            marks[array] |= 1 << mark
        return cls.of(arena, condition, vertex_marks=marks)

    @classmethod
    def streett(cls, arena: Arena, pairs: Sequence[tuple[Any, Any]]) -> "Game":
        """A Streett game: of each pair, if the first is met for ever, so is the second.

        Args:
            arena: the graph.
            pairs: two sets of vertices each, requests and grants.

        Raises:
            ValueError: as in `of_sets`.
        """
        each = (either([fin(2 * k), inf(2 * k + 1)]) for k in range(len(pairs)))
        return cls.of_sets(arena, both(each), _sets_of(pairs))

    @classmethod
    def rabin(cls, arena: Arena, pairs: Sequence[tuple[Any, Any]]) -> "Game":
        """A Rabin game: of some pair the first is left for ever, the second is not.

        Args:
            arena: the graph.
            pairs: two sets of vertices each: those to be left, those to be met.

        Raises:
            ValueError: as in `of_sets`.
        """
        each = (both([fin(2 * k), inf(2 * k + 1)]) for k in range(len(pairs)))
        return cls.of_sets(arena, either(each), _sets_of(pairs))

    @classmethod
    def generalised_parity(
        cls, arena: Arena, priorities: Any, *, every: bool = True
    ) -> "Game":
        """A game of several parity conditions, max even.

        Args:
            arena: the graph.
            priorities: integers `[K, V]`, not negative: a row for each condition.
            every: whether all of them must hold; else one is enough.

        Raises:
            ValueError: priorities are of another shape, or there are too many.
        """
        rows = as_array("priorities", priorities)
        size = arena.shape[0]
        good = rows.ndim == 2 and rows.shape[1] == size and rows.dtype.kind in "iu"
        if not good or (rows.size and rows.min() < 0):
            raise ValueError(
                f"priorities must be integers [K, {size}] from 0 on, got {rows.dtype} "
                f"{list(rows.shape)}"
            )
        parts, marks, first = [], np.zeros(size, np.int64), 0
        for row in rows:
            values, rank = np.unique(row, return_inverse=True)
            if first + len(values) > MOST_MARKS:
                raise ValueError(
                    f"all priorities together must be {MOST_MARKS} at most"
                )
            # The largest first: it decides alone, or else the next does.
            found = acceptance.FALSE
            for at, value in enumerate(values.tolist()):
                mark = first + at
                if value % 2:
                    found = both([fin(mark), found])
                else:
                    found = either([inf(mark), found])
            parts.append(found)
            marks |= np.int64(1) << (first + rank.reshape(-1))
            first += len(values)
        condition = both(parts) if every else either(parts)
        return cls.of(arena, condition, vertex_marks=marks)

    @classmethod
    def muller(
        cls, arena: Arena, sets: Sequence[Any], family: Iterable[Iterable[int]]
    ) -> "Game":
        """A Muller game: player 0 wins if the marks met for ever are one of a family.

        Args:
            arena: the graph.
            sets: the vertices of each mark.
            family: sets of marks.

        Raises:
            ValueError: as in `of_sets`, or the family has a mark that there is not.
        """
        parts = []
        for chosen in map(set, family):
            if not chosen <= set(range(len(sets))):
                raise ValueError(
                    f"the family has marks {sorted(chosen)}, there are {len(sets)}"
                )
            parts.append(
                both(inf(k) if k in chosen else fin(k) for k in range(len(sets)))
            )
        return cls.of_sets(arena, either(parts), sets)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of vertices and edges, padding included."""
        return self.arena.shape

    def marks(self) -> np.ndarray:
        """What is met along each edge: the marks of its source and its own (host)."""
        met = marks_along(self.arena, self.vertex_marks, self.edge_marks)
        known = functools.reduce(lambda x, k: x | 1 << k, self.condition.marks, 0)
        return met & known

    def unpad(self) -> "Game":
        """The game without padding."""
        arena = self.arena.unpad()
        vertices, edges = arena.shape
        of_vertices, of_edges = self.vertex_marks, self.edge_marks
        return Game(
            arena,
            self.condition,
            None if of_vertices is None else np.asarray(of_vertices)[:vertices],
            None if of_edges is None else np.asarray(of_edges)[:edges],
        )

    def __repr__(self) -> str:
        text = str(self.condition)
        text = text if len(text) < 60 else f"{len(self.condition.marks)} marks"
        if not has_values(self.arena.owner):
            return f"Game({self.arena}, {text})"
        vertices, edges = self.arena.shape
        return f"Game({vertices} vertices, {edges} edges, {text})"


def _sets_of(pairs: Sequence[Any]) -> list[Any]:
    """Both sets of each pair, one after the other."""
    for number, pair in enumerate(pairs):
        if not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(
                f"pair {number} must be two sets of vertices, got {pair!r:.80}"
            )
    return [vertices for pair in pairs for vertices in pair]

"""The arena: a game graph as a pytree of CSR arrays.

Everything here runs on the host, on numpy arrays; arrays that lie on a GPU are looked
at there, by `on_device.py`. An arena is a pytree, so it
travels into ``jax.jit`` and ``jax.vmap`` like any other argument.
"""

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from jaxgames.arguments import as_array, integer
from jaxgames.host import can_compile, compiled, on_all_cores, on_ranges, ranges_of
from jaxgames.kept import SLOT, is_kept, kept
from jaxgames.later import Tracer, has_values, imported, jax, jnp, to_numpy
from jaxgames.quoting import quoted
from jaxgames.tuning.base import ARENA_COMPILED_FROM as MANY
from jaxgames.tuning.base import ARENA_COMPILED_FROM_THEN_ON as FEWEST
from jaxgames.value import Value, exportable, freeze, is_settled, ours

Condition = Literal["max even", "min even", "max odd", "min odd"]
"""Which plays player 0 wins: the most important priority seen infinitely often
is the largest (``max``) or smallest (``min``), and of this parity."""

CONDITIONS: tuple[Condition, ...] = ("max even", "min even", "max odd", "min odd")

MAX_PRIORITY = 2**31 - 3
"""Largest priority accepted: the change of condition adds at most one."""

LABELS = ("priority", "edge_priority", "weight", "accepting")
"""What vertices and edges may have, by the names of an arena's fields."""

ON_EDGES = ("edge_priority", "weight")
"""Those of edges."""

MAX_SIZE = 2**31 - 2
"""Most vertices or edges that int32 indices can name."""


@exportable("jaxgames.Arena")
@jax.tree_util.register_pytree_with_keys_class
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Arena(Value):
    """A game graph: vertices with owners, edges in CSR order, and labels.

    Build one with [`Arena.from_edges`][jaxgames.Arena.from_edges] or
    [`Arena.from_csr`][jaxgames.Arena.from_csr], which check their input. `V` and
    `E` are the numbers of vertices and edges, padding included.

    An arena does not change. Arrays of JAX are shared as they are; arrays of numpy that
    somebody could still write to are copied, and its own are read-only. To change one,
    take `dataclasses.replace` and then [`validate`][jaxgames.Arena.validate].

    Attributes:
        row_ptr: int32 `[V + 1]`; the edges of vertex `v` are
            `row_ptr[v] .. row_ptr[v + 1] - 1`.
        src: int32 `[E]`, source of each edge, ascending.
        dst: int32 `[E]`, target of each edge.
        owner: bool `[V]`, False for player 0 (Even), True for player 1 (Odd).
        priority: int32 `[V]` or None; max even: player 0 wins a play whose largest
            priority seen infinitely often is even.
        edge_priority: int32 `[E]` or None.
        weight: integers `[E]` or `[E, D]`, or None. As a leaf of the pytree, weights of
            64 bits that 32 do not hold are Python's integers where `jax_enable_x64` is
            not set: JAX refuses these, and would cut the others.
        accepting: bool `[V]` or None.
        num_vertices: int32 scalar, number of real vertices; padding comes after.
        num_edges: int32 scalar, number of real edges; padding comes after.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[1, 2]
        ... )
        >>> arena
        Arena(2 vertices, 3 edges, priority)
        >>> arena.successors(0)
        array([0, 1], dtype=int32)
    """

    row_ptr: Any
    src: Any
    dst: Any
    owner: Any
    priority: Any = None
    edge_priority: Any = None
    weight: Any = None
    accepting: Any = None
    num_vertices: Any = None
    num_edges: Any = None

    # ---- as a pytree --------------------------------------------------------

    def tree_flatten(self) -> tuple[tuple, tuple]:
        """Fields in their order are children; there is nothing else."""
        children = tuple(getattr(self, name) for name in FIELDS)
        if is_cut(self):
            at = FIELDS.index("weight")
            whole = self.weight.astype(object)
            children = *children[:at], whole, *children[at + 1 :]
        return children, ()

    def tree_flatten_with_keys(self) -> tuple[tuple, tuple]:
        """The same, each child with its name."""
        children, rest = self.tree_flatten()
        keys = map(jax.tree_util.GetAttrKey, FIELDS)
        return tuple(zip(keys, children, strict=True)), rest

    @classmethod
    def tree_unflatten(cls, rest: tuple, children: Any) -> "Arena":
        """The inverse of `tree_flatten`."""
        del rest
        fields = dict(zip(FIELDS, children, strict=True))
        weight = fields["weight"]
        if type(weight) is np.ndarray and weight.dtype == object:
            # Larger ones, or what a user has put in their place, stay as they are.
            with contextlib.suppress(OverflowError, TypeError, ValueError):
                fields["weight"] = freeze(weight.astype(np.int64))
        return cls(**fields)

    # ---- building -----------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        src,
        dst,
        *,
        owner,
        priority=None,
        edge_priority=None,
        weight=None,
        accepting=None,
        condition: Condition = "max even",
        dead_ends: Literal["error", "lose", "allow"] = "error",
    ) -> "Arena":
        """Builds an arena from a list of edges.

        Edges are sorted by source, stably: the edges of one vertex keep the order in
        which they were given. Parallel edges and self-loops are kept.

        Args:
            src: integers `[E]`, source of each edge.
            dst: integers `[E]`, target of each edge.
            owner: booleans or 0/1 `[V]`, the player who moves from each vertex; its
                length is the number of vertices.
            priority: integers `[V]`, not negative.
            edge_priority: integers `[E]`, not negative.
            weight: integers `[E]` or `[E, D]`.
            accepting: booleans or 0/1 `[V]`.
            condition: what the priorities mean: `"max even"` (PGSolver, Oink, HOA),
                `"min even"` (mCRL2), `"max odd"` or `"min odd"`. Priorities are
                stored as max even.
            dead_ends: what to do with a vertex that has no successor: `"error"`
                refuses it, `"lose"` makes its owner lose there (it becomes a
                self-loop with a priority of the other player), `"allow"` keeps it
                (for plain graphs; games must be total).

        Raises:
            ValueError: an array has the wrong type, length or range, or a vertex has
                no successor.
        """
        _check_options(condition, dead_ends)
        from jaxgames import on_device

        labels = named_labels(priority, edge_priority, weight, accepting)
        arena = on_device.from_edges(src, dst, owner, labels, condition, dead_ends)
        if arena is not None:
            return arena
        owner = _booleans("owner", owner)
        src = _integers("src", src, 0, len(owner) - 1)
        dst = _integers("dst", dst, 0, len(owner) - 1)
        if len(src) != len(dst):
            raise ValueError(
                f"src and dst must have the same length, got {len(src)} and {len(dst)}"
            )
        edge_priority = _priorities("edge_priority", edge_priority, len(src), "edge")
        weight = _weights(weight, len(src))
        row_ptr = _starts_of(src, len(owner))
        if row_ptr is None:
            order = np.argsort(src, kind="stable")
            dst, edge_priority, weight = (
                None if x is None else freeze(x[order])
                for x in (dst, edge_priority, weight)
            )
            row_ptr = np.zeros(len(owner) + 1, np.int64)
            np.cumsum(np.bincount(src, minlength=len(owner)), out=row_ptr[1:])
        return cls.from_csr(
            row_ptr,
            dst,
            owner=owner,
            **labels | {"edge_priority": edge_priority, "weight": weight},
            condition=condition,
            dead_ends=dead_ends,
        )

    @classmethod
    def from_csr(
        cls,
        row_ptr,
        dst,
        *,
        owner,
        priority=None,
        edge_priority=None,
        weight=None,
        accepting=None,
        condition: Condition = "max even",
        dead_ends: Literal["error", "lose", "allow"] = "error",
    ) -> "Arena":
        """Builds an arena from compressed sparse rows.

        Arrays of JAX that lie on a GPU stay there: all of them are checked by one
        program, and are the arena's.

        Args:
            row_ptr: integers `[V + 1]`, ascending from 0 to `E`.
            dst: integers `[E]`, targets, row by row.
            owner: as in [`from_edges`][jaxgames.Arena.from_edges], like all that
                follow.
            priority: integers `[V]`.
            edge_priority: integers `[E]`.
            weight: integers `[E]` or `[E, D]`.
            accepting: booleans or 0/1 `[V]`.
            condition: what the priorities mean.
            dead_ends: what to do with a vertex that has no successor.

        Raises:
            ValueError: as in [`from_edges`][jaxgames.Arena.from_edges].
        """
        _check_options(condition, dead_ends)
        if not isinstance(row_ptr, np.ndarray):
            from jaxgames import on_device

            labels = named_labels(priority, edge_priority, weight, accepting)
            given = row_ptr, dst, owner, labels
            arena = on_device.from_csr(*given, condition, dead_ends)
            if arena is not None:
                return arena
        owner = _booleans("owner", owner)
        size = len(owner)
        taken = _taken_at_once(row_ptr, dst, priority, size)
        if taken is not None:
            row_ptr, dst, priority, first = taken
        else:
            row_ptr = _integers("row_ptr", row_ptr, 0, MAX_SIZE)
            dst = _integers("dst", dst, 0, size - 1)
            if len(row_ptr) != size + 1:
                raise ValueError(
                    f"row_ptr must have one entry more than owner ({size + 1}), "
                    f"got {len(row_ptr)}"
                )
            first = first_empty_row(row_ptr, len(dst))
            priority = _priorities("priority", priority, size, "vertex")
        edge_priority = _priorities("edge_priority", edge_priority, len(dst), "edge")
        weight = _weights(weight, len(dst))
        if accepting is not None:
            accepting = _booleans("accepting", accepting)
            _same_length("accepting", accepting, size, "vertex")
        priority, edge_priority = _to_max_even(priority, edge_priority, condition)

        arena = _of_fields(
            cls,
            row_ptr=row_ptr,
            dst=dst,
            owner=owner,
            priority=priority,
            edge_priority=edge_priority,
            weight=weight,
            accepting=accepting,
            num_vertices=np.int32(size),
            num_edges=np.int32(len(dst)),
        )
        kept(arena, DEAD_END, lambda: first)
        if first == NO_DEAD_END or dead_ends == "allow":
            return arena
        dead = np.flatnonzero(row_ptr[1:] == row_ptr[:-1])
        if dead_ends == "error":
            raise ValueError(
                f"vertex {dead[0]} has no successor"
                + (f" (nor have {len(dead) - 1} others)" if len(dead) > 1 else "")
                + "; pass dead_ends='lose' if its owner loses there"
            )
        return _lose_at(arena, dead)

    # ---- looking ------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Writes the sources down when they are asked for: most calls never do."""
        fields = vars(self)
        if name != "src" or "row_ptr" not in fields:
            raise AttributeError(f"an Arena has no attribute {name!r}")
        src, _ = sources_of(fields["row_ptr"], len(fields["dst"]))
        object.__setattr__(self, "src", freeze(src))
        return src

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of vertices and edges, padding included."""
        return self.owner.shape[-1], self.dst.shape[-1]

    def successors(self, vertex: int) -> np.ndarray:
        """Targets of the edges of one vertex, in order (host only).

        Raises:
            ValueError: there is no such vertex.
        """
        self._refuse_traced("successors", "look at src and dst")
        vertex = integer("vertex", vertex, 0, self.shape[0] - 1)
        return np.asarray(self.dst[self.row_ptr[vertex] : self.row_ptr[vertex + 1]])

    def __repr__(self) -> str:
        labels = [name for name in LABELS if getattr(self, name) is not None]
        has_size = has_values(self.owner, self.dst) and not np.ndim(self.num_vertices)
        if not has_size or isinstance(self.num_vertices, Tracer):
            sizes = f"owner {getattr(self.owner, 'shape', '?')}"
        else:
            sizes = f"{self.num_vertices} vertices, {self.num_edges} edges"
            if self.shape != (self.num_vertices, self.num_edges):
                sizes += ", padded to {} and {}".format(*self.shape)
        return f"Arena({', '.join([sizes, *labels])})"

    def _repr_html_(self) -> str:
        from jaxgames import plot

        return plot.to_html(self)

    # ---- making others ------------------------------------------------------

    def validate(self) -> "Arena":
        """Checks all that the solvers rely on, and returns the arena (host only).

        Arenas built by `from_edges` and `from_csr` are valid; those put together by
        hand or changed by `dataclasses.replace` are checked when they are first solved
        or verified, or here.

        Raises:
            ValueError: with what is wrong and where.
        """
        from jaxgames import validity

        if is_traced(self):
            raise ValueError(
                "a traced arena has no values to look at: validate outside"
            )
        validity.checked(dataclasses.replace(self))  # which carries no mark
        return self

    def pad(
        self, num_vertices: int | None = None, num_edges: int | None = None
    ) -> "Arena":
        """Adds vertices and edges that no play can reach, up to the given sizes.

        Padding comes last: vertices of player 0 with a self-loop, priority 0,
        weight 0. Arenas of one padded size share one compilation and can be stacked.
        Under `jax.jit` it pads by shapes: one arena, or those of a batch under
        `jax.vmap`.

        Args:
            num_vertices: vertices wanted; by default the next of a few sizes.
            num_edges: edges wanted, at least one for each vertex added; by default
                the next of a few sizes.

        Raises:
            ValueError: the arena is larger than that, or edges are to be added
                without a vertex to hold them.
        """
        old_vertices, old_edges = self.shape
        if num_vertices is None:
            num_vertices = bucket(old_vertices + 1)
        more = integer("num_vertices", num_vertices, 0) - old_vertices
        if num_edges is None:
            num_edges = bucket(old_edges + more)
        num_edges = integer("num_edges", num_edges, 0)
        loops = num_edges - old_edges
        if more < 0 or loops < more or (loops and not more):
            raise ValueError(
                f"cannot pad {old_vertices} vertices and {old_edges} edges to "
                f"{num_vertices} and {num_edges}: each vertex added takes an edge, and "
                "edges are added only to added vertices"
            )
        if more == 0:
            return self
        # One self-loop for each new vertex; the last one takes what is left.
        ends = np.minimum(np.arange(loops, dtype=np.int32), more - 1) + old_vertices
        new_rows = old_edges + np.arange(1, more + 1, dtype=np.int32)
        new_rows[-1] = num_edges
        larger = dataclasses.replace(
            self,
            row_ptr=joined(self.row_ptr, new_rows),
            src=joined(self.src, ends),
            dst=joined(self.dst, ends),
            owner=padded(self.owner, more),
            **labels_by(self, lambda x: padded(x, more), lambda x: padded(x, loops)),
        )
        return as_checked_as(self, larger)

    def unpad(self) -> "Arena":
        """The real vertices and edges alone (host only)."""
        vertices, edges = self.num_vertices, self.num_edges
        told_fast = type(vertices) is type(edges) is np.int32  # most have no padding
        if told_fast and (vertices, edges) == self.shape:
            return self
        self._refuse_traced("unpad", "cut its answers outside, or mask the padding")
        vertices, edges = int(vertices), int(edges)
        if (vertices, edges) == self.shape:
            return self
        real = dataclasses.replace(
            self,
            row_ptr=self.row_ptr[: vertices + 1],
            src=self.src[:edges],
            dst=self.dst[:edges],
            owner=self.owner[:vertices],
            **labels_by(self, lambda x: x[:vertices], lambda x: x[:edges]),
        )
        return as_checked_as(self, real)

    def reverse(self) -> "Arena":
        """The transposed arena: every edge turned round (host only, kept).

        Edges are in order of their old target, and of their old index where that is
        equal. A vertex without predecessor has no successor there.
        """
        self._refuse_traced(
            "reverse", "reverse it outside and pass both, or exchange src and dst"
        )
        return kept(self, "reverse", self._reversed)

    def _reversed(self) -> "Arena":
        from jaxgames import on_device

        _check_graph(self)
        if on_device.lie_there(self.row_ptr, self.src, self.dst):
            return dataclasses.replace(self, **on_device.reversed_rows(self))
        order = np.argsort(self.dst, kind="stable")
        row_ptr = np.zeros_like(self.row_ptr)
        np.cumsum(np.bincount(self.dst, minlength=self.shape[0]), out=row_ptr[1:])
        return dataclasses.replace(
            self,
            row_ptr=freeze(row_ptr),
            src=freeze(self.dst[order]),
            dst=freeze(self.src[order]),
            **labels_by(self, None, lambda x: freeze(x[order])),
        )

    def _refuse_traced(self, method: str, instead: str) -> None:
        if is_traced(self):
            raise ValueError(
                f"Arena.{method} runs on the host, and this arena is traced by jax: "
                f"call it outside of jax.jit and jax.vmap; {instead}"
            )

    def subgame(
        self, keep, *, dead_ends: Literal["error", "lose", "allow"] = "allow"
    ) -> tuple["Arena", np.ndarray, np.ndarray]:
        """Restricts the arena to some vertices (host only).

        Args:
            keep: booleans `[V]`.
            dead_ends: as in [`from_edges`][jaxgames.Arena.from_edges].

        Returns:
            The arena, and the old indices of its vertices and of its edges.
        """
        self._refuse_traced(
            "subgame", "shapes would depend on values; functions of graph take masks"
        )
        _check_graph(self)
        keep = _booleans("keep", keep)
        _same_length("keep", keep, self.shape[0], "vertex")
        vertices = np.flatnonzero(keep)
        edges = np.flatnonzero(keep[self.src] & keep[self.dst])
        new = np.cumsum(keep) - 1
        arena = Arena.from_edges(
            new[self.src[edges]],
            new[self.dst[edges]],
            owner=freeze(self.owner[vertices]),
            **labels_by(
                self, lambda x: freeze(x[vertices]), lambda x: freeze(x[edges])
            ),
            dead_ends=dead_ends,
        )
        return arena, vertices, edges


def named_labels(*labels: Any) -> dict[str, Any]:
    """Labels by their names, from all of them in the order of `LABELS`."""
    return dict(zip(LABELS, labels, strict=True))


def labels_by(
    arena: Arena, of_vertices: Callable | None, of_edges: Callable | None
) -> dict[str, Any]:
    """The labels of an arena, each made another by what is for its kind.

    Args:
        arena: it.
        of_vertices: for an array of labels of vertices; None: they are left out.
        of_edges: for one of labels of edges, likewise.
    """
    return {
        name: None if (old := getattr(arena, name)) is None else make(old)
        for name in LABELS
        if (make := of_edges if name in ON_EDGES else of_vertices) is not None
    }


def changed(arena: Arena, **fields: Any) -> Arena:
    """As `dataclasses.replace`, of labels alone, without writing the sources down."""
    given = {name: x for name, x in vars(arena).items() if name != SLOT}
    return _of_fields(type(arena), **given | fields)


def _of_fields(kind: type[Arena], **fields: Any) -> Arena:
    """An arena of some of its fields: sources may be missing until asked for."""
    arena = object.__new__(kind)
    vars(arena).update(fields)
    arena.__post_init__()
    return arena


def first_empty_row(row_ptr: np.ndarray, edges: int) -> int:
    """The first row that is empty, or `NO_DEAD_END`.

    Args:
        row_ptr: integers `[V + 1]`.
        edges: their number `E`.

    Raises:
        ValueError: `row_ptr` does not ascend from 0 to `E`.
    """
    if row_ptr[0] == 0 and row_ptr[-1] == edges:
        if pays(len(row_ptr)):
            ranges = numbered(ranges_of(len(row_ptr) - 1))
            falls, first = np.zeros(1, np.bool_), np.empty(len(ranges), np.int64)
            on_ranges(_look_at_rows, ranges, row_ptr, falls, first)
            if not falls[0]:
                return first_of(first)
        else:
            degree = np.diff(row_ptr)
            if degree.min(initial=0) >= 0:
                return NO_DEAD_END if degree.all() else int(np.argmin(degree))
    raise ValueError(f"row_ptr must ascend from 0 to the number of edges ({edges})")


def numbered(ranges: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Ranges, each with its number before, for what is found in each apart."""
    return [(number, *each) for number, each in enumerate(ranges)]


def first_of(places: np.ndarray) -> int:
    """The first place that ranges have found, one after the other; -1 for none."""
    return next((place for place in places.tolist() if place >= 0), NO_DEAD_END)


@compiled
def _look_at_rows(row_ptr, falls, first, number, begin, end):
    """Finds rows that fall, and the first that is empty."""
    fall, empty = False, False
    for vertex in range(max(begin, 0), end):
        fall |= row_ptr[vertex] > row_ptr[vertex + 1]
        empty |= row_ptr[vertex] == row_ptr[vertex + 1]
    if fall:
        falls[0] = True
    first[number] = -1
    if empty:
        first[number] = _empty_row(row_ptr, begin)


@compiled
def _empty_row(row_ptr, begin):
    """The first empty row from there on; there is one."""
    vertex = begin
    while row_ptr[vertex] != row_ptr[vertex + 1]:
        vertex += 1
    return vertex


def sources_of(row_ptr: np.ndarray, edges: int) -> tuple[np.ndarray, bool]:
    """The source of each edge, and whether a row is empty.

    Args:
        row_ptr: integers `[V + 1]`.
        edges: their number `E`.

    Returns:
        int32 `[E]` and a bool.

    Raises:
        ValueError: `row_ptr` does not ascend from 0 to `E`.
    """
    size = len(row_ptr) - 1
    ascends = row_ptr[0] == 0 and row_ptr[-1] == edges
    if ascends and pays(edges):
        src, found = np.empty(edges, np.int32), np.zeros(2, np.bool_)
        on_all_cores(_write_sources, size, row_ptr, src, found, work=edges)
        falls, empty = found
        if not falls:
            return src, bool(empty)
    degree = np.diff(row_ptr)
    if not ascends or degree.min(initial=0) < 0:
        raise ValueError(f"row_ptr must ascend from 0 to the number of edges ({edges})")
    return np.repeat(np.arange(size, dtype=np.int32), degree), not degree.all()


def _starts_of(src: np.ndarray, size: int) -> np.ndarray | None:
    """Where the row of each vertex starts, `[V + 1]`; None if sources do not ascend."""
    if len(src) and pays(len(src)):
        row_ptr, falls = np.empty(size + 1, np.int32), np.zeros(1, np.bool_)
        on_all_cores(_write_starts, len(src), src, row_ptr, falls)
        row_ptr[src[-1] + 1 :] = len(src)
        return None if falls[0] else freeze(row_ptr)
    if np.any(src[1:] < src[:-1]):
        return None
    row_ptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(src, minlength=size), out=row_ptr[1:])
    return row_ptr


@compiled
def _write_starts(src, row_ptr, falls, begin, end):
    """Writes where rows start; finds sources that fall."""
    last = -1
    if begin > 0:
        last = np.int64(src[begin - 1])
    for edge in range(begin, end):
        vertex = np.int64(src[edge])
        if vertex < last:
            falls[0] = True
            return
        while last < vertex:
            last += 1
            row_ptr[last] = edge


_looked_at = 0


def pays(entries: int) -> bool:
    """Whether a compiled loop is the sooner one for an array of so many entries.

    It is for a large one, and for others in a process that has seen as many in all: the
    compiler is there then, or has been worth it.
    """
    global _looked_at
    _looked_at += entries
    return _looked_at >= MANY and entries >= FEWEST and can_compile()


@compiled
def _write_sources(row_ptr, src, found, begin, end):
    """Writes the sources of rows; finds ones that fall, and empty ones.

    Rows are written as they are found, so each is looked at before. Of a short one a
    few places more are written, which belong to the rows that follow: nobody could
    predict how long it is.
    """
    edges, falls, empty = len(src), False, False
    room = min(max(np.int64(row_ptr[end]), 0), edges) - 4
    for vertex in range(max(begin, 0), end):
        first, last = row_ptr[vertex], row_ptr[vertex + 1]
        empty |= first == last
        if first < 0 or last > edges or first > last:
            falls = True
        elif first <= room and last - first <= 4:
            src[first] = src[first + 1] = src[first + 2] = src[first + 3] = vertex
        else:
            for edge in range(first, last):
                src[edge] = vertex
    if falls:
        found[0] = True
    if empty:
        found[1] = True


def _check_graph(arena: Arena) -> None:
    """Raises ValueError where an arena of somebody's own making is none."""
    from jaxgames import validity

    validity.checked(arena, total=False)


DEAD_END, NO_DEAD_END = "dead end", -1
"""What is kept with an arena that was checked: its first vertex without a successor."""


def as_checked_as(old: Arena, new: Arena) -> Arena:
    """The new arena, which is sound and has dead ends where the old one is and has.

    It takes over that the old one was checked, if it was.
    """
    if is_kept(old, DEAD_END):
        dead = kept(old, DEAD_END, lambda: NO_DEAD_END)
        dead = dead if dead < new.shape[0] else NO_DEAD_END
        kept(new, DEAD_END, lambda: dead)
    return new


def of_numpy(arena: Arena) -> Arena:
    """The arena with arrays of numpy alone; itself if it has no others, or is traced.

    One that was put together by hand may have some of each.
    """
    others = any(isinstance(x, jax.Array) for x in vars(arena).values())
    if not others or is_traced(arena):
        return arena
    return as_checked_as(arena, to_numpy(arena))


LARGEST_DOUBLE = 4096
"""The largest size up to which all are powers of two."""


def bucket(size: int) -> int:
    """The next of a few sizes: powers of two up to 4096, then eight an octave.

    Examples:
        >>> [bucket(n) for n in (1, 100, 5000, 1_000_000)]
        [8, 128, 5120, 1048576]
    """
    if size <= LARGEST_DOUBLE:
        return max(8, 1 << max(size - 1, 0).bit_length())
    step = 1 << (size - 1).bit_length() - 4
    return -(-size // step) * step


def padded(x: Any, more: int, *, last: bool = False) -> Any:
    """An array with so many entries more at the end of its first axis; None stays.

    Args:
        x: of numpy, of JAX or traced.
        more: how many.
        last: whether they are what is last; else they are zeros.
    """
    if x is None:
        return None
    if last:
        return joined(x, x[-1:].repeat(more))
    return joined(x, np.zeros((more, *x.shape[1:]), x.dtype))


def joined(x: Any, y: Any) -> Any:
    """Two arrays one after the other: of JAX where one is traced, else of numpy."""
    concatenate = jnp.concatenate if is_traced((x, y)) else np.concatenate
    return freeze(concatenate([x, y]))


FIELDS = tuple(field.name for field in dataclasses.fields(Arena))
"""The names of an arena's fields, in their order."""


def is_cut(arena: Arena) -> bool:
    """Whether JAX would cut the weights: to 32 bits, which do not hold them."""
    weight = arena.weight
    if type(weight) is not np.ndarray or weight.dtype != np.int64:
        return False
    if jax.dtypes.canonicalize_dtype(np.int64) == np.int64 or not weight.size:
        return False
    small = np.iinfo(np.int32)
    return kept(
        arena,
        "beyond 32 bits",
        lambda: not within(weight.reshape(-1), small.min, small.max),
    )


def refuse_cut(tree: Any) -> None:
    """Raises ValueError where JAX would cut the weights of an arena in a pytree.

    They are concrete then, and something else is traced: an arena that is passed to a
    traced function is refused by JAX itself.
    """
    for arena in jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, Arena)):
        if isinstance(arena, Arena) and is_cut(arena):
            raise ValueError(
                "weight has numbers that 32 bits do not hold, to which JAX cuts them "
                "where something else is traced: set jax_enable_x64"
            )


def is_traced(tree) -> bool:
    """Whether a leaf of the pytree is being traced by a JAX transformation."""
    if isinstance(tree, np.ndarray) or not imported():
        return False
    if isinstance(tree, Arena):
        return _has_tracers(tree)
    if type(tree) is tuple:  # told fast, as in `_has_tracers`
        return any(not isinstance(x, NO_TRACERS) and is_traced(x) for x in tree)
    # Of an arena the fields that are there: leaves would be all, and sources written.
    leaves = jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, Arena))
    return any(
        _has_tracers(x) if isinstance(x, Arena) else isinstance(x, Tracer)
        for x in leaves
    )


def _has_tracers(arena: Arena) -> bool:
    """Whether an array of an arena is traced."""
    fields = vars(arena).values()
    # What is of numpy is told fast: to ask whether something is a tracer takes longer.
    return any(isinstance(x, Tracer) for x in fields if not isinstance(x, NO_TRACERS))


NO_TRACERS = (np.ndarray, np.generic, type(None))
"""Types of most fields of arenas that are not traced."""


def eager() -> contextlib.AbstractContextManager[None]:
    """Computes what is concrete now, also while somebody's jit is traced.

    A constant of somebody's jit is still one. `jax.ensure_compile_time_eval` does so in
    all programs that are traced meanwhile as well: what they fill or count would be
    computed at once, and compiled into them, at the size of the game.
    """
    return jax.core.eval_context() if imported() else contextlib.nullcontext()


# ---- checks of what users pass ----------------------------------------------


def _check_options(condition: str, dead_ends: str) -> None:
    if condition not in CONDITIONS:
        raise ValueError(
            f"condition must be one of {CONDITIONS}, got {quoted(condition)}"
        )
    if dead_ends not in ("error", "lose", "allow"):
        raise ValueError(
            f"dead_ends must be 'error', 'lose' or 'allow', got {dead_ends!r}"
        )


def _array(name: str, values) -> np.ndarray:
    if isinstance(values, Tracer):
        raise ValueError(
            f"{name} is traced by jax: arenas are built on the host; build it outside "
            "and pass it to the jitted function as an argument"
        )
    array = as_array(name, values)
    if array.dtype == np.float64 and array.size == 0 and not hasattr(values, "dtype"):
        array = array.astype(np.int32)  # an empty list
    return array


def _flat(name: str, array: np.ndarray) -> np.ndarray:
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")
    return array


def _integers(name: str, values, low: int, high: int) -> np.ndarray:
    array = _flat(name, _array(name, values))
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, got {array.dtype}")
    if len(array) > MAX_SIZE:
        raise ValueError(f"{name} is longer than int32 can index: {len(array)}")
    taken = _taken(array, low, high)
    if taken is not None:
        return taken
    if len(array) and not within(array, low, high):
        where = int(np.flatnonzero((array < low) | (array > high))[0])
        raise ValueError(
            f"{name}[{where}] is {array[where]}, expected a value from {low} to {high}"
        )
    return ours(array.astype(np.int32, copy=False), values)


def _taken(array: np.ndarray, low: int, high: int) -> np.ndarray | None:
    """A large array as int32 of our own, checked while it is copied.

    None if values are out of range, or nothing need be copied, or it is no large one.
    """
    plain = array.dtype in WORDS and array.flags.c_contiguous
    if not plain or is_settled(array) or not pays(len(array)):
        return None
    copy = _checked_copy(array, low, high, np.int32)
    return None if copy is None else freeze(copy)


def copied_within(
    array: np.ndarray, low: int, high: int, kind: Any
) -> np.ndarray | None:
    """A copy of integers `[N]` as another type, which holds all of a range.

    None if one is out of the range.
    """
    plain = array.dtype in WORDS and array.flags.c_contiguous
    if plain and pays(len(array)):
        return _checked_copy(array, low, high, kind)
    inside = not len(array) or (array.min() >= low and array.max() <= high)
    return array.astype(kind) if inside else None


def _checked_copy(
    array: np.ndarray, low: int, high: int, kind: Any
) -> np.ndarray | None:
    copy, beyond = np.empty(len(array), kind), np.zeros(1, np.bool_)
    on_all_cores(_copy_within, len(array), array, copy, low, high, beyond)
    return None if beyond[0] else copy


def _taken_at_once(
    row_ptr: Any, dst: Any, priority: Any, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int] | None:
    """Rows, targets and priorities of a large game, checked while they are copied.

    They are read once, and the machine code of all three is called once.

    Returns:
        They as int32 of our own, and the first row that is empty, or `NO_DEAD_END`.
        None if something is wrong, or not all three are to be copied, or it is no large
        game.
    """
    plain = _is_plain(row_ptr) and _is_plain(dst)
    plain = plain and (priority is None or _is_plain(priority))
    if not plain or max(_looked_at, len(dst)) < MANY:
        return None
    labels = np.empty(0, row_ptr.dtype) if priority is None else priority
    given = row_ptr, dst, labels
    same = row_ptr.dtype == dst.dtype == labels.dtype and len(dst) <= MAX_SIZE
    fit = len(row_ptr) == size + 1 and (priority is None or len(priority) == size)
    if not (same and fit and pays(len(dst))):
        return None
    if row_ptr[0] != 0 or row_ptr[-1] != len(dst):
        return None
    copies = tuple(np.empty(len(x), np.int32) for x in given)
    ranges = numbered(ranges_of(size, work=len(dst)))
    wrong, first = np.zeros(1, np.bool_), np.empty(len(ranges), np.int64)
    copies[0][-1] = len(dst)
    on_ranges(_copy_rows, ranges, given, copies, wrong, first)
    if wrong[0]:
        return None
    rows, targets, labels = map(freeze, copies)
    return rows, targets, None if priority is None else labels, first_of(first)


def _is_plain(array: Any) -> bool:
    """Whether these are integers in a row that somebody could still write to."""
    if type(array) is not np.ndarray or array.ndim != 1:
        return False
    flags = array.flags
    return array.dtype in WORDS and flags.writeable and flags.c_contiguous


WORDS = np.dtype(np.int32), np.dtype(np.int64)
"""Types of integers that compiled loops copy."""


@compiled
def _copy_rows(given, copies, wrong, first, number, begin, end):
    """Copies the rows of some vertices, their labels, and as large a part of edges.

    Finds whether anything is wrong, and the first row that is empty.
    """
    row_ptr, dst, labels = given
    rows, targets, priorities = copies
    size, edges = len(row_ptr) - 1, len(dst)
    # A number is too small, or what it lacks to the largest is: then one is negative.
    # Either is all that is asked, and sooner than by comparisons.
    signs, none = np.int64(0), np.int64(0)
    for v in range(max(begin, 0), end):
        here = np.int64(row_ptr[v])
        many = row_ptr[v + 1] - here
        rows[v] = here
        signs |= here | many
        none |= many - 1
    if len(labels) > 0:
        for v in range(max(begin, 0), end):
            label = np.int64(labels[v])
            priorities[v] = label
            signs |= label | (MAX_PRIORITY - label)
    for e in range(max(edges * begin // size, 0), edges * end // size):
        target = np.int64(dst[e])
        targets[e] = target
        signs |= target | (size - 1 - target)
    first[number] = -1
    if signs < 0:
        wrong[0] = True
    elif none < 0:
        first[number] = _empty_row(row_ptr, begin)


@compiled
def _copy_within(array, copy, low, high, beyond, begin, end):
    wrong = False
    for i in range(max(begin, 0), end):
        copy[i] = array[i]
        wrong |= (array[i] < low) | (array[i] > high)
    if wrong:
        beyond[0] = True


def within(array: np.ndarray, low: int, high: int) -> bool:
    """Whether all values of a numpy array that is not empty are in a range."""
    # Else the loop would be left to numba, which takes no other order of bytes.
    plain = array.flags.c_contiguous and array.dtype.isnative
    if array.dtype.itemsize < 4 or not plain or not pays(len(array)):
        return bool(array.min() >= low and array.max() <= high)
    beyond = np.zeros(1, np.bool_)
    on_all_cores(_find_beyond, len(array), array, low, high, beyond)
    return not beyond[0]


@compiled
def _find_beyond(array, low, high, beyond, begin, end):
    wrong = False
    for i in range(max(begin, 0), end):
        wrong |= (array[i] < low) | (array[i] > high)
    if wrong:
        beyond[0] = True


def _booleans(name: str, values) -> np.ndarray:
    array = _flat(name, _array(name, values))
    if array.dtype == bool:
        return ours(array, values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold booleans or 0 and 1, got {array.dtype}")
    return freeze(_integers(name, array, 0, 1).astype(bool))


def _same_length(name: str, array: np.ndarray, size: int, what: str):
    if len(array) != size:
        raise ValueError(
            f"{name} must have one entry for each {what} ({size}), got {len(array)}"
        )


def _priorities(name: str, values, size: int, what: str) -> np.ndarray | None:
    if values is None:
        return None
    array = _integers(name, values, 0, MAX_PRIORITY)
    _same_length(name, array, size, what)
    return array


def _weights(values, size: int) -> np.ndarray | None:
    if values is None:
        return None
    array = _array("weight", values)
    if array.dtype.kind not in "iu" or array.dtype == np.uint64:
        raise ValueError(f"weight must hold signed integers, got {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"weight must have shape [E] or [E, D], got {array.shape}")
    _same_length("weight", array, size, "edge")
    small = np.iinfo(np.int32)
    narrow = array.dtype == np.int32 or array.size == 0
    if not (narrow or within(array.reshape(-1), small.min, small.max)):
        return ours(array.astype(np.int64, copy=False), values)
    return ours(array.astype(np.int32, copy=False), values)


def _to_max_even(priority, edge_priority, condition: Condition):
    """Restates both kinds of priorities as max even."""
    if condition == "max even":
        return priority, edge_priority
    given = [p for p in (priority, edge_priority) if p is not None and len(p)]
    if not given:
        return priority, edge_priority
    top = max(int(p.max()) for p in given)

    def restate(p):
        if p is None:
            return None
        return freeze(restated(p, top, condition).astype(np.int32, copy=False))

    return restate(priority), restate(edge_priority)


def restated(priority: Any, top: Any, condition: str) -> Any:
    """Priorities as max even, of a game with this largest one; of numpy or of JAX."""
    extreme, parity = condition.split()
    # For min, count down from an even number; for odd, shift the parity by one.
    down = top + top % 2 - priority if extreme == "min" else priority
    return down + int(parity == "odd")


def _lose_at(arena: Arena, dead: np.ndarray) -> Arena:
    """Gives each dead end a self-loop that its owner loses."""
    lost = (~arena.owner[dead]).astype(np.int32)  # odd where player 0 is stuck
    priority = arena.priority
    if priority is not None:
        priority = priority.copy()
        priority[dead] = lost

    def add(x, values):
        return None if x is None else np.concatenate([x, values])

    weight = arena.weight
    if weight is not None:
        shape = (len(dead),) + weight.shape[1:]
        stuck = np.where(arena.owner[dead], 1, -1).astype(weight.dtype)
        weight = add(
            weight, np.broadcast_to(stuck.reshape(-1, *[1] * (weight.ndim - 1)), shape)
        )
    return Arena.from_edges(
        add(arena.src, dead.astype(np.int32)),
        add(arena.dst, dead.astype(np.int32)),
        owner=arena.owner,
        priority=priority,
        edge_priority=add(arena.edge_priority, lost),
        weight=weight,
        accepting=arena.accepting,
    )

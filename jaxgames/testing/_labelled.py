"""Small graphs with labels: what games, graphs, models and systems are drawn as."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from jaxgames.arena import Arena

OF_ARENAS: dict[str, tuple[str, ...]] = {
    "vertex": ("owner", "priority", "accepting"),
    "edge": ("edge_priority", "weight"),
}
"""Labels that arenas have too."""


@dataclasses.dataclass(frozen=True, eq=False)
class Labelled:
    """A graph whose vertices and edges have integers, by name: plain numpy arrays.

    Attributes:
        size: how many vertices there are.
        src: integers `[E]`, ascending.
        dst: integers `[E]`.
        vertex: labels of vertices, `[V]` or `[V, D]`.
        edge: labels of edges, `[E]` or `[E, D]`.
        total: whether each vertex must keep an edge when a graph is made smaller.
    """

    size: int
    src: np.ndarray
    dst: np.ndarray
    vertex: Mapping[str, np.ndarray]
    edge: Mapping[str, np.ndarray]
    total: bool = True

    @property
    def arena(self) -> Arena:
        """The graph with those labels that arenas have."""
        labels = {
            name: getattr(self, kind)[name]
            for kind, names in OF_ARENAS.items()
            for name in names
            if name in getattr(self, kind)
        }
        labels.setdefault("owner", np.zeros(self.size, bool))
        return Arena.from_edges(
            self.src,
            self.dst,
            dead_ends="error" if self.total else "allow",
            **labels,
        )

    def fixed(self, strategy: np.ndarray, player: int) -> "Labelled":
        """Where a player's vertices with a strategy keep its edge alone."""
        chosen = np.where(self.vertex["owner"] == player, strategy, -1)[self.src]
        return self.with_edges((chosen < 0) | (chosen == np.arange(len(self.src))))

    def with_edges(self, keep: np.ndarray) -> "Labelled":
        """The graph with some of its edges."""
        edge = {name: x[keep] for name, x in self.edge.items()}
        return dataclasses.replace(
            self, src=self.src[keep], dst=self.dst[keep], edge=edge
        )


def labelled(src, dst, size: int, vertex=None, edge=None, total=True) -> Labelled:
    """A graph from edges in any order."""
    src, dst = (np.asarray(x, np.int64).reshape(-1) for x in (src, dst))
    order = np.argsort(src, kind="stable")
    vertex, edge = (
        {name: np.asarray(x).astype(np.int64) for name, x in (labels or {}).items()}
        for labels in (vertex, edge)
    )
    edge = {name: x[order] for name, x in edge.items()}
    return Labelled(size, src[order], dst[order], vertex, edge, total)


def of_arena(arena: Arena) -> Labelled:
    """A concrete game without padding, as what can be made smaller."""
    names = ("priority", "accepting"), ("edge_priority", "weight")
    vertex, edge = (
        {
            name: getattr(arena, name)
            for name in kind
            if getattr(arena, name) is not None
        }
        for kind in names
    )
    return labelled(
        arena.src, arena.dst, arena.shape[0], {"owner": arena.owner, **vertex}, edge
    )


def snippet(graph: Labelled) -> str:
    """The arguments of an arena as Python.

    Examples:
        >>> print(snippet(labelled([0], [0], 1, {"owner": [1]}, {"weight": [-2]})))
        [0], [0], owner=[1], weight=[-2]
    """
    parts = [str(graph.src.tolist()), str(graph.dst.tolist())]
    for name, x in {**graph.vertex, **graph.edge}.items():
        parts.append(f"{name}={x.tolist()}")
    return ", ".join(parts)


# ---- smaller ones ----------------------------------------------------------------


def smaller(graph: Labelled) -> Iterator[Labelled]:
    """All graphs that are one step smaller, those that are much smaller first.

    A vertex is taken out, or becomes one with a successor; an edge is taken out; a
    label comes nearer to zero; an edge is made a self-loop.

    Examples:
        >>> [x.size for x in smaller(labelled([0, 1], [0, 1], 2))][:2]
        [1, 1]
    """
    for v in range(graph.size):
        keep = _kept(graph, np.arange(graph.size) != v)
        if keep.any():
            yield _subgraph(graph, keep)
    for e in np.flatnonzero(graph.src != graph.dst):
        yield from _merged(graph, int(graph.src[e]), int(graph.dst[e]))
    degree = np.bincount(graph.src, minlength=graph.size)
    for e in range(len(graph.src)):
        if not graph.total or degree[graph.src[e]] > 1:
            yield graph.with_edges(np.arange(len(graph.src)) != e)
    for kind in ("vertex", "edge"):
        for name, values in getattr(graph, kind).items():
            for changed in _nearer_to_zero(values):
                labels = {**getattr(graph, kind), name: changed}
                yield dataclasses.replace(graph, **{kind: labels})
    for e in np.flatnonzero(graph.src != graph.dst):
        dst = graph.dst.copy()
        dst[e] = graph.src[e]
        yield dataclasses.replace(graph, dst=dst)


def _nearer_to_zero(values: np.ndarray) -> Iterator[np.ndarray]:
    for index in zip(*np.nonzero(values), strict=True):
        x = int(values[index])
        sign = 1 if x > 0 else -1
        steps = [0, sign, x - 2 * sign, x - sign, sign * (abs(x) // 2)]
        for less in sorted(set(steps), key=abs):
            if abs(less) < abs(x) and less * x >= 0:
                changed = values.copy()
                changed[index] = less
                yield changed


def _kept(graph: Labelled, keep: np.ndarray) -> np.ndarray:
    """The most of the vertices to keep, each with a successor where that must be."""
    while graph.total:
        alive = np.zeros_like(keep)
        alive[graph.src[keep[graph.dst]]] = True
        if np.array_equal(keep & alive, keep):
            break
        keep = keep & alive
    return keep


def _subgraph(graph: Labelled, keep: np.ndarray) -> Labelled:
    new = np.cumsum(keep) - 1
    part = graph.with_edges(keep[graph.src] & keep[graph.dst])
    return dataclasses.replace(
        part,
        size=int(keep.sum()),
        src=new[part.src],
        dst=new[part.dst],
        vertex={name: x[keep] for name, x in graph.vertex.items()},
    )


def _merged(graph: Labelled, vertex: int, successor: int) -> Iterator[Labelled]:
    """Leads what leads to the vertex to its successor, without its edges and with."""
    new = np.arange(graph.size) - (np.arange(graph.size) > vertex)
    new[vertex] = new[successor]
    for kept in (graph.src != vertex, np.full(len(graph.src), True)):
        part = graph.with_edges(kept)
        yield labelled(
            new[part.src],
            new[part.dst],
            graph.size - 1,
            {name: np.delete(x, vertex, axis=0) for name, x in graph.vertex.items()},
            part.edge,
            graph.total,
        )

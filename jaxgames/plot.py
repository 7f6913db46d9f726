"""Pictures of games: Graphviz text, drawings of small games, charts of large ones.

Diamonds are player 0's vertices and boxes player 1's. Blue is what player 0 wins and
orange what player 1 wins; bold arrows are the winners' strategies.
"""

import dataclasses
import functools
import html
import io
import itertools
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxgames.arena import Arena, is_traced
from jaxgames.io._files import writing
from jaxgames.solution import NO_EDGE, UNDECIDED

MAX_DRAWN_VERTICES = 200
"""Larger games are shown as charts."""

MAX_DRAWN_EDGES = 600
"""Games with more edges are shown as charts."""

_PLAYERS = (0, 1, UNDECIDED)
_FILL = {0: "#d3e5f5", 1: "#fde0c2", UNDECIDED: "#ffffff"}
_LINE = {0: "#10609f", 1: "#bd5200", UNDECIDED: "#6b6b6b"}
_BAR = {0: "#4f94cd", 1: "#ee9b4d", UNDECIDED: "#b4b4b4"}
_REGIONS = ("won by player 0", "won by player 1", "undecided")
_INK = "#222222"
_FAINT = "#6b6b6b"

_FONT = 11.0
_SMALL = 9.0


def to_dot(
    arena: Arena, solution: Any = None, *, names: Sequence[str | None] | None = None
) -> str:
    r"""Writes a game as Graphviz text, for `dot` and its kin.

    Vertex `v` is the node `v<number>`. It shows its name, where it has one, and its
    priority (its number, where the arena has no priorities); accepting vertices have
    a double border. Edges show their priority and weight.

    Args:
        arena: the game, of any size.
        solution: has `winner` `[V]` and `strategy` `[V]` (or None), as
            `parity.solve` returns them.
        names: a name for each vertex, or None for one without a name.

    Raises:
        ValueError: the arena is a stack of games, or the solution or the names do
            not belong to it.

    Example:
        >>> arena = Arena.from_edges([0, 1], [1, 1], owner=[0, 1], priority=[3, 2])
        >>> print(to_dot(arena, names=["start", None]))
        digraph game {
          node [fontname="Helvetica", style="filled", fillcolor="#ffffff"];
          edge [fontname="Helvetica", color="#6b6b6b"];
          v0 [shape=diamond, label="start\n3"];
          v1 [shape=box, label="2"];
          v0 -> v1;
          v1 -> v1;
        }
        <BLANKLINE>
    """
    game = _read(arena, solution, names)
    lines = [
        "digraph game {",
        '  node [fontname="Helvetica", style="filled", fillcolor="#ffffff"];',
        '  edge [fontname="Helvetica", color="#6b6b6b"];',
    ]
    for v, inside in enumerate(game.insides()):
        name = game.name(v)
        label = f"{name}\n{inside}" if name else inside
        facts = [f"shape={'box' if game.arena.owner[v] else 'diamond'}"]
        facts.append(f"label={_dot_string(label)}")
        if game.winner is not None:
            winner = int(game.winner[v])
            facts.append(f'color="{_LINE[winner]}", fillcolor="{_FILL[winner]}"')
        if game.arena.accepting is not None and game.arena.accepting[v]:
            facts.append("peripheries=2")
        lines.append(f"  v{v} [{', '.join(facts)}];")
    for e, label in enumerate(game.edge_labels()):
        facts = [f"label={_dot_string(label)}"] if label else []
        if game.chosen[e]:
            facts.append(f'color="{game.edge_color(e)}", penwidth=2.5')
        tail = f" [{', '.join(facts)}]" if facts else ""
        lines.append(f"  v{game.arena.src[e]} -> v{game.arena.dst[e]}{tail};")
    return "\n".join([*lines, "}", ""])


def draw(
    arena: Arena,
    solution: Any = None,
    path: str | os.PathLike | None = None,
    *,
    names: Sequence[str | None] | None = None,
) -> "Picture":
    """Draws a game, and saves the picture where a path is given.

    Up to 200 vertices and 600 edges the game itself is drawn, laid out by stress
    majorization (Gansner, Koren, North, doi:10.1007/978-3-540-31843-9_25): numbers
    are priorities, or vertices where the arena has no priorities. A larger game is
    shown by charts of its priorities, degrees, regions and strongly connected
    components. The same game always gives the same picture.

    Args:
        arena: the game.
        solution: has `winner` `[V]` and `strategy` `[V]` (or None), as
            `parity.solve` returns them.
        path: a file to write, `.svg`, `.png` or `.pdf`; the last two take
            matplotlib. It is written whole or not at all.
        names: a name for each vertex, or None for one without a name.

    Returns:
        The picture, which a notebook shows.

    Raises:
        ValueError: another suffix, the arena is a stack of games, or the solution or
            the names do not belong to it.
        ImportError: matplotlib is needed and not installed.

    Example:
        >>> arena = Arena.from_edges([0, 1], [1, 1], owner=[0, 1], priority=[3, 2])
        >>> draw(arena)
        Picture('2 vertices, 2 edges')
    """
    if path is not None:
        _suffix(path)
    game = _read(arena, solution, names)
    picture = _drawing(game) if game.is_small else _charts(game)
    if path is not None:
        picture.save(path)
    return picture


def to_html(arena: Arena, solution: Any = None) -> str:
    """Shows a game in a notebook: a drawing, or a table and a chart of a large one.

    Needs no matplotlib. Takes time linear in the number of vertices.

    Args:
        arena: the game; of a stack of games, or inside a JAX transformation, there
            is only a line of text.
        solution: has `winner` `[V]` and `strategy` `[V]` (or None), as
            `parity.solve` returns them.

    Raises:
        ValueError: the solution does not belong to the arena.
    """
    if is_traced(arena) or np.ndim(arena.num_vertices):
        return f"<pre>{html.escape(repr(arena))}</pre>"
    game = _read(arena, solution, None)
    if game.is_small:
        return _drawing(game).to_svg()
    rows = "".join(
        f'<tr><th style="text-align:left">{name}</th>'
        f'<td style="text-align:right">{value}</td></tr>'
        for name, value in _facts(game).items()
    )
    chart = Picture(game.title)
    if game.arena.priority is None:
        _degree_chart(chart, 0, 0, game, way="out")
    else:
        _priority_chart(chart, 0, 0, game)
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:2em;align-items:flex-start">'
        f"<table>{rows}</table>{chart.to_svg()}</div>"
    )


class Picture:
    """Lines, shapes and words at places on a page, in points, y downwards.

    A notebook shows it. `str` gives its title.
    """

    def __init__(self, title: str):
        self.title = title
        self._marks: list[_Outline | _Words] = []

    def __repr__(self) -> str:
        """Its title."""
        return f"Picture({self.title!r})"

    def _repr_svg_(self) -> str:
        """Picture for notebooks."""
        return self.to_svg()

    def to_svg(self) -> str:
        """The picture as an SVG element."""
        left, top, width, height = self._page()
        body = "\n".join(mark.to_svg() for mark in self._marks)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'aria-label="{html.escape(self.title)}" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:.1f} {top:.1f} {width:.0f} {height:.0f}" '
            f'style="max-width:100%;height:auto;background:white" '
            f'font-family="Helvetica, Arial, sans-serif">\n{body}\n</svg>\n'
        )

    def save(self, path: str | os.PathLike) -> None:
        """Writes the picture to a file, whole or not at all.

        Args:
            path: ends with `.svg`, `.png` or `.pdf`; the last two take matplotlib.

        Raises:
            ValueError: another suffix.
            ImportError: matplotlib is needed and not installed.
        """
        suffix = _suffix(path)
        data = self.to_svg().encode() if suffix == ".svg" else self._paint(suffix[1:])
        with writing(path) as file:
            file.write(data)

    def _paint(self, kind: str) -> bytes:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError(
                f"a {kind} picture is painted by matplotlib, which is not installed: "
                'pip install "jaxgames[plot]", or save as .svg, which needs nothing'
            ) from None
        left, top, width, height = self._page()
        figure = Figure(figsize=(width / 72, height / 72))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(left, left + width)
        axes.set_ylim(top + height, top)
        for order, mark in enumerate(self._marks):
            mark.paint(axes, order)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=144)
        return buffer.getvalue()

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Left upper and right lower corner of all marks."""
        corners = [corner for mark in self._marks for corner in mark.corners()]
        return np.min(corners or [(0, 0)], 0), np.max(corners or [(0, 0)], 0)

    def _page(self) -> tuple[float, float, float, float]:
        """Left, top, width and height with a margin."""
        low, high = self.bounds()
        return *(low - 12), *np.ceil(high - low + 24)

    def polygon(self, corners, **style) -> None:
        """Adds a closed shape by its corners `[n, 2]`."""
        self._marks.append(_Outline(np.asarray(corners, float), **style))

    def box(self, corner, size, **style) -> None:
        """Adds a rectangle by its left upper corner and its width and height."""
        unit = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
        self.polygon(corner + unit * size, **style)

    def curve(self, points, **style) -> None:
        """Adds a cubic Bézier curve by its points `[4, 2]`."""
        self._marks.append(_Outline(points, curved=True, **style))

    def words(self, at, text: str, **style) -> None:
        """Adds a line of text, its middle at a height."""
        x, y = at
        self._marks.append(_Words(x, y, text, **style))


@dataclasses.dataclass(frozen=True)
class _Outline:
    points: np.ndarray
    curved: bool = False
    kind: str = ""
    fill: str = "none"
    line: str = "none"
    width: float = 1.0
    tip: str = ""

    def corners(self):
        return self.points.min(0), self.points.max(0)

    def to_svg(self) -> str:
        first, *rest = (f"{x:.1f},{y:.1f}" for x, y in self.points)
        steps = f"C{' '.join(rest)}" if self.curved else f"L{' '.join(rest)}Z"
        kind = f'class="{self.kind}" ' if self.kind else ""
        tip = f"<title>{html.escape(self.tip)}</title>" if self.tip else ""
        return (
            f'<path {kind}d="M{first}{steps}" fill="{self.fill}" '
            f'stroke="{self.line}" stroke-width="{self.width:g}">{tip}</path>'
        )

    def paint(self, axes, order: int) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        if self.curved:
            path = Path(self.points, [Path.MOVETO] + [Path.CURVE4] * 3)
        else:
            path = Path([*self.points, self.points[0]], closed=True)
        axes.add_patch(
            PathPatch(
                path,
                facecolor=self.fill,
                edgecolor=self.line,
                linewidth=self.width,
                zorder=order,
            )
        )


@dataclasses.dataclass(frozen=True)
class _Words:
    x: float
    y: float
    text: str
    size: float = _FONT
    anchor: str = "middle"
    color: str = _INK
    weight: str = "normal"
    halo: bool = False

    def corners(self):
        width = _text_width(self.text, self.size)
        left = self.x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return (left, self.y - self.size / 2), (left + width, self.y + self.size / 2)

    def to_svg(self) -> str:
        halo = ' stroke="white" stroke-width="3" paint-order="stroke"'
        return (
            f'<text x="{self.x:.1f}" y="{self._baseline:.1f}" fill="{self.color}" '
            f'font-size="{self.size:g}" font-weight="{self.weight}" '
            f'text-anchor="{self.anchor}"{halo if self.halo else ""} '
            f'pointer-events="none">{html.escape(self.text)}</text>'
        )

    def paint(self, axes, order: int) -> None:
        from matplotlib.patheffects import withStroke

        axes.text(
            self.x,
            self._baseline,
            self.text,
            fontsize=self.size,
            ha={"start": "left", "middle": "center", "end": "right"}[self.anchor],
            va="baseline",
            color=self.color,
            fontweight=self.weight,
            path_effects=[withStroke(linewidth=3, foreground="white")] * self.halo,
            parse_math=False,
            zorder=order,
        )

    @property
    def _baseline(self) -> float:
        return self.y + 0.36 * self.size


def _text_width(text: str, size: float) -> float:
    """An upper estimate: digits are 0.56 to 0.64 of the size wide in usual fonts."""
    return 0.62 * size * len(text)


def _suffix(path) -> str:
    suffix = pathlib.Path(path).suffix.lower()
    if suffix not in (".svg", ".png", ".pdf"):
        raise ValueError(f"path must end with .svg, .png or .pdf, got {str(path)!r}")
    return suffix


# ---- what is shown ----------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Game:
    """The real part of an arena, with what is known of it.

    `winner` is `[V]` or None, `chosen` says for each edge whether a strategy takes it.
    """

    arena: Arena
    winner: np.ndarray | None
    chosen: np.ndarray
    names: Sequence[str | None] | None

    @property
    def is_small(self) -> bool:
        vertices, edges = self.arena.shape
        return vertices <= MAX_DRAWN_VERTICES and edges <= MAX_DRAWN_EDGES

    @property
    def title(self) -> str:
        vertices, edges = self.arena.shape
        return f"{_plural(vertices, 'vertex', 'vertices')}, {_plural(edges, 'edge')}"

    def name(self, vertex: int) -> str:
        """The vertex's name with what neither SVG nor Graphviz can hold replaced."""
        name = self.names[vertex] if self.names is not None else None
        return "".join(
            c if c.isprintable() or c == "\n" else " " if c.isspace() else "\ufffd"
            for c in name or ""
        )

    def insides(self) -> list[str]:
        """What is written in the vertices."""
        if self.arena.priority is None:
            return [str(v) for v in range(self.arena.shape[0])]
        return [str(p) for p in self.arena.priority.tolist()]

    def edge_labels(self) -> list[str]:
        labels = [""] * self.arena.shape[1]
        for values in (self.arena.edge_priority, self.arena.weight):
            if values is not None:
                # A vector's text is that of a tuple: (1, -2).
                texts = [
                    str(tuple(x) if values.ndim > 1 else x) for x in values.tolist()
                ]
                labels = [
                    " / ".join(filter(None, x)) for x in zip(labels, texts, strict=True)
                ]
        return labels

    def edge_color(self, edge: int) -> str:
        if self.winner is None:
            return _LINE[UNDECIDED]
        if not self.chosen[edge]:
            return "#9a9a9a"
        return _LINE[int(self.winner[self.arena.src[edge]])]


def _read(arena: Arena, solution, names) -> _Game:
    if np.ndim(arena.num_vertices):
        raise ValueError(
            "a picture shows one arena, got a stack of shape "
            f"{np.shape(arena.num_vertices)}"
        )
    padded = arena.shape[0]
    arena = jax.tree.map(np.asarray, arena).unpad()
    vertices, edges = arena.shape
    if names is not None and len(names) != vertices:
        raise ValueError(
            f"names must have one entry for each vertex ({vertices}), got {len(names)}"
        )

    def read(name):
        values = np.asarray(getattr(solution, name))
        if values.shape not in ((vertices,), (padded,)):
            raise ValueError(
                f"solution.{name} must have one entry for each vertex ({vertices}), "
                f"got shape {values.shape}"
            )
        return values[:vertices]

    chosen = np.zeros(edges, bool)
    if solution is None:
        return _Game(arena, None, chosen, names)
    winner = read("winner")
    strange = np.flatnonzero((winner < UNDECIDED) | (winner > 1))
    if len(strange):
        v = strange[0]
        raise ValueError(f"solution.winner[{v}] is {winner[v]}, expected 0, 1 or -1")
    if solution.strategy is not None:
        strategy = read("strategy")
        movers = np.flatnonzero(strategy != NO_EDGE)
        moves = strategy[movers]
        wrong = (moves < arena.row_ptr[movers]) | (moves >= arena.row_ptr[movers + 1])
        if wrong.any():
            v = movers[wrong][0]
            raise ValueError(
                f"solution.strategy[{v}] is {strategy[v]}, "
                f"which is no edge of vertex {v}"
            )
        chosen[moves] = True
    return _Game(arena, winner, chosen, names)


def _dot_string(text: str) -> str:
    # Graphviz reads both backslash escapes and HTML entities inside strings.
    for old, new in (("&", "&amp;"), ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        text = text.replace(old, new)
    return f'"{text}"'


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


# ---- drawings of small games ------------------------------------------------


def _drawing(game: _Game) -> Picture:
    arena = game.arena
    insides, labels = game.insides(), game.edge_labels()
    names = [_shorten(game.name(v)) for v in range(arena.shape[0])]
    picture = Picture(game.title)

    half = _half_sizes(arena, insides)
    at = _place(arena, half, names, labels)
    curves = _route(arena, at, half)

    for e in np.argsort(game.chosen, kind="stable"):
        chosen, label = bool(game.chosen[e]), labels[e]
        _draw_arrow(
            picture,
            curves[e],
            game.edge_color(e),
            chosen,
            kind="edge strategy" if chosen else "edge",
            tip=f"{arena.src[e]} → {arena.dst[e]}{': ' if label else ''}{label}",
        )
    for v, inside in enumerate(insides):
        _draw_vertex(picture, game, v, at[v], half[v], inside)
    clutter = _Clutter(at, half, _bezier(curves, np.linspace(0, 1, 40)).reshape(-1, 2))
    for v, name in enumerate(names):
        if name:
            size = np.array([_text_width(name, _SMALL), _SMALL])
            sides = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])
            spot = clutter.clear_spot(at[v] + sides * (half[v] + size / 2 + 4), size)
            picture.words(spot, name, size=_SMALL, halo=True)
    for curve, label in zip(curves, labels, strict=True):
        if label:
            size = np.array([_text_width(label, _SMALL), _SMALL])
            spots = _bezier(curve, np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74]))
            spot = clutter.clear_spot(spots, size)
            picture.words(spot, label, size=_SMALL, color=_FAINT, halo=True)
    _draw_legend(picture, game)
    return picture


def _shorten(name: str) -> str:
    name = name.replace("\n", " ")
    return name if len(name) <= 20 else name[:19] + "…"


def _half_sizes(arena: Arena, insides: list[str]) -> np.ndarray:
    """Half widths and heights `[V, 2]` of the shapes, wide enough for their text."""
    text = np.array([_text_width(inside, _FONT) / 2 for inside in insides])
    width = np.where(
        arena.owner, np.maximum(12, text + 4), np.maximum(16, (text + 2) / 0.7)
    )
    half = np.stack([width, np.where(arena.owner, 12, 16)], 1)
    return half if arena.accepting is None else half + 3 * arena.accepting[:, None]


def _draw_vertex(picture: Picture, game: _Game, v: int, at, half, inside: str) -> None:
    arena = game.arena
    winner = UNDECIDED if game.winner is None else int(game.winner[v])
    name, priority = game.name(v), arena.priority
    accepting = arena.accepting is not None and arena.accepting[v]
    facts = [
        f"vertex {v}{f' ({name})' if name else ''}",
        f"player {int(arena.owner[v])}",
    ]
    if priority is not None:
        facts.append(f"priority {priority[v]}")
    if accepting:
        facts.append("accepting")
    if game.winner is not None:
        facts.append(_REGIONS[winner])
    shape = _corners(arena.owner[v])
    if accepting:
        picture.polygon(at + half * shape, fill="white", line=_LINE[winner])
        half = half - 3
    picture.polygon(
        at + half * shape,
        kind=f"vertex {'box' if arena.owner[v] else 'diamond'}",
        fill=_FILL[winner],
        line=_LINE[winner],
        width=1.2,
        tip=", ".join(facts),
    )
    picture.words(at, inside)


def _corners(player) -> np.ndarray:
    """Corners of a player's shape, of half width and height one."""
    if player:
        return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])


def _draw_arrow(picture: Picture, curve, color: str, bold: bool, **style) -> None:
    """Draws a curve up to a head whose tip is its end."""
    length = 8.5 if bold else 6.5
    times = np.linspace(0.3, 1, 60)
    points = _bezier(curve, times)
    back = np.abs(_distances(points, curve[3:])[:, 0] - length).argmin()
    along = curve[3] - points[back]
    across = 0.4 * np.array([-along[1], along[0]])
    shaft = _cut(curve, np.array(0.0), times[back])
    picture.curve(shaft, line=color, width=2.2 if bold else 1.0, **style)
    head = [curve[3], points[back] + across, points[back] - across]
    picture.polygon(head, fill=color)


class _Clutter:
    """What is on the page: rectangles, and points of curves."""

    def __init__(self, at: np.ndarray, half: np.ndarray, points: np.ndarray):
        self.at, self.half, self.points = at, half, points

    def clear_spot(self, spots: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Takes the spot, of `[n, 2]`, where words of that size cover least."""
        depth = self.half + size / 2 + 1 - np.abs(spots[:, None] - self.at)
        covered = np.maximum(depth.min(-1), 0).sum(-1)
        crossed = _inside(self.points, spots, np.broadcast_to(size / 2, spots.shape))
        spot = spots[(10 * covered + crossed.sum(0)).argmin()]
        self.at = np.vstack([self.at, spot])
        self.half = np.vstack([self.half, size / 2])
        return spot


def _draw_legend(picture: Picture, game: _Game) -> None:
    arena = game.arena
    plain = {"fill": "white", "line": _LINE[UNDECIDED]}

    def shape(*layers, **style):
        def symbol(at):
            for player, scale in layers:
                picture.polygon(at + scale * _corners(player), **style)

        return symbol

    def swatch(player):
        style = {"fill": _FILL[player], "line": _LINE[player]}
        return lambda at: picture.box(at - (8, 5), (16, 10), **style)

    def arrow(at):
        line = np.linspace(at - (8, 0), at + (8, 0), 4)
        _draw_arrow(picture, line, _INK, bold=True)

    entries: list[tuple[str, Callable | None]] = [
        ("player 0", shape((0, 7), **plain)),
        ("player 1", shape((1, 5.5), **plain)),
    ]
    if game.winner is not None:
        for player, text in zip(_PLAYERS, _REGIONS, strict=True):
            if np.any(game.winner == player):
                entries.append((text, swatch(player)))
    if game.chosen.any():
        entries.append(("strategy", arrow))
    if arena.accepting is not None and arena.accepting.any():
        entries.append(("accepting", shape((1, 7), (1, 4), **plain)))
    inside = "number" if arena.priority is None else "priority"
    entries.append((f"in a vertex: its {inside}", None))
    labels = {"priority": arena.edge_priority, "weight": arena.weight}
    shown = [name for name, values in labels.items() if values is not None]
    if shown:
        entries.append((f"at an edge: its {' / '.join(shown)}", None))

    (left, _), (right, bottom) = picture.bounds()
    x, y = left, bottom + 20
    for text, symbol in entries:
        room = 0 if symbol is None else 20
        width = room + _text_width(text, _SMALL)
        if x > left and x + width > max(right, left + 460):
            x, y = left, y + 18
        if symbol is not None:
            symbol(np.array([x + 8, y]))
        picture.words((x + room, y), text, size=_SMALL, anchor="start")
        x += width + 14


# ---- where things go --------------------------------------------------------


def _place(arena: Arena, half: np.ndarray, names, labels) -> np.ndarray:
    """Centres of the vertices `[V, 2]`: components one after the other, in rows."""
    from scipy.sparse import coo_array, csgraph  # jax depends on scipy

    size, edges = arena.shape
    graph = coo_array((np.ones(edges), (arena.src, arena.dst)), (size, size))
    distance = csgraph.shortest_path(graph.tocsr(), directed=False, unweighted=True)
    count, component = csgraph.connected_components(graph, directed=False)

    room = half.copy()
    for v, name in enumerate(names):
        if name:
            room[v] = max(half[v, 0], _text_width(name, _SMALL) / 2), half[v, 1] + 7
    length = 40 + max((_text_width(label, _SMALL) for label in labels), default=0)
    length *= max(1, np.sqrt(edges / 3 / max(1, size)))
    places = []
    for c in range(count):
        part = np.flatnonzero(component == c)
        at = _stress_layout(distance[np.ix_(part, part)], length, room[part])
        places.append((part, at - (at - room[part]).min(0)))
    places.sort(key=lambda place: -len(place[0]))

    sizes = [(at + room[part]).max(0) for part, at in places]
    row_width = max(
        [1.5 * np.sqrt(sum(w * h for w, h in sizes)), *(w for w, _ in sizes)], default=0
    )
    result = np.zeros((size, 2))
    x = y = row_height = 0.0
    for (part, at), (width, height) in zip(places, sizes, strict=True):
        if x > 0 and x + width > row_width:
            x, y, row_height = 0.0, y + row_height + 40, 0.0
        result[part] = at + (x, y)
        x, row_height = x + width + 40, max(row_height, height)
    return result


def _stress_layout(distance: np.ndarray, length: float, room: np.ndarray) -> np.ndarray:
    """Places `[n, 2]` whose distances are near those given, by majorization.

    Edges become about `length` long between rectangles of half sizes `room`, longer
    where there is a crowd; then the rectangles are pushed apart.
    """
    size = len(distance)
    if size == 1:
        return np.zeros((1, 2))
    # Classical scaling is the start; the spiral parts points that coincide.
    square = distance**2
    square = square - square.mean(0) - square.mean(1)[:, None] + square.mean()
    values, vectors = np.linalg.eigh(-square / 2)
    at = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    angle = 2.4 * np.arange(size)
    at = at + 0.1 * np.stack([np.cos(angle), np.sin(angle)], 1)

    weight = 1 / (distance + np.eye(size)) ** 2 - np.eye(size)
    inverse = np.linalg.pinv(np.diag(weight.sum(1)) - weight)
    for _ in range(300):
        pull = weight * distance / np.maximum(_distances(at, at), 1e-9)
        at = inverse @ (pull.sum(1)[:, None] * at - pull @ at)

    at = at - at.mean(0)
    _, axes = np.linalg.eigh(at.T @ at)
    at = at @ axes[:, ::-1]  # the longest way across
    at = np.where(at[0] > 0, -at, at)

    nearest = np.percentile(np.sort(_distances(at, at))[:, 1], 20)
    length = length + 2 * room.mean()
    crowded = (2 * room.mean() + 30) / max(nearest, 1e-9)
    return _separate(at * np.clip(crowded, length, 1.4 * length), room + 11)


def _separate(at: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Pushes rectangles of half sizes `room` apart until none overlap."""
    order = np.arange(len(at))
    tie = np.sign(order[:, None] - order)
    for _ in range(500):
        apart = [at[:, None, k] - at[:, k] for k in (0, 1)]
        x, y = (room[:, None, k] + room[:, k] - np.abs(apart[k]) for k in (0, 1))
        clash = (x > 1e-3) & (y > 1e-3) & (tie != 0)
        if not clash.any():
            break
        push = [np.where(clash & (x <= y), x, 0), np.where(clash & (x > y), y, 0)]
        sides = [np.where(d == 0, tie, np.sign(d)) for d in apart]
        at = at + np.stack(
            [(s * p).sum(1) / 2 for s, p in zip(sides, push, strict=True)], 1
        )
    return at


def _route(arena: Arena, at: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Cubic curves `[E, 4, 2]` from border to border.

    Edges bend round vertices in their way, and edges between the same two vertices
    bend apart; self-loops go where there is most room.
    """
    bundles: dict[tuple[int, int], list[int]] = {}
    ends = zip(arena.src.tolist(), arena.dst.tolist(), strict=True)
    for e, (u, v) in enumerate(ends):
        bundles.setdefault((min(u, v), max(u, v)), []).append(e)

    curves = np.tile(at[arena.src][:, None], (1, 4, 1))
    for (u, v), edges in bundles.items():
        if u == v:
            continue
        # Bends 0, 1, -1, 2, -2, ...; an even bundle leaves the straight line free.
        steps = np.arange(len(edges) + 6)
        bends = 0.18 * ((steps + 1) // 2) * np.where(steps % 2, 1, -1)
        if len(edges) % 2 == 0:
            bends = bends[1:]
        along = at[v] - at[u]
        middle = (at[u] + at[v]) / 2 + bends[:, None] * (-along[1], along[0])
        options = np.empty((len(bends), 4, 2))
        options[:, 0], options[:, 3] = at[u], at[v]
        options[:, 1] = (at[u] + 2 * middle) / 3
        options[:, 2] = (at[v] + 2 * middle) / 3
        others = np.delete(np.arange(len(at)), [u, v])
        points = _bezier(options, np.linspace(0.05, 0.95, 25))
        hits = _inside(points, at[others], half[others] + 3).sum((1, 2))
        best = np.argsort(hits + np.abs(bends), kind="stable")[: len(edges)]
        for e, curve in zip(edges, options[best], strict=True):
            curves[e] = curve if arena.src[e] == u else curve[::-1]

    busy = np.vstack([at, _bezier(curves, np.linspace(0, 1, 25)).reshape(-1, 2)])
    angles = np.arange(16) * np.pi / 8 - np.pi / 2
    for (u, v), edges in bundles.items():
        for k, e in enumerate(edges if u == v else []):
            reach = half[v].mean() + 34 + 10 * k
            options = np.tile(at[v], (len(angles), 4, 1))
            for corner, turn in ((1, -0.45), (2, 0.45)):
                options[:, corner, 0] += reach * np.cos(angles + turn)
                options[:, corner, 1] += reach * np.sin(angles + turn)
            points = _bezier(options, np.linspace(0.25, 0.75, 9))
            away = _distances(points.reshape(-1, 2), busy).min(1)
            away = away.reshape(len(angles), -1).min(1)
            curves[e] = options[np.minimum(away, 12).argmax()]
            busy = np.vstack([busy, _bezier(curves[e], np.linspace(0.2, 0.8, 15))])
    return _trim(arena, curves, half)


def _distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """From each of `[m, 2]` to each of `[n, 2]`."""
    return np.hypot(*(points[:, None, k] - others[:, k] for k in (0, 1)))


def _inside(points: np.ndarray, at: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Whether points `[..., 2]` lie in rectangles `[n]`: bool `[..., n]`."""
    x, y = (np.abs(points[..., None, k] - at[:, k]) < half[:, k] for k in (0, 1))
    return x & y


def _trim(arena: Arena, curves: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Cuts curves that run from centre to centre where they cross the borders."""

    def crossing(vertex, inside, outside):
        inside, outside = np.full((2, len(vertex), 1), [[[inside]], [[outside]]])
        centre = _bezier(curves, inside)
        owner, reach = arena.owner[vertex][:, None], half[vertex][:, None] + 1
        for _ in range(20):
            middle = (inside + outside) / 2
            away = np.abs(_bezier(curves, middle) - centre) / reach
            within = np.where(owner, away.max(-1), away.sum(-1)) < 1
            inside = np.where(within, middle, inside)
            outside = np.where(within, outside, middle)
        return outside[:, 0]

    return _cut(curves, crossing(arena.src, 0, 0.5), crossing(arena.dst, 1, 0.5))


def _cut(curves: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The parts of cubic curves between two parameters, as cubic curves."""
    ends = np.stack([start, stop])[..., None, None]

    def blossom(*which):
        points = curves
        for t in ends[list(which)]:
            points = (1 - t) * points[..., :-1, :] + t * points[..., 1:, :]
        return points

    parts = [blossom(0, 0, 0), blossom(0, 0, 1), blossom(0, 1, 1), blossom(1, 1, 1)]
    return np.concatenate(parts, axis=-2)


def _bezier(curves: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Points `[..., n, 2]` of cubic curves `[..., 4, 2]` at `t` `[n]` or `[..., n]`."""
    t = t[..., None]
    a, b, c, d = (curves[..., None, k, :] for k in range(4))
    s = 1 - t
    return s**3 * a + 3 * s**2 * t * b + 3 * s * t**2 * c + t**3 * d


# ---- charts of large games --------------------------------------------------


def _charts(game: _Game) -> Picture:
    """Two columns of bar charts, each put under the shorter column."""
    picture = Picture(game.title)
    vertices, ones = game.arena.shape[0], np.count_nonzero(game.arena.owner)
    owners = f"player 0 owns {vertices - ones:,}, player 1 owns {ones:,}"
    picture.words((0, 0), game.title, size=14, anchor="start", weight="bold")
    picture.words((0, 18), owners, anchor="start", color=_FAINT)
    bottom = [44.0, 44.0]
    charts = [
        _priority_chart if game.arena.priority is not None else None,
        _region_chart if game.winner is not None else None,
        functools.partial(_degree_chart, way="out"),
        functools.partial(_degree_chart, way="in"),
        _component_chart,
    ]
    for chart in filter(None, charts):
        column = int(bottom[1] < bottom[0])
        bottom[column] = chart(picture, column * 430, bottom[column], game) + 22
    return picture


def _priority_chart(picture: Picture, x: float, y: float, game: _Game) -> float:
    labels, counts = _histogram(game.arena.priority, game.winner)
    return _chart(picture, x, y, "Vertices by priority", labels, counts)


def _region_chart(picture: Picture, x: float, y: float, game: _Game) -> float:
    sizes = np.diag([np.count_nonzero(game.winner == player) for player in _PLAYERS])
    rows = 3 if sizes[2, 2] else 2
    return _chart(picture, x, y, "Winning regions", _REGIONS[:rows], sizes[:rows])


def _degree_chart(picture: Picture, x: float, y: float, game: _Game, way: str) -> float:
    arena = game.arena
    degrees = np.diff(arena.row_ptr)
    if way == "in":
        degrees = np.bincount(arena.dst, minlength=arena.shape[0])
    labels, counts = _histogram(degrees, game.winner, doubling=True)
    return _chart(picture, x, y, f"Vertices by {way}-degree", labels, counts)


def _component_chart(picture: Picture, x: float, y: float, game: _Game) -> float:
    from scipy.sparse import csgraph, csr_array

    arena = game.arena
    ones = np.ones(arena.shape[1], np.int8)
    graph = csr_array((ones, arena.dst, arena.row_ptr), (arena.shape[0],) * 2)
    count, component = csgraph.connected_components(graph, connection="strong")
    labels, counts = _histogram(np.bincount(component), None, doubling=True)
    title = f"Strongly connected components by size ({count:,} in all)"
    return _chart(picture, x, y, title, labels, counts)


def _chart(picture: Picture, x, y, title: str, labels, counts) -> float:
    """Draws horizontal bars, stacked by winner; returns the lower end."""
    picture.words((x, y), title, anchor="start", weight="bold")
    numbers = [f"{count:,}" for count in counts.sum(1)]
    left = x + 8 + max(_text_width(label, _FONT) for label in labels)
    right = x + 395 - max(_text_width(number, _FONT) for number in numbers)
    scale = (right - left) / max(1, counts.sum(1).max())
    for label, number, row in zip(labels, numbers, counts, strict=True):
        y += 18
        picture.words((left - 8, y), label, anchor="end")
        end = left
        for player, count in zip(_PLAYERS, row, strict=True):
            if count:
                width = max(scale * count, 1.0)  # few among millions are seen still
                picture.box((end, y - 6.5), (width, 13), fill=_BAR[player])
                end += width
        picture.words((end + 5, y), number, anchor="start", color=_FAINT)
    return y + 18


def _histogram(
    values: np.ndarray, winner: np.ndarray | None, *, doubling: bool = False
) -> tuple[list[str], np.ndarray]:
    """Row labels, and counts `[rows, 3]` by winner: 0, 1, undecided or unknown.

    Each value has a row, or, where there are more than 16, each range of values:
    ranges of one length, or of doubling lengths.
    """
    low, high = 0 if doubling else int(values.min()), int(values.max())
    # Few counters make counting fast; doubling ranges need the small values exactly.
    shift = max(0, (high - low).bit_length() - (24 if doubling else 16))
    unit, size = 1 << shift, (high - low >> shift) + 1
    cell = values - low >> shift
    cell = 3 * cell + (2 if winner is None else winner % 3)
    counts = np.bincount(cell, minlength=3 * size).reshape(size, 3)

    starts = np.flatnonzero(counts.any(1))
    stops = starts + 1
    if len(starts) > 16:
        if doubling:  # 0, 1, 2, 3-4, 5-8, ...
            starts = np.array([0, 1, *(2 ** np.arange(24) + 1)])
        else:
            steps = (m * 10**k for k in itertools.count() for m in (1, 2, 5))
            starts = np.arange(0, size, next(s for s in steps if 16 * s >= size))
        starts = starts[starts < size]
        stops = np.append(starts[1:], size)
    counts = np.add.reduceat(counts, starts)
    labels = [
        f"{first:,}" if first == last else f"{first:,}–{last:,}"
        for first, last in zip(
            low + starts * unit, np.minimum(low + stops * unit - 1, high), strict=True
        )
    ]
    kept = np.flatnonzero(counts.any(1))
    return [labels[row] for row in kept], counts[kept]


def _facts(game: _Game) -> dict[str, str]:
    """What the table of a large game says."""
    arena, (vertices, edges) = game.arena, game.arena.shape
    degrees = np.diff(arena.row_ptr)
    ones = np.count_nonzero(arena.owner)
    facts = {
        "Vertices": f"{vertices:,}",
        "Edges": f"{edges:,}",
        "Owned by player 0": f"{vertices - ones:,}",
        "Owned by player 1": f"{ones:,}",
        "Out-degree": f"{degrees.min():,} to {degrees.max():,}, "
        f"on average {edges / vertices:.2f}",
    }
    for name in ("priority", "edge_priority", "weight"):
        values = getattr(arena, name)
        if values is not None:
            title = name.replace("_", " ").capitalize()
            facts[title] = f"{values.min():,} to {values.max():,}"
    if arena.accepting is not None:
        facts["Accepting"] = f"{np.count_nonzero(arena.accepting):,}"
    if game.winner is not None:
        for player, name in zip(_PLAYERS, _REGIONS, strict=True):
            facts[name.capitalize()] = f"{np.count_nonzero(game.winner == player):,}"
    return facts

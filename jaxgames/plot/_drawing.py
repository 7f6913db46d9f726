"""Drawings of small games, vertex by vertex."""

from collections.abc import Callable

import numpy as np

from jaxgames.arena import Arena
from jaxgames.plot._game import FILL, LINE, PLAYERS, REGIONS, Game
from jaxgames.plot._geometry import bezier, cut, distances, in_rectangles
from jaxgames.plot._layout import place_vertices, route_edges
from jaxgames.plot._page import FAINT, FONT, INK, SMALL, Picture, text_width
from jaxgames.solution import UNDECIDED


def drawing(game: Game) -> Picture:
    arena = game.arena
    insides, labels = game.insides(), game.edge_labels()
    names = [shorten(game.name(v)) for v in range(arena.shape[0])]
    picture = Picture(game.title)

    half = _half_sizes(arena, insides)
    at = place_vertices(arena, half, names, labels)
    curves = route_edges(arena, at, half)

    for e in np.argsort(game.chosen, kind="stable"):
        chosen, label = bool(game.chosen[e]), labels[e]
        draw_arrow(
            picture,
            curves[e],
            game.edge_color(e),
            chosen,
            kind="edge strategy" if chosen else "edge",
            tip=f"{arena.src[e]} → {arena.dst[e]}{': ' if label else ''}{label}",
        )
    for v, inside in enumerate(insides):
        _draw_vertex(picture, game, v, at[v], half[v], inside)
    clutter = _Clutter(at, half, bezier(curves, np.linspace(0, 1, 40)).reshape(-1, 2))
    for v, name in enumerate(names):
        if name:
            size = np.array([text_width(name, SMALL), SMALL])
            sides = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])
            spot = clutter.clear_spot(at[v] + sides * (half[v] + size / 2 + 4), size)
            picture.words(spot, name, size=SMALL, halo=True)
    for curve, label in zip(curves, labels, strict=True):
        if label:
            size = np.array([text_width(label, SMALL), SMALL])
            spots = bezier(curve, np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74]))
            spot = clutter.clear_spot(spots, size)
            picture.words(spot, label, size=SMALL, color=FAINT, halo=True)
    _draw_legend(picture, game)
    return picture


def shorten(name: str) -> str:
    name = name.replace("\n", " ")
    return name if len(name) <= 20 else name[:19] + "…"


def _half_sizes(arena: Arena, insides: list[str]) -> np.ndarray:
    """Half widths and heights `[V, 2]` of the shapes, wide enough for their text."""
    text = np.array([text_width(inside, FONT) / 2 for inside in insides])
    width = np.where(
        arena.owner, np.maximum(12, text + 4), np.maximum(16, (text + 2) / 0.7)
    )
    half = np.stack([width, np.where(arena.owner, 12, 16)], 1)
    return half if arena.accepting is None else half + 3 * arena.accepting[:, None]


def _draw_vertex(picture: Picture, game: Game, v: int, at, half, inside: str) -> None:
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
        facts.append(REGIONS[winner])
    shape = _corners(arena.owner[v])
    if accepting:
        picture.polygon(at + half * shape, fill="white", line=LINE[winner])
        half = half - 3
    picture.polygon(
        at + half * shape,
        kind=f"vertex {'box' if arena.owner[v] else 'diamond'}",
        fill=FILL[winner],
        line=LINE[winner],
        width=1.2,
        tip=", ".join(facts),
    )
    picture.words(at, inside)


def _corners(player) -> np.ndarray:
    """Corners of a player's shape, of half width and height one."""
    if player:
        return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])


def draw_arrow(picture: Picture, curve, color: str, bold: bool, **style) -> None:
    """Draws a curve up to a head whose tip is its end."""
    length = 8.5 if bold else 6.5
    times = np.linspace(0.3, 1, 60)
    points = bezier(curve, times)
    back = np.abs(distances(points, curve[3:])[:, 0] - length).argmin()
    along = curve[3] - points[back]
    across = 0.4 * np.array([-along[1], along[0]])
    shaft = cut(curve, np.array(0.0), times[back])
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
        crossed = in_rectangles(
            self.points, spots, np.broadcast_to(size / 2, spots.shape)
        )
        spot = spots[(10 * covered + crossed.sum(0)).argmin()]
        self.at = np.vstack([self.at, spot])
        self.half = np.vstack([self.half, size / 2])
        return spot


def _draw_legend(picture: Picture, game: Game) -> None:
    arena = game.arena
    plain = {"fill": "white", "line": LINE[UNDECIDED]}

    def shape(*layers, **style):
        def symbol(at):
            for player, scale in layers:
                picture.polygon(at + scale * _corners(player), **style)

        return symbol

    def swatch(player):
        style = {"fill": FILL[player], "line": LINE[player]}
        return lambda at: picture.box(at - (8, 5), (16, 10), **style)

    def arrow(at):
        line = np.linspace(at - (8, 0), at + (8, 0), 4)
        draw_arrow(picture, line, INK, bold=True)

    entries: list[tuple[str, Callable | None]] = [
        ("player 0", shape((0, 7), **plain)),
        ("player 1", shape((1, 5.5), **plain)),
    ]
    if game.winner is not None:
        for player, text in zip(PLAYERS, REGIONS, strict=True):
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
        width = room + text_width(text, SMALL)
        if x > left and x + width > max(right, left + 460):
            x, y = left, y + 18
        if symbol is not None:
            symbol(np.array([x + 8, y]))
        picture.words((x + room, y), text, size=SMALL, anchor="start")
        x += width + 14

"""Charts of large games, and a table of what is in them."""

import functools
import itertools

import numpy as np

from jaxgames.plot._game import PLAYERS, REGIONS, Game
from jaxgames.plot._page import FAINT, FONT, Picture, text_width
from jaxgames.solution import UNDECIDED

_BAR = {0: "#4f94cd", 1: "#ee9b4d", UNDECIDED: "#b4b4b4"}


def charts(game: Game) -> Picture:
    """Two columns of bar charts, each put under the shorter column."""
    picture = Picture(game.title)
    vertices, ones = game.arena.shape[0], np.count_nonzero(game.arena.owner)
    owners = f"player 0 owns {vertices - ones:,}, player 1 owns {ones:,}"
    picture.words((0, 0), game.title, size=14, anchor="start", weight="bold")
    picture.words((0, 18), owners, anchor="start", color=FAINT)
    bottom = [44.0, 44.0]
    shown = [
        _priority_chart if game.arena.priority is not None else None,
        _region_chart if game.winner is not None else None,
        functools.partial(_degree_chart, way="out"),
        functools.partial(_degree_chart, way="in"),
        _component_chart,
    ]
    for chart in filter(None, shown):
        column = int(bottom[1] < bottom[0])
        bottom[column] = chart(picture, column * 430, bottom[column], game) + 22
    return picture


def summary(game: Game) -> str:
    """A table of facts and one chart beside it, as HTML."""
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


def _priority_chart(picture: Picture, x: float, y: float, game: Game) -> float:
    labels, counts = _histogram(game.arena.priority, game.winner)
    return _chart(picture, x, y, "Vertices by priority", labels, counts)


def _region_chart(picture: Picture, x: float, y: float, game: Game) -> float:
    sizes = np.diag([np.count_nonzero(game.winner == player) for player in PLAYERS])
    rows = 3 if sizes[2, 2] else 2
    return _chart(picture, x, y, "Winning regions", REGIONS[:rows], sizes[:rows])


def _degree_chart(picture: Picture, x: float, y: float, game: Game, way: str) -> float:
    arena = game.arena
    degrees = np.diff(arena.row_ptr)
    if way == "in":
        degrees = np.bincount(arena.dst, minlength=arena.shape[0])
    labels, counts = _histogram(degrees, game.winner, doubling=True)
    return _chart(picture, x, y, f"Vertices by {way}-degree", labels, counts)


def _component_chart(picture: Picture, x: float, y: float, game: Game) -> float:
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
    left = x + 8 + max(text_width(label, FONT) for label in labels)
    right = x + 395 - max(text_width(number, FONT) for number in numbers)
    scale = (right - left) / max(1, counts.sum(1).max())
    for label, number, row in zip(labels, numbers, counts, strict=True):
        y += 18
        picture.words((left - 8, y), label, anchor="end")
        end = left
        for player, count in zip(PLAYERS, row, strict=True):
            if count:
                width = max(scale * count, 1.0)  # few among millions are seen still
                picture.box((end, y - 6.5), (width, 13), fill=_BAR[player])
                end += width
        picture.words((end + 5, y), number, anchor="start", color=FAINT)
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


def _facts(game: Game) -> dict[str, str]:
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
        for player, name in zip(PLAYERS, REGIONS, strict=True):
            facts[name.capitalize()] = f"{np.count_nonzero(game.winner == player):,}"
    return facts

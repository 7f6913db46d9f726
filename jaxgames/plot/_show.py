"""Pictures of games of any size: drawings of small ones, charts of large ones."""

import html
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames.arena import Arena, is_traced
from jaxgames.plot._charts import charts, summary
from jaxgames.plot._drawing import drawing
from jaxgames.plot._game import is_drawn, read_game
from jaxgames.plot._page import Picture, check_suffix


def draw(
    arena: Arena,
    solution: Any = None,
    path: str | os.PathLike | None = None,
    *,
    names: Sequence[str | None] | None = None,
) -> Picture:
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

    Examples:
        >>> arena = Arena.from_edges([0, 1], [1, 1], owner=[0, 1], priority=[3, 2])
        >>> draw(arena)
        Picture('2 vertices, 2 edges')
    """
    if path is not None:
        check_suffix(path)
    game = read_game(arena, solution, names)
    picture = drawing(game) if is_drawn(game.arena) else charts(game)
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
    game = read_game(arena, solution, None)
    if is_drawn(game.arena):
        return drawing(game).to_svg()
    return summary(game)

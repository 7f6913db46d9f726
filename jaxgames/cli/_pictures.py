"""Pictures of what a command found of a game: `--draw` and `--dot`."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames import plot
from jaxgames.arena import Arena
from jaxgames.cli import _outputs
from jaxgames.io._files import write_text
from jaxgames.quoting import quoted
from jaxgames.solution import UNDECIDED


class Found(NamedTuple):
    """What a picture shows of a solution.

    Attributes:
        winner: `[V]`: 0, 1, or -1 where nobody is known to win.
        strategy: `[V]`: the edges that strategies take, -1 for none; or None.
    """

    winner: Any
    strategy: Any = None

    @classmethod
    def of_values(cls, least: Any, most: Any, strategy: Any) -> "Found":
        """Player 0 wins where the value is not negative, if he is to keep it so.

        Args:
            least: `[V]`: a lower bound of each value, or a number of its sign.
            most: `[V]`: an upper bound, likewise.
            strategy: `[V]`: as above.
        """
        winner = np.where(np.asarray(least) >= 0, 0, UNDECIDED)
        return cls(np.where(np.asarray(most) < 0, 1, winner), strategy)


def add(parser: argparse.ArgumentParser) -> None:
    """The files of the pictures."""
    parser.add_argument("--dot", metavar="DOT", help="write the game for Graphviz")
    parser.add_argument(
        "--draw", metavar="PICTURE", help="draw the game: .svg, .png or .pdf"
    )


def check(args: argparse.Namespace) -> None:
    """Finds out before a long solve that a file could not be written."""
    if args.draw and not args.draw.lower().endswith(plot.SUFFIXES):
        raise ValueError(
            f"--draw takes a .svg, .png or .pdf file, got {quoted(args.draw)}"
        )
    _outputs.check(args, output=args.output, dot=args.dot, draw=args.draw)


def write(
    args: argparse.Namespace,
    arena: Arena,
    solution: Any,
    names: Callable[[], Sequence[str | None] | None] = lambda: None,
) -> None:
    """Writes the pictures that were asked for; the solution is as `Found`."""
    if args.dot:
        write_text(args.dot, plot.to_dot(arena, solution, names=names()))
    if args.draw:
        # A large game is drawn as charts, which show no names.
        shown = names() if plot.is_drawn(arena) else None
        plot.draw(arena, solution, args.draw, names=shown)

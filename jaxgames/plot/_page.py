"""A page of lines, shapes and words, written as SVG or painted by matplotlib."""

import dataclasses
import html
import io
import os
import pathlib

import numpy as np

from jaxgames.io._files import writing

SUFFIXES = (".svg", ".png", ".pdf")
"""What the name of a picture's file may end with."""

INK = "#222222"
FAINT = "#6b6b6b"

FONT = 11.0
SMALL = 9.0


class Picture:
    """Lines, shapes and words at places on a page, in points, y downwards.

    A notebook shows it. `str` gives its title.
    """

    def __init__(self, title: str):
        self.title = title
        self._marks: list[_Outline | _Words] = []

    def __repr__(self) -> str:
        return f"Picture({self.title!r})"

    def _repr_svg_(self) -> str:
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
        suffix = check_suffix(path)
        data = self.to_svg().encode() if suffix == ".svg" else self._paint(suffix[1:])
        with writing(path) as file:
            file.write(data)

    def _paint(self, kind: str) -> bytes:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError(
                f"a {kind} picture is painted by matplotlib, which is not installed: "
                '"pip install matplotlib", or save as .svg, which needs nothing'
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
    size: float = FONT
    anchor: str = "middle"
    color: str = INK
    weight: str = "normal"
    halo: bool = False

    def corners(self):
        width = text_width(self.text, self.size)
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


def text_width(text: str, size: float) -> float:
    """An upper estimate: digits are 0.56 to 0.64 of the size wide in usual fonts."""
    return 0.62 * size * len(text)


def check_suffix(path) -> str:
    """The suffix of a picture's file, in lower case."""
    suffix = pathlib.Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"path must end with .svg, .png or .pdf, got {str(path)!r}")
    return suffix

"""Lassos: a way in rows that ends in a ring."""

import os
from typing import TYPE_CHECKING

import numpy as np

from jaxgames.plot._dot import dot_string
from jaxgames.plot._drawing import draw_arrow, shorten
from jaxgames.plot._game import FILL, LINE, printable
from jaxgames.plot._page import FAINT, SMALL, Picture, check_suffix, text_width
from jaxgames.solution import UNDECIDED

if TYPE_CHECKING:
    from jaxgames.buchi import Step, Trace

MAX_DRAWN_STEPS = 32
"""Of a longer prefix or cycle the first and the last steps are drawn."""

STEPS_IN_ROW = 8
"""Of a prefix."""

_FILL = FILL[0]
_LINE = LINE[0]
_PLAIN = LINE[UNDECIDED]


def lasso_to_dot(trace: "Trace") -> str:
    r"""Writes a lasso as Graphviz text, for `dot` and its kin.

    Step `i` of the run is the node `s<i>`; it shows its number, its name and the
    propositions that hold. Accepting steps have a double border, and the cycle has bold
    arrows.

    Args:
        trace: the lasso, of any length, with what is known of its vertices.

    Examples:
        >>> from jaxgames import buchi
        >>> graph = [0, 1, 2], [1, 1]
        >>> found = buchi.accepting_cycle(graph, accepting=[1])
        >>> print(lasso_to_dot(buchi.Trace.of(found.lasso)))
        digraph lasso {
          rankdir=LR;
          node [fontname="Helvetica", shape=box, style="rounded"];
          edge [fontname="Helvetica", color="#6b6b6b"];
          s0 [label="0"];
          s1 [label="1"];
          s0 -> s1;
          s1 -> s1 [color="#10609f", penwidth=2.5];
        }
        <BLANKLINE>
    """
    steps, before = list(trace), len(trace.prefix)
    lines = [
        "digraph lasso {",
        "  rankdir=LR;",
        '  node [fontname="Helvetica", shape=box, style="rounded"];',
        f'  edge [fontname="Helvetica", color="{_PLAIN}"];',
    ]
    for i, step in enumerate(steps):
        lines_of = (str(step.number), printable(step.name), printable(step.holds))
        label = "\n".join(filter(None, lines_of))
        more = ", peripheries=2" if step.accepting else ""
        lines.append(f"  s{i} [label={dot_string(label)}{more}];")
    for i in range(len(steps)):
        following = i + 1 if i + 1 < len(steps) else before
        bold = f' [color="{_LINE}", penwidth=2.5]' if i >= before else ""
        lines.append(f"  s{i} -> s{following}{bold};")
    return "\n".join([*lines, "}", ""])


def draw_lasso(trace: "Trace", path: str | os.PathLike | None = None) -> Picture:
    """Draws a lasso, and saves the picture where a path is given.

    The prefix goes in rows, there and back, the cycle round. In a circle stands the
    number of the state, beside it its name, or the propositions that hold if that is
    long or missing; accepting steps have a double border. Of a prefix or cycle of more
    than 32 steps the first and the last are drawn.

    Args:
        trace: the lasso with what is known of its vertices.
        path: a file to write, `.svg`, `.png` or `.pdf`; the last two take
            matplotlib. It is written whole or not at all.

    Returns:
        The picture, which a notebook shows.

    Raises:
        ValueError: another suffix.
        ImportError: matplotlib is needed and not installed.

    Examples:
        >>> from jaxgames import buchi
        >>> found = buchi.accepting_cycle(([0, 1, 2], [1, 1]), accepting=[1])
        >>> draw_lasso(buchi.Trace.of(found.lasso))
        Picture('a lasso of 1 + 1 steps')
    """
    if path is not None:
        check_suffix(path)
    title = f"a lasso of {len(trace.prefix):,} + {len(trace.cycle):,} steps"
    picture = _drawing(trace, Picture(title))
    if path is not None:
        picture.save(path)
    return picture


def _drawing(trace: "Trace", picture: Picture) -> Picture:
    prefix, cycle = trace.parts(MAX_DRAWN_STEPS)
    steps = [*prefix, *cycle]
    texts = ["" if step is None else _beside(step) for step in steps]
    reach = 10 + max(
        text_width(str(step.number), SMALL) / 2 for step in steps if step is not None
    )
    widest = max((text_width(text, SMALL) for text in texts), default=0)
    gap = max(2 * reach + 34, widest + 12)
    # The corners of a regular polygon whose sides are as long as a step of the prefix.
    count = len(cycle)
    radius = 0.0 if count == 1 else gap / 2 / np.sin(np.pi / count)
    angles = np.pi + 2 * np.pi * np.arange(count) / count
    ring = radius * np.stack([np.cos(angles), np.sin(angles)], 1)
    # Rows one below the other, there and back; the last one leads to the cycle.
    row, column = np.divmod(np.arange(len(prefix))[::-1], STEPS_IN_ROW)
    column = np.where(row % 2, STEPS_IN_ROW - 1 - column, column)
    height = 2 * reach + 44
    line = np.stack([-radius - gap * (1 + column), -height * row], 1)
    at = np.concatenate([line, ring])
    before = len(prefix)
    for i in range(len(steps)):
        following = i + 1 if i + 1 < len(steps) else before
        _arrow(picture, at[i], at[following], reach, bold=i >= before, ring=at[before:])
    for i, (step, text) in enumerate(zip(steps, texts, strict=True)):
        if step is None:
            picture.words(at[i], "…", size=2 * SMALL)
            continue
        on_cycle = i >= before
        circle = _circle(reach)
        style = {"line": _LINE if on_cycle else _PLAIN, "fill": "white"}
        if on_cycle:
            style["fill"] = _FILL
        if step.accepting:
            picture.polygon(at[i] + (reach + 3) / reach * circle, **style)
        tip = ", ".join(filter(None, [f"vertex {step.vertex}", step.name, step.holds]))
        picture.polygon(
            at[i] + circle,
            kind="step cycle" if on_cycle else "step",
            width=1.2,
            tip=tip + (", accepting" if step.accepting else ""),
            **style,
        )
        picture.words(at[i], str(step.number), size=SMALL)
        if text:
            aside = np.array([0.0, 1.0])
            if on_cycle and count > 2:  # away from the ring, but for the way to it
                aside = (at[i] - ring.mean(0)) / radius * (-1 if i == before else 1)
            room = (reach + 6 + text_width(text, SMALL) / 2, reach + 12)
            spot = at[i] + aside * room
            picture.words(spot, text, size=SMALL, color=FAINT, halo=True)
    return picture


def _arrow(picture: Picture, tail, head, reach: float, *, bold: bool, ring) -> None:
    color = _LINE if bold else _PLAIN
    if np.allclose(tail, head):  # a cycle of one step
        corners = [(0.5, -0.9), (2.6, -3.4), (2.6, 3.4), (0.5, 0.9)]
        curve = tail + (reach + 3) * np.array(corners)
    else:
        along = (head - tail) / np.hypot(*(head - tail))
        across = np.array([-along[1], along[0]])
        bend = 0.2 * reach if bold and len(ring) == 2 else 0.0
        ends = tail + (reach + 4) * along, head - (reach + 4) * along
        curve = np.linspace(*ends, 4)
        curve[1:3] -= 3 * bend * across  # there and back apart
    draw_arrow(picture, curve, color, bold, kind="edge cycle" if bold else "edge")


def _circle(radius: float) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    return radius * np.stack([np.cos(angles), np.sin(angles)], 1)


def _beside(step: "Step") -> str:
    name, holds = printable(step.name), printable(step.holds)
    return name if name and name == shorten(name) else shorten(holds or name)

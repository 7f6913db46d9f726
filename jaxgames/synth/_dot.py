"""Drawings of machines."""

from collections.abc import Iterable


def to_dot(rows: Iterable[tuple[int, int, str]]) -> str:
    """The text of a drawing.

    Args:
        rows: from which state, to which, and what is read and written on the way.
    """
    labels: dict[tuple[int, int], list[str]] = {}
    for q, r, text in rows:
        labels.setdefault((q, r), []).append(text)
    lines = [
        "digraph {",
        "  rankdir=LR; node [shape=circle];",
        '  start [shape=point, label=""]; start -> 0;',
    ]
    for (q, r), texts in labels.items():
        text = "\\n".join(x.replace("\\", "\\\\").replace('"', '\\"') for x in texts)
        lines.append(f'  {q} -> {r} [label="{text}"];')
    return "\n".join([*lines, "}", ""])

"""Drawings of controllers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxgames.synth._controller import Controller


def to_dot(controller: "Controller") -> str:
    """The text of a drawing."""
    labels: dict[tuple[int, int], list[str]] = {}
    for q in range(controller.num_states):
        for must, never, action in controller.paths(q):
            read = _words(must, never, controller.reads)
            output = int(controller.output[action])
            every = (1 << len(controller.writes)) - 1
            written = _words(output, every & ~output, controller.writes)
            ends = q, int(controller.successor[action])
            labels.setdefault(ends, []).append(f"{read} / {written}")
    lines = [
        "digraph {",
        "  rankdir=LR; node [shape=circle];",
        '  start [shape=point, label=""]; start -> 0;',
    ]
    for (q, r), texts in labels.items():
        text = "\\n".join(x.replace("\\", "\\\\").replace('"', '\\"') for x in texts)
        lines.append(f'  {q} -> {r} [label="{text}"];')
    return "\n".join([*lines, "}", ""])


def _words(must: int, never: int, names: tuple[str, ...]) -> str:
    words = [
        name if must >> i & 1 else f"!{name}"
        for i, name in enumerate(names)
        if (must | never) >> i & 1
    ]
    return " & ".join(words) or "true"

"""Games as Graphviz text."""

from collections.abc import Sequence
from typing import Any

from jaxgames.arena import Arena
from jaxgames.plot._game import FILL, LINE, read_game


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

    Examples:
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
    game = read_game(arena, solution, names)
    lines = [
        "digraph game {",
        '  node [fontname="Helvetica", style="filled", fillcolor="#ffffff"];',
        '  edge [fontname="Helvetica", color="#6b6b6b"];',
    ]
    for v, inside in enumerate(game.insides()):
        name = game.name(v)
        label = f"{name}\n{inside}" if name else inside
        facts = [f"shape={'box' if game.arena.owner[v] else 'diamond'}"]
        facts.append(f"label={dot_string(label)}")
        if game.winner is not None:
            winner = int(game.winner[v])
            facts.append(f'color="{LINE[winner]}", fillcolor="{FILL[winner]}"')
        if game.arena.accepting is not None and game.arena.accepting[v]:
            facts.append("peripheries=2")
        lines.append(f"  v{v} [{', '.join(facts)}];")
    for e, label in enumerate(game.edge_labels()):
        facts = [f"label={dot_string(label)}"] if label else []
        if game.chosen[e]:
            facts.append(f'color="{game.edge_color(e)}", penwidth=2.5')
        tail = f" [{', '.join(facts)}]" if facts else ""
        lines.append(f"  v{game.arena.src[e]} -> v{game.arena.dst[e]}{tail};")
    return "\n".join([*lines, "}", ""])


def dot_string(text: str) -> str:
    # Graphviz reads both backslash escapes and HTML entities inside strings.
    for old, new in (("&", "&amp;"), ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        text = text.replace(old, new)
    return f'"{text}"'

"""How many bytes a round over the links of a graph or a model must move at the least.

Counted as in `traffic.py`: for each cell of the layout the index of what it points at
and the value that is found there, for each row the state read and written once. Jumps
read and write a value for each row as well. A number is for the whole graph: where a
solver goes on with what is left of it, later rounds move less.
"""

import math
from collections.abc import Mapping
from typing import Any

from benchmarks.traffic import INDEX
from jaxgames import Arena, ops
from jaxgames.graph import _links
from jaxgames.mdp import MDP, _layout

WORD = 4
"""Bytes of a signature, or of the name of a region with its marks."""

SWEEPS = {
    # Both signatures read and written; pulled from where they point; pushed there.
    "max_id": 2 * (2 * WORD) + 2 * WORD + 3 * (2 * WORD),
    # The word and the root read and written.
    "fb_trim": 2 * (2 * WORD),
}
"""Bytes for each vertex in a sweep of a solver; each cell is a word gathered."""


def bytes_per_sweep(graph: Any, solution: Any) -> int | None:
    """Bytes that a sweep over a graph in both directions moves.

    Args:
        graph: an arena, or the links of a graph.
        solution: tells the solver.

    Returns:
        The number, or None where sweeps have no fixed one: of an unknown solver, or
        after compression.
    """
    per_row = SWEEPS.get(solution.stats["solver"])
    if per_row is None or "contractions" in solution.stats:
        return None
    links = _links.prepare(graph) if isinstance(graph, Arena) else graph
    rows = links[0].num_rows
    return ops.num_cells(tuple(links)) * (INDEX + WORD) + rows * per_row


def bytes_per_model_round(model: MDP, solution: Any) -> int | None:
    """Bytes that a round of `interleaved` moves at least, on average over all of them.

    Rounds of removal that read only what is next to the last deaths count as none.

    Args:
        model: the model.
        solution: tells the solver, and its rounds of each kind.

    Returns:
        The number, or None for another solver.
    """
    if solution.stats["solver"] != "interleaved":
        return None
    layout = _layout.prepare(model, graph=True)
    assert layout.graph is not None
    states, choices = len(layout.states), len(layout.owner)
    cells = {
        name: ops.num_cells(getattr(layout, name)) for name in ("branches", "choices")
    }
    # Whether a branch is live, and the signature at its end; then jumps.
    ends = ops.num_cells((layout.graph.into, layout.graph.out))
    spread = ends * (INDEX + WORD + 1) + states * SWEEPS["max_id"]
    # Flags of states, then of choices; fates of states are doubled.
    remove = (cells["branches"] + cells["choices"]) * (INDEX + 1)
    remove += 2 * (states + choices) + states * (3 * WORD + 1)
    near = int(solution.stats["near"])
    far = int(solution.stats["removal"]) - near
    return _average(
        {**solution.stats, "removal": far, "near": near},
        {"propagation": spread, "removal": remove, "near": 0},
    )


def _average(stats: Mapping[str, Any], moved: dict[str, int]) -> int | None:
    rounds = {name: int(stats[name]) for name in moved}
    if not sum(rounds.values()):
        return None
    return math.ceil(
        sum(moved[name] * rounds[name] for name in moved) / sum(rounds.values())
    )

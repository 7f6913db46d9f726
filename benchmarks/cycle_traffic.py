"""How many bytes a round of a search for accepting cycles must move at the least.

Counted as in `traffic.py`: for each cell of the layout the index of what it points at,
the value that is found there, and whether the edge is one; for each row what is read
and written once. A number is for all that is laid out: the parts that may accept.
"""

from typing import Any

from benchmarks.traffic import INDEX
from jaxgames import buchi, ops
from jaxgames.buchi import _device
from jaxgames.buchi._question import Question
from jaxgames.ltl import Kind

WORD = 4
"""Bytes of a rank, or of the number of an edge."""

PER_ROW = {
    # The part, the rank, whether it accepts; what is known, read and written.
    "map": 2 * WORD + 1 + 2 * WORD,
    # What is left, and what is marked, both read and written.
    "owcty": 4,
}

GATHERED = {"map": WORD, "owcty": 1}
"""Bytes of the value that is found at the end of an edge."""


def bytes_per_round(question: Question, solution: Any) -> int | None:
    """Bytes that a sweep over the edges moves, or one over the vertices of a window.

    Args:
        question: the product.
        solution: tells the solver, and what it did.

    Returns:
        The number, or None where rounds have no fixed one.
    """
    solver, stats = solution.stats["solver"], solution.stats
    only_trimmed = solver == "auto" and not int(stats["inner"]) and int(stats["trim"])
    if solver == "trim" or only_trimmed:
        trim, kinds = buchi.Trim(), (Kind.WEAK, Kind.STRONG)
        rows = len(_device.task_of(question, trim, kinds).first)
        _, height = trim.windows(rows)
        # What a vertex watches, read and written; where that leads, what is there.
        return height * (2 * WORD + INDEX + WORD)
    if solver not in PER_ROW:
        return None
    wanted = tuple(kind for kind in Kind if kind != Kind.REJECTING)
    links = _device.task_of(question, buchi.SOLVERS.resolve(solver), wanted).links
    cells = ops.num_cells(links) * (INDEX + GATHERED[solver] + 1)
    return cells + links.num_rows * PER_ROW[solver]

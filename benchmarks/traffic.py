"""How many bytes a round must move at the least, if nothing stays in a cache.

What is counted, for each solver as its file in `jaxgames.parity` describes a round:

- a sweep over the edges reads, for each cell of the layout, the index of a successor
  (4 bytes) and what is gathered there;
- between two sweeps of one round, what changes is written and read again;
- once a round, the state is read and written, and the labels of the vertices are read.

What only some rounds do is counted where most rounds do it. What a compiler adds, such
as results between two kernels, is not counted: it is what a better program could leave
out. A solver that is not in `ROUNDS`, or a round whose length depends on the state, has
no number.
"""

import math
from collections.abc import Callable
from typing import Any

import jax

from jaxgames import ops
from jaxgames.parity._attract import READS_LITTLE_FROM
from jaxgames.solver import Solver

INDEX = 4
"""Bytes of the index of a successor."""


def bytes_per_round(solver: Solver, game: ops.Game) -> int | None:
    """Bytes that a round must read and write.

    Args:
        solver: fitted to the game.
        game: as it lies on the device.

    Returns:
        The number, or None where a round has no fixed one.
    """
    if solver.name not in ROUNDS:
        return None
    # Shapes are enough: nothing is computed.
    state = jax.eval_shape(solver.init, game)
    moved = ROUNDS[solver.name](solver, state, ops.num_cells(game))
    return None if moved is None else moved + _size(game.owner, game.priority)


def _attractor(solver, state, cells: int) -> int:
    """Several sweeps gather the kinds of successors; kind and move change between.

    Of a large game they gather few, and how many depends on the state.
    """
    sweeps, large = solver.sweeps_per_step(None), len(state.kind) >= READS_LITTLE_FROM
    between = (sweeps - 1) * _rewritten(state.kind, state.move)
    return sweeps * _sweep(cells, 0 if large else 1) + between + _rewritten(state)


def _fpi(solver, state, cells: int) -> int:
    """One sweep gathers estimates."""
    del solver
    return _sweep(cells, 1) + _rewritten(state)


def _spm(solver, state, cells: int) -> int | None:
    """One sweep gathers measures; an implicit queue takes another one, of flags."""
    if solver.queue == "explicit":  # rounds are as long as the queue
        return None
    flags = _sweep(cells, 1) if solver.queue == "implicit" else 0
    measure = _width(state.lifting.measure)
    return flags + _sweep(cells, measure) + _rewritten(state.lifting)


def _alternating(solver, state, cells: int) -> int:
    """Each player lifts, and takes a sweep of an attempt at a winning set."""
    sweeps = 2 if solver.exchange else 1
    return sum(
        sweeps * _sweep(cells, _width(side.measure))
        + _rewritten(side.measure, side.won, side.trial)
        for side in state.sides
    )


def _improvement(solver, state, cells: int) -> int:
    """Doublings: a vertex adds what it finds where its pointer leads. Few switch."""
    del cells
    path = (state.pointer, state.value, state.top)
    return solver.doublings_per_step * (_size(path) + _rewritten(path))


def _tangles(solver: Any, state: Any, cells: int) -> int | None:
    """Boxes and what has grown at all edges; the pool's rows of escapes and members."""
    del solver, cells
    return _size((state.box, state.grown, state.plan, state.pool))


ROUNDS: dict[str, Callable[[Any, Any, int], int | None]] = {
    "zielonka": _attractor,
    "promotion": _attractor,
    "fpi": _fpi,
    "spm": _spm,
    "alternating": _alternating,
    "improvement": _improvement,
    "tangles": _tangles,
}
"""Bytes of a round without the labels, from a solver's options, the shapes of its state
and the cells of the layout.
"""


def _sweep(cells: int, gathered: int) -> int:
    return cells * (INDEX + gathered)


def _width(words) -> int:
    """Bytes of one vertex's measure."""
    return sum(word.dtype.itemsize for word in words)


def _rewritten(*arrays) -> int:
    return 2 * _size(arrays)


def _size(*arrays) -> int:
    return sum(math.prod(x.shape) * x.dtype.itemsize for x in jax.tree.leaves(arrays))

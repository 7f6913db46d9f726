"""Solutions of Büchi games are checked by the cycles that strategies allow."""

from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena
from jaxgames.graph import host as graphs
from jaxgames.solution import NO_EDGE


def faults(arena: Arena, winner: Any, strategy: Any) -> list[np.ndarray]:
    """Where each reason for a solution to be wrong holds: bool `[V]` each.

    O(V + E) time. In the order of [`Reason`][jaxgames.buchi.Reason], from `UNDECIDED`
    to `CYCLE_WON_BY_OPPONENT`. Winners and strategies are integers `[V]`.
    """
    validity.checked(arena)
    row_ptr = np.asarray(arena.row_ptr)
    src, dst = np.asarray(arena.src), np.asarray(arena.dst)
    accepting = np.asarray(arena.accepting)
    size = arena.shape[0]
    real = np.arange(size) < int(arena.num_vertices)
    winner, strategy = np.asarray(winner), np.asarray(strategy).astype(np.int64)
    decided = (winner == 0) | (winner == 1)
    wins = decided & (winner == np.asarray(arena.owner))
    moves = strategy != NO_EDGE
    at_home = (row_ptr[:-1] <= strategy) & (strategy < row_ptr[1:])
    edge = np.where(moves & at_home, strategy, 0)
    leaves = np.zeros(size, bool)
    if len(dst):
        leaves = wins & moves & at_home & (winner[dst[edge]] != winner)
    escapes = np.zeros(size, bool)
    crossing = ~wins[src] & (winner[src] != winner[dst])
    escapes[src[crossing]] = True
    local = [
        real & ~decided,
        real & wins & ~moves,
        real & moves & ~at_home,
        real & decided & ~wins & moves,
        real & leaves,
        real & decided & escapes,
    ]

    # What the strategies allow, inside the regions.
    allowed = ~wins[src] | (strategy[src] == np.arange(len(src)))
    allowed &= (winner[src] == winner[dst]) & real[src]
    # Player 0 must meet an accepting vertex on every cycle, player 1 on none.
    without = allowed & (winner[src] == 0) & ~accepting[src] & ~accepting[dst]
    lost = _on_cycle(arena, src, dst, without)
    lost |= _on_cycle(arena, src, dst, allowed & (winner[src] == 1)) & accepting
    return [*local, real & lost]


def _on_cycle(arena: Arena, src, dst, edges: np.ndarray) -> np.ndarray:
    """The vertices on a cycle of some edges: bool `[V]`."""
    _, label = graphs.scc(arena, edges=edges)
    found = np.zeros(arena.shape[0], bool)
    found[src[edges & (label[src] == label[dst]) & (label[src] >= 0)]] = True
    return found

"""Progress measures for a solution that somebody found without them, on the host."""

from typing import NamedTuple, Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph.host import closing
from jaxgames.host import compiled
from jaxgames.later import to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.parity._descent import WORD_BITS
from jaxgames.parity._game import normal_form
from jaxgames.parity._measures import Measures
from jaxgames.parity._solution import Solution
from jaxgames.parity._verify import verify


@limited()
def certificate(
    arena: Arena,
    solution: Solution,
    **bounds: Unpack[Bounds],
) -> Measures:
    """Measures that prove a right solution of a parity game, in one pass.

    A measure has a digit for each priority of the other player: how many edges of it a
    play can still take, within the winner's strategy, before something more important.
    That is the heaviest path between strongly connected components, so that nothing is
    iterated: O(d (V + E)) time for d distinct priorities, on the host. Each digit takes
    as many bits as its largest value.

    Args:
        arena: the game, with priorities on vertices or on edges.
        solution: winners and strategies, from whichever solver.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        What `verify(arena, solution, "measures")` reads from `solution.measures`.

    Raises:
        ValueError: the solution is wrong.

    Examples:
        >>> import dataclasses
        >>> from jaxgames import Arena, parity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[1, 2]
        ... )
        >>> solution = parity.solve(arena, "zielonka")
        >>> measures = parity.certificate(arena, solution)
        >>> measures.words[0, 0] >> 29  # one edge of priority 1 is left from vertex 0
        array([1, 0], dtype=int32)
        >>> proved = dataclasses.replace(solution, measures=measures)
        >>> print(parity.verify(arena, proved, "measures"))
        valid
    """
    verdict = verify(arena, solution, "components")
    if not verdict:
        raise ValueError(f"a wrong solution has no certificate: {verdict}")
    game = normal_form(to_numpy(arena), edge_priorities=True).unpad()
    plays = _plays(game, solution)
    size, length = len(plays.winner), int(plays.priority.max(initial=0)) + 1

    digits = ([], [])
    cut = np.zeros((2, length), np.int32)
    bits = [1, 1]  # the first one is left out: a word of ones only is the top
    for priority in reversed(range(length)):
        player = 1 - priority % 2
        weight = _heaviest_paths(*plays, priority)
        wide = int(weight.max(initial=0)).bit_length()
        if bits[player] % WORD_BITS + wide > WORD_BITS:
            bits[player] += -bits[player] % WORD_BITS
        digits[player].append((bits[player], wide, weight))
        bits[player] += wide
        cut[:, priority] = bits
    words = np.zeros((2, -(-max(bits) // WORD_BITS), arena.shape[0]), np.int32)
    for player in (0, 1):
        for start, wide, weight in digits[player]:
            word, before = divmod(start, WORD_BITS)
            if wide:
                words[player, word, :size] |= weight << (WORD_BITS - before - wide)
    return Measures(words=words, cut=cut)


class _Plays(NamedTuple):
    """The edges that are left when the winners' strategies are fixed, by source."""

    row_ptr: np.ndarray
    head: np.ndarray
    priority: np.ndarray
    winner: np.ndarray


def _plays(arena: Arena, solution: Solution) -> _Plays:
    winner, strategy = (
        np.asarray(x)[: arena.shape[0]] for x in (solution.winner, solution.strategy)
    )
    edge = np.arange(arena.shape[1])
    kept = (winner != arena.owner)[arena.src] | (strategy[arena.src] == edge)
    tail = arena.src[kept]
    return _Plays(
        np.searchsorted(tail, np.arange(arena.shape[0] + 1)),
        arena.dst[kept],
        arena.priority[tail]
        if arena.edge_priority is None
        else arena.edge_priority[kept],
        winner,
    )


@compiled
def _heaviest_paths(row_ptr, head, priority, winner, top):
    """How many edges of priority `top` paths from each vertex have, nothing above it.

    Only where the player wins who does not want that priority. A component is closed
    after all that it leads to, so that paths from there on are known.
    """
    weight = np.zeros(len(winner), np.int32)
    loses, within = np.empty(len(winner), np.bool_), np.empty(len(priority), np.bool_)
    for v in range(len(winner)):
        loses[v] = winner[v] != top % 2
    for e in range(len(priority)):
        within[e] = priority[e] <= top
    component, members, begins = closing(row_ptr, head, loses, within)
    for c in range(len(begins) - 1):
        part = members[begins[c] : begins[c + 1]]
        heaviest = 0
        for u in part:
            for e in range(row_ptr[u], row_ptr[u + 1]):
                if priority[e] <= top and component[head[e]] != c:
                    more = 1 if priority[e] == top else 0
                    heaviest = max(heaviest, weight[head[e]] + more)
        for u in part:
            weight[u] = heaviest
    return weight

"""Value iteration with counters, as published."""

import numpy as np

from jaxgames.energy._solution import TOP
from jaxgames.energy.host._game import Game
from jaxgames.host import compiled


def credits(game: Game, most: int) -> np.ndarray:
    """The least progress measure by Algorithm 1 of [1], from below: int64 `[V]`.

    Credits rise from 0, one vertex at a time; a vertex of player 0 is looked at when no
    edge is content with its credit any more. O(E M) time where no credit is more than
    M, and every vertex that player 1 wins climbs up to M. O(V + E) memory.

    No vertex can need more than `most`; beyond it is TOP.

    References:
        [1] Formisano, Gentilini and Vella, Accelerating energy games solvers on modern
        architectures, IA3 2017, doi:10.1145/3149704.3149771.
    """
    credit, top = np.zeros(len(game.owner), np.int64), most + 1
    _lift_all(game, credit, top)
    return np.where(credit == top, TOP, credit)


@compiled
def _lift_all(game, credit, top):
    """Lifts vertices as long as any asks for it."""
    size = len(credit)
    in_ptr, in_src, in_weight = game.in_ptr, game.in_src, game.in_weight
    # Edges of player 0 that are content with his credit; player 1 needs no number.
    count = np.zeros(size, np.int32)
    queue, waits = np.empty(size, np.int32), np.zeros(size, np.bool_)
    first, length = 0, 0
    for v in range(size):
        best, count[v] = _lifted(game, credit, v, top)
        if best > 0:
            queue[length], waits[v], count[v] = v, True, 0
            length += 1
    while length > 0:
        v = queue[first]
        first = first + 1 if first + 1 < size else 0
        length -= 1
        waits[v] = False
        old = credit[v]
        lifted, count[v] = _lifted(game, credit, v, top)
        credit[v] = lifted
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_src[k]
            if credit[u] >= _asks(lifted, in_weight[k], top):
                continue
            if not game.owner[u]:
                if credit[u] >= _asks(old, in_weight[k], top):
                    count[u] -= 1
                if count[u] > 0:
                    continue
            if not waits[u]:
                place = first + length
                queue[place - size if place >= size else place] = u
                waits[u] = True
                length += 1


@compiled
def _asks(target, weight, top):
    """What an edge asks of its vertex, up to the number that stands for TOP."""
    return top if target == top else min(max(0, target - weight), top)


@compiled
def _lifted(game, credit, v, top):
    """What the edges of a vertex ask for, and how many are content with that."""
    row_ptr, dst, weight = game.row_ptr, game.dst, game.weight
    best, content = 0 if game.owner[v] else top, 0
    for e in range(row_ptr[v], row_ptr[v + 1]):
        asked = _asks(credit[dst[e]], weight[e], top)
        best = max(best, asked) if game.owner[v] else min(best, asked)
    for e in range(row_ptr[v], row_ptr[v + 1]):
        content += _asks(credit[dst[e]], weight[e], top) <= best
    return best, content

"""Weights that tell cycles of no gain apart by the parity of their priorities."""

import numpy as np

from jaxgames.energyparity.host._part import Part
from jaxgames.graph import host as graphs

WORD = 2**62
"""What numbers of 64 bits are surely below."""


def scaled(part: Part) -> tuple[np.ndarray, int]:
    """Weights under which a cycle gains if it did so, or did not lose and is even.

    An edge of weight `w` from a vertex of priority `p` gets `w M + c(p)`: `c(p)` is
    positive for even `p` and negative for odd ones, and larger than what all vertices
    of smaller priorities can add up to on a cycle that passes no vertex twice; and `M`
    is larger than all of it. A cycle stays in one strongly connected component, so
    that each has numbers of its own; edges from one to another weigh nothing.

    Returns:
        The weights, Python's integers where 64 bits do not fit; and the largest of
        their absolute values.
    """
    arena = part.arena
    _, label = graphs.scc(arena)
    priority = np.asarray(arena.priority)
    inside = label[arena.src] == label[arena.dst]
    # Vertices of one component and priority, in the order of both.
    most = int(priority.max(initial=0)) + 1
    pairs, of, count = np.unique(
        label.astype(np.int64) * most + priority,
        return_inverse=True,
        return_counts=True,
    )
    factor = np.empty(len(count), object)
    product = np.ones(int(label.max(initial=-1)) + 1, object)
    for at, (pair, many) in enumerate(zip(pairs.tolist(), count.tolist(), strict=True)):
        factor[at] = product[pair // most]
        product[pair // most] *= many + 1
    sign = np.where(pairs % most % 2 == 0, 1, -1)
    gain, weight = factor * sign, part.weight
    # What is below a product, times at most this, fits where all of it does.
    widest = max(abs(int(weight.max(initial=0))), abs(int(weight.min(initial=0)))) + 1
    if int(product.max(initial=0)) * widest < WORD:
        gain, product = gain.astype(np.int64), product.astype(np.int64)
        weight = weight.astype(np.int64)
    else:
        weight = weight.astype(object)
    gain = gain[of.reshape(-1)]
    weight = weight * product[label[arena.src]] + gain[arena.src]
    weight = np.where(inside, weight, 0)
    return weight, int(np.abs(weight).max(initial=0))

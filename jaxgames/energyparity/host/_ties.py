"""Weights that tell cycles of no gain apart by the parity of their priorities."""

import numpy as np

from jaxgames.energyparity.host._part import Part
from jaxgames.graph import host as graphs


def scaled(part: Part) -> tuple[np.ndarray, int]:
    """Weights under which a cycle gains if it did so, or did not lose and is even.

    An edge of weight `w` from a vertex of priority `p` gets `w M + c(p)`: `c(p)` is
    positive for even `p` and negative for odd ones, and larger than what all vertices
    of smaller priorities can add up to on a cycle that passes no vertex twice; and `M`
    is larger than all of it. A cycle stays in one strongly connected component, so
    that each has numbers of its own; edges from one to another weigh nothing.

    Args:
        part: the game.

    Returns:
        The weights, Python's integers; and the largest of their absolute values.
    """
    arena = part.arena
    _, label = graphs.scc(arena)
    priority = np.asarray(arena.priority)
    inside = label[arena.src] == label[arena.dst]
    # Vertices of one component and priority, in the order of both.
    pairs, of, count = np.unique(
        np.stack([label, priority]), axis=1, return_inverse=True, return_counts=True
    )
    factor = np.empty(len(count), object)
    product = np.ones(int(label.max(initial=-1)) + 1, object)
    for at, (component, many) in enumerate(
        zip(pairs[0].tolist(), count.tolist(), strict=True)
    ):
        factor[at] = product[component]
        product[component] *= many + 1
    sign = np.where(pairs[1] % 2 == 0, 1, -1)
    gain = (factor * sign)[of.reshape(-1)]
    weight = part.weight.astype(object) * product[label[arena.src]] + gain[arena.src]
    weight = np.where(inside, weight, 0)
    return weight, int(np.abs(weight).max(initial=0))

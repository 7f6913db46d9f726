"""The equations of one policy, solved by products with its matrix.

Rounds in place bring on what they know along the order in which they look at states:
how many it takes depends on that order. Products do not depend on it, and about the
square root of the rounds is enough: BiCGSTAB [1].

[1] van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992, doi:10.1137/0913035.
"""

import numpy as np

from jaxgames.host import compiled

LEAST_UNIT, MOST_UNIT = 1e-150, 1e150
"""Between these squares of units are numbers, and not too near to zero."""


@compiled
def product(chain, vector, weight, other, found):
    """What a vector has over what the choices of the policy make of it.

    Args:
        chain: the choices.
        vector: float64 `[n]`.
        weight: float64 `[n]`; 0.0 for states that stay out.
        other: float64 `[n]`.
        found: float64 `[n]`, written to.

    Returns:
        Its weighted product with the other vector, and with itself.
    """
    with_other, with_itself = 0.0, 0.0
    for state in range(len(vector)):
        here = vector[state]
        here -= chain.weight[state, 1] * vector[chain.pair[state, 0]]
        here -= chain.weight[state, 2] * vector[chain.pair[state, 1]]
        for branch in range(chain.more[state], chain.more[state + 1]):
            here -= chain.probs[branch] * vector[chain.target[branch]]
        if weight[state] == 0.0:
            here = 0.0
        found[state] = here
        heavy = here * weight[state]
        with_other += heavy * other[state]
        with_itself += heavy * here
    return with_other, with_itself


@compiled
def missing(chain, value, unit, weight, rest):
    """What a step would change, and the weights that measure it in units.

    Args:
        chain: the choices.
        value: float64 `[n]`.
        unit: float64 `[n]`.
        weight: float64 `[n]`, written to; 0.0 where the unit is nothing, or too large.
        rest: float64 `[n]`, written to; 0.0 there.

    Returns:
        The weighted product of `rest` with itself.
    """
    size = 0.0
    for state in range(len(value)):
        here = unit[state]
        if not LEAST_UNIT < here < MOST_UNIT:
            weight[state] = 0.0
            rest[state] = 0.0
            continue
        weight[state] = 1.0 / (here * here)
        here = chain.weight[state, 0] - value[state]
        here += chain.weight[state, 1] * value[chain.pair[state, 0]]
        here += chain.weight[state, 2] * value[chain.pair[state, 1]]
        for branch in range(chain.more[state], chain.more[state + 1]):
            here += chain.probs[branch] * value[chain.target[branch]]
        rest[state] = here
        size += here * here * weight[state]
    return size


@compiled
def solve(chain, value, unit, goal, most, stop):
    """Goes where rounds of a policy tend to.

    Nothing proves that it gets there, and nothing has to: who calls it looks whether
    rounds change less than before, and certificates look at values. States whose unit
    is nothing stay as they are, and what is more than nothing stays so.

    Args:
        chain: the policy's choices.
        value: float64 `[n]`; written to.
        unit: float64 `[n]`, in which changes are measured; not `value` itself.
        goal: the largest change of a round that is wanted, in units.
        most: pairs of products at most.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        How many pairs of products were made.
    """
    size = len(value)
    weight, rest, found = np.empty(size), np.empty(size), np.zeros(size)
    way_on, rest_on = np.empty(size), np.empty(size)
    rho = missing(chain, value, unit, weight, rest)
    right, way = rest.copy(), rest.copy()
    made, enough = 0, goal * goal
    along, _ = product(chain, way, weight, right, way_on)
    while made < most and stop[0] == 0 and rho != 0.0 and along != 0.0:
        made += 1
        alpha = rho / along
        for state in range(size):
            rest[state] -= alpha * way_on[state]
        with_rest, with_itself = product(chain, rest, weight, rest, rest_on)
        # Where the first half gets there, nothing is left to be divided by.
        omega = with_rest / with_itself if with_itself > 0.0 else 0.0
        new, top = 0.0, 0.0
        for state in range(size):
            here = rest[state]
            found[state] += alpha * way[state] + omega * here
            here -= omega * rest_on[state]
            rest[state] = here
            heavy = here * weight[state]
            new += heavy * right[state]
            heavy *= here
            if not heavy <= top:
                top = heavy
        if not top > enough or omega == 0.0:
            break
        beta = (new / rho) * (alpha / omega)
        rho = new
        for state in range(size):
            way[state] = rest[state] + beta * (way[state] - omega * way_on[state])
        along, _ = product(chain, way, weight, right, way_on)
    for state in range(size):
        old = value[state]
        here = old + found[state]
        if old <= 0.0 or here > 0.0:
            value[state] = here
    return made

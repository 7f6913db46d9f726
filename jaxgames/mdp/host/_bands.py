"""States of an order in bands, so that cores seldom wait for each other.

In a band are parts that do not lead to each other: each is looked at by one core, from
its first state to its last one, while other cores look at other parts. Only bands come
one after the other. There are far fewer of them than depths: where few states are of a
depth, parts are deep.
"""

import numpy as np

from jaxgames.host import linear


@linear
def banded(edges, columns, order, knots, most):
    """Bands of an order, as long as they can be, and their parts.

    A band ends before a state that would make of some parts a larger one than may be.
    O(S + E) time, but for what grows hardly at all [1].

    Args:
        edges: int32 `[S + 1]`, where the branches of each state begin.
        columns: int32, where they lead.
        order: int32 `[S]`, the states, what a state leads to before it; written to: the
            states of a part together, each part in the order that it had.
        knots: int32 `[N, 2]`, ranges of the order, as they come. Each is a band.
        most: states of a part, at most.

    Returns:
        Where bands begin in the order, and where parts do.

    References:
        [1] Tarjan, Efficiency of a good but not linear set union algorithm, J. ACM 22
        (1975), doi:10.1145/321879.321884.
    """
    size = len(order)
    above = np.full(size, -1, np.int32)  # in its part; -1 outside of the band
    many = np.empty(size, np.int32)  # states of a part: of what is above all of it
    seen = np.full(size, -1, np.int32)  # for which state that was looked at last
    bands, parts = np.empty(size, np.int32), np.empty(size, np.int32)
    states = np.empty(size, np.int32)  # a band as it was
    band_count, part_count, first = 0, 0, 0
    for own in range(len(knots) + 1):
        last = knots[own, 0] if own < len(knots) else size
        begin = first
        for place in range(first, last + 1):
            total, top, tops = 1, -1, 0
            if place < last:
                s = order[place]
                for e in range(edges[s], edges[s + 1]):
                    t = columns[e]
                    if above[t] >= 0:
                        while above[t] != t:
                            above[t] = above[above[t]]
                            t = above[t]
                        if seen[t] != s:
                            seen[t] = s
                            total += many[t]
                            tops += 1
                            if top < 0 or many[t] > many[top]:
                                top = t
            if place > begin and (place == last or total > most):
                bands[band_count] = begin
                band_count += 1
                for at in range(begin, place):
                    states[at - begin] = order[at]
                to = begin
                for at in range(place - begin):
                    t = states[at]
                    while above[t] != t:
                        t = above[t]
                    if many[t] > 0:  # its first state: it begins here
                        seen[t] = to
                        parts[part_count] = to
                        part_count += 1
                        to += many[t]
                        many[t] = 0
                    order[seen[t]] = states[at]
                    seen[t] += 1
                for at in range(place - begin):
                    above[states[at]], seen[states[at]] = -1, -1
                begin, total, top, tops = place, 1, -1, 0
            if place < last:
                if top < 0:
                    above[s], many[s] = s, 1
                else:
                    above[s], many[top] = top, total
                    if tops > 1:
                        for e in range(edges[s], edges[s + 1]):
                            t = columns[e]
                            if above[t] >= 0 and t != s:
                                while above[t] != t:
                                    t = above[t]
                                if t != top:
                                    above[t] = top
        if own < len(knots):
            bands[band_count], parts[part_count] = knots[own, 0], knots[own, 0]
            band_count += 1
            part_count += 1
            first = knots[own, 1]
    return order, bands[:band_count].copy(), parts[:part_count].copy()

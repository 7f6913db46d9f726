"""The order in which rounds look at the states of a component."""

import numpy as np

from jaxgames.host import linear


@linear
def ordered(groups, rows, target, component, order, parts):
    """Orders the states of each component by whichever of two orders is better.

    States of large numbers first, as models are numbered as they are explored; or as a
    depth-first search leaves them, so that all that follows a state comes before it but
    for what leads back on the way of the search. That is better which has fewer
    branches that lead to a state that comes later: those alone bring what a round does
    not know yet. O(N + K + B) time.

    Args:
        groups: int32 `[N + 1]`, the choices of each state.
        rows: int32 `[K + 1]`, the branches of each choice.
        target: int32 `[B]`, where these lead.
        component: int32 `[N]`.
        order: int32 `[N]`, the states, those of a component together, large numbers
            first; written to.
        parts: int32 `[P + 1]`, where components begin there.
    """
    size = len(component)
    place = np.full(size, -1, np.int32)  # after the search; -2 while it is on the way
    way = np.empty(size, np.int32)
    branch = np.empty(size, np.int32)  # the next one of each state on the way
    for part in range(len(parts) - 1):
        begin, end = parts[part], parts[part + 1]
        if end - begin < 3:
            continue
        left = 0
        back, found = 0, 0  # branches that lead to what comes later: of both orders
        for at in range(end - 1, begin - 1, -1):
            root = order[at]
            if place[root] != -1:
                continue
            way[0], depth = root, 1
            branch[root] = rows[groups[root]]
            place[root] = -2
            while depth > 0:
                state = way[depth - 1]
                if branch[state] < rows[groups[state + 1]]:
                    to = target[branch[state]]
                    branch[state] += 1
                    if component[to] != part:
                        continue
                    if to <= state:
                        back += 1
                    if place[to] == -2:
                        found += 1
                    elif place[to] == -1:
                        place[to] = -2
                        branch[to] = rows[groups[to]]
                        way[depth] = to
                        depth += 1
                else:
                    depth -= 1
                    place[state] = left
                    left += 1
        if found < back:
            for at in range(begin, end):
                way[at - begin] = order[at]
            for at in range(end - begin):
                order[begin + place[way[at]]] = way[at]

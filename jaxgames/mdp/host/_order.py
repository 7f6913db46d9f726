"""The order in which rounds look at the states of a component."""

import numpy as np

from jaxgames.graph.host import tarjan
from jaxgames.host import compiled, linear
from jaxgames.tuning.mdp import CLEARLY_FEWER, NEARLY_ORDERED


@linear
def by_component(edges, target, stop, room):
    """The vertices of a graph by component, large numbers first.

    Components that others lead to come first.

    Args:
        edges: int32 `[N + 1]`, where the edges of each vertex begin.
        target: int32, where these lead.
        stop: int8 `[1]`; the search gives up soon after it is not 0.
        room: what `room_for` makes.

    Returns:
        How many components there are, -1 if it was stopped; the vertices (int32 `[N]`);
        and where components begin among these (int32 `[P + 1]`).
    """
    size = len(edges) - 1
    count, component, _ = tarjan(edges, target, None, None, stop, room)
    order = np.empty(size, np.int32)
    begins = np.zeros(max(count, 0) + 1, np.int32)
    if count < 0:
        return count, order, begins
    for vertex in range(size):
        begins[component[vertex] + 1] += 1
    for part in range(count):
        begins[part + 1] += begins[part]
    free = begins.copy()
    for back in range(size):
        vertex = size - 1 - back
        part = component[vertex]
        order[free[part]] = vertex
        free[part] += 1
    return count, order, begins


@linear
def belonging(groups, rows, target, order, parts):
    """The component of each state: int32 `[N]`; puts the states of each in order.

    It is given what `ordered` is, and writes to `order`.
    """
    component = np.empty(len(order), np.int32)
    many = 0
    for part in range(len(parts) - 1):
        for place in range(parts[part], parts[part + 1]):
            component[order[place]] = part
        if parts[part + 1] - parts[part] > 2:
            many += 1
    if many > 0:
        large = np.empty(many, np.int32)
        many = 0
        for part in range(len(parts) - 1):
            if parts[part + 1] - parts[part] > 2:
                large[many] = part
                many += 1
        ordered(groups, rows, target, component, order, parts, large)
    return component


@linear
def ordered(groups, rows, target, component, order, parts, large):
    """Orders the states of each component by whichever of three orders is best.

    As a depth-first search leaves them, so that all that follows a state comes before
    it but for what leads back on the way of the search; or what a breadth-first search
    finds last first, so that most branches lead to what comes before where all ways
    between two states are about as long; or by number, large ones first, as models are
    numbered that are explored in breadth. That is best which has the fewest branches
    that lead to a state that comes later: those alone bring what a round does not know
    yet. So rounds hardly depend on how states are numbered. O(N + K + B) time.

    Args:
        groups: int32 `[N + 1]`, the choices of each state.
        rows: int32 `[K + 1]`, the branches of each choice.
        target: int32 `[B]`, where these lead.
        component: int32 `[N]`, strongly connected ones.
        order: int32 `[N]`, the states, those of a component together, large numbers
            first; written to.
        parts: int32 `[P + 1]`, where components begin there.
        large: the components of three states and more.
    """
    size = len(order)
    deep = np.full(size, -1, np.int32)
    wide = np.full(size, -1, np.int32)
    way = np.empty(size, np.int32)
    branch = np.empty(size, np.int32)
    for part in large:
        begin, end = parts[part], parts[part + 1]
        root = order[end - 1]
        back, found = depth_first(
            groups, rows, target, component, root, deep, way, branch
        )
        best = min(back, found)
        later = best
        if best > NEARLY_ORDERED * (end - begin):
            later = breadth_first(groups, rows, target, component, root, wide, way)
        in_breadth = later < CLEARLY_FEWER * best
        if not in_breadth and found >= back:
            continue
        place = wide if in_breadth else deep
        for at in range(begin, end):
            way[at - begin] = order[at]
        for at in range(end - begin):
            order[begin + place[way[at]]] = way[at]


@compiled
def depth_first(groups, rows, target, component, root, place, way, branch):
    """Searches a component, and says how good two orders are.

    Args:
        groups: the choices of each state.
        rows: the branches of each choice.
        target: where these lead.
        component: of each state.
        root: where the search begins.
        place: int32 `[N]`, -1 of the component's states; written to: the order in which
            the search leaves them.
        way: int32 `[N]`, to work in.
        branch: likewise.

    Returns:
        How many branches lead to what comes later or to where they start: by number,
        large ones first; and by place.
    """
    way[0], depth, left = root, 1, 0
    back, found = 0, 0
    branch[root] = rows[groups[root]]
    place[root] = -2  # on the way
    while depth > 0:
        state = way[depth - 1]
        if branch[state] < rows[groups[state + 1]]:
            to = target[branch[state]]
            branch[state] += 1
            if component[to] != component[root]:
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
    return back, found


@compiled
def breadth_first(groups, rows, target, component, root, place, way):
    """Searches a component, and says how good the opposite order is.

    Args:
        groups: the choices of each state.
        rows: the branches of each choice.
        target: where these lead.
        component: of each state.
        root: where the search begins.
        place: int32 `[N]`, -1 of the component's states; written to: how many states
            are found after each.
        way: int32 `[N]`, to work in.

    Returns:
        How many branches lead to what comes later by place, or to where they start.
    """
    way[0], size, back = root, 1, 0
    place[root] = 0
    at = 0
    while at < size:
        state = way[at]
        at += 1
        for branch in range(rows[groups[state]], rows[groups[state + 1]]):
            to = target[branch]
            if component[to] != component[root]:
                continue
            if place[to] == -1:
                place[to] = size
                way[size] = to
                size += 1
            elif place[to] <= place[state]:
                back += 1
    for at in range(size):
        place[way[at]] = size - 1 - at
    return back

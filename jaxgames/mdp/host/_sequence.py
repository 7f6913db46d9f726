"""An order in which what a state leads to comes before it, and sweeps in this order.

In a model that is nearly without cycles most questions are answered by one look at each
state, after those that it leads to. Only strongly connected sets of several states, the
*knots*, are searched, each by itself.
"""

from typing import NamedTuple

import numpy as np

from jaxgames.graph.host import room_for, tarjan
from jaxgames.host import linear, serves
from jaxgames.kept import kept
from jaxgames.mdp._model import MDP, lent_rows
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.host._bands import banded
from jaxgames.mdp.host._levels import cut_off, descending
from jaxgames.tuning.mdp import (
    KNOTTED_UP_TO,
    SEQUENCE_FROM,
    SEQUENCE_UP_TO,
    STATES_OF_A_PART,
)


class Sequence(NamedTuple):
    """The states of a model, those that a state leads to before it."""

    order: np.ndarray  # int32 [S]: the states; those of a knot together, smallest first
    knots: np.ndarray  # int32 [N, 2]: where each knot begins and ends there
    knot: np.ndarray  # int32 [S]: the knot of each state, -1 for none
    circles: np.ndarray  # bool [S]: the states that some path leads back to
    bands: np.ndarray  # int32 [B]: where those begin that lead to earlier bands ...
    parts: np.ndarray  # int32 [P]: ... and to states of the same part, which begin here


class Graph(NamedTuple):
    """A model without probabilities, to be swept over."""

    groups: np.ndarray  # int32 [S + 1]: the choices of each state
    rows: np.ndarray  # int32 [C + 1]: the branches of each choice
    columns: np.ndarray  # int32 [E]: where they lead
    into: np.ndarray  # int32 [S + 2]: where the choices that may lead to a state begin
    source: np.ndarray  # int32: these choices
    owner: np.ndarray  # int32 [C]: the state of each choice
    order: np.ndarray  # of the sequence
    knots: np.ndarray  # likewise
    knot: np.ndarray  # likewise


def sequence(model: MDP) -> Sequence | None:
    """The order of a large model that is nearly without cycles, kept with it.

    Returns:
        None for other models, and for very large ones where an accelerator may be
        sooner. O(S + C + E) time, once.
    """
    size = model.num_branches
    if size < SEQUENCE_FROM or not serves(size, SEQUENCE_UP_TO):
        return None
    return kept(model, "sequence", lambda: _found(model))


def _found(model: MDP) -> Sequence | None:
    groups, rows, columns = lent_rows(model)
    size = len(groups) - 1
    room = room_for(size, len(columns))
    edges = rows[groups]
    count, component, by_component = tarjan(
        edges, columns, None, None, np.zeros(1, np.int8), room
    )
    if count < 0:
        raise AssertionError("nobody stops it")
    component = np.asarray(component[:size])
    members = np.bincount(component, minlength=count)
    if members[members > 1].sum() > KNOTTED_UP_TO * size:
        return None
    order, knots = _by_depth(edges, columns, component, members, by_component)
    knots = knots[np.argsort(knots[:, 0])]
    order, bands, parts = banded(edges, columns, order, knots, STATES_OF_A_PART)
    knot, circles = _circling(edges, columns, order, knots)
    return Sequence(order, knots, knot, circles, bands, parts)


@linear
def _by_depth(edges, columns, component, members, by_component):
    """The states, those first that are the most steps from where no branch leads.

    States of a depth lead to deeper ones alone, so that they come by number: where
    models are numbered as they are explored, what is looked at lies together. Knots
    come last in their depth, each by itself.

    Args:
        edges: int32 `[S + 1]`, where the branches of each state begin.
        columns: int32, where they lead.
        component: int32 `[S]`, of each state.
        members: int64 `[N]`, how many states each component has.
        by_component: int32 `[S]`, the states, components that lead to others first.

    Returns:
        The states, and the places of each knot.
    """
    size, deepest = len(component), 0
    depth = np.zeros(len(members), np.int32)
    for place in range(size):
        s = by_component[place]
        own = component[s]
        here = depth[own] + 1
        for e in range(edges[s], edges[s + 1]):
            to = component[columns[e]]
            if to != own and depth[to] < here:
                depth[to] = here
        deepest = max(deepest, here - 1)
    place_of = np.zeros(deepest + 2, np.int64)
    for s in range(size):
        place_of[deepest - depth[component[s]] + 1] += 1
    for level in range(deepest + 1):
        place_of[level + 1] += place_of[level]
    order = np.empty(size, np.int32)
    for s in range(size):
        if members[component[s]] == 1:
            level = deepest - depth[component[s]]
            order[place_of[level]] = s
            place_of[level] += 1
    many = 0
    begins = np.full(len(members), -1, np.int64)
    for own in range(len(members)):
        if members[own] > 1:
            level = deepest - depth[own]
            begins[own] = place_of[level]
            place_of[level] += members[own]
            many += 1
    knots = np.empty((many, 2), np.int32)
    many = 0
    for own in range(len(members)):
        if begins[own] >= 0:
            knots[many, 0], knots[many, 1] = begins[own], begins[own] + members[own]
            many += 1
    for s in range(size):
        own = component[s]
        if begins[own] >= 0:
            order[begins[own]] = s
            begins[own] += 1
    return order, knots


@linear
def _circling(edges, columns, order, knots):
    """The knot of each state, and which states lead back to themselves."""
    size = len(order)
    knot = np.full(size, -1, np.int32)
    circles = np.zeros(size, np.bool_)
    for own in range(len(knots)):
        for place in range(knots[own, 0], knots[own, 1]):
            knot[order[place]] = own
    for state in range(size):
        circles[state] = knot[state] >= 0
        for branch in range(edges[state], edges[state + 1]):
            if columns[branch] == state:
                circles[state] = True
    return knot, circles


# ---- equations in that order ---------------------------------------------------------


@linear
def taken(number, size, order, knots):
    """The order of some states alone, by numbers of their own.

    Args:
        number: int32 `[S]`, the number of each state, -1 for the others. States of a
            knot may have one together.
        size: how many numbers there are.
        order: of the sequence.
        knots: likewise.

    Returns:
        The numbers in that order, and where those of each knot begin and end there.
    """
    found = np.empty(size, np.int32)
    there = np.zeros(size, np.bool_)
    ranges = np.zeros(knots.shape, np.int32)
    first, count = 0, 0
    for own in range(len(knots) + 1):
        last = knots[own, 0] if own < len(knots) else len(order)
        end = knots[own, 1] if own < len(knots) else len(order)
        for place in range(first, end):
            if place == last:
                ranges[own, 0] = count
            new = number[order[place]]
            if new >= 0 and not there[new]:
                there[new] = True
                found[count] = new
                count += 1
        if own < len(knots):
            ranges[own, 1] = count
        first = end
    return found, ranges


@linear
def inside(edges, target, order, knots):
    """The edges that stay in their knot, of states that are numbered anew.

    Args:
        edges: int32 `[N + 1]`, where the edges of each state begin.
        target: int32, where they lead.
        order: int32 `[N]`, the states.
        knots: int32 `[M, 2]`, ranges of these.

    Returns:
        The states of knots, by their new numbers; where the edges of each begin; and
        where they lead, by new numbers.
    """
    place = np.full(len(order), -1, np.int32)
    size, count = 0, 0
    for own in range(len(knots)):
        for at in range(knots[own, 0], knots[own, 1]):
            place[order[at]] = at
            count += edges[order[at] + 1] - edges[order[at]]
        size += knots[own, 1] - knots[own, 0]
    tied = np.empty(size, np.int32)
    begins = np.zeros(size + 1, np.int32)
    inner = np.empty(count, np.int32)
    new, end = 0, 0
    for own in range(len(knots)):
        first, last, base = knots[own, 0], knots[own, 1], new
        for at in range(first, last):
            s = order[at]
            tied[new] = s
            for e in range(edges[s], edges[s + 1]):
                to = place[target[e]]
                if first <= to and to < last:
                    inner[end] = base + to - first
                    end += 1
            new += 1
            begins[new] = end
    return tied, begins, inner[:end]


@linear
def merged(order, knots, tied, inner, inner_begins):
    """The order of all states by component.

    Args:
        order: int32 `[N]`, the states.
        knots: int32 `[M, 2]`, ranges of these.
        tied: int32, the states of knots by their new numbers.
        inner: int32, these numbers by component, those of earlier knots first.
        inner_begins: int32, where components begin there.

    Returns:
        The states by component, and where components begin there.
    """
    found = order.copy()
    begins = np.zeros(len(order) + 1, np.int32)
    first, at, part, inner_part = 0, 0, 0, 0
    for own in range(len(knots) + 1):
        last = knots[own, 0] if own < len(knots) else len(order)
        for place in range(first, last):
            part += 1
            begins[part] = place + 1
        if own == len(knots):
            break
        first = knots[own, 1]
        for place in range(last, first):
            found[place] = tied[inner[at]]
            at += 1
            if inner_begins[inner_part + 1] == at:
                inner_part += 1
                part += 1
                begins[part] = place + 1
    return found, begins[: part + 1]


# ---- sweeps --------------------------------------------------------------------------


@linear
def some(graph, start, passed, live):
    """Marks what leads to `start` with some choice, through what may be passed.

    Args:
        graph: the model.
        start: bool `[S]`.
        passed: bool `[S]`, where a mark may spread to.
        live: bool `[C]`, the choices that count.
    """
    groups, rows, columns = graph.groups, graph.rows, graph.columns
    into, source, owner = graph.into, graph.source, graph.owner
    order, knots, knot = graph.order, graph.knots, graph.knot
    mark = start.copy()
    stack = np.empty(len(order), np.int32)
    first = 0
    for own in range(len(knots) + 1):
        last = knots[own, 0] if own < len(knots) else len(order)
        end = knots[own, 1] if own < len(knots) else len(order)
        top = 0
        for place in range(first, end):
            s = order[place]
            if not mark[s] and passed[s]:
                for c in range(groups[s], groups[s + 1]):
                    if live[c] and not mark[s]:
                        for e in range(rows[c], rows[c + 1]):
                            if mark[columns[e]]:
                                mark[s] = True
                                break
            if place >= last and mark[s]:
                stack[top] = s
                top += 1
        while top > 0:
            top -= 1
            t = stack[top]
            for i in range(into[t], into[t + 1]):
                c = source[i]
                s = owner[c]
                if knot[s] == own and live[c] and passed[s] and not mark[s]:
                    mark[s] = True
                    stack[top] = s
                    top += 1
        first = end
    return mark


@linear
def every(graph, start, passed, live, hit):
    """Marks what leads to `start` with every choice; and which choices do.

    `hit`, bool `[C]`, is written to: the choices that may lead to a mark, of states
    that have none.
    """
    groups, rows, columns = graph.groups, graph.rows, graph.columns
    into, source, owner = graph.into, graph.source, graph.owner
    order, knots, knot = graph.order, graph.knots, graph.knot
    mark = start.copy()
    stack = np.empty(len(order), np.int32)
    left = np.zeros(len(order), np.int32)  # live choices in a knot that are not hit yet
    first = 0
    for own in range(len(knots) + 1):
        last = knots[own, 0] if own < len(knots) else len(order)
        end = knots[own, 1] if own < len(knots) else len(order)
        top = 0
        for place in range(first, end):
            s = order[place]
            hits, missed = 0, 0
            for c in range(groups[s], groups[s + 1]):
                if live[c]:
                    missed += 1
                    for e in range(rows[c], rows[c + 1]):
                        t = columns[e]
                        if mark[t] and (place < last or knot[t] != own):
                            hit[c] = True
                            hits += 1
                            missed -= 1
                            break
            left[s] = missed
            if missed == 0 and hits > 0 and passed[s]:
                mark[s] = True
            if place >= last and mark[s]:
                stack[top] = s
                top += 1
        while top > 0:
            top -= 1
            t = stack[top]
            for i in range(into[t], into[t + 1]):
                c = source[i]
                s = owner[c]
                if knot[s] == own and live[c] and not hit[c]:
                    hit[c] = True
                    left[s] -= 1
                    if left[s] == 0 and passed[s] and not mark[s]:
                        mark[s] = True
                        stack[top] = s
                        top += 1
        first = end
    return mark


@linear
def surely(graph, goal, inside, live):
    """The states that some scheduler leads to the goal almost surely, and it.

    A state has a level: how many steps away the goal is by choices that stay inside;
    the scheduler takes the first of these that may lead a level nearer.

    Args:
        graph: as for `some`.
        goal: bool `[S]`.
        inside: bool `[S]`, where it may pass, and the goal; written to.
        live: as for `some`.

    Returns:
        What is left of `inside`; and int32 `[S]`, the scheduler, -1 elsewhere.
    """
    groups, rows, columns = graph.groups, graph.rows, graph.columns
    order, knots = graph.order, graph.knots
    size = len(order)
    level = np.full(size, -1, np.int32)
    scheduler = np.full(size, NO_CHOICE, np.int32)
    safe = np.zeros(len(live), np.bool_)  # of choices in knots
    left = np.zeros(size, np.int32)  # safe choices of each state there
    first = 0
    for own in range(len(knots) + 1):
        last = knots[own, 0] if own < len(knots) else size
        end = knots[own, 1] if own < len(knots) else size
        for place in range(first, last):
            s = order[place]
            if goal[s]:
                level[s] = 0
                continue
            if not inside[s]:
                continue
            nearest, best = size, NO_CHOICE
            for c in range(groups[s], groups[s + 1]):
                if live[c]:
                    near = size
                    for e in range(rows[c], rows[c + 1]):
                        t = columns[e]
                        if not inside[t]:
                            near = size
                            break
                        if t != s and level[t] < near:
                            near = level[t]
                    if near < nearest:
                        nearest, best = near, c
            if nearest < size:
                level[s] = nearest + 1
                scheduler[s] = best
            else:
                inside[s] = False
        if end > last:
            _untied(graph, goal, inside, live, own, level, scheduler, safe, left)
        first = end
    return inside, scheduler


@linear
def _untied(graph, goal, inside, live, own, level, scheduler, safe, left):
    """As `surely`, of the states of a knot: levels of what it leads to are known."""
    groups, rows, columns = graph.groups, graph.rows, graph.columns
    order, knot = graph.order, graph.knot
    first, last = graph.knots[own, 0], graph.knots[own, 1]
    for place in range(first, last):
        s = order[place]
        for c in range(groups[s], groups[s + 1]):
            if live[c]:
                stays = True
                for e in range(rows[c], rows[c + 1]):
                    if not inside[columns[e]]:
                        stays = False
                        break
                if stays:
                    safe[c] = True
                    left[s] += 1
    far = len(order)
    # States that are near by what lies outside: their level, and which they are.
    waiting = np.empty(last - first, np.int64)
    queue = np.empty(last - first, np.int32)
    reached = np.empty(last - first, np.int32)
    while True:
        near = 0
        for place in range(first, last):
            s = order[place]
            level[s] = -1
            nearest = far
            if goal[s]:
                nearest = -1
            elif inside[s]:
                for c in range(groups[s], groups[s + 1]):
                    if safe[c]:
                        for e in range(rows[c], rows[c + 1]):
                            t = columns[e]
                            if knot[t] != own and level[t] < nearest:
                                nearest = level[t]
            if nearest < far:
                waiting[near] = (nearest + 1) * far + s
                near += 1
        _levelled(graph, inside, own, level, safe, np.sort(waiting[:near]), reached)
        if _left_out(graph, goal, inside, own, level, safe, left, queue) == 0:
            break
    for place in range(first, last):
        s = order[place]
        if inside[s] and not goal[s]:
            scheduler[s] = descending(
                rows, columns, level, safe, s, groups[s], groups[s + 1]
            )


@linear
def _levelled(graph, inside, own, level, safe, waiting, reached):
    """The levels of a knot: a search from several states that begin at their own."""
    size = len(level)
    into, source, owner, knot = graph.into, graph.source, graph.owner, graph.knot
    at, done, end = 0, 0, 0
    while at < len(waiting) or done < end:
        begins = done == end
        if at < len(waiting) and done < end:
            begins = waiting[at] // size <= level[reached[done]]
        if begins:
            near, t = waiting[at] // size, waiting[at] % size
            at += 1
            if level[t] >= 0 and level[t] <= near:
                continue
            level[t] = near
        else:
            t = reached[done]
            done += 1
        for i in range(into[t], into[t + 1]):
            c = source[i]
            s = owner[c]
            if knot[s] == own and safe[c] and inside[s] and level[s] < 0:
                level[s] = level[t] + 1
                reached[end] = s
                end += 1


@linear
def _left_out(graph, goal, inside, own, level, safe, left, queue):
    """Takes out of a knot what has no level, and what cannot avoid that.

    Returns:
        How many states.
    """
    into, source, owner = graph.into, graph.source, graph.owner
    end = 0
    for place in range(graph.knots[own, 0], graph.knots[own, 1]):
        s = graph.order[place]
        if inside[s] and level[s] < 0:
            inside[s] = False
            queue[end] = s
            end += 1
    # Safe choices that lead into a knot are its own: what comes before does not lead
    # to it, and of what comes after no choice is known to be safe yet.
    return cut_off(into, source, owner, goal, inside, safe, left, queue, end)

"""The decomposition into maximal end components, what is left searched again."""

from typing import NamedTuple

import numpy as np

from jaxgames.graph.host import enumerate_first, room_for, smallest
from jaxgames.host import linear
from jaxgames.mdp._model import MDP, lent_rows


class Part(NamedTuple):
    """States that are still searched, with the choices that they still have.

    States, choices and branches have numbers of the part's own.
    """

    state: np.ndarray  # int32 [N]: its number in the model
    choice_ptr: np.ndarray  # int32 [N + 1]: the choices of each state
    choice: np.ndarray  # int32 [K]: its number in the model
    branch_ptr: np.ndarray  # int32 [K + 1]: the branches of each choice
    target: np.ndarray  # int32: the state that each branch leads to


class Found(NamedTuple):
    """The components, and how they were found."""

    count: int
    state_label: np.ndarray
    choice_kept: np.ndarray
    outer: int  # times that components were searched for
    removed: int  # states that were taken out one by one
    finished: bool


def decompose(model: MDP, states, choices, stop: np.ndarray) -> Found:
    """The maximal end components of the part of a model that two masks leave.

    The loop of [1]: find the strongly connected components; take out the choices that
    leave theirs, then the states that have no choice left, the choices that lead there,
    and so on. A component that lost nothing is a maximal end component. What is left of
    the others is searched again, and only that.

    Args:
        model: the model.
        states: bool `[S]`, or None for all.
        choices: bool `[C]`, or None for all.
        stop: int8 `[1]`; the search gives up soon after it is not 0.

    References:
        [1] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997, section 3.3.
    """
    label = np.full(model.num_states, -1, np.int32)
    kept = np.zeros(model.num_choices, bool)
    part = _whole(model)
    if states is not None or choices is not None:
        live = np.ones(model.num_choices, bool) if choices is None else choices
        wanted = np.ones(model.num_states, bool) if states is None else states
        part = _shrunk(part, np.ascontiguousarray(wanted), np.ascontiguousarray(live))
    outer = removed = 0
    while len(part.state):
        outer += 1
        edges = part.branch_ptr[part.choice_ptr]
        room = room_for(len(part.state), len(part.target))
        more, part = _searched(part, edges, stop, room, label, kept)
        if more < 0:
            label[:], kept[:] = -1, False
            return Found(0, label, kept, outer, removed, False)
        removed += more
    count = int(enumerate_first(label))
    return Found(count, label, kept, outer, removed, True)


def _whole(model: MDP) -> Part:
    groups, rows, columns = lent_rows(model)
    states = np.arange(model.num_states, dtype=np.int32)
    choices = np.arange(model.num_choices, dtype=np.int32)
    return Part(states, groups, choices, rows, columns)


@linear
def _searched(part, edges, stop, room, label, kept):
    """Writes down the components that are end components, and goes on with the others.

    Args:
        part: what is searched.
        edges: int32 `[N + 1]`: the branches of each state.
        stop: int8 `[1]`; the search gives up soon after it is not 0.
        room: what `room_for` makes of states and branches.
        label: int32 `[S]`, of the states of the model: their component's smallest one.
        kept: bool `[C]`, of its choices.

    Returns:
        How many states were taken out because of others, -1 if stopped; and the part
        that is to be searched again.
    """
    size = len(part.state)
    count, component = smallest(edges, part.target, None, None, stop, room)
    if count < 0:
        return -1, part
    choices = part.choice_ptr[size]
    if count == 1 and choices > 0:
        # Nothing leads out of it.
        for s in range(size):
            label[part.state[s]] = part.state[0]
        for c in range(choices):
            kept[part.choice[c]] = True
        return 0, _shrunk(part, np.zeros(size, np.bool_), np.zeros(0, np.bool_))
    again, live, more = _remove(part, edges, component)
    _report(part, component, again, live, label, kept)
    return more, _shrunk(part, again, live)


@linear
def _remove(part, edges, component):
    """Takes out what cannot stay in its strongly connected component.

    Args:
        part: what was searched.
        edges: int32 `[N + 1]`: the branches of each state.
        component: int32 `[N]`, the smallest state of that of each state.

    Returns:
        Which states to search again: they have a choice left, and their component has
        lost something; which choices are left; and how many states were taken out
        because of others.
    """
    size = len(part.state)
    live = np.ones(len(part.choice), np.bool_)
    left = np.empty(size, np.int32)  # choices of each state
    dead = np.empty(size, np.int32)
    num_dead = 0
    members = np.zeros(size, np.int32)
    lost = np.zeros(size, np.bool_)
    for s in range(size):
        own = component[s]
        members[own] += 1
        left[s] = part.choice_ptr[s + 1] - part.choice_ptr[s]
        leaves = left[s] == 0
        for e in range(edges[s], edges[s + 1]):
            leaves |= component[part.target[e]] != own
        if not leaves:
            continue
        for c in range(part.choice_ptr[s], part.choice_ptr[s + 1]):
            for e in range(part.branch_ptr[c], part.branch_ptr[c + 1]):
                if component[part.target[e]] != own:
                    live[c] = False
                    left[s] -= 1
                    break
        if left[s] < part.choice_ptr[s + 1] - part.choice_ptr[s]:
            lost[own] = True
        if left[s] == 0:
            dead[num_dead] = s
            num_dead += 1
    first = num_dead
    crumbles = np.zeros(size, np.bool_)  # a state is dead, and others are there
    some = False
    for i in range(num_dead):
        own = component[dead[i]]
        if members[own] > 1:
            crumbles[own] = some = True
    if some:
        num_dead = _crumble(part, component, crumbles, live, left, dead, num_dead)
    again = np.zeros(size, np.bool_)
    for s in range(size):
        again[s] = left[s] > 0 and lost[component[s]]
    return again, live, num_dead - first


@linear
def _crumble(part, component, crumbles, live, left, dead, num_dead):
    """Takes out the choices that lead to dead states, until no more states die."""
    size = len(part.state)
    owner = np.empty(len(part.choice), np.int32)
    into = np.zeros(size + 2, np.int32)
    for s in range(size):
        if crumbles[component[s]]:
            for c in range(part.choice_ptr[s], part.choice_ptr[s + 1]):
                owner[c] = s
                if live[c]:
                    for e in range(part.branch_ptr[c], part.branch_ptr[c + 1]):
                        into[part.target[e] + 2] += 1
    for s in range(size):
        into[s + 2] += into[s + 1]
    entering = np.empty(into[size + 1], np.int32)
    for s in range(size):
        if crumbles[component[s]]:
            for c in range(part.choice_ptr[s], part.choice_ptr[s + 1]):
                if live[c]:
                    for e in range(part.branch_ptr[c], part.branch_ptr[c + 1]):
                        place = into[part.target[e] + 1]
                        entering[place] = c
                        into[part.target[e] + 1] = place + 1
    done = 0
    while done < num_dead:
        s = dead[done]
        done += 1
        for i in range(into[s], into[s + 1]):
            c = entering[i]
            if live[c]:
                live[c] = False
                left[owner[c]] -= 1
                if left[owner[c]] == 0:
                    dead[num_dead] = owner[c]
                    num_dead += 1
    return num_dead


@linear
def _report(part, component, again, live, label, kept):
    """Writes down the components that lost nothing."""
    for s in range(len(part.state)):
        if again[s]:
            continue
        for c in range(part.choice_ptr[s], part.choice_ptr[s + 1]):
            if live[c]:
                label[part.state[s]] = part.state[component[s]]
                kept[part.choice[c]] = True


@linear
def _shrunk(part, again, live):
    """The part that some states and choices of a part make up.

    A choice that may lead out of these states is left out as well.
    """
    size = len(part.state)
    new = np.full(size, -1, np.int32)
    taken = np.zeros(len(part.choice), np.bool_)
    states = choices = branches = 0
    for s in range(size):
        if again[s]:
            new[s] = states
            states += 1
    for s in range(size):
        if new[s] >= 0:
            for c in range(part.choice_ptr[s], part.choice_ptr[s + 1]):
                stays = live[c]
                for e in range(part.branch_ptr[c], part.branch_ptr[c + 1]):
                    stays = stays and new[part.target[e]] >= 0
                if stays:
                    taken[c] = True
                    choices += 1
                    branches += part.branch_ptr[c + 1] - part.branch_ptr[c]
    smaller = Part(
        np.empty(states, np.int32),
        np.zeros(states + 1, np.int32),
        np.empty(choices, np.int32),
        np.zeros(choices + 1, np.int32),
        np.empty(branches, np.int32),
    )
    choices = branches = 0
    for s in range(size):
        if new[s] < 0:
            continue
        for c in range(part.choice_ptr[s], part.choice_ptr[s + 1]):
            if taken[c]:
                for e in range(part.branch_ptr[c], part.branch_ptr[c + 1]):
                    smaller.target[branches] = new[part.target[e]]
                    branches += 1
                smaller.choice[choices] = part.choice[c]
                choices += 1
                smaller.branch_ptr[choices] = branches
        smaller.state[new[s]] = part.state[s]
        smaller.choice_ptr[new[s] + 1] = choices
    return smaller

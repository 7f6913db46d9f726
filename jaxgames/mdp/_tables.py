"""Equations as tables whose numbers come later: where branches lead decides these.

Open states are numbered anew, so that those of one shape, with as many choices and as
many branches each, lie together: a round is then a gather and two reductions along an
axis for each shape, for any number of samples at once.
"""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.mdp._equations import Open, numbered
from jaxgames.mdp._model import MDP, owner_of


class Group(NamedTuple):
    """Open states of one shape: `n` states, `m` choices, `w` branches to open ones.

    Attributes:
        choice: int32 `[n, m]`, the choices of the model; `C` for none.
        real: bool `[n, m]`, whether there is such a choice.
        stops: bool `[n, m]`, whether that is to stop, which is worth nothing.
        inside: int32 `[n, m, w]`, branches to other open states; `E` for none.
        target: int32 `[n, m, w]`, the open states that they lead to.
        sure: int32 `[n, m, k]`, branches to states of known value; `E` for none.
        worth: float64 `[n, m, k]`, these values.
        back: int32 `[n, m, l]`, branches that lead back at once; `E` for none.
    """

    choice: Any
    real: Any
    stops: Any
    inside: Any
    target: Any
    sure: Any
    worth: Any
    back: Any


class Tables(NamedTuple):
    """The equations of a question, without probabilities and rewards.

    `N` is the number of open states, `C` that of the model's choices, `E` of its
    branches.

    Attributes:
        groups: the open states, by shape.
        number: int32 `[S]`, the open state that each is, or stands for; `N` for none.
        known: float64 `[S]`, the values of the others.
        into: for some open states each, int32 `[n, w]`: the cells of all `inside` in
            order that lead there; their number for none.
        into_order: int32 `[N]`, where each open state is among these.
        probs: float64 `[E]`, probabilities that may stand in for wrong ones.
        counts: bool `[E]`, the branches whose probabilities are looked at.
        pays: bool `[C]`, the choices whose rewards have to be positive.
        free: bool `[C]`, those whose rewards have to be zero.
        slack: scalar, how many roundings a sum may make.
    """

    groups: tuple[Group, ...]
    number: Any
    known: Any
    into: tuple[Any, ...]
    into_order: Any
    probs: Any
    counts: Any
    pays: Any
    free: Any
    slack: Any


def tables(model: MDP, known: Open, *, exact_signs: bool) -> Tables:
    """The tables of a question.

    `exact_signs` where what is known depends on which rewards are positive, and which
    are zero.
    """
    home, size, first = numbered(known)
    choices, branches = model.num_choices, model.num_branches
    rows = np.asarray(model.row_offsets)
    owner = np.append(home, -1)[owner_of(model)]
    live = known.live & (owner >= 0)
    if known.components is not None:
        live &= ~np.asarray(known.components.choice_kept)
    source = np.repeat(np.arange(choices), np.diff(rows))
    to = home[np.asarray(model.columns)[: len(source)]]
    kind = np.where(to < 0, SURE, np.where(to == owner[source], BACK, INSIDE))
    if known.discount == 1:
        leaves = np.bincount(source[kind != BACK], minlength=choices) > 0
        live &= leaves
    own = np.flatnonzero(live)
    stopping = np.zeros(0, np.int64)
    if known.stop is not None:
        stopping = first[~np.isnan(known.stop[0])]
    # One row for each choice: those of the model, then those to stop.
    row_choice = np.append(own, np.full(len(stopping), choices))
    row_state = np.append(owner[own], stopping)
    order = np.argsort(row_state, kind="stable")
    row_choice, row_state = row_choice[order], row_state[order]
    row_of = np.full(choices + 1, -1)
    row_of[row_choice] = np.arange(len(row_choice))
    begins = np.searchsorted(row_state, np.arange(size))
    place = np.arange(len(row_state)) - begins[row_state]
    some = np.flatnonzero(live[source])
    counts = {
        which: np.bincount(
            row_of[source[some[kind[some] == which]]], minlength=len(row_choice)
        )
        for which in (INSIDE, SURE, BACK)
    }
    many = np.bincount(row_state, minlength=size)
    widest = np.zeros(size, np.int64)
    np.maximum.at(widest, row_state, counts[INSIDE])
    shape = np.stack([_rounded(np.maximum(many, 1)), _rounded(widest)])
    by_shape = np.lexsort((shape[1], shape[0]))
    position = np.empty(size, np.int64)
    position[by_shape] = np.arange(size)
    groups, cells = [], 0
    into_state, into_cell = [], []
    shapes, where = np.unique(shape, axis=1, return_inverse=True)
    where = np.ravel(where)
    for number, (m, _) in enumerate(shapes.T):
        states = by_shape[where[by_shape] == number]
        line = np.full(size, -1)
        line[states] = np.arange(len(states))
        mine = np.flatnonzero(line[row_state] >= 0)
        at = (line[row_state[mine]], place[mine])
        choice = np.full((len(states), m), choices, np.int32)
        choice[at] = row_choice[mine]
        real, stops = np.zeros((2, len(states), m), bool)
        real[at] = True
        stops[at] = row_choice[mine] == choices
        nothing = ~real.any(axis=1)  # left to choose: it is worth nothing
        real[nothing, 0] = stops[nothing, 0] = True
        here = some[line[owner[source[some]]] >= 0]
        parts = {}
        for which in (INSIDE, SURE, BACK):
            branch = here[kind[here] == which]
            branch = branch[np.argsort(row_of[source[branch]], kind="stable")]
            row = row_of[source[branch]]
            width = int(counts[which][mine].max(initial=0))
            found = np.full((len(states), m, width), branches, np.int32)
            column = np.arange(len(branch)) - np.searchsorted(row, row)
            cell = (line[row_state[row]], place[row], column)
            found[cell] = branch
            parts[which] = found, cell, branch
        found, cell, branch = parts[INSIDE]
        target = np.zeros(found.shape, np.int32)
        target[cell] = position[to[branch]]
        into_state.append(position[to[branch]])
        into_cell.append(cells + np.ravel_multi_index(cell, found.shape))
        cells += found.size
        found, cell, branch = parts[SURE]
        worth = np.zeros(found.shape)
        worth[cell] = known.value[np.asarray(model.columns)[branch]]
        groups.append(
            Group(
                *(choice, real, stops, parts[INSIDE][0], target),
                *(parts[SURE][0], worth, parts[BACK][0]),
            )
        )
    into, into_order = _into(into_state, into_cell, size, cells)
    number = np.where(home >= 0, np.append(position, size)[home], size)
    watched = np.append(owner >= 0, False)[:-1] & known.live
    none = np.zeros(choices, bool)
    positive = none if known.reward is None else known.reward > 0
    most = int(np.diff(rows).max(initial=0))
    return Tables(
        groups=tuple(groups),
        number=number.astype(np.int32),
        known=np.where(known.open_, 0.0, known.value),
        into=into,
        into_order=into_order,
        probs=np.asarray(model.probs, np.float64),
        counts=np.append(watched[source], np.zeros(branches - len(source), bool)),
        pays=watched & positive if exact_signs else none,
        free=watched & ~positive if exact_signs else none,
        slack=np.float64(6 * most + 20),
    )


INSIDE, SURE, BACK = range(3)
"""Where branches lead: to other open states, to known ones, back to their own."""


def _rounded(count: np.ndarray) -> np.ndarray:
    """The next of 0, 1, 2, 3, 4, 6, 8, 12, ...: so that few shapes are left."""
    steps = [0, 1]
    while steps[-1] < count.max(initial=0):
        power = 1 << (len(steps) // 2)
        steps += [power, power * 3 // 2]
    steps = np.unique(steps)
    return steps[np.searchsorted(steps, count)]


def _into(states: list, cells: list, size: int, none: int) -> tuple[tuple, np.ndarray]:
    """The cells that lead to each state, in tables of few widths."""
    state = np.concatenate([*states, np.zeros(0, np.int64)])
    cell = np.concatenate([*cells, np.zeros(0, np.int64)])
    order = np.argsort(state, kind="stable")
    state, cell = state[order], cell[order]
    many = np.bincount(state, minlength=size)
    column = np.arange(len(state)) - np.searchsorted(state, state)
    width = 1 << np.ceil(np.log2(np.maximum(many, 1))).astype(np.int64)
    found, line = [], np.zeros(size, np.int64)
    done = 0
    for w in np.unique(width):
        here = np.flatnonzero(width == w)
        line[here] = done + np.arange(len(here))
        table = np.full((len(here), w), none, np.int32)
        mine = width[state] == w
        table[line[state[mine]] - done, column[mine]] = cell[mine]
        found.append(table)
        done += len(here)
    return tuple(found), line.astype(np.int32)

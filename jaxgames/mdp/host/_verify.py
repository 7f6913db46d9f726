"""The certificate check of maximal end components, one state at a time."""

import numpy as np

from jaxgames.graph import host as graphs
from jaxgames.host import linear
from jaxgames.mdp._checks import refuse_intervals
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._verdict import Verdict
from jaxgames.ops import transpose


def verify(
    model: MDP,
    label: np.ndarray,
    kept: np.ndarray,
    count=None,
    states: np.ndarray | None = None,
    choices: np.ndarray | None = None,
) -> Verdict:
    """Checks maximal end components.

    What it asks says [`mdp.verify`][jaxgames.mdp.verify].

    Args:
        model: the model.
        label: integers `[S]`, the component of each state, or -1.
        kept: bool `[C]`, the choices that are kept.
        count: how many components there are said to be; None if nothing is said.
        states: bool `[S]`, the states that were looked at; None for all.
        choices: bool `[C]`, the choices that were looked at; None for all.

    Returns:
        A [`Verdict`][jaxgames.mdp.Verdict].
    """
    refuse_intervals(model)
    label, kept = np.asarray(label), np.asarray(kept)
    size, number = model.num_states, int(model.row_group_offsets[-1])
    there = np.diff(model.row_group_offsets) > 0
    if states is not None:
        there &= states
    owner = owner_of(model)
    live = np.append(there, False)[owner]
    if choices is not None:
        live &= choices
    limit = size if count is None else min(int(count), size)
    ranged = (label >= -1) & (label < limit)
    inside = ranged & (label >= 0) & there
    own = np.arange(size, dtype=np.int32)
    smallest = np.full(size, size, np.int32)
    member = np.flatnonzero(inside)[::-1]
    smallest[label[member]] = member  # the smallest is written last
    root = own.copy()
    root[member] = smallest[label[member]]
    first = inside & (root == own)
    found = np.cumsum(first)

    rows = model.row_offsets[: number + 1]
    columns = model.columns[: rows[-1]]
    near = np.repeat(root[owner[:number]], np.diff(rows))
    same = inside[columns] & (root[columns] == near)
    stays = np.zeros(model.num_choices, bool)
    if number:
        stays[:number] = np.logical_and.reduceat(same, rows[:-1])
    stays &= live & np.append(inside, False)[owner]
    reached, reaching = _connected(model, kept & stays, first, inside)
    alive = _rank(
        model.row_group_offsets,
        rows,
        columns,
        *transpose(rows, columns, size),
        *transpose(np.arange(size + 1, dtype=np.int32), root, size),
        root,
        owner,
        live & ~kept,
    )
    blamed = np.zeros(size, bool)
    if size:
        blamed[np.minimum(owner[kept & ~stays], size - 1)] = True
    return Verdict.first_of(
        ~ranged,
        ranged & (label != -1) & ~there,
        first & (label != found - 1),
        np.bool_(count is not None and found[-1:].sum() != count),
        blamed,
        _some(stays & ~kept, owner, size),
        inside & ~_some(kept, owner, size),
        inside & ~reached,
        inside & ~reaching,
        alive[root],
    )


def _some(choices: np.ndarray, owner: np.ndarray, size: int) -> np.ndarray:
    """The states that have one of some choices."""
    found = np.zeros(size + 1, bool)
    found[owner[choices]] = True
    return found[:size]


def _connected(model: MDP, kept, first, inside) -> tuple[np.ndarray, np.ndarray]:
    """What the smallest states reach by kept choices, and what reaches these."""
    graph = model.graph()
    number = int(model.row_group_offsets[-1])
    edges = np.repeat(kept[:number], np.diff(model.row_offsets[: number + 1]))
    forward, backward = (
        graphs.reachable(graph, first, backward=turned, vertices=inside, edges=edges)
        for turned in (False, True)
    )
    return forward, backward


@linear
def _rank(groups, rows, columns, into, entering, begins, members, root, owner, live):
    """Takes away points without a choice, and choices that may lead to such.

    Returns:
        bool `[S]`: the points that are left, by their smallest states.
    """
    size = len(root)
    left = np.zeros(size, np.int32)  # choices of each point
    alive = np.zeros(size, np.bool_)
    queue = np.empty(size, np.int32)
    end = 0
    for s in range(size):
        for c in range(groups[s], groups[s + 1]):
            left[root[s]] += live[c]
    for s in range(size):
        alive[s] = root[s] == s
        if alive[s] and left[s] == 0:
            alive[s] = False
            queue[end] = s
            end += 1
    done = 0
    while done < end:
        point = queue[done]
        done += 1
        for i in range(begins[point], begins[point + 1]):
            s = members[i]
            for k in range(into[s], into[s + 1]):
                c = entering[k]
                if not live[c]:
                    continue
                live[c] = False
                hit = root[owner[c]]
                left[hit] -= 1
                if left[hit] == 0:
                    alive[hit] = False
                    queue[end] = hit
                    end += 1
    return alive

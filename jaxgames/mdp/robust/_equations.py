"""The equations of open states of an interval model, and what they say of states."""

from typing import NamedTuple

import numpy as np

from jaxgames.graph.host import room_for, tarjan
from jaxgames.host import compiled, lend
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.robust._graph import Components
from jaxgames.mdp.robust._natures import Natures, assembled, numbers


class Equations(NamedTuple):
    """Open states and components, numbered anew, with their choices.

    Attributes:
        nat: natures over these; targets from `N` on are constants.
        base: float64 `[K]`, what a choice earns.
        constants: float64 `[M]`, the values of known states that are led to.
        number: int32 `[S]`, the equation of each state, -1 for none.
        leaves: int32 `[K]`, for a choice by which nature leaves a component in which it
            might have stayed, the branch by which; else -1.
        order: int32 `[N]`, states, those of a component together.
        parts: int32 `[P + 1]`, where these begin.
        inside: int32 `[N + M]`, the component of each state, -1 for constants.
    """

    nat: Natures
    base: np.ndarray
    constants: np.ndarray
    number: np.ndarray
    leaves: np.ndarray
    order: np.ndarray
    parts: np.ndarray
    inside: np.ndarray


def equations(
    nat: Natures,
    value: np.ndarray,
    open_: np.ndarray,
    reward: np.ndarray,
    found: Components | None = None,
    *,
    stops: np.ndarray | None = None,
) -> Equations:
    """The equations of open states.

    A component is one state. Where nature can stay in it by a choice, that choice costs
    nothing: taken again and again, with ever so little for what leaves, it is left by
    any one of the branches, surely.

    Args:
        nat: natures.
        value: float64 `[S]`, of known states.
        open_: bool `[S]`.
        reward: float64 `[C]`.
        found: sets that become one state each; None for none.
        stops: float64 `[N]`, what it is worth to stay in each for ever; None where
            nobody may.
    """
    number = np.full(len(open_), NO_CHOICE, np.int32)
    label = np.full(len(open_), NO_CHOICE, np.int32)
    kept = np.zeros(len(nat.owner), bool)
    if found is not None and found.count:
        label, kept = found.label, found.kept
    first = np.flatnonzero(open_)
    key = np.where(label[first] >= 0, len(open_) + label[first], first)
    _, least, place = np.unique(key, return_index=True, return_inverse=True)
    # In the order of their first states.
    rank = np.empty(len(least), np.int64)
    rank[np.argsort(least, kind="stable")] = np.arange(len(least))
    number[first] = rank[place]
    size = len(least)
    where = number[nat.owner]
    split = kept & (where >= 0)
    whole = ~split & (where >= 0)
    branch_choice = numbers(nat)
    home = number[nat.target]
    worth, index = np.unique(value[~open_], return_inverse=True)
    constant = np.zeros(len(open_), np.int64)
    constant[~open_] = index
    target = np.where(home >= 0, home, size + constant[nat.target])
    exits = np.flatnonzero(split[branch_choice] & (home != where[branch_choice]))
    rest = np.flatnonzero(whole)
    many = np.diff(nat.rows)[rest]
    stop = np.zeros(0, np.int64)
    apart = size + len(worth)
    if stops is not None and found is not None and found.count:
        inside = np.flatnonzero(label >= 0)
        stop = np.zeros(found.count, np.int64)
        stop[label[inside]] = number[inside]
        worth = np.append(worth, stops)
    # All choices: whole ones, those that leave, those that stop; by state then.
    owner = np.concatenate([where[rest], where[branch_choice[exits]], stop])
    choice = np.concatenate([rest, branch_choice[exits], np.full(len(stop), NO_CHOICE)])
    leaves = np.concatenate(
        [np.full(len(rest), NO_CHOICE), exits, np.full(len(stop), NO_CHOICE)]
    )
    length = np.concatenate([many, np.ones(len(exits) + len(stop), np.int64)])
    mine = np.flatnonzero(whole[branch_choice])
    pool = {
        "target": np.concatenate(
            [target[mine], target[exits], apart + np.arange(len(stop))]
        ),
        "lower": np.concatenate([nat.lower[mine], np.ones(len(exits) + len(stop))]),
        "upper": np.concatenate([nat.upper[mine], np.ones(len(exits) + len(stop))]),
        "branch": np.concatenate([mine, exits, np.full(len(stop), NO_CHOICE)]),
    }
    by_state = np.lexsort((np.arange(len(owner)), choice, owner))
    begins = np.append(0, np.cumsum(length))
    sizes = length[by_state]
    rows = np.append(0, np.cumsum(sizes))
    at = np.repeat(begins[by_state] - rows[:-1], sizes) + np.arange(rows[-1])
    groups = np.append(0, np.cumsum(np.bincount(owner, minlength=size)))
    choice = choice[by_state]
    made = assembled(
        *(groups, rows, pool["target"][at], pool["lower"][at]),
        *(pool["upper"][at], pool["branch"][at], owner[by_state], choice),
    )
    base = np.where(choice >= 0, np.append(reward, 0.0)[choice], 0.0)
    order, parts, component = _in_order(made, size)
    inside = np.append(component, np.full(len(worth), NO_CHOICE)).astype(np.int32)
    return Equations(
        *(made, base, worth, number, leaves[by_state].astype(np.int32)),
        *(order, parts, lend(inside)),
    )


def _in_order(nat: Natures, size: int):
    """The order in which components are solved: those led to come first."""
    edge = nat.target < size
    source = nat.owner[numbers(nat)][edge]
    offsets = np.append(0, np.cumsum(np.bincount(source, minlength=size)))
    heads = nat.target[edge]
    room = room_for(max(size, 1), len(heads))
    count, component, _ = tarjan(
        *(lend(offsets.astype(np.int32)), lend(heads)),
        *(None, None, np.zeros(1, np.int8), room),
    )
    component = np.asarray(component[:size])
    order = (size - 1 - np.argsort(component[::-1], kind="stable")).astype(np.int32)
    parts = np.append(0, np.cumsum(np.bincount(component, minlength=count)))
    return lend(order), lend(parts.astype(np.int32)), component


def slack_of(nat: Natures) -> float:
    """More than the relative error of the sum of a choice."""
    most = int(np.diff(nat.rows).max(initial=0))
    return (2 * most + 10) * float(np.finfo(np.float64).eps)


@compiled
def _route(nat, label, kept, done, chosen, branch):
    """How to get to some states of components from all others, staying inside.

    Args:
        nat: natures.
        label: int32 `[S]`, components.
        kept: bool `[C]`, choices in which nature can stay.
        done: bool `[S]`, the states to get to; written to.
        chosen: int32 `[S]`, choices; written to.
        branch: int32 `[S]`, the branch of it that leads nearer; written to.
    """
    more, sweep = 1, 0
    while more == 1:
        more = 0
        sweep += 1
        for place in range(len(label)):
            s = place if sweep % 2 == 1 else len(label) - 1 - place
            if label[s] < 0 or done[s]:
                continue
            for c in range(nat.groups[s], nat.groups[s + 1]):
                if not kept[c] or done[s]:
                    continue
                for b in range(nat.rows[c], nat.rows[c + 1]):
                    t = nat.target[b]
                    if label[t] == label[s] and done[t] and not done[s]:
                        done[s] = True
                        chosen[s] = c
                        branch[s] = b
                        more = 1


class Routes(NamedTuple):
    """What to do inside of components so that they are left by their best choices.

    Attributes:
        scheduler: int32 `[S]`, choices, -1 where there is nothing to say.
        choices: int64, the choices in which nature has something to do to leave ...
        keys: float64 `[B]`, ... and what it likes more there.
    """

    scheduler: np.ndarray
    choices: np.ndarray
    keys: np.ndarray


def routes(
    nat: Natures,
    part: Equations,
    found: Components,
    best: np.ndarray,
    staying: np.ndarray | None = None,
) -> Routes:
    """How components are left.

    Args:
        nat: natures of the states.
        part: the equations.
        found: the components.
        best: int32 `[N]`, the best choice of each equation.
        staying: int32 `[S]`, what those who stay for ever choose; None for any choice
            that stays, with any probabilities.
    """
    size = len(found.label)
    scheduler = np.full(size, NO_CHOICE, np.int32)
    branch = np.full(size, NO_CHOICE, np.int32)
    inside = np.flatnonzero(found.label >= 0)
    at = best[part.number[inside]]
    choice, leaves = part.nat.choice[at], part.leaves[at]
    stops = choice < 0
    owner = np.where(stops, inside, nat.owner[np.maximum(choice, 0)])
    exits = owner == inside
    done = np.zeros(size, bool)
    done[inside[exits]] = True
    scheduler[inside[exits]] = choice[exits]
    branch[inside[exits]] = leaves[exits]
    resting = inside[stops]
    stay = staying
    if stay is None:
        kept = np.flatnonzero(found.kept)[::-1]
        stay = np.full(size, NO_CHOICE, np.int32)
        stay[nat.owner[kept]] = kept
    scheduler[resting] = stay[resting]
    _route(nat, found.label, np.array(found.kept), done, scheduler, branch)
    here = np.flatnonzero(found.label >= 0)
    mine = scheduler[here]
    count = numbers(nat)
    own = found.label[nat.owner[count]]
    keys = np.where(found.label[nat.target] == own, 1.0, 0.0)
    some = branch[here]
    keys[some[some >= 0]] = 2.0
    whole = np.zeros(len(nat.owner), bool)
    whole[mine] = found.kept[mine]
    if staying is not None:
        whole[stay[resting]] = False
    return Routes(scheduler, np.flatnonzero(whole), keys)

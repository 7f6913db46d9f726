"""Schedulers of end components, and what becomes of a model under a scheduler."""

import functools
from typing import Any, Unpack

import numpy as np

from jaxgames.arguments import as_array, fields
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._almost_sure import first_kept, within
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._region import NO_CHOICE, check_model
from jaxgames.mdp._solution import EndComponents
from jaxgames.tuning.mdp import TABLES

# ---- in end components -------------------------------------------------------------


class VisitingScheduler:
    """Visits all states of an end component again and again, with probability one.

    It heads for one member of the component after the other, in the order of their
    numbers: by choices that stay in the component, each of which may come a step closer
    to that member. Memory is the place of the member in that order. For each place
    there is a table of choices, made when it is needed.
    """

    def __init__(self, model: MDP, components: EndComponents):
        check_model(model)
        self._model, self._components = model, components
        label = np.asarray(fields("components", components, "state_label")[0])
        order = np.argsort(label, kind="stable")
        self._label = label
        self._members = order[np.searchsorted(label[order], 0) :]
        self._first = np.append(0, np.cumsum(np.bincount(label[self._members])))
        self._stay = first_kept(model, components)
        self._towards = functools.lru_cache(TABLES)(self._table)

    def start(self, state: int) -> int:
        """Heads for the first member."""
        return 0

    def next(self, memory: int, state: int) -> tuple[int, int]:
        """The choice to take, and the place of the member to head for.

        Args:
            memory: what `start` or the last call gave.
            state: where the path is.

        Raises:
            ValueError: the state is in no component.
        """
        component = self._label[state]
        if component < 0:
            raise ValueError(f"state {state} is in no end component")
        first, stop = self._first[component : component + 2]
        if self._members[first + memory] == state:
            memory = (memory + 1) % int(stop - first)
        choice = self._towards(memory)[state]
        # A component of one state: it is there already.
        return int(self._stay[state] if choice < 0 else choice), memory

    def _table(self, place: int) -> np.ndarray:
        """How to get to the member at a place in each component that has as many."""
        target = np.zeros(len(self._label), bool)
        at = self._first[:-1] + place
        target[self._members[at[at < self._first[1:]]]] = True
        return within(self._model, self._components, target)


@limited()
def visiting_scheduler(
    model: MDP, components: EndComponents, **bounds: Unpack[Bounds]
) -> VisitingScheduler:
    """A scheduler that visits every state of the end component it starts in for ever.

    With probability one, and it never leaves the component. It needs memory: no
    deterministic memoryless scheduler need do so. One that throws dice is
    [`uniform_scheduler`][jaxgames.mdp.uniform_scheduler].

    Args:
        model: a concrete model.
        components: its maximal end components, or those of a part of it.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 0])
        >>> scheduler = mdp.visiting_scheduler(model, mdp.mec(model))
        >>> state, memory = 0, scheduler.start(0)
        >>> for _ in range(5):
        ...     choice, memory = scheduler.next(memory, state)
        ...     state = int(model.columns[choice])  # one branch each
        ...     print(state, end=" ")
        1 0 2 0 1
    """
    return VisitingScheduler(model, components)


@limited()
def uniform_scheduler(
    model: MDP, components: EndComponents, **bounds: Unpack[Bounds]
) -> np.ndarray:
    """The scheduler that takes each choice that stays with equal probability.

    It has no memory, and visits every state of the end component it starts in
    infinitely often with probability one; it may take longer for it than one that
    knows where it goes.

    Args:
        model: a concrete model.
        components: its maximal end components, or those of a part of it.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        float64 `[C]`: the probability of each choice; zero for all choices of a state
        in no component.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 0])
        >>> mdp.uniform_scheduler(model, mdp.mec(model))
        array([0.5, 0.5, 1. , 1. ])
    """
    check_model(model)
    kept = np.asarray(fields("components", components, "choice_kept")[0])
    owner = owner_of(model)
    count = np.bincount(owner[kept], minlength=model.num_states + 1)
    return np.where(kept, 1 / np.maximum(count, 1)[owner], 0.0)


# ---- the chain that is left --------------------------------------------------------


@limited()
def induced_chain(model: MDP, scheduler: Any, **bounds: Unpack[Bounds]) -> MDP:
    """The Markov chain that a model becomes under a memoryless scheduler.

    Args:
        model: a concrete model.
        scheduler: integers `[S]`, the choice of each state; or real numbers or booleans
            `[C]`, the weight of each choice among those of its state. A state without a
            choice (-1), or all of whose choices weigh nothing, is made absorbing.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A model of the same states, each with one choice, with the same initial states
        and labels.

    Raises:
        ValueError: the scheduler has another length, takes a choice that the state does
            not have, or weighs with numbers that are negative or none.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2], [1, 0.5, 0.5, 1, 1]
        ... )
        >>> chain = mdp.induced_chain(model, [1, 2, -1])
        >>> [chain.successors(state)[0].tolist() for state in range(3)]
        [[1, 2], [0], [2]]
    """
    check_model(model)
    weight = _weights(model, scheduler)
    groups, rows = np.asarray(model.row_group_offsets), np.asarray(model.row_offsets)
    owner, degree = owner_of(model), np.diff(rows)
    branch_weight = np.repeat(weight, degree)
    branch = np.flatnonzero(branch_weight > 0)
    source = np.repeat(owner, degree)[branch]
    target = np.asarray(model.columns)[branch]
    real = groups[1:] > groups[:-1]
    absorbing = real.copy()
    absorbing[source] = False
    absorbing = np.flatnonzero(absorbing)
    order = np.argsort(np.append(source, absorbing), kind="stable")
    source = np.append(source, absorbing)[order]
    probs = None
    if model.probs is not None:
        probs = np.asarray(model.probs)[branch] * branch_weight[branch]
        probs = np.append(probs, np.ones(len(absorbing)))[order]
    branches = np.bincount(source, minlength=model.num_states)
    offsets = np.append(0, np.cumsum(branches)).astype(np.int32)
    count = int(real.sum())  # padding comes last
    return MDP(
        row_group_offsets=np.append(0, np.cumsum(real)).astype(np.int32),
        row_offsets=offsets[: count + 1],
        columns=np.append(target, absorbing)[order].astype(np.int32),
        probs=probs,
        initial=model.initial,
        labels=model.labels,
    )


def _weights(model: MDP, scheduler: Any) -> np.ndarray:
    """How often a scheduler takes each choice: float64 `[C]`."""
    scheduler = as_array("scheduler", scheduler)
    integral = scheduler.dtype.kind in "iu"
    length = model.num_states if integral else model.num_choices
    if scheduler.shape != (length,) or scheduler.dtype.kind not in "iubf":
        raise ValueError(
            f"a scheduler is integers [{model.num_states}], a choice for each state, "
            f"or real numbers [{model.num_choices}], a weight for each choice; got "
            f"{scheduler.dtype} {list(scheduler.shape)}"
        )
    owner = owner_of(model)
    if integral:
        weight = np.zeros(model.num_choices)
        weight[checked_choices(model, scheduler)] = 1
        return weight
    weight = scheduler.astype(np.float64)
    wrong = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if len(wrong):
        raise ValueError(
            f"choice {wrong[0]} of state {owner[wrong[0]]} has weight "
            f"{weight[wrong[0]]}, expected a finite number that is not negative"
        )
    weight[owner == model.num_states] = 0  # padding
    total = np.bincount(owner, weights=weight, minlength=model.num_states + 1)
    return weight / np.where(total > 0, total, 1)[owner]


def checked_choices(model: MDP, scheduler: np.ndarray) -> np.ndarray:
    """The choices that a scheduler, integers `[S]`, takes, without those of -1.

    Raises:
        ValueError: it has another length, or one is not the state's.
    """
    if scheduler.shape != (model.num_states,) or scheduler.dtype.kind not in "iu":
        raise ValueError(
            f"a scheduler has a choice for each of {model.num_states} states, or a row "
            f"of these for each step, got {scheduler.dtype} {list(scheduler.shape)}"
        )
    owner = owner_of(model)
    states = np.flatnonzero(scheduler != NO_CHOICE)
    chosen = scheduler[states]
    inside = (chosen >= 0) & (chosen < len(owner))
    own = owner[np.where(inside, chosen, 0)] == states if len(owner) else inside
    wrong = np.flatnonzero(~inside | ~own)
    if len(wrong):
        state = states[wrong[0]]
        first, stop = model.row_group_offsets[state : state + 2]
        raise ValueError(
            f"the scheduler takes choice {scheduler[state]} in state {state}, "
            f"which has the choices from {first} to {stop - 1}"
        )
    return chosen

"""The quotient of a model by end components: each becomes one state."""

import dataclasses
from typing import Any, Unpack

import numpy as np

from jaxgames.arena import is_traced
from jaxgames.arguments import fields
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._region import NO_CHOICE, check_model
from jaxgames.mdp._solution import EndComponents


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Quotient:
    """A model whose components were made one state each, and where things went.

    `S`, `C` are the numbers of states and choices of the model, `T`, `D` those of the
    quotient.

    Attributes:
        model: the quotient. It has the initial states and labels of the model: a state
            has a label if one of those that it stands for has.
        new_state: int32 `[S]`, the state of the quotient that stands for each state.
        old_choice: int32 `[D]`, the choice of the model that each choice of the
            quotient is; -1 for a choice to stay.
        new_choice: int32 `[C]`, the inverse: -1 for a choice that was left out.
        component: int32 `[T]`, the component that each state stands for; -1 for a
            state that stands for one state in no component.
    """

    model: MDP
    new_state: Any
    old_choice: Any
    new_choice: Any
    component: Any

    def __repr__(self) -> str:
        return f"Quotient({len(self.new_state)} states to {self.model!r})"


@limited()
def quotient(
    model: MDP,
    components: EndComponents,
    *,
    stay: bool = False,
    **bounds: Unpack[Bounds],
) -> Quotient:
    """Makes each end component one state, with the choices that may leave it.

    A scheduler can get from any state of an end component to any other with probability
    one, so all its states have the same largest probability to reach anything outside;
    and the choices that stay inside are all that keeps values from being unique.
    Without them value iteration converges from above as well [1, 2].

    States are numbered in the order of the smallest states that they stand for, choices
    keep their order; the branches of a choice that lead to one state are made one, and
    their probabilities added. O(S + C + E log E), on the host.

    Args:
        model: a concrete model.
        components: its maximal end components, or those of a part of it.
        stay: whether each component gets a choice to stay for ever, a loop, the last of
            its choices. Without it only a component that cannot be left gets one.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the components are of another model, or are traced.

    References:
        [1] Haddad and Monmege, Interval iteration algorithm for MDPs and IMDPs, TCS 735
        (2018), doi:10.1016/j.tcs.2016.12.003.
        [2] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 2])
        >>> small = mdp.quotient(model, mdp.mec(model))
        >>> small
        Quotient(3 states to MDP(2 states, 2 choices, 2 branches))
        >>> small.new_state, small.old_choice
        (array([0, 0, 1], dtype=int32), array([ 1, -1], dtype=int32))
    """
    check_model(model)
    if is_traced((model, components)):
        raise ValueError(
            "the size of a quotient depends on the model, so quotient cannot run under "
            "jax.jit or jax.vmap"
        )
    parts = fields("components", components, "state_label", "choice_kept")
    label, kept = map(np.asarray, parts)
    if label.shape != (model.num_states,) or kept.shape != (model.num_choices,):
        raise ValueError(
            f"the components are of a model with {len(label)} states and {len(kept)} "
            f"choices, this one has {model.num_states} and {model.num_choices}"
        )
    if not isinstance(stay, bool | np.bool_):
        raise ValueError(f"stay must be True or False, got {stay!r:.80}")
    new_state, component = _numbered(label)
    size = len(component)
    owner = owner_of(model)
    old = np.flatnonzero((owner < model.num_states) & ~kept)
    home = new_state[owner[old]]
    alone = np.bincount(home, minlength=size) == 0
    stays = np.flatnonzero((component >= 0) & (stay | alone))
    order = np.argsort(np.append(home, stays), kind="stable")
    home = np.append(home, stays)[order]
    old_choice = np.append(old, np.full(len(stays), NO_CHOICE))[order]
    new_choice = np.full(model.num_choices, NO_CHOICE, np.int32)
    moved = np.flatnonzero(old_choice >= 0)
    new_choice[old_choice[moved]] = moved
    source, target, probs = _branches(model, new_state, new_choice, old_choice, stays)
    source, target, probs = _merged(source, target, probs, size)
    small = MDP(
        row_group_offsets=row_offsets(home, size),
        row_offsets=row_offsets(source, len(home)),
        columns=target.astype(np.int32),
        probs=probs,
        initial=None if model.initial is None else _once(new_state[model.initial]),
        labels=_labels(model, new_state, size),
    )
    return Quotient(
        small, new_state, old_choice.astype(np.int32), new_choice, component
    )


def _numbered(label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of the state that stands for each, and the components of these."""
    number = np.arange(len(label))
    least = np.empty(label.max(initial=-1) + 1, np.int64)
    inside = np.flatnonzero(label >= 0)[::-1]
    least[label[inside]] = inside
    stands = number.copy()
    stands[inside] = least[label[inside]]
    first = stands == number
    new = (np.cumsum(first) - 1).astype(np.int32)
    return new[stands], label[first]


def _branches(model: MDP, new_state, new_choice, old_choice, stays):
    """Choice, target and probability of each branch, loops of those who stay last."""
    rows = np.asarray(model.row_offsets)
    choice = np.repeat(new_choice, np.diff(rows))
    left = np.flatnonzero(choice >= 0)
    source = np.append(choice[left], np.flatnonzero(old_choice == NO_CHOICE))
    target = np.append(new_state[np.asarray(model.columns)[left]], stays)
    if model.probs is None:
        return source, target, None
    return source, target, np.append(np.asarray(model.probs)[left], np.ones(len(stays)))


def _merged(source, target, probs, size: int):
    """Branches in order of their choices and targets, none of them twice."""
    key = source.astype(np.int64) * size + target
    key, where = np.unique(key, return_inverse=True)
    if probs is not None:
        probs = np.bincount(where, weights=probs, minlength=len(key))
    return key // max(size, 1), key % max(size, 1), probs


def row_offsets(rows: np.ndarray, count: int) -> np.ndarray:
    """Where each row begins, from the row of each entry in ascending order."""
    return np.append(0, np.cumsum(np.bincount(rows, minlength=count))).astype(np.int32)


def _once(states: np.ndarray) -> np.ndarray:
    """Each state where it comes first."""
    _, first = np.unique(states, return_index=True)
    return states[np.sort(first)]


def _labels(model: MDP, new_state, size: int):
    if model.labels is None:
        return None
    labels = {}
    for name, mask in model.labels.items():
        labels[name] = np.zeros(size, bool)
        labels[name][new_state[np.asarray(mask)]] = True
    return labels

"""Sets of states: how users pass them, and how they are given back with a witness."""

from typing import Any, Literal, NamedTuple

import numpy as np

from jaxgames.arena import is_traced
from jaxgames.arguments import as_array
from jaxgames.mdp._checks import checked, refuse_intervals
from jaxgames.mdp._model import MDP, booleans

Optimum = Literal["min", "max"]
"""Whether schedulers do their least or their most."""

NO_CHOICE = -1
"""What a scheduler says of a state in which nothing needs to be chosen."""


class Region(NamedTuple):
    """A set of states, and how to behave there.

    Attributes:
        states: bool `[S]`, the set.
        scheduler: int32 `[S]`, the choice to take in each state of the set, which shows
            that it belongs there; -1 elsewhere, and where nothing needs to be chosen.
            None if the set is about every scheduler, so that none can show it.
    """

    states: Any
    scheduler: Any = None


def check_optimum(optimum: str) -> None:
    """Raises ValueError unless it is `"min"` or `"max"`."""
    if optimum not in ("min", "max"):
        raise ValueError(f"optimum must be 'min' or 'max', got {optimum!r}")


def check_model(model: MDP) -> tuple[MDP, Any]:
    """Refuses what is not one model whose probabilities are known.

    Returns:
        What [`checked`][jaxgames.validity.checked] does for an arena.

    Raises:
        ValueError: saying what is wrong.
    """
    check_one(model)
    refuse_intervals(model)
    return checked(model)


def check_one(model: Any) -> None:
    """Raises ValueError for what is not one model."""
    if not isinstance(model, MDP):
        raise ValueError(f"model must be an MDP, got {type(model).__name__}")
    if model.columns.ndim != 1:
        raise ValueError(
            "one model at a time, not a batch: apply jax.vmap to a function of one; "
            f"model.columns has shape {model.columns.shape}"
        )


def check_quantitative(model: MDP) -> tuple[MDP, Any]:
    """As `check_model`; also refuses what has no probabilities."""
    found = check_model(model)
    if model.probs is None:
        raise ValueError("the model has no probabilities: pass probs to from_arrays")
    return found


def as_states(name: str, model: MDP, states: Any) -> Any:
    """A set of states as booleans `[S]`.

    Args:
        name: what it is called, for messages.
        model: the model.
        states: booleans `[S]`, states by number, or the name of a label of the model.

    Raises:
        ValueError: there is no such label or state, or the array is of another kind.
    """
    if not isinstance(model, MDP):
        check_one(model)
    size = model.num_states
    if type(states) is np.ndarray and states.dtype == bool and states.shape == (size,):
        return states  # as they are passed from one function to another
    if not is_traced(model):
        check_model(model)
    if is_traced(states):
        if states.dtype != np.bool_ or states.shape != (size,):
            raise ValueError(
                f"{name} must be bool [{size}] where it is traced by jax, got "
                f"{states.dtype} {list(states.shape)}"
            )
        return states
    if isinstance(states, str):
        labels = model.labels or {}
        if states not in labels:
            there = ", ".join(map(repr, labels)) or "none"
            raise ValueError(
                f"{name}: the model has no label {states!r}; it has {there}"
            )
        return labels[states]
    array = as_array(name, states)
    if array.dtype == bool:
        return booleans(name, array, size)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"{name} must be bool [{size}], states by number, or the name of a label, "
            f"got {array.dtype} {list(array.shape)}"
        )
    array = array.astype(np.int64)
    wrong = array[(array < 0) | (array >= size)]
    if len(wrong):
        raise ValueError(
            f"{name}: there is no state {wrong[0]}, expected numbers from 0 to "
            f"{size - 1}"
        )
    mask = np.zeros(size, bool)
    mask[array] = True
    return mask


def check_masks(model: MDP, states, choices) -> tuple[Any, Any]:
    """The masks as arrays of booleans, where they are given.

    Args:
        model: the model.
        states: booleans or 0/1 `[S]`, or None.
        choices: booleans or 0/1 `[C]`, or None.

    Raises:
        ValueError: a mask has the wrong type or length, or it is an interval model.
    """
    refuse_intervals(model)
    return (
        check_mask("states", states, model.num_states),
        check_mask("choices", choices, model.num_choices),
    )


def check_mask(name: str, mask, length: int) -> Any:
    """A mask as an array of booleans, where it is given; else raises ValueError."""
    if mask is None:
        return None
    if not is_traced(mask):
        return booleans(name, mask, length)
    if mask.dtype != np.bool_ or mask.shape != (length,):
        raise ValueError(
            f"{name} must be bool [{length}], got {mask.dtype} {list(mask.shape)}"
        )
    return mask

"""Checks of the masks that choose a part of a model."""

from typing import Any

import numpy as np

from jaxgames.arena import is_traced
from jaxgames.mdp._checks import refuse_intervals
from jaxgames.mdp._model import MDP, booleans


def check_masks(model: MDP, states, choices) -> tuple[Any, Any]:
    """The masks, where they are given, as booleans; they may be 0/1.

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

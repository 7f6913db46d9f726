"""The equations of reachability, for the states whose value is open."""

from typing import NamedTuple

import numpy as np

from jaxgames.arena import bucket
from jaxgames.mdp._model import owner_of
from jaxgames.mdp._quotient import Quotient, row_offsets


class Equations(NamedTuple):
    """The open states of a quotient, numbered anew, and their equations."""

    number: np.ndarray  # int32 [T]: the number of each state that is open
    choice: np.ndarray  # int [K]: the choices of these
    groups: np.ndarray  # int [N + 1]: the choices of each open state
    rows: np.ndarray  # int [K + 1]: the branches to open states of each choice
    target: np.ndarray  # int32: where these lead
    probs: np.ndarray  # float64: their probabilities
    base: np.ndarray  # float64 [K]: probability to get to a state of value one
    slack: float


def open_part(
    small: Quotient, open_: np.ndarray, one: np.ndarray, most: int
) -> Equations:
    """The equations of the open states.

    Args:
        small: the quotient.
        open_: bool `[S]`, states of the model whose value is not known.
        one: bool `[S]`, states of the model whose value is one.
        most: no choice of the model has more branches.
    """
    model = small.model
    is_open, is_one = np.zeros((2, model.num_states), bool)
    is_open[small.new_state[open_]] = True
    is_one[small.new_state[one]] = True
    number = (np.cumsum(is_open) - 1).astype(np.int32)
    owner = owner_of(model)
    wanted = np.append(is_open, False)[owner]
    choice = np.flatnonzero(wanted)
    degree = np.diff(model.row_offsets)
    position = np.cumsum(wanted) - 1
    branch = np.flatnonzero(np.repeat(wanted, degree))
    source = np.repeat(position, degree)[branch]
    target, probs = np.asarray(model.columns)[branch], np.asarray(model.probs)[branch]
    # Relative to their sum: files round, and so do sums.
    probs = probs / np.bincount(source, weights=probs, minlength=len(choice))[source]
    to_one = is_one[target]
    base = np.bincount(source[to_one], weights=probs[to_one], minlength=len(choice))
    stays = is_open[target]
    # One after the other, four sums of at most so many terms: the quotient's, the two
    # above, and that of a round. Choices are told apart by three of these in a row.
    return Equations(
        number=number,
        choice=choice,
        groups=row_offsets(number[owner[choice]], int(is_open.sum())),
        rows=row_offsets(source[stays], len(choice)),
        target=number[target[stays]],
        probs=probs[stays],
        base=base.astype(np.float64, copy=False),  # of none numpy makes integers
        slack=(6 * most + 12) * float(np.finfo(np.float64).eps),
    )


def padded(part: Equations) -> Equations:
    """The same with states and choices added, so that many sizes compile once.

    What is added comes last: states of value zero, each with a choice or more that
    leads nowhere.
    """
    states, choices = len(part.groups) - 1, len(part.choice)
    more_states = bucket(states + 1) - states
    more_choices = bucket(choices + more_states) - choices
    groups = choices + np.arange(1, more_states + 1, dtype=np.int32)
    groups[-1] = choices + more_choices
    return part._replace(
        choice=np.pad(part.choice, (0, more_choices)),
        groups=np.append(part.groups, groups),
        rows=np.pad(part.rows, (0, more_choices), "edge"),
        base=np.pad(part.base, (0, more_choices)),
    )

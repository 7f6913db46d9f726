"""What the formats of Markov decision processes share."""

import dataclasses
import os
import warnings
from collections.abc import Iterable, Mapping

import numpy as np

from jaxgames.io import _limits
from jaxgames.io._files import FilePath, FormatError
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

_SHOWN = 8
"""How many things that are left out are named."""

_SUM_TOLERANCE = 1e-5
"""How far from one probabilities may sum up, as in `MDP.from_arrays`."""


def build(
    path: FilePath,
    row_group_offsets: np.ndarray,
    row_offsets: np.ndarray,
    columns: np.ndarray,
    probs: np.ndarray | None = None,
    branch_lines: np.ndarray | None = None,
    hint: str = "",
    **more,
) -> MDP:
    """Makes the model that a file holds.

    Args:
        path: the file.
        row_group_offsets: as in `MDP.from_arrays`, like all that follow.
        row_offsets: where the branches of each choice start.
        columns: the states that they lead to.
        probs: their probabilities.
        branch_lines: integers `[E]`, the line of each branch.
        hint: what else they may be where the probabilities do not sum up to one.
        more: labels and rewards.

    Raises:
        FormatError: the arrays are no model.
    """
    try:
        return MDP.from_arrays(row_group_offsets, row_offsets, columns, probs, **more)
    except ValueError as error:
        message = str(error)
    if branch_lines is not None and probs is not None and len(probs):
        total = np.add.reduceat(probs, row_offsets[:-1])
        off = np.flatnonzero(~(np.abs(total - 1) <= _SUM_TOLERANCE))
        if len(off):
            choice = int(off[0])
            state = int(np.searchsorted(row_group_offsets, choice, side="right")) - 1
            place = choice - row_group_offsets[state]
            raise FormatError(
                path,
                int(branch_lines[row_offsets[choice]]),
                f"the probabilities of choice {place} of state {state} sum up to "
                f"{total[choice]:.12g}, expected 1{hint}",
            )
    raise FormatError(path, None, message)


def say_left_out(path: FilePath, what: list[str], why: str) -> None:
    """Warns of what does not come through, and why; of nothing else."""
    if what:
        shown = ", ".join(what[:_SHOWN])
        if len(what) > _SHOWN:
            shown += f" and {len(what) - _SHOWN} more"
        warnings.warn(
            f"{os.fspath(path)}: left out: {shown} ({why})", UserWarning, stacklevel=2
        )


def refuse_negative(lines, words: np.ndarray, probs: np.ndarray) -> None:
    """Refuses the first probability that is negative."""
    if len(probs) and probs.min() < 0:
        lines.refuse(words[np.argmax(probs < 0)], "a probability that is not negative")


def offsets(rows: np.ndarray, count: int) -> np.ndarray:
    """Where each row starts, from the ascending row of each entry: int32."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return starts.astype(np.int32)


def named_sets(
    path: FilePath, codes: np.ndarray, sets: Iterable[Iterable[str]]
) -> dict:
    """The members of each name, where entry `i` is in the sets of number `codes[i]`.

    Raises:
        OversizeError: there are too many names for so many entries.

    Returns:
        For each name bool `[len(codes)]`, in the order of the names' first appearance.
    """
    members: dict[str, list[int]] = {}
    for number, names in enumerate(sets):
        for name in sorted(set(names)):
            members.setdefault(name, []).append(number)
    what = f"{len(members)} labels of {len(codes)} states or choices"
    _limits.check(path, None, what, len(members) * len(codes))
    found = {}
    for name, numbers in members.items():
        held = np.zeros(1 + max(int(codes.max(initial=0)), numbers[-1]), bool)
        held[numbers] = True
        found[name] = held[codes]
    return found


def is_chain(model: MDP) -> bool:
    """Whether each state has one choice; of a model without padding."""
    return model.num_choices == model.num_states


def without_padding(model: MDP) -> MDP:
    """The states, choices and branches that count, as numpy arrays."""
    states = int(np.count_nonzero(np.diff(model.row_group_offsets)))
    choices = int(model.row_group_offsets[-1])
    branches = int(model.row_offsets[choices])

    def cut(values: Mapping | None, length: int):
        return values and {name: np.asarray(x)[:length] for name, x in values.items()}

    return dataclasses.replace(
        model,
        row_group_offsets=np.asarray(model.row_group_offsets)[: states + 1],
        row_offsets=np.asarray(model.row_offsets)[: choices + 1],
        columns=np.asarray(model.columns)[:branches],
        **{
            name: None if x is None else np.asarray(x)[:branches]
            for name in ("probs", "lower", "upper")
            for x in [getattr(model, name)]
        },
        initial=None if model.initial is None else np.asarray(model.initial),
        exit_rates=None
        if model.exit_rates is None
        else np.asarray(model.exit_rates)[:states],
        labels=cut(model.labels, states),
        choice_labels=cut(model.choice_labels, choices),
        state_rewards=cut(model.state_rewards, states),
        choice_rewards=cut(model.choice_rewards, choices),
        branch_rewards=cut(model.branch_rewards, branches),
        valuations=cut(model.valuations, states),
    )


def actions(model: MDP, what: str) -> tuple[np.ndarray, list[str]]:
    """The action of each choice, from its labels.

    Returns:
        int32 `[C]`, indices into the names; 0 stands for none and has the name "".

    Raises:
        ValueError: a choice has several labels.
    """
    labels = model.choice_labels or {}
    action = np.zeros(model.num_choices, np.int32)
    for number, (name, members) in enumerate(labels.items(), 1):
        twice = np.flatnonzero(members & (action > 0))
        if len(twice):
            other = list(labels)[action[twice[0]] - 1]
            raise ValueError(
                f"choice {twice[0]} has the labels {quoted(other)} and {quoted(name)}; "
                f"{what} holds one for each choice"
            )
        action[members] = number
    return action, ["", *labels]


def places(model: MDP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where things are in a model without padding, as text formats tell it.

    Returns:
        The state of each choice; its place among the choices of the state; and the
        choice of each branch.
    """
    degree, width = np.diff(model.row_group_offsets), np.diff(model.row_offsets)
    owner = np.repeat(np.arange(model.num_states), degree)
    place = np.arange(model.num_choices) - model.row_group_offsets[owner]
    return owner, place, np.repeat(np.arange(model.num_choices), width)


def with_initial(path: FilePath, model: MDP) -> dict[str, np.ndarray]:
    """The labels of the states, with the initial ones as label `init`, which is first.

    Where a label of that name says something else, there is a warning.
    """
    initial = np.zeros(model.num_states, bool)
    if model.initial is not None:
        initial[model.initial] = True
    labels = dict(model.labels or {})
    own = labels.pop("init", None)
    if own is not None and not np.array_equal(own, initial):
        why = "there it marks the initial states; .umb holds both"
        say_left_out(path, ["label 'init'"], why)
    return {"init": initial, **labels}


def check_untimed(model: MDP) -> None:
    """Raises a ValueError for a model in continuous time, which .tra does not hold."""
    if model.exit_rates is not None:
        raise ValueError(
            ".tra cannot hold a chain with rates; .umb, .drn and .prism can"
        )


def check_probabilities(model: MDP, what: str) -> None:
    """Raises a ValueError for a model that has no probabilities."""
    if model.probs is None:
        raise ValueError(f"{what} needs probabilities, this model has none; .umb can")


def check_names(names: Iterable[str], what: str, bad: str) -> None:
    """Raises a ValueError for a name that is empty or has a character from `bad`."""
    for name in names:
        if not name or set(name) & set(bad) or any(c.isspace() for c in name):
            raise ValueError(f"{what} cannot hold the name {quoted(name)}")


def check_quotable(names: Iterable[str], what: str) -> None:
    """Raises a ValueError for a name that cannot stand between quotes on a line."""
    for name in names:
        if not name or any(c == '"' or ord(c) < 32 for c in name):
            raise ValueError(
                f"{what} cannot hold the name {quoted(name)}: it is empty, or has "
                "quotes or line ends; .umb can"
            )

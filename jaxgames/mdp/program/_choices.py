"""What can happen in some states, all of them at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames.mdp._property import PropertyError
from jaxgames.mdp.program._packed import Columns, Packed
from jaxgames.mdp.program._resolved import Change, Outcome, Ready, Resolved

SUM_TOLERANCE = 1e-5
"""How far from one probabilities may sum up, as in `MDP.from_arrays`."""


class Choices(NamedTuple):
    """Some choices, by their states in order, with branches.

    Attributes:
        row: int64 `[C]`, the state of each, ascending.
        ends: int64 `[C]`, where the branches of each end.
        probs: float64 `[B]`, or rates.
        change: int64 `[B, W]`, what each adds to the words of a state.
    """

    row: np.ndarray
    ends: np.ndarray
    probs: np.ndarray
    change: np.ndarray

    @property
    def width(self) -> np.ndarray:
        """How many branches each choice has."""
        return np.diff(self.ends, prepend=0)


class Expanded(NamedTuple):
    """What some states can do.

    Attributes:
        row: int64 `[C]`, the state of each choice, ascending.
        action: int32 `[C]`, its action by number.
        ends: int64 `[C]`, where its branches end.
        probs: float64 `[B]`, or rates.
        words: int64 `[B, W]`, where each branch leads.
    """

    row: np.ndarray
    action: np.ndarray
    ends: np.ndarray
    probs: np.ndarray
    words: np.ndarray


def expanded(program: Resolved, words: np.ndarray) -> Expanded:
    """The choices of some states.

    Args:
        program: the program.
        words: int64 `[N, W]`, the states.

    Raises:
        PropertyError: an update leads out of range, or probabilities do not sum up to
            one; it tells where and in which state.
    """
    columns = Columns(program.packed, words)
    parts: dict[tuple[int, str], Choices] = {}
    found: list[tuple[int, Choices]] = []
    with np.errstate(all="ignore"):
        for action, way in program.alternatives:
            joined = None
            for module, own in way:
                if (module, own) not in parts:
                    commands = program.commands[module].get(own, ())
                    parts[module, own] = _of_commands(program, commands, columns)
                part = parts[module, own]
                joined = part if joined is None else _together(joined, part, len(words))
                if not len(joined.row):
                    break
            assert joined is not None
            if len(joined.row):
                found.append((action, joined))
    if not found:
        none = np.zeros(0, np.int64)
        return Expanded(
            none, none.astype(np.int32), none, np.zeros(0), words[:0].copy()
        )
    merged, which = _in_order([choices for _, choices in found])
    actions = np.array([action for action, _ in found], np.int32)
    source = np.repeat(merged.row, merged.width)
    return _without_none(
        Expanded(
            merged.row,
            actions[which],
            merged.ends,
            merged.probs,
            words[source] + merged.change,
        )
    )


def _without_none(found: Expanded) -> Expanded:
    """Without branches of probability zero, and choices that are left with none."""
    kept = found.probs > 0
    if kept.all():
        return found
    ends = np.append(0, np.cumsum(kept))[found.ends]
    some = np.diff(ends, prepend=0) > 0
    return Expanded(
        found.row[some],
        found.action[some],
        ends[some],
        found.probs[kept],
        found.words[kept],
    )


# ---- one module ----------------------------------------------------------------------


def _of_commands(
    program: Resolved, commands: Sequence[Ready], columns: Columns
) -> Choices:
    """What a module can do by some commands."""
    found = []
    for command in commands:
        guard = command.guard.on(np, columns)
        if guard is False:
            continue
        rows = np.arange(len(columns))
        if guard is not True:
            rows = np.flatnonzero(np.broadcast_to(guard, (len(columns),)))
        if len(rows):
            found.append(_of_command(program, command, columns.at(rows), rows))
    if not found:
        none = np.zeros(0, np.int64)
        change = np.zeros((0, program.packed.num_words), np.int64)
        return Choices(none, none, np.zeros(0), change)
    return _in_order(found)[0]


def _of_command(
    program: Resolved, command: Ready, here: Columns, rows: np.ndarray
) -> Choices:
    count, width, packed = len(rows), len(command.outcomes), program.packed
    probs = np.empty((count, width))
    change = np.zeros((count, width, packed.num_words), np.int64)
    for number, outcome in enumerate(command.outcomes):
        probs[:, number] = outcome.probability.on(np, here)
        _check_each(program, outcome, probs[:, number], here)
        for becoming in outcome.changes:
            variable = becoming.number
            new = np.asarray(becoming.value.on(np, here), np.int64)
            old = here[variable]
            if becoming.may_leave:
                leaves = (new < becoming.low) | (new > becoming.high)
                if leaves.any():  # what is never so may lead anywhere
                    leaves = np.broadcast_to(leaves, (count,)) & (probs[:, number] > 0)
                    _refuse_leaving(packed, here, leaves, new, becoming)
                    new = np.clip(new, becoming.low, becoming.high)
            weight = np.int64(packed.weights[variable])
            change[:, number, packed.words[variable]] += (new - old) * weight
    if program.kind != "ctmc":
        _check_sums(program, command, probs, here)
    return Choices(
        rows,
        np.arange(1, count + 1) * width,
        probs.ravel(),
        change.reshape(count * width, packed.num_words),
    )


def _check_each(
    program: Resolved, outcome: Outcome, probs: np.ndarray, here: Columns
) -> None:
    """Refuses what is no probability, or no rate."""
    if outcome.probability.value is not None:
        return
    wrong = ~((probs >= 0) & (probs < np.inf))
    if wrong.any():
        at = int(np.argmax(wrong))
        what = "rate" if program.kind == "ctmc" else "probability"
        raise PropertyError(
            outcome.place,
            f"a {what} is {probs[at]:g} in state {program.packed.told(here.words[at])}",
        )


def _check_sums(
    program: Resolved, command: Ready, probs: np.ndarray, here: Columns
) -> None:
    total = probs.sum(axis=1)
    wrong = ~(np.abs(total - 1) <= SUM_TOLERANCE)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise PropertyError(
            command.place,
            f"the probabilities of this command sum up to {total[at]:.12g} in state "
            f"{program.packed.told(here.words[at])}, expected 1",
        )


def _refuse_leaving(
    packed: Packed,
    here: Columns,
    leaves: np.ndarray,
    new: np.ndarray,
    becoming: Change,
) -> None:
    if not leaves.any():
        return
    at = int(np.argmax(leaves))
    value = int(np.broadcast_to(new, leaves.shape)[at])
    raise PropertyError(
        becoming.place,
        f"{packed.names[becoming.number]} becomes {value} in state "
        f"{packed.told(here.words[at])}, which is out of its range from "
        f"{becoming.low} to {becoming.high}",
    )


# ---- putting together ----------------------------------------------------------------


def _in_order(parts: Sequence[Choices]) -> tuple[Choices, np.ndarray]:
    """The choices of several parts by state, and of which part each is."""
    if len(parts) == 1:
        return parts[0], np.zeros(len(parts[0].row), np.int64)
    row = np.concatenate([part.row for part in parts])
    which = np.repeat(np.arange(len(parts)), [len(part.row) for part in parts])
    width = np.concatenate([part.width for part in parts])
    begin = np.cumsum(width) - width
    order = np.argsort(row, kind="stable")
    width = width[order]
    ends = np.cumsum(width)
    branches = _spans(begin[order], width)
    probs = np.concatenate([part.probs for part in parts])
    change = np.concatenate([part.change for part in parts])
    found = Choices(row[order], ends, probs[branches], change[branches])
    return found, which[order]


def _together(one: Choices, other: Choices, size: int) -> Choices:
    """What two parts do at the same time: every choice of the one with each other."""
    if not len(one.row) or not len(other.row):
        none = np.zeros(0, np.int64)
        return Choices(none, none, np.zeros(0), one.change[:0])
    partners = np.bincount(other.row, minlength=size)
    first = np.cumsum(partners) - partners
    times = partners[one.row]
    left = np.repeat(np.arange(len(one.row)), times)
    row = one.row[left]
    right = _spans(first[one.row], times)
    widths = one.width, other.width
    begins = one.ends - widths[0], other.ends - widths[1]
    inner = widths[1][right]
    width = widths[0][left] * inner
    ends = np.cumsum(width)
    pair = np.repeat(np.arange(len(row)), width)
    place: Any = np.arange(len(pair)) - np.repeat(ends - width, width)
    of_one = begins[0][left][pair] + place // inner[pair]
    of_other = begins[1][right][pair] + place % inner[pair]
    return Choices(
        row,
        ends,
        one.probs[of_one] * other.probs[of_other],
        one.change[of_one] + other.change[of_other],
    )


def _spans(begin: np.ndarray, width: np.ndarray) -> np.ndarray:
    """`begin[i], begin[i] + 1, ...`, `width[i]` of them, for each i in turn."""
    ends = np.cumsum(width)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(begin - (ends - width), width)

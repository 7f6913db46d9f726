"""What can happen in some states, all of them at once."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames.mdp._model import spans
from jaxgames.mdp._property import Place, PropertyError
from jaxgames.mdp.program._expressions import Typed
from jaxgames.mdp.program._packed import Columns, Packed
from jaxgames.mdp.program._resolved import (
    Alternative,
    Change,
    Outcome,
    Ready,
    Resolved,
)

SUM_TOLERANCE = 1e-5
"""How far from one probabilities may sum up, as in `MDP.from_arrays`."""


Doing = tuple[int, str]
"""A module, and what it does of its own."""


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
    guards = _Guards(program, columns)
    parts: dict[tuple[Doing, bool], Choices] = {}
    found: list[tuple[int, Choices]] = []
    with np.errstate(all="ignore"):
        guards.look()
        for action, way in program.alternatives:
            if not guards.may_happen(way):
                continue
            joined = None
            for part in way:
                key = part, len(way) == 1
                if key not in parts:
                    parts[key] = _of_commands(program, guards, *key, columns)
                own = parts[key]
                joined = own if joined is None else _together(joined, own, len(words))
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


class _Guards:
    """Where modules can do what they do.

    What others do not join in does not happen, and is not computed: as little as what
    would be done where a guard is false it may be an error.
    """

    def __init__(self, program: Resolved, columns: Columns):
        self._program, self._columns = program, columns
        self._holding: dict[Doing, list[tuple[Ready, np.ndarray]]] = {}
        self._some: dict[Doing, np.ndarray] = {}
        self._joined: dict[Doing, np.ndarray] = {}

    def look(self) -> None:
        """Finds where there are partners for what is done together."""
        for _, way in self._program.alternatives:
            if len(way) > 1 and self.may_happen(way):
                all_of_them = functools.reduce(np.logical_and, map(self._any, way))
                for part in way:
                    before = self._joined.get(part)
                    both = all_of_them if before is None else before | all_of_them
                    self._joined[part] = both

    def may_happen(self, way: Alternative) -> bool:
        """Whether each of some parts can be done somewhere."""
        return all(self._any(part).any() for part in way)

    def rows(self, part: Doing, is_alone: bool) -> list[tuple[Ready, np.ndarray]]:
        """The commands of a part, and in which states each may be done."""
        found = []
        for command, holds in self._of(part):
            joined = holds if is_alone else holds & self._joined[part]
            found.append((command, np.flatnonzero(joined)))
        return found

    def _any(self, part: Doing) -> np.ndarray:
        if part not in self._some:
            none = np.zeros(len(self._columns), bool)
            each = [holds for _, holds in self._of(part)]
            self._some[part] = functools.reduce(np.logical_or, each, none)
        return self._some[part]

    def _of(self, part: Doing) -> list[tuple[Ready, np.ndarray]]:
        if part not in self._holding:
            module, own = part
            shape = (len(self._columns),)
            commands = self._program.commands[module].get(own, ())
            for command in commands:
                what = "a guard", command.place
                check_defined(command.guard, self._program.packed, self._columns, *what)
            self._holding[part] = [
                (x, np.broadcast_to(x.guard.on(np, self._columns), shape))
                for x in commands
            ]
        return self._holding[part]


def _of_commands(
    program: Resolved, guards: _Guards, part: Doing, is_alone: bool, columns: Columns
) -> Choices:
    """What a module can do by some commands."""
    found = [
        _of_command(program, command, columns.at(rows), rows)
        for command, rows in guards.rows(part, is_alone)
        if len(rows)
    ]
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
        what = "a rate" if program.kind == "ctmc" else "a probability"
        check_defined(outcome.probability, packed, here, what, outcome.place)
        probs[:, number] = outcome.probability.on(np, here)
        _check_each(program, outcome, probs[:, number], here)
        for becoming in outcome.changes:
            variable = becoming.number
            what = f"the new value of {packed.names[variable]}", becoming.place
            check_defined(becoming.value, packed, here, *what, probs[:, number] > 0)
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


def check_defined(
    typed: Typed,
    packed: Packed,
    here: Columns,
    what: str,
    place: Place,
    asked: Any = True,
) -> None:
    """Refuses what mod makes of a divisor that is not positive, where it is asked for.

    Raises:
        PropertyError: telling place and state.
    """
    if typed.undefined is None:
        return
    wrong = np.broadcast_to(typed.undefined(np, here) & asked, (len(here),))
    if wrong.any():
        state = packed.told(here.words[int(np.argmax(wrong))])
        raise PropertyError(
            place,
            f"{what} means nothing in state {state}: mod divides by what is not "
            "positive",
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
    branches = spans(begin[order], width)
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
    right = spans(first[one.row], times)
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

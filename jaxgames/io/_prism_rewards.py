"""PRISM's and Storm's files of rewards, which lie beside that with the transitions.

A reward structure has two: `.srew` with the rewards of states, `.trew` with those of
transitions. If there are several, the files of each have its number before the suffix.
"""

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.io import _limits, _lines, _models
from jaxgames.io._files import FilePath, FormatError
from jaxgames.io._prism_states import beside, name_beside
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

_KINDS = {".srew": "# State rewards", ".trew": "# Transition rewards"}

_COMMENTS = 8
"""How many comments are looked at for what they tell."""


class Shape(NamedTuple):
    """The table of transitions, as far as rewards are concerned."""

    groups: np.ndarray
    """integers `[S + 1]`, where the choices of each state start."""
    rows: np.ndarray
    """integers `[C + 1]`, where the branches of each choice start."""
    columns: np.ndarray
    """integers `[E]`, the state that each branch leads to."""
    tells_choices: bool
    """Whether lines tell the choice: a chain's do not."""
    of_storm: bool
    """Whether files begin without the numbers of what follows."""


def files(path: FilePath) -> Iterator[tuple[int, str | None, str | None]]:
    """The files of each structure that lie beside a `.tra` file, and its number.

    Those of `robot1.tra` are not the first of `robot.tra`.
    """
    for number in itertools.chain([""], itertools.count(1)):
        states, branches = (beside(path, suffix, number) for suffix in _KINDS)
        others = number and beside(path, ".tra", number)
        if (states or branches) and not others:
            yield int(number or 1), states, branches
        elif number:
            return


# ---- reading -------------------------------------------------------------------------


def load(path: FilePath, shape: Shape) -> dict[str, dict[str, np.ndarray]]:
    """The rewards of states, choices and branches, each by name; none where none are.

    Rewards of transitions are those of choices where the branches of each have one.
    """
    found = {"state_rewards": {}, "choice_rewards": {}, "branch_rewards": {}}
    named: set[str] = set()
    for number, of_states, of_branches in files(path):
        names: set[str] = set()
        size, branches = len(shape.groups) - 1, len(shape.columns)
        for file in (of_states, of_branches):
            if file is not None:
                taken = 8 * (branches if file is of_branches else size)
                _limits.check(path, None, f"rewards of {size} states", taken)
        states = None if of_states is None else _states(of_states, shape, names)
        values = None if of_branches is None else _branches(of_branches, shape, names)
        file = of_states or of_branches or path
        if len(names) > 1:
            raise FormatError(
                file,
                None,
                f"state and transition rewards have different names: "
                f"{quoted(sorted(names))}",
            )
        name = names.pop() if names else ""
        if not name and name in named:
            name = str(number)
        if name in named:
            raise FormatError(
                file, None, f"there are two reward structures {quoted(name)}"
            )
        named.add(name)
        if values is not None and values.any():
            starts = shape.rows[:-1]
            least = np.minimum.reduceat(values, starts)
            if np.array_equal(least, np.maximum.reduceat(values, starts)):
                found["choice_rewards"][name] = least
            else:
                found["branch_rewards"][name] = values
        elif states is None:
            states = np.zeros(size)
        if states is not None and (states.any() or values is None or not values.any()):
            found["state_rewards"][name] = states
    return {kind: rewards for kind, rewards in found.items() if rewards}


def _states(file: str, shape: Shape, names: set[str]) -> np.ndarray:
    size = len(shape.groups) - 1
    (state,), values, line = _table(file, ".srew", shape, [("a state", size)], names)
    order = np.argsort(state, kind="stable")
    twice = np.flatnonzero(state[order][1:] == state[order][:-1])
    if len(twice):
        at = order[twice[0] + 1]
        raise FormatError(file, int(line[at]), f"state {state[at]} has two rewards")
    found = np.zeros(size)
    found[state] = values
    return found


def _branches(file: str, shape: Shape, names: set[str]) -> np.ndarray:
    """The reward of each branch."""
    size, choices = len(shape.groups) - 1, len(shape.rows) - 1
    columns = [("a state", size), ("a choice", choices), ("a state", size)]
    if not shape.tells_choices:
        del columns[1]
    numbers, values, line = _table(file, ".trew", shape, columns, names)
    state, target = numbers[0].astype(np.int64), numbers[-1]
    choice = shape.groups[state].astype(np.int64)
    if shape.tells_choices:
        choice += numbers[1]
        beyond = np.flatnonzero(choice >= shape.groups[state + 1])
        if len(beyond):
            at = beyond[0]
            message = f"state {state[at]} has no choice {numbers[1][at]}"
            raise FormatError(file, int(line[at]), message)
    # Lines and branches are matched by choice and target, several in their order.
    of_branch = np.repeat(np.arange(choices), np.diff(shape.rows))
    branch_key = of_branch.astype(np.int64) * size + shape.columns
    line_key = choice * size + target
    branch, order = (np.argsort(x, kind="stable") for x in (branch_key, line_key))
    branch_key, line_key = branch_key[branch], line_key[order]
    first = np.searchsorted(branch_key, line_key, "left")
    there = np.searchsorted(branch_key, line_key, "right") - first
    told = np.searchsorted(line_key, line_key, "right")
    begin = np.searchsorted(line_key, line_key, "left")
    wrong = (there == 0) | ((told - begin != there) & (told - begin != 1))
    if wrong.any():
        at = order[np.argmax(wrong)]
        where = f"transition from {state[at]} to {target[at]}"
        why = (
            f"there is no {where}"
            if there[np.argmax(wrong)] == 0
            else (
                f"the {where} occurs {there[np.argmax(wrong)]} times in the model, but "
                "another number of times here"
            )
        )
        raise FormatError(file, int(line[at]), why)
    found = np.zeros(len(shape.columns))
    width = np.where(told - begin == 1, there, 1)
    place = np.where(told - begin == 1, 0, np.arange(len(order)) - begin) + first
    ends = np.cumsum(width)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - width, width)
    found[branch[np.repeat(place, width) + within]] = np.repeat(values[order], width)
    return found


def _table(
    file: str,
    suffix: str,
    shape: Shape,
    columns: list[tuple[str, int]],
    names: set[str],
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The columns of a file, its last of real numbers, and the line of each entry.

    `columns` tells what the first columns are, and how many there are of each; `names`
    gets the name of the structure, if it has one.
    """
    width, reals = len(columns) + 1, _lines.Reals()
    announced: int | None = None
    parts = [(np.empty((0, width - 1), np.int64), np.empty(0), np.empty(0, np.int64))]
    begun = False
    for lines in _lines.read(file):
        comments = lines.initials == ord("#")
        if comments.any() and not begun:
            names |= _name(lines, suffix)
        headed = not shape.of_storm or bool(comments.any())
        lines = lines.keep(~comments)
        if not begun and len(lines.number):
            begun = True
            if headed:
                announced = _announced(lines, suffix, shape)
                lines = lines.skip(1)
            elif not lines.words(0)[0].isdecimal():
                lines = lines.skip(1)  # Storm's name of the model
        expected = " ".join(what.split()[-1] for what, _ in columns)
        lines.expect(lines.count == width, f"'{expected} reward'")
        first = lines.first[:-1]
        numbers = [
            lines.integers(first + k, what, 0, count - 1)
            for k, (what, count) in enumerate(columns)
        ]
        values = lines.reals(first + width - 1, "a reward", reals)
        parts.append((np.stack(numbers, axis=1), values, lines.number))
    if not begun and not shape.of_storm:
        raise FormatError(file, None, "the file is empty")
    numbers, values, line = (np.concatenate(part) for part in zip(*parts, strict=True))
    _lines.check_count(file, announced, len(values), "reward")
    return list(numbers.T), values, line


def _name(lines: _lines.Lines, suffix: str) -> set[str]:
    """The structure's name, if a comment tells one; refuses the other kind of file."""
    found: set[str] = set()
    for line in np.flatnonzero(lines.initials == ord("#"))[:_COMMENTS].tolist():
        text = lines.text(line)
        if text in _KINDS.values() and text != _KINDS[suffix]:
            expected = f"expected '{_KINDS[suffix]}'"
            lines.fail(line, f"{expected}, found {quoted(text)}")
        if name := re.fullmatch(r'# Reward structure "([^"]*)"', text):
            found.add(name[1])
    return found


def _announced(lines: _lines.Lines, suffix: str, shape: Shape) -> int:
    """How many rewards the first line announces; what else it tells must be so."""
    sizes = {"states": len(shape.groups) - 1}
    if suffix == ".trew" and shape.tells_choices:
        sizes["choices"] = len(shape.rows) - 1
    words = np.arange(lines.first[0], lines.first[1])
    if len(words) != len(sizes) + 1:
        expected = f"'{' '.join(sizes)} rewards' in numbers"
        lines.fail(0, f"expected {expected}, found {quoted(lines.text(0))}")
    found = lines.integers(words, "a size", 0, MAX_SIZE).tolist()
    for (what, size), number in zip(sizes.items(), found[:-1], strict=True):
        if number != size:
            lines.fail(0, f"expected {size} {what} as in the model, found {number}")
    return found[-1]


# ---- writing -------------------------------------------------------------------------


class Structure(NamedTuple):
    """A reward structure, as it is written."""

    name: str
    states: np.ndarray
    """float64 `[S]`."""
    branches: np.ndarray
    """float64 `[E]`, what choices and branches have together."""


def structures(model: MDP) -> list[Structure]:
    """The reward structures of a model without padding."""
    kinds = model.state_rewards, model.choice_rewards, model.branch_rewards
    names = dict.fromkeys(name for rewards in kinds for name in rewards or ())
    width = np.diff(model.row_offsets)
    found = []
    for name in names:
        states, choices, branches = (
            np.zeros(length) if name not in (rewards or {}) else (rewards or {})[name]
            for rewards, length in zip(
                kinds,
                (model.num_states, model.num_choices, model.num_branches),
                strict=True,
            )
        )
        found.append(Structure(name, states, np.repeat(choices, width) + branches))
    return found


class File(NamedTuple):
    """A file to be written."""

    path: str
    suffix: str
    structure: Structure


def plan(path: FilePath, found: list[Structure], style: str) -> list[File]:
    """The files to be written for some structures.

    PRISM writes both for each, Storm reads no empty ones.
    """
    files = []
    for number, structure in enumerate(found, 1):
        numbered = number if len(found) > 1 else ""
        parts = {".srew": structure.states, ".trew": structure.branches}
        for suffix, values in parts.items():
            if style == "prism" or values.any():
                name = name_beside(path, suffix, numbered)
                files.append(File(name, suffix, structure))
    return files


def save(file: File, model: MDP, style: str) -> None:
    """Writes one of them."""
    structure, columns = file.structure, []
    if file.suffix == ".srew":
        some = np.flatnonzero(structure.states)
        sizes, values = f"{model.num_states}", structure.states[some]
        columns = [some]
    else:
        owner, place, of = _models.places(model)
        # All branches of a choice are told or none, as PRISM wants it.
        told = np.logical_or.reduceat(structure.branches != 0, model.row_offsets[:-1])
        some = np.flatnonzero(told[of])
        values = structure.branches[some]
        sizes = f"{model.num_states} {model.num_choices}"
        columns = [owner[of[some]], place[of[some]], model.columns[some]]
        if _models.is_chain(model):
            sizes = f"{model.num_states}"
            del columns[1]
    name = f' "{structure.name}"' if structure.name else ""
    head = f"# Reward structure{name}\n{_KINDS[file.suffix]}\n{sizes} {len(some)}\n"
    texts: list[_lines.Column] = []
    for column in columns:
        texts += [_lines.decimals(column), b" "]
    head = "" if style == "storm" else head
    _lines.write(file.path, head, *texts, _lines.reals(values), b"\n")


def stale(path: FilePath, written: set[str]) -> str | None:
    """A file of rewards that would be read with a `.tra` file and is not replaced."""
    for _, *found in files(path):
        for file in found:
            if file is not None and file not in written:
                return file
    return None


def unsaid(found: list[Structure]) -> list[str]:
    """What Storm's files cannot hold of some structures."""
    return [
        f"the name {quoted(structure.name)} of a reward model"
        for structure in found
        if structure.name
    ] + [
        f"the reward model {quoted(structure.name)}, which is zero"
        for structure in found
        if not structure.states.any() and not structure.branches.any()
    ]


def check_names(found: list[Structure]) -> None:
    """Refuses names that PRISM's files cannot hold."""
    _models.check_quotable([x.name for x in found if x.name], ".srew")

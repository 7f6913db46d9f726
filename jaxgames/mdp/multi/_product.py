"""A model with a memory of which objectives are over, and what each choice gains."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp._model import MDP, spans

UNBOUNDED = -1


class Part(NamedTuple):
    """What is gained of one objective, before signs.

    Attributes:
        kind: `"until"`, gained once `right` is met by way of `left`; `"next"`,
            likewise, not in the first state; `"before"`, rewards until `right`;
            `"total"`, all rewards; `"limit"`, decided by end components.
        left: bool `[S]`, or None.
        right: bool `[S]`, or None.
        reward: float64 `[C]`, or None.
        last: the last step that counts, or `UNBOUNDED`.
        terms: of limits: pairs of a set that is left at most finitely often, bool
            `[S]`, and a list of sets each of which is met again and again.
    """

    kind: str
    left: Any = None
    right: Any = None
    reward: Any = None
    last: int = UNBOUNDED
    terms: Any = ()


class Product(NamedTuple):
    """What can be reached from a state of a model, and what is over by then.

    Attributes:
        model: states, choices and branches; the first state is the initial one.
        gains: float64 `[C, D]`, what each choice gains of each objective.
        paid: float64 `[C, D]`, what of that are rewards; the rest is the probability of
            branches ...
        wins: bool `[E, D]`, ... on which the goal of an objective is entered.
        start: float64 `[D]`, what is gained before the first step.
        state: int64 `[S]`, the state of the model.
        memory: int64 `[S]`, which objectives are over, and steps that were counted.
        choice: int64 `[C]`, the choice of the model.
    """

    model: MDP
    gains: np.ndarray
    paid: np.ndarray
    wins: np.ndarray
    start: np.ndarray
    state: np.ndarray
    memory: np.ndarray
    choice: np.ndarray


def product(model: MDP, initial: int, parts: list[Part]) -> Product:
    """The product of a model with what has to be remembered of objectives.

    A state is explored with, for each objective, the number of steps that were counted
    (zero where there is no bound), or that it is over.

    Args:
        model: a concrete model with probabilities.
        initial: the state where all begins.
        parts: the objectives.
    """
    groups, rows = (
        np.asarray(x).astype(np.int64)
        for x in (model.row_group_offsets, model.row_offsets)
    )
    columns = np.asarray(model.columns).astype(np.int64)
    probs = np.asarray(model.probs, np.float64)
    many = np.diff(rows)
    total = np.add.reduceat(probs[: rows[-1]], rows[:-1]) if len(many) else probs
    # How many digits the memory of each objective has; the last one says it is over.
    bases = [_digits(part) for part in parts]
    size, dims = model.num_states, len(parts)
    start, digits = np.zeros(dims), []
    for j, part in enumerate(parts):
        gain, digit = _entered(part, np.array([initial]), np.zeros(1, np.int64))
        start[j] = gain[0]
        digits.append(digit)
    first = initial + size * _packed(digits, bases)
    known = np.array(first)
    frontier = known
    found: list[tuple] = []
    while len(frontier):
        limits.tick("exploring", len(known), "states")
        state, memory = frontier % size, frontier // size
        lengths = groups[state + 1] - groups[state]
        place = np.repeat(np.arange(len(state)), lengths)
        choice = spans(groups[state], lengths)
        width = many[choice]
        branch_of = np.repeat(np.arange(len(choice)), width)
        branch = spans(rows[choice], width)
        weight = probs[branch] / total[choice[branch_of]]
        target = columns[branch]
        before = _unpacked(memory[place][branch_of], bases)
        gains, paid = np.zeros((2, len(choice), dims))
        wins = np.zeros((len(branch), dims), bool)
        after = []
        for j, part in enumerate(parts):
            own = _unpacked(memory[place], bases)[j]
            gain, digit = _moved(part, before[j], target)
            gains[:, j] += np.bincount(branch_of, weight * gain, minlength=len(choice))
            wins[:, j] = gain > 0
            if part.reward is not None:
                ends = part.kind == "before" or part.last != UNBOUNDED
                over = ends & (own == bases[j] - 1)
                paid[:, j] = np.where(over, 0.0, part.reward[choice])
                gains[:, j] += paid[:, j]
            after.append(digit)
        code = target + size * _packed(after, bases)
        found.append(
            (frontier, lengths, choice, width, code, weight, gains, paid, wins)
        )
        fresh = np.unique(code)
        frontier = fresh[~np.isin(fresh, known)]
        known = np.concatenate([known, frontier])
        limits.check_room(len(known) * 64, "the product")
    codes, lengths, choice, width, code, weight, gains, paid, wins = (
        np.concatenate(x) for x in zip(*found, strict=True)
    )
    order = np.argsort(codes)
    columns = order[np.searchsorted(codes, code, sorter=order)]
    made = MDP(
        row_group_offsets=np.append(0, np.cumsum(lengths)).astype(np.int32),
        row_offsets=np.append(0, np.cumsum(width)).astype(np.int32),
        columns=columns.astype(np.int32),
        probs=weight,
    )
    memory = codes // size
    return Product(made, gains, paid, wins, start, codes % size, memory, choice)


def _digits(part: Part) -> int:
    if part.kind in ("until", "next", "before"):
        return 2 if part.last == UNBOUNDED else part.last + 2
    return 1 if part.last == UNBOUNDED else part.last + 1


def _packed(digits: list, bases: list[int]) -> np.ndarray:
    found: Any = 0
    for digit, base in zip(digits, bases, strict=True):
        found = found * base + digit
    return found


def _unpacked(memory: np.ndarray, bases: list[int]) -> list[np.ndarray]:
    found = []
    for base in reversed(bases):
        found.append(memory % base)
        memory = memory // base
    return found[::-1]


def _entered(part: Part, state, count) -> tuple[np.ndarray, np.ndarray]:
    """What is gained on entering states after steps, and what is remembered."""
    over = _digits(part) - 1
    if part.kind in ("until", "next"):
        won = part.right[state] & ((part.kind == "until") | (count > 0))
        lost = ~part.left[state]
        if part.last != UNBOUNDED:
            lost = lost | (count >= part.last)
        return won.astype(np.float64), np.where(won | lost, over, count)
    if part.kind == "before":
        return np.zeros(len(state)), np.where(part.right[state], over, count)
    if part.last != UNBOUNDED:
        return np.zeros(len(state)), np.minimum(count, over)
    return np.zeros(len(state)), np.zeros(len(state), np.int64)


def _moved(part: Part, digit, target) -> tuple[np.ndarray, np.ndarray]:
    """What is gained on a step, and what is remembered after it."""
    if _digits(part) == 1:
        return np.zeros(len(target)), np.zeros(len(target), np.int64)
    over = _digits(part) - 1
    done = digit == over
    count = digit + (part.last != UNBOUNDED)
    gain, after = _entered(part, target, count)
    return np.where(done, 0.0, gain), np.where(done, over, after)

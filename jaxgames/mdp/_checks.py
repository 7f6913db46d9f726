"""Checks of what users pass as a model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import MAX_SIZE, WORDS, is_traced, pays
from jaxgames.arguments import as_array
from jaxgames.host import compiled, on_all_cores
from jaxgames.tuning.mdp import ADDED_AT_ONCE as BLOCK
from jaxgames.validity import Fault, Rules
from jaxgames.value import freeze, is_settled, ours

SUM_TOLERANCE = 1e-5
"""How far from one the probabilities of a choice may sum up, as files round them."""


def precision(epsilon: Any) -> None:
    """Raises ValueError where a precision is no positive number."""
    try:
        good = np.ndim(epsilon) == 0 and bool(0 < epsilon < np.inf)
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ValueError(f"epsilon must be a positive number, got {epsilon!r}")


def _array(name: str, values) -> np.ndarray:
    if is_traced(values):
        raise ValueError(
            f"{name} is traced by jax: models are built on the host; build it outside "
            "and pass it to the jitted function as an argument"
        )
    array = as_array(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")
    return array


def integers(name: str, values) -> np.ndarray:
    """What a user passed as integers: flat, of any type.

    Raises:
        ValueError: it is none, or too long.
    """
    array = _array(name, values)
    if array.size == 0 and not hasattr(values, "dtype"):
        array = array.astype(np.int32)  # an empty list
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, got {array.dtype}")
    if len(array) > MAX_SIZE:
        raise ValueError(f"{name} is longer than int32 can index: {len(array)}")
    return array


def offsets(name: str, values) -> np.ndarray:
    """What a user passed as offsets: int32, ascending from 0.

    Raises:
        ValueError: it is none.
    """
    array = integers(name, values)
    if len(array) == 0 or array[0] != 0:
        begins = "is empty" if len(array) == 0 else f"begins with {array[0]}"
        raise ValueError(f"{name} must ascend from 0, but {begins}")
    falls = np.flatnonzero(array[1:] < array[:-1])
    if len(falls):
        at = falls[0]
        raise ValueError(
            f"{name} must ascend, but falls from {array[at]} to {array[at + 1]} "
            f"at index {at + 1}"
        )
    if array[-1] > MAX_SIZE:
        raise ValueError(f"{name} ends with {array[-1]}, more than int32 can index")
    return ours(array.astype(np.int32, copy=False), values)


def taken_at_once(
    row_group_offsets: Any, row_offsets: Any, columns: Any, probs: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, bool] | None:
    """The rows of a large model, checked by all cores while they are copied.

    Each entry is read once. What nobody can write to, and is of the right type, is
    shared.

    Args:
        row_group_offsets: what a user passed as such, like all that follow.
        row_offsets: offsets of branches.
        columns: targets of branches.
        probs: probabilities, or None.

    Returns:
        They as int32 and float64 of our own, and whether no probability is zero. None
        if something is wrong, or it is no large model, or not one in plain arrays:
        then the checks that say what is wrong are due.
    """
    given = row_group_offsets, row_offsets, columns
    plain = all(_is_plain(x, "iu") for x in given)
    plain = plain and (probs is None or _is_plain(probs, "iuf"))
    if not plain or len(columns) > MAX_SIZE or not pays(len(columns)):
        return None
    choices = len(row_offsets) - 1
    if not 0 < len(row_group_offsets) - 1 <= choices <= len(columns):
        return None
    if row_group_offsets[0] != 0 or row_group_offsets[-1] != choices:
        return None
    if row_offsets[0] != 0 or row_offsets[-1] != len(columns):
        return None
    if probs is None:
        weights = np.empty(0)
    elif len(probs) == len(columns):
        weights = probs.astype(np.float64, copy=False)
    else:
        return None
    # Offsets of two types, and rare types, are converted: machine code is made for
    # each mixture. There are four.
    words = [_as_words(x) for x in given]
    if words[0].dtype != words[1].dtype:
        words[:2] = [x.astype(np.int64, copy=False) for x in words[:2]]
    arrays = *words, weights
    kinds = *(np.int32,) * 3, np.float64
    shared = [
        x.dtype == kind and is_settled(x) for x, kind in zip(arrays, kinds, strict=True)
    ]
    copies = tuple(
        np.empty(0 if same else len(x), kind)
        for x, same, kind in zip(arrays, shared, kinds, strict=True)
    )
    found = np.zeros(2, np.bool_)
    tolerance = np.float64(SUM_TOLERANCE)
    on_all_cores(
        _take_branches, choices, arrays, copies, tolerance, found, work=len(columns)
    )
    wrong, zero = found.tolist()
    if wrong:
        return None
    for x, copy, same in zip(arrays[:2], copies, shared, strict=False):
        if not same:
            copy[-1] = x[-1]
    taken = [
        x if same else freeze(copy)
        for x, copy, same in zip(arrays, copies, shared, strict=True)
    ]
    return *taken[:3], None if probs is None else taken[3], not zero  # type: ignore


def _is_plain(array: Any, kinds: str) -> bool:
    """Whether these are numbers of such kinds in a row."""
    if type(array) is not np.ndarray or array.ndim != 1:
        return False
    flags = array.flags
    return array.dtype.kind in kinds and flags.c_contiguous and flags.aligned


def _as_words(array: np.ndarray) -> np.ndarray:
    """Integers as int32 or int64: too large ones are negative."""
    if array.dtype in WORDS:
        return array
    if array.dtype == np.uint64:
        return array.view(np.int64)
    return array.astype(np.int64)


@compiled
def _take_branches(given, copies, tolerance, found, begin, end):
    """Copies the rows of some choices, and as large a part of those of states.

    Finds whether anything is wrong, and whether a probability is zero.
    """
    row_group_offsets, row_offsets, columns, probs = given
    groups, rows, targets, weights = copies
    states, choices = len(row_group_offsets) - 1, len(row_offsets) - 1
    branches = len(columns)
    signs = _take_offsets(
        row_group_offsets, groups, states * begin // choices, states * end // choices
    )
    signs |= _take_offsets(row_offsets, rows, begin, end)
    first = max(np.int64(row_offsets[begin]), 0)
    last = min(np.int64(row_offsets[end]), branches)
    signs |= _take_columns(columns, targets, states, first, last)
    if len(probs) > 0:
        # What was just copied is added up: it is near by.
        for block in range(begin // BLOCK, (end - 1) // BLOCK + 1):
            one = max(begin, block * BLOCK)
            other = min(end, (block + 1) * BLOCK)
            first = max(np.int64(row_offsets[one]), 0)
            last = min(np.int64(row_offsets[other]), branches)
            positive, zero = _take_probs(probs, weights, first, last)
            good = _sum_up(row_offsets, probs, tolerance, one, other)
            if not (positive & good):
                signs = np.int64(-1)
            if zero:
                found[1] = True
    if signs < 0:
        found[0] = True


@compiled
def _take_offsets(offsets, copy, begin, end):
    """Copies offsets, if there is room; negative where one is, or they do not ascend.

    A number is negative if one of those that are joined is: this is all that is asked,
    and sooner than by comparisons.
    """
    signs = np.int64(0)
    if len(copy) > 0:
        for i in range(max(begin, 0), end):
            here = np.int64(offsets[i])
            copy[i] = here
            signs |= here | (offsets[i + 1] - here - 1)
    else:
        for i in range(max(begin, 0), end):
            here = np.int64(offsets[i])
            signs |= here | (offsets[i + 1] - here - 1)
    return signs


@compiled
def _take_columns(columns, copy, states, begin, end):
    """Copies states, if there is room; negative if one is none."""
    signs = np.int64(0)
    if len(copy) > 0:
        for i in range(max(begin, 0), end):
            state = np.int64(columns[i])
            copy[i] = state
            signs |= state | (states - 1 - state)
    else:
        for i in range(max(begin, 0), end):
            state = np.int64(columns[i])
            signs |= state | (states - 1 - state)
    return signs


@compiled
def _take_probs(probs, copy, begin, end):
    """Copies probabilities, if there is room; whether all are sound, one is zero."""
    good, zero = True, False
    if len(copy) > 0:
        for i in range(max(begin, 0), end):
            copy[i] = probs[i]
            good &= probs[i] >= 0.0
            zero |= probs[i] == 0.0
    else:
        for i in range(max(begin, 0), end):
            good &= probs[i] >= 0.0
            zero |= probs[i] == 0.0
    return good, zero


@compiled
def _sum_up(row_offsets, probs, tolerance, begin, end):
    """Whether the probabilities of some choices sum up to one.

    Of a short row a few more are read, and count nothing: nobody could predict how long
    it is. What that makes of an infinite one is wrong, too.
    """
    branches, good = len(probs), True  # said so that it is false of what is no number
    for choice in range(max(begin, 0), end):
        first = np.int64(row_offsets[choice])
        last = np.int64(row_offsets[choice + 1])
        many = last - first
        if first >= 0 and first + 4 <= branches and many <= 4:
            total = probs[first] + probs[first + 1] * (many > 1)
            total += probs[first + 2] * (many > 2) + probs[first + 3] * (many > 3)
        else:
            total = 0.0
            for branch in range(max(first, 0), min(last, branches)):
                total += probs[branch]
        good &= (total - 1.0 <= tolerance) & (1.0 - total <= tolerance)
    return good


def rows(
    row_group_offsets: Any, row_offsets: Any, columns: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a user passed as the rows of a model, each as int32.

    Args:
        row_group_offsets: integers `[S + 1]`.
        row_offsets: integers `[C + 1]`.
        columns: integers `[E]`.

    Raises:
        ValueError: they are none, naming the state and the choice.
    """
    row_group_offsets = offsets("row_group_offsets", row_group_offsets)
    row_offsets = offsets("row_offsets", row_offsets)
    given, columns = columns, integers("columns", columns)
    size, choices = len(row_group_offsets) - 1, len(row_offsets) - 1
    ends("row_group_offsets", row_group_offsets, choices, "choices in row_offsets")
    ends("row_offsets", row_offsets, len(columns), "branches in columns")
    empty = np.flatnonzero(row_group_offsets[1:] == row_group_offsets[:-1])
    if len(empty):
        raise ValueError(
            f"state {empty[0]} has no choice{and_more(empty)}: every state needs "
            "one, such as a choice that leads back to it"
        )
    empty = np.flatnonzero(row_offsets[1:] == row_offsets[:-1])
    if len(empty):
        where = of_choice(row_group_offsets, empty[0])
        raise ValueError(f"{where} has no branches{and_more(empty)}")
    if len(columns) and (columns.min() < 0 or columns.max() >= size):
        branch = int(np.flatnonzero((columns < 0) | (columns >= size))[0])
        raise ValueError(
            f"{of_branch(row_group_offsets, row_offsets, branch)} leads to state "
            f"{columns[branch]}, expected a state from 0 to {size - 1}"
        )
    columns = ours(columns.astype(np.int32, copy=False), given)
    return row_group_offsets, row_offsets, columns


def ends(name: str, offsets: np.ndarray, count: int, what: str) -> None:
    """Raises ValueError unless offsets end with the number of what they point into."""
    if offsets[-1] != count:
        raise ValueError(
            f"{name} must end with the number of {what} ({count}), got {offsets[-1]}"
        )


def probabilities(values, row_group_offsets, row_offsets) -> np.ndarray:
    """What a user passed as probabilities: float64 `[E]`.

    Args:
        values: what was passed.
        row_group_offsets: int32 `[S + 1]`.
        row_offsets: int32 `[C + 1]`.

    Raises:
        ValueError: naming the state and the choice.
    """
    probs = reals("probs", values, row_offsets[-1], "branch")
    bad = np.flatnonzero(~(probs >= 0))  # or no number
    if len(bad):
        raise ValueError(
            f"{of_branch(row_group_offsets, row_offsets, bad[0])} has probability "
            f"{probs[bad[0]]}, expected a number that is not negative"
        )
    total = np.add.reduceat(probs, row_offsets[:-1]) if len(probs) else probs
    off = np.flatnonzero(~(np.abs(total - 1) <= SUM_TOLERANCE))
    if len(off):
        raise ValueError(
            f"the probabilities of {of_choice(row_group_offsets, off[0])} sum up to "
            f"{total[off[0]]}, expected 1{and_more(off)}"
        )
    return probs


def bounds(lower, upper, probs, row_group_offsets, row_offsets):
    """What a user passed as bounds of probabilities: float64 `[E]` twice, or None.

    Raises:
        ValueError: only one is there, or probabilities are too, or none lie between;
            names the state and the choice.
    """
    if lower is None and upper is None:
        return None, None
    if lower is None or upper is None or probs is not None:
        raise ValueError(
            "pass either probs, or lower and upper: the two bounds of an interval model"
        )
    lower = reals("lower", lower, row_offsets[-1], "branch")
    upper = reals("upper", upper, row_offsets[-1], "branch")
    bad = np.flatnonzero(~((lower >= 0) & (lower <= upper) & (upper <= 1)))
    if len(bad):
        at = bad[0]
        raise ValueError(
            f"{of_branch(row_group_offsets, row_offsets, at)} has bounds {lower[at]} "
            f"and {upper[at]}, expected 0 <= lower <= upper <= 1"
        )
    if len(lower):
        least = np.add.reduceat(lower, row_offsets[:-1])
        most = np.add.reduceat(upper, row_offsets[:-1])
        off = np.flatnonzero((least > 1 + SUM_TOLERANCE) | (most < 1 - SUM_TOLERANCE))
        if len(off):
            at = off[0]
            raise ValueError(
                f"the bounds of {of_choice(row_group_offsets, at)} sum up to "
                f"{least[at]} and {most[at]}, expected 1 between them{and_more(off)}"
            )
    return lower, upper


def refuse_intervals(model) -> None:
    """Raises ValueError for a model that has only bounds of its probabilities.

    And for one that is none, as far as that is seen without being traced.
    """
    if not is_traced(model) and np.ndim(model.columns) == 1:
        checked(model)
    if model.lower is not None:
        raise ValueError(
            "this is an interval model: it has bounds of probabilities, with which "
            "mdp.check alone computes; else choose probabilities between them, "
            "dataclasses.replace(model, probs=..., lower=None, upper=None)"
        )


def numbers(name: str, values, length: int) -> np.ndarray:
    """What a user passed as values of a variable: int64, float64 or bool `[length]`.

    Raises:
        ValueError: it is none, or has another length.
    """
    array = _array(name, values)
    if array.dtype == bool:
        return booleans(name, array, length)
    array = _real(name, array, length, "state")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"{name} has no number for state {np.isnan(array).argmax()}")
    kind = np.float64 if array.dtype.kind == "f" else np.int64
    return ours(array.astype(kind, copy=False), values)


def reals(name: str, values, length: int, each: str = "entry") -> np.ndarray:
    """What a user passed as real numbers: float64 `[length]`.

    Raises:
        ValueError: it is none, or has another length.
    """
    array = _real(name, _array(name, values), length, each)
    return ours(array.astype(np.float64, copy=False), values)


def _real(name: str, array: np.ndarray, length: int, each: str) -> np.ndarray:
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold real numbers, got {array.dtype}")
    if len(array) != length:
        raise ValueError(
            f"{name} must have one {each} each, {length}, got {len(array)}"
        )
    return array


def booleans(name: str, values, length: int) -> np.ndarray:
    """What a user passed as a set: bool `[length]`; else raises ValueError."""
    array = _array(name, values)
    zero_one = array.dtype.kind in "iu" and np.isin(array, (0, 1)).all()
    if array.dtype != bool and not zero_one and len(array):
        raise ValueError(f"{name} must hold booleans or 0/1, got {array.dtype}")
    if len(array) != length:
        raise ValueError(f"{name} must have {length} entries, got {len(array)}")
    return ours(array.astype(bool, copy=False), values)


def named(what: str, values, check, length: int) -> dict[str, np.ndarray] | None:
    """What a user passed as arrays by name, each checked; None stays.

    Raises:
        ValueError: it is no mapping, or one of them is wrong.
    """
    if values is None:
        return None
    if not isinstance(values, Mapping) or not all(isinstance(k, str) for k in values):
        raise ValueError(f"{what}s must be a mapping from names, got {values!r}")
    return {k: check(f"{what} {k!r}", x, length) for k, x in values.items()}


def of_choice(row_group_offsets: np.ndarray, choice) -> str:
    """How messages name a choice: by its state, and its place among that one's."""
    state = int(np.searchsorted(row_group_offsets, choice, side="right")) - 1
    place = choice - row_group_offsets[state]
    return f"choice {choice} (number {place} of state {state})"


def of_branch(row_group_offsets, row_offsets, branch) -> str:
    """How messages name a branch."""
    choice = int(np.searchsorted(row_offsets, branch, side="right")) - 1
    return f"branch {branch} of {of_choice(row_group_offsets, choice)}"


def and_more(found: np.ndarray) -> str:
    """How messages speak of what was found beside the first."""
    return f" (and {len(found) - 1} more)" if len(found) > 1 else ""


# ---- models that somebody made by hand, or that are traced ---------------------


def checked(model: Any) -> tuple[Any, Any]:
    """Refuses what is no model.

    Returns:
        What [`checked`][jaxgames.validity.checked] does for an arena.

    Raises:
        ValueError: saying what is wrong with it.
    """
    return validity.sound(model, MODEL)


def sound(model: Any) -> Any:
    """The model, of which it is known that nothing is wrong."""
    validity.known(model)
    return model


def _shapes(model: Any, batch: tuple[int, ...]) -> None:
    depth = len(batch)
    for name in ("row_group_offsets", "row_offsets", "columns"):
        values = getattr(model, name)
        if (
            np.ndim(values) != depth + 1
            or getattr(values, "dtype", np.dtype(bool)).kind != "i"
        ):
            raise ValueError(
                f"{name} must hold integers along {depth + 1} axes, got "
                f"{getattr(values, 'dtype', type(values).__name__)} of shape "
                f"{np.shape(values)}"
            )
    states, choices = (
        model.row_group_offsets.shape[-1] - 1,
        model.row_offsets.shape[-1] - 1,
    )
    branches = model.columns.shape[-1]
    if min(states, choices) < 0:
        raise ValueError("row_group_offsets and row_offsets must begin with 0")
    for name, size in (
        ("probs", branches),
        ("lower", branches),
        ("upper", branches),
        ("labels", states),
        ("choice_labels", choices),
        ("state_rewards", states),
        ("choice_rewards", choices),
        ("branch_rewards", branches),
    ):
        found = getattr(model, name)
        parts = found if isinstance(found, Mapping) else {"": found}
        for part, values in parts.items():
            if values is None:
                continue
            where = f"{name}[{part!r}]" if part else name
            kinds = "b" if "labels" in name else "f"
            if np.shape(values) != (*batch, size):
                raise ValueError(
                    f"{where} must have shape {(*batch, size)}, got {np.shape(values)}"
                )
            dtype = getattr(values, "dtype", None)
            if dtype is None or dtype.kind not in kinds:
                wanted = "bool" if kinds == "b" else "real numbers"
                found_there = type(values).__name__ if dtype is None else dtype
                raise ValueError(
                    f"{where} must be an array of {wanted}, got {found_there}"
                )


def _faults(xp: Any, model: Any) -> list[Fault]:
    index = np.result_type(
        np.int32, *(xp.asarray(x).dtype for x in (model.row_offsets, model.columns))
    )
    groups, rows, columns = (
        xp.asarray(x).astype(index)
        for x in (model.row_group_offsets, model.row_offsets, model.columns)
    )
    size, choices, branches = (x.shape[-1] for x in (groups, rows, columns))
    size, choices = size - 1, choices - 1
    found = []
    for name, values, most in (
        ("row_group_offsets", groups, choices),
        ("row_offsets", rows, branches),
    ):

        def says(at: int, name=name, values=values, most=most) -> str:
            return (
                f"{name} must ascend from 0 to at most {most}, but {name}[{at}] is "
                f"{values[at]}"
            )

        found += [
            Fault(values[..., :1] != 0, says),
            Fault(
                values[..., 1:] < values[..., :-1], lambda at, says=says: says(at + 1)
            ),
            Fault(
                values[..., -1:] > most, lambda _, says=says, v=values: says(v.size - 1)
            ),
        ]
    real = xp.arange(choices, dtype=index) < groups[..., -1:]
    found.append(
        Fault(
            real & (rows[..., 1:] <= rows[..., :-1]),
            lambda at: f"{of_choice(groups, at)} has no branches",
        )
    )
    found.append(
        Fault(
            (columns < 0) | (columns >= size),
            lambda at: (
                f"columns[{at}] is {columns[at]}, expected a state from 0 to {size - 1}"
            ),
        )
    )
    if model.probs is not None:
        probs = xp.asarray(model.probs)
        found.append(
            Fault(
                ~((probs >= 0) & (probs <= 1 + SUM_TOLERANCE)),
                lambda at: f"probs[{at}] is {probs[at]}, expected a number from 0 to 1",
            )
        )
    if model.initial is not None:
        initial = xp.asarray(model.initial)
        found.append(
            Fault(
                (initial < 0) | (initial >= size),
                lambda at: f"initial[{at}] is {initial[at]}, which is no state",
            )
        )
    return [fault for fault in found if fault.wrong.shape[-1]]


def _harmless(model: Any) -> dict[str, Any]:
    """Nobody has a choice."""
    names = ["row_group_offsets", "row_offsets", "columns"]
    names += ["initial"] if model.initial is not None else []
    return {name: getattr(model, name) * 0 for name in names}


def _sums(model: Any) -> None:
    """Raises ValueError where the probabilities of a choice do not sum up to one."""
    if model.probs is not None:
        choices = model.row_group_offsets[-1]
        rows = model.row_offsets[: choices + 1]
        probabilities(model.probs[: rows[-1]], model.row_group_offsets, rows)


MODEL = Rules(_shapes, _faults, _harmless, _sums)
"""When a model is one."""


def rates(given: Any, probs: Any, row_group_offsets: np.ndarray) -> np.ndarray | None:
    """The rates at which the states of a Markov chain are left.

    Raises:
        ValueError: there is a choice, or a rate is no positive number; or there are no
            probabilities.
    """
    if given is None:
        return None
    size = len(row_group_offsets) - 1
    found = reals("exit_rates", given, size)
    if probs is None:
        raise ValueError(
            "exit_rates are for models with probabilities, and probs is None"
        )
    many = np.flatnonzero(np.diff(row_group_offsets) > 1)
    if len(many):
        raise ValueError(
            f"state {many[0]} has several choices{and_more(many)}: in continuous time "
            "only Markov chains are known"
        )
    wrong = np.flatnonzero(~((found > 0) & (found < np.inf)))
    if len(wrong):
        raise ValueError(
            f"the exit rate of state {wrong[0]} is {found[wrong[0]]:g}, expected a "
            "positive number"
        )
    return found

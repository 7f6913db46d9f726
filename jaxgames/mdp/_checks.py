"""Checks of what users pass as a model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import MAX_SIZE, is_traced, pays
from jaxgames.arguments import as_array
from jaxgames.host import compiled, on_all_cores
from jaxgames.validity import Fault, Rules
from jaxgames.value import ours

SUM_TOLERANCE = 1e-5
"""How far from one the probabilities of a choice may sum up, as files round them."""


def precision(epsilon: Any) -> None:
    """Raises ValueError where a precision is no positive number."""
    try:
        good = bool(0 < epsilon < np.inf)
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


def offsets(name: str, values, known: bool = False) -> np.ndarray:
    """What a user passed as offsets: int32, ascending from 0, which may be `known`.

    Raises:
        ValueError: it is none.
    """
    array = integers(name, values)
    if len(array) == 0 or array[0] != 0:
        begins = "is empty" if len(array) == 0 else f"begins with {array[0]}"
        raise ValueError(f"{name} must ascend from 0, but {begins}")
    falls = np.flatnonzero(not known and array[1:] < array[:-1])
    if len(falls):
        at = falls[0]
        raise ValueError(
            f"{name} must ascend, but falls from {array[at]} to {array[at + 1]} "
            f"at index {at + 1}"
        )
    if array[-1] > MAX_SIZE:
        raise ValueError(f"{name} ends with {array[-1]}, more than int32 can index")
    return ours(array.astype(np.int32, copy=False), values)


def looks_sound(row_offsets, columns, probs, states: int) -> bool:
    """Whether all cores, in one pass over a large model, find nothing wrong with it.

    If so, rows ascend and are not empty, columns are states, and probabilities are
    positive and sum up to one. If not, the checks that say what is wrong are due.
    """
    given = row_offsets, columns, *(() if probs is None else (probs,))
    plain = all(
        type(x) is np.ndarray and x.ndim == 1 and x.flags.c_contiguous for x in given
    )
    if not plain or len(columns) > MAX_SIZE or not pays(len(columns)):
        return False
    types = {row_offsets.dtype, columns.dtype}
    if types not in ({np.dtype(np.int32)}, {np.dtype(np.int64)}) or (
        probs is not None and (probs.dtype != np.float64 or len(probs) != len(columns))
    ):
        return False
    wrong = np.zeros(1, np.bool_)
    on_all_cores(
        _look_at_branches, len(row_offsets) - 1, row_offsets, columns, states, wrong
    )
    if not wrong[0] and probs is not None:
        tolerance = np.float64(SUM_TOLERANCE)
        on_all_cores(
            _look_at_sums, len(row_offsets) - 1, row_offsets, probs, tolerance, wrong
        )
    return not wrong[0]


@compiled
def _look_at_branches(row_offsets, columns, states, wrong, begin, end):
    bad, branches = False, len(columns)
    for choice in range(max(begin, 0), end):
        first, last = row_offsets[choice], row_offsets[choice + 1]
        if first < 0 or last > branches or first >= last:
            bad = True
        else:
            for branch in range(first, last):
                bad |= (columns[branch] < 0) | (columns[branch] >= states)
    if bad:
        wrong[0] = True


@compiled
def _look_at_sums(row_offsets, probs, tolerance, wrong, begin, end):
    good = True  # said so that it is false of what is no number
    for choice in range(max(begin, 0), end):
        total = 0.0
        for branch in range(row_offsets[choice], row_offsets[choice + 1]):
            good &= probs[branch] > 0.0
            total += probs[branch]
        good &= (total - 1.0 <= tolerance) & (1.0 - total <= tolerance)
    if not good:
        wrong[0] = True


def ends(name: str, offsets: np.ndarray, count: int, what: str) -> None:
    """Raises ValueError unless offsets end with the number of what they point into."""
    if offsets[-1] != count:
        raise ValueError(
            f"{name} must end with the number of {what} ({count}), got {offsets[-1]}"
        )


def probabilities(
    values, row_group_offsets, row_offsets, known: bool = False
) -> np.ndarray:
    """What a user passed as probabilities: float64 `[E]`.

    Args:
        values: what was passed.
        row_group_offsets: int32 `[S + 1]`.
        row_offsets: int32 `[C + 1]`.
        known: whether it is known that they are such.

    Raises:
        ValueError: naming the state and the choice.
    """
    probs = reals("probs", values, row_offsets[-1], "branch")
    if known:
        return probs
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
                ~(probs >= 0),
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

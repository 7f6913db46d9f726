"""Textbook definitions of the notions, decided one by one, without games.

Bisimulation by splitting classes of a partition; the simulations as greatest fixpoints
on pairs of processes; the notions of traces by determinisation of both processes at
once, comparing what is observed at each set; futures by comparing languages of the
processes reached. Exponential, to be read and to be compared with.

References:
    van Glabbeek: The linear time - branching time spectrum I. 2001.
    https://doi.org/10.1016/B978-044482830-9/50019-9
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Row = list[tuple[int, int]]
"""Label and target of each transition of a process."""


def rows_of(system: Any) -> list[Row]:
    """The transitions of each process of a `System`."""
    offsets = system.offsets.tolist()
    steps = list(zip(system.label.tolist(), system.target.tolist(), strict=True))
    return [steps[i:j] for i, j in zip(offsets[:-1], offsets[1:], strict=True)]


def bisimulation(rows: list[Row]) -> np.ndarray:
    """The bisimilarity class of each process, numbered by their first ones."""
    classes = [0] * len(rows)
    while True:
        numbers: dict = {}
        keys = [
            (classes[p], frozenset((a, classes[t]) for a, t in row))
            for p, row in enumerate(rows)
        ]
        refined = [numbers.setdefault(key, len(numbers)) for key in keys]
        if refined == classes:
            return np.array(classes, np.int32)
        classes = refined


def preorder(rows: list[Row], notion: str) -> np.ndarray:
    """Whether each process is below each other one by a notion: bool `[V, V]`."""
    return _PREORDERS[notion](rows)


def enabled(rows: list[Row], p: int) -> frozenset[int]:
    """The labels that a process enables."""
    return frozenset(a for a, _ in rows[p])


def after(rows: list[Row], processes: frozenset[int], action: int) -> frozenset[int]:
    """What some of the processes reach by an action."""
    return frozenset(t for q in processes for a, t in rows[q] if a == action)


# ---- simulations ------------------------------------------------------------


def _simulation(
    rows: list[Row], start: np.ndarray, *, both: bool = False
) -> np.ndarray:
    """The largest simulation within a relation: p below q if q can do what p does.

    With `both`, p can do what q does as well.
    """
    below = start.copy()
    size = len(rows)
    while True:
        kept = below.copy()
        for p in range(size):
            for q in range(size):
                fine = all(
                    any(b == a and below[s, t] for b, t in rows[q]) for a, s in rows[p]
                )
                if both and fine:
                    fine = all(
                        any(b == a and below[s, t] for b, s in rows[p])
                        for a, t in rows[q]
                    )
                kept[p, q] &= fine
        if (kept == below).all():
            return below
        below = kept


def _everything(rows: list[Row]) -> np.ndarray:
    return np.ones((len(rows), len(rows)), bool)


def _same_enabled(rows: list[Row]) -> np.ndarray:
    sets = [enabled(rows, p) for p in range(len(rows))]
    return np.array([[one == other for other in sets] for one in sets])


def _below_enabled(rows: list[Row]) -> np.ndarray:
    sets = [enabled(rows, p) for p in range(len(rows))]
    return np.array([[one <= other for other in sets] for one in sets])


# ---- notions of traces ------------------------------------------------------


def _linear(
    observed: Callable[[list[Row], int, frozenset[int]], bool],
    *,
    kept: Callable[[list[Row], int, int], bool] | None = None,
) -> Callable[[list[Row]], np.ndarray]:
    """A preorder on traces: whatever p shows after a trace, q can show after it.

    On the way only those are kept that show what the other side shows; or all.
    """

    def holds(rows: list[Row], p: int, q: int) -> bool:
        waiting, seen = [(p, frozenset([q]))], set()
        while waiting:
            pair = waiting.pop()
            if pair in seen:
                continue
            seen.add(pair)
            one, others = pair
            if not observed(rows, one, others):
                return False
            if kept is not None:
                others = frozenset(o for o in others if kept(rows, one, o))
            waiting += [(t, after(rows, others, a)) for a, t in rows[one]]
        return True

    def relation(rows: list[Row]) -> np.ndarray:
        size = range(len(rows))
        return np.array([[holds(rows, p, q) for q in size] for p in size])

    return relation


def _some(rows: list[Row], p: int, others: frozenset[int]) -> bool:
    """Traces: there is a process to go on from."""
    return bool(others)


def _refuses(rows: list[Row], p: int, others: frozenset[int]) -> bool:
    """Failures: what p refuses, some other refuses: it enables no more."""
    return any(enabled(rows, q) <= enabled(rows, p) for q in others)


def _revives(rows: list[Row], p: int, others: frozenset[int]) -> bool:
    """Revivals: what p refuses while doing an action, some other does too."""
    own = enabled(rows, p)
    refusing = [enabled(rows, q) for q in others if enabled(rows, q) <= own]
    return bool(refusing) and own <= frozenset().union(*refusing)


def _ready(rows: list[Row], p: int, others: frozenset[int]) -> bool:
    """Readiness: some other enables exactly the same."""
    return any(enabled(rows, q) == enabled(rows, p) for q in others)


def _enables_no_more(rows: list[Row], p: int, q: int) -> bool:
    return enabled(rows, q) <= enabled(rows, p)


def _enables_the_same(rows: list[Row], p: int, q: int) -> bool:
    return enabled(rows, q) == enabled(rows, p)


_traces = _linear(_some)


def _impossible_futures(rows: list[Row]) -> np.ndarray:
    """What p can not do later on, some other can not do after the same trace."""
    within = _traces(rows)
    return _linear(lambda rows, p, others: any(within[q, p] for q in others))(rows)


def _possible_futures(rows: list[Row]) -> np.ndarray:
    """The traces of p after a trace are those of some other after the same trace."""
    within = _traces(rows)
    same = within & within.T
    return _linear(lambda rows, p, others: any(same[p, q] for q in others))(rows)


_PREORDERS: dict[str, Callable[[list[Row]], np.ndarray]] = {
    "enabledness": _below_enabled,
    "traces": _traces,
    "failures": _linear(_refuses),
    "revivals": _linear(_revives),
    "readiness": _linear(_ready),
    "failure_traces": _linear(_refuses, kept=_enables_no_more),
    "readiness_traces": _linear(_ready, kept=_enables_the_same),
    "impossible_futures": _impossible_futures,
    "possible_futures": _possible_futures,
    "simulation": lambda rows: _simulation(rows, _everything(rows)),
    "ready_simulation": lambda rows: _simulation(rows, _same_enabled(rows)),
    "nested_2simulation": lambda rows: _simulation(
        rows, _simulation(rows, _everything(rows)).T
    ),
    "bisimulation": lambda rows: _simulation(rows, _everything(rows), both=True),
}


# ---- silent steps -----------------------------------------------------------


def weak_preorder(rows: list[Row], silent: set[int], notion: str) -> np.ndarray:
    """Whether each process is below each other one, where some labels are silent.

    For some of the notions of the weak spectrum: bool `[V, V]`.
    """
    if notion == "weak_traces":
        return _weak_traces(rows, silent)
    if notion in ("weak_ready_simulation", "nested_2weak_simulation"):
        return _within_a_converse(rows, silent, notion)
    return _weak_simulation(rows, silent, **_WEAK_SIMULATIONS[notion])


def quiet(rows: list[Row], silent: set[int], p: int) -> frozenset[int]:
    """What a process reaches by silent steps, itself included."""
    found, waiting = {p}, [p]
    while waiting:
        new = {t for a, t in rows[waiting.pop()] if a in silent} - found
        found |= new
        waiting += new
    return frozenset(found)


def _weak_traces(rows: list[Row], silent: set[int]) -> np.ndarray:
    reach = [quiet(rows, silent, p) for p in range(len(rows))]
    saturated = [
        [(a, t) for q in reach[p] for a, s in rows[q] if a not in silent
         for t in reach[s]]
        for p in range(len(rows))
    ]  # fmt: skip
    return _traces(saturated)


def _within_a_converse(rows: list[Row], silent: set[int], notion: str) -> np.ndarray:
    """The largest weak simulation in a relation that looks at both processes."""
    how = _WEAK_SIMULATIONS["weak_simulation"]
    if notion == "nested_2weak_simulation":
        within = _weak_simulation(rows, silent, **how).T
    else:
        reach = [quiet(rows, silent, p) for p in range(len(rows))]
        enabled = [
            {a for q in reached for a, _ in rows[q] if a not in silent}
            for reached in reach
        ]
        within = np.array([[one == other for other in enabled] for one in enabled])
    return _weak_simulation(rows, silent, **how, within=within)


def _weak_simulation(
    rows: list[Row],
    silent: set[int],
    *,
    both: bool,
    stays: bool,
    settles: bool,
    within: np.ndarray | None = None,
) -> np.ndarray:
    """The largest simulation, or bisimulation, that allows silent steps.

    Args:
        rows: the transitions.
        silent: the silent labels.
        both: whether the relation is symmetric.
        stays: whether the process before the step of the answer is still related.
        settles: whether silent steps may follow the step of the answer.
        within: bool `[V, V]`, the relation that it is part of; None for any.
    """
    size = len(rows)
    reach = [quiet(rows, silent, p) for p in range(size)]
    below = np.ones((size, size), bool) if within is None else within

    def answered(p: int, a: int, target: int, q: int) -> bool:
        if a in silent and below[target, q]:
            return True
        return any(
            b == a and (not stays or below[p, before])
            and any(below[target, end] for end in (reach[t] if settles else {t}))
            for before in reach[q]
            for b, t in rows[before]
        )  # fmt: skip

    while True:
        kept = np.array(
            [
                [
                    below[p, q] and all(answered(p, a, t, q) for a, t in rows[p])
                    for q in range(size)
                ]
                for p in range(size)
            ]
        )
        if both:
            kept &= kept.T
        if (kept == below).all():
            return below
        below = kept


_WEAK_SIMULATIONS: dict[str, dict[str, Any]] = {
    "weak_simulation": {"both": False, "stays": False, "settles": True},
    "eta_simulation": {"both": False, "stays": True, "settles": True},
    "weak_bisimulation": {"both": True, "stays": False, "settles": True},
    "delay_bisimulation": {"both": True, "stays": False, "settles": False},
    "eta_bisimulation": {"both": True, "stays": True, "settles": True},
    "branching_bisimulation": {"both": True, "stays": True, "settles": False},
}

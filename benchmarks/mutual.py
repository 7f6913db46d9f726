"""Randomised mutual exclusion of any number of processes, without a model checker.

The model is that of PRISM's case study `mutual`: A. Pnueli and L. Zuck, Verification of
multiprocess probabilistic protocols, Distributed Computing 1 (1986),
doi:10.1007/BF01843570. It has the states, choices and branches that Storm builds.
"""

import numpy as np

from jaxgames.mdp import MDP

BITS = 4
"""Of the place of a process, from 0 to 15."""

TWO = {0: (0, 1), 3: (4, 7), 9: (4, 7)}
"""Where a process may go either way: by choice, or by a fair coin from 9."""

NEXT = {1: 2, 5: 6, 8: 9, 10: 11, 12: 0, 13: 14, 15: 0}
"""Where it goes on whatever the others do."""


def mutual(processes: int) -> MDP:
    """The model of so many processes, from 2 to 6; its states are in order."""
    states = _reachable(processes)
    number = np.full(1 << BITS * processes, -1, np.int32)
    number[states] = np.arange(len(states), dtype=np.int32)
    places = _places(states, processes)
    targets = number[_targets(states, processes)]  # [S, P, 2]
    # Of each state and process: how many choices there are, and branches of all.
    choices = np.where(np.isin(places, (0, 3)), 2, 1)
    branches = np.where(np.isin(places, tuple(TWO)), 2, 1)
    groups = np.append(0, np.cumsum(choices.sum(axis=1)))
    first = np.repeat((branches // choices).ravel(), choices.ravel())
    rows = np.append(0, np.cumsum(first))
    there = np.arange(2) < branches[:, :, None]
    return MDP.from_arrays(
        groups.astype(np.int32),
        rows.astype(np.int32),
        targets[there],
        np.repeat(1 / first, first),
        initial=[0],
    )


def _reachable(processes: int) -> np.ndarray:
    """The states that are reached from the one in which all are at 0, packed."""
    seen = np.zeros(1 << BITS * processes, bool)
    front = np.zeros(1, np.int32)
    while len(front):
        seen[front] = True
        after = np.zeros_like(seen)
        after[_targets(front, processes).ravel()] = True
        front = np.flatnonzero(after & ~seen).astype(np.int32)
    return np.flatnonzero(seen).astype(np.int32)


def _places(states: np.ndarray, processes: int) -> np.ndarray:
    """Where each process is: int8 `[S, P]`."""
    shifts = BITS * np.arange(processes)
    return (states[:, None] >> shifts & (1 << BITS) - 1).astype(np.int8)


def _targets(states: np.ndarray, processes: int) -> np.ndarray:
    """Packed states after a step of each process, either way: int32 `[S, P, 2]`."""
    places = _places(states, processes)
    found = np.empty((len(states), processes, 2), np.int32)
    within = {
        "low to tie": (places >= 4) & (places <= 13),
        "admit": places >= 14,
        "high or admit": np.isin(places, (4, 5)) | (places >= 10),
        "enter": (places == 2) | (places == 3),
        "high to admit": np.isin(places, (4, 5, 6)) | (places >= 9),
    }
    count = {name: inside.sum(axis=1) for name, inside in within.items()}
    for process in range(processes):
        here = places[:, process]

        def others(name, process=process):
            return count[name] > within[name][:, process]

        free = ~others("low to tie")
        step = np.zeros((2, len(states)), np.int32)
        for place, after in NEXT.items():
            step[:, here == place] = after
        for place, ways in TWO.items():
            step[0, here == place], step[1, here == place] = ways
        for place, open_, yes, no in (
            (2, free | others("admit"), 3, 2),
            (4, others("high or admit"), 5, 10),
            (6, others("high or admit"), 6, 9),
            (7, ~others("high to admit"), 8, 7),
            (11, free, 13, 12),
            (14, ~others("enter"), 15, 14),
        ):
            step[:, here == place] = np.where(open_[here == place], yes, no)
        moved = (step - here.astype(np.int32)) << BITS * process
        found[:, process] = (states + moved).T
    return found

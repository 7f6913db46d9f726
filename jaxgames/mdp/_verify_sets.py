"""Searches of those who check: each looks at every branch once.

They share nothing with the searches of those who solve.
"""

from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.host import linear


class Ways(NamedTuple):
    """Branches by where they lead.

    Attributes:
        starts: int64 `[S + 1]`, where those into each state begin.
        choice: int32 `[E]`, their choices.
        owner: int32 `[C]`, the state of each choice; S for one that is none's.
    """

    starts: np.ndarray
    choice: np.ndarray
    owner: np.ndarray

    @classmethod
    def of(
        cls, target: np.ndarray, choice: np.ndarray, owner: np.ndarray, size: int
    ) -> "Ways":
        """Those of branches, each with its target and its choice, int `[E]`."""
        starts = np.zeros(size + 1, np.int64)
        found = np.empty(len(target), np.int32)
        _sorted_by(target, choice.astype(np.int32, copy=False), starts, found)
        return cls(starts, found, np.minimum(owner, size).astype(np.int32, copy=False))

    def reached(
        self, mark: np.ndarray, passed: np.ndarray, choices: np.ndarray
    ) -> np.ndarray:
        """What is marked, and what gets there by some choices through some states.

        Args:
            mark: bool `[S]`.
            passed: bool `[S]`, the states that may be marked.
            choices: bool `[C]`, those that may be taken.
        """
        limits.tick("verifying")
        found = mark.copy()
        _spread(*self, found, passed, choices, False)
        return found

    def forced(
        self, mark: np.ndarray, passed: np.ndarray, choices: np.ndarray
    ) -> np.ndarray:
        """What is marked, and what may get there whatever is chosen: as `reached`.

        A state without such a choice is forced, too.
        """
        limits.tick("verifying")
        found = mark.copy()
        _spread(*self, found, passed, choices, True)
        return found


@linear
def _sorted_by(target, choice, starts, found):
    """Sorts choices by the targets of their branches, by counting; writes to both."""
    for e in range(len(target)):
        starts[target[e]] += 1
    end = 0
    for s in range(len(starts)):
        end += starts[s]
        starts[s] = end
    for e in range(len(target) - 1, -1, -1):
        s = target[e]
        starts[s] -= 1
        found[starts[s]] = choice[e]


@linear
def _spread(starts, choice, owner, mark, passed, choices, every):
    """Marks states one choice of which may lead to a mark; or every one."""
    size = len(mark)
    free = np.zeros(size + 1, np.int32)  # choices of each that lead to no mark so far
    safe = choices.copy()
    for c in range(len(owner)):
        if choices[c]:
            free[owner[c]] += 1
    waiting, count = np.empty(size, np.int32), 0
    for s in range(size):
        mark[s] |= every and passed[s] and free[s] == 0
        if mark[s]:
            waiting[count] = s
            count += 1
    while count > 0:
        count -= 1
        s = waiting[count]
        for i in range(starts[s], starts[s + 1]):
            c = choice[i]
            if not safe[c]:
                continue
            safe[c] = False
            before = owner[c]
            free[before] -= 1
            if (
                before < size
                and (free[before] == 0 or not every)
                and passed[before]
                and not mark[before]
            ):
                mark[before] = True
                waiting[count] = before
                count += 1

"""The front door to bisimilarity."""

from typing import TYPE_CHECKING

from jaxgames import drive, fixpoint
from jaxgames.equivalence._classes import Classes
from jaxgames.equivalence._problem import PROBLEM
from jaxgames.progress import Meter, Progress
from jaxgames.solver import Solver

if TYPE_CHECKING:
    from jaxgames.io import LTS


def bisimulation(
    lts: "LTS",
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> Classes:
    """The strong bisimilarity class of each state of a labelled transition system.

    O(E log E) for each round, at most as many rounds as there are classes.

    Args:
        lts: the system.
        solver: `"refinement"`, an array program; a solver with options of its own;
            `"host"`, loops that look only at what has changed; `"race"` for both at
            once; `"auto"` takes the device where it is an accelerator and the system is
            large. The classes are the same.
        max_steps: rounds on the device at most, those of `state` counted in. None: no
            limit.
        state: `solution.state` of an earlier call with the same system and solver, to
            go on where it stopped.
        throw: whether to raise where the refinement stopped early.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits].
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        [`Classes`][jaxgames.equivalence.Classes]. Where it stopped early no class is
        known.

    Raises:
        ValueError: an argument is wrong.
        SolveError: the refinement stopped early and `throw` is set. Its `solution` has
            the state to go on from.

    Examples:
        >>> from jaxgames.io import LTS
        >>> found = bisimulation(LTS.from_edges([0, 1, 2, 3], "abab", [1, 2, 3, 0]))
        >>> found
        Classes(2 of 4 states)
        >>> found.labels
        array([0, 1, 0, 1], dtype=int32)
    """
    return drive.solve(
        PROBLEM,
        lts,
        solver,
        max_steps=max_steps,
        state=state,
        throw=throw,
        progress=progress,
        deadline=deadline,
        memory=memory,
    )

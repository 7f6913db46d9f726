"""The front door to bisimilarity."""

from typing import TYPE_CHECKING, Unpack

from jaxgames import drive
from jaxgames.equivalence._classes import Classes
from jaxgames.equivalence._problem import PROBLEM
from jaxgames.solver import Solver

if TYPE_CHECKING:
    from jaxgames.io import LTS


@drive.front_door
def bisimulation(
    lts: "LTS",
    solver: str | Solver = "auto",
    **how: Unpack[drive.How],
) -> Classes:
    """The strong bisimilarity class of each state of a labelled transition system.

    O(E log E) for each round, at most as many rounds as there are classes.

    Args:
        lts: the system.
        solver: `"refinement"`, an array program; a solver with options of its own;
            `"host"`, loops that look only at what has changed; `"race"` for both at
            once; `"auto"` takes the race where there is an accelerator and the system
            is large, else the host. The classes are the same.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

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
    return drive.solve(PROBLEM, lts, solver, **how)

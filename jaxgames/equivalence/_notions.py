"""The notions of equivalence, as budgets of the spectroscopy game.

Process p is below q in the preorder of a notion if the attacker cannot win the game of
p and {q} with the notion's budget, and both are equivalent if each is below the other.
Components are those of [`_game`][jaxgames.equivalence], and 3 is no limit. The formula
that is always true counts as a conjunction, so that the numbers of conjunctions are one
more than in the paper.

References:
    van Glabbeek: The linear time - branching time spectrum I. 1990/2001.
    https://doi.org/10.1007/BFb0039066
    Bisping: Process equivalence problems as energy games. CAV 2023, figure 3.
    arXiv:2303.08904
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

STRONG: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "enabledness": (1, 1, 0, 0, 0, 0),
        "traces": (3, 1, 0, 0, 0, 0),
        "failures": (3, 2, 0, 0, 1, 1),
        "revivals": (3, 2, 1, 0, 1, 1),
        "readiness": (3, 2, 1, 1, 1, 1),
        "failure_traces": (3, 3, 3, 0, 1, 1),
        "readiness_traces": (3, 3, 3, 1, 1, 1),
        "impossible_futures": (3, 2, 0, 0, 3, 1),
        "possible_futures": (3, 2, 3, 3, 3, 1),
        "simulation": (3, 3, 3, 3, 0, 0),
        "ready_simulation": (3, 3, 3, 3, 1, 1),
        "nested_2simulation": (3, 3, 3, 3, 3, 1),
        "bisimulation": (3, 3, 3, 3, 3, 3),
    }
)
"""The budget of each notion of the strong spectrum, from the coarsest to the finest."""

NOTIONS: tuple[str, ...] = tuple(STRONG)
"""Names of the notions of the strong spectrum."""


def check_notion(notion: str, notions: Collection[str] = STRONG) -> None:
    """Raises ValueError, naming the notions that there are, unless it is one."""
    if notion not in notions:
        raise ValueError(
            f"no notion is called {notion!r}; there are " + ", ".join(notions)
        )


def covers(notions: Mapping[str, tuple[int, ...]] = STRONG) -> list[tuple[str, str]]:
    """Pairs of notions of which the first is next coarser: the lattice's edges.

    Examples:
        >>> [coarse for coarse, fine in covers() if fine == "bisimulation"]
        ['nested_2simulation']
    """
    budgets = np.array(list(notions.values()))
    below = (budgets[:, None] <= budgets[None]).all(-1)
    below &= ~np.eye(len(budgets), dtype=bool)
    through = (below.astype(int) @ below) > 0
    names = list(notions)
    return [(names[i], names[j]) for i, j in np.argwhere(below & ~through).tolist()]

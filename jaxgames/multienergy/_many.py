"""Many games in one call: side by side, as one."""

from collections.abc import Sequence
from typing import Any

from jaxgames.multienergy._batch import parted, union
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._solution import Fronts
from jaxgames.multienergy._solve import solve
from jaxgames.solver import Solver


def solve_many(
    games: Sequence[Game], solver: str | Solver = "auto", **options: Any
) -> list[Fronts]:
    """Solves many games in one call: all of them side by side, as one game.

    [`jaxgames.solve_many`][jaxgames.solve_many] does that too, for games that differ
    in dimensions and caps.

    Args:
        games: concrete games; all have the same dimensions and caps.
        solver: as for [`solve`][jaxgames.multienergy.solve].
        options: the other keywords of `solve`.

    Returns:
        The fronts of each game; their `state` is None.

    Raises:
        ValueError: games differ in dimensions or caps, or as for `solve`.
        SolveError: as for `solve`.

    Examples:
        >>> from jaxgames import multienergy
        >>> games = [
        ...     multienergy.Game.from_arrays(
        ...         [0, 1, 1], [1], [0], [[-k, 0]], defender=[0, 1], cap=5
        ...     )
        ...     for k in (1, 2, 3)
        ... ]
        >>> [found.budgets(0).tolist() for found in multienergy.solve_many(games)]
        [[[1, 0]], [[2, 0]], [[3, 0]]]
    """
    if len(games) == 0:
        return []
    return parted(games, solve(union(games), solver, **options))

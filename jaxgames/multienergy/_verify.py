"""The certificate check of minimal budgets."""

from typing import Any, Unpack

import numpy as np

from jaxgames.arena import is_traced
from jaxgames.arguments import as_array, check_array, check_offsets
from jaxgames.limits import Bounds, limited
from jaxgames.multienergy import host
from jaxgames.multienergy._checks import checked
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._solution import Fronts
from jaxgames.multienergy._verdict import Verdict


@limited()
def verify(
    game: Game,
    fronts: Any,
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks minimal budgets without trusting who found them.

    The budgets of a position must be sorted, and none above another one. With each the
    attacker must win: played forwards, one of his moves, and all of the defender's,
    must leave at least a listed budget that wins in fewer moves. And there must be no
    others: what is needed for a move to a listed budget must be listed, or more than
    what is. Both together say that the budgets are the least solution, and nothing of
    it is how a solver finds them. The host looks at every edge for every pair of
    budgets at its ends, once for each rank; compiled where numba is installed.

    Args:
        game: a concrete game.
        fronts: [`Fronts`][jaxgames.multienergy.Fronts], or a pair of `offsets`
            `[V + 1]` and `points` `[P, D]`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A [`Verdict`][jaxgames.multienergy.Verdict]: true if all is right, else the
        reason and the first position where it shows.

    Raises:
        ValueError: budgets are traced, or have a wrong shape.

    Examples:
        >>> from jaxgames import multienergy
        >>> game = multienergy.Game.from_arrays(
        ...     [0, 1, 1], [1], [0], [[-2, 0]], defender=[False, True]
        ... )
        >>> print(multienergy.verify(game, multienergy.solve(game)))
        valid
        >>> print(multienergy.verify(game, ([0, 1, 2], [[1, 0], [0, 0]])))
        position 0: the attacker does not win with one of its budgets
        >>> print(multienergy.verify(game, ([0, 1, 2], [[3, 0], [0, 0]])))
        position 0: the attacker wins with a budget that is not above a listed one
    """
    return host.verify(game, *budgets_of(game, fronts))


def budgets_of(game: Game, fronts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and points of fronts, checked."""
    if is_traced((game, fronts)):
        raise ValueError("budgets are looked at on the host, not under tracing by jax")
    if not isinstance(game, Game):
        raise ValueError(f"game must be a Game, got {type(game).__name__}")
    checked(game)
    if isinstance(fronts, Fronts):
        fronts = fronts.offsets, fronts.points
    offsets, points = map(as_array, ("offsets", "points"), fronts)
    size, dimensions = game.num_positions, game.dimensions
    check_array("offsets", offsets, (size + 1,), "i")
    if points.size == 0:
        points = np.zeros((0, dimensions), np.int32)
    if points.ndim != 2 or points.shape[1] != dimensions or points.dtype.kind != "i":
        raise ValueError(
            f"budgets must be rows of {dimensions} integers, got shape {points.shape} "
            f"of {points.dtype}"
        )
    check_offsets("offsets", offsets, len(points))
    points = np.clip(points, -1, np.iinfo(np.int32).max)  # neither wraps round
    return offsets.astype(np.int64), points.astype(np.int32)

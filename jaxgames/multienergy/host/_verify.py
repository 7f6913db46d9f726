"""The certificate check of minimal budgets, on the host."""

from typing import Any

import numpy as np

from jaxgames.multienergy._verdict import Reason, Verdict
from jaxgames.multienergy.host._certificate import not_closed, not_won


def verify(game: Any, offsets: np.ndarray, points: np.ndarray) -> Verdict:
    """Checks minimal budgets without trusting who found them.

    Args:
        game: a [`Game`][jaxgames.multienergy.Game].
        offsets: integers `[V + 1]`, where the budgets of each position start.
        points: integers `[P, D]`, the budgets.
    """
    points = np.asarray(points)
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    cap = np.array(game.cap or (0,) * points.shape[1])
    outside = (points < 0) | ((cap > 0) & (points > cap))
    if outside.any():
        return _at(Reason.NO_BUDGET, owner[outside.any(axis=1)])
    same = owner[1:] == owner[:-1]
    first = np.argmax(points[1:] != points[:-1], axis=1)
    row = np.arange(len(first))
    falls = points[1:][row, first] <= points[:-1][row, first]
    if (same & falls).any():
        return _at(Reason.OUT_OF_ORDER, owner[1:][same & falls])
    above = _above_another(offsets, points, owner)
    if above.any():
        return _at(Reason.NOT_MINIMAL, owner[above])
    lost = not_won(game, offsets, points)
    if lost.any():
        return _at(Reason.NOT_WON, owner[lost])
    more = not_closed(game, offsets, points)
    if more.any():
        return _at(Reason.MISSING, np.flatnonzero(more))
    return Verdict.at(Reason.OK)


def _above_another(offsets, points, owner) -> np.ndarray:
    """Budgets that are above an earlier one of their position: bool `[P]`."""
    above = np.zeros(len(points), bool)
    place = np.arange(len(points)) - offsets[owner]
    for back in range(1, int(place.max(initial=0)) + 1):
        later = np.flatnonzero(place >= back)
        above[later] |= (points[later - back] <= points[later]).all(axis=1)
    return above


def _at(reason: Reason, positions: np.ndarray) -> Verdict:
    return Verdict.at(reason, int(positions[0]))

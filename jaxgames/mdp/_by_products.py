"""Equations of large Markov chains, solved by products with their matrix.

They are those of averages: by how much values are more than a step later, and their
mean. Where that is the reward, the mean is the average, and values are right but for a
number that is the same for all. No step asks NumPy for linear algebra, which would have
its own threads wait for one another, for longer than the products take.

[1] Saad and Schultz, GMRES, SIAM J. Sci. Stat. Comput. 7(3), 1986, doi:10.1137/0907058.
[2] Meijerink and van der Vorst, An iterative solution method for linear systems of
which the coefficient matrix is a symmetric M-matrix, Math. Comp. 31 (1977),
doi:10.1090/S0025-5718-1977-0438681-4.
"""

import math
from collections.abc import Callable

import numpy as np

from jaxgames.mdp.host._products import (
    add_up,
    by_factors,
    factor_in_place,
    less_later,
    take_out,
)
from jaxgames.tuning.mdp import (
    LIFTED_BY,
    MOST_PRODUCTS_OF_AVERAGES,
    PRODUCTS_AIM,
    PRODUCTS_ROOM,
)

Solve = Callable[[np.ndarray], np.ndarray | None]
"""Solves equations of a policy; in the place of home's value: the average."""


class Products:
    """The equations of one chain.

    Args:
        size: how many states.
        row: int, the state of each branch, in any order.
        column: int, the state that it leads to.
        probs: float64, its probability.

    Attributes:
        nearly_factored: whether factors are used that do not fill in [2]. These are
            nearest to the matrix where states that lead to each other have numbers that
            are near: as they are built, by the values of variables or as they are
            reached.
    """

    def __init__(self, size: int, row, column, probs):
        moves = row != column
        row, column, probs = row[moves], column[moves], probs[moves]
        leave = np.bincount(row, probs, minlength=size)
        line = np.arange(size)
        row, column = np.append(row, line), np.append(column, line)
        entries = np.append(-probs, leave)
        place = row * np.int64(size) + column
        order = np.argsort(place, kind="stable")  # most often it is nearly so
        place, entries = place[order], entries[order]
        # Of branches that lead to the same state one is made.
        begin = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
        row, column = np.divmod(place[begin], size)
        self._rows = np.searchsorted(row, np.arange(size + 1)).astype(np.int32)
        self._columns = column.astype(np.int32)
        self._entries = np.add.reduceat(entries, begin)
        self._middle = np.flatnonzero(row == column).astype(np.int32)
        self._factors: np.ndarray | None = None
        self.nearly_factored = True

    def less_later(self, values: np.ndarray) -> np.ndarray:
        """By how much values are more than a step later, and their mean."""
        found = np.empty(len(values))
        less_later(self._rows, self._columns, self._entries, values, found)
        return found

    def _nearly(self, wanted: np.ndarray) -> np.ndarray:
        """What almost solves equations, but for a number that is the same for all."""
        if not self.nearly_factored:
            return wanted
        parts = self._rows, self._columns
        if self._factors is None:
            factors, middle = self._entries.copy(), self._middle
            lifted = factors[middle] * (1 + LIFTED_BY)
            factors[middle] = np.where(lifted > 0, lifted, 1.0)
            room = np.full(len(middle), -1, np.int32)
            factor_in_place(*parts, factors, middle, room)
            self._factors = factors
        found = np.empty(len(wanted))
        by_factors(*parts, self._factors, self._middle, wanted, found)
        return found

    def solved(self, wanted: np.ndarray, stop: np.ndarray) -> np.ndarray | None:
        """Values that come as near to what is wanted as some products bring them [1].

        What each product adds is taken at right angles to all before; of these the
        combination is found that leaves least, by rotations that are kept.

        Args:
            wanted: float64 `[n]`.
            stop: int8 `[1]`, set by another thread to end it.

        Returns:
            The values; None if it was stopped.
        """
        size = len(wanted)
        most = max(1, min(MOST_PRODUCTS_OF_AVERAGES, PRODUCTS_ROOM // size))
        vectors = np.empty((most + 1, size))
        scale = float(np.abs(wanted).max())
        if scale == 0.0:
            return np.zeros(size)
        vectors[0] = wanted / scale
        whole = math.sqrt(np.square(vectors[0]).sum())
        vectors[0] /= whole
        left, turns, columns = [whole], [], []
        for count in range(1, most + 1):
            if stop[0]:
                return None
            vectors[count] = self.less_later(self._nearly(vectors[count - 1]))
            shares = np.empty(count)
            rest = math.sqrt(take_out(vectors, count, vectors[count], shares))
            column = [*shares.tolist(), rest]
            for i, (cos, sin) in enumerate(turns):
                one, other = column[i : i + 2]
                column[i : i + 2] = cos * one + sin * other, cos * other - sin * one
            long = math.hypot(*column[-2:])
            if not 0.0 < long < math.inf:
                break
            cos, sin = column[-2] / long, column[-1] / long
            turns.append((cos, sin))
            columns.append([*column[:-2], long])
            left[-1:] = [cos * left[-1], -sin * left[-1]]
            if rest == 0.0 or abs(left[-1]) <= PRODUCTS_AIM * whole:
                break
            vectors[count] /= rest
        many = len(columns)
        shares = np.array(left[:many])
        for i in reversed(range(many)):
            shares[i] /= columns[i][i]
            shares[:i] -= shares[i] * np.array(columns[i][:i])
        found = np.empty(size)
        add_up(vectors, shares, found)
        return scale * self._nearly(found)

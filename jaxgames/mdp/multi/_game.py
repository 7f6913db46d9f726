"""Matrix games in fractions: how to mix points, and in which direction they end."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple


def dot(weights: Iterable[Fraction], values: Iterable[Fraction]) -> Fraction:
    """The weighted sum of numbers."""
    return sum((w * x for w, x in zip(weights, values, strict=True)), Fraction(0))


class Mixed(NamedTuple):
    """Optimal strategies of a matrix game.

    Attributes:
        value: what the row player gets at least, and the column player pays at most.
        rows: a share of each row; they sum up to one.
        columns: likewise of each column.
    """

    value: Fraction
    rows: list[Fraction]
    columns: list[Fraction]


def solve_game(matrix: Sequence[Sequence[Fraction]]) -> Mixed:
    """The row player maximises what the column player pays.

    The simplex method on the column player's program, with Bland's rule [1].

    References:
        [1] Chvatal, Linear Programming, Freeman, 1983, chapters 3 and 15.

    Examples:
        >>> found = solve_game([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]])
        >>> found.value, found.rows
        (Fraction(1, 2), [Fraction(1, 2), Fraction(1, 2)])
    """
    height, width = len(matrix), len(matrix[0])
    # All entries are made positive: then so is the value.
    shift = 1 - min(min(row) for row in matrix)
    table = [
        [x + shift for x in row]
        + [Fraction(int(i == j)) for j in range(height)]
        + [Fraction(1)]
        for i, row in enumerate(matrix)
    ]
    gains = [Fraction(-1)] * width + [Fraction(0)] * (height + 1)
    basis = list(range(width, width + height))
    while True:
        enter = next((j for j in range(width + height) if gains[j] < 0), None)
        if enter is None:
            break
        ratios = [
            (row[-1] / row[enter], basis[i], i)
            for i, row in enumerate(table)
            if row[enter] > 0
        ]
        leave = min(ratios)[2]
        pivot = table[leave][enter]
        table[leave] = [x / pivot for x in table[leave]]
        for i, row in enumerate(table):
            if i != leave and row[enter]:
                share = row[enter]
                table[i] = [
                    x - share * y for x, y in zip(row, table[leave], strict=True)
                ]
        share = gains[enter]
        gains = [x - share * y for x, y in zip(gains, table[leave], strict=True)]
        basis[leave] = enter
    total = gains[-1]
    columns = [Fraction(0)] * width
    for i, j in enumerate(basis):
        if j < width:
            columns[j] = table[i][-1] / total
    rows = [x / total for x in gains[width : width + height]]
    return Mixed(1 / total - shift, rows, columns)


def mixture(points: Sequence[Sequence[Fraction]], goal: Sequence[Fraction]) -> Mixed:
    """How to mix points so that they come as near to a goal as can be, from above.

    Returns:
        The value: by how much the mixture is above the goal in each coordinate at
        least; shares of the points; and weights of the coordinates, by which no point
        is above the goal by more.
    """
    matrix = [[x - y for x, y in zip(point, goal, strict=True)] for point in points]
    return solve_game(matrix)

"""Equations in integers, solved modulo a prime and then modulo its powers.

Dixon's lifting: what a solution modulo a prime leaves of the right sides is divisible
by it, and the quotients are the next right sides. All numbers are digits in base of the
prime, of fewer than half the bits of a word.
"""

import numpy as np

from jaxgames.host import compiled

FULL = 1 << 62
"""Sums of products are reduced before they get larger than this and one product."""


@compiled
def inverse(number, prime):
    """The inverse of a number that is not zero, modulo a prime."""
    a, b, x, y = prime, number, 0, 1
    while b != 0:
        quotient = a // b
        a, b = b, a - quotient * b
        x, y = y, x - quotient * y
    return x % prime


@compiled
def factored(matrix, prime, order, pivots):
    """Triangular factors of a matrix, written over it.

    Rows and columns are taken out one by one, those with few entries first.

    Args:
        matrix: int64 `[n, n]`, modulo the prime.
        prime: the prime.
        order: int32 `[n]`, written to: in which order they were taken out.
        pivots: int64 `[n]`, written to: the inverses of the pivots.

    Returns:
        Whether all pivots can be divided by; else another prime may do.
    """
    size = len(order)
    left = np.ones(size, np.bool_)
    into, out = np.zeros(size, np.int64), np.zeros(size, np.int64)
    columns, rows = np.empty(size, np.int32), np.empty(size, np.int32)
    for i in range(size):
        for j in range(size):
            if i != j and matrix[i, j] != 0:
                out[i] += 1
                into[j] += 1
    for place in range(size):
        best, least = -1, size * size
        for k in range(size):
            if left[k] and into[k] * out[k] < least and matrix[k, k] != 0:
                best, least = k, into[k] * out[k]
        if best < 0:
            return False
        left[best] = False
        order[place] = best
        inverted = inverse(matrix[best, best], prime)
        pivots[best] = inverted
        wide, tall = 0, 0
        for j in range(size):
            if left[j]:
                if matrix[best, j] != 0:
                    columns[wide] = j
                    wide += 1
                    into[j] -= 1
                if matrix[j, best] != 0:
                    rows[tall] = j
                    tall += 1
                    out[j] -= 1
        for a in range(tall):
            i = rows[a]
            share = matrix[i, best] * inverted % prime
            matrix[i, best] = share
            for b in range(wide):
                j = columns[b]
                old = matrix[i, j]
                if old == 0 and i != j:
                    out[i] += 1
                    into[j] += 1
                matrix[i, j] = (old - share * matrix[best, j]) % prime
    return True


@compiled
def packed(matrix, order):
    """The entries of both factors, row by row in the order of elimination.

    Args:
        matrix: int64 `[n, n]`, the factors.
        order: int32 `[n]`, in which order rows were taken out.

    Returns:
        Where the rows of the lower one begin, its columns and entries; and likewise of
        the upper one.
    """
    size = len(order)
    place = np.empty(size, np.int32)
    for k in range(size):
        place[order[k]] = k
    low, high = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for k in range(size):
        i = order[k]
        for j in range(size):
            if matrix[i, j] != 0:
                low[k + 1] += place[j] < k
                high[k + 1] += place[j] > k
        low[k + 1] += low[k]
        high[k + 1] += high[k]
    below, lower = np.empty(low[size], np.int32), np.empty(low[size], np.int64)
    above, upper = np.empty(high[size], np.int32), np.empty(high[size], np.int64)
    a, b = 0, 0
    for k in range(size):
        i = order[k]
        for j in range(size):
            if matrix[i, j] != 0:
                if place[j] < k:
                    below[a], lower[a] = j, matrix[i, j]
                    a += 1
                elif place[j] > k:
                    above[b], upper[b] = j, matrix[i, j]
                    b += 1
    return low, below, lower, high, above, upper


@compiled
def lift(
    prime,
    order,
    pivots,
    low,
    below,
    lower,
    high,
    above,
    upper,
    rows,
    columns,
    entries,
    right,
    carry,
    digits,
    first,
    last,
):
    """Some more digits of the solution.

    Args:
        prime: the base.
        order: in which order rows were taken out, as `factored` says.
        pivots: likewise.
        low: the factors, as `packed` says, like all up to `upper`.
        below: likewise.
        lower: likewise.
        high: likewise.
        above: likewise.
        upper: likewise.
        rows: int64 `[n + 1]`, where the entries of each row of the matrix begin.
        columns: int32, their columns.
        entries: int64 `[J, E]`, their digits, those of negative ones negative.
        right: int64 `[K, n]`, the digits of the right sides, likewise.
        carry: int64 `[n, J + 1]`, what is left of them; zero in the beginning.
        digits: int64, `[., n]`, written to.
        first: the first digit to find.
        last: the one after the last.
    """
    size, many = len(order), len(entries)
    rest = np.empty(size, np.int64)
    for step in range(first, last):
        x = digits[step]
        for i in range(size):
            rest[i] = carry[i, 0]
            if step < len(right):
                rest[i] += right[step, i]
        for k in range(size):
            i = order[k]
            total = 0
            for e in range(low[k], low[k + 1]):
                total += lower[e] * x[below[e]]
                if total > FULL:
                    total %= prime
            x[i] = (rest[i] - total % prime) % prime
        for back in range(size):
            k = size - 1 - back
            i = order[k]
            total = 0
            for e in range(high[k], high[k + 1]):
                total += upper[e] * x[above[e]]
                if total > FULL:
                    total %= prime
            x[i] = (x[i] - total % prime) * pivots[i] % prime
        for i in range(size):
            over = rest[i]
            for j in range(many + 1):
                if j > 0:
                    over += carry[i, j]
                if j < many:
                    for e in range(rows[i], rows[i + 1]):
                        over -= entries[j, e] * x[columns[e]]
                quotient = over // prime
                if j > 0:
                    carry[i, j - 1] = over - quotient * prime
                over = quotient
            carry[i, many] = over

"""Products with the equations of a Markov chain, and what almost solves these."""

from jaxgames.host import compiled


@compiled
def less_later(rows, columns, entries, values, found):
    """By how much values are more than what they are a step later, and their mean.

    Args:
        rows: int32 `[n + 1]`, where the entries of each state begin.
        columns: int32, the states that they are about.
        entries: float64: one less the probability to stay, and the negated others.
        values: float64 `[n]`.
        found: float64 `[n]`, written to.
    """
    mean = 0.0
    for value in values:
        mean += value
    mean /= len(values)
    for state in range(len(values)):
        here = mean
        for entry in range(rows[state], rows[state + 1]):
            here += entries[entry] * values[columns[entry]]
        found[state] = here


@compiled
def factor_in_place(rows, columns, entries, middle, place):
    """Factors of a matrix that have entries only where it has some.

    Where no entry beside the diagonal is above zero, and each diagonal is more than the
    others of its row sum up to, no pivot gets zero.

    Args:
        rows: int32 `[n + 1]`.
        columns: int32, in order in each row.
        entries: float64, the matrix; the factors are written over it.
        middle: int32 `[n]`, where the diagonal is.
        place: int32 `[n]`, all -1: to work in, left as it was.
    """
    for row in range(len(middle)):
        for entry in range(rows[row], rows[row + 1]):
            place[columns[entry]] = entry
        for entry in range(rows[row], middle[row]):
            other = columns[entry]
            share = entries[entry] / entries[middle[other]]
            entries[entry] = share
            for next_ in range(middle[other] + 1, rows[other + 1]):
                here = place[columns[next_]]
                if here >= 0:
                    entries[here] -= share * entries[next_]
        for entry in range(rows[row], rows[row + 1]):
            place[columns[entry]] = -1


@compiled
def by_factors(rows, columns, entries, middle, wanted, found):
    """Solves equations by the factors of their matrix.

    Args:
        rows: as for `factor_in_place`.
        columns: likewise.
        entries: float64, the factors.
        middle: as there.
        wanted: float64 `[n]`.
        found: float64 `[n]`, written to.
    """
    for row in range(len(middle)):
        here = wanted[row]
        for entry in range(rows[row], middle[row]):
            here -= entries[entry] * found[columns[entry]]
        found[row] = here
    for back in range(len(middle)):
        row = len(middle) - 1 - back
        here = found[row]
        for entry in range(middle[row] + 1, rows[row + 1]):
            here -= entries[entry] * found[columns[entry]]
        found[row] = here / entries[middle[row]]


@compiled
def take_out(vectors, count, vector, shares):
    """Takes out of a vector what it has of others, which are at right angles.

    Four of them at a time, so that their sums do not wait for one another.

    Args:
        vectors: float64 `[m, n]`, of length one each.
        count: how many of these.
        vector: float64 `[n]`, written to.
        shares: float64, how much of each was taken out; written to.

    Returns:
        The square of the length of what is left.
    """
    fours = count // 4 * 4
    for first in range(0, fours, 4):
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for i in range(len(vector)):
            here = vector[i]
            one += vectors[first, i] * here
            two += vectors[first + 1, i] * here
            three += vectors[first + 2, i] * here
            four += vectors[first + 3, i] * here
        for i in range(len(vector)):
            less = one * vectors[first, i] + two * vectors[first + 1, i]
            more = three * vectors[first + 2, i] + four * vectors[first + 3, i]
            vector[i] -= less + more
        shares[first], shares[first + 1] = one, two
        shares[first + 2], shares[first + 3] = three, four
    for last in range(fours, count):
        one = 0.0
        for i in range(len(vector)):
            one += vectors[last, i] * vector[i]
        for i in range(len(vector)):
            vector[i] -= one * vectors[last, i]
        shares[last] = one
    square = 0.0
    for here in vector:
        square += here * here
    return square


@compiled
def add_up(vectors, shares, found):
    """The sum of vectors, each times its share.

    Args:
        vectors: float64 `[m, n]`.
        shares: float64 `[k]`, of the first `k` of these.
        found: float64 `[n]`, written to.
    """
    found.fill(0.0)
    for row in range(len(shares)):
        share = shares[row]
        for i in range(len(found)):
            found[i] += share * vectors[row, i]

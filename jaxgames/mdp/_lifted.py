"""Equations of chains that end, solved exactly.

The values of all states are quotients with one denominator. They are found modulo a
power of a prime, which takes sums and products of machine words alone; the denominator
is what one of them tells, and integers show in the end that all is right.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.mdp.host._lifting import factored, lift, packed
from jaxgames.tuning.mdp import RATIONAL_BITS

Row = dict[int, Fraction]
"""Where a choice leads inside, with probabilities."""

SPARE = 24
"""Bits by which a quotient is shorter than what it would be by chance."""

MOST_SHARE = 500
"""Values are summed up with odd numbers up to twice as much."""

WORD = 63
"""Bits of a word beside its sign."""


class Quotients(NamedTuple):
    """Numbers with one denominator."""

    over: list[int]
    under: int

    def fractions(self) -> list[Fraction]:
        """The numbers by themselves."""
        return [Fraction(x, self.under) for x in self.over]


def solved(rows: list[Row], worth: list[Fraction]) -> Quotients | None:
    """The values of a chain that ends.

    No row, which says where a state leads inside, sums up to more than one.

    Returns:
        The values; None where some state never gets out, or numbers get too long.

    References:
        Dixon, Exact solution of linear equations using p-adic expansions, Numerische
        Mathematik 40 (1982), doi:10.1007/BF01459082.
    """
    if not rows:
        return Quotients([], 1)
    if not ends(rows):
        return None
    return _Lifting(rows, worth).values()


def ends(rows: list[Row]) -> bool:
    """Whether every state of a chain may get out."""
    into: list[list[int]] = [[] for _ in rows]
    for i, row in enumerate(rows):
        for j in row:
            into[j].append(i)
    left = [i for i, row in enumerate(rows) if sum(row.values()) < 1]
    out = set(left)
    while left:
        for i in into[left.pop()]:
            if i not in out:
                out.add(i)
                left.append(i)
    return len(out) == len(rows)


class _Lifting:
    """The equations of a chain in integers, and what is known of their solution."""

    def __init__(self, rows: list[Row], worth: list[Fraction]):
        self._columns, self._entries, scales = [], [], []
        for i, row in enumerate(rows):
            scale = math.lcm(*(p.denominator for p in row.values()))
            here = {j: -p.numerator * (scale // p.denominator) for j, p in row.items()}
            here[i] = here.get(i, 0) + scale
            self._columns.append([j for j, x in here.items() if x])
            self._entries.append([x for x in here.values() if x])
            scales.append(scale)
        sides = [scale * x for scale, x in zip(scales, worth, strict=True)]
        self._under = math.lcm(*(x.denominator for x in sides))
        self._sides = [x.numerator * (self._under // x.denominator) for x in sides]

    def values(self) -> Quotients | None:
        """The solution; None where it is too long."""
        size = len(self._sides)
        many = list(map(len, self._columns))
        begins = np.cumsum([0, *many])
        columns = np.array([j for row in self._columns for j in row], np.int32)
        flat = [x for row in self._entries for x in row]
        # A sum of products of two digits and what is carried over fit into a word.
        top = 1 << (WORD - 1 - (max(many) + 2).bit_length()) // 2
        order, pivots = np.empty(size, np.int32), np.empty(size, np.int64)
        while True:
            self._prime = prime = top = _prime_below(top)
            matrix = np.zeros((size, size), np.int64)
            source = np.repeat(np.arange(size), many)
            matrix[source, columns] = [x % prime for x in flat]
            if factored(matrix, prime, order, pivots):
                break
        given = (prime, order, pivots, *packed(matrix, order), begins, columns)
        entries, right = _digits(flat, prime), _digits(self._sides, prime)
        carry = np.zeros((size, len(entries) + 1), np.int64)
        digits, done = np.empty((0, size), np.int64), 0
        while True:
            wanted = max(8, done + done // 2)
            more = np.empty((wanted - done, size), np.int64)
            digits = np.concatenate([digits, more])
            for first in range(done, wanted, 64):
                limits.tick("solving in rational arithmetic", first, "digits")
                last = min(first + 64, wanted)
                lift(*given, entries, right, carry, digits, first, last)
            done = wanted
            found = self._read(digits)
            if found is not None:
                return found
            if done * prime.bit_length() > 2 * RATIONAL_BITS + sum(
                x.bit_length() for x in self._sides[:1]
            ):
                return None

    def _read(self, digits: np.ndarray) -> Quotients | None:
        """The solution that has these digits, if it has no more."""
        prime, power = self._prime, self._prime ** len(digits)
        # A sum of the values, most often, has the denominator of all of them.
        share = np.arange(digits.shape[1]) % MOST_SHARE * 2 + 1
        told = _quotient(_number(digits @ share, prime) % power, power)
        if told is None or not _is_short(*told, power):
            return None
        under, longer = told[1], abs(told[0]).bit_length()
        bits = max(under.bit_length(), longer) + 4 * SPARE
        few = min(bits // (prime.bit_length() - 1) + 1, len(digits))
        some = prime**few
        over = [_least(x * under, some) for x in _numbers(digits[:few], prime)]
        long = [i for i, x in enumerate(over) if not _is_short(x, 1, some)]
        if long:
            for i in long:
                number = _number(digits[:, i], prime)
                rest = _least(number * under, power)
                if not _is_short(rest, under, power):
                    told = _quotient(rest % power, power)
                    if told is None or not _is_short(told[0], under * told[1], power):
                        return None
                    under *= told[1]
            over = [_least(x * under, power) for x in _numbers(digits, prime)]
        return self._checked(over, under)

    def _checked(self, over: list[int], under: int) -> Quotients | None:
        """Quotients with this denominator, if they solve the equations."""
        for columns, entries, side in zip(
            self._columns, self._entries, self._sides, strict=True
        ):
            total = sum(x * over[j] for j, x in zip(columns, entries, strict=True))
            if total != side * under:
                return None
        return Quotients(over, under * self._under)


def _least(number: int, power: int) -> int:
    """The number of the least size that is the same modulo a power."""
    rest = number % power
    return rest - power if 2 * rest > power else rest


def _is_short(over: int, under: int, power: int) -> bool:
    """Whether a quotient has clearly fewer bits than a power of the prime.

    Any number is the same as some quotient of about so many.
    """
    return over.bit_length() + under.bit_length() + SPARE < power.bit_length()


def _digits(numbers: list[int], prime: int) -> np.ndarray:
    """The digits of numbers, the lowest first; those of negative ones are negative."""
    left = [abs(x) for x in numbers]
    found = []
    while any(left) or not found:
        found.append([x % prime for x in left])
        left = [x // prime for x in left]
    signs = np.array([-1 if x < 0 else 1 for x in numbers], np.int64)
    return np.array(found, np.int64) * signs


def _numbers(digits: np.ndarray, prime: int) -> list[int]:
    """What digits `[K, n]` stand for, the lowest first."""
    found, base = digits.astype(object), prime
    while len(found) > 1:
        if len(found) % 2:
            found = np.concatenate([found, np.zeros((1, found.shape[1]), object)])
        found = found[::2] + found[1::2] * base
        base *= base
    return found[0].tolist()


def _number(digits: np.ndarray, prime: int) -> int:
    """What digits `[K]` stand for, the lowest first; they may be large, or negative."""
    return _numbers(digits[:, None], prime)[0]


def _quotient(number: int, power: int) -> tuple[int, int] | None:
    """The quotient of small numbers that a number is modulo a power of a prime.

    By Euclid's algorithm, up to where both are about as long; with the leading digits
    of the numbers for many steps at once (Lehmer).
    """
    a, b, x, y = power, number, 0, 1
    half = (power.bit_length() - 1) // 2
    while b.bit_length() > half:
        shift = max(a.bit_length() - 62, 0)
        high, low = a >> shift, b >> shift
        p, q, r, s = 1, 0, 0, 1
        if b.bit_length() > half + 64:
            while low + r and low + s:
                quotient = (high + p) // (low + r)
                if quotient != (high + q) // (low + s):
                    break
                p, r = r, p - quotient * r
                q, s = s, q - quotient * s
                high, low = low, high - quotient * low
        if q == 0:
            quotient, rest = divmod(a, b)
            a, b, x, y = b, rest, y, x - quotient * y
        else:
            a, b = p * a + q * b, r * a + s * b
            x, y = p * x + q * y, r * x + s * y
    if y == 0:
        return None
    return (-b, -y) if y < 0 else (b, y)


def _prime_below(number: int) -> int:
    """The largest prime below a number of up to 32 bits."""
    number -= 1
    while not _is_prime(number):
        number -= 1
    return number


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test, with witnesses that do for numbers of up to 32 bits."""
    odd = number - 1
    twos = (odd & -odd).bit_length() - 1
    odd >>= twos
    for witness in (2, 3, 5, 7):
        found = pow(witness, odd, number)
        if found in (1, number - 1):
            continue
        if all(pow(found, 1 << k, number) != number - 1 for k in range(twos)):
            return False
    return True

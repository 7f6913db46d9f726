"""Exact values of chains, beside Gauss's elimination in fractions."""

import random
from fractions import Fraction

import numpy as np
import pytest

from jaxgames.mdp import _lifted, _rational


def chain(size: int, seed: int, *, span: int | None = None, bits: int = 53):
    """Where the states of a chain lead, with odd probabilities, and what they earn.

    Args:
        size: how many states there are.
        seed: of the random numbers.
        span: how far branches lead at most; None for anywhere.
        bits: of the weights of branches; what is earned has as many.
    """
    rng = random.Random(seed)
    rows, worth = [], []
    for i in range(size):
        row: dict[int, Fraction] = {}
        weights = [Fraction(rng.getrandbits(bits) + 1, 2**bits) for _ in range(4)]
        weights[0] /= 2 ** rng.choice([0, 0, 31, 80])
        for weight in weights[1:]:
            to = rng.randrange(size)
            if span is not None:
                to = min(max(i + rng.randint(-span, span), 0), size - 1)
            row[to] = row.get(to, Fraction(0)) + weight / sum(weights)
        if i + 1 < size:
            row[i + 1] = row.get(i + 1, Fraction(0)) + 1 - sum(row.values())
        rows.append(row)
        worth.append(Fraction(rng.getrandbits(bits), rng.choice([1, 3, 2**bits])))
        worth[-1] *= rng.choice([-1, 0, 1, 1, 10**30])
    rows[-1] = {0: Fraction(1, 3), size - 1: Fraction(1, 5)}
    return rows, worth


def by_gauss(rows, worth):
    """The solution of the equations, row after row in full."""
    size = len(rows)
    matrix = [
        [Fraction(int(i == j)) - rows[i].get(j, 0) for j in range(size)] + [worth[i]]
        for i in range(size)
    ]
    for k in range(size):
        other = next(i for i in range(k, size) if matrix[i][k])
        matrix[k], matrix[other] = matrix[other], matrix[k]
        pivot = matrix[k][k]
        matrix[k] = [x / pivot for x in matrix[k]]
        for i in range(size):
            if i != k and matrix[i][k]:
                share = matrix[i][k]
                matrix[i] = [
                    x - share * y for x, y in zip(matrix[i], matrix[k], strict=True)
                ]
    return [row[-1] for row in matrix]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 26])
@pytest.mark.parametrize("span", [None, 2])
@pytest.mark.parametrize("bits", [1, 4, 53, 200])
def test_as_gauss(size, span, bits):
    for seed in range(1 if size > 20 else 4):
        rows, worth = chain(size, seed, span=span, bits=bits)
        expected = by_gauss(rows, worth)
        found = _lifted.solved(rows, worth)
        assert found is not None
        assert found.fractions() == expected
        assert _rational.eliminated(rows, worth) == expected


@pytest.mark.parametrize("size", [60, 120])
def test_the_equations_hold(size):
    rows, worth = chain(size, size)
    found = _rational.eliminated(rows, worth)
    assert found is not None
    for row, own, value in zip(rows, worth, found, strict=True):
        assert value == own + sum(p * found[j] for j, p in row.items())


def test_what_never_ends():
    third = Fraction(1, 3)
    circle = [{1: Fraction(1)}, {0: Fraction(1)}, {0: third, 2: third}]
    for solve in (_lifted.solved, _rational.eliminated):
        assert solve(circle, [third] * 3) is None
    assert _lifted.solved([], []) == ([], 1)
    many = [*({(k + 1) % 40: third, k: 2 * third} for k in range(40)), {0: third}]
    assert _rational.eliminated(many, [third] * 41) is None


def test_numbers_that_get_too_long(monkeypatch):
    rows, worth = chain(40, 3)
    monkeypatch.setattr(_lifted, "RATIONAL_BITS", 500)
    assert _lifted.solved(rows, worth) is None


def test_a_prime_that_divides_a_pivot(monkeypatch):
    prime = 536_870_909  # the largest below 2 ** 29
    seen = []
    below = _lifted._prime_below

    def first_this(number):
        seen.append(number)
        return prime if len(seen) == 1 else below(number)

    monkeypatch.setattr(_lifted, "_prime_below", first_this)
    share = Fraction(1, prime + 1)
    found = _lifted.solved([{0: share}], [Fraction(1)])
    assert found is not None
    assert found.fractions() == [Fraction(prime + 1, prime)]
    assert seen == [seen[0], prime]


def test_primes():
    sieve = np.ones(2000, bool)
    sieve[:2] = False
    for k in range(2, 45):
        sieve[k * k :: k] = False
    for number in range(12, 2000):
        below = np.flatnonzero(sieve[:number])[-1]
        assert _lifted._prime_below(number) == below


@pytest.mark.parametrize("seed", range(20))
def test_quotients(seed):
    rng = random.Random(seed)
    prime = 536_870_909
    for bits in (1, 20, 61, 62, 63, 64, 200, 3000):
        under = rng.getrandbits(bits) | 1
        over = rng.getrandbits(bits) * rng.choice([-1, 1])
        power = prime ** ((2 * bits + 40) // 28)
        number = over * pow(under, -1, power) % power
        told = _lifted._quotient(number, power)
        assert told is not None
        assert Fraction(*told) == Fraction(over, under)


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("size", [1, 10**400])
def test_choices_that_float64_cannot_tell_apart(least, size):
    half, hair = Fraction(1, 2), Fraction(1, 2**90)
    rows = [[{0: half, 1: half - hair}, {0: half, 1: half}, {1: 1 - hair}], [{}, {}]]
    worth = [[Fraction(0)] * 3, [Fraction(size), size * (1 + hair)]]
    expected = [0, 0] if least else [1, 1]
    assert _rational.best_policy(rows, worth, least=least) == expected

"""Markov chains in continuous time, against their differential equations.

Values are followed backwards by Taylor's series of the exponential of the generator,
with forty digits; averages are solved for in fractions. No clock ticks here.
"""

import decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames import mdp
from jaxgames.mdp import reference
from jaxgames.testing._subject import Check, Complaint, Subject, each

SIZE = 6
"""States of a chain at most."""

DIGITS = 40


class Chain(NamedTuple):
    """A chain by its rates.

    Attributes:
        rates: by state and state; loops count.
        goal: which states are one.
        way: which states may be passed.
        paid: what a state earns in a unit of time.
        jump: what leaving it earns.
        times: two moments, the later one last.
    """

    rates: tuple[tuple[Fraction, ...], ...]
    goal: tuple[bool, ...]
    way: tuple[bool, ...]
    paid: tuple[int, ...]
    jump: tuple[int, ...]
    times: tuple[Fraction, Fraction]


def model_of(chain: Chain) -> mdp.MDP:
    size = len(chain.rates)
    rows, columns, probs, exits = [0], [], [], []
    for row in chain.rates:
        total = sum(row)
        exits.append(float(total))
        columns += [i for i in range(size) if row[i]]
        probs += [float(rate / total) for rate in row if rate]
        rows.append(len(columns))
    return mdp.MDP.from_arrays(
        *(np.arange(size + 1), rows, columns, probs),
        labels={"goal": chain.goal, "way": chain.way},
        state_rewards={"": [float(x) for x in chain.paid]},
        choice_rewards={"": [float(x) for x in chain.jump]},
        exit_rates=exits,
    )


def _followed(
    chain: Chain, moves: list[bool], start: list, time: Fraction, gain: list | None
) -> list[decimal.Decimal]:
    """Values `time` before they are `start`, while a state gains so much in a unit."""
    with decimal.localcontext() as context:
        context.prec = DIGITS
        size = len(start)
        rates = [[decimal.Decimal(0)] * size for _ in range(size)]
        for i, row in enumerate(chain.rates):
            for j, rate in enumerate(row):
                if moves[i] and i != j:
                    rates[i][j] = _decimal(rate)
        out = [sum(row, decimal.Decimal(0)) for row in rates]
        values = [_decimal(Fraction(x)) for x in start]
        more = [_decimal(Fraction(x)) for x in gain or [0] * size]
        parts = int(time * Fraction(max(out))) + 1
        step = _decimal(time / parts)
        for _ in range(parts):
            # v' = Q v + more: the k-th derivative is Q of the one before it.
            change = [
                sum((r * v for r, v in zip(row, values, strict=True)), -o * values[i])
                + more[i]
                for i, (row, o) in enumerate(zip(rates, out, strict=True))
            ]
            new, factor = list(values), step
            for k in range(2, 42):
                new = [v + factor * c for v, c in zip(new, change, strict=True)]
                factor = factor * step / k
                change = [
                    sum(
                        (r * c for r, c in zip(row, change, strict=True)),
                        -o * change[i],
                    )
                    for i, (row, o) in enumerate(zip(rates, out, strict=True))
                ]
            values = new
        return values


def _decimal(x: Fraction) -> decimal.Decimal:
    return decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)


def averages(chain: Chain) -> list[Fraction]:
    """What is earned in a unit of time in the long run, in each state."""
    totals = [sum(row) for row in chain.rates]
    rows = [
        [(j, rate / total) for j, rate in enumerate(row) if rate]
        for row, total in zip(chain.rates, totals, strict=True)
    ]
    times = [1 / total for total in totals]
    gains = [p * t + j for p, t, j in zip(chain.paid, times, chain.jump, strict=True)]
    earned, reach = (gains, times), reference._reachability(rows)
    worth, closed = [Fraction(0)] * len(rows), [False] * len(rows)
    for i, after in enumerate(reach):
        members = [j for j, there in enumerate(after) if there]
        closed[i] = all(reach[j][i] for j in members)
        if closed[i]:  # what a step earns there, and how long it takes
            step, time = (reference._stationary(rows, x, members) for x in earned)
            worth[i] = step / time
    return [Fraction(x) for x in reference._absorbed(rows, worth, closed)]


def questions(chain: Chain) -> list[tuple[str, list]]:
    """Properties, and what each comes to in each state."""
    first, last = chain.times
    size, every = len(chain.rates), [True] * len(chain.rates)
    goal, way = list(chain.goal), list(chain.way)
    moves = [not g for g in goal]
    on_the_way = [w and not g for w, g in zip(way, goal, strict=True)]
    until = _followed(chain, on_the_way, goal, last, None)
    between = _followed(chain, moves, goal, last - first, None)
    later = _followed(chain, on_the_way, goal, last - first, None)
    later = [x if w or not first else 0 for x, w in zip(later, way, strict=True)]
    earned = [
        p + j * sum(row)
        for p, j, row in zip(chain.paid, chain.jump, chain.rates, strict=True)
    ]
    a, b = first, last
    return [
        (f'P=? [ F<=({b}) "goal" ]', _followed(chain, moves, goal, last, None)),
        (f'P=? [ "way" U<=({b}) "goal" ]', until),
        (
            f'P=? [ F[({a}),({b})] "goal" ]',
            _followed(chain, every, between, first, None),
        ),
        (
            f'P=? [ "way" U[({a}),({b})] "goal" ]',
            _followed(chain, way, later, first, None),
        ),
        (f"R=? [ I=({b}) ]", _followed(chain, every, list(chain.paid), last, None)),
        (f"R=? [ C<=({b}) ]", _followed(chain, every, [0] * size, last, earned)),
        ("R=? [ LRA ]", averages(chain)),
        (
            'S=? [ "goal" ]',
            averages(
                chain._replace(paid=tuple(map(int, goal)), jump=(0,) * size),
            ),
        ),
    ]


def _compared(chain: Chain) -> Complaint:
    model = model_of(chain)
    for text, expected in questions(chain):
        found = mdp.check(model, text)
        for state, value in enumerate(expected):
            exact = Fraction(value)
            # The model has rates that are rounded once: a hair to both sides.
            hair = Fraction(1, 10**11) * abs(exact) + Fraction(1, 10**250)
            low, high = Fraction(found.lower[state]), Fraction(found.upper[state])
            if not low - hair <= exact <= high + hair:
                return (
                    f"{text}: {float(low)!r} to {float(high)!r}, not {float(exact)!r}"
                )
            if high - low > Fraction(11, 10**7) * exact + Fraction(1, 10**250):
                return f"{text}: {float(low)!r} to {float(high)!r} is wide"
    return None


def _draw(rng: np.random.Generator, index: int, size: int) -> Chain:
    count = int(rng.integers(1, size + 1))
    rates = []
    for i in range(count):
        row = [
            Fraction(int(rng.integers(1, 9)), 1 << int(rng.integers(0, 5)))
            if rng.random() < 0.4
            else Fraction(0)
            for _ in range(count)
        ]
        if not any(row):
            row[i] = Fraction(1)
        if rng.random() < 0.2:  # slow beside others
            row = [rate / 256 for rate in row]
        rates.append(tuple(row))
    times = sorted(
        Fraction(int(rng.integers(0, 20)), 1 << int(rng.integers(0, 4))) for _ in "ab"
    )
    return Chain(
        tuple(rates),
        tuple((rng.random(count) < 0.4).tolist()),
        tuple((rng.random(count) < 0.7).tolist()),
        tuple(rng.integers(0, 4, count).tolist()),
        tuple((rng.integers(0, 3, count) * (rng.random() < 0.5)).tolist()),
        (times[0], times[1]),
    )


def _smaller(chain: Chain):
    """Chains whose last state is left out."""
    count = len(chain.rates) - 1
    if count:
        rates = [list(row[:count]) for row in chain.rates[:count]]
        for i, row in enumerate(rates):
            row[i] += 0 if any(row) else 1
        yield Chain(
            tuple(map(tuple, rates)),
            *(chain.goal[:count], chain.way[:count]),
            *(chain.paid[:count], chain.jump[:count]),
            chain.times,
        )
    yield from (
        (
            chain._replace(jump=(0,) * len(chain.rates)),
            chain._replace(times=(Fraction(0), chain.times[1])),
        )
        if any(chain.jump) or chain.times[0]
        else ()
    )


def _show(chain: Chain) -> str:
    return f"chain = {chain}"


def compared() -> Check:
    """All questions of a chain."""
    return each(_compared)


def subject() -> Subject:
    """Chains in continuous time."""
    return Subject(
        name="timed",
        draw=_draw,
        checks={"host": compared()},
        smaller=_smaller,
        show=_show,
        size=SIZE,
        batch=10,
    )

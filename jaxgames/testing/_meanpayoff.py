"""Mean-payoff games: solvers, decisions, batches and verification."""

import dataclasses
import functools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from jaxgames import meanpayoff, solve_many
from jaxgames.arena import Arena
from jaxgames.meanpayoff import Solution, reference
from jaxgames.testing import _games
from jaxgames.testing._energy import show
from jaxgames.testing._labelled import Labelled, smaller
from jaxgames.testing._subject import (
    Cases,
    Complaint,
    Subject,
    each,
    first,
)

BATCH, SIZE = 32, 9


def values(solution: Solution, size: int) -> list[Fraction]:
    """The values of the first vertices."""
    return [solution.value(v) for v in range(size)]


def _expected(cases: Cases) -> list[list[Fraction]]:
    """By playing for many steps, without thresholds."""
    arenas = cases.once(_games.arenas)
    return [values(reference.solve(arena), arena.shape[0]) for arena in arenas]


def is_right(case: Labelled, claim: Solution, expected: list[Fraction]) -> bool:
    """Whether a claim has the values, and moves that attain them."""
    if values(claim, case.size) != expected:
        return False
    arena, strategy = case.arena, np.asarray(claim.strategy)
    if ((strategy < arena.row_ptr[:-1]) | (strategy >= arena.row_ptr[1:])).any():
        return False
    return all(
        values(reference.solve(case.fixed(strategy, player).arena), case.size)
        == expected
        for player in (0, 1)
    )


def _wrong(arena: Arena, answer: Solution, expected: list[Fraction]) -> Complaint:
    size = arena.shape[0]
    cut = dataclasses.replace(
        answer,
        value_num=np.asarray(answer.value_num)[:size],
        value_den=np.asarray(answer.value_den)[:size],
        strategy=np.asarray(answer.strategy)[:size],
    )
    if (got := values(cut, size)) != expected:
        v = next(v for v in range(size) if got[v] != expected[v])
        return f"value {got[v]} at {v}, where it must be {expected[v]}"
    return _games.rejected(meanpayoff.verify(arena, cut))


_of = functools.partial(_games.compared, wrong=_wrong, expected=_expected)
of_place = _games.one_by_one(meanpayoff, _of, one_shape=True)


def _decisions(case: Labelled) -> Iterator[Complaint]:
    """Who has at least a threshold, around the values and on them."""
    arena = case.arena
    expected = values(reference.solve(arena), case.size)
    rng = np.random.default_rng([case.size, len(case.src)])
    at = expected[int(rng.integers(case.size))]
    for threshold in (at, at + Fraction(1, 99), at - Fraction(1, 99)):
        found = meanpayoff.decide(arena, threshold, "host")
        wins = [0 if value >= threshold else 1 for value in expected]
        yield _games.differs(f"winner at {threshold}", found.winner, wins)


def spoilt(arena: Arena, right: Solution, rng: np.random.Generator) -> Solution:
    """The solution with another value, all values moved, or another move."""
    num, den, strategy = (
        np.array(x) for x in (right.value_num, right.value_den, right.strategy)
    )
    v, w = rng.integers(len(num), size=2)
    match rng.integers(6):
        case 0:
            num[v] += rng.choice([-1, 1])
        case 1:
            num[v], den[v] = num[w], den[w]
        case 2:
            num += den * rng.choice([-1, 1])
        case 3:
            strategy[v] = _games.any_edges(arena, rng)[v]
        case 4:
            strategy = _games.any_edges(arena, rng)
        case 5:
            num[v], den[v] = 2 * num[v], 2 * den[v]
    return dataclasses.replace(
        right, value_num=num, value_den=den, strategy=strategy.astype(np.int32)
    )


def _spoilt(case: Labelled) -> Iterator[Complaint]:
    arena = case.arena
    right = meanpayoff.solve(arena, "host")
    expected = values(reference.solve(arena), case.size)
    rng = np.random.default_rng([case.size, len(case.src)])
    for _ in range(3):
        claim = spoilt(arena, right, rng)
        parts = (claim.value_num, claim.value_den, claim.strategy)
        text = "values {} / {} with strategy {}".format(*(x.tolist() for x in parts))
        right_values = is_right(case, claim, expected)
        in_lowest_terms = (np.gcd(claim.value_num, claim.value_den) == 1).all()
        # The reference looks at values as numbers.
        for form, verdict, truth in (
            ("the means of cycles", reference.verify(arena, claim), right_values),
            (
                "energy games",
                meanpayoff.verify(arena, claim),
                right_values and in_lowest_terms,
            ),
        ):
            yield _games.judged(bool(truth), {form: bool(verdict)}, text)


def subject() -> Subject:
    return Subject(
        name="meanpayoff",
        draw=_games.weighted,
        checks={
            "host": of_place("host"),
            "auto": of_place("auto"),
            "decide": each(_decisions),
            "verify": each(_spoilt),
            "many": _of(functools.partial(solve_many, meanpayoff)),
            "fvi": first(of_place("fvi"), 1),
            "vi": first(of_place("vi"), 1),
        },
        smaller=smaller,
        show=functools.partial(show, "meanpayoff"),
        size=SIZE,
        batch=BATCH,
    )

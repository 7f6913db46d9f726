"""Discounted games: solvers, batches, tracing and verification."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import jax
import numpy as np

from jaxgames import discounted, solve_many
from jaxgames.arena import Arena
from jaxgames.discounted import Solution, reference
from jaxgames.testing import _games
from jaxgames.testing._energy import show
from jaxgames.testing._labelled import Labelled, smaller
from jaxgames.testing._subject import (
    Cases,
    Check,
    Complaint,
    Subject,
    apart,
    each,
    first,
)

BATCH, SIZE = 32, 8

FACTORS = (0.5, (9, 10), Fraction(2, 3), 0.99, 1e-3, 0.99999)
"""Discount factors that games have by their number of edges."""


def factor_of(arena: Arena):
    return FACTORS[arena.shape[1] % len(FACTORS)]


def _expected(cases: Cases) -> list[list[Fraction]]:
    """By fractions."""
    arenas = cases.once(_games.arenas)
    return [reference.solve(arena, factor_of(arena))[0] for arena in arenas]


def misses(claim: Solution, expected: list[Fraction]) -> Complaint:
    """Where bounds leave an exact value out."""
    for v, value in enumerate(expected):
        low, high = float(claim.lower[v]), float(claim.upper[v])
        if not (np.isfinite([low, high]).all() and low <= value <= high):
            return f"bounds {low} to {high} at {v}, where the value is {value}"
    return None


def _wrong(arena: Arena, answer: Solution, expected: list[Fraction]) -> Complaint:
    return misses(answer, expected) or _games.rejected(
        discounted.verify(arena, factor_of(arena), answer)
    )


_of = functools.partial(_games.compared, wrong=_wrong, expected=_expected)


def of_place(solver: str) -> Check:
    """`discounted.solve` on one game after the other."""
    return _of(
        lambda arenas: [
            discounted.solve(arena, factor_of(arena), solver) for arena in arenas
        ]
    )


def _iterated(cases: Cases) -> list[Complaint]:
    """Value iteration, which takes long for factors close to 1."""
    return [
        misses(discounted.solve(arena, 0.5, "vi"), reference.solve(arena, 0.5)[0])
        for arena in cases.once(_games.arenas)
    ]


def _many(arenas: list[Arena]) -> Sequence[Solution]:
    return solve_many(discounted, [(arena, factor_of(arena)) for arena in arenas])


_traced = jax.jit(functools.partial(discounted.solve, epsilon=1e-2))


def _under_jit(cases: Cases) -> list[Complaint]:
    said: list[Complaint] = []
    arenas = cases.once(_games.arenas)
    for arena, padded in zip(arenas, _games.padded(arenas), strict=True):
        found = _traced(padded, 0.75)
        said.append(misses(found, reference.solve(arena, 0.75)[0]))
    return said


def _secures(case: Labelled, claim: Solution, factor) -> bool:
    """Whether bounds hold, and are secured by the edges of the claim."""
    arena, strategy = case.arena, np.asarray(claim.strategy)
    if ((strategy < arena.row_ptr[:-1]) | (strategy >= arena.row_ptr[1:])).any():
        return False
    for player, bound in ((0, claim.lower), (1, claim.upper)):
        alone = reference.solve(case.fixed(strategy, player).arena, factor)[0]
        for value, x in zip(alone, bound.tolist(), strict=True):
            if (x > value) if player == 0 else (x < value):
                return False
    return True


def _spoilt(case: Labelled) -> Iterator[Complaint]:
    """What is accepted is right; what is right, as it was found, is accepted."""
    arena = case.arena
    factor = factor_of(arena)
    right = discounted.solve(arena, factor, "host")
    rng = np.random.default_rng([case.size, len(case.src)])
    for kind in range(4):
        lower, upper = np.array(right.lower), np.array(right.upper)
        strategy = np.array(right.strategy)
        v = int(rng.integers(case.size))
        step = float(rng.choice([1e-12, 1e-6, 1.0]))
        match kind:
            case 0:
                lower[v] += step
            case 1:
                upper[v] -= step
            case 2:
                strategy[v] = _games.any_edges(arena, rng)[v]
            case 3:
                lower[v] -= step
        claim = dataclasses.replace(right, lower=lower, upper=upper, strategy=strategy)
        verdict = discounted.verify(arena, factor, claim)
        if verdict and not _secures(case, claim, factor):
            yield (
                f"bounds {lower.tolist()} to {upper.tolist()} are wrong, but accepted"
            )
    if not discounted.verify(arena, factor, right):
        yield "the answer is rejected"


def _show(case: Labelled) -> str:
    return show("discounted", case)[:-1] + f", {factor_of(case.arena)!r})"


def subject() -> Subject:
    return Subject(
        name="discounted",
        draw=_games.weighted,
        checks={
            "host": of_place("host"),
            "auto": of_place("auto"),
            "verify": each(_spoilt),
            "many": _of(_many),
            "improvement": first(of_place("improvement"), 1),
            "vi": first(apart(_iterated), 1),
            "jit": first(apart(_under_jit), 4),
        },
        smaller=smaller,
        show=_show,
        size=SIZE,
        batch=BATCH,
    )

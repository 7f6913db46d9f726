"""The three forms of verification on right solutions and thousands of spoilt ones."""

import dataclasses
from collections import Counter
from functools import partial

import brute_force
import jax
import mutants
import numpy as np
import pytest

from jaxgames import Arena, Status, parity
from jaxgames.parity import Reason, Solution, reference
from jaxgames.parity._certificate import certificate
from jaxgames.parity._edges import split
from jaxgames.parity._game import normal_form
from jaxgames.parity._measures import Measures
from jaxgames.testing import odd_arenas

SIZES = (24, 256)
"""Vertices and edges to which all games are padded, to be checked in one batch."""

PRIORITIES = 48
"""Length to which all cuts are padded."""

BATCH = 400
"""Cases that are checked in one call."""

VERIFY = {
    method: jax.jit(jax.vmap(partial(parity.verify, method=method)))
    for method in ("trimming", "measures")
}


def games(seed: int, count: int, max_vertices: int, on_edges: bool) -> list[Arena]:
    return list(odd_arenas(seed, count, max_vertices, edge_priorities=on_edges))


def right_claim(arena: Arena) -> mutants.Claim:
    """The solution with measures of two words."""
    size = len(arena.owner)
    solution = reference.solve(split(arena))
    solution = dataclasses.replace(
        solution, winner=solution.winner[:size], strategy=solution.strategy[:size]
    )
    measures = certificate(arena, solution)
    words = np.zeros((2, 2, size), np.int32)
    words[:, : measures.words.shape[1]] = measures.words
    return mutants.Claim(solution.winner, solution.strategy, words, measures.cut)


def as_solution(claim: mutants.Claim) -> Solution:
    return Solution(
        Status.SOLVED,
        winner=claim.winner,
        strategy=claim.strategy,
        measures=Measures(words=claim.words, cut=claim.cut),
    )


def padded(claim: mutants.Claim) -> Solution:
    """The claim with arrays of the common shapes."""
    more = SIZES[0] - len(claim.winner)
    return Solution(
        Status.SOLVED,
        winner=np.pad(claim.winner, (0, more)),
        strategy=np.pad(claim.strategy, (0, more), constant_values=-1),
        measures=Measures(
            words=np.pad(claim.words, ((0, 0), (0, 0), (0, more))),
            cut=np.pad(
                claim.cut, ((0, 0), (0, PRIORITIES - claim.cut.shape[1])), "edge"
            ),
        ),
    )


def reasons(cases, method: str) -> list[Reason]:
    """Reasons that one form gives; the forms on the device see all cases at once."""
    if method == "components":
        verdicts = [parity.verify(a, as_solution(c), method) for a, c in cases]
        return [Reason(int(verdict.reason)) for verdict in verdicts]
    arenas = {id(arena): arena for arena, _ in cases}
    arenas = {key: arena.pad(*SIZES) for key, arena in arenas.items()}
    pairs = [(arenas[id(arena)], padded(claim)) for arena, claim in cases]
    pairs += pairs[-1:] * (-len(pairs) % BATCH)
    found = []
    for start in range(0, len(pairs), BATCH):
        stack = jax.tree.map(lambda *xs: np.stack(xs), *pairs[start : start + BATCH])
        verdict = jax.device_get(VERIFY[method](*stack))
        assert np.array_equal(verdict.valid, verdict.reason == Reason.OK)
        found += map(Reason, verdict.reason.tolist())
    return found[: len(cases)]


def compressed(arena: Arena) -> np.ndarray:
    return mutants.edge_priorities(normal_form(arena, edge_priorities=True))


@pytest.fixture(
    params=[
        pytest.param((120, False), id="vertices"),
        pytest.param((120, True), id="edges"),
        pytest.param((400, False), id="vertices-many", marks=pytest.mark.sweep),
        pytest.param((400, True), id="edges-many", marks=pytest.mark.sweep),
    ],
    scope="module",
)
def right(request):
    """Games with their right claims."""
    count, on_edges = request.param
    arenas = games(7, count, 14, on_edges)
    return [(arena, right_claim(arena)) for arena in arenas]


@pytest.mark.parametrize("method", ["trimming", "measures", "components"])
def test_accepts_right_solutions(right, method):
    assert set(reasons(right, method)) == {Reason.OK}


def test_agree_on_spoilt_solutions(right):
    rng = np.random.default_rng(8)
    cases, origin = [], []
    for arena, claim in right:
        for spoil in mutants.OF_SOLUTION:
            spoilt = claim.copy()
            spoil(arena, spoilt, rng)
            cases.append((arena, spoilt))
            origin.append(claim)
    expected = [mutants.reason(arena, claim) for arena, claim in cases]
    assert reasons(cases, "trimming") == expected
    assert reasons(cases, "components") == expected
    by_measures = [
        mutants.reason_by_measures(arena, claim, compressed(arena))
        for arena, claim in cases
    ]
    assert reasons(cases, "measures") == by_measures
    for wrong, stricter in zip(expected, by_measures, strict=True):
        assert wrong in (stricter, Reason.OK, Reason.CYCLE_WON_BY_OPPONENT)
        assert wrong == Reason.OK or stricter != Reason.OK

    # What is accepted has the right winners, and every reason is met often.
    for (_, claim), reason, known in zip(cases, expected, origin, strict=True):
        if reason == Reason.OK:
            np.testing.assert_array_equal(claim.winner, known.winner)
    seen = Counter(expected)
    often = 3 * len(right) // 40
    assert all(seen[reason] > often for reason in Reason if reason < 8), seen
    assert Counter(by_measures)[Reason.MEASURE_RISES] > often


@pytest.mark.parametrize("times", [1, 5])
def test_agree_on_spoilt_measures(right, times):
    """`times` 5: measures of several words, with digits across their ends."""
    rng = np.random.default_rng(9)
    cases = []
    for arena, claim in right[:: min(times, 2)]:
        for spoil in mutants.OF_MEASURES:
            spoilt = mutants.stretched(claim, times)
            spoil(arena, spoilt, rng)
            cases.append((arena, spoilt))
    expected = [mutants.reason_by_measures(a, c, compressed(a)) for a, c in cases]
    assert reasons(cases, "measures") == expected
    seen = Counter(expected)
    for reason in (Reason.OK, Reason.CUT_OUT_OF_ORDER, Reason.MEASURE_RISES):
        assert seen[reason] > len(right) // 4, seen
    # The solutions are right: only the measures are at fault, and `auto` knows it.
    for arena, claim in cases[:: len(cases) // 12]:
        verdict = parity.verify(arena.pad(*SIZES), padded(claim))
        assert verdict, str(verdict)


def test_oracle_and_forms_against_all_strategies():
    """Tiny games: what is accepted wins against every strategy of the other player."""
    rng = np.random.default_rng(10)
    cases = []
    for arena in games(11, 60, 4, on_edges=False):
        if arena.shape[1] <= 16:
            claim = right_claim(arena)
            assert claim.winner.tolist() == brute_force.winners(arena)
            for spoil in mutants.OF_SOLUTION:
                spoilt = claim.copy()
                spoil(arena, spoilt, rng)
                cases.append((arena, spoilt))
    accepted = reasons(cases, "trimming")
    for (arena, claim), reason in zip(cases, accepted, strict=True):
        assert reason == mutants.reason(arena, claim)
        if mutants.fault_of_a_vertex(arena, claim) == Reason.OK:
            wins = all(
                brute_force.wins(arena, player, claim.winner, claim.strategy)
                for player in (0, 1)
            )
            assert wins == (reason == Reason.OK)
    assert len(cases) > 200
    assert {Reason.OK, Reason.CYCLE_WON_BY_OPPONENT} < set(accepted)

"""Every parity solver on games of odd shapes, in every way it can be called."""

import numpy as np
import pytest
from alike import alike
from repeats import some_of

from jaxgames import Arena, SolveError, Status, generate, parity
from jaxgames.parity import FPI, PriorityPromotion, Zielonka, reference
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

SOLVERS = {
    "fpi": FPI(),
    "fpi, 4 sweeps a check": FPI(sweeps_per_check=4),
    "zielonka": Zielonka(),
    "zielonka, 3 sweeps a step": Zielonka(sweeps=3, sweeps_per_check=2),
    "promotion": PriorityPromotion(),
    "promotion, 3 sweeps a step": PriorityPromotion(sweeps=3, sweeps_per_check=2),
}


@pytest.fixture(params=SOLVERS, ids=str)
def solver(request):
    return SOLVERS[request.param]


@pytest.mark.parametrize(
    "name",
    [
        "fpi",
        "zielonka",
        # Compiled several times as long; promotion has a test of its own.
        pytest.param("fpi, 4 sweeps a check", marks=pytest.mark.sweep),
        pytest.param("zielonka, 3 sweeps a step", marks=pytest.mark.sweep),
        pytest.param("promotion, 3 sweeps a step", marks=pytest.mark.sweep),
    ],
)
def test_conforms(name):
    check_solver(SOLVERS[name], alike(seed=1, count=6))


def check_all(arena: Arena) -> None:
    """Winners of all solvers against the reference, each with its certificate."""
    arena = arena.pad(48, 512)  # one compilation for all
    expected = reference.solve(arena).winner
    for name in parity.SOLVERS:
        solution = parity.solve(arena, name)
        np.testing.assert_array_equal(solution.winner, expected, err_msg=name)
        verdict = reference.verify(arena, solution)
        assert verdict, f"{name}: {verdict}"


@some_of(8, 30)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference(shape, count):
    rng = np.random.default_rng(SHAPES.index(shape))
    for _ in range(count):
        check_all(odd_arena(shape, rng))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_the_reference_at_length(seed):
    for arena in odd_arenas(seed=100 + seed, count=500, max_vertices=40):
        check_all(arena)


FAMILIES = {
    "elevator, fair": lambda: generate.elevator(3, fair=True),
    "elevator, unfair": lambda: generate.elevator(3, fair=False),
    "hanoi": lambda: generate.hanoi(4),
    "jurdzinski": lambda: generate.jurdzinski(2, 2),
    "propagation": lambda: generate.propagation(4, 5),
    "propagation tree": lambda: generate.propagation_tree(5, 2),
    "ladder": lambda: generate.ladder(20),
    "model checker ladder": lambda: generate.model_checker_ladder(12),
    "recursive ladder": lambda: generate.recursive_ladder(3),
    "clique": lambda: generate.clique(12),
}


MAY_TAKE_LONG = {"spm"}
"""Solvers that count up to the top where their player loses."""


@pytest.mark.parametrize("family", FAMILIES)
def test_named_families(family):
    arena = FAMILIES[family]()
    arena = arena.pad(1024, 2048)  # one compilation for all
    expected = reference.solve(arena).winner
    for name in parity.SOLVERS:
        solution = parity.solve(arena, name, max_steps=20_000, throw=False)
        if solution.status == Status.SOLVED:
            np.testing.assert_array_equal(solution.winner, expected, err_msg=name)
            assert parity.verify(arena, solution), name
        else:
            assert name in MAY_TAKE_LONG, f"{name}: {solution.status!r}"


@pytest.mark.parametrize("name", ["fpi", "zielonka"])
def test_exponential_families_end_at_the_step_limit(name):
    arena = generate.recursive_ladder(100)
    with pytest.raises(SolveError, match="MAX_STEPS: The step limit") as caught:
        parity.solve(arena, name, max_steps=3000)
    solution = caught.value.solution
    assert solution.status == Status.MAX_STEPS
    assert solution.stats["rounds"] <= 3000
    assert (np.asarray(solution.winner) == -1).any()

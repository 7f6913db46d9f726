"""Every parity solver on games of odd shapes, in every way it can be called."""

import dataclasses

import numpy as np
import pytest

from jaxgames import Arena, SolveError, Status, generate, parity
from jaxgames.parity import FPI, SPM, Zielonka, reference
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

SOLVERS = {
    "fpi": FPI(),
    "fpi, 4 sweeps a check": FPI(sweeps_per_check=4),
    "zielonka": Zielonka(),
    "zielonka, 3 sweeps a step": Zielonka(sweeps=3, sweeps_per_check=2),
    "spm": SPM(),
}


@pytest.fixture(params=SOLVERS, ids=str)
def solver(request):
    return SOLVERS[request.param]


def test_conforms(solver):
    check_solver(solver, odd_arenas(seed=1, count=10, max_vertices=14))


def check_all(arena: Arena) -> None:
    """Winners of all solvers against the reference, each with its certificate."""
    arena = arena.pad(48, 512)  # one compilation for all
    expected = reference.solve(arena).winner
    for name in parity.SOLVERS:
        solution = parity.solve(arena, name)
        np.testing.assert_array_equal(solution.winner, expected, err_msg=name)
        verdict = reference.verify(arena, solution)
        assert verdict, f"{name}: {verdict}"


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference(shape):
    rng = np.random.default_rng(SHAPES.index(shape))
    for _ in range(100):
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


@pytest.mark.parametrize("family", FAMILIES)
def test_named_families(family):
    arena = FAMILIES[family]()
    expected = reference.solve(arena).winner
    for name in parity.SOLVERS:
        solution = parity.solve(arena, name, max_steps=20_000, throw=False)
        if solution.status == Status.SOLVED:
            np.testing.assert_array_equal(solution.winner, expected, err_msg=name)
            assert parity.verify(arena, solution), name
        else:
            assert name == "spm", f"{name}: {solution.status!r}"


@pytest.mark.parametrize("name", ["fpi", "zielonka"])
def test_exponential_families_end_at_the_step_limit(name):
    arena = generate.recursive_ladder(100)
    with pytest.raises(SolveError, match="MAX_STEPS: The step limit") as caught:
        parity.solve(arena, name, max_steps=3000)
    solution = caught.value.solution
    assert solution.status == Status.MAX_STEPS
    assert solution.stats["rounds"] <= 3000
    assert (np.asarray(solution.winner) == -1).any()


def ring(priority: np.ndarray, chords: int = 0) -> Arena:
    """A cycle through vertices of the given priorities, and some random edges."""
    size = len(priority)
    rng = np.random.default_rng(0)
    src = np.append(np.arange(size), rng.integers(0, size, chords))
    dst = np.append(np.roll(np.arange(size), 1), rng.integers(0, size, chords))
    return Arena.from_edges(src, dst, owner=np.arange(size) % 2, priority=priority)


class TestSPMWords:
    """Measures of any number of words give the same answer."""

    # Twenty digits with two vertices each: 3^20 values take 32 bits.
    wide = ring(np.repeat(np.arange(40), 2), chords=7)

    def test_words_are_as_few_as_the_bounds_allow(self):
        def words(arena):
            return SPM().fit(parity.prepare(arena)[0]).words

        # k vertices of the one bad priority: k + 1 values and the top.
        assert words(ring(np.arange(1000) % 2)) == 1
        assert words(self.wide) == 2
        assert parity.verify(self.wide, parity.solve(self.wide, "spm"))

    @pytest.mark.parametrize("more", [0, 1, 3])
    def test_more_words_than_needed(self, more):
        plain = parity.solve(self.wide, "spm")
        fitted = SPM().fit(parity.prepare(self.wide)[0])
        solution = parity.solve(self.wide, SPM(words=fitted.words + more))
        np.testing.assert_array_equal(solution.winner, plain.winner)
        np.testing.assert_array_equal(solution.strategy, plain.strategy)

    def test_small_words_carry(self, monkeypatch):
        """Seven words of three digits each: carries run through all of them."""
        from jaxgames.parity import _spm

        monkeypatch.setattr(_spm, "WORD", 64)
        # Options that no other test has, so that no compilation is taken over.
        solver = SPM(words=7, digits=24, sweeps_per_check=3)
        solution = parity.solve(self.wide, solver)
        expected = reference.solve(self.wide).winner
        np.testing.assert_array_equal(solution.winner, expected)
        assert reference.verify(self.wide, solution)
        with pytest.raises(SolveError, match="OVERFLOW"):
            parity.solve(self.wide, dataclasses.replace(solver, words=6))

    def test_too_few_words_are_an_overflow_and_no_guess(self):
        arena = ring(np.repeat(np.arange(60), 2))
        with pytest.raises(SolveError, match="OVERFLOW") as caught:
            parity.solve(arena, SPM(words=1))
        assert (np.asarray(caught.value.solution.winner) == -1).all()
        with pytest.raises(SolveError, match="OVERFLOW"):
            parity.solve(arena, SPM(digits=3))

    @pytest.mark.parametrize("option", [{"words": 0}, {"digits": -1}, {"words": 1.5}])
    def test_bad_options(self, option):
        with pytest.raises(ValueError, match="must be a positive integer"):
            SPM(**option)

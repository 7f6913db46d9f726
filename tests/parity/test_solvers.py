"""Every parity solver on games of odd shapes, in every way it can be called."""

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
    count = 10 if isinstance(solver, SPM) else 20
    check_solver(solver, odd_arenas(seed=1, count=count, max_vertices=14))


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference(shape):
    """Winners of all solvers on hundreds of games, each with its certificate."""
    rng = np.random.default_rng(SHAPES.index(shape))
    for _ in range(30):
        arena = odd_arena(shape, rng)
        expected = reference.solve(arena).winner
        for name in parity.SOLVERS:
            solution = parity.solve(arena, name)
            np.testing.assert_array_equal(solution.winner, expected, err_msg=name)
            assert reference.verify(arena, solution), name


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_the_reference_at_length(seed):
    for arena in odd_arenas(seed=100 + seed, count=500, max_vertices=40):
        expected = reference.solve(arena).winner
        for name in parity.SOLVERS:
            solution = parity.solve(arena, name)
            np.testing.assert_array_equal(solution.winner, expected, err_msg=name)
            assert reference.verify(arena, solution), name


FAMILIES = {
    "elevator, fair": (lambda: generate.elevator(3, fair=True), None),
    "elevator, unfair": (lambda: generate.elevator(3, fair=False), None),
    "hanoi": (lambda: generate.hanoi(4), None),
    "jurdzinski": (lambda: generate.jurdzinski(2, 2), None),
    "propagation": (lambda: generate.propagation(4, 5), None),
    "propagation tree": (lambda: generate.propagation_tree(5, 2), None),
    "ladder": (lambda: generate.ladder(20), None),
    "model checker ladder": (lambda: generate.model_checker_ladder(12), None),
    "recursive ladder": (lambda: generate.recursive_ladder(3), None),
    "clique": (lambda: generate.clique(12), None),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_named_families(family):
    arena = FAMILIES[family][0]()
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
    expected = reference.solve(generate.recursive_ladder(4)).winner
    assert set(expected.tolist()) == {0, 1} or len(expected)
    with pytest.raises(SolveError, match="MAX_STEPS: The step limit") as caught:
        parity.solve(arena, name, max_steps=3000)
    solution = caught.value.solution
    assert solution.status == Status.MAX_STEPS
    assert solution.stats["rounds"] <= 3000
    assert (np.asarray(solution.winner) == -1).any()


class TestSPMWords:
    """Measures of any number of words give the same answer."""

    arena = odd_arena("many priorities", np.random.default_rng(7), max_vertices=24)

    def test_words_are_as_few_as_the_bounds_allow(self):
        def words(arena):
            return SPM().fit(parity.prepare(arena)[0]).words

        # k vertices of the one bad priority: k + 1 values and the top.
        chain = np.arange(1000)
        ring = Arena.from_edges(
            chain, np.roll(chain, 1), owner=np.zeros(1000, int), priority=chain % 2
        )
        assert words(ring) == 1
        # Twenty digits with two vertices each: 3^20 values take 32 bits.
        priority = np.repeat(np.arange(40), 2)
        vertices = np.arange(80)
        wide = Arena.from_edges(
            vertices, np.roll(vertices, 1), owner=vertices % 2, priority=priority
        )
        assert words(wide) == 2
        assert parity.verify(wide, parity.solve(wide, "spm"))

    @pytest.mark.parametrize("more", [0, 1, 3])
    def test_more_words_than_needed(self, more):
        plain = parity.solve(self.arena, "spm")
        fitted = SPM().fit(parity.prepare(self.arena)[0])
        solution = parity.solve(self.arena, SPM(words=fitted.words + more))
        np.testing.assert_array_equal(solution.winner, plain.winner)
        np.testing.assert_array_equal(solution.strategy, plain.strategy)

    def test_small_words_carry(self, monkeypatch):
        """With tiny words every measure has many, and carries run through them."""
        from jaxgames.parity import _spm

        expected = reference.solve(self.arena).winner
        monkeypatch.setattr(_spm, "WORD", 64)
        solver = SPM().fit(parity.prepare(self.arena)[0])
        assert solver.words >= 3
        # An option that changes nothing, so that no compilation is taken over.
        solution = parity.solve(self.arena, SPM(words=solver.words, sweeps_per_check=3))
        np.testing.assert_array_equal(solution.winner, expected)
        assert reference.verify(self.arena, solution)

    def test_too_few_words_are_an_overflow_and_no_guess(self):
        priority = np.repeat(np.arange(60), 2)
        vertices = np.arange(120)
        arena = Arena.from_edges(
            vertices, np.roll(vertices, 1), owner=vertices % 2, priority=priority
        )
        with pytest.raises(SolveError, match="OVERFLOW") as caught:
            parity.solve(arena, SPM(words=1))
        assert (np.asarray(caught.value.solution.winner) == -1).all()
        with pytest.raises(SolveError, match="OVERFLOW"):
            parity.solve(arena, SPM(digits=3))

    @pytest.mark.parametrize("option", [{"words": 0}, {"digits": -1}, {"words": 1.5}])
    def test_bad_options(self, option):
        with pytest.raises(ValueError, match="must be a positive integer"):
            SPM(**option)

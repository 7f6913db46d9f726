"""Strategy improvement: answers, words, and starts from given strategies."""

import dataclasses

import numpy as np
import pytest
from alike import alike

from jaxgames import Arena, SolveError, Status, generate, parity
from jaxgames.parity import _improvement, reference
from jaxgames.parity._improvement import StrategyImprovement
from jaxgames.solution import NO_EDGE
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

SOLVERS = {
    "plain": StrategyImprovement(),
    "2 doublings a step": StrategyImprovement(doublings=2, sweeps_per_check=2),
}
PLAIN = SOLVERS["plain"]


def check(arena: Arena, solution, name="") -> None:
    """Winners against the reference, strategies by certificate."""
    assert solution.status == Status.SOLVED, name
    expected = reference.solve(arena).winner
    np.testing.assert_array_equal(solution.winner, expected, err_msg=str(name))
    verdict = reference.verify(arena, solution)
    assert verdict, f"{name}: {verdict}"


def same_size(arena: Arena) -> Arena:
    """One compilation for all small games."""
    return arena.pad(48, 512)


@pytest.mark.parametrize(("name", "count"), [("plain", 3), ("2 doublings a step", 1)])
def test_conforms(name, count):
    check_solver(SOLVERS[name], alike(seed=12, count=count))


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference(shape, name):
    rng = np.random.default_rng(SHAPES.index(shape) + 200)
    for _ in range(20):
        arena = same_size(odd_arena(shape, rng))
        check(arena, parity.solve(arena, SOLVERS[name]), shape)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_the_reference_at_length(seed):
    for index, arena in enumerate(odd_arenas(300 + seed, 1000)):
        arena = same_size(arena)
        check(arena, parity.solve(arena, PLAIN), index)


FAMILIES = {
    "elevator": lambda: generate.elevator(3, fair=True),
    "jurdzinski": lambda: generate.jurdzinski(5, 10),
    "recursive ladder": lambda: generate.recursive_ladder(15),
    "clique, its priorities int8, their number not": lambda: generate.clique(100),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_named_families(family):
    arena = FAMILIES[family]()
    check(arena, parity.solve(arena, PLAIN, max_steps=5000), family)


class TestWords:
    """Values of any number of words lead to the same answer."""

    # Forty priorities with two vertices each: 3^40 values take 64 bits.
    wide = generate.random_game(3, 80, num_priorities=1, max_degree=3)
    wide = dataclasses.replace(wide, priority=np.arange(80, dtype=np.int32) // 2)

    def test_are_as_few_as_the_game_needs(self):
        def words(arena):
            return PLAIN.fit(parity.prepare(arena)[0]).words

        assert words(generate.clique(2)) == 1
        assert words(self.wide) == 3
        check(self.wide, parity.solve(self.wide, PLAIN))

    @pytest.mark.parametrize("more", [1, 3])
    def test_more_than_needed(self, more):
        solution = parity.solve(self.wide, StrategyImprovement(words=3 + more))
        plain = parity.solve(self.wide, PLAIN)
        np.testing.assert_array_equal(solution.strategy, plain.strategy)
        check(self.wide, solution)

    def test_a_priority_a_word(self, monkeypatch):
        """With small words most priorities are compared one after the other."""
        monkeypatch.setattr(_improvement, "ROOM", 4)
        arena = generate.random_game(4, 12, num_priorities=1, max_degree=3)
        arena = dataclasses.replace(arena, priority=np.arange(12, dtype=np.int32) // 2)
        # Options that no other test has, so that no compilation is taken over.
        solver = StrategyImprovement(words=6, priorities=7, sweeps_per_check=3)
        check(arena, parity.solve(arena, solver))
        with pytest.raises(SolveError, match="OVERFLOW"):
            parity.solve(arena, dataclasses.replace(solver, words=5))

    @pytest.mark.parametrize("option", [{"words": 2}, {"priorities": 30}])
    def test_too_few_are_an_overflow_and_no_guess(self, option):
        with pytest.raises(SolveError, match="OVERFLOW") as caught:
            parity.solve(self.wide, StrategyImprovement(**option))
        assert (np.asarray(caught.value.solution.winner) == -1).all()

    @pytest.mark.parametrize(
        "option", [{"words": 0}, {"priorities": -1}, {"doublings": 1.5}]
    )
    def test_bad_options(self, option):
        with pytest.raises(ValueError, match="must be (an integer )?at least 1"):
            StrategyImprovement(**option)


class TestWarmStart:
    def test_the_answer_takes_one_valuation_for_each_player_to_confirm(self):
        arena = generate.jurdzinski(5, 10)
        cold = parity.solve(arena, PLAIN)
        start = PLAIN.warm_start(arena, cold.strategy)
        warm = parity.solve(arena, PLAIN, state=start)
        check(arena, warm)
        assert warm.stats["rounds"] < cold.stats["rounds"] / 2

    def test_any_strategy_will_do(self):
        """Even one whose plays go round cycles that its player loses."""
        rng = np.random.default_rng(0)
        for arena in odd_arenas(seed=40, count=40):
            arena = same_size(arena)
            edge = arena.row_ptr[:-1] + rng.integers(0, np.diff(arena.row_ptr))
            edge = np.where(rng.random(len(edge)) < 0.3, NO_EDGE, edge)
            start = PLAIN.warm_start(arena, edge)
            check(arena, parity.solve(arena, PLAIN, state=start))

    def test_takes_an_arena_of_any_layout(self, monkeypatch):
        from jaxgames.ops import _slices

        monkeypatch.setattr(_slices, "SLICE_FROM", 0)
        arena = generate.random_game(5, 60, num_priorities=9)
        known = reference.solve(arena)
        start = PLAIN.warm_start(arena, known.strategy)
        solution = parity.solve(arena, PLAIN, state=start)
        assert solution.stats["layout"] == "slices"
        check(arena, solution)

    def test_refuses_what_is_no_strategy(self):
        arena = generate.clique(4)
        with pytest.raises(ValueError, match="must have the arena's shape"):
            PLAIN.warm_start(arena, np.zeros(3))
        with pytest.raises(ValueError, match=r"strategy\[1\] is 0, not an edge"):
            PLAIN.warm_start(arena, np.zeros(4))

    def test_refuses_edge_priorities(self):
        arena = Arena.from_edges([0], [0], owner=[0], edge_priority=[1])
        with pytest.raises(ValueError, match="needs vertex priorities"):
            PLAIN.warm_start(arena, [0])

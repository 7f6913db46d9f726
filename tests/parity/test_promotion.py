"""Priority promotion: answers, families, and dominions taken over from elsewhere."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from alike import alike
from repeats import first_of, some_of

from jaxgames import Arena, Status, fixpoint, generate, parity
from jaxgames.parity import reference
from jaxgames.parity._promotion import PriorityPromotion
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

SOLVERS = {
    "plain": PriorityPromotion(),
    "3 sweeps a step": PriorityPromotion(sweeps=3, sweeps_per_check=2),
}


def same_size(arena: Arena) -> Arena:
    """One compilation for all small games."""
    return arena.pad(48, 512)


def check(arena: Arena, solution, name="") -> None:
    """Winners against the reference, strategies by certificate."""
    assert solution.status == Status.SOLVED, name
    expected = reference.solve(arena).winner
    np.testing.assert_array_equal(solution.winner, expected, err_msg=str(name))
    verdict = reference.verify(arena, solution)
    assert verdict, f"{name}: {verdict}"


@pytest.mark.parametrize(("name", "count"), [("plain", 3), ("3 sweeps a step", 1)])
def test_conforms(name, count):
    check_solver(SOLVERS[name], alike(seed=11, count=count))


@pytest.mark.parametrize("name", SOLVERS)
@some_of(8, 20)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference(shape, name, count):
    rng = np.random.default_rng(SHAPES.index(shape) + 100)
    for _ in range(count):
        arena = same_size(odd_arena(shape, rng))
        check(arena, parity.solve(arena, SOLVERS[name]), shape)


def solve_batch(arenas: list[Arena], solver=SOLVERS["plain"]) -> list:
    """Solves games of one size under vmap."""
    batch = jax.tree.map(lambda *x: np.stack(x), *arenas)
    solve = jax.jit(jax.vmap(lambda arena: parity.solve(arena, solver)))
    solutions = jax.tree.map(np.asarray, dataclasses.replace(solve(batch), state=None))
    return [
        jax.tree.map(lambda x, at=at: x[at], solutions) for at in range(len(arenas))
    ]


def test_agrees_in_large_batches():
    arenas = [a.pad(10, 128) for a in odd_arenas(6, 400, max_vertices=8)]
    for index, solution in enumerate(solve_batch(arenas)):
        check(arenas[index], solution, index)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_agrees_in_large_batches_at_length(seed):
    arenas = [same_size(a) for a in odd_arenas(200 + seed, 2000)]
    for index, solution in enumerate(solve_batch(arenas)):
        check(arenas[index], solution, index)


@pytest.mark.parametrize("seed", first_of(2, 4))
def test_random_games_with_many_promotions(seed):
    arena = generate.random_game(seed, 900, num_priorities=900, max_degree=2)
    check(arena, parity.solve(arena, SOLVERS["plain"]))


FAMILIES = {
    "elevator": lambda: generate.elevator(4, fair=True),
    "jurdzinski": lambda: generate.jurdzinski(5, 10),
    "clique": lambda: generate.clique(12),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_named_families(family):
    arena = FAMILIES[family]()
    check(arena, parity.solve(arena, SOLVERS["plain"]), family)


@pytest.mark.parametrize("n", [40, 100])
def test_rounds_are_linear_on_recursive_ladders(n):
    """Zielonka's recursion takes exponentially many: no winners to compare with."""
    arena = generate.recursive_ladder(n)
    solution = parity.solve(arena, PriorityPromotion(sweeps=1), max_steps=6 * n)
    verdict = reference.verify(arena, solution)  # by certificate alone
    assert verdict, str(verdict)


def test_empty_priorities_cost_no_rounds():
    """One region is left after the first dominion, whatever the number of labels."""
    size = 400
    loops = np.arange(size)
    arena = Arena.from_edges(
        loops, loops, owner=loops % 2, priority=np.where(loops % 2, 1, 2 * loops)
    )
    solution = parity.solve(arena, PriorityPromotion(sweeps=1), max_steps=8)
    check(arena, solution)


def test_without_strategies():
    solver = PriorityPromotion(strategies=False)
    for arena in odd_arenas(seed=5, count=60):
        arena = same_size(arena)
        solution = parity.solve(arena, solver)
        assert solution.strategy is None
        np.testing.assert_array_equal(solution.winner, reference.solve(arena).winner)
    game = parity.prepare(arena)[1]
    assert jax.eval_shape(solver.init, game).move is None


@pytest.mark.parametrize("option", [{"sweeps": 0}, {"sweeps": 1.5}])
def test_bad_options(option):
    with pytest.raises(ValueError, match="must be (an integer )?at least 1"):
        PriorityPromotion(**option)


class TestAbsorb:
    """Dominions that somebody else found are taken out of play at any time."""

    solver = SOLVERS["plain"]
    absorb = staticmethod(jax.jit(PriorityPromotion.absorb, static_argnums=0))

    def go_on(self, arena: Arena, rounds: int, winner):
        """Absorbs after some rounds, then solves to the end."""
        game = parity.prepare(arena)[1]
        carry = None
        if rounds:
            carry = fixpoint.run(self.solver, game, max_steps=rounds).carry
        else:
            carry = fixpoint.initial(self.solver, game)
        padded = np.full(game.owner.shape, UNDECIDED, np.int8)
        padded[: len(winner)] = winner
        state = self.absorb(self.solver, game, carry.state, jnp.asarray(padded))
        carry = fixpoint.Carry(state, carry.rounds)
        return parity.solve(arena, self.solver, state=carry)

    def check(self, arena, taken, strategy, solution):
        """Right winners; strategies that fit together with those of what was taken."""
        known = taken != UNDECIDED
        np.testing.assert_array_equal(np.asarray(solution.winner)[known], taken[known])
        moves = np.asarray(solution.strategy)
        moves = np.where(known & (moves == NO_EDGE), strategy, moves)
        check(arena, dataclasses.replace(solution, strategy=moves))

    @pytest.mark.parametrize("rounds", [0, 1, 4])
    @pytest.mark.parametrize("player", [0, 1])
    def test_all_that_a_player_wins(self, rounds, player):
        for arena in odd_arenas(seed=20 + rounds, count=20):
            arena = same_size(arena)
            known = reference.solve(arena)
            taken = np.where(known.winner == player, player, UNDECIDED)
            solution = self.go_on(arena, rounds, taken)
            self.check(arena, taken, known.strategy, solution)

    @pytest.mark.parametrize("rounds", [0, 2, 5])
    def test_the_first_dominion_of_another_solver(self, rounds):
        found = 0
        for arena in odd_arenas(seed=30 + rounds, count=80):
            arena = same_size(arena)
            for limit in (4, 8, 16):
                other = parity.solve(
                    arena, PriorityPromotion(sweeps=2), max_steps=limit, throw=False
                )
                taken = np.asarray(other.winner)
                if other.status != Status.SOLVED and (taken[:2] != UNDECIDED).any():
                    solution = self.go_on(arena, rounds, taken)
                    self.check(arena, taken, np.asarray(other.strategy), solution)
                    found += 1
        assert found > 10

    def test_nothing(self):
        arena = same_size(odd_arena("dense", np.random.default_rng(0)))
        taken = np.full(arena.shape[0], UNDECIDED)
        check(arena, self.go_on(arena, 4, taken))

    def test_everything(self):
        arena = same_size(odd_arena("dense", np.random.default_rng(0)))
        known = reference.solve(arena).winner
        solution = self.go_on(arena, 2, known)
        assert solution.stats["rounds"] == 2
        np.testing.assert_array_equal(solution.winner, known)

"""Contraction: what goes, what stays, and solutions that come back right."""

from pathlib import Path

import numpy as np
import pytest

from jaxgames import Arena, Status
from jaxgames.parity import Solution, host, reference
from jaxgames.parity.preprocess._contract import contract
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.testing import odd_arena, odd_arenas

THESIS = Path(__file__).parents[4] / "shared/data/public/parity_thesis"

ENOUGH = 50
"""More passes than any game here needs."""


def solved(arena: Arena, passes: int = ENOUGH) -> Arena:
    """Contracts, solves, undoes and checks; the contracted game."""
    reduced = contract(arena, passes)
    solution = reference.solve(reduced.arena)
    winner, strategy = reduced.undo(solution.winner, solution.strategy)
    assert winner.dtype == np.int8
    assert strategy.dtype == np.int32
    np.testing.assert_array_equal(winner, reference.solve(arena).winner)
    back = Solution(Status.SOLVED, winner=winner, strategy=strategy)
    verdict = host.verify(arena, back)
    assert verdict, str(verdict)
    assert reduced.arena.shape[0] <= arena.shape[0]
    assert reduced.arena.shape[1] <= arena.shape[1]
    reduced.arena.validate()
    return reduced.arena


def chained(rng: np.random.Generator, size: int = 30) -> Arena:
    """A game with many chains, trees and diamonds, each vertex with few edges."""
    degree = 1 + (rng.random(size) < 0.4)
    src = np.repeat(np.arange(size), degree)
    near = src + rng.integers(1, 4, len(src))
    dst = np.where(rng.random(len(src)) < 0.8, near, rng.integers(0, size, len(src)))
    # Few differences between priorities: much fits.
    return Arena.from_edges(
        src,
        dst % size,
        owner=rng.integers(0, 2, size),
        priority=rng.integers(0, rng.integers(2, 6), size),
    )


class TestRandomGames:
    @pytest.mark.parametrize("seed", range(3))
    def test_of_odd_shapes(self, seed):
        for arena in odd_arenas(seed, 100):
            solved(arena)

    @pytest.mark.parametrize("passes", [1, 2, ENOUGH])
    def test_with_chains(self, passes):
        rng = np.random.default_rng(passes)
        for _ in range(80):
            solved(chained(rng, int(rng.integers(2, 40))), passes)

    @pytest.mark.sweep
    @pytest.mark.parametrize("seed", range(20))
    def test_many(self, seed):
        rng = np.random.default_rng(1000 + seed)
        for arena in odd_arenas(100 + seed, 1000):
            solved(arena, int(rng.integers(1, 6)))
            solved(chained(rng, int(rng.integers(2, 60))))

    def test_a_contracted_game_is_not_contracted_further(self):
        rng = np.random.default_rng(5)
        smaller = 0
        for arena in [*odd_arenas(11, 30), *(chained(rng) for _ in range(30))]:
            once = contract(arena, ENOUGH).arena
            twice = contract(once, ENOUGH).arena
            assert twice.shape == once.shape
            np.testing.assert_array_equal(twice.dst, once.dst)
            smaller += once.shape[0] < arena.shape[0]
        assert smaller > 30

    def test_more_passes_leave_no_more(self):
        rng = np.random.default_rng(6)
        for _ in range(30):
            arena = chained(rng, 60)
            sizes = [contract(arena, passes).arena.shape for passes in (1, 2, 3, 9)]
            assert sizes == sorted(sizes, reverse=True)

    def test_padding_comes_back_undecided_by_nobody(self):
        for arena in odd_arenas(3, 20):
            padded = arena.pad()
            reduced, same = contract(padded), contract(arena).arena
            assert reduced.arena.shape == same.shape
            solution = reference.solve(reduced.arena)
            winner, strategy = reduced.undo(solution.winner, solution.strategy)
            expected = reference.solve(arena).winner
            np.testing.assert_array_equal(winner[: len(expected)], expected)
            assert (strategy[len(expected) :] == NO_EDGE).all()


class TestPartialSolutions:
    def test_are_never_wrong(self):
        rng = np.random.default_rng(8)
        known = 0
        for _ in range(100):
            arena = chained(rng)
            reduced = contract(arena, ENOUGH)
            solution = reference.solve(reduced.arena)
            hide = rng.random(len(solution.winner)) < 0.5
            winner = np.where(hide, UNDECIDED, solution.winner)
            strategy = np.where(hide, NO_EDGE, solution.strategy)
            winner, strategy = reduced.undo(winner, strategy)
            expected = reference.solve(arena).winner
            decided = winner != UNDECIDED
            np.testing.assert_array_equal(winner[decided], expected[decided])
            assert (strategy[winner != arena.owner] == NO_EDGE).all()
            moves = strategy[strategy != NO_EDGE]
            into = arena.dst[moves]
            assert (expected[into] == arena.owner[arena.src[moves]]).all()
            known += decided.sum()
        assert known > 1000

    def test_of_nothing_is_nothing(self):
        for arena in odd_arenas(4, 50):
            reduced = contract(arena)
            nobody = np.full(reduced.arena.shape[0], UNDECIDED, np.int8)
            winner, strategy = reduced.undo(nobody, np.full(len(nobody), NO_EDGE))
            assert (winner == UNDECIDED).all()
            assert (strategy == NO_EDGE).all()

    def test_moves_are_not_made_up(self):
        # Vertex 4 is bypassed, and has one edge only; the others stay as they are.
        src, dst = [0, 0, 1, 1, 2, 2, 3, 3, 4], [2, 3, 2, 3, 0, 1, 0, 1, 2]
        arena = Arena.from_edges(
            src, dst, owner=[0, 0, 1, 1, 1], priority=[0, 0, 1, 1, 0]
        )
        reduced = contract(arena)
        assert reduced.arena.shape == (4, 8)
        winner, strategy = reduced.undo(np.ones(4, np.int8), np.full(4, NO_EDGE))
        assert winner.tolist() == [1] * 5
        assert strategy.tolist() == [NO_EDGE] * 4 + [8]

    def test_without_a_strategy(self):
        arena = chained(np.random.default_rng(0))
        reduced = contract(arena)
        solution = reference.solve(reduced.arena)
        winner, strategy = reduced.undo(solution.winner, None)
        assert strategy is None
        np.testing.assert_array_equal(winner, reference.solve(arena).winner)


def chain(priority, owner=None, back_to: int = 0) -> Arena:
    """0 -> 1 -> 2 -> ... and back to some vertex."""
    size = len(priority)
    return Arena.from_edges(
        np.arange(size),
        np.append(np.arange(1, size), back_to),
        owner=np.arange(size) % 2 if owner is None else owner,
        priority=priority,
    )


class TestRules:
    def test_a_long_chain_is_bypassed_at_once(self):
        size = 1000
        assert solved(chain(np.arange(size), back_to=size - 1), 1).shape == (1, 1)

    def test_a_long_chain_is_inlined_at_once(self):
        # The first vertex has a choice, so that its owner matters.
        size = 1000
        src = np.append(np.arange(size), [0, size])
        dst = np.append(np.arange(1, size + 1), [size, 0])
        order = np.argsort(src, kind="stable")
        arena = Arena.from_edges(
            src[order],
            dst[order],
            owner=np.arange(size + 1) % 2,
            priority=np.append(np.arange(size, 0, -1), 2 * size),
        )
        assert solved(arena, 1).shape[0] <= 2

    @pytest.mark.parametrize("parity", [0, 1])
    @pytest.mark.parametrize("size", [1, 2, 3, 64, 1000])
    def test_a_cycle_keeps_one_vertex(self, parity, size):
        reduced = solved(chain(np.full(size, parity)), 1)
        assert reduced.shape == (1, 1)
        assert reduced.priority[0] == parity

    def test_cycles_of_several_priorities_and_ways_into_them(self):
        # A cycle 0..5 whose most important priority is odd, and a tree into it.
        src = np.arange(12)
        dst = np.array([1, 2, 3, 4, 5, 0, 2, 6, 6, 7, 7, 8])
        arena = Arena.from_edges(
            src, dst, owner=src % 2, priority=[0, 2, 4, 6, 5, 7, 8, 1, 9, 3, 0, 2]
        )
        assert solved(arena).shape[0] <= 2

    @pytest.mark.parametrize("owner", [0, 1])
    @pytest.mark.parametrize("parity", [0, 1])
    def test_loops(self, owner, parity):
        arena = Arena.from_edges(
            [0, 0, 0, 1, 1], [1, 0, 0, 1, 0], owner=[owner, 1 - owner],
            priority=[parity, 1 - parity],
        )  # fmt: skip
        reduced = solved(arena)
        # Who has a loop of his own parity keeps it alone; nobody else keeps one.
        assert reduced.shape == ((2, 2) if owner == parity else (1, 1))

    def test_a_loop_alone_stays(self):
        arena = Arena.from_edges([0, 0, 1], [0, 0, 1], owner=[0, 1], priority=[1, 0])
        assert solved(arena).shape == (2, 2)

    def test_parallel_edges(self):
        # Vertices that nothing but this applies to: two owners, two priorities.
        src, dst = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3]), [2, 3, 2, 2, 3, 0, 1, 0, 1]
        arena = Arena.from_edges(src, dst, owner=[0, 0, 1, 1], priority=[0, 0, 1, 1])
        reduced = solved(arena)
        assert reduced.shape == (4, 8)

    @pytest.mark.parametrize(
        ("size", "count"),
        [(50, 900), pytest.param(300, 100_000, marks=pytest.mark.sweep)],
    )
    def test_very_many_parallel_edges(self, size, count):
        rng = np.random.default_rng(0)
        src = np.sort(np.append(np.arange(size), rng.integers(0, size, count)))
        dst = (src + rng.integers(1, 30, len(src))) % size
        owner = np.arange(size) % 2
        arena = Arena.from_edges(src, dst, owner=owner, priority=np.arange(size))
        pairs = np.unique(src * size + dst)
        assert solved(arena).shape == (size, len(pairs))

    def test_a_tree_is_inlined_at_once(self):
        # A binary tree of one player; its leaves lead to three vertices of the other.
        inner, leaves = 127, 128
        size = inner + leaves
        src = np.repeat(np.arange(size), 2)
        dst = np.arange(1, 2 * size + 1)
        dst[2 * inner :] = size + np.arange(2 * leaves) % 3
        src = np.append(src, np.repeat(size + np.arange(3), 2))
        dst = np.append(dst, [0, size + 1, 0, size + 2, 0, size])
        arena = Arena.from_edges(
            src,
            dst,
            owner=np.arange(size + 3) >= size,
            priority=np.append(np.arange(size)[::-1], [size, size + 2, size + 3]),
        )
        assert solved(arena, 1).shape == (4, 9)

    def test_an_inlined_vertex_may_be_lost_though_its_host_wins(self):
        # 0 wins at 2; from 1, which is inlined into 0, all ways are lost.
        arena = Arena.from_edges(
            [0, 0, 1, 1, 2, 3, 4],
            [2, 1, 3, 4, 2, 3, 4],
            owner=[0, 0, 1, 1, 1],
            priority=[2, 0, 0, 1, 3],
        )
        reduced = contract(arena)
        assert reduced.arena.shape[0] == 4
        solution = reference.solve(reduced.arena)
        winner, _ = reduced.undo(solution.winner, solution.strategy)
        assert winner.tolist() == [0, 1, 0, 1, 1]
        solved(arena)

    @pytest.mark.parametrize("owner", [0, 1])
    def test_the_owner_of_a_vertex_without_a_choice_does_not_matter(self, owner):
        # 0 -> 1 -> 2 and 3, 4 lead back; 1 is inlined into 0, and 2 into them.
        arena = Arena.from_edges(
            [0, 0, 1, 2, 2, 3, 3, 4, 4],
            [1, 3, 2, 3, 4, 0, 4, 0, 3],
            owner=[0, owner, 0, 1, 1],
            priority=[3, 2, 1, 4, 6],
        )
        assert solved(arena, 1).shape == (3, 6)

    def test_priorities_become_fewer_on_the_way(self):
        # Without vertex 1, which is bypassed, 2 and 4 are the same.
        arena = Arena.from_edges(
            [0, 0, 1, 2, 2, 3, 3],
            [1, 2, 2, 0, 3, 0, 2],
            owner=[0, 0, 1, 0],
            priority=[2, 3, 4, 5],
        )
        reduced = solved(arena)
        assert set(reduced.priority) <= {0, 1}


class TestInput:
    def test_edge_priorities_are_refused(self):
        arena = odd_arena("sparse", np.random.default_rng(0), edge_priorities=True)
        with pytest.raises(ValueError, match="vertex priorities only"):
            contract(arena)

    @pytest.mark.parametrize("passes", [0, -1, 2.5])
    def test_passes_are_positive(self, passes):
        with pytest.raises(ValueError, match="passes must be (an integer )?at least 1"):
            contract(chain([0, 1]), passes)

    def test_no_vertices(self):
        reduced = contract(Arena.from_edges([], [], owner=[], priority=[]))
        assert reduced.arena.shape == (0, 0)
        winner, strategy = reduced.undo([], [])
        assert winner.shape == strategy.shape == (0,)


SIZES = {
    "nester5": (14_048, 33_470),
    "ctlsbc8": (106, 186),
    "pdlbc8": (259, 515),
    "flctl7": (19_094, 81_811),
    "lifti4l": (61_818, 232_174),
    "cabp8": (51_585, 201_096),
    "swp8_1i": (93_825, 352_520),
}
"""What is left of published games at most."""


@pytest.mark.skipif(not THESIS.is_dir(), reason="the folder of games is not there")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.sweep if name != "nester5" else ())
        for name in SIZES
    ],
)
def test_published_games(name):
    data = np.load(THESIS / f"{name}.npz")
    arena = Arena.from_csr(
        data["offsets"],
        data["targets"],
        owner=data["owner"],
        priority=data["priority"],
        condition="min even",
    )
    vertices, edges = solved(arena).shape
    assert vertices <= SIZES[name][0]
    assert edges <= SIZES[name][1]

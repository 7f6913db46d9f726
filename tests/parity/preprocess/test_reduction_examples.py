"""Games on which each reduction must bite, and what it must leave."""

import numpy as np
import pytest
import undoing

from jaxgames import Arena, generate
from jaxgames.parity import preprocess
from jaxgames.testing import odd_arenas


def edges(arena):
    return list(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))


def chain(length, *, loop):
    """A path with more and more important vertices, back to its start or to a loop."""
    dst = np.append(np.arange(1, length), length - 1 if loop else 0)
    owner = np.arange(length) % 2
    return Arena.from_edges(
        np.arange(length), dst, owner=owner, priority=np.arange(length)
    )


# ---- self-loops --------------------------------------------------------------


@pytest.mark.parametrize("owner", [0, 1])
@pytest.mark.parametrize("priority", [2, 3])
def test_self_loops_of_both_parities(owner, priority):
    arena = Arena.from_edges(
        [0, 0, 0, 1], [1, 0, 0, 0], owner=[owner, 0], priority=[priority, 0]
    )
    reduced = preprocess.self_loops(arena)
    wins = owner == priority % 2
    assert edges(reduced.arena) == [(0, 0) if wins else (0, 1), (1, 0)]
    undoing.check(arena, reduced)


def test_a_lost_loop_that_is_the_only_edge_stays():
    arena = Arena.from_edges([0, 0], [0, 0], owner=[0], priority=[1])
    assert edges(preprocess.self_loops(arena).arena) == [(0, 0)]


def test_each_loop_counts_by_its_own_priority():
    arena = Arena.from_edges(
        [0, 0, 0, 1, 1, 1],
        [0, 0, 1, 1, 1, 0],
        owner=[0, 0],
        edge_priority=[1, 2, 3, 5, 3, 0],
    )
    reduced = preprocess.self_loops(arena)
    assert edges(reduced.arena) == [(0, 0), (1, 0)]
    assert reduced.arena.edge_priority.tolist() == [2, 0]
    undoing.check(arena, reduced)


def test_no_loop_beside_another_edge_is_left():
    for arena in odd_arenas(seed=1, count=50):
        arena = preprocess.self_loops(arena).arena
        loops = arena.src[arena.src == arena.dst]
        assert (np.diff(arena.row_ptr)[loops] == 1).all()


# ---- priorities --------------------------------------------------------------


def play_maxima(arena, priority):
    """Of each cycle of a few random plays, the largest priority."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        move = [rng.choice(arena.successors(v)) for v in range(arena.shape[0])]
        v = rng.integers(arena.shape[0])
        for _ in move:
            v = move[v]
        cycle = [v]
        while move[cycle[-1]] != v:
            cycle.append(move[cycle[-1]])
        yield max(priority[u] for u in cycle)


def test_propagation_keeps_every_play():
    risen = 0
    for arena in odd_arenas(seed=2, count=60):
        priority = preprocess.propagate_priorities(arena).arena.priority
        assert (priority >= arena.priority).all()
        risen += (priority > arena.priority).sum()
        assert list(play_maxima(arena, priority)) == list(
            play_maxima(arena, arena.priority)
        )
    assert risen > 100


def test_propagation_reaches_its_fixpoint():
    for arena in odd_arenas(seed=3, count=100):
        raised = preprocess.propagate_priorities(arena).arena
        least = np.minimum.reduceat(raised.priority[raised.dst], raised.row_ptr[:-1])
        assert (least <= raised.priority).all()
        back = raised.reverse()
        some = np.flatnonzero(np.diff(back.row_ptr))
        least = np.minimum.reduceat(raised.priority[back.dst], back.row_ptr[some])
        assert (least <= raised.priority[some]).all()


def test_a_chain_takes_the_priority_of_its_end():
    raised = preprocess.propagate_priorities(chain(1000, loop=True)).arena
    assert (raised.priority == 999).all()


def test_a_vertex_without_predecessors_does_not_rise_for_them():
    arena = Arena.from_edges(
        [0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 0, 0], priority=[1, 0, 9]
    )
    raised = preprocess.propagate_priorities(arena).arena
    assert raised.priority.tolist() == [1, 0, 9]


def test_compression_of_edge_priorities():
    arena = Arena.from_edges(
        [0, 0, 1, 1], [0, 1, 0, 1], owner=[0, 1], edge_priority=[8, 3, 7, 6]
    )
    reduced = preprocess.compress_priorities(arena)
    assert reduced.arena.edge_priority.tolist() == [4, 1, 3, 2]
    undoing.check(arena, reduced)


# ---- single parity, winning cycles -------------------------------------------


@pytest.mark.parametrize("parity", [0, 1])
def test_a_game_of_one_parity_is_won_outright(parity):
    arena = generate.random_game(0, 200, num_priorities=5)
    arena = Arena.from_csr(
        arena.row_ptr,
        arena.dst,
        owner=arena.owner,
        priority=2 * arena.priority + parity,
    )
    reduced = preprocess.single_parity(arena)
    assert reduced.arena.shape == (0, 0)
    winner, strategy = reduced.undo(np.zeros(0), np.zeros(0))
    assert (winner == parity).all()
    undoing.assert_valid(arena, winner, strategy)


def test_what_a_closed_part_attracts_goes_too():
    arena = generate.hanoi(5)  # a loop that Even reaches, another for nobody
    assert preprocess.single_parity(arena).arena.shape == (0, 0)


@pytest.mark.parametrize("player", [0, 1])
def test_cycles_of_one_player(player):
    for arena in odd_arenas(seed=4, count=40):
        arena = Arena.from_csr(
            arena.row_ptr,
            arena.dst,
            owner=np.full(arena.shape[0], player),
            priority=arena.priority,
        )
        reduced = preprocess.winning_cycles(arena)
        winner, strategy = reduced.undo(
            np.full(reduced.arena.shape[0], 1 - player),
            np.full(reduced.arena.shape[0], -1),
        )
        undoing.assert_valid(arena, winner, strategy)


def test_the_inner_cycle_is_not_led_through_what_spoils_it():
    # Vertex 1 wins for Even round 0 (priorities 2, 0), the way by 2 sees 3 first.
    arena = Arena.from_edges(
        [0, 1, 1, 2], [1, 2, 0, 1], owner=[0, 0, 0], priority=[2, 0, 3]
    )
    reduced = preprocess.winning_cycles(arena)
    assert reduced.arena.shape == (0, 0)
    winner, strategy = reduced.undo(np.zeros(0), np.zeros(0))
    assert strategy.tolist() == [0, 2, 3]
    undoing.assert_valid(arena, winner, strategy)


def test_vertices_with_one_edge_are_controlled_by_both():
    arena = generate.propagation_tree(6, 2)
    assert preprocess.winning_cycles(arena).arena.shape == (0, 0)


# ---- orders ------------------------------------------------------------------


def reordered(order):
    arena = Arena.from_edges(
        [0, 0, 1, 2, 2, 2, 3, 4],
        [3, 1, 4, 0, 1, 2, 3, 0],
        owner=[0, 1, 0, 1, 0],
        priority=[10, 11, 12, 13, 14],
    )
    reduced = preprocess.reorder(arena, order)
    undoing.check(arena, reduced)
    return (reduced.arena.priority - 10).tolist()


def test_the_five_orders():
    assert reordered("reversed") == [4, 3, 2, 1, 0]
    assert reordered("out-degree") == [2, 0, 1, 3, 4]
    assert reordered("priority") == [4, 3, 2, 1, 0]
    assert reordered("dfs") == [0, 3, 1, 4, 2]
    assert reordered("bfs") == [0, 3, 1, 4, 2]


def test_depth_first_is_not_breadth_first():
    arena = Arena.from_edges(
        [0, 0, 1, 2, 3], [1, 2, 3, 0, 0], owner=[0, 0, 0, 0], priority=[0, 1, 2, 3]
    )
    order = preprocess.reorder(arena, "dfs").arena.priority
    assert order.tolist() == [0, 1, 3, 2]
    order = preprocess.reorder(arena, "bfs").arena.priority
    assert order.tolist() == [0, 1, 2, 3]


def test_the_most_important_edge_orders_its_vertex():
    arena = Arena.from_edges(
        [0, 0, 1], [0, 1, 0], owner=[0, 1], edge_priority=[1, 2, 3]
    )
    reduced = preprocess.reorder(arena, "priority")
    assert reduced.arena.edge_priority.tolist() == [3, 1, 2]


# ---- chains ------------------------------------------------------------------


@pytest.mark.parametrize("loop", [True, False])
def test_a_chain_becomes_one_vertex(loop):
    arena = chain(1001, loop=loop)
    reduced = preprocess.chains(arena)
    assert reduced.arena.shape == (1, 1)
    assert reduced.arena.edge_priority.tolist() == [1000]
    undoing.check(arena, reduced)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 64, 65])
def test_cycles_of_any_length_keep_one_vertex(length):
    arena = chain(length, loop=False)
    reduced = preprocess.chains(arena)
    assert edges(reduced.arena) == [(0, 0)]
    undoing.check(arena, reduced)


def test_diamonds_collapse():
    """A player who has two equal ways to one vertex has no choice."""
    top = 3 * np.arange(50)
    src = np.concatenate([top, top, top + 1, top + 2])
    dst = np.concatenate([top + 1, top + 2, top + 3, top + 3]) % 150
    rng = np.random.default_rng(5)
    arena = Arena.from_edges(
        src, dst, owner=rng.integers(0, 2, 150), priority=rng.integers(0, 9, 150)
    )
    reduced = preprocess.chains(arena)
    assert reduced.arena.shape == (1, 1)
    undoing.check(arena, reduced)


def test_small_games_keep_no_vertex_without_a_choice():
    for arena in odd_arenas(seed=6, count=100):
        left = preprocess.chains(arena).arena
        alone = np.flatnonzero(np.diff(left.row_ptr) == 1)
        np.testing.assert_array_equal(left.dst[left.row_ptr[alone]], alone)

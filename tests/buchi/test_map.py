"""MAP: fixpoints, orders, pointers, and the counterexample to fused relabelling."""

import numpy as np
import pytest
from marked_graphs import COUNTEREXAMPLE, Marked, marked, plain
from repeats import some_of

from jaxgames import buchi

ORDERS = ("reverse", "forward", "random")


def solve(case: Marked, solver):
    return buchi.accepting_cycle(
        case.arena, accepting=case.accepting, initial=case.starts, solver=solver
    )


@pytest.mark.parametrize("jump", [False, True])
@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_the_counterexample(order, jump, trim):
    found = solve(COUNTEREXAMPLE, buchi.Map(order=order, jump=jump, trim=trim))
    assert found.exists
    assert found.lasso.cycle.tolist() == [0, 3, 1]


@pytest.mark.parametrize(
    "solver",
    [
        buchi.Map(),
        buchi.Map(order="forward", jump=True),
        buchi.Map(order="random", trim=True, sweeps=3),
        buchi.Map(jump=True, trim=True, sweeps_per_check=2),
    ],
)
@some_of(60, 120)
def test_random_graphs(solver, count):
    answers = []
    for case in marked(seed=3, count=count):
        found, exists = solve(case, solver), case.exists
        assert found.exists == exists
        assert (found.lasso is not None) == exists
        if exists:
            assert case.shows(found.lasso)
            assert case.accepting[found.witness]
        answers.append(exists)
    assert count < 6 * sum(answers) < 5 * count


def test_one_turn_where_ranks_never_rise_between_components():
    # A path of components; the order falls along it.
    size = 12
    src = np.arange(size - 1)
    arena = plain(src, src + 1, size)
    everything = np.ones(size, bool)
    case = Marked(arena, everything, np.array([0]))
    assert int(solve(case, buchi.Map()).stats["outer"]) == 1
    assert int(solve(case, buchi.Map(order="forward")).stats["outer"]) == size
    given = buchi.Map(order=-np.arange(size))
    assert int(solve(case, given).stats["outer"]) == 1


def test_pointers_save_sweeps():
    size = 64
    src = np.arange(size)
    arena = plain(src, np.append(src[1:], 0), size)
    case = Marked(arena, src == size - 1, np.array([0]))
    slow, fast = (
        int(solve(case, buchi.Map(jump=jump)).stats["inner"]) for jump in (False, True)
    )
    assert slow == size
    assert fast < slow // 4


def test_trimming_leaves_nothing_to_propagate():
    size = 10
    src = np.arange(size - 1)
    case = Marked(plain(src, src + 1, size), np.ones(size, bool), np.array([0]))
    stats = solve(case, buchi.Map(trim=True)).stats
    assert int(stats["trim"]) == size + 1
    assert int(stats["inner"]) == 0


def test_orders_are_checked():
    graph = [0, 1, 2], [1, 0]
    with pytest.raises(ValueError, match="order must be one of"):
        buchi.Map(order="best")
    with pytest.raises(ValueError, match="one number for each vertex"):
        buchi.accepting_cycle(graph, accepting=[0], solver=buchi.Map(order=[1]))
    with pytest.raises(
        ValueError, match="distinct numbers, got 7 for vertices 0 and 1"
    ):
        buchi.accepting_cycle(graph, accepting=[0], solver=buchi.Map(order=[7, 7]))
    with pytest.raises(ValueError, match="sweeps must be at least 1"):
        buchi.Map(sweeps=0)

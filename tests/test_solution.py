import multiprocessing
import pickle

import pytest

from jaxgames import SolveError, Status, generate, mdp, parity


def stopped(seed):
    return parity.solve(generate.random_game(seed, 40), "fpi", max_steps=1)


def test_an_error_of_a_solve_can_be_pickled():
    with pytest.raises(SolveError) as caught:
        stopped(3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is SolveError
    assert str(again) == str(caught.value)
    assert again.status == Status.MAX_STEPS
    assert (again.solution.winner == caught.value.solution.winner).all()


def test_an_error_in_a_pool_reaches_the_parent():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply_async(stopped, (3,))
        with pytest.raises(SolveError, match="MAX_STEPS"):
            result.get(timeout=120)


@pytest.mark.parametrize("status", Status)
def test_every_status_says_what_it_means(status):
    assert status.message.endswith(".")


def test_where_there_is_one_solver_no_other_is_advised():
    walk = mdp.MDP.from_arrays(
        [0, 1, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 0, 3, 2, 3], [0.5] * 4 + [1.0] * 2
    )
    with pytest.raises(SolveError, match="Raise max_steps") as caught:
        mdp.reach_probability(walk, [3], max_steps=1, epsilon=1e-12)
    assert "another solver" not in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)

"""States of solves of games of several energies, where they do not belong."""

import numpy as np
import pytest

from jaxgames import multienergy

GAME = multienergy.Game.from_arrays(
    [0, 2, 3, 3],
    [1, 2, 2],
    [0, 1, 1],
    [[-1, 0], [0, -1]],
    defender=[False, False, True],
    cap=3,
)


@pytest.mark.parametrize(("one", "other"), [("bitmap", "fronts"), ("fronts", "bitmap")])
def test_a_state_of_another_solver_is_refused(one, other):
    some = multienergy.solve(GAME, one, max_steps=1, throw=False)
    with pytest.raises(ValueError, match="state is not of this solve: its solver is"):
        multienergy.solve(GAME, other, state=some.state)
    same = multienergy.solve(GAME, one, state=some.state)
    whole = multienergy.solve(GAME, other)
    for v in range(3):
        np.testing.assert_array_equal(same.budgets(v), whole.budgets(v))


@pytest.mark.parametrize("solver", ["fronts", "bitmap"])
@pytest.mark.parametrize("state", [5, (), "state"])
def test_what_is_no_state_is_refused(solver, state):
    with pytest.raises(ValueError, match="state must be solution.state"):
        multienergy.solve(GAME, solver, state=state)

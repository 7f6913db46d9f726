"""Probabilities to reach a target, and their bounds."""

import functools
from fractions import Fraction
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxgames import SolveError, Status, mdp, solve_many
from jaxgames.testing import _exact as exact

CORPUS = Path(__file__).parents[3] / "shared/data/public/mdp"


def check(
    model: mdp.MDP, target, optimum: str, passed, value: list[Fraction], solver="host"
) -> None:
    """The bounds hold exactly and are near, and the scheduler is worth them."""
    found = mdp.reach_probability(model, target, optimum, solver, states=passed)
    lower, upper = found.lower.tolist(), found.upper.tolist()
    assert all(a <= x <= b for a, x, b in zip(lower, value, upper, strict=True))
    assert all(abs(a - x) <= 1e-6 for a, x in zip(found.value, value, strict=True))
    chain = exact.chain_of(mdp.induced_chain(model, found.scheduler))
    worth = exact.chain_values(chain, target, passed)
    if optimum == "max":
        assert all(x >= a for x, a in zip(worth, lower, strict=True))
    else:
        assert all(x <= b for x, b in zip(worth, upper, strict=True))
    np.testing.assert_array_equal(found.scheduler < 0, target | ~passed)


def models(seed: int, count: int, most: int = 5, choices: int = 2):
    rng = np.random.default_rng(seed)
    for number in range(count):
        size = int(rng.integers(1, most + 1))
        model = exact.random_model(rng, size, choices)
        target = rng.random(size) < 0.25
        passed = np.ones(size, bool) if number % 3 else rng.random(size) < 0.8
        yield model, target, passed


def test_against_all_schedulers():
    for number, (model, target, passed) in enumerate(models(seed=1, count=170)):
        least, largest = exact.reach_values(model, target, passed)
        for solver in ("host", "interval")[: 1 + number % 2]:
            check(model, target, "min", passed, least, solver)
            check(model, target, "max", passed, largest, solver)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_against_all_schedulers_at_length(seed):
    for model, target, passed in models(100 + seed, count=60, most=6, choices=3):
        least, largest = exact.reach_values(model, target, passed)
        check(model, target, "min", passed, least)
        check(model, target, "max", passed, largest)


def tempting(luck: float) -> mdp.MDP:
    """States 0 and 1 may go round for ever, or try for the target 2 at 0; 3 is a trap.

    Value iteration from above never moves off one here without the quotient.
    """
    return mdp.MDP.from_arrays(
        [0, 2, 3, 4, 5],
        [0, 1, 3, 4, 5, 6],
        [1, 2, 3, 0, 2, 3],
        [1, luck, 1 - luck, 1, 1, 1],
    )


def test_an_end_component_does_not_hold_the_upper_bound_up():
    found = mdp.reach_probability(tempting(0.25), [2])
    assert found.value == pytest.approx([0.25, 0.25, 1, 0], abs=1e-6)
    # It leaves in 0, and 1 goes there.
    assert found.scheduler.tolist() == [1, 2, -1, 4]
    assert found.stats["components"] == 1
    least = mdp.reach_probability(tempting(0.25), [2], "min")
    assert least.upper.tolist() == [0, 0, 1, 0]
    assert least.scheduler[0] == 0


def test_a_scheduler_finds_the_way_out_of_a_component():
    # 0 -> 1; 1 -> 0 or 2; 2 -> 0, or by lot to the target 3 or the trap 4.
    model = mdp.MDP.from_arrays(
        [0, 1, 3, 5, 6, 7],
        [0, 1, 2, 3, 4, 6, 7, 8],
        [1, 0, 2, 0, 3, 4, 3, 4],
        [1, 1, 1, 1, 0.5, 0.5, 1, 1],
    )
    found = mdp.reach_probability(model, [3])
    assert found.value[:3] == pytest.approx([0.5] * 3, abs=1e-6)
    assert found.scheduler.tolist() == [0, 2, 4, -1, 6]


def walk(size: int) -> mdp.MDP:
    """A walk by fair lot between two ends that absorb."""
    columns, rows = [0], [0, 1]
    for state in range(1, size - 1):
        columns += [state - 1, state + 1]
        rows.append(len(columns))
    columns, rows = [*columns, size - 1], [*rows, len(columns) + 1]
    probs = [1.0, *[0.5] * (len(columns) - 2), 1.0]
    return mdp.MDP.from_arrays(range(size + 1), rows, columns, probs)


def test_slow_models_get_there():
    size = 41
    found = mdp.reach_probability(walk(size), [size - 1])
    expected = [Fraction(s, size - 1) for s in range(size)]
    slow = mdp.reach_probability(walk(size), [size - 1], solver="interval")
    assert slow.iterations > 500
    assert (slow.lower <= found.upper).all()
    assert (found.lower <= slow.upper).all()
    inside = zip(found.lower.tolist(), expected, found.upper.tolist(), strict=True)
    assert all(a <= x <= b for a, x, b in inside)
    assert np.abs(found.value - np.array(expected, float)).max() <= 1e-6
    # A change too small to go on says little: the textbook's loop is farther away.
    naive = mdp.reference.value_iteration(walk(size), [size - 1], epsilon=1e-6)
    assert np.abs(naive - np.array(expected, float)).max() > 1e-5


@pytest.mark.counts
def test_it_can_be_stopped_and_resumed(habits_of_a_cpu):
    model, target = walk(41), [40]
    whole = mdp.reach_probability(model, target, solver="interval")
    with pytest.raises(SolveError) as caught:
        mdp.reach_probability(model, target, max_steps=100)
    part = caught.value.solution
    assert part.status == Status.MAX_STEPS
    assert part.iterations == 100
    assert (part.lower <= whole.lower).all()
    assert (part.upper >= whole.upper).all()
    rest = mdp.reach_probability(model, target, state=part.state)
    assert rest.iterations == whole.iterations
    np.testing.assert_array_equal(rest.lower, whole.lower)
    np.testing.assert_array_equal(rest.upper, whole.upper)


def test_float64_has_an_end():
    found = mdp.reach_probability(walk(11), [10], epsilon=1e-18, throw=False)
    assert found.status == Status.PRECISION
    expected = [Fraction(s, 10) for s in range(11)]
    inside = zip(found.lower.tolist(), expected, found.upper.tolist(), strict=True)
    assert all(a <= x <= b for a, x, b in inside)
    assert 0 < (found.upper - found.lower).max() < 1e-11
    with pytest.raises(SolveError, match="Ask for a larger epsilon"):
        mdp.reach_probability(walk(11), [10], epsilon=1e-18)


def test_relative_precision():
    # A small probability: two branches of a chain of ten, one in a hundred each.
    size, luck = 12, 0.01
    columns, rows, probs = [], [0], []
    for state in range(size - 2):
        columns += [state + 1, size - 1, state]
        probs += [luck, 0.5, 0.5 - luck]
        rows.append(len(columns))
    columns += [size - 2, size - 1]
    probs += [1.0, 1.0]
    rows += [len(columns) - 1, len(columns)]
    model = mdp.MDP.from_arrays(range(size + 1), rows, columns, probs)
    exactly = exact.chain_values(
        exact.chain_of(model), np.arange(size) == size - 2, np.ones(size, bool)
    )
    found = mdp.reach_probability(model, [size - 2], epsilon=1e-4, relative=True)
    assert 0 < exactly[0] < 1e-10
    error = [
        abs(Fraction(a) - x) for a, x in zip(found.value.tolist(), exactly, strict=True)
    ]
    assert all(e <= 1e-4 * x for e, x in zip(error, exactly, strict=True))
    solver = mdp.IntervalIteration(sweeps_per_check=1)
    coarse = mdp.reach_probability(model, [size - 2], solver=solver, epsilon=1e-4)
    assert abs(Fraction(coarse.value.tolist()[0]) - exactly[0]) > 1e-4 * exactly[0]


def test_sums_that_are_not_one_are_understood_relative():
    third = 0.33333
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2], [third, third, third, 1, 1]
    )
    found = mdp.reach_probability(model, [1], epsilon=1e-9)
    assert found.lower[0] <= 0.5 <= found.upper[0]


def test_the_setting_of_float64_is_left_alone():
    before = jax.config.read("jax_enable_x64")
    found = mdp.reach_probability(walk(5), [4])
    assert jax.config.read("jax_enable_x64") == before
    assert found.lower.dtype == np.float64
    with jax.enable_x64(True):
        again = mdp.reach_probability(walk(5), [4])
    np.testing.assert_array_equal(again.lower, found.lower)


def test_padding_has_no_value():
    found = mdp.reach_probability(walk(5).pad(8, 16, 16), [4])
    alone = mdp.reach_probability(walk(5), [4])
    np.testing.assert_array_equal(found.value[:5], alone.value)
    assert found.value[5:].tolist() == [0, 0, 0]
    assert found.scheduler[5:].tolist() == [-1, -1, -1]


@pytest.mark.parametrize("optimum", ["min", "max"])
def test_under_jit_and_vmap(optimum):
    some = [*models(seed=4, count=30)]
    some[0] = tempting(0.25), np.arange(4) == 2, np.ones(4, bool)

    @jax.jit
    @jax.vmap
    def solve(model, target, passed):
        return mdp.reach_probability(model, target, optimum, states=passed)

    def masks(each):
        return np.array([np.pad(x, (0, 8 - len(x))) for x in each])

    stacked = jax.tree.map(
        lambda *x: np.stack(x), *(model.pad(8, 16, 64) for model, _, _ in some)
    )
    with jax.enable_x64(True):
        found = jax.device_get(
            solve(stacked, masks(x[1] for x in some), masks(x[2] for x in some))
        )
    assert not found.status.any()
    for at, (model, target, passed) in enumerate(some):
        size = model.num_states
        value = exact.reach_values(model, target, passed)[optimum == "max"]
        lower, upper = found.lower[at].tolist(), found.upper[at].tolist()
        held = zip(lower, value, upper, strict=False)
        assert all(a <= x <= b <= a + 2e-6 for a, x, b in held)
        chain = mdp.induced_chain(model, found.scheduler[at][:size])
        worth = exact.chain_values(exact.chain_of(chain), target, passed)
        if optimum == "max":
            assert all(x >= a for x, a in zip(worth, lower, strict=False))
        else:
            assert all(x <= b for x, b in zip(worth, upper, strict=False))
        np.testing.assert_array_equal(found.scheduler[at][:size] < 0, target | ~passed)
        assert (found.scheduler[at][size:] == -1).all()
    components = [mdp.reach_probability(*x[:2], states=x[2]).stats for x in some[:3]]
    if optimum == "max":
        for name in ("one", "components"):
            own = [x[name] for x in components]
            assert found.stats[name][:3].tolist() == own


def test_a_traced_solve_stops_and_goes_on():
    """In float32: bounds hold there too."""
    model, target = walk(5), np.arange(5) == 4

    def solve(target, state=None, max_steps=None):
        how = {"state": state, "max_steps": max_steps, "epsilon": 1e-3}
        return mdp.reach_probability(model, target, "min", **how)

    part = jax.jit(functools.partial(solve, max_steps=3))(target)
    assert (part.status, part.lower.dtype) == (Status.MAX_STEPS, np.float32)
    go_on = jax.jit(solve)
    rest = go_on(target, part.state, 1000)
    assert (rest.status, rest.stats["open"]) == (Status.SOLVED, 3)
    value = np.arange(5) / 4
    assert ((rest.lower <= value) & (value <= rest.upper)).all()
    np.testing.assert_allclose(rest.value, value, atol=1e-3)
    other = go_on(np.arange(5) == 3, part.state, 1000)
    assert other.status == Status.INVALID


def test_many_questions_one_after_the_other():
    asked = [(walk(5), [4]), (walk(5), [3], "min"), (walk(11), [10])]
    found = solve_many("reach_probability", asked)
    for question, own in zip(asked, found, strict=True):
        np.testing.assert_array_equal(own.lower, mdp.reach_probability(*question).lower)
    part = solve_many("reach_probability", asked, max_steps=20, throw=False)
    assert part.status == Status.MAX_STEPS
    rest = solve_many("reach_probability", asked, state=part.state)
    for own, other in zip(rest, found, strict=True):
        assert own.status == Status.SOLVED
        np.testing.assert_allclose(own.value, other.value, atol=2e-6)  # twice epsilon
    ended = solve_many(
        "reach_probability", asked, throw=False, progress=lambda _: Status.TIMEOUT
    )
    assert [own.status for own in ended[1:]] == [Status.TIMEOUT] * 2
    with pytest.raises(ValueError, match="game 1: optimum must be"):
        solve_many("reach_probability", [asked[0], (walk(5), [4], "best")])


def test_no_states():
    found = mdp.reach_probability(mdp.MDP.from_arrays([0], [0], [], []), [])
    assert found.value.shape == (0,)
    assert found.iterations == 0


def test_what_is_refused():
    model = walk(5)
    bare = mdp.MDP.from_arrays([0, 1], [0, 1], [0])
    with pytest.raises(ValueError, match="has no probabilities"):
        mdp.reach_probability(bare, [0])
    with pytest.raises(ValueError, match="epsilon must be a positive number, got 0"):
        mdp.reach_probability(model, [4], epsilon=0)
    with pytest.raises(ValueError, match="no reachability solver is called 'magic'"):
        mdp.reach_probability(model, [4], "max", "magic")
    other = mdp.reach_probability(walk(40), [39], max_steps=5, throw=False)
    with pytest.raises(ValueError, match="state must be solution.state of a call"):
        mdp.reach_probability(model, [4], state=other.state)


@pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the folder of published models is not there"
)
@pytest.mark.parametrize(("name", "optimum"), [("leader3", "min"), ("ij10", "max")])
def test_published_models(name, optimum):
    with np.load(CORPUS / f"{name}.npz") as file:
        model = mdp.MDP.from_arrays(
            *(file[x] for x in ("row_group_offsets", "row_offsets", "columns", "probs"))
        )
        target = file["mec_id"] == 0
    found = mdp.reach_probability(model, target, optimum)
    near = mdp.reference.value_iteration(model, target, optimum, epsilon=1e-12)
    assert np.abs(found.value - near).max() <= 2e-6
    chain = mdp.induced_chain(model, found.scheduler)
    worth = mdp.reach_probability(chain, target)
    if optimum == "max":
        assert (worth.upper >= found.lower).all()
    else:
        assert (worth.lower <= found.upper).all()


@pytest.mark.parametrize("state", [3, "state", (1, 2), np.zeros(3)])
def test_states_of_something_else_are_refused_where_the_graph_decides(state):
    model = mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0])
    assert mdp.reach_probability(model, [0]).upper.tolist() == [1.0]
    with pytest.raises(ValueError, match="state must be solution.state of a call"):
        mdp.reach_probability(model, [0], state=state)

"""The model: what is checked of it, and what it can tell."""

import contextlib

import jax
import numpy as np
import pytest

from jaxgames import host, mdp, solve_many
from jaxgames.mdp import MDP, _checks

GROUPS, ROWS, COLUMNS = [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
PROBS = [1, 0.5, 0.5, 1, 1]


def model(**changes) -> MDP:
    arrays = {
        "row_group_offsets": GROUPS,
        "row_offsets": ROWS,
        "columns": COLUMNS,
        "probs": PROBS,
    }
    return MDP.from_arrays(**{**arrays, **changes})


def test_arrays_are_kept():
    built = model()
    np.testing.assert_array_equal(built.row_group_offsets, GROUPS)
    np.testing.assert_array_equal(built.row_offsets, ROWS)
    np.testing.assert_array_equal(built.columns, COLUMNS)
    np.testing.assert_array_equal(built.probs, PROBS)
    types = built.row_group_offsets, built.row_offsets, built.columns
    assert {x.dtype for x in types} == {np.dtype(np.int32)}
    assert built.probs.dtype == np.float64
    assert (built.num_states, built.num_choices, built.num_branches) == (3, 4, 5)
    assert repr(built) == "MDP(3 states, 4 choices, 5 branches)"


def test_unsigned_offsets_as_in_files():
    built = model(
        row_group_offsets=np.array(GROUPS, np.uint64),
        row_offsets=np.array(ROWS, np.uint64),
        columns=np.array(COLUMNS, np.uint64),
    )
    np.testing.assert_array_equal(built.row_offsets, ROWS)
    assert built.columns.dtype == np.int32


bad_inputs = pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row_group_offsets": [0, 2, 2, 4]}, "state 1 has no choice: every state"),
        (
            {"row_group_offsets": [0, 0, 0, 4]},
            r"state 0 has no choice \(and 1 more\): every state",
        ),
        (
            {"row_offsets": [0, 1, 1, 4, 5]},
            r"choice 1 \(number 1 of state 0\) has no branches",
        ),
        (
            {"columns": [0, 1, 2, 0, 3]},
            r"branch 4 of choice 3 \(number 0 of state 2\) leads to state 3, expected "
            "a state from 0 to 2",
        ),
        (
            {"columns": [0, 1, -2, 0, 2]},
            r"branch 2 of choice 1 \(number 1 of state 0\) leads to state -2",
        ),
        (
            {"probs": [1, 0.5, 0.4, 1, 1]},
            r"the probabilities of choice 1 \(number 1 of state 0\) sum up to 0.9",
        ),
        (
            {"probs": [1, 0.5, 0.5, 2, np.inf]},
            r"choice 2 \(number 0 of state 1\) sum up to 2.0, expected 1 \(and 1 more",
        ),
        (
            {"probs": [1, 1.5, -0.5, 1, 1]},
            r"branch 2 of choice 1 \(number 1 of state 0\) has probability -0.5",
        ),
        (
            {"probs": [1, 0.5, 0.5, 1, np.nan]},
            r"branch 4 of choice 3 \(number 0 of state 2\) has probability nan",
        ),
        ({"probs": [1, 1]}, "probs must have one branch each, 5, got 2"),
        ({"probs": ["a"] * 5}, "probs must hold real numbers, got <U1"),
        ({"row_group_offsets": []}, "row_group_offsets must ascend from 0, but is em"),
        ({"row_group_offsets": [1, 2, 3, 4]}, "from 0, but begins with 1"),
        (
            {"row_offsets": [0, 3, 1, 4, 5]},
            "row_offsets must ascend, but falls from 3 to 1 at index 2",
        ),
        (
            {"row_group_offsets": [0, 2, 3]},
            r"row_group_offsets must end with the number of choices in row_offsets "
            r"\(4\), got 3",
        ),
        (
            {"columns": [0, 1, 2, 0]},
            r"row_offsets must end with the number of branches in columns \(4\), got 5",
        ),
        ({"columns": [0.0] * 5}, "columns must hold integers, got float64"),
        ({"columns": [COLUMNS]}, r"columns must have one dimension, got shape \(1, 5"),
        ({"row_offsets": [0, [1]]}, "row_offsets is not an array"),
        ({"row_offsets": [0, 2**31]}, "row_offsets ends with 2147483648, more than"),
        ({"initial": [0, 3]}, "initial state 3 is not there: expected states from 0"),
        ({"labels": {"goal": [1, 0]}}, "label 'goal' must have 3 entries, got 2"),
        ({"labels": {"goal": [1, 0, 2]}}, "label 'goal' must hold booleans or 0/1"),
        ({"labels": [1, 0, 2]}, r"labels must be a mapping from names, got \[1, 0, 2"),
        ({"choice_rewards": {"steps": [1]}}, "choice reward 'steps' must have one"),
        ({"branch_rewards": {"steps": [1]}}, "branch reward 'steps' must have one"),
        ({"valuations": {"x": [1, 2]}}, "variable 'x' must have one state each, 3"),
        ({"valuations": {"x": ["a"] * 3}}, "variable 'x' must hold real numbers"),
        ({"valuations": {"x": [0, np.nan, 0]}}, "variable 'x' has no number for state"),
        ({"lower": PROBS}, "pass either probs, or lower and upper: the two bounds"),
        ({"probs": None, "lower": PROBS}, "pass either probs, or lower and upper"),
        (
            {"lower": PROBS, "upper": PROBS},
            "pass either probs, or lower and upper: the two bounds of an interval",
        ),
    ],
)


@bad_inputs
def test_bad_input(changes, message):
    with pytest.raises(ValueError, match=message):
        model(**changes)


def as_arrays(dtype, **changes) -> dict:
    """What can be arrays of numpy: large models are passed so."""
    names = "row_group_offsets", "row_offsets", "columns", "probs"
    given = dict(zip(names, (GROUPS, ROWS, COLUMNS, PROBS), strict=True)) | changes
    for name, kind in zip(names, (dtype, dtype, dtype, float), strict=True):
        with contextlib.suppress(ValueError, TypeError):  # ragged, or of letters
            array = np.array(given[name], None if given[name] else dtype)
            given[name] = array.astype(kind) if array.dtype.kind in "iu" else array
    return given


@pytest.fixture
def all_are_large(monkeypatch):
    monkeypatch.setattr(_checks, "pays", lambda entries: True)
    monkeypatch.setattr(host, "FEWEST_PLACES", 2)


@bad_inputs
def test_bad_input_of_large_models(changes, message, all_are_large):
    with pytest.raises(ValueError, match=message):
        model(**as_arrays(np.int64, **changes))


@pytest.mark.skipif(not host.can_compile(), reason="there is no compiler")
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_sound_large_models_are_looked_at_once(dtype, all_are_large):
    arrays = as_arrays(dtype)
    given = [arrays[name] for name in ("row_group_offsets", "row_offsets", "columns")]
    for probs in (arrays["probs"], None):
        taken = _checks.taken_at_once(*given, probs)
        assert taken is not None
        for mine, theirs in zip(taken, (*given, probs), strict=False):
            assert (mine is None) == (theirs is None)
            if mine is not None:
                np.testing.assert_array_equal(mine, theirs)
                assert not mine.flags.writeable
                assert not np.shares_memory(mine, theirs)
    beyond = np.array([0, 1, 2, 0, 3], dtype)
    assert _checks.taken_at_once(*given[:2], beyond, arrays["probs"]) is None
    for wrong in ([1, 0.5, -0.5, 1, 1], [1, 0.5, 0.6, 1, 1], [1, 0.5, np.nan, 1, 1]):
        assert _checks.taken_at_once(*given, np.array(wrong)) is None
    built = model(**arrays)
    np.testing.assert_array_equal(built.row_offsets, ROWS)
    np.testing.assert_array_equal(built.columns, COLUMNS)
    assert built.columns.dtype == built.row_offsets.dtype == np.int32
    zeros = as_arrays(dtype, probs=[1, 0, 1, 1, 1])
    np.testing.assert_array_equal(model(**zeros).row_offsets, [0, 1, 2, 3, 4])


FAULTS = {
    "groups fall": ("row_group_offsets", lambda x, at: x[at] + 9),
    "no choice": ("row_group_offsets", lambda x, at: x[at - 1]),
    "first group": ("row_group_offsets", lambda x, at: x[at] - 2**30),
    "rows fall": ("row_offsets", lambda x, at: x[at] + 9),
    "no branch": ("row_offsets", lambda x, at: x[at - 1]),
    "row below": ("row_offsets", lambda x, at: -x[at]),
    "row beyond": ("row_offsets", lambda x, at: 2**31 - 1),
    "column beyond": ("columns", lambda x, at: 2**31 - 1),
    "column below": ("columns", lambda x, at: -1),
    "sum": ("probs", lambda x, at: x[at] + 3e-5),
    "just a sum": ("probs", lambda x, at: x[at] + 5e-6),
    "negative": ("probs", lambda x, at: -x[at]),
    "zero": ("probs", lambda x, at: 0.0),
    "minus zero": ("probs", lambda x, at: -0.0),
    "infinite": ("probs", lambda x, at: np.inf),
    "no number": ("probs", lambda x, at: np.nan),
}
"""What may be wrong, or nearly: an entry of an array, made of it and of its place."""


def random_arrays(rng, states: int, longest: int) -> dict[str, np.ndarray]:
    """A sound model; some branches of choices have probability zero."""
    groups = np.append(0, np.cumsum(rng.integers(1, 4, states)))
    widths = rng.integers(1, longest + 1, groups[-1])
    rows = np.append(0, np.cumsum(widths))
    probs = rng.random(rows[-1]) + 0.01
    if rng.random() < 0.2:
        some = np.setdiff1d(np.arange(rows[-1]), rows[:-1])
        probs[some[rng.random(len(some)) < 0.3]] = 0
    probs /= np.repeat(np.add.reduceat(probs, rows[:-1]), widths)
    columns = rng.integers(0, len(groups) - 1, rows[-1])
    return dict(
        zip(
            ("row_group_offsets", "row_offsets", "columns", "probs"),
            (groups, rows, columns, probs),
            strict=True,
        )
    )


def outcome(arrays) -> tuple | str:
    """The arrays of a model, or what is said to be wrong."""
    try:
        built = MDP.from_arrays(**arrays)
    except ValueError as error:
        return str(error)
    return tuple(
        None if x is None else (x.dtype, x.flags.writeable, x.tolist())
        for x in (getattr(built, name) for name in arrays)
    )


@pytest.mark.skipif(not host.can_compile(), reason="there is no compiler")
@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_one_pass_says_what_all_checks_say(fault, monkeypatch):
    """Of all types of offsets and columns, shared arrays and copied ones."""
    rng = np.random.default_rng(0 if fault is None else list(FAULTS).index(fault) + 1)
    cases = []
    for case in range(40):
        arrays = random_arrays(rng, [3, 40, 600][case % 3], [1, 2, 4, 9][case % 4])
        if fault is not None:
            name, change = FAULTS[fault]
            array = arrays[name]
            at = rng.integers(name.endswith("offsets"), len(array))
            array[at] = change(array, at)
        for name in list(arrays)[:3]:
            arrays[name] = arrays[name].astype(
                rng.choice([np.int32, np.int64, np.int64, np.uint64])
            )
        if rng.random() < 0.3:
            arrays["probs"] = None
        for x in arrays.values():
            if x is not None:
                x.setflags(write=bool(rng.random() < 0.7))
        cases.append(arrays)
    expected = [outcome(arrays) for arrays in cases]  # small ones: by numpy
    monkeypatch.setattr(_checks, "pays", lambda entries: True)
    monkeypatch.setattr(host, "FEWEST_PLACES", 2)
    assert [outcome(arrays) for arrays in cases] == expected
    if fault is None:
        assert all(_checks.taken_at_once(**arrays) is not None for arrays in cases)


@pytest.mark.skipif(not host.can_compile(), reason="there is no compiler")
def test_large_models_share_what_nobody_can_change(all_are_large):
    arrays = as_arrays(np.int32)
    for x in arrays.values():
        x.setflags(write=False)
    built = model(**arrays)
    for name, x in arrays.items():
        assert getattr(built, name) is x
    view = arrays["columns"] = np.array([COLUMNS, COLUMNS], np.int32)[0]
    view.setflags(write=False)  # but what it is a part of is not
    assert not np.shares_memory(model(**arrays).columns, view)


def test_traced_arrays_are_refused():
    with pytest.raises(ValueError, match="columns is traced by jax: models are built"):
        jax.jit(lambda columns: model(columns=columns).columns)(np.array(COLUMNS))


def test_probabilities_may_be_rounded():
    thirds = [0.333333] * 3
    built = MDP.from_arrays([0, 1], [0, 3], [0, 0, 0], thirds)
    np.testing.assert_array_equal(built.probs, thirds)


def test_branches_of_probability_zero_are_left_out():
    built = MDP.from_arrays([0, 1, 2], [0, 3, 5], [0, 1, 0, 0, 1], [0, 1, 0, 0.5, 0.5])
    np.testing.assert_array_equal(built.row_offsets, [0, 1, 3])
    np.testing.assert_array_equal(built.columns, [1, 0, 1])
    np.testing.assert_array_equal(built.probs, [1, 0.5, 0.5])


def test_the_empty_model():
    for probs in (None, []):
        empty = MDP.from_arrays([0], [0], [], probs)
        assert (empty.num_states, empty.num_choices, empty.num_branches) == (0, 0, 0)
        assert empty.graph().shape == (0, 0)


def test_successors_and_graph():
    built = model()
    assert [x.tolist() for x in built.successors(0)] == [[0], [1, 2]]
    assert [x.tolist() for x in built.successors(2)] == [[2]]
    graph = built.graph()
    assert graph.shape == (3, 5)
    assert [graph.successors(s).tolist() for s in range(3)] == [[0, 1, 2], [0], [2]]


def test_what_readers_keep_passes_through_jit():
    built = model(
        initial=[0],
        labels={"goal": [0, 0, 1]},
        choice_labels={"stay": [1, 0, 0, 1]},
        state_rewards={"time": [1, 2, 3]},
        choice_rewards={"cost": [0, 1, 2, 3]},
        branch_rewards={"": [0, 1, 2, 3, 4]},
        valuations={"x": [3, 4, 5], "done": [False, True, False]},
    )
    again = jax.jit(lambda m: m)(built)
    np.testing.assert_array_equal(again.initial, [0])
    np.testing.assert_array_equal(again.labels["goal"], [False, False, True])
    np.testing.assert_array_equal(again.choice_labels["stay"], [1, 0, 0, 1])
    np.testing.assert_array_equal(again.state_rewards["time"], [1, 2, 3])
    np.testing.assert_array_equal(again.choice_rewards["cost"], [0, 1, 2, 3])
    np.testing.assert_array_equal(again.branch_rewards[""], [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(again.valuations["x"], [3, 4, 5])
    np.testing.assert_array_equal(again.valuations["done"], [False, True, False])


BOUNDS = {"lower": [1, 0.25, 0, 1, 1], "upper": [1, 0.5, 0.75, 1, 1]}


def interval_model(**changes) -> MDP:
    return model(probs=None, **{**BOUNDS, **changes})


def test_intervals():
    built = interval_model()
    assert built.probs is None
    np.testing.assert_array_equal(built.lower, BOUNDS["lower"])
    np.testing.assert_array_equal(built.upper, BOUNDS["upper"])
    assert built.pad(5, 6, 9).upper.tolist() == [*BOUNDS["upper"], 0, 0, 0, 0]
    rewards = {"r": [1, 2, 3, 4, 5]}
    left = interval_model(upper=[1, 1, 0, 1, 1], branch_rewards=rewards)
    assert left.columns.tolist() == [0, 1, 0, 2]  # nature cannot take the third branch
    assert left.lower.tolist() == [1, 0.25, 1, 1]
    assert left.branch_rewards["r"].tolist() == [1, 2, 4, 5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"lower": [1, 0.6, 0, 1, 1]},
            r"branch 1 of choice 1 .* has bounds 0.6 and 0.5",
        ),
        ({"lower": [1, -0.1, 0, 1, 1]}, "expected 0 <= lower <= upper <= 1"),
        ({"upper": [1, 1.1, 0.75, 1, 1]}, "expected 0 <= lower <= upper <= 1"),
        ({"upper": [1, np.nan, 0.75, 1, 1]}, "expected 0 <= lower <= upper <= 1"),
        ({"upper": [1, 0.5, 0.25, 1, 1]}, r"choice 1 .* sum up to 0.25 and 0.75, exp"),
        (
            {"lower": [1, 0.5, 0.75, 1, 1]},
            r"bounds of choice 1 \(number 1 of state 0\) sum up to 1.25 and 1.25",
        ),
    ],
)
def test_bad_intervals(changes, message):
    with pytest.raises(ValueError, match=message):
        interval_model(**changes)


def test_whatever_computes_refuses_intervals():
    built, found = interval_model(), mdp.mec(model())
    claim = found.state_label, found.choice_kept
    calls = {
        "mec": lambda: mdp.mec(built),
        "traced mec": lambda: jax.jit(lambda m: mdp.mec(m, "basic"))(built),
        "reference.mec": lambda: mdp.reference.mec(built),
        "verify": lambda: mdp.verify(built, found),
        "reference.verify": lambda: mdp.reference.verify(built, *claim),
        "prob0": lambda: mdp.prob0(built, [2]),
        "prob1": lambda: mdp.prob1(built, [2]),
        "reference.prob1": lambda: mdp.reference.prob1(built, [2]),
        "almost_sure_reach": lambda: mdp.almost_sure_reach(built, [2]),
        "almost_sure_buchi": lambda: mdp.almost_sure_buchi(built, [2]),
        "reach_probability": lambda: mdp.reach_probability(built, [2]),
        "quotient": lambda: mdp.quotient(built, found),
        "induced_chain": lambda: mdp.induced_chain(built, [0, 2, 3]),
        "uniform_scheduler": lambda: mdp.uniform_scheduler(built, found),
        "visiting_scheduler": lambda: mdp.visiting_scheduler(built, found),
        "simulate": lambda: mdp.simulate(built, [0, 2, 3], [0], 2, jax.random.key(0)),
        "solve_many": lambda: solve_many(mdp, [built]),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match="this is an interval model"):
            pytest.fail(f"{name} gave {call()}")


def test_pad():
    built = model(labels={"goal": [0, 0, 1]}, choice_rewards={"cost": [0, 1, 2, 3]})
    large = built.pad(5, 6, 9)
    sizes = large.num_states, large.num_choices, large.num_branches
    assert sizes == (5, 6, 9)
    np.testing.assert_array_equal(large.row_group_offsets, [*GROUPS, 4, 4])
    np.testing.assert_array_equal(large.row_offsets, [*ROWS, 5, 5])
    assert large.labels["goal"].tolist() == [False, False, True, False, False]
    assert large.choice_rewards["cost"].tolist() == [0, 1, 2, 3, 0, 0]
    assert [x.tolist() for x in large.successors(0)] == [[0], [1, 2]]
    assert large.successors(4) == []
    assert large.graph().shape == (5, 5)
    assert built.pad().num_branches == 8
    with pytest.raises(ValueError, match="cannot pad 3 states, 4 choices and 5 branch"):
        built.pad(2, 6, 9)


def test_columns_that_lie_apart_are_looked_at_by_numpy(monkeypatch):
    """Machine code takes no other arrays, and Numba would have to compile for them."""
    monkeypatch.setattr(_checks, "pays", lambda entries: True)
    _, columns = np.nonzero(np.ones((8, 8)))
    assert not columns.flags.c_contiguous
    rows = np.arange(9), np.arange(0, 65, 8)
    assert _checks.taken_at_once(*rows, columns, None) is None
    if host.can_compile():
        assert _checks.taken_at_once(*rows, columns.copy(), None) is not None
    model = MDP.from_arrays(np.arange(9), np.arange(0, 65, 8), columns)
    assert (np.asarray(model.columns) == columns).all()

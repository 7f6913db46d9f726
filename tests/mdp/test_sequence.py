"""Sweeps in an order of all states find what searches, and the textbook, find."""

import numpy as np
import pytest

from jaxgames import kept, mdp
from jaxgames.mdp import _swept, host
from jaxgames.mdp._swept import ToTarget, swept
from jaxgames.mdp.host import _sequence


@pytest.fixture
def sweeps(monkeypatch):
    """Says whether models are swept over, be they ever so small."""

    def choose(wanted: bool) -> None:
        monkeypatch.setattr(_sequence, "SEQUENCE_FROM", 0 if wanted else 1 << 60)
        monkeypatch.setattr(_sequence, "KNOTTED_UP_TO", 1.0)
        # Two states that lead to no other of theirs are looked at side by side.
        monkeypatch.setattr(_swept, "TOGETHER_FROM", 2)
        monkeypatch.setattr(_swept, "STATES_OF_A_CORE", 1)
        monkeypatch.setattr(_swept, "NEAR", 1)
        monkeypatch.setattr(_sequence, "STATES_OF_A_PART", 3)

    return choose


def models(seed: int, count: int):
    """Models with few circles and many, a target, what may be passed, and choices."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        size = int(rng.integers(1, 14))
        groups, rows, columns = [0], [0], []
        for state in range(size):
            for _ in range(int(rng.integers(1, 4))):
                branches = int(rng.integers(1, 4))
                step = rng.integers(
                    *[(-size, size), (0, 3), (-1, 4)][number % 3], branches
                )
                columns += np.clip(state + step, 0, size - 1).tolist()
                rows.append(len(columns))
            groups.append(len(rows) - 1)
        weights = rng.integers(1, 4, len(columns)).astype(float)
        count_of = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
        probs = weights / np.bincount(count_of, weights)[count_of]
        pay = rng.integers(0, 3, len(rows) - 1).astype(float)
        yield (
            mdp.MDP.from_arrays(groups, rows, columns, probs, choice_rewards={"": pay}),
            rng.random(size) < 0.25,
            None if number % 2 else rng.random(size) < 0.7,
            None if number % 5 else rng.random(len(pay)) < 0.8,
        )


def regions(model, target, states, choices):
    """All that is asked of sets, with schedulers."""
    how = {"states": states, "choices": choices}
    for question in (host.prob0, host.prob1):
        for optimum in ("min", "max"):
            yield question(model, target, optimum, **how)
    zero = host.prob0(model, target, "max", **how).states
    yield host.prob1(model, target, "max", zero=zero, **how)


def test_sets_and_schedulers_are_those_of_searches(sweeps):
    with host_compiled():
        for model, *asked in models(seed=1, count=400):
            sweeps(False)
            searched = list(regions(model, *asked))
            kept.clear(model)
            sweeps(True)
            assert host.sequence(model) is not None
            for found, other in zip(regions(model, *asked), searched, strict=True):
                assert found.states.tolist() == other.states.tolist()
                assert (found.scheduler is None) == (other.scheduler is None)
                if found.scheduler is not None:
                    assert found.scheduler.tolist() == other.scheduler.tolist()


def host_compiled():
    from jaxgames.host import compiling

    return compiling()


def test_sets_are_those_of_the_textbook(sweeps):
    sweeps(True)
    for model, target, states, _ in models(seed=2, count=100):
        for question in ("prob0", "prob1"):
            for optimum in ("min", "max"):
                found = getattr(host, question)(model, target, optimum, states=states)
                right = getattr(mdp.reference, question)(
                    model, target, optimum, states=states
                )
                assert found.states.tolist() == right.states.tolist()


def check_values(count: int) -> None:
    """Compares values with those of all schedulers, one by one, in fractions."""
    looked_at = 0
    for model, target, _, _ in models(seed=3, count=count):
        groups = np.diff(model.row_group_offsets)
        if np.prod(groups.astype(float)) > 300:
            continue
        looked_at += 1
        goal, pay = {"goal": target}, (model.choice_rewards or {})[""]
        labelled = mdp.MDP.from_arrays(
            *(model.row_group_offsets, model.row_offsets, model.columns, model.probs),
            labels=goal,
            choice_rewards=model.choice_rewards,
        )
        for text, kind in (
            ('P{}=? [ F "goal" ]', "reach"),
            ('R{}=? [ F "goal" ]', "until"),
            ("R{}=? [ C ]", "total"),
        ):
            for optimum in ("min", "max"):
                found = mdp.check(labelled, text.format(optimum), "host")
                how = {} if kind == "reach" else {"reward": pay}
                right = mdp.reference.values(
                    labelled, kind, optimum, target=target, **how
                )
                for low, high, value in zip(
                    found.lower, found.upper, right, strict=True
                ):
                    assert low <= value <= high
                    endless = value == float("inf")
                    assert low == high if endless else high - low <= 1e-6 * abs(value)
    assert looked_at > count // 8


def test_values_are_those_of_all_schedulers(sweeps):
    sweeps(True)
    check_values(150)


def test_equations_are_written_by_several_cores(sweeps, monkeypatch):
    sweeps(False)
    monkeypatch.setattr("jaxgames.host.num_cores", lambda: 4)
    monkeypatch.setattr("jaxgames.host.FEWEST_PLACES", 1)
    check_values(60)


def labelled(model, target, states):
    """A model with labels for a target, and for what may be passed."""
    ways = np.ones(model.num_states, bool) if states is None else states
    return mdp.MDP.from_arrays(
        *(model.row_group_offsets, model.row_offsets, model.columns, model.probs),
        labels={"goal": target, "way": ways},
        choice_rewards=model.choice_rewards,
    )


TO_TARGET = (
    'P{}=? [ "way" U "goal" ]',
    'P{}=? [ !("way" U "goal") ]',
    'P{}=? [ G !"goal" ]',
    'R{}=? [ F "goal" ]',
)


def test_one_look_at_each_state_is_proved(sweeps):
    sweeps(True)
    for model, target, states, _ in models(seed=5, count=60):
        asked_of = labelled(model, target, states)
        for text in TO_TARGET:
            for optimum in ("min", "max"):
                asked = text.format(optimum)
                found = mdp.check(asked_of, asked, "host")
                assert mdp.verify_values(asked_of, asked, found), asked


def test_one_look_finds_what_all_equations_do(sweeps):
    for model, target, states, _ in models(seed=6, count=150):
        asked_of = labelled(model, target, states)
        for text in TO_TARGET:
            for optimum in ("min", "max"):
                ends = []
                for wanted in (False, True):
                    sweeps(wanted)
                    kept.clear(asked_of)
                    found = mdp.check(asked_of, text.format(optimum), "host")
                    ends.append((found.lower, found.upper))
                (low, high), (lower, upper) = ends
                assert (lower <= high).all()
                assert (low <= upper).all()
                # What the graph decides is exact.
                for value in (0.0, 1.0, np.inf):
                    exact = (low == value) & (high == value)
                    assert ((lower == value) & (upper == value))[exact].all()


def asked_of_a_sweep(asked, epsilon=1e-6):
    return swept(asked, epsilon, True, np.zeros(1, np.int8))


def test_a_sweep_is_what_solves(sweeps, monkeypatch):
    sweeps(True)
    monkeypatch.setattr(_swept.ToTarget, "posed", None)  # without any equations
    ladder = mdp.MDP.from_arrays(
        [0, 2, 3, 4, 5], [0, 2, 3, 4, 5, 6], [1, 2, 3, 2, 2, 3], [0.5, 0.5, 1, 1, 1, 1]
    )
    goal = np.array([False, False, True, False])
    for optimum, value in (("max", 1.0), ("min", 0.0)):
        found = asked_of_a_sweep(ToTarget(ladder, goal, optimum))
        assert found.lower.tolist() == found.upper.tolist() == [value, 1.0, 1.0, 0.0]
        missed = asked_of_a_sweep(ToTarget(ladder, goal, optimum, missed=True))
        assert missed.lower.tolist() == [1 - value, 0.0, 0.0, 1.0]
    found = mdp.check(labelled(ladder, goal, None), 'Pmax=? [ F "goal" ]')
    assert found.scheduler.tolist() == [0, 2, -1, 4]


def test_a_choice_that_may_stay_counts_until_it_leaves(sweeps):
    sweeps(True)
    # 0 stays, or goes to 1 or 2; or goes to 3, which goes to 1 and is paid.
    model = mdp.MDP.from_arrays(
        *([0, 2, 3, 4, 5], [0, 3, 4, 5, 6, 7], [0, 1, 2, 3, 1, 2, 1]),
        [0.5, 0.25, 0.25, 1, 1, 1, 1],
    )
    goal = np.array([False, True, False, False])
    found = asked_of_a_sweep(ToTarget(model, goal, "min"))
    assert found.lower.tolist() == pytest.approx([0.5, 1, 0, 1])
    assert found.scheduler.tolist() == [0, -1, 3, 4]
    pay = np.array([1.0, 0, 0, 0, 5])
    both = goal | [False, False, True, False]
    found = asked_of_a_sweep(ToTarget(model, both, "min", reward=pay))
    assert found.lower.tolist() == pytest.approx([2, 0, 0, 5])
    assert found.scheduler.tolist() == [0, -1, -1, 4]
    found = asked_of_a_sweep(ToTarget(model, both, "max", reward=pay))
    assert found.upper.tolist() == pytest.approx([5, 0, 0, 5])
    found = asked_of_a_sweep(ToTarget(model, goal, "max", reward=pay))
    assert found.lower.tolist() == pytest.approx([np.inf, 0, np.inf, 5])
    assert found.scheduler.tolist() == [0, -1, 3, 4]


def test_rewards_that_are_too_large_for_float64_are_not_infinite(sweeps):
    sweeps(True)
    large = 1.5e308
    model = mdp.MDP.from_arrays([0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 2], [1.0, 1, 1])
    goal, pay = np.array([False, False, True]), np.array([large, large, 0.0])
    # The sum is finite: a bound that says it is not would be wrong.
    assert asked_of_a_sweep(ToTarget(model, goal, "max", reward=pay)) is None


def test_many_knots_and_wide_bounds_are_left_to_equations(sweeps, monkeypatch):
    sweeps(True)
    circle = mdp.MDP.from_arrays(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 0, 2], [0.25, 0.75, 1, 1]
    )
    asked = ToTarget(circle, np.array([False, False, True]), "max")
    assert host.sequence(circle).knots.tolist() == [[1, 3]]
    assert asked_of_a_sweep(asked).lower.tolist() == [1.0, 1.0, 1.0]
    earned = asked._replace(reward=np.array([1.0, 0, 0]))
    found = asked_of_a_sweep(earned)
    assert found.lower[0] <= 4 / 3 <= found.upper[0]
    assert asked_of_a_sweep(earned, epsilon=1e-300) is None
    monkeypatch.setattr(_swept, "MOST_KNOTS", 0)
    assert asked_of_a_sweep(asked) is None


def test_the_order_is_what_it_says(sweeps):
    sweeps(True)
    for model, *_ in models(seed=4, count=100):
        found = host.sequence(model)
        assert found is not None
        place = np.empty(model.num_states, int)
        place[found.order] = np.arange(model.num_states)
        edges = np.asarray(model.row_offsets)[np.asarray(model.row_group_offsets)]
        source = np.repeat(np.arange(model.num_states), np.diff(edges))
        to = np.asarray(model.columns)
        tied = (found.knot[source] == found.knot[to]) & (found.knot[to] >= 0)
        assert (place[to] < place[source])[~tied & (source != to)].all()
        for own, (begin, end) in enumerate(found.knots):
            assert (found.knot[found.order[begin:end]] == own).all()
            assert end - begin > 1
        assert found.circles[source[(source == to) | tied]].all()


def test_cores_look_at_parts_that_do_not_lead_to_each_other(sweeps):
    sweeps(True)
    parallel = joined = 0
    for model, *_ in models(seed=7, count=200):
        found = host.sequence(model)
        assert found is not None
        place = np.empty(model.num_states, int)
        place[found.order] = np.arange(model.num_states)
        band, part = (
            np.searchsorted(begins, place, "right")
            for begins in (found.bands, found.parts)
        )
        assert found.bands[0] == found.parts[0] == 0
        assert np.isin(found.bands, found.parts).all()
        edges = np.asarray(model.row_offsets)[np.asarray(model.row_group_offsets)]
        source = np.repeat(np.arange(model.num_states), np.diff(edges))
        to = np.asarray(model.columns)
        assert ((band[to] < band[source]) | (part[to] == part[source])).all()
        tied = found.knot >= 0
        sizes = np.bincount(part[~tied], minlength=1)
        assert sizes.max() <= 3
        assert not np.isin(band[tied], band[~tied]).any()
        parallel += len(found.parts) - len(found.bands)
        joined += (sizes > 1).sum()
    assert parallel > 50
    assert joined > 100


def test_each_core_has_its_share_of_a_band():
    bands, parts = (np.array(x, np.int32) for x in ([0, 8, 9, 10], [0, 3, 8, 9, 10]))
    steps = _swept._steps(bands, np.append(parts, [11, 15]), 16, 2, 3)
    wanted = [[0, 3, 0], [3, 8, 0], [8, 10, 2], [10, 15, 3], [15, 16, 3]]
    assert steps.tolist() == wanted
    assert _swept._steps(bands, parts, 16, 2, 1).tolist() == [[0, 16, 0]]


def test_models_full_of_circles_have_none(monkeypatch):
    circle = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 0])
    monkeypatch.setattr(_sequence, "SEQUENCE_FROM", 0)
    assert host.sequence(circle) is None

"""Sweeps in an order of all states find what searches, and the textbook, find."""

import numpy as np
import pytest

from jaxgames import kept, mdp
from jaxgames.mdp import host
from jaxgames.mdp.host import _sequence


@pytest.fixture
def sweeps(monkeypatch):
    """Says whether models are swept over, be they ever so small."""

    def choose(wanted: bool) -> None:
        monkeypatch.setattr(_sequence, "SEQUENCE_FROM", 0 if wanted else 1 << 60)
        monkeypatch.setattr(_sequence, "KNOTTED_UP_TO", 1.0)

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


def test_values_are_those_of_all_schedulers(sweeps):
    sweeps(True)
    looked_at = 0
    for model, target, _, _ in models(seed=3, count=150):
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
    assert looked_at > 20


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


def test_models_full_of_circles_have_none(monkeypatch):
    circle = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 0])
    monkeypatch.setattr(_sequence, "SEQUENCE_FROM", 0)
    assert host.sequence(circle) is None

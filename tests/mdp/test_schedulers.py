"""Schedulers, the chains they make, and runs."""

import jax
import numpy as np
import pytest

from jaxgames import mdp
from jaxgames.testing import _exact as exact


def rich_models(seed: int, count: int):
    """Models with a component of two states or more."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        model = exact.random_model(rng, int(rng.integers(2, 6)), 3)
        components = mdp.reference.mec(model)
        if np.bincount(components.state_label + 1)[1:].max(initial=0) > 1:
            found += 1
            yield model, components


def test_the_uniform_scheduler_visits_all():
    """In its chain the components are the bottom components, each state recurrent."""
    for model, components in rich_models(seed=1, count=60):
        weights = mdp.uniform_scheduler(model, components)
        chain = exact.chain_of(mdp.induced_chain(model, weights))
        reach = exact.closure(chain)
        label = components.state_label
        for state in np.flatnonzero(label >= 0):
            assert reach[state].tolist() == (label == label[state]).tolist()


def product(model, components, scheduler, start: int):
    """The chain over states and memory: what follows each pair that can be reached."""
    todo, follows = [(start, scheduler.start(start))], {}
    while todo:
        state, memory = pair = todo.pop()
        if pair in follows:
            continue
        choice, after = scheduler.next(memory, state)
        assert components.choice_kept[choice]
        first, stop = model.row_group_offsets[state : state + 2]
        assert first <= choice < stop
        here = slice(*model.row_offsets[choice : choice + 2])
        follows[pair] = [(t, after) for t in model.columns[here].tolist()]
        todo += follows[pair]
    return follows


def test_the_visiting_scheduler_visits_all():
    """In the chain with its memory, every pair leads to all of the component."""
    for model, components in rich_models(seed=2, count=40):
        scheduler = mdp.visiting_scheduler(model, components)
        label = components.state_label
        for start in np.flatnonzero(label >= 0):
            follows = product(model, components, scheduler, int(start))
            members = {*np.flatnonzero(label == label[start]).tolist()}
            for pair in follows:
                seen, todo = {pair}, [pair]
                while todo:
                    new = [p for p in follows[todo.pop()] if p not in seen]
                    seen.update(new)
                    todo += new
                assert {state for state, _ in seen} == members


def two_rings() -> mdp.MDP:
    """The rings 0 1 2 and 0 3 4 through one state, by two choices; 5 is outside."""
    columns = [1, 3, 2, 0, 4, 0, 0, 5]
    return mdp.MDP.from_arrays(
        [0, 2, 3, 4, 5, 6, 7],
        [0, 1, 2, 3, 4, 5, 6, 8],
        columns,
        [1, 1, 1, 1, 1, 1, 0.5, 0.5],
    )


def test_runs_visit_all():
    model = two_rings()
    components = mdp.mec(model)
    key = jax.random.key(0)
    memory = mdp.visiting_scheduler(model, components)
    runs = np.asarray(mdp.simulate(model, memory, [0, 4], 30, key))
    assert runs.shape == (31, 2)
    assert runs[0].tolist() == [0, 4]
    weights = mdp.uniform_scheduler(model, components)
    lots = np.asarray(mdp.simulate(model, weights, [0, 4], 200, key))
    for run in (*runs.T, *lots.T):
        assert {*run.tolist()} == {0, 1, 2, 3, 4}
        # Along branches only.
        for before, after in zip(run, run[1:], strict=False):
            assert any(after in row for row in model.successors(before))
    # Without memory and without lots one of the rings is never seen.
    fixed = np.array([0, 2, 3, 4, 5, -1])
    run = np.asarray(mdp.simulate(model, fixed, 0, 30, key))
    assert {*run.tolist()} == {0, 1, 2}


def test_states_of_no_component_have_no_scheduler():
    model = two_rings()
    scheduler = mdp.visiting_scheduler(model, mdp.mec(model))
    with pytest.raises(ValueError, match="state 5 is in no end component"):
        scheduler.next(scheduler.start(5), 5)
    weights = mdp.uniform_scheduler(model, mdp.mec(model))
    assert weights.tolist() == [0.5, 0.5, 1, 1, 1, 1, 0]


def lottery() -> mdp.MDP:
    """A state with branches of many probabilities, all to states that absorb."""
    probs = [0.05, 0.4, 0.15, 0.3, 0.1]
    return mdp.MDP.from_arrays(
        range(7), [0, 5, 6, 7, 8, 9, 10], [*range(1, 6), *range(1, 6)], probs + [1] * 5
    )


def test_branches_are_taken_as_often_as_they_should():
    model, count = lottery(), 20_000
    start = np.zeros(count, int)
    key = jax.random.key(1)
    runs = np.asarray(mdp.simulate(model, range(6), start, 1, key))
    share = np.bincount(runs[1], minlength=6) / count
    error = 5 * np.sqrt(0.25 / count)
    assert np.abs(share[1:] - model.probs[:5]).max() < error

    class First:
        def start(self, state):
            return None

        def next(self, memory, state):
            return state, memory

    runs = np.asarray(mdp.simulate(model, First(), start[:5000], 1, key))
    share = np.bincount(runs[1], minlength=6) / 5000
    assert np.abs(share[1:] - model.probs[:5]).max() < 2 * error


def test_runs_reach_what_is_reached_almost_surely():
    rng = np.random.default_rng(3)
    tried = 0
    for _ in range(8):
        model = exact.random_model(rng, 6, 2).pad(8, 16, 64)
        region = mdp.almost_sure_reach(model, [0])
        start = np.flatnonzero(np.resize(region.states, 8))
        if len(start) < 2:
            continue
        runs = mdp.simulate(
            model, region.scheduler, np.resize(start, 8), 400, jax.random.key(2)
        )
        assert (np.asarray(runs) == 0).any(0).all()
        tried += 1
    assert tried > 3


def test_runs_under_jit_and_vmap():
    model = lottery()

    def last(start, key):
        return mdp.simulate(model, np.arange(6), start, 2, key)[-1]

    keys = jax.random.split(jax.random.key(0), 4)
    found = jax.jit(jax.vmap(last, (None, 0)))(0, keys)
    alone = [int(mdp.simulate(model, np.arange(6), 0, 2, key)[-1]) for key in keys]
    assert found.tolist() == alone


def test_weights_become_probabilities():
    model = two_rings()
    chain = mdp.induced_chain(model, [3.0, 1, 1, 0, 2, 1, 1])
    assert chain.num_choices == 6
    assert chain.successors(0)[0].tolist() == [1, 3]
    assert chain.probs[:2].tolist() == [0.75, 0.25]
    # State 2 has no choice that weighs anything.
    assert chain.successors(2)[0].tolist() == [2]
    same = mdp.induced_chain(model, np.ones(7, bool))
    assert same.probs[:2].tolist() == [0.5, 0.5]


def test_padding_of_a_chain():
    chain = mdp.induced_chain(two_rings().pad(8, 16, 16), [0, 2, 3, 4, 5, 6, -1, -1])
    assert chain.num_states == 8
    assert chain.num_choices == 6
    assert chain.row_group_offsets.tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 6]


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ([0, 1, 3, 4, 5, 6], "takes choice 1 in state 1, which has the choices from 2"),
        ([0, 99, 3, 4, 5, 6], "takes choice 99 in state 1"),
        ([0, -2, 3, 4, 5, 6], "takes choice -2 in state 1"),
        ([0, 2], r"a scheduler is integers \[6\]"),
        ([0.5] * 6, r"or real numbers \[7\], a weight for each choice; got float64"),
        ([1, 1, 1, 1, 1, 1, -0.5], "choice 6 of state 5 has weight -0.5"),
        ([1, 1, 1, np.nan, 1, 1, 1], "choice 3 of state 2 has weight nan"),
    ],
)
def test_schedulers_that_are_none(scheduler, message):
    with pytest.raises(ValueError, match=message):
        mdp.induced_chain(two_rings(), scheduler)


def test_runs_need_probabilities():
    bare = mdp.MDP.from_arrays([0, 1], [0, 1], [0])
    with pytest.raises(ValueError, match="has no probabilities"):
        mdp.simulate(bare, [0], 0, 1, jax.random.key(0))

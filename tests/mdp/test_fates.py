"""Fates: states that are in every end component with another, and chains of them."""

import functools

import jax
import numpy as np
import pytest
from end_components import packed, timed_model, tiny_models, with_rows

from jaxgames import fixpoint, mdp
from jaxgames.mdp import (
    MDP,
    Interleaved,
    _cascade,
    _fates,
    _interleaved,
    _layout,
    reference,
)
from jaxgames.mdp._removal import remove_both_ways

ROOM = 128, 256, 256  # sizes to which models are padded anyway: one shape for all


@functools.cache
def timed_models(seed: int, count: int) -> list[MDP]:
    rng = np.random.default_rng(seed)
    return [timed_model(rng, int(rng.integers(8, 96))).pad(*ROOM) for _ in range(count)]


@functools.cache
def expected_of(model: MDP) -> mdp.EndComponents:
    return reference.mec(model)


@pytest.mark.parametrize("seed", [1, 2])
def test_fates_are_in_every_end_component_with_a_state(seed):
    small = [model.pad(8, 32, 64) for model in tiny_models(seed, 30)]
    told = sum(check_fates(model) for model in small)
    told += sum(check_fates(model) for model in timed_models(seed, 3))
    assert told > 200


@jax.jit
def some_rounds(layout, live, alive, fates):
    live, alive = remove_both_ways(layout, live, alive)
    return live, *_fates.jump(layout, live, alive, fates)


def check_fates(model: MDP) -> int:
    """Takes each fate out: no state with it is in an end component without it."""
    layout = _layout.prepare(model)
    live, alive = layout.live, layout.states
    fates, size, seen = _fates.no_fates(len(alive)), len(alive), set()
    for _ in range(4):
        live, alive, fates = some_rounds(layout, live, alive, fates)
        for pointer in (*fates.next, *fates.ends):
            seen |= set(zip(range(size), np.asarray(pointer).tolist(), strict=True))
    without = {}
    pairs = [(state, fate) for state, fate in seen if state != fate]
    for state, fate in pairs:
        if fate not in without:
            others = np.arange(size) != fate
            without[fate] = np.asarray(reference.mec(model, states=others).state_label)
        assert without[fate][state] == -1, (state, fate)
    return len(pairs)


def check(found, model: MDP) -> None:
    expected = expected_of(model)
    np.testing.assert_array_equal(found.state_label, expected.state_label)
    np.testing.assert_array_equal(found.choice_kept, expected.choice_kept)


@pytest.mark.parametrize("solver", [Interleaved(), Interleaved(removals=1, sweeps=2)])
def test_timed_models_in_a_batch(solver):
    models = timed_models(seed=4, count=60)
    stacked = jax.tree.map(lambda *x: np.stack(x), *models)
    found = jax.jit(jax.vmap(lambda model: mdp.mec(model, solver)))(stacked)
    for number, model in enumerate(models):
        check(jax.tree.map(lambda x, at=number: x[at], found), model)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(20))
def test_many_timed_models(seed):
    models = timed_models(100 + seed, 300)
    stacked = jax.tree.map(lambda *x: np.stack(x), *models)
    together = jax.jit(jax.vmap(lambda model: mdp.mec(model, "interleaved")))(stacked)
    for number, model in enumerate(models):
        check(mdp.mec(model, "interleaved"), model)
        check(jax.tree.map(lambda x, at=number: x[at], together), model)


@pytest.mark.parametrize(("patience", "narrow"), [(1, 1), (1, 8), (32, 8)])
def test_removal_jumps_where_few_die_at_once(patience, narrow, monkeypatch):
    monkeypatch.setattr(_interleaved, "PATIENCE", patience)
    monkeypatch.setattr(_fates, "NARROW", narrow)
    monkeypatch.setattr(_cascade, "PACE", 1 if patience == 1 else 512)
    monkeypatch.setattr(_cascade, "ROOMS", (16, 1 << 10))
    solver = Interleaved(removals=14 + patience + narrow)  # compiled with these
    jumps = near = 0
    for model in timed_models(seed=4, count=60):
        outcome = fixpoint.run(solver, with_rows(model))
        check(outcome.answer, model)
        jumps += int(outcome.carry.state.jumps)
        near += int(outcome.carry.state.near)
    assert near > 20
    assert (jumps > 20) == (patience == 1)


def ends_early(size: int) -> MDP:
    """A counter that may end before: its states die from the last one on."""
    chain = {state: [[state + 1], [size]] for state in range(size)}
    sink = {size: [[size + 1]], size + 1: [[size + 1]]}
    return packed({**chain, **sink, **pair(size + 2, [0])})


def begins_once(size: int) -> MDP:
    """A counter that may end in a component: its states die from the first one on."""
    chain = {state: [[state + 1], [size]] for state in range(size)}
    return packed({**chain, **pair(size)})


def breaks(size: int) -> MDP:
    """A chain between components, which dies from its middle on after another one."""
    half = size // 2
    other = {state: [[max(state - 1, 0)]] for state in range(half)}
    chain = {state: [[state + 1]] for state in range(half, size)}
    chain[(half + size) // 2][0].append(half - 1)
    return packed({**other, **chain, **pair(size), **pair(size + 2, [half])})


def pair(first: int, *more: list[int]) -> dict[int, list[list[int]]]:
    """Two states that are a component."""
    return {first: [[first + 1], *more], first + 1: [[first]]}


@pytest.mark.counts
@pytest.mark.parametrize(("size", "rounds"), [(4000, 8), (40_000, 200)])
@pytest.mark.parametrize("make", [ends_early, begins_once, breaks])
def test_long_chains_take_few_rounds(make, size, rounds, habits_of_a_cpu):
    model = make(size).pad(40_008, 80_008, 80_008)  # one shape
    found = mdp.mec(model, "interleaved")
    check(found, model)
    assert int(found.stats["removal"]) < rounds
    assert int(found.stats["jumps"]) < 8
    assert int(found.stats["outer"]) == 1

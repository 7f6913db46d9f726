"""Probability zero and one, against all schedulers and between the engines."""

from pathlib import Path

import jax
import numpy as np
import pytest

from jaxgames import mdp
from jaxgames.testing import _exact as exact

CORPUS = Path(__file__).parents[3] / "shared/data/public/mdp"
SIZES = 8, 16, 64
"""What small models are padded to, so that they compile once."""

QUESTIONS = [
    (question, optimum)
    for question in (mdp.prob0, mdp.prob1)
    for optimum in ("min", "max")
]


def models(seed: int, count: int, sizes: tuple[int, int] = (1, 5)):
    """Models with a target, and with what may be passed: for some, all states."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        size = int(rng.integers(sizes[0], sizes[1] + 1))
        model = exact.random_model(rng, size)
        target = rng.random(size) < 0.3
        passed = np.ones(size, bool) if number % 2 else rng.random(size) < 0.8
        yield model, target, passed


def wide(mask: np.ndarray) -> np.ndarray:
    return np.pad(mask, (0, SIZES[0] - len(mask)))


def test_a_model_by_hand():
    # 0: try (1 or back), or give up (2); 1: the target; 2: stay; 3: to 0 or 2 by lot.
    model = mdp.MDP.from_arrays(
        [0, 2, 3, 4, 5], [0, 2, 3, 4, 5, 7], [0, 1, 2, 1, 2, 0, 2]
    )
    assert mdp.prob0(model, [1], "max").states.tolist() == [False, False, True, False]
    never = mdp.prob0(model, [1], "min")
    assert never.states.tolist() == [True, False, True, True]
    assert never.scheduler.tolist() == [1, -1, 3, 4]
    surely = mdp.prob1(model, [1], "max")
    assert surely.states.tolist() == [True, True, False, False]
    assert surely.scheduler.tolist() == [0, -1, -1, -1]
    assert mdp.prob1(model, [1], "min").states.tolist() == [False, True, False, False]


def test_against_all_schedulers():
    for model, target, passed in models(seed=1, count=150):
        least, largest = exact.reach_values(model, target, passed)
        for question, optimum in QUESTIONS:
            value = least if optimum == "min" else largest
            want = [x == (question is mdp.prob1) for x in value]
            region = question(model, target, optimum, states=passed, engine="host")
            assert region.states.tolist() == want


def test_schedulers_show_it():
    shown = 0
    for model, target, passed in models(seed=2, count=150):
        for question, optimum in ((mdp.prob0, "min"), (mdp.prob1, "max")):
            region = question(model, target, optimum, states=passed, engine="host")
            chain = exact.chain_of(mdp.induced_chain(model, region.scheduler))
            value = exact.chain_values(chain, target, passed)
            sure = int(question is mdp.prob1)
            assert all(value[s] == sure for s in np.flatnonzero(region.states))
            silent = ~region.states | target | ~passed
            assert ((region.scheduler < 0) == silent).all()
            shown += (~silent).sum()
    assert shown > 100


@pytest.mark.parametrize(("question", "optimum"), QUESTIONS)
def test_the_device_says_the_same(question, optimum):
    for model, target, passed in models(seed=3, count=40, sizes=(7, 8)):
        host = question(model, target, optimum, states=passed, engine="host")
        device = question(
            model.pad(*SIZES),
            wide(target),
            optimum,
            states=wide(passed),
            engine="device",
        )
        same(host, device)


def same(host: mdp.Region, device: mdp.Region) -> None:
    size = len(host.states)
    np.testing.assert_array_equal(device.states[:size], host.states)
    assert not np.asarray(device.states[size:]).any()
    if host.scheduler is None:
        assert device.scheduler is None
    else:
        np.testing.assert_array_equal(device.scheduler[:size], host.scheduler)
        assert (np.asarray(device.scheduler[size:]) == -1).all()


@pytest.mark.parametrize(("question", "optimum"), QUESTIONS)
def test_under_jit_and_vmap(question, optimum):
    sample = [
        (model.pad(*SIZES), wide(target), wide(passed))
        for model, target, passed in models(seed=4, count=8, sizes=(7, 8))
    ]
    batch = jax.tree.map(lambda *x: np.stack(x), *sample)

    def ask(model, target, passed):
        return question(model, target, optimum, states=passed)

    found = jax.jit(jax.vmap(ask))(*batch)
    alone = jax.jit(ask)
    for number, (model, target, passed) in enumerate(sample):
        host = question(model, target, optimum, states=passed, engine="host")
        same(host, jax.tree.map(lambda x, i=number: x[i], found))
        same(host, alone(model, target, passed))


def staircase(length: int) -> mdp.MDP:
    """State `s` goes on to `s + 1` or, with some luck, to the target.

    The target comes after the stairs, and then a trap, where the stairs end.
    """
    groups = [*range(length + 1), length + 1, length + 2]
    target, trap = length, length + 1
    columns = []
    for state in range(length):
        columns += [min(state + 1, length - 1) if state < length - 1 else trap, target]
    columns += [target, trap]
    rows = [*range(0, 2 * length + 1, 2), 2 * length + 1, 2 * length + 2]
    return mdp.MDP.from_arrays(groups, rows, columns)


@pytest.mark.parametrize("engine", ["host", "device"])
def test_states_are_taken_out_one_after_the_other(engine):
    model = staircase(40)
    region = mdp.prob1(model, [40], engine=engine)
    assert np.flatnonzero(region.states).tolist() == [40]
    every = mdp.prob0(model, [40], engine=engine)
    assert np.flatnonzero(every.states).tolist() == [41]


def test_a_target_may_be_a_label():
    model = mdp.MDP.from_arrays(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"goal": [0, 1]}
    )
    assert mdp.prob1(model, "goal").states.tolist() == [True, True]
    with pytest.raises(ValueError, match=r"no label 'gaol'; it has 'goal'"):
        mdp.prob1(model, "gaol")


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ([2], {}, "target: there is no state 2, expected numbers from 0 to 1"),
        ([True], {}, "target must have 2 entries, got 1"),
        ([0.5], {}, "target must be bool"),
        ([0], {"states": [-1]}, "states: there is no state -1"),
        ([0], {"optimum": "most"}, "optimum must be 'min' or 'max', got 'most'"),
        ([0], {"engine": "cpu"}, "engine must be 'auto', 'host' or 'device'"),
    ],
)
def test_what_is_refused(target, options, message):
    model = mdp.MDP.from_arrays([0, 1, 2], [0, 2, 3], [0, 1, 1])
    with pytest.raises(ValueError, match=message):
        mdp.prob0(model, target, **options)


def test_the_host_cannot_be_traced():
    model = mdp.MDP.from_arrays([0, 1, 2], [0, 2, 3], [0, 1, 1])
    with pytest.raises(ValueError, match="cannot run under tracing"):
        jax.jit(lambda t: mdp.prob0(model, t, engine="host").states)(np.ones(2, bool))


def test_no_states():
    model = mdp.MDP.from_arrays([0], [0], [])
    for engine in ("host", "device"):
        for question, optimum in QUESTIONS:
            assert question(model, [], optimum, engine=engine).states.shape == (0,)


@pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the folder of published models is not there"
)
@pytest.mark.parametrize("name", ["leader3", "ij10"])
def test_published_models(name):
    with np.load(CORPUS / f"{name}.npz") as file:
        model = mdp.MDP.from_arrays(
            *(file[x] for x in ("row_group_offsets", "row_offsets", "columns", "probs"))
        )
        target = file["mec_id"] == 0
    for question, optimum in QUESTIONS:
        host = question(model, target, optimum, engine="host")
        same(host, question(model, target, optimum, engine="device"))

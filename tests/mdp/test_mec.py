"""The decomposition by every solver, in every way it can be called."""

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from end_components import COUNTEREXAMPLE, padded, tiny_models, with_rows

from jaxgames import SolveError, Status, fixpoint, generate, host, mdp, ops
from jaxgames.fixpoint import Carry
from jaxgames.graph import MaxId
from jaxgames.mdp import MDP, Basic, Interleaved, _cascade, reference
from jaxgames.ops import _slices
from jaxgames.progress import Deadline
from jaxgames.testing._exact import end_components as brute_force

SOLVERS = {
    "interleaved": "interleaved",
    "one removal": Interleaved(removals=1),
    "2 sweeps": Interleaved(sweeps=2, sweeps_per_check=2),
    "basic": "basic",
    "basic by signatures": Basic(search=MaxId(), sweeps=2),
}

MADE = Path(__file__).parents[3] / "shared/data/made/mdp"
PUBLIC = Path(__file__).parents[3] / "shared/data/public/mdp"

HARD_FOR_BASIC = ("ladder512", "cycle", "path", "biwalk", "100k", "rand1k", "wlan")
"""Searches that are deep, or many."""


SHAPE = 256, 512, 1024
"""States, choices and branches of all middling models: compiled once."""


@functools.cache
def answered() -> list[tuple]:
    """Tiny models of one size, and their end components by definition."""
    models = map(padded, tiny_models(seed=11, count=120))
    return [(model, *brute_force(model)) for model in models]


@functools.cache
def random_models(reach: int | None) -> list[tuple]:
    """Random models, and their end components by the reference."""
    models = [
        generate.random_mdp(seed, 200, reach=reach, loop_share=0.1).pad(*SHAPE)
        for seed in range(2)
    ]
    return [(model, *mdp_answer(model)) for model in models]


@pytest.fixture(params=SOLVERS)
def solver(request):
    return SOLVERS[request.param]


def check(found, label, kept) -> None:
    assert found.status == Status.SOLVED
    np.testing.assert_array_equal(found.state_label, label)
    np.testing.assert_array_equal(found.choice_kept, kept)
    assert int(found.count) == label.max(initial=-1) + 1


# ---- right answers -----------------------------------------------------------------


def test_the_counterexample_to_the_paper(solver):
    model = padded(COUNTEREXAMPLE)
    label, kept = brute_force(model)
    check(mdp.mec(model, solver), label, kept)
    assert label[:3].tolist() == [0, -1, 1]


def test_agrees_with_the_definition(solver):
    for model, label, kept in answered()[:50]:
        check(mdp.mec(model, solver), label, kept)


def test_masks_agree_with_the_definition(solver):
    rng = np.random.default_rng(12)
    for model in tiny_models(seed=13, count=20):
        model = padded(model)
        states, choices = rng.random(8) < 0.8, rng.random(32) < 0.8
        for masks in ((states, None), (None, choices), (states, choices)):
            label, kept = brute_force(model, *masks)
            found = mdp.mec(model, solver, states=masks[0], choices=masks[1])
            check(found, label, kept)


@pytest.mark.parametrize("reach", [1, 2, 8, None])
def test_agrees_with_the_reference(solver, reach):
    for model, label, kept in random_models(reach):
        check(mdp.mec(model, solver), label, kept)


FAMILIES = {
    "path": lambda: generate.path_mdp(50),
    "cycle": lambda: generate.cycle_mdp(50),
    "walk": lambda: generate.walk_mdp(50),
    "torus": lambda: generate.torus_mdp(6, 9),
    "ladder": lambda: generate.ladder_mdp(12),
    "chain": lambda: generate.chain_mdp(40),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(solver, family):
    model = FAMILIES[family]().pad(*SHAPE)
    check(mdp.mec(model, solver), *mdp_answer(model))


@pytest.mark.parametrize("how", ["interleaved", "basic", "host", "race", "auto"])
def test_empty_and_lone(how):
    empty = mdp.mec(MDP.from_arrays([0], [0], []), how)
    check(empty, np.empty(0, np.int32), np.empty(0, bool))
    check(mdp.mec(MDP.from_arrays([0, 1], [0, 1], [0]), how), np.zeros(1), [True])


@pytest.mark.parametrize("name", ["interleaved", "basic"])
def test_slices(name, monkeypatch):
    monkeypatch.setattr(_cascade, "ROOMS", (8, 32))
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    monkeypatch.setattr(ops, "SLICE_FROM", 0)
    rng = np.random.default_rng(14)
    for size in (3, 60):
        model = generate.random_mdp(rng, size, reach=2)
        expected = reference.mec(model)
        found = mdp.mec(model, name)
        check(found, expected.state_label, expected.choice_kept)
        assert found.stats["layout"] == "slices"


@pytest.mark.parametrize("rooms", [(4, 16), (1 << 12,)])
def test_removal_reads_what_is_next_to_deaths(rooms, monkeypatch):
    monkeypatch.setattr(_cascade, "ROOMS", rooms)
    solver = Interleaved(removals=len(rooms))  # compiled with these rooms
    removal = steps = 0
    for seed in range(40):
        size = 1 + seed
        reach = min(size, (1, 2, 8, size)[seed % 4])
        shares = (0, 0.1, 0.3)
        model = generate.random_mdp(
            seed, size, reach=reach, loop_share=shares[seed % 3]
        )
        model = model.pad(64, 256, 1024)
        expected = reference.mec(model)
        outcome = fixpoint.run(solver, with_rows(model))
        label, kept = outcome.answer.state_label, outcome.answer.choice_kept
        np.testing.assert_array_equal(label, expected.state_label)
        np.testing.assert_array_equal(kept, expected.choice_kept)
        state = outcome.carry.state
        removal += int(state.removal)
        steps += outcome.rounds - int(state.propagation)
    assert removal > 1.2 * steps  # many rounds in one step: those that read little


def test_propagation_does_not_depend_on_the_numbering():
    model = generate.random_mdp(5, 60, reach=1)
    order = np.random.default_rng(6).permutation(60)
    place = np.argsort(order)
    columns = [[place[x] for x in model.successors(s)] for s in order]
    shuffled = MDP.from_arrays(
        np.append(0, np.cumsum([len(row) for row in columns])),
        np.append(0, np.cumsum([len(x) for row in columns for x in row])),
        np.concatenate([x for row in columns for x in row]),
    )
    labels = np.asarray(mdp.mec(model, "interleaved").state_label)[order]
    again = np.asarray(mdp.mec(shuffled, "interleaved").state_label)
    same = labels[:, None] == labels
    np.testing.assert_array_equal(again[:, None] == again, same)


# ---- the corpus --------------------------------------------------------------------


def load(path: Path):
    with np.load(path) as stored:
        arrays = dict(stored)
    model = MDP.from_arrays(
        *(arrays[x] for x in ("row_group_offsets", "row_offsets", "columns", "probs")),
        initial=arrays["initial_states"],
    )
    return model, arrays["mec_id"], arrays["mec_choice"]


def corpus(limit: int):
    files = [*sorted(MADE.glob("*.npz")), *sorted(PUBLIC.glob("*.npz"))]
    files = [path for path in files if path.stat().st_size < limit]
    absent = pytest.mark.skip(reason="the folder of models with answers is not there")
    return files or [pytest.param(MADE, marks=absent)]


def name_of(path) -> str:
    return getattr(path, "stem", "absent")


@pytest.mark.parametrize("path", corpus(1 << 24), ids=name_of)
def test_host_on_the_corpus(path):
    model, label, kept = load(path)
    found = mdp.mec(model, "host")
    check(found, label, kept)
    assert mdp.verify(model, found, engine="host")


def load_roomy(path: Path):
    """A model and its answer; those that are not large have one of two shapes."""
    model, label, kept = load(path)
    own = model.num_states, model.num_choices, model.num_branches
    for sizes in ((2048, 4096, 4096), (4096, 9216, 9216)):
        more = np.subtract(sizes, own)
        if (more >= 0).all():
            label = np.pad(label, (0, more[0]), constant_values=-1)
            return model.pad(*sizes), label, np.pad(kept, (0, more[1]))
    return model, label, kept


@pytest.mark.parametrize("path", corpus(150_000), ids=name_of)
def test_interleaved_on_the_corpus(path):
    model, label, kept = load_roomy(path)
    check(mdp.mec(model, "interleaved"), label, kept)


@pytest.mark.parametrize("path", corpus(31_000), ids=name_of)
def test_basic_on_the_corpus(path):
    if path.stem.startswith(HARD_FOR_BASIC):
        pytest.skip("its searches take many rounds")
    model, label, kept = load_roomy(path)
    check(mdp.mec(model, "basic"), label, kept)


@pytest.mark.sweep
@pytest.mark.parametrize("path", corpus(1 << 24), ids=name_of)
def test_interleaved_on_all_of_the_corpus(path):
    model, label, kept = load(path)
    check(mdp.mec(model, "interleaved"), label, kept)


def test_generators_make_the_families_of_the_corpus():
    if not MADE.is_dir():
        pytest.skip("the folder of models with answers is not there")
    made = {
        "ladder8": generate.ladder_mdp(8),
        "ladder512": generate.ladder_mdp(512),
        "attr_chain1000": generate.chain_mdp(1000),
        "path4096": generate.path_mdp(4096),
        "cycle4096": generate.cycle_mdp(4096),
        "grid64": generate.torus_mdp(64, 64),
        "biwalk100k": generate.walk_mdp(100_000),
    }
    for name, model in made.items():
        stored = load(MADE / f"{name}.npz")[0]
        for array in ("row_group_offsets", "row_offsets", "columns", "probs"):
            np.testing.assert_array_equal(
                getattr(model, array), getattr(stored, array), err_msg=name
            )


# ---- under transformations ---------------------------------------------------------


def test_jit():
    decompose = jax.jit(mdp.mec)
    for model, label, kept in answered()[50:70]:
        check(decompose(model), label, kept)


def test_jit_with_masks():
    @jax.jit
    def decompose(model, states, choices):
        return mdp.mec(model, states=states, choices=choices)

    rng = np.random.default_rng(22)
    for model in map(padded, tiny_models(seed=23, count=20)):
        states, choices = rng.random(8) < 0.7, rng.random(32) < 0.9
        found = decompose(model, states, choices)
        check(found, *brute_force(model, states, choices))
        assert found.stats["solver"] == "interleaved"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if name in ("interleaved", "basic") else pytest.mark.sweep
        )
        for name in SOLVERS
    ],
)
def test_vmap(name):
    """Two sweeps of the first, too, are tried in `test_fates`."""
    solver = SOLVERS[name]
    models, *answers = zip(*answered(), strict=True)
    stacked = jax.tree.map(lambda *x: np.stack(x), *models)
    found = jax.jit(jax.vmap(lambda model: mdp.mec(model, solver)))(stacked)
    labels, kept = map(np.stack, answers)
    np.testing.assert_array_equal(found.state_label, labels)
    np.testing.assert_array_equal(found.choice_kept, kept)
    np.testing.assert_array_equal(found.count, labels.max(axis=1) + 1)
    assert (np.asarray(found.status) == Status.SOLVED).all()


def test_a_model_that_is_a_constant_of_a_jitted_function():
    found = jax.jit(lambda x: x + jnp.asarray(mdp.mec(COUNTEREXAMPLE).state_label))(0)
    np.testing.assert_array_equal(found, [0, -1, 1])


# ---- running it --------------------------------------------------------------------


def test_resume(solver):
    model = generate.ladder_mdp(12).pad(*SHAPE)
    found = mdp.mec(model, solver, max_steps=3, throw=False)
    assert found.status == Status.MAX_STEPS
    assert int(found.count) == 0
    assert (np.asarray(found.state_label) == -1).all()
    assert not np.asarray(found.choice_kept).any()
    calls = 1
    while found.status == Status.MAX_STEPS:
        assert isinstance(found.state, Carry)
        calls += 1
        limit = int(found.stats["rounds"]) + 10
        found = mdp.mec(model, solver, state=found.state, max_steps=limit, throw=False)
    assert calls > 2
    check(found, *mdp_answer(model))


def test_an_unfinished_solve_raises():
    with pytest.raises(SolveError, match="MAX_STEPS: The step limit") as caught:
        mdp.mec(COUNTEREXAMPLE, "interleaved", max_steps=1)
    assert caught.value.solution.stats["rounds"] == 1


def test_step_limit_under_jit():
    found = jax.jit(lambda model, n: mdp.mec(model, max_steps=n))(COUNTEREXAMPLE, 2)
    assert int(found.status) == Status.MAX_STEPS
    assert (np.asarray(found.state_label) == -1).all()


@pytest.mark.counts
def test_statistics(habits_of_a_cpu):
    found = mdp.mec(generate.ladder_mdp(12), "interleaved")
    assert int(found.stats["outer"]) == 13
    rounds = int(found.stats["propagation"]) + int(found.stats["removal"])
    assert rounds == found.stats["rounds"]
    assert found.stats["layout"] == "pairs"
    assert found.stats["cells"] == 64
    assert repr(found) == "EndComponents(14 of 27 states and 27 choices)"


def test_chains_of_deaths_are_jumped_along():
    model = generate.chain_mdp(1000).pad(2048, 4096, 4096)  # as some of the corpus
    found = mdp.mec(model, "interleaved")
    assert int(found.stats["removal"]) < 30
    found = mdp.mec(generate.chain_mdp(50).pad(*SHAPE), "basic")
    assert int(found.stats["removal"]) > 49


@pytest.mark.parametrize("how", ["host", "race"])
def test_engines(how):
    model = generate.random_mdp(7, 300, reach=2)
    expected = reference.mec(model)
    check(mdp.mec(model, how), expected.state_label, expected.choice_kept)


def test_auto_takes_the_host_on_a_cpu():
    if not host.can_compile() or jax.default_backend() != "cpu":
        pytest.skip("numba is not installed, or there is a GPU")
    assert mdp.place_for(COUNTEREXAMPLE) == "host"
    assert mdp.mec(COUNTEREXAMPLE).stats["solver"] == "host"
    assert mdp.place_for(COUNTEREXAMPLE, "basic") == "device"


def test_auto_with_a_step_limit_goes_to_the_device():
    assert mdp.mec(COUNTEREXAMPLE, max_steps=100).stats["solver"] == "interleaved"


def test_progress_is_told_and_may_stop():
    model = generate.ladder_mdp(100).pad(*SHAPE)
    reports = []

    def meter(report):
        reports.append(report)
        return Status.TIMEOUT

    found = mdp.mec(model, "interleaved", progress=meter, throw=False)
    assert found.status == Status.TIMEOUT
    assert reports[0].solver == "interleaved"
    again = mdp.mec(model, "interleaved", state=found.state, progress=Deadline(1000))
    check(again, *mdp_answer(model))


def mdp_answer(model):
    expected = reference.mec(model)
    return expected.state_label, expected.choice_kept


def test_one_compilation_for_models_of_like_size():
    traces = []

    class Counting(Interleaved):
        def init(self, game):
            traces.append(game)
            return super().init(game)

    solver = Counting()
    for seed in range(4):
        mdp.mec(generate.random_mdp(seed, 100, max_choices=1, max_branches=1), solver)
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "tarjan"}, "no end component solver is called 'tarjan'"),
        ({"solver": MaxId()}, "solver must be a name or an end component solver"),
        ({"max_steps": -1}, "max_steps must be at least 0, got -1"),
        ({"solver": "host", "max_steps": 5}, "'host' takes neither"),
        ({"states": [True]}, "states must have 3 entries, got 1"),
        ({"choices": [2, 0, 0, 0]}, "choices must hold booleans or 0/1"),
        ({"progress": 5}, "progress must be a bool or callable"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        mdp.mec(COUNTEREXAMPLE, **arguments)


def test_more_bad_arguments():
    with pytest.raises(ValueError, match="model must be an MDP, got tuple"):
        mdp.mec((1, 2))  # pyright: ignore
    with pytest.raises(ValueError, match="'host' runs on the host, where a traced"):
        jax.jit(lambda model: mdp.mec(model, "host"))(COUNTEREXAMPLE)
    stacked = jax.tree.map(lambda x: np.stack([x, x]), COUNTEREXAMPLE)
    with pytest.raises(ValueError, match="one model at a time, not a batch"):
        mdp.mec(stacked)
    with pytest.raises(ValueError, match="sweeps must be at least 1, got 0"):
        Interleaved(sweeps=0)
    with pytest.raises(ValueError, match="removals must be at least 1, got 0"):
        Interleaved(removals=0)

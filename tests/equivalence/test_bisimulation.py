"""Signature refinement: on the host, on the device, and by the definition."""

import jax.numpy as jnp
import numpy as np
import published
import pytest
from small_systems import COFFEE, random_system, system

from jaxgames import Status, equivalence, solve_many
from jaxgames.equivalence import (
    Refinement,
    System,
    _problem,
    _refinement,
    reference,
)
from jaxgames.equivalence.host import _refine
from jaxgames.io import LTS

ENGINES = ["host", "refinement"]
CHAIN = system(*(f"{i} a {i + 1}" for i in range(6)))
LOOP = system("0 a 1", "1 b 2", "2 a 3", "3 a 0")


def check(lts: LTS, solver) -> None:
    rows = reference.rows_of(System.of(lts))
    classes = equivalence.bisimulation(lts, solver).labels
    assert classes.dtype == np.int32
    np.testing.assert_array_equal(classes, reference.bisimulation(rows))


@pytest.mark.parametrize("seed", range(40))
def test_host_against_the_definition(seed):
    check(random_system(seed, states=9, edges=16), "host")


@pytest.mark.parametrize("seed", range(12))
def test_device_against_the_definition(seed):
    check(random_system(seed, states=7, edges=8), "refinement")


@pytest.mark.parametrize("solver", ENGINES)
def test_a_chain_and_what_has_no_transitions(solver):
    found = equivalence.bisimulation(CHAIN, solver)
    assert found.labels.tolist() == list(range(7))
    alone = LTS.from_edges([], [], [], num_states=3)
    assert equivalence.bisimulation(alone, solver).labels.tolist() == [0, 0, 0]


@pytest.mark.parametrize("solver", ["auto", "race", Refinement(sweeps_per_check=1)])
def test_all_ways_give_the_same(solver):
    assert equivalence.bisimulation(CHAIN, solver).count == 7


def test_rounds_end_and_go_on():
    solver = Refinement(sweeps_per_check=1)  # so that all count the same rounds
    stopped = equivalence.bisimulation(CHAIN, solver, max_steps=3, throw=False)
    assert (stopped.status, set(stopped.labels)) == (Status.MAX_STEPS, {-1})
    assert repr(stopped) == "Classes(MAX_STEPS)"
    found = equivalence.bisimulation(CHAIN, solver, state=stopped.state)
    assert found.labels.tolist() == list(range(7))
    whole = equivalence.bisimulation(CHAIN, solver)
    assert found.stats["rounds"] == whole.stats["rounds"] > 3
    with pytest.raises(ValueError, match="it was made for another problem"):
        equivalence.bisimulation(
            system(*(f"{i} a 6" for i in range(6))), state=stopped.state
        )


def test_many_systems():
    many = [CHAIN, LOOP, CHAIN]
    how = {"solver": "refinement", "throw": False}
    stopped = solve_many(equivalence, many, max_steps=4, **how)
    assert [found.status == Status.SOLVED for found in stopped] == [False, True, False]
    found = solve_many("bisimulation", many, state=stopped.state, **how)
    assert [one.count for one in found] == [7, 4, 7]
    (bare,) = solve_many("bisimulation", [LOOP], "refinement", strategies=False)
    assert bare.count == 4
    with pytest.raises(ValueError, match="game 1 is not the one"):
        solve_many("bisimulation", [CHAIN] * 3, state=stopped.state, **how)


def test_an_unknown_solver_is_refused():
    with pytest.raises(ValueError, match="there are 'refinement', 'host', 'race'"):
        equivalence.bisimulation(COFFEE, "gpu")


def test_what_a_hash_has_merged_is_seen():
    lts = system("0 a 1", "1 a 2")
    rows = System.of(lts)
    assert _problem.is_stable(rows, np.array([0, 1, 2]))
    assert not _problem.is_stable(rows, np.array([0, 0, 1]))
    assert not _problem.is_stable(rows, np.array([0, 0, 0]))
    # A finer partition is stable as well.
    twins = System.of(system("0 a 2", "1 a 2"))
    assert _problem.is_stable(twins, np.array([0, 1, 2]))


def test_a_useless_hash_on_the_host_is_replaced(monkeypatch):
    """With a hash that merges all, a later salt must mend it."""
    salts = []
    right = _refine.refine

    def poor(*arguments):
        *_, classes, salt, _ = arguments
        salts.append(salt)
        return right(*arguments) if salt else np.zeros_like(classes)

    poor.ready = True
    monkeypatch.setattr(_refine, "refine", poor)
    check(LOOP, "host")
    assert len(set(salts)) > 1


def test_a_useless_hash_on_the_device_is_replaced(monkeypatch):
    right, checks = _refinement.scramble, []

    def poor(x, salt):
        return jnp.where(salt < _refinement.WORDS, jnp.uint32(0), right(x, salt))

    def stable(*arguments):
        checks.append(right_answer(*arguments))
        return checks[-1]

    right_answer = _problem.is_stable
    monkeypatch.setattr(_refinement, "scramble", poor)
    monkeypatch.setattr(_problem, "is_stable", stable)
    check(LOOP, Refinement(sweeps_per_check=3))  # a program of its own
    assert checks == [False, True]


def test_the_quotient_has_the_same_traces_and_no_bisimilar_processes():
    for seed in range(10):
        lts = random_system(seed, states=8, edges=14)
        rows = System.of(lts)
        classes = equivalence.bisimulation(lts, "host").labels
        small = rows.quotient(classes)
        again = reference.bisimulation(reference.rows_of(small))
        assert again.tolist() == list(range(small.num_states))
        for p, row in enumerate(reference.rows_of(rows)):
            there = {(a, int(classes[t])) for a, t in row}
            assert there == set(small.row(int(classes[p])))


@published.needed
@pytest.mark.parametrize(
    "name", ["peterson_mutex_weak", "vasy_0_1", "vasy_1_4", "vasy_5_9", "cwi_3_14"]
)
def test_published_systems(name):
    found = equivalence.bisimulation(published.load(name), "host")
    assert found.count == published.expected(name)["bisim_classes"]

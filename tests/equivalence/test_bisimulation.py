"""Signature refinement: on the host, on the device, and by the definition."""

import numpy as np
import published
import pytest
from small_systems import COFFEE, random_system, system

from jaxgames import equivalence
from jaxgames.equivalence import System, _bisimulation, reference
from jaxgames.io import LTS


def check(lts: LTS, engine: _bisimulation.Engine) -> None:
    rows = reference.rows_of(System.of(lts))
    classes = equivalence.bisimulation(lts, engine=engine)
    assert classes.dtype == np.int32
    np.testing.assert_array_equal(classes, reference.bisimulation(rows))


@pytest.mark.parametrize("seed", range(40))
def test_host_against_the_definition(seed):
    check(random_system(seed, states=9, edges=16), "host")


@pytest.mark.parametrize("seed", range(12))
def test_device_against_the_definition(seed):
    check(random_system(seed, states=7, edges=8), "device")


@pytest.mark.parametrize("engine", ["host", "device"])
def test_a_chain_and_what_has_no_transitions(engine):
    chain = system(*(f"{i} a {i + 1}" for i in range(6)))
    assert equivalence.bisimulation(chain, engine=engine).tolist() == list(range(7))
    alone = LTS.from_edges([], [], [], num_states=3)
    assert equivalence.bisimulation(alone, engine=engine).tolist() == [0, 0, 0]


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="'auto', 'device' or 'host', got 'gpu'"):
        equivalence.bisimulation(COFFEE, engine="gpu")  # type: ignore[arg-type]


def test_what_a_hash_has_merged_is_seen():
    lts = system("0 a 1", "1 a 2")
    rows = System.of(lts)
    assert _bisimulation.is_stable(rows, np.array([0, 1, 2]))
    assert not _bisimulation.is_stable(rows, np.array([0, 0, 1]))
    assert not _bisimulation.is_stable(rows, np.array([0, 0, 0]))
    # A finer partition is stable as well.
    twins = System.of(system("0 a 2", "1 a 2"))
    assert _bisimulation.is_stable(twins, np.array([0, 1, 2]))


@pytest.mark.parametrize("engine", ["host", "device"])
def test_a_useless_hash_is_replaced(engine, monkeypatch):
    """With a hash that merges all, a later salt must mend it."""
    salts = []
    name = f"_refine_on_{engine}"
    right = getattr(_bisimulation, name)

    def poor(rows, classes, salt):
        salts.append(salt)
        return right(rows, classes, salt) if salt else np.zeros_like(classes)

    monkeypatch.setattr(_bisimulation, name, poor)
    check(system("0 a 1", "1 b 2", "2 a 3", "3 a 0"), engine)
    assert len(set(salts)) > 1


def test_the_quotient_has_the_same_traces_and_no_bisimilar_processes():
    for seed in range(10):
        lts = random_system(seed, states=8, edges=14)
        rows = System.of(lts)
        classes = equivalence.bisimulation(lts, engine="host")
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
    classes = equivalence.bisimulation(published.load(name), engine="host")
    assert classes.max() + 1 == published.expected(name)["bisim_classes"]

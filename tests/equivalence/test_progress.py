"""Long comparisons tell how far they are, and end when they are told to."""

import numpy as np
import pytest

from jaxgames import SolveError, Status, equivalence, fixpoint, limits
from jaxgames.equivalence.host import _build
from jaxgames.graph import _explore_room
from jaxgames.io import LTS


def chain(length: int) -> LTS:
    """Two chains of two actions, one step longer than the other."""
    steps = [(i, "ab"[i % 2], i + 1) for i in range(length)]
    steps += [(length + 1 + i, "ab"[i % 2], length + 2 + i) for i in range(length + 1)]
    source, label, target = zip(*steps, strict=True)
    return LTS.from_edges(source, label, target)


class Watch:
    """A meter that remembers, and wants the end after some reports of a unit."""

    def __init__(self, unit: str = "", reports: int = 0):
        self.seen, self.closed = [], 0
        self._end = unit, reports

    def __call__(self, report):
        self.seen.append(report)
        units = [each.unit for each in self.seen]
        unit, reports = self._end
        return Status.TIMEOUT if unit and units.count(unit) >= reports else None

    def close(self):
        self.closed += 1


CALLS = {
    "compare": lambda lts, **how: equivalence.compare(lts, 0, 13, **how),
    "spectrum": lambda lts, **how: equivalence.spectrum(lts, preorders=True, **how),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Whatever can be told is told."""
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0)
    monkeypatch.setattr(limits, "TELL_SECONDS", 0)


@pytest.mark.parametrize("call", CALLS)
def test_positions_and_rounds_are_told(call):
    watch = Watch()
    CALLS[call](chain(12), engine="device", solver="fronts", progress=watch)
    told = [report for report in watch.seen if report.solver != "host"]  # of classes
    units = [report.unit for report in told if report.unit]
    found = [report.rounds for report in watch.seen if report.unit == "positions"]
    assert units == sorted(units)  # first all positions, then all rounds
    assert set(units) == {"positions", "rounds"}
    assert found == sorted(found)
    assert found[-1] > 12
    assert watch.closed == 1


def test_the_device_tells_after_few_turns(monkeypatch):
    monkeypatch.setattr(_explore_room, "FIRST_STEPS", 1)
    watch = Watch()
    CALLS["compare"](chain(12), engine="device", solver="fronts", progress=watch)
    found = {report.rounds for report in watch.seen if report.unit == "positions"}
    assert len(found) > 2


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("engine", ["device", "host"])
@pytest.mark.parametrize("unit", ["positions", "rounds"])
def test_a_meter_ends_it(call, engine, unit):
    watch = Watch(unit, 1)
    with pytest.raises(SolveError) as caught:
        CALLS[call](chain(12), engine=engine, solver="fronts", progress=watch)
    assert caught.value.status == Status.TIMEOUT
    assert watch.seen[-1].unit == unit
    assert watch.closed == 1


def test_the_host_tells_each_time_that_there_is_no_room(monkeypatch):
    monkeypatch.setattr(_build, "MOST_FIRST", 0)
    watch = Watch()
    lts = chain(40)
    found = equivalence.spectrum(lts, preorders=True, engine="host", progress=watch)
    positions = [r.rounds for r in watch.seen if r.unit == "positions"]
    assert positions[0] == 0
    assert positions == sorted(positions)
    assert max(positions) <= found.stats["positions"]


def test_relations_and_weak_notions_are_told_too():
    lts, options = chain(12), {"solver": "fronts"}
    watch = Watch("rounds", 1)
    with pytest.raises(SolveError):
        equivalence.relation(lts, "traces", progress=watch, **options)
    with pytest.raises(SolveError):
        equivalence.compare_weak(lts, 0, 13, progress=Watch("rounds", 1), **options)
    found = equivalence.relation(lts, "traces", progress=Watch(), **options)
    plain = equivalence.relation(lts, "traces")
    np.testing.assert_array_equal(found.labels, plain.labels)


def test_a_solve_ends_and_goes_on():
    lts, options = chain(12), {"solver": "fronts", "engine": "host"}
    with pytest.raises(SolveError) as caught:
        equivalence.compare_many(
            lts, [(0, 13), (13, 14), (3, 3)], max_steps=4, **options
        )
    stopped = caught.value.solution
    assert [found.status for found in stopped] == [*[Status.MAX_STEPS] * 2, 0]
    done = equivalence.compare_many(
        lts, [(0, 13), (13, 14), (3, 3)], state=stopped.state, **options
    )
    for before, after in zip(stopped, done, strict=True):
        told = [
            (known, whole[way])
            for notion, whole in after.items()
            for way, known in enumerate(before[notion])
        ]
        assert all(known in (None, whole) for known, whole in told)
        for notion in before:
            formula = before.formula(notion)
            assert formula is None or len(set(satisfy(lts, formula, before))) == 2
    assert {known for known in stopped[0]["simulation"]} == {None}
    assert stopped[1]["traces"] == (False, False, False)


def satisfy(lts, formula, found):
    return [
        equivalence.satisfies(lts, process, formula) for process in (found.p, found.q)
    ]


def test_classes_of_a_solve_that_was_stopped_are_not_guessed():
    how = {"solver": "fronts", "max_steps": 2, "throw": False}
    found = equivalence.spectrum(chain(12), **how)
    assert repr(found) == "Spectrum(MAX_STEPS)"
    with pytest.raises(SolveError):
        found.classes("traces")
    assert set(equivalence.relation(chain(12), "traces", **how).labels) == {-1}

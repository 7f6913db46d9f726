"""Long comparisons tell how far they are, and end when they are told to."""

import numpy as np
import pytest

from jaxgames import SolveError, Status, equivalence, fixpoint
from jaxgames.equivalence import _host
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


@pytest.mark.parametrize("call", CALLS)
def test_positions_and_rounds_are_told(call, monkeypatch):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    watch = Watch()
    CALLS[call](chain(12), engine="device", solver="fronts", progress=watch)
    units = [report.unit for report in watch.seen]
    found = [report.rounds for report in watch.seen if report.unit == "positions"]
    assert units == sorted(units)  # first all positions, then all rounds
    assert set(units) == {"positions", "rounds"}
    assert found == sorted(found)
    assert found[-1] > 12
    assert watch.closed == 1


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("engine", ["device", "host"])
@pytest.mark.parametrize("unit", ["positions", "rounds"])
def test_a_meter_ends_it(call, engine, unit, monkeypatch):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    watch = Watch(unit, 1)
    with pytest.raises(SolveError) as caught:
        CALLS[call](chain(12), engine=engine, solver="fronts", progress=watch)
    assert caught.value.status == Status.TIMEOUT
    assert watch.seen[-1].unit == unit
    assert watch.closed == 1


def test_the_host_tells_each_time_that_there_is_no_room(monkeypatch):
    monkeypatch.setattr(_host, "MOST_FIRST", 0)
    watch = Watch()
    lts = chain(40)
    found = equivalence.spectrum(lts, preorders=True, engine="host", progress=watch)
    positions = [r.rounds for r in watch.seen if r.unit == "positions"]
    assert positions[0] == 0
    assert positions == sorted(positions)
    assert max(positions) <= found.stats["positions"]


def test_relations_and_weak_notions_are_told_too(monkeypatch):
    monkeypatch.setattr(fixpoint, "FIRST_CHUNK", 1)
    lts, options = chain(12), {"solver": "fronts"}
    watch = Watch("rounds", 1)
    with pytest.raises(SolveError):
        equivalence.relation(lts, "traces", progress=watch, **options)
    with pytest.raises(SolveError):
        equivalence.compare_weak(lts, 0, 13, progress=Watch("rounds", 1), **options)
    labels = equivalence.relation(lts, "traces", progress=Watch(), **options)
    np.testing.assert_array_equal(labels, equivalence.relation(lts, "traces"))

"""Specifications of many formulas, and the processes that make them."""

import numpy as np
import pytest

from jaxgames import limits, synth
from jaxgames.synth import Specification, _many
from jaxgames.testing._ltl import _formula


@pytest.fixture(scope="module")
def formulas():
    rng = np.random.default_rng(0)
    return [_formula(rng, int(rng.integers(3, 9))) for _ in range(40)]


def test_processes_make_what_one_makes(formulas):
    one, two = (
        synth.specifications(formulas, ["p"], ["q"], processes=count)
        for count in (1, 2)
    )
    for formula, mine, theirs in zip(formulas, one, two, strict=True):
        alone = Specification.from_ltl(formula, ["p"], ["q"])
        for other in (mine, theirs):
            assert other.formula == formula
            for name in ("offsets", "targets", "required", "forbidden", "sets"):
                expected = getattr(alone.automaton.graph, name)
                assert np.array_equal(getattr(other.automaton.graph, name), expected)
            assert np.array_equal(other.arena().dst, alone.arena().dst)
            assert other.game().witness == alone.game().witness
    assert [x.realizable for x in synth.solve_many(two)] == [
        synth.solve(x).realizable for x in one
    ]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_formula_that_is_none(processes):
    with pytest.raises(ValueError, match=r"^formula 1: column 2 of 'F': expected a f"):
        synth.specifications(["G p", "F"], ["p"], ["q"], processes=processes)
    with pytest.raises(ValueError, match=r"^formula 0: the parity automaton has mo"):
        synth.specifications(
            ["X X X X p", "F p"], ["p"], [], max_states=3, processes=processes
        )


def test_time_ends_other_processes(monkeypatch):
    ended = []
    kill = _many.subprocess.Popen.kill
    monkeypatch.setattr(
        _many.subprocess.Popen, "kill", lambda self: (ended.append(self), kill(self))
    )
    hard = " & ".join(f"(G F p{i} | F G q{i})" for i in range(9))
    with pytest.raises(limits.LimitError):
        synth.specifications([hard] * 2, [], processes=2, deadline=1.0)
    assert len(set(map(id, ended))) == 2
    assert all(worker.poll() is not None for worker in ended)


def test_the_benchmark_counts_right():
    measured = pytest.importorskip("benchmarks.specifications")
    found = measured.measured(20, 3, 1)
    texts = measured.formulas(20, 3)
    alone = [Specification.from_ltl(x, [*"abc"], [*"xyz"]) for x in texts]
    won = [synth.solve(x).realizable for x in alone]
    assert found["realizable"] == sum(map(bool, won))
    assert found["states"] == sum(x.parity().num_states for x in alone)


def test_a_process_that_dies(monkeypatch, formulas):
    monkeypatch.setattr(_many.sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="a process that translates has ended"):
        synth.specifications(formulas, ["p"], ["q"], processes=2)

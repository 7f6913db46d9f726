"""What the tables of solvers say, and what a verdict shows of itself."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import (
    Arena,
    Status,
    buchi,
    checkpoint,
    drive,
    energy,
    energyparity,
    generate,
    graph,
    mdp,
    meanpayoff,
    multienergy,
    ops,
    parity,
    solve_many,
    solver,
    states,
)
from jaxgames.energy._capacity import CappedFVI
from jaxgames.energy._proof import Proof
from jaxgames.parity._trimming import Trimming
from jaxgames.solver import Solver

GAME = generate.random_game(3, 8)
WEIGHTED = generate.random_energy_game(3, 8, max_weight=9)
MODEL = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 0])
SEVERAL = multienergy.Game.from_arrays([0, 1], [0], [0], [[0]], defender=[True], cap=3)


def marked() -> Arena:
    src, dst = GAME.src, GAME.dst
    return Arena.from_edges(src, dst, owner=GAME.owner, accepting=np.arange(8) == 0)


ASK = {
    "parity": lambda name: parity.solve(GAME, name),
    "energy": lambda name: energy.solve(WEIGHTED, name),
    "graph": lambda name: graph.scc(GAME, name),
    "buchi": lambda name: buchi.solve(marked(), name),
    "cycle": lambda name: buchi.accepting_cycle(marked(), solver=name),
    "mdp": lambda name: mdp.mec(MODEL, name),
    "multienergy": lambda name: multienergy.solve(SEVERAL, name),
}


@pytest.mark.parametrize("slice_", ASK)
def test_an_error_lists_all_that_may_be_named(slice_):
    """The engines of the host are among it, and may be named."""
    with pytest.raises(ValueError, match=r"there are .*'host'") as told:
        ASK[slice_]("nobody")
    assert "'race'" in str(told.value)
    listed = str(told.value).partition("there are ")[2].replace("'", "").split(", ")
    assert listed[-1] == "auto"
    for name in {"host", "race"} & {*listed}:
        ASK[slice_](name)


@pytest.mark.parametrize("slice_", ["parity", "energy"])
def test_what_is_the_hosts_is_said_where_it_cannot_be(slice_):
    problem, game = {"parity": (parity, GAME), "energy": (energy, WEIGHTED)}[slice_]
    with pytest.raises(ValueError, match="'race' runs on the host, which cannot be"):
        solve_many(problem, [game], "race")
    with pytest.raises(ValueError, match="solver='host' takes neither"):
        solve_many(problem, [game], "host", max_steps=1)


def test_a_verdict_shows_what_it_means():
    verdict = parity.verify(GAME, parity.solve(GAME))
    assert repr(verdict) == "Verdict(valid=True, reason=Reason.OK, vertex=-1)"
    wrong = parity.Verdict.at(parity.Reason.STRATEGY_MISSING, 5)
    expected = "Verdict(valid=False, reason=Reason.STRATEGY_MISSING, vertex=5)"
    assert repr(wrong) == expected
    # What is traced, or a stack, shows what it has.
    jax.eval_shape(lambda x: (assert_shown(parity.Verdict(x > 0, x, x)), x)[1], 1)
    three = parity.Verdict(np.ones(3, bool), np.zeros(3, int), np.full(3, -1))
    assert str(three).startswith("Verdict(valid=[ True")


def assert_shown(verdict) -> None:
    assert "JitTracer" in repr(verdict)


# ---- solvers from outside ----------------------------------------------------------


class Where(NamedTuple):
    """Nothing moves: what is known is known at once."""

    known: jax.Array  # bool


@dataclasses.dataclass(frozen=True)
class Same(Solver):
    """Solves games of one priority, whose winner is that of its parity."""

    name = "same"

    def init(self, game):
        """Whether all are the same."""
        priority = jnp.where(ops.real(game), game.priority, game.priority[0])
        return Where(jnp.all(priority == game.priority[0]))

    def step(self, game, state):
        """Nothing can be done about it."""
        return state

    def done(self, game, state):
        """Whether it could be seen at once."""
        return state.known

    def answer(self, game, state):
        """The first edge is as good as any."""
        winner = jnp.where(state.known, game.priority % 2, -1)
        return parity.answer(game, winner, jnp.zeros_like(game.priority))


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(parity.SOLVERS, "_solvers", dict(parity.SOLVERS._solvers))
    monkeypatch.setattr(states, "CLASSES", dict(states.CLASSES))
    states.register(Where)
    return parity.SOLVERS.register(Same)


def test_a_solver_from_outside_is_one_like_any(registered, tmp_path):
    one = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[3, 3])
    assert registered is Same
    assert "same" in list(parity.SOLVERS)
    found = [
        parity.solve(one, "same"),
        jax.jit(lambda arena: parity.solve(arena, "same"))(one),
        solve_many(parity, [one], "same")[0],
    ]
    for solution in found:
        assert solution.stats["solver"] == "same"
        assert np.asarray(solution.winner).tolist() == [1, 1]
        assert np.asarray(solution.strategy).tolist() == [-1, 2]
    stopped = parity.solve(GAME, "same", max_steps=3, throw=False)
    assert stopped.status == Status.MAX_STEPS
    assert set(stopped.winner.tolist()) == {-1}
    checkpoint.save(tmp_path / "state.npz", stopped.state)
    state = checkpoint.load(tmp_path / "state.npz", stopped.state)
    again = parity.solve(GAME, "same", state=state, max_steps=5, throw=False)
    assert again.stats["rounds"] == 5


def test_what_is_no_solver_is_not_registered(registered):
    with pytest.raises(ValueError, match="a parity solver derives from Solver"):
        parity.SOLVERS.register(Where)  # type: ignore[type-var]
    with pytest.raises(ValueError, match="a component solver derives from Component"):
        graph.SOLVERS.register(Same)
    for taken in ("auto", "host", "fpi"):
        named = type("Named", (Same,), {"name": taken})
        with pytest.raises(ValueError, match=f"called '{taken}' already"):
            parity.SOLVERS.register(named)
    assert parity.SOLVERS.register(Same) is Same  # as when a module is loaded again


WEIGHTED = Arena.from_edges(
    [0, 1], [1, 0], owner=[0, 1], weight=[1, -1], priority=[0, 1], accepting=[0, 1]
)
OF_ANOTHER = {
    "energy": (energy.solve, parity.FPI(), "FPI is a solver of jaxgames.parity"),
    "derived": (energy.solve, type("Own", (parity.FPI,), {})(), "Own is a solver of"),
    "not needed": (energyparity.solve, parity.FPI(), "expected an energy solver"),
    "as text": (parity.solve, energy.VI(), "VI is a solver of jaxgames.energy"),
    "same slice": (
        buchi.solve,
        buchi.Map(),
        "or a Büchi game solver, which derives from Attractors, got Map",
    ),
    "same base": (
        buchi.accepting_cycle,
        buchi.Attractors(),
        "Attractors solves Büchi games, expected an accepting-cycle solver: 'map', ",
    ),
    "of the other player": (
        energy.solve,
        energy.Dual(),
        "Dual solves energy games for player 1, expected an energy solver: 'fvi', 'vi'",
    ),
    "derived from it": (
        energy.solve,
        type("Own", (energy.Dual,), {})(),
        "Own solves energy games for player 1, expected an energy solver: 'fvi'",
    ),
    "with a capacity": (
        meanpayoff.solve,
        CappedFVI(),
        "CappedFVI solves energy games with a capacity, expected an energy solver",
    ),
    "part of a verification": (
        parity.solve,
        Trimming(),
        "Trimming solves which cycles are in a claimed answer, expected a parity solv",
    ),
    "of credits": (
        energy.solve,
        Proof(),
        "Proof solves what claimed credits come to, expected an energy solver",
    ),
    "without one": (
        lambda arena, solver: energy.solve_with_capacity(arena, 1, solver),
        energy.FVI(),
        "or an energy solver, which derives from CappedFVI, got FVI",
    ),
}


@pytest.mark.parametrize("name", OF_ANOTHER)
def test_solvers_of_other_games_are_refused(name):
    solve, other, words = OF_ANOTHER[name]
    with pytest.raises(ValueError, match=words):
        solve(WEIGHTED, other)


def test_solvers_are_taken_that_are_derived_from_what_is():
    for solve, kind in (
        (buchi.solve, buchi.Attractors),
        (buchi.accepting_cycle, buchi.Map),
        (energy.solve, energy.FVI),
        (lambda arena, solver: energy.solve_with_capacity(arena, 9, solver), CappedFVI),
    ):
        own: Any = type("Own", (kind,), {})()
        assert solve(WEIGHTED, own).status == Status.SOLVED


def test_solvers_of_other_games_are_not_registered():
    names = list(energy.SOLVERS)
    with pytest.raises(ValueError, match="FPI is a solver of jaxgames.parity, expect"):
        energy.SOLVERS.register(parity.FPI)
    with pytest.raises(ValueError, match="Dual solves energy games for player 1, exp"):
        energy.SOLVERS.register(energy.Dual)
    assert list(energy.SOLVERS) == names


def test_solvers_of_other_packages_are_found_by_their_names(registered, monkeypatch):
    class Point:
        def load(self):
            parity.SOLVERS.register(type("Other", (Same,), {"name": "other"}))

    def points(*, group):
        return [Point()] if group == "jaxgames.solvers" else []

    monkeypatch.setattr("importlib.metadata.entry_points", points)
    solver._import_others.cache_clear()
    assert parity.place_for(GAME, "other") == "device"
    with pytest.raises(ValueError, match="no parity solver is called 'another'"):
        parity.place_for(GAME, "another")


def test_solvers_that_are_imported_later_have_the_names_they_are_known_by():
    for problem in drive.PROBLEMS.values():
        for name in problem.solvers:
            assert problem.solvers[name].name == name

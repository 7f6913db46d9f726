"""A kind of game that says the least of itself has what all others have."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, Solution, SolveError, Status, drive, limits, solve_many
from jaxgames.drive import DEVICE, HOST, RACE, Leg
from jaxgames.solution import Stats
from jaxgames.solver import Registry, Solver

ARENA = Arena.from_edges([0, 1, 2], [1, 2, 0], owner=[0, 1, 0])


class Answer(NamedTuple):
    count: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Counted(Solution):
    count: Any = None


@dataclasses.dataclass(frozen=True)
class Count(Solver):
    """How many vertices there are, one a round."""

    name = "count"

    def init(self, game):
        return jnp.int32(0)

    def step(self, game, state):
        return jnp.minimum(state + 1, game.num_vertices)

    def done(self, game, state):
        return state == game.num_vertices

    def answer(self, game, state):
        return Answer(state)


class Vertices(drive.Problem[Arena]):
    name = "vertices"
    solvers = Registry("counting", Count, places=(HOST, RACE))
    solved = Counted

    def read(self, question):
        if not isinstance(question, Arena):
            raise ValueError("not an arena")
        return question, False

    def undecided(self, question):
        return Answer(np.int32(-1))

    def on_host(self, question, *, strategies=True, track=None, max_steps=None):
        count = int(question.num_vertices)
        return Counted(Status.SOLVED, count=count, stats=Stats(solver=HOST))

    def check(self, question):
        self.read(question)

    def game(self, question, solver, facts=None):
        return question

    def answer(self, solver, game, state, size):
        return solver.answer(game, state)


TOY = Vertices()


@pytest.mark.parametrize("solver", ["auto", "count", Count(), "host", "race"])
def test_one_question(solver):
    assert int(drive.solve(TOY, ARENA, solver).count) == 3


def test_under_jit():
    found = jax.jit(lambda arena: drive.solve(TOY, arena))(ARENA)
    assert (int(found.count), int(found.status)) == (3, Status.SOLVED)


def test_many_questions():
    several = [ARENA, Arena.from_edges([0], [0], owner=[0]), ARENA]
    assert [int(found.count) for found in solve_many(TOY, several)] == [3, 1, 3]


def test_rounds_end_and_go_on():
    with pytest.raises(SolveError, match="MAX_STEPS") as caught:
        drive.solve(TOY, ARENA, max_steps=2)
    stopped = caught.value.solution
    assert int(stopped.count) == 2
    assert int(drive.solve(TOY, ARENA, state=stopped.state).count) == 3


def test_solvers_in_turn():
    class Twice(Vertices):
        def legs(self, question):
            return (Leg(Count(), 1), Leg(Count(sweeps_per_check=2)))

    problem, limit = Twice(), {"max_steps": 2, "throw": False}
    stopped = drive.solve(problem, ARENA, **limit)
    assert (stopped.state.leg, int(stopped.state.carry.rounds)) == (1, 1)
    found = drive.solve(problem, ARENA, state=stopped.state)
    assert (int(found.count), found.stats["tried"]) == (3, "count")
    with pytest.raises(ValueError, match="which is a LegState: got Carry"):
        drive.solve(problem, ARENA, state=stopped.state.carry)


def test_time_that_is_over_leaves_the_question_undecided(monkeypatch):
    monkeypatch.setattr(limits, "_hand_over", lambda work, ended: None)
    found = drive.solve(TOY, ARENA, deadline=0.01, throw=False)
    assert (found.status, int(found.count)) == (Status.TIMEOUT, -1)


def test_numbers_that_a_device_has_not():
    class Overflows(Vertices):
        holds_all = True

        def on_device(self, question, solver, **how):
            return Counted(Status.OVERFLOW)

    assert drive.solve(Overflows(), ARENA, "count").count == 3
    found = drive.solve(Overflows(), ARENA, "count", max_steps=5, throw=False)
    assert found.status == Status.OVERFLOW


def test_a_question_that_a_device_has_made_is_no_hosts():
    class Made(Vertices):
        def is_devices(self, question):
            return True

    assert drive.place_for(Made(), ARENA) == DEVICE
    with pytest.raises(ValueError, match="where a game made on the device cannot be"):
        drive.solve(Made(), ARENA, "host")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"question": 3}, "not an arena"),
        ({"solver": "sum"}, "no counting solver is called 'sum'; there are 'count'"),
        ({"solver": 3}, "solver must be a name or a counting solver, got 3"),
        ({"max_steps": -1}, "max_steps must be at least 0"),
        ({"solver": "host", "max_steps": 1}, "'host' takes neither"),
        ({"preprocess": "some"}, "must be a sequence of names"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        drive.solve(TOY, **({"question": ARENA} | arguments))

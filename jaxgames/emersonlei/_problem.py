"""What these games are to the driver: parity games with a memory in their vertices."""

import copy
import dataclasses
import time
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, parity, states, validity
from jaxgames.arena import is_traced
from jaxgames.emersonlei import host
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._solution import Solution
from jaxgames.later import to_numpy
from jaxgames.progress import Report
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.solver import Solver
from jaxgames.zielonka_tree import Subsets

RECURSION = "recursion"
"""The engine that makes no product."""

SOLVERS = copy.copy(parity.SOLVERS)  # which knows all that are registered there
"""The solvers of the parity games that these games become, and `"recursion"`."""
SOLVERS.places = (*parity.SOLVERS.places, RECURSION)


class Answer(NamedTuple):
    """Winners, first moves, and what the strategies remember."""

    winner: Any
    strategy: Any
    machine: Any


class EmersonLei(drive.Problem[Game]):
    """Games with conditions of Emerson and Lei."""

    name = "emersonlei"
    solvers = SOLVERS
    solved = Solution

    def read(self, question: Any) -> tuple[Game, Any]:
        """The graph is total; the product is the host's.

        Raises:
            ValueError: it is no such game.
        """
        return check(question)

    def shape(self, question: Game) -> tuple[int, int]:
        """That of the graph."""
        return question.shape

    def words(self, question: Game) -> states.Words:
        """Of the graph, the marks and the condition."""
        text = np.frombuffer(str(question.condition).encode(), np.uint8)
        parts = question.arena, question.marks(), text.astype(np.int32)
        return states.fingerprint(parts)

    def undecided(self, question: Any) -> Answer:
        """No winners."""
        size = question.shape[0]
        return Answer(
            np.full(size, UNDECIDED, np.int8), np.full(size, NO_EDGE, np.int32), None
        )

    def in_phases(self, question: Game, solver: Any, **how: Any) -> Solution:
        """One parity game, or the recursion."""
        limited = how["max_steps"] is not None or how["state"] is not None
        if limited and drive.is_place(self, solver):
            drive.refuse_limits(solver)  # before a product is made
        subsets = Subsets(question.condition)
        made = product_of(question, solver, subsets, limited=limited)
        if made is None:
            return _recursed(question, subsets, how["strategies"], how["progress"])
        found = drive.solve(parity.PROBLEM, made.arena, solver, throw=False, **how)
        return _solution(question, made, found)

    def traced_auto(self) -> Solver:
        """As of parity games."""
        return parity.PROBLEM.traced_auto()

    def traced(self, question: Game, solver: Any, state: Any, max_steps: Any) -> Any:
        """The product with all memories, whether plays reach them or not."""
        from jaxgames.emersonlei import _product  # no concrete solve wants it

        made = _product.product(question)
        found = parity.PROBLEM.traced(made, solver, state, max_steps)
        return _product.solution(question, made, found)

    def beside(self, questions: list[Game], solver: Any, **how: Any) -> Any:
        """A batch of parity games; without products one after the other."""
        limited = how["max_steps"] is not None or how["state"] is not None
        made: list[host.Product] = []
        for question in questions:
            subsets = Subsets(question.condition)
            one = product_of(question, solver, subsets, limited=limited)
            if one is None:
                return drive.one_by_one(self, questions, solver, **how)
            made.append(one)
        solver = "auto" if solver == RECURSION else solver
        arenas = [one.arena for one in made]
        found = drive.solve_many(parity.PROBLEM, arenas, solver, throw=False, **how)
        return [
            _solution(*one) for one in zip(questions, made, found, strict=True)
        ], found.state


PROBLEM = drive.register(EmersonLei())
"""These games, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""


def product_of(
    game: Game, solver: Any, subsets: Subsets, *, limited: bool
) -> host.Product | None:
    """The product, where somebody wants it or it is small; None for the recursion.

    The subsets, of its condition, are told what is found; `limited` where there are
    limits that only a parity game has.
    """
    if limited or solver not in (RECURSION, "auto"):
        return host.product(game)
    return host.small_product(game, subsets) if solver == "auto" else None


def check(game: Any) -> tuple[Game, Any]:
    """Checks that a game is one; it may be traced.

    Raises:
        ValueError: naming what is wrong.
    """
    if not isinstance(game, Game):
        raise ValueError(f"expected an emersonlei.Game, got {type(game).__name__}")
    arena, fault = validity.checked(game.arena)
    game = dataclasses.replace(game, arena=arena)
    if not is_traced(game):
        game = to_numpy(game)
        Game.of(
            game.arena,
            game.condition,
            vertex_marks=game.vertex_marks,
            edge_marks=game.edge_marks,
        )
    return game, fault


def _recursed(game: Game, subsets: Subsets, strategies: bool, meter: Any) -> Solution:
    began = time.perf_counter()
    plan = host.recurse(game.unpad(), subsets)
    ended = meter(Report(RECURSION, plan.subgames, time.perf_counter() - began))
    meter.close()
    size = int(game.arena.num_vertices)
    more = (0, game.shape[0] - size)
    facts: dict[str, Any] = {"rounds": plan.subgames}
    strategy = machine = None
    if strategies:
        machine = host.machine_of(game.unpad(), plan)
        strategy = machine.move[machine.start]
        strategy = np.pad(strategy, more, constant_values=NO_EDGE)
        facts["nodes"] = len(machine.vertex)
    return Solution(
        winner=np.pad(host.winners(plan, size), more),
        strategy=strategy,
        machine=machine,
        status=Status.SOLVED if ended is None else ended,
        stats=Stats(solver=RECURSION, **facts),
    )


def _solution(game: Game, made: host.Product, found: parity.Solution) -> Solution:
    """The winners of the game, from those of the product."""
    start, winner = made.machine.start, np.asarray(found.winner)
    more = (0, game.shape[0] - len(start))
    strategy = machine = None
    if found.strategy is not None:
        move = np.asarray(found.strategy)
        machine = made.machine
        # Edges of a node have the order of those of its vertex.
        place = move - machine.row_ptr[:-1]
        own = np.asarray(game.arena.row_ptr)[machine.vertex] + place
        move = np.where(move == NO_EDGE, NO_EDGE, own).astype(np.int32)
        strategy = np.pad(move[start], more, constant_values=NO_EDGE)
        known = (winner != UNDECIDED).all()
        machine = dataclasses.replace(machine, move=move) if known else None
    facts = {**found.stats, "nodes": len(winner)}
    return Solution(
        winner=np.pad(winner[start], more),
        strategy=strategy,
        machine=machine,
        status=found.status,
        stats=Stats(**facts),
        state=found.state,
    )

"""What mean-payoff games are to the driver: their values, and one threshold."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, energy, states, validity
from jaxgames.arena import Arena, is_traced, of_numpy
from jaxgames.meanpayoff import _batch, _parts, _values
from jaxgames.meanpayoff._checks import check
from jaxgames.meanpayoff._solution import Decision, Solution
from jaxgames.solution import NO_EDGE, UNDECIDED, Status

SOLVERS = energy.SOLVERS
"""The solvers of the energy games that values and decisions are found by."""


class Answer(NamedTuple):
    """Values and strategies of both players, by vertex."""

    value_num: Any
    value_den: Any
    strategy: Any


class Values(drive.Problem[Arena]):
    """The values of mean-payoff games."""

    name = "meanpayoff"
    solvers = SOLVERS
    solved = Solution

    def read(self, question: Any) -> tuple[Arena, Any]:
        """Weights are one integer for each edge; the search is the host's."""
        arena, fault = check(question)
        return of_numpy(arena), fault

    def undecided(self, question: Any) -> Answer:
        """No values: their denominators are 0."""
        nothing = np.zeros(np.shape(question.owner), np.int32)
        return Answer(nothing, nothing, nothing + np.int32(NO_EDGE))

    def in_phases(self, question: Arena, solver: Any, **how: Any) -> Solution:
        """One energy game after the other."""
        meter = how["progress"]
        try:
            return _values.solve(question, solver, **how)
        finally:
            meter.close()

    def traced(self, question: Arena, solver: Any, state: Any, max_steps: Any) -> Any:
        """Thresholds depend on what was found, and on numbers of any size."""
        raise ValueError(
            "meanpayoff.solve chooses its thresholds on the host, where a traced game "
            "cannot be; inside jax.jit use meanpayoff.decide"
        )

    def beside(self, questions: list[Arena], solver: Any, **how: Any) -> Any:
        """Side by side, each a part of its own."""
        return _batch.solve(self, questions, solver, **how)


PROBLEM = drive.register(Values())
"""Values, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""


class Asked(NamedTuple):
    """A game, and the threshold that its values are compared with."""

    arena: Any
    threshold: Any


class Decided(NamedTuple):
    """Who wins from each vertex, and how."""

    winner: Any
    strategy: Any


class Decisions(drive.Problem[Asked]):
    """Whether values are at least a threshold."""

    name = "meanpayoff_threshold"
    solvers = SOLVERS
    solved = Decision

    def read(self, question: Any) -> tuple[Asked, Any]:
        """A mean-payoff game; a threshold is looked at by who computes with it.

        That cannot be told what a denominator is that is traced.
        """
        asked = Asked(*question)
        arena, fault = check(asked.arena)
        pair = isinstance(asked.threshold, tuple) and len(asked.threshold) == 2
        if pair and is_traced(asked.threshold[1]):
            fault = validity.also(fault, asked.threshold[1] == 0)
        return asked._replace(arena=arena), fault

    def shape(self, question: Asked) -> tuple[int, int]:
        return question.arena.shape

    def undecided(self, question: Any) -> Decided:
        size = np.shape(question.arena.owner)
        return Decided(
            np.full(size, UNDECIDED, np.int8), np.full(size, NO_EDGE, np.int32)
        )

    def in_phases(self, question: Asked, solver: Any, **how: Any) -> Decision:
        """One energy game, in numbers of any size where it takes such."""
        game = energy.from_mean_payoff(*question)
        found = drive.solve(energy.PROBLEM, game, solver, throw=False, **how)
        from_the_start = how["max_steps"] is how["state"] is None
        if found.status == Status.OVERFLOW and from_the_start:
            game = _parts.widened(game)
            found = drive.solve(energy.PROBLEM, game, solver, throw=False, **how)
        return _decision(found)

    def traced(self, question: Asked, solver: Any, state: Any, max_steps: Any) -> Any:
        """In the numbers that the weights have."""
        game = energy.from_mean_payoff(*question)
        return _decision(energy.PROBLEM.traced(game, solver, state, max_steps))

    def words(self, question: Asked) -> states.Words:
        """Those of the energy game."""
        return states.words_of(energy.from_mean_payoff(*question))

    def beside(self, questions: list[Asked], solver: Any, **how: Any) -> Any:
        """A batch of energy games; one whose numbers do not fit is asked alone."""
        games = [energy.from_mean_payoff(*one) for one in questions]
        fits = [game.weight.dtype != object for game in games]
        some = drive.solve_many(
            energy.PROBLEM,
            [game for game, fit in zip(games, fits, strict=True) if fit],
            solver,
            throw=False,
            **how,
        )
        each, found = iter(some), []
        for one, fit in zip(questions, fits, strict=True):
            own = next(each) if fit else None
            if own is None or own.status == Status.OVERFLOW:
                alone = {"throw": False, "strategies": how["strategies"]}
                found.append(drive.solve(self, one, solver, **alone))
            else:
                found.append(_decision(own))
        return found, some.state


def _decision(found: energy.Solution) -> Decision:
    return Decision(
        winner=found.winner,
        strategy=found.strategy,
        status=found.status,
        stats=found.stats,
        state=found.state,
    )


DECISIONS = drive.register(Decisions())
"""Thresholds, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]: questions are pairs of an arena and a threshold."""

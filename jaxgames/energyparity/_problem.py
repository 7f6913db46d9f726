"""What energy parity games are to the driver: games of other kinds, one by one."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import drive, energy, fixpoint, states
from jaxgames.arena import Arena, as_checked_as, of_numpy
from jaxgames.energyparity import _batch, host
from jaxgames.energyparity._checks import check
from jaxgames.energyparity._convert import from_mean_payoff_parity
from jaxgames.energyparity._solution import LOST, UNKNOWN, Solution
from jaxgames.energyparity._state import Answers, joined, parted
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.tuning.energy import ROUNDS_TRACED

SOLVERS = energy.SOLVERS
"""The solvers of the energy games that these games are solved by."""


class Answer(NamedTuple):
    """Winners, player 1's moves, and what player 0 needs and does."""

    winner: Any
    strategy: Any
    credit: Any
    modes: Any


class EnergyParity(drive.Problem[Arena]):
    """Energy parity games."""

    name = "energyparity"
    solvers = SOLVERS
    solved = Solution
    nothing: ClassVar = {"credit": UNKNOWN}

    def read(self, question: Any) -> tuple[Arena, Any]:
        """Weights are on edges, priorities on vertices; the recursion is the host's."""
        arena, fault = check(question)
        return of_numpy(arena), fault

    def undecided(self, question: Any) -> Answer:
        size = np.shape(question.owner)
        return Answer(
            np.full(size, UNDECIDED, np.int8),
            np.full(size, NO_EDGE, np.int32),
            np.full(size, UNKNOWN, np.int32),
            None,
        )

    def in_phases(
        self,
        question: Arena,
        solver: Any,
        *,
        max_steps: int | None,
        state: Any,
        progress: Any,
        strategies: bool,
    ) -> Solution:
        """One game after the other."""
        known: tuple[list[Any], list[str]] = [], []
        if state is not None:
            states.check_class(state, Answers)
            states.check(self._origin(question, solver), state.origin)
            known = parted(state)
        arena = as_checked_as(question, question.unpad())
        inner = host.Inner(solver, progress, max_steps, *known)
        try:
            region, status = host.solve(arena, inner)
        finally:
            progress.close()
        at_once = status == Status.SOLVED and state is max_steps is None
        stats = Stats(
            solver="+".join(sorted(inner.names)) or "none", rounds=inner.rounds
        )
        # A small game takes little longer than the fingerprint of one.
        left = None if at_once else self._state(question, solver, inner)
        solution = self.found(arena, region, status, stats, strategies)
        solution = dataclasses.replace(solution, state=left)
        return self.padded(solution, question.shape[0])

    def found(
        self,
        arena: Arena,
        region: host.Region,
        status: Status,
        stats: Stats,
        strategies: bool,
    ) -> Solution:
        """The solution of a game without padding, of what the recursion has found."""
        credit = strategy = modes = None
        if strategies:
            credit = np.where(region.winner == 1, LOST, UNKNOWN).astype(np.int32)
            strategy = region.move
        if strategies and status == Status.SOLVED:
            credit, modes = host.modes_of(arena, region.pieces)
        return Solution(
            winner=region.winner,
            strategy=strategy,
            credit=credit,
            modes=modes,
            status=status,
            stats=stats,
        )

    def padded(self, solution: Solution, size: int) -> Solution:
        """The solution with so many vertices, those that no play reaches included."""
        more = size - len(solution.winner)
        if not more:
            return solution
        strategy, credit = solution.strategy, solution.credit
        if strategy is not None:
            strategy = np.pad(strategy, (0, more), constant_values=NO_EDGE)
        if credit is not None:
            credit = np.pad(credit, (0, more))
        modes = None if solution.modes is None else _padded(solution.modes, more)
        return dataclasses.replace(
            solution,
            winner=np.pad(solution.winner, (0, more)),
            strategy=strategy,
            credit=credit,
            modes=modes,
        )

    def _state(self, question: Arena, solver: Any, inner: host.Inner) -> Answers:
        """The answers of inner games, and what they are of."""
        origin = self._origin(question, solver)
        return joined(origin, inner.answers, sorted(inner.names))

    def _origin(self, question: Arena, solver: Any) -> states.Origin:
        """What a state is of: strategies are made at the end."""
        told = solver if isinstance(solver, str) else states.described(solver)
        words = states.words_of(question)
        return states.Origin(words, told, states.version())

    def traced_auto(self) -> Any:
        """Which games the recursion asks depends on answers."""
        from jaxgames.energyparity._credits import Credits  # no concrete solve wants it

        return Credits()

    def traced(self, question: Any, solver: Any, state: Any, max_steps: Any) -> Any:
        """Winners and the least credits; a limit of rounds, if there is no other."""
        from jaxgames.energyparity._credits import Credits

        if not isinstance(solver, Credits):
            raise ValueError(
                f"solver={getattr(solver, 'name', solver)!r} is for energy games that "
                "the host chooses, where a traced game cannot be: leave it out, or "
                "solve the game outside of jax.jit"
            )
        if question.shape[0] == 0:
            how = {"strategies": solver.strategies}
            return drive.undecided(Status.SOLVED, self, question, **how)
        limit = ROUNDS_TRACED if max_steps is None else max_steps
        outcome = fixpoint.traced(solver, question, state, limit)
        found = outcome.answer
        return Solution(
            winner=found.winner,
            credit=found.credit if solver.strategies else None,
            status=outcome.status,
            stats=Stats(solver=solver.name, rounds=outcome.rounds),
            state=outcome.carry,
        )

    def beside(
        self,
        questions: list[Arena],
        solver: Any,
        *,
        max_steps: int | None,
        state: Any,
        progress: Any,
        strategies: bool,
    ) -> Any:
        """Side by side; with limits, and on the device, one after the other."""
        how: dict[str, Any] = {"progress": progress, "strategies": strategies}
        limited = max_steps is not None or state is not None
        if limited or solver not in ("auto", drive.HOST):
            return drive.one_by_one(
                self, questions, solver, max_steps=max_steps, state=state, **how
            )
        games = [self.arena_of(question) for question in questions]
        found = _batch.solve(PROBLEM, games, solver, **how)
        return found, (None,) * len(games)

    def arena_of(self, question: Any) -> Arena:
        """The energy parity game that is asked about."""
        return question


PROBLEM = drive.register(EnergyParity())
"""Energy parity games, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""


class Asked(NamedTuple):
    """A game, and the threshold that mean payoffs are compared with."""

    arena: Any
    threshold: Any = 0


class Decisions(EnergyParity):
    """Mean-payoff parity games, put as energy parity games."""

    name = "meanpayoff_parity"

    def read(self, question: Any) -> tuple[Any, Any]:
        """A game; the threshold is looked at by who computes with it."""
        asked = Asked(*question)
        arena, fault = super().read(asked.arena)
        return asked._replace(arena=arena), fault

    def shape(self, question: Any) -> tuple[int, int]:
        return question.arena.shape

    def undecided(self, question: Any) -> Answer:
        return super().undecided(question.arena)

    def words(self, question: Any) -> states.Words:
        """Those of the energy parity game."""
        return super().words(self.arena_of(question))

    def in_phases(self, question: Any, solver: Any, **how: Any) -> Solution:
        """As an energy parity game."""
        return super().in_phases(self.arena_of(question), solver, **how)

    def arena_of(self, question: Any) -> Arena:
        """With weights that say whether a mean is large enough."""
        return from_mean_payoff_parity(*question)

    def traced(self, question: Any, solver: Any, state: Any, max_steps: Any) -> Any:
        """As an energy parity game, in numbers of the weights' type."""
        return super().traced(self.arena_of(question), solver, state, max_steps)


DECISIONS = drive.register(Decisions())
"""Mean-payoff parity games, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]: questions are pairs of an arena and a threshold."""


def _padded(modes: Any, more: int) -> Any:
    """With entries for vertices that no play reaches."""
    fills = {"is_top": False, "reaches": False, "order": 0, "need": 0}
    fills |= {"core": NO_EDGE, "move": NO_EDGE}
    padded = {
        name: np.pad(getattr(modes, name), (0, more), constant_values=fill)
        for name, fill in fills.items()
    }
    return dataclasses.replace(modes, **padded)

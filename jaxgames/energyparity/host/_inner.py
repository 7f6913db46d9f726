"""The games of one kind alone that an energy parity game is solved by."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, energy, limits, parity
from jaxgames.arena import Arena, as_checked_as
from jaxgames.energyparity._state import Answer
from jaxgames.energyparity.host._part import Part
from jaxgames.energyparity.host._ties import scaled
from jaxgames.progress import Progress, Report
from jaxgames.solution import NO_EDGE, UNDECIDED, Status
from jaxgames.solver import Solver

WORD = 2**61
"""What an energy game of one word has room for, times vertices and steps."""


class StoppedError(Exception):
    """An inner game was not solved: the status says why."""

    def __init__(self, status: Status):
        super().__init__(status.name)
        self.status = status


class Found(NamedTuple):
    """Who wins an inner game, and by which edges of it: NO_EDGE for who loses.

    Attributes:
        winner: int8 `[V]`.
        strategy: int32 `[V]`.
        keeps: bool `[E]`: edges that player 0 can take as he likes where he wins, in
            an energy game, and all of player 1 there. In a parity game there are none.
    """

    winner: np.ndarray
    strategy: np.ndarray
    keeps: np.ndarray


class Inner:
    """Solves inner games one after the other, with one meter.

    Args:
        solver: of energy games, a name or a solver.
        meter: told of each game.
        most: how many games may be solved, those of `known` counted in; None for any
            number.
        known: the answers of the first games, which are not solved again.
        names: the solvers of these.
    """

    def __init__(
        self,
        solver: str | Solver,
        meter: Progress,
        most: int | None,
        known: Sequence[Answer] = (),
        names: Sequence[str] = (),
    ):
        self.solver, self.meter, self.most = solver, meter, most
        self.began, self.rounds = time.perf_counter(), 0
        self.names: set[str] = set(names)
        self.answers: list[Answer] = []
        self._known = list(known)[::-1]

    def _answer(self, part: Part, solve: Callable[[], tuple[Any, Any, Any]]) -> Answer:
        """The answer of the next game: as it is known, or as it is found now."""
        size = len(part.vertices)
        if self._known:
            answer = self._known.pop()
            if len(answer.winner) != size:
                raise ValueError("state is not of this solve: it is of other games")
            self.rounds += answer.rounds
        else:
            before = self.rounds
            answer = Answer(*solve(), rounds=self.rounds - before)
        self.answers.append(answer)
        return answer

    def parity(self, part: Part, edges: np.ndarray | None = None) -> Found:
        """The parity game alone.

        Args:
            part: the game.
            edges: bool `[E]`: those that there are, one of each vertex or more; None
                for all.
        """
        place, arena = "host" if self.solver == "host" else "auto", part.arena
        at = None if edges is None else np.flatnonzero(edges)
        if at is not None:
            arena = Arena.from_edges(
                arena.src[at],
                arena.dst[at],
                owner=arena.owner,
                priority=arena.priority,
            )

        def solve() -> tuple[Any, Any, Any]:
            winner, move = self._parity(arena, part.game, place)
            if at is not None:
                move = np.where(move == NO_EDGE, NO_EDGE, at[move]).astype(np.int32)
            return winner, move, np.zeros(len(move), np.int32)

        answer = self._answer(part, solve)
        none = np.zeros(part.arena.shape[1], bool)
        return Found(np.array(answer.winner), np.array(answer.strategy), none)

    def _parity(
        self, arena: Arena, game: np.ndarray | None, place: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Winners and moves; of several games side by side, each has its own solve.

        There may be many right moves: one solve for all would find others than alone.
        """
        if game is None:
            found = self._solve(parity.PROBLEM, arena, place, strategies=True)
            return np.asarray(found.winner), np.asarray(found.strategy)
        starts = np.flatnonzero(np.diff(game, prepend=-1))
        parts = drive.split(arena, starts)
        places = {drive.place_for(parity.PROBLEM, one, place) for one in parts}
        many = places == {drive.HOST}
        each = (
            self._host(parts)
            if many
            else (
                self._solve(parity.PROBLEM, one, place, strategies=True)
                for one in parts
            )
        )
        winners, moves = [], []
        for found, edge in zip(each, arena.row_ptr[starts], strict=True):
            move = np.asarray(found.strategy)
            winners.append(np.asarray(found.winner))
            moves.append(np.where(move == NO_EDGE, NO_EDGE, move + edge))
        return np.concatenate(winners), np.concatenate(moves).astype(np.int32)

    def _host(self, games: list[Arena]) -> Sequence[Any]:
        """The solutions of parity games by the host."""
        how: dict[str, Any] = {"progress": self._meter(), "throw": False}
        found = drive.solve_many(parity.PROBLEM, games, drive.HOST, **how)
        self.rounds += len(games)
        self.names.add(drive.HOST)
        if found.status != Status.SOLVED:
            raise StoppedError(Status(int(found.status)))
        return found

    def credits(self, part: Part, move: np.ndarray) -> np.ndarray:
        """Credits where player 0's moves are fixed: `energy.TOP` where none is enough.

        Args:
            part: the game.
            move: int32 `[V]`, an edge where player 0 moves.
        """
        arena, size = part.arena, len(part.vertices)

        def solve() -> tuple[Any, Any, Any]:
            edge = np.arange(arena.shape[1], dtype=np.int32)
            fixed = np.where(arena.owner, NO_EDGE, move)[arena.src]
            edge = np.where(fixed == NO_EDGE, edge, fixed)
            game = dataclasses.replace(arena, dst=arena.dst[edge], priority=None)
            game = as_checked_as(arena, game)
            found = self._energy(game, part.weight[edge], strategies=False)
            none = np.full(size, NO_EDGE, np.int32)
            return np.full(size, UNDECIDED, np.int8), none, np.asarray(found.credit)

        return self._answer(part, solve).credit

    def good(self, part: Part) -> Found:
        """Where player 0 sees to it that no cycle loses, or gains nothing and is odd.

        This is an energy game with weights that tell cycles without gain apart [1]. In
        them a unit of energy is more than all priorities together, so that numbers
        grow with the product of how often each priority occurs. Where this does not fit
        a word, cycles that gain and cycles that lose are excluded first by two games,
        and the numbers are of what is left: little, where weights are many.

        References:
            [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012), lemma 4,
            doi:10.1016/j.tcs.2012.07.038.
        """
        weight, largest = scaled(part)
        size = len(part.vertices)
        if largest * (size + 1) ** 2 < WORD:
            return self._winners(part, weight)
        found = self._winners(part, part.weight)
        keeps = part.part(found.winner == 0)
        if not len(keeps.vertices):
            return found
        # A cycle of at most so many edges gains something if it does so here.
        of_gain = keeps.weight.astype(object) * len(keeps.vertices) - 1
        gains = self._winners(keeps, of_gain)
        _take_over(found, keeps, gains, gains.winner == 0)
        level = keeps.part(gains.winner == 1)
        if len(level.vertices):
            tied = self._winners(level, scaled(level)[0])
            vertices, edges = keeps.vertices[level.vertices], keeps.edges[level.edges]
            level = level._replace(vertices=vertices, edges=edges)
            _take_over(found, level, tied, np.ones(len(vertices), bool))
        return found

    def _winners(self, part: Part, weight: np.ndarray) -> Found:
        arena = part.arena

        def solve() -> tuple[Any, Any, Any]:
            game = as_checked_as(arena, dataclasses.replace(arena, priority=None))
            found = self._energy(game, weight, strategies=True)
            return tuple(map(np.asarray, (found.winner, found.strategy, found.credit)))

        answer = self._answer(part, solve)
        credit = answer.credit
        if credit.dtype != object:
            credit = credit.astype(np.int64)
        has, needs = credit[arena.src], credit[arena.dst]
        stays = (has != energy.TOP) & (needs != energy.TOP)
        keeps = stays & (arena.owner[arena.src] | (has >= needs - weight).astype(bool))
        # Some of it may be written over.
        return Found(np.array(answer.winner), np.array(answer.strategy), keeps)

    def _energy(self, game: Arena, weight: np.ndarray, *, strategies: bool) -> Any:
        game = as_checked_as(game, dataclasses.replace(game, weight=narrow(weight)))
        found = self._solve(energy.PROBLEM, game, self.solver, strategies=strategies)
        if found.status == Status.OVERFLOW:
            wide = dataclasses.replace(game, weight=game.weight.astype(object))
            wide = as_checked_as(game, wide)
            found = self._solve(
                energy.PROBLEM, wide, self.solver, strategies=strategies
            )
        return found

    def _solve(self, problem: Any, game: Arena, solver: Any, **how: Any) -> Any:
        if self.most is not None and self.rounds >= self.most:
            raise StoppedError(Status.MAX_STEPS)

        how |= {"progress": self._meter(), "throw": False}
        found = drive.solve(problem, game, solver, **how)
        self.rounds += 1
        self.names.add(str(found.stats["solver"]))
        status = Status(int(found.status))
        if status == Status.SOLVED:
            told = Report(str(found.stats["solver"]), 0, 0.0)
            status = self._report(told) or status
        if status not in (Status.SOLVED, Status.OVERFLOW):
            raise StoppedError(status)
        return found

    def _meter(self) -> Callable[[Report], Status | None] | None:
        """What tells of a solve: what nobody watches needs no thread of its own."""
        return None if limits.current() is None else self._report

    def _report(self, report: Report) -> Status | None:
        seconds = time.perf_counter() - self.began
        return self.meter(Report(report.solver, self.rounds, seconds, "games"))


def narrow(weight: np.ndarray) -> np.ndarray:
    """Weights of 32 or 64 bits where they fit, else Python's integers."""
    low, high = int(weight.min(initial=0)), int(weight.max(initial=0))
    for kind in (np.int32, np.int64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return weight.astype(kind)
    return weight.astype(object)


def _take_over(found: Found, part: Part, more: Found, where: np.ndarray) -> None:
    """Enters what was found of a part of a game, where it is the last word."""
    own = where[part.arena.src]
    found.keeps[part.edges[own]] = more.keeps[own]
    found.winner[part.vertices[where]] = more.winner[where]
    move = more.strategy[where]
    edges = np.where(move == NO_EDGE, NO_EDGE, part.edges[move])
    found.strategy[part.vertices[where]] = edges

"""What the engines of a race share: the device takes over what the host has won."""

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxgames import drive, fixpoint, ops
from jaxgames.arena import Arena
from jaxgames.later import jax
from jaxgames.progress import Report
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.solver import Solver
from jaxgames.tuning.parity import SHARE_SECONDS

if TYPE_CHECKING:
    from jaxgames.parity._problem import Parity


class Shared(drive.Track):
    """What the engines of a race share, and what the host has decided.

    The device takes it over now and then, as in section 4.3 of Bootsma, Speeding up
    the small progress measures algorithm for parity games using the GPU, master's
    thesis, TU Eindhoven.

    Attributes:
        winner: int8, what the host has decided for good; None before it starts.
        move: int32, the edges to take there, in the engine's numbers.
        of_arena: makes edges of the arena of them.
        share_seconds: after which the device looks at what the host has decided.
    """

    def __init__(self, share_seconds: float = SHARE_SECONDS):
        super().__init__()
        self.winner: np.ndarray | None = None
        self.move: np.ndarray | None = None
        self.of_arena: Callable[[np.ndarray], np.ndarray] = np.asarray
        self.share_seconds = share_seconds
        self._known = np.array(UNDECIDED)  # of it what the device has taken over

    def publish(self, size: int) -> None:
        """Makes room for what the host decides."""
        self.move = np.full(size, NO_EDGE, np.int32)
        self.winner = np.full(size, UNDECIDED, np.int8)

    def publish_all(self, winner: np.ndarray, move: np.ndarray) -> None:
        """Tells what the host has decided: all, by edges of the arena."""
        self.move, self.winner = move, winner

    def on_device(
        self, problem: "Parity", arena: Arena, solver: Solver, **how: Any
    ) -> Any:
        """Runs a solver that now and then takes over what the host has decided."""
        progress, state = how.pop("progress", None), how.pop("state", None)
        solution: Any = None
        if state is None:
            self._known = np.array(UNDECIDED)
        while True:
            state = self._take_over(problem, arena, solver, state, solution)
            began = time.perf_counter()

            def meter(report: Report) -> Status | None:
                stop = None if progress is None else progress(report)
                late = time.perf_counter() - began > self.share_seconds  # noqa: B023
                new = late and self._shares(arena, solver)
                return Status.INTERRUPTED if new and stop is None else stop

            solution = problem.on_device(
                arena, solver, state=state, progress=meter, **how
            )
            if solution.status != Status.INTERRUPTED or self.stop[0]:
                break
            state = solution.state
        known = self._known
        if known.ndim == 0 or solution.strategy is None or self.move is None:
            return solution
        taken = known != UNDECIDED
        move = np.where(known == arena.owner, self.of_arena(self.move), NO_EDGE)
        return dataclasses.replace(
            solution,
            strategy=np.where(taken, move, np.asarray(solution.strategy)),
            stats=Stats(**solution.stats, taken_over=int(taken.sum())),
        )

    def _shares(self, arena: Arena, solver: Solver) -> bool:
        """Whether there may be something to take over, and a solver that can."""
        return (
            self.winner is not None
            and solver.absorbs
            and arena.edge_priority is None  # or vertices have other numbers
        )

    def _take_over(self, problem, arena, solver: Solver, state, solution) -> Any:
        """The state that makes use of what is known from the host by now."""
        if self.winner is None or not self._shares(arena, solver):
            return state
        winner = self.winner[: arena.shape[0]].copy()
        together = winner
        if solution is not None:
            found = np.asarray(solution.winner)
            together = np.where(found == UNDECIDED, winner, found)
        if not np.any(winner != self._known) or not _is_closed(arena, together):
            return state
        subject, solver = problem.fitted(arena, solver)
        game = problem.prepare(subject, solver)
        if state is None:
            state = fixpoint.first(solver, game)
        padded = np.full(ops.num_vertices(game), UNDECIDED, np.int8)
        padded[: len(winner)] = winner
        self._known = winner
        return state._replace(state=_absorb(solver, game, state.state, padded))


def _is_closed(arena: Arena, winner: np.ndarray) -> bool:
    """Whether what is decided is its own attractor, so that the rest is a game.

    What the host has decided is, but it may be writing while this is read; and together
    with what the device has decided it need not be.
    """
    open_ = winner == UNDECIDED
    row = open_[arena.src]
    ends = winner[arena.dst]
    lures = row & (ends == arena.owner[arena.src])
    stays = np.zeros(len(winner), bool)
    stays[arena.src[row & (ends == UNDECIDED)]] = True
    return not lures.any() and bool(stays[open_].all())


@functools.partial(jax.jit, static_argnums=0)
def _absorb(solver: Solver, game: ops.Game, state, winner):
    return solver.absorb(game, state, ops.by_slot(game, winner, UNDECIDED))

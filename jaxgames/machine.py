"""Machines: solvers that sweep until nothing changes, and then turn.

An algorithm that searches, concludes and searches again has loops in loops, which batch
badly: each game would wait for the longest search of all. As a machine it has one loop.
A step makes some sweeps, and a turn where they have come to an end.
"""

import dataclasses
import functools
from typing import Any

from jaxgames import fixpoint
from jaxgames.later import backend, jax
from jaxgames.solver import Solver, check_positive
from jaxgames.tuning.base import IDLE_CELLS


@dataclasses.dataclass(frozen=True)
class Machine(Solver):
    """Base of the solvers that are machines.

    Sweeps go on until they change nothing: the state is stable. A turn then draws a
    conclusion, and sets the state up for other sweeps. A machine has `sweep` and
    `turn`, and a state with `stable`; or a `step` of its own.

    Attributes:
        sweeps: sweeps between two tests whether something has changed. None: 1 on a
            CPU, up to 8 on an accelerator, fewer for large games.
    """

    sweeps: int | None = dataclasses.field(default=None, kw_only=True)
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        check_positive(sweeps=self.sweeps)

    def cells(self, game: Any) -> int:
        """How many links a sweep reads, as far as it matters for `sweeps_per_step`."""
        return 0

    def sweeps_per_step(self, game: Any) -> int:
        """The sweeps between two tests."""
        if self.sweeps is not None:
            return self.sweeps
        if backend() == "cpu":
            return 1
        return max(2, min(8, IDLE_CELLS // max(self.cells(game), 1)))

    def sweep(self, game: Any, state: Any) -> Any:
        """One sweep; `stable` says whether it has changed nothing."""
        raise NotImplementedError

    def turn(self, game: Any, state: Any) -> Any:
        """What follows where the state is stable, and the next sweeps begin."""
        raise NotImplementedError

    def due(self, game: Any, state: Any) -> jax.Array:
        """Whether it is time to turn."""
        return state.stable & ~self.done(game, state)

    def sweep_some(self, game: Any, state: Any) -> Any:
        """The sweeps between two tests."""
        for _ in range(self.sweeps_per_step(game)):
            state = self.sweep(game, state)
        return state

    def step(self, game: Any, state: Any) -> Any:
        """Sweeps, and turns where they have come to an end."""
        state = self.sweep_some(game, state)
        turn = functools.partial(self.turn, game)
        return fixpoint.change_if(game, self.due(game, state), turn, state)

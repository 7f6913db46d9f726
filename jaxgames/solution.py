"""What a solve returns: status, statistics, and the base of every solution."""

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from jaxgames.later import has_values, jax

UNDECIDED = -1
"""Winner of a vertex that the solve did not decide."""

NO_EDGE = -1
"""Strategy of a vertex whose owner has no winning move there, or no vertex."""


class Status(enum.IntEnum):
    """Why a solve stopped.

    Under `jax.jit` a solution's status is an int32 scalar with one of these values.

    Examples:
        >>> Status.MAX_STEPS.message
        'The step limit was reached. Raise max_steps, pass state=solution.state to ...
    """

    SOLVED = 0
    MAX_STEPS = 1
    TIMEOUT = 2
    INTERRUPTED = 3
    OVERFLOW = 4
    PRECISION = 5
    INVALID = 6

    @property
    def message(self) -> str:
        """What it means and what to try."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.SOLVED: "Solved: every vertex is decided.",
    Status.MAX_STEPS: (
        "The step limit was reached. Raise max_steps, pass state=solution.state to go "
        "on, or try another solver: some games take exponentially many steps with one "
        "and few with another."
    ),
    Status.TIMEOUT: (
        "The time limit was reached. Pass state=solution.state to go on, or try "
        "another solver."
    ),
    Status.INTERRUPTED: (
        "The solve was interrupted. Pass state=solution.state to go on where it was."
    ),
    Status.OVERFLOW: (
        "The game's numbers do not fit those that the solver counts with. Leave its "
        'options, such as words and scale, unset; or take another solver, "host" where '
        "there is one; or, under jax.jit, weights of 64 bits."
    ),
    Status.PRECISION: (
        "The bounds stopped moving before they were as close as was asked: float64 "
        "cannot tell them apart any further. Ask for a larger epsilon."
    ),
    Status.INVALID: (
        "What was passed is no such problem, or the state is that of another one. "
        "Under tracing nothing can be raised: pass it outside of jit to be told what "
        "is wrong."
    ),
}


class SolveError(RuntimeError):
    """A solve ended without deciding every vertex.

    Attributes:
        solution: what was found until then; its `state` resumes the solve.
        status: why it stopped.

    Args:
        status: why it stopped.
        solution: what was found until then.
        more: what follows the status' message.
        message: what is said instead of it, where it would say too much.
    """

    def __init__(
        self, status: Status, solution: Any, more: str = "", message: str | None = None
    ):
        said = status.message if message is None else message
        super().__init__(f"{status.name}: {said}{more}")
        self.status = status
        self.solution = solution
        self._said = more, message

    def __reduce__(self):
        return type(self), (self.status, self.solution, *self._said)


@jax.tree_util.register_pytree_node_class
class Stats(Mapping[str, Any]):
    """Facts about a solve, by name: a mapping that passes through `jax.jit`.

    Strings (such as the solver's name) are static, all else are array leaves.

    Examples:
        >>> stats = Stats(solver="fpi", rounds=12)
        >>> stats["solver"], stats["rounds"]
        ('fpi', 12)
    """

    def __init__(self, **entries: Any):
        self._entries = entries

    def __getitem__(self, name: str) -> Any:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Stats({', '.join(f'{k}={v!r}' for k, v in self.items())})"

    def tree_flatten(self):
        """Numbers are children, strings are structure."""
        numbers = {k: v for k, v in self.items() if not isinstance(v, str)}
        strings = tuple((k, v) for k, v in self.items() if isinstance(v, str))
        return tuple(numbers.values()), (tuple(numbers), strings)

    @classmethod
    def tree_unflatten(cls, structure, children):
        """The inverse of `tree_flatten`."""
        names, strings = structure
        return cls(**dict(strings), **dict(zip(names, children, strict=True)))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """Base of every slice's solution.

    Attributes:
        status: a [`Status`][jaxgames.Status]; an int32 scalar under `jax.jit`.
        stats: facts about the solve: `solver`, `rounds` and more.
        state: what a later call needs to go on (`solve(..., state=...)`), or None.
    """

    status: Any
    stats: Stats = dataclasses.field(default_factory=Stats, kw_only=True)
    state: Any = dataclasses.field(default=None, kw_only=True)


class Strategies(Solution):
    """What solutions with a strategy share."""

    strategy: Any

    def successor(self, arena: Any) -> Any:
        """The strategy as vertices: int32 `[V]`, -1 where there is no move.

        Raises:
            ValueError: the solution has no strategy.
        """
        if self.strategy is None:
            raise ValueError("solved with strategies=False: there is no strategy")
        return successor_of(arena, self.strategy)


class Winners(Strategies):
    """What solutions share that say which player wins from each vertex."""

    winner: Any

    def __repr__(self) -> str:
        name = type(self).__name__
        if not has_values(self.winner) or self.winner.ndim != 1:
            return f"{name}(winner {getattr(self.winner, 'shape', '?')})"
        won = [int((self.winner == player).sum()) for player in (0, 1, UNDECIDED)]
        more = self._more() if won[0] else ""
        undecided = self.status != Status.SOLVED and won[2]
        left = f", {won[2]} undecided" if undecided else ""
        return f"{name}(player 0 wins {won[0]}{more}, player 1 wins {won[1]}{left})"

    def _more(self) -> str:
        """What else is told of the vertices that player 0 wins."""
        return ""


def successor_of(arena, strategy):
    """Vertices that a strategy (edge indices, NO_EDGE where none) leads to."""
    xp = jax.numpy if isinstance(strategy, jax.Array) else np
    edge = xp.maximum(strategy, 0)
    return xp.where(strategy == NO_EDGE, NO_EDGE, xp.asarray(arena.dst)[edge])

"""Plays of an energy game, simulated on the host."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena
from jaxgames.arguments import as_array, fields, integer
from jaxgames.energy import _bounds
from jaxgames.energy._bounds import check_capacity
from jaxgames.energy._solution import Solution
from jaxgames.limits import Bounds, limited
from jaxgames.solution import NO_EDGE

Opponent = Callable[[int, int, range], int]
"""Chooses among the edges of a vertex, given the vertex and the level there."""

OPPONENTS = ("random", "greedy", "tight")


@dataclasses.dataclass(frozen=True, eq=False)
class Play:
    """A play as far as it was followed.

    Attributes:
        vertex: int32 `[N + 1]`, the vertices in order.
        edge: int32 `[N]`, the edges between them.
        level: int64 `[N + 1]`, the energy at each vertex; negative only at the end.
            Python's integers where one does not fit.
    """

    vertex: np.ndarray
    edge: np.ndarray
    level: np.ndarray

    @property
    def survives(self) -> bool:
        """Whether the level has never fallen below zero."""
        return bool(self.level[-1] >= 0)

    def __repr__(self) -> str:
        end = "" if self.survives else ", where player 0 loses"
        return f"Play({len(self.edge)} steps, lowest level {self.level.min()}{end})"


MOST = (1 << 62) - 1
"""The largest initial level."""


@limited()
def play(
    arena: Arena,
    solution: Solution,
    start: int,
    credit: int,
    steps: int,
    *,
    opponent: str | Opponent = "random",
    seed: int | np.random.Generator = 0,
    capacity: int | None = None,
    **bounds: Unpack[Bounds],
) -> Play:
    """Follows a solution's strategies from a vertex, and watches the energy level.

    A vertex whose owner wins it is left by the strategy's edge; at all others the
    opponent moves. From a vertex that player 0 wins with a credit that is enough, the
    level never falls below zero, whoever the opponent is; from the others it does in
    the end, if player 1 has a strategy. The play stops when that happens.

    Args:
        arena: a concrete game.
        solution: its solution.
        start: the first vertex.
        credit: the initial level, not negative.
        steps: how many edges to follow at most.
        opponent: how those move who have no strategy: `"random"`, each edge alike;
            `"greedy"`, by the edge with the least weight (player 1) or the largest
            (player 0); `"tight"`, by the edge behind which the level exceeds the credit
            least (player 1) or most (player 0); or a function of the vertex, the level
            and the range of its edges, which returns one of these.
        seed: of the random choices, or a `numpy.random.Generator`.
        capacity: what the battery holds: a level above it is cut. None: any level.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is wrong, the solution is not of the arena's shape or
            has no strategies, or a function returns none of the edges.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[1, 0], weight=[0, -3, 3]
        ... )
        >>> solution = energy.solve(arena)
        >>> play(arena, solution, 0, 3, 100)
        Play(100 steps, lowest level 0)
        >>> play(arena, solution, 0, 2, 100, opponent="greedy").level
        array([ 2, -1])
    """
    choose = _opponent(arena, solution, opponent, seed)
    start = integer("start", start, 0, len(arena.owner) - 1)
    level, steps = integer("credit", credit, 0, MOST), integer("steps", steps, 0)
    if capacity is not None:
        capacity = check_capacity(capacity)
        level = min(level, capacity)
    strategy = as_array("solution.strategy", solution.strategy)
    v, vertices, edges, levels = start, [start], [], [level]
    while level >= 0 and len(edges) < steps:
        limits.tick("playing", len(edges), "steps")
        edge, own = int(strategy[v]), _edges(arena, v)
        if edge == NO_EDGE:
            edge = choose(v, level, own)
        elif edge not in own:
            raise ValueError(
                f"solution.strategy[{v}] is {edge}, which is no edge of vertex {v}: "
                f"these are {own.start} to {own.stop - 1}"
            )
        level += int(arena.weight[edge])
        if capacity is not None:
            level = min(level, capacity)
        v = int(arena.dst[edge])
        vertices.append(v)
        edges.append(edge)
        levels.append(level)
    return Play(
        np.array(vertices, np.int32),
        np.array(edges, np.int32),
        np.array(levels, np.int64 if max(levels) < 1 << 63 else object),
    )


def _edges(arena: Arena, vertex: int) -> range:
    return range(int(arena.row_ptr[vertex]), int(arena.row_ptr[vertex + 1]))


def _opponent(arena: Arena, solution: Solution, opponent, seed) -> Opponent:
    """The function that chooses edges, and checks of what it needs."""
    _bounds.check(arena)
    names = "credit", "strategy"
    arrays = fields("solution", solution, *names)
    for name, array in zip(names, arrays, strict=True):
        if array is None:
            raise ValueError(f"solved without strategies: solution.{name} is None")
        if np.shape(array) != np.shape(arena.owner) or np.ndim(array) != 1:
            raise ValueError(
                f"solution.{name} must have the shape of one game's vertices, "
                f"{np.shape(arena.owner)}, got {np.shape(array)}"
            )
    if callable(opponent):
        function: Callable[[int, int, range], Any] = opponent

        def checked(vertex: int, level: int, edges: range) -> int:
            edge = function(vertex, level, edges)
            if edge not in edges:
                raise ValueError(
                    f"the opponent must choose one of the edges {edges.start} to "
                    f"{edges.stop - 1} of vertex {vertex}, got {edge!r}"
                )
            return int(edge)

        return checked
    if opponent not in OPPONENTS:
        raise ValueError(
            f"opponent must be one of {OPPONENTS} or a function, got {opponent!r}"
        )
    rng, credit = np.random.default_rng(seed), np.asarray(solution.credit)

    def spare(edge: int) -> int | float:
        """How much more than the next vertex needs there is after an edge."""
        needed = int(credit[arena.dst[edge]])
        return int(arena.weight[edge]) - needed if needed >= 0 else -math.inf

    def choose(vertex: int, level: int, edges: range) -> int:
        if opponent == "random":
            return int(rng.choice(edges))
        value = spare if opponent == "tight" else lambda e: int(arena.weight[e])
        return (min if arena.owner[vertex] else max)(edges, key=value)

    return choose

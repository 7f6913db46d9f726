"""Games that are checked together, and the answers that others are held against."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from jaxgames import generate
from jaxgames.arena import Arena
from jaxgames.kept import keeps
from jaxgames.parity import Solution, reference
from jaxgames.parity._edges import split
from jaxgames.solution import NO_EDGE
from jaxgames.testing._conformance import Pair
from jaxgames.value import Value


@dataclasses.dataclass(frozen=True, eq=False)
class Batch(Value):
    """Some games, all with the same kind of priorities, none padded."""

    arenas: Sequence[Arena]

    @keeps
    def joined(self) -> Arena:
        """One game of which these are parts that no edge connects."""
        if len(self.arenas) == 1:
            return self.arenas[0]

        def labels(name: str) -> np.ndarray | None:
            parts = [getattr(arena, name) for arena in self.arenas]
            return None if parts[0] is None else np.concatenate(parts)

        shifted = list(zip(self.arenas, self._first[:, 0], strict=False))
        return Arena.from_edges(
            np.concatenate([arena.src + first for arena, first in shifted]),
            np.concatenate([arena.dst + first for arena, first in shifted]),
            owner=labels("owner"),
            priority=labels("priority"),
            edge_priority=labels("edge_priority"),
        )

    @keeps
    def _first(self) -> np.ndarray:
        """Where the vertices and edges of each game start, and where all end."""
        shapes = np.array([arena.shape for arena in self.arenas])
        return np.concatenate([np.zeros((1, 2), int), np.cumsum(shapes, axis=0)])

    @keeps
    def expected(self) -> list[Pair]:
        """Winners and strategies by Zielonka's sequential algorithm."""
        return self.split(on_vertices(reference.solve)(self.joined))

    def split(self, answer: Pair) -> list[Pair]:
        """Winners and strategy of the joined game as those of its parts."""
        winner, strategy = answer
        parts = []
        for (v, e), (w, _) in zip(self._first, self._first[1:], strict=False):
            move = strategy[v:w]
            parts.append((winner[v:w], np.where(move == NO_EDGE, move, move - e)))
        return parts

    def join(self, answers: Iterable[Pair]) -> Pair:
        """Winners and strategies of the games as those of the joined one."""
        winners, moves = zip(*answers, strict=True)
        shifted = [
            np.where(move == NO_EDGE, move, move + e)
            for move, (_, e) in zip(moves, self._first, strict=False)
        ]
        return np.concatenate(winners), np.concatenate(shifted)

    def parts(self, size: int) -> Iterator["Batch"]:
        """Smaller batches of so many games."""
        for start in range(0, len(self.arenas), size):
            yield Batch(self.arenas[start : start + size])


def on_vertices(solve: Callable[[Arena], Solution]) -> Callable[[Arena], Pair]:
    """A solver of games with vertex priorities as one of all games."""

    def solve_split(arena: Arena) -> Pair:
        solution, size = solve(split(arena)), arena.shape[0]
        return solution.winner[:size], solution.strategy[:size]

    return solve_split


WORST_CASES: Sequence[Callable[[int], Arena]] = (
    generate.counter_core,
    generate.counter_dp,
    generate.counter_m,
    generate.counter_ortl,
    generate.counter_qpt,
    generate.counter_rob,
    generate.counter_rr,
    generate.counter_symsi,
    generate.dull,
    generate.friedmann,
    generate.fearnley,
    functools.partial(generate.fearnley, gadgets=False),
    functools.partial(generate.jurdzinski, 1),
    generate.recursive_ladder,
    generate.two_counters,
    generate.two_counters_plus,
)
"""Families on which some solver takes exponential time."""


def near_worst_case(rng: np.random.Generator, size: int) -> Arena:
    """A game of one of the families, with a few labels and edges by lot."""
    games: list[Arena] = []
    while not games:
        games = up_to(size, WORST_CASES[int(rng.integers(len(WORST_CASES)))])
    arena = games[int(rng.integers(len(games)))]
    share = rng.choice([0, 0.05, 0.3])
    vertices = arena.shape[0]
    top = int(arena.priority.max()) + 1

    def some(x: np.ndarray, low: int, high: int) -> np.ndarray:
        return np.where(rng.random(len(x)) < share, rng.integers(low, high, len(x)), x)

    return Arena.from_edges(
        arena.src,
        some(arena.dst, 0, vertices),
        owner=some(arena.owner, 0, 2),
        priority=some(arena.priority, 0, top + 1),
    )


@functools.cache
def up_to(size: int, family: Callable[[int], Arena]) -> list[Arena]:
    """Members of a family up to a size."""
    found: list[Arena] = []
    for n in range(1, size):
        try:
            arena = family(n)
        except ValueError:  # it has no member that is so small
            continue
        if arena.shape[0] > size:
            break
        found.append(arena)
    return found

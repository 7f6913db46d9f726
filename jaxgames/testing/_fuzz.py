"""Differential fuzzing: all solvers on many small games, against the reference."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from jaxgames.arena import Arena
from jaxgames.testing._arenas import SHAPES, odd_arena
from jaxgames.testing._batch import Batch
from jaxgames.testing._checks import Check
from jaxgames.testing._shrink import shrink


@dataclasses.dataclass(frozen=True)
class Failure:
    """A game on which something goes wrong.

    Attributes:
        check: name of what goes wrong.
        index: number of the game.
        arena: the game, made as small as it will go.
        complaint: what is wrong on it.
    """

    check: str
    index: int
    arena: Arena
    complaint: str


@dataclasses.dataclass(frozen=True)
class Summary:
    """What fuzzing did.

    Attributes:
        games: how many games were checked.
        seconds: how long it took, compilation included.
        seconds_of: the same for each check.
        failure: the first game that went wrong, or None.
        interrupted: whether somebody pressed Ctrl-C.
    """

    games: int
    seconds: float
    seconds_of: dict[str, float]
    failure: Failure | None = None
    interrupted: bool = False


def game(seed: int, index: int, max_vertices: int, edge_priorities: bool) -> Arena:
    """The game of that number: each can be made without those before it."""
    return odd_arena(
        SHAPES[index % len(SHAPES)],
        np.random.default_rng([seed, index]),
        max_vertices,
        edge_priorities=edge_priorities,
    )


def fuzz(
    checks: Iterable[Check],
    *,
    games: int = 100_000,
    seed: int = 0,
    start: int = 0,
    max_vertices: int = 12,
    edge_priorities: bool = False,
    batch: int = 256,
    time_limit: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Summary:
    """Runs checks on random games until one complains.

    The game that is complained of is made smaller as long as the same check complains.

    Args:
        checks: what to check; see `all_checks`.
        games: how many games.
        seed: of the games; the same seed gives the same games.
        start: number of the first game.
        max_vertices: vertices of a game at most, at least 4.
        edge_priorities: whether priorities are on edges.
        batch: games between two reports, and in one call of a device solver.
        time_limit: seconds after which no batch is begun.
        progress: called with the games checked and the seconds taken so far.

    Returns:
        A [`Summary`][jaxgames.testing.Summary].

    Examples:
        >>> from jaxgames.testing import all_checks, fuzz
        >>> checks = all_checks(max_vertices=6, batch=10)
        >>> fuzz([checks["reference.spm.queue"]], games=20, batch=10).failure
    """
    checks = list(checks)
    seconds_of = dict.fromkeys((check.name for check in checks), 0.0)
    began, done, failure, interrupted = time.perf_counter(), 0, None, False

    try:
        while done < games and failure is None:
            if time_limit is not None and time.perf_counter() - began >= time_limit:
                break
            numbers = range(start + done, start + min(done + batch, games))
            cases = Batch(
                [game(seed, n, max_vertices, edge_priorities) for n in numbers]
            )
            for check in checks:
                check_began = time.perf_counter()
                complaints = check.complaints(cases)
                seconds_of[check.name] += time.perf_counter() - check_began
                if any(complaints):
                    failure = _failure(check, cases, complaints, numbers, batch)
                    break
            else:
                done += len(numbers)
            if progress is not None:
                progress(done, time.perf_counter() - began)
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.perf_counter() - began
    return Summary(done, seconds, seconds_of, failure, interrupted)


def _failure(check, cases: Batch, complaints, numbers: range, batch: int) -> Failure:
    """The first game that is complained of, made smaller."""

    def fails(arenas: Sequence[Arena]) -> list[bool]:
        found: list[bool] = []
        for part in Batch(arenas).parts(batch):
            found += [said is not None for said in check.complaints(part)]
            if any(found):
                break
        return found

    first = next(i for i, said in enumerate(complaints) if said is not None)
    arena, said = cases.arenas[first], complaints[first]
    if fails([arena])[0]:
        arena = shrink(arena, fails)
        said = check.complaints(Batch([arena]))[0]
    return Failure(check.name, numbers[first], arena, said)


def snippet(arena: Arena) -> str:
    """Python that makes the arena.

    Examples:
        >>> print(snippet(Arena.from_edges([0], [0], owner=[1], priority=[2])))
        Arena.from_edges([0], [0], owner=[1], priority=[2])
    """
    label = "priority" if arena.edge_priority is None else "edge_priority"
    src, dst, owner, priority = (
        np.asarray(x).astype(int).tolist()
        for x in (arena.src, arena.dst, arena.owner, getattr(arena, label))
    )
    return f"Arena.from_edges({src}, {dst}, owner={owner}, {label}={priority})"

"""What checks of games on arenas share: one padded size, and what answers look like."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxgames.arena import Arena, bucket
from jaxgames.solution import NO_EDGE, Status
from jaxgames.testing._arenas import SHAPES, odd_arena
from jaxgames.testing._labelled import Labelled, of_arena
from jaxgames.testing._subject import Cases, Check, Complaint, apart

USUAL = 12
"""Vertices of a game at most, unless larger ones are asked for."""

WEIGHTS = ((-3, 3), (-50, 50), (-1, 1), (0, 2), (-2, 0), (-9, 6))
"""Ranges of weights that small games have in turn."""


def arenas(cases: Sequence[Labelled]) -> list[Arena]:
    """The games that several checks share: see `Cases.once`."""
    return [case.arena for case in cases]


def weighted(rng: np.random.Generator, index: int, size: int) -> Labelled:
    """A small game of odd shape with weights, and without priorities."""
    arena = odd_arena(SHAPES[index % len(SHAPES)], rng, size)
    low, high = WEIGHTS[int(rng.integers(len(WEIGHTS)))]
    weight = rng.integers(low, high + 1, arena.shape[1])
    return of_arena(
        Arena.from_edges(arena.src, arena.dst, owner=arena.owner, weight=weight)
    )


def shape_of(arenas: Sequence[Arena], usual: int = USUAL) -> tuple[int, int]:
    """One padded size, the same for most batches, so that little is compiled."""
    most = max([usual, *(arena.shape[0] for arena in arenas)])
    vertices = bucket(most + 1)
    # The most edges that `odd_arena` makes, and one for each vertex of the padding.
    return vertices, bucket(12 * most + vertices)


def padded(arenas: Sequence[Arena], usual: int = USUAL) -> list[Arena]:
    """The games in one padded size."""
    size = shape_of(arenas, usual)
    return [arena.pad(*size) for arena in arenas]


def stacked(arenas: Sequence[Arena], count: int, usual: int = USUAL) -> Arena:
    """The games in one padded size as a stack; the last one fills it up."""
    games = padded(arenas, usual)
    games += games[-1:] * (count - len(games))
    return jax.tree.map(lambda *xs: np.stack(xs), *games)


def rows(values: Sequence[np.ndarray], size: int, count: int, fill: int) -> np.ndarray:
    """Answers by vertex as a stack of so many rows; the last one fills it up."""
    each = [np.pad(x, (0, size - len(x)), constant_values=fill) for x in values]
    return np.stack(each + each[-1:] * (count - len(each)))


def has_form(arena: Arena, winner: np.ndarray, strategy: np.ndarray) -> bool:
    """Whether there is an edge of each vertex that its owner wins, and no other."""
    own = winner == arena.owner
    low, high = arena.row_ptr[:-1], arena.row_ptr[1:]
    edges = (low <= strategy) & (strategy < high)
    return bool(np.where(own, edges, strategy == NO_EDGE).all())


def any_edges(arena: Arena, rng: np.random.Generator) -> np.ndarray:
    """An edge of each vertex by lot."""
    return rng.integers(arena.row_ptr[:-1], arena.row_ptr[1:])


def compared(
    find: Callable[[list], Sequence],
    wrong: Callable[[Any, Any, Any], Complaint],
    expected: Callable[[Cases], list],
    games: Callable[[Cases], list] = arenas,
) -> Check:
    """A check of answers to games: each is an answer, and not wrong.

    What is expected, and the games that cases are, is made once.
    """

    def check(cases: Cases) -> list[Complaint]:
        given = cases.once(games)
        return [
            unsolved(answer) or wrong(game, answer, right)
            for game, answer, right in zip(
                given, find(given), cases.once(expected), strict=True
            )
        ]

    return apart(check)


def one_by_one(
    slice_: Any,
    of: Callable[[Callable[[list], Sequence]], Check],
    *,
    one_shape: bool = False,
) -> Callable[[str], Check]:
    """What makes a check of a solver of a slice, on one game after the other.

    Games may have one shape, for solvers that are compiled for each.
    """

    def of_place(solver: str) -> Check:
        shaped = padded if one_shape and solver not in ("host", "auto") else list
        return of(lambda games: [slice_.solve(game, solver) for game in shaped(games)])

    return of_place


def unsolved(answer: Any) -> Complaint:
    """Says how a solve ended that did not solve."""
    status = Status(int(answer.status))
    return None if status == Status.SOLVED else f"status {status.name}"


def rejected(verdict: Any, by: str = "verification") -> Complaint:
    """Says why a right answer is not accepted."""
    return None if verdict else f"{by} rejects the answer: {verdict}"


def differs(name: str, answer: Any, expected: Any) -> Complaint:
    """Where an array of answers is not what it must be."""
    answer, expected = np.asarray(answer), np.asarray(expected)
    if answer.shape != expected.shape:
        return f"{name} of shape {answer.shape}, not {expected.shape}"
    wrong = np.flatnonzero(answer.reshape(-1) != expected.reshape(-1))
    if not len(wrong):
        return None
    v = wrong[0]
    return (
        f"{name} {answer.reshape(-1)[v]} at {v}, where it must be "
        f"{expected.reshape(-1)[v]}"
    )


def judged(truth: bool, said: dict[str, bool], claim: str) -> Complaint:
    """What is wrong where forms of verification do not say what is true."""
    for form, verdict in said.items():
        if bool(verdict) != truth:
            return (
                f"{claim} is {'right' if truth else 'wrong'}, but verification by "
                f"{form} {'accepts' if verdict else 'rejects'} it"
            )
    return None

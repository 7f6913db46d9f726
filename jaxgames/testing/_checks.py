"""What fuzzing checks on each game: solvers, reductions, forms of verification."""

import contextlib
import dataclasses
import functools
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, get_args

import jax
import numpy as np

from jaxgames import parity
from jaxgames.arena import Arena, bucket
from jaxgames.parity import Reason, Solution, preprocess, reference
from jaxgames.parity._edges import split
from jaxgames.parity._verify import Method
from jaxgames.solution import NO_EDGE, Status
from jaxgames.solver import Solver
from jaxgames.testing._batch import Batch, on_vertices
from jaxgames.testing._conformance import Pair

Complaint = str | None
"""What is wrong with a game, or None."""

GROUP = 16
"""Games that are given to a reduction as one: it is called often enough as it is."""


class Check(NamedTuple):
    """A thing that can go wrong, by name; `complaints` has an entry for each game."""

    name: str
    complaints: Callable[[Batch], list[Complaint]]


# ---- answers -------------------------------------------------------------------


def answers(name: str, solve: Callable[[Arena], Pair], group: int = 1) -> Check:
    """Winners and strategies of a solver; an exception is a complaint.

    Args:
        name: of the check.
        solve: solves one game.
        group: how many games are given to it as one. A group that goes wrong is taken
            apart.
    """

    def attempt(batch: Batch) -> list[Pair] | str:
        try:
            return batch.split(solve(batch.joined))
        except Exception as error:  # whatever it is, the game that raises it is wanted
            return f"{type(error).__name__}: {error}"

    def complaints(batch: Batch) -> list[Complaint]:
        found: list[Pair] = []
        for part in batch.parts(group):
            said = attempt(part)
            if isinstance(said, str):
                return _apart(complaints, batch, said)
            found += said
        return wrong(batch, found)

    return Check(name, complaints)


def _apart(complaints, batch: Batch, said: str) -> list[Complaint]:
    """Complaints of each game alone; if there are none, the first is blamed for all."""
    if len(batch.arenas) == 1:
        return [said]
    found = [complaints(part)[0] for part in batch.parts(1)]
    if not any(found):
        found[0] = f"only with other games beside it: {said}"
    return found


def wrong(batch: Batch, answers: Sequence[Pair]) -> list[Complaint]:
    """What is wrong with winners and strategies, game by game."""
    said = [
        _wrong_winner(expected, answer)
        for expected, answer in zip(batch.expected, answers, strict=True)
    ]
    if any(said):
        return said
    winner, strategy = batch.join(answers)
    verdict = parity.verify(batch.joined, _claim((winner, strategy)), "components")
    if verdict:
        return said

    def alone(part: Batch) -> list[Complaint]:
        answer = answers[batch.arenas.index(part.arenas[0])]
        verdict = parity.verify(part.joined, _claim(answer), "components")
        return [None if verdict else str(verdict)]

    return _apart(alone, batch, str(verdict))


def _wrong_winner(expected: Pair, answer: Pair) -> Complaint:
    for x, y in zip(answer, expected, strict=True):
        if np.shape(x) != np.shape(y):
            return f"an answer of shape {np.shape(x)}, not {np.shape(y)}"
    differs = np.flatnonzero(np.asarray(answer[0]) != expected[0])
    if not len(differs):
        return None
    v = differs[0]
    return (
        f"winner {answer[0][v]} at vertex {v}, where Zielonka's algorithm says "
        f"{expected[0][v]}"
    )


def _claim(answer: Pair, measures=None) -> Solution:
    return Solution(
        Status.SOLVED, winner=answer[0], strategy=answer[1], measures=measures
    )


def of_spm(lifting: reference.Lifting, single: bool) -> Check:
    """The reference's progress measures; games apart, since their bounds add up."""
    solve = functools.partial(
        reference.solve, algorithm="spm", lifting=lifting, single_occurrence=single
    )
    name = f"reference.spm.{lifting}" + (".single" if single else "")
    return answers(name, on_vertices(solve))


def of_reduction(name: str, reduce: Callable[[Arena], preprocess.Reduced]) -> Check:
    """A reduction: what is left is solved by the reference, and taken back."""

    def solve(arena: Arena) -> Pair:
        size = arena.shape[0]
        try:
            reduced = reduce(arena)
        except ValueError:
            if arena.edge_priority is None:
                raise
            reduced = reduce(split(arena))  # it reads vertex priorities only
        reduced.arena.validate()
        answer = on_vertices(reference.solve)(reduced.arena)
        winner, strategy = reduced.undo(*answer)
        return winner[:size], strategy[:size]

    return answers(name, solve, GROUP)


def several_reductions(arena: Arena) -> preprocess.Reduced:
    """Three reductions, one after the other; which ones is decided by the game."""
    names = list(preprocess.REDUCTIONS)
    reduced = preprocess.identity(arena)
    for index in _rng(arena).integers(len(names), size=3):
        # One that reads vertex priorities only may follow one that leaves others.
        with contextlib.suppress(ValueError):
            reduced = reduced.then(preprocess.REDUCTIONS[names[index]])
    return reduced


def of_front_door(solver: str, group: int) -> Check:
    """`parity.solve` on concrete games."""

    def solve(arena: Arena) -> Pair:
        solution = parity.solve(arena, solver)
        return np.asarray(solution.winner), np.asarray(solution.strategy)

    return answers(solver, solve, group)


# ---- on the device, in batches ---------------------------------------------------


@functools.partial(jax.jit, static_argnums=2)
def _reasons(arenas: Arena, solutions: Solution, method: Method):
    """What a form of verification finds in each game of a batch."""

    def reason(arena, solution):
        return parity.verify(arena, solution, method).reason

    return jax.vmap(reason)(arenas, solutions)


def of_solver(solver: Solver, max_vertices: int, batch: int) -> Check:
    """A device solver under `jit` and `vmap`, with verification on the device."""

    @jax.jit
    @jax.vmap
    def run(arena: Arena) -> Solution:
        solution = parity.solve(arena, solver)
        return dataclasses.replace(solution, state=None)

    def complaints(games: Batch) -> list[Complaint]:
        arenas = _stack(games, max_vertices, batch)
        solutions = run(arenas)
        methods: list[Method] = ["trimming"]
        if solutions.measures is not None:
            methods.append("measures")
        found = {
            form: np.asarray(_reasons(arenas, solutions, form)) for form in methods
        }
        winner, strategy, status = jax.device_get(
            (solutions.winner, solutions.strategy, solutions.status)
        )
        sizes = [arena.shape[0] for arena in games.arenas]
        said = wrong(
            games, [(winner[i, :n], strategy[i, :n]) for i, n in enumerate(sizes)]
        )
        for index in range(len(sizes)):
            if status[index] != Status.SOLVED:
                said[index] = f"status {Status(int(status[index])).name}"
            for form, reasons in found.items():
                if said[index] is None and reasons[index] != Reason.OK:
                    message = Reason(int(reasons[index])).message
                    said[index] = f"{form} rejects the answer: {message}"
        return said

    return Check(solver.name, complaints)


def of_trimming(max_vertices: int, batch: int) -> Check:
    """Verification by trimming against that by components, on spoilt answers."""

    def complaints(games: Batch) -> list[Complaint]:
        claims = [
            _spoil(arena, answer)
            for arena, answer in zip(games.arenas, games.expected, strict=True)
        ]
        arenas = _stack(games, max_vertices, batch)
        size = arenas.owner.shape[1]
        rows = list(range(len(claims))) + [-1] * (batch - len(claims))
        winner, strategy = (
            np.stack([_fill(claims[row][part], size, fill) for row in rows])
            for part, fill in ((0, 0), (1, NO_EDGE))
        )
        solutions = Solution(
            np.full(batch, Status.SOLVED), winner=winner, strategy=strategy
        )
        reasons = np.asarray(_reasons(arenas, solutions, "trimming"))
        return [
            _differs(arena, claim, Reason(int(reason)))
            for arena, claim, reason in zip(games.arenas, claims, reasons, strict=False)
        ]

    return Check("verify", complaints)


def _differs(arena: Arena, claim: Pair, reason: Reason) -> Complaint:
    verdict = parity.verify(arena, _claim(claim), "components")
    if verdict.reason == reason:
        return None
    winner, strategy = (x.tolist() for x in claim)
    return (
        f"of winners {winner} and strategy {strategy} trimming says {reason.name}, "
        f"components say {verdict}"
    )


def _stack(games: Batch, max_vertices: int, batch: int) -> Arena:
    """The games in one padded size; the last one fills up the batch."""
    vertices = bucket(max_vertices + 1)
    # The most edges that `odd_arena` makes, and one for each vertex of the padding.
    edges = bucket(12 * max_vertices + vertices)
    arenas = [arena.pad(vertices, edges) for arena in games.arenas]
    arenas += arenas[-1:] * (batch - len(arenas))
    return jax.tree.map(lambda *xs: np.stack(xs), *arenas)


def _fill(x: np.ndarray, size: int, fill: int) -> np.ndarray:
    return np.pad(x, (0, size - len(x)), constant_values=fill)


def _rng(arena: Arena) -> np.random.Generator:
    """Randomness that is the same for the same game."""
    return np.random.default_rng(
        zlib.crc32(arena.dst.tobytes() + arena.owner.tobytes())
    )


def _spoil(arena: Arena, answer: Pair) -> Pair:
    """The answer with other moves, and often winners; the same for the same game."""
    winner, strategy = (x.copy() for x in answer)
    rng = _rng(arena)
    flipped = rng.random(len(winner)) < rng.choice([0, 0, 0.1, 0.5, 1])
    winner[flipped] ^= 1
    moved = rng.random(len(winner)) < rng.choice([0.1, 0.5, 1])
    edge = rng.integers(arena.row_ptr[:-1], arena.row_ptr[1:])
    strategy = np.where(moved | flipped, edge, strategy)
    strategy = np.where(winner == arena.owner, strategy, NO_EDGE).astype(np.int32)
    return winner, strategy


# ---- all of them ------------------------------------------------------------------


def all_checks(max_vertices: int = 12, batch: int = 256) -> dict[str, Check]:
    """Every check that there is, by name.

    Args:
        max_vertices: vertices of a game at most.
        batch: games in one call of a device solver.
    """
    checks = [answers("reference.zielonka", on_vertices(reference.solve), GROUP)]
    for lifting in get_args(reference.Lifting):
        checks += [of_spm(lifting, single) for single in (True, False)]
    for name, reduce in preprocess.REDUCTIONS.items():
        checks.append(of_reduction(f"preprocess.{name}", reduce))
    checks.append(of_reduction("preprocess.several", several_reductions))
    for name in parity.SOLVERS:
        checks.append(of_solver(parity.SOLVERS[name](), max_vertices, batch))
    checks.append(of_trimming(max_vertices, batch))
    checks += [of_front_door("host", 1), of_front_door("auto", GROUP)]
    return {check.name: check for check in checks}

"""Parity games: solvers, reductions, forms of verification."""

import contextlib
import dataclasses
import functools
import zlib
from collections.abc import Callable, Sequence
from typing import get_args
from unittest import mock

import jax
import numpy as np

from jaxgames import parity, solve_many
from jaxgames.arena import Arena
from jaxgames.parity import Reason, Solution, host, preprocess, reference
from jaxgames.parity._edges import split
from jaxgames.parity._verify import Method
from jaxgames.parity.host import _legs
from jaxgames.solution import NO_EDGE, Status
from jaxgames.solver import Solver
from jaxgames.testing._arenas import SHAPES, odd_arena
from jaxgames.testing._conformance import Pair
from jaxgames.testing._games import has_form, padded, stacked
from jaxgames.testing._labelled import Labelled, of_arena, smaller, snippet
from jaxgames.testing._parity_games import Batch, near_worst_case, on_vertices
from jaxgames.testing._subject import Cases, Check, Complaint, Subject

GROUP = 16
"""Games that are given to a reduction as one: it is called often enough as it is."""

WORST_EVERY = 14
"""One game of so many is one of the worst cases of the literature, or nearly."""

BATCH, SIZE = 32, 12
"""Games that are checked together, and vertices of one at most."""

SIZE_WITH_EDGES = 6
"""Vertices at most where priorities are on edges, of which there are up to twelve times
as many: progress measures count up to a product over the edges of each priority."""

Complaints = Callable[[Batch], list[Complaint]]
"""What is wrong with each game of a batch."""


# ---- answers -------------------------------------------------------------------


def answers(solve: Callable[[Arena], Pair], group: int = 1) -> Complaints:
    """Winners and strategies of a solver; an exception is a complaint.

    So many games are given to it as one; a group that goes wrong is taken apart.
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

    return complaints


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


def _claim(answer: Pair) -> Solution:
    return Solution(Status.SOLVED, winner=answer[0], strategy=answer[1])


def of_spm(lifting: reference.Lifting, single: bool) -> Complaints:
    """The reference's progress measures; games apart, since their bounds add up."""
    solve = functools.partial(
        reference.solve, algorithm="spm", lifting=lifting, single_occurrence=single
    )
    return answers(on_vertices(solve))


def of_textbook(algorithm: reference.Algorithm) -> Complaints:
    """An algorithm that is written with sets; games apart, since it is slow."""
    return answers(on_vertices(functools.partial(reference.solve, algorithm=algorithm)))


def of_engines(*legs: str) -> Complaints:
    """Some engines of the host, in turns that are as short as can be."""

    def solve(arena: Arena) -> Solution:
        found = host.run(host.prepare(arena), legs)
        return Solution(Status.SOLVED, winner=found.winner, strategy=found.strategy)

    def soon(games: Batch) -> list[Complaint]:
        with mock.patch.multiple(_legs, WORK_OF_FEW=1, LATER_WORK=1, LEAST_ROWS=1):
            return complaints(games)

    complaints = answers(on_vertices(solve), GROUP)
    return soon


def of_attempt() -> Complaints:
    """What the host wins in a few regions, and its engines then."""

    def solve(arena: Arena) -> Solution:
        won = host.attempt(host.rows(arena))
        found = host.run(host.prepare(arena), won=won)
        return Solution(Status.SOLVED, winner=found.winner, strategy=found.strategy)

    def soon(games: Batch) -> list[Complaint]:
        with mock.patch.object(host, "QUICK_WORK", 1):
            return complaints(games)

    complaints = answers(on_vertices(solve), GROUP)
    return soon


def of_reduction(reduce: Callable[[Arena], preprocess.Reduced]) -> Complaints:
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

    return answers(solve, GROUP)


def several_reductions(arena: Arena) -> preprocess.Reduced:
    """Three reductions, one after the other; which ones is decided by the game."""
    names = list(preprocess.REDUCTIONS)
    reduced = preprocess.identity(arena)
    for index in _rng(arena).integers(len(names), size=3):
        # One that reads vertex priorities only may follow one that leaves others.
        with contextlib.suppress(ValueError):
            reduced = reduced.then(preprocess.REDUCTIONS[names[index]])
    return reduced


def of_front_door(solver: str, group: int) -> Complaints:
    """`parity.solve` on concrete games."""

    def solve(arena: Arena) -> Pair:
        solution = parity.solve(arena, solver)
        return np.asarray(solution.winner), np.asarray(solution.strategy)

    return answers(solve, group)


# ---- on the device, in batches ---------------------------------------------------


@functools.partial(jax.jit, static_argnums=2)
def _reasons(arenas: Arena, solutions: Solution, method: Method):
    """What a form of verification finds in each game of a batch."""

    def reason(arena, solution):
        return parity.verify(arena, solution, method).reason

    return jax.vmap(reason)(arenas, solutions)


def of_solver(solver: Solver) -> Complaints:
    """A device solver under `jit` and `vmap`, with verification on the device."""

    @jax.jit
    @jax.vmap
    def run(arena: Arena) -> Solution:
        solution = parity.solve(arena, solver)
        return dataclasses.replace(solution, state=None)

    def complaints(games: Batch) -> list[Complaint]:
        arenas = _stack(games)
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

    return complaints


def of_spoilt(games: Batch) -> list[Complaint]:
    """Every form of verification on spoilt answers, against what is true of them."""
    claims = [
        _spoil(arena, answer)
        for arena, answer in zip(games.arenas, games.expected, strict=True)
    ]
    arenas = _stack(games)
    size = arenas.owner.shape[1]
    rows = list(range(len(claims))) + [-1] * (BATCH - len(claims))
    winner, strategy = (
        np.stack([_fill(claims[row][part], size, fill) for row in rows])
        for part, fill in ((0, 0), (1, NO_EDGE))
    )
    solutions = Solution(
        np.full(BATCH, Status.SOLVED), winner=winner, strategy=strategy
    )
    reasons = np.asarray(_reasons(arenas, solutions, "trimming"))
    return [
        _misjudged(*each)
        for each in zip(
            games.arenas, claims, games.expected, reasons.tolist(), strict=False
        )
    ]


def _misjudged(arena: Arena, claim: Pair, expected: Pair, reason: int) -> Complaint:
    said = {
        "trimming": Reason(reason) == Reason.OK,
        "components": bool(parity.verify(arena, _claim(claim), "components")),
        "the reference": bool(reference.verify(arena, _claim(claim))),
    }
    truth = is_right(arena, claim, expected)
    for form, verdict in said.items():
        if verdict != truth:
            winner, strategy = (x.tolist() for x in claim)
            return (
                f"winners {winner} with strategy {strategy} are "
                f"{'right' if truth else 'wrong'}, but {form} "
                f"{'accepts' if verdict else 'rejects'} them"
            )
    return None


def is_right(arena: Arena, claim: Pair, expected: Pair) -> bool:
    """Whether winners are right, and win where players do what a strategy says."""
    (winner, strategy), wins = claim, expected[0]
    if (winner != wins).any() or not has_form(arena, winner, strategy):
        return False
    game = of_arena(arena)
    for player in (0, 1):
        fixed = game.fixed(strategy, player).arena
        found = on_vertices(reference.solve)(fixed)[0]
        if (found[wins == player] != player).any():
            return False
    return True


def _stack(games: Batch) -> Arena:
    return stacked(games.arenas, BATCH, _usual(games))


def _usual(games: Batch) -> int:
    """Vertices of one of these games at most, unless larger ones are asked for."""
    on_edges = games.arenas[0].edge_priority is not None
    return SIZE_WITH_EDGES if on_edges else SIZE


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


# ---- in batches, by rounds -------------------------------------------------------


def of_many(games: Batch) -> list[Complaint]:
    """`solve_many`, of games of all sizes; bit by bit what the solver says alone."""
    arenas = padded(games.arenas, _usual(games))
    found = solve_many(parity, arenas, parity.PROBLEM.auto(None))
    sizes = [arena.shape[0] for arena in games.arenas]
    return wrong(
        games,
        [
            (np.asarray(x.winner)[:n], np.asarray(x.strategy)[:n])
            for x, n in zip(found, sizes, strict=True)
        ],
    )


# ---- all of them ------------------------------------------------------------------


def _batch(cases: Cases) -> Batch:
    return Batch([case.arena for case in cases])


def of_cases(complaints: Complaints) -> Check:
    """A check of cases from one of a batch of games."""
    return lambda cases: complaints(cases.once(_batch))


def complaints_of_all() -> dict[str, Complaints]:
    """Every check of parity games that there is, by name."""
    checks = {"reference.zielonka": answers(on_vertices(reference.solve), GROUP)}
    for lifting in get_args(reference.Lifting):
        for single in (True, False):
            name = f"reference.spm.{lifting}" + (".single" if single else "")
            checks[name] = of_spm(lifting, single)
    for algorithm in ("promotion", "tangles", "succinct"):
        checks[f"reference.{algorithm}"] = of_textbook(algorithm)
    for name, reduce in preprocess.REDUCTIONS.items():
        checks[f"preprocess.{name}"] = of_reduction(reduce)
    checks["preprocess.several"] = of_reduction(several_reductions)
    for name in parity.SOLVERS:
        checks[name] = of_solver(parity.SOLVERS[name]())
    checks["many"] = of_many
    checks["verify"] = of_spoilt
    checks["host"], checks["auto"] = of_front_door("host", 1), of_front_door("auto", 16)
    checks["host.tangles"] = of_front_door("host-tangles", 1)
    checks["host.afresh"] = of_engines("afresh")
    checks["host.zielonka"] = of_engines("zielonka")
    checks["host.justified"] = of_engines("justified")
    checks["host.mixed"] = of_engines("mixed")
    checks["host.in_turn"] = of_engines(*host.LEGS)
    checks["host.attempt"] = of_attempt()
    return checks


def _draw(rng: np.random.Generator, index: int, size: int, on_edges: bool) -> Labelled:
    if not on_edges and index % WORST_EVERY == WORST_EVERY - 1:
        return of_arena(near_worst_case(rng, size))
    shape = SHAPES[index % len(SHAPES)]
    return of_arena(odd_arena(shape, rng, size, edge_priorities=on_edges))


def subject(*, on_edges: bool = False) -> Subject:
    """Parity games, with priorities on vertices or edges."""
    return Subject(
        name="parity-edges" if on_edges else "parity",
        draw=functools.partial(_draw, on_edges=on_edges),
        checks={name: of_cases(x) for name, x in complaints_of_all().items()},
        smaller=smaller,
        show=lambda case: (
            f"arena = Arena.from_edges({snippet(case)})\nparity.solve(arena)"
        ),
        size=SIZE_WITH_EDGES if on_edges else SIZE,
        batch=BATCH,
    )

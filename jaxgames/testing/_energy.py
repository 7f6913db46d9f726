"""Energy games: solvers, batches and forms of verification."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import jax
import numpy as np

from jaxgames import energy, solve_many
from jaxgames.arena import Arena
from jaxgames.energy import TOP, Solution, reference
from jaxgames.solution import NO_EDGE, Status
from jaxgames.solver import Solver
from jaxgames.testing import _games
from jaxgames.testing._labelled import Labelled, smaller, snippet
from jaxgames.testing._subject import (
    Cases,
    Check,
    Complaint,
    Subject,
    apart,
    each,
    first,
)

BATCH = 64


# ---- what is right ---------------------------------------------------------------


def _expected(cases: Cases) -> list[Solution]:
    return [reference.solve(arena) for arena in cases.once(_games.arenas)]


def is_right(arena: Arena, claim: Solution) -> bool:
    """Whether a claim has the least credits, and moves that are worth them."""
    said = np.asarray(claim.winner) == (np.asarray(claim.credit) == TOP)
    return bool(said.all() and reference.verify(arena, claim.credit, claim.strategy))


def _wrong(arena: Arena, answer: Solution, expected: Solution) -> Complaint:
    size = arena.shape[0]
    answer = dataclasses.replace(
        answer,
        credit=np.asarray(answer.credit)[:size],
        winner=np.asarray(answer.winner)[:size],
        strategy=np.asarray(answer.strategy)[:size],
    )
    return (
        _games.differs("credit", answer.credit, expected.credit)
        or _games.differs("winner", answer.winner, expected.winner)
        or _games.rejected(energy.verify(arena, answer, "host"), "the host")
        # Ties go to the first edge: that of each engine is the same in bits.
        or _games.differs("move", answer.strategy, expected.strategy)
    )


_of = functools.partial(_games.compared, wrong=_wrong, expected=_expected)

# ---- engines ---------------------------------------------------------------------


def of_solver(solver: Solver) -> Check:
    """A solver of the device under `jit` and `vmap`, and verification there."""

    @jax.jit
    @jax.vmap
    def run(arena: Arena):
        found = dataclasses.replace(energy.solve(arena, solver), state=None)
        return found, energy.verify(arena, found).valid

    def check(cases: Cases) -> list[Complaint]:
        arenas = cases.once(_games.arenas)
        found, valid = jax.device_get(run(_games.stacked(arenas, BATCH)))
        rows = [jax.tree.map(lambda x, at=at: x[at], found) for at in range(len(cases))]
        said = _of(lambda _: rows)(cases)
        for at, accepted in enumerate(valid[: len(arenas)]):
            if said[at] is None and not accepted:
                said[at] = "the device rejects the answer"
        return said

    return apart(check)


of_place = _games.one_by_one(energy, _of, one_shape=True)


def _many(arenas: list[Arena]) -> Sequence[Solution]:
    return solve_many(energy, _games.padded(arenas), energy.PROBLEM.auto(None))


def _capacity(case: Labelled) -> Iterator[Complaint]:
    """A battery of some size, by the engine of the host."""
    arena, capacity = case.arena, case.size
    found = energy.solve_with_capacity(arena, capacity, "host")
    right = reference.solve(arena, capacity=capacity)
    for name in ("credit", "strategy"):
        yield _games.differs(name, getattr(found, name), getattr(right, name))
    verdict = energy.verify_with_capacity(arena, found, capacity)
    yield _games.rejected(verdict, "the host")


# ---- verification ----------------------------------------------------------------


def spoilt(arena: Arena, right: Solution, rng: np.random.Generator) -> Solution:
    """The solution with another credit, move or region."""
    credit, winner, strategy = (
        np.array(x) for x in (right.credit, right.winner, right.strategy)
    )
    v, edge = rng.integers(len(credit)), _games.any_edges(arena, rng)
    match rng.integers(9):
        case 0:
            credit[v] += rng.choice([-2, -1, 1, 2])
        case 1:
            strategy[v] = rng.integers(-1, len(arena.dst))
        case 2:
            strategy = np.where(strategy >= 0, edge, strategy)
        case 3:
            credit = np.where(rng.random(len(credit)) < 0.5, TOP, credit)
            winner = (credit == TOP).astype(np.int8)
            strategy = np.where(winner == arena.owner, edge, NO_EDGE)
        case 4:
            winner[v] ^= 1
        case 5:
            credit = np.where(credit > 0, credit - 1, credit)
        case 6:
            credit = np.where(credit >= 0, credit + 1, credit)
        case _:
            credit, strategy = _larger(arena, credit, strategy, v)
    return dataclasses.replace(
        right, credit=credit, winner=winner, strategy=strategy.astype(np.int32)
    )


def _larger(arena: Arena, credit: np.ndarray, strategy: np.ndarray, v):
    """Credits that satisfy all inequalities, of which that of a vertex is not least.

    Only that it is more than what is needed is wrong with such a claim.
    """
    if credit[v] < 0:
        return credit, strategy
    raised, moves = credit.astype(np.int64), strategy.copy()
    raised[v] += 1
    for _ in range(1000):
        asked = raised[arena.dst] - arena.weight
        asked = np.where(raised[arena.dst] < 0, np.iinfo(np.int64).max, asked)
        reduced = np.where(
            arena.owner,
            np.maximum.reduceat(asked, arena.row_ptr[:-1]),
            np.minimum.reduceat(asked, arena.row_ptr[:-1]),
        )
        lifted = np.where(raised < 0, raised, np.maximum(raised, reduced))
        if (lifted == raised).all():
            for u in np.flatnonzero((raised >= 0) & ~arena.owner):
                edges = slice(*arena.row_ptr[u : u + 2])
                moves[u] = edges.start + np.argmax(asked[edges] <= raised[u])
            return raised, moves
        raised = lifted
    return credit, strategy  # it rises for ever


@jax.jit
@jax.vmap
def _valid(arena: Arena, claim: Solution):
    return energy.verify(arena, claim).valid


def _spoilt(cases: Cases) -> list[Complaint]:
    arenas = cases.once(_games.arenas)
    right = cases.once(_expected)
    claims = [
        spoilt(arena, answer, np.random.default_rng([at, arena.shape[1]]))
        for at, (arena, answer) in enumerate(zip(arenas, right, strict=True))
    ]
    stack = _games.stacked(arenas, BATCH)
    size = stack.owner.shape[1]
    batch = Solution(
        np.full(BATCH, Status.SOLVED),
        credit=_games.rows([x.credit for x in claims], size, BATCH, 0),
        winner=_games.rows([x.winner for x in claims], size, BATCH, 0),
        strategy=_games.rows([x.strategy for x in claims], size, BATCH, NO_EDGE),
    )
    valid = np.asarray(_valid(stack, batch))
    said = []
    for at, claim in enumerate(claims):
        verdicts = {
            "the host": bool(energy.verify(arenas[at], claim, "host")),
            "the device": bool(valid[at]),
        }
        truth = is_right(arenas[at], claim)
        text = (
            f"credit {claim.credit.tolist()} with winner {claim.winner.tolist()} and "
            f"strategy {claim.strategy.tolist()}"
        )
        said.append(_games.judged(truth, verdicts, text))
    return said


def subject() -> Subject:
    checks: dict[str, Check] = {name: of_place(name) for name in ("host", "auto")}
    checks["capacity"] = each(_capacity)
    checks["verify"] = apart(_spoilt)
    checks |= {name: of_solver(energy.SOLVERS[name]()) for name in energy.SOLVERS}
    checks["many"] = _of(_many)
    for name in ("race", *energy.SOLVERS):
        checks[f"{name}.alone"] = first(of_place(name), 2)
    return Subject(
        name="energy",
        draw=_games.weighted,
        checks=checks,
        smaller=smaller,
        show=functools.partial(show, "energy"),
        size=_games.USUAL,
        batch=BATCH,
    )


def show(module: str, case: Labelled) -> str:
    """Lines of Python that make a game and solve it."""
    return f"arena = Arena.from_edges({snippet(case)})\n{module}.solve(arena)"

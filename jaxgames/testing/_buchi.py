"""Accepting cycles of graphs, and Büchi games, against their definitions."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from jaxgames import buchi, drive, solve_many
from jaxgames.arena import Arena
from jaxgames.buchi import AcceptingCycle, Lasso, Solution
from jaxgames.solution import NO_EDGE, Status
from jaxgames.solver import Solver
from jaxgames.testing import _games
from jaxgames.testing._arenas import SHAPES, odd_arena
from jaxgames.testing._labelled import Labelled, labelled, smaller, snippet
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


# ---- accepting cycles ------------------------------------------------------------


def _starts(case: Labelled) -> np.ndarray:
    return np.flatnonzero(case.vertex["initial"])


def exists(case: Labelled, starts: np.ndarray) -> bool:
    """Whether an accepting vertex that is reached lies on a cycle."""
    accepting = case.vertex["accepting"] > 0
    return buchi.reference.accepting_cycle(case.arena, accepting, starts) is not None


def shows(case: Labelled, lasso: Lasso) -> bool:
    """Whether a lasso is one, edge by edge."""
    if not len(lasso.cycle):
        return False
    walk = [*lasso.prefix.tolist(), *lasso.cycle.tolist(), int(lasso.cycle[0])]
    if not all(0 <= v < case.size for v in walk):
        return False
    edges = set(zip(case.src.tolist(), case.dst.tolist(), strict=True))
    return (
        walk[0] in _starts(case)
        and edges.issuperset(zip(walk, walk[1:], strict=False))
        and bool(case.vertex["accepting"][lasso.cycle].any())
    )


def _marks(case: Labelled) -> dict[str, Any]:
    return {"accepting": case.vertex["accepting"] > 0, "initial": _starts(case)}


def of_cycles(solver: str | Solver) -> Check:
    """`buchi.accepting_cycle` on one concrete graph after the other, with a lasso."""

    def check(case: Labelled) -> Complaint:
        arena, marks = case.arena, _marks(case)
        if solver not in ("host", "auto"):  # one shape for what is compiled
            (arena,) = _games.padded([arena])
            marks["accepting"] = np.pad(
                marks["accepting"], (0, len(arena.owner) - case.size)
            )
        found = buchi.accepting_cycle(arena, solver=solver, **marks)
        if (wrong := _games.unsolved(found)) or not found.decided:
            return wrong or "it is not decided"
        truth = exists(case, marks["initial"])
        if bool(found.exists) != truth:
            return "a cycle is missed" if truth else "a cycle that there is not"
        if (found.lasso is not None) != truth or (found.witness >= 0) != truth:
            return f"lasso {found.lasso} and witness {found.witness}, exists: {truth}"
        if found.lasso is not None and not shows(case, found.lasso):
            return f"{_walk(found.lasso)} is no lasso"
        return _games.rejected(buchi.verify(arena, found, **marks))

    return each(check)


def _walk(lasso: Lasso) -> str:
    return f"{lasso.prefix.tolist()} and {lasso.cycle.tolist()} for ever"


def of_stack(solver: Solver) -> Check:
    """A solver under `jit` and `vmap`; runs start at vertex 0."""

    @jax.jit
    @jax.vmap
    def run(arena: Arena):
        found = buchi.accepting_cycle(arena, solver=solver, initial=0)
        return found.status, found.exists, found.witness

    def check(cases: Cases) -> list[Complaint]:
        found = jax.device_get(run(_games.stacked(cases.once(_games.arenas), BATCH)))
        return [
            _wrong_answer(case, *one) for case, *one in zip(cases, *found, strict=False)
        ]

    return apart(check)


def _wrong_answer(case: Labelled, status, found, witness) -> Complaint:
    if status != Status.SOLVED:
        return f"status {Status(int(status)).name}"
    truth = exists(case, np.array([0]))
    if bool(found) != truth:
        return "a cycle is missed" if truth else "a cycle that there is not"
    if (witness >= 0) != truth:
        return f"witness {witness}"
    return None


def _many_cycles(cases: Cases) -> list[Complaint]:
    solver = drive.PROBLEMS["accepting_cycle"].auto(None)
    arenas = _games.padded(cases.once(_games.arenas))
    found = solve_many("accepting_cycle", arenas, solver)
    return [
        _wrong_answer(case, int(one.status), one.exists, one.witness)
        for case, one in zip(cases, found, strict=True)
    ]


def spoilt_lasso(case: Labelled, lasso: Lasso, rng: np.random.Generator) -> Lasso:
    """A lasso with a wrong vertex, start or end, or none that accepts."""
    prefix, cycle = lasso.prefix.copy(), lasso.cycle.copy()
    v = rng.integers(-1, case.size + 1)
    match rng.integers(5):
        case 0:
            cycle[rng.integers(len(cycle))] = v
        case 1:
            prefix = prefix[1:]
        case 2 if len(prefix):
            prefix[rng.integers(len(prefix))] = v
        case 3:
            cycle = cycle[:-1]
        case _:
            cycle = np.roll(cycle, 1)
    return Lasso(prefix, cycle)


def _spoilt_cycle(case: Labelled) -> Iterator[Complaint]:
    """Lassos with a fault, and answers that are the other way round."""
    arena, marks = case.arena, _marks(case)
    right = buchi.reference.accepting_cycle(arena, *marks.values())
    rng = np.random.default_rng([case.size, len(case.src)])
    none = AcceptingCycle(Status.SOLVED, exists=np.bool_(False), decided=True)
    claims: list[Any] = [(right is None, none, "that there is no cycle")]
    for _ in range(4 if right else 0):
        assert right is not None
        lasso = spoilt_lasso(case, right, rng)
        claims.append((shows(case, lasso), lasso, _walk(lasso)))
    for correct, claim, text in claims:
        verdict = buchi.verify(arena, claim, **marks)
        yield _games.judged(correct, {"walking": bool(verdict)}, text)


def _draw_graph(rng: np.random.Generator, index: int, size: int) -> Labelled:
    arena = odd_arena(SHAPES[index % len(SHAPES)], rng, size)
    keep = rng.random(arena.shape[1]) < (1.0, 0.6, 0.3)[int(rng.integers(3))]
    size = arena.shape[0]
    share = (0.15, 0.5, 1.0)[int(rng.integers(3))]
    initial = rng.random(size) < 0.3 if index % 2 else np.arange(size) == 0
    vertex = {"accepting": rng.random(size) < share, "initial": initial}
    return labelled(arena.src[keep], arena.dst[keep], size, vertex, total=False)


def _show_graph(case: Labelled) -> str:
    src, dst = case.src.tolist(), case.dst.tolist()
    accepting = np.flatnonzero(case.vertex["accepting"]).tolist()
    return (
        f"arena = Arena.from_edges({src}, {dst}, owner={[0] * case.size}, "
        f'dead_ends="allow")\nbuchi.accepting_cycle(arena, accepting={accepting}, '
        f"initial={_starts(case).tolist()})"
    )


def cycles() -> Subject:
    """Accepting cycles that are reached."""
    checks: dict[str, Check] = {name: of_cycles(name) for name in ("host", "auto")}
    checks["verify"] = each(_spoilt_cycle)
    for name, solver in {
        "map": buchi.Map(),
        "map.trim": buchi.Map(trim=True),
        "owcty": buchi.Owcty(),
        "owcty.forward": buchi.Owcty(form="forward"),
        "scc": buchi.ByScc(),
    }.items():
        checks[name] = of_stack(solver)
        checks[f"{name}.alone"] = first(of_cycles(solver), 4)
    checks["many"] = apart(_many_cycles)
    checks["race"] = first(of_cycles("race"), 2)
    return Subject(
        name="cycles",
        draw=_draw_graph,
        checks=checks,
        smaller=smaller,
        show=_show_graph,
        size=_games.USUAL,
        batch=BATCH,
    )


# ---- games -----------------------------------------------------------------------


def _expected(cases: Cases) -> list[tuple]:
    """Winners and strategies, which are the same in bits from each engine."""
    return [
        buchi.reference.solve(arena, arena.accepting)
        for arena in cases.once(_games.arenas)
    ]


def _wrong(arena: Arena, answer: Solution, expected: tuple) -> Complaint:
    size = arena.shape[0]
    winner, strategy = (np.asarray(x)[:size] for x in (answer.winner, answer.strategy))
    claim = Solution(Status.SOLVED, winner=winner, strategy=strategy)
    return (
        _games.differs("winner", winner, expected[0])
        or _games.rejected(buchi.verify(arena, claim))
        or _games.differs("move", strategy, expected[1])
    )


_of = functools.partial(_games.compared, wrong=_wrong, expected=_expected)
of_games = _games.one_by_one(buchi, _of, one_shape=True)


@jax.jit
@jax.vmap
def _solve(arena: Arena):
    found = buchi.solve(arena)
    return found.status, found.winner, found.strategy


def _traced(arenas: list[Arena]) -> list[Solution]:
    found = jax.device_get(_solve(_games.stacked(arenas, BATCH)))
    rows = list(zip(*found, strict=True))[: len(arenas)]
    return [Solution(Status(int(s)), winner=w, strategy=m) for s, w, m in rows]


def _many(arenas: list[Arena]) -> Sequence[Solution]:
    return solve_many(buchi, _games.padded(arenas), buchi.PROBLEM.auto(None))


def _spoilt(case: Labelled) -> Iterator[Complaint]:
    """Solutions with winners flipped and moves changed."""
    arena = case.arena
    right = buchi.solve(arena, "host")
    rng = np.random.default_rng([case.size, len(case.src)])
    for _ in range(4):
        winner, strategy = right.winner.copy(), right.strategy.copy()
        v = rng.integers(case.size)
        edge = _games.any_edges(arena, rng)
        match rng.integers(4):
            case 0:
                winner[v] ^= 1
            case 1:
                strategy[v] = rng.integers(-1, len(case.src))
            case 2:
                strategy = np.where(strategy >= 0, edge, strategy)
            case 3:
                flipped = rng.random(case.size) < 0.4
                winner[flipped] ^= 1
                strategy = np.where(flipped, edge, strategy)
                strategy = np.where(winner == arena.owner, strategy, NO_EDGE)
        strategy = strategy.astype(np.int32)
        claim = dataclasses.replace(right, winner=winner, strategy=strategy)
        text = f"winners {winner.tolist()} with strategy {strategy.tolist()}"
        faults = buchi.reference.faults(arena, winner, strategy)
        truth = not any(fault.any() for fault in faults)
        yield _games.judged(truth, {"walking": bool(buchi.verify(arena, claim))}, text)


def _draw_game(rng: np.random.Generator, index: int, size: int) -> Labelled:
    arena = odd_arena(SHAPES[index % len(SHAPES)], rng, size)
    share = (0.1, 0.4, 0.8)[int(rng.integers(3))]
    accepting = rng.random(arena.shape[0]) < share
    vertex = {"owner": arena.owner, "accepting": accepting}
    return labelled(arena.src, arena.dst, arena.shape[0], vertex)


def games() -> Subject:
    """Büchi games."""
    return Subject(
        name="buchi",
        draw=_draw_game,
        checks={
            "host": of_games("host"),
            "auto": of_games("auto"),
            "verify": each(_spoilt),
            "attractors": _of(_traced),
            "many": _of(_many),
            "attractors.alone": first(of_games("attractors"), 4),
            "race": first(of_games("race"), 2),
        },
        smaller=smaller,
        show=lambda case: (
            f"arena = Arena.from_edges({snippet(case)})\nbuchi.solve(arena)"
        ),
        size=_games.USUAL,
        batch=BATCH,
    )

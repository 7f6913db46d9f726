"""Exact values, guessed or searched for: one energy game after the other."""

import dataclasses
import time
from typing import Any

import numpy as np

from jaxgames import energy, host, limits, states
from jaxgames.arena import Arena
from jaxgames.meanpayoff import _parts, _rationals, _search
from jaxgames.meanpayoff._guess import guess
from jaxgames.meanpayoff._search import Standing
from jaxgames.meanpayoff._solution import Solution
from jaxgames.progress import Progress, Report
from jaxgames.solution import NO_EDGE, Stats, Status
from jaxgames.solver import Solver


def solve(
    arena: Arena,
    solver: str | Solver,
    *,
    max_steps: int | None,
    state: Any,
    progress: Progress,
    strategies: bool,
) -> Solution:
    """The values of a concrete game, by energy games that the host asks for."""
    whole, arena = arena, arena.unpad()
    if not len(arena.owner):
        nothing = np.zeros(len(whole.owner), np.int32)
        return _solution(whole, arena, None, nothing, Status.SOLVED, {})
    run = _Run(solver, progress)
    if state is not None:
        _check_state(whole, arena, state)
    elif max_steps is None and (found := _guessed(run, arena, strategies)):
        return _solution(whole, arena, *found, {"rounds": 0}, run.name)
    standing = _search.beginning(arena) if state is None else state
    longest = _search.longest_cycle(arena)
    edge = np.arange(arena.shape[1], dtype=np.int32)
    status = Status.SOLVED
    while True:
        edge = _parts.edges_inside(arena, edge, standing.part)
        standing, _ = _search.tightened(arena, standing, longest)
        if _search.is_found(standing).all():
            break
        if max_steps is not None and standing.rounds >= max_steps:
            status = Status.MAX_STEPS
            break
        asked = _search.question(arena, standing, edge, longest)
        credits, status = run(asked.game, strategies=False)
        if status != Status.SOLVED:
            break
        standing = _search.answered(asked, np.asarray(credits.winner) == 0)
    strategy = None
    if strategies and status == Status.SOLVED:
        strategy, status = _proof(run, arena, standing, edge, True)
        if strategy is None and status == Status.SOLVED:
            raise AssertionError("the energy games contradict each other")
    facts = {"rounds": standing.rounds}
    return _solution(whole, arena, standing, strategy, status, facts, run.name)


def _guessed(run: "_Run", arena: Arena, strategies: bool):
    """The outcome, where it can be guessed; None where the guess is wrong."""
    value = guess(arena) if host.can_compile() else None
    standing = None if value is None else _search.supposed(arena, value)
    if standing is None:
        return None
    edge = np.arange(arena.shape[1], dtype=np.int32)
    edge = _parts.edges_inside(arena, edge, standing.part)
    strategy, status = _proof(run, arena, standing, edge, strategies)
    if strategy is None and status == Status.SOLVED:
        return None
    if status != Status.SOLVED:
        standing = _search.beginning(arena)
    return standing, strategy if strategies else None, status


class _Run:
    """Solves energy games one after the other, with one meter and the same solver."""

    def __init__(self, solver: str | Solver, meter: Progress):
        self.solver, self.meter = solver, meter
        self.name, self.began, self.asked = "none", time.perf_counter(), 0

    def __call__(self, game: Arena, *, strategies: bool):
        def report(report: Report) -> Status | None:
            seconds = time.perf_counter() - self.began
            return self.meter(Report(report.solver, self.asked, seconds, "thresholds"))

        # What nobody watches needs no thread of its own.
        meter = None if limits.current() is None else report
        how = {"throw": False, "progress": meter, "strategies": strategies}
        solution = energy.solve(game, self.solver, **how)
        if solution.status == Status.OVERFLOW:  # credits, of which there are wider ones
            solution = energy.solve(_parts.widened(game), self.solver, **how)
        self.name, self.asked = str(solution.stats["solver"]), self.asked + 1
        status = Status(int(solution.status))
        if status == Status.SOLVED:
            # A small game is solved before anybody is told.
            status = report(Report(self.name, 0, 0.0)) or status
        return solution, status


def _proof(run: _Run, arena: Arena, standing: Standing, edge, strategies: bool):
    """The edges of both players, each from the energy game at the values.

    Returns:
        Edges of every vertex, if these are the values, or None; and how it ended.
        Without strategies edges are those of the first game.
    """
    num, den = (_rationals.shortest(x)[standing.part] for x in standing.low)
    strategy = np.full(len(arena.owner), NO_EDGE, np.int32)
    for swapped in (False, True):
        game = _parts.game_at(arena, edge, num, den, swapped=swapped)
        solution, status = run(game, strategies=strategies)
        if status != Status.SOLVED:
            return None, status
        if np.any(solution.winner):
            return None, status
        if strategies:
            mine = arena.owner == swapped
            strategy[mine] = edge[np.asarray(solution.strategy)[mine]]
    return strategy, Status.SOLVED


def _solution(
    whole: Arena, arena: Arena, standing, strategy, status, facts, name="none"
) -> Solution:
    """What is handed out, with the padding that the arena had."""
    size, slots = len(arena.owner), len(whole.owner)
    num, den = np.zeros(slots, np.int64), np.ones(slots, np.int64)
    kind, values = np.int32, 0
    if standing is not None:
        found = _search.is_found(standing)
        exact = _rationals.shortest(np.where(found, standing.low[0], 0))[standing.part]
        num = num.astype(exact.dtype)
        num[:size] = exact
        den[:size] = np.where(found, standing.low[1], 0).astype(np.int64)[standing.part]
        pairs = {*zip(*(x[found].tolist() for x in standing.low), strict=True)}
        values = len(pairs)
        widest = int(np.abs(arena.weight.astype(object)).max())
        # No numerator is more than a weight for each vertex of a cycle.
        kind = np.int32 if widest * size < 2**31 else num.dtype
    if strategy is not None:
        strategy = np.pad(strategy, (0, slots - size), constant_values=NO_EDGE)
        strategy = strategy.astype(np.int32)
    return Solution(
        value_num=num.astype(kind),
        value_den=den if num.dtype == object else den.astype(kind),
        strategy=strategy,
        status=status,
        stats=Stats(solver=name, values=values, **facts),
        state=standing and dataclasses.replace(standing, origin=_origin(whole)),
    )


def _origin(arena: Arena) -> states.Origin:
    words = states.words_of(arena)
    return states.Origin(words, "meanpayoff", states.version())


def _check_state(whole: Arena, arena: Arena, state: Any) -> None:
    if not isinstance(state, Standing) or len(state.part) != len(arena.owner):
        raise ValueError(
            "state must be solution.state of an earlier call with the same arena, got "
            f"{type(state).__name__}"
        )
    states.check(_origin(whole), state.origin)

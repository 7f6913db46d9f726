"""The front door of mean-payoff games."""

import dataclasses
import time
from typing import Any

import jax
import numpy as np

from jaxgames import energy, host, limits, states
from jaxgames.arena import Arena, as_checked_as, is_traced
from jaxgames.limits import limited
from jaxgames.meanpayoff import _parts, _rationals, _search
from jaxgames.meanpayoff._checks import check
from jaxgames.meanpayoff._guess import guess
from jaxgames.meanpayoff._search import Standing
from jaxgames.meanpayoff._solution import Solution, undecided
from jaxgames.progress import Meter, Progress, Report, as_progress
from jaxgames.solution import NO_EDGE, SolveError, Stats, Status
from jaxgames.solver import Solver


@limited(undecided)
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: Standing | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    strategies: bool = True,
    deadline: float | None = None,
    memory: int | None = None,
) -> Solution:
    """Finds the value of each vertex of a mean-payoff game, and optimal strategies.

    In a play without end the weights of its edges have a mean, the limit of the means
    of its beginnings (the lower limit if there is none). Player 0 wants it to be large
    and player 1 small. The value of a vertex is what each of them can see to by a
    strategy that only looks where the play is: the mean of a cycle.

    Whether it is at least `p/q` is an energy game with the weights `q w - p` [1]. All
    vertices that are not told apart yet ask the same question; what a question tells
    apart is parted for good, since optimal plays stay with vertices of their value. So
    each round is one energy game over the arena with a threshold for each part. It
    halves the intervals, about, until they hold one fraction whose denominator is no
    more than the number of vertices that are left: at most about `2 log2(n**2 W)`
    rounds for `n` vertices and weights up to `W`. At last two energy games at the
    values give the strategies, and prove both.

    These two are enough where the values have been guessed right: where numba is
    installed, and `max_steps` and `state` are not given, a strategy iteration in
    floating point is tried first, whose values are taken only if the games prove them.

    Weights may be as large as their type holds: where the energy games do not fit 64
    bits, `stats` says that the host has solved them, in two words or, where these too
    are few or numba is not installed, in Python's integers.

    On a concrete arena only (the host chooses thresholds);
    [`decide`][jaxgames.meanpayoff.decide] works inside `jax.jit` and `jax.vmap`.

    Args:
        arena: a game with one integer weight on each edge; every vertex has a
            successor.
        solver: of the energy games, as for [`energy.solve`][jaxgames.energy.solve].
        max_steps: rounds at most, those of `state` counted in. None: no limit.
        state: `solution.state` of an earlier call with the same arena, to go on where
            it stopped.
        throw: whether to raise where not every value was found.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then.
        strategies: whether strategies are wanted; they take two more energy games.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        Values and strategies: [`Solution`][jaxgames.meanpayoff.Solution]; the same from
        every solver. `stats` has the number of `rounds` and of distinct `values`.

    Raises:
        ValueError: the arena is no such game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    References:
        [1] Brim, Chaloupka, Doyen, Gentilini and Raskin, Faster algorithms for
        mean-payoff games, doi:10.1007/s10703-010-0105-x.
        [2] Zwick and Paterson, The complexity of mean payoff games on graphs,
        doi:10.1016/0304-3975(95)00188-3.

    Examples:
        >>> from jaxgames import Arena, meanpayoff
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2, 2], [1, 2, 0, 2, 0], owner=[0, 1, 1],
        ...     weight=[4, 9, -1, 1, 0],
        ... )
        >>> solution = meanpayoff.solve(arena)
        >>> solution
        Solution(3 vertices with values from 1 to 3/2)
        >>> solution.value(0), solution.strategy
        (Fraction(3, 2), array([0, 2, 3], dtype=int32))
        >>> solution.value_num, solution.value_den
        (array([3, 3, 1], dtype=int32), array([2, 2, 1], dtype=int32))
    """
    if is_traced((arena, state, max_steps)):
        raise ValueError(
            "meanpayoff.solve chooses its thresholds on the host, where a traced game "
            "cannot be; inside jax.jit use meanpayoff.decide"
        )
    if max_steps is not None and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    check(arena)
    if isinstance(arena.owner, jax.Array):  # the search is the host's
        arena = as_checked_as(arena, jax.device_get(arena))
    meter = as_progress(progress)
    noted = host.told_if_slow(solver, arena.shape[1])
    try:
        solution = noted(_solve(arena, solver, max_steps, state, meter, strategies))
    finally:
        meter.close()
    if throw and solution.status != Status.SOLVED:
        raise SolveError(Status(solution.status), solution)
    return solution


def _solve(arena: Arena, solver, max_steps, state, meter, strategies) -> Solution:
    whole, arena = arena, arena.unpad()
    if not len(arena.owner):
        nothing = np.zeros(len(whole.owner), np.int32)
        return _solution(whole, arena, None, nothing, Status.SOLVED, {})
    run = _Run(solver, meter)
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

"""The walk of a call: one question, from what a user passes to a solution."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from jaxgames import fixpoint, host, ops, validity
from jaxgames.arena import is_traced, refuse_cut
from jaxgames.drive._legs import along_legs
from jaxgames.drive._problem import DEVICE, HOST, RACE, Leg, Problem
from jaxgames.drive._race import first, is_short
from jaxgames.later import backend, imported
from jaxgames.limits import limited
from jaxgames.progress import Meter, Progress, Report, as_progress
from jaxgames.solution import Solution, SolveError, Stats, Status
from jaxgames.solver import Solver
from jaxgames.tuning.drive import START_AT_ONCE_FROM, START_SECONDS


def undecided(
    status: Status,
    problem: Problem,
    question: Any,
    *_: Any,
    state: Any = None,
    strategies: bool = True,
    **__: Any,
) -> Any:
    """The solution that knows nothing, for the arguments of `solve`."""
    answer = problem.undecided(question)
    if not strategies and hasattr(answer, "strategy"):
        answer = answer._replace(strategy=None)
    stats = Stats(solver="none", rounds=0)
    return problem.solution(answer, status=status, stats=stats, state=state)


@limited(undecided)
def solve(
    problem: Problem,
    question: Any,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: Any = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    strategies: bool = True,
    preprocess: Sequence[str] = (),
    deadline: float | None = None,
    memory: int | None = None,
) -> Any:
    """Answers one question: what every front door calls.

    Args:
        problem: what kind of question it is.
        question: as a user passed it.
        solver: a name of the problem's `solvers`, `"auto"`, or a solver; and where the
            problem has an engine on the host `"host"` and `"race"`, and the name of one
            engine where it has several.
        max_steps: rounds on the device at most, those of `state` counted in.
        state: `solution.state` of an earlier call, to go on from.
        throw: whether to raise where the solve stopped early; never under tracing.
        progress: told now and then; may end it.
        strategies: whether strategies are wanted, where the problem has such.
        preprocess: names of reductions, where the problem has such.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits].
        memory: bytes that it may take, likewise.

    Raises:
        ValueError: the question is none, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.
    """
    max_steps = fixpoint.checked_steps(max_steps)
    question, fault = problem.read(question)
    traced = is_traced((question, state, max_steps))
    _check(problem, solver, preprocess, traced)
    if traced:
        refuse_cut(question)
        named = problem.traced_auto() if solver == "auto" else solver
        chosen = _chosen(problem, named, strategies)
        found = problem.traced(question, chosen, state, max_steps)
        return validity.withdrawn(fault, found, **problem.nothing)
    with ops.at_once():  # a constant of somebody's jit is still one
        question, undo = problem.reduce(question, preprocess)
        asked = HOST if is_host(problem, solver) else solver
        noted = host.told_if_slow(asked, problem.shape(question)[1])
        meter = as_progress(progress)
        found = noted(
            _concrete(problem, question, solver, max_steps, state, meter, strategies)
        )
    if undo is not None:
        found = undo(found)
    if throw and found.status != Status.SOLVED:
        status = Status(found.status)
        raise SolveError(status, found, message=problem.messages.get(status))
    return found


def _check(problem: Problem, solver, preprocess, traced: bool) -> None:
    on_host = is_place(problem, solver)
    if not on_host:
        check_solver(problem, solver)
    if isinstance(preprocess, str):
        raise ValueError(f"preprocess must be a sequence of names, got {preprocess!r}")
    if traced and on_host:
        refuse_place(problem, solver, f"a traced {problem.what}")
    if traced and preprocess:
        raise ValueError(
            "preprocess changes the size of a game, which a traced one cannot: apply "
            f"jaxgames.{problem.name}.preprocess outside"
        )


def is_place(problem: Problem, solver: Any) -> bool:
    """Whether what was passed as a solver is the host, or the race."""
    return isinstance(solver, str) and solver in problem.solvers.places


def is_host(problem: Problem, solver: Any) -> bool:
    """Whether what was passed as a solver is the host alone, or an engine of it."""
    return is_place(problem, solver) and solver != RACE


def refuse_limits(solver: str) -> None:
    """Raises ValueError: what counts rounds was passed, and the host counts none."""
    raise ValueError(
        "max_steps counts rounds of array programs, and state is where one of them "
        f"stopped: solver={solver!r} takes neither, name one of them or 'auto'"
    )


def refuse_place(problem: Problem, solver: str, what: str) -> None:
    """Raises ValueError: something cannot be where a solver wants it."""
    raise ValueError(
        f"solver={solver!r} runs on the host, where {what} cannot be: "
        f"name a solver of the device, {', '.join(problem.solvers)}"
    )


def check_solver(problem: Problem, solver: str | Solver) -> None:
    """Checks what may be passed as a solver.

    Raises:
        ValueError: naming the solvers that there are.
    """
    if not isinstance(solver, str):
        problem.solvers.resolve(solver)
    elif solver != "auto" and not is_place(problem, solver):
        problem.solvers[solver]  # which need not be made


def place_for(problem: Problem, question: Any, solver: str | Solver = "auto") -> str:
    """Where a concrete question is answered: `"device"`, `"host"` or `"race"`.

    Raises:
        ValueError: it is no such question, or there is no such solver.
    """
    check_solver(problem, solver)
    return _place_for(problem, problem.read(question)[0], solver)


def _place_for(problem: Problem, question: Any, solver: Any) -> str:
    if is_place(problem, solver):
        return RACE if solver == RACE else HOST
    if solver != "auto" or ops.current_spread() is not None:
        return DEVICE
    return problem.place(question)


def _chosen(problem: Problem, solver: str | Solver, strategies: bool) -> Solver:
    # What a user passed is checked; a problem may choose what users cannot name.
    found = problem.solvers.resolve(solver) if isinstance(solver, str) else solver
    return found if strategies else dataclasses.replace(found, strategies=False)


def _concrete(
    problem: Problem, question, solver, max_steps, state, meter: Progress, strategies
) -> Solution:
    """Chooses the place, and answers there."""
    how: dict[str, Any] = {"max_steps": max_steps, "state": state, "progress": meter}
    found = problem.in_phases(question, solver, strategies=strategies, **how)
    if found is not None:
        return found
    place, named = _place_for(problem, question, solver), is_place(problem, solver)
    if named and problem.is_devices(question):
        refuse_place(problem, solver, f"a {problem.what} made on the device")
    limited = max_steps is not None or state is not None
    if limited:
        if named:
            refuse_limits(solver)
        place = DEVICE
    if place == HOST or problem.is_hosts(question):
        engine = solver if is_host(problem, solver) else HOST
        return on_host(problem, question, strategies, meter, engine)
    if place == RACE:
        return _race(problem, question, solver, strategies, meter)
    if solver == "auto":
        found = along_legs(
            problem, question, _legs(problem, question, strategies), **how
        )
    else:
        chosen = _chosen(problem, solver, strategies)
        found = problem.on_device(question, chosen, **how)
    if found.status == Status.OVERFLOW and problem.holds_all and not limited:
        return on_host(problem, question, strategies, meter)  # its stats say so
    return found


def _legs(problem: Problem, question, strategies: bool) -> list[Leg]:
    return [
        Leg(_chosen(problem, leg.solver, strategies), leg.budget)
        for leg in problem.legs(question)
    ]


# ---- the host ----------------------------------------------------------------------


def on_host(
    problem: Problem,
    question,
    strategies: bool,
    meter: Progress,
    engine: str = HOST,
    *,
    among_many: bool = False,
) -> Solution:
    """Runs the sequential engine, or the one of that name.

    A small question is answered before anybody could ask about it, and sooner than a
    thread wakes up; a large or a hard one in a thread, so that it can be interrupted.
    Among many it is enough to be asked between them.
    """
    size = problem.shape(question)[1]
    how: dict[str, Any] = {"strategies": strategies}
    if engine != HOST:
        how["engine"] = engine
    found = _plainly(problem, question, how, meter)
    if found is not None:
        return found
    ends = problem.goes_on and host.can_compile()
    short = is_short(size, problem.inline, ends=ends)
    if short or (among_many and size < problem.inline):
        found = problem.on_host(question, max_steps=problem.patience, **how)
        if found.status != Status.MAX_STEPS:
            return found
        if found.state is not None:
            how["state"] = found.state
    track = problem.track()
    engines = {engine: lambda: problem.on_host(question, track=track, **how)}
    return first(track, engines, progress=meter)


def _plainly(
    problem: Problem, question, how: dict[str, Any], meter: Progress
) -> Solution | None:
    """Runs the sequential engine as plain Python, if that may be sooner.

    It is cut off where a compiler would have paid: then there is no answer.
    """
    edges = problem.shape(question)[1]
    if not host.is_plain(edges):
        return None
    left = host.plain_left(problem.engines, edges)
    if left == 0.0:
        return None
    with host.plain(edges):
        track = problem.track()
        track.stop = host.Impatience.of(
            left, lambda seconds: meter(Report(HOST, 0, seconds))
        )
        found = problem.on_host(question, track=track, **how)
    told = track.stop.told
    if found.status != Status.INTERRUPTED:
        return found
    return None if told is None else dataclasses.replace(found, status=told)


def _race(
    problem: Problem, question, solver, strategies: bool, meter: Progress
) -> Solution:
    """Host and device answer the same question; the first to finish wins.

    The loser is told to stop, and not waited for. Under an interrupt or a deadline the
    device says what it has found, and its state is what a later call goes on from.
    Where JAX is not there yet the host begins, and JAX is started beside it.
    """
    track = problem.track()
    asks = solver == "auto" and not imported()  # whether there is an accelerator
    # What both engines want of a question is found once, by all cores.
    known = None if asks else _legs(problem, question, strategies)

    def on_device() -> Solution:
        if asks and problem.shape(question)[1] < START_AT_ONCE_FROM:
            track.wait(START_SECONDS)
        if asks and not track.stop[0] and backend() == "cpu":
            track.wait(math.inf)  # there is none
        if track.stop[0]:
            return undecided(
                Status.INTERRUPTED, problem, question, strategies=strategies
            )

        def run(question, solver, **how):
            return problem.in_race(track, question, solver, **how)

        legs = known or _legs(problem, question, strategies)
        return along_legs(problem, question, legs, progress=track.meter, run=run)

    def beside() -> Solution:
        if not problem.tries_first:
            track.let_ahead()
        return problem.on_host(question, strategies=strategies, track=track)

    if not asks:  # else a device has to be found first, and has no use for it
        track.ahead = problem.alone(question)
    engines = {DEVICE: on_device, HOST: beside}
    return first(track, engines, progress=meter, prefer=DEVICE, last=HOST)

"""The front door: checks, and the choice of an engine."""

import dataclasses

from jaxgames import host, ops, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.energy import _auto, _bounds, _device, _race
from jaxgames.energy._device import Standing
from jaxgames.energy._device import prepare as prepare
from jaxgames.energy._fvi import FVI
from jaxgames.energy._race import HOST, RACE
from jaxgames.energy._solution import UNKNOWN, Solution, undecided
from jaxgames.energy._vi import VI
from jaxgames.limits import limited
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.race import wait_for_losers as wait_for_losers
from jaxgames.solution import SolveError, Status
from jaxgames.solver import Registry, Solver

PLACES = (HOST, RACE)
"""What `solver` may name as well: the sequential engine, and the race of both."""

SOLVERS = Registry("energy", FVI, VI, places=PLACES)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the game is traced.
"""


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
    """Finds the least energy from which a play of an energy game can go on for ever.

    Each edge adds its weight to an energy level that must never fall below zero. The
    credit of a vertex is the least initial level with which player 0 can see to that,
    whatever player 1 does. Where no level is enough player 1 wins: he can make it fall
    without end.

    Works inside `jax.jit` and `jax.vmap` on a traced arena, in the 32 or 64 bits of its
    weights; there a number that does not fit ends in `Status.OVERFLOW`. On a concrete
    arena the host chooses the width, lays it out for the device, drives the loop in
    chunks and can be interrupted. Where the device's 64 bits are too few it is solved
    on the host, in as many as it takes, and `stats` says so; but not where `max_steps`
    or `state` ask for the device.

    Args:
        arena: a game with one integer weight on each edge, in a unit of energy; every
            vertex has a successor.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for both at
            once, the first to finish wins; or `"auto"`, which chooses among all these
            and says in `stats` what it took.
        max_steps: rounds on the device at most, those of `state` counted in; a round of
            fast value iteration is a turn. None: no limit.
        state: `solution.state` of an earlier call with the same arena and solver, to
            go on where it stopped.
        throw: whether to raise where not every vertex was decided. Under tracing
            nothing is raised: look at `solution.status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        strategies: whether strategies are wanted; that of player 1 takes about as long
            as the credits of what he wins. Without, the solution's `strategy` is None.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        Credits, winners and strategies: [`Solution`][jaxgames.energy.Solution]; the
        same from every solver. The strategy of player 0 takes the first edge for which
        the credit is enough; that of player 1 the first edge that attains the least
        pair of energy and steps that he needs, see
        [`Dual`][jaxgames.energy.Dual].

    Raises:
        ValueError: the arena is no energy game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds
            what was found, and the state to go on from. With `Status.OVERFLOW` credits
            do not fit 64 bits.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 1, 2], [1, 0, 0, 2, 2], owner=[0, 1, 1],
        ...     weight=[-3, -1, 2, 1, 0],
        ... )
        >>> solution = energy.solve(arena)
        >>> solution
        Solution(player 0 wins 1 with credits up to 0, player 1 wins 2)
        >>> solution.credit, solution.strategy
        (array([-1, -1,  0], dtype=int32), array([-1,  2, -1], dtype=int32))
    """
    is_under_trace = is_traced((arena, state, max_steps))
    arena, fault = _bounds.check(arena, wide=not is_under_trace)
    _check(solver, max_steps, is_under_trace)
    if is_under_trace:
        found = _device.traced(arena, _resolve(solver, strategies), max_steps, state)
        return validity.withdrawn(fault, found, credit=UNKNOWN)
    with ops.at_once():  # a constant of somebody's jit is still one
        meter = as_progress(progress)
        noted = host.told_if_slow(solver, arena.shape[1])
        solution = noted(_concrete(arena, solver, max_steps, state, meter, strategies))
    if throw and solution.status != Status.SOLVED:
        raise SolveError(solution.status, solution)
    return solution


def _check(solver, max_steps, traced: bool) -> None:
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if traced and isinstance(solver, str) and solver in PLACES:
        raise ValueError(
            f"solver={solver!r} runs on the host, where a traced game cannot be: "
            f"name a solver of the device, {', '.join(SOLVERS)}"
        )


def _resolve(solver: str | Solver, strategies: bool) -> Solver:
    solver = SOLVERS.resolve(solver)
    if strategies:
        return solver
    return dataclasses.replace(solver, strategies=False)


def place_for(arena: Arena, solver: str | Solver = "auto") -> str:
    """Where `solve` solves a concrete game: `"device"`, `"host"` or `"race"`.

    Args:
        arena: the game.
        solver: as for `solve`.

    Raises:
        ValueError: there is no such solver.
    """
    if isinstance(solver, str) and solver in PLACES:
        return solver
    SOLVERS.resolve(solver)
    if solver != "auto" or ops.current_spread() is not None:
        return "device"
    return _auto.place_for(arena)


def _concrete(arena, solver, max_steps, state, meter, strategies) -> Solution:
    """Chooses the place, and solves there."""
    limited = max_steps is not None or state is not None
    place = place_for(arena, solver)
    if isinstance(solver, str) and solver in PLACES:
        if limited:
            raise ValueError(
                f"max_steps and state are the device's: solver={solver!r} takes neither"
            )
        solver = "auto"
    if (place == HOST and not limited) or arena.weight.dtype == object:
        return _race.on_host(arena, strategies=strategies, progress=meter)
    solver = _resolve(solver, strategies)
    if place == RACE and not limited:
        return _race.race(arena, solver, strategies=strategies, progress=meter)
    found = _device.on_device(
        arena, solver, state=state, max_steps=max_steps, progress=meter
    )
    if found.status == Status.OVERFLOW and not limited:
        # The host has numbers of any size; its stats say that it was the host.
        return _race.on_host(arena, strategies=strategies, progress=meter)
    return found

"""The front door: checks, the choice of an engine, and running it."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames import fixpoint, host, validity
from jaxgames.arena import eager, is_traced
from jaxgames.limits import limited
from jaxgames.multienergy import _bitmap, _layout
from jaxgames.multienergy._antichains import capacity_of, stacked
from jaxgames.multienergy._bitmap import ByBitmap
from jaxgames.multienergy._checks import checked
from jaxgames.multienergy._fronts import LARGE_ROOM, ROOM, ByFronts
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._host import DEVICE, FEW, HOST, on_host
from jaxgames.multienergy._memory import check_room
from jaxgames.multienergy._packing import EMPTY, NARROW, WIDE, Packing
from jaxgames.multienergy._solution import Fronts, undecided
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.solver import Registry, Solver

SOLVERS = Registry("multi-dimensional energy game", ByFronts, ByBitmap, places=(HOST,))
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the game is traced.
"""

DEVICE_FROM = 1 << 19
"""Edges from which on a GPU is worth its launches: a round takes as long for few.

`"auto"` does not take `"bitmap"`. Games of fewer edges are the host's, which numbers
the few fronts that capped games have. In larger ones all of a bitmap moves in each
round: of six energies up to 3 it is 512 bytes a position, where four budgets are 16.
"""

MANY = 1 << 24
"""Positions from which on fronts have more room at first: some of so many are large,
and rounds that are made again take long.
"""


@limited(undecided)
def solve(
    game: Game,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> Fronts:
    """Finds all minimal budgets with which the attacker wins, for every position.

    The winning budgets of a position are an upward closed set: its minimal ones, the
    Pareto front, tell all of them. They are the least solution of two equations: the
    attacker needs what one of his moves needs, the defender's position what all of his
    moves need. Where the defender has no move nothing is needed.

    Works inside `jax.jit` and `jax.vmap` on a traced game; then fronts have a fixed
    room, and the status is `OVERFLOW` where that was not enough. On a concrete game the
    host lays it out for the device, drives the rounds, and makes room.

    Args:
        game: the game.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; or `"auto"`, which
            chooses and says in `stats` what it took.
        max_steps: rounds on the device at most, those of `state` counted in. None: no
            limit.
        state: `solution.state` of an earlier call with the same game and solver, to go
            on where it stopped.
        throw: whether to raise where the solve stopped early. Under tracing nothing is
            raised: look at `status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        [`Fronts`][jaxgames.multienergy.Fronts], the same budgets from every solver.

    Raises:
        ValueError: an argument is wrong, or the device has not enough memory: see
            [`memory`][jaxgames.multienergy.memory].
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds the
            budgets that were found, and the state to go on from.

    Examples:
        >>> from jaxgames import multienergy
        >>> game = multienergy.Game.from_arrays(
        ...     [0, 2, 4, 4, 4], [1, 2, 2, 3], [0, 1, 2, 1],
        ...     [[-1, 0], [0, -2], [("min", 1), 0]],
        ...     defender=[False, True, True, True],
        ... )
        >>> found = multienergy.solve(game)
        >>> found
        Fronts(4 minimal budgets of 4 positions)
        >>> found.budgets(0)
        array([[0, 2]], dtype=int32)
        >>> found.winning(0, [1, 1])
        False
    """
    traced = is_traced((game, state, max_steps))
    on_the_host = isinstance(solver, str) and solver == HOST
    _check(game, solver, max_steps, traced)
    game, fault = checked(game)
    limited = max_steps is not None or state is not None
    if traced:
        found = _traced(game, SOLVERS.resolve(solver), max_steps, state)
        return validity.withdrawn(fault, found, words=int(EMPTY))
    if on_the_host and limited:
        raise ValueError(
            "max_steps and state are the device's: solver='host' takes neither"
        )
    meter = as_progress(progress)
    noted = host.told_if_slow(solver, game.num_edges)
    with eager():
        nothing = game.num_positions == 0
        if nothing or not limited and place_for(game, solver) == HOST:
            found = on_host(game, meter)
        else:
            machine = SOLVERS.resolve(solver)
            try:
                if isinstance(machine, ByBitmap):
                    found = _by_bitmap(game, machine, max_steps, state, meter)
                else:
                    found = _by_fronts(game, machine, max_steps, state, meter)
            finally:
                meter.close()
    found = noted(found)
    if throw and found.status != Status.SOLVED:
        raise SolveError(Status(found.status), found)
    return found


def place_for(game: Game, solver: str | Solver = "auto") -> str:
    """Where `solve` solves a concrete game: `"host"` or `"device"`.

    A game of a few edges is solved on the host before anything is compiled. Without
    numba there is no host engine to speak of for others. With it a CPU leaves the game
    to the host engine, and so does a GPU if it is small, since launches alone would
    take longer.

    Args:
        game: the game.
        solver: as for `solve`.
    """
    if isinstance(solver, str) and solver == HOST:
        return HOST
    if solver != "auto":
        return DEVICE
    if game.num_edges <= FEW:
        return HOST
    if not host.can_compile():
        return DEVICE
    small = jax.default_backend() == "cpu" or game.num_edges < DEVICE_FROM
    return HOST if small else DEVICE


def _check(game, solver, max_steps, traced: bool) -> None:
    if not isinstance(game, Game):
        raise ValueError(f"game must be a Game, got {type(game).__name__}")
    if game.targets.ndim != 1:
        raise ValueError(
            "solve takes one game at a time, not a batch: apply jax.vmap to a function "
            f"that calls it, or take solve_many; targets has shape {game.targets.shape}"
        )
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if isinstance(solver, str) and solver == HOST:
        if traced:
            raise ValueError(
                "solver='host' runs on the host, where a traced game cannot be: name a "
                f"solver of the device, {', '.join(SOLVERS)}"
            )
        return
    machine = SOLVERS.resolve(solver)
    if not isinstance(machine, ByFronts | ByBitmap):
        raise ValueError(f"solver must be a name, ByFronts or ByBitmap, got {solver!r}")
    if isinstance(machine, ByBitmap):
        _bitmap.check(game)


def _traced(game: Game, machine: Any, max_steps, state) -> Fronts:
    layout = _layout.traced(game)
    packing = Packing.of(game)
    machine = dataclasses.replace(machine, packing=packing)
    outcome = fixpoint.traced(machine, layout, state, max_steps)
    words, status = outcome.answer, outcome.status
    if isinstance(machine, ByBitmap):
        least = _bitmap.minimal(words, packing.cap)
        words, full = _bitmap.fronts(least, packing, machine.capacity)
        status = jnp.where(full, Status.OVERFLOW, status)
    return Fronts(
        status=status,
        words=words,
        packing=packing,
        stats=Stats(solver=machine.name, rounds=outcome.rounds),
        state=outcome.carry,
    )


def _by_fronts(game: Game, machine: Any, max_steps, carry, meter) -> Fronts:
    if carry is None:
        usual = ROOM if game.num_positions < MANY else LARGE_ROOM
        room, packing = machine.capacity or usual, Packing.of(game, NARROW)
    else:
        front = carry.state.front
        room, packing = capacity_of(front), Packing.of(game, NARROW)
        if len(stacked(front)) != packing.num_words:
            packing = Packing.of(game, WIDE)
    check_room(game, packing, room)
    layout = _layout.prepare(game)
    machine = dataclasses.replace(machine, capacity=room, packing=packing)

    def told(report):
        return meter(report)

    while True:
        outcome = fixpoint.run(
            machine, layout, carry, max_steps=max_steps, progress=told
        )
        if outcome.status != Status.OVERFLOW:
            break
        if bool(outcome.carry.state.large) and packing.bits == WIDE:
            break
        machine, state = machine.grown(outcome.carry.state)
        packing = machine.packing
        check_room(game, packing, machine.capacity)
        carry = fixpoint.adopted(machine, outcome.carry, state)
    return Fronts(
        status=outcome.status,
        words=tuple(word[:, : game.num_positions] for word in outcome.answer),
        packing=packing,
        stats=Stats(
            solver=machine.name, rounds=outcome.rounds, capacity=machine.capacity
        ),
        state=outcome.carry,
    )


def _by_bitmap(game: Game, machine: ByBitmap, max_steps, carry, meter) -> Fronts:
    packing = Packing.of(game)
    assert packing.cap is not None

    def told(report):
        return meter(report)

    outcome = fixpoint.run(
        machine, _layout.prepare(game), carry, max_steps=max_steps, progress=told
    )
    wins = outcome.answer[:, : game.num_positions]
    least = _bitmap.minimal(wins, packing.cap)
    most = int(jnp.max(jnp.sum(least, axis=1), initial=1))
    words, _ = _bitmap.fronts(least, packing, 1 << (most - 1).bit_length())
    return Fronts(
        status=outcome.status,
        words=words,
        packing=packing,
        stats=Stats(solver=machine.name, rounds=outcome.rounds),
        state=outcome.carry,
    )

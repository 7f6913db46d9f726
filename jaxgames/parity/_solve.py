"""The front door: checks, choice of engine, preprocessing and its undoing."""

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np

from jaxgames import fixpoint, host, ops, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.limits import limited
from jaxgames.parity import _auto, _device, _race
from jaxgames.parity import preprocess as reductions
from jaxgames.parity._alternating import Alternating
from jaxgames.parity._device import prepare as prepare
from jaxgames.parity._edges import check_priorities
from jaxgames.parity._fpi import FPI
from jaxgames.parity._game import normal_form
from jaxgames.parity._improvement import StrategyImprovement
from jaxgames.parity._promotion import PriorityPromotion
from jaxgames.parity._race import HOST
from jaxgames.parity._race import prepare_host as prepare_host
from jaxgames.parity._solution import Solution, undecided
from jaxgames.parity._spm import SPM
from jaxgames.parity._zielonka import Zielonka
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.race import wait_for_losers as wait_for_losers
from jaxgames.solution import NO_EDGE, SolveError, Status
from jaxgames.solver import Registry, Solver

PLACES = (HOST, "race")
"""What `solver` may name as well: the sequential engine, and the race of both."""

SOLVERS = Registry(
    "parity",
    PriorityPromotion,
    Zielonka,
    FPI,
    SPM,
    Alternating,
    StrategyImprovement,
    places=PLACES,
)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the game is traced.
"""


@limited(undecided)
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    strategies: bool = True,
    preprocess: Sequence[str] = (),
    deadline: float | None = None,
    memory: int | None = None,
) -> Solution:
    """Decides who wins a parity game from each vertex, and how.

    Works inside `jax.jit` and `jax.vmap` on a traced arena. On a concrete one the host
    lays it out for the device, drives the loop in chunks and can be interrupted.

    Args:
        arena: a game with priorities on vertices, or on edges; every vertex has a
            successor.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for both at
            once, the first to finish wins; or `"auto"`, which chooses among all these
            and says in `stats` what it took.
        max_steps: rounds on the device at most (a round reads every edge at least
            once), those of `state` counted in. None: no limit.
        state: `solution.state` of an earlier call with the same arena and solver, to
            go on where it stopped.
        throw: whether to raise where not every vertex was decided. Under tracing
            nothing is raised: look at `solution.status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        strategies: whether strategies are wanted; without them some solvers are
            faster, and the solution's `strategy` is None.
        preprocess: names from [`preprocess`][jaxgames.parity.preprocess], applied in
            this order before the solve and undone after it. Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        Winners and strategies: [`Solution`][jaxgames.parity.Solution]. Vertices that
        the solve did not decide have winner -1.

    Raises:
        ValueError: the arena is no parity game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds
            what was found, and the state to go on from.

    Examples:
        >>> from jaxgames import Arena, parity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2]
        ... )
        >>> solution = parity.solve(arena)
        >>> solution
        Solution(player 0 wins 3, player 1 wins 0)
        >>> int(solution.successor(arena)[0])
        2
    """
    arena, fault = validity.checked(arena)
    traced = is_traced((arena, state, max_steps))
    _check(solver, max_steps, preprocess, traced)
    check_priorities(arena)
    if traced:
        found = _solve_traced(arena, solver, max_steps, state, strategies)
        return validity.withdrawn(fault, found)
    with ops.at_once():  # a constant of somebody's jit is still one
        reduced = reductions.apply(arena, preprocess) if preprocess else None
        game = arena if reduced is None else reduced.arena
        noted = host.told_if_slow(solver, game.shape[1])
        solution = noted(
            _solve_concrete(game, solver, max_steps, state, progress, strategies)
        )
    if reduced is not None:
        solution = _undo(reduced, solution)
    if throw and solution.status != Status.SOLVED:
        raise SolveError(solution.status, solution)
    return solution


def _undo(reduced, solution: Solution) -> Solution:
    winner = np.asarray(solution.winner)
    moves = solution.strategy
    if moves is None:
        moves = np.full(len(winner), NO_EDGE, np.int32)
    winner, strategy = reduced.undo(winner, np.asarray(moves))
    return dataclasses.replace(
        solution,
        winner=winner,
        strategy=None if solution.strategy is None else strategy,
        measures=None,  # of the reduced game
    )


def place_for(arena: Arena, solver: str | Solver = "auto") -> str:
    """Where `solve` solves a concrete game: `"device"`, `"host"` or `"race"`.

    Args:
        arena: the game.
        solver: as for `solve`.

    Raises:
        ValueError: there is no such solver.
    """
    check_solver(solver)
    if isinstance(solver, str) and solver in PLACES:
        return solver
    if solver != "auto" or ops.current_spread() is not None:
        return "device"
    return _auto.place_for(arena)


def check_solver(solver: str | Solver) -> None:
    """Checks what `solve` may be given as a solver.

    Raises:
        ValueError: naming the solvers that there are.
    """
    if not isinstance(solver, str):
        SOLVERS.resolve(solver)
    elif solver != "auto" and solver not in PLACES:
        SOLVERS[solver]  # which need not be made


def _check(solver, max_steps, preprocess, traced: bool) -> None:
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if isinstance(preprocess, str):
        raise ValueError(f"preprocess must be a sequence of names, got {preprocess!r}")
    if traced and isinstance(solver, str) and solver in PLACES:
        raise ValueError(
            f"solver={solver!r} runs on the host, where a traced game cannot be: "
            f"name a solver of the device, {', '.join(SOLVERS)}"
        )
    if traced and preprocess:
        raise ValueError(
            "preprocess changes the size of a game, which a traced one cannot: apply "
            "jaxgames.parity.preprocess outside"
        )


def _solve_traced(arena, solver, max_steps, state, strategies) -> Solution:
    solver = _resolve(solver, strategies)
    game = normal_form(arena, solver.edge_priorities)
    outcome = fixpoint.traced(solver, game, state, max_steps)
    if game.owner.shape != arena.owner.shape:  # edges were split
        size = arena.shape[0]
        outcome = outcome._replace(
            answer=jax.tree.map(lambda x: x[..., :size], outcome.answer)
        )
    return _device.device_solution(solver, game, outcome)


def _resolve(solver: str | Solver, strategies: bool) -> Solver:
    solver = SOLVERS.resolve(solver)
    if strategies:
        return solver
    return dataclasses.replace(solver, strategies=False)


def _solve_concrete(arena, solver, max_steps, state, progress, strategies) -> Solution:
    """Chooses the place, and solves there."""
    meter = as_progress(progress)
    limited = max_steps is not None or state is not None
    place = place_for(arena, solver)
    if solver != "auto" and place == "device":
        return _device.on_device(
            arena,
            _resolve(solver, strategies),
            state=state,
            max_steps=max_steps,
            progress=meter,
        )
    if solver in PLACES and limited:
        raise ValueError(
            f"max_steps and state are the device's: solver={solver!r} takes neither"
        )
    if place == HOST and not limited:
        return _race.on_host(arena, strategies=strategies, progress=meter)
    found = _auto.legs(arena, strategies)
    if place == "race" and not limited:
        return _race.race(arena, found, strategies=strategies, progress=meter)
    return _device.along_legs(
        arena, found, state=state, max_steps=max_steps, progress=meter
    )

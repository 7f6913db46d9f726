"""The front door: layout, loop and answer of a parity game."""

import jax

from jaxgames import fixpoint, ops
from jaxgames.arena import Arena, is_traced
from jaxgames.parity._fpi import FPI
from jaxgames.parity._game import normal_form
from jaxgames.parity._solution import Solution
from jaxgames.parity._spm import SPM
from jaxgames.parity._zielonka import Zielonka
from jaxgames.progress import Meter, Progress
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.solver import Registry, Solver

SOLVERS = Registry("parity", Zielonka, FPI, SPM)
"""The solvers of parity games, by name; the first is what `"auto"` takes.

Zielonka's attractors need the fewest sweeps on nearly every kind of game measured so
far (docs: How to choose).
"""


def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
) -> Solution:
    """Decides who wins a parity game from each vertex, and how.

    Works inside `jax.jit` and `jax.vmap` on a traced arena. On a concrete one the host
    lays it out for the device, drives the loop in chunks and can be interrupted.

    Args:
        arena: a game with vertex priorities; every vertex has a successor.
        solver: a name from `SOLVERS`, a solver with options of its own, or `"auto"`,
            which says in `stats` what it chose.
        max_steps: rounds at most (a round reads every edge at least once), those of
            `state` counted in. None: no limit.
        state: `solution.state` of an earlier call with the same arena and solver, to
            go on where it stopped.
        throw: whether to raise where not every vertex was decided. Under tracing
            nothing is raised: look at `solution.status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.

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
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if is_traced((arena, state, max_steps)):
        return _solve_traced(arena, solver, max_steps, state)
    with jax.ensure_compile_time_eval():  # a constant of somebody's jit is still one
        return _solve_concrete(arena, solver, max_steps, state, throw, progress)


def _solve_traced(arena, solver, max_steps, state) -> Solution:
    solver = SOLVERS.resolve(solver)
    game = normal_form(arena)
    limit = fixpoint.MAX_ROUNDS if max_steps is None else max_steps
    carry = fixpoint.start(solver, game) if state is None else state
    carry = fixpoint.iterate(solver, game, carry, limit)
    return _solution(solver, game, fixpoint.finish(solver, game, carry))


def _solve_concrete(arena, solver, max_steps, state, throw, progress) -> Solution:
    normal, game = prepare(arena)
    solver = SOLVERS.resolve(solver).fit(normal)
    outcome = fixpoint.run(solver, game, state, max_steps=max_steps, progress=progress)
    if not isinstance(game, ops.SlicedArena):
        # Cut on the host: a device would compile a slice for each number of vertices.
        size = arena.shape[0]
        answer = jax.tree.map(lambda x: x[:size], jax.device_get(outcome.answer))
        outcome = outcome._replace(answer=answer)
    solution = _solution(solver, game, outcome)
    if throw and solution.status != Status.SOLVED:
        raise SolveError(solution.status, solution)
    return solution


def _solution(solver: Solver, game: ops.Game, outcome: fixpoint.Outcome) -> Solution:
    return Solution(
        winner=outcome.answer.winner,
        strategy=outcome.answer.strategy,
        status=outcome.status,
        stats=Stats(
            solver=solver.name,
            layout=ops.layout(game),
            rounds=outcome.rounds,
            cells=ops.num_cells(game),
        ),
        state=outcome.carry,
    )


def prepare(arena: Arena) -> tuple[Arena, ops.Game]:
    """The normal form of a concrete arena, and its layout on the device; kept with it.

    `solve` calls this; call it before to have its cost apart.
    """
    kept = arena.__dict__
    if "_parity" not in kept:
        kept["_parity"] = normal_form(arena)
    return kept["_parity"], ops.prepare(kept["_parity"])

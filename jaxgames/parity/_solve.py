"""The front door of parity games."""

from collections.abc import Sequence
from typing import Unpack

from jaxgames import drive, host, ops, validity
from jaxgames.arena import Arena
from jaxgames.limits import Bounds, limited
from jaxgames.parity._problem import PROBLEM, for_host, normal, rows_for_host
from jaxgames.parity._solution import Solution
from jaxgames.parity.host import Prepared, Rows
from jaxgames.solver import Solver


@drive.front_door
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    preprocess: Sequence[str] = (),
    **how: Unpack[drive.How],
) -> Solution:
    """Decides who wins a parity game from each vertex, and how.

    Works inside `jax.jit` and `jax.vmap` on a traced arena. On a concrete one the host
    lays it out for the device, drives the loop in chunks and can be interrupted.

    Args:
        arena: a game with priorities on vertices, or on edges; every vertex has a
            successor.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engines in turn, which want numba to be fast, and
            `"host-tangles"` for that of recursive tangle learning alone; `"race"` for
            host and device at once, the first to finish wins; or `"auto"`, which
            chooses among all these and says in `stats` what it took.
        strategies: whether strategies are wanted; without them some solvers are
            faster, and the solution's `strategy` is None.
        preprocess: names from [`preprocess`][jaxgames.parity.preprocess], applied in
            this order before the solve and undone after it. Not under tracing.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. A round reads every edge at least once.

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
    return drive.solve(
        PROBLEM, arena, solver, strategies=strategies, preprocess=preprocess, **how
    )


@limited()
def prepare(
    arena: Arena, solver: Solver | None = None, **bounds: Unpack[Bounds]
) -> tuple[Arena, ops.Game]:
    """The normal form of a concrete arena, and its layout on the device; kept with it.

    `solve` calls this; call it before to have its cost apart. Within
    [`parallel.over`][jaxgames.parallel.over] the layout is spread over the devices.

    Args:
        arena: a concrete arena.
        solver: the solver that it is for.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
    """
    game = normal(validity.checked(arena)[0], solver)
    return game, ops.prepare(game, ops.current_spread())


@limited()
def prepare_host(arena: Arena, **bounds: Unpack[Bounds]) -> Prepared | Rows:
    """The arrays that the host engine works on at first; kept with the arena.

    Args:
        arena: a concrete arena.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
    """
    arena = validity.checked(arena)[0]
    with host.plain(arena.shape[1]):
        return rows_for_host(arena) or for_host(arena)


def place_for(arena: Arena, solver: str | Solver = "auto") -> str:
    """Where `solve` solves a concrete game: `"device"`, `"host"` or `"race"`.

    Args:
        arena: the game.
        solver: as for `solve`.

    Raises:
        ValueError: there is no such solver.
    """
    return drive.place_for(PROBLEM, arena, solver)


def check_solver(solver: str | Solver) -> None:
    """Checks what `solve` may be given as a solver.

    Raises:
        ValueError: naming the solvers that there are.
    """
    drive.check_solver(PROBLEM, solver)

"""The front door of Büchi games: player 0 wants to visit accepting vertices."""

from jaxgames import drive, fixpoint
from jaxgames.arena import Arena
from jaxgames.buchi._problem import PROBLEM, Solution
from jaxgames.progress import Meter, Progress
from jaxgames.solver import Solver


def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    strategies: bool = True,
    deadline: float | None = None,
    memory: int | None = None,
) -> Solution:
    """Decides who wins a Büchi game from each vertex, and how.

    Player 0 wins a play that visits accepting vertices infinitely often, player 1 any
    other. Works inside `jax.jit` and `jax.vmap` on a traced arena.

    Args:
        arena: a game with accepting vertices; every vertex has a successor.
        solver: a name from `GAME_SOLVERS`; a solver with options of its own; `"host"`
            for the sequential engine, which wants numba to be fast; `"race"` for both
            at once; or `"auto"`, which chooses.
        max_steps: rounds on the device at most, those of `state` counted in. None: no
            limit.
        state: `solution.state` of an earlier call with the same arena and solver, to
            go on where it stopped.
        throw: whether to raise where not every vertex was decided. Under tracing
            nothing is raised: look at `solution.status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        strategies: whether strategies are wanted. Without, the solution's is None.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        Winners and strategies: [`Solution`][jaxgames.buchi.Solution]; the same from
        every solver.

    Raises:
        ValueError: the arena has no accepting vertices, a vertex lacks successors, or
            an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    Examples:
        >>> from jaxgames import Arena, buchi
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 2, 2], owner=[0, 1, 0], accepting=[1, 0, 0]
        ... )
        >>> found = buchi.solve(arena)
        >>> found
        Solution(player 0 wins 1, player 1 wins 2)
        >>> found.strategy
        array([ 0,  2, -1], dtype=int32)
    """
    return drive.solve(
        PROBLEM,
        arena,
        solver,
        max_steps=max_steps,
        state=state,
        throw=throw,
        progress=progress,
        strategies=strategies,
        deadline=deadline,
        memory=memory,
    )

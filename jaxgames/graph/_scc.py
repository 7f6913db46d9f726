"""The front door to components."""

from typing import Any, Unpack

from jaxgames import drive
from jaxgames.graph._problem import PROBLEM, SOLVERS, Masked
from jaxgames.graph._solution import Components
from jaxgames.graph._solver import ComponentSolver


@drive.front_door
def scc(
    graph: Any,
    solver: str | ComponentSolver = "auto",
    *,
    vertices: Any = None,
    edges: Any = None,
    **how: Unpack[drive.How],
) -> Components:
    """Finds the strongly connected components of a graph.

    Two vertices are in one component if each is reached from the other. Works inside
    `jax.jit` and `jax.vmap` on a traced arena. On a concrete graph the host lays it out
    for the device, drives the loop and can be interrupted.

    Args:
        graph: an [`Arena`][jaxgames.Arena]; a pair `(indptr, indices)`; a sparse matrix
            with a method `tocsr`; or [`Directions`][jaxgames.graph.Directions] made on
            the device. Repeated edges and loops make no difference.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for both at
            once; or `"auto"`, which chooses among all these and says in `stats` what
            it took.
        vertices: bool `[V]`, the vertices that there are; None for all.
        edges: bool `[E]`, the edges that there are, in the order of the arena; None for
            all.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. A round reads every edge at least once.

    Returns:
        Their number, and the component of each vertex:
        [`Components`][jaxgames.graph.Components]; the same from every solver.

    Raises:
        ValueError: the graph or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds
            what was found, and the state to go on from.

    Examples:
        >>> from jaxgames import graph
        >>> components = graph.scc(([0, 1, 3, 4, 4], [1, 0, 2, 2]))
        >>> components
        Components(3 of 4 vertices)
        >>> components.labels
        array([0, 0, 1, 2], dtype=int32)
    """
    sent = solver not in SOLVERS.places
    rounds = how.get("max_steps") is not None or how.get("state") is not None
    stays = solver == drive.HOST or (solver == "auto" and not rounds)
    return drive.solve(
        PROBLEM, Masked(graph, vertices, edges, sent, stays), solver, **how
    )

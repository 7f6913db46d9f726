"""The front door to accepting cycles."""

from typing import Any, Unpack

from jaxgames import drive
from jaxgames.arena import is_traced
from jaxgames.buchi import _question
from jaxgames.buchi._cycles import CYCLES, SOLVERS, Asked
from jaxgames.buchi._question import Question
from jaxgames.buchi._solution import AcceptingCycle
from jaxgames.limits import Bounds, limited
from jaxgames.solver import Solver


@drive.front_door
def accepting_cycle(
    graph: Any,
    solver: str | Solver = "auto",
    *,
    accepting: Any = None,
    initial: Any = 0,
    partition: Any = None,
    **how: Unpack[drive.How],
) -> AcceptingCycle:
    """Finds out whether an accepting cycle is reached, and shows one.

    An accepting cycle leads through an accepting vertex. In the product of a system and
    a Büchi automaton for what must not happen there is one if and only if it can
    happen; and the lasso shows how. Works inside `jax.jit` and `jax.vmap` on a traced
    arena, without the lasso. On a concrete graph the host lays it out for the device,
    drives the loop and can be interrupted.

    Args:
        graph: a [`Product`][jaxgames.systems.Product], which has accepting and initial
            vertices and a partition of its own; an [`Arena`][jaxgames.Arena]; a pair
            `(indptr, indices)`; or a sparse matrix with a method `tocsr`. Vertices may
            lack successors. Or all of them, read before by
            [`prepare`][jaxgames.buchi.prepare].
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for host and
            device at once, the first to finish wins; or `"auto"`, which splits the
            graph by the partition, looks what kind each part is, and chooses. For a
            batch it takes the components, which are the same for all sets.
        accepting: bool `[V]`, or vertices by number; None for those of the arena. For
            many sets on one graph: bool `[B, V]`.
        initial: where runs start: a vertex, several, or booleans `[V]`. None: anywhere,
            or all vertices are known to be reached.
        partition: what is known of cycles: no cycle leads through two parts. The part
            of each vertex, as integers `[V]`; or a pair of the state of the property
            automaton of each vertex, and the edges of that automaton, as integers
            `[Q, 2]` or a graph. None where nothing is known. On a concrete graph it is
            checked; under tracing it is a promise, and only the first form is taken.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. A round reads every edge at
            least once, or one of each vertex of a window.

    Returns:
        Whether there is one, and a lasso, each edge of which has been looked up again:
        [`AcceptingCycle`][jaxgames.buchi.AcceptingCycle].

    Raises:
        ValueError: the graph or an argument is wrong.
        SolveError: the search stopped early and `throw` is set. Its `solution` holds
            the state to go on from.

    Examples:
        >>> from jaxgames import buchi
        >>> offsets, targets = [0, 2, 4, 4, 5], [3, 2, 0, 2, 1]
        >>> found = buchi.accepting_cycle((offsets, targets), accepting=[0, 2])
        >>> bool(found.exists)
        True
        >>> found.lasso.prefix, found.lasso.cycle
        (array([], dtype=int32), array([0, 3, 1], dtype=int32))
    """
    sent = solver not in SOLVERS.places
    asked = Asked(graph, accepting, initial, partition, sent)
    return drive.solve(CYCLES, asked, solver, **how)


@limited()
def prepare(
    graph: Any,
    *,
    accepting: Any = None,
    initial: Any = 0,
    partition: Any = None,
    **bounds: Unpack[Bounds],
) -> Question:
    """Checks the arguments of `accepting_cycle`, to ask more than once.

    What solvers lay out for the device is kept with the result, and with a product.

    Args:
        graph: as for [`accepting_cycle`][jaxgames.buchi.accepting_cycle], like all.
        accepting: the accepting vertices.
        initial: where runs start.
        partition: what is known of cycles.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        What `accepting_cycle` takes as a graph with all that belongs to it.

    Raises:
        ValueError: an argument is wrong, or traced.

    Examples:
        >>> from jaxgames import buchi
        >>> question = buchi.prepare(([0, 1, 2], [1, 0]), accepting=[0])
        >>> question
        Question(2 vertices, 2 edges, 1 parts)
        >>> buchi.accepting_cycle(question)
        AcceptingCycle(Lasso(0 + 2 vertices))
    """
    if is_traced((graph, accepting, initial, partition)):
        raise ValueError("prepare runs on the host, not under tracing by jax")
    return _question.read(graph, accepting, initial, partition, may_be_sent=True)

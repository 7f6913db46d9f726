"""The front door to accepting cycles: checks, and the choice of a solver."""

from typing import Any, Unpack

import jax.numpy as jnp

from jaxgames import fixpoint, host, ops, validity
from jaxgames.arena import is_traced
from jaxgames.buchi import _auto, _batch, _device, _question
from jaxgames.buchi._auto import DEVICE, HOST, RACE
from jaxgames.buchi._by_scc import ByScc, Graph
from jaxgames.buchi._map import Map, named, ranks
from jaxgames.buchi._owcty import Owcty
from jaxgames.buchi._question import Question
from jaxgames.buchi._solution import AcceptingCycle, undecided
from jaxgames.buchi._solver import NONE, CycleSolver, Problem
from jaxgames.buchi._trim import Trim
from jaxgames.graph import _links as of_graph
from jaxgames.graph._reach import spread
from jaxgames.limits import Bounds, limited
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.race import Track, is_short
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.solver import Registry, Solver

PLACES = (HOST, RACE)
"""What `solver` may name as well: the sequential engine, and the race of both."""

SOLVERS = Registry("accepting-cycle", Map, Owcty, Trim, ByScc, places=PLACES)
"""The solvers that are array programs, by name."""

INLINE = 1 << 20
"""Edges up to which the host engine runs in the caller's thread."""


@limited(undecided)
def accepting_cycle(
    graph: Any,
    *,
    accepting: Any = None,
    initial: Any = 0,
    solver: str | Solver = "auto",
    partition: Any = None,
    max_steps: int | None = None,
    state: Any = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
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
        accepting: bool `[V]`, or vertices by number; None for those of the arena. For
            many sets on one graph: bool `[B, V]`.
        initial: where runs start: a vertex, several, or booleans `[V]`. None: anywhere,
            or all vertices are known to be reached.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for host and
            device at once, the first to finish wins; or `"auto"`, which splits the
            graph by the partition, looks what kind each part is, and chooses. For a
            batch it takes the components, which are the same for all sets.
        partition: what is known of cycles: no cycle leads through two parts. The part
            of each vertex, as integers `[V]`; or a pair of the state of the property
            automaton of each vertex, and the edges of that automaton, as integers
            `[Q, 2]` or a graph. None where nothing is known. On a concrete graph it is
            checked; under tracing it is a promise, and only the first form is taken.
        max_steps: rounds on the device at most (a round reads every edge at least
            once, or one of each vertex of a window), those of `state` counted in. None:
            no limit.
        state: `solution.state` of an earlier call with the same arguments, to go on
            where it stopped.
        throw: whether to raise where the search was stopped early. Under tracing
            nothing is raised: look at `solution.status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

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
    traced = is_traced((graph, accepting, initial, partition, state, max_steps))
    on_host = isinstance(solver, str) and solver in PLACES
    if not on_host:
        SOLVERS.resolve(solver)
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if traced:
        _check_traced(solver, on_host)
        return _traced(graph, accepting, initial, partition, solver, max_steps, state)
    with ops.at_once():  # a constant of somebody's jit is still one
        question = _question.read(graph, accepting, initial, partition)
        noted = host.told_if_slow(solver, question.arena.shape[1])
        meter = as_progress(progress)
        found = noted(_concrete(question, solver, max_steps, state, meter))
    if throw and found.status != Status.SOLVED:
        raise SolveError(found.status, found)
    return found


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
    return _question.read(graph, accepting, initial, partition)


def _concrete(question: Question, solver, max_steps, state, meter) -> AcceptingCycle:
    limits = {"max_steps": max_steps, "state": state}
    limited = max_steps is not None or state is not None
    if solver in PLACES and limited:
        raise ValueError(
            f"max_steps and state are the device's: solver={solver!r} takes neither"
        )
    if len(question.starts) == 0:
        return _nowhere(question)
    if question.accepting.ndim == 2:
        return _many(question, solver, limits, meter)
    place = _auto.place_for(question.arena) if solver == "auto" else solver
    if solver == "auto" and (limited or ops.current_spread() is not None):
        return _device.run(question, Map(trim=True), meter=meter, **limits)
    if place == HOST:
        small = is_short(question.arena.shape[1], INLINE)
        return _auto.on_host(question, meter, inline=small)
    if place == RACE:
        return _auto.in_race(question, meter)
    if place == DEVICE:
        return _auto.in_stages(question, meter, Track())
    if solver == ByScc.name or isinstance(solver, ByScc):
        chosen = None if isinstance(solver, str) else solver
        return _device.run_by_scc(question, chosen, meter=meter, **limits)
    return _device.run(question, SOLVERS.resolve(solver), meter=meter, **limits)


def _many(question: Question, solver, limits, meter) -> AcceptingCycle:
    if solver in ("auto", *PLACES, ByScc.name) or isinstance(solver, ByScc):
        chosen = solver if isinstance(solver, ByScc) else None
        return _device.run_by_scc(question, chosen, meter=meter, **limits)
    return _batch.run_batch(question, SOLVERS.resolve(solver), meter=meter, **limits)


def _nowhere(question: Question) -> AcceptingCycle:
    """The answer where no run starts."""
    stats, batch = Stats(solver="auto"), question.accepting.shape[:-1]
    if batch:
        return _device.decided_batch(question, [None] * batch[0], stats, None)
    return _device.decided(question, None, stats, None)


# ---- under tracing ---------------------------------------------------------------


def _check_traced(solver, on_host: bool) -> None:
    if on_host:
        raise ValueError(
            f"solver={solver!r} runs on the host, where a traced graph cannot be: name "
            "a solver of the device: map, owcty or scc"
        )
    if solver == Trim.name or isinstance(solver, Trim):
        raise ValueError(
            "solver='trim' has to see that every part is weak, which a traced graph "
            "does not show: take map, owcty or scc"
        )


def _traced(arena, accepting, initial, partition, solver, max_steps, state):
    arena, fault, accepting, starts, part = _question.read_traced(
        arena, accepting, initial, partition
    )
    solver = Map(trim=True) if solver == "auto" else SOLVERS.resolve(solver)
    if arena.shape[0] == 0:
        return _none_of_nothing(solver)
    links = of_graph.traced(arena)
    inside = of_graph.inside(arena)
    reached = spread(links.into, starts, inside)
    part = jnp.where(reached, part, 0)
    accepting = jnp.asarray(accepting)
    size = arena.shape[0]
    if isinstance(solver, ByScc):
        game = Graph(links.out, links.into, part, accepting)
    else:
        assert isinstance(solver, CycleSolver)
        out = links.into if solver.backward else links.out
        game = Problem(out, accepting, part, ranks(solver, size, size, traced=True))
    machine = named(solver)
    outcome = fixpoint.traced(machine, game, state, max_steps)
    facts = machine.stats(game, outcome.carry.state)
    found = AcceptingCycle(
        status=outcome.status,
        exists=outcome.answer.exists,
        decided=outcome.status == Status.SOLVED,
        witness=jnp.where(outcome.answer.exists, outcome.answer.witness, NONE),
        stats=Stats(solver=solver.name, rounds=outcome.rounds, **facts),
        state=outcome.carry,
    )
    return validity.withdrawn(fault, found)


def _none_of_nothing(solver) -> AcceptingCycle:
    return AcceptingCycle(
        status=jnp.int32(Status.SOLVED),
        exists=jnp.array(False),
        decided=jnp.array(True),
        witness=jnp.int32(NONE),
        stats=Stats(solver=solver.name),
    )

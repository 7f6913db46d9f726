"""The front door to components: checks, and the choice of an engine."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, host, memory, ops, race, states, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.graph import _device, _links
from jaxgames.graph._components import Components, undecided
from jaxgames.graph._fb_trim import FBTrim
from jaxgames.graph._host import STOPPED, scc_on_host
from jaxgames.graph._input import check_masks, read
from jaxgames.graph._links import Directions
from jaxgames.graph._max_id import MaxId
from jaxgames.graph._solver import ComponentSolver, Subgraph
from jaxgames.graph._turns import Turns
from jaxgames.limits import limited
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.solver import Registry

HOST, DEVICE, RACE = "host", "device", "race"
PLACES = (HOST, RACE)
"""What `solver` may name as well: the sequential engine, and the race of both."""

SOLVERS = Registry("component", MaxId, FBTrim, places=PLACES, base=ComponentSolver)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the graph is traced.
"""

INLINE = 1 << 20
"""Edges up to which the host engine runs in the caller's thread."""

COMPRESS_FROM = 1 << 21
"""Vertices from which `"auto"` compresses a narrow graph at once; of fewer it ..."""

TRIES = 3
"""... first makes so many rounds without, besides one for each bit of V: with jumps
alone that is often enough, as on a path.
"""


@limited(undecided)
def scc(
    graph: Any,
    solver: str | ComponentSolver = "auto",
    *,
    vertices: Any = None,
    edges: Any = None,
    max_steps: int | None = None,
    state: Any = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
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
        max_steps: rounds on the device at most (a round reads every edge at least
            once), those of `state` counted in. None: no limit.
        state: `solution.state` of an earlier call with the same graph and solver, to
            go on where it stopped.
        throw: whether to raise where not every vertex was decided. Under tracing
            nothing is raised: look at `solution.status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

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
        >>> np.asarray(components.labels)
        array([0, 0, 1, 2], dtype=int32)
    """
    fault: Any = False
    if not isinstance(graph, Directions):
        graph, fault = read(graph)
    traced = is_traced((graph, vertices, edges, state, max_steps))
    _check(graph, solver, vertices, edges, max_steps, traced)
    if traced:
        found = _scc_traced(graph, solver, vertices, edges, max_steps, state)
        return validity.withdrawn(fault, found, count=0)
    with ops.at_once():  # a constant of somebody's jit is still one
        noted = host.told_if_slow(
            solver, 0 if isinstance(graph, Directions) else graph.shape[1]
        )
        found = noted(
            _scc_concrete(
                graph, solver, vertices, edges, max_steps, state, as_progress(progress)
            )
        )
    if throw and found.status != Status.SOLVED:
        raise SolveError(found.status, found)
    return found


def _check(graph, solver, vertices, edges, max_steps, traced: bool) -> None:
    on_host = isinstance(solver, str) and solver in PLACES
    if not on_host:
        _resolve(solver)
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if on_host and (traced or isinstance(graph, Directions)):
        raise ValueError(
            f"solver={solver!r} runs on the host, where a traced graph, or one made on "
            f"the device, cannot be: name a solver of the device, {', '.join(SOLVERS)}"
        )
    if isinstance(graph, Directions):
        _links.check(graph, vertices, edges)
    else:
        check_masks(graph, vertices, edges)


def _resolve(solver: str | ComponentSolver) -> ComponentSolver:
    found = SOLVERS.resolve(solver)
    if not isinstance(found, ComponentSolver):
        raise ValueError(f"solver must be a name or a component solver, got {solver!r}")
    return found


def _alive(graph, vertices, size: int):
    """The vertices that there are, of `size` rows."""
    if isinstance(graph, Directions):
        return jnp.ones(size, bool) if vertices is None else jnp.asarray(vertices)
    alive = _links.real_rows(graph, size)
    if vertices is None:
        return alive
    vertices = jnp.asarray(vertices)
    return alive & jnp.pad(vertices, (0, size - len(vertices)))


# ---- under tracing ---------------------------------------------------------------


def _scc_traced(graph, solver, vertices, edges, max_steps, state) -> Components:
    solver = _resolve(solver)
    links = graph if isinstance(graph, Directions) else _links.traced(graph, edges)
    game = Subgraph(*links, _alive(graph, vertices, links.out.num_rows))
    outcome = fixpoint.traced(solver, game, state, max_steps)
    return Components(
        count=outcome.answer.count,
        labels=outcome.answer.labels,
        status=outcome.status,
        stats=Stats(
            solver=solver.name,
            layout=_layout(game),
            rounds=outcome.rounds,
            **solver.stats(game, outcome.carry.state),
        ),
        state=outcome.carry,
    )


def _layout(game: Subgraph | Directions) -> str:
    return ops.links_layout(game.out)


# ---- concrete graphs -------------------------------------------------------------


def _scc_concrete(graph, solver, vertices, edges, max_steps, state, meter):
    limited = max_steps is not None or state is not None
    place = _place_for(graph, solver)
    if limited and solver in PLACES:
        raise ValueError(
            f"max_steps and state are the device's: solver={solver!r} takes neither"
        )
    if place == HOST and not limited:
        return _on_host(graph, vertices, edges, meter)

    def on_device(meter: Meter) -> Components:
        return _on_device(graph, solver, vertices, edges, max_steps, state, meter)

    if place == DEVICE or limited:
        return on_device(meter)
    track = race.Track()

    def beside() -> Components:
        track.wait(race.HEAD_START * graph.shape[1])
        return _run_host(graph, vertices, edges, track)

    engines = {DEVICE: lambda: on_device(track.meter), HOST: beside}
    return race.first(track, engines, progress=meter, prefer=DEVICE)


def _place_for(graph: Arena | Directions, solver) -> str:
    """Where a concrete graph is taken apart.

    Without numba there is no host engine to speak of. With it a CPU leaves the graph to
    the host engine, and so does a GPU if it is small, since launches alone would take
    longer; for all others both race.
    """
    if isinstance(solver, str) and solver in PLACES:
        return solver
    if solver != "auto" or isinstance(graph, Directions) or not host.can_compile():
        return DEVICE
    if ops.current_spread() is not None:
        return DEVICE
    if jax.default_backend() == "cpu" or graph.shape[1] < ops.SLICE_FROM:
        return HOST
    return RACE


def _on_host(arena: Arena, vertices, edges, meter) -> Components:
    if race.is_short(arena.shape[1], INLINE):
        return _run_host(arena, vertices, edges)
    track = race.Track()
    engines = {HOST: lambda: _run_host(arena, vertices, edges, track)}
    return race.first(track, engines, progress=meter)


def _run_host(arena: Arena, vertices, edges, track=None) -> Components:
    stop = None if track is None else track.stop
    count, labels = scc_on_host(arena, vertices, edges, stop=stop)
    stopped = count == STOPPED
    return Components(
        count=np.int32(0 if stopped else count),
        labels=labels,
        status=Status.INTERRUPTED if stopped else Status.SOLVED,
        stats=Stats(solver=HOST),
    )


def _on_device(graph, solver, vertices, edges, max_steps, state, meter) -> Components:
    auto = solver == "auto"
    size, solver = None, _resolve(solver)
    if isinstance(graph, Directions):
        links = graph
    else:
        size = graph.shape[0]
        edges = None if edges is None else np.asarray(edges)
        if state is None:
            _check_room(graph, solver)
        links = _links.prepare(graph, edges, ops.current_spread())
        if auto and _links.is_narrow(graph):
            solver = MaxId(compress=True)
    run = functools.partial(_device.advance, meter=meter)
    rows = links.out.num_rows
    game = Subgraph(*links, _alive(graph, vertices, rows))
    if state is None:
        begin = functools.partial(_device.start, game, masked=vertices is not None)
        found = None
        if solver.compress and auto and max_steps is None and rows < COMPRESS_FROM:
            plain = dataclasses.replace(solver, compress=False)
            found = run(plain, begin(plain), max_steps=rows.bit_length() + TRIES)
        if found is None or found[1] == Status.MAX_STEPS:
            found = run(solver, begin(solver), max_steps=max_steps)
    else:
        states.check_class(state, _device.Standing)
        states.check(_device.origin_of(game, solver), state.origin)
        found = run(solver, state, max_steps=max_steps)
    standing, status, answer = found
    if size not in (None, links.out.num_rows):
        # Cut on the host: a device would compile a slice for each number of vertices.
        answer = jax.device_get(answer)
        answer = answer._replace(labels=answer.labels[:size])
    course = standing.course
    facts = solver.stats(course.graph, course.state)
    for name, more in standing.facts.items():
        facts[name] = facts.get(name, 0) + more
    return Components(
        count=answer.count,
        labels=answer.labels,
        status=status,
        stats=Stats(
            solver=solver.name,
            layout=_layout(links),
            rounds=int(course.rounds),
            **facts,
        ),
        state=standing,
    )


def _check_room(arena: Arena, solver: ComponentSolver) -> None:
    size, edges = arena.shape

    def shapes() -> Subgraph:
        links = memory.shape_of_links(size, edges, size)
        return Subgraph(links, links, memory.mask(size))

    # The state has the links, as they become fewer.
    memory.check(Turns(solver=solver), shapes, size, edges, layouts=0)

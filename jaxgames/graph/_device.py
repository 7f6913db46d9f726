"""Components of a concrete graph on the device: the host moves what is left.

The device sweeps and makes turns. Once few links are left it stops, and they move to a
smaller list with room for a power of two, whose compiled sweeps all graphs share.
"""

import dataclasses
from functools import partial
from typing import Any

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.graph import _compress
from jaxgames.graph._compress import Listed, room_for
from jaxgames.graph._solver import NONE, Answer, ComponentMachine, Subgraph, number
from jaxgames.graph._turns import (
    Course,
    Turns,
    begin,
    cut_dead,
    sweeps_of_step,
    trim,
)
from jaxgames.later import jax, jnp
from jaxgames.progress import Meter
from jaxgames.solution import Status
from jaxgames.states import Origin, register


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Standing:
    """Where a solve stands.

    Attributes:
        course: what is left of the graph, and the solver's state.
        larger: for each graph that the present one came from, its roots so far, and
            the numbers of the next one's vertices in it.
        way_back: what compression did before.
        facts: counts for the statistics.
        origin: what it is of.
    """

    course: Course
    larger: tuple[tuple[jax.Array, jax.Array], ...] = ()
    way_back: tuple[Any, ...] = ()
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)
    origin: Origin | None = None


def origin_of(game: Subgraph, solver: ComponentMachine) -> Origin:
    """What a standing is of; that a graph was compressed makes no difference later."""
    return fixpoint.origin(dataclasses.replace(solver, compress=False), game)


def start(game: Subgraph, solver: ComponentMachine, masked: bool = True) -> Standing:
    """The beginning of a solve.

    `masked` says whether there may be links between vertices that are alive and others.
    """
    origin = origin_of(game, solver)
    if masked:
        game = _without_dead(game)
    way_back, facts = [], {}
    if solver.compress:
        rooms = tuple(map(room_for, np.asarray(_rows(game)).tolist()))
        listed = _listed(game, rooms, room_for(int(_count(game.out))))
        with ops.programs_for(ops.mesh_of(game)):
            listed, way_back, facts = _compress.compress(listed)
        game = _linked(listed, ops.mesh_of(game))
    course = fixpoint.initial(Turns(solver=solver), game).state
    return Standing(course, way_back=tuple(way_back), facts=facts, origin=origin)


def advance(
    solver: ComponentMachine,
    standing: Standing,
    *,
    max_steps: int | None = None,
    meter: Meter | None = None,
) -> tuple[Standing, Status, Answer]:
    """Goes on until every vertex has a root; `max_steps` counts rounds from the start.

    Returns:
        Where it stopped, why, and the components that are known.
    """
    turns = Turns(solver=solver)
    limit = fixpoint.MAX_ROUNDS if max_steps is None else max_steps
    limit = fixpoint.scalar(min(limit, fixpoint.MAX_ROUNDS))
    while True:
        course = standing.course._replace(limit=limit)
        game = course.graph if ops.mesh_of(course.graph) else ()
        carry = fixpoint.Carry(course, fixpoint.scalar(0))
        chunk = max(1, fixpoint.FIRST_CHUNK // sweeps_of_step(course.graph))
        outcome = fixpoint.run(turns, game, carry, progress=meter, first_chunk=chunk)
        standing = dataclasses.replace(standing, course=outcome.carry.state)
        left, moves, *rows = np.asarray(outcome.answer).tolist()
        if outcome.status != Status.SOLVED or left == 0:
            return standing, outcome.status, _answer(standing)
        if not moves:
            return standing, Status.MAX_STEPS, _answer(standing)
        standing = _moved(solver, standing, left, rows)


@jax.jit
@ops.for_devices
def _without_dead(game: Subgraph) -> Subgraph:
    return cut_dead(game)


# ---- smaller graphs --------------------------------------------------------------


def _moved(
    solver: ComponentMachine, standing: Standing, left: int, rows: list[int]
) -> Standing:
    """Goes on with what is left as a list.

    So many vertices are `left` without a root, `rows` of them in each piece of the
    layout.
    """
    room = room_for(ops.cells_of_rows(standing.course.graph.out, rows))
    course, vertices, above = _smaller(
        solver, standing.course, tuple(map(room_for, rows)), room_for(left), room
    )
    larger = (*standing.larger, (above, vertices))
    return dataclasses.replace(standing, course=course, larger=larger)


@partial(jax.jit, static_argnums=(0, 2, 3, 4))
@ops.for_devices
def _smaller(solver: ComponentMachine, course: Course, rooms, size: int, room: int):
    """The rest as a list of links: no pass over all links is needed.

    Returns:
        Its course, the old numbers of its vertices, and the roots until now.
    """
    game, state = course.graph, course.state
    alive = game.alive & (state.root == NONE)
    last, mesh = len(alive) - 1, ops.mesh_of(game)
    tail, head = ops.list_links(game.out, alive, rooms, room)
    whole = Subgraph(
        ops.pairs(tail, head, last + 1, last + 1, mesh),
        ops.pairs(head, tail, last + 1, last + 1, mesh),
        alive,
    )
    live, _ = solver.live(whole, state)
    vertices = ops.compact(alive, size)
    place = ops.running_sum(alive) - 1
    there = live[0] & (tail <= last) & ops.take(alive, jnp.minimum(head, last))
    tail, head = (
        jnp.where(there, ops.take(place, jnp.minimum(x, last)), size)
        for x in (tail, head)
    )
    smaller = Subgraph(
        ops.pairs(tail, head, size, size, mesh),
        ops.pairs(head, tail, size, size, mesh),
        vertices <= last,
    )
    new = solver.restrict(smaller, state, vertices, place)
    smaller, new = trim(smaller, new)
    return begin(smaller, new, course.rounds), vertices, state.root


@jax.jit
@ops.for_devices
def _rows(game: Subgraph) -> jax.Array:
    return ops.count_rows(game.out, game.alive)


@partial(jax.jit, static_argnums=(1, 2))
@ops.for_devices
def _listed(game: Subgraph, rooms: tuple[int, ...], room: int) -> Listed:
    """The graph as a list of edges, where one that is gone is a loop."""
    tail, head = ops.list_links(game.out, game.alive, rooms, room)
    there = tail < len(game.alive)
    tail = jnp.where(there, tail, 0)
    return Listed(tail, jnp.where(there, head, tail), game.alive)


@partial(jax.jit, static_argnums=1)
@ops.for_devices
def _linked(game: Listed, mesh: jax.sharding.Mesh | None) -> Subgraph:
    size = len(game.alive)
    edges = game.tail != game.head
    tail, head = (jnp.where(edges, x, size) for x in (game.tail, game.head))
    return Subgraph(
        ops.pairs(tail, head, size, size, mesh),
        ops.pairs(head, tail, size, size, mesh),
        game.alive,
    )


# ---- the end ---------------------------------------------------------------------


def _answer(standing: Standing) -> Answer:
    """The components that are known, of all graphs that the present one came from."""
    root = standing.course.state.root
    with ops.programs_for(ops.mesh_of(standing.course.graph)):
        for above, vertices in reversed(standing.larger):
            root = _compress.moved_back(above, vertices, root)
        root = _compress.expand(list(standing.way_back), root)
        return _number(root)


_number = jax.jit(number)

_count = jax.jit(ops.count_links)

"""Components of a concrete graph on the device: the host makes the turns.

Between two turns the device sweeps. At a turn the host reads a few counts. Links that
are not needed any more are cut; once few are left, they move to a smaller list with
room for a power of two, whose compiled sweeps all graphs share.
"""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from jaxgames import fixpoint, ops
from jaxgames.arena import Arena
from jaxgames.graph import _compress
from jaxgames.graph._compress import Listed, room_for
from jaxgames.graph._host import scc_on_host
from jaxgames.graph._solver import (
    NONE,
    Answer,
    ComponentSolver,
    Subgraph,
    Sweeps,
    number,
)
from jaxgames.ops import PairLinks
from jaxgames.progress import Meter
from jaxgames.solution import Status

SHRUNK_SLICES = 4
"""Slices with less than this part of their links left become a list: that takes about
twice as long to read."""

SHRUNK_LIST = 2
"""A list with less than this part of its links left moves to a smaller one."""

FEW_LINKS = 1 << 16
"""So few links are finished on the host, where that is allowed: a sweep over them would
take no less time than one over many."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Standing:
    """Where a solve stands.

    Attributes:
        game: what is left of the graph.
        carry: the solver's state and the rounds made.
        larger: for each graph that the present one came from, its roots so far, and
            the numbers of the next one's vertices in it.
        way_back: what compression did before.
        facts: counts for the statistics.
    """

    game: Subgraph
    carry: fixpoint.Carry
    larger: tuple[tuple[jax.Array, jax.Array], ...] = ()
    way_back: tuple[Any, ...] = ()
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)


def start(game: Subgraph, solver: ComponentSolver, masked: bool = True) -> Standing:
    """The beginning of a solve.

    Args:
        game: the graph, laid out.
        solver: the solver; says whether to rake and compress first.
        masked: whether there may be links between vertices that are alive and others.
    """
    if masked:
        game = _cut_dead(game)
    way_back, facts = [], {}
    if solver.compress:
        rooms = tuple(_rooms(_rows(game)))
        listed = _listed(game, rooms, room_for(int(ops.count_links(game.out))))
        with ops.programs_for(ops.mesh_of(game)):
            listed, way_back, facts = _compress.compress(listed)
        game = _linked(listed, ops.mesh_of(game))
    carry = fixpoint.first(Sweeps(solver=solver), game)
    return Standing(game, carry, way_back=tuple(way_back), facts=facts)


def advance(
    solver: ComponentSolver,
    standing: Standing,
    *,
    max_steps: int | None = None,
    meter: Meter | None = None,
    finish_on_host: bool = False,
) -> tuple[Standing, Status, Answer]:
    """Goes on until every vertex has a root.

    Args:
        solver: the solver.
        standing: where to go on.
        max_steps: rounds at most, those of `standing` counted in.
        meter: told now and then; may end the solve.
        finish_on_host: whether the host may take over when few links are left.

    Returns:
        Where it stopped, why, and the components that are known.
    """
    sweeps = Sweeps(solver=solver)
    status = Status.SOLVED
    game = ops.in_its_shares(standing.game, standing.game)  # it may be from a file
    standing = dataclasses.replace(standing, game=game)
    while int(standing.carry.state.left):
        if finish_on_host and _is_small(standing.game):
            standing = _finish(standing)
            break
        outcome = fixpoint.run(
            sweeps, standing.game, standing.carry, max_steps=max_steps, progress=meter
        )
        standing = dataclasses.replace(standing, carry=outcome.carry)
        if outcome.status != Status.SOLVED:
            status = outcome.status
            break
        state, counts = _settle(solver, standing.game, outcome.carry.state)
        standing = _replaced(standing, standing.game, state)
        standing = _turned(solver, standing, np.asarray(counts).tolist())
    return standing, status, _answer(standing)


def _replaced(standing: Standing, game: Subgraph, state: Any) -> Standing:
    carry = standing.carry._replace(state=state)
    return dataclasses.replace(standing, game=game, carry=carry)


@partial(jax.jit, static_argnums=0)
@ops.for_devices
def _settle(solver: ComponentSolver, game: Subgraph, state: Any):
    """A settled state, and counts of what it leaves."""
    state = solver.settle(game, state)
    rows = ops.count_rows(game.out, game.alive & (state.root == NONE))
    return state, jnp.append(state.left, rows)


def _turned(solver: ComponentSolver, standing: Standing, counts: list[int]) -> Standing:
    """Starts again with what is left: a list, if it is few enough."""
    game, state = standing.game, standing.carry.state
    left, *rows = counts
    if left == 0:
        return standing
    links = ops.cells_of_rows(game.out, rows)
    part = SHRUNK_LIST if isinstance(game.out, PairLinks) else SHRUNK_SLICES
    room = room_for(links)
    if part * room > ops.num_cells(game.out) or not solver.can_shrink(state):
        cut = _cut if solver.cuts else _go_on
        return _replaced(standing, *cut(solver, game, state))
    smaller, vertices, state, above = _smaller(
        solver, game, state, tuple(map(room_for, rows)), room_for(left), room
    )
    return dataclasses.replace(
        _replaced(standing, smaller, state),
        larger=(*standing.larger, (above, vertices)),
    )


@partial(jax.jit, static_argnums=0)
@ops.for_devices
def _go_on(solver: ComponentSolver, game: Subgraph, state: Any):
    return game, solver.restart(game, state)


@partial(jax.jit, static_argnums=0)
@ops.for_devices
def _cut(solver: ComponentSolver, game: Subgraph, state: Any):
    """Only the links that a settled state needs; vertices without any are trimmed."""
    out, into = solver.live(game, state)
    out, into = ops.keep_links(game.out, out), ops.keep_links(game.into, into)
    game, state = _trim(Subgraph(out, into, game.alive), state)
    return game, solver.restart(game, state)


def _trim(game: Subgraph, state: Any):
    """Vertices without links of one direction are components of their own."""

    def linked(links):
        return ops.links_any(links, tuple(x >= 0 for x in ops.link_targets(links)))

    own = jnp.arange(len(game.alive), dtype=jnp.int32)
    alive = game.alive & (state.root == NONE)
    lone = alive & ~(linked(game.out) & linked(game.into))
    alive &= ~lone
    return _cut_dead(game._replace(alive=alive)), state._replace(
        root=jnp.where(lone, own, state.root), left=jnp.sum(alive, dtype=jnp.int32)
    )


@jax.jit
@ops.for_devices
def _cut_dead(game: Subgraph) -> Subgraph:
    """The graph without the links of dead vertices."""

    def kept(links):
        ends = zip(
            ops.at_rows(links, game.alive),
            ops.at_targets(links, game.alive),
            strict=True,
        )
        return ops.keep_links(links, tuple(x & y for x, y in ends))

    return Subgraph(kept(game.out), kept(game.into), game.alive)


# ---- smaller graphs --------------------------------------------------------------


@partial(jax.jit, static_argnums=(0, 3, 4, 5))
@ops.for_devices
def _smaller(solver: ComponentSolver, game: Subgraph, state: Any, rooms, size, room):
    """The rest as a list of links: no pass over all links is needed.

    Returns:
        The rest, the old numbers of its vertices, its state, and the roots until now.
    """
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
    smaller, new = _trim(smaller, new)
    return smaller, vertices, new, state.root


@jax.jit
@ops.for_devices
def _rows(game: Subgraph) -> jax.Array:
    return ops.count_rows(game.out, game.alive)


def _rooms(rows: jax.Array) -> list[int]:
    return [room_for(count) for count in np.asarray(rows).tolist()]


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
def _linked(game: Listed, mesh: Mesh | None) -> Subgraph:
    size = len(game.alive)
    edges = game.tail != game.head
    tail, head = (jnp.where(edges, x, size) for x in (game.tail, game.head))
    return Subgraph(
        ops.pairs(tail, head, size, size, mesh),
        ops.pairs(head, tail, size, size, mesh),
        game.alive,
    )


# ---- the end ---------------------------------------------------------------------


def _ends(game: Subgraph) -> tuple[jax.Array, jax.Array]:
    """The links as lists."""
    assert isinstance(game.out, PairLinks)
    return game.out.tail, game.out.head


def _is_small(game: Subgraph) -> bool:
    return isinstance(game.out, PairLinks) and game.out.tail.shape[0] <= FEW_LINKS


def _finish(standing: Standing) -> Standing:
    """The rest by the engine of the host."""
    game, state = standing.game, standing.carry.state
    alive = np.asarray(game.alive) & (np.asarray(state.root) == NONE)
    tail, head = (np.asarray(x) for x in _ends(game))
    edges = tail < len(alive)
    arena = Arena.from_edges(
        tail[edges], head[edges], owner=np.zeros(len(alive), bool), dead_ends="allow"
    )
    _, labels = scc_on_host(arena, alive)
    least = np.full(len(alive), NONE, np.int32)
    found = np.flatnonzero(labels >= 0)[::-1]
    least[labels[found]] = found
    root = jnp.where(alive, least[labels], state.root)
    facts = {**standing.facts, "finished_on_host": int(alive.sum())}
    state = state._replace(root=root, left=jnp.int32(0))
    return dataclasses.replace(
        standing, carry=standing.carry._replace(state=state), facts=facts
    )


def _answer(standing: Standing) -> Answer:
    """The components that are known, of all graphs that the present one came from."""
    root = standing.carry.state.root
    with ops.programs_for(ops.mesh_of(standing.game)):
        for above, vertices in reversed(standing.larger):
            root = _merged(above, vertices, root)
        root = _compress.expand(list(standing.way_back), root)
        return _number(root)


@jax.jit
def _merged(above: jax.Array, vertices: jax.Array, root: jax.Array) -> jax.Array:
    old = ops.take(vertices, jnp.maximum(root, 0))
    return ops.put(above, vertices, jnp.where(root == NONE, NONE, old))


_number = jax.jit(number)

"""Rake and compress: trimming, and contraction of vertices with one neighbour.

A graph is a list of edges in no order; one that is gone is a loop. A pass is one
compiled function, and all passes of one padded size share it. What a pass did stays on
the device as a few arrays, from which a second function takes roots back.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.graph._solver import NONE
from jaxgames.later import jax, jnp
from jaxgames.states import register
from jaxgames.tuning.graph import GAIN, LARGE_BITS, LEAST_ROOM, MOST_PASSES, TRIMS


class Listed(NamedTuple):
    """A graph as a list of edges."""

    tail: jax.Array  # int32 [E]
    head: jax.Array  # int32 [E]; the tail where the edge is gone
    alive: jax.Array  # bool [V]


@register
class Contraction(NamedTuple):
    """What a contraction did; tails and heads change places where it goes backwards."""

    tail: jax.Array  # int32 [E], before it
    head: jax.Array  # int32 [E], before it
    parent: jax.Array  # int32 [V]: the only neighbour of a vertex that went, or itself
    into: jax.Array  # int32 [V]: the vertex that it was contracted into in the end
    gone: jax.Array  # bool [V]: whether it went


@register
class Trace(NamedTuple):
    """What a pass did to a graph."""

    trimmed: jax.Array  # bool [V]
    forward: Contraction
    backward: Contraction


@register
class Move(NamedTuple):
    """What a smaller room has for the vertices of a larger one."""

    vertices: jax.Array  # int32 [V']: their old numbers
    size: int


def compress(
    game: Listed, passes: int = MOST_PASSES
) -> tuple[Listed, list[Trace | Move], dict[str, int]]:
    """Takes out vertices that lie on no cycle, or have one successor or predecessor.

    A vertex that no edge enters, or none leaves, is a component of its own. Of a vertex
    with one successor that is contracted into it, and chains, trees and cycles of such
    vertices at once, by pointer doubling; then the same against the direction of the
    edges. What the components of the vertices that went are, is found by `expand`.

    A pass is O(E) work and O(log V) steps, with one wait for the device.

    Returns:
        The graph that is left; the way back; and how often it trimmed and contracted.

    Reference:
        Miller and Reif, Parallel tree contraction and its application, FOCS 1985,
        doi:10.1109/SFCS.1985.43.
    """
    way_back: list[Trace | Move] = []
    counts = np.asarray(_count(game)).tolist()
    done = 0
    while done < passes and counts[1]:
        game, trace = _pass(game)
        way_back.append(trace)
        done += 1
        before, counts = counts, np.asarray(_count(game)).tolist()
        rooms = [room_for(count) for count in counts]
        if 2 * rooms[1] <= len(game.tail):
            size = len(game.alive)
            game, vertices = _move(game, *rooms)
            way_back.append(Move(vertices, size))
        if all(GAIN * (b - a) < b for a, b in zip(counts, before, strict=True)):
            break
    return game, way_back, {"trim": TRIMS * done, "contractions": 2 * done}


def expand(way_back: list[Trace | Move], root: jax.Array) -> jax.Array:
    """Roots of all vertices from those of the vertices that are left."""
    for step in reversed(way_back):
        if isinstance(step, Move):
            empty = jnp.full(step.size, NONE, jnp.int32)
            root = moved_back(empty, step.vertices, root)
        else:
            root = _expand(step, root)
    return root


def room_for(count: int) -> int:
    """The next power of four, or of two if it is large; at least `LEAST_ROOM`.

    Few sizes, as each compiles anew, but no waste of memory.
    """
    bits = max(count - 1, LEAST_ROOM - 1).bit_length()
    return 1 << (bits if bits > LARGE_BITS else bits + bits % 2)


@jax.jit
def _count(game: Listed) -> jax.Array:
    """Vertices and edges."""
    return jnp.stack(
        [jnp.sum(x, dtype=jnp.int32) for x in (game.alive, game.tail != game.head)]
    )


def _pass(game: Listed) -> tuple[Listed, Trace]:
    game, trimmed = _rake(game)
    game, forward = _contract(game)
    game, backward = _contract(_turned(game))
    return _turned(game), Trace(trimmed, forward, backward)


@jax.jit
def _rake(game: Listed) -> tuple[Listed, jax.Array]:
    """The graph after some trimming, and what was trimmed."""
    before = game.alive
    for _ in range(TRIMS):
        game = _trim(game)
    return game, before & ~game.alive


def _turned(game: Listed) -> Listed:
    return Listed(game.head, game.tail, game.alive)


def _ends(game: Listed):
    """The least and the largest successor of each vertex; V and -1 without any."""
    size = len(game.alive)
    tail = jnp.where(game.tail != game.head, game.tail, size)
    return (
        ops.min_into(tail, game.head, size, size),
        ops.max_into(tail, game.head, size, NONE),
    )


def _without(game: Listed, alive: jax.Array) -> Listed:
    """The graph without the edges of vertices that are not alive."""
    stays = ops.take(alive, game.tail) & ops.take(alive, game.head)
    return Listed(game.tail, jnp.where(stays, game.head, game.tail), alive)


def _trim(game: Listed) -> Listed:
    leaves = _ends(game)[1] != NONE
    entered = _ends(_turned(game))[1] != NONE
    return _without(game, game.alive & leaves & entered)


@jax.jit
def _contract(game: Listed) -> tuple[Listed, Contraction]:
    """Contracts vertices with one successor into that; of a cycle the least stays."""
    own = jnp.arange(len(game.alive), dtype=jnp.int32)
    least, largest = _ends(game)
    single = game.alive & (least == largest)
    into = ops.follow(jnp.where(single, least, own))
    gone = into != own
    stays = ~ops.take(gone, game.tail) & (game.tail != game.head)
    head = jnp.where(stays, ops.take(into, game.head), game.tail)
    parent = jnp.where(gone, least, own)
    trace = Contraction(game.tail, game.head, parent, into, gone)
    return Listed(game.tail, head, game.alive & ~gone), trace


@jax.jit
def _expand(trace: Trace, root: jax.Array) -> jax.Array:
    root = _undo(trace.forward, _undo(trace.backward, root))
    own = jnp.arange(len(root), dtype=jnp.int32)
    return jnp.where(trace.trimmed, own, root)


def _undo(trace: Contraction, root: jax.Array) -> jax.Array:
    """A vertex that went is of the component that it went into, if that reaches it.

    It does by an edge from a vertex of the component that stayed, to the vertex itself
    or to one that was contracted into it: those that went have no other edges.
    """
    own = jnp.arange(len(root), dtype=jnp.int32)
    goal = ops.take(root, trace.into)
    enters = ops.take(trace.gone, trace.head) & ~ops.take(trace.gone, trace.tail)
    enters &= ops.take(root, trace.tail) == ops.take(goal, trace.head)
    head = jnp.where(enters, trace.head, len(root))
    reached = ops.max_into(head, jnp.ones_like(head), len(root), 0)
    reached = ops.max_upwards(trace.parent, reached) > 0
    known = jnp.where(reached | (goal == NONE), goal, own)
    return jnp.where(trace.gone, known, root)


@partial(jax.jit, static_argnums=(1, 2))
def _move(game: Listed, room: int, edge_room: int) -> tuple[Listed, jax.Array]:
    """The graph in less room, and the old numbers of its vertices."""
    size = len(game.alive)
    vertices = ops.compact(game.alive, room)
    edges = ops.compact(game.tail != game.head, edge_room)
    place = ops.running_sum(game.alive) - 1
    there = edges < len(game.tail)

    def end(x):
        x = ops.take(x, jnp.minimum(edges, len(x) - 1))
        return jnp.where(there, ops.take(place, x), 0)

    return Listed(end(game.tail), end(game.head), vertices < size), vertices


@jax.jit
def moved_back(above: jax.Array, vertices: jax.Array, root: jax.Array) -> jax.Array:
    """Roots in the old numbers, and those `above` of vertices that had one before."""
    old = ops.take(vertices, jnp.maximum(root, 0))
    return ops.put(above, vertices, jnp.where(root == NONE, NONE, old))

"""Contraction on the device: vertices that make no difference go.

A game is a list of edges in no order, in which those that go leave a gap: it takes no
sort to change it, and what stays keeps its number. A pass is one compiled function,
and all passes of one padded size share it. What a pass did stays on the device as a
few arrays, from which a second function takes a solution back.
"""

from functools import partial
from typing import NamedTuple, Unpack

import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena, bucket
from jaxgames.arguments import integer
from jaxgames.graph.host import group
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.parity._game import compress
from jaxgames.parity.preprocess._reduced import Reduced, reduction, translate
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.tuning.parity import LEAST_ROOM, SHRUNK


class _Game(NamedTuple):
    """Vertices and edges; an edge that is gone is a loop of the last vertex."""

    tail: jax.Array  # int32 [E]
    head: jax.Array  # int32 [E]
    owner: jax.Array  # bool [V]
    priority: jax.Array  # int32 [V]
    alive: jax.Array  # bool [V]


class _Trace(NamedTuple):
    """What a pass did to a game."""

    onward: jax.Array  # int32 [V]: where all plays get to from a vertex, bypassed
    host: jax.Array  # int32 [V]: the vertex that it was inlined into, or itself
    mover: jax.Array  # bool [V]: who moves, once owners that do not matter are changed
    stays: jax.Array  # bool [V]


@limited()
@reduction(edge_priorities=False)
def contract(arena: Arena, passes: int = 5, **bounds: Unpack[Bounds]) -> Reduced:
    """Takes out the vertices that make no difference, and edges that nobody needs.

    - *Bypassed* is a vertex with one successor, another one, that is at least as
      important (chains of them at once; of a cycle of them one stays). Edges lead on
      to the successor: what a play sees infinitely often has the same maximum.
    - *Inlined* is a vertex with one predecessor, another one, that is at least as
      important and has the same owner (trees of them at once). Its edges become the
      predecessor's, who makes both moves. The owner of a vertex with one successor
      does not matter: it is taken to be that of what it could be merged with.
    - Of a vertex with a loop, the loop or the other edges go: who has a loop of his
      own parity stays there, and any other loop is of no use.
    - Parallel edges, and differences between priorities that nothing tells apart.

    It runs on JAX's default device. A pass does all of this once, in a fixed number of
    gathers and scatters over edges, and O(log V) of them over vertices by pointer
    doubling. O(V + E) memory. Edges only become fewer.

    Args:
        arena: a game with vertex priorities.
        passes: how often at most; the first pass without a gain is the last. Every
            pass keeps a few arrays of the size of the game for the way back.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The contracted game, with edges of a row in the order of the original's:
        [`Reduced`][jaxgames.parity.preprocess.Reduced].

    Raises:
        ValueError: the arena is no parity game, or has edge priorities, or `passes` is
            no positive integer.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 1, 2, 3, 3], [1, 2, 3, 0, 3],
        ...     owner=[0, 1, 0, 1], priority=[0, 2, 3, 4],
        ... )
        >>> reduced = contract(arena)
        >>> reduced.arena
        Arena(1 vertices, 1 edges, priority)
        >>> reduced.undo(np.array([0]), np.array([-1]))
        (array([0, 0, 0, 0], dtype=int8), array([ 0, -1,  2, -1], dtype=int32))
    """
    passes = integer("passes", passes, 1)
    game, way_back = _on_device(arena), []
    counts, levels = arena.shape, _levels(arena)
    for number in range(passes):
        smaller, trace, new_counts = _pass(game, jnp.uint32(number), levels)
        before, counts = counts, tuple(np.asarray(new_counts).tolist())
        if counts == before:
            break
        way_back.append(partial(_undo, game, trace))
        game = smaller
        if SHRUNK * _room(*counts)[1] < game.tail.shape[0]:
            game, vertices, edges = _move(smaller, *_room(*counts))
            size = smaller.owner.shape[0]
            way_back.append(partial(_undo_move, size, vertices, edges))
    reduced, vertices, edges = _on_host(game)
    room = game.owner.shape[0]

    def undo(winner, strategy):
        answer = np.full(room, UNDECIDED, np.int8), np.full(room, NO_EDGE, np.int32)
        for all_of_them, some in zip(
            answer, (winner, translate(strategy, edges)), strict=True
        ):
            all_of_them[vertices] = some
        for undo_one in reversed(way_back):
            answer = undo_one(*answer)
        winner, strategy = (np.asarray(x)[: arena.shape[0]] for x in answer)
        return winner, strategy

    return Reduced(reduced, undo)


# ---- to the device and back ---------------------------------------------------


def _on_device(arena: Arena) -> _Game:
    size, edges = arena.shape
    room, edge_room = _room(size, edges)

    def pad(x, room, value):
        return jnp.asarray(np.pad(x, (0, room - len(x)), constant_values=value))

    return _Game(
        tail=pad(arena.src, edge_room, room - 1),
        head=pad(arena.dst, edge_room, room - 1),
        owner=pad(arena.owner, room, False),
        priority=pad(compress(arena.priority), room, 0),
        alive=jnp.arange(room) < size,
    )


def _room(size: int, edges: int) -> tuple[int, int]:
    return bucket(max(size + 1, LEAST_ROOM)), bucket(max(edges, LEAST_ROOM))


@partial(jax.jit, static_argnums=(1, 2))
def _move(game: _Game, room: int, edge_room: int):
    """The game in less room, and the old numbers of its vertices and edges."""
    size, edges = game.owner.shape[0], game.tail.shape[0]
    vertex, edge = ops.compact(game.alive)[:room], ops.compact(_edges(game))[:edge_room]
    place = jnp.cumsum(game.alive, dtype=jnp.int32) - 1

    def end(x):
        x = ops.take(place, ops.take(x, jnp.minimum(edge, edges - 1)))
        return jnp.where(edge < edges, x, room - 1)

    old = jnp.minimum(vertex, size - 1)
    return (
        _Game(
            tail=end(game.tail),
            head=end(game.head),
            owner=ops.take(game.owner, old),
            priority=ops.take(game.priority, old),
            alive=vertex < size,
        ),
        vertex,
        edge,
    )


@partial(jax.jit, static_argnums=0)
def _undo_move(size: int, vertex, edge, winner, strategy):
    """A solution in the old numbers of the game, with room for `size` vertices."""
    move = ops.take(edge, jnp.maximum(strategy, 0))
    move = jnp.where(strategy == NO_EDGE, NO_EDGE, move)
    return (
        ops.put(jnp.full(size, UNDECIDED, jnp.int8), vertex, winner),
        ops.put(jnp.full(size, NO_EDGE, jnp.int32), vertex, move),
    )


def _on_host(game: _Game) -> tuple[Arena, np.ndarray, np.ndarray]:
    """The real part of a game, and the numbers of its vertices and edges."""
    alive, owner, priority = map(np.asarray, (game.alive, game.owner, game.priority))
    vertices, edges = np.flatnonzero(alive), np.flatnonzero(np.asarray(_edges(game)))
    place = np.cumsum(alive, dtype=np.int32) - 1
    tail, head = (place[np.asarray(x)[edges]] for x in (game.tail, game.head))
    row_ptr, order = group(len(vertices), tail)
    reduced = Arena.from_csr(
        row_ptr, head[order], owner=owner[vertices], priority=priority[vertices]
    )
    return reduced, vertices, edges[order]


def _edges(game: _Game):
    """Which edges are there."""
    return game.tail != game.owner.shape[0] - 1


# ---- a pass -------------------------------------------------------------------


@partial(jax.jit, static_argnums=2)
def _pass(game: _Game, number: jax.Array, levels: int):
    """Bypasses, inlines, drops edges, merges priorities; how much stays."""
    size = game.owner.shape[0]
    vertex = jnp.arange(size, dtype=jnp.int32)

    onward, next_one, single = _bypass(game)
    stays = game.alive & (onward == vertex)
    edges = _edges(game) & ops.take(stays, game.tail)
    head = ops.take(onward, game.head)

    host, root, mover = _inline(game, edges, head, stays, next_one, single)
    stays &= root == vertex
    tail = ops.take(root, game.tail)
    edges &= ops.take(stays, head)

    # A loop is best if it is of the mover's own parity, and otherwise worst.
    wins = (game.priority & 1) == mover
    worse = (tail == head) ^ ops.take(wins, tail)
    best = ops.min_into(_only(edges, tail), worse.astype(jnp.int32), size, 1)
    edges &= worse == ops.take(best, tail)
    for salt in (2 * number, 2 * number + 1):
        edges &= ~ops.repeats(tail, head, edges, size, salt.astype(jnp.uint32))
    smaller = _Game(
        tail=jnp.where(edges, tail, size - 1),
        head=jnp.where(edges, head, size - 1),
        owner=mover,
        priority=_compress(game.priority, stays, levels),
        alive=stays,
    )
    counts = [jnp.sum(x, dtype=jnp.int32) for x in (stays, edges)]
    return smaller, _Trace(onward, host, mover, stays), jnp.stack(counts)


def _only(among, index):
    """The indices of some edges; for others one that is out of range."""
    return jnp.where(among, index, _NOWHERE)


_NOWHERE = np.iinfo(np.int32).max


def _bypass(game: _Game):
    """Where plays get to, the next vertex, and whether that is the only one."""
    size = game.owner.shape[0]
    vertex = jnp.arange(size, dtype=jnp.int32)
    next_one = ops.min_into(game.tail, game.head, size, size - 1)
    last_one = ops.max_into(game.tail, game.head, size, 0)
    single = game.alive & (next_one == last_one)
    no_more = game.priority <= ops.take(game.priority, next_one)
    onward = ops.follow(jnp.where(single & no_more, next_one, vertex))
    return onward, ops.take(onward, next_one), single


def _inline(game: _Game, edges, head, stays, next_one, single):
    """What each vertex is inlined into, at once and in the end, and who moves."""
    size = game.owner.shape[0]
    vertex = jnp.arange(size, dtype=jnp.int32)
    into = _only(edges, head)
    before = ops.min_into(into, game.tail, size, size - 1)
    last_before = ops.max_into(into, game.tail, size, 0)
    no_more = game.priority <= ops.take(game.priority, before)
    fits = (before == last_before) & no_more & stays
    # Where there is no choice the mover is that of the vertex to be merged with.
    like = jnp.where(single & stays, jnp.where(fits, before, next_one), vertex)
    mover = ops.take(game.owner, ops.follow(like))
    fits &= mover == ops.take(mover, before)
    host = jnp.where(fits, before, vertex)
    # Of a cycle of such vertices, which nothing else enters, one stays.
    root = ops.follow(host)
    return jnp.where(root == vertex, vertex, host), root, mover


def _compress(priority, alive, levels: int):
    """Merges neighbouring priorities of one parity."""
    level = jnp.arange(levels, dtype=jnp.int32)
    seen = ops.max_into(_only(alive, priority), jnp.ones_like(priority), levels, 0) > 0
    last = jax.lax.cummax(jnp.where(seen, level, -1))
    before = jnp.concatenate([jnp.full(1, -1, jnp.int32), last[:-1]])
    turns = seen & (((level ^ before) & 1) > 0) & (before >= 0)
    first = jnp.argmax(seen).astype(jnp.int32)
    rank = jnp.cumsum(turns, dtype=jnp.int32) + (first & 1)
    return ops.take(rank, priority)


def _levels(arena: Arena) -> int:
    """A size above every compressed priority."""
    top = int(compress(arena.priority).max(initial=0))
    return bucket(max(top + 1, LEAST_ROOM))


# ---- the way back -------------------------------------------------------------

LOST, OPEN, WON, CHOSEN = -1, 0, 1, 2
"""What an edge is worth to the player who moves there."""


@jax.jit
def _undo(game: _Game, trace: _Trace, winner, strategy):
    """A solution of the game after a pass as one of the game before it.

    A vertex that was inlined is worth what is best for its mover in the tree below it,
    and he goes there. Where the strategy leads from the root into the tree this is the
    chosen edge; all other moves in the tree are ways to leave it, once.
    """
    size, edge_room = game.owner.shape[0], game.tail.shape[0]
    vertex = jnp.arange(size, dtype=jnp.int32)
    edge = jnp.arange(edge_room, dtype=jnp.int32)
    stays, bypassed = trace.stays, trace.onward != vertex
    inlined = game.alive & ~stays & ~bypassed
    moves = _only(strategy != NO_EDGE, strategy)
    chosen = ops.max_into(moves, jnp.ones_like(moves), edge_room, 0) > 0

    target, mover = ops.take(trace.onward, game.head), ops.take(trace.mover, game.tail)
    end = ops.take(winner, target)
    worth = jnp.where(end == mover, WON, LOST)
    worth = jnp.where(end == UNDECIDED, OPEN, worth)
    worth = jnp.where(chosen, CHOSEN, worth)
    leads_down = ops.take(inlined, target)
    value = ops.max_into(_only(~leads_down, game.tail), worth, size, LOST)
    value = ops.max_upwards(trace.host, value)

    worth = jnp.where(leads_down, ops.take(value, target), worth)
    best = (worth == ops.take(value, game.tail)) | ops.take(bypassed, game.tail)
    move = ops.min_into(_only(best, game.tail), edge, size, edge_room)

    inside = jnp.where(value == OPEN, UNDECIDED, (value < OPEN) ^ trace.mover)
    winner = jnp.where(inlined, inside.astype(jnp.int8), winner)
    winner = ops.take(winner, trace.onward)
    sure = ~stays | (value == CHOSEN) | (trace.mover != game.owner)
    return winner, jnp.where((winner == game.owner) & sure, move, NO_EDGE)

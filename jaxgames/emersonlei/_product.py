"""The product of a traced game with all memories, and what its solution says.

How much of a product is reached depends on the game, and shapes must not. So there is a
copy of the game for each leaf of the tree of the condition, which is static.
"""

import dataclasses
from typing import Any

import numpy as np

from jaxgames import parity
from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._machine import Machine
from jaxgames.emersonlei._solution import Solution
from jaxgames.emersonlei.host import Leaves
from jaxgames.later import jax, jnp
from jaxgames.solution import NO_EDGE, Stats
from jaxgames.zielonka_tree import ZielonkaTree

NARROW = 31
"""Marks that a word of 32 bits holds, which is what JAX has unless told otherwise."""


def product(game: Game) -> Arena:
    """The parity game over all pairs of a vertex and a memory (pure).

    With `L` memories node `memory * V + vertex` has the edges `memory * E + edge`.

    Raises:
        ValueError: there are more marks than bits, or the product is too large.
    """
    leaves = Leaves(ZielonkaTree(game.condition))
    arena, (size, edges), many = game.arena, game.shape, len(leaves)
    if many * max(size, edges) > MAX_SIZE:
        raise ValueError(
            f"the product has {many} copies of each vertex and edge, which is more "
            f"than {MAX_SIZE} together"
        )

    def each(x: Any, stride: int = 0) -> jax.Array:
        """Copies of an array, each with numbers that are larger by the stride."""
        offset = stride * np.arange(many, dtype=np.int32)[:, None]
        copies = jnp.broadcast_to(x, (many, *x.shape))
        return (copies + offset if stride else copies).reshape(-1)

    of_vertices = _marks(game, game.vertex_marks, size)
    met = of_vertices[arena.src] | _marks(game, game.edge_marks, edges)
    after, colour = _read(leaves, met)
    labels: dict[str, Any] = {"edge_priority": colour.reshape(-1)}
    if game.edge_marks is None:
        labels = {"priority": _read(leaves, of_vertices)[1].reshape(-1)}
    return Arena(
        row_ptr=jnp.append(each(arena.row_ptr[:-1], edges), np.int32(many * edges)),
        src=each(arena.src, size),
        dst=(after * size + arena.dst).astype(jnp.int32).reshape(-1),
        owner=each(arena.owner),
        **labels,
        num_vertices=np.int32(many * size),
        num_edges=np.int32(many * edges),
    )


def solution(game: Game, made: Arena, found: parity.Solution) -> Solution:
    """The winners of the game, from those of the product (pure)."""
    size, edges = game.shape
    nodes = np.arange(made.shape[0], dtype=np.int32)
    strategy = machine = None
    if found.strategy is not None:
        move = found.strategy
        move = jnp.where(move == NO_EDGE, NO_EDGE, move % edges).astype(jnp.int32)
        strategy = move[:size]
        machine = Machine(
            vertex=jnp.asarray(nodes % size),
            memory=jnp.asarray(nodes // size),
            start=jnp.asarray(nodes[:size]),
            row_ptr=made.row_ptr,
            target=made.dst,
            move=move,
        )
    return Solution(
        winner=found.winner[:size],
        strategy=strategy,
        machine=machine,
        status=found.status,
        stats=Stats(**{**found.stats, "nodes": len(nodes)}),
        state=found.state,
    )


def unpadded(machine: Machine, size: int) -> Machine:
    """A machine without the nodes of vertices that are padding (host)."""
    keep = machine.vertex < size
    degree = np.diff(machine.row_ptr)
    number = (np.cumsum(keep) - 1).astype(np.int32)
    rows = np.concatenate([[0], np.cumsum(degree[keep])]).astype(np.int32)
    return dataclasses.replace(
        machine,
        vertex=machine.vertex[keep],
        memory=machine.memory[keep],
        start=number[machine.start[:size]],
        row_ptr=rows,
        target=number[machine.target[np.repeat(keep, degree)]],
        move=machine.move[keep],
    )


def _marks(game: Game, bits: Any, many: int) -> jax.Array:
    """The marks that the condition knows, of vertices or edges."""
    known, needed = 0, 0
    for mark in game.condition.marks:
        known, needed = known | 1 << mark, mark + 1
    if bits is None:
        return jnp.zeros(many, jnp.int32)
    bits = jnp.asarray(bits)
    if needed > NARROW and bits.dtype.itemsize < 8:
        raise ValueError(
            f"the condition has mark {needed - 1}, and arrays have {NARROW} bits under "
            "jax.jit: number the marks anew, or set jax_enable_x64"
        )
    return bits & known


def _read(leaves: Leaves, marks: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The next memory and the priority, for each memory `[L]` and some marks `[N]`."""
    label = jnp.asarray(leaves.label.astype(marks.dtype))
    parent, colour, turn = (
        jnp.asarray(x, jnp.int32) for x in (leaves.parent, leaves.colour, leaves.turn)
    )
    leaf = np.arange(len(leaves), dtype=np.int32)[:, None]
    node = jnp.broadcast_to(
        leaves.leaves.astype(np.int32)[leaf], (len(leaves), *marks.shape)
    )
    came = node
    for _ in range(leaves.height):
        climbs = (marks & ~label[node]) != 0
        came = jnp.where(climbs, node, came)
        node = jnp.where(climbs, parent[node], node)
    return jnp.where(came == node, leaf, turn[came]), colour[node]

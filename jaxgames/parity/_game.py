"""What the parity solvers share: the normal form of priorities, and the answer."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import on_device, ops
from jaxgames.arena import Arena, as_checked_as, changed, is_traced, pays
from jaxgames.host import compiled, on_all_cores
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.parity._edges import check_priorities, split
from jaxgames.solution import NO_EDGE
from jaxgames.states import register
from jaxgames.value import freeze

WORD = 64
"""Bits of an integer of compiled loops; as many priorities are marked in one."""


@register
class Answer(NamedTuple):
    """Winners, strategies and progress measures, by vertex of the arena."""

    winner: Any
    strategy: Any
    measures: Any = None


def answer(game: Game, winner, move, measures=None) -> Answer:
    """Brings winners and moves (positions in rows) over slots into the user's order.

    Moves count only where the owner of a vertex wins it; None stands for no strategies.
    """
    if move is not None:
        owns = winner == game.owner.astype(winner.dtype)
        move = ops.edge_of(game, jnp.where(owns, move, NO_EDGE))
    return Answer(ops.by_vertex(game, winner.astype(jnp.int8)), move, measures)


def normal_form(arena: Arena, edge_priorities: bool = False) -> Arena:
    """The arena with compressed priorities, on vertices unless edges may have them.

    A concrete arena with edge priorities loses its padding.

    Raises:
        ValueError: not exactly one of vertex and edge priorities is there.
    """
    check_priorities(arena)
    if arena.edge_priority is None:
        return with_priority(arena, compress(arena.priority))
    if not edge_priorities:
        return normal_form(split(arena))
    of_edges = compress(arena.edge_priority)
    return as_checked_as(arena, changed(arena, edge_priority=of_edges))


def compress(priority):
    """Merges neighbouring priorities of one parity; the game stays the same.

    The result uses `0 .. d` or `1 .. d`, without gaps, d at most the number of distinct
    priorities. O(V log V) time.

    Examples:
        >>> compress(np.array([4, 6, 9, 2, 13]))
        array([0, 0, 1, 0, 1], dtype=int32)
    """
    if priority.shape[0] == 0:
        return priority
    if on_device.lie_there(priority):
        return _compressed(priority)
    if is_traced(priority):
        values, index = jnp.unique(
            priority, return_inverse=True, size=priority.shape[0], fill_value=0
        )
        # Filled-up entries come last and are named by no index.
        return _ranks(jnp, values)[index]
    # By counting: what is compressed already, as often is the case, stays as it is.
    priority = np.asarray(priority)
    on_cores = pays(len(priority))
    seen = np.zeros(WORD, bool)
    if on_cores:
        on_all_cores(_mark_few, len(priority), priority, seen)
    if not on_cores or seen[-1]:
        top = int(priority.max())
        if top > 4 * len(priority):
            values, index = np.unique(priority, return_inverse=True)
            return _ranks(np, values)[index]
        seen = np.zeros(top + 1, bool)
        if on_cores:
            on_all_cores(_mark, len(priority), priority, seen)
        else:
            seen[priority] = True
    values = np.flatnonzero(seen)
    table = np.zeros(values[-1] + 1, np.int32)
    table[values] = _ranks(np, values)
    if priority.dtype == np.int32 and np.array_equal(table[values], values):
        return priority
    if not on_cores:
        return freeze(table[priority])
    found = np.empty(len(priority), np.int32)
    ops.look_up_on_host(table, priority, found)
    return freeze(found)


@compiled
def _mark_few(priority, seen, begin, end):
    """Marks the priorities that are there; all from the last one on as that one."""
    # Cores that write beside each other wait for each other: each writes little.
    found, last = 0, np.int64(len(seen) - 1)
    for i in range(max(begin, 0), end):
        found |= np.int64(1) << min(np.int64(priority[i]), last)
    for p in range(len(seen)):
        if (found >> p) & 1:
            seen[p] = True


@compiled
def _mark(priority, seen, begin, end):
    """Marks the priorities that are there."""
    for i in range(max(begin, 0), end):
        if not seen[priority[i]]:
            seen[priority[i]] = True


@jax.jit
def _compressed(priority):
    return compress(priority)


def _ranks(xp: Any, values):
    """What stands for each of some priorities, ascending."""
    turns = xp.cumsum((values[1:] ^ values[:-1]) & 1)
    ranks = xp.concatenate([xp.zeros(1, turns.dtype), turns]) + (values[0] & 1)
    return ranks.astype(xp.int32)


def compress_few(priority: Any, top: int) -> jax.Array:
    """As `compress`, without sorting, for priorities up to `top`, at most 31 (pure).

    Examples:
        >>> compress_few(jnp.array([4, 6, 9, 2, 13]), 13)
        Array([0, 0, 1, 0, 1], dtype=int32)
    """
    shift = jnp.asarray(priority).astype(jnp.uint32)
    bits = jnp.uint32(1) << shift
    there = jax.lax.reduce(bits, jnp.uint32(0), jax.lax.bitwise_or, (0,))
    # Bit p of `turns`: p is there, and of another parity than the one before it.
    turns, parity = jnp.uint32(0), jnp.uint32(2)
    for p in range(top + 1):
        here = (there >> p) & 1
        turns |= ((here > 0) & (parity != p & 1)).astype(jnp.uint32) << p
        parity = jnp.where(here > 0, jnp.uint32(p & 1), parity)
    upto = turns & (bits | (bits - 1))
    # The least one that is there counts as a turn.
    odd = jax.lax.population_count((turns & -turns) & jnp.uint32(0xAAAAAAAA))
    rank = jax.lax.population_count(upto) - 1 + odd
    return rank.astype(jnp.int32)


def with_priority(arena: Arena, priority: Any) -> Arena:
    """The arena with other priorities on its vertices, which are right ones."""
    return as_checked_as(arena, changed(arena, priority=priority))

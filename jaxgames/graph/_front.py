"""Signatures that spread from the few that have changed."""

import functools
from typing import NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.graph._solver import Subgraph
from jaxgames.later import backend, jax, jnp
from jaxgames.ops import SlicedLinks
from jaxgames.tuning.graph import AT_ONCE, FROM_CELLS, ROOMS
from jaxgames.tuning.graph import FRONT_ROUNDS as ROUNDS
from jaxgames.tuning.graph import FRONT_SHARE as SHARE


class Front(NamedTuple):
    """Signatures, and which have just changed.

    Both halves are one array: vertex `v` has its upper one at `v`, and its lower one at
    `V + v`, which goes along the links against their direction.
    """

    signature: jax.Array  # int32 [2 V]
    claims: jax.Array  # int32 [2 V]: less than before where a cell was the first
    changed: jax.Array  # int32 [R]: places of signatures; 2 V for none
    cells: jax.Array  # int32: links of these
    lost: jax.Array  # bool: some links had no room
    rounds: jax.Array  # int32: those that had something to do


class Spread(NamedTuple):
    """What `spread` gives.

    Attributes:
        above: int32 `[V]`, the upper signatures.
        below: int32 `[V]`, the lower ones.
        still: bool, nothing would change any more.
        rounds: int32.
    """

    above: jax.Array
    below: jax.Array
    still: jax.Array
    rounds: jax.Array


def pays(game: Subgraph) -> bool:
    """Whether rounds over a few links take less time than one over all."""
    sliced = all(isinstance(x, SlicedLinks) and x.mesh is None for x in game[:2])
    return sliced and ops.num_cells(game[:2]) >= FROM_CELLS


def spread(
    game: Subgraph,
    holder: jax.Array | None,
    before: tuple[jax.Array, jax.Array],
    after: tuple[jax.Array, jax.Array],
) -> Spread:
    """Goes on from a sweep that has changed few signatures, along their links alone.

    Each round brings the signatures of a few vertices, and what their best ancestors
    or descendants know beyond it, to their neighbours. The rounds end when none has
    changed, after `ROUNDS`, or when there is no room for the next. A sweep that changed
    many is left as it is.

    Args:
        game: the graph; it pays.
        holder: int32 `[V]`, the vertex of each signature; None for its number.
        before: int32 `[V]`, upper and lower signatures before the sweep ...
        after: ... and after it.
    """
    size, room = len(game.alive), _room(game)
    above, below = (
        jnp.sum(x != y, dtype=jnp.int32) for x, y in zip(before, after, strict=True)
    )
    count = above + below

    def go_on() -> Spread:
        signature = jnp.concatenate(after)
        changed = ops.compact(signature != jnp.concatenate(before), room)
        there = changed < 2 * size
        cells = _sum(_widths(game, jnp.minimum(changed, 2 * size - 1)), there)
        front = Front(
            signature,
            claims=jnp.zeros(2 * size, jnp.int32),
            changed=changed,
            cells=cells,
            lost=cells > room,
            rounds=jnp.int32(0),
        )
        one = functools.partial(_round, game, holder, room)
        at_once = 1 if backend() == "cpu" else AT_ONCE
        front = fixpoint.until(
            lambda x: (x.cells == 0) | x.lost | (x.rounds >= ROUNDS),
            lambda x: fixpoint.repeat(at_once, one, x),
            front,
        )
        above, below = front.signature[:size], front.signature[size:]
        return Spread(above, below, (front.cells == 0) & ~front.lost, front.rounds)

    return jax.lax.cond(
        (count > 0) & (count <= room),
        go_on,
        lambda: Spread(*after, count == 0, jnp.int32(0)),
    )


def _sum(x: jax.Array, where: jax.Array) -> jax.Array:
    return jnp.sum(jnp.where(where, x, 0), dtype=jnp.int32)


def _room(game: Subgraph) -> int:
    share = ops.num_cells(game[:2]) // SHARE
    least, most = ROOMS
    return max(least, min(most, 1 << max(share, 1).bit_length()))


def _round(game: Subgraph, holder, room: int, front: Front) -> Front:
    signature, size = front.signature, len(game.alive)
    last = 2 * size - 1
    here = jnp.minimum(front.changed, last)
    width = jnp.where(front.changed <= last, _widths(game, here), 0)
    which, link, there = ops.expand(width, room)
    place = ops.take(here, which)
    half = jnp.where(place < size, 0, size)

    # What the best one knows is known to all that follow.
    best = ops.take(signature, place)
    first = best if holder is None else ops.take(holder, best)
    best = jnp.minimum(best, ops.take(signature, half + first))
    head = _of_half(ops.link_at, game, place, link)
    there &= head < size
    head = half + jnp.where(there, head, 0)
    news = there & (best < ops.take(signature, head))
    into = jnp.where(news, head, last + 1)

    # Of the cells that tell a vertex something one stands for it from now on. Claims
    # of a later round are less than all earlier ones.
    claim = jnp.arange(room, dtype=jnp.int32) - (front.rounds + 1) * room
    claims = ops.lower(front.claims, into, claim)
    stands = news & (ops.take(claims, head) == claim)
    cells = _sum(_widths(game, head), stands)
    return Front(
        signature=ops.lower(signature, into, best),
        claims=claims,
        changed=jnp.where(stands, head, last + 1),
        cells=cells,
        lost=front.lost | (cells > room),
        rounds=front.rounds + (front.cells > 0),
    )


def _widths(game: Subgraph, place: jax.Array) -> jax.Array:
    """Links along which a signature goes, as many as the layout has room for."""
    return _of_half(ops.row_widths, game, place)


def _of_half(fact, game: Subgraph, place: jax.Array, *more: jax.Array) -> jax.Array:
    """What is true of the rows along whose links signatures go: out, or into."""
    size = len(game.alive)
    down = place < size
    out = fact(game.out, jnp.where(down, place, 0), *more)
    into = fact(game.into, jnp.where(down, 0, place - size), *more)
    return jnp.where(down, out, into)

"""Progress measures packed into machine words: layout, order, and progress along edges.

A player's measure has a counter for each priority that is bad for him, the most
important one first. A counter with bound `b` takes the `k` bits that `b` needs, and
its value `d` is stored as `2**k - 1 - b + d`: at its bound all bits are set, so that
one more carries into the next counter like in any number. Counters fill words of 31
bits from the top, none across two words; bits left over are set, and let a carry pass.
The first bit of the first word belongs to the top, the measure above all others.

So measures are compared like numbers, and comparing them up to a priority is comparing
their leading bits.
"""

import dataclasses
import itertools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Edges, Game
from jaxgames.states import register

TOP = 2**31 - 1
"""First word of the measure above all others; its other words are 0."""

BITS = 31
"""Bits of a word that hold a value: a sum that passes them shows in the sign."""

Words = tuple[Any, ...]
"""Measures word by word, the most significant word first; each word over slots `[S]`,
or over the edges of a piece of the layout."""

Places = jax.Array | Edges
"""For each slot, or for each edge: twice the leading bits that its priority compares,
plus one if the priority is bad."""


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Measures:
    """Progress measures of both players: a certificate that they win what they win.

    Along every edge that is left from a player's vertices when his strategy is fixed,
    his measure does not rise in the bits that the edge's priority compares, and falls
    there if that priority is the other player's. No cycle can then have the other
    player's priority as its most important one.

    Attributes:
        words: int32 `[2, W, V]`: player, word (the most significant first), vertex. 31
            bits of a word count, bit 30 first. The first word is `2**31 - 1` where the
            player does not win, or is not known to.
        cut: int32 `[2, P]`: how many leading bits of all `31 W` are compared at a
            priority (compressed, max even). More important priorities compare fewer.

    Examples:
        >>> from jaxgames import Arena, parity
        >>> arena = Arena.from_edges(
        ...     [0, 1, 1], [1, 0, 1], owner=[0, 0], priority=[1, 2]
        ... )
        >>> measures = parity.solve(arena, "spm").measures
        >>> measures.words[0]  # priority 1 is met once from vertex 0, and then 2
        array([[1073741823,  536870911]], dtype=int32)
        >>> measures.cut[0, :3]  # the top's bit alone for priority 2, one more for 1
        array([2, 2, 1], dtype=int32)
    """

    words: Any
    cut: Any

    def resized(self, real: int, size: int) -> "Measures":
        """Those of the first `real` vertices, and of padding up to `size` (host only).

        Player 0 wins padding.
        """
        words = np.zeros((*self.words.shape[:2], size), np.int32)
        words[1, 0] = TOP
        words[..., :real] = self.words[..., :real]
        return dataclasses.replace(self, words=words)


@register
class Packing(NamedTuple):
    """How the measures of one player are packed into `W` words.

    Attributes:
        cut: int32 `[P]`: leading bits that each priority compares.
        least: int32 `[W]`: the least measure.
        units: int32 `[W]`: the lowest bit of each counter, and the sign.
    """

    cut: jax.Array
    least: jax.Array
    units: jax.Array


# ---- bounds and packing -------------------------------------------------------


def counts(game: Game, player: int, length: int) -> jax.Array:
    """How many vertices have each bad priority, on some edge at least: int32 `[P]`.

    Between two visits of something more important, a play that the player wins by a
    memoryless strategy takes edges of one bad priority from each vertex once at most:
    this bounds the counters. Priorities from `length` on are left out.
    """
    bad = (jnp.arange(length) & 1) != player
    if game.edge_priority is None:
        number = ops.count(game, game.priority, length)
    else:
        number = ops.count_sources(game, ops.edge_priority(game), length)
    return jnp.where(bad, number, 0)


def pack(bound: jax.Array, words: int) -> tuple[Packing, jax.Array]:
    """Packs counters with bounds `[P]` (0 for good priorities) into so many words.

    Also whether they do not fit.
    """
    bound = bound.astype(jnp.int32)
    width = 32 - jax.lax.clz(bound)

    def place(end, width):
        end = _next_end(end, width)
        return end, end

    start = jax.tree.map(jnp.int32, _START)
    _, (word, end) = jax.lax.scan(place, start, width, reverse=True)
    shift = BITS - end
    # At their bounds all counters have all bits set, and so has what is left over.
    full = jnp.full(words, TOP, jnp.int32).at[0].set(TOP >> 1)
    unit = jnp.where(width > 0, jnp.left_shift(1, shift), 0)
    sign = jnp.full(words, -TOP - 1, jnp.int32)
    packing = Packing(
        cut=BITS * word + end,
        least=full - jnp.zeros_like(full).at[word].add(bound << shift, mode="drop"),
        units=sign.at[word].add(unit, mode="drop"),
    )
    return packing, jnp.max(word) >= words


def words_needed(bound: np.ndarray) -> int:
    """How many words `pack` needs for concrete bounds."""
    widths = (int(b).bit_length() for b in bound[::-1])
    *_, (word, _) = itertools.accumulate(widths, _next_end, initial=_START)
    return word + 1


_START = (0, 1)  # a word, and how many of its bits are taken


def _next_end(end, width):
    """Where a counter ends that follows another one."""
    word, taken = end
    full = (taken + width) // (BITS + 1)  # 1 where it needs a word of its own
    return word + full, taken * (1 - full) + width


def places(game: Game, packing: Packing, player: int) -> Places:
    """What each vertex compares, or each edge where priorities are on edges.

    Priorities beyond those of the packing compare what the last of them does.
    """
    length = len(packing.cut)
    table = 2 * packing.cut + jnp.int32((jnp.arange(length) & 1) != player)
    table = table.astype(jnp.int8 if 2 * BITS * len(packing.least) < 127 else jnp.int32)
    if game.edge_priority is None:
        return ops.look_up(table, game.priority)
    return ops.edgewise(lambda p: ops.look_up(table, p), ops.edge_priority(game))


# ---- measures ------------------------------------------------------------------


def is_top(measure: Words) -> jax.Array:
    return measure[0] == TOP


def put(where, values: tuple, measure: Words) -> Words:
    """Measures with other words put in where `where` holds."""
    return tuple(jnp.where(where, x, w) for x, w in zip(values, measure, strict=True))


def top(words: int) -> tuple[int, ...]:
    """The measure above all others."""
    return (TOP,) + (0,) * (words - 1)


def less(a: Words, b: Words) -> jax.Array:
    """Whether measures `a` are below measures `b`."""
    below = a[-1] < b[-1]
    for x, y in zip(a[-2::-1], b[-2::-1], strict=True):
        below = (x < y) | ((x == y) & below)
    return below


def prog(packing: Packing, place: jax.Array, measure: Words) -> Words:
    """The least measure that an edge allows at its source, for that at its target.

    It has the same leading bits, or the next larger ones if the priority is bad; what
    follows is least. The sources call it `prog(rho, v, w)`. The place of each vertex or
    edge is from `places`, the measure is that at the targets.
    """
    place = place.astype(jnp.int32)
    cut, bad = place >> 1, place & 1
    out, carry = [], 0
    for index in reversed(range(len(measure))):
        kept = jnp.clip(cut - BITS * index, 0, BITS)
        rest = TOP >> kept
        ends_here = (kept > 0) & (cut <= BITS * (index + 1))
        one_more = jnp.where(ends_here & (bad != 0), rest + 1, 0)
        word = (measure[index] & ~rest) + one_more + carry
        # All counters below the lowest bit that is set are 0, which is less than their
        # least value: they were cut off or have passed their bounds. That bit and all
        # below it are `word ^ (word - 1)`. Where it lies in a higher counter, those
        # between have 0 as their least value, and nothing is changed.
        unit = packing.units[index] & (word ^ (word - 1))
        least = packing.least[index] & (TOP >> jax.lax.clz(unit))
        out.append((word & TOP) | least)
        carry = (word < 0).astype(jnp.int32)
    beyond = (word >> (BITS - 1)) != 0
    return put(beyond, top(len(measure)), tuple(reversed(out)))


def best(game: Game, seen: tuple[Edges, ...], rival) -> tuple[Words, Edges]:
    """Least measure over the edges that leave each vertex; where `rival`, the largest.

    Also which edges attain it. Measures are those on edges; `rival`, bool `[S]`, says
    which vertices are the other player's.
    """
    # Complement turns the order round, and is its own inverse.
    flip = -rival.astype(jnp.int32)
    on_edges = ops.source(game, flip)
    found, attains = [], None
    for word in seen:
        word = ops.edgewise(jnp.bitwise_xor, word, on_edges)
        if attains is not None:
            word = ops.edgewise(lambda e, on: jnp.where(on, e, TOP), word, attains)
        found.append(ops.out_min(game, word))
        on = ops.edgewise(jnp.equal, word, ops.source(game, found[-1]))
        attains = on if attains is None else ops.edgewise(jnp.logical_and, on, attains)
    return tuple(word ^ flip for word in found), attains or ()


def raised(
    game: Game, packing: Packing, place: Places, seen: tuple[Edges, ...], rival
) -> Words:
    """What the edges that leave each vertex ask of its measure: one lift.

    The player's measures are `seen` at the target of each edge, and `rival`, bool
    `[S]`, says which vertices are the other player's.
    """
    if isinstance(place, tuple):
        return best(game, _prog_of_edges(packing, place, seen), rival)[0]
    # With one priority for all edges of a vertex, prog keeps their order.
    return prog(packing, place, best(game, seen, rival)[0])


def best_move(game: Game, packing: Packing, place: Places, measure: Words):
    """Position of the first edge that asks least of its source: int32 `[S]`."""
    seen = tuple(ops.target(game, word) for word in measure)
    if isinstance(place, tuple):
        seen = _prog_of_edges(packing, place, seen)
    nobody = jnp.zeros(ops.num_slots(game), bool)
    attains = best(game, seen, nobody)[1]
    return ops.out_argmin(game, ops.edgewise(jnp.logical_not, attains), bound=1)[1]


def bad_loops(game: Game, place: Places, rival) -> jax.Array:
    """Vertices that the other player wins by a self-loop alone: bool `[S]`.

    He owns it, or there is no other edge.
    """
    here = jnp.arange(ops.num_slots(game), dtype=jnp.int32)
    on_edges = place if isinstance(place, tuple) else ops.source(game, place)
    loses = ops.edgewise(
        lambda there, here, place: (there == here) & ((place & 1) != 0),
        ops.target(game, here), ops.source(game, here), on_edges,
    )  # fmt: skip
    return jnp.where(rival, ops.out_any(game, loses), ops.out_all(game, loses))


def deliver(
    game: Game, packing: tuple[Packing, ...], measure: tuple[Words, ...], won
) -> Measures:
    """The certificate: both players' measures where they are known to win."""
    rows = [
        ops.by_vertex(game, word)
        for player in (0, 1)
        for word in put(won[player], measure[player], top(len(measure[player])))
    ]
    words = jnp.stack(rows).reshape(2, -1, len(rows[0]))
    return Measures(words, jnp.stack([x.cut for x in packing]))


# ---- counting lifts --------------------------------------------------------------

_LOW_BITS = 30


def add(lifts: jax.Array, rises: jax.Array) -> jax.Array:
    """Adds to a count in two halves, int32 `[2]`, that would overflow one word."""
    more = jnp.sum(rises, dtype=jnp.int32)
    low = 2**_LOW_BITS - 1
    lower = lifts[1] + (more & low)
    upper = lifts[0] + (more >> _LOW_BITS) + (lower >> _LOW_BITS)
    return jnp.stack([upper, lower & low])


def as_float(lifts: jax.Array) -> jax.Array:
    """A count in two halves as float32: exact up to 2**24, to seven digits beyond."""
    upper, lower = lifts.astype(jnp.float32)
    return upper * 2**_LOW_BITS + lower


def _prog_of_edges(packing, place: Edges, seen: tuple[Edges, ...]) -> tuple[Edges, ...]:
    pieces = [
        prog(packing, at, tuple(words)) for at, *words in zip(place, *seen, strict=True)
    ]
    return tuple(zip(*pieces, strict=True))

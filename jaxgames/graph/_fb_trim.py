"""Forward-backward search with trimming, in all regions of the graph at once."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.graph._solver import NONE, ComponentMachine, Subgraph
from jaxgames.later import jax, jnp
from jaxgames.ops import Links, Pieces
from jaxgames.states import register

FORWARD, BACKWARD = 2, 1
"""Bits of a vertex's word: it was reached from its pivot, and it reaches it."""

BITS = 2
"""How many bits there are below the name of the region."""

GONE = -1
"""Word of a vertex that has a root, or is not there."""

MAX_VERTICES = (1 << 31 - BITS) // 3
"""Names of regions are below three times the number of vertices."""

_HASH_BITS = (1 << 31) - 1
_FACTOR, _INVERSE = 0x2C1B3C6D, pow(0x2C1B3C6D, -1, 1 << 31)
_SAMPLE = 0x3FF


@register
class State(NamedTuple):
    """Words, roots, and the scalars of the machine."""

    word: jax.Array  # int32 [V]: the name of the region, and the bits
    root: jax.Array  # int32 [V]
    searching: jax.Array  # bool: there are pivots; otherwise there is only trimming
    stable: jax.Array
    left: jax.Array
    outer: jax.Array  # int32: searches
    inner: jax.Array  # int32: sweeps of searches
    trim: jax.Array  # int32: sweeps that only trim


@dataclasses.dataclass(frozen=True)
class FBTrim(ComponentMachine):
    """Forward-backward search with trimming, as of the GPU algorithm of the paper.

    A vertex that no edge enters, or none leaves, is a component: it is trimmed, until
    there is no such vertex. Then each region, at first the whole graph, takes a pivot,
    whose number becomes its name, and what the pivot reaches, and what reaches it, are
    marked by breadth-first searches in all regions at once. What has both marks is the
    pivot's component. The others make up to three regions: no component lies in two.

    One sweep does both searches, and trims as it goes: O(V + E), one gather for each
    end of an edge, since the name of a region and both marks are one word. There are
    as many sweeps as the searches are deep, for each of an expected O(log V) to O(V)
    searches, and as chains of trimmed vertices are long.

    Reference:
        Wijs, Katoen and Bošnački, GPU-based graph decomposition into strongly connected
        and maximal end components, CAV 2014, doi:10.1007/978-3-319-08867-9_20.

    Examples:
        >>> from jaxgames import graph
        >>> graph.scc(([0, 1, 3, 4], [1, 0, 2, 2]), "fb_trim")
        Components(2 of 3 vertices)
    """

    name: ClassVar[str] = "fb_trim"

    def begin(self, game: Subgraph) -> State:
        """One region without a pivot."""
        if len(game.alive) > MAX_VERTICES:
            raise ValueError(
                f"fb_trim names the regions of at most {MAX_VERTICES} vertices, got "
                f"{len(game.alive)}: take max_id"
            )
        zero = jnp.int32(0)
        return State(
            word=jnp.where(game.alive, 0, GONE).astype(jnp.int32),
            root=jnp.full(len(game.alive), NONE, jnp.int32),
            searching=jnp.array(False),
            stable=jnp.array(False),
            left=jnp.sum(game.alive, dtype=jnp.int32),
            outer=zero,
            inner=zero,
            trim=zero,
        )

    def sweep(self, game: Subgraph, state: State) -> State:
        """Marks go along every edge of a region; what has no edge there is trimmed."""
        word = state.word
        entered = _seen(game.into, word, FORWARD)
        left = _seen(game.out, word, BACKWARD)
        more = jnp.where(entered == _MARKED, FORWARD, 0)
        more |= jnp.where(left == _MARKED, BACKWARD, 0)
        lone = (word != GONE) & ((entered <= 0) | (left <= 0))
        new = jnp.where(lone, GONE, jnp.where(word == GONE, GONE, word | more))
        own = jnp.arange(len(word), dtype=jnp.int32)
        counts = ~state.stable & (state.left > 0)
        return state._replace(
            word=new,
            root=jnp.where(lone, own, state.root),
            stable=~jnp.any(new != word),
            inner=state.inner + jnp.int32(counts & state.searching),
            trim=state.trim + jnp.int32(counts & ~state.searching),
        )

    def settle(self, game: Subgraph, state: State) -> State:
        """Gives pivots to all regions, or splits them by the marks."""
        state = jax.lax.cond(state.searching, _split, _take_pivots, state)
        left = jnp.sum(state.word != GONE, dtype=jnp.int32)
        return state._replace(left=left, stable=jnp.array(False))

    def live(self, game: Subgraph, state: State) -> tuple[Pieces, Pieces]:
        """The links inside a region."""

        def kept(links: Links) -> Pieces:
            return _by_link(lambda same, _: same, links, state.word)

        return kept(game.out), kept(game.into)

    def restart(self, game: Subgraph, state: State) -> State:
        """There is nothing more to do."""
        return state

    def can_shrink(self, state: State) -> jax.Array:
        """Regions are named by vertices that are there: by new pivots."""
        return state.searching

    def restrict(self, game: Subgraph, state: State, vertices, place) -> State:
        """Regions keep their marks; their pivots have new numbers."""
        word = state.word.at[vertices].get(mode="fill", fill_value=GONE)
        name = ops.take(place, jnp.maximum(word >> BITS, 0))
        word = jnp.where(word == GONE, GONE, name << BITS | word & _MARKS)
        return state._replace(
            word=word, root=jnp.full(len(game.alive), NONE, jnp.int32)
        )

    def stats(self, game: Subgraph, state: State) -> dict[str, Any]:
        """Searches, their sweeps, and those that only trim."""
        return {"outer": state.outer, "inner": state.inner, "trim": state.trim}


_MARKS = FORWARD | BACKWARD
_MARKED = 2


def _by_link(function, links: Links, word: jax.Array) -> Pieces:
    """Of each link: whether it joins two vertices of one region, and the far word."""

    def one(near, far, row, target):
        same = (near >> BITS == far >> BITS) & (far != GONE) & (row != target)
        return function(same, far)

    own = jnp.arange(len(word), dtype=jnp.int32)
    return ops.edgewise(
        one,
        ops.at_rows(links, word),
        ops.at_targets(links, word),
        ops.at_rows(links, own),
        ops.link_targets(links),
    )


def _seen(links: Links, word: jax.Array, bit: int) -> jax.Array:
    """2 where a link of the region leads to a mark, 1 where only to others, or less."""

    def value(same, far):
        return jnp.where(same, jnp.where(far & bit > 0, _MARKED, 1), 0)

    return ops.links_max(links, _by_link(value, links, word))


def _split(state: State) -> State:
    """What has both marks is the pivot's component; the others make new regions."""
    word, size = state.word, len(state.word)
    name, marks = word >> BITS, word & _MARKS
    found = (word != GONE) & (marks == _MARKS)
    new = name + size * (marks % _MARKS)
    return state._replace(
        word=jnp.where(found | (word == GONE), GONE, new << BITS),
        root=jnp.where(found, name, state.root),
        searching=jnp.array(False),
        outer=state.outer + jnp.int32(state.left > 0),
    )


def _take_pivots(state: State) -> State:
    """The vertex of the largest hash is the pivot of its region."""
    word, size = state.word, len(state.word)
    alive, name = word != GONE, word >> BITS
    own = jnp.arange(size, dtype=jnp.int32)
    salt = state.outer * 0x3C6EF37
    mixed = (own * _FACTOR + salt) & _HASH_BITS
    # One vertex in a thousand is asked, and the first of neighbours in one region: a
    # large region would have all its vertices written to one place.
    first = word != jnp.concatenate([jnp.full(1, GONE, jnp.int32), word[:-1]])
    asked = alive & (first | (mixed & _SAMPLE == 0))
    best = ops.max_into(jnp.where(asked, name, 3 * size), mixed, 3 * size, 0)
    pivot = ops.take(best, jnp.maximum(name, 0)) - salt
    pivot = (pivot * _INVERSE) & _HASH_BITS
    marks = jnp.where(pivot == own, _MARKS, 0)
    return state._replace(
        word=jnp.where(alive, pivot << BITS | marks, GONE),
        searching=jnp.array(True),
    )

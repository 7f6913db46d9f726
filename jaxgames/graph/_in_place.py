"""Components from a list of edges: signatures lowered in place, without a layout."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import fixpoint, memory, ops
from jaxgames.graph._levels import reached
from jaxgames.graph._solver import NONE, Answer, ComponentSolver, number
from jaxgames.later import jax, jnp
from jaxgames.ops import EdgeList
from jaxgames.states import register
from jaxgames.tuning.graph import (
    DEEP_FROM,
    FEW,
    LONGEST,
    PART,
    PATIENCE,
    SEARCH_FROM,
    SEARCHES,
    SHRINKS,
    SPARSE,
    SWEEPS,
    TRIM_PASSES,
)
from jaxgames.tuning.graph import SEARCH_GROWTH as GROWTH

SEARCH, TRIM, NUMBERED, SCATTERED = range(4)
"""What a turn does: it searches from a pivot; or leaves out edges at vertices that no
edge enters, or none leaves; or lowers signatures, with the numbers of vertices as
ranks; or with ranks that are scattered.
"""

FACTOR = 0x9E3779B1
INVERSE = pow(FACTOR, -1, 1 << 32)


@register
class ListedGraph(NamedTuple):
    """What the solver works on.

    Attributes:
        edges: the edges.
        degree: int32 `[V]`, edges that begin at a vertex; -1 for one that is none.
        alive: bool `[V]`, the vertices that there are; None for all with a degree.
    """

    edges: EdgeList
    degree: Any
    alive: Any = None


@register
class State(NamedTuple):
    """Where the sweeps and turns are."""

    edges: EdgeList  # those that may be in a component that is not known
    room: EdgeList  # where the next turn writes what it keeps
    above: jax.Array  # signatures [V]: the least rank that reaches a vertex
    below: jax.Array  # signatures [V]: the least that it reaches
    stamp: jax.Array  # int8 [V]: when a vertex last learned something
    ahead: jax.Array  # int8 [V]: reached from the pivot
    behind: jax.Array  # int8 [V]: reaches it
    root: jax.Array  # int32 [V]
    phase: jax.Array  # int32
    again: jax.Array  # bool: a search comes next, after trimming
    deep: jax.Array  # bool: a search by levels may find much
    news: jax.Array  # int32 [1]: what the last sweep has changed
    marks: jax.Array  # int32: of the search
    sweeps: jax.Array  # int32: of this turn
    slow: jax.Array  # int32: steps of this turn that changed little
    outer: jax.Array  # int32: turns
    inner: jax.Array  # int32: sweeps


def shape_of(size: int, edges: int, masked: bool) -> ListedGraph:
    """The shapes of a graph."""
    ends = memory.numbers(edges)
    some = jax.ShapeDtypeStruct((1,), jnp.int32)
    listed = EdgeList(ends, ends, some, kernels=ops.runs_kernels())
    there = memory.mask(size) if masked else None
    return ListedGraph(listed, memory.numbers(size), there)


def listed(rows: Any) -> ListedGraph | None:
    """A graph on the default device, looked at there; None if it is none.

    Rows are offsets and targets of numpy, int32, from 0 to the number of targets.
    """
    game = ListedGraph(*ops.edge_list(*rows))
    sound = _is_sound(game, np.int32(len(rows[0]) - 1))
    # Now all is there: until then the caller's own arrays are read.
    return game if bool(sound) else None


@jax.jit
def _is_sound(game: ListedGraph, size: jax.Array) -> jax.Array:
    """Whether no row ends before it begins, and edges lead to vertices."""
    head, degree = game.edges.head, game.degree
    there = jnp.arange(len(degree), dtype=jnp.int32) < size
    real = jnp.arange(len(head), dtype=jnp.int32) < game.edges.count
    leads = (head >= 0) & (head < size)
    return ~jnp.any(there & (degree < 0)) & ~jnp.any(real & ~leads)


def masked(game: ListedGraph, vertices: Any, edges: Any) -> ListedGraph:
    """A part of a graph: booleans say which of its vertices and edges there are."""
    if vertices is not None:
        there = np.zeros(len(game.degree), bool)
        there[: len(vertices)] = vertices
        game = game._replace(alive=jnp.asarray(there))
    if edges is None:
        return game
    there = np.ones(len(game.edges.head), bool)
    there[: len(edges)] = edges
    return game._replace(edges=_without(game.edges, there))


@jax.jit
def _without(edges: EdgeList, there: jax.Array) -> EdgeList:
    # A loop is dropped at the first turn, and is nothing until then.
    return dataclasses.replace(edges, head=jnp.where(there, edges.head, edges.tail))


@dataclasses.dataclass(frozen=True)
class InPlace(ComponentSolver):
    """Signatures over a list of edges, lowered in place; no layout is made.

    Each vertex learns the least rank of those that reach it, and of those that it
    reaches. Vertices for which these are the same are a component; edges between
    different signatures are in none, and are dropped; what is left begins anew. Each
    edge also looks at what is known at its best ancestor and its best descendant, and
    tells them, so that a path is known after logarithmically many sweeps. Where a
    search from one vertex finds most of the graph in a few sweeps, that comes first.
    If signatures are not done after a hundred sweeps of kernels, a search by levels may
    find the largest component: a network of streets has one, and is thousands of edges
    deep.
    And before signatures are lowered vertices go that no edge enters, or none leaves,
    as long as they are many. It takes one device.

    On a GPU of NVIDIA's sweeps are kernels, that see what they have just written. A
    sweep is O(E), with six gathers; there is no bound on sweeps but O(V) for each turn,
    and on turns but O(V).

    References:
        Alabandi, Sands, Biros and Burtscher, A GPU algorithm for detecting strongly
        connected components, SC 2023, doi:10.1145/3581784.3607071: signatures in place,
        and a list that becomes shorter. The searches, the jumps of what is told,
        and scattered ranks are ours.
    """

    name = "in_place"

    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    def init(self, game: ListedGraph) -> State:
        """Before the first turn."""
        size, edges = len(game.degree), game.edges
        room = dataclasses.replace(
            edges,
            tail=jnp.zeros_like(edges.tail),
            head=jnp.zeros_like(edges.head),
        )
        if game.alive is not None:
            there = game.alive.astype(jnp.int8)
            edges, room = ops.keep_inside(edges, room, there, 2 * there), edges
        searches, sparse = len(edges.tail) >= SEARCH_FROM, _is_sparse(edges, size)
        return _begin(
            *(edges, room, _largest(game.degree)),
            root=jnp.full(size, NONE, jnp.int32),
            phase=jnp.int32(SEARCH if searches else jnp.where(sparse, TRIM, NUMBERED)),
            again=jnp.array(False),
            deep=jnp.array(searches and edges.kernels),  # else a level is O(E)
            outer=jnp.int32(0),
            inner=jnp.int32(0),
        )

    def step(self, game: ListedGraph, state: State) -> State:
        """Some sweeps; and a turn where they have come to an end."""
        edges, done = state.edges, self.done(game, state)
        searching, trimming = state.phase == SEARCH, state.phase == TRIM
        zeros = jnp.zeros(max(SEARCHES, SWEEPS) + 1, jnp.int32)
        news = jnp.where(done | trimming, 0, state.news[0])
        marks = zeros.at[0].set(jnp.where(searching, news, 0))
        found = state.ahead, state.behind, marks
        for sweep in range(SEARCHES):
            found = ops.spread_both(edges, *found, sweep)
        changes = zeros.at[0].set(jnp.where(searching, 0, news))
        told = state.above, state.below, state.stamp, changes
        now, inverse = state.sweeps[None] + 1, _factor(state.phase, INVERSE)
        for sweep in range(SWEEPS):
            told = ops.lower_both(edges, *told, sweep, now, inverse)
        ahead, behind, marks = found
        above, below, stamp, changes = told
        few = jnp.sum(changes[1:], dtype=jnp.int32) < edges.count[0] >> FEW
        some = jnp.where(searching, SEARCHES, jnp.where(trimming, TRIM_PASSES, SWEEPS))
        sweeps = state.sweeps + some
        marked = state.marks + jnp.sum(marks[1:], dtype=jnp.int32)
        grows = (marked >= GROWTH * state.marks) | (marked >= len(game.degree) // PART)
        slow = state.slow + few.astype(jnp.int32)
        news = jnp.where(searching, marks[SEARCHES], changes[SWEEPS])
        over = jnp.where(
            searching,
            ~grows | (sweeps >= LONGEST),
            (state.phase == NUMBERED) & (slow >= PATIENCE),
        )
        state = state._replace(
            above=above,
            below=below,
            stamp=stamp,
            ahead=ahead,
            behind=behind,
            news=news[None],
            marks=marked,
            inner=state.inner + jnp.where(done, 0, some),
            sweeps=sweeps,
            slow=slow,
        )
        if len(game.edges.tail) >= SEARCH_FROM:  # else a sweep costs next to nothing
            deep = state.deep & (state.phase == NUMBERED) & (sweeps >= DEEP_FROM)
            deep &= ~(done | over | (news == 0)) & (edges.count[0] >= SEARCH_FROM)
            by_levels = functools.partial(_by_levels, game)
            state = fixpoint.change_if(game.edges, deep, by_levels, state)
        over |= state.news[0] == 0

        def turn(state: State) -> State:
            return _turn(game, state)

        return fixpoint.change_if(game.edges, over & ~done, turn, state)

    def done(self, game: ListedGraph, state: State) -> jax.Array:
        """No edge is left that may be in a component."""
        return state.edges.count[0] == 0

    def answer(self, game: ListedGraph, state: State) -> Answer:
        """The components that are known; at the end vertices without edges too."""
        own = jnp.arange(len(state.root), dtype=jnp.int32)
        lone = _alive(game) & (state.root == NONE) & self.done(game, state)
        return number(jnp.where(lone, own, state.root))

    def stats(self, game: ListedGraph, state: State) -> dict[str, Any]:
        """Turns and sweeps."""
        return {"outer": state.outer, "inner": state.inner}


def _alive(game: ListedGraph) -> jax.Array:
    return game.degree >= 0 if game.alive is None else game.alive


def _largest(degree: jax.Array) -> jax.Array:
    """The vertex with the most edges, int32."""
    return jnp.argmax(degree).astype(jnp.int32)


def _factor(phase: jax.Array, factor: int) -> jax.Array:
    """What numbers of vertices are multiplied by, or its inverse: uint32 `[1]`."""
    return jnp.where(phase == SCATTERED, jnp.uint32(factor), jnp.uint32(1))[None]


def _begin(
    edges: EdgeList, room: EdgeList, pivot: jax.Array, **known: jax.Array
) -> State:
    """The first sweep of a turn is next."""
    size = len(known["root"])
    own = jnp.arange(size, dtype=jnp.int32)
    rank = ops.times(own, _factor(known["phase"], FACTOR)[0], size)
    only = (own == pivot).astype(jnp.int8)
    return State(
        edges,
        room,
        above=rank,
        below=rank,
        ahead=only,
        behind=only,
        stamp=jnp.zeros(size, jnp.int8),
        slow=jnp.int32(0),
        news=jnp.ones(1, jnp.int32),
        marks=jnp.int32(2),
        sweeps=jnp.int32(0),
        **known,
    )


def _turn(game: ListedGraph, state: State) -> State:
    """Takes components out where sweeps have come to an end, and begins anew."""
    size = len(state.root)
    settled, searching = state.news[0] == 0, state.phase == SEARCH
    trimming = state.phase == TRIM
    own = jnp.arange(size, dtype=jnp.int32)
    mark = state.ahead + 2 * state.behind
    both = mark == 3
    apart = jnp.where(both, mark, mark + 4)  # equal where nothing is to be done
    root = jnp.where(
        searching,
        jnp.min(own, where=both, initial=size),
        ops.times(state.above, _factor(state.phase, INVERSE)[0], size),
    )
    known = settled & ~trimming & _alive(game) & (state.root == NONE)
    known &= jnp.where(searching, both, state.above == state.below)

    def inside(first: jax.Array, last: jax.Array):
        def fewer(lists: tuple[EdgeList, EdgeList]) -> tuple[EdgeList, EdgeList]:
            return ops.keep_inside(*lists, first, last), lists[0]

        return fewer

    lists = state.edges, state.room
    for when, fewer in (
        (settled & searching, inside(mark, apart)),
        (trimming, functools.partial(_trimmed, size)),
        (settled & ~searching & ~trimming, inside(state.above, state.below)),
    ):
        lists = fixpoint.change_if(game.edges, when, fewer, lists)
    edges, room = lists
    before, left = state.edges.count[0], edges.count[0]
    again = searching & settled & (left >= SEARCH_FROM) & (2 * left <= before)
    again = jnp.where(trimming, state.again, again)
    trims = jnp.where(
        trimming, before - left > before >> SHRINKS, _is_sparse(edges, size)
    )
    phase = jnp.where(trims, TRIM, jnp.where(again, SEARCH, NUMBERED))
    phase = jnp.where(settled | searching, phase, SCATTERED)
    return _begin(
        *(edges, room, edges.tail[0]),
        root=jnp.where(known, root, state.root),
        phase=phase.astype(jnp.int32),
        again=again,
        deep=state.deep,
        outer=state.outer + (settled & ~trimming).astype(jnp.int32),
        inner=state.inner,
    )


def _by_levels(game: ListedGraph, state: State) -> State:
    """A search by levels, which comes to its end if it has found much; else the last.

    It begins where most edges leave a vertex that they leave and enter.
    """
    size = len(state.root)
    left, entered = ops.touched(state.edges, size)
    pivot = _largest(jnp.where((left & entered) > 0, game.degree, -1))
    ahead, behind, complete = reached(state.edges, pivot, size)
    number = jnp.sum((ahead & behind) > 0, dtype=jnp.int32)
    much = complete & (number >= size // PART)
    return state._replace(
        ahead=jnp.where(much, ahead, state.ahead),
        behind=jnp.where(much, behind, state.behind),
        phase=jnp.where(much, SEARCH, state.phase),
        news=jnp.where(much, 0, state.news),
        deep=much,
    )


def _is_sparse(edges: EdgeList, size: int) -> jax.Array:
    """Whether many vertices may have no edge that leaves or enters them."""
    return edges.count[0] // SPARSE <= size


def _trimmed(size: int, lists: tuple[EdgeList, EdgeList]) -> tuple[EdgeList, EdgeList]:
    """Only edges of vertices that edges leave and enter, some times over."""
    for _ in range(TRIM_PASSES):
        left, entered = ops.touched(lists[0], size)
        both = left & entered
        lists = ops.keep_inside(*lists, both, 2 * both), lists[0]
    return lists

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
    due: jax.Array  # bool: a turn comes next
    outer: jax.Array  # int32: turns
    inner: jax.Array  # int32: sweeps


def shape_of(size: int, edges: int, masked: bool) -> ListedGraph:
    """The shapes of a graph."""
    ends = memory.numbers(edges)
    some = jax.ShapeDtypeStruct((1,), jnp.int32)
    listed = EdgeList(ends, ends, some, kernels=ops.runs_kernels())
    there = memory.mask(size) if masked else None
    return ListedGraph(listed, memory.numbers(size), there)


def listed(rows: Any) -> tuple[ListedGraph, jax.Array]:
    """A graph on the default device; and whether it is one: what is none has no edges.

    Rows are offsets and targets of numpy, int32, from 0 to the number of targets.
    """
    edges, degree, sound = ops.unchecked_edge_list(*rows)
    sound.copy_to_host_async()  # it is asked for after the solve
    return ListedGraph(edges, degree), sound


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
        return self.advance(game, fixpoint.Carry(state, jnp.int32(0)), 1).state

    def advance(
        self, game: ListedGraph, carry: fixpoint.Carry, limit: Any
    ) -> fixpoint.Carry:
        """Turn after turn, each kind of them in a loop of its own.

        On a GPU a kernel that finds nothing to do, and a test of something that is not
        due, cost as much as a short sweep.
        """
        for count in dict.fromkeys((self.sweeps_per_check or 1, 1)):
            carry = self._advance(game, carry, jnp.asarray(limit, jnp.int32), count)
        return carry

    def _advance(
        self, game: ListedGraph, carry: fixpoint.Carry, limit: jax.Array, count: int
    ) -> fixpoint.Carry:
        """The same with so many steps between two tests."""
        edges, size = game.edges, len(game.degree)
        searches = len(edges.tail) >= SEARCH_FROM  # else a sweep costs nothing

        def limited(carry: fixpoint.Carry) -> jax.Array:
            return carry.rounds > limit - count

        def stops(carry: fixpoint.Carry) -> jax.Array:
            return self.done(game, carry.state) | limited(carry)

        def sweeps(sweep, over, carry: fixpoint.Carry) -> fixpoint.Carry:
            def some(carry: fixpoint.Carry) -> fixpoint.Carry:
                state = sweep(carry.state, size, count)
                return carry._replace(state=state, rounds=carry.rounds + count)

            return fixpoint.until(lambda x: over(x.state) | limited(x), some, carry)

        def turn(change, when: jax.Array, carry: fixpoint.Carry) -> fixpoint.Carry:
            change = functools.partial(change, game)
            state = fixpoint.change_if(edges, when, change, carry.state)
            return carry._replace(state=state)

        def lowered(state: State) -> jax.Array:
            return state.due | _wants_levels(state) if searches else state.due

        def search(carry: fixpoint.Carry) -> fixpoint.Carry:
            carry = sweeps(_search, lambda state: state.due, carry)
            return turn(_after_search, carry.state.due, carry)

        def trim(carry: fixpoint.Carry) -> fixpoint.Carry:
            return carry._replace(state=_trim(carry.state), rounds=carry.rounds + 1)

        def lower(carry: fixpoint.Carry) -> fixpoint.Carry:
            carry = sweeps(_lower, lowered, carry)
            if searches:
                carry = turn(_levels, _wants_levels(carry.state), carry)
            due = carry.state.due & (carry.state.phase >= NUMBERED)
            return turn(_after_lowering, due, carry)

        def while_in(here, kind, carry: fixpoint.Carry) -> fixpoint.Carry:
            return fixpoint.until(
                lambda x: stops(x) | ~here(x.state.phase), kind, carry
            )

        def all_kinds(carry: fixpoint.Carry) -> fixpoint.Carry:
            if searches:
                carry = while_in(lambda phase: phase == SEARCH, search, carry)
            carry = while_in(lambda phase: phase == TRIM, trim, carry)
            return while_in(lambda phase: phase >= NUMBERED, lower, carry)

        return fixpoint.until(stops, all_kinds, carry)

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
    only = _only(pivot, size)
    return State(
        edges,
        room,
        above=rank,
        below=rank,
        ahead=only,
        behind=only,
        stamp=jnp.zeros(size, jnp.int8),
        slow=jnp.int32(0),
        due=jnp.array(False),
        news=jnp.ones(1, jnp.int32),
        marks=jnp.int32(2),
        sweeps=jnp.int32(0),
        **known,
    )


def _search(state: State, size: int, count: int) -> State:
    """Some steps of a search, of `SEARCHES` sweeps each."""
    sweeps = SEARCHES * count
    marks = jnp.zeros(sweeps + 1, jnp.int32).at[0].set(state.news[0])
    found = state.ahead, state.behind, marks
    for sweep in range(sweeps):
        found = ops.spread_both(state.edges, *found, sweep)
    ahead, behind, marks = found
    marked = state.marks + jnp.sum(marks[1:], dtype=jnp.int32)
    sweeps += state.sweeps
    grows = (marked >= GROWTH * state.marks) | (marked >= size // PART)
    return state._replace(
        ahead=ahead,
        behind=behind,
        news=marks[-1:],
        marks=marked,
        sweeps=sweeps,
        inner=state.inner + SEARCHES * count,
        due=(marks[-1] == 0) | ~grows | (sweeps >= LONGEST),
    )


def _lower(state: State, size: int, count: int) -> State:
    """Some steps that lower signatures, of `SWEEPS` sweeps each."""
    sweeps = SWEEPS * count
    changes = jnp.zeros(sweeps + 1, jnp.int32).at[0].set(state.news[0])
    told = state.above, state.below, state.stamp, changes
    now, inverse = state.sweeps[None] + 1, _factor(state.phase, INVERSE)
    for sweep in range(sweeps):
        told = ops.lower_both(state.edges, *told, sweep, now, inverse)
    above, below, stamp, changes = told
    few = jnp.sum(changes[1:], dtype=jnp.int32) < state.edges.count[0] >> FEW
    slow = state.slow + few.astype(jnp.int32)
    return state._replace(
        above=above,
        below=below,
        stamp=stamp,
        news=changes[-1:],
        slow=slow,
        sweeps=state.sweeps + sweeps,
        inner=state.inner + sweeps,
        due=(changes[-1] == 0) | ((state.phase == NUMBERED) & (slow >= PATIENCE)),
    )


def _wants_levels(state: State) -> jax.Array:
    """Whether signatures take so long that a search by levels may find much."""
    long = state.deep & (state.phase == NUMBERED) & (state.sweeps >= DEEP_FROM)
    return long & ~state.due & (state.edges.count[0] >= SEARCH_FROM)


def _after_search(game: ListedGraph, state: State) -> State:
    """Takes out what is known if the search came to its end, and begins anew."""
    size, settled = len(state.root), state.news[0] == 0
    mark = state.ahead + 2 * state.behind
    both = mark == 3
    apart = jnp.where(both, mark, mark + 4)  # equal where nothing is to be done
    # If it did not, all edges are kept.
    first, last = jnp.where(settled, mark, 1), jnp.where(settled, apart, 2)
    edges = ops.keep_inside(state.edges, state.room, first, last)
    own = jnp.arange(size, dtype=jnp.int32)
    known = settled & both & _alive(game) & (state.root == NONE)
    root = jnp.min(own, where=both, initial=size)
    left = edges.count[0]
    again = settled & (left >= SEARCH_FROM) & (2 * left <= state.edges.count[0])
    after = jnp.where(again, SEARCH, NUMBERED)
    return _begin(
        *(edges, state.edges, edges.tail[0]),
        root=jnp.where(known, root, state.root),
        phase=jnp.where(_is_sparse(edges, size), TRIM, after).astype(jnp.int32),
        again=again,
        deep=state.deep,
        outer=state.outer + settled.astype(jnp.int32),
        inner=state.inner,
    )


def _after_lowering(game: ListedGraph, state: State) -> State:
    """Takes out what is known if signatures are stable, and begins anew."""
    size, settled = len(state.root), state.news[0] == 0
    above, below = state.above, state.below
    # If they are not, all edges are kept, and ranks are scattered.
    first, last = jnp.where(settled, above, 0), jnp.where(settled, below, 1)
    edges = ops.keep_inside(state.edges, state.room, first, last)
    known = settled & (above == below) & _alive(game) & (state.root == NONE)
    root = ops.times(above, _factor(state.phase, INVERSE)[0], size)
    after = jnp.where(_is_sparse(edges, size), TRIM, NUMBERED)
    return _begin(
        *(edges, state.edges, edges.tail[0]),
        root=jnp.where(known, root, state.root),
        phase=jnp.where(settled, after, SCATTERED).astype(jnp.int32),
        again=jnp.array(False),
        deep=state.deep,
        outer=state.outer + settled.astype(jnp.int32),
        inner=state.inner,
    )


def _trim(state: State) -> State:
    """Leaves out edges at vertices that no edge enters, or none leaves, some times.

    No sweep has been made yet: only where a search begins may be another vertex.
    """
    edges, room, size = state.edges, state.room, len(state.root)
    for _ in range(TRIM_PASSES):
        left, entered = ops.touched(edges, size)
        both = left & entered
        edges, room = ops.keep_inside(edges, room, both, 2 * both), edges
    before, now = state.edges.count[0], edges.count[0]
    shrinks = before - now > before >> SHRINKS
    after = jnp.where(state.again, SEARCH, NUMBERED)
    only = _only(edges.tail[0], size)
    return state._replace(
        edges=edges,
        room=room,
        ahead=only,
        behind=only,
        phase=jnp.where(shrinks, TRIM, after).astype(jnp.int32),
        inner=state.inner + TRIM_PASSES,
    )


def _only(vertex: jax.Array, size: int) -> jax.Array:
    return (jnp.arange(size, dtype=jnp.int32) == vertex).astype(jnp.int8)


def _levels(game: ListedGraph, state: State) -> State:
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
        due=much,
    )


def _is_sparse(edges: EdgeList, size: int) -> jax.Array:
    """Whether many vertices may have no edge that leaves or enters them."""
    return edges.count[0] // SPARSE <= size

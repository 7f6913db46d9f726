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
        """Sweeps until a turn is due, and that turn; again and again.

        Each kind of sweeps has a loop of its own: on a GPU a kernel that finds nothing
        to do, and a test of something that is not due, cost as much as a short sweep.
        """
        for count in dict.fromkeys((self.sweeps_per_check or 1, 1)):
            carry = self._advance(game, carry, jnp.asarray(limit, jnp.int32), count)
        return carry

    def _advance(
        self, game: ListedGraph, carry: fixpoint.Carry, limit: jax.Array, count: int
    ) -> fixpoint.Carry:
        """The same with so many steps between two tests."""
        size = len(game.degree)
        searches = len(game.edges.tail) >= SEARCH_FROM  # else a sweep costs nothing

        def stops(carry: fixpoint.Carry) -> jax.Array:
            return self.done(game, carry.state) | (carry.rounds > limit - count)

        def sweeps_while(here, sweep, carry: fixpoint.Carry) -> fixpoint.Carry:
            def over(carry: fixpoint.Carry) -> jax.Array:
                state = carry.state
                leaves = ~here(state) | state.due | (carry.rounds > limit - count)
                return leaves | _wants_levels(state) if searches else leaves

            def some(carry: fixpoint.Carry) -> fixpoint.Carry:
                state = sweep(carry.state, size, count)
                return carry._replace(state=state, rounds=carry.rounds + count)

            return fixpoint.until(over, some, carry)

        def until_turn(carry: fixpoint.Carry) -> fixpoint.Carry:
            rounds = carry.rounds + (carry.state.phase == TRIM)
            carry = carry._replace(rounds=rounds)
            if searches:
                carry = sweeps_while(lambda x: x.phase == SEARCH, _search, carry)
            carry = sweeps_while(lambda x: x.phase >= NUMBERED, _lower, carry)
            state, edges = carry.state, game.edges
            if searches:
                wants, by_levels = (
                    _wants_levels(state),
                    functools.partial(_levels, game),
                )
                state = fixpoint.change_if(edges, wants, by_levels, state)
            turn = functools.partial(_turn, game)
            return carry._replace(
                state=fixpoint.change_if(edges, state.due, turn, state)
            )

        return fixpoint.until(stops, until_turn, carry)

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
        due=known["phase"] == TRIM,  # which has no sweeps
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


def _turn(game: ListedGraph, state: State) -> State:
    """Takes components out where sweeps have come to an end, and begins anew."""
    size = len(state.root)
    searching, trimming = state.phase == SEARCH, state.phase == TRIM
    settled = trimming | (state.news[0] == 0)
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

    turns = [
        (trimming, functools.partial(_trimmed, size)),
        (settled & ~searching & ~trimming, inside(state.above, state.below)),
    ]
    if len(game.edges.tail) >= SEARCH_FROM:
        turns.append((settled & searching, inside(mark, apart)))
    lists = state.edges, state.room
    for when, fewer in turns:
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
        inner=state.inner + TRIM_PASSES * trimming.astype(jnp.int32),
    )


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


def _trimmed(size: int, lists: tuple[EdgeList, EdgeList]) -> tuple[EdgeList, EdgeList]:
    """Only edges of vertices that edges leave and enter, some times over."""
    for _ in range(TRIM_PASSES):
        left, entered = ops.touched(lists[0], size)
        both = left & entered
        lists = ops.keep_inside(*lists, both, 2 * both), lists[0]
    return lists

"""Components by signatures: the first to reach a vertex, and the first reached."""

import dataclasses
from typing import Any, ClassVar, Literal, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.graph import _front, _solver
from jaxgames.graph._solver import NONE, ComponentMachine, Subgraph, same_at_both_ends
from jaxgames.later import jax, jnp
from jaxgames.ops import Links, Pieces, SlicedLinks
from jaxgames.states import register

Order = Literal["reversed", "bfs"]
Jumps = Literal["none", "pull", "both"]

ORDERS: tuple[Order, ...] = ("reversed", "bfs")
JUMPS: tuple[Jumps, ...] = ("none", "pull", "both")


@register
class State(NamedTuple):
    """Signatures, roots, and the scalars of the machine.

    Ranks order the vertices; the least one wins. Vertices with a root have no links.
    """

    above: jax.Array  # int32 [V]: the least rank known to reach the vertex
    below: jax.Array  # int32 [V]: the least rank known to be reached from it
    root: jax.Array  # int32 [V]
    rank: jax.Array | None  # int32 [V]: of each vertex; None for its number
    holder: jax.Array | None  # int32 [V]: the vertex of each rank
    live: tuple[Pieces, Pieces] | None  # bool on links; None where they all are
    stable: jax.Array
    left: jax.Array
    outer: jax.Array  # int32: turns
    inner: jax.Array  # int32: sweeps that changed something, or were the last
    jumps: jax.Array  # int32: those of them that jumped
    near: jax.Array  # int32: rounds that read only what is next to changes


@dataclasses.dataclass(frozen=True)
class MaxId(ComponentMachine):
    """Two-sided propagation of the vertex of highest priority, with pointer jumps.

    Each vertex has a signature: the vertex of highest priority that reaches it, and the
    one that it reaches. Both spread over all edges at once. After a sweep they jump:
    who reaches my best ancestor reaches me (pull), and my best ancestor reaches what I
    reach (push). Where both halves are equal at the end they name a component, since
    that vertex reaches and is reached; edges between vertices of different signature
    lie in no component, and go. What is left starts again.

    In a large graph on one device few signatures change in most sweeps. Then some
    rounds read only the links of these, from one to the next.

    A sweep is O(V + E). On a path or a cycle there are about log V of them between two
    turns, on others up to the depth of the graph; a turn finds at least one component
    of each weakly connected part, and in practice there are few. An order that
    follows the depth makes sweeps few.

    Attributes:
        order: priorities. `"reversed"`: by vertex number, the smallest first, as fits
            graphs that were numbered by a search from their first vertex. `"bfs"`: by
            distance from vertex 0, the nearest first, then by number.
        jumps: which jumps: `"none"`, `"pull"` or `"both"`. Without those that push a
            cycle takes as many sweeps as it has vertices.

    References:
        Alabandi, Sands, Biros and Burtscher, A GPU algorithm for detecting strongly
        connected components (ECL-SCC), SC 2023, doi:10.1145/3581784.3607071.

    Examples:
        >>> from jaxgames import graph
        >>> graph.scc(([0, 1, 3, 4], [1, 0, 2, 2]), graph.MaxId(order="bfs"))
        Components(2 of 3 vertices)
    """

    order: Order = "reversed"
    jumps: Jumps = "both"

    name: ClassVar[str] = "max_id"
    cuts: ClassVar[bool] = True

    def __post_init__(self):
        super().__post_init__()
        if self.order not in ORDERS:
            raise ValueError(f"order must be one of {ORDERS}, got {self.order!r}")
        if self.jumps not in JUMPS:
            raise ValueError(f"jumps must be one of {JUMPS}, got {self.jumps!r}")

    def begin(self, game: Subgraph) -> State:
        """Every vertex knows itself.

        In a large graph it knows its neighbours too: they are what its links hold, so
        that the first sweep, and no other, need not look anything up.
        """
        state = self._alone(game)
        if not _is_large(game) or state.rank is not None:
            return state
        above, below = (
            jnp.minimum(own, ops.links_min(links, ops.link_targets(links)))
            for own, links in ((state.above, game.into), (state.below, game.out))
        )
        return self._jumped(state, above, below)

    def _alone(self, game: Subgraph) -> State:
        zero = jnp.int32(0)
        rank, holder = self._ranks(game)
        own = _own(rank, game)
        return State(
            above=own,
            below=own,
            root=jnp.full_like(own, NONE),
            rank=rank,
            holder=holder,
            live=None,
            stable=jnp.array(False),
            left=jnp.sum(game.alive, dtype=jnp.int32),
            outer=zero,
            inner=zero,
            jumps=zero,
            near=zero,
        )

    def init(self, game: Subgraph) -> State:
        """As `begin`, with a mask of the links instead of links that go."""
        state = self._alone(game)
        alive = game.alive.astype(jnp.int32)
        alive_or_own = jnp.where(game.alive, -1, jnp.arange(len(alive)))
        live = tuple(same_at_both_ends(x, alive_or_own) for x in (game.out, game.into))
        return state._replace(live=live)

    def sweep_some(self, game: Subgraph, state: State) -> State:
        """The sweeps between two tests; one, where few changes can be followed."""
        if self.sweeps is not None or state.live is not None or not _front.pays(game):
            return super().sweep_some(game, state)
        new = self.sweep(game, state)
        before, after = (state.above, state.below), (new.above, new.below)
        found = _front.spread(game, state.holder, before, after)
        return new._replace(
            above=found.above,
            below=found.below,
            stable=found.still,
            near=new.near + found.rounds,
        )

    def sweep(self, game: Subgraph, state: State) -> State:
        """Signatures go along every edge, and jump."""
        live_out, live_into = (None, None) if state.live is None else state.live
        into, out = game.into, game.out
        if _is_large(game):
            best = jnp.min(
                state.above, initial=len(state.root), where=state.root == NONE
            )
            into = _without(into, state.above == best)
            out = _without(out, state.below == best)
        mesh, sent = ops.mesh_of(game), None
        if mesh is not None and mesh.size > 1:
            sent = ops.sent_to_all((state.above, state.below))
        above, below = sent or (state.above, state.below)
        return self._jumped(
            state,
            jnp.minimum(state.above, ops.links_min(into, above, live_into)),
            jnp.minimum(state.below, ops.links_min(out, below, live_out)),
            sent,
        )

    def _jumped(
        self,
        state: State,
        above: jax.Array,
        below: jax.Array,
        sent: tuple[jax.Array, jax.Array] | None = None,
    ) -> State:
        """The state after a sweep that told so much, and its jumps.

        On several devices they do with the signatures before the sweep, which it has
        `sent` to all: some more sweeps take less than to send the new ones as well.
        """
        if self.jumps != "none":
            above, below = self._jump(state.holder, (above, below), sent)
        same = ~jnp.any((above != state.above) | (below != state.below))
        more = (~state.stable & (state.left > 0)).astype(jnp.int32)
        return state._replace(
            above=above,
            below=below,
            stable=same,
            inner=state.inner + more,
            jumps=state.jumps + (more if self.jumps != "none" else 0),
        )

    def _jump(self, holder, own, sent=None):
        def named(signatures):
            if holder is None:
                return signatures
            return tuple(ops.take(holder, x) for x in signatures)

        known = sent or own
        pulled = tuple(map(ops.take, known, named(own)))
        found = tuple(map(jnp.minimum, own, pulled))
        if self.jumps == "pull":
            return found
        # Written only where it tells something new: few places are the best ancestor of
        # many vertices, and many writes to one place take long.
        (above, below), (first, last) = known, named(known)
        size, nothing = len(above), jnp.iinfo(above.dtype).max
        news = jnp.where(below < ops.take(below, first), first, size)
        also = jnp.where(above < ops.take(above, last), last, size)
        pushed = (
            ops.min_into(also, above, size, nothing),
            ops.min_into(news, below, size, nothing),
        )
        return tuple(map(jnp.minimum, found, pushed))

    def settle(self, game: Subgraph, state: State) -> State:
        """Equal halves are a component."""
        root = state.above
        root = root if state.holder is None else ops.take(state.holder, root)
        found = game.alive & (state.root == NONE) & (state.above == state.below)
        root = jnp.where(found, root, state.root)
        return state._replace(
            root=root,
            left=jnp.sum(game.alive & (root == NONE), dtype=jnp.int32),
            outer=state.outer + jnp.int32(state.left > 0),
        )

    def live(self, game: Subgraph, state: State) -> tuple[Pieces, Pieces]:
        """The links inside a signature that is no root."""
        signatures = ops.sent_to_all((state.above, state.below))

        def kept(links, live) -> Pieces:
            same = same_at_both_ends(links, *signatures)
            apart = ops.at_rows(links, state.above != state.below)
            same = ops.edgewise(jnp.logical_and, same, apart)
            return same if live is None else ops.edgewise(jnp.logical_and, same, live)

        out, into = (None, None) if state.live is None else state.live
        return kept(game.out, out), kept(game.into, into)

    def restart(self, game: Subgraph, state: State) -> State:
        """Every vertex knows itself again."""
        own = _own(state.rank, game)
        live = None if state.live is None else self.live(game, state)
        return state._replace(above=own, below=own, live=live, stable=jnp.array(False))

    def restrict(self, game: Subgraph, state: State, vertices, place) -> State:
        """Every vertex knows itself; ranks stay in order."""
        new = dataclasses.replace(self, order="reversed").begin(game)
        if state.rank is not None:
            rank = state.rank.at[vertices].get(mode="fill", fill_value=len(state.rank))
            holder = jnp.argsort(rank).astype(jnp.int32)
            rank = ops.put(jnp.zeros_like(holder), holder, new.above)
            new = new._replace(rank=rank, holder=holder, above=rank, below=rank)
        return new._replace(
            outer=state.outer, inner=state.inner, jumps=state.jumps, near=state.near
        )

    def stats(self, game: Subgraph, state: State) -> dict[str, Any]:
        """Turns, sweeps and jumps, and rounds between two sweeps."""
        names = ("outer", "inner", "jumps", "near")
        return {name: getattr(state, name) for name in names}

    def _ranks(self, game: Subgraph):
        if self.order == "reversed":
            return None, None
        holder = jnp.argsort(_distances(game), stable=True).astype(jnp.int32)
        own = jnp.arange(len(holder), dtype=jnp.int32)
        return ops.put(jnp.zeros_like(holder), holder, own), holder


def _is_large(game: Subgraph) -> bool:
    sliced = isinstance(game.out, SlicedLinks) and isinstance(game.into, SlicedLinks)
    return sliced and ops.num_cells((game.out, game.into)) >= _solver.LARGE_CELLS


def _without(links: Links, known: jax.Array) -> Links:
    """The links of vertices that do not know the best of all yet.

    The others learn nothing more, and what is not looked up is not read: where one
    component is most of a graph, that makes its last sweeps short.
    """
    return ops.keep_links(links, ops.at_rows(links, ~known))


def _own(rank, game: Subgraph) -> jax.Array:
    return jnp.arange(len(game.alive), dtype=jnp.int32) if rank is None else rank


def _distances(game: Subgraph) -> jax.Array:
    """Steps from vertex 0, or the first one that is alive; of others int32's largest.

    Breadth-first search: a sweep for each level.
    """
    size, far = len(game.alive), jnp.iinfo(jnp.int32).max

    def step(near: jax.Array) -> tuple[jax.Array, jax.Array]:
        before = ops.links_min(game.into, near)
        new = jnp.minimum(near, jnp.where(before == far, far, before + 1))
        return new, jnp.all(new == near)

    first = jnp.arange(size) == jnp.argmax(game.alive)
    return fixpoint.settled(step, jnp.where(first, 0, far).astype(jnp.int32))

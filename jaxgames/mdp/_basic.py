"""End components by components, removal, and components again."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.graph._fb_trim import FBTrim
from jaxgames.graph._solver import ComponentMachine, Subgraph
from jaxgames.later import jax, jnp
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._removal import leave, remove
from jaxgames.mdp._solver import Answer, EndComponentSolver, answer
from jaxgames.states import register

SEARCH, REMOVE, DONE = range(3)
"""Phases: components are searched, choices and states die, the end."""


@register
class State(NamedTuple):
    """Arrays over states and choices, a search, and the scalars of the machine."""

    live: jax.Array  # bool [C]: choices that have not died
    alive: jax.Array  # bool [S]: states that have not died
    before: jax.Array  # bool [C]: choices that were live when the search began
    root: jax.Array  # int32 [S]: the least state of its component, when last searched
    graph: Subgraph  # what is searched
    search: Any  # the state of the search
    phase: jax.Array  # int32
    outer: jax.Array  # int32: how often components were searched
    propagation: jax.Array  # int32: steps that this took
    removal: jax.Array  # int32: rounds of removal


@dataclasses.dataclass(frozen=True)
class Basic(EndComponentSolver):
    """The basic algorithm: decompose, take out what cannot stay, decompose the rest.

    The strongly connected components of the live choices are searched. A choice that
    may leave its component dies; then choices die that may lead to dead states, and
    states that have no choice left, until no more do. A component that lost nothing is
    a maximal end component. The others are searched again, all at once, until there is
    none.

    This is the algorithm of [1], its section 2.3, on choices as in [2]. Its section 3.4
    takes components for end components too soon: where every state keeps a choice, but
    some choice that the component needed to be connected may leave it.

    Up to S outer steps at worst, few in practice; each costs a search, and as many
    rounds of removal as the longest chain of deaths. A round is O(S + C + E).

    Attributes:
        search: how components are searched: a solver of `jaxgames.graph`.
        sweeps: rounds of removal between two tests whether something has changed. None:
            1 on a CPU, up to 8 on an accelerator, fewer for large models.

    References:
        [1] Wijs, Katoen and Bošnački, GPU-based graph decomposition into strongly
        connected and maximal end components, CAV 2014,
        doi:10.1007/978-3-319-08867-9_20.
        [2] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997, section 3.3.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
        ... )
        >>> mdp.mec(model, "basic")
        EndComponents(2 of 2 states and 2 choices)
    """

    search: ComponentMachine = FBTrim()

    name: ClassVar[str] = "basic"
    needs_graph: ClassVar[bool] = True

    def init(self, game: Layout) -> State:
        """All that is looked at is alive, and searched."""
        alive = game.states & ops.links_any(game.choices, game.live)
        graph = _subgraph(game, game.live, alive)
        zero = jnp.int32(0)
        return State(
            live=game.live,
            alive=alive,
            before=game.live,
            root=jnp.arange(len(alive), dtype=jnp.int32),
            graph=graph,
            search=self.search.init(graph),
            phase=jnp.where(jnp.any(alive), SEARCH, DONE).astype(jnp.int32),
            outer=zero,
            propagation=zero,
            removal=zero,
        )

    def step(self, game: Layout, state: State) -> State:
        """Some rounds of a phase; when it is over, goes on to the next."""
        return jax.lax.switch(
            state.phase,
            [self._search, self._remove, lambda game, state: state],
            game,
            state,
        )

    def done(self, game: Layout, state: State) -> jax.Array:
        """Nothing was lost."""
        return state.phase == DONE

    def answer(self, game: Layout, state: State) -> Answer:
        """The components that are left; before the end nothing."""
        return answer(state.alive, state.live, state.root, state.phase == DONE)

    def _search(self, game: Layout, state: State) -> State:
        search = self.search.step(state.graph, state.search)
        state = state._replace(search=search, propagation=state.propagation + 1)
        over = self.search.done(state.graph, search)
        return jax.lax.cond(over, self._prune, lambda _, same: same, game, state)

    def _prune(self, game: Layout, state: State) -> State:
        """Lets choices die that leave their component."""
        label = self.search.answer(state.graph, state.search).labels
        size = len(label)
        own = jnp.arange(size, dtype=jnp.int32)
        least = ops.min_into(jnp.where(label < 0, size, label), own, size, size)
        found = ops.take(least, jnp.maximum(label, 0))
        # Components that are complete already were not searched.
        root = jnp.where(label < 0, state.root, found)
        return state._replace(
            live=state.live & ~leave(game, root),
            root=root,
            phase=jnp.int32(REMOVE),
            outer=state.outer + 1,
        )

    def _remove(self, game: Layout, state: State) -> State:
        stable = jnp.array(False)
        for _ in range(self.sweeps_per_step(game)):
            live, alive = remove(game, state.live, state.alive)
            more = jnp.int32(~stable)
            stable = ~jnp.any(live != state.live) & ~jnp.any(alive != state.alive)
            state = state._replace(live=live, alive=alive, removal=state.removal + more)
        return jax.lax.cond(
            stable, self._begin_again, lambda _, same: same, game, state
        )

    def _begin_again(self, game: Layout, state: State) -> State:
        """Searches what is left of the components that lost something."""
        gone = state.before & ~state.live
        loses = ops.links_any(game.choices, gone).astype(jnp.int32)
        spoiled = ops.max_into(state.root, loses, len(loses), 0) > 0
        again = state.alive & ops.take(spoiled, state.root)
        graph = _subgraph(game, state.live, again)
        return state._replace(
            before=state.live,
            root=jnp.where(again, jnp.arange(len(again), dtype=jnp.int32), state.root),
            graph=graph,
            search=self.search.init(graph),
            phase=jnp.where(jnp.any(again), SEARCH, DONE).astype(jnp.int32),
        )


def _subgraph(game: Layout, live: jax.Array, alive: jax.Array) -> Subgraph:
    """The graph of some states, with an edge for each branch of a live choice."""
    graph = game.graph
    if graph is None:
        raise ValueError("the layout has no graph: prepare it with one")
    live = live & ops.take(alive, game.owner)
    return Subgraph(
        out=ops.keep_links(graph.out, ops.at_targets(graph.out_choice, live)),
        into=ops.keep_links(graph.into, ops.at_targets(game.entering, live)),
        alive=alive,
    )

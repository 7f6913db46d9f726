"""End components by propagation and deletion in one loop, without components."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._cascade import has_room, spread_deaths
from jaxgames.mdp._fates import Fates, are_narrow, jump, no_fates, tell
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._removal import leave, remove_both_ways
from jaxgames.mdp._signatures import branches_of, descend, graph_of, spread
from jaxgames.mdp._solver import Answer, EndComponentSolver, answer
from jaxgames.ops import Pieces
from jaxgames.solver import check_positive
from jaxgames.states import register
from jaxgames.tuning.mdp import LIGHT, MOST_DOUBLINGS, PATIENCE

PROPAGATE, DESCEND, REMOVE, DONE, NEAR = range(5)
"""Phases: signatures spread, one half of them still does, choices and states die, the
end; and, where that is wanted, they die next to the last deaths."""


@register
class State(NamedTuple):
    """Arrays over states, choices and branches, and the scalars of the machine."""

    live: jax.Array  # bool [C]: choices that have not died
    alive: jax.Array  # bool [S]: states that have not died
    locked: jax.Array  # bool [S]: states that are end components of their own
    before: jax.Array  # bool [C]: choices that were live when signatures last began
    branches: tuple[Pieces, Pieces]  # bool, by target and by state: those of `before`
    above: jax.Array  # int32 [S]: the least state known to reach this one
    below: jax.Array  # int32 [S]: the least state known to be reached from this one
    fates: Fates  # states whose death is another's too
    broad: jax.Array  # bool: many states have no fate
    left: jax.Array  # int32: steps of removal left before signatures spread again
    spread: jax.Array  # int32: rounds since signatures last began
    phase: jax.Array  # int32
    outer: jax.Array  # int32: how often signatures were spread
    propagation: jax.Array  # int32: rounds that this took
    removal: jax.Array  # int32: rounds of removal
    near: jax.Array  # int32: those of them that read only what is next to deaths
    jumps: jax.Array  # int32: how often ways of fates were followed


@dataclasses.dataclass(frozen=True)
class Interleaved(EndComponentSolver):
    """Signatures that tell components apart, and deletion of choices that span two.

    Every state has a signature: the least state that reaches it, and the least that it
    reaches, over live choices. They spread along all choices at once, and by pointer
    jumps: what reaches my least ancestor reaches me, and it reaches what I reach. All
    states of a strongly connected component have the same signature, so a choice
    between two signatures is in no end component: it dies. Then, for some rounds,
    choices die that may lead to dead states, and states that have no choice left, or
    that none enters. Signatures spread anew where something was lost, until nothing is:
    then the two halves of each signature are the same state, and states that share it
    are a maximal end component.

    A state that cannot be left is an end component of its own, and no other has a
    choice into it. So removal comes first: where a model ends in such states for
    certain, it is all that is needed.

    Removal jumps too. Many a state dies with another: all its choices may lead there,
    or all that enter it come from there. So it dies with all on the way of such
    pointers, and those whose choices lead to ways with the same end die with that: as
    in tree contraction [3], whole chains go in a step. For a large model on one device
    removal reads what is next to the last deaths alone, as long as they are few; it
    jumps where that turns out slow and nearly all states have such pointers.

    This is the propagation of [1] with the deletions of [2] between; components in
    between are never complete, and need not be. A round reads every branch about
    twice: O(S + C + E). How many there are depends on how deep the components are; a
    numbering of the states by breadth-first search, as model checkers give it, makes
    them few. There are up to S outer steps at worst, and up to seven in practice.

    Attributes:
        removals: steps of removal before signatures spread for the first time; they
            double with each time, and are at least twice as many as the rounds that
            signatures took to spread. Many are wasted while the signatures are coarse,
            few make outer steps. `LIGHT` rounds that read little count as one step.
        sweeps: rounds between two tests whether something has changed. None: 1 on a
            CPU, up to 8 on an accelerator, fewer for large models.

    References:
        [1] Alabandi, Sands, Biros and Burtscher, A GPU algorithm for detecting
        strongly connected components (ECL-SCC), SC 2023, doi:10.1145/3581784.3607071.
        [2] Bansal and Singh, Interleaving computation of maximal end components,
        arXiv:2505.20748.
        [3] Miller and Reif, Parallel tree contraction and its application, FOCS 1985,
        doi:10.1109/SFCS.1985.43.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
        ... )
        >>> mdp.mec(model, mdp.Interleaved(removals=4))
        EndComponents(2 of 2 states and 2 choices)
    """

    removals: int = 16

    name: ClassVar[str] = "interleaved"
    needs_graph: ClassVar[bool] = True

    def __post_init__(self):
        super().__post_init__()
        check_positive(removals=self.removals)

    def init(self, game: Layout) -> State:
        """All that is looked at is alive, but for states that cannot be left."""
        chosen = game.states & ops.links_any(game.choices, game.live)
        stays = ~leave(game, jnp.arange(len(chosen), dtype=jnp.int32))
        locked = chosen & ~ops.links_any(game.choices, game.live & ~stays)
        alive = chosen & ~locked
        own = jnp.arange(len(alive), dtype=jnp.int32)
        zero = jnp.int32(0)
        return State(
            live=game.live & ops.take(alive, game.owner),
            alive=alive,
            locked=locked,
            before=game.live,
            branches=branches_of(game, game.live),
            above=own,
            below=own,
            fates=no_fates(len(alive)),
            broad=jnp.array(False),
            left=jnp.int32(self.removals),
            spread=zero,
            phase=jnp.where(jnp.any(chosen), _first_phase(game), DONE),
            outer=zero,
            propagation=zero,
            removal=zero,
            near=zero,
            jumps=zero,
        )

    def step(self, game: Layout, state: State) -> State:
        """Some rounds of a phase; when it is over, goes on to the next."""
        phases = [self._propagate, self._descend, self._remove, lambda _, same: same]
        if game.rows is not None:
            phases.append(self._remove_near)
        return jax.lax.switch(state.phase, phases, game, state)

    def done(self, game: Layout, state: State) -> jax.Array:
        """Nothing was lost."""
        return state.phase == DONE

    def answer(self, game: Layout, state: State) -> Answer:
        """The states that share a signature; before the end nothing."""
        alive = state.alive | state.locked
        live = state.live | (game.live & ops.take(state.locked, game.owner))
        return answer(alive, live, state.above, state.phase == DONE)

    def stats(self, game: Layout, state: State) -> dict[str, Any]:
        """Outer steps, and rounds of each kind."""
        more = {"near": state.near, "jumps": state.jumps}
        return {**super().stats(game, state), **more}

    def _propagate(self, game: Layout, state: State) -> State:
        """Both halves of the signatures spread."""
        graph = graph_of(game)
        stable = rises = jnp.array(False)
        for _ in range(self.sweeps_per_step(game)):
            above, below = spread(graph, state.branches, state.above, state.below)
            more = (~stable).astype(jnp.int32)
            rises = jnp.any(above != state.above)
            stable = ~rises & ~jnp.any(below != state.below)
            state = state._replace(
                above=above,
                below=below,
                spread=state.spread + more,
                propagation=state.propagation + more,
            )
        phase = jnp.where(rises, PROPAGATE, DESCEND).astype(jnp.int32)
        return jax.lax.cond(
            stable, self._prune, lambda _, same: same, game, state._replace(phase=phase)
        )

    def _descend(self, game: Layout, state: State) -> State:
        """The lower halves spread alone: the upper ones are what they will be."""
        graph = graph_of(game)
        stable = jnp.array(False)
        for _ in range(self.sweeps_per_step(game)):
            below = descend(graph, state.branches, state.above, state.below)
            more = (~stable).astype(jnp.int32)
            stable = ~jnp.any(below != state.below)
            state = state._replace(
                below=below,
                spread=state.spread + more,
                propagation=state.propagation + more,
            )
        return jax.lax.cond(stable, self._prune, lambda _, same: same, game, state)

    def _prune(self, game: Layout, state: State) -> State:
        """Lets choices die that span two signatures."""
        budget = self.removals << jnp.minimum(state.outer, MOST_DOUBLINGS)
        return state._replace(
            live=state.live & ~leave(game, state.above, state.below),
            broad=jnp.array(False),
            left=jnp.maximum(budget, 2 * state.spread).astype(jnp.int32),
            phase=_first_phase(game),
            outer=state.outer + 1,
        )

    def _remove(self, game: Layout, state: State) -> State:
        """Rounds of removal that read all, and jumps along the ways of fates."""
        live, alive, removal = state.live, state.alive, state.removal
        changed = jnp.array(True)
        for _ in range(self.sweeps_per_step(game)):
            before, removal = (live, alive), removal + jnp.int32(changed)
            live, alive = remove_both_ways(game, live, alive)
            changed = jnp.any(live != before[0]) | jnp.any(alive != before[1])
        left, fates = jump(game, live, alive, state.fates)
        changed |= jnp.any(left != alive)
        state = state._replace(
            live=live,
            alive=left,
            fates=fates,
            left=jnp.where(changed & jnp.any(left), state.left - 1, 0),
            removal=removal,
            jumps=state.jumps + 1,
        )
        over = state.left <= 0
        return jax.lax.cond(over, _begin_again, lambda _, same: same, game, state)

    def _remove_near(self, game: Layout, state: State) -> State:
        """One round of removal that reads all, then such as read little."""
        assert game.rows is not None
        live, alive = remove_both_ways(game, state.live, state.alive)
        changed = jnp.any(alive != state.alive) | jnp.any(live != state.live)
        front = state.alive & ~alive
        left = jnp.where(changed, state.left - 1, 0)
        state = state._replace(
            live=live, alive=alive, left=left, removal=state.removal + 1
        )

        def near(state: State) -> State:
            limit = LIGHT * state.left
            patience = jnp.where(state.broad, limit, PATIENCE)
            live, alive, rounds, over = spread_deaths(
                game, state.live, state.alive, front, limit, patience
            )
            left = jnp.where(over, 0, state.left - -(-rounds // LIGHT))
            state = state._replace(
                live=live,
                alive=alive,
                left=left,
                removal=state.removal + rounds,
                near=state.near + rounds,
            )
            slow = (left > 0) & (rounds >= patience)
            return jax.lax.cond(slow, _look, lambda _, same: same, game, state)

        few = (left > 0) & has_room(game.rows, front)
        state = jax.lax.cond(few, near, lambda same: same, state)
        over = state.left <= 0
        return jax.lax.cond(over, _begin_again, lambda _, same: same, game, state)


def _first_phase(game: Layout) -> jax.Array:
    """The phase in which removal begins."""
    return jnp.int32(REMOVE if game.rows is None else NEAR)


def _look(game: Layout, state: State) -> State:
    """Whether removal had better jump."""
    fates = tell(game, state.live, state.fates)
    narrow = are_narrow(fates, state.alive)
    phase = jnp.where(narrow, REMOVE, NEAR).astype(jnp.int32)
    return state._replace(fates=fates, broad=~narrow, phase=phase)


def _begin_again(game: Layout, state: State) -> State:
    """Where a component has lost a choice, each state is its own signature again."""
    own = jnp.arange(len(state.alive), dtype=jnp.int32)
    live = state.live & ops.take(state.alive, game.owner)
    gone = state.before & ~live
    loses = ops.links_any(game.choices, gone).astype(jnp.int32)
    spoiled = ops.max_into(state.above, loses, len(own), 0) > 0
    complete = (state.above == state.below) & ~ops.take(spoiled, state.above)
    more = (jnp.any(gone) | (state.outer == 0)) & jnp.any(state.alive)
    return state._replace(
        live=live,
        before=live,
        branches=branches_of(game, live),
        above=jnp.where(complete, state.above, own),
        below=jnp.where(complete, state.below, own),
        spread=jnp.int32(0),
        phase=jnp.where(more, PROPAGATE, DONE).astype(jnp.int32),
    )

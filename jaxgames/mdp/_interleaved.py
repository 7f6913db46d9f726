"""End components by propagation and deletion in one loop, without components."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import ops
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._removal import leave, remove
from jaxgames.mdp._solver import Answer, EndComponentSolver, answer
from jaxgames.solver import check_positive

PROPAGATE, REMOVE, DONE = range(3)
"""Phases: signatures spread, choices and states die, the end."""

MOST_DOUBLINGS = 20
"""Outer steps after which the rounds of removal double no more."""

RENEW = 16
"""Rounds of removal after which states are told anew whose death is theirs too."""


class State(NamedTuple):
    """Arrays over states and choices, and the scalars of the machine."""

    live: jax.Array  # bool [C]: choices that have not died
    alive: jax.Array  # bool [S]: states that have not died
    before: jax.Array  # bool [C]: choices that were live when signatures last began
    above: jax.Array  # int32 [S]: the least state known to reach this one
    below: jax.Array  # int32 [S]: the least state known to be reached from this one
    fate: jax.Array  # int32 [S]: a state whose death is this one's too
    told: jax.Array  # int32: rounds of removal since `fate` was found
    left: jax.Array  # int32: rounds of removal left before signatures spread again
    spread: jax.Array  # int32: rounds since signatures last began
    phase: jax.Array  # int32
    outer: jax.Array  # int32: how often signatures were spread
    propagation: jax.Array  # int32: rounds that this took
    removal: jax.Array  # int32: rounds of removal


@dataclasses.dataclass(frozen=True)
class Interleaved(EndComponentSolver):
    """Signatures that tell components apart, and deletion of choices that span two.

    Every state has a signature: the least state that reaches it, and the least that it
    reaches, over live choices. They spread along all choices at once, and by pointer
    jumps: what reaches my least ancestor reaches me, and it reaches what I reach. All
    states of a strongly connected component have the same signature, so a choice
    between two signatures is in no end component: it dies. Then, for some rounds,
    choices die that lead to dead states, and states that have no choice left.
    Signatures spread anew where something was lost, until nothing is: then the two
    halves of each signature are the same state, and states that share it are a maximal
    end component.

    Removal jumps too: a state dies with any state that all its choices may lead to, and
    so with all that follow on the way of such pointers.

    This is the propagation of [1] with the deletions of [2] between; components in
    between are never complete, and need not be. A round reads every branch about
    twice: O(S + C + E). How many there are depends on how deep the components are; a
    numbering of the states by breadth-first search, as model checkers give it, makes
    them few. There are up to S outer steps at worst, and up to seven in practice.

    Attributes:
        removals: rounds of removal in the first outer step; they double with each, and
            are at least twice as many as signatures took to spread, which cost more.
            Many are wasted while the signatures are coarse, few make outer steps.
        sweeps: rounds between two tests whether something has changed. None: 1 on a
            CPU, up to 8 on an accelerator, fewer for large models.

    References:
        [1] Alabandi, Sands, Biros and Burtscher, A GPU algorithm for detecting
        strongly connected components (ECL-SCC), SC 2023, doi:10.1145/3581784.3607071.
        [2] Bansal and Singh, Interleaving computation of maximal end components,
        arXiv:2505.20748.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
        ... )
        >>> mdp.mec(model, mdp.Interleaved(removals=4))
        EndComponents(2 of 2 states and 2 choices)
    """

    removals: int = 8

    name: ClassVar[str] = "interleaved"

    def __post_init__(self):
        """Checks the options."""
        super().__post_init__()
        check_positive(removals=self.removals)

    def init(self, game: Layout) -> State:
        """All that is looked at is alive; every state is its own signature."""
        alive = game.states & ops.links_any(game.choices, game.live)
        own = jnp.arange(len(alive), dtype=jnp.int32)
        zero = jnp.int32(0)
        return State(
            live=game.live,
            alive=alive,
            before=game.live,
            above=own,
            below=own,
            fate=own,
            told=zero,
            left=zero,
            spread=zero,
            phase=jnp.where(jnp.any(alive), PROPAGATE, DONE).astype(jnp.int32),
            outer=zero,
            propagation=zero,
            removal=zero,
        )

    def step(self, game: Layout, state: State) -> State:
        """Some rounds of a phase; when it is over, goes on to the next."""
        return jax.lax.switch(
            state.phase,
            [self._propagate, self._remove, lambda game, state: state],
            game,
            state,
        )

    def done(self, game: Layout, state: State) -> jax.Array:
        """Nothing was lost."""
        del game
        return state.phase == DONE

    def answer(self, game: Layout, state: State) -> Answer:
        """The states that share a signature; before the end nothing."""
        del game
        return answer(state.alive, state.live, state.above, state.phase == DONE)

    def _propagate(self, game: Layout, state: State) -> State:
        stable = jnp.array(False)
        for _ in range(self.sweeps_per_step(game)):
            above, below = _spread(game, state)
            more = (~stable).astype(jnp.int32)
            stable = ~jnp.any((above != state.above) | (below != state.below))
            state = state._replace(
                above=above,
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
            told=jnp.int32(RENEW),
            left=jnp.maximum(budget, 2 * state.spread).astype(jnp.int32),
            phase=jnp.int32(REMOVE),
            outer=state.outer + 1,
        )

    def _remove(self, game: Layout, state: State) -> State:
        old = state.told >= RENEW
        state = jax.lax.cond(old, _tell, lambda _, same: same, game, state)
        for _ in range(self.sweeps_per_step(game)):
            more = state.left > 0
            live, alive = remove(game, state.live, state.alive)
            alive = alive & ops.take(alive, state.fate)
            changed = jnp.any(alive != state.alive) | jnp.any(live != state.live)
            state = state._replace(
                live=live,
                alive=alive,
                fate=ops.take(state.fate, state.fate),
                told=state.told + 1,
                left=jnp.where(changed, state.left - 1, 0),
                removal=state.removal + more,
            )
        over = state.left <= 0
        return jax.lax.cond(over, _begin_again, lambda _, same: same, game, state)


def _spread(game: Layout, state: State) -> tuple[jax.Array, jax.Array]:
    """One round: signatures go along every live choice, and jump."""
    above, below, size = state.above, state.below, len(state.above)
    nowhere = jnp.iinfo(jnp.int32).max
    comes = jnp.where(state.live, ops.take(above, game.owner), nowhere)
    above = jnp.minimum(above, ops.links_min(game.entering, comes))
    leads = jnp.where(state.live, ops.links_min(game.branches, below), nowhere)
    below = jnp.minimum(below, ops.links_min(game.choices, leads))
    # Who reaches my least ancestor reaches me, and it reaches what I reach. It is told
    # only news: it may be that of many, and many writes to one place take long.
    tells = jnp.where(below < ops.take(below, above), above, size)
    hears = jnp.where(above < ops.take(above, below), below, size)
    told = ops.min_into(tells, below, size, nowhere)
    above = jnp.minimum(above, ops.min_into(hears, above, size, nowhere))
    below = jnp.minimum(below, told)
    return (
        jnp.minimum(above, ops.take(above, above)),
        jnp.minimum(below, ops.take(below, below)),
    )


def _tell(game: Layout, state: State) -> State:
    """Points each state to the last that all its choices may lead to, or to itself.

    To one that is the last of every choice, that is, as that is quickly found.
    """
    size = len(state.alive)
    own = jnp.arange(size, dtype=jnp.int32)
    last = ops.links_max(game.branches, own)
    least = ops.links_min(game.choices, jnp.where(state.live, last, size))
    most = ops.links_max(game.choices, jnp.where(state.live, last, -1))
    fate = jnp.where(least == most, most, own)
    return state._replace(fate=fate, told=jnp.int32(0))


def _begin_again(game: Layout, state: State) -> State:
    """Where a component has lost a choice, each state is its own signature again."""
    own = jnp.arange(len(state.alive), dtype=jnp.int32)
    live = state.live & ops.take(state.alive, game.owner)
    gone = state.before & ~live
    loses = ops.links_any(game.choices, gone).astype(jnp.int32)
    spoiled = ops.max_into(state.above, loses, len(own), 0) > 0
    complete = (state.above == state.below) & ~ops.take(spoiled, state.above)
    return state._replace(
        live=live,
        before=live,
        above=jnp.where(complete, state.above, own),
        below=jnp.where(complete, state.below, own),
        spread=jnp.int32(0),
        phase=jnp.where(jnp.any(gone), PROPAGATE, DONE).astype(jnp.int32),
    )

"""Fast value iteration for batches: a sweep a round, without loops of its own."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.energy import _potentials
from jaxgames.energy._fvi import FVI, GOING, NARROW, SOLVED, PotentialSolver, Task
from jaxgames.energy._potentials import (
    best,
    beyond,
    infinite,
    never,
    of_player,
    settled,
)
from jaxgames.later import jax, jnp
from jaxgames.ops import Edges, Game
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register


@register
class State(NamedTuple):
    """A turn on its way.

    Attributes:
        potential: `[S]`: final for this turn where it is held, else a bound from above.
        held: bool `[S]`, vertices whose potential does not rise in this turn.
        closed: bool on edges, those that the rival does not take in this turn.
        status: int32.
        turns: int32.
    """

    potential: jax.Array
    held: jax.Array
    closed: Edges
    status: jax.Array
    turns: jax.Array


class Final(NamedTuple):
    """What the solver reads an answer from."""

    potential: jax.Array
    status: jax.Array


@dataclasses.dataclass(frozen=True)
class Lockstep(Solver):
    """Fast value iteration, for either player, in rounds that all cost the same.

    The turns are those of [`FVI`][jaxgames.energy.FVI] with `active=False`. A round is
    some sweeps of the shortest path game. Where the first of them changes nothing, the
    next turn begins. So games of a batch do not wait for each other's loops.

    Attributes:
        of: the solver whose potentials these are.
        sweeps: of a round. With more of them turns begin later, and a sweep costs less.
    """

    of: PotentialSolver = FVI()
    sweeps: int = 1
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "fvi"

    def __post_init__(self):
        super().__post_init__()
        check_positive(sweeps=self.sweeps)

    def init(self, game: Task) -> State:  # type: ignore[override]
        """Potentials zero, but where the player has lost; a turn is due."""
        slots, dtype = ops.num_slots(game.game), game.scale.dtype
        return State(
            potential=jnp.where(game.lost, infinite(dtype), jnp.zeros(slots, dtype)),
            held=jnp.ones(slots, bool),
            closed=ops.edgewise(
                lambda x: jnp.zeros_like(x, bool), ops.edge_weight(game.game)
            ),
            status=jnp.int32(GOING),
            turns=jnp.int32(0),
        )

    def _of_full_width(self, game: Task) -> Task:
        """The task with weights of the type of numbers."""
        arena, dtype = game.game, game.scale.dtype
        weight = ops.edgewise(lambda x: x.astype(dtype), ops.edge_weight(arena))
        return game._replace(game=ops.with_edge_weight(arena, weight))

    def step(self, game: Task, state: State) -> State:  # type: ignore[override]
        """The next values; or the next turn, where these are the same."""
        high = infinite(state.potential.dtype)
        value, moved, wrong = self._swept(game, state.potential, state)
        # Facts go through memory one byte each, so that nothing is read again for them.
        value, moved, wrong = jax.lax.optimization_barrier((value, moved, wrong))
        over = ~jnp.any(moved) & (state.status == GOING)
        facts = jax.lax.optimization_barrier(self._facts(game, value))
        final, right, content = facts
        status = jnp.where(jnp.all(final), NARROW, GOING)
        status = jnp.where(jnp.all(right), SOLVED, status)
        status = jnp.where(jnp.any(wrong), NARROW, status)
        content = content | (status != GOING)
        closed = self._closed(game, value, after=facts)
        state = State(
            potential=jnp.where(over & ~content, high, value),
            held=jnp.where(over, content, state.held),
            closed=ops.edgewise(
                lambda x, y: jnp.where(over, x, y), closed, state.closed
            ),
            status=jnp.where(over, status, state.status).astype(jnp.int32),
            turns=state.turns + over,
        )
        value = state.potential
        for _ in range(self.sweeps - 1):
            value, _, _ = self._swept(game, value, state)
        return state._replace(potential=value)

    def _swept(self, game: Task, value, state: State):
        """The next values; who has others than before; and whose are no number.

        What asks for too much does so since its target is infinite, or else numbers are
        too narrow: costs, and finite values, are less than half of what is between.
        """
        value, arena, asked = self._asked(game, value, state.closed)
        asked = self._best(arena, asked)
        new = jnp.where(state.held, value, settled(asked))
        most = beyond(value.dtype)
        wrong = ~state.held & (asked >= most) & (asked <= 2 * most)
        return new, new != value, wrong

    def _facts(self, game: Task, value):
        """Whose value is final, whose tells the answer, and who has enough, by slot."""
        value, arena, asked = self._asked(game, value)
        needed = self._best(arena, asked)
        lost = value == infinite(value.dtype)
        final = lost | (needed <= value)
        return final, self._right(game, value, needed, final), (needed < value) | lost

    def _closed(self, game: Task, value, after: Any) -> Edges:
        """The edges of the rival that ask for less than there is."""
        value, arena, asked = self._asked(game, value, after=after)
        rival = ~of_player(arena, self.of.player)
        return ops.edgewise(
            lambda x, have, his: (x < have) & his,
            asked, ops.source(arena, value), ops.source(arena, rival),
        )  # fmt: skip

    def _best(self, arena: Game, asked: Edges) -> jax.Array:
        return best(arena, asked, of_player(arena, self.of.player), once=True)

    def _asked(
        self, game: Task, value, closed: Edges | None = None, after: Any = None
    ) -> tuple[jax.Array, Game, Edges]:
        """Values, the arena, and what its edges ask for; closed ones ask for nothing.

        All come through a barrier, which waits for what is to be done before. Without
        it XLA makes indices and costs once and keeps them, of four bytes each, where
        the arena has one: reading them takes longer. And nobody may use values from
        before the barrier: XLA would not see that they are those that are read at
        targets, and write over them meanwhile.
        """
        value, arena, _ = jax.lax.optimization_barrier((value, game.game, after))
        arena = self._of_full_width(game._replace(game=arena)).game
        cost = _potentials.costs(arena, game.scale, self.of.player)
        if closed is not None:
            cost = ops.edgewise(
                lambda closed, c: jnp.where(closed, never(value.dtype), c), closed, cost
            )
        there = ops.target(arena, value, known=True)
        return value, arena, ops.edgewise(_potentials.plus, there, cost)

    def _right(self, game: Task, value, needed, final) -> jax.Array:
        """Whose potential tells the answer, as the solver sees it: bool `[S]`."""
        lost = value == infinite(value.dtype)
        if self.of.player == 1:
            # He wins wherever he is to, and no steps are too many for their bits.
            last = (jnp.array(1, value.dtype) << game.scale) - 1
            return final & (game.lost | (~lost & ((value & last) < last)))
        # Rounding steps away goes with sums of whole energies and with the choice of
        # an edge: what credits need is what potentials do, but for the step.
        needed = jnp.minimum(needed, infinite(value.dtype)) + 1
        credit, needed = (_potentials.energy_of(x, game.scale) for x in (value, needed))
        return lost | (needed <= credit)

    def done(self, game: Task, state: State) -> jax.Array:  # type: ignore[override]
        """Potentials are final, or numbers too narrow."""
        return state.status != GOING

    def overflow(self, state: State) -> jax.Array:
        return state.status == NARROW

    def answer(self, game: Task, state: State) -> Any:  # type: ignore[override]
        """What the solver would say."""
        known = jnp.where(state.held, state.potential, 0)
        of = dataclasses.replace(self.of, strategies=self.strategies)
        task: Any = self._of_full_width(game)
        final: Any = Final(known, state.status)
        return of.answer(task, final)

    def stats(self, game: Task, state: State) -> dict[str, Any]:  # type: ignore
        """How many turns there were."""
        return {"turns": state.turns}

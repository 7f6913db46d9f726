"""Fast value iteration for batches: a sweep a round, without loops of its own."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import ops
from jaxgames.energy import _potentials
from jaxgames.energy._fvi import FVI, GOING, NARROW, SOLVED, PotentialSolver, Task
from jaxgames.energy._potentials import best, infinite, never, of_player
from jaxgames.ops import Edges
from jaxgames.solver import Solver


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

    The turns are those of [`FVI`][jaxgames.energy.FVI] with `active=False`. A round
    reads the potentials at the targets of all edges once: for the next values of the
    shortest path game, and for the turn that follows if these are no other than before.
    So games of a batch do not wait for each other's loops, and nothing is read twice.

    Attributes:
        of: the solver whose potentials these are.
    """

    of: PotentialSolver = FVI()
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "fvi"

    def init(self, game: Task) -> State:  # type: ignore[override]
        """Potentials zero, but where the player has lost; a turn is due."""
        arena, dtype = game.game, _potentials.number_type(game.game)
        zero = jnp.zeros(ops.num_slots(arena), dtype)
        return State(
            potential=jnp.where(game.lost, infinite(dtype), zero),
            held=jnp.ones(ops.num_slots(arena), bool),
            closed=ops.edgewise(lambda x: jnp.zeros_like(x, bool), self._cost(game)),
            status=jnp.int32(GOING),
            turns=jnp.int32(0),
        )

    def _cost(self, game: Task) -> Edges:
        return _potentials.costs(game.game, game.scale, self.of.player)

    def step(self, game: Task, state: State) -> State:  # type: ignore[override]
        """The next values; or the next turn, where these are the same."""
        arena, value = game.game, state.potential
        dtype, mine = value.dtype, of_player(arena, self.of.player)
        high, cost = infinite(dtype), self._cost(game)
        there = ops.target(arena, value)

        open_cost = ops.edgewise(
            lambda closed, c: jnp.where(closed, never(dtype), c), state.closed, cost
        )
        asked = ops.edgewise(_potentials.plus, there, open_cost)
        new = _potentials.settled(best(arena, asked, mine))
        new = jnp.where(state.held, value, new)
        over = jnp.all(new == value) & (state.status == GOING)

        # What rises to infinity does so by right, or numbers are too narrow.
        seen = ops.edgewise(
            lambda closed, x: jnp.where(closed, never(dtype), x), state.closed, there
        )
        lost = value == high
        proved = state.held | ~lost | (best(arena, seen, mine) == high)

        asked = ops.edgewise(_potentials.plus, there, cost)
        needed = best(arena, asked, mine)
        final = jnp.all(lost | (needed <= value))
        status = jnp.where(final, NARROW, GOING)
        status = jnp.where(self._right(game, value, there, final), SOLVED, status)
        status = jnp.where(jnp.all(proved), status, NARROW)
        content = (needed < value) | lost | (status != GOING)
        closed = ops.edgewise(
            lambda x, have, own: (x < have) & ~own,
            asked, ops.source(arena, value), ops.source(arena, mine),
        )  # fmt: skip
        return State(
            potential=jnp.where(over, jnp.where(content, value, high), new),
            held=jnp.where(over, content, state.held),
            closed=ops.edgewise(
                lambda x, y: jnp.where(over, x, y), closed, state.closed
            ),
            status=jnp.where(over, status, state.status).astype(jnp.int32),
            turns=state.turns + over,
        )

    def _right(self, game: Task, value, there: Edges, final) -> jax.Array:
        """Whether potentials tell the answer, as the solver sees it."""
        arena, dtype = game.game, value.dtype
        lost = value == infinite(dtype)
        if self.of.player == 1:
            # He wins wherever he is to, and no steps are too many for their bits.
            last = (jnp.array(1, dtype) << game.scale.astype(dtype)) - 1
            short = game.lost | (~lost & ((value & last) < last))
            return final & jnp.all(short)
        credit = _potentials.energy_of(value, game.scale)
        asked = ops.edgewise(
            lambda x, w: _potentials.minus(_potentials.energy_of(x, game.scale), w),
            there, ops.edge_weight(arena),
        )  # fmt: skip
        needed = best(arena, asked, of_player(arena, 0))
        return jnp.all(lost | (needed <= credit))

    def done(self, game: Task, state: State) -> jax.Array:  # type: ignore[override]
        """Potentials are final, or numbers too narrow."""
        del game
        return state.status != GOING

    def overflow(self, state: State) -> jax.Array:
        """Numbers are too narrow."""
        return state.status == NARROW

    def answer(self, game: Task, state: State) -> Any:  # type: ignore[override]
        """What the solver would say."""
        known = jnp.where(state.held, state.potential, 0)
        of = dataclasses.replace(self.of, strategies=self.strategies)
        return of.answer(game, Final(known, state.status))  # type: ignore[arg-type]

    def stats(self, game: Task, state: State) -> dict[str, Any]:  # type: ignore
        """How many turns there were."""
        del game
        return {"turns": state.turns}

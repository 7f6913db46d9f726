"""Fast value iteration: potentials rise by the values of a shortest path game."""

import abc
import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.energy import _potentials
from jaxgames.energy._paths import (
    Reliance,
    Values,
    shortest,
    sweeps_for,
    who_loses,
    who_rises,
)
from jaxgames.energy._potentials import Answer, best, infinite, never, of_player
from jaxgames.later import jax, jnp
from jaxgames.ops import Edges, Game
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register
from jaxgames.tuning.energy import ROUNDS

RELIED, OFTEN = 4, 4
"""How many rounds of `who_rises` the first turns have, and after how many turns they
become twice as many: the last rounds find few vertices, which the next turn finds too.
"""

GOING, SOLVED, NARROW = 0, 1, 2
"""How a run stands: numbers may turn out too narrow."""


@register
class State(NamedTuple):
    """Potentials, and how far the turn is that raises them.

    Attributes:
        potential: `[S]`, at the beginning of the turn; infinite where the player loses.
        cost: on edges; `never` where the rival does not take it.
        reliance: who relies on whom; empty if it does not matter.
        rising: bool `[S]`, who is known to rise.
        asked: rounds in which that was found out; -1 when it is over ...
        value: `[S]`, ... and what they rise to is being found, from above.
        status: int32.
        turns: int32.
        rounds: int32, of all turns.
    """

    potential: jax.Array
    cost: Edges
    reliance: Reliance | tuple[()]
    rising: jax.Array
    asked: jax.Array
    value: jax.Array
    status: jax.Array
    turns: jax.Array
    rounds: jax.Array


class Task(NamedTuple):
    """What potentials are wanted for.

    Attributes:
        game: the game.
        scale: int32, bits of a potential that count steps.
        lost: bool `[S]`: where the player is known to lose.
    """

    game: Game
    scale: jax.Array
    lost: jax.Array


@dataclasses.dataclass(frozen=True)
class PotentialSolver(Solver):
    """Base of fast value iteration, for either player.

    Attributes:
        scale: bits of a potential that count steps. None: chosen, see
            [`FVI`][jaxgames.energy.FVI].
        active: whether a turn finds out first who rises, as far as few rounds tell, and
            sweeps then over those rows only, copied together where they are few.
            Otherwise all but those that have more than they need start a turn from
            above.
        inner_sweeps: rounds between two looks whether a loop is over; None: chosen by
            backend and size.
        inner_rounds: rounds of a loop in one step at most; few let games of a batch
            go on without waiting for each other's loops.
    """

    scale: int | None = None
    active: bool = True
    inner_sweeps: int | None = None
    inner_rounds: int = ROUNDS
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    player: ClassVar[int]

    def __post_init__(self):
        super().__post_init__()
        check_positive(
            scale=self.scale,
            inner_sweeps=self.inner_sweeps,
            inner_rounds=self.inner_rounds,
        )

    def init(self, game: Task) -> State:
        """Potentials zero, but where the player has lost."""
        dtype = _potentials.number_type(game.game)
        zero = jnp.zeros(ops.num_slots(game.game), dtype)
        potential = jnp.where(game.lost, infinite(dtype), zero)
        return self._turn(game, potential, jnp.int32(0), jnp.int32(0))

    def step(self, game: Task, state: State) -> State:
        """Some rounds of both loops; when they end, a turn."""
        arena, going = game.game, state.status == GOING
        found, known = self._rising(arena, state)
        high = infinite(state.value.dtype)
        value = jnp.where(found.value, high, state.potential)
        low = shortest(
            self.player,
            arena,
            state.cost,
            jnp.where(state.asked < 0, state.value, value),
            ~found.value,
            jnp.where(known & going, self.inner_rounds, 0),
            self.inner_sweeps,
            self.active,
        )
        rounds = state.rounds + found.rounds + low.rounds
        now = state._replace(
            rising=found.value,
            asked=jnp.where(known, -1, state.asked + found.rounds),
            value=low.value,
            rounds=rounds,
        )
        over = known & low.still & going
        fits = self._fits(game, state.cost, low.value, found.value)
        now = now._replace(status=jnp.where(over & ~fits, NARROW, now.status))
        lost = low.value == high
        more = jnp.any(lost & (state.potential != high)) & over
        lost = who_loses(
            *(self.player, arena, lost, jnp.where(more, self.inner_rounds, 0)),
            self.inner_sweeps or sweeps_for(arena),
        )
        value = jnp.where(lost, high, low.value)
        then = self._turn(game, value, state.turns + 1, rounds)
        return jax.tree.map(lambda x, y: jnp.where(over & fits, x, y), then, now)

    def _fits(self, game: Task, cost: Edges, value: jax.Array, rising: jax.Array):
        """Whether all that rise to infinity do so by right."""
        arena, dtype = game.game, value.dtype
        ends = rising & (value == infinite(dtype))

        def look() -> jax.Array:
            there = ops.edgewise(
                lambda x, c: jnp.where(c == never(dtype), never(dtype), x),
                ops.target(arena, value), cost,
            )  # fmt: skip
            seen = best(arena, there, of_player(arena, self.player))
            return jnp.all(~ends | (seen == infinite(dtype)))

        return jax.lax.cond(jnp.any(ends), look, lambda: jnp.array(True))

    def _rising(self, arena: Game, state: State) -> tuple[Values, jax.Array]:
        """Who rises, and whether those are to rise now."""
        if not isinstance(state.reliance, Reliance):
            return Values(state.rising, jnp.array(True), jnp.int32(0)), jnp.array(True)
        most = jnp.int32(RELIED) << jnp.minimum(state.turns // OFTEN, 24)
        ended = (state.asked < 0) | (state.status != GOING)
        limit = jnp.where(ended, 0, jnp.minimum(most - state.asked, self.inner_rounds))
        sweeps = self.inner_sweeps or sweeps_for(arena)
        found = who_rises(
            self.player, arena, state.reliance, state.rising, limit, sweeps
        )
        known = (state.asked < 0) | found.still | (state.asked + found.rounds >= most)
        return found, known

    def done(self, game: Task, state: State) -> jax.Array:
        """Potentials are final, or numbers too narrow."""
        return state.status != GOING

    def overflow(self, state: State) -> jax.Array:
        """Numbers are too narrow."""
        return state.status == NARROW

    def stats(self, game: Task, state: State) -> dict[str, Any]:
        """How many turns there were, and rounds in all of them."""
        return {"turns": state.turns, "inner": state.rounds}

    def _turn(self, game: Task, potential: jax.Array, turns, rounds) -> State:
        """Looks whether potentials are final, and at who relies on whom."""
        arena, dtype = game.game, potential.dtype
        mine = of_player(arena, self.player)
        lost = potential == infinite(dtype)
        cost = _potentials.costs(arena, game.scale, self.player)
        own = ops.source(arena, potential)
        # What those ask for that have lost does not matter.
        there = ops.target(arena, potential, where=ops.source(arena, ~lost))
        asked = ops.edgewise(_potentials.plus, there, cost)
        needed = best(arena, asked, mine)
        final = jnp.all(lost | (needed <= potential))
        status = jnp.where(
            self._right(game, potential, there, final),
            SOLVED,
            jnp.where(final, NARROW, GOING),
        ).astype(jnp.int32)
        cost = ops.edgewise(
            lambda x, have, own, c: jnp.where((x < have) & ~own, never(dtype), c),
            asked, own, ops.source(arena, mine), cost,
        )  # fmt: skip
        ended = status != GOING
        content = (needed < potential) | lost | ended
        reliance, rising = (), ~content
        if self.active:
            relied = ops.edgewise(lambda x, y: (x == y).astype(jnp.int8), asked, own)
            reliance = Reliance(relied, needed > potential, content)
            rising = jnp.zeros_like(lost)
        return State(
            potential=potential,
            cost=cost,
            reliance=reliance,
            rising=rising,
            asked=jnp.where(ended, -1, 0).astype(jnp.int32),
            value=potential,
            status=status.astype(jnp.int32),
            turns=turns,
            rounds=rounds,
        )

    @abc.abstractmethod
    def _right(
        self, game: Task, potential: jax.Array, there: Edges, final: jax.Array
    ) -> jax.Array:
        """Whether the potentials, with those at the targets, tell the answer."""


@dataclasses.dataclass(frozen=True)
class FVI(PotentialSolver):
    """Synchronous fast value iteration.

    In each turn vertices whose potential is more than their edges ask for keep it, and
    all others get the value of a shortest path game that ends there. Where that is
    infinite, player 1 wins. The rest rises at once by what value iteration would give
    in many rounds, whatever the weights. It ends when the credits that the potentials
    stand for satisfy all inequalities: they never are too large.

    A potential is one integer: energy above, and below it `scale` bits that count
    steps, so that no cycle sums up to zero. With as many bits as the number of vertices
    has this is the published algorithm. Fewer leave more room for energy, and do as
    well unless a path that matters is longer than they can count. The end tells: where
    potentials are final and the credits do not satisfy their inequalities, or where a
    number does not fit, nothing is guessed. Then the host goes on with more bits, and a
    traced solve ends with `Status.OVERFLOW`.

    A turn is a few sweeps over the edges beside its rounds, those of finding who rises
    and those of the shortest path game, which are one sweep each at most; O(V) rounds a
    turn at worst.

    Reference:
        Cadilhac, Casares and Ohlmann, Fast value iteration: a uniform approach to
        efficient algorithms for energy games, arXiv:2110.07346.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [1, 1, 0], owner=[1, 0], weight=[-5, -2, 7]
        ... )
        >>> energy.solve(arena, energy.FVI()).credit
        array([5, 0], dtype=int32)
    """

    name: ClassVar[str] = "fvi"
    player: ClassVar[int] = 0

    def answer(self, game: Task, state: State) -> Answer:
        """A final potential stands for a credit; an infinite one always is final."""
        credit = _potentials.energy_of(state.potential, game.scale)
        known = state.status == SOLVED
        return _potentials.answer(game.game, credit, known, self.strategies)

    def _right(
        self, game: Task, potential: jax.Array, there: Edges, final: jax.Array
    ) -> jax.Array:
        """Credits never are too large, and right if they satisfy all inequalities."""
        arena, credit = game.game, _potentials.energy_of(potential, game.scale)
        asked = ops.edgewise(
            lambda x, weight: _potentials.energy_of(x, game.scale) - weight,
            there, ops.edge_weight(arena),
        )  # fmt: skip
        lost = credit == infinite(credit.dtype)
        return jnp.all(lost | (best(arena, asked, of_player(arena, 0)) <= credit))

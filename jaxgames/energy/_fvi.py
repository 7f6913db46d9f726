"""Fast value iteration: potentials rise by the values of a shortest path game."""

import abc
import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import fixpoint, ops
from jaxgames.energy import _potentials
from jaxgames.energy._paths import Reliance, shortest, who_rises
from jaxgames.energy._potentials import Answer, best, infinite, never, of_player
from jaxgames.ops import Edges, Game
from jaxgames.solver import Solver, check_positive

ROUNDS = 256
"""Rounds of a loop after which the solver looks round, where nothing else is said."""

DEEP = 4
"""Rounds after which it is known who rises, from which on it pays to copy those rows
together: as many will follow, and a copy costs about as much as two."""

GOING, SOLVED, NARROW = 0, 1, 2
"""How a run stands: numbers may turn out too narrow."""


class State(NamedTuple):
    """Potentials, and how far the turn is that raises them.

    Attributes:
        potential: `[S]`, at the beginning of the turn; infinite where the player loses.
        cost: on edges; `never` where the rival does not take it.
        relied: int8 on edges, 1 on those that ask for just what there is.
        discontent: bool `[S]`, vertices that have less than is asked for.
        content: bool `[S]`, vertices that have more, or do not take part.
        rising: bool `[S]`, who is known to rise.
        falls: whether all of these are, and what they rise to is being found ...
        value: `[S]`, ... from above.
        status: int32.
        turns: int32.
        rounds: int32, of all turns.
    """

    potential: jax.Array
    cost: Edges
    relied: Edges
    discontent: jax.Array
    content: jax.Array
    rising: jax.Array
    falls: jax.Array
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
        active: whether a turn finds out first who rises, and sweeps then over those
            rows only, copied together where they are few. Otherwise all but those
            that have more than they need start a turn from above.
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
        """Checks the options."""
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
        return self._turn(game, jnp.where(game.lost, infinite(dtype), zero))

    def step(self, game: Task, state: State) -> State:
        """Some rounds of both loops; when they end, a turn."""
        arena, going = game.game, state.status == GOING
        sweeps = self.inner_sweeps or fixpoint.default_sweeps(arena)
        rising, known, first = self._rising(arena, state, sweeps)
        value = jnp.where(rising, infinite(state.value.dtype), state.potential)
        value, still, second = shortest(
            self.player,
            arena,
            state.cost,
            jnp.where(state.falls, state.value, value),
            ~rising,
            jnp.where(known & going, self.inner_rounds, 0),
            sweeps,
            self.active and (state.falls | (first >= DEEP)),
        )
        now = state._replace(
            rising=rising,
            falls=known,
            value=value,
            rounds=state.rounds + first + second,
        )
        over = known & still & going
        fits = self._fits(game, state.cost, value, rising)
        now = now._replace(status=jnp.where(over & ~fits, NARROW, now.status))
        then = self._turn(game, value)._replace(
            turns=state.turns + 1, rounds=now.rounds
        )
        return jax.tree.map(lambda x, y: jnp.where(over & fits, x, y), then, now)

    def _fits(self, game: Task, cost: Edges, value: jax.Array, rising: jax.Array):
        """Whether all that rise to infinity do so by right."""
        arena, dtype = game.game, value.dtype
        there = ops.edgewise(
            lambda x, c: jnp.where(c == never(dtype), never(dtype), x),
            ops.target(arena, value), cost,
        )  # fmt: skip
        seen = best(arena, there, of_player(arena, self.player))
        ends = rising & (value == infinite(dtype))
        return jnp.all(~ends | (seen == infinite(dtype)))

    def _rising(self, arena: Game, state: State, sweeps: int):
        """Who rises, whether that is all, and the rounds it took."""
        if not self.active:
            return ~state.content, jnp.array(True), 0
        relied = ops.with_edge_weight(arena, state.relied)
        task = Reliance(relied, state.discontent, state.content, state.rising)
        idle = state.falls | (state.status != GOING)
        limit = jnp.where(idle, 0, self.inner_rounds)
        rising, still, rounds = who_rises(self.player, task, limit, sweeps)
        return rising, still | state.falls, rounds

    def done(self, game: Task, state: State) -> jax.Array:
        """Potentials are final, or numbers too narrow."""
        del game
        return state.status != GOING

    def overflow(self, state: State) -> jax.Array:
        """Numbers are too narrow."""
        return state.status == NARROW

    def stats(self, game: Task, state: State) -> dict[str, Any]:
        """How many turns there were, and rounds in all of them."""
        del game
        return {"turns": state.turns, "inner": state.rounds}

    def _turn(self, game: Task, potential: jax.Array) -> State:
        """Looks whether potentials are final, and at who relies on whom."""
        arena, dtype = game.game, potential.dtype
        mine = of_player(arena, self.player)
        lost = potential == infinite(dtype)
        cost = _potentials.costs(arena, game.scale, self.player)
        there, own = ops.target(arena, potential), ops.source(arena, potential)
        asked = ops.edgewise(_potentials.plus, there, cost)
        needed = best(arena, asked, mine)
        final = jnp.all(lost | (needed <= potential))
        status = jnp.where(
            self._right(game, potential, final), SOLVED, jnp.where(final, NARROW, GOING)
        )
        cost = ops.edgewise(
            lambda x, have, own, c: jnp.where((x < have) & ~own, never(dtype), c),
            asked, own, ops.source(arena, mine), cost,
        )  # fmt: skip
        relied = ()
        if self.active:
            relied = ops.edgewise(lambda x, y: (x == y).astype(jnp.int8), asked, own)
        zero, ended = jnp.int32(0), status != GOING
        return State(
            potential=potential,
            cost=cost,
            relied=relied,
            discontent=needed > potential,
            content=(needed < potential) | lost | ended,
            rising=jnp.zeros_like(lost),
            falls=ended,
            value=potential,
            status=status.astype(jnp.int32),
            turns=zero,
            rounds=zero,
        )

    @abc.abstractmethod
    def _right(self, game: Task, potential: jax.Array, final: jax.Array) -> jax.Array:
        """Whether the potentials tell the answer."""


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

    def _right(self, game: Task, potential: jax.Array, final: jax.Array) -> jax.Array:
        """Credits never are too large, and right if they satisfy all inequalities."""
        del final
        arena, credit = game.game, _potentials.energy_of(potential, game.scale)
        asked = ops.edgewise(
            _potentials.minus, ops.target(arena, credit), ops.edge_weight(arena)
        )
        lost = credit == infinite(credit.dtype)
        return jnp.all(lost | (best(arena, asked, of_player(arena, 0)) <= credit))

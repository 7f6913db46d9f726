"""The two loops of a turn of fast value iteration: who rises, and by how much."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import fixpoint, ops
from jaxgames.energy import _potentials
from jaxgames.energy._potentials import best, of_player
from jaxgames.ops import Edges, Game
from jaxgames.solver import Solver

LEVELS = (0, 1, 3, 5)
"""How much smaller a copy of the rows that rise may be, in powers of four."""


class Values(NamedTuple):
    """What a loop changes, and whether its last round changed nothing."""

    value: jax.Array
    still: jax.Array


class Reliance(NamedTuple):
    """Which edges vertices rely on.

    Attributes:
        game: the game, with a weight of 1 on the edges that ask for just what there is,
            0 on all others.
        discontent: bool `[S]`, vertices that have less than is asked for.
        content: bool `[S]`, vertices that have more, or do not take part.
        rising: bool `[S]`, where to begin.
    """

    game: Game
    discontent: jax.Array
    content: jax.Array
    rising: jax.Array


@dataclasses.dataclass(frozen=True)
class Rising(Solver):
    """Who asks for more: the discontent, and those who rely on them.

    A vertex of the player stays where it is as long as it can rely on some vertex that
    does, one of the rival as long as it relies on nobody who rises. Edges that are
    relied on form no cycle. A round is one sweep: 6 bytes an edge (target, whether it
    is relied on, whether that rises), and 4 bytes a row.

    Attributes:
        player: who asks.
    """

    player: int = 0

    name: ClassVar[str] = "rising"

    def init(self, game: Reliance) -> Values:
        """Those that are known to rise."""
        return Values(game.rising, jnp.array(False))

    def step(self, game: Reliance, state: Values) -> Values:
        """Those who rely on one that rises."""
        mine = of_player(game.game, self.player)
        moves = ops.edgewise(
            lambda relied, rises, own: (relied & (rises ^ own)).astype(jnp.int32),
            ops.edge_weight(game.game),
            ops.target(game.game, state.value.astype(jnp.int8)),
            ops.source(game.game, mine.astype(jnp.int8)),
        )
        some = ops.out_max(game.game, moves) > 0
        rises = jnp.where(mine, ~some, some | game.discontent) & ~game.content
        return Values(rises, jnp.all(rises == state.value))

    def done(self, game: Reliance, state: Values) -> jax.Array:
        """A round has changed nothing."""
        del game
        return state.still

    def answer(self, game: Reliance, state: Values) -> jax.Array:
        """Who rises."""
        del game
        return state.value


class Held(NamedTuple):
    """A shortest path game.

    Attributes:
        game: some rows of a game, with costs for weights, `never` on edges that the
            rival does not take.
        slots: of these rows in the whole; None if they are all.
        value: `[S]`, where to begin: held values, and upper bounds elsewhere.
        held: bool, for each of the rows: whether its value stays.
    """

    game: Game
    slots: jax.Array | None
    value: jax.Array
    held: jax.Array


@dataclasses.dataclass(frozen=True)
class ShortestPaths(Solver):
    """Values of a shortest path game, from above.

    The player wants to reach a vertex whose value is held, as cheaply as he can, and
    the rival as dear as he can. A round is one sweep over the rows: 12 bytes an edge in
    32 bits (target, cost, and the value there), and 10 bytes a row.

    Attributes:
        player: who pays.
    """

    player: int = 0

    name: ClassVar[str] = "paths"

    def init(self, game: Held) -> Values:
        """The bounds."""
        return Values(game.value, jnp.array(False))

    def step(self, game: Held, state: Values) -> Values:
        """What each row asks for, by the values so far."""
        asked = ops.edgewise(
            _potentials.plus,
            ops.target(game.game, state.value),
            ops.edge_weight(game.game),
        )
        own = ops.at(state.value, game.slots)
        new = best(game.game, asked, of_player(game.game, self.player))
        new = jnp.where(game.held, own, _potentials.settled(new))
        return Values(
            ops.put(state.value, game.slots, new), jnp.all(game.held | (new == own))
        )

    def done(self, game: Held, state: Values) -> jax.Array:
        """A round has changed nothing."""
        del game
        return state.still

    def answer(self, game: Held, state: Values) -> jax.Array:
        """The values."""
        del game
        return state.value


def who_rises(
    player: int, game: Reliance, limit: jax.Array, sweeps: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Goes on with `Rising`, for some rounds: who rises, whether all do, and rounds."""
    solver = Rising(player=player, sweeps_per_check=sweeps)
    carry = fixpoint.iterate(solver, game, fixpoint.start(solver, game), limit)
    return carry.state.value, carry.state.still, carry.rounds


def shortest(
    player: int,
    game: Game,
    cost: Edges,
    value: jax.Array,
    held: jax.Array,
    limit: jax.Array,
    sweeps: int,
    in_parts: jax.Array | bool,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Goes on with `ShortestPaths`, for some rounds: values, whether final, and rounds.

    Args:
        player: who pays.
        game: the game.
        cost: on edges, `never` where the rival does not take it.
        value: where to begin.
        held: bool `[S]`, where it stays.
        limit: rounds at most.
        sweeps: rounds between two looks whether it is over.
        in_parts: whether rows that are held are left out, if enough of them are, by
            copying the others together; False, and not traced, if never.
    """
    solver = ShortestPaths(player=player, sweeps_per_check=sweeps)
    whole = ops.with_edge_weight(game, cost)

    def run(level: int):
        part, slots = ops.part(whole, ~held, level)
        stays = held
        if slots is not None:
            stays = slots >= held.shape[0]
        task = Held(part, slots, value, stays)
        carry = fixpoint.iterate(solver, task, fixpoint.start(solver, task), limit)
        return carry.state.value, carry.state.still, carry.rounds

    if in_parts is False or ops.layout(game) == "csr":  # too small to gain by it
        return run(0)
    levels = [level for level in LEVELS if level < ops.num_levels(game)]
    fits = ops.level_of(game, ~held) >= jnp.array(levels)
    which = jnp.where(in_parts, jnp.sum(fits, dtype=jnp.int32) - 1, 0)
    return jax.lax.switch(which, [lambda n=n: run(n) for n in levels])

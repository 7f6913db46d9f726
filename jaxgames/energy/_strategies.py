"""The strategy of player 1: fast value iteration of the dual game where he wins."""

import dataclasses
from typing import ClassVar

from jaxgames import ops
from jaxgames.energy import _potentials
from jaxgames.energy._fvi import NARROW, SOLVED, PotentialSolver, State, Task
from jaxgames.energy._potentials import infinite, of_player
from jaxgames.later import jax, jnp
from jaxgames.ops import Edges


@dataclasses.dataclass(frozen=True)
class Dual(PotentialSolver):
    """How player 1 wins, where he is known to.

    There every cycle that he allows loses energy: with the owners swapped, weights
    negated, and a step that costs less than any energy, he needs a finite initial
    credit of pairs (energy, steps) in lexicographic order. No cycle of such pairs sums
    up to zero, so that these credits are the only finite ones that satisfy their
    equations: they, and with them the first edge that attains them, are the same
    however they are found.

    Potentials count both in one integer, as in [`FVI`][jaxgames.energy.FVI]. They are
    the pairs if no number of steps fills the bits that it has.
    """

    name: ClassVar[str] = "dual"
    solves: ClassVar[str] = "energy games for player 1"
    player: ClassVar[int] = 1

    def init(self, game: Task) -> State:
        """Potentials zero where player 1 wins; the rest is out of bounds."""
        return self._checked(game, super().init(game))

    def step(self, game: Task, state: State) -> State:
        """A turn, or the rounds of a part of one."""
        return self._checked(game, super().step(game, state))

    def _checked(self, game: Task, state: State) -> State:
        """He wins wherever he is to: if he does not, numbers are too narrow."""
        fails = ~game.lost & (state.potential == infinite(state.potential.dtype))
        return state._replace(status=jnp.where(jnp.any(fails), NARROW, state.status))

    def answer(self, game: Task, state: State) -> jax.Array:
        """The edges of player 1: int32 `[V]`."""
        arena, potential = game.game, state.potential
        cost = _potentials.costs(arena, game.scale, self.player)
        needed = ops.edgewise(_potentials.plus, ops.target(arena, potential), cost)
        who = ~game.lost & of_player(arena, 1) & (state.status == SOLVED)
        return _potentials.moves(arena, needed, potential, who)

    def _right(
        self, game: Task, potential: jax.Array, there: Edges, final: jax.Array
    ) -> jax.Array:
        """Potentials are final, and no number of steps is too large for its bits."""
        dtype = potential.dtype
        last = (jnp.array(1, dtype) << game.scale.astype(dtype)) - 1
        return final & jnp.all(game.lost | ((potential & last) < last))

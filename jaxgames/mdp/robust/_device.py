"""Interval equations on a device: all at once, with one certificate."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.arena import bucket
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.mdp._prob01 import eagerly
from jaxgames.mdp._value_iteration import ValueIteration
from jaxgames.mdp.robust._equations import Equations
from jaxgames.mdp.robust._host import Aim
from jaxgames.mdp.robust._solve import mended
from jaxgames.ops import Links, Pieces
from jaxgames.solution import Status


class System(NamedTuple):
    """Interval equations: as those of value iteration, with bounds for weights.

    Attributes:
        branches: choices to the states and constants that they may lead to.
        low: on `branches`, the least probabilities.
        room: on `branches`, how much more they may be.
        spare: `[K]`, what these sum up to beside.
        constants: `[M]`, values that are known; they come after the `N` states.
        share: scalar, what a step is worth beside the one before it.
    """

    branches: Links
    low_weights: Pieces
    room: Pieces
    spare: Any
    constants: Any
    share: Any
    base: Any
    blur: Any
    choices: Links
    start: Any
    slack: Any
    width: Any
    apart: Any
    low: Any
    high: Any


@dataclasses.dataclass(frozen=True)
class RobustIteration(ValueIteration):
    """Value iteration in which nature picks probabilities, by a sort in each choice.

    Attributes:
        nature: whether nature wants the least, instead of the largest.
    """

    nature: bool = False

    name: ClassVar[str] = "robust"
    linear: ClassVar[bool] = False

    def _longest(self, game: Any, steps: jax.Array) -> jax.Array:
        none = jnp.zeros_like(game.constants)
        follow = self._shared(game, jnp.concatenate([steps, none]), least=False)
        grown = game.slack * (1 + jnp.max(steps, initial=0.0))
        return ops.links_max(game.choices, 1 + game.share * follow + grown)

    def _worth(self, game: Any, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """What each choice is worth, and more than the size of any of its terms."""
        every = jnp.concatenate([x, game.constants])
        worth = game.base + game.share * self._shared(game, every, least=self.nature)
        # What is infinite is exact, and so is all that leads there.
        size = jnp.where(jnp.isfinite(every), jnp.abs(every), 0.0)
        top = jnp.max(size, initial=0.0)
        return worth, jnp.abs(game.base) + top

    def _nothing(self, game: Any, x: jax.Array) -> jax.Array:
        """Nobody knows which states have the value zero."""
        return jnp.zeros(x.shape, bool)

    def _shared(self, game: Any, x: jax.Array, *, least: bool) -> jax.Array:
        weights = (game.low_weights, game.room, game.spare)
        return ops.links_shared(game.branches, x, *weights, least=least)


class Ends(NamedTuple):
    """Bounds, and the constants after them."""

    lower: np.ndarray
    upper: np.ndarray


def on_device(
    part: Equations, aim: Aim, floor: float, cap: float, stop: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Bounds of equations, and rounds: all states at once, in float64.

    Args:
        part: the equations, among which nobody can stay for ever.
        aim: what is asked for.
        floor: a bound from below of all values.
        cap: and from above.
        stop: int8 `[1]`, set by another thread to end it.
    """
    real = len(part.order)
    if real == 0:
        return np.zeros(0), np.zeros(0), 0
    nat = part.nat
    states, choices = bucket(real + 1), len(part.base)
    more = bucket(choices + states - real) - choices
    groups = np.append(nat.groups, choices + np.arange(1, states - real + 1))
    groups[-1] = choices + more
    rows = np.append(nat.rows, np.full(more, nat.rows[-1]))
    constants = np.append(part.constants, np.zeros(1))
    constants = np.pad(constants, (0, bucket(len(constants)) - len(constants)))
    target = np.where(nat.target < real, nat.target, nat.target - real + states)
    wide = int(np.diff(nat.rows).max(initial=0))
    slack = (8 * wide + 40) * float(np.finfo(np.float64).eps)
    branches = ops.links(rows, target.astype(np.int32), states + len(constants))
    low = ops.on_links(branches, rows, nat.lower)
    room = ops.on_links(branches, rows, nat.upper - nat.lower)
    solver = RobustIteration(
        sweeps_per_check=1,  # a sort takes longer than to look for the end
        least=bool(aim.least),
        nature=bool(aim.nature),
    )
    number = np.arange(choices + more, dtype=np.int32)
    with jax.enable_x64(True), eagerly():
        low, room = (tuple(map(jnp.asarray, x)) for x in (low, room))
        slack, width, apart, least, most = map(
            jnp.float64, (slack, aim.width, aim.apart, floor, cap)
        )
        game = System(
            branches,
            low,
            room,
            jnp.asarray(np.pad(nat.spare, (0, more))),
            jnp.asarray(constants),
            jnp.float64(aim.share),
            jnp.asarray(np.pad(part.base, (0, more))),
            jnp.zeros(choices + more),
            ops.links(groups.astype(np.int32), number, choices + more),
            jnp.zeros(states),
            slack,
            width,
            apart,
            least,
            most,
        )
        outcome = fixpoint.run(
            solver, game, progress=lambda _: Status.INTERRUPTED if stop[0] else None
        )
        answer = to_numpy(outcome.answer)
    found = Ends(*(np.append(np.asarray(x)[:real], part.constants) for x in answer[:2]))
    # What is claimed is seen once more, on the host.
    low, high = mended(part, aim, found, floor, cap, stop)
    return low, high, outcome.rounds

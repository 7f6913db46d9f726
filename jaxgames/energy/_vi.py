"""Value iteration: all vertices are lifted at once, or those with cause to rise."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.energy import _potentials
from jaxgames.energy._potentials import Answer, best, beyond, infinite, of_player
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register


@register
class State(NamedTuple):
    """Progress measures, and which have risen since rows were chosen."""

    credit: jax.Array  # [S], infinite where it is above the bound
    changed: jax.Array  # bool [S]; empty without a choice
    bound: jax.Array
    still: jax.Array


@dataclasses.dataclass(frozen=True)
class VI(Solver):
    """Value iteration of energy progress measures.

    Each round lifts every vertex: to what the best edge asks for where player 0 moves,
    and the worst elsewhere. Where that is more than the bound M_G, no credit is enough.
    Losing vertices climb there step by step: O(V W) rounds, one sweep over the edges
    each, which is hopeless on many games that [`FVI`][jaxgames.energy.FVI] solves.

    Attributes:
        active: whether only vertices with a successor that rose are lifted: those of a
            queue with room for a quarter of the vertices, a sixteenth, and so on, made
            anew every few rounds.
        every: rounds between two queues.

    Reference:
        Algorithms 2 and 3 of: Formisano, Gentilini and Vella, Accelerating energy games
        solvers on modern architectures, IA3 2017, doi:10.1145/3149704.3149771; the
        lifting is that of Brim, Chaloupka, Doyen, Gentilini and Raskin, Faster
        algorithms for mean-payoff games, doi:10.1007/s10703-010-0105-x.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [1, 0, 1], owner=[0, 1], weight=[1, -1, 0]
        ... )
        >>> energy.solve(arena, energy.VI(active=True)).credit
        array([0, 0], dtype=int32)
    """

    active: bool = False
    every: int = 32

    name: ClassVar[str] = "vi"

    def __post_init__(self):
        super().__post_init__()
        check_positive(every=self.every)

    def init(self, game: Game) -> State:
        """Nothing is needed."""
        size, dtype = ops.num_slots(game), _potentials.number_type(game)
        return State(
            credit=jnp.zeros(size, dtype),
            changed=jnp.ones(size if self.active else 0, bool),
            bound=_bound(game),
            still=jnp.array(False),
        )

    def step(self, game: Game, state: State) -> State:
        """Lifts all vertices once, or those of a new queue several times."""
        if not self.active:
            credit, rose = self._round(game, None, state)
            return state._replace(credit=credit, still=~jnp.any(rose))
        active = ops.out_any(game, state.changed)
        state = state._replace(changed=jnp.zeros_like(active))
        branches = [
            lambda state, level=level: self._period(game, active, level, state)
            for level in range(ops.num_levels(game))
        ]
        state = jax.lax.switch(ops.level_of(game, active), branches, state)
        return state._replace(still=~jnp.any(state.changed))

    def _period(self, game: Game, active: jax.Array, level: int, state: State) -> State:
        """Several rounds on the rows that are active at its beginning, copied together.

        A vertex outside the queue that becomes active waits for the next queue: it has
        a successor that changed in this period.
        """
        part, slots = ops.part(game, active, level)

        def one(state: State, _):
            credit, rose = self._round(part, slots, state)
            changed = ops.at(state.changed, slots) | rose
            changed = ops.put(state.changed, slots, changed)
            return state._replace(credit=credit, changed=changed), None

        return jax.lax.scan(one, state, length=self.every)[0]

    def _round(self, part: Game, slots, state: State):
        own = ops.at(state.credit, slots)
        asked = ops.edgewise(
            _potentials.minus, ops.target(part, state.credit), ops.edge_weight(part)
        )
        new = best(part, asked, of_player(part, 0))
        new = jnp.where(new > state.bound, infinite(new.dtype), new)
        new = jnp.maximum(new, own)
        rose = new != own
        if slots is not None:
            rose &= slots < state.credit.shape[0]
        return ops.put(state.credit, slots, new), rose

    def done(self, game: Game, state: State) -> jax.Array:
        """Nothing has risen."""
        return state.still

    def overflow(self, state: State) -> jax.Array:
        """The bound does not fit."""
        return state.bound >= beyond(state.bound.dtype)

    def answer(self, game: Game, state: State) -> Answer:
        """Measures are credits when nothing rises; what is infinite stays so."""
        fits = ~self.overflow(state)
        credit = jnp.where(fits, state.credit, 0)
        return _potentials.answer(game, credit, state.still & fits, self.strategies)

    def stats(self, game: Game, state: State) -> dict[str, Any]:
        """Nothing more."""
        return {}


def _bound(game: Game) -> jax.Array:
    """M_G, or what is beyond all numbers if it does not fit."""
    least = ops.out_min(game, ops.edge_weight(game))
    taken = jnp.where(ops.real(game), jnp.maximum(-least, 0), 0)
    # So large that it stays so, not so large that sums would wrap round.
    most = np.array(beyond(taken.dtype), taken.dtype)
    return jax.lax.reduce(
        ops.known_to_all(jnp.minimum(taken, most)),
        np.array(0, taken.dtype),
        lambda x, y: jnp.minimum(x + y, most),
        (0,),
    )

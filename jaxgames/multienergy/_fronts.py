"""Rounds over fronts: the parallel algorithm, with antichains of a fixed room."""

import dataclasses
import functools
from typing import ClassVar, NamedTuple

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.later import backend, jax, jnp
from jaxgames.multienergy import _antichains
from jaxgames.multienergy._antichains import FEW, Front
from jaxgames.multienergy._layout import Layout
from jaxgames.multienergy._packing import EMPTY, WIDE, Packing, Rule, look_up
from jaxgames.ops import Block
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register
from jaxgames.tuning.multienergy import TRACED_ROOM

UNION, MEET, EITHER = "union", "meet", "either"


@register
class State(NamedTuple):
    """Where the rounds are."""

    front: Front  # of all positions
    changed: jax.Array  # bool [V]: by the last visit
    all_due: jax.Array  # bool: every position is visited in the next round
    full: jax.Array  # bool: a front had no room
    large: jax.Array  # bool: an energy came to the limit of its field


@dataclasses.dataclass(frozen=True)
class ByFronts(Solver):
    """Antichains of minimal budgets, all positions at once [1, 2].

    A budget is a word of the machine or a few (see the design notes), a front a fixed
    number of them. A round visits the positions of the attacker one of whose successors
    has changed, then those of the defender. The attacker takes the minimal ones of what
    is needed for his moves; the defender's moves are folded: what is needed for all of
    the first ones, and the next. Positions are visited in lots, so that what a visit
    needs does not grow with the game, and rounds that have little to do are short.

    Where a front needs more room, the host doubles it for all, and goes on: what was
    found is kept. So it is with energies without a cap that do not fit their fields.

    A visit compares O(d K^2) budgets for an attacker of `d` moves, and O(d K^3) for a
    defender. The number of rounds has no bound but the length of the ascent: it is
    finite, and small in practice.

    1. B. Bisping. Process Equivalence Problems as Energy Games. CAV 2023.
       arXiv:2303.08904.
    2. T. Brihaye and A. Goeminne. Multi-weighted Reachability Games. RP 2023.
       arXiv:2308.09625.

    Attributes:
        capacity: budgets of a position that there is room for at first, and under
            tracing at all: a power of two. None: 4, or 8 in games of many millions of
            positions and under tracing.
        lot: positions that are visited at once. None: chosen by the backend.
    """

    capacity: int | None = None
    lot: int | None = None
    packing: Packing | None = dataclasses.field(default=None, repr=False)
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "fronts"

    def __post_init__(self):
        super().__post_init__()
        check_positive(capacity=self.capacity, lot=self.lot)
        if self.capacity is not None and self.capacity & (self.capacity - 1):
            raise ValueError(f"capacity must be a power of two, got {self.capacity}")

    # ---- the machine --------------------------------------------------------

    def init(self, game: Layout) -> State:
        """Where the defender is stuck nothing is needed, elsewhere nothing is known."""
        packing, room = self._packing(game), self.capacity or TRACED_ROOM
        won, no = jnp.asarray(game.still & game.defender), jnp.array(False)
        front = _antichains.zero(packing, room, won)
        return State(front, won, no, no, no)

    def step(self, game: Layout, state: State) -> State:
        """First unions, then meets."""
        rules = self._packing(game).tables(game.game)
        for kind in (UNION, MEET, EITHER):
            for block in getattr(game, kind):
                state = self._visit_block(Visit(game, rules, block), kind, state)
        return state._replace(
            changed=state.changed & ~game.still, all_due=jnp.zeros_like(state.all_due)
        )

    def done(self, game: Layout, state: State) -> jax.Array:
        """No front has changed."""
        return ~jnp.any(state.changed)

    def overflow(self, state: State) -> jax.Array:
        """A front had no room, or an energy."""
        return state.full | state.large

    def answer(self, game: Layout, state: State):
        """The fronts as words `[K, V]`."""
        return _antichains.stacked(state.front)

    def grown(self, state: State) -> "tuple[ByFronts, State]":
        """A solver with more room where there was none, and the state to go on from.

        Every position is visited again: some lack what had no room.
        """
        assert self.packing is not None
        full, large = np.asarray(jnp.stack([state.full, state.large])).tolist()
        room = (2 if full else 1) * _antichains.capacity_of(state.front)
        packing = dataclasses.replace(self.packing, bits=WIDE) if large else None
        solver = dataclasses.replace(
            self, capacity=room, packing=packing or self.packing
        )
        return solver, _grown(state, room, self.packing, packing)

    def _packing(self, game: Layout) -> Packing:
        return self.packing or Packing.of(game.game)

    # ---- visits -------------------------------------------------------------

    def _visit_block(self, visit: "Visit", kind: str, state: State) -> State:
        block = visit.block
        due = ops.block_any(block, state.changed) | state.all_due
        state = state._replace(changed=ops.store(state.changed, block.rows, False))
        size, lot = block.rows.shape[0], self._lot(state.front)
        if size <= lot:
            return self.visit(visit, kind, state)
        columns = ops.compact(due, -(-size // lot) * lot)
        lots = -(-jnp.sum(due, dtype=jnp.int32) // lot)
        columns = columns.reshape(-1, lot)

        def one(now: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
            state, done = now
            part = ops.part_of_block(block, columns[done], visit.game.size)
            return self.visit(visit._replace(block=part), kind, state), done + 1

        start = state, jnp.int32(0)
        return fixpoint.until(lambda now: now[1] >= lots, one, start)[0]

    def visit(self, visit: "Visit", kind: str, state: State) -> State:
        """New fronts for the rows of a block."""
        game, block = visit.game, visit.block
        packing = self._packing(game)
        old = jax.tree.map(lambda x: ops.fetch(x, block.rows, EMPTY), state.front)
        nothing = jax.tree.map(lambda x: jnp.full_like(x, EMPTY), old)
        none = jnp.zeros(block.rows.shape[0], bool)

        def needed(heads, marks) -> Front:
            # Barriers, as XLA would compute all of it anew for each comparison.
            after = jax.tree.map(lambda x: ops.fetch(x, heads, EMPTY), state.front)
            rule = look_up(visit.rules, marks)
            after, rule = jax.lax.optimization_barrier((after, rule))
            before = tuple(packing.inverse(rule, budget) for budget in after)
            return jax.lax.optimization_barrier(before)

        def one_of(found, move):
            front, full = found
            front, more = _antichains.merge(packing, front, needed(*move))
            return (front, full | more), None

        def each_of(found, move):
            front, full = found
            both, more = _antichains.product(packing, front, needed(*move))
            there = move[0] < game.size
            front = _antichains.select(there, both, front)
            return (front, full | more & there), None

        moves, new, full = (block.heads, block.marks), nothing, none
        if kind != MEET:
            (new, full), _ = jax.lax.scan(one_of, (nothing, none), moves)
        if kind != UNION:
            room = _antichains.capacity_of(old)
            free = _antichains.zero(packing, room, block.rows < game.size)
            (each, more), _ = jax.lax.scan(each_of, (free, none), moves)
            defends = ops.fetch(game.defender, block.rows, False)
            new = _antichains.select(defends, each, new)
            full = jnp.where(defends, more, full)
        return state._replace(
            front=jax.tree.map(
                lambda x, y: ops.store(x, block.rows, y), state.front, new
            ),
            changed=ops.store(state.changed, block.rows, _antichains.differ(new, old)),
            full=state.full | jnp.any(full),
            large=state.large | self._too_large(packing, new),
        )

    def _too_large(self, packing: Packing, front: Front) -> jax.Array:
        if not packing.open:
            return jnp.array(False)
        return jnp.any(jnp.stack([jnp.any(packing.too_large(x)) for x in front]))

    def _lot(self, front: Front) -> int:
        if self.lot is not None:
            return self.lot
        cpu, room = backend() == "cpu", _antichains.capacity_of(front)
        most, compared = (1 << 14, 1 << 17) if cpu else (1 << 18, 1 << 24)
        # All budgets of a position are compared with all.
        return most if room <= FEW else min(most, max(8, compared // room**2))


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _grown(state: State, room: int, packing: Packing, wide: Packing | None) -> State:
    """The state with so much room, in fields that are wider or in the same."""
    front = _antichains.grown(state.front, room)
    if wide is not None:
        values = packing.unpack(_antichains.stacked(front))
        words = wide.pack(values)
        words = tuple(jnp.where(values[..., 0] < 0, EMPTY, x) for x in words)
        front = _antichains.unstacked(words)
    no, yes = jnp.zeros_like(state.full), jnp.ones_like(state.full)
    return State(front, jnp.ones_like(state.changed), yes, no, no)


class Visit(NamedTuple):
    """A block of a game that is visited, by these rules."""

    game: Layout
    rules: Rule
    block: Block

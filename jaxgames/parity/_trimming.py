"""Cycles that the wrong player wins, found by trimming: one of three forms."""

import dataclasses
from typing import ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.parity._fixed import Fixed, verdict
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.solver import Solver
from jaxgames.verdict import NOWHERE

OUT, CANDIDATE, REACHES = range(3)
"""Of a vertex: it lies on no bad play; it may; it leads to another that may."""


class State(NamedTuple):
    """Trimming for one priority after the other, the most important first."""

    priority: jax.Array  # int32: the one that is looked at; negative after the last
    kind: jax.Array  # int8 [S]: OUT, CANDIDATE or REACHES
    cycle: jax.Array  # bool: a bad cycle was found


@dataclasses.dataclass(frozen=True)
class Trimming(Solver):
    """Looks for a cycle inside a region that the other player wins.

    This is the emptiness check of Büchi automata by trimming (OWCTY), once for each
    priority: candidates that lead, along edges no more important, to no edge of that
    priority into a candidate are dropped, until none is left or all that are left do.
    """

    name: ClassVar[str] = "verify"
    solves: ClassVar[str] = "which cycles are in a claimed answer"

    def init(self, fixed: Fixed) -> State:
        """Above every priority, with nothing to trim."""
        highest = jnp.int32(0)
        for piece in ops.edge_priority(fixed.game):
            highest = jnp.maximum(highest, jnp.max(piece, initial=0))
        return State(
            priority=highest.astype(jnp.int32) + 1,
            kind=jnp.full(fixed.winner.shape, OUT, jnp.int8),
            cycle=jnp.array(False),
        )

    def step(self, fixed: Fixed, state: State) -> State:
        """One sweep backwards; when it finds no more, drops candidates or goes on."""
        reach = (state.kind != OUT) & ops.out_any(
            fixed.game, _leads(fixed, state.priority, state.kind)
        )
        stable = jnp.all(reach == (state.kind == REACHES)) & ~self.done(fixed, state)
        some, all_ = jnp.any(reach), jnp.all(reach == (state.kind != OUT))
        onward, dropped = stable & ~some, stable & some & ~all_

        following = state.priority - 1
        against = ops.real(fixed.game) & (
            fixed.winner != (following & 1).astype(jnp.int8)
        )
        first = jnp.where(against & (following >= 0), CANDIDATE, OUT)
        return State(
            priority=jnp.where(onward, following, state.priority),
            kind=jnp.where(
                onward,
                first,
                jnp.where(
                    dropped,
                    jnp.where(reach, CANDIDATE, OUT),
                    jnp.where(reach, REACHES, state.kind),
                ),
            ).astype(jnp.int8),
            cycle=state.cycle | (stable & some & all_),
        )

    def done(self, fixed: Fixed, state: State) -> jax.Array:
        """A cycle was found, or every priority was looked at."""
        return state.cycle | (state.priority < 0)

    def answer(self, fixed: Fixed, state: State) -> None:
        """The state says it all."""


def _leads(fixed: Fixed, priority, kind) -> ops.Edges:
    """Edges no more important that lead on: those of the priority to any candidate."""

    def leads(kept, edge_priority, there):
        needed = jnp.where(edge_priority == priority, CANDIDATE, REACHES)
        return kept & (edge_priority <= priority) & (there >= needed)

    return ops.edgewise(
        leads, fixed.kept, ops.edge_priority(fixed.game), ops.target(fixed.game, kind)
    )


def trimmed(fixed: Fixed, state: State) -> Verdict:
    """The verdict once trimming is done."""
    meets = ops.edgewise(
        lambda leads, edge_priority: leads & (edge_priority == state.priority),
        _leads(fixed, state.priority, state.kind),
        ops.edge_priority(fixed.game),
    )
    found = (state.kind == REACHES) & ops.out_any(fixed.game, meets)
    vertex = jnp.argmax(ops.by_vertex(fixed.game, found))
    return verdict(
        fixed,
        jnp.where(state.cycle, Reason.CYCLE_WON_BY_OPPONENT, Reason.OK),
        jnp.where(state.cycle, vertex, NOWHERE),
    )

"""One way catch them young: delete what cannot lie on an accepting cycle."""

import dataclasses
from typing import Any, ClassVar, Literal, NamedTuple

from jaxgames import ops
from jaxgames.buchi._solver import Answer, CycleSolver, Finds, Problem, first_of, inside
from jaxgames.later import jax, jnp
from jaxgames.ops import Pieces
from jaxgames.states import register

Form = Literal["backward", "forward"]

FORMS: tuple[Form, ...] = ("backward", "forward")


@register
class State(NamedTuple):
    """What is left, what is marked, and the scalars of the machine."""

    there: jax.Array  # bool [V]
    mark: jax.Array  # bool [V]
    live: Pieces  # bool on links: inside a part
    marking: jax.Array  # bool: which sweeps these are
    stable: jax.Array
    over: jax.Array  # bool: nothing more can be deleted
    size: jax.Array  # int32: vertices left at the last turn but one
    outer: jax.Array  # int32: searches
    inner: jax.Array  # int32: sweeps of searches
    trim: jax.Array  # int32: sweeps that trim


@dataclasses.dataclass(frozen=True)
class Owcty(CycleSolver):
    """One way catch them young [1], forward or backward.

    Forward: what is not reached from an accepting vertex that is left is deleted; then,
    again and again, what has no predecessor left. Both in turn until nothing goes. If
    anything stays, it has an accepting cycle, and else there is none. Backward is the
    same with all edges turned round: what stays reaches an accepting vertex, and has
    a successor; this needs only the edges as they are given.

    A sweep is O(V + E). There are up to V sweeps for each of up to V turns; few where
    components are few in sequence.

    Attributes:
        form: `"backward"` or `"forward"`.

    References:
        [1] Černá and Pelánek, Distributed explicit fair cycle detection (set based
        approach), SPIN 2003, doi:10.1007/3-540-44829-2_4.

    Examples:
        >>> from jaxgames import buchi
        >>> graph = [0, 1, 3, 4], [1, 0, 2, 2]
        >>> solver = buchi.Owcty(form="forward")
        >>> buchi.accepting_cycle(graph, accepting=[2], solver=solver)
        AcceptingCycle(Lasso(2 + 1 vertices))
    """

    form: Form = "backward"

    name: ClassVar[str] = "owcty"

    def __post_init__(self):
        super().__post_init__()
        if self.form not in FORMS:
            raise ValueError(f"form must be one of {FORMS}, got {self.form!r}")

    @property
    def finds(self) -> Finds:  # type: ignore[override]
        """What is left leads to a cycle, or is led to by one."""
        return "ahead" if self.form == "backward" else "somewhere"

    @property
    def backward(self) -> bool:
        """Whether each vertex shall point at its predecessors."""
        return self.form == "forward"

    def init(self, game: Problem) -> State:
        """All are left; accepting vertices are marked."""
        there = jnp.asarray(game.part) > 0
        zero = jnp.int32(0)
        return State(
            there=there,
            mark=there & game.accepting,
            live=inside(game.links, jnp.asarray(game.part)),
            marking=jnp.array(True),
            stable=jnp.array(False),
            over=~jnp.any(there),
            size=jnp.int32(-1),
            outer=zero,
            inner=zero,
            trim=zero,
        )

    def sweep(self, game: Problem, state: State) -> State:
        """Marks spread along every edge; or vertices without one are deleted."""
        # Both are the same reduction: of marks, or of what is left.
        x = jnp.where(state.marking, state.mark, state.there)
        leads = ops.links_any(game.links, x, state.live)
        new = state.there & jnp.where(state.marking, x | leads, leads)
        counts = ~state.stable & ~state.over
        return state._replace(
            mark=jnp.where(state.marking, new, state.mark),
            there=jnp.where(state.marking, state.there, new),
            stable=jnp.all(new == x),
            inner=state.inner + jnp.int32(counts & state.marking),
            trim=state.trim + jnp.int32(counts & ~state.marking),
        )

    def turn(self, game: Problem, state: State) -> State:
        """What is not marked is deleted; or the next search begins."""
        there = jnp.where(state.marking, state.mark, state.there)
        size = jnp.sum(there, dtype=jnp.int32)
        # Neither a search nor the trimming before it has deleted anything.
        still = state.marking & (size == state.size)
        return state._replace(
            there=there,
            mark=there & game.accepting,
            marking=~state.marking,
            stable=jnp.array(False),
            over=still | (size == 0),
            size=jnp.where(state.marking, state.size, size),
            outer=state.outer + jnp.int32(state.marking),
        )

    def done(self, game: Problem, state: State) -> jax.Array:
        """Nothing is deleted any more."""
        return state.over

    def answer(self, game: Problem, state: State) -> Answer:
        """What is left."""
        left = state.there & state.over
        return Answer(jnp.any(left), first_of(left), left)

    def stats(self, game: Problem, state: State) -> dict[str, Any]:
        """Searches, their sweeps, and sweeps that trim."""
        return {"outer": state.outer, "inner": state.inner, "trim": state.trim}

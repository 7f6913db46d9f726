"""Trimming: what has no successor left is deleted."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.buchi._solver import NONE, Answer, Finds, first_of
from jaxgames.later import jax, jnp
from jaxgames.ops import PairLinks
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register
from jaxgames.tuning import here
from jaxgames.tuning.buchi import LOOKS, SWEEPS, SWEEPS_OF_MANY, WHOLE, WINDOW


class Task(NamedTuple):
    """What is to be trimmed: the vertices of parts alone, in their order.

    Attributes:
        head: int32 `[P]`, where the edges inside parts lead, row by row; of the last
            edge of each row the complement.
        first: int32 `[R]`, the first edge of each row, or NONE.
        row: int32 `[V]`, the row of each vertex; R where it has none.
    """

    head: Any
    first: Any
    row: Any


def task(edges: PairLinks, part: jax.Array, rows: int) -> Task:
    """The vertices of parts, and the edges between two of one part (pure).

    Edges come in the order of their tails. The part of a vertex, int32 `[V]`, is 0
    where that is not there; there are so many rows for the others, or more.
    """
    room = len(edges.tail)
    there = part > 0
    row = jnp.where(there, jnp.cumsum(there, dtype=jnp.int32) - 1, rows)
    part, row_at = jnp.append(part, 0), jnp.append(row, rows)
    same = ops.take(part, edges.tail) == ops.take(part, edges.head)
    which = ops.compact(same & (ops.take(part, edges.tail) > 0))
    some, which = which < room, jnp.minimum(which, room - 1)
    tail = jnp.where(some, ops.take(row_at, ops.take(edges.tail, which)), rows)
    head = jnp.where(some, ops.take(row_at, ops.take(edges.head, which)), 0)
    opens = jnp.append(jnp.array([True]), tail[1:] != tail[:-1])
    closes = jnp.append(opens[1:], jnp.array([True]))
    number = jnp.arange(room, dtype=jnp.int32)
    first = jnp.full(rows, NONE, jnp.int32)
    return Task(
        head=jnp.where(closes, ~head, head),
        first=ops.store(first, jnp.where(opens, tail, rows), number),
        row=row,
    )


@register
class State(NamedTuple):
    """The edge that each vertex watches, and the scalars of the machine."""

    at: jax.Array  # int32 [R]: NONE for a vertex that is deleted
    own: jax.Array  # int32 [H]: those of the next window, unless there is one only
    window: jax.Array  # int32: the next to visit
    quiet: jax.Array  # int32: windows that have nothing to delete
    trim: jax.Array  # int32: sweeps


@dataclasses.dataclass(frozen=True)
class Trim(Solver):
    """Deletes what has no successor left in its part, again and again.

    What stays at the end can go on for ever. Where every cycle accepts, as in the
    product with a weak automaton, that decides: there is an accepting cycle if and only
    if anything stays. It is the second half of OWCTY [1].

    Each vertex watches one of its edges, and goes on to the next when the vertex at its
    end is deleted; with the last one it is deleted itself. So a sweep looks at a few
    edges of each vertex, and all sweeps together at each edge about once more than at
    each vertex. A large graph is visited window by window: a visit stays as long as it
    deletes something, then it goes on to the window before. Where vertices are numbered
    by a search from the initial one, deletion goes from the end to the beginning.

    Up to V sweeps of O(V), O(E) steps from edge to edge.

    Attributes:
        window: how many vertices a window has; a few windows are one. None: more on an
            accelerator than on a CPU.
        looks: at how many edges a vertex looks in a sweep. None: two on an accelerator,
            one on a CPU.
        sweeps: sweeps over a window between two tests whether something has changed.
            None: a few on an accelerator, two on a CPU.

    References:
        [1] Černá and Pelánek, Distributed explicit fair cycle detection (set based
        approach), SPIN 2003, doi:10.1007/3-540-44829-2_4.

    Examples:
        >>> from jaxgames import buchi
        >>> weak = [0, 1, 2, 2], [1, 2]
        >>> buchi.accepting_cycle(weak, accepting=[0, 1, 2], solver="trim")
        AcceptingCycle(none)
    """

    window: int | None = None
    looks: int | None = None
    sweeps: int | None = None
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "trim"
    finds: ClassVar[Finds] = "ahead"
    backward: ClassVar[bool] = False

    def __post_init__(self):
        super().__post_init__()
        check_positive(window=self.window, looks=self.looks, sweeps=self.sweeps)

    def init(self, game: Task) -> State:
        """Each vertex watches its first edge; the last window is the first to visit."""
        count, height = self.windows(len(game.first))
        at, zero = jnp.asarray(game.first), jnp.int32(0)
        own = at[len(at) - height :] if count > 1 else at[:0]
        return State(at, own, jnp.int32(count - 1), zero, zero)

    def step(self, game: Task, state: State) -> State:
        """Sweeps over one window."""
        count, height = self.windows(len(state.at))
        sweeps = self.sweeps or here(SWEEPS if count == 1 else SWEEPS_OF_MANY)
        looks = self.looks or here(LOOKS)

        def start(window):
            return jnp.minimum(window * height, len(state.at) - height)

        # What is compared lies beside the whole, or XLA would copy that.
        at = state.at
        new = before = began = state.own if count > 1 else at
        for _ in range(sweeps):
            # Without the barrier XLA may compute it anew for every vertex that looks.
            before, new = (
                new,
                jax.lax.optimization_barrier(_sweep(game.head, at, new, looks)),
            )
            if count > 1:
                at = jax.lax.dynamic_update_slice_in_dim(
                    at, new, start(state.window), 0
                )
            else:
                at = new
        settled = jnp.all(new == before)
        idle = settled if count == 1 else jnp.all(new == began)
        quiet = jnp.where(idle, state.quiet + 1, 1)
        following = jnp.where(state.window == 0, count - 1, state.window - 1)
        window = jnp.where(settled, following, state.window)
        return State(
            at=at,
            own=jax.lax.dynamic_slice_in_dim(at, start(window), len(state.own)),
            window=window,
            quiet=jnp.where(settled, jnp.minimum(quiet, count), 0),
            trim=state.trim + sweeps * (state.quiet < count),
        )

    def done(self, game: Task, state: State) -> jax.Array:
        """No window has anything to delete."""
        return state.quiet >= self.windows(len(game.first))[0]

    def answer(self, game: Task, state: State) -> Answer:
        """What is left."""
        stays = jnp.append(state.at != NONE, False)
        left = ops.take(stays, game.row) & self.done(game, state)
        return Answer(jnp.any(left), first_of(left), left)

    def stats(self, game: Task, state: State) -> dict[str, Any]:
        """Sweeps, and how many windows there are."""
        return {"trim": state.trim, "windows": self.windows(len(game.first))[0]}

    def windows(self, size: int) -> tuple[int, int]:
        """How many windows a graph has, and how many vertices each of them."""
        window = self.window or here(WINDOW)
        height = size if size <= WHOLE * window else window
        return -(-size // height), height


def _sweep(head: jax.Array, at: jax.Array, own: jax.Array, looks: int) -> jax.Array:
    """The edges that some vertices watch next, while all watch those `at`."""
    looking = own != NONE
    for _ in range(looks):
        end = ops.take(head, jnp.where(looking, own, 0))
        last = end < 0
        gone = ops.take(at, jnp.where(last, ~end, end)) == NONE
        looking = looking & gone
        own = jnp.where(looking, jnp.where(last, NONE, own + 1), own)
        looking = looking & ~last
    return own

"""Trimming: what has no successor left is deleted, window by window."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import ops
from jaxgames.buchi._solver import Answer, Finds, first_of
from jaxgames.ops import PairLinks
from jaxgames.solver import Solver

STEPS_PER_CHECK = 8
"""Windows that an accelerator visits between two tests."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Windows:
    """The edges of a graph in `W` windows: vertices in sequence with their edges.

    Attributes:
        tail: int32 `[W, M]`, where an edge begins, counted from the first vertex of its
            window; `height` where there is none.
        head: int32 `[W, M]`, where it ends; `V` where there is none.
        first: int32 `[W]`, the first vertex of each window.
        count: int32 `[W]`, how many it has.
        height: room for the vertices of a window.
        size: the number of vertices `V`.
    """

    tail: Any
    head: Any
    first: Any
    count: Any
    height: int = dataclasses.field(metadata={"static": True})
    size: int = dataclasses.field(metadata={"static": True})


def whole(links: PairLinks) -> Windows:
    """A graph as one window (pure)."""
    return Windows(
        tail=links.tail[None],
        head=jnp.where(links.tail < links.num_rows, links.head, links.num_rows)[None],
        first=jnp.zeros(1, jnp.int32),
        count=jnp.full(1, links.num_rows, jnp.int32),
        height=links.num_rows,
        size=links.num_rows,
    )


def cut(windows: Windows, part: jax.Array) -> Windows:
    """Only the edges between two vertices of one part (pure).

    Args:
        windows: the edges.
        part: int32 `[V]`, 0 for a vertex that is not there.
    """
    part = jnp.append(jnp.asarray(part), 0)
    tail = jnp.minimum(windows.first[:, None] + windows.tail, windows.size)
    here, there = ops.take(part, tail), ops.take(part, windows.head)
    kept = (here == there) & (here > 0)
    return dataclasses.replace(
        windows, head=jnp.where(kept, windows.head, windows.size)
    )


class Task(NamedTuple):
    """What is to be trimmed.

    Attributes:
        windows: the edges, inside parts only.
        part: int32 `[V]`, 0 for a vertex that is not there.
    """

    windows: Windows
    part: Any


class State(NamedTuple):
    """What is left, and the scalars of the machine."""

    there: jax.Array  # bool [V + height]
    window: jax.Array  # int32: the next to visit
    quiet: jax.Array  # int32: visits since one has deleted anything
    trim: jax.Array  # int32: visits


@dataclasses.dataclass(frozen=True)
class Trim(Solver):
    """Deletes what has no successor left in its part, again and again.

    What stays at the end can go on for ever. Where every cycle accepts, as in the
    product with a weak automaton, that decides: there is an accepting cycle if and only
    if anything stays. It is the second half of OWCTY [1].

    A step visits one window, and stays there as long as it deletes something; then it
    goes on to the one before. So where vertices are numbered by a search from the
    initial one, deletion, which goes from the end to the beginning, reads little beside
    the edges that it deletes. Up to V visits, O(V + E) for all windows.

    References:
        [1] Černá and Pelánek, Distributed explicit fair cycle detection (set based
        approach), SPIN 2003, doi:10.1007/3-540-44829-2_4.

    Examples:
        >>> from jaxgames import buchi
        >>> weak = [0, 1, 2, 2], [1, 2]
        >>> buchi.accepting_cycle(weak, accepting=[0, 1, 2], solver="trim")
        AcceptingCycle(none)
    """

    name: ClassVar[str] = "trim"
    finds: ClassVar[Finds] = "ahead"
    backward: ClassVar[bool] = False

    def init(self, game: Task) -> State:
        """All are left; the last window is the first to be visited."""
        more = jnp.zeros(game.windows.height, bool)
        return State(
            there=jnp.append(jnp.asarray(game.part) > 0, more),
            window=jnp.int32(len(game.windows.first) - 1),
            quiet=jnp.int32(0),
            trim=jnp.int32(0),
        )

    def step(self, game: Task, state: State) -> State:
        """What has no successor in one window is deleted."""
        windows, last = game.windows, len(game.windows.first) - 1
        tail, head, first, count = (
            jax.lax.dynamic_index_in_dim(jnp.asarray(x), state.window, keepdims=False)
            for x in (windows.tail, windows.head, windows.first, windows.count)
        )
        links = PairLinks(tail, head, windows.height, len(state.there))
        row = jnp.arange(windows.height, dtype=jnp.int32)
        stays = ops.links_any(links, state.there) | (row >= count)
        old = jax.lax.dynamic_slice_in_dim(state.there, first, windows.height)
        new = old & stays
        over = state.quiet > last
        settled = jnp.all(new == old)
        following = jnp.where(state.window == 0, last, state.window - 1)
        return State(
            there=jax.lax.dynamic_update_slice_in_dim(state.there, new, first, 0),
            window=jnp.where(settled & ~over, following, state.window),
            quiet=jnp.where(settled, state.quiet + ~over, 0),
            trim=state.trim + ~over,
        )

    def done(self, game: Task, state: State) -> jax.Array:
        """No window has lost anything since it was visited last."""
        return state.quiet >= len(game.windows.first)

    def answer(self, game: Task, state: State) -> Answer:
        """What is left."""
        left = state.there[: game.windows.size] & self.done(game, state)
        return Answer(jnp.any(left), first_of(left), left)

    def stats(self, game: Task, state: State) -> dict[str, Any]:
        """Visits, and how many windows there are."""
        return {"trim": state.trim, "windows": len(game.windows.first)}


def fitted(solver: Trim) -> Trim:
    """The solver with as many steps between two tests as suit the backend."""
    if solver.sweeps_per_check is not None:
        return solver
    steps = 1 if jax.default_backend() == "cpu" else STEPS_PER_CHECK
    return dataclasses.replace(solver, sweeps_per_check=steps)

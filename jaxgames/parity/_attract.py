"""Attractors as sweeps over the edges, for the solvers that are made of them."""

from collections.abc import Callable
from typing import TypeVar

from jaxgames import ops
from jaxgames.later import backend, jax, jnp
from jaxgames.ops import Game
from jaxgames.tuning.parity import READS_LITTLE_FROM

State = TypeVar("State")

ATTRACTOR, PLAY, OUT = range(3)
KIND_BITS = 2
"""Kinds of vertices: in the attractor that grows, elsewhere in the current subgame, out
of play. In this order the attracting player prefers them; with the first two exchanged,
which is `kind ^ 1`, his opponent does."""


def kinds(attractor, in_play) -> jax.Array:
    """The kind of each vertex: int8 `[S]`."""
    return jnp.where(in_play, jnp.where(attractor, ATTRACTOR, PLAY), OUT).astype(
        jnp.int8
    )


def head(priority, subgame):
    """The most important vertices of a subgame, up to the first of the other parity.

    Priorities are integers `[S]`, the subgame bool `[S]`.

    Returns:
        The head (bool `[S]`), the player of its parity (bool), and the largest
        priority: -1 if the subgame is empty.
    """
    parity = (priority & 1).astype(bool)
    none = jnp.array(-1, priority.dtype)
    top = [
        jnp.max(jnp.where(subgame & (parity == player), priority, none))
        for player in (False, True)
    ]
    rival = jnp.minimum(top[0], top[1])
    return subgame & (priority > rival), top[1] > top[0], jnp.maximum(top[0], top[1])


def reads_little(game: Game) -> bool:
    """Whether sweeps should read no more than they must.

    What is read at random places takes most of the time of a large game's sweep, and
    most vertices are in the attractor or out of play before long.
    """
    sliced = isinstance(game, ops.SlicedArena)
    return sliced and ops.num_slots(game) >= READS_LITTLE_FROM


def sweep(game: Game, kind, foreign, where=None) -> tuple[jax.Array, jax.Array]:
    """The kind of successor that each vertex's owner likes best, and the first such.

    Args:
        game: the arena.
        kind: int8 `[S]`: the kinds of all vertices.
        foreign: int8 `[S]`: 1 for a vertex of the attracting player's opponent.
        where: bool `[S]`: for which vertices that is wanted; None: for all. Others get
            anything, and their successors are not read.

    Returns:
        The kind `[S]`, that of a foreign vertex's successor with `ATTRACTOR` and `PLAY`
        exchanged: a vertex is attracted if it equals `foreign`, as the player needs an
        edge into the attractor and the opponent has none elsewhere. And the position of
        the first such edge in its row.
    """
    rows = None if where is None else ops.source(game, where)
    seen = ops.edgewise(
        jnp.bitwise_xor,
        ops.target(game, kind, bits=KIND_BITS, where=rows),
        ops.source(game, foreign),
    )
    return ops.out_argmin(game, seen, bound=3)


def when(
    condition, change: Callable[[State], State], state: State, asks: bool = False
) -> State:
    """The changed state where a condition holds, else the state.

    A CPU branches. A GPU would ask the host which way to go: it computes both, unless
    that takes longer than to ask.
    """
    if asks or backend() == "cpu":
        return jax.lax.cond(condition, change, lambda same: same, state)
    return select(condition, change(state), state)


def select(condition, this: State, that: State) -> State:
    """One of two states."""
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), this, that)

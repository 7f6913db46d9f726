"""The loops of a turn of fast value iteration: who rises, how far, and who loses."""

import functools
from typing import NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.energy import _potentials
from jaxgames.energy._potentials import best, of_player
from jaxgames.later import backend, jax, jnp
from jaxgames.ops import Edges, Game
from jaxgames.states import register
from jaxgames.tuning.energy import APART, APART_FROM, LEVELS, MANY
from jaxgames.tuning.energy import LONG_LOOP as LONG


@register
class Values(NamedTuple):
    """What a loop changes, whether it is over, and how many rounds there were."""

    value: jax.Array
    still: jax.Array
    rounds: jax.Array


@register
class Reliance(NamedTuple):
    """Which edges vertices rely on.

    Attributes:
        relied: int8 on edges, 1 on those that ask for just what there is.
        discontent: bool `[S]`, vertices that have less than is asked for.
        content: bool `[S]`, vertices that have more, or do not take part.
    """

    relied: Edges
    discontent: jax.Array
    content: jax.Array


def who_rises(
    player: int, game: Game, task: Reliance, rising: jax.Array, limit, sweeps: int
) -> Values:
    """Who asks for more: the discontent, and those who rely on them.

    A vertex of the player stays where it is as long as it can rely on some vertex that
    does, one of the rival as long as it relies on nobody who rises. Edges that are
    relied on form no cycle. A round is one sweep: 6 bytes an edge (target, whether it
    is relied on, whether that rises), and 4 bytes a row.

    Args:
        player: who asks.
        game: the game.
        task: who relies on whom.
        rising: bool `[S]`, where to begin: some of those that rise.
        limit: rounds at most, or a few more; with 0 none is made.
        sweeps: rounds between two looks whether it is over.
    """
    mine = of_player(game, player)
    wanted = ops.edgewise(lambda relied: relied > 0, task.relied)

    def one(rising):
        moves = ops.edgewise(
            lambda relied, rises, own: relied & (rises.astype(jnp.int8) ^ own),
            task.relied,
            ops.target(game, rising, where=wanted),
            ops.source(game, mine.astype(jnp.int8)),
        )
        some = _some(game, moves)
        new = jnp.where(mine, ~some, some | task.discontent) & ~task.content
        return new, jnp.all(new == rising)

    return _until_still(one, rising, limit, sweeps)


def who_loses(
    player: int, game: Game, lost: jax.Array, limit, sweeps: int
) -> jax.Array:
    """Those who cannot but go where the player has lost, as far as so many rounds tell.

    A round is one sweep: 5 bytes an edge, 3 bytes a row.

    Args:
        player: who loses.
        game: the game.
        lost: bool `[S]`, where he is known to.
        limit: rounds at most, or a few more; with 0 none is made.
        sweeps: rounds between two looks whether it is over.
    """
    mine = of_player(game, player)

    def one(lost):
        # Whether there is a way out for him, or one into it for the rival.
        ways = ops.edgewise(
            lambda lost, own: lost.astype(jnp.int8) ^ own,
            ops.target(game, lost),
            ops.source(game, mine.astype(jnp.int8)),
        )
        new = lost | (_some(game, ways) ^ mine)
        return new, jnp.all(new == lost)

    return _until_still(one, lost, limit, sweeps).value


def shortest(
    player: int,
    game: Game,
    cost: Edges,
    value: jax.Array,
    held: jax.Array,
    limit: jax.Array,
    sweeps: int | None,
    in_parts: bool,
) -> Values:
    """Values of a shortest path game, from above.

    The player wants to reach a vertex whose value is held, as cheaply as he can, and
    the rival as dear as he can. A round is one sweep over the rows: 12 bytes an edge in
    32 bits (target, cost, and the value there), and 10 bytes a row.

    Args:
        player: who pays.
        game: the game.
        cost: on edges, `never` where the rival does not take it.
        value: where to begin: held values, and upper bounds elsewhere.
        held: bool `[S]`, where it stays.
        limit: rounds at most, or a few more; with 0 none is made.
        sweeps: rounds between two looks whether it is over; None: by size.
        in_parts: whether rows that are held are left out, if enough of them are, by
            copying the others together.
    """
    whole = ops.with_edge_weight(game, cost)
    value = ops.in_its_shares(game, value)  # else all that it is made of is sent

    def until_still(part: Game, stays: jax.Array, values, start, more=None) -> Values:
        """Sweeps over a part; `values` has what its edges ask for, and what it has."""
        mine = of_player(part, player)

        def one(value):
            asked, own, put = values(value)
            new = jnp.where(stays, own, _potentials.settled(best(part, asked, mine)))
            return put(new), jnp.all(new == own)

        if sweeps is not None or backend() == "cpu":
            return _until_still(one, start, limit, sweeps or 1)
        return _until_still(one, start, limit, sweeps_for(part), more)

    def asked(part: Game, value: jax.Array, beyond: int | None = None) -> Edges:
        there = ops.target(part, value, beyond=beyond)
        return ops.edgewise(_potentials.plus, there, ops.edge_weight(part))

    def run(level: int) -> Values:
        part, slots = ops.part(whole, ~held, level)
        stays = held if slots is None else slots >= held.shape[0]

        def values(value):
            own = ops.at(value, slots)
            return asked(part, value), own, lambda new: ops.put(value, slots, new)

        more = MANY if level == 0 else None  # parts have as many almost
        return until_still(part, stays, values, value, more)

    def run_apart(share: float) -> Values:
        part, slots, outward, ends = ops.own_part(whole, ~held, share, value)
        cost = ops.edgewise(
            lambda out, end, c: jnp.where(out, _potentials.plus(end, c), c),
            outward, ends, ops.edge_weight(part),
        )  # fmt: skip
        part = ops.with_edge_weight(part, cost)

        def values(own):
            return asked(part, own, beyond=0), own, lambda new: new

        found = until_still(part, ~ops.real(part), values, ops.at_own(value, slots))
        return found._replace(value=ops.put_own(value, slots, found.value))

    if not in_parts or ops.layout(game) == "csr":  # too small to gain by it
        return run(0)
    if ops.mesh_of(game) is None:
        levels = [level for level in LEVELS if level < ops.num_levels(game)]
        fits = ops.level_of(game, ~held) >= jnp.array(levels)
        runs = [functools.partial(run, level) for level in levels]
    else:
        shares = APART if ops.num_cells(whole) >= APART_FROM else ()
        fits = [ops.fits_part(whole, ~held, share) for share in shares]
        fits = jnp.stack([jnp.array(True), *fits])
        runs = [functools.partial(run_apart, share) for share in shares]
        runs = [functools.partial(run, 0), *runs]
    return jax.lax.switch(jnp.sum(fits, dtype=jnp.int32) - 1, runs)


def sweeps_for(game: Game) -> int:
    """Rounds between two looks whether a loop is over.

    On a GPU a look costs some 20 microseconds, on a CPU nothing that matters.
    """
    if backend() == "cpu":
        return 1
    return max(1, min(4, (1 << 24) // max(ops.num_cells(game), 1)))


def _some(game: Game, bits: Edges) -> jax.Array:
    """Whether a bit is set on some edge of each row."""
    if ops.layout(game) == "csr":  # where narrow types are slow to reduce
        bits = ops.edgewise(lambda x: x.astype(jnp.int32), bits)
    return ops.out_max(game, bits) > 0


def _until_still(
    one, value: jax.Array, limit, sweeps: int, more: int | None = None
) -> Values:
    """Goes on until a round changes nothing, or so many have been made.

    A round gives the next value, and whether it is the same. There are `sweeps` of them
    between two looks, and `more` between later ones.
    """

    def some(sweeps: int, state: Values) -> Values:
        value, still = state.value, state.still
        for _ in range(sweeps):
            value, still = one(value)
        return Values(value, still, state.rounds + sweeps)

    def until(limit, sweeps: int, start: Values) -> Values:
        return fixpoint.until(
            lambda x: x.still | (x.rounds >= limit),
            functools.partial(some, sweeps),
            start,
        )

    start = Values(value, jnp.array(False), jnp.int32(0))
    if more is None or more <= sweeps:
        return until(limit, sweeps, start)
    return until(limit, more, until(jnp.minimum(limit, LONG), sweeps, start))

"""A game as the array programs read it: blocks of positions, by who moves."""

import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops
from jaxgames.arena import bucket
from jaxgames.kept import kept
from jaxgames.later import jax, jnp
from jaxgames.multienergy._game import Game
from jaxgames.ops import Block


class Layout(NamedTuple):
    """A game, laid out.

    Attributes:
        union: positions whose front is made of all that their moves need: those of the
            attacker, and those of the defender where he has no choice; in blocks of
            like degree.
        meet: positions of the defender with several moves, likewise.
        either: all positions, where the game is traced.
        defender: bool `[V]`, whether the defender moves.
        still: bool `[V]`, whether there are no moves.
        game: the table of updates, in a game of which nothing else is read.
    """

    union: tuple[Block, ...]
    meet: tuple[Block, ...]
    either: tuple[Block, ...]
    defender: Any
    still: Any
    game: Game

    @property
    def size(self) -> int:
        """The number of positions, with all padding."""
        return self.still.shape[-1]


def prepare(game: Game) -> Layout:
    """Lays a concrete game out and puts it on the default device.

    Small games are padded to a common size. The result is kept with the game: a second
    solve starts at once.
    """
    place = jax.config.jax_default_device  # pyright: ignore
    return kept(game, ("layout", place), lambda: _lay_out(game))


def _lay_out(game: Game) -> Layout:
    if game.num_edges < ops.SLICE_FROM:
        game = game.pad(num_updates=bucket(game.num_updates))
    xp = jnp if isinstance(game.targets, jax.Array) else np
    offsets, defender = xp.asarray(game.offsets), xp.asarray(game.defender)
    size = len(defender)
    make = functools.partial(ops.row_blocks, offsets, game.targets, game.update_id)
    here = ops.default_device()  # tied to it, as what programs return
    sort_out = _sort_out if xp is np else _sort_out_on_device
    union, meet, still = sort_out(offsets, defender)
    sorted_rows = [make(rows, size, longest=game.width) for rows in (union, meet)]
    defender, still, updates = jax.device_put((defender, still, _updates(game)), here)
    return Layout(
        union=sorted_rows[0],
        meet=sorted_rows[1],
        either=(),
        defender=defender,
        still=still,
        game=updates,
    )


def _sort_out(offsets, defender):
    """Which positions are united, which are met, and which have no moves."""
    moves = offsets[1:] - offsets[:-1]
    union = ~defender | (moves == 1)
    return union, ~union, moves == 0


_sort_out_on_device = jax.jit(_sort_out)


def traced(game: Game) -> Layout:
    """Lays a traced game out: all positions are one block (pure)."""
    offsets, defender = jnp.asarray(game.offsets), jnp.asarray(game.defender)
    block = ops.regular_block(
        offsets, jnp.asarray(game.targets), jnp.asarray(game.update_id), game.width
    )
    return Layout(
        union=(),
        meet=(),
        either=(block,) if game.width else (),
        defender=defender,
        still=offsets[1:] == offsets[:-1],
        game=_updates(game),
    )


def _updates(game: Game) -> Game:
    """The table of updates alone; what else programs do not read has one value."""
    nothing = np.zeros(0, np.int32)
    return Game(
        offsets=nothing,
        targets=nothing,
        update_id=nothing,
        defender=nothing,
        delta=game.delta,
        minima=game.minima,
        cap=game.cap,
        width=0,
        ties=game.ties,
        gains=game.gains,
    )

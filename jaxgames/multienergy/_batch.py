"""Many games at once: stacked for `jax.vmap`, or side by side as one game."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Unpack

import numpy as np

from jaxgames.later import jax, to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._solution import Fronts


@limited()
def stack(games: Sequence[Game], **bounds: Unpack[Bounds]) -> Game:
    """Pads games to a common size and stacks them, to be mapped over (host only).

    Args:
        games: at least one; all have the same dimensions and caps.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A game whose arrays have a leading axis, for `jax.vmap`.

    Raises:
        ValueError: there is none, or they differ in dimensions or caps.

    Examples:
        >>> import jax
        >>> from jaxgames import multienergy
        >>> one, two = (
        ...     multienergy.Game.from_arrays(
        ...         [0, 1, 1], [1], [0], [[-k]], defender=[0, 1], cap=3
        ...     )
        ...     for k in (1, 2)
        ... )
        >>> solve = jax.jit(jax.vmap(multienergy.solve))
        >>> solve(multienergy.stack([one, two])).table[:, 0, 0, 0]
        Array([1, 2], dtype=int32)
    """
    _same_kind(games)
    padded = [
        dataclasses.replace(
            game.pad(
                *(
                    max(getattr(other, size) for other in games)
                    for size in ("num_positions", "num_edges", "num_updates")
                )
            ),
            width=max(other.width for other in games),
            ties=max(other.ties for other in games),
            gains=any(other.gains for other in games),
        )
        for game in games
    ]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *padded)


@limited()
def union(games: Sequence[Game], **bounds: Unpack[Bounds]) -> Game:
    """Puts games side by side into one (host only).

    The positions, edges and updates of a game come after those of the games before.

    Args:
        games: at least one; all have the same dimensions and caps.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: there is none, or they differ in dimensions or caps.

    Examples:
        >>> from jaxgames import multienergy
        >>> one = multienergy.Game.from_arrays(
        ...     [0, 1, 1], [1], [0], [[-1]], defender=[0, 1], cap=3
        ... )
        >>> multienergy.union([one, one, one])
        Game(6 positions, 3 edges, 3 updates of 1 energies)
    """
    _same_kind(games)
    starts = [
        [0, *itertools.accumulate(getattr(game, size) for game in games)]
        for size in ("num_positions", "num_edges", "num_updates")
    ]
    first, edges, updates = starts
    narrow = np.uint8 if updates[-1] <= 256 else np.int32

    def joined(arrays):
        return np.concatenate(list(map(np.asarray, arrays)))

    return dataclasses.replace(
        games[0],
        offsets=joined(
            [
                np.zeros(1, np.int32),
                *(
                    np.asarray(game.offsets)[1:] + start
                    for game, start in zip(games, edges, strict=False)
                ),
            ]
        ).astype(np.int32),
        targets=joined(
            np.asarray(game.targets) + start
            for game, start in zip(games, first, strict=False)
        ).astype(np.int32),
        update_id=joined(
            np.asarray(game.update_id).astype(np.int32) + start
            for game, start in zip(games, updates, strict=False)
        ).astype(narrow),
        defender=joined(game.defender for game in games),
        delta=joined(game.delta for game in games),
        minima=joined(game.minima for game in games),
        width=max(game.width for game in games),
        ties=max(game.ties for game in games),
        gains=any(game.gains for game in games),
    )


def parted(games: Sequence[Game], found: Fronts) -> list[Fronts]:
    """The fronts of each game, from those of all side by side."""
    cuts = np.cumsum([0, *(game.num_positions for game in games)])
    words = to_numpy(found.words)  # a device would compile each cut
    return [
        dataclasses.replace(
            found, words=tuple(word[:, i:j] for word in words), state=None
        )
        for i, j in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]


def _same_kind(games: Sequence[Game]) -> None:
    if len(games) == 0:
        raise ValueError("expected at least one game, got none")
    for number, game in enumerate(games):
        kind, first = (game.dimensions, game.cap), (games[0].dimensions, games[0].cap)
        if kind != first:
            raise ValueError(
                "games must have the same dimensions and caps: game 0 has {} and {}, "
                "game {} has {} and {}".format(*first, number, *kind)
            )

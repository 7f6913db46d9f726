"""The game: positions, moves, and a table of updates, as a pytree of arrays."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arena import bucket, is_traced, padded
from jaxgames.later import jax
from jaxgames.multienergy import _checks
from jaxgames.value import Value, exportable, freeze


@exportable("jaxgames.multienergy.Game")
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Game(Value):
    """A multi-dimensional energy game.

    A play moves along the edges of a graph, and every move changes a vector of energies
    by its update. The attacker wants to bring the defender to a position without
    moves, and none of the energies may ever be negative on the way; he loses every
    other play, the infinite ones too. Build a game with
    [`Game.from_arrays`][jaxgames.multienergy.Game.from_arrays], which checks its input.
    `V`, `E`, `U` and `D` are the numbers of positions, edges, updates and dimensions.

    Attributes:
        offsets: int32 `[V + 1]`; the moves of position `v` are the edges
            `offsets[v] .. offsets[v + 1] - 1`.
        targets: int32 `[E]`, the position that each edge leads to.
        update_id: uint8, or int32 where there are more than 256 updates: `[E]`, the row
            of the table of updates that each edge has.
        defender: bool `[V]`, whether the defender moves.
        delta: int32 `[U, D]`, what an update adds to each energy.
        minima: bool `[U, D, D]`: where `minima[u, i, j]` holds, energy `i` becomes at
            most the old energy `j`; its `delta` is 0.
        cap: for each dimension the energy that means infinity, or 0 if none does; None
            if that is so in all dimensions.
        width: the largest number of moves of a position.
        ties: the largest number of pairs `i, j` in the minima of an update.
        gains: whether an update adds to an energy.

    Examples:
        >>> from jaxgames import multienergy
        >>> game = multienergy.Game.from_arrays(
        ...     [0, 1, 2, 2], [1, 2], [0, 1],
        ...     [[-1, 0], [0, ("min", 0)]],
        ...     defender=[False, True, True], cap=3,
        ... )
        >>> game
        Game(3 positions, 2 edges, 2 updates of 2 energies)
    """

    offsets: Any
    targets: Any
    update_id: Any
    defender: Any
    delta: Any
    minima: Any
    cap: tuple[int, ...] | None = dataclasses.field(metadata={"static": True})
    width: int = dataclasses.field(metadata={"static": True})
    ties: int = dataclasses.field(metadata={"static": True})
    gains: bool = dataclasses.field(metadata={"static": True})

    # ---- building -----------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        offsets,
        targets,
        update_id,
        updates: Sequence,
        *,
        defender,
        cap: int | Sequence[int | None] | None = None,
    ) -> "Game":
        """Builds a game from compressed rows.

        Arrays of JAX are checked where they are and stay there, so that a game that a
        program has built on a device does not travel.

        Args:
            offsets: integers `[V + 1]`, ascending from 0 to `E`.
            targets: integers `[E]`, positions from 0 to `V - 1`.
            update_id: integers `[E]`, rows of `updates`.
            updates: for each update a row with an entry for each dimension: an integer
                that is added to the energy; or `("min", j, ...)`, by which it becomes
                the least of itself and the energies of these dimensions, counted from
                0. All entries read the energies from before the move.
            defender: booleans or 0/1 `[V]`, whether the defender moves.
            cap: the energy that means infinity: losses do not lessen it, and sums that
                reach it become infinite demands. An integer for all dimensions, one (or
                None) for each, or None for energies without a cap.

        Raises:
            ValueError: naming the position, the edge or the update: an array has the
                wrong type, length or range; rows of `updates` differ in length; a cap
                is not positive or below a weight.

        Examples:
            >>> from jaxgames import multienergy
            >>> multienergy.Game.from_arrays(
            ...     [0, 1], [0], [0], [[-4]], defender=[False], cap=3
            ... )
            Traceback (most recent call last):
            ValueError: update 0 changes energy 0 by -4, but its cap is 3: ...
        """
        if is_traced((offsets, targets, update_id, defender)):
            raise ValueError(
                "games are built on the host: build them outside and pass them to the "
                "jitted function as arguments"
            )
        delta, minima = _checks.table(updates)
        cap = _checks.caps(cap, delta)
        rows = _checks.rows(offsets, targets, update_id, len(delta))
        offsets, targets, update_id = rows
        size = len(offsets) - 1
        defender = _checks.booleans("defender", defender, size)
        if targets.dtype != np.uint8:
            targets = freeze(targets.astype(np.int32))
        narrow = np.uint8 if len(delta) <= 256 else np.int32
        sizes = offsets[1:] - offsets[:-1]
        game = cls(
            offsets=freeze(offsets.astype(np.int32)),  # a copy
            targets=targets,
            update_id=freeze(update_id.astype(narrow)),
            defender=defender,
            delta=delta,
            minima=minima,
            cap=cap,
            width=int(sizes.max()) if size else 0,
            ties=int(minima.sum((1, 2)).max(initial=0)),
            gains=bool((delta > 0).any()),
        )
        validity.known(game)
        return game

    # ---- looking ------------------------------------------------------------

    @property
    def num_positions(self) -> int:
        """Number of positions, padding included."""
        return self.defender.shape[-1]

    @property
    def num_edges(self) -> int:
        """Number of edges, padding included."""
        return self.targets.shape[-1]

    @property
    def num_updates(self) -> int:
        """Number of rows of the table of updates."""
        return self.delta.shape[-2]

    @property
    def dimensions(self) -> int:
        """Number of energies."""
        return self.delta.shape[-1]

    def __repr__(self) -> str:
        if is_traced(self.targets) or np.ndim(self.targets) != 1:
            return f"Game(edges {np.shape(self.targets)})"
        return (
            f"Game({self.num_positions} positions, {self.num_edges} edges, "
            f"{self.num_updates} updates of {self.dimensions} energies)"
        )

    # ---- making others ------------------------------------------------------

    def pad(
        self,
        num_positions: int | None = None,
        num_edges: int | None = None,
        num_updates: int | None = None,
    ) -> "Game":
        """Adds positions, edges and updates that count for nothing.

        Games of one padded size share a compilation and can be stacked. What is added
        comes last: positions of the attacker without moves, edges of no position, and
        updates that change nothing.

        Args:
            num_positions: positions wanted; by default the next of a few sizes.
            num_edges: edges wanted, likewise.
            num_updates: updates wanted; by default those that there are.

        Raises:
            ValueError: the game is larger than that.
        """
        old = self.num_positions, self.num_edges, self.num_updates
        new = [
            bucket(old[0]) if num_positions is None else num_positions,
            bucket(old[1]) if num_edges is None else num_edges,
            old[2] if num_updates is None else num_updates,
        ]
        if any(want < have for have, want in zip(old, new, strict=True)):
            raise ValueError(
                "cannot pad {} positions, {} edges and {} updates to {}, {} and "
                "{}".format(*old, *new)
            )
        more = [want - have for have, want in zip(old, new, strict=True)]
        return dataclasses.replace(
            self,
            offsets=padded(self.offsets, more[0], last=True),
            defender=padded(self.defender, more[0]),
            targets=padded(self.targets, more[1]),
            update_id=padded(self.update_id, more[1]),
            delta=padded(self.delta, more[2]),
            minima=padded(self.minima, more[2]),
        )

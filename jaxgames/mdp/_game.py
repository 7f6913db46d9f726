"""The class of stochastic games; what is asked of them is in `_stochastic_game.py`."""

import dataclasses
import operator
from typing import Any

import numpy as np

from jaxgames.arena import is_traced
from jaxgames.arguments import as_array
from jaxgames.later import has_values, jax, jnp
from jaxgames.mdp._model import MDP
from jaxgames.value import exportable

NOBODY = -1
"""The player of a state in which nothing is to be chosen."""


def check_type(game: Any) -> None:
    """Raises ValueError for what is no game."""
    if not isinstance(game, Game):
        raise ValueError(f"game must be a Game, got {type(game).__name__}")
    if not isinstance(game.model, MDP):
        raise ValueError(f"game.model must be an MDP, got {type(game.model).__name__}")
    if not is_traced(game):
        by_state("game.player", game.player, game.model)


def by_state(name: str, given: Any, model: MDP) -> np.ndarray:
    """What a user passed as integers of states; else raises ValueError."""
    found = as_array(name, given)
    if found.shape != (model.num_states,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be integers [{model.num_states}], got {found.dtype} "
            f"{list(found.shape)}"
        )
    return found


def refuse_traced(what: str, *trees: Any) -> None:
    """Raises ValueError where something is traced that only the host can look at."""
    if is_traced(trees):
        raise ValueError(
            f"{what} on the host, and what was passed is traced: do it outside of "
            "jax.jit; of stochastic games mdp.solve_game may be traced, and "
            "mdp.solve_reward_game before a target"
        )


@exportable("jaxgames.mdp.Game")
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Game:
    """A turn-based stochastic game: a model in whose states players choose.

    Attributes:
        model: states with choices, choices with branches.
        player: int8 `[S]`, who chooses in each state; -1 where there is one choice.

    Examples:
        >>> from jaxgames import mdp
        >>> mdp.Game.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2], [1, 1, 1, 1], [0, -1, -1]
        ... )
        Game(MDP(3 states, 4 choices, 4 branches), players [0])
    """

    model: MDP
    player: Any

    @classmethod
    def from_arrays(
        cls, row_group_offsets, row_offsets, columns, probs, player, **more: Any
    ) -> "Game":
        """Builds a game from compressed rows, as `MDP.from_arrays` does.

        Args:
            row_group_offsets: integers `[S + 1]`.
            row_offsets: integers `[C + 1]`.
            columns: integers `[E]`.
            probs: real numbers `[E]`.
            player: integers `[S]`, -1 for nobody, which is for states with one choice.
            more: `initial`, `labels` and what else `MDP.from_arrays` takes.

        Raises:
            ValueError: the model is none, or a state with several choices has no
                player.
        """
        model = MDP.from_arrays(row_group_offsets, row_offsets, columns, probs, **more)
        owner = by_state("player", player, model)
        many = np.diff(model.row_group_offsets) > 1
        bad = np.flatnonzero((owner < NOBODY) | (owner > 127))
        if len(bad):
            raise ValueError(
                f"state {bad[0]} has player {owner[bad[0]]}, expected -1 to 127"
            )
        bad = np.flatnonzero(many & (owner == NOBODY))
        if len(bad):
            raise ValueError(f"state {bad[0]} has several choices and no player")
        return cls(model, owner.astype(np.int8))

    def states_of(self, maximizer: Any) -> np.ndarray:
        """Where a player chooses: bool `[S]`.

        Raises:
            ValueError: no player has such a number.
        """
        try:
            number = operator.index(maximizer)
        except TypeError:
            number = NOBODY
        if not 0 <= number <= 127 or isinstance(maximizer, bool):
            raise ValueError(
                f"maximizer must be the number of a player, from 0 to 127, got "
                f"{maximizer!r}"
            )
        player = self.player
        player = player if is_traced(player) else as_array("player", player)
        if is_traced(player):
            shape, kind = (self.model.num_states,), player.dtype
            if player.shape != shape or not jnp.issubdtype(kind, jnp.integer):
                raise ValueError(
                    f"player must be integers [{shape[0]}], got {kind} "
                    f"{list(player.shape)}"
                )
        return player == number

    def misplayed(self) -> Any:
        """Whether players are none, or a state with choices has none: bool (pure)."""
        player = jnp.asarray(self.player)
        many = jnp.diff(jnp.asarray(self.model.row_group_offsets)) > 1
        return jnp.any((player < NOBODY) | (player > 127) | (many & (player < 0)))

    def pad(
        self,
        num_states: int | None = None,
        num_choices: int | None = None,
        num_branches: int | None = None,
    ) -> "Game":
        """Adds states, choices and branches that count for nothing: see `MDP.pad`.

        Games of one padded size can be stacked. Nobody plays in the states that are
        added.
        """
        model = self.model.pad(num_states, num_choices, num_branches)
        more = model.num_states - self.model.num_states
        player = np.pad(np.asarray(self.player), (0, more), constant_values=NOBODY)
        return Game(model, player)

    def __repr__(self) -> str:
        shape = getattr(self.player, "shape", "?")
        if not isinstance(self.player, list) and (
            not has_values(self.player) or len(shape) != 1
        ):
            return f"Game({self.model!r}, player {shape})"
        players = sorted(set(np.asarray(self.player).tolist()) - {NOBODY})
        return f"Game({self.model!r}, players {players})"

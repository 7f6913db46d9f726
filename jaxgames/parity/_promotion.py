"""Priority promotion as one flat loop of attractor sweeps."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.machine import Machine
from jaxgames.ops import Game
from jaxgames.parity._attract import (
    ATTRACTOR,
    OUT,
    PLAY,
    head,
    kinds,
    reads_little,
    select,
    sweep,
    when,
)
from jaxgames.parity._game import Answer, answer
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.states import register

NONE = -1
"""In place of the current region when no vertex is in play."""


@register
class State(NamedTuple):
    """Arrays over slots `[S]`, and the scalars of the machine.

    There is no stack: the subgame at any priority is what `region` has up to there.
    """

    kind: jax.Array  # int8: in the current region, below it, or neither
    region: jax.Array  # label of a vertex's region; `_won(winner)` once decided
    move: Any  # position of the edge of the vertex's strategy; None if not wanted
    current: jax.Array  # label of the region that grows, or NONE
    claims: jax.Array  # bool: it is a dominion, and attracts from above as well


@dataclasses.dataclass(frozen=True)
class PriorityPromotion(Machine):
    """Priority promotion on the device, level-synchronous attractors.

    Vertices are labelled with priorities. From the most important label p down, the
    player of its parity attracts to the vertices of label p, among the labels up to p;
    all that he gets is the region p. As long as play stays in it, he wins. Then

    - the region is *open* if play may leave it downwards: it is kept, and the next
      label follows;
    - otherwise his opponent can only flee to more important regions, which are the
      player's own: the region is *promoted* to the least of these, merges with it, and
      less important labels start afresh as priorities;
    - where there is no way to flee, it is a dominion: with its attractor in the whole
      game it is won, and the rest starts afresh.

    Neighbouring labels of one parity, with nothing between them in the subgame, are
    taken for one. A step is `sweeps` of an attractor and one transition. O(V) memory;
    promotions are few on most games, exponentially many in the number of priorities at
    worst.

    Attributes:
        sweeps: attractor sweeps between two transitions, as in
            [`Zielonka`][jaxgames.parity.Zielonka].

    References:
        Benerecetti, Dell'Erba and Mogavero, Solving parity games via priority
        promotion, CAV 2016, doi:10.1007/978-3-319-41540-6_15, and Formal Methods in
        System Design 52 (2018), doi:10.1007/s10703-018-0315-1.

    Examples:
        >>> from jaxgames import generate, parity
        >>> solution = parity.solve(generate.recursive_ladder(40), PriorityPromotion())
        >>> solution
        Solution(player 0 wins 0, player 1 wins 200)
    """

    name: ClassVar[str] = "promotion"
    absorbs: ClassVar[bool] = True

    def init(self, game: Game) -> State:
        """Labels are priorities; padding is decided."""
        region = jnp.where(ops.real(game), game.priority, _won(0))
        move = jnp.full(ops.num_slots(game), NO_EDGE, ops.move_type(game))
        return _enter(region, move if self.strategies else None, _highest(region))

    def step(self, game: Game, state: State) -> State:
        """Grows the region by some levels; when it stands still, goes on."""
        seen, stable = None, jnp.array(False)
        for _ in range(self.sweeps_per_step(game)):
            state, seen, stable = _grow(game, state)
        return when(
            stable & (state.current != NONE),
            lambda grown: _close(game, grown, seen),
            state,
            asks=reads_little(game),
        )

    def done(self, game: Game, state: State) -> jax.Array:
        """Nothing is in play."""
        return state.current == NONE

    def answer(self, game: Game, state: State) -> Answer:
        """Dominions are won for good, at the end and before."""
        return answer(game, *self.decided(state))

    def absorb(self, game: Game, state: State, winner) -> State:
        """Takes what another engine decided out of play, and starts the rest afresh.

        Sound at any time. Vertices taken here get no strategy.

        Args:
            game: the game.
            state: where this solver is.
            winner: int8 `[S]`: 0 or 1, or UNDECIDED. What a player wins must be a
                dominion of his that is its own attractor, in the game or in what is
                in play.

        Returns:
            The state to go on from.
        """
        in_play = state.region >= 0
        labels = (x.astype(state.region.dtype) for x in (game.priority, _won(winner)))
        region = jnp.where(winner == UNDECIDED, *labels)
        region = jnp.where(in_play, region, state.region)
        return _enter(region, _forget(state.move, in_play), _highest(region))

    def decided(self, state: State) -> tuple[jax.Array, Any]:
        """Winners and moves over slots; what is won is an attractor."""
        won = jnp.where(state.region >= 0, UNDECIDED, _won(state.region))
        return won.astype(jnp.int8), state.move


def _won(player):
    """The label of what a player has won; its own inverse."""
    return -1 - player


def _highest(region):
    """More important than every label."""
    return jnp.array(jnp.iinfo(region.dtype).max, region.dtype)


def _forget(move, where):
    return None if move is None else jnp.where(where, NO_EDGE, move).astype(move.dtype)


def _enter(region, move, limit) -> State:
    """Starts on the most important region below a limit."""
    subgame = (region >= 0) & (region < limit)
    first, _, current = head(region, subgame)
    return State(kinds(first, subgame), region, move, current, jnp.array(False))


def _grow(game: Game, state: State):
    """One sweep: vertices that the player can move, or the opponent must, join.

    Also what the sweep saw, and whether the region stands still.
    """
    foreign = _foreign(game, state).astype(jnp.int8)
    play, move = state.kind == PLAY, state.move
    seen = sweep(game, state.kind, foreign, play if reads_little(game) else None)
    best, position = seen
    joins = play & (best == foreign.astype(best.dtype))
    if move is not None:
        takes = joins & (foreign == 0)
        move = jnp.where(takes, position.astype(move.dtype), move)
    kind = jnp.where(joins, ATTRACTOR, state.kind).astype(jnp.int8)
    return state._replace(kind=kind, move=move), seen, ~jnp.any(joins)


def _foreign(game: Game, state: State):
    """The vertices of the opponent of the player whose region grows."""
    return game.owner != (state.current & 1).astype(bool)


def _close(game: Game, state: State, seen) -> State:
    """Decides what becomes of a region that stands still, and goes on.

    `seen` is what the last sweep saw, which is right for it if that read all vertices.
    """
    region, current, highest = state.region, state.current, _highest(state.region)
    held, foreign = state.kind == ATTRACTOR, _foreign(game, state)
    if reads_little(game):
        seen = sweep(game, state.kind, foreign.astype(jnp.int8), held)
    best, position = seen
    if state.move is not None:
        # Vertices of the head have no move yet: they take the first that stays.
        stays = held & ~foreign & (best == ATTRACTOR) & (state.move == NO_EDGE)
        move = jnp.where(stays, position.astype(state.move.dtype), state.move)
        state = state._replace(move=move)

    # The player has no move that stays, or the opponent has one that leads below.
    is_open = jnp.any(held & ((best == ATTRACTOR) == foreign))
    refuge = _least_refuge(game, region, held & foreign, current)
    closed = ~is_open & (refuge == highest)
    whole = state.claims | ~jnp.any((state.kind == OUT) & (region >= 0))
    wins = state.claims | (closed & whole)
    claims = closed & ~wins
    promoted = ~is_open & ~closed & ~wins

    # What the region is called now, which labels start afresh, where to go on.
    player = (current & 1).astype(region.dtype)
    label = jnp.where(wins, _won(player), jnp.where(promoted, refuge, current))
    floor = jnp.where(wins, highest, jnp.where(promoted, refuge, 0))
    limit = jnp.where(wins, highest, jnp.where(promoted, refuge + 1, current))
    afresh = ~held & (region >= 0) & (region < floor)
    labels = jnp.where(held, label, jnp.where(afresh, game.priority, region))
    entered = _enter(labels.astype(region.dtype), _forget(state.move, afresh), limit)
    claimed = state._replace(kind=kinds(held, region >= 0), claims=jnp.array(True))
    return select(claims, claimed, entered)


def _least_refuge(game: Game, region, where, current):
    """Least region above the current one that an edge from given vertices leads to.

    Of a region that is not open; `_highest(region)` where there is none.
    """
    highest = _highest(region)
    above = ops.edgewise(
        lambda label: jnp.where(label > current, label, highest),
        ops.target(game, region, where=ops.source(game, where)),
    )
    return jnp.min(jnp.where(where, ops.out_min(game, above), highest))

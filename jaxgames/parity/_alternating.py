"""Small progress measures of both players, who tell each other what they have won."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.parity import _measures
from jaxgames.parity._bounds import MeasureSolver
from jaxgames.parity._game import Answer, answer
from jaxgames.parity._measures import Packing, Places, Words
from jaxgames.solution import UNDECIDED
from jaxgames.states import register
from jaxgames.tuning.parity import FIRST_BUDGET


@register
class Side(NamedTuple):
    """What one player has reached."""

    packing: Packing
    place: Places
    measure: Words
    won: jax.Array  # bool [S]: certainly
    trial: jax.Array  # bool [S]: what is left of the attempt at a larger winning set
    left: jax.Array  # int32: rounds left to the attempt
    budget: jax.Array  # int32: rounds that it had
    lifts: jax.Array  # int32 [2]: how often a measure rose, upper and lower half


@register
class State(NamedTuple):
    """Both players' sides."""

    sides: tuple[Side, Side]
    overflow: jax.Array


@dataclasses.dataclass(frozen=True)
class Alternating(MeasureSolver):
    """Alternating small progress measures: both players' measures in lock step.

    A measure that has not yet reached its fixpoint proves something already: its
    player wins the greatest set of vertices that do not rise when everything outside
    the set is put to the top. What one player certainly wins is lost for the other,
    whose measure is set to the top there instead of counting up to it. All is decided
    when the two winning sets cover the game, and then both measures prove it.
    Priorities may be on edges.

    The greatest set takes as many sweeps as vertices drop out one after the other. So
    it is not computed at intervals but all the time: a round lifts all vertices and
    takes one more sweep of the current attempt, which starts from all that is not at
    the top. Vertices that rise meanwhile drop out, so that an attempt is sound when it
    ends: when nothing drops out in a round. Then the next one starts. An attempt that
    does not end within its budget is given up, and the budget doubles.

    A round is four sweeps over the edges, two without exchange: O(W (V + E)) for
    measures of `W` words. There can be exponentially many in the number of priorities,
    but where one player's measure is quick the other's need not be.

    Attributes:
        exchange: whether winning sets are computed and exchanged. Otherwise both
            measures rise until one of them is final.

    Reference:
        Bootsma, Speeding up the small progress measures algorithm for parity games
        using the GPU, master's thesis, TU Eindhoven, chapter 5 (Theorem 5.1);
        Jurdziński, Small progress measures for solving parity games, STACS 2000,
        doi:10.1007/3-540-46541-3_24.

    Examples:
        >>> from jaxgames import generate, parity
        >>> game = generate.jurdzinski(2, 2)
        >>> solution = parity.solve(game, parity.Alternating())
        >>> print(parity.verify(game, solution, "measures"))
        valid
    """

    exchange: bool = True

    name: ClassVar[str] = "alternating"
    edge_priorities: ClassVar[bool] = True

    def init(self, game: Game) -> State:
        """Least measures, but the top at self-loops that the other player wins."""
        size = ops.num_slots(game)
        packing, place, overflow = self.pack(game)

        def side(player: int) -> Side:
            least = tuple(jnp.full(size, word) for word in packing[player].least)
            lost = _measures.bad_loops(game, place[player], game.owner != bool(player))
            return Side(
                packing=packing[player],
                place=place[player],
                measure=_measures.put(lost, _measures.top(len(least)), least),
                won=jnp.zeros(size, bool),
                trial=~lost,
                left=jnp.int32(FIRST_BUDGET),
                budget=jnp.int32(FIRST_BUDGET),
                lifts=jnp.zeros(2, jnp.int32),
            )

        return State((side(0), side(1)), overflow)

    def step(self, game: Game, state: State) -> State:
        """Lifts all vertices for both players, and goes on with their attempts."""
        finished = self.done(game, state)
        sides = [
            self._lift(game, side, game.owner != bool(player), finished)
            for player, side in enumerate(state.sides)
        ]
        told = [
            side._replace(
                measure=_measures.put(
                    other.won, _measures.top(len(side.measure)), side.measure
                )
            )
            for side, other in zip(sides, sides[::-1], strict=True)
        ]
        return state._replace(sides=tuple(told))

    def done(self, game: Game, state: State) -> jax.Array:
        """The winning sets cover the game."""
        return jnp.all(state.sides[0].won | state.sides[1].won)

    def overflow(self, state: State) -> jax.Array:
        """The words given are too few."""
        return state.overflow

    def answer(self, game: Game, state: State) -> Answer:
        """What is certainly won, and how; nobody knows more before the end."""
        won = tuple(side.won & ~state.overflow for side in state.sides)
        winner = jnp.where(won[1], 1, jnp.where(won[0], 0, UNDECIDED))
        packing = tuple(side.packing for side in state.sides)
        measures = tuple(side.measure for side in state.sides)
        move = None
        if self.strategies:
            moves = [
                _measures.best_move(
                    game,
                    side.packing,
                    side.place,
                    _measures.put(
                        side.won, side.measure, _measures.top(len(side.measure))
                    ),
                )
                for side in state.sides
            ]
            move = jnp.where(game.owner, moves[1], moves[0])
        delivered = _measures.deliver(game, packing, measures, won)
        return answer(game, winner, move, delivered)

    def stats(self, game: Game, state: State) -> dict[str, Any]:
        """How often a measure rose, as float32."""
        return {"lifts": sum(_measures.as_float(side.lifts) for side in state.sides)}

    def _lift(self, game: Game, side: Side, rival, finished) -> Side:
        """One round of a player, who is told nothing yet."""

        def asked(measure: Words) -> Words:
            seen = tuple(ops.target(game, word) for word in measure)
            return _measures.raised(game, side.packing, side.place, seen, rival)

        raised = asked(side.measure)
        rises = _measures.less(side.measure, raised)
        measure = _measures.put(rises, raised, side.measure)
        final = ~jnp.any(rises)
        won = jnp.where(final, ~_measures.is_top(measure), side.won)
        side = side._replace(lifts=_measures.add(side.lifts, rises))
        if not self.exchange:
            return side._replace(measure=measure, won=won)

        # The other player may have won some of the attempt meanwhile.
        trial = side.trial & ~_measures.is_top(side.measure)
        alone = asked(_measures.put(trial, side.measure, _measures.top(len(measure))))
        stays = trial & ~_measures.less(side.measure, alone)
        closed = jnp.all(stays == trial)
        given_up = ~closed & (side.left <= 1)
        again = closed | given_up
        trial = jnp.where(again, ~_measures.is_top(measure), stays)
        budget = jnp.where(given_up, 2 * side.budget, side.budget)
        left = jnp.where(again, budget, side.left - 1)
        return side._replace(
            measure=measure,
            won=won | (closed & stays),
            trial=jnp.where(finished, side.trial, trial),
            left=jnp.where(finished, side.left, left),
            budget=jnp.where(finished, side.budget, budget),
        )

"""Priority promotion and recursive tangle learning in turns, within one program."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.parity import _promotion, _tangles
from jaxgames.parity._attract import select
from jaxgames.parity._game import Answer, answer
from jaxgames.parity._promotion import PriorityPromotion
from jaxgames.parity._tangles import RecursiveTangleLearning, pull
from jaxgames.solution import UNDECIDED
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register
from jaxgames.tuning.parity import FIRST_TURN, LATER_TURNS, PROMOTION_BUDGET

TURNS = 3
"""Turns after which a solve without a limit of its own ends."""


@register
class Standing(NamedTuple):
    """Where both legs are, and whose turn it is.

    Who has his turn knows all that is decided.
    """

    promotion: _promotion.State
    tangles: _tangles.State
    turn: jax.Array  # int32: promotion has the even ones, tangle learning the odd
    used: jax.Array  # int32, rounds of this turn


@dataclasses.dataclass(frozen=True)
class InTurns(Solver):
    """Priority promotion and recursive tangle learning on the device, in turns.

    Each is exponential on games that are easy for the other. So each has a budget of
    rounds; when that is spent, what it has won is closed by an attractor and leaves
    play, and the other goes on. Budgets grow from turn to turn. A solve that nobody
    has set a limit to ends after three turns, which is a promise: it comes back, with
    what is decided by then.

    Each leg is a loop of its own within a loop over the turns. In a batch, under
    `jax.vmap`, a loop that no game needs makes no round, where a step of both would
    make every game pay for the dearer one.

    A round is one of either leg. No polynomial bound of their number is known.

    Attributes:
        sweeps: of both legs, as in [`Zielonka`][jaxgames.parity.Zielonka].

    References:
        Those of [`PriorityPromotion`][jaxgames.parity.PriorityPromotion] and of
        [`RecursiveTangleLearning`][jaxgames.parity.RecursiveTangleLearning].

    Examples:
        >>> from jaxgames import generate, parity
        >>> hard = generate.counter_dp(20)
        >>> stats = parity.solve(hard, InTurns()).stats
        >>> stats["solver"], int(stats["turn"])
        ('promotion, tangles', 1)
    """

    name: ClassVar[str] = "promotion, tangles"
    absorbs: ClassVar[bool] = True
    sweeps: int | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        check_positive(sweeps=self.sweeps)

    @property
    def legs(self) -> tuple[PriorityPromotion, RecursiveTangleLearning]:
        """Whose turns there are."""
        return (
            PriorityPromotion(sweeps=self.sweeps, strategies=self.strategies),
            RecursiveTangleLearning(sweeps=self.sweeps),
        )

    def init(self, game: Game) -> Standing:
        """Promotion begins."""
        none = jnp.int32(0)
        promotion, tangles = self.legs
        return Standing(promotion.init(game), tangles.init(game), none, none)

    def after(
        self, game: Game, state: Standing, promotion: _promotion.State
    ) -> Standing:
        """The first state, of promotion that has spent its first budget before."""
        used = jnp.int32(budgets(ops.num_slots(game))[0])
        return state._replace(promotion=promotion, used=used)

    def step(self, game: Game, state: Standing) -> Standing:
        """One round of whoever has his turn."""
        return self.advance(game, fixpoint.Carry(state, jnp.int32(0)), 1).state

    def advance(self, game: Game, carry: fixpoint.Carry, limit: Any) -> fixpoint.Carry:
        """Turn after turn."""
        limit = jnp.asarray(limit, jnp.int32)
        limited = limit < fixpoint.MAX_ROUNDS

        def over(carry: fixpoint.Carry) -> jax.Array:
            last = ~limited & (carry.state.turn >= TURNS)
            ended = last | (carry.rounds >= limit)
            return ended | self.done(game, carry.state)

        def turn(carry: fixpoint.Carry) -> fixpoint.Carry:
            return self._turn(game, carry, limit)

        return fixpoint.until(over, turn, carry)

    def done(self, game: Game, state: Standing) -> jax.Array:
        """Who has his turn has decided all."""
        promotion, tangles = self.legs
        return jnp.where(
            _learns(state),
            tangles.done(game, state.tangles),
            promotion.done(game, state.promotion),
        )

    def answer(self, game: Game, state: Standing) -> Answer:
        """Dominions are won for good, at the end and before."""
        winner, move = self._decided(state)
        return answer(game, winner, move if self.strategies else None)

    def absorb(self, game: Game, state: Standing, winner) -> Standing:
        """Takes what another engine decided out of play, for both legs.

        Args:
            game: the game.
            state: where this solver is.
            winner: int8 `[S]`: 0 or 1, or UNDECIDED; its own attractor.
        """
        promotion, tangles = self.legs
        return state._replace(
            promotion=promotion.absorb(game, state.promotion, winner),
            tangles=tangles.absorb(game, state.tangles, winner),
        )

    def stats(self, game: Game, state: Standing) -> dict[str, Any]:
        """Which turn is the last, and how many tangles were learned."""
        tangles = self.legs[1].stats(game, state.tangles)
        return {"turn": state.turn, **tangles}

    def _decided(self, state: Standing) -> tuple[jax.Array, jax.Array]:
        """What whoever has his turn knows."""
        winner, move = self.legs[0].decided(state.promotion)
        learned = self.legs[1].decided(state.tangles)
        known = winner, learned[1] if move is None else move
        return select(_learns(state), learned, known)

    def _turn(self, game: Game, carry: fixpoint.Carry, limit: Any) -> fixpoint.Carry:
        """A turn, or as much of it as there is room for before the limit."""
        state: Standing = carry.state
        all_budgets = jnp.array(budgets(ops.num_slots(game)), jnp.int32)
        budget = all_budgets[jnp.minimum(state.turn, len(all_budgets) - 1)]
        end = carry.rounds + jnp.minimum(limit - carry.rounds, budget - state.used)

        def taken(leg: Solver, own: Any, mine: jax.Array) -> fixpoint.Carry:
            begun = fixpoint.Carry(own, carry.rounds)
            return fixpoint.iterate(leg, game, begun, jnp.where(mine, end, -1))

        promotion = taken(self.legs[0], state.promotion, ~_learns(state))
        tangles = taken(self.legs[1], state.tangles, _learns(state))
        rounds = jnp.maximum(promotion.rounds, tangles.rounds)
        used = state.used + rounds - carry.rounds
        state = Standing(promotion.state, tangles.state, state.turn, used)
        full = _learns(state) & self.legs[1].overflow(state.tangles)
        ends = ((used >= budget) | full) & ~self.done(game, state)
        return fixpoint.Carry(self._handed_on(game, state, ends), rounds)

    def _handed_on(self, game: Game, state: Standing, ends: jax.Array) -> Standing:
        """Where a turn ends, what is decided leaves play in the other leg as well."""
        winner, move, _ = fixpoint.until(
            lambda known: known[2],
            lambda known: pull(game, *known[:2]),
            (*self._decided(state), ~ends),
        )

        def told(leg: Any, own: Any) -> Any:
            known, moves = leg.decided(own)
            new = (known == UNDECIDED) & (winner != UNDECIDED)
            absorbed = leg.absorb(game, own, winner)
            if moves is not None:
                absorbed = absorbed._replace(move=jnp.where(new, move, absorbed.move))
            return select(ends & jnp.any(new), absorbed, own)

        promotion, tangles = map(told, self.legs, state[:2])
        turn = state.turn + ends.astype(jnp.int32)
        return Standing(promotion, tangles, turn, jnp.where(ends, 0, state.used))


def _learns(state: Standing) -> jax.Array:
    """Whether it is the turn of tangle learning."""
    return (state.turn & 1).astype(bool)


def budgets(size: int) -> list[int]:
    """Rounds of each turn in games of a size; the last is that of all that follow.

    Examples:
        >>> budgets(500)[:5]
        [4064, 33541, 44721, 67082, 89442]
    """
    first = min(FIRST_TURN * (size + FIRST_TURN), PROMOTION_BUDGET)
    later = [rounds * max(size, 1) ** 1.5 for rounds in LATER_TURNS]
    found = [float(first)]
    while max(found) < fixpoint.MAX_ROUNDS:
        found += later
        later = [2 * rounds for rounds in later]
    return [int(min(rounds, fixpoint.MAX_ROUNDS)) for rounds in found]

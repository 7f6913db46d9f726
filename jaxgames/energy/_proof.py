"""Why a solution is right: what is seen at each vertex, and two searches."""

import dataclasses
from typing import ClassVar, NamedTuple

from jaxgames import ops
from jaxgames.energy import _potentials
from jaxgames.energy._potentials import best, beyond, infinite
from jaxgames.energy._solution import TOP
from jaxgames.energy._verdict import Reason, Verdict
from jaxgames.later import jax, jnp
from jaxgames.ops import Edges, Game
from jaxgames.solution import NO_EDGE
from jaxgames.solver import Solver


class Claim(NamedTuple):
    """A solution, by slots.

    Attributes:
        game: the game.
        credit: numbers `[S]`, infinite where there is none.
        taken: bool on edges, those that player 1's strategy leaves where he wins.
        tight: bool on edges, those that ask for as much as there is, or less.
        wrong: bool `[S]` for each reason that is seen without a search.
    """

    game: Game
    credit: jax.Array
    taken: Edges
    tight: Edges
    wrong: dict[int, jax.Array]


def claim_of(game: Game, credit, winner, strategy) -> Claim:
    """Brings a solution into the order of slots, and looks at each vertex."""
    real, owner = ops.real(game), jnp.asarray(game.owner)
    first, last = game.row_ptr[:-1], game.row_ptr[1:]
    along = (strategy >= first) & (strategy < last)
    along = ops.by_slot(game, along, False)
    move = ops.move_of(game, jnp.where(strategy == NO_EDGE, NO_EDGE, strategy))
    missing = ops.by_slot(game, strategy == NO_EDGE, True)
    shown, winner = ops.by_slot(game, credit, 0), ops.by_slot(game, winner, 0)

    dtype = shown.dtype
    lost = shown == TOP
    number = jnp.where(lost, infinite(dtype), jnp.clip(shown, 0, beyond(dtype)))
    asked = ops.edgewise(
        _potentials.minus, ops.target(game, number), ops.edge_weight(game)
    )
    needed = best(game, asked, ~owner)
    chosen = ops.edgewise(jnp.equal, ops.position(game), ops.source(game, move))
    its_own = ops.out_max(
        game, ops.edgewise(lambda x, on: jnp.where(on, x, 0), asked, chosen)
    )
    there = ops.edgewise(
        lambda x, on: on & (x < infinite(dtype)), ops.target(game, number), chosen
    )
    leaves = ops.out_any(game, there)
    escapes = ops.out_any(
        game, ops.edgewise(lambda x: x < infinite(dtype), ops.target(game, number))
    )
    wins = lost == owner
    wrong = {
        Reason.UNDECIDED: (winner < 0) | (winner > 1) | (shown < TOP),
        Reason.WINNER_AGAINST_CREDIT: (winner == 1) != lost,
        Reason.CREDIT_TOO_SMALL: ~lost & (needed > number),
        Reason.CREDIT_TOO_LARGE: ~lost & (shown >= beyond(dtype)),
        Reason.STRATEGY_MISSING: wins & missing,
        Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX: wins & ~along,
        Reason.STRATEGY_OF_LOSER: ~wins & ~missing,
        Reason.STRATEGY_LEAVES_REGION: wins & lost & leaves,
        Reason.OPPONENT_ESCAPES: ~wins & lost & escapes,
        Reason.STRATEGY_NEEDS_MORE_CREDIT: wins & ~lost & (its_own > number),
    }
    return Claim(
        game,
        number,
        ops.edgewise(lambda on, own: on | ~own, chosen, ops.source(game, owner)),
        ops.edgewise(jnp.less_equal, asked, ops.source(game, number)),
        {int(reason): x & real for reason, x in wrong.items()},
    )


class Search(NamedTuple):
    """How far the proof is."""

    forced: jax.Array  # bool [S]: plays are led to a credit of 0, and nothing gained
    gain: jax.Array  # [S]: the energy of the longest path where player 1 wins ...
    steps: jax.Array  # int32 [S]: ... and its edges, as many as there can be
    still: jax.Array
    rounds: jax.Array


@dataclasses.dataclass(frozen=True)
class Proof(Solver):
    """Finds from where plays are forced to a credit of 0, and the longest paths.

    A path without repetition has fewer edges than there are vertices: lengths that
    still grow after so many rounds grow along a cycle.
    """

    name: ClassVar[str] = "proof"
    solves: ClassVar[str] = "what claimed credits come to"

    def init(self, game: Claim) -> Search:
        """Plays are where they are to go; paths are empty."""
        zero = jnp.zeros_like(game.credit)
        none = jnp.int32(0)
        return Search(
            game.credit == 0, zero, zero.astype(jnp.int32), jnp.array(False), none
        )

    def step(self, game: Claim, state: Search) -> Search:
        """One edge more."""
        forced = self._forced(game, state.forced)
        gain, steps = self._longer(game, state.gain, state.steps)
        same = (forced == state.forced) & (gain == state.gain) & (steps == state.steps)
        over = self.done(game, state)
        new = Search(forced, gain, steps, jnp.all(same), state.rounds + 1)
        return jax.tree.map(lambda x, y: jnp.where(over, x, y), state, new)

    def _forced(self, game: Claim, forced: jax.Array) -> jax.Array:
        """All tight edges of player 0 lead there, or one of player 1 does."""
        whole, finite = game.game, game.credit < infinite(game.credit.dtype)
        owner = jnp.asarray(whole.owner)
        # Nothing is gained along an edge that asks for all there is; and none asks for
        # more, where credits are enough.
        there = ops.edgewise(
            lambda tight, x, w, f, have, own: jnp.where(
                own | tight, (x - w == have) & f, True
            ),
            game.tight,
            ops.target(whole, game.credit),
            ops.edge_weight(whole),
            ops.target(whole, forced),
            ops.source(whole, game.credit),
            ops.source(whole, owner),
        )
        all_of_them = ops.out_all(whole, there)
        some = ops.out_any(whole, there)
        return forced | (finite & jnp.where(owner, some, all_of_them))

    def _longer(self, game: Claim, gain: jax.Array, steps: jax.Array):
        """The longest path of one edge more, where player 1 wins."""
        whole, dtype = game.game, gain.dtype
        inside = game.credit == infinite(dtype)
        total = ops.edgewise(
            lambda x, w, on: jnp.where(on, jnp.minimum(x + w, beyond(dtype)), -1),
            ops.target(whole, gain),
            ops.edge_weight(whole),
            game.taken,
        )
        most = ops.out_max(whole, total)
        on_it = ops.edgewise(
            lambda x, best, k: jnp.where(x == best, k + 1, 0),
            total, ops.source(whole, most), ops.target(whole, steps),
        )  # fmt: skip
        longer = ops.out_max(whole, on_it)
        grows = inside & (most >= 0)
        return jnp.where(grows, most, 0), jnp.where(grows, longer, 0)

    def done(self, game: Claim, state: Search) -> jax.Array:
        """Nothing changes, or will go on to."""
        count = jnp.sum(ops.real(game.game), dtype=jnp.int32)
        return state.still | (state.rounds > count)

    def answer(self, game: Claim, state: Search) -> Search:
        return state


def verdict_of(claim: Claim, search: Search) -> Verdict:
    """The first reason that holds somewhere."""
    game, credit = claim.game, claim.credit
    lost = credit == infinite(credit.dtype)
    wrong = dict(claim.wrong)
    wrong[Reason.CREDIT_TOO_LARGE] |= ops.real(game) & ~lost & ~search.forced
    # A length that does not fit, or that has not stopped growing.
    count = jnp.sum(ops.real(game), dtype=jnp.int32)
    endless = (search.gain >= beyond(credit.dtype)) | (search.steps >= count)
    endless |= ~search.still & (search.gain > 0)
    wrong[Reason.CYCLE_WON_BY_OPPONENT] = ops.real(game) & lost & endless
    return Verdict.first_of(*(ops.by_vertex(game, wrong[x]) for x in sorted(wrong)))

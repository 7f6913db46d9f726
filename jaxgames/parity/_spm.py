"""Small progress measures of both players, packed into machine words."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena, bucket
from jaxgames.ops import Game
from jaxgames.parity._game import Answer, answer
from jaxgames.solution import UNDECIDED
from jaxgames.solver import Solver, check_positive

TOP = 2**31 - 1
"""Most significant word of the measure above all others."""

WORD = 2**30
"""Capacity of a word: a sum of two values below it does not overflow int32."""

Words = tuple[jax.Array, ...]
"""Measures over slots `[S]`, the most significant word first."""


class Radix(NamedTuple):
    """How one player's measures are packed.

    A measure has a digit for each priority that is bad for the player, bounded by the
    number of vertices that have it. Digits fill words from the least important one up.
    """

    word: jax.Array  # int32 [S]: word of the digit that a vertex raises or keeps
    unit: jax.Array  # int32 [S]: what the digit counts in
    raises: jax.Array  # bool [S]: whether the vertex's priority is bad
    capacity: jax.Array  # int32 [words]


class State(NamedTuple):
    """Of each player: packing, measures, and whether these are the least fixpoint."""

    radix: tuple[Radix, ...]
    measure: tuple[Words, ...]
    stable: tuple[jax.Array, ...]
    overflow: jax.Array


@dataclasses.dataclass(frozen=True)
class SPM(Solver):
    """Small progress measures, for both players in lock step.

    The measure of a player counts, for each priority that is bad for him, how often it
    can still be met before something more important that is good. It is lifted at all
    vertices at once until nothing rises. Where it does not reach the top, the player
    wins. Once one player's measures stand still, the winners are known; the other's go
    on with the lost vertices at the top, so that both players get a strategy.

    A measure is one mixed-radix integer in as few 31-bit words as its bounds need:
    `prog` rounds down to a multiple of the digit's unit and adds one unit if the
    priority is bad; its carry is integer carry. Exponentially many rounds in the number
    of priorities at worst, O(words (V + E)) a round.

    Attributes:
        words: words of a measure. None: as many as the game needs, which for a traced
            game is the most that any game of its size could need.
        digits: digits at most; None: as many as the game needs, for a traced game half
            the number of its vertices.

    Reference:
        Jurdziński, Small progress measures for solving parity games, STACS 2000,
        doi:10.1007/3-540-46541-3_24; Bootsma, Speeding up the small progress measures
        algorithm for parity games using the GPU, master's thesis, TU Eindhoven.
    """

    words: int | None = None
    digits: int | None = None

    name: ClassVar[str] = "spm"

    def __post_init__(self):
        """Checks the options."""
        super().__post_init__()
        check_positive(words=self.words, digits=self.digits)

    def fit(self, arena: Arena) -> "SPM":
        """Counts the digits and words that a concrete arena needs."""
        digits = self.digits or bucket((int(arena.priority.max(initial=0)) + 3) // 2)
        priority = arena.priority[: int(arena.num_vertices)]
        words = self.words or max(
            int(_place_jit(_count(priority, player, digits, np)).word.max()) + 1
            for player in (0, 1)
        )
        return dataclasses.replace(self, words=words, digits=digits)

    def init(self, game: Game) -> State:
        """Measures of zero, but the top at self-loops that the opponent wins."""
        size = ops.num_slots(game)
        digits = self.digits or size // 2 + 1
        # A digit takes at most log2(V / digits + 1) bits on average, and two
        # neighbouring words hold 30 bits.
        bits = digits * (size // digits + 1).bit_length()
        words = self.words or 2 * bits // 30 + 1
        radix, overflow = zip(
            *(_radix(game, player, digits, words) for player in (0, 1)), strict=True
        )
        loop = ops.edgewise(
            jnp.equal,
            ops.target(game, jnp.arange(size, dtype=jnp.int32)),
            ops.source(game, jnp.arange(size, dtype=jnp.int32)),
        )
        some, only = ops.out_any(game, loop), ops.out_all(game, loop)
        measure = tuple(
            _top_where(
                radix[player].raises & jnp.where(game.owner == player, only, some),
                (jnp.zeros(size, jnp.int32),) * words,
            )
            for player in (0, 1)
        )
        return State(radix, measure, (jnp.array(False),) * 2, overflow[0] | overflow[1])

    def step(self, game: Game, state: State) -> State:
        """Lifts all vertices for both players."""
        lifted, stable = zip(
            *(
                _lift(game, player, state.radix[player], state.measure[player])
                for player in (0, 1)
            ),
            strict=True,
        )
        # What one player certainly wins, the other certainly loses.
        measure = tuple(
            _top_where(
                stable[1 - player] & ~_is_top(lifted[1 - player]), lifted[player]
            )
            for player in (0, 1)
        )
        # The top may have risen just now: the next round says whether that was all.
        still = tuple(
            stable[player]
            & jnp.all(_is_top(measure[player]) == _is_top(lifted[player]))
            for player in (0, 1)
        )
        return state._replace(measure=measure, stable=still)

    def done(self, game: Game, state: State) -> jax.Array:
        """Both measures stand still."""
        del game
        return state.stable[0] & state.stable[1]

    def overflow(self, state: State) -> jax.Array:
        """The words given are too few."""
        return state.overflow

    def answer(self, game: Game, state: State) -> Answer:
        """The top is lost for certain; below it is won if the measures stand still."""
        lost = [_is_top(measure) for measure in state.measure]
        won = [lost[1 - p] | (state.stable[p] & ~lost[p]) for p in (0, 1)]
        winner = jnp.where(won[1], 1, jnp.where(won[0], 0, UNDECIDED))
        winner = jnp.where(state.overflow, UNDECIDED, winner)
        moves = [_first_least(game, measure) for measure in state.measure]
        # A move is a strategy only once the measure it goes by stands still.
        safe = jnp.where(game.owner, state.stable[1], state.stable[0])
        decided = winner != UNDECIDED
        winner = jnp.where(decided & (safe | (winner != game.owner)), winner, UNDECIDED)
        return answer(game, winner, jnp.where(game.owner, moves[1], moves[0]))


# ---- packing -----------------------------------------------------------------


class _Places(NamedTuple):
    """Where each digit lies: word (0 the least significant), unit, room used so far."""

    word: jax.Array
    unit: jax.Array
    used: jax.Array


def _count(priority, player: int, digits: int, xp=jnp):
    """Bounds of the digits: i counts priority `2 i + 1` for player 0, `2 i` for 1.

    `priority` of a vertex that does not count is -1.
    """
    priority = xp.where((priority & 1) == 1 - player, priority, -1)
    digit = xp.where(priority < 0, digits, (priority + player) >> 1)
    # One entry more takes what does not count, and priorities beyond the digits.
    size = {"length" if xp is jnp else "minlength": digits + 1}
    return xp.bincount(xp.minimum(digit, digits), **size)[:digits]


def _place(count) -> _Places:
    """Fills words with digits, from the least important one up."""

    def place(room, bound):
        word, used = room
        radix = bound + 1
        full = used > WORD // radix
        word, used = jnp.where(full, word + 1, word), jnp.where(full, 1, used)
        return (word, used * radix), _Places(word, used, used * radix)

    start = (jnp.int32(0), jnp.int32(1))
    return jax.lax.scan(place, start, jnp.asarray(count, jnp.int32))[1]


_place_jit = jax.jit(_place)


def _radix(game: Game, player: int, digits: int, words: int) -> tuple[Radix, jax.Array]:
    counted = jnp.where(ops.real(game), game.priority.astype(jnp.int32), -1)
    word, unit, used = _place(_count(counted, player, digits))
    capacity = jnp.ones(words, jnp.int32).at[words - 1 - word].max(used, mode="drop")
    # A good priority keeps the digits above it; beyond the last digit nothing is kept.
    priority = game.priority.astype(jnp.int32) + player
    index = priority >> 1
    radix = Radix(
        word=jnp.where(
            index < digits, words - 1 - word[jnp.minimum(index, digits - 1)], -1
        ),
        unit=unit[jnp.minimum(index, digits - 1)],
        raises=(priority & 1) == 1,
        capacity=capacity,
    )
    beyond = ops.real(game) & radix.raises & (index >= digits)
    return radix, (jnp.max(word) >= words) | jnp.any(beyond)


# ---- measures ----------------------------------------------------------------


def _is_top(measure: Words) -> jax.Array:
    return measure[0] == TOP


def _top_where(where, measure: Words) -> Words:
    top = (TOP,) + (0,) * (len(measure) - 1)
    return tuple(jnp.where(where, t, w) for t, w in zip(top, measure, strict=True))


def _less(a: Words, b: Words) -> jax.Array:
    less = a[-1] < b[-1]
    for high_a, high_b in zip(a[-2::-1], b[-2::-1], strict=True):
        less = (high_a < high_b) | ((high_a == high_b) & less)
    return less


def _least(game: Game, measure: Words, flip) -> tuple[Words, ops.Edges]:
    """Least measure over the successors, word by word, where `flip` the largest.

    Also which edges attain it.
    """
    best, attains = [], None
    for word in measure:
        # Complement turns the order round, and is its own inverse.
        seen = ops.edgewise(jnp.bitwise_xor, ops.target(game, word), flip)
        if attains is not None:
            seen = ops.edgewise(lambda e, on: jnp.where(on, e, TOP), seen, attains)
        best.append(ops.out_min(game, seen))
        on = ops.edgewise(jnp.equal, seen, ops.source(game, best[-1]))
        attains = on if attains is None else ops.edgewise(jnp.logical_and, on, attains)
    return tuple(best), attains or ()


def _first_least(game: Game, measure: Words) -> jax.Array:
    """Position of the first successor with the least measure."""
    no_flip = ops.source(game, jnp.zeros(ops.num_slots(game), jnp.int32))
    _, attains = _least(game, measure, no_flip)
    return ops.out_argmin(game, ops.edgewise(jnp.logical_not, attains), bound=1)[1]


def _prog(radix: Radix, measure: Words) -> Words:
    """Least measure as large up to the vertex's digit, and larger if that raises."""
    out, carry = [], jnp.zeros_like(radix.raises)
    for index in reversed(range(len(measure))):
        word = measure[index]
        here = index == radix.word
        kept = word - word % radix.unit + jnp.where(radix.raises, radix.unit, 0)
        word = jnp.where(here, kept, jnp.where(index < radix.word, word + carry, 0))
        carry = word >= radix.capacity[index]
        out.append(jnp.where(carry, 0, word))
    return _top_where(carry | _is_top(measure), tuple(reversed(out)))


def _lift(game: Game, player: int, radix: Radix, measure: Words):
    """The lifted measures, and whether they stand still."""
    flip = -(game.owner != player).astype(jnp.int32)
    best, _ = _least(game, measure, ops.source(game, flip))
    best = tuple(word ^ flip for word in best)
    raised = _prog(radix, best)
    rises = _less(measure, raised)
    lifted = tuple(jnp.where(rises, r, m) for r, m in zip(raised, measure, strict=True))
    return lifted, ~jnp.any(rises)

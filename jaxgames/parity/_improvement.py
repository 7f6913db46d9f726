"""Strategy improvement: valuations by pointer doubling, all switches at once."""

import dataclasses
import functools
from typing import ClassVar, NamedTuple

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.arena import Arena, bucket
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.parity._attract import select, when
from jaxgames.parity._game import Answer, answer
from jaxgames.parity._measures import Words, best, less
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.solver import Solver, check_positive
from jaxgames.states import register

STOPS = (-1, -2)
"""In place of a slot: player 0 or 1 stopped there."""

ODD_CYCLE, STOP_OF_EVEN, STOP_OF_ODD, EVEN_CYCLE = range(4)
"""How a play ends, from worst to best for player 0; he wins the last two."""

ROOM = 2**29
"""Sums of weights in a word stay below this; the ends of plays take what is above."""


@register
class Weights(NamedTuple):
    """What a vertex adds to the value of a play.

    Priorities are shared out over words, the most important ones to the first. In its
    word the weight of a priority is larger than what all less important ones there can
    sum up to on a path, positive if even. So the sum around a cycle, compared word by
    word, has the sign of its most important priority, and words need no carry.
    """

    word: jax.Array  # int32 [S]
    weight: jax.Array  # int32 [S]


@register
class State(NamedTuple):
    """Arrays over slots `[S]`, and the scalars of the machine."""

    weights: Weights
    move: jax.Array  # position of the edge that is taken, NO_EDGE to stop
    pointer: jax.Array  # int32: the slot `2 ** doublings` moves on, or where play stops
    value: Words  # int32: the weights from here to just before `pointer`
    top: jax.Array  # the most important priority there
    doublings: jax.Array  # int32
    optimal: jax.Array  # bool: no player can improve
    overflow: jax.Array  # bool


@dataclasses.dataclass(frozen=True)
class StrategyImprovement(Solver):
    """Strategy improvement on the device.

    Both players have a strategy, and each may stop the game at his vertices: that ends
    well for the other. A play is valued by how it ends, then by the weights of its
    vertices up to there (see `Weights`). The values of all plays take about log2 V
    pointer doublings. Player 1 switches to better moves, wherever he can, until his
    strategy is the best against that of player 0; then player 0 switches wherever he
    can, and so on. Where neither can, player 0 wins what does not end in a stop of his
    own or in a cycle that he loses.

    A step is a few doublings, and a switch if all values are there. Few switches in
    practice, exponentially many at worst. O(words V) a doubling, O(words (V + E)) a
    switch.

    Attributes:
        words: words of a value. None: as many as the game needs, which for a traced
            game is the most that any game of its size could need.
        priorities: priorities from 0 on, at least those of the game. None: as many as
            the game has, for a traced game as it could have.
        doublings: pointer doublings a step. None: 4 on an accelerator, 1 on a CPU.

    References:
        Vöge and Jurdziński, A discrete strategy improvement algorithm for solving
        parity games, CAV 2000, doi:10.1007/10722167_18; Luttenberger, Strategy
        iteration using non-deterministic strategies for solving parity games, 2008,
        arXiv:0806.2923.

    Examples:
        >>> from jaxgames import generate, parity
        >>> game = generate.clique(5)
        >>> solution = parity.solve(game, StrategyImprovement())
        >>> solution
        Solution(player 0 wins 3, player 1 wins 2)
    """

    words: int | None = None
    priorities: int | None = None
    doublings: int | None = None
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    name: ClassVar[str] = "improvement"

    def __post_init__(self):
        super().__post_init__()
        check_positive(
            words=self.words, priorities=self.priorities, doublings=self.doublings
        )

    @property
    def doublings_per_step(self) -> int:
        """The doublings of a step on the default backend."""
        return self.doublings or (1 if jax.default_backend() == "cpu" else 4)

    def fit(self, arena: Arena) -> "StrategyImprovement":
        """Counts the priorities and words that a concrete arena needs."""
        priority = arena.priority[: int(arena.num_vertices)]
        priorities = self.priorities or bucket(int(priority.max(initial=0)) + 1)
        counts = np.bincount(priority, minlength=priorities)[:priorities]
        words = self.words or int(_share_jit(counts)[0].max()) + 1
        return dataclasses.replace(self, words=words, priorities=priorities)

    def init(self, game: Game) -> State:
        """Both players stop everywhere."""
        size = ops.num_slots(game)
        return self._start(game, jnp.full(size, NO_EDGE, ops.move_type(game)))

    def warm_start(self, arena: Arena, strategy) -> fixpoint.Carry:
        """Starts from given strategies: any will do, good ones save switches.

        Args:
            arena: the arena to be solved, concrete.
            strategy: int32 `[V]`: edge indices, of both players' vertices; -1 where
                there is none.

        Returns:
            What [`solve`][jaxgames.parity.solve] takes as `state`, with the same arena
            and solver.

        Raises:
            ValueError: the strategy has the wrong length, or takes an edge of another
                vertex; or priorities are on edges.

        Examples:
            >>> from jaxgames import generate, parity
            >>> arena, solver = generate.recursive_ladder(5), StrategyImprovement()
            >>> cold = parity.solve(arena, solver)
            >>> start = solver.warm_start(arena, cold.strategy)
            >>> warm = parity.solve(arena, solver, state=start)
            >>> warm.stats["rounds"] < cold.stats["rounds"]
            True
        """
        from jaxgames.parity._solve import prepare

        if arena.priority is None:
            raise ValueError("a warm start needs vertex priorities: there are none")
        edge = np.asarray(strategy, np.int32)
        if edge.shape != arena.owner.shape:
            raise ValueError(
                f"strategy must have the arena's shape {arena.owner.shape}, "
                f"got {edge.shape}"
            )
        moves = edge != NO_EDGE
        wrong = (edge < arena.row_ptr[:-1]) | (edge >= arena.row_ptr[1:])
        if (moves & wrong).any():
            vertex = int(np.argmax(moves & wrong))
            raise ValueError(
                f"strategy[{vertex}] is {edge[vertex]}, not an edge of the vertex"
            )
        normal, game = prepare(arena, self)
        padding = ops.num_vertices(game) - len(edge)
        edge = np.pad(edge, (0, padding), constant_values=NO_EDGE)
        return _start_jit(self.fit(normal), game, edge)

    def _start(self, game: Game, move) -> State:
        size = ops.num_slots(game)
        priorities = self.priorities or size + 1
        # A priority takes at most log2(V / priorities + 1) bits on average, and two
        # neighbouring words hold more than 29.
        bits = priorities * (size // priorities + 1).bit_length()
        words = self.words or 2 * bits // 29 + 1
        weights, overflow = _weigh(game, priorities, words)
        return _value_anew(game, move, weights, words, overflow)

    def step(self, game: Game, state: State) -> State:
        """Doubles the pointers; when all values are there, switches."""
        for _ in range(self.doublings_per_step):
            state = _double(state)
        enough = ops.num_slots(game).bit_length()  # 2 ** enough moves pass each vertex
        valued = (state.doublings >= enough) | jnp.all(state.pointer < 0)
        return when(
            valued & ~state.optimal, lambda valued: _switch(game, valued), state
        )

    def done(self, game: Game, state: State) -> jax.Array:
        """No player can improve."""
        return state.optimal

    def overflow(self, state: State) -> jax.Array:
        """The words or priorities given are too few."""
        return state.overflow

    def answer(self, game: Game, state: State) -> Answer:
        """How plays end under the last strategies; before the end nothing is known."""
        wins = ~ops.real(game) | (_ending(state) >= STOP_OF_ODD)
        winner = jnp.where(wins, 0, 1)
        known = state.optimal & ~state.overflow
        return answer(game, jnp.where(known, winner, UNDECIDED), state.move)


@functools.partial(jax.jit, static_argnums=0)
def _start_jit(solver: StrategyImprovement, game: Game, edge) -> fixpoint.Carry:
    def begin(game: Game, edge) -> fixpoint.Carry:
        move = ops.move_of(game, edge).astype(ops.move_type(game))
        return fixpoint.start(solver, game)._replace(state=solver._start(game, move))

    return ops.everywhere(begin, game, edge)


# ---- weights -----------------------------------------------------------------


def _share(count):
    """Shares priorities with so many vertices out over words, from the least up.

    Returns:
        Of each priority its word (0 the least important) and unit; and whether a
        priority does not fit into a word.
    """

    def share(room, count):
        word, used = room
        radix = count + 1
        full = used > ROOM // radix
        word, used = jnp.where(full, word + 1, word), jnp.where(full, 1, used)
        return (word, used * radix), (word, used, radix > ROOM)

    start = (jnp.int32(0), jnp.int32(1))
    return jax.lax.scan(share, start, jnp.asarray(count, jnp.int32))[1]


_share_jit = jax.jit(_share)


def _weigh(game: Game, priorities: int, words: int) -> tuple[Weights, jax.Array]:
    word, unit, large = _share(ops.count(game, game.priority, priorities))
    sign = 1 - 2 * (jnp.arange(priorities, dtype=jnp.int32) & 1)
    weights = Weights(
        word=words - 1 - ops.look_up(word, game.priority),
        weight=ops.look_up(unit * sign, game.priority),
    )
    priority = game.priority.astype(jnp.int32)  # int8 may not hold their number
    beyond = jnp.any(ops.real(game) & (priority >= priorities))
    return weights, (jnp.max(word) >= words) | jnp.any(large) | beyond


def _own(weights: Weights, words: int) -> Words:
    return tuple(
        jnp.where(weights.word == index, weights.weight, 0) for index in range(words)
    )


# ---- values ------------------------------------------------------------------


def _value_anew(game: Game, move, weights: Weights, words: int, overflow) -> State:
    """The first moves of all plays."""
    stop = jnp.where(game.owner, STOPS[1], STOPS[0])
    there = ops.slot_of_move(game, move)
    return State(
        weights=weights,
        move=move,
        pointer=jnp.where(there == NO_EDGE, stop, there).astype(jnp.int32),
        value=_own(weights, words),
        top=game.priority,
        doublings=jnp.int32(0),
        optimal=jnp.array(False),
        overflow=overflow,
    )


def _double(state: State) -> State:
    """Plays twice as long. What stopped, or goes round a cycle, may do so again."""
    pointer = state.pointer
    beyond = ops.at_slot(state.top, pointer, -1)
    return state._replace(
        pointer=ops.at_slot(pointer, pointer, pointer),
        # On a cycle sums wrap round at last, and are not read.
        value=tuple(word + ops.at_slot(word, pointer, 0) for word in state.value),
        top=jnp.maximum(state.top, beyond),
        doublings=state.doublings + 1,
    )


def _ending(state: State) -> jax.Array:
    """How the play from each vertex ends; who is not there yet is on a cycle."""
    top = ops.at_slot(state.top, state.pointer, 0)
    cycle = jnp.where((top & 1) == 1, ODD_CYCLE, EVEN_CYCLE)
    stop = jnp.where(state.pointer == STOPS[0], STOP_OF_EVEN, STOP_OF_ODD)
    return jnp.where(state.pointer >= 0, cycle, stop)


def _base(ending):
    """The first word of a play of that end and no weights; zero is the middle."""
    return (ending - 2) * (2 * ROOM) + ROOM


def _values(state: State) -> tuple[Words, Words]:
    """Values of the plays from each vertex, and of what follows its own weight."""
    cycle, first = state.pointer >= 0, _base(_ending(state))
    value = [jnp.where(cycle, 0, word) for word in state.value]
    own = [jnp.where(cycle, 0, word) for word in _own(state.weights, len(value))]
    rest = [x - y for x, y in zip(value, own, strict=True)]
    return (first + value[0], *value[1:]), (first + rest[0], *rest[1:])


# ---- switches ----------------------------------------------------------------


def _switch(game: Game, state: State) -> State:
    """All improvements of player 1; where he has none, of player 0."""
    value, current = _values(state)
    seen = tuple(ops.target(game, word) for word in value)
    there, attains = best(game, seen, ~game.owner)
    position = ops.out_argmin(game, ops.edgewise(jnp.logical_not, attains), bound=1)[1]
    stop = _base(jnp.where(game.owner, STOP_OF_ODD, STOP_OF_EVEN))
    stop = (stop, *(jnp.zeros_like(stop),) * (len(value) - 1))

    moves = _better(game, there, current)
    stops = _better(game, stop, current) & ~_better(game, there, stop)
    switches = (moves | stops) & ops.real(game)
    switches = switches & (game.owner == jnp.any(switches & game.owner))
    move = jnp.where(stops, NO_EDGE, position)
    move = jnp.where(switches, move, state.move).astype(state.move.dtype)
    anew = _value_anew(game, move, state.weights, len(value), state.overflow)
    optimal = state._replace(optimal=jnp.array(True))
    return select(jnp.any(switches), anew, optimal)


def _better(game: Game, this: Words, that: Words):
    """Whether the owner of a vertex likes this better than that."""
    return jnp.where(game.owner, less(this, that), less(that, this))

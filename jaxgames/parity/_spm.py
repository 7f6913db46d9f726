"""Small progress measures of one player, then of the other where the first loses."""

import dataclasses
from typing import Any, ClassVar, Literal, NamedTuple

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.parity import _measures
from jaxgames.parity._bounds import MeasureSolver
from jaxgames.parity._game import Answer, answer
from jaxgames.parity._measures import TOP, Packing, Places, Words
from jaxgames.solution import UNDECIDED
from jaxgames.solver import check_positive
from jaxgames.states import register

Queue = Literal["none", "implicit", "explicit"]

QUEUES: tuple[Queue, ...] = ("none", "implicit", "explicit")


@register
class Lifting(NamedTuple):
    """What rounds change.

    While the rival's measures are lifted, the vertices that the player wins hold what
    they have won by: his measure, the first word complemented and so negative. For the
    rival they are at the top.
    """

    measure: Words
    changed: jax.Array  # bool [S]: since the queue was made; empty without a queue
    lifts: jax.Array  # int32 [2]: how often a measure rose, upper and lower half


@register
class State(NamedTuple):
    """Packing of the player and his rival, and how far their measures are."""

    packing: tuple[Packing, ...]
    place: tuple[Places, ...]
    lifting: Lifting
    turn: jax.Array  # int32: how many of the two measures are final
    queued: jax.Array  # int32: vertices in the queue
    overflow: jax.Array


@dataclasses.dataclass(frozen=True)
class SPM(MeasureSolver):
    """Small progress measures, lifted in parallel.

    The measure of a player counts, for each priority that is bad for him, how often it
    can still be met before something more important. It is lifted until nothing rises:
    where it is below the top, he wins, by moving to where it asks least. Then the
    rival's measure is lifted in what is left, for his strategy. Priorities may be on
    edges.

    A round is one sweep over the edges, O(W (V + E)) for measures of `W` words; there
    are up to the product of the counters' bounds of them. Where the player loses his
    counters are exhausted one by one: mind whose measure comes first, or take
    [`Alternating`][jaxgames.parity.Alternating].

    Attributes:
        player: whose measure comes first.
        queue: which vertices a round lifts. `"none"`: all of them. `"implicit"`: those
            with a successor that rose in the round before. All the same edges are read,
            and a flag along with each: it saves nothing on an array machine, and
            tells in `stats` how many vertices were active. `"explicit"`: those in a
            queue, which is made anew in every step: vertices with a successor that rose
            in the step before. A step then reads all edges once, and those of the queue
            in `every` rounds; the queue has room for a quarter of the vertices, a
            sixteenth, and so on. All ways give the same answer.
        every: rounds between two queues.

    Reference:
        Jurdziński, Small progress measures for solving parity games, STACS 2000,
        doi:10.1007/3-540-46541-3_24; Bootsma, Speeding up the small progress measures
        algorithm for parity games using the GPU, master's thesis, TU Eindhoven.

    Examples:
        >>> from jaxgames import generate, parity
        >>> game = generate.hanoi(4)
        >>> solution = parity.solve(game, parity.SPM(queue="explicit", every=8))
        >>> solution
        Solution(player 0 wins 82, player 1 wins 1)
        >>> int(solution.stats["lifts"])  # each vertex as often as its distance
        891
    """

    player: int = 0
    queue: Queue = "none"
    every: int = 32

    name: ClassVar[str] = "spm"
    edge_priorities: ClassVar[bool] = True

    def __post_init__(self):
        super().__post_init__()
        check_positive(every=self.every)
        if self.player not in (0, 1):
            raise ValueError(f"player must be 0 or 1, got {self.player!r}")
        if self.queue not in QUEUES:
            raise ValueError(f"queue must be one of {QUEUES}, got {self.queue!r}")

    def init(self, game: Game) -> State:
        """Least measures, but the top at self-loops that the rival wins."""
        size = ops.num_slots(game)
        packing, place, overflow = self.pack(game)
        packing, place = packing[:: self._order], place[:: self._order]
        least = tuple(jnp.full(size, word) for word in packing[0].least)
        lost = _measures.bad_loops(game, place[0], game.owner != bool(self.player))
        return State(
            packing=packing,
            place=place,
            lifting=Lifting(
                measure=_measures.put(lost, _measures.top(len(least)), least),
                changed=jnp.ones(0 if self.queue == "none" else size, bool),
                lifts=jnp.zeros(2, jnp.int32),
            ),
            turn=jnp.int32(0),
            queued=jnp.int32(size),
            overflow=overflow,
        )

    def step(self, game: Game, state: State) -> State:
        """Lifts all vertices once, or those of a new queue several times."""
        before = state.lifting
        queued = state.queued
        if self.queue == "none":
            lifting, rises = self._round(game, state, before)
            still = ~jnp.any(rises)
        else:
            active = ops.out_any(game, before.changed)
            queued = jnp.where(
                state.turn < 2, jnp.sum(active, dtype=jnp.int32), state.queued
            )
            if self.queue == "implicit":
                lifting, rises = self._round(game, state, before, active=active)
                lifting = lifting._replace(changed=rises)
            else:
                lifting = self._period(game, state, active)
            still = ~jnp.any(lifting.changed)
        return self._take_turns(state._replace(lifting=lifting, queued=queued), still)

    def done(self, game: Game, state: State) -> jax.Array:
        """Both measures are final."""
        return state.turn == 2

    def overflow(self, state: State) -> jax.Array:
        """The words given are too few."""
        return state.overflow

    def answer(self, game: Game, state: State) -> Answer:
        """A final measure below the top is won; one at the top is always lost."""
        first, *rest = state.lifting.measure
        mine = first < 0
        measures = (
            _measures.put(mine, (~first, *rest), _measures.top(1 + len(rest))),
            _measures.put(mine, _measures.top(1 + len(rest)), (first, *rest)),
        )
        won = (mine, ~mine & (state.turn == 2))
        lost = jnp.where(state.turn == 0, first == TOP, ~mine)
        of_player = game.owner == bool(self.player)
        # Where only the measure of the other one is final, there is no move yet.
        known = won[0] | won[1] | (lost & of_player)
        winner = jnp.where(mine, self.player, 1 - self.player)
        winner = jnp.where(known & ~state.overflow, winner, UNDECIDED)
        move = None
        if self.strategies:
            moves = [
                _measures.best_move(game, *x)
                for x in zip(state.packing, state.place, measures, strict=True)
            ]
            move = jnp.where(of_player, *moves)
        order = self._order
        delivered = _measures.deliver(
            game, state.packing[::order], measures[::order], won[::order]
        )
        return answer(game, winner, move, delivered)

    def stats(self, game: Game, state: State) -> dict[str, Any]:
        """How often a measure rose, as float32; and how many vertices are queued."""
        lifts = _measures.as_float(state.lifting.lifts)
        return {"lifts": lifts, "queued": state.queued}

    @property
    def _order(self) -> int:
        """Step through a pair by player that puts this one first; and back."""
        return -1 if self.player else 1

    def _round(
        self,
        game: Game,
        state: State,
        lifting: Lifting,
        slots: jax.Array | None = None,
        active: jax.Array | bool = True,
    ) -> tuple[Lifting, jax.Array]:
        """Lifts the vertices of a game or of a part of it; also which of them rose."""
        second = state.turn > 0
        packing = jax.tree.map(lambda *x: jnp.where(second, *x[::-1]), *state.packing)
        place = state.place
        if slots is not None:
            place = [
                _measures.places(game, x, who)
                for x, who in zip(
                    state.packing, (self.player, 1 - self.player), strict=True
                )
            ]
        place = jax.tree.map(lambda *x: jnp.where(second, *x[::-1]), *place)

        first, *rest = (ops.target(game, word) for word in lifting.measure)
        seen = (ops.edgewise(_for_rival, first), *rest)
        rival = game.owner != (bool(self.player) ^ second)
        raised = _measures.raised(game, packing, place, seen, rival)

        own = tuple(ops.at(word, slots) for word in lifting.measure)
        rises = active & _measures.less((_for_rival(own[0]), *own[1:]), raised)
        measure = tuple(
            ops.put(word, slots, new)
            for word, new in zip(
                lifting.measure, _measures.put(rises, raised, own), strict=True
            )
        )
        if slots is not None:
            rises &= slots < len(lifting.measure[0])
        return lifting._replace(
            measure=measure, lifts=_measures.add(lifting.lifts, rises)
        ), rises

    def _period(self, game: Game, state: State, active) -> Lifting:
        """Several rounds on the vertices that are active at its beginning.

        A vertex outside the queue that becomes active waits for the next queue: it has
        a successor that changed in this period.
        """

        def rounds(level: int, lifting: Lifting) -> Lifting:
            part, slots = ops.part(game, active, level)

            def one(lifting: Lifting, _):
                lifting, rises = self._round(part, state, lifting, slots)
                changed = ops.at(lifting.changed, slots) | rises
                changed = ops.put(lifting.changed, slots, changed)
                return lifting._replace(changed=changed), None

            return jax.lax.scan(one, lifting, length=self.every)[0]

        start = state.lifting._replace(changed=jnp.zeros_like(active))
        branches = [
            lambda lifting, level=level: rounds(level, lifting)
            for level in range(ops.num_levels(game))
        ]
        return jax.lax.switch(ops.level_of(game, active), branches, start)

    def _take_turns(self, state: State, still) -> State:
        """Where nothing rises any more, the rival's measure starts, or all is done."""
        switch = still & (state.turn == 0)
        first, *rest = state.lifting.measure
        least = _measures.put(
            first == TOP, tuple(state.packing[1].least), (~first, *rest)
        )
        measure = _measures.put(switch, least, state.lifting.measure)
        return state._replace(
            lifting=state.lifting._replace(
                measure=measure, changed=state.lifting.changed | switch
            ),
            turn=state.turn + jnp.int32(still & (state.turn < 2)),
        )


def _for_rival(word):
    """First words as the rival sees them, once the player's measure is final."""
    return jnp.where(word < 0, TOP, word)

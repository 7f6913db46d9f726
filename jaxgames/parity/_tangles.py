"""Recursive tangle learning, all boxes of a pass at once."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.machine import Machine
from jaxgames.ops import Game
from jaxgames.parity._attract import ATTRACTOR, OUT, PLAY, select
from jaxgames.parity._game import Answer, answer
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.solver import check_positive
from jaxgames.states import register
from jaxgames.tuning import here
from jaxgames.tuning.parity import ROWS_AT_ONCE, WIDE_UP_TO

ENTER, GROW, REBOUND, SEARCH, RECORD, WIN, DONE = range(7)
"""Phases: boxes are entered; their regions grow; what can be driven to open heads; what
a head of a closed region reaches, and what reaches the head; a tangle is written down;
what is won attracts in the whole game; all is decided."""

NONE = -1
"""In place of a box where a vertex is in none."""

TANGLES, MEMBERS, ESCAPES = 1, 8, 4
"""Room of the pool, for each vertex: no family of games on which the algorithm is
polynomial wants more, but two counters. One that defeats it is noticed by that."""

WIDE = 2
"""What the vertices to the power of 3/2 are divided by for a room of members that may
be larger, and by twice as much for one of escapes: two counters want half of that."""

LEAST = 64
"""Room for the smallest games."""


@register
class Pool(NamedTuple):
    """Tangles as rows; rows beyond the counts have a tangle that there is none of.

    `T` tangles, `R` rows of members, `X` rows of escapes.
    """

    player: jax.Array  # bool [T], who wins all cycles within it
    box: jax.Array  # int32 [T], where all of it lies, or NONE; of this phase
    owner: jax.Array  # int32 [R], the tangle of a row
    member: jax.Array  # int32 [R], a vertex
    move: jax.Array  # [R], the edge that its winner takes there, or NO_EDGE
    leaver: jax.Array  # int32 [X], a tangle
    escape: jax.Array  # int32 [X], where its rival may go
    tangles: jax.Array  # how many there are
    members: jax.Array
    escapes: jax.Array


@register
class State(NamedTuple):
    """Arrays over slots `[S]`, the pool, and the scalars of the machine."""

    winner: jax.Array  # int8, or UNDECIDED
    move: jax.Array  # of the winner, or NO_EDGE
    box: jax.Array  # int32, the least slot of a vertex's box; or NONE
    player: jax.Array  # bool, who attracts in the box
    head: jax.Array  # bool, the most important vertices of the box
    plan: jax.Array  # edges of the player's strategy in what grows
    grown: jax.Array  # bool, what grows
    region: jax.Array  # bool, what had grown before the rebound
    open: jax.Array  # bool, in a box whose region has an open head
    home: jax.Array  # int32, the box of a closed region that is searched; or NONE
    ahead: jax.Array  # bool, reached from the pivot of such a region
    behind: jax.Array  # bool, what reaches it
    found: jax.Array  # int32, the least slot of a tangle to be written down; or NONE
    pool: Pool
    phase: jax.Array
    stable: jax.Array
    useful: jax.Array  # bool, the pass has found something
    full: jax.Array  # bool, there was no room for a tangle


@dataclasses.dataclass(frozen=True)
class RecursiveTangleLearning(Machine):
    """Recursive tangle learning on the device, all parts of the game at once.

    A *tangle* of a player is a strongly connected set of vertices with a strategy of
    his by which he wins all cycles within it. So his rival must leave it, by one of its
    *escapes*; and where all escapes lead into what the player attracts, the player
    attracts all of the tangle.

    A pass divides the game into boxes. In each the player of its highest priority
    attracts to the vertices of that priority; the rest of the box is a box of its own.
    The attracted region is *open* if play may leave it from one of these vertices to
    the rest: what can be driven there is dropped, and what remains is a box as well.
    Otherwise it is *closed*. Where the rival has no way out of it at all it is a
    dominion, and won with its attractor in the whole game; else it holds tangles, which
    are learned. Each pass learns something new.

    All boxes of a pass grow in the same sweeps. A step is one sweep of an attractor and
    reads all edges and the rows of the pool of tangles: on a CPU those that are in use.
    The pool has a fixed room: where that is exceeded, as on games that are made to
    defeat the algorithm, the status is `OVERFLOW`, and what is decided so far is right.
    No polynomial bound of the number of steps is known.

    Attributes:
        room: tangles, rows of members and rows of escapes that there is room for. None:
            so many for each vertex that the known families of hard games fit, but those
            that take exponential time.

    References:
        van Dijk, Attracting tangles to solve parity games, CAV 2018,
        doi:10.1007/978-3-319-96142-2_14; the recursive form is a solver of his program
        Oink, doi:10.1007/978-3-319-89960-2_16.

    Examples:
        >>> from jaxgames import generate, parity
        >>> solution = parity.solve(generate.two_counters(4), "tangles")
        >>> solution.stats["solver"]
        'tangles'
    """

    name: ClassVar[str] = "tangles"
    absorbs: ClassVar[bool] = True
    room: tuple[int, int, int] | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        for room in self.room or ():
            check_positive(room=room)

    def cells(self, game: Game) -> int:
        """The edges and the rows of the pool."""
        return ops.num_cells(game) + sum(self._room(game))

    def init(self, game: Game) -> State:
        """All vertices are in one box; padding is won."""
        size = ops.num_slots(game)
        real = ops.real(game)
        none = jnp.full(size, NONE, jnp.int32)
        never = jnp.zeros(size, bool)
        move = jnp.full(size, NO_EDGE, ops.move_type(game))
        state = State(
            winner=jnp.where(real, UNDECIDED, 0).astype(jnp.int8),
            move=move,
            box=none,
            player=never,
            head=never,
            plan=move,
            grown=never,
            region=never,
            open=never,
            home=none,
            ahead=never,
            behind=never,
            found=none,
            pool=_empty(*self._room(game), move.dtype),
            phase=jnp.int32(WIN),
            stable=jnp.array(True),
            useful=jnp.array(True),
            full=jnp.array(False),
        )
        return _next_pass(game, state)

    def _room(self, game: Game) -> tuple[int, int, int]:
        size = ops.num_slots(game)
        if self.room is not None:
            return self.room
        many = min(int(size**1.5) // WIDE, WIDE_UP_TO)
        return (
            max(LEAST, TANGLES * size),
            max(LEAST, MEMBERS * size, many),
            max(LEAST, ESCAPES * size, many // 2),
        )

    def sweep(self, game: Game, state: State) -> State:
        """One level more of whatever grows in this phase."""
        grows = {GROW: _attract, REBOUND: _attract, SEARCH: _reach, WIN: _win}
        swept = _by_phase(game, state, grows)
        # No sweep changes the pool; this keeps it from being copied by each.
        return swept._replace(pool=state.pool)

    def turn(self, game: Game, state: State) -> State:
        """What follows a phase."""
        return _by_phase(
            *(game, state),
            {
                ENTER: _enter,
                GROW: _rebound,
                REBOUND: _conclude,
                SEARCH: _judge,
                RECORD: _record,
                WIN: _next_pass,
            },
        )

    def due(self, game: Game, state: State) -> jax.Array:
        """Where nothing grows any more, and there was room."""
        return super().due(game, state) & ~state.full

    def done(self, game: Game, state: State) -> jax.Array:
        """All is decided."""
        return state.phase == DONE

    def overflow(self, state: State) -> jax.Array:
        """A tangle had no room in the pool."""
        return state.full

    def answer(self, game: Game, state: State) -> Answer:
        """Dominions are won for good, at the end and before."""
        return answer(game, *self.decided(state))

    def absorb(self, game: Game, state: State, winner) -> State:
        """Takes what another engine decided out of play, and begins a new pass.

        Sound at any time. Vertices taken here get no strategy. Where the pool was full
        it is emptied: of what is left less may have to be known.

        Args:
            game: the game.
            state: where this solver is.
            winner: int8 `[S]`: 0 or 1, or UNDECIDED; its own attractor.
        """
        both = jnp.where(state.winner == UNDECIDED, winner, state.winner)
        empty = _empty(*self._room(game), state.move.dtype)
        # The pass that ends here need not have come to what it would have found.
        state = state._replace(
            winner=both.astype(jnp.int8),
            pool=select(state.full, empty, state.pool),
            full=jnp.array(False),
            useful=jnp.array(True),
        )
        return _next_pass(game, state)

    def decided(self, state: State) -> tuple[jax.Array, jax.Array]:
        """Winners and moves over slots; what is won need not be an attractor."""
        return state.winner, state.move

    def stats(self, game: Game, state: State) -> dict:
        """How many tangles were learned."""
        return {"tangles": state.pool.tangles}


def _empty(tangles: int, members: int, escapes: int, kind) -> Pool:
    return Pool(
        player=jnp.zeros(tangles, bool),
        box=jnp.full(tangles, NONE, jnp.int32),
        owner=jnp.full(members, tangles, jnp.int32),
        member=jnp.zeros(members, jnp.int32),
        move=jnp.full(members, NO_EDGE, kind),
        leaver=jnp.full(escapes, tangles, jnp.int32),
        escape=jnp.zeros(escapes, jnp.int32),
        tangles=jnp.int32(0),
        members=jnp.int32(0),
        escapes=jnp.int32(0),
    )


def _by_phase(
    game: Game, state: State, actions: Mapping[int, Callable[[Game, State], State]]
) -> State:
    """What is done in the present phase, if anything; each action is compiled once."""
    different = list(dict.fromkeys([_wait, *actions.values()]))
    index = [different.index(actions.get(phase, _wait)) for phase in range(DONE + 1)]
    return jax.lax.switch(
        jnp.array(index, jnp.int32)[state.phase],
        [functools.partial(action, game) for action in different],
        state,
    )


# ---- facts of boxes ----------------------------------------------------------------


def _slots(box) -> jax.Array:
    return jnp.arange(len(box), dtype=jnp.int32)


def _in_box(box, x, beyond: Any = False) -> jax.Array:
    """What the boxes `[S]` of vertices have; `beyond` for a vertex in none."""
    return jnp.where(box == NONE, beyond, x[jnp.maximum(box, 0)])


def _any(box, x) -> jax.Array:
    """Whether it holds somewhere in a vertex's box: bool `[S]`."""
    found = jnp.zeros(len(box), bool).at[_inside(box)].max(x, mode="drop")
    return _in_box(box, found)


def _first(box, where) -> jax.Array:
    """The least slot in a vertex's box for which something holds: int32 `[S]`.

    A number that is no slot where there is none.
    """
    size = len(box)
    least = jnp.full(size, size, jnp.int32)
    slots = jnp.where(where, _slots(box), size)
    return _in_box(box, least.at[_inside(box)].min(slots, mode="drop"), size)


def _inside(box) -> jax.Array:
    """Boxes, as places where what is in none is dropped."""
    return jnp.where(box == NONE, len(box), box)


def _enter(game: Game, state: State) -> State:
    """In each box the player of its highest priority starts to attract."""
    box, priority = state.box, game.priority
    top = jnp.full((len(box), 2), -1, priority.dtype)
    top = top.at[_inside(box), priority & 1].max(priority, mode="drop")
    rival = jnp.min(top, axis=1)
    head = (box != NONE) & (priority > rival[jnp.maximum(box, 0)])
    fresh = jnp.where(box == NONE, state.plan, NO_EDGE).astype(state.plan.dtype)
    return _look_for_tangles(
        state._replace(
            player=jnp.where(
                box == NONE, state.player, _in_box(box, top[:, 1] > rival)
            ),
            head=jnp.where(box == NONE, state.head, head),
            plan=fresh,
            grown=head,
            phase=jnp.int32(GROW),
            stable=jnp.array(False),
        )
    )


def _area(state: State) -> jax.Array:
    """The boxes in which something grows: all of them, or their open regions."""
    left = state.region & state.open
    return jnp.where((state.phase == REBOUND) & ~left, NONE, state.box)


def _attacker(state: State) -> jax.Array:
    return state.player ^ (state.phase == REBOUND)


def _over_rows(
    used: jax.Array,
    rows: tuple[jax.Array, ...],
    fold: Callable[..., jax.Array],
    found: jax.Array,
    block: int,
) -> jax.Array:
    """Folds rows of the pool into an array, in blocks, as far as there are any.

    Args:
        used: how many rows there are.
        rows: columns of the pool.
        fold: takes an array, the number of a row, and a block of each column from there
            on. Rows beyond `used` have a tangle that there is none of.
        found: the first array.
        block: how many rows are read at once; all of them where there are no more.

    Returns:
        The last array. The last block may begin among rows that were folded before.
    """
    room = len(rows[0])
    if room <= block:
        return fold(found, jnp.int32(0), *rows)

    def one(now: tuple) -> tuple:
        begin, found = now
        first = jnp.minimum(begin, room - block)
        some = [jax.lax.dynamic_slice_in_dim(x, first, block) for x in rows]
        return begin + block, fold(found, first, *some)

    return fixpoint.until(lambda now: now[0] >= used, one, (jnp.int32(0), found))[1]


def _block(size: int) -> int:
    """Rows that are read at once in a game of so many slots."""
    return max(LEAST, here(ROWS_AT_ONCE) * size)


def _look_for_tangles(state: State) -> State:
    """Notes which tangles lie in one box, of the player who attracts there."""
    pool, area = state.pool, _area(state)
    room, size = len(pool.box), len(area)

    def fold(ends, _, owner, member):
        lies = area[member]
        return ends.at[owner].min(jnp.stack([lies, -lies], axis=1), mode="drop")

    ends = jnp.full((room, 2), size, jnp.int32)
    rows = (pool.owner, pool.member)
    ends = _over_rows(pool.members, rows, fold, ends, _block(size))
    most = -ends[:, 1]
    inside = (ends[:, 0] == most) & (most != NONE)
    live = inside & (pool.player == _in_box(most, _attacker(state)))
    return state._replace(pool=pool._replace(box=jnp.where(live, most, NONE)))


# ---- a region grows ----------------------------------------------------------------


def _wait(game: Game, state: State) -> State:
    """Nothing grows."""
    return state._replace(stable=jnp.array(True))


def _look(game: Game, state: State) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The kind of successor that each vertex's owner likes best, as `_attract.sweep`.

    Also the first such edge, and which vertices the rival of the attracting player has.
    """
    area = _area(state)
    foreign = (game.owner != _attacker(state)).astype(jnp.int32)
    key = jnp.where(area == NONE, NONE, 2 * area + state.grown.astype(jnp.int32))

    def kind(there, here, rival):
        inside = jnp.where(there & 1 > 0, ATTRACTOR, PLAY)
        return jnp.where(there >> 1 == here >> 1, inside, OUT) ^ rival

    seen = ops.edgewise(
        kind, ops.target(game, key), ops.source(game, key), ops.source(game, foreign)
    )
    best, position = ops.out_argmin(game, seen, bound=3)
    return best, position, foreign


def _attract(game: Game, state: State) -> State:
    """What the player can move into it, or the rival must, joins; tangles as well."""
    area, size = _area(state), len(state.box)
    best, position, foreign = _look(game, state)
    waits = (area != NONE) & ~state.grown
    joins = waits & (best == foreign)
    position = position.astype(state.plan.dtype)
    plan = jnp.where(joins & (foreign == 0), position, state.plan)

    pool, block = state.pool, _block(size)
    none, rows = len(pool.box), len(pool.owner)

    def leave(either, _, leaver, escape):
        lies = area[escape] == _in_box(leaver, pool.box, NONE - 1)
        there = state.grown[escape]
        kinds = jnp.stack([lies & there, lies & ~there], axis=1)
        return either.at[leaver].max(kinds, mode="drop")

    either = jnp.zeros((none, 2), bool)
    either = _over_rows(pool.escapes, (pool.leaver, pool.escape), leave, either, block)
    hits, misses = either[:, 0], either[:, 1]
    goes = (pool.box != NONE) & hits & ~misses

    def draw(row, begin, owner, member):
        along = (owner < none) & goes[jnp.minimum(owner, none - 1)]
        number = begin + jnp.arange(len(owner), dtype=jnp.int32)
        return row.at[member].min(jnp.where(along, number, rows))

    # A vertex of several takes the move of the first of them, whose rows come first.
    row = jnp.full(size, rows, jnp.int32)
    row = _over_rows(pool.members, (pool.owner, pool.member), draw, row, block)
    drawn = waits & ~joins & (row < rows)
    moves = pool.move[jnp.minimum(row, rows - 1)].astype(plan.dtype)
    plan = jnp.where(drawn, moves, plan)
    grows = state.phase == GROW  # what rebounds is not won
    return state._replace(
        plan=jnp.where(grows, plan, state.plan),
        grown=state.grown | joins | drawn,
        stable=~jnp.any(joins | drawn),
    )


def _rebound(game: Game, state: State) -> State:
    """Heads that can be left are open: what follows is what can be driven there."""
    best, position, foreign = _look(game, state)
    stays = state.head & (foreign == 0) & (best == ATTRACTOR)
    stays &= state.plan == NO_EDGE
    plan = jnp.where(stays, position.astype(state.plan.dtype), state.plan)
    # The player has no move that stays, or his rival one that leads to the rest.
    left = state.head & state.grown & (state.box != NONE)
    left &= (best == ATTRACTOR) == (foreign > 0)
    return _look_for_tangles(
        state._replace(
            plan=plan,
            region=state.grown & (state.box != NONE),
            open=_any(state.box, left),
            grown=left,
            phase=jnp.int32(REBOUND),
            stable=jnp.array(False),
        )
    )


def _conclude(game: Game, state: State) -> State:
    """Closed regions are won or searched; what remains of open ones is a box."""
    box, player = state.box, state.player.astype(jnp.int8)
    closed = state.region & ~state.open
    home = jnp.where(closed, box, NONE)
    flees = ops.edgewise(
        lambda there, here, won, player: (there != here) & (won != player),
        ops.target(game, home),
        ops.source(game, home),
        ops.target(game, state.winner),
        ops.source(game, player),
    )
    flees = closed & (game.owner != state.player) & ops.out_any(game, flees)
    won = closed & ~_any(home, flees)
    rest = ~state.region
    kept = rest | (state.region & state.open & ~state.grown)
    state = _won(state, won)._replace(
        box=_relabelled(jnp.where(kept, box, NONE), rest),
        home=jnp.where(won, NONE, home),
    )
    return _search(state)


def _won(state: State, where) -> State:
    """A dominion of the player in whose region it lies."""
    player = state.player.astype(jnp.int8)
    return state._replace(
        winner=jnp.where(where, player, state.winner),
        move=jnp.where(where, state.plan, state.move),
        useful=state.useful | jnp.any(where),
    )


def _relabelled(box, rest) -> jax.Array:
    """Boxes of which two parts are boxes of their own, by their least vertices."""
    size, slots = len(box), _slots(box)
    part = 2 * box + rest.astype(jnp.int32)
    place = jnp.where(box == NONE, 2 * size, part)
    least = jnp.full(2 * size, size, jnp.int32).at[place].min(slots, mode="drop")
    return jnp.where(box == NONE, NONE, least[jnp.maximum(part, 0)])


# ---- the tangle of a closed region -------------------------------------------------


def _search(state: State) -> State:
    """From a head of each region that is searched; or goes on where there is none."""
    pivot = _first(state.home, state.head) == _slots(state.home)
    found = jnp.any(state.found != NONE)
    phase = jnp.where(jnp.any(pivot), SEARCH, jnp.where(found, RECORD, _go_on(state)))
    return state._replace(
        ahead=pivot, behind=pivot, phase=phase, stable=_is_still(phase)
    )


def _go_on(state: State) -> jax.Array:
    """The phase that follows: the boxes that are left, or the end of the pass."""
    return jnp.where(jnp.any(state.box != NONE), ENTER, WIN).astype(jnp.int32)


def _is_still(phase) -> jax.Array:
    """Whether there is nothing that could grow in a phase."""
    return (phase == ENTER) | (phase == RECORD) | (phase == DONE)


def _play(game: Game, state: State) -> ops.Edges:
    """Edges within closed regions that play by the plan may take: bool."""

    def may(there, here, rival, position, plan):
        return (there == here) & (here != NONE) & (rival | (position == plan))

    return ops.edgewise(
        may,
        ops.target(game, state.home),
        ops.source(game, state.home),
        ops.source(game, game.owner != state.player),
        ops.position(game),
        ops.source(game, state.plan),
    )


def _reach(game: Game, state: State) -> State:
    """What pivots reach, and what reaches them, one step further."""
    play = _play(game, state)

    def along(ends: ops.Edges) -> ops.Edges:
        return ops.edgewise(jnp.logical_and, play, ends)

    ahead = state.ahead | ops.in_any(game, along(ops.source(game, state.ahead)))
    behind = state.behind | ops.out_any(game, along(ops.target(game, state.behind)))
    stable = ~jnp.any((ahead & ~state.ahead) | (behind & ~state.behind))
    return state._replace(ahead=ahead, behind=behind, stable=stable)


def _judge(game: Game, state: State) -> State:
    """If all that a pivot reaches reaches it, that is a bottom component.

    If play can stay in it, it is a tangle. Otherwise it is one vertex where only the
    rival moves on, out of the region. Whatever reaches the pivot is in no other bottom
    component.
    """
    home = state.home
    bottom = state.ahead & ~_any(home, state.ahead & ~state.behind)
    tangle = bottom & _any(home, bottom & ops.out_any(game, _play(game, state)))
    state = state._replace(
        found=jnp.where(tangle, _first(home, tangle), state.found),
        home=jnp.where(state.behind, NONE, home),
    )
    return _search(state)


def _record(game: Game, state: State) -> State:
    """Writes one tangle down; without an escape it is a dominion."""
    pool, found = state.pool, state.found
    label = jnp.min(jnp.where(found == NONE, len(found), found))
    inside = found == label
    player = jnp.any(inside & state.player)
    flees = ops.in_any(game, ops.source(game, inside & (game.owner != player)))
    flees &= ~inside & (state.winner != player.astype(jnp.int8)) & ops.real(game)
    some = jnp.any(flees)
    state = _won(state, inside & ~some)
    state = state._replace(found=jnp.where(inside, NONE, found))

    counts = (1, jnp.sum(inside), jnp.sum(flees))
    ends = [
        there + jnp.where(some, more, 0).astype(jnp.int32)
        for there, more in zip(pool[-3:], counts, strict=True)
    ]
    rooms = (len(pool.box), len(pool.owner), len(pool.leaver))
    fits = jnp.all(jnp.array([x <= y for x, y in zip(ends, rooms, strict=True)]))

    size, slots = len(found), _slots(found)
    # Sorted, and not summed up: that is rare, and compiles in a tenth of the time.
    order = jnp.sort(jnp.where(jnp.stack([inside, flees]), slots, size), axis=1)

    def rows(begin, end, slots, room):
        """Which rows are new, and what vertices they are about."""
        row = jnp.arange(room, dtype=jnp.int32)
        new = fits & (row >= begin) & (row < end)
        return new, slots[jnp.clip(row - begin, 0, size - 1)]

    own, member = rows(pool.members, ends[1], order[0], rooms[1])
    out, escape = rows(pool.escapes, ends[2], order[1], rooms[2])
    plan = jnp.where(game.owner == player, state.plan, NO_EDGE)
    new = jnp.where(some & fits, pool.tangles, rooms[0])
    pool = pool._replace(
        player=pool.player.at[new].set(player, mode="drop"),
        owner=jnp.where(own, pool.tangles, pool.owner),
        member=jnp.where(own, member, pool.member),
        move=jnp.where(own, plan[jnp.minimum(member, size - 1)], pool.move),
        leaver=jnp.where(out, pool.tangles, pool.leaver),
        escape=jnp.where(out, escape, pool.escape),
    )
    counts = [
        jnp.where(fits, end, there) for end, there in zip(ends, pool[-3:], strict=True)
    ]
    pool = pool._replace(tangles=counts[0], members=counts[1], escapes=counts[2])
    state = state._replace(
        pool=pool, useful=state.useful | fits, full=state.full | ~fits
    )
    more = jnp.any(state.found != NONE)
    phase = jnp.where(more, RECORD, _go_on(state))
    return state._replace(phase=phase, stable=_is_still(phase))


# ---- what is won -------------------------------------------------------------------


def pull(game: Game, winner, move) -> tuple[jax.Array, jax.Array, jax.Array]:
    """One sweep of the attractors to what both players have won.

    Who can move into what he has won, or must into what his rival has, joins it.

    Returns:
        Winners and moves `[S]`; and whether they are what they were.
    """
    kind = ops.edgewise(
        lambda won, owner: jnp.where(
            won == UNDECIDED, 1, jnp.where(won == owner, 0, 2)
        ),
        ops.target(game, winner),
        ops.source(game, game.owner.astype(jnp.int8)),
    )
    best, position = ops.out_argmin(game, kind, bound=2)
    joins = (winner == UNDECIDED) & (best != 1)
    whose = jnp.where(best == 0, game.owner, ~game.owner).astype(jnp.int8)
    taken = jnp.where(joins & (best == 0), position.astype(move.dtype), move)
    return jnp.where(joins, whose, winner), taken, ~jnp.any(joins)


def _win(game: Game, state: State) -> State:
    winner, move, stable = pull(game, state.winner, state.move)
    return state._replace(winner=winner, move=move, stable=stable)


def _next_pass(game: Game, state: State) -> State:
    """What is undecided is one box."""
    left = state.winner == UNDECIDED
    box = jnp.where(left, jnp.argmax(left), NONE).astype(jnp.int32)
    # A pass finds a dominion or a new tangle; none that does not goes on for ever.
    phase = jnp.where(jnp.any(left), ENTER, DONE).astype(jnp.int32)
    return state._replace(
        box=box,
        home=jnp.full_like(box, NONE),
        found=jnp.full_like(box, NONE),
        useful=jnp.array(False),
        full=state.full | ~state.useful,
        phase=phase,
        stable=_is_still(phase),
    )

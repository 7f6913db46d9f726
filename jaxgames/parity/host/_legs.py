"""The engines of the host in turn, each with a budget of work."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._arranged import part_of, parts_of
from jaxgames.parity.host._attract import WON, Play, Prepared
from jaxgames.parity.host._justified import Claims, begin, justify, new_claims, win
from jaxgames.parity.host._learning import learn
from jaxgames.parity.host._loops import win_loops, win_on
from jaxgames.parity.host._promotion import BLOCK, promote
from jaxgames.parity.host._tangles import (
    FULL,
    SOLVED,
    STUCK,
    Pool,
    Search,
    enlarged,
    new_pool,
    new_search,
)
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.tuning.parity import (
    EDGES_OF_WORK,
    FEW,
    FIRST_SHARES,
    FIRST_UP_TO,
    FIRST_WORK,
    IN_CACHE,
    LATER_MIXED,
    LATER_SHARES,
    LATER_WORK,
    LEAST_ROWS,
    MORE_WORK_FROM,
    OF_JUSTIFIED,
    ROWS,
    TIMES_AFRESH,
    WORK_OF_FEW,
    WORK_OF_MANY,
)

PROMOTION, TANGLES, AFRESH = "promotion", "tangles", "afresh"
JUSTIFIED, MIXED = "justified", "mixed"

LEGS = (PROMOTION, TANGLES, JUSTIFIED, AFRESH, MIXED)
"""The engines, in the order of their turns."""

NO_WORDS, NO_MARKS = np.empty(0, np.int32), np.empty(0, np.bool_)
"""Of promotion that is not to go on after its turn."""

UNLIMITED = 2**30
"""A budget that nobody can spend."""


class Won(NamedTuple):
    """What is won of a game before the engines have their turns.

    Attributes:
        winner: int8 `[V]`, UNDECIDED where it is not won; 0 in the padding. What is won
            attracts nothing more.
        move: int32 `[V]`, edges of the arena where owners win, else NO_EDGE.
        finished: whether that is all.
        stats: as in `Outcome`.
    """

    winner: np.ndarray
    move: np.ndarray
    finished: bool
    stats: dict[str, int]


class Turns:
    """A game that is won by several engines in turn.

    Attributes:
        stats: how many of each thing there were, by name.
    """

    def __init__(
        self,
        game: Prepared,
        winner,
        move,
        stop,
        publish,
        max_steps: int,
        won: Won | None = None,
    ):
        self._game, self._winner, self._move = game, winner, move
        self._stop, self._publish, self._max_steps = stop, publish, max_steps
        # Numpy asks the system for large pages where numba does not.
        self._key = game.key.copy()
        # One array for the stack and the rim: after more and smaller ones the allocator
        # gives its memory back, and each solve pays for touching it again.
        self._words = np.empty(4 * len(game.key) + 4, np.int32)
        self._pool: Pool | None = None
        self._searches: dict[bool, Search] = {}  # whether they are by promotion
        self._clock = np.zeros(1, np.int64)
        # What promotion afresh goes on from, and how many vertices were won then.
        self._kept: tuple[np.ndarray, np.ndarray, int] | None = None
        # The same of justifications.
        self._claims: tuple[Claims, int] | None = None
        names = ("steps", "regions", "promotions", "dominions")
        self.stats: dict[str, int] = dict.fromkeys(names, 0)
        if won is not None:
            self._begin_with(won)
        self._engine, self._tried = "", []
        self._spent = 0  # how much of its budget the last engine has
        self._rest: Iterator[tuple[str, int]] | None = None
        self._parts: list[np.ndarray] = []
        self._part: tuple[Prepared, Turns] | None = None

    def _begin_with(self, won: Won) -> None:
        winner = won.winner[: len(self._key)]
        there = winner != UNDECIDED
        player = winner[there].astype(np.int32)
        self._key[there] = 4 * (WON + player) | (self._key[there] & 1)
        self._move[:] = won.move
        if len(self._publish) > 0:
            self._publish[:] = won.winner
        self.stats.update(won.stats)
        self._max_steps += won.stats["steps"]

    def go_on(self, winner, move, stop, publish, max_steps: int) -> None:
        """Takes other arrays, which get what is won by now, and as many steps more.

        The next to have a turn is the engine that was cut off: with what is won, with
        its tangles, and with all of its budget.
        """
        winner[:], move[:] = self._winner, self._move
        self._winner, self._move = winner, move
        self._stop, self._publish = stop, publish
        self._max_steps = self.stats["steps"] + max_steps
        restore(self._game, self._key)
        # It may have been cut off while it attracted to what it had won.
        self._attract(self._game.order, np.empty(len(self._key), np.int32))
        conclude(self._key, winner, move)

    def take(self, legs: Sequence[str]) -> tuple[bool, dict[str, str]]:
        """Gives the engines their turns.

        Returns:
            Whether all is won, by which `engine`, and what was `tried` before.
        """
        finished = not self._parts and self._in_turns(legs)
        if self._parts:
            finished = self._by_parts(legs)
        said = {"engine": self._engine}
        if self._tried:
            said["tried"] = ", ".join(self._tried)
        return finished, said

    def _in_turns(self, legs: Sequence[str]) -> bool:
        """Whether all is won; if not, the game may have fallen apart."""
        finished, going, again = False, True, False
        rest = turns(legs, len(self._key)) if self._rest is None else self._rest
        while going and not finished:
            leg, budget = next(rest)
            self._engine, won = leg, self._won()
            finished = self._go(leg, budget)
            going = self._stop[0] == 0 and self._left() > 0
            if going and not finished:
                restore(self._game, self._key)
                if leg in (AFRESH, legs[-1]) and leg not in self._tried:
                    # Nearly all have had a turn: most games are won by now.
                    self._parts = parts_of(self._game, self._key)[::-1]
                    if self._parts:
                        self.stats["parts"] = len(self._parts)
                        going = False
                self._try(leg)
                # What is left then is another game, of which its tangles are known.
                again = leg == TANGLES and not again and self._won() > won
                if again:
                    more = [next(rest), (leg, 2 * LATER_WORK)]
                    rest = itertools.chain(more, rest)
            elif not finished:
                # Where it was is kept: the rest of its budget does.
                rest = itertools.chain([(leg, max(budget - self._spent, 1))], rest)
        self._rest = rest
        return finished

    def _try(self, *legs: str) -> None:
        self._tried += [leg for leg in legs if leg not in self._tried]

    def _by_parts(self, legs: Sequence[str]) -> bool:
        """Whether all is won: each part is, once those are that it leads to."""
        most, going = 0, True
        while going and self._parts:
            vertices = self._parts[-1]
            if self._part is None:
                # Others may have been attracted to parts that were won.
                vertices = vertices[self._key[vertices] < 4 * WON]
                self._parts[-1] = vertices
            if len(vertices) > 0:
                finished, steps = self._solve_part(vertices, legs)
                part, inner = self._part or (None, None)
                if inner is not None and steps >= most:
                    most, self._engine = steps, inner._engine
                if inner is not None:
                    self._try(*inner._tried)
                going = finished and self._stop[0] == 0 and self._left() > 0
                if not finished:
                    break
            self._parts.pop()
            self._part = None
        conclude(self._key, self._winner, self._move)
        return not self._parts

    def _solve_part(
        self, vertices: np.ndarray, legs: Sequence[str]
    ) -> tuple[bool, int]:
        """Whether all of the next part is won now, and in how many steps."""
        never = np.zeros(0, np.int8)
        if self._part is None:
            game = part_of(self._game, vertices)
            winner = np.full(len(vertices), UNDECIDED, np.int8)
            move = np.full(len(vertices), NO_EDGE, np.int32)
            turns = Turns(game, winner, move, self._stop, never, self._left())
            self._part = game, turns
        else:
            game, turns = self._part
            winner, move = turns._winner, turns._move
            turns.go_on(winner, move, self._stop, never, self._left())
        before = dict(turns.stats)
        # Promotion afresh has just had a turn on all of it.
        finished, _ = turns.take(sorted(legs, key=AFRESH.__eq__))
        for name, count in turns.stats.items():
            more = count - before.get(name, 0)
            self.stats[name] = self.stats.get(name, 0) + more
        decided = winner != UNDECIDED
        won, player = vertices[decided], winner[decided].astype(np.int32)
        self._key[won] = 4 * (WON + player) | (self._key[won] & 1)
        moves = move != NO_EDGE
        self._move[vertices[moves]] = game.edges[move[moves]]
        self._attract(won, self._words)
        return finished, turns.stats["steps"]

    def _attract(self, vertices: np.ndarray, queue: np.ndarray) -> None:
        """Attracts to what is won of some vertices."""
        some = np.ascontiguousarray(vertices, np.int32)
        win_on(self._game, self._key, self._move, queue, some, self._publish)

    def _work(self, budget: int) -> tuple[int, int]:
        """Steps for a budget: for each vertex and edge that is not won, and these."""
        left = self._key < 4 * WON
        size, edges = int(np.count_nonzero(left)), len(self._game.head)
        if size < len(left):
            edges = int(np.diff(self._game.row_ptr)[left].sum())
        unit = max(size + min(edges, EDGES_OF_WORK * size), 1)
        # Even nothing is to be looked at once.
        return min(max(budget * unit, 1), self._left()), unit

    def _left(self) -> int:
        """How many steps are left."""
        return self._max_steps - self.stats["steps"]

    def _go(self, leg: str, budget: int) -> bool:
        """Gives an engine its turn: whether all is won."""
        if leg in (TANGLES, MIXED):
            return self._learn(budget, leg == MIXED)
        if leg == JUSTIFIED:
            return self._justify(budget)
        return self._promote(leg, budget)

    def _promote(self, leg: str, budget: int) -> bool:
        counts, size = np.zeros(5, np.int64), len(self._key)
        words, marks = NO_WORDS, NO_MARKS
        if leg == AFRESH:
            words, marks = self._regions()
            size = max(size - self._won(), 1)
        finished = _promote(
            *(self._game, self._key, self._words, self._winner, self._move),
            *(words, marks),
            *(leg == AFRESH, self._stop, self._publish),
            *(self._left(), budget * size, counts),
        )
        self._count(("steps", "regions", "promotions", "dominions"), counts[:4])
        self._spent = 0
        if leg == AFRESH:
            self._kept = words, marks, self._won()
            self._spent = int(counts[4]) // size
        return bool(finished)

    def _regions(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of promotion afresh, as they were if nothing was won since."""
        kept, self._kept = self._kept, None
        if kept is not None and kept[2] == self._won():
            return kept[:2]
        size = len(self._key)
        words, marks = room_for(self._game)
        return np.zeros(words + 2 * size, np.int32), np.zeros(marks, np.bool_)

    def _won(self) -> int:
        """How many vertices are won."""
        return int(np.count_nonzero(self._key >= 4 * WON))

    def _learn(self, budget: int, mixed: bool) -> bool:
        game, size = self._game, len(self._key)
        if self._pool is None:
            self._pool = new_pool(size, ROWS * size + LEAST_ROWS)
        if mixed not in self._searches:
            self._searches[mixed] = new_search(size, self._clock)
        search, counts = self._searches[mixed], np.zeros(4, np.int64)
        (limit, unit), end = self._work(budget), FULL
        while end == FULL and counts[0] < limit:
            end = learn(
                *(game, self._key, self._move, search, self._pool),
                *(mixed, self._stop, self._publish, limit - counts[0], counts),
            )
            if end == FULL:
                self._pool = enlarged(self._pool)
        if end == STUCK:
            raise RuntimeError("a pass has found no tangle: please report this game")
        self._count(("steps", "regions", "tangles", "dominions"), counts)
        self._spent = int(counts[0]) // unit
        conclude(self._key, self._winner, self._move)
        return end == SOLVED

    def _justify(self, budget: int) -> bool:
        game, won = self._game, self._won()
        if self._claims is None or self._claims[1] != won:
            top = int(game.key[game.order[0]] >> 2) if len(game.order) else -1
            self._claims = new_claims(len(game.key), top + 1), won
            begin(game, self._key, self._claims[0])
        claims, counts = self._claims[0], np.zeros(2, np.int64)
        limit, unit = self._work(budget)
        finished = justify(game, claims, self._stop, limit, counts)
        self._count(("steps", "withdrawn"), counts)
        self._spent = int(counts[0]) // unit
        if finished:
            win(claims, self._key, self._move, self._publish)
        conclude(self._key, self._winner, self._move)
        return bool(finished)

    def _count(self, names: Sequence[str], counts: np.ndarray) -> None:
        for name, count in zip(names, counts.tolist(), strict=True):
            self.stats[name] = self.stats.get(name, 0) + count


def turns(legs: Sequence[str], size: int) -> Iterator[tuple[str, int]]:
    """The engines in turn, each with a budget, until one of them has none.

    Budgets are for each vertex that is not won, and of tangles and justifications for
    each edge of these, too.
    Promotion has the first turn alone: what it could not do then, it would do again.
    That turn is short where games are small: tangle learning takes little longer on
    those that are not hard, and should see one that is before a small part of it is
    won, which may hide how the rest hangs together. All go on where they were, so short
    turns lose nothing. There each has a turn that is enough for most games of one
    family that it is made for. Games of several together need promotion with tangles,
    and the tangles that are known by then: so it has turns from a later round on, as
    long as those of tangle learning. Justifications come last then: what they
    win, they win soon.

    Args:
        legs: their names.
        size: how many vertices there are.

    Examples:
        >>> import itertools
        >>> list(itertools.islice(turns(LEGS, 10**6), 4))
        [('promotion', 128), ('tangles', 80), ('justified', 1), ('afresh', 16)]
        >>> next(turns(LEGS, 1000))
        ('promotion', 10)
    """
    if len(legs) > 1:
        first = min(FIRST_WORK, WORK_OF_MANY + size // MORE_WORK_FROM)
        yield legs[0], WORK_OF_FEW if size <= FEW else first
        legs = legs[1:]
    turn, later = 0, legs
    if size <= FEW:
        later = sorted(legs, key=JUSTIFIED.__eq__)
    while len(legs) > 1:
        for leg in later if turn > 0 else legs:
            budget = (
                _of_few(leg, turn, size) if size <= FEW else _of_many(leg, turn, size)
            )
            if budget > 0:
                yield leg, budget
        turn += 1
    yield legs[0], UNLIMITED


def _of_few(leg: str, turn: int, size: int) -> int:
    """The budget of an engine in a turn in a small game; turns count from 0."""
    if leg == PROMOTION:  # only where it is not the first
        leg = AFRESH
    shares = FIRST_SHARES if turn == 0 else LATER_SHARES
    share, work = shares[LEGS.index(leg) - 1], LATER_WORK << max(turn - 1, 0)
    if share == 0:
        return 0
    if leg == TANGLES and turn == 0:
        share *= FIRST_UP_TO / max(size, FIRST_UP_TO)
    elif leg in (JUSTIFIED, AFRESH):
        share *= min(size, IN_CACHE) / max(size, 1)
    return max(int(share * work), 1)


def _of_many(leg: str, turn: int, size: int) -> int:
    """The same in a larger one."""
    budget, small = LATER_WORK << turn, min(size, IN_CACHE)
    if leg == MIXED and turn < LATER_MIXED:
        return 0
    if leg in (TANGLES, MIXED):
        return max(budget * 5 // 8, 1)
    if leg == JUSTIFIED:
        return max(budget * small // size // OF_JUSTIFIED, 1)
    return max(TIMES_AFRESH * budget * small // size, budget // 8, 1)


@compiled
def _promote(
    game, key, queue, winner, move, words, marks, afresh, stop, publish, max_steps,
    budget, counts,
):  # fmt: skip
    """Fills winners and moves by promotion; whether it came to an end.

    Args:
        game: the game.
        key: which gets regions.
        queue: int32 `[4 V + 4]`: for the stack and its rim.
        winner: which gets winners.
        move: which gets moves.
        words: int32, what is kept from one turn to the next: zeros, if there was none;
            empty, if there will be none.
        marks: bool, the same.
        afresh: see `promote`, as for what follows.
        stop: may be set to end it.
        publish: gets winners.
        max_steps: attracted vertices at most.
        budget: work at most.
        counts: what has been done.
    """
    size = len(key)
    many, more = room_for(game)
    keeps = len(words) > 0
    if not keeps:
        words, marks = np.zeros(many, np.int32), np.zeros(more, np.bool_)
    place, regions, moves = words[:4], words[many : many + size], words[many + size :]
    depth = (many - 4 - size) // 5
    levels = words[4 + size : many]
    play = Play(
        key,
        move,
        words[4 : 4 + size],
        queue[: 2 * size],
        marks[size:],
        marks[:size],
        queue[2 * size :],
        levels[:depth],
        levels[depth : 2 * depth],
        levels[2 * depth : 3 * depth],
        levels[3 * depth : 4 * depth],
        levels[4 * depth :],
    )
    going = True
    if place[3] == 0:
        going = win_loops(game, play, stop, publish, max_steps, counts)
        place[3] = going
    else:
        for v in range(size):
            key[v], move[v] = regions[v], moves[v]
    if going:
        going = promote(
            game, play, place, afresh, stop, publish, max_steps, budget, counts
        )
    if keeps:
        for v in range(size):
            regions[v], moves[v] = key[v], move[v]
    conclude(key, winner, move)
    return going


@compiled
def room_for(game):
    """How many words and marks promotion needs, besides what it is given."""
    size, depth = len(game.key), 1
    if size > 0:
        depth = (game.key[game.order[0]] >> 2) + 2
    return 4 + size + 5 * depth, size + size // BLOCK + 1


@compiled
def conclude(key, winner, move):
    """Fills winners and moves of what is won."""
    for v in range(len(key)):
        player = (key[v] >> 2) - WON
        winner[v] = player if player >= 0 else UNDECIDED
        if player != key[v] & 1:
            move[v] = NO_EDGE


@compiled
def restore(game, key):
    """Takes the regions of an engine away that has spent its budget."""
    first = game.key
    for v in range(len(key)):
        if key[v] < 4 * WON:
            key[v] = first[v]

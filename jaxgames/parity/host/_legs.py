"""The engines of the host in turn, one or two at a time, with budgets of work."""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jaxgames.host import Aside, compiled
from jaxgames.parity.host._arranged import part_of, parts_of
from jaxgames.parity.host._attract import NO_LIMIT, WON, Play, Prepared
from jaxgames.parity.host._justified import (
    Claims,
    begin,
    justify,
    new_claims,
    settle,
    win,
)
from jaxgames.parity.host._learning import learn
from jaxgames.parity.host._loops import win_loops, win_on
from jaxgames.parity.host._promotion import BLOCK, promote
from jaxgames.parity.host._tangles import (
    FULL,
    SOLVED,
    STUCK,
    Pool,
    Search,
    copied,
    enlarged,
    new_pool,
    new_search,
    take_in,
)
from jaxgames.parity.host._zielonka import Recursion, keep, new_recursion, recurse
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.tuning.parity import (
    BEFORE_RECURSION,
    BESIDE_FROM,
    EDGES_OF_A_VERTEX,
    EDGES_OF_WORK,
    FEW,
    FIRST_SHARES,
    FIRST_TANGLES,
    FIRST_UP_TO,
    FIRST_WORK,
    IN_CACHE,
    LATER_MIXED,
    LATER_SHARES,
    LATER_WORK,
    LEAST_ROWS,
    LEAST_TURN,
    LONGER,
    MORE_WORK_FROM,
    OF_JUSTIFIED,
    ROWS,
    TAKEN_OVER,
    TIMES_AFRESH,
    TURNS_GROW,
    WORK_BESIDE,
    WORK_OF_FEW,
    WORK_OF_MANY,
    WORK_OF_RECURSION,
)

PROMOTION, TANGLES, ZIELONKA = "promotion", "tangles", "zielonka"
JUSTIFIED, AFRESH, MIXED = "justified", "afresh", "mixed"

LEGS = (PROMOTION, TANGLES, ZIELONKA, JUSTIFIED, AFRESH, MIXED)
"""The engines, in the order of their turns."""

SECONDS = (JUSTIFIED, PROMOTION, AFRESH, MIXED)
"""Those that work beside tangle learning."""

BESIDE: dict[str, float] = dict(zip(SECONDS, WORK_BESIDE, strict=True))

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


class Regions(NamedTuple):
    """What promotion goes on from.

    Attributes:
        queue: int32 `[4 V + 4]`: the stack and its rim.
        words: int32, see `_promote`; empty where it is not to go on.
        marks: bool, the same.
    """

    queue: np.ndarray
    words: np.ndarray
    marks: np.ndarray


class Turn(NamedTuple):
    """One or two engines that have a turn.

    Attributes:
        leg: the name of an engine.
        budget: its work.
        other: that of one that works beside it, or None.
        more: the work of that one.
        last: whether that one, or the only one, has no more in this round.
    """

    leg: str
    budget: int
    other: str | None = None
    more: int = 0
    last: bool = True

    @property
    def legs(self) -> list[str]:
        """The names of all."""
        return [self.leg] if self.other is None else [self.leg, self.other]


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
        # What promotion goes on from, and how many vertices were won then.
        self._kept: dict[str, tuple[Regions, int]] = {}
        self._is_second = False  # whether it works beside another one
        # The same of justifications, and of the recursion.
        self._claims: tuple[Claims, int] | None = None
        self._recursion: tuple[Recursion, int] | None = None
        names = ("steps", "regions", "promotions", "dominions")
        self.stats: dict[str, int] = dict.fromkeys(names, 0)
        if won is not None:
            self._begin_with(won)
        self._engine, self._tried = "", []
        self._spent = 0  # how much of its budget the last engine has
        self._rest: Iterator[Turn] | None = None
        self._second: Turns | None = None  # the engines that work beside those
        # How many tangles these knew, and how many vertices were won then.
        self._told = 0, 0
        # After whose turns it was looked whether the game has fallen apart.
        self._looked: set[str] = set()
        self._apart_after = ""  # after whose turn it has
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
        finished, going = False, True
        rest = turns(legs, len(self._key)) if self._rest is None else self._rest
        while going and not finished:
            turn = next(rest)
            finished, left = self._have(turn)
            going = self._stop[0] == 0 and self._left() > 0
            if going and not finished:
                restore(self._game, self._key)
                spent = turn.other or turn.leg
                if turn.last and spent in {JUSTIFIED, AFRESH, legs[-1]} - self._looked:
                    # Tangle learning has had its turn, too: most games are won by now.
                    self._looked.add(spent)
                    self._parts = parts_of(self._game, self._key)[::-1]
                    if self._parts:
                        self._apart_after = spent
                        self.stats["parts"] = len(self._parts)
                        going = False
                self._try(*turn.legs)
            elif not finished:
                # Where it was is kept: the rest of its budget does.
                rest = itertools.chain([left], rest)
        self._rest = rest
        return finished

    def _have(self, turn: "Turn") -> tuple[bool, "Turn"]:
        """Has a turn: whether all is won, and what is left of it.

        Where two engines have it, neither knows of the other until both have spent
        their budgets; but the second one is stopped once the first one has won all.
        So what is won, and in how many steps, is the same on any number of threads.
        """
        self._engine = turn.leg
        if turn.other is None:
            if self._go(turn.leg, turn.budget):
                return True, turn
            return False, turn._replace(budget=max(turn.budget - self._spent, 1))
        second = self._followed(turn)
        aside = Aside(functools.partial(second._go, turn.other, turn.more))
        if turn.more * len(self._key) >= BESIDE_FROM:
            aside.begin()

        stop = second._stop

        def tell():
            if self._stop[0] != 0:
                stop[0] = 1

        try:
            finished = self._go(turn.leg, turn.budget)
            tell()
            if not finished and aside.take_back():
                second._stop = self._stop
                others = second._go(turn.other, turn.more)
            else:
                others = not finished and aside.result(tell)
            if others:
                finished, self._engine = True, turn.other
                self._try(turn.leg)
        finally:
            stop[0] = 1
            aside.take_back()
        if not finished or self._engine == turn.other:
            self._join(second, turn.other == MIXED)
        spent, more = self._spent, second._spent
        return finished, turn._replace(
            budget=max(turn.budget - spent, 1), more=max(turn.more - more, 1)
        )

    def _followed(self, turn: "Turn") -> "Turns":
        """The second engine of a turn and its kin, which know what is won by now.

        Promotion with tangles knows those that there are by now.
        """
        steps = max(self._left() - self._work(turn.budget)[0], 0)
        stop, second = np.zeros(1, np.int8), self._second
        if second is None:
            arrays = np.empty_like(self._winner), np.empty_like(self._move)
            never = np.zeros(0, np.int8)
            second = Turns(self._game, *arrays, stop, never, steps)
            second._is_second = True
            self._second = second
        second._key[:], second._move[:] = self._key, self._move
        second._stop, second._max_steps = stop, steps
        second.stats = dict.fromkeys(second.stats, 0)
        if turn.other == MIXED and self._pool is not None:
            second._pool = copied(self._pool, second._pool)
            self._told = int(self._pool.many[0]), self._won()
        return second

    def _join(self, second: "Turns", learned: bool = False) -> None:
        """Takes over what the second engine of a turn has won, and maybe `learned`."""
        self._count(second.stats, second.stats.values())
        own, key = self._key, second._key
        theirs = np.flatnonzero((key >= 4 * WON) & (own < 4 * WON))
        if learned and len(theirs) == 0:
            self._learn_from(second)
        if len(theirs) > 0:
            own[theirs], self._move[theirs] = key[theirs], second._move[theirs]
            # Together they may attract more. That publishes what is won, too.
            self._attract(self._game.order, np.empty(len(own), np.int32))
            conclude(own, self._winner, self._move)

    def _learn_from(self, second: "Turns") -> None:
        """Takes the tangles over that promotion has learned beside tangle learning.

        Not where it has learned many more than that: each of them is to be looked at
        from now on.
        """
        own, pool, (known, won) = self._pool, second._pool, self._told
        if own is None or pool is None or self._won() != won:
            return  # some of the tangles may be gone
        both = int(pool.many[0]) - known, int(own.many[0]) - known
        if both[0] <= TAKEN_OVER * both[1]:
            while not take_in(own, pool, known):
                own = self._pool = enlarged(own)

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
        # This one has just had a turn on all of it.
        legs = sorted(legs, key=self._apart_after.__eq__)
        if self._part is None:
            game = part_of(self._game, vertices)
            winner = np.full(len(vertices), UNDECIDED, np.int8)
            move = np.full(len(vertices), NO_EDGE, np.int32)
            inner = Turns(game, winner, move, self._stop, never, self._left())
            # So has tangle learning, and alone.
            inner._rest = turns(legs, len(vertices), alone=False)
            self._part = game, inner
        else:
            game, inner = self._part
            winner, move = inner._winner, inner._move
            inner.go_on(winner, move, self._stop, never, self._left())
        before = dict(inner.stats)
        finished, _ = inner.take(legs)
        for name, count in inner.stats.items():
            more = count - before.get(name, 0)
            self.stats[name] = self.stats.get(name, 0) + more
        decided = winner != UNDECIDED
        won, player = vertices[decided], winner[decided].astype(np.int32)
        self._key[won] = 4 * (WON + player) | (self._key[won] & 1)
        moves = move != NO_EDGE
        self._move[vertices[moves]] = game.edges[move[moves]]
        self._attract(won, self._words)
        return finished, inner.stats["steps"]

    def _attract(self, vertices: np.ndarray, queue: np.ndarray) -> None:
        """Attracts to what is won of some vertices."""
        some = np.ascontiguousarray(vertices, np.int32)
        win_on(self._game, self._key, self._move, queue, some, self._publish)

    def _work(self, budget: int, *, dense: bool = False) -> tuple[int, int]:
        """Steps for a budget: for each vertex and edge that is not won, and these.

        Not for all edges of a game that is dense, unless they are asked for.
        """
        left = self._key < 4 * WON
        size, edges = int(np.count_nonzero(left)), len(self._game.head)
        if size < len(left):
            edges = int(np.diff(self._game.row_ptr)[left].sum())
        if not dense:
            edges = min(edges, EDGES_OF_WORK * size)
        unit = max(size + edges, 1)
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
        if leg == ZIELONKA:
            return self._recurse(budget)
        return self._promote(leg, budget)

    def _promote(self, leg: str, budget: int) -> bool:
        counts, unit = np.zeros(5, np.int64), len(self._key)
        regions = Regions(self._words, NO_WORDS, NO_MARKS)
        keeps, steps = leg == AFRESH or self._is_second, self._left()
        if keeps:
            regions = self._regions(leg)
            unit = max(unit - self._won(), 1)
        else:
            unit = max(unit, len(self._game.head) // EDGES_OF_A_VERTEX)
        work = budget * unit
        if keeps and leg == PROMOTION:
            # It is as it was where a budget ends it, but not within an attractor.
            work, steps = min(work, steps), NO_LIMIT
        finished = _promote(
            *(self._game, self._key, regions.queue, self._winner, self._move),
            *(regions.words, regions.marks),
            *(leg == AFRESH, self._stop, self._publish),
            *(steps, work, counts),
        )
        names = ("steps", "regions", "promotions", "dominions")
        self._count(names, counts[:4].tolist())
        self._spent = 0
        if keeps:
            self._spent = int(counts[4]) // unit
            if leg == AFRESH or self._stop[0] == 0:
                self._kept[leg] = regions, self._won()
        return bool(finished)

    def _regions(self, leg: str) -> "Regions":
        """Those of promotion, as they were if nothing was won since."""
        kept = self._kept.pop(leg, None)
        if kept is not None and kept[1] == self._won():
            return kept[0]
        size = len(self._key)
        words, marks = room_for(self._game)
        return Regions(
            np.empty_like(self._words),
            np.zeros(words + 2 * size, np.int32),
            np.zeros(marks, np.bool_),
        )

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
        counts = np.zeros(2, np.int64)
        if self._claims is None:
            top = int(game.key[game.order[0]] >> 2) if len(game.order) else -1
            self._claims = new_claims(len(game.key), top + 1), won
            begin(game, self._key, self._claims[0])
        elif self._claims[1] != won:
            self._claims = self._claims[0], won
            settle(game, self._key, self._claims[0], counts)
        claims = self._claims[0]
        limit, unit = self._work(budget)
        finished = justify(game, claims, self._stop, limit, counts)
        self._count(("steps", "withdrawn"), counts)
        self._spent = int(counts[0]) // unit
        if finished:
            win(claims, self._key, self._move, self._publish)
        conclude(self._key, self._winner, self._move)
        return bool(finished)

    def _recurse(self, budget: int) -> bool:
        game, won, counts = self._game, self._won(), np.zeros(2, np.int64)
        if self._recursion is None:
            top = int(game.key[game.order[0]] >> 2) if len(game.order) else -1
            self._recursion = new_recursion(len(game.key), top + 1), won
        recursion, before = self._recursion
        if before != won:
            recursion.place[0] = 0  # it begins again with what is left
        limit, unit = self._work(budget, dense=True)
        finished = recurse(game, self._key, recursion, self._stop, limit, counts)
        self._count(("steps", "regions"), counts)
        self._spent = int(counts[0]) // unit
        keep(recursion, self._key, self._move, self._publish)
        self._recursion = recursion, self._won()
        conclude(self._key, self._winner, self._move)
        return bool(finished)

    def _count(self, names: Iterable[str], counts: Iterable[int]) -> None:
        for name, count in zip(names, map(int, counts), strict=True):
            self.stats[name] = self.stats.get(name, 0) + count


def turns(legs: Sequence[str], size: int, *, alone: bool = True) -> Iterator[Turn]:
    """The engines in turn, each with a budget, until one of them has none.

    Budgets are for each vertex that is not won, and of tangles and justifications for
    each edge of these, too.
    Promotion has the first turn alone: what it could not do then, it would do again.
    That turn is short where games are small: tangle learning takes little longer on
    those that are not hard, and should see one that is before a small part of it is
    won, which may hide how the rest hangs together. So promotion has more turns there.
    Tangle learning comes next, alone as long as that takes no more than milliseconds.
    Early in it the recursion has its only turn, in which it may look at each edge a few
    times: it wins at once what has many levels and little to be solved again.
    From then on it has all turns, and beside it the others have one after the other;
    for longer than tangle learning where games are small. All go on where they were, so
    short turns lose nothing, and none has to wait long for another one that has the
    same turn: these are an eighth of what has gone before. There each gets in its first
    turns what is enough for most games of one family that it is made for.
    Games of several together need promotion with tangles, and the tangles that are
    known by then: so it has turns from a later round on.

    Args:
        legs: their names.
        size: how many vertices there are.
        alone: whether tangle learning has a turn alone; not if it has just had one.

    Examples:
        >>> import itertools
        >>> for turn in itertools.islice(turns(LEGS, 10**6), 6):
        ...     print(*turn[:4])
        promotion 128 None 0
        tangles 20 None 0
        zielonka 3 None 0
        tangles 60 None 0
        tangles 1 justified 1
        tangles 5 afresh 16
        >>> next(turns(LEGS, 1000))
        Turn(leg='promotion', budget=10, other=None, more=0, last=True)
    """
    first, *rest = legs
    if rest:
        work = min(FIRST_WORK, WORK_OF_MANY + size // MORE_WORK_FROM)
        yield Turn(first, WORK_OF_FEW if size <= FEW else work)
        legs = rest
    recursion = [Turn(ZIELONKA, WORK_OF_RECURSION)]
    if ZIELONKA in legs and len(legs) > 1:
        legs = [leg for leg in legs if leg != ZIELONKA]
    else:
        recursion = []
    main = TANGLES if TANGLES in legs else legs[0]
    others = [leg for leg in legs if leg != main]
    if rest and main == TANGLES and size <= FEW:
        others.insert(others.index(AFRESH) if AFRESH in others else 0, first)
    done = 0
    if main == TANGLES and alone and (others or recursion):
        done = _first_of_tangles(size)
        early = max(int(done * BEFORE_RECURSION), 1)
        yield Turn(main, early)
        yield from recursion
        if done > early:
            yield Turn(main, done - early)
    else:
        yield from recursion
    if not others:
        yield Turn(main, UNLIMITED)
    few = size <= FEW
    for turn in itertools.count():
        for other in others:
            left = _of_few(other, turn) if few else _of_many(other, turn, size)
            beside = BESIDE.get(other, 1) / BESIDE.get(main, 1)
            beside *= LONGER if few else 1
            while left > 0:
                most = max(LEAST_TURN // max(size, 1), done // TURNS_GROW, 1)
                more = min(max(int(most * beside), 1), left)
                if 2 * left < 3 * more:
                    more = left
                part = max(int(more / beside), 1)
                yield Turn(main, part, other, more, more == left)
                done += part
                left -= more


def _first_of_tangles(size: int) -> int:
    """The budget of tangle learning alone."""
    if size > FEW:
        return LATER_WORK * 5 // 8
    return max(int(FIRST_TANGLES * min(1, FIRST_UP_TO / max(size, 1))), 1)


def _of_few(leg: str, turn: int) -> int:
    """The budget of an engine in a round in a small game; they count from 0."""
    share = (FIRST_SHARES if turn == 0 else LATER_SHARES)[SECONDS.index(leg)]
    return int(share * (LATER_WORK << max(turn - 1, 0)))


def _of_many(leg: str, turn: int, size: int) -> int:
    """The same in a larger one."""
    budget, small = LATER_WORK << turn, min(size, IN_CACHE)
    if leg == MIXED and turn < LATER_MIXED:
        return 0
    if leg == MIXED:
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
        words: int32, what is kept from one turn to the next, beside the queue: zeros,
            if there was none; empty, if there will be none.
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

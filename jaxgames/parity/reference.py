"""Textbook algorithms for parity games, one vertex at a time.

Zielonka's recursion, small progress measures and a verifier: to read, to test against,
and to use. Where numba is installed (`pip install jaxgames[host]`) the same source
compiles to a fast engine for one core.
"""

import dataclasses
import heapq
from typing import Literal, NamedTuple, get_args

import numpy as np

from jaxgames.arena import Arena
from jaxgames.host import compiled
from jaxgames.parity._solution import Solution
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status

Algorithm = Literal["zielonka", "spm"]
Lifting = Literal["queue", "stack", "random"]

NO_LIMIT = 2**62


def solve(
    arena: Arena,
    algorithm: Algorithm = "zielonka",
    *,
    lifting: Lifting = "queue",
    single_occurrence: bool = True,
    seed: int = 0,
    max_steps: int | None = None,
) -> Solution:
    """Decides who wins a parity game from each vertex, and how, on the host.

    `"zielonka"` is the recursion of [1], its attractors by counting successors. It is
    the one to use: nearly linear on most games, exponential in the number of priorities
    at worst, in O(V + E) memory.

    `"spm"` lifts the small progress measures of [2] one vertex at a time: those for
    player 0 on the whole game, then those for player 1 on what he wins. Each time a
    measure rises, the vertices with an edge to it enter a work list, ordered by a
    lifting strategy of [3]. O(d E (V/d)^(d/2)) time for d priorities, O(d V) memory.

    Args:
        arena: a game with vertex priorities; every vertex has a successor.
        algorithm: `"zielonka"` or `"spm"`.
        lifting: which vertex of the work list `"spm"` lifts next: that which came first
            (`"queue"`), that which came last (`"stack"`), or that which drew the
            smallest number when it came (`"random"`).
        single_occurrence: whether a vertex is in the work list at most once. One that
            comes again while it waits moves to the top of a stack, and stays where it
            is in a queue or a random order.
        seed: of the random numbers.
        max_steps: attracted vertices (`"zielonka"`) or lifts (`"spm"`) at most. None:
            no limit.

    Returns:
        Winners and strategies of both players. With `Status.MAX_STEPS` no vertex is
        decided. `stats` has `steps`; of the recursion also its `depth` and the number
        of `subgames`, of the work list the number of `pops`.

    Raises:
        ValueError: the arena is no such game, or an argument is wrong.

    References:
        [1] Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
        [2] Jurdziński, Small progress measures for solving parity games, STACS 2000,
        doi:10.1007/3-540-46541-3_24.
        [3] Bootsma, Speeding up the small progress measures algorithm for parity games
        using the GPU, master's thesis, TU Eindhoven, section 4.2.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2]
        ... )
        >>> solve(arena).successor(arena)
        array([ 2, -1, -1], dtype=int32)
    """
    for name, value, choices in (
        ("algorithm", algorithm, get_args(Algorithm)),
        ("lifting", lifting, get_args(Lifting)),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    if max_steps is not None and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    limit = NO_LIMIT if max_steps is None else max_steps
    game = _game(arena)
    if algorithm == "zielonka":
        winner, strategy, stats = _solve_zielonka(game, limit)
    else:
        order = get_args(Lifting).index(lifting)
        winner, strategy, stats = _solve_spm(
            game, order, single_occurrence, seed, limit
        )
    solved = not np.any(winner == UNDECIDED)
    padding = arena.shape[0] - len(winner)
    return Solution(
        winner=np.concatenate([winner, np.zeros(padding, np.int8)]),
        strategy=np.concatenate([strategy, np.full(padding, NO_EDGE, np.int32)]),
        status=Status.SOLVED if solved else Status.MAX_STEPS,
        stats=Stats(solver=f"reference.{algorithm}", **stats),
    )


def verify(arena: Arena, solution: Solution) -> Verdict:
    """Checks winners and strategies of a parity game on the host, trusting nothing.

    Every vertex must be decided; a winner's strategy must take an edge of the vertex
    that stays in his region; the loser must have no edge out of it, and no strategy
    there. When the winners' strategies are fixed, no cycle that is left may be won by
    the other player: a vertex with his parity must not lie on a cycle on which nothing
    is more important. Divide and conquer over the priorities [1] finds these cycles in
    O(E log d) time for d priorities, O(V + E) memory.

    Args:
        arena: a game with vertex priorities; every vertex has a successor.
        solution: winners and strategies of the arena's length; those of the padding
            do not matter.

    Returns:
        True if all is right, else the first of the reasons and the first vertex where
        it shows: [`Verdict`][jaxgames.parity.Verdict].

    Raises:
        ValueError: the arena is no such game, or the solution is not of its shape.

    References:
        [1] King, Kupferman and Vardi, On the complexity of parity word automata,
        FoSSaCS 2001, doi:10.1007/3-540-45315-6_18.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[1, 2]
        ... )
        >>> solution = solve(arena)
        >>> print(verify(arena, solution))
        valid
        >>> solution.strategy[0] = 0  # stays at vertex 0 for ever
        >>> print(verify(arena, solution))
        vertex 0: the other player wins a cycle through it ...
    """
    for name, array in (("winner", solution.winner), ("strategy", solution.strategy)):
        if np.shape(array) != arena.owner.shape:
            raise ValueError(
                f"solution.{name} must have the arena's shape {arena.owner.shape}, "
                f"got {np.shape(array)}"
            )
        if np.asarray(array).dtype.kind not in "iu":
            raise ValueError(
                f"solution.{name} must hold integers, got {np.asarray(array).dtype}"
            )
    game = _normal_form(arena)
    src, dst, priority = game.src, game.dst, game.priority
    size = len(game.owner)
    winner = np.asarray(solution.winner)[:size]
    strategy = np.asarray(solution.strategy)[:size]

    decided = (winner == 0) | (winner == 1)
    wins = winner == game.owner
    moves = strategy != NO_EDGE
    along_edge = (strategy >= game.row_ptr[:-1]) & (strategy < game.row_ptr[1:])
    kept = ~wins[src] | (strategy[src] == np.arange(len(src)))
    leaves = np.zeros(size, bool)
    leaves[src[kept & (winner[src] != winner[dst])]] = True
    for reason, where in (
        (Reason.UNDECIDED, ~decided),
        (Reason.STRATEGY_MISSING, wins & ~moves),
        (Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX, wins & ~along_edge),
        (Reason.STRATEGY_OF_LOSER, ~wins & moves),
        (Reason.STRATEGY_LEAVES_REGION, wins & leaves),
        (Reason.OPPONENT_ESCAPES, ~wins & leaves),
    ):
        if where.any():
            return Verdict.at(reason, int(np.argmax(where)))

    tail, head = src[kept], dst[kept]
    least = _cycle_priorities(tail.copy(), head, priority)
    lost = (least == priority[tail]) & (least % 2 != winner[tail])
    if lost.any():
        return Verdict.at(Reason.CYCLE_WON_BY_OPPONENT, int(tail[np.argmax(lost)]))
    return Verdict.at(Reason.OK)


# ---- the game ----------------------------------------------------------------


class _Game(NamedTuple):
    """The real part of an arena, and its edges by their targets.

    The edges into `v` are `in_edge[k]`, from `in_src[k]`, for `in_ptr[v] <= k <
    in_ptr[v + 1]`.
    """

    row_ptr: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    owner: np.ndarray
    priority: np.ndarray
    in_ptr: np.ndarray
    in_edge: np.ndarray
    in_src: np.ndarray


def _game(arena: Arena) -> _Game:
    arena = _normal_form(arena)
    in_ptr, in_edge = _sort(arena.dst, len(arena.owner))
    return _Game(
        arena.row_ptr,
        arena.src,
        arena.dst,
        arena.owner,
        arena.priority,
        in_ptr,
        in_edge,
        arena.src[in_edge],
    )


def _normal_form(arena: Arena) -> Arena:
    """The real part of an arena, checked, as numpy arrays, priorities compressed."""
    if arena.priority is None:
        raise ValueError("parity games need vertex priorities: arena.priority is None")
    if arena.edge_priority is not None:
        raise ValueError(
            "the reference reads vertex priorities only: arena.edge_priority must be "
            "None"
        )
    if arena.owner.ndim != 1:
        raise ValueError(
            "the reference takes one game at a time, not a batch: arena.owner has "
            f"shape {arena.owner.shape}"
        )
    arena = arena.unpad()
    row_ptr, src, dst, owner, priority = (
        np.require(x, requirements=("C", "W"))
        for x in (arena.row_ptr, arena.src, arena.dst, arena.owner, arena.priority)
    )
    dead = np.diff(row_ptr) == 0
    if dead.any():
        raise ValueError(f"vertex {np.argmax(dead)} has no successor: games are total")
    return dataclasses.replace(
        arena,
        row_ptr=row_ptr,
        src=src,
        dst=dst,
        owner=owner,
        priority=_compress(priority),
    )


def _compress(priority: np.ndarray) -> np.ndarray:
    """Numbers priorities from 0 or 1 on: neighbours of one parity become the same."""
    values, index = np.unique(priority, return_inverse=True)
    if len(values) == 0:
        return priority
    turns = np.cumsum(np.diff(values) % 2, dtype=np.int32)
    return np.insert(turns, 0, 0)[index] + values[0] % 2


@compiled
def _sort(keys, bound):
    """Where each key `0 .. bound - 1` starts, and indices in order of their keys."""
    start = np.zeros(bound + 1, np.int32)
    for key in keys:
        start[key + 1] += 1
    for key in range(bound):
        start[key + 1] += start[key]
    free = start.copy()
    order = np.empty(len(keys), np.int32)
    for index, key in enumerate(keys):
        order[free[key]] = index
        free[key] += 1
    return start, order


# ---- Zielonka ----------------------------------------------------------------

IN_PLAY = 2**62
"""Number of subgame of the vertices that no attractor has taken yet."""

QUEUED = -2
"""Winner of a vertex that was attracted, and waits to attract others."""

UNCOUNTED = -1
"""Number of exits that is not known."""

NOBODY = -1
"""An empty list of vertices."""


class _Play(NamedTuple):
    """What the recursion knows of each vertex.

    Subgames are numbered as they are met: those inside one have larger numbers. A
    vertex is in play until the attractor of a subgame takes it. While subgame `n` is
    solved, its vertices are those taken by it or by a later one, or still in play.
    """

    winner: np.ndarray  # int8: in the subgame that took it; UNDECIDED in play
    taken: np.ndarray  # int64: number of the subgame that took it; IN_PLAY in play
    move: np.ndarray  # int32: edge that its owner takes if he wins it
    exits: np.ndarray  # int32: how many of its edges avoid the attractor
    queue: np.ndarray  # int32: the attractors of all levels, then the one that grows


def _solve_zielonka(game: _Game, max_steps: int):
    top = int(game.priority.max(initial=0))
    by_priority = _sort(top - game.priority, top + 1)[1]
    winner, move, *counts = _zielonka(game, by_priority, top + 1, max_steps)
    strategy = np.where(winner == game.owner, move, NO_EDGE).astype(np.int32)
    names = ("steps", "depth", "subgames")
    return winner, strategy, dict(zip(names, map(int, counts), strict=True))


@compiled
def _zielonka(game, by_priority, max_depth, max_steps):
    """Winners and moves; and how many steps, levels and subgames it took.

    The head of a subgame are its vertices more important than all of the other parity.
    The player who likes them attracts to the head, and the rest is solved, one level
    deeper. From what his rival wins there, the rival attracts. If nothing new comes,
    the player wins all else. Otherwise the rival keeps what came, and what is left is a
    new subgame of the same level.
    """
    size = len(by_priority)
    play = _Play(
        np.full(size, UNDECIDED, np.int8),
        np.full(size, IN_PLAY, np.int64),
        np.full(size, NO_EDGE, np.int32),
        game.row_ptr[1:] - game.row_ptr[:-1],
        np.empty(2 * size, np.int32),
    )
    rank = np.empty(size, np.int32)
    rank[by_priority] = np.arange(size)
    # The most important first: todo[at:todo_end] holds all that is in play, and others.
    todo, at, todo_end = by_priority.copy(), np.int64(0), size
    # Of each level: its subgame, who attracts to the head, and where in the queue.
    number, attracts = np.zeros(max_depth, np.int64), np.zeros(max_depth, np.int64)
    begin, end = np.zeros(max_depth, np.int64), np.zeros(max_depth, np.int64)
    # Of each level and player: the last of a list of what he has won there for good.
    won = np.full((max_depth + 1, 2), NOBODY, np.int64)
    link = np.empty(size, np.int32)

    # Numba would take a plain 0 for a type of its own, and compile for it too.
    level = free = steps = depth = subgames = np.int64(0)
    solved = False
    while level > 0 or not solved:
        if not solved:
            at, stop = _head(game, play, todo, at, todo_end, free)
            if stop == free:
                solved = True
                continue
            subgames += 1
            number[level] = subgames
            attracts[level] = game.priority[play.queue[free]] % 2
            player, prey = attracts[level], np.int64(UNDECIDED)
            done, stop = _attract(
                game, play, subgames, player, prey, free, stop, max_steps - steps
            )
            steps += done - free
            begin[level], end[level] = free, stop
            free = stop
            level += 1
            depth = max(depth, level)
            won[level, 0] = won[level, 1] = NOBODY
        else:
            level -= 1
            start, free, subgame = begin[level], end[level], number[level]
            player, rival = attracts[level], 1 - attracts[level]
            mine, lost = won[level + 1, player], won[level + 1, rival]
            stop = _escapes(game, play, player, start, free, lost != NOBODY)
            done, stop = _attract(
                game, play, subgame, rival, player, free, stop, max_steps - steps
            )
            steps += done - free
            mine = _join(link, mine, _list(link, play.queue[start:free]))
            if stop == free:
                won[level, player] = _join(link, won[level, player], mine)
            else:
                todo_end = _put_back(play, link, mine, player, todo)
                _sort_by_priority(game, todo[:todo_end], by_priority, rank)
                at = np.int64(0)
                solved = todo_end == 0
                lost = _join(link, lost, _list(link, play.queue[free:stop]))
            won[level, rival] = _join(link, won[level, rival], lost)
            free = start
        if done < stop:
            play.winner[:] = UNDECIDED
            break
    return play.winner, play.move, steps, depth, subgames


@compiled
def _head(game, play, todo, at, todo_end, free):
    """Queues the head of what is in play; where `todo` goes on, and the queue ends."""
    stop = free
    while at < todo_end:
        v = todo[at]
        if play.winner[v] == UNDECIDED:
            if stop > free and (game.priority[v] - game.priority[play.queue[free]]) % 2:
                break
            play.move[v] = NO_EDGE
            play.winner[v] = QUEUED
            play.queue[stop] = v
            stop += 1
        at += 1
    return at, stop


@compiled
def _attract(game, play, subgame, player, prey, begin, end, max_steps):
    """Attracts to queue[begin:end], at most `max_steps` steps.

    From the vertices of the subgame whose winner is `prey`, those join from which the
    player can, or his rival must, move to the attractor. Returns how far the queue was
    worked off, and its end.
    """
    stop = begin + min(max_steps, len(play.queue))
    while begin < end and begin < stop:
        v = play.queue[begin]
        for k in range(game.in_ptr[v], game.in_ptr[v + 1]):
            u = game.in_src[k]
            if play.winner[u] != prey or play.taken[u] < subgame:
                continue
            if game.owner[u] == player:
                play.move[u] = game.in_edge[k]
            else:
                if play.exits[u] == UNCOUNTED:
                    play.exits[u] = _count_exits(game, play, prey, u)
                play.exits[u] -= 1
                if play.exits[u] > 0:
                    continue
            play.winner[u] = QUEUED
            play.queue[end] = u
            end += 1
        # Not earlier: a count of exits includes all edges to v, which then come off.
        play.winner[v] = player
        play.taken[v] = subgame
        play.exits[v] = UNCOUNTED
        begin += 1
    return begin, end


@compiled
def _count_exits(game, play, prey, v):
    """How many edges of v lead to the prey, or to what was attracted and waits.

    All these stay in the subgame: an edge to what the owner of v wins outside of it
    would have brought v there, too.
    """
    count = 0
    for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
        winner = play.winner[game.dst[e]]
        if winner in (prey, QUEUED):
            count += 1
    return count


@compiled
def _escapes(game, play, player, begin, end, lost):
    """Queues what leaves the attractor queue[begin:end] for what the rival won.

    `lost` says whether he won anything. Vertices of the head get their moves here: to
    anywhere in what the player wins. Again, all of this is inside the subgame. Returns
    the end of the queue.
    """
    stop = end
    for index in range(begin, end):
        v = play.queue[index]
        own = game.owner[v] == player
        if (own and play.move[v] != NO_EDGE) or (not own and not lost):
            continue
        wanted = player if own else 1 - player
        play.move[v] = NO_EDGE
        for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
            if play.winner[game.dst[e]] == wanted:
                play.move[v] = e
                break
        if own == (play.move[v] == NO_EDGE):
            play.winner[v] = QUEUED
            play.queue[stop] = v
            stop += 1
    return stop


@compiled
def _put_back(play, link, last, player, todo):
    """Puts back into play what the player has left of a list; fills `todo` with it."""
    count = 0
    v = NOBODY
    while v != last:
        v = link[last] if v == NOBODY else link[v]
        if play.winner[v] == player:
            play.winner[v] = UNDECIDED
            play.taken[v] = IN_PLAY
            todo[count] = v
            count += 1
    return count


@compiled
def _sort_by_priority(game, vertices, by_priority, rank):
    """Sorts some vertices like `by_priority`, by the faster of two ways."""
    top = game.priority[by_priority[0]]
    if len(vertices) > top:
        order = _sort(top - game.priority[vertices], np.int64(top + 1))[1]
        vertices[:] = vertices[order]
    else:
        ranks = rank[vertices]
        ranks.sort()
        vertices[:] = by_priority[ranks]


@compiled
def _list(link, vertices):
    """Links vertices to a circular list, known by its last one."""
    last = NOBODY
    if len(vertices) > 0:
        last = vertices[-1]
        previous = last
        for v in vertices:
            link[previous] = v
            previous = v
    return last


@compiled
def _join(link, last, other):
    """Joins two circular lists, in constant time."""
    if last == NOBODY:
        return other
    if other != NOBODY:
        link[last], link[other] = link[other], link[last]
        return other
    return last


# ---- small progress measures -------------------------------------------------

QUEUE, STACK, RANDOM = range(len(get_args(Lifting)))


def _solve_spm(game: _Game, lifting: int, single: bool, seed: int, max_steps: int):
    size = len(game.owner)
    winner = np.full(size, UNDECIDED, np.int8)
    strategy = np.full(size, NO_EDGE, np.int32)
    steps = pops = 0
    for player in (0, 1):
        # The second player solves what the first one lost: a game of its own.
        inside = winner == UNDECIDED
        counts = np.bincount(game.priority[inside], minlength=1)
        rival = np.flatnonzero(np.arange(len(counts)) % 2 != player)
        # A measure is a row: 1 for top, else 0, then a counter for each of the rival's
        # priorities, the most important first.
        bound = np.append(1, counts[rival[::-1]]).astype(np.int32)
        compared = 1 + len(rival) - np.searchsorted(rival, game.priority)
        measure, lifts, more_pops, finished = _least_measure(
            game,
            inside,
            player,
            compared,
            bound,
            lifting,
            single,
            seed,
            max_steps - steps,
        )
        steps, pops = steps + lifts, pops + more_pops
        if not finished:
            winner[:], strategy[:] = UNDECIDED, NO_EDGE
            break
        won = inside & (measure[:, 0] == 0)
        winner[won] = player
        _least_moves(game, won, player, measure, strategy)
    return winner, strategy, {"steps": steps, "pops": pops}


@compiled
def _least_measure(
    game, inside, player, compared, bound, lifting, single, seed, max_lifts
):
    """The player's least progress measure, lifts, pops, and whether it is finished.

    Only the vertices `inside` exist. A vertex compares the first `compared` entries of
    measures, those for its own priority and more important ones.
    """
    size, width = len(inside), len(bound)
    measure = np.zeros((size, width), np.int32)
    raised = np.zeros(width, np.int32)
    work = _WorkList(
        np.zeros(size, np.bool_),
        np.full(size + 1, size, np.int32),
        np.full(size + 1, size, np.int32),
        [v for v in range(0)],
        [v for v in range(0)],
        [(v, v) for v in range(0)],
        np.array([seed % (LEHMER - 1) + 1]),
    )
    for v in range(size):
        if inside[v]:
            _push(work, lifting, single, v)
    lifts, pops = 0, 0
    while True:
        v = _pop(work, lifting, single)
        if v == NOBODY:
            return measure, lifts, pops, True
        pops += 1
        best = _best_edge(game, inside, player, measure, compared[v], v)
        _progress(
            measure[game.dst[best]],
            compared[v],
            game.priority[v] % 2 != player,
            bound,
            raised,
        )
        if _compare(raised, measure[v], width) <= 0:
            continue
        if lifts == max_lifts:
            return measure, lifts, pops, False
        measure[v] = raised
        lifts += 1
        for k in range(game.in_ptr[v], game.in_ptr[v + 1]):
            if inside[game.in_src[k]]:
                _push(work, lifting, single, np.int64(game.in_src[k]))


@compiled
def _best_edge(game, inside, player, measure, compared, v):
    """First edge to the least measure where the player moves, else to the largest."""
    best = NO_EDGE
    for e in range(game.row_ptr[v], game.row_ptr[v + 1]):
        w = game.dst[e]
        if not inside[w]:
            continue
        if best == NO_EDGE:
            best = e
            continue
        order = _compare(measure[w], measure[game.dst[best]], compared)
        if (order < 0) if game.owner[v] == player else (order > 0):
            best = e
    return best


@compiled
def _progress(measure, compared, raises, bound, out):
    """The least measure as large in what is compared, or larger if the vertex raises.

    Like an odometer: a counter that passes its bound starts again at 0 and raises the
    next more important one. What goes beyond the first counter is top.
    """
    out[:] = 0
    out[:compared] = measure[:compared]
    if raises and out[0] == 0:
        index = compared - 1
        while out[index] == bound[index]:
            out[index] = 0
            index -= 1
        out[index] += 1


@compiled
def _compare(a, b, length):
    """Negative, 0 or positive: lexicographic order of the first entries."""
    for index in range(length):
        if a[index] != b[index]:
            return a[index] - b[index]
    return 0


@compiled
def _least_moves(game, won, player, measure, strategy):
    """Moves the player's vertices to the least measures."""
    for v in range(len(won)):
        if won[v] and game.owner[v] == player:
            strategy[v] = _best_edge(game, won, player, measure, measure.shape[1], v)


# ---- work lists --------------------------------------------------------------

LEHMER = 2**31 - 1
"""Modulus of Park and Miller's random numbers, doi:10.1145/63039.63042."""


class _WorkList(NamedTuple):
    """Vertices to lift, in the order of a lifting strategy.

    Single occurrences in a queue or a stack stand in a line, linked both ways; the
    number of vertices marks both its ends. Several occurrences are kept in lists.
    """

    waits: np.ndarray  # whether the vertex is in the work list
    before: np.ndarray
    after: np.ndarray
    came: list  # the latest comers, in order
    first: list  # those who came before them, the first one last
    drawn: list  # heap of pairs: a random number and a vertex
    random: np.ndarray  # the last random number


@compiled
def _push(work, lifting, single, v):
    if single and work.waits[v]:
        if lifting != STACK:
            return
        _leave(work, v)
    work.waits[v] = True
    if lifting == RANDOM:
        work.random[0] = work.random[0] * 48271 % LEHMER
        heapq.heappush(work.drawn, (work.random[0], np.int64(v)))
    elif single:
        end = len(work.waits)
        last = work.before[end]
        work.after[last], work.before[v] = v, last
        work.after[v], work.before[end] = end, v
    else:
        work.came.append(v)


@compiled
def _pop(work, lifting, single):
    """The next vertex, or NOBODY."""
    v = NOBODY
    if lifting == RANDOM:
        if len(work.drawn) > 0:
            v = heapq.heappop(work.drawn)[1]
    elif single:
        end = len(work.waits)
        v = work.before[end] if lifting == STACK else work.after[end]
        if v == end:
            return NOBODY
        _leave(work, v)
    elif lifting == STACK:
        if len(work.came) > 0:
            v = work.came.pop()
    else:
        if len(work.first) == 0:
            while len(work.came) > 0:
                work.first.append(work.came.pop())
        if len(work.first) > 0:
            v = work.first.pop()
    if v != NOBODY:
        work.waits[v] = False
    return v


@compiled
def _leave(work, v):
    work.after[work.before[v]] = work.after[v]
    work.before[work.after[v]] = work.before[v]


# ---- cycles ------------------------------------------------------------------

NEVER = 2**31 - 1
"""Priority of an edge that lies on no cycle."""


class _Search(NamedTuple):
    """Depth-first search; nothing needs to be reset between two searches."""

    first: np.ndarray  # edge out of each vertex that is next to be followed
    link: np.ndarray  # and the one after each edge
    found: np.ndarray  # when each vertex was found
    low: np.ndarray  # earliest vertex of its component known to be reached from it
    component: np.ndarray  # a vertex of its component, NOBODY while that is open
    path: np.ndarray
    open: np.ndarray  # vertices of open components, as they were found


@compiled
def _cycle_priorities(tail, head, priority):
    """For each edge, the least p such that it lies on a cycle of priorities up to p.

    Halves the range of answers: an edge whose ends are in one strongly connected
    component when only the lower half exists has its answer there; for the other edges,
    these components are single vertices. Overwrites `tail` and `head`.
    """
    size, num_edges = len(priority), len(tail)
    least = np.full(num_edges, NEVER, np.int32)
    birth = np.maximum(priority[tail], priority[head])
    top = 0
    for e in range(num_edges):
        top = max(top, birth[e])
    search = _Search(
        np.full(size, NO_EDGE, np.int32),
        np.empty(num_edges, np.int32),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.full(size, NOBODY, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    merged = np.arange(size)
    edges = np.arange(num_edges)
    clock = np.int64(0)
    # Parts of `edges`, and the range of their answers; top + 1 stands for never.
    todo = [(0, num_edges, 0, top + 1)]
    while len(todo) > 0:
        begin, end, low, high = todo.pop()
        if begin == end or low > top:
            continue
        if low == high:
            for e in edges[begin:end]:
                least[e] = low
                merged[_find(merged, tail[e])] = _find(merged, head[e])
            continue
        # The first search finds the edges on no cycle, which are many.
        middle = top if high > top else (low + high) // 2
        cut = begin
        for k in range(begin, end):
            e = edges[k]
            if birth[e] <= middle:
                tail[e], head[e] = _find(merged, tail[e]), _find(merged, head[e])
                edges[k], edges[cut] = edges[cut], e
                cut += 1
        clock = _components(search, tail, head, edges[begin:cut], clock)
        born, cut = cut, begin
        for k in range(begin, born):
            e = edges[k]
            if search.component[tail[e]] == search.component[head[e]]:
                edges[k], edges[cut] = edges[cut], e
                cut += 1
        # The lower half comes first: the upper one relies on what it merges.
        todo.append((cut, end, middle + 1, high))
        todo.append((begin, cut, low, middle))
    return least


@compiled
def _find(merged, v):
    """The vertex that stands for v, with path halving."""
    while merged[v] != v:
        merged[v] = merged[merged[v]]
        v = merged[v]
    return v


@compiled
def _components(search, tail, head, edges, clock):
    """Tarjan's strongly connected components of the graph of some edges."""
    start = clock
    for e in edges:
        search.link[e] = search.first[tail[e]]
        search.first[tail[e]] = e
    for root in tail[edges]:
        if search.found[root] > start:
            continue
        depth, opened, reached = 0, 0, root
        while True:
            if reached != NOBODY:
                clock += 1
                search.found[reached] = search.low[reached] = clock
                search.component[reached] = NOBODY
                search.path[depth] = search.open[opened] = reached
                depth, opened, reached = depth + 1, opened + 1, NOBODY
            v = search.path[depth - 1]
            e = search.first[v]
            if e != NO_EDGE:
                search.first[v] = search.link[e]
                w = head[e]
                if search.found[w] <= start:
                    reached = w
                elif search.component[w] == NOBODY:
                    search.low[v] = min(search.low[v], search.found[w])
                continue
            if search.low[v] == search.found[v]:
                while search.component[v] == NOBODY:
                    opened -= 1
                    search.component[search.open[opened]] = v
            depth -= 1
            if depth == 0:
                break
            u = search.path[depth - 1]
            search.low[u] = min(search.low[u], search.low[v])
    return clock

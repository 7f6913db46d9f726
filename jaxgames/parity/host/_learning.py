"""Recursive tangle learning on the host: passes over the game, until all of it is won.

A pass begins with all of the game in one *box*. The most important vertices of a box of
one parity, and what the player who likes them attracts to them, are a region; what is
left of the box comes after it. Some of the first may be *open*: play can leave the
region from there for the rest of the box, or does not stay in it. What the rival can
drive to these is left out of the pass, and the rest of the region is a box of its own.
A region that is not open is a dominion if the rival cannot leave it at all. Else each
part of it that the strategies do not lead out of is a tangle, or a dominion.

The next pass would make the same regions of the first box again, up to the first to
which one of the new tangles can be attracted: that is no more important than the least
important region that such a tangle can be left for. So it begins there, with all that
was in that region, and attracts only what is new. Where a region rises from level to
level this way, a pass costs what has changed.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._attract import WON
from jaxgames.parity.host._components import dominion, learn_parts
from jaxgames.parity.host._mixed import search_by_promotion
from jaxgames.parity.host._tangles import (
    BEFORE,
    BY,
    FULL,
    IN,
    KNOWN,
    LATEST,
    LEFT,
    LEVEL,
    MOVE,
    NEWER,
    NONE,
    OLD,
    OUT,
    REGIONS,
    SAME,
    SOLVED,
    SPENT,
    START,
    STOPPED,
    STUCK,
    attract_new,
    attract_with_tangles,
    forget,
)

LOT = 40503
"""Times the number of a vertex, it says where its edges are searched from: the golden
ratio in 16 bits, which spreads numbers that are next to each other."""


@compiled
def learn(game, key, move, search, pool, mixed, stop, publish, budget, counts):
    """Learns tangles until all is won; how it ended.

    The keys of vertices that are not won are those of the game, and none of these can
    be attracted to what is won. A pass is that of `_mixed.py` if it is to be `mixed`.
    `counts` are steps, which are edges and rows looked at, regions, tangles and
    dominions.
    """
    rest, box, place = search.rest, search.box, search.place
    left, by = np.int64(0), search.regions[BY]
    by.fill(NONE)
    for v in game.order:
        if key[v] < 4 * WON:
            rest[left] = v
            left += 1
        else:
            box[v] = OUT  # somebody else may have won it since the last time
    spent, end = counts[0] + budget, np.int64(SOLVED)
    found = np.int64(place[1])
    if place[LEFT] != left or place[KNOWN] != pool.many[0]:
        place[SAME] = -1
    if place[0] > 0 and place[0] != left:
        # What is left of its boxes is a game, too; but promotion begins again. Others
        # have won what it might have found.
        place[0] = 0 if mixed else left
        found += 1
    while left > 0 and end == SOLVED:
        known = counts[2] + counts[3]
        if place[0] == 0:
            found = np.int64(0)
            if mixed:
                place[SAME] = -1
            _begin(search, pool, left, counts)
        if mixed:
            end = search_by_promotion(
                game, key, search, pool, left, stop, spent, counts
            )
        else:
            end = _search(game, key, search, pool, left, stop, spent, counts)
        found += counts[2] + counts[3] - known
        goes_on = end == SPENT
        if search.many[0] + search.many[1] > 0:
            goes_on = goes_on and not mixed
            left = _win(game, key, move, search, pool, left, stop, publish, counts)
            counts[0] += pool.begin[pool.many[0]]
            forgotten = forget(pool, key, 4 * WON)
            by.fill(NONE)  # tangles have other numbers now
            if end == FULL and forgotten > 0:
                end = np.int64(SOLVED)
            place[SAME] = -1
        place[0], place[1] = left if goes_on else 0, found
        if left == 0:
            end = np.int64(SOLVED)
        if end == SOLVED and found == 0:
            end = np.int64(STUCK)
    place[LEFT], place[KNOWN] = left, pool.many[0]
    return end


@compiled
def _begin(search, pool, left, counts):
    """Puts all that a pass searches again into the first box, and nothing else.

    That is all of the game if something was won since, or learned elsewhere. Else the
    first regions stay as they were: `place[SAME]` says how many.
    """
    rest, box, listed = search.rest, search.box, search.listed
    level, before, place = search.regions[LEVEL], search.regions[BEFORE], search.place
    kept, first, old = np.int64(place[SAME]), np.int64(0), np.int64(0)
    if kept < 0:
        for index in range(left):
            v = rest[index]
            listed[index] = v
            box[v] = 0
    else:
        first, end = np.int64(search.regions[START, kept]), 2 * kept + 2
        counts[0] += left - first
        for index in range(first, left):
            v = rest[index]
            listed[index] = v
            if box[v] == 0 or level[v] >= end:
                box[v] = 0
            elif level[v] >= end - 2:
                box[v] = 0
                before[old] = v
                old += 1
    search.boxes[0, 0], search.boxes[0, 1], search.boxes[0, 2] = 0, first, left
    if kept < 0:  # the first pass is not noted: there may be no other
        kept = np.int64(-1 if pool.many[0] == 0 else 0)
    place[SAME], place[REGIONS], place[OLD] = left, kept, old
    place[NEWER], place[LATEST] = place[LATEST], pool.many[0]


@compiled
def _search(game, key, search, pool, left, stop, spent, counts):
    """Searches all regions of a pass, for dominions and tangles; why it ended."""
    boxes, listed = search.boxes, search.listed
    box, queue, clock, first_key = search.box, search.queue, search.clock, game.key
    place, end = search.place, np.int64(SOLVED)
    search.many[0], search.many[1] = 0, 0
    if place[0] == 0:
        place[2], place[3] = 1, 1
    depth, names = np.int64(place[2]), np.int64(place[3])
    while depth > 0 and end == SOLVED:
        name = np.int64(boxes[depth - 1, 0])
        begin, last = np.int64(boxes[depth - 1, 1]), np.int64(boxes[depth - 1, 2])
        first = begin
        while first < last and box[listed[first]] != name:
            first += 1
        if first == last:
            depth -= 1
            counts[0] += last - begin
            continue
        clock[0] += 1
        counts[1] += 1
        region, at, heads = np.int64(clock[0]), first, np.int64(0)
        player = np.int64(first_key[listed[first]] >> 2) & 1
        going = True
        while going and at < last:
            v = listed[at]
            if box[v] == name:
                going = (first_key[v] >> 2) & 1 == player
                if going:
                    box[v] = IN
                    queue[heads] = v
                    heads += 1
            at += going
        boxes[depth - 1, 1] = at
        asks = player, name, region
        again = depth == 1 and place[OLD] > 0
        old = size = heads
        if again:
            old, size, work = _as_before(search, pool, heads, asks)
            counts[0] += work
        done, size, work = attract_with_tangles(
            game, search, pool, queue, old if again else 0, size, asks, stop
        )
        counts[0] += work + at - begin
        if done < size:
            end = np.int64(STOPPED)
            continue
        if depth == 1 and place[REGIONS] >= 0:
            _note(search, size, first)
        leaving = _leaving(game, search, heads, asks, counts)
        if leaving > 0:
            asks = player, names, region
            kept = _drive_out(game, search, pool, size, leaving, asks, stop, counts)
            if kept > 0:
                if depth == 1 and place[REGIONS] >= 0:
                    _note_moves(search, kept)
                _open(game, search, depth, first, kept, names)
                counts[0] += kept
                depth += 1
                names += 1
        else:
            if _is_dominion(game, key, search, size, asks, counts):
                dominion(search, queue, 0, size, player, counts)
            elif not learn_parts(game, key, search, pool, heads, size, asks, counts):
                end = np.int64(FULL)
                place[SAME] = min(place[SAME], place[REGIONS] - 1)
            for index in range(size):
                box[queue[index]] = OUT
        if end == SOLVED and stop[0] != 0:
            end = np.int64(STOPPED)
        if end == SOLVED and counts[0] >= spent:
            end = np.int64(SPENT)
    place[2], place[3] = depth, names
    if end == STOPPED:
        place[SAME] = -1
    return end


@compiled
def _as_before(search, pool, heads, asks):
    """Puts the first region that a pass searches again into the queue, as it was.

    Its first vertices are there. It has attracted all that it can, but for the tangles
    that are new. Returns how much it was, the end of the queue with these, and how much
    work that was.
    """
    box, queue, regions, move = search.box, search.queue, search.regions, search.move
    old, end = np.int64(search.place[OLD]), np.int64(heads)
    for index in range(old):
        v = regions[BEFORE, index]
        if box[v] != IN:
            queue[end] = v
            end += 1
            box[v] = IN
            if regions[LEVEL, v] & 1 != 0:  # what was searched inside has moved it
                move[v] = regions[MOVE, v]
    search.place[OLD] = 0
    newer = np.int64(search.place[NEWER])
    end, work = attract_new(search, pool, queue, end, newer, asks)
    return old, end, work + old


@compiled
def _note(search, size, first):
    """Notes that queue[:size] is the next region of the first box."""
    queue, level, place = search.queue, search.regions[LEVEL], search.place
    number = np.int64(place[REGIONS])
    search.regions[START, number] = first
    for index in range(size):
        level[queue[index]] = 2 * number
    place[REGIONS] = number + 1


@compiled
def _note_moves(search, size):
    """Notes how to move in queue[:size], which is to be searched by itself."""
    queue, regions, move = search.queue, search.regions, search.move
    for index in range(size):
        v = queue[index]
        regions[LEVEL, v] |= 1
        regions[MOVE, v] = move[v]


@compiled
def _leaving(game, search, heads, asks, counts):
    """Finds the first vertices of a region that are open; the player's others move.

    They move to the most important vertices that they can, of several such to one that
    is as good as drawn by lot. Where all took the first one, each could lead to the
    next, as in a line that is linked both ways: all of it would be one tangle, where a
    pass can learn many.
    """
    player, name, _ = asks
    box, queue, rivals = search.box, search.queue, search.rivals
    row_ptr, head, owners, move = game.row_ptr, game.head, game.key, search.move
    leaving = np.int64(0)
    for index in range(heads):
        v = np.int64(queue[index])
        first, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
        counts[0] += last - first
        e, left, leaves = first, last - first, False
        if owners[v] & 1 == player:
            best = np.int64(-1)
            e += (v * LOT >> 4) % left
            while left > 0:
                w = head[e]
                if box[w] == IN and owners[w] >> 2 > best:
                    move[v] = e
                    best = np.int64(owners[w] >> 2)
                left -= 1
                e += 1
                if e == last:
                    e = first
            leaves = best < 0
        else:
            while e < last and not leaves:
                leaves = box[head[e]] == name
                e += 1
        if leaves:
            rivals[leaving] = v
            leaving += 1
    return leaving


@compiled
def _drive_out(game, search, pool, size, leaving, asks, stop, counts):
    """Leaves out what the rival can drive to where the region is open.

    The rest, in the queue, gets a box of its own. Returns how much it is; 0 if it was
    stopped.
    """
    player, name, _ = asks
    box, queue, rivals, clock = search.box, search.queue, search.rivals, search.clock
    clock[0] += 1
    region = np.int64(clock[0])
    for index in range(size):
        box[queue[index]] = name
    for index in range(leaving):
        box[rivals[index]] = IN
    asks = 1 - player, name, region
    done, out, work = attract_with_tangles(
        game, search, pool, rivals, 0, leaving, asks, stop
    )
    counts[0] += work + size
    kept = np.int64(0)
    if done == out:
        for index in range(out):
            box[rivals[index]] = OUT
        for index in range(size):
            v = queue[index]
            if box[v] == name:
                queue[kept] = v
                kept += 1
    return kept


@compiled
def _open(game, search, depth, first, kept, name):
    """Puts the box of queue[:kept] on the stack, in order of importance.

    All of it is listed in the last box from `first` on.
    """
    boxes, listed, queue, box = search.boxes, search.listed, search.queue, search.box
    ranks, order = game.rank, game.order
    last = np.int64(boxes[depth - 1, 2])
    few = 4 * kept < last - first
    if last + kept > len(listed):
        last = _compact(search, depth)
        few = True
    end = last
    if few:
        end += kept
        for index in range(kept):
            listed[last + index] = ranks[queue[index]]
        some = listed[last:end]
        some.sort()
        for index in range(last, end):
            listed[index] = order[listed[index]]
    else:
        for index in range(first, last):
            v = listed[index]
            if box[v] == name:
                listed[end] = v
                end += 1
    boxes[depth, 0], boxes[depth, 1], boxes[depth, 2] = name, last, end


@compiled
def _compact(search, depth):
    """Takes out of the lists what has left its box; where they end."""
    boxes, listed, box = search.boxes, search.listed, search.box
    end = np.int64(0)
    for at in range(depth):
        name = np.int64(boxes[at, 0])
        begin, last = np.int64(boxes[at, 1]), np.int64(boxes[at, 2])
        boxes[at, 1] = end
        for index in range(begin, last):
            v = listed[index]
            if box[v] == name:
                listed[end] = v
                end += 1
        boxes[at, 2] = end
    return end


@compiled
def _is_dominion(game, key, search, size, asks, counts):
    """Whether the rival cannot leave the region at all."""
    player, _, _ = asks
    box, queue = search.box, search.queue
    row_ptr, head, owners = game.row_ptr, game.head, game.key
    index, stays = np.int64(0), True
    while stays and index < size:
        v = queue[index]
        if owners[v] & 1 != player:
            e, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
            counts[0] += last - e
            while stays and e < last:
                w = head[e]
                stays = box[w] == IN or key[w] >= 4 * WON
                e += 1
        index += 1
    counts[0] += index
    return stays


@compiled
def _win(game, key, move, search, pool, left, stop, publish, counts):
    """Wins the dominions of a pass, and what can be attracted to them.

    The rest stays in its boxes, where a pass that was cut off goes on.

    Returns how much of the game is left.
    """
    box, queue, found = search.box, search.queue, search.found
    rest, clock, moves = search.rest, search.clock, search.move
    before, size = search.number, len(key)
    for index in range(left):
        before[rest[index]] = box[rest[index]]
        box[rest[index]] = 0
    for player in range(2):
        clock[0] += 1
        region = np.int64(clock[0])
        many = np.int64(search.many[player])
        for index in range(many):
            v = found[index] if player == 0 else found[size - 1 - index]
            queue[index] = v
            box[v] = IN
        asks = np.int64(player), np.int64(0), region
        _, end, work = attract_with_tangles(
            game, search, pool, queue, 0, many, asks, stop
        )
        counts[0] += work
        for index in range(end):
            v = queue[index]
            box[v] = OUT
            key[v] = 4 * (WON + player) + (key[v] & 1)
            move[v] = moves[v]
        if len(publish) > 0:
            for index in range(end):
                publish[queue[index]] = player
    kept = np.int64(0)
    for index in range(left):
        v = rest[index]
        if key[v] < 4 * WON:
            rest[kept] = v
            box[v] = before[v]
            kept += 1
    counts[0] += left
    return kept

"""Priority promotion on the host where regions attract tangles, and learn them.

Regions follow one another by the priority they begin with: some vertices of it, and
what the player who likes these attracts to them. One that play can leave for the rest
of the game stays, and the next one begins in that rest. Else tangles are learned of it,
as of a region of tangle learning, and it rises to the least important region that its
rival can leave it for. All after that one are given up, as the published rule has it.

Each cures the other's weakness. A counter made against promotion counts by regions that
are given up: their tangles stay known, and are attracted at once. A counter made
against tangles has more of them than can be learned one by one: a region that rises
takes all of its tangles along.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._attract import WON
from jaxgames.parity.host._components import dominion, learn_parts
from jaxgames.parity.host._tangles import (
    FULL,
    IN,
    SOLVED,
    SPENT,
    STOPPED,
    STUCK,
    attract_with_tangles,
)


@compiled
def search_by_promotion(game, key, search, pool, left, stop, spent, counts):
    """Searches for a dominion, and for tangles on the way; why it ended.

    `search.boxes` has of each region its priority, the end of its vertices in
    `search.listed`, and where in `search.rest` the next one may begin. Region number
    `r` is box `r + 1`, and what is in none is box 0.
    """
    rest, box, queue = search.rest, search.box, search.queue
    listed, boxes, clock, first_key = (
        search.listed,
        search.boxes,
        search.clock,
        game.key,
    )
    many, place, end = search.many, search.place, np.int64(SOLVED)
    many[0], many[1] = 0, 0
    if place[0] == 0:
        place[2:8].fill(0)
    depth, at, used = np.int64(place[2]), np.int64(place[3]), np.int64(place[4])
    # What begins a region: queue[:heads], of which the first `old` have attracted all
    # that they can.
    old, heads, level = np.int64(place[5]), np.int64(place[6]), np.int64(place[7])
    while many[0] + many[1] == 0 and end == SOLVED:
        if heads == 0:
            while at < left and box[rest[at]] != 0:
                at += 1
            if at == left:
                end = np.int64(STUCK)
                continue
            level, begin = np.int64(first_key[rest[at]] >> 2), at
            while at < left and first_key[rest[at]] >> 2 == level:
                if box[rest[at]] == 0:
                    queue[heads] = rest[at]
                    heads += 1
                at += 1
            counts[0] += at - begin
        clock[0] += 1
        counts[1] += 1
        region, player = np.int64(clock[0]), level & 1
        for index in range(heads):
            box[queue[index]] = IN
        asks = player, np.int64(0), region
        done, size, work = attract_with_tangles(
            game, search, pool, queue, old, heads, asks, stop
        )
        counts[0] += work + heads
        if done < size:
            end = np.int64(STOPPED)
            continue
        tops = _level_first(game, search, size, level)
        target = _rises_to(game, key, search, size, tops, asks, counts)
        heads = old = np.int64(0)
        if target < 0:
            for index in range(size):
                box[queue[index]] = depth + 1
                listed[used] = queue[index]
                used += 1
            boxes[depth, 0], boxes[depth, 1], boxes[depth, 2] = level, used, at
            depth += 1
        elif target == 0:
            dominion(search, queue, 0, size, player, counts)
        else:
            if not learn_parts(game, key, search, pool, tops, size, asks, counts):
                end = np.int64(FULL)
            depth = target - 1
            level, at = np.int64(boxes[depth, 0]), np.int64(boxes[depth, 2])
            begin, last = np.int64(0), np.int64(boxes[depth, 1])
            if depth > 0:
                begin = np.int64(boxes[depth - 1, 1])
            for index in range(begin, used):
                box[listed[index]] = 0
            counts[0] += used - begin
            old, used = last - begin, begin
            heads = size + old
            for index in range(size):
                queue[heads - 1 - index] = queue[size - 1 - index]
            for index in range(old):
                queue[index] = listed[begin + index]
        if end == SOLVED and stop[0] != 0:
            end = np.int64(STOPPED)
        if end == SOLVED and counts[0] >= spent:
            end = np.int64(SPENT)
    place[2], place[3], place[4] = depth, at, used
    place[5], place[6], place[7] = old, heads, level
    return end


@compiled
def _level_first(game, search, size, level):
    """Moves the vertices of a priority to the front of a region; how many they are."""
    queue, first_key, tops = search.queue, game.key, np.int64(0)
    for index in range(size):
        v = queue[index]
        if first_key[v] >> 2 == level:
            queue[index] = queue[tops]
            queue[tops] = v
            tops += 1
    return tops


@compiled
def _rises_to(game, key, search, size, tops, asks, counts):
    """The last box that the rival can leave a region for; or 0, or -1.

    It is 0 if he cannot leave it at all, and -1 if play can leave it for box 0, which
    it can only from the first vertices. The player's of these move.
    """
    player, _, _ = asks
    box, queue, owners = search.box, search.queue, game.key
    row_ptr, head, move = game.row_ptr, game.head, search.move
    target, index = np.int64(0), np.int64(0)
    while index < size and target >= 0:
        v = queue[index]
        own = owners[v] & 1 == player
        e, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
        leaves = own and index < tops
        counts[0] += 1
        while e < last and (leaves or (not own and target >= 0)):
            w = head[e]
            if own and box[w] == IN:
                move[v] = e
                leaves = False
            elif not own and box[w] != IN and key[w] < 4 * WON:
                target = np.int64(-1) if box[w] == 0 else max(target, np.int64(box[w]))
            e += 1
            counts[0] += 1
        if leaves:
            target = np.int64(-1)
        index += 1
    return target

"""The parts of a region that the strategies do not lead out of: tangles, or dominions.

They are the bottom strongly connected components of the region, where the player moves
by his strategy and the rival as he likes, by Tarjan's algorithm [1]. Each of them has
one of the vertices that the region began with, so that the search begins at those.

References:
    [1] Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1
    (1972), doi:10.1137/0201010.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._attract import WON
from jaxgames.parity.host._tangles import IN, LEVEL, NONE, REGIONS, SAME
from jaxgames.solution import NO_EDGE

CLOSED = 2**31 - 1
"""Number of a vertex whose component has been found."""


@compiled
def learn_parts(game, key, search, pool, heads, size, asks, counts):
    """Learns the tangles of a region that is not open, and notes its dominions.

    Returns whether there was room for all of them.
    """
    player, _, _ = asks
    box, number, queue = search.box, search.number, search.queue
    stack, path, move = search.rivals, search.path, search.move
    row_ptr, head, owners = game.row_ptr, game.head, game.key
    fits = True
    opened, work, root = np.int64(0), np.int64(0), np.int64(0)
    for index in range(size):
        number[queue[index]] = 0
    while fits and root < heads:
        depth, v = np.int64(-1), np.int64(queue[root])
        root += 1
        enters = number[v] == 0
        e = last = low = place = np.int64(0)
        leads_out = False
        while fits and (enters or depth >= 0):
            if enters:
                # Of what waits: the vertex, its next edge, how low it reaches, its
                # place, and whether a component below was closed.
                depth += 1
                stack[opened] = v
                opened += 1
                place = low = opened
                number[v] = place
                leads_out, enters = False, False
                e, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
                if owners[v] & 1 == player:
                    e = np.int64(move[v])
                    last = e + 1
                work += last - e
            elif e < last:
                w = np.int64(head[e])
                e += 1
                if box[w] == IN:
                    seen = np.int64(number[w])
                    if seen == 0:
                        path[depth, 0], path[depth, 1], path[depth, 2] = v, e, low
                        path[depth, 3], path[depth, 4] = place, leads_out
                        v, enters = w, True
                    elif seen == CLOSED:
                        leads_out = True
                    else:
                        low = min(low, seen)
            else:
                closes = low == place
                if closes:
                    if not leads_out:
                        fits = _part(
                            game, key, search, pool, place - 1, opened, asks, counts
                        )
                    while opened >= place:
                        opened -= 1
                        number[stack[opened]] = CLOSED
                depth -= 1
                if depth >= 0:
                    below, out = low, leads_out
                    v, e = np.int64(path[depth, 0]), np.int64(path[depth, 1])
                    low, place = np.int64(path[depth, 2]), np.int64(path[depth, 3])
                    leads_out = path[depth, 4] != 0 or closes or out
                    if not closes:
                        low = min(low, below)
                    last = np.int64(row_ptr[v + 1])
                    if owners[v] & 1 == player:
                        last = np.int64(move[v]) + 1
    counts[0] += work
    return fits


@compiled
def _part(game, key, search, pool, begin, end, asks, counts):
    """Learns a component, search.rivals[begin:end]; whether there was room.

    It is no tangle if it is one vertex from which nothing leads on; and it is a
    dominion if the rival cannot leave it.
    """
    player, _, _ = asks
    stack, marked, clock = search.rivals, search.marked, search.clock
    move, box = search.move, search.box
    row_ptr, head, owners = game.row_ptr, game.head, game.key
    out, vertices, moves = pool.out, pool.vertex, pool.move
    clock[0] += 1
    inside = 2 * np.int64(clock[0])
    for index in range(begin, end):
        marked[stack[index]] = inside
    tangle = np.int64(pool.many[0])
    row, way = np.int64(pool.begin[tangle]), np.int64(pool.begin_out[tangle])
    first_way = way
    level, place, joins = search.regions[LEVEL], search.place, np.int64(0)
    fits = tangle < len(pool.player) and row + end - begin <= len(vertices)
    goes_on, index = False, begin
    while fits and index < end:
        v = stack[index]
        own = owners[v] & 1 == player
        vertices[row] = v
        moves[row] = NO_EDGE
        if own:
            moves[row] = move[v]
            goes_on = goes_on or marked[head[move[v]]] == inside
        e, last = np.int64(row_ptr[v]), np.int64(row_ptr[v + 1])
        while fits and e < last and not own:
            w = head[e]
            goes_on = goes_on or marked[w] == inside
            if marked[w] < inside and key[w] < 4 * WON:
                fits = way < len(out)
                if fits:
                    marked[w] = inside + 1
                    out[way] = w
                    way += 1
                    joins = max(joins, level[w] >> 1 if box[w] != 0 else place[REGIONS])
            e += 1
        counts[0] += 1 + e - row_ptr[v]
        row += 1
        index += 1
    if fits and goes_on and way == first_way:
        dominion(search, stack, begin, end, player, counts)
    elif fits and goes_on:
        counts[2] += 1
        place[SAME] = min(place[SAME], joins, place[REGIONS] - 1)
        pool.player[tangle] = player
        pool.seen[tangle], pool.lost[tangle], pool.done[tangle] = 0, 0, -1
        pool.within[tangle] = NONE
        pool.begin[tangle + 1], pool.begin_out[tangle + 1] = row, way
        pool.many[0] = tangle + 1
        heads, after, of = pool.first, pool.after, pool.of
        for k in range(first_way, way):
            of[k] = tangle
            after[k] = heads[out[k], player]
            heads[out[k], player] = k
    return fits


@compiled
def dominion(search, vertices, begin, end, player, counts):
    """Notes vertices[begin:end], which the player wins for good."""
    found, many = search.found, search.many
    size = len(found)
    for index in range(begin, end):
        place = many[player]
        if player == 1:
            place = size - 1 - place
        found[place] = vertices[index]
        many[player] += 1
    counts[3] += 1

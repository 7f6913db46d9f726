"""Priority promotion on the host: the stack of regions.

The vertices are taken in order of importance. Those of the most important priority that
is left, and what the player who likes it attracts to them, are a *region*: he wins all
plays that stay there. Regions lie on a stack, each an attractor in what those below it
in the stack have left. A region is open if play can leave it for the rest of the game;
then the next one is made from that rest. It is closed if the rival can only leave for
regions further down, which then are the same player's. Such a region is promoted: it
joins the least important of these, which goes on attracting. Where the rival cannot
leave at all, the region and its attractor are won for good. The least important region
is always closed, so the game gets smaller until nothing is left.
"""

import numpy as np

from jaxgames.host import compiled
from jaxgames.parity.host._attract import LONG, NO_LIMIT, POLL, WON, attract, pull
from jaxgames.tuning.parity import BLOCK, OF_REGION
from jaxgames.tuning.parity import EDGES_OF_A_VERTEX as EDGES


@compiled
def promote(game, play, place, afresh, stop, publish, max_steps, budget, counts):
    """Wins all vertices that are left, region by region; whether it came to an end.

    Where its budget has ended it, it goes on from there when it is called again. So it
    does where it was stopped or has made its steps, if it is to begin afresh: but for
    the last region, or the last promotion.

    `counts` are steps, regions, promotions, dominions, and how many vertices were
    attracted or moved along the stack, or had so many edges searched: that ends it when
    it comes to the budget.

    Args:
        game: the game.
        play: in which nothing has a region, but what is won; or as it was left.
        place: where it goes on in the order, the end of the stack, and how many regions
            are on it: three words, 0 at first.
        afresh: whether a promotion gives up all that lies on its target, as in [1]; or
            only what it spoils.
        stop: see `run`, as for what follows.
        publish: gets winners.
        max_steps: attracted vertices at most.
        budget: vertices that are attracted or moved.
        counts: what has been done.
    """
    # Numba would take a plain 0 for a type of its own, and compile for it too.
    end, level = np.int64(place[1]), np.int64(place[2]) - 1
    # A region on a stack that was left may be closed, and rise before others begin.
    goes_on, going = level >= 0, True
    at = _next(game, play, np.int64(place[0]))
    while going and (goes_on or at < len(game.order)) and counts[4] < budget:
        if not goes_on:
            level += 1
            counts[1] += 1
            counts[4] += OF_REGION * afresh
            begin = end
            at, end = _heads(game, play, at, end, level)
            mark = 4 * np.int64(play.label[level])
            play.rim[0] = -1
            if len(game.order) - at < end - begin:
                begin, size = end, len(game.order)
                end, _, work = pull(
                    game, play, game.order, at, size, end, mark, NO_LIMIT
                )
                counts[4] += work
            done, end, _, work = attract(
                game, play, begin, end, mark, NO_LIMIT, stop, max_steps - counts[0]
            )
            counts[0] += done - begin
            counts[4] += work
            going = done == end
            if not going:
                begin = np.int64(play.begin[level])
                at = _give_up(game, play, at, begin, end, 4 * WON)
                level, end = level - 1, begin
        goes_on = False
        while (
            going
            and level >= 0
            and counts[4] < budget
            and _closed(game, play, level, counts)
        ):
            target = _target(game, play, level, end, stop, counts)
            going = target >= 0
            if going:
                at, level, end, joined, going = _rise(
                    game, play, at, level, end, target, afresh, stop, publish,
                    max_steps, counts,
                )  # fmt: skip
                if joined < level and _closed(game, play, joined, counts):
                    # It rises next; what lies on it would have to be kept once more.
                    begin = np.int64(play.begin[joined + 1])
                    mark = 4 * np.int64(play.label[joined])
                    play.rim[0] = -1
                    at = _give_up(game, play, at, begin, end, mark)
                    level, end = joined, begin
        at = _next(game, play, at)
    place[0], place[1], place[2] = at, end, level + 1
    return going and level < 0 and at == len(game.order)


@compiled
def _target(game, play, level, end, stop, counts):
    """Where the closed last region rises to; negative if stopped."""
    label = np.int64(play.label[level])
    nearest = level - 1
    while nearest >= 0 and (play.label[nearest] ^ label) & 1:
        nearest -= 1
    return _escape(game, play, level, nearest, end, stop, counts)


@compiled
def _rise(game, play, at, level, end, target, afresh, stop, publish, max_steps, counts):
    """Promotes the last region, or wins it.

    Returns where to go on in the order, the level and the end of the last region, the
    level of that which has grown, and whether to go on.
    """
    queue, labels, begins = play.queue, play.label, play.begin
    begin = np.int64(begins[level])
    joined = level - 1
    while joined >= 0 and labels[joined] < target:
        joined -= 1
    play.rim[3] = min(target, WON)
    target = _unite(game, play, level, end, joined, target, counts)
    mark = 4 * target
    least = NO_LIMIT
    if level > 0:
        least = 4 * np.int64(labels[level - 1])
    below, grown = np.int64(begins[joined + 1]), end
    first, spoiled = begin, np.int64(-1)
    if begin - below < end - begin:
        first = end
        end, spoiled, work = pull(game, play, queue, below, begin, end, mark, least)
        counts[4] += begin - below + work
    done, end, also, work = attract(
        game, play, first, end, mark, least, stop, max_steps - counts[0]
    )
    counts[0] += done - first
    counts[4] += work
    going = done == end
    worst = max(spoiled, also)
    if afresh:
        worst = target - 1
    last, level = level, level - 1
    while level >= 0 and labels[level] <= worst:
        level -= 1
    # The most important region that is spoiled lost vertices, if it is the rival's.
    mended = going and level + 1 < last and (worst ^ target) & 1 != 0 and not afresh
    mended = mended and labels[level + 1] == worst
    level += mended
    keep = np.int64(begins[level + 1])
    counts[4] += begin - keep + (end - begin) // LONG
    at = _give_up(game, play, at, keep, begin, mark)
    fallen = end
    if mended:
        at, keep, fallen = _mend(game, play, at, level, grown, end)
        level -= keep == begins[level]
    if target >= WON:
        counts[3] += 1
        if len(publish) > 0:
            for index in range(begin, end):
                publish[queue[index]] = target - WON
    else:
        counts[2] += 1
    if target < WON and not going:
        at = _give_up(game, play, at, begin, end, 4 * WON)
    first = end
    if target >= WON or not going:
        end, joined = begin, level  # nothing goes back to the stack
        play.rim[0] = -1
    if joined < level:
        counts[4] += end - np.int64(begins[joined + 1])
        play.rim[0] = -1
    play.rim[1] -= begin - keep
    play.rim[2] -= begin - keep
    end = _join(play, level, keep, begin, end, joined)
    if fallen > first:
        mark = 4 * worst
        done = end
        end, _, work = pull(game, play, queue, first, fallen, end, mark, NO_LIMIT)
        counts[4] += work
        first = done
        done, end, _, work = attract(
            game, play, first, end, mark, NO_LIMIT, stop, max_steps - counts[0]
        )
        counts[0] += done - first
        counts[4] += work
        going = done == end
    return at, level, end, joined, going


@compiled
def _unite(game, play, level, end, joined, target, counts):
    """Gives the last region and that to which it rises one label, and returns it.

    A large region rises often, each time to a small one. So its vertices keep their
    label if they are more than those of the target and of what lies between, which then
    get new ones: the label of the region, and lower ones.
    """
    labels, begins = play.label, play.begin
    begin, label = np.int64(begins[level]), np.int64(labels[level])
    first = begin
    if joined >= 0:
        first = np.int64(begins[joined])
    # Labels stay above all priorities, however many regions there are.
    lowest_label = 2 * np.int64(game.key[game.order[0]] >> 2) + 4
    keeps = target < WON and begin - first < end - begin and label > lowest_label
    if not keeps:
        counts[4] += end - begin
        _name(play, begin, end, target)
        return target
    counts[4] += begin - first
    labels[joined] = label
    _name(play, first, np.int64(begins[joined + 1]), label)
    for above in range(joined + 1, level):
        labels[above] = _under(np.int64(labels[above - 1]), np.int64(labels[above]))
        first, last = np.int64(begins[above]), np.int64(begins[above + 1])
        _name(play, first, last, np.int64(labels[above]))
    return label


@compiled
def _name(play, begin, end, label):
    """Gives a part of the stack a label."""
    key, queue = play.key, play.queue
    for index in range(begin, end):
        v = queue[index]
        key[v] = 4 * label | (key[v] & 3)


@compiled
def _under(label, parity):
    """The next label below one, of a parity."""
    return label - 1 - ((label - 1 ^ parity) & 1)


@compiled
def _mend(game, play, at, level, begin, end):
    """Takes out of a region what relied on vertices that its rival has just got.

    Those are queue[begin:end]. What falls out is put behind them: moves that led to
    them or to what has fallen are lost, and what the rival had to stay in he may leave.
    Returns how far the order is good, and the ends of the region and of what fell out.
    """
    key, queue, move = play.key, play.queue, play.move
    idle, taken = play.idle, play.taken
    in_ptr, in_tail, in_edge = game.in_ptr, game.in_tail, game.in_edge
    first, rank = game.key, game.rank
    label, priority = np.int64(play.label[level]), np.int64(play.priority[level])
    index, fallen, asked = begin, end, False
    while index < fallen:
        v = queue[index]
        for k in range(in_ptr[v], in_ptr[v + 1]):
            u = in_tail[k]
            if key[u] >> 2 != label:
                continue
            if (key[u] ^ label) & 1 == 0:
                relies = move[u] == in_edge[k]
            else:
                relies = index >= end
            if relies and first[u] >> 2 == priority:
                asked = True
            elif relies:
                key[u] = first[u]
                place = np.int64(rank[u])
                idle[place // BLOCK] = taken[place] = False
                at = min(at, place)
                queue[fallen] = u
                fallen += 1
        index += 1
    checked, heads = np.int64(play.checked[level]), np.int64(play.heads[level])
    place = np.int64(play.begin[level])
    if asked:
        checked = place
    for index in range(place, np.int64(play.begin[level + 1])):
        if index == checked:
            play.checked[level] = place
        if index == heads:
            play.heads[level] = place
        v = queue[index]
        if key[v] >> 2 == label:
            queue[place] = v
            place += 1
    if play.begin[level + 1] == heads:
        play.heads[level] = place
    if play.begin[level + 1] == checked:
        play.checked[level] = place
    return at, place, fallen


@compiled
def _join(play, level, keep, begin, end, joined):
    """Puts what was promoted behind the target's region, before those that are kept.

    Returns the new end of the stack.
    """
    queue, begins, heads, checked = play.queue, play.begin, play.heads, play.checked
    more = end - begin
    if keep < begin:
        for index in range(more):
            queue[keep + index] = queue[begin + index]
    if joined < level:
        first = np.int64(begins[joined + 1])
        _reverse(queue, first, keep)
        _reverse(queue, keep, keep + more)
        _reverse(queue, first, keep + more)
        for above in range(joined + 1, level + 1):
            begins[above] += more
            heads[above] += more
            checked[above] += more
    return keep + more


@compiled
def _reverse(queue, begin, end):
    last = begin + end - 1
    for index in range(begin, (begin + end) // 2):
        v = queue[index]
        queue[index] = queue[last - index]
        queue[last - index] = v


@compiled
def _closed(game, play, level, counts):
    """Whether no head of a region leaves it for the rest of the game.

    What was attracted does not. Checks only heads that may still do, and gives those of
    the player a move.
    """
    key, move, queue = play.key, play.move, play.queue
    row_ptr, head = game.row_ptr, game.head
    label = np.int64(play.label[level])
    begin, last = np.int64(play.checked[level]), np.int64(play.heads[level])
    stays, index = True, begin
    while stays and index < last:
        v = queue[index]
        own = (key[v] ^ label) & 1 == 0
        stays = not own
        for e in range(row_ptr[v], row_ptr[v + 1]):
            region = key[head[e]] >> 2
            if own and region == label:
                move[v] = e
                stays = True
                break
            if not own and region < label:
                stays = False
                break
        index += stays
    play.checked[level] = index
    # To count their edges made games with many heads a twentieth slower.
    counts[4] += (index - begin) // 2
    if not stays:
        v = queue[index]
        counts[4] += np.int64(row_ptr[v + 1] - row_ptr[v]) // LONG
    return stays


@compiled
def _escape(game, play, level, nearest, end, stop, counts):
    """Where the rival can leave the last region, which is closed; won if nowhere.

    The least important one: if he leaves for a more important one, that is not worse
    for the player. None is less important than the nearest, if there is one at
    all. Negative if stopped.

    The rim has the vertices where he can, each with the label of the region, of a part
    of this one that has been searched, rim[1] to rim[2]. They are still there when it
    has risen. Then others are not looked at again, and of these only those that led to
    where it has risen, rim[3].
    """
    queue, labels, rim = play.queue, play.label, play.rim
    label, least = np.int64(labels[level]), np.int64(labels[max(nearest, 0)])
    target, begin = WON + (label & 1), np.int64(play.begin[level])
    if rim[0] < 0:
        rim[0], rim[1], rim[2] = 0, begin, begin
    known, index, kept, work = np.int64(rim[0]), np.int64(0), np.int64(0), np.int64(0)
    first, last = np.int64(rim[1]), np.int64(rim[2])
    risen, left = np.int64(rim[3]), known + (first - begin) + (end - last)
    while nearest >= 0 and index < left and target != least:
        refuge = np.int64(-1)
        if index < known:
            v, refuge = rim[4 + 2 * index], np.int64(rim[5 + 2 * index])
        elif first > begin:
            first -= 1
            v = queue[first]
        else:
            v = queue[last]
            last += 1
        if refuge <= risen or index >= known:
            refuge, looked = _refuge(game, play, v, label)
            work += looked
        if refuge < WON:
            target = min(target, refuge)
            rim[4 + 2 * kept], rim[5 + 2 * kept] = v, refuge
            kept += 1
        index += 1
        if index % POLL == 0 and stop[0] != 0:
            target, index = np.int64(-1), left
    while index < known:
        rim[4 + 2 * kept], rim[5 + 2 * kept] = rim[4 + 2 * index], rim[5 + 2 * index]
        kept += 1
        index += 1
    rim[0], rim[1], rim[2] = kept, first, last
    counts[4] += work // EDGES
    return target


@compiled
def _refuge(game, play, v, label):
    """The least important region below one that the rival can leave it for from `v`.

    WON if there is none; and how many edges were looked at.
    """
    key = play.key
    row_ptr, head = game.row_ptr, game.head
    found, looked = np.int64(WON), np.int64(0)
    if not key[v] & 2 and (key[v] ^ label) & 1:
        for e in range(row_ptr[v], row_ptr[v + 1]):
            region = np.int64(key[head[e]] >> 2)
            if label < region:
                found = min(found, region)
        looked = np.int64(row_ptr[v + 1] - row_ptr[v])
        if found == WON:
            key[v] |= 2
    return found, looked


@compiled
def _give_up(game, play, at, begin, end, mark):
    """Puts vertices of the stack back, but those with the mark; the first in the order.

    `at` is where the order went on so far.
    """
    key, queue, idle, taken = play.key, play.queue, play.idle, play.taken
    first, rank = game.key, game.rank
    least = mark & ~3
    for index in range(begin, end):
        v = queue[index]
        if key[v] < least:
            key[v] = first[v]
            place = np.int64(rank[v])
            idle[place // BLOCK] = taken[place] = False
            at = min(at, place)
    return at


@compiled
def _next(game, play, at):
    """Where the order goes on with a vertex that is in no region."""
    key, idle, taken = play.key, play.idle, play.taken
    order, first = game.order, game.key
    size = len(order)
    while at < size and (taken[at] or key[order[at]] != first[order[at]]):
        if not taken[at]:
            taken[at] = True
        at += 1
        if at % BLOCK == 0:
            idle[at // BLOCK - 1] = True
            while at < size and idle[at // BLOCK]:
                at += BLOCK
    return min(at, size)


@compiled
def _heads(game, play, at, end, level):
    """Begins a region with all vertices of a priority that are in none."""
    key, queue, idle = play.key, play.queue, play.idle
    order, first = game.order, game.key
    priority = first[order[at]] >> 2
    above = np.int64(WON)
    if level > 0:
        above = np.int64(play.label[level - 1])
    label = _under(above, np.int64(priority))
    play.priority[level], play.label[level] = priority, label
    play.begin[level] = play.checked[level] = end
    size = len(order)
    while at < size and first[order[at]] >> 2 == priority:
        v = order[at]
        if key[v] == first[v]:
            key[v] = 4 * label | (key[v] & 1)
            queue[end] = v
            end += 1
        at += 1
        if at % BLOCK == 0:
            idle[at // BLOCK - 1] = True
            while at < size and idle[at // BLOCK]:
                at += BLOCK
    play.heads[level] = end
    return min(at, size), end

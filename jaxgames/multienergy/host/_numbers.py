"""Fronts as numbers: what two of them become together is worked out once, and noted."""

import numpy as np

from jaxgames.host import compiled
from jaxgames.multienergy.host._words import before, insert, larger

FULL, GIVEN_UP = -1, -2
"""Why there is no number: there is no room for it, or the front is too large."""

NONE, ZERO = 0, 1
"""The numbers of the front without a budget, and of that which is zero."""

UNION, MEET = 0, 1


@compiled
def numbered(buffer, count, fronts, table, at):
    """The number of a front, which is made if it is new; below 0 without room."""
    begin, words = fronts
    for i in range(1, count):
        word, place = buffer[i], i
        while place and buffer[place - 1] > word:
            buffer[place] = buffer[place - 1]
            place -= 1
        buffer[place] = word
    mixed = count
    for i in range(count):
        mixed = (mixed * 1103515245 + buffer[i] % 2147483647 + 12345) % 2147483647
    place = mixed & (len(table) - 1)
    while table[place] >= 0:
        number = table[place]
        first = begin[number]
        same = begin[number + 1] - first == count
        for i in range(count):
            if not same:
                break
            same = words[first + i] == buffer[i]
        if same:
            return number
        place = (place + 1) & (len(table) - 1)
    known, first = at[1], begin[at[1]]
    if known + 1 == len(begin) or first + count > len(words):
        return np.int32(FULL)
    words[first : first + count] = buffer[:count]
    begin[known + 1] = first + count
    table[place] = known
    at[1] = known + 1
    return np.int32(known)


@compiled
def together(kind, one, other, fronts, buffer, guards, bits):
    """Writes a union, or a meet, of two fronts into the buffer: how many budgets."""
    begin, words = fronts
    count = 0
    if kind == UNION:
        for which in (one, other):
            for k in range(begin[which], begin[which + 1]):
                if count == len(buffer):
                    return GIVEN_UP
                more = insert(buffer, 0, count, words[k], guards)
                count = more if more >= 0 else count
        return count
    for i in range(begin[one], begin[one + 1]):
        for k in range(begin[other], begin[other + 1]):
            if count == len(buffer):
                return GIVEN_UP
            join = larger(words[i], words[k], guards, bits)
            more = insert(buffer, 0, count, join, guards)
            count = more if more >= 0 else count
    return count


@compiled
def needed(u, after, rules, noted, fronts, table, buffer, at):
    """Notes what front is needed before an update: its number, or why none is."""
    bits, guards, caps = rules.about[0], rules.about[1], rules.about[2]
    begin, words = fronts
    count = 0
    for k in range(begin[after], begin[after + 1]):
        word = words[k]
        least = before(
            rules.rows, rules.starts, rules.ties, bits, guards, caps, u, word
        )
        more = insert(buffer, 0, count, least, guards)
        count = more if more >= 0 else count
    need = numbered(buffer, count, fronts, table, at)
    if need >= 0:
        noted[u, after] = need
    return np.int64(need)


@compiled
def combined(kind, one, other, rules, both, fronts, table, buffer, at):
    """Notes the union, or the meet, of two fronts, likewise."""
    bits, guards = rules.about[0], rules.about[1]
    count = together(kind, one, other, fronts, buffer, guards, bits)
    if count < 0:
        return np.int64(count)
    total = numbered(buffer, count, fronts, table, at)
    if total >= 0:
        both[kind, one, other] = both[kind, other, one] = total
    return np.int64(total)

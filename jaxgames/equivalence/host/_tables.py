"""Hash tables for compiled loops: of numbers under keys, and of numbered sets.

A table is an array of pairs: a key, -1 where the place is free, and the number under
it. A key is at the place of its hash, or after it. At most half of the places are
taken: callers see to it that there is room.
"""

import numpy as np

from jaxgames.host import compiled

_LOW = (1 << 32) - 1


@compiled
def new_table(entries):
    """A table with room for so many."""
    places = 16
    while places < 2 * entries:
        places *= 2
    return np.full(2 * places, -1, np.int64)


@compiled
def _place(table, key):
    """The place of a key, or a free one for it. No product passes 63 bits."""
    mixed = (key & _LOW) * 1013904223 + (key >> 32) * 766245317
    mixed = ((mixed ^ (mixed >> 29)) & _LOW) * 73244475
    last = len(table) - 2
    place = 2 * (mixed ^ (mixed >> 23)) & last
    while table[place] >= 0 and table[place] != key:
        place = (place + 2) & last
    return place


@compiled
def look_up(table, key, new):
    """The number under a key, which is `new` if there was none; -1 is not kept."""
    place = _place(table, key)
    if table[place] < 0:
        if new < 0:
            return np.int64(new)
        table[place], table[place + 1] = key, new
    return table[place + 1]


@compiled
def wider_table(table, size):
    """The same with room for `size` entries."""
    found = new_table(size)
    for old in range(0, len(table), 2):
        if table[old] >= 0:
            place = _place(found, table[old])
            found[place], found[place + 1] = table[old], table[old + 1]
    return found


@compiled
def find_set(table, set_start, member, values, new):
    """The number of a set, of ascending values, which is `new` if it is new.

    The table has the numbers of sets under their hashes; of those with the same one,
    all but the first have the next number for a hash.
    """
    mixed = len(values)
    for value in values:
        mixed = (mixed * 1103515245 + int(value) + 12345) % 2147483647
    while True:
        found = look_up(table, mixed, new)
        if found == new:
            return found
        start = set_start[found]
        same = set_start[found + 1] - start == len(values)
        if same:
            for i in range(len(values)):
                if member[start + i] != values[i]:
                    same = False
                    break
        if same:
            return found
        mixed += 1

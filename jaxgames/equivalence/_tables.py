"""Hash tables of numbered entries and of numbered sets, for compiled loops.

A table is an array of numbers, -1 where it is free, twice as long as what it holds at
least; an entry is at the place of its hash, or after it. What does not fit any more
comes back twice as large: callers take the arrays that they are given.
"""

import numpy as np

from jaxgames.host import compiled

FREE = -1

_PRIME = 2147483647


@compiled
def double(array):
    return np.concatenate((array, np.zeros_like(array)))


@compiled
def table_size(entries):
    """A power of two, twice as many places at least."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@compiled
def _hash(a, b, c):
    # No product passes 63 bits.
    mixed = (int(a) * 1103515245 + int(b) + 12345) % _PRIME
    mixed = (mixed * 1664525 + int(c) + 1013904223) % _PRIME
    return (mixed * 69069 + 5) % _PRIME


@compiled
def _find(table, key, a, b, c):
    """The place of an entry in a table, or a free one for it."""
    place = _hash(a, b, c) & (len(table) - 1)
    while True:
        at = table[place]
        if at < 0 or (key[at, 0] == a and key[at, 1] == b and key[at, 2] == c):
            return place
        place = (place + 1) & (len(table) - 1)


@compiled
def entry(key, table, count, a, b, c):
    """The number of an entry, which is made if it is new."""
    place = _find(table, key, a, b, c)
    if table[place] >= 0:
        return table[place], count, key, table
    if count == len(key):
        key = np.concatenate((key, np.zeros_like(key)))
    key[count, 0], key[count, 1], key[count, 2] = a, b, c
    table[place] = count
    if 2 * (count + 1) > len(table):
        table = np.full(2 * len(table), FREE, np.int32)
        for i in range(count + 1):
            table[_find(table, key, key[i, 0], key[i, 1], key[i, 2])] = i
    return count, count + 1, key, table


@compiled
def find_set(table, set_start, member, values):
    mixed = len(values) + 1
    for i in range(len(values)):
        mixed = (mixed * 1103515245 + int(values[i]) + 12345) % _PRIME
    place = (mixed * 69069 + 5) % _PRIME & (len(table) - 1)
    while True:
        at = table[place]
        if at < 0:
            return place
        start = set_start[at]
        if set_start[at + 1] - start == len(values):
            same = True
            for i in range(len(values)):
                if member[start + i] != values[i]:
                    same = False
                    break
            if same:
                return place
        place = (place + 1) & (len(table) - 1)


@compiled
def add_set(set_start, member, table, count, values):
    """The number of a set, which is made if it is new."""
    place = find_set(table, set_start, member, values)
    if table[place] >= 0:
        return table[place], count, set_start, member, table
    start = set_start[count]
    while start + len(values) > len(member):
        member = double(member)
    if count + 2 > len(set_start):
        set_start = double(set_start)
    for i in range(len(values)):
        member[start + i] = values[i]
    set_start[count + 1] = start + len(values)
    table[place] = count
    if 2 * (count + 1) > len(table):
        table = np.full(2 * len(table), FREE, np.int32)
        for i in range(count + 1):
            values = member[set_start[i] : set_start[i + 1]]
            table[find_set(table, set_start, member, values)] = i
    return count, count + 1, set_start, member, table

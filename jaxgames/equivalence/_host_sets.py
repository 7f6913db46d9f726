"""Sets of processes in compiled loops: what they reach, and how they are split."""

import numpy as np

from jaxgames.host import compiled


@compiled
def reached_from(parts, lengths, values, row, label, target, action, seen):
    """The processes that some reach by an action, as the first part."""
    length, stamp = 0, seen[0]
    for i in range(len(values)):
        q = values[i]
        low, high = row[q], row[q + 1]
        while low < high:
            middle = (low + high) // 2
            if label[middle] < action:
                low = middle + 1
            else:
                high = middle
        while low < row[q + 1] and label[low] == action:
            if seen[target[low] + 1] != stamp:
                seen[target[low] + 1] = stamp
                parts[0, length] = target[low]
                length += 1
            low += 1
    _sort(parts[0, :length])
    lengths[:] = 0
    lengths[0] = length


@compiled
def _sort(values):
    """Sorts numbers where they are; most often they are few, or in order."""
    if len(values) > 64:
        values[:] = np.sort(values)
        return
    for i in range(1, len(values)):
        value, place = values[i], i
        while place and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@compiled
def split(parts, lengths, values, own, set_of, set_row, set_label):
    """Splits processes by what they enable: less than p, more, and the same.

    Of three splits, each the rest and the part taken.
    """
    lengths[:] = 0
    for i in range(len(values)):
        other = set_of[values[i]]
        less = _includes(set_row, set_label, own, other)
        more = _includes(set_row, set_label, other, own)
        for choice in range(3):
            taken = more if choice == 1 else less
            if choice == 2:
                taken = less and more
            part = 2 * choice + (1 if taken else 0)
            parts[part, lengths[part]] = values[i]
            lengths[part] += 1


@compiled
def _includes(set_row, set_label, large, small):
    """Whether one set of labels includes another."""
    i, stop = set_row[large], set_row[large + 1]
    for j in range(set_row[small], set_row[small + 1]):
        while i < stop and set_label[i] < set_label[j]:
            i += 1
        if i == stop or set_label[i] != set_label[j]:
            return False
    return True


@compiled
def contains(member, set_start, which, process):
    low, high = set_start[which], set_start[which + 1]
    while low < high:
        middle = (low + high) // 2
        if member[middle] < process:
            low = middle + 1
        else:
            high = middle
    return low < set_start[which + 1] and member[low] == process

"""Sets of processes in compiled loops: what they reach, and how they are split."""

import numpy as np

from jaxgames.host import compiled


@compiled
def reached_from(
    parts, lengths, values, row, step_label, step_start, target, action, seen
):
    """The processes that some reach by an action, as the first part."""
    length, stamp = 0, seen[0]
    for i in range(len(values)):
        q = values[i]
        low, high = row[q], row[q + 1]
        while low < high:
            middle = (low + high) // 2
            if step_label[middle] < action:
                low = middle + 1
            else:
                high = middle
        if low == row[q + 1] or step_label[low] != action:
            continue
        for transition in range(step_start[low], step_start[low + 1]):
            if seen[target[transition] + 1] != stamp:
                seen[target[transition] + 1] = stamp
                parts[0, length] = target[transition]
                length += 1
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
def split(parts, lengths, values, own, set_of, masks):
    """Splits processes by what they enable: less than p, more, and the same.

    Of three splits, each the rest and the part taken.
    """
    lengths[:] = 0
    for i in range(len(values)):
        other = set_of[values[i]]
        less, more = True, True
        for word in range(masks.shape[1]):
            one, two = masks[own, word], masks[other, word]
            less = less and two & ~one == 0
            more = more and one & ~two == 0
        for choice in range(3):
            taken = more if choice == 1 else less
            if choice == 2:
                taken = less and more
            part = 2 * choice + (1 if taken else 0)
            parts[part, lengths[part]] = values[i]
            lengths[part] += 1


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

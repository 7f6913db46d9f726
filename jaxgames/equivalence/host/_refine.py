"""Signature refinement as loops on the host, which look only at what has changed.

A round gives new signatures to the states that have a transition to a state whose class
was renamed in the last one. Where a class splits, the states that were not looked at
keep its name, or if there are none the largest part: so a round takes steps for the
transitions of the states that it looks at, and for those into the ones it renames.
"""

import numpy as np

from jaxgames.host import compiled

_LOW = (1 << 32) - 1


@compiled
def _mixed(x, salt):
    """A hash, below 2**60, of a number below 2**61. No product passes 63 bits."""
    mixed = (x & _LOW) * 1013904223 + (x >> 32) * 766245317 + salt * 668265263
    mixed ^= mixed >> 29
    mixed = (mixed & _LOW) * 73244475 + (mixed >> 32)
    return mixed ^ (mixed >> 23)


@compiled
def _signature(offsets, label, target, classes, state, seen, stamp, salt):
    """The sum of the hashes of a state's different pairs of label and class.

    What was seen has a stamp for each label; the last one is returned too.
    """
    total = 0
    for edge in range(offsets[state], offsets[state + 1]):
        if edge == offsets[state] or label[edge] != label[edge - 1]:
            stamp += 1
        aim = classes[target[edge]]
        if seen[aim] != stamp:
            seen[aim] = stamp
            total += _mixed((int(label[edge]) << 31) + int(aim), salt)
            total &= (1 << 61) - 1
    return total, stamp


@compiled
def refine(offsets, label, target, back, sources, start, salt, stop):
    """The classes of states that cannot be told apart by signatures.

    Args:
        offsets: integers `[V + 1]`, where the transitions of each state start.
        label: integers `[E]`, ascending for each state.
        target: integers `[E]`.
        back: integers `[V + 1]`, where the transitions into each state start.
        sources: integers `[E]`, the states that these come from.
        start: int32 `[V]`, classes to start from, numbered from 0.
        salt: which hash to take for signatures.
        stop: int8 `[1]`: once it is not 0, the classes are those of the last round.

    Returns:
        int32 `[V]`, numbered in the order of their first states. If the hash took
        different signatures for equal, states of a class may differ.
    """
    size = len(offsets) - 1
    classes, known = start.copy(), 0
    # Of each class the states that are not looked at, and its largest group.
    clean = np.zeros(size + 1, np.int32)
    for state in range(size):
        clean[classes[state]] += 1
        known = max(known, classes[state] + 1)
    seen, stamp = np.full(size + 1, -1, np.int64), 0
    # States to look at, and their signatures: groups within their classes.
    changed, count = np.arange(size), size
    marked = np.ones(size, np.bool_)
    group, of_group = np.empty(size, np.int32), np.empty(size, np.int32)
    signature, grown = np.empty(size, np.int64), np.empty(size, np.int32)
    largest = np.full(size + 1, -1, np.int32)
    table = np.empty(16, np.int32)
    renamed = np.empty(size, np.int64)
    while count and stop[0] == 0:
        places = 16
        while places < 2 * count:
            places *= 2
        if places > len(table):
            table = np.empty(places, np.int32)
        table[:places] = -1
        groups = 0
        for i in range(count):
            state = changed[i]
            marked[state] = False
            total, stamp = _signature(
                offsets, label, target, classes, state, seen, stamp, salt
            )
            own = classes[state]
            clean[own] -= 1
            place = _mixed(total, salt + int(own)) & (places - 1)
            while True:
                found = table[place]
                if found < 0:
                    found = groups
                    table[place], signature[found] = found, total
                    of_group[found], grown[found] = own, 0
                    groups += 1
                    break
                if signature[found] == total and of_group[found] == own:
                    break
                place = (place + 1) & (places - 1)
            group[i] = found
            grown[found] += 1
        for i in range(groups):
            own = of_group[i]
            if largest[own] < 0 or grown[i] > grown[largest[own]]:
                largest[own] = i
        # From here on a group is known by the name of its class.
        for i in range(groups):
            own = of_group[i]
            signature[i] = own
            if clean[own] or largest[own] != i:
                signature[i] = known
                known += 1
        for i in range(groups):
            largest[of_group[i]] = -1
            clean[signature[i]] = grown[i]
        moved = 0
        for i in range(count):
            if classes[changed[i]] != signature[group[i]]:
                classes[changed[i]] = signature[group[i]]
                renamed[moved] = changed[i]
                moved += 1
        count = 0
        for i in range(moved):
            for edge in range(back[renamed[i]], back[renamed[i] + 1]):
                state = sources[edge]
                if not marked[state]:
                    marked[state] = True
                    changed[count] = state
                    count += 1
    return numbered(classes, known)


@compiled
def numbered(classes, count):
    """The same classes, numbered in the order of their first states."""
    names = np.full(count, -1, np.int32)
    found = np.empty_like(classes)
    known = 0
    for state in range(len(classes)):
        own = classes[state]
        if names[own] < 0:
            names[own] = known
            known += 1
        found[state] = names[own]
    return found


@compiled
def stable(offsets, label, target, classes, count):
    """Whether the states of each class have the same signatures: no hash is used."""
    model = np.full(count, -1, np.int64)
    seen = np.full(count, -1, np.int64)
    stamp = 0
    for state in range(len(offsets) - 1):
        own = classes[state]
        if model[own] < 0:
            model[own] = state
        one, other = model[own], state
        i, j = offsets[one], offsets[other]
        while i < offsets[one + 1] and j < offsets[other + 1]:
            if label[i] != label[j]:
                return False
            action = label[i]
            # All classes that one reaches, and that the other reaches as well.
            stamp += 2
            left = 0
            while i < offsets[one + 1] and label[i] == action:
                if seen[classes[target[i]]] != stamp:
                    seen[classes[target[i]]] = stamp
                    left += 1
                i += 1
            while j < offsets[other + 1] and label[j] == action:
                if seen[classes[target[j]]] < stamp:
                    return False
                if seen[classes[target[j]]] == stamp:
                    seen[classes[target[j]]] = stamp + 1
                    left -= 1
                j += 1
            if left:
                return False
        if i < offsets[one + 1] or j < offsets[other + 1]:
            return False
    return True

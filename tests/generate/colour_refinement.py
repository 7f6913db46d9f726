"""Tell games apart whatever their vertices are numbered."""

import numpy as np


def fingerprint(arena, label=None, rounds=12):
    """Sorted colours of the vertices after some rounds of colour refinement.

    A vertex's first colour is made of its owner, priority and label; in each round it
    takes in the colours of its successors and of its predecessors. Isomorphic games
    have equal fingerprints.
    """
    transposed = arena.reverse()
    colour = _mix(arena.owner) + _mix(arena.priority * 2 + 1)
    if label is not None:
        colour += _mix(label.astype(np.uint64) * np.uint64(4) + np.uint64(3))
    for _ in range(rounds):
        ahead = _sums(arena.row_ptr, _mix(colour)[arena.dst])
        behind = _sums(transposed.row_ptr, _mix(~colour)[transposed.dst])
        colour = _mix(_mix(colour) + ahead + _mix(behind))
    return np.sort(colour)


def _mix(values):
    """Scatters the bits of 64-bit words (the finalizer of splitmix64)."""
    words = np.array(values).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _sums(row_ptr, values):
    """Sums of the rows, modulo 2**64."""
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])
    return before[row_ptr[1:]] - before[row_ptr[:-1]]

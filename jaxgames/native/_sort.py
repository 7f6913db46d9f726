"""Sorting, for code that is translated."""

from typing import Any


def sort(values: Any) -> None:
    """Sorts numbers where they are, by a heap: O(n log n) time at worst, no memory."""
    size = len(values)
    for turn in range(size + size // 2):
        # A third of the turns makes a heap, and each of the others takes its greatest.
        last, place = size, size // 2 - 1 - turn
        if place < 0:
            last, place = size - 1 - (turn - size // 2), 0
            if last <= 0:
                return
            greatest = values[0]
            value = values[last]
            values[last] = greatest
        else:
            value = values[place]
        while True:
            child = 2 * place + 1
            if child >= last:
                break
            if child + 1 < last and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[place] = values[child]
            place = child
        values[place] = value

"""Smaller and smaller cases that still go wrong."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def shrink(
    case: T,
    smaller: Callable[[T], Iterable[T]],
    fails: Callable[[Sequence[T]], int | None],
    *,
    over: Callable[[], Any] = lambda: False,
) -> T:
    """Makes a case smaller as long as it still fails.

    All ways are tried, and the first that fails is taken, until none does.

    Args:
        case: a case that fails.
        smaller: all cases that are one step smaller.
        fails: the first of some cases that fails, by its number; None if none does.
        over: whether there is no more time.

    Examples:
        >>> def fails(numbers):
        ...     return next((i for i, x in enumerate(numbers) if x >= 5), None)
        >>> shrink(17, lambda x: [x // 2, x - 1], fails)
        5
    """
    while not over():
        steps = list(smaller(case))
        found = fails(steps) if steps else None
        if found is None:
            break
        case = steps[found]
    return case

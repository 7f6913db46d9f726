"""How often Python looks for cycles of objects while a program is read."""

import contextlib
import gc
from collections.abc import Iterator

OBJECTS = 400_000
"""How many more there are before cycles among them are looked for."""


@contextlib.contextmanager
def many_objects_stay() -> Iterator[None]:
    """Within this context cycles of objects are seldom looked for.

    A program is a tree of many small objects, and hardly any goes before the last is
    made. Python would look through all that there are again and again: a third of the
    time and more.

    Examples:
        >>> import gc
        >>> before = gc.get_threshold()
        >>> with many_objects_stay():
        ...     gc.get_threshold()[0] >= OBJECTS
        True
        >>> gc.get_threshold() == before
        True
    """
    before = gc.get_threshold()
    if not 0 < before[0] < OBJECTS:  # never, or seldom: as somebody has chosen
        yield
        return
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)

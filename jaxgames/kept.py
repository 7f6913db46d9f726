"""What is kept with a value: the one cache.

A layout on the device, a bound, a transposed graph: what is found from a value that
does not change is found once. It lies with the value itself, and goes with it.
"""

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
V = TypeVar("V")

SLOT = "_kept"
"""The attribute of a value that holds what is kept with it."""


class _Shelf:
    """What is kept with one value, by key."""

    __slots__ = ("__weakref__", "things")

    def __init__(self):
        self.things: dict[Hashable, Any] = {}


_shelves: weakref.WeakSet[_Shelf] = weakref.WeakSet()
_lock = threading.Lock()


def kept(value: Any, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` gave when it was first asked for.

    Two threads that ask at once may both make it, and both get the same one.

    Args:
        value: what it is found from, and what it lies with: an arena, a model, anything
            whose arrays do not change.
        key: names it among all that is kept with a value. What depends on a device has
            the device in its key.
        make: finds it; called without arguments.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[0, 1])
        >>> kept(arena, "loops", lambda: int((arena.src == arena.dst).sum()))
        1
        >>> kept(arena, "loops", lambda: 1 / 0)
        1
    """
    things = _shelf(value).things
    try:
        return things[key]
    except KeyError:
        return things.setdefault(key, make())


def is_kept(value: Any, key: Hashable) -> bool:
    """Whether there is something of this key already."""
    shelf = vars(value).get(SLOT)
    return shelf is not None and key in shelf.things


def forget(value: Any, key: Hashable) -> None:
    """Forgets what is kept by a key, if there is anything, which gives memory back.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges([0], [0], owner=[0])
        >>> kept(arena, "name", lambda: "one"), forget(arena, "name")
        ('one', None)
        >>> is_kept(arena, "name")
        False
    """
    _shelf(value).things.pop(key, None)


def clear(value: Any = None) -> None:
    """Forgets what is kept with a value; None: with all there are.

    It is found anew when it is asked for. This gives memory back, on devices too.

    Examples:
        >>> import jaxgames
        >>> from jaxgames import parity
        >>> arena = jaxgames.Arena.from_edges([0], [0], owner=[0], priority=[0])
        >>> solution = parity.solve(arena)
        >>> jaxgames.kept.clear(arena)
    """
    if value is None:
        with _lock:
            shelves = list(_shelves)
    else:
        shelf = getattr(value, SLOT, None)
        shelves = [] if shelf is None else [shelf]
    for shelf in shelves:
        shelf.things.clear()


def _shelf(value: Any) -> _Shelf:
    # Sooner than `getattr`, which would ask an arena for what it writes down late.
    shelf = vars(value).get(SLOT)
    if shelf is None:
        with _lock:
            shelf = vars(value).get(SLOT)
            if shelf is None:
                shelf = _Shelf()
                _shelves.add(shelf)
                object.__setattr__(value, SLOT, shelf)  # values are frozen
    return shelf


class keeps(Generic[V, T]):
    """Decorator: a property that is found once, and kept with its value.

    Examples:
        >>> class Point:
        ...     @keeps
        ...     def norm(self):
        ...         print("once")
        ...         return 5
        >>> point = Point()
        >>> point.norm, point.norm
        once
        (5, 5)
    """

    def __init__(self, find: Callable[[V], T]):
        self._find = find
        self.__doc__ = find.__doc__

    @overload
    def __get__(self, value: None, owner: type) -> "keeps[V, T]": ...
    @overload
    def __get__(self, value: V, owner: type) -> T: ...
    def __get__(self, value: Any, owner: type) -> Any:
        """What is kept."""
        if value is None:
            return self
        return kept(value, self, lambda: self._find(value))

"""Fetching what is read soon, for code that is translated."""

from typing import Any


def prefetch(array: Any, index: int) -> None:
    """Has the memory of an item fetched, so that a later read need not wait for it.

    It changes nothing, and any index will do: nothing is read. Elsewhere than in
    translated code it does nothing.
    """

"""Numbers that were found by trying: what is worth what, on a CPU and on others.

A module for each part of the library. Numbers that depend on the backend are mappings,
read by `here`. No answer depends on any of them.
"""

from collections.abc import Mapping
from typing import TypeVar

from jaxgames.later import backend

T = TypeVar("T")


def here(numbers: Mapping[str, T]) -> T:
    """The number for the backend of this process; the GPU's where there is no other."""
    kind = backend()
    return numbers[kind if kind in numbers else "gpu"]

"""All slices that are fuzzed, by name."""

import functools
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from jaxgames.testing._subject import Subject


def _subject(module: str, **options) -> Subject:
    return importlib.import_module(f"jaxgames.testing.{module}").subject(**options)


SLICES: Mapping[str, Callable[[], Subject]] = MappingProxyType(
    {
        "parity": functools.partial(_subject, "_parity"),
        "parity-edges": functools.partial(_subject, "_parity", on_edges=True),
        "energy": functools.partial(_subject, "_energy"),
    }
)
"""What makes each slice: a function that can be pickled, and imports it when called."""

"""All slices that are fuzzed, by name."""

import functools
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from jaxgames.testing._subject import Subject


def _subject(module: str, name: str = "subject", **options) -> Subject:
    made = importlib.import_module(f"jaxgames.testing.{module}")
    return getattr(made, name)(**options)


SLICES: Mapping[str, Callable[[], Subject]] = MappingProxyType(
    {
        "parity": functools.partial(_subject, "_parity"),
        "parity-edges": functools.partial(_subject, "_parity", on_edges=True),
        "energy": functools.partial(_subject, "_energy"),
        "meanpayoff": functools.partial(_subject, "_meanpayoff"),
        "energyparity": functools.partial(_subject, "_energyparity"),
        "emersonlei": functools.partial(_subject, "_emersonlei"),
        "discounted": functools.partial(_subject, "_discounted"),
        "multienergy": functools.partial(_subject, "_multienergy"),
        "cycles": functools.partial(_subject, "_buchi", "cycles"),
        "buchi": functools.partial(_subject, "_buchi", "games"),
        "ltl": functools.partial(_subject, "_ltl"),
        "synth": functools.partial(_subject, "_synth"),
        "equivalence": functools.partial(_subject, "_equivalence"),
        "files": functools.partial(_subject, "_files"),
        "scc": functools.partial(_subject, "_graph"),
        "mec": functools.partial(_subject, "_mdp", "components"),
        "reach": functools.partial(_subject, "_mdp", "probabilities"),
        "values": functools.partial(_subject, "_mdp_values"),
        "programs": functools.partial(_subject, "_programs"),
        "timed": functools.partial(_subject, "_timed"),
        "robust": functools.partial(_subject, "_robust"),
    }
)
"""What makes each slice: a function that can be pickled, and imports it when called."""

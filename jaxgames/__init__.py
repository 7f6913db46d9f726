"""Games on graphs, solved as jit-compiled array programs."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from jaxgames.arena import Arena as Arena
from jaxgames.batch import solve_many as solve_many
from jaxgames.memory import TooLargeError as TooLargeError
from jaxgames.solution import Solution as Solution
from jaxgames.solution import SolveError as SolveError
from jaxgames.solution import Status as Status
from jaxgames.validity import unchecked as unchecked

if TYPE_CHECKING:
    from jaxgames import buchi as buchi
    from jaxgames import checkpoint as checkpoint
    from jaxgames import energy as energy
    from jaxgames import equivalence as equivalence
    from jaxgames import generate as generate
    from jaxgames import graph as graph
    from jaxgames import io as io
    from jaxgames import kept as kept
    from jaxgames import ltl as ltl
    from jaxgames import mdp as mdp
    from jaxgames import meanpayoff as meanpayoff
    from jaxgames import multienergy as multienergy
    from jaxgames import parallel as parallel
    from jaxgames import parity as parity
    from jaxgames import plot as plot
    from jaxgames import systems as systems

__version__ = "0.1.0"

_MODULES = frozenset({
    "buchi", "checkpoint", "energy", "equivalence", "generate", "graph", "io", "ltl",
    "mdp", "meanpayoff", "multienergy", "parallel", "parity", "plot", "systems",
})  # fmt: skip
"""Imported when first asked for: few programs need all of them."""


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"jaxgames.{name}")
    raise AttributeError(f"module 'jaxgames' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})

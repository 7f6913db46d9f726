"""Games on graphs, solved as jit-compiled array programs."""

from jaxgames import starting as _starting

if _starting.is_command():
    _starting.end_silently()

from typing import TYPE_CHECKING

from jaxgames import later as _later

if TYPE_CHECKING:
    from jaxgames import buchi as buchi
    from jaxgames import checkpoint as checkpoint
    from jaxgames import discounted as discounted
    from jaxgames import emersonlei as emersonlei
    from jaxgames import energy as energy
    from jaxgames import energyparity as energyparity
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
    from jaxgames import programs as programs
    from jaxgames import synth as synth
    from jaxgames import systems as systems
    from jaxgames.arena import Arena as Arena
    from jaxgames.batch import solve_many as solve_many
    from jaxgames.memory import TooLargeError as TooLargeError
    from jaxgames.solution import Solution as Solution
    from jaxgames.solution import SolveError as SolveError
    from jaxgames.solution import Status as Status
    from jaxgames.validity import unchecked as unchecked

__version__ = "0.1.0"

__getattr__, __dir__ = _later.exports(__name__)

"""Games on graphs, solved as jit-compiled array programs."""

from jaxgames import generate as generate
from jaxgames import io as io
from jaxgames import parity as parity
from jaxgames import plot as plot
from jaxgames.arena import Arena as Arena
from jaxgames.solution import Solution as Solution
from jaxgames.solution import SolveError as SolveError
from jaxgames.solution import Status as Status

__version__ = "0.1.0"

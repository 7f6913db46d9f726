"""Games on graphs, solved as jit-compiled array programs."""

from jaxgames import buchi as buchi
from jaxgames import energy as energy
from jaxgames import equivalence as equivalence
from jaxgames import generate as generate
from jaxgames import graph as graph
from jaxgames import io as io
from jaxgames import mdp as mdp
from jaxgames import meanpayoff as meanpayoff
from jaxgames import multienergy as multienergy
from jaxgames import parallel as parallel
from jaxgames import parity as parity
from jaxgames import plot as plot
from jaxgames.arena import Arena as Arena
from jaxgames.batch import solve_many as solve_many
from jaxgames.solution import Solution as Solution
from jaxgames.solution import SolveError as SolveError
from jaxgames.solution import Status as Status

__version__ = "0.1.0"

"""Graphs, games and models of other packages: converted from and to ours.

| module | converts |
|---|---|
| [`networkx`][jaxgames.interop.networkx] | graphs and games of networkx |
| [`igraph`][jaxgames.interop.igraph] | graphs of igraph |
| [`rustworkx`][jaxgames.interop.rustworkx] | graphs of rustworkx |
| [`scipy`][jaxgames.interop.scipy] | sparse matrices: graphs, models |
| [`stormpy`][jaxgames.interop.stormpy] | Storm's models |

Each imports the other package only when a function is called.
"""

from jaxgames.interop import igraph as igraph
from jaxgames.interop import networkx as networkx
from jaxgames.interop import rustworkx as rustworkx
from jaxgames.interop import scipy as scipy
from jaxgames.interop import stormpy as stormpy

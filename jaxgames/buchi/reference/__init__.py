"""Textbook algorithms for Büchi automata and systems, one vertex at a time.

Where numba is installed (`pip install jaxgames[host]`) the same source compiles to a
fast engine for one core.
"""

from jaxgames.buchi.reference._game import descent as descent
from jaxgames.buchi.reference._game import solve as solve
from jaxgames.buchi.reference._lasso import Lasso as Lasso
from jaxgames.buchi.reference._nested_dfs import NO_CYCLE as NO_CYCLE
from jaxgames.buchi.reference._nested_dfs import STOPPED as STOPPED
from jaxgames.buchi.reference._search import accepting_cycle as accepting_cycle
from jaxgames.buchi.reference._search import check_lasso as check_lasso
from jaxgames.buchi.reference._search import lasso_through as lasso_through
from jaxgames.buchi.reference._search import search as search
from jaxgames.buchi.reference._search import way_to as way_to
from jaxgames.buchi.reference._verify import faults as faults
from jaxgames.systems.host import expand as expand

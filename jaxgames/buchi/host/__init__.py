"""The sequential engines, one vertex at a time; compiled where numba is installed.

[`buchi.reference`][jaxgames.buchi.reference] answers the same by simpler algorithms.
"""

from jaxgames.buchi.host._edges import checked as checked
from jaxgames.buchi.host._edges import counted as counted
from jaxgames.buchi.host._edges import ends as ends
from jaxgames.buchi.host._edges import find as find
from jaxgames.buchi.host._edges import inside_components as inside_components
from jaxgames.buchi.host._edges import inside_parts as inside_parts
from jaxgames.buchi.host._edges import narrowed as narrowed
from jaxgames.buchi.host._edges import quotient as quotient
from jaxgames.buchi.host._edges import stray_edge as stray_edge
from jaxgames.buchi.host._game import descent as descent
from jaxgames.buchi.host._game import solve as solve
from jaxgames.buchi.host._nested_dfs import NO_CYCLE as NO_CYCLE
from jaxgames.buchi.host._nested_dfs import STOPPED as STOPPED
from jaxgames.buchi.host._search import check_lasso as check_lasso
from jaxgames.buchi.host._search import lasso_through as lasso_through
from jaxgames.buchi.host._search import search as search
from jaxgames.buchi.host._search import way_to as way_to
from jaxgames.buchi.host._verify import faults as faults

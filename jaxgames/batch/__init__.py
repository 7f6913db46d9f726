"""Many games at once: stacks of one size, solved in rounds, packed as they finish."""

from jaxgames.batch._form import ARENAS as ARENAS
from jaxgames.batch._form import Form as Form
from jaxgames.batch._form import cut as cut
from jaxgames.batch._problem import PROBLEMS as PROBLEMS
from jaxgames.batch._problem import Problem as Problem
from jaxgames.batch._problem import Then as Then
from jaxgames.batch._problem import Union as Union
from jaxgames.batch._problem import laid_out as laid_out
from jaxgames.batch._problem import largest as largest
from jaxgames.batch._problem import register as register
from jaxgames.batch._problem import widest as widest
from jaxgames.batch._rounds import Standing as Standing
from jaxgames.batch._solve import Solutions as Solutions
from jaxgames.batch._solve import solve_many as solve_many
from jaxgames.batch._stack import buckets as buckets
from jaxgames.batch._stack import filled as filled
from jaxgames.batch._stack import grouped as grouped
from jaxgames.batch._stack import stack as stack
from jaxgames.batch._stack import states_of as states_of
from jaxgames.batch._union import union as union

"""Many games at once: stacks of one size, solved in rounds, packed as they finish."""

from jaxgames.drive import Form as Form
from jaxgames.drive import Solutions as Solutions
from jaxgames.drive import Standing as Standing
from jaxgames.drive import buckets as buckets
from jaxgames.drive import laid_out as laid_out
from jaxgames.drive import solve_many as solve_many
from jaxgames.drive import stack as stack
from jaxgames.drive import union as union
from jaxgames.drive import widest as widest

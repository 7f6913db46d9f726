"""A conformance kit for solvers, a fuzzer, and the random arenas they work on.

Whoever adds a solver runs [`check_solver`][jaxgames.testing.check_solver] on it:
answers against the sequential reference and the certificate, on games of odd shapes and
under every way in which a solver may be called.

[`check_transforms`][jaxgames.testing.check_transforms] does so for the solves of all
kinds of games: under `jax.jit`, `jax.vmap`, `jax.lax.map`, `jax.shard_map` and
`jax.grad`.

`python -m jaxgames.testing` holds all solvers of every slice against each other, and
verification against spoilt answers, on as many small cases as there is time for
([`fuzz`][jaxgames.testing.fuzz]); and with `--slices files` every reader of files on
mutated ones.

Examples:
    >>> from jaxgames.parity import FPI
    >>> check_solver(FPI(), odd_arenas(seed=0, count=1))
"""

from jaxgames.testing._arenas import SHAPES as SHAPES
from jaxgames.testing._arenas import odd_arena as odd_arena
from jaxgames.testing._arenas import odd_arenas as odd_arenas
from jaxgames.testing._conformance import Pair as Pair
from jaxgames.testing._conformance import check_solver as check_solver
from jaxgames.testing._conformance import pair as pair
from jaxgames.testing._fuzz import Failure as Failure
from jaxgames.testing._fuzz import Summary as Summary
from jaxgames.testing._fuzz import fuzz as fuzz
from jaxgames.testing._slices import SLICES as SLICES
from jaxgames.testing._subject import Cases as Cases
from jaxgames.testing._subject import Subject as Subject
from jaxgames.testing._transforms import check_transforms as check_transforms

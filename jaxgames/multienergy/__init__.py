"""Multi-dimensional energy games: all minimal budgets that win."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.multienergy import reference as reference
    from jaxgames.multienergy._batch import stack as stack
    from jaxgames.multienergy._batch import union as union
    from jaxgames.multienergy._bitmap import ByBitmap as ByBitmap
    from jaxgames.multienergy._fronts import ByFronts as ByFronts
    from jaxgames.multienergy._game import Game as Game
    from jaxgames.multienergy._many import solve_many as solve_many
    from jaxgames.multienergy._memory import memory as memory
    from jaxgames.multienergy._play import Play as Play
    from jaxgames.multienergy._play import Strategy as Strategy
    from jaxgames.multienergy._play import play as play
    from jaxgames.multienergy._play import strategy as strategy
    from jaxgames.multienergy._problem import PROBLEM as PROBLEM
    from jaxgames.multienergy._problem import SOLVERS as SOLVERS
    from jaxgames.multienergy._solution import Fronts as Fronts
    from jaxgames.multienergy._solve import place_for as place_for
    from jaxgames.multienergy._solve import solve as solve
    from jaxgames.multienergy._verdict import Reason as Reason
    from jaxgames.multienergy._verdict import Verdict as Verdict
    from jaxgames.multienergy._verify import verify as verify

__getattr__, __dir__ = later.exports(__name__)

"""The one way in: a contract that slices fill in, and what drives it.

A slice says of itself in a [`Problem`][jaxgames.drive.Problem] how a question is read,
laid out, checked and answered; [`solve`][jaxgames.drive.solve] and
[`solve_many`][jaxgames.solve_many] do the rest. See *Architecture*.
"""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.drive._dense import laid_out as laid_out
    from jaxgames.drive._dense import largest as largest
    from jaxgames.drive._dense import widest as widest
    from jaxgames.drive._each import one_by_one as one_by_one
    from jaxgames.drive._form import ARENAS as ARENAS
    from jaxgames.drive._form import Form as Form
    from jaxgames.drive._form import cut as cut
    from jaxgames.drive._how import How as How
    from jaxgames.drive._how import front_door as front_door
    from jaxgames.drive._legs import LegState as LegState
    from jaxgames.drive._legs import along_legs as along_legs
    from jaxgames.drive._many import Solutions as Solutions
    from jaxgames.drive._many import solve_many as solve_many
    from jaxgames.drive._problem import DEVICE as DEVICE
    from jaxgames.drive._problem import HOST as HOST
    from jaxgames.drive._problem import PROBLEMS as PROBLEMS
    from jaxgames.drive._problem import RACE as RACE
    from jaxgames.drive._problem import Leg as Leg
    from jaxgames.drive._problem import Problem as Problem
    from jaxgames.drive._problem import Then as Then
    from jaxgames.drive._problem import Undo as Undo
    from jaxgames.drive._problem import register as register
    from jaxgames.drive._race import Track as Track
    from jaxgames.drive._race import wait_for_losers as wait_for_losers
    from jaxgames.drive._rounds import Standing as Standing
    from jaxgames.drive._solve import check_solver as check_solver
    from jaxgames.drive._solve import is_place as is_place
    from jaxgames.drive._solve import place_for as place_for
    from jaxgames.drive._solve import refuse_limits as refuse_limits
    from jaxgames.drive._solve import refuse_place as refuse_place
    from jaxgames.drive._solve import solve as solve
    from jaxgames.drive._solve import undecided as undecided
    from jaxgames.drive._stack import buckets as buckets
    from jaxgames.drive._stack import filled as filled
    from jaxgames.drive._stack import grouped as grouped
    from jaxgames.drive._stack import stack as stack
    from jaxgames.drive._stack import states_of as states_of
    from jaxgames.drive._union import split as split
    from jaxgames.drive._union import union as union
    from jaxgames.tuning.drive import HEAD_START as HEAD_START

__getattr__, __dir__ = later.exports(__name__)

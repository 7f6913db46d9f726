"""Mean-payoff games: who gets which mean weight on the long run, and how."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.meanpayoff import reference as reference
    from jaxgames.meanpayoff._certificate import verify as verify
    from jaxgames.meanpayoff._decide import decide as decide
    from jaxgames.meanpayoff._problem import PROBLEM as PROBLEM
    from jaxgames.meanpayoff._problem import SOLVERS as SOLVERS
    from jaxgames.meanpayoff._search import Standing as Standing
    from jaxgames.meanpayoff._solution import Decision as Decision
    from jaxgames.meanpayoff._solution import Solution as Solution
    from jaxgames.meanpayoff._solve import solve as solve
    from jaxgames.meanpayoff._verdict import Reason as Reason
    from jaxgames.meanpayoff._verdict import Verdict as Verdict

__getattr__, __dir__ = later.exports(__name__)

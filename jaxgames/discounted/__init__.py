"""Discounted games: what is soon gained counts more than what is gained late."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.discounted import reference as reference
    from jaxgames.discounted._improvement import (
        StrategyImprovement as StrategyImprovement,
    )
    from jaxgames.discounted._problem import PROBLEM as PROBLEM
    from jaxgames.discounted._problem import SOLVERS as SOLVERS
    from jaxgames.discounted._solution import Solution as Solution
    from jaxgames.discounted._solve import solve as solve
    from jaxgames.discounted._verdict import Reason as Reason
    from jaxgames.discounted._verdict import Verdict as Verdict
    from jaxgames.discounted._verify import verify as verify
    from jaxgames.discounted._vi import ValueIteration as ValueIteration

__getattr__, __dir__ = later.exports(__name__)

"""Energy parity games: enough energy for ever, and the right priorities as well."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.energyparity import reference as reference
    from jaxgames.energyparity._convert import (
        from_mean_payoff_parity as from_mean_payoff_parity,
    )
    from jaxgames.energyparity._decide import decide as decide
    from jaxgames.energyparity._modes import Memory as Memory
    from jaxgames.energyparity._modes import Modes as Modes
    from jaxgames.energyparity._problem import DECISIONS as DECISIONS
    from jaxgames.energyparity._problem import PROBLEM as PROBLEM
    from jaxgames.energyparity._problem import SOLVERS as SOLVERS
    from jaxgames.energyparity._solution import Solution as Solution
    from jaxgames.energyparity._solve import solve as solve
    from jaxgames.energyparity._values import Values as Values
    from jaxgames.energyparity._values import values as values
    from jaxgames.energyparity._verdict import Reason as Reason
    from jaxgames.energyparity._verdict import Verdict as Verdict
    from jaxgames.energyparity._verify import verify as verify

__getattr__, __dir__ = later.exports(__name__)

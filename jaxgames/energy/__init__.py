"""Energy games: how much energy is enough to go on for ever, and how to play."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.drive import wait_for_losers as wait_for_losers
    from jaxgames.energy import reference as reference
    from jaxgames.energy._bounds import bound as bound
    from jaxgames.energy._capacity import solve_with_capacity as solve_with_capacity
    from jaxgames.energy._capacity import survives as survives
    from jaxgames.energy._capacity import verify_with_capacity as verify_with_capacity
    from jaxgames.energy._convert import from_mean_payoff as from_mean_payoff
    from jaxgames.energy._convert import from_parity as from_parity
    from jaxgames.energy._convert import vertex_weights as vertex_weights
    from jaxgames.energy._decide import decide as decide
    from jaxgames.energy._device import prepare as prepare
    from jaxgames.energy._fvi import FVI as FVI
    from jaxgames.energy._play import Play as Play
    from jaxgames.energy._play import play as play
    from jaxgames.energy._problem import PROBLEM as PROBLEM
    from jaxgames.energy._problem import SOLVERS as SOLVERS
    from jaxgames.energy._solution import TOP as TOP
    from jaxgames.energy._solution import UNKNOWN as UNKNOWN
    from jaxgames.energy._solution import Solution as Solution
    from jaxgames.energy._solve import place_for as place_for
    from jaxgames.energy._solve import solve as solve
    from jaxgames.energy._strategies import Dual as Dual
    from jaxgames.energy._verdict import Reason as Reason
    from jaxgames.energy._verdict import Verdict as Verdict
    from jaxgames.energy._verify import verify as verify
    from jaxgames.energy._vi import VI as VI

__getattr__, __dir__ = later.exports(__name__)

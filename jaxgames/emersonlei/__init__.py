"""Games with conditions of Emerson and Lei: Rabin, Streett, Muller and all others."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.acceptance import Acceptance as Acceptance
    from jaxgames.acceptance import both as both
    from jaxgames.acceptance import either as either
    from jaxgames.acceptance import fin as fin
    from jaxgames.acceptance import inf as inf
    from jaxgames.emersonlei import reference as reference
    from jaxgames.emersonlei._game import Game as Game
    from jaxgames.emersonlei._machine import Machine as Machine
    from jaxgames.emersonlei._problem import PROBLEM as PROBLEM
    from jaxgames.emersonlei._problem import SOLVERS as SOLVERS
    from jaxgames.emersonlei._solution import Solution as Solution
    from jaxgames.emersonlei._solve import solve as solve
    from jaxgames.emersonlei._verdict import Reason as Reason
    from jaxgames.emersonlei._verdict import Verdict as Verdict
    from jaxgames.emersonlei._verify import verify as verify
    from jaxgames.emersonlei.host._product import Product as Product
    from jaxgames.emersonlei.host._product import product as product

__getattr__, __dir__ = later.exports(__name__)

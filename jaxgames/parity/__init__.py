"""Parity games: who wins from each vertex, and with which strategy."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.drive import wait_for_losers as wait_for_losers
    from jaxgames.parity import preprocess as preprocess
    from jaxgames.parity import reference as reference
    from jaxgames.parity._alternating import Alternating as Alternating
    from jaxgames.parity._certificate import certificate as certificate
    from jaxgames.parity._fpi import FPI as FPI
    from jaxgames.parity._game import Answer as Answer
    from jaxgames.parity._game import answer as answer
    from jaxgames.parity._improvement import StrategyImprovement as StrategyImprovement
    from jaxgames.parity._measures import Measures as Measures
    from jaxgames.parity._problem import PROBLEM as PROBLEM
    from jaxgames.parity._problem import SOLVERS as SOLVERS
    from jaxgames.parity._promotion import PriorityPromotion as PriorityPromotion
    from jaxgames.parity._solution import Solution as Solution
    from jaxgames.parity._solve import check_solver as check_solver
    from jaxgames.parity._solve import place_for as place_for
    from jaxgames.parity._solve import prepare as prepare
    from jaxgames.parity._solve import prepare_host as prepare_host
    from jaxgames.parity._solve import solve as solve
    from jaxgames.parity._spm import SPM as SPM
    from jaxgames.parity._tangles import (
        RecursiveTangleLearning as RecursiveTangleLearning,
    )
    from jaxgames.parity._turns import InTurns as InTurns
    from jaxgames.parity._verdict import Reason as Reason
    from jaxgames.parity._verdict import Verdict as Verdict
    from jaxgames.parity._verify import verify as verify
    from jaxgames.parity._zielonka import Zielonka as Zielonka

__getattr__, __dir__ = later.exports(__name__)

"""Markov decision processes: end components, and what people compute them for."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.mdp import reference as reference
    from jaxgames.mdp._almost_sure import almost_sure_buchi as almost_sure_buchi
    from jaxgames.mdp._almost_sure import almost_sure_reach as almost_sure_reach
    from jaxgames.mdp._basic import Basic as Basic
    from jaxgames.mdp._check import Checked as Checked
    from jaxgames.mdp._check import check as check
    from jaxgames.mdp._game import Game as Game
    from jaxgames.mdp._interleaved import Interleaved as Interleaved
    from jaxgames.mdp._interval import IntervalIteration as IntervalIteration
    from jaxgames.mdp._mec import mec as mec
    from jaxgames.mdp._mec import place_for as place_for
    from jaxgames.mdp._model import MDP as MDP
    from jaxgames.mdp._omega import acceptance_probability as acceptance_probability
    from jaxgames.mdp._parity_game import parity_product as parity_product
    from jaxgames.mdp._parity_game import solve_parity_game as solve_parity_game
    from jaxgames.mdp._parity_game import verify_parity_game as verify_parity_game
    from jaxgames.mdp._prob01 import prob0 as prob0
    from jaxgames.mdp._prob01 import prob1 as prob1
    from jaxgames.mdp._problem import SOLVERS as SOLVERS
    from jaxgames.mdp._problems import PROBLEM as PROBLEM
    from jaxgames.mdp._property import Property as Property
    from jaxgames.mdp._property import PropertyError as PropertyError
    from jaxgames.mdp._quotient import Quotient as Quotient
    from jaxgames.mdp._quotient import quotient as quotient
    from jaxgames.mdp._reach import reach_probability as reach_probability
    from jaxgames.mdp._reach_problem import REACH_SOLVERS as REACH_SOLVERS
    from jaxgames.mdp._region import Region as Region
    from jaxgames.mdp._reward_game import solve_reward_game as solve_reward_game
    from jaxgames.mdp._reward_game import verify_reward_game as verify_reward_game
    from jaxgames.mdp._sample import SampledValues as SampledValues
    from jaxgames.mdp._sample import values as values
    from jaxgames.mdp._scheduled import why_no_scheduler as why_no_scheduler
    from jaxgames.mdp._schedulers import VisitingScheduler as VisitingScheduler
    from jaxgames.mdp._schedulers import induced_chain as induced_chain
    from jaxgames.mdp._schedulers import uniform_scheduler as uniform_scheduler
    from jaxgames.mdp._schedulers import visiting_scheduler as visiting_scheduler
    from jaxgames.mdp._simulate import MemoryScheduler as MemoryScheduler
    from jaxgames.mdp._simulate import simulate as simulate
    from jaxgames.mdp._solution import EndComponents as EndComponents
    from jaxgames.mdp._solution import ReachProbability as ReachProbability
    from jaxgames.mdp._stochastic_game import GameValues as GameValues
    from jaxgames.mdp._stochastic_game import solve_game as solve_game
    from jaxgames.mdp._stochastic_game import verify_game as verify_game
    from jaxgames.mdp._values_problem import VALUE_SOLVERS as VALUE_SOLVERS
    from jaxgames.mdp._values_verdict import ValueReason as ValueReason
    from jaxgames.mdp._values_verdict import ValueVerdict as ValueVerdict
    from jaxgames.mdp._verdict import Reason as Reason
    from jaxgames.mdp._verdict import Verdict as Verdict
    from jaxgames.mdp._verify import verify as verify
    from jaxgames.mdp._verify_region import RegionReason as RegionReason
    from jaxgames.mdp._verify_region import RegionVerdict as RegionVerdict
    from jaxgames.mdp._verify_region import verify_region as verify_region
    from jaxgames.mdp._verify_values import is_verifiable as is_verifiable
    from jaxgames.mdp._verify_values import verify_values as verify_values
    from jaxgames.mdp.multi._pareto import Front as Front
    from jaxgames.mdp.multi._pareto import pareto as pareto
    from jaxgames.mdp.multi._verify import FrontReason as FrontReason
    from jaxgames.mdp.multi._verify import FrontVerdict as FrontVerdict
    from jaxgames.mdp.multi._verify import verify_pareto as verify_pareto
    from jaxgames.mdp.program._program import Program as Program
    from jaxgames.mdp.program._program import ProgramError as ProgramError

__getattr__, __dir__ = later.exports(__name__)

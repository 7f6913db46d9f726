"""Büchi automata and accepting cycles: model checking of linear temporal logic."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.buchi import reference as reference
    from jaxgames.buchi._attractors import Attractors as Attractors
    from jaxgames.buchi._by_scc import ByScc as ByScc
    from jaxgames.buchi._cycle import accepting_cycle as accepting_cycle
    from jaxgames.buchi._cycle import prepare as prepare
    from jaxgames.buchi._cycles import CYCLES as CYCLES
    from jaxgames.buchi._cycles import SOLVERS as SOLVERS
    from jaxgames.buchi._fair import FairLasso as FairLasso
    from jaxgames.buchi._fair import fair_cycle as fair_cycle
    from jaxgames.buchi._fair import verify_fair as verify_fair
    from jaxgames.buchi._game import solve as solve
    from jaxgames.buchi._map import Map as Map
    from jaxgames.buchi._on_the_fly import accepting_cycle_of as accepting_cycle_of
    from jaxgames.buchi._owcty import Owcty as Owcty
    from jaxgames.buchi._problem import GAME_SOLVERS as GAME_SOLVERS
    from jaxgames.buchi._problem import PROBLEM as PROBLEM
    from jaxgames.buchi._problem import Solution as Solution
    from jaxgames.buchi._solution import AcceptingCycle as AcceptingCycle
    from jaxgames.buchi._solution import Lasso as Lasso
    from jaxgames.buchi._trace import Step as Step
    from jaxgames.buchi._trace import Trace as Trace
    from jaxgames.buchi._trim import Trim as Trim
    from jaxgames.buchi._verify import Reason as Reason
    from jaxgames.buchi._verify import Verdict as Verdict
    from jaxgames.buchi._verify import verify as verify
    from jaxgames.ltl import Automaton as Automaton
    from jaxgames.ltl import Classification as Classification
    from jaxgames.ltl import EmersonLei as EmersonLei
    from jaxgames.ltl import Formula as Formula
    from jaxgames.ltl import Kind as Kind
    from jaxgames.ltl import ParityAutomaton as ParityAutomaton
    from jaxgames.ltl import deterministic as deterministic
    from jaxgames.ltl import from_alternating as from_alternating
    from jaxgames.ltl import translate as translate
    from jaxgames.systems import Deadlock as Deadlock
    from jaxgames.systems import Explored as Explored
    from jaxgames.systems import Fairness as Fairness
    from jaxgames.systems import MarkedProduct as MarkedProduct
    from jaxgames.systems import Piece as Piece
    from jaxgames.systems import PieceWriter as PieceWriter
    from jaxgames.systems import Product as Product
    from jaxgames.systems import ProductSearch as ProductSearch
    from jaxgames.systems import RunReason as RunReason
    from jaxgames.systems import RunVerdict as RunVerdict
    from jaxgames.systems import System as System
    from jaxgames.systems import explore as explore
    from jaxgames.systems import explore_product as explore_product
    from jaxgames.systems import marked_product as marked_product
    from jaxgames.systems import product as product
    from jaxgames.systems import read_pieces as read_pieces
    from jaxgames.systems import verify_run as verify_run
    from jaxgames.systems import write_pieces as write_pieces

__getattr__, __dir__ = later.exports(__name__)

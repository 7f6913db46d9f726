"""Büchi automata and accepting cycles: model checking of linear temporal logic."""

from jaxgames.buchi import reference as reference
from jaxgames.buchi._automaton import Automaton as Automaton
from jaxgames.buchi._by_scc import ByScc as ByScc
from jaxgames.buchi._cycle import SOLVERS as SOLVERS
from jaxgames.buchi._cycle import accepting_cycle as accepting_cycle
from jaxgames.buchi._ltl import Formula as Formula
from jaxgames.buchi._map import Map as Map
from jaxgames.buchi._operations import Classification as Classification
from jaxgames.buchi._operations import Kind as Kind
from jaxgames.buchi._owcty import Owcty as Owcty
from jaxgames.buchi._product import Product as Product
from jaxgames.buchi._product import product as product
from jaxgames.buchi._solution import AcceptingCycle as AcceptingCycle
from jaxgames.buchi._system import System as System
from jaxgames.buchi._translate import translate as translate
from jaxgames.buchi._trim import Trim as Trim
from jaxgames.buchi.reference import Lasso as Lasso

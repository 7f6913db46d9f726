"""Büchi automata and accepting cycles: model checking of linear temporal logic."""

from jaxgames.buchi import reference as reference
from jaxgames.buchi._automaton import Automaton as Automaton
from jaxgames.buchi._ltl import Formula as Formula
from jaxgames.buchi._operations import Classification as Classification
from jaxgames.buchi._operations import Kind as Kind
from jaxgames.buchi._product import Product as Product
from jaxgames.buchi._product import product as product
from jaxgames.buchi._system import System as System
from jaxgames.buchi._translate import translate as translate

"""Linear temporal logic: formulas, Büchi automata, and translations between them."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.ltl._alternation import from_alternating as from_alternating
    from jaxgames.ltl._automaton import Automaton as Automaton
    from jaxgames.ltl._deterministic import deterministic as deterministic
    from jaxgames.ltl._emerson_lei import EmersonLei as EmersonLei
    from jaxgames.ltl._formula import Formula as Formula
    from jaxgames.ltl._operations import Classification as Classification
    from jaxgames.ltl._operations import Kind as Kind
    from jaxgames.ltl._parity_automaton import ParityAutomaton as ParityAutomaton
    from jaxgames.ltl._translate import translate as translate

__getattr__, __dir__ = later.exports(__name__)

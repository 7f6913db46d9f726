"""From formulas of linear temporal logic to Büchi automata.

A very weak alternating automaton has a state for each temporal subformula; sets of its
states, which are conjunctions, are the states of a generalised Büchi automaton with an
acceptance set for each until. The automaton is made small between the steps and at the
end.

References:
    Gastin and Oddoux, Fast LTL to Büchi automata translation, CAV 2001,
    doi:10.1007/3-540-44585-4_6.
"""

from collections.abc import Iterable
from typing import Unpack

from jaxgames.arguments import integer
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._formula import Formula, as_formula
from jaxgames.ltl._graph import Graph, TooLargeError
from jaxgames.ltl._guards import propositions_for
from jaxgames.ltl._letters import Letters, letters_of
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._tableau import Tableau
from jaxgames.tuning.ltl import TRIED_BOTH_WAYS_UP_TO

MAX_STATES = 1 << 17
"""States that an automaton may have, if nothing else is said."""


@limited()
def translate(
    formula: Formula | str,
    *,
    negate: bool = False,
    generalised: bool = False,
    propositions: Iterable[str] | None = None,
    max_states: int = MAX_STATES,
    **bounds: Unpack[Bounds],
) -> Automaton:
    """A Büchi automaton of the words that satisfy a formula.

    The number of states is exponential in the number of temporal operators at worst.

    Args:
        formula: a formula of linear temporal logic, or its text, as
            [`Formula.parse`][jaxgames.ltl.Formula.parse] reads it.
        negate: whether to take the words that do not satisfy it.
        generalised: whether acceptance may be that of edges, in several sets: such
            automata are smaller. By default there is one set of accepting states.
        propositions: names, in the order of the bits; by default those in the formula,
            in alphabetical order.
        max_states: how many states may be made.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the text is no formula, there are more than 64 propositions, or the
            automaton has more states.

    Examples:
        >>> translate("G(p -> F q)")
        Automaton(2 states, 4 edges, 1 acceptance set, propositions p q)
        >>> translate("GF a & GF b", generalised=True)
        Automaton(1 state, 4 edges, 2 acceptance sets, propositions a b)

    References:
        Gastin and Oddoux, Fast LTL to Büchi automata translation, CAV 2001,
        doi:10.1007/3-540-44585-4_6.
    """
    max_states = integer("max_states", max_states, 1)
    formula = as_formula(formula)
    names = propositions_for(formula, propositions)
    name = f"!({formula})" if negate else str(formula)
    normal = spread(normal_form(formula, bool(negate)))
    letters = letters_of(len(names))
    found = graph_of(normal, letters, names, max_states)
    if generalised:
        made = found
    else:
        made = [graph.degeneralised(on_states=True) for graph in found]
    return min(made, key=lambda graph: graph.size).automaton(names, name)


def graph_of(
    formula: Formula, letters: Letters, names: tuple[str, ...], max_states: int
) -> list[Graph]:
    """Generalised automata of a formula in negation normal form, one or two.

    A disjunction may be one state, or several of which one is chosen: which is better
    is seen at the end.
    """
    found = []
    for apart in (False, True):
        tableau = Tableau(letters, names, max_states, apart=apart)
        try:
            found.append(tableau.graph(formula).reduced())
        except TooLargeError:
            if not found:
                raise
        if found[0].size[0] > TRIED_BOTH_WAYS_UP_TO:
            break
    return found

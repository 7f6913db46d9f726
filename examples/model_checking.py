"""Model checking: from a transition function to a lasso that can be read.

Four philosophers sit at a table, with a fork between any two. Each takes the fork at
one side, then that at the other, eats, and puts them back. If all begin with the same
side, all may end up with one fork in the hand. Run it with

    python examples/model_checking.py [TABLE.kripke]

which writes the system to a file, too, for `jaxgames check`.
"""

import sys

import numpy as np

from jaxgames import buchi, io, ltl, systems

SEATS = 4
THINKS, HUNGRY, EATS = range(3)
WORDS = ["thinks", "hungry", "eats"]


def successors(states):
    """What each philosopher may do next: states `[N, 4]`, an action for each seat.

    It works for numpy and, compiled, for JAX: both have the same functions.
    """
    xp = states.__array_namespace__()
    after, enabled = [], []
    for i in range(SEATS):
        own = states[:, i]
        # Fork i lies between i - 1 and i. Who is hungry holds the fork of his own
        # number, who eats that and the next.
        previous, following = states[:, i - 1], states[:, (i + 1) % SEATS]
        may = xp.where(own == THINKS, previous != EATS, following == THINKS)
        following = xp.where(own == EATS, THINKS, own + 1)
        columns = [following if k == i else states[:, k] for k in range(SEATS)]
        after.append(xp.stack(columns, axis=1))
        enabled.append(may | (own == EATS))
    return xp.stack(after, axis=1), xp.stack(enabled, axis=1)


PROPOSITIONS = {
    "neighbours_eat": lambda states: (
        (states == EATS) & (np.roll(states, 1, axis=1) == EATS)
    ).any(axis=1),
    "hungry": lambda states: states[:, 0] == HUNGRY,
    "eats": lambda states: states[:, 0] == EATS,
}


def main(path: str | None = None) -> None:
    """Checks two properties, and tells a run that violates the second."""
    system = systems.explore(
        successors,
        np.full(SEATS, THINKS),
        propositions=PROPOSITIONS,
        ranges=[len(WORDS)] * SEATS,
    )
    print(system)
    if path is not None:
        states = range(system.num_states)
        labels = dict(zip(system.propositions, system.labels.T, strict=True))
        graph = system.offsets, system.targets
        names = [tell(system, state) for state in states]
        io.save(path, systems.System.from_graph(graph, labels, names=names))
        return
    print("deadlocks:", [tell(system, v) for v in system.space.deadlocks])
    for formula in ["G !neighbours_eat", "G(hungry -> F eats)"]:
        automaton = ltl.translate(formula, negate=True)
        product = systems.product(system, automaton)
        found = buchi.accepting_cycle(product)
        print(f"\n{formula}: {'violated' if found.exists else 'holds'}")
        if found.exists:
            print("at first")
            for vertex in found.lasso.prefix:
                print("   ", tell(system, product.system_state[vertex]))
            print("then again and again")
            for vertex in found.lasso.cycle:
                print("   ", tell(system, product.system_state[vertex]))


def tell(system: systems.Explored, state: int) -> str:
    """A state in words."""
    return " ".join(WORDS[x] for x in system.space.at(state))


if __name__ == "__main__":
    main(*sys.argv[1:])

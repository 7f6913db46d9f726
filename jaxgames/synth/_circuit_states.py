"""The states that a circuit may come to."""

import numpy as np

from jaxgames import limits
from jaxgames.arguments import integer
from jaxgames.ltl._diagrams import FALSE, TRUE, Diagrams
from jaxgames.synth._tables import tables


def explored(
    num_inputs: int,
    begin: np.ndarray,
    following: np.ndarray,
    driver: np.ndarray,
    gates: np.ndarray,
    max_states: int,
) -> dict[str, list[int]]:
    """The tables of the machine that a circuit is; the arrays are those of `Circuit`.

    Raises:
        ValueError: there are more states.
    """
    max_states = integer("max_states", max_states, 1)
    store = Diagrams()
    variables = []
    for i in range(num_inputs):
        variable = store.variable(i)
        variables += (variable, store.negated(variable))
    number: dict[tuple[int, ...], int] = {tuple(begin.tolist()): 0}
    order, roots = list(number), []
    ends = [*driver.tolist(), *following.tolist()]
    count = len(driver)
    pairs_of_gates = gates.tolist()
    for state in order:
        limits.tick("exploring a circuit", len(order), "states")
        # By literals: each function is followed by its negation.
        nodes = [FALSE, TRUE, *variables]
        for x in state:
            nodes += (TRUE, FALSE) if x else (FALSE, TRUE)
        for one, other in pairs_of_gates:
            a, b = nodes[one], nodes[other]
            if a == FALSE or b == TRUE:
                nodes += (a, nodes[one ^ 1])
            elif b == FALSE or a == TRUE:
                nodes += (b, nodes[other ^ 1])
            else:
                found = store.both(a, b)
                nodes += (found, store.negated(found))
        values = tuple(nodes[x] for x in ends)
        memo: dict[tuple[int, ...], int] = {}

        def joined(values: tuple[int, ...], memo: dict = memo) -> int:
            if values not in memo:
                level = min((store.level[x] for x in values), default=1 << 30)
                if level < num_inputs:
                    pairs = [store.cofactors(x, level) for x in values]
                    low, high = (
                        joined(tuple(pair[side] for pair in pairs)) for side in (0, 1)
                    )
                    memo[values] = store.node(level, low, high)
                else:
                    output = sum(x << i for i, x in enumerate(values[:count]))
                    after = values[count:]
                    if after not in number:
                        if len(number) == max_states:
                            raise ValueError(
                                f"the circuit has more than {max_states} states"
                            )
                        number[after] = len(number)
                        order.append(after)
                    memo[values] = store.terminal((output, number[after]))
            return memo[values]

        roots.append(joined(values))
    return tables(store, roots)

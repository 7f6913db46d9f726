"""Machines with states united that answer alike (Moore's algorithm)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames import limits
from jaxgames.ltl._diagrams import Diagrams
from jaxgames.synth._tables import tables


def reduced(given: Mapping[str, np.ndarray]) -> dict[str, Any] | None:
    """The machine of fewest states that always answers as one does; None: that is it.

    O(N) time a round for N nodes, actions and states; a round tells at least two
    states apart.
    """
    names = ("test", "low", "high", "node", "output", "successor")
    test, low, high, roots, output, successor = (given[x].tolist() for x in names)
    size = len(roots)
    # Tests come later the deeper they are.
    nodes = np.argsort(-given["test"], kind="stable").tolist()

    def kinds(block: list[int]) -> list[int]:
        """A number for what each state answers, where those of a block are alike."""
        number: dict[tuple[int, ...], int] = {}
        pairs = zip(output, (block[q] for q in successor), strict=True)
        of_action = [number.setdefault(pair, len(number)) for pair in pairs]
        found = [0] * len(test) + of_action[::-1]  # actions are counted from the end
        for node in nodes:
            one, two = found[low[node]], found[high[node]]
            key = (test[node], one, two)
            same = one == two
            found[node] = one if same else number.setdefault(key, len(number))
        return [found[node] for node in roots]

    block, count = [0] * size, 1
    while True:
        limits.tick("reducing a controller", count, "states")
        number: dict[tuple[int, int], int] = {}
        pairs = zip(block, kinds(block), strict=True)
        finer = [number.setdefault(pair, len(number)) for pair in pairs]
        if len(number) == count:
            break
        block, count = finer, len(number)
    if count == size:
        return None
    # Blocks are numbered as their first states come.
    leaders = list({b: q for q, b in reversed(list(enumerate(block)))}.items())
    store, known = Diagrams(), dict[int, int]()
    for place, pair in enumerate(zip(output, successor, strict=True)):
        known[-1 - place] = store.terminal((pair[0], block[pair[1]]))
    for node in nodes:
        known[node] = store.node(test[node], known[low[node]], known[high[node]])
    return tables(store, [known[roots[q]] for _, q in sorted(leaders)])

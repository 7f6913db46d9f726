"""The tables of a machine whose states are nodes of decision diagrams."""

from typing import Any

from jaxgames.ltl._diagrams import Diagrams


def tables(store: Diagrams, roots: list[int]) -> dict[str, list[int]]:
    """What `Controller.from_arrays` takes, of the diagrams where states begin.

    Their terminals are pairs of an output and the next state.
    """
    place: dict[int, int] = {}
    actions: list[Any] = []
    nodes: list[int] = []
    work = list(roots)
    for node in work:
        if node in place:
            continue
        if node in store.value:
            place[node] = -1 - len(actions)
            actions.append(store.value[node])
        else:
            place[node] = len(nodes)
            nodes.append(node)
            work += [store.low[node], store.high[node]]
    return {
        "node": [place[node] for node in roots],
        "test": [store.level[node] for node in nodes],
        "low": [place[store.low[node]] for node in nodes],
        "high": [place[store.high[node]] for node in nodes],
        "output": [output for output, _ in actions],
        "successor": [target for _, target in actions],
    }

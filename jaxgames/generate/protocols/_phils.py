"""Dining philosophers, after Dijkstra."""

import functools
from typing import Any

from jaxgames.arguments import integer
from jaxgames.generate._arguments import flag
from jaxgames.generate.protocols._model import (
    Command,
    Model,
    Values,
    Variable,
    change,
    either,
    model,
)

THINKS, HAS_ONE, EATS, HAS_EATEN = range(4)


@functools.lru_cache(maxsize=None, typed=True)
def phils(philosophers: int, *, left: bool = False) -> Model:
    """Dining philosophers: each takes one fork, then the other, and eats.

    If all take the same fork first, all may wait for ever; if one of them takes the
    other one first, that cannot happen.

    Propositions `cs0`, `wait0` and so on, one for each philosopher (he eats, he has one
    fork), and `eats` (somebody does).

    Args:
        philosophers: from 2 to 20.
        left: whether the first one takes the other fork first.

    Raises:
        ValueError: an argument is of a wrong type or out of range.

    References:
        E. W. Dijkstra, *Hierarchical ordering of sequential processes*, Acta Inf. 1,
        1971, doi:10.1007/BF00289519; after the model of that name in R. Pelánek,
        *BEEM: benchmarks for explicit model checkers*, SPIN 2007,
        doi:10.1007/978-3-540-73370-6_17.

    Examples:
        >>> phils(4).state_space()
        StateSpace(80 states, 212 edges)
        >>> phils(4, left=True).state_space().deadlocks
        array([], dtype=int32)
    """
    n, left = integer("philosophers", philosophers, 2, 20), flag("left", left)
    variables = {"pc": Variable(4, n), "fork": Variable(2, n)}

    def commands(xp: Any, now: Values) -> list[Command]:
        found = []
        for i in range(n):
            pc = now["pc"][:, i]
            one, other = i, (i + 1) % n
            if left and i == 0:
                one, other = other, one

            def step(pc: int, fork: int, taken: int, i: int = i) -> Values:
                return change(xp, now, i, pc=pc) | change(xp, now, fork, fork=taken)

            free = now["fork"] == 0
            found.append(
                either(
                    xp,
                    now,
                    ((pc == THINKS) & free[:, one], step(HAS_ONE, one, 1)),
                    ((pc == HAS_ONE) & free[:, other], step(EATS, other, 1)),
                    (pc == EATS, step(HAS_EATEN, one, 0)),
                    (pc == HAS_EATEN, step(THINKS, other, 0)),
                )
            )
        return found

    def is_at(i: int, place: int) -> Any:
        return lambda now: now["pc"][:, i] == place

    return model(
        f"phils-{n}" + ("-left" if left else ""),
        variables,
        commands,
        {f"cs{i}": is_at(i, EATS) for i in range(n)}
        | {f"wait{i}": is_at(i, HAS_ONE) for i in range(n)}
        | {"eats": lambda now: (now["pc"] == EATS).any(axis=1)},
        {"resp0": "G(wait0 -> F cs0)", "anyeat": "GF eats", "GFcs0": "GF cs0"},
    )

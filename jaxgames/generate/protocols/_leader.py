"""Election of a leader by filters, after Choy and Singh."""

import functools
from typing import Any

from jaxgames.arguments import integer
from jaxgames.generate.protocols._model import (
    Command,
    Model,
    Values,
    Variable,
    at,
    change,
    either,
    model,
)

TURN, CHECK, BLOCK, ASK, LOSE, FREE, OUT, PASS, WIN, ELECTED = range(10)


@functools.lru_cache(maxsize=None, typed=True)
def leader(processes: int) -> Model:
    """Election of a leader: processes go through filters, until one is alone.

    A filter lets through one process at least and, of several, not all. Who fails says
    so in `lost` of that filter. Who gets through a filter that nobody lost at the one
    before is the leader.

    Proposition `leader`: a leader is elected.

    Args:
        processes: from 2 to 8.

    Raises:
        ValueError: `processes` is of a wrong type or out of range.

    References:
        M. Choy, A. K. Singh, *Adaptive solutions to the mutual exclusion problem*,
        Distrib. Comput. 8, 1994, doi:10.1007/BF02283567; after the model
        leader_filters in R. Pelánek, *BEEM: benchmarks for explicit model checkers*,
        SPIN 2007, doi:10.1007/978-3-540-73370-6_17.

    Examples:
        >>> leader(2).state_space()
        StateSpace(... states, ... edges)
    """
    n = integer("processes", processes, 2, 8)
    variables = {
        "pc": Variable(10, n),
        "filter": Variable(n + 1, n),
        "turn": Variable(n, n + 1),
        "blocked": Variable(2, n + 1),
        "lost": Variable(2, n + 1),
    }

    def commands(xp: Any, now: Values) -> list[Command]:
        found = []
        for i in range(n):
            pc, own = now["pc"][:, i], now["filter"][:, i]

            go = functools.partial(change, xp, now, i)
            write = functools.partial(change, xp, now, own)
            first = at(now["turn"], own) == i
            nobody = (own > 0) & (at(now["lost"], own - 1) == 0)
            found.append(
                either(
                    xp,
                    now,
                    (pc == TURN, go(pc=CHECK) | write(turn=i)),
                    ((pc == CHECK) & (at(now["blocked"], own) == 0), go(pc=BLOCK)),
                    (pc == BLOCK, go(pc=ASK) | write(blocked=1)),
                    ((pc == ASK) & ~first, go(pc=LOSE)),
                    ((pc == ASK) & first, go(pc=PASS)),
                    (pc == LOSE, go(pc=FREE) | write(lost=1)),
                    (pc == FREE, go(pc=OUT) | write(blocked=0)),
                    ((pc == PASS) & nobody, go(pc=WIN)),
                    ((pc == PASS) & ~nobody, go(pc=TURN, filter=own + 1)),
                    (pc == WIN, go(pc=ELECTED)),
                )
            )
        return found

    return model(
        f"leader-{n}",
        variables,
        commands,
        {"leader": lambda now: (now["pc"] == ELECTED).any(axis=1)},
        {"elect": "F leader"},
    )

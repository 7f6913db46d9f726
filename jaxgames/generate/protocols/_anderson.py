"""Mutual exclusion by a queue lock, after Anderson."""

import functools
from typing import Any

from jaxgames.arguments import integer
from jaxgames.generate._arguments import flag
from jaxgames.generate.protocols._model import (
    Command,
    Model,
    Values,
    Variable,
    at,
    change,
    either,
)
from jaxgames.generate.protocols._mutual import mutual_exclusion

NCS, WRAP, SPIN, TAKE, CS = range(5)


@functools.lru_cache(maxsize=None, typed=True)
def anderson(processes: int, *, last: bool = False) -> Model:
    """Anderson's queue lock: processes wait for their turn at places of a ring.

    A process draws the next place, and waits until its entry of `slots` is set; it
    clears it, enters the critical section, and sets that of the next place when it
    leaves. Who has drawn the last place makes `next` start again.

    Propositions `cs0`, `wait0` and so on, one for each process, and `one_in_cs`.

    Args:
        processes: from 2 to 8.
        last: whether the state has the process that moved last, for `act0` and so on.

    Raises:
        ValueError: an argument is of a wrong type or out of range.

    References:
        T. E. Anderson, *The performance of spin lock alternatives for shared-memory
        multiprocessors*, IEEE Trans. Parallel Distrib. Syst. 1, 1990,
        doi:10.1109/71.80120; after the model of that name in R. Pelánek, *BEEM:
        benchmarks for explicit model checkers*, SPIN 2007,
        doi:10.1007/978-3-540-73370-6_17.

    Examples:
        >>> anderson(2).state_space()
        StateSpace(... states, ... edges)
    """
    n, last = integer("processes", processes, 2, 8), flag("last", last)
    variables = {
        "pc": Variable(5, n),
        "place": Variable(2 * n, n),
        "next": Variable(2 * n + 1),
        "slots": Variable(2, n, initial=1),
    }

    def commands(xp: Any, now: Values) -> list[list[Command]]:
        found, free = [], now["next"][:, 0]
        for i in range(n):
            pc, place = now["pc"][:, i], now["place"][:, i]

            own = functools.partial(change, xp, now, i)
            one = functools.partial(change, xp, now, 0)
            clear = change(xp, now, place, slots=0)
            give = change(xp, now, (place + 1) % n, slots=1)
            wrap = place == n - 1
            step = either(
                xp,
                now,
                (pc == NCS, own(pc=WRAP, place=free) | one(next=free + 1)),
                ((pc == WRAP) & wrap, own(pc=SPIN) | one(next=free - n)),
                ((pc == WRAP) & ~wrap, own(pc=SPIN, place=place % n)),
                ((pc == SPIN) & (at(now["slots"], place) == 1), own(pc=TAKE)),
                (pc == TAKE, own(pc=CS) | clear),
                (pc == CS, own(pc=NCS) | give),
            )
            found.append([step])
        return found

    return mutual_exclusion(
        f"anderson-{n}",
        variables,
        commands,
        waiting=(WRAP, SPIN, TAKE),
        critical=CS,
        last=last,
    )

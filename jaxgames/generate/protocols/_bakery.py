"""Mutual exclusion by numbers that are drawn, after Lamport."""

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

NCS, CHOOSE, NEXT, WAIT, CS = range(5)


@functools.lru_cache(maxsize=None, typed=True)
def bakery(processes: int, *, highest: int, last: bool = False) -> Model:
    """Lamport's bakery algorithm, with numbers up to a bound.

    A process draws a number above all that it sees, and waits for those with smaller
    ones. Where the numbers it has seen go up to the bound, it can never go on.

    Propositions `cs0`, `wait0` and so on, one for each process, and `one_in_cs`.

    Args:
        processes: from 2 to 8.
        highest: the largest number above which one is drawn, from 1 to 100.
        last: whether the state has the process that moved last, for `act0` and so on.

    Raises:
        ValueError: an argument is of a wrong type or out of range.

    References:
        L. Lamport, *A new solution of Dijkstra's concurrent programming problem*,
        Commun. ACM 17, 1974, doi:10.1145/361082.361093; after the model of that name
        in R. Pelánek, *BEEM: benchmarks for explicit model checkers*, SPIN 2007,
        doi:10.1007/978-3-540-73370-6_17.

    Examples:
        >>> bakery(2, highest=9).state_space()
        StateSpace(1506 states, 2697 edges)
    """
    n, last = integer("processes", processes, 2, 8), flag("last", last)
    highest = integer("highest", highest, 1, 100)
    variables = {
        "pc": Variable(5, n),
        "choosing": Variable(2, n),
        "number": Variable(highest + 2, n),
        "j": Variable(n + 1, n),
        "max": Variable(highest + 2, n),
    }

    def commands(xp: Any, now: Values) -> list[list[Command]]:
        found = []
        for i in range(n):
            pc, j = now["pc"][:, i], now["j"][:, i]
            most, own = now["max"][:, i], now["number"][:, i]
            other, more = at(now["number"], j), j < n

            go = functools.partial(change, xp, now, i)
            behind = (other == own) & (i <= j)
            goes_on = (other == 0) | (other > own) | behind
            choose = pc == CHOOSE
            step = either(
                xp,
                now,
                (pc == NCS, go(pc=CHOOSE, choosing=1, j=0, max=0)),
                (choose & more, go(max=xp.maximum(most, other), j=j + 1)),
                (
                    choose & ~more & (most < highest),
                    go(pc=NEXT, number=most + 1, j=0, choosing=0),
                ),
                ((pc == NEXT) & more & (at(now["choosing"], j) == 0), go(pc=WAIT)),
                ((pc == NEXT) & ~more, go(pc=CS)),
                ((pc == WAIT) & goes_on, go(pc=NEXT, j=j + 1)),
                (pc == CS, go(pc=NCS, number=0)),
            )
            found.append([step])
        return found

    return mutual_exclusion(
        f"bakery-{n}-max{highest}",
        variables,
        commands,
        waiting=(CHOOSE, NEXT, WAIT),
        critical=CS,
        last=last,
    )

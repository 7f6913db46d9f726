"""Mutual exclusion for several processes, after Peterson."""

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

NCS, WAIT, ENTER, LOOK, CS = range(5)


@functools.lru_cache(maxsize=None, typed=True)
def peterson(processes: int, *, error: int = 0, last: bool = False) -> Model:
    """Peterson's mutual exclusion algorithm for several processes.

    A process goes through as many levels as there are processes. At each it says so in
    `pos`, and that it came last in `step`, and goes on if all others are at lower
    levels (it looks at one after the other) or somebody came after it.

    Propositions `cs0`, `wait0` and so on, one for each process, and `one_in_cs`.

    Args:
        processes: from 2 to 8.
        error: 2 for a slip: a process looks at `pos` where it should look at `step`.
        last: whether the state has the process that moved last, for `act0` and so on.

    Raises:
        ValueError: an argument is of a wrong type or out of range.

    References:
        G. L. Peterson, *Myths about the mutual exclusion problem*, Inf. Process. Lett.
        12, 1981, doi:10.1016/0020-0190(81)90106-X; after the model of that name in R.
        Pelánek, *BEEM: benchmarks for explicit model checkers*, SPIN 2007,
        doi:10.1007/978-3-540-73370-6_17.

    Examples:
        >>> peterson(2).explore()
        Explored(..., propositions cs0 cs1 wait0 wait1 one_in_cs)
    """
    n = integer("processes", processes, 2, 8)
    error, last = integer("error", error, 0, 2), flag("last", last)
    if error == 1:
        raise ValueError("error must be 0 or 2, got 1")
    variables = {
        "pc": Variable(5, n),
        "j": Variable(n + 1, n),
        "k": Variable(n + 1, n),
        "pos": Variable(n, n),
        "step": Variable(n, n - 1),
    }

    def commands(xp: Any, now: Values) -> list[list[Command]]:
        found = []
        for i in range(n):
            pc, j, k = (now[key][:, i] for key in ("pc", "j", "k"))

            go = functools.partial(change, xp, now, i)
            ask = pc == LOOK
            watched = now["pos"] if error == 2 else now["step"]
            passed = (at(watched, j - 1) != i) | (k == n)
            own = [
                either(
                    xp,
                    now,
                    (pc == NCS, go(pc=WAIT, j=1)),
                    ((pc == WAIT) & (j < n), go(pc=ENTER, pos=j)),
                    ((pc == WAIT) & (j == n), go(pc=CS)),
                    (pc == ENTER, go(pc=LOOK, k=0) | change(xp, now, j - 1, step=i)),
                    (ask & (k < n) & ((k == i) | (at(now["pos"], k) < j)), go(k=k + 1)),
                    (pc == CS, go(pc=NCS, pos=0)),
                ),
                (ask & passed, go(pc=WAIT, j=j + 1)),
            ]
            found.append(own)
        return found

    name = f"peterson-{n}" + (f"-err{error}" if error else "")
    return mutual_exclusion(
        name, variables, commands, waiting=(WAIT, ENTER, LOOK), critical=CS, last=last
    )

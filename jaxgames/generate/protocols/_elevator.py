"""An elevator that is called from the floors."""

import functools
from typing import Any, Literal

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

IDLE, MOVES, OPEN = range(3)
WAIT, WORK, DONE = range(3)


@functools.lru_cache(maxsize=None, typed=True)
def elevator(floors: int, *, control: Literal["clever", "naive"]) -> Model:
    """An elevator with a button at each floor, and a controller that decides.

    The cabin moves to the floor that the controller has chosen, opens its door, and
    drops the request. The naive controller chooses any requested floor; the clever one
    looks for the next one in its direction, and turns round at the ends.

    Propositions `r0`, `p0` and so on, one for each floor (it is requested, the cabin is
    there), and `open`.

    Args:
        floors: from 2 to 20.
        control: which controller.

    Raises:
        ValueError: an argument is of a wrong type or out of range.

    References:
        The model elevator2 in R. Pelánek, *BEEM: benchmarks for explicit model
        checkers*, SPIN 2007, doi:10.1007/978-3-540-73370-6_17, by J. Barnat.

    Examples:
        >>> elevator(4, control="clever").state_space()
        StateSpace(1728 states, 4768 edges)
    """
    n = integer("floors", floors, 2, 20)
    if control not in ("clever", "naive"):
        raise ValueError(f"control must be 'clever' or 'naive', got {control!r}")
    variables = {
        "request": Variable(2, n),
        "aim": Variable((-1, n)),
        "position": Variable(n),
        "go": Variable(2),
        "cabin": Variable(3),
        "controller": Variable(3),
    }
    if control == "clever":
        variables["up"] = Variable(2)

    def commands(xp: Any, now: Values) -> list[Command]:
        aim, position, go = (now[key][:, 0] for key in ("aim", "position", "go"))
        request, cabin = now["request"], now["cabin"][:, 0]

        to = functools.partial(change, xp, now, 0)
        found = [(request[:, i] == 0, change(xp, now, i, request=1)) for i in range(n)]
        served = change(xp, now, position, request=0)
        found.append(
            either(
                xp,
                now,
                ((cabin == IDLE) & (go == 1), to(cabin=MOVES)),
                ((cabin == MOVES) & (aim == position), to(cabin=OPEN)),
                ((cabin == MOVES) & (aim < position), to(position=position - 1)),
                ((cabin == MOVES) & (aim > position), to(position=position + 1)),
                (cabin == OPEN, to(cabin=IDLE, go=0) | served),
            )
        )
        controls = clever if control == "clever" else naive
        return found + controls(xp, now, to)

    def naive(xp: Any, now: Values, to: Any) -> list[Command]:
        controller, go = now["controller"][:, 0], now["go"][:, 0]
        turn = either(
            xp,
            now,
            ((controller == WAIT) & (go == 0), to(controller=WORK)),
            (controller == DONE, to(controller=WAIT, go=1)),
        )
        wanted = (controller == WORK)[:, None] & (now["request"] == 1)
        choices = [(wanted[:, i], to(controller=DONE, aim=i)) for i in range(n)]
        return [turn, *choices]

    def clever(xp: Any, now: Values, to: Any) -> list[Command]:
        controller, go = now["controller"][:, 0], now["go"][:, 0]
        aim, up = now["aim"][:, 0], now["up"][:, 0]
        further, works = aim + 2 * up - 1, controller == WORK
        inside = (aim >= 0) & (aim < n)
        wanted = at(now["request"], aim) == 1
        return [
            either(
                xp,
                now,
                ((controller == WAIT) & (go == 0), to(controller=WORK, aim=further)),
                (works & ~inside, to(controller=WAIT, up=1 - up)),
                (works & inside & wanted, to(controller=DONE)),
                (works & inside & ~wanted, to(aim=further)),
                (controller == DONE, to(controller=WAIT, go=1)),
            )
        ]

    def is_one(key: str, i: int) -> Any:
        return lambda now: now[key][:, i] == 1

    def is_at(i: int) -> Any:
        return lambda now: now["position"][:, 0] == i

    properties = {
        f"serve{i}": f"G(r{i} -> F(p{i} & open))" for i in range(min(n, 2))
    } | {
        "pass1": "G(r1 -> (!p1 U (p1 U (p1 & open))))",
        "FGp1": "FG p1",
    }
    return model(
        f"elevator-{n}-{control}",
        variables,
        commands,
        {f"r{i}": is_one("request", i) for i in range(n)}
        | {f"p{i}": is_at(i) for i in range(n)}
        | {"open": lambda now: now["cabin"][:, 0] == OPEN},
        properties,
    )

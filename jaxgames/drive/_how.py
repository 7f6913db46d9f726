"""The keywords that all front doors take."""

from collections.abc import Callable
from typing import Any, TypeVar

from jaxgames.limits import Bounds, spelled_out

F = TypeVar("F", bound=Callable[..., Any])


class How(Bounds, total=False):
    """Keywords of every solve, beside those that it has for itself.

    Attributes:
        max_steps: rounds on the device at most, those of `state` counted in. None: no
            limit.
        state: `state` of what an earlier call with the same arguments returned, to go
            on where it stopped. None: from the beginning.
        throw: whether to raise a [`SolveError`][jaxgames.SolveError] where not all was
            decided; its `solution` has what was found, and the state to go on from.
            Under tracing nothing is raised: look at the `status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then, and may end the solve.
            Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. The
            clock is looked at between two steps: an answer that is there is given,
            however late. Not under tracing.
        memory: bytes that it may take, likewise. None: what is free.
    """

    max_steps: int | None
    state: Any
    throw: bool


DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("max_steps", "state")),
    "throw": True,
    **dict.fromkeys(("progress", "deadline", "memory")),
}
"""What each of them is where it is not given, in the order of all front doors."""


def front_door(function: F) -> F:
    """Decorator: gives `**how: Unpack[How]` by name in a function's signature."""
    return spelled_out(function, "how", How, DEFAULTS)

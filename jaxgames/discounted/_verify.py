"""Checks a solution of a discounted game: the front door."""

from typing import Any, Unpack

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena, as_checked_as, is_traced
from jaxgames.arguments import as_array, check_array, fields
from jaxgames.discounted import host
from jaxgames.discounted._checks import check, exact
from jaxgames.discounted._solution import Solution
from jaxgames.discounted._verdict import Verdict
from jaxgames.later import to_numpy
from jaxgames.limits import Bounds, limited


@limited()
def verify(
    arena: Arena,
    discount: Any,
    solution: Solution,
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks bounds and strategies of a discounted game, trusting nothing (host only).

    Lower bounds hold, and player 0's strategy secures them, if none is more than what
    his edge, or each edge of player 1, is worth with lower bounds in place of values:
    what is applied again and again to such numbers only rises, to the values. So it is
    for upper bounds, the other way round. Each edge is looked at once for each; where
    floating numbers are too close to tell, in fractions.

    Args:
        arena: the game.
        discount: the discount factor, as for [`solve`][jaxgames.discounted.solve].
        solution: bounds; and strategies, without which any edge may secure a bound.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        True if all is right, else what is wrong first, and where:
        [`Verdict`][jaxgames.discounted.Verdict]. How near bounds are is not judged.

    Raises:
        ValueError: the arena is no such game, or the solution is not of its shape.

    Examples:
        >>> import dataclasses
        >>> from jaxgames import Arena, discounted
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1], weight=[0, 5, 4, 2]
        ... )
        >>> solution = discounted.solve(arena, 0.75)
        >>> print(discounted.verify(arena, 0.75, solution))
        valid
        >>> wrong = dataclasses.replace(solution, lower=solution.lower + 1e-3)
        >>> print(discounted.verify(arena, 0.75, wrong))
        vertex 0: its bounds are no numbers, or the upper one is below the lower one
    """
    parts = fields("solution", solution, "lower", "upper", "strategy")
    if is_traced((arena, parts)):
        raise ValueError(
            "bounds are verified on the host, where a traced game cannot be: verify it "
            "outside of jax.jit"
        )
    check(arena)
    shape = np.shape(arena.owner)
    for name in ("lower", "upper"):
        array = as_array(f"solution.{name}", getattr(solution, name))
        check_array(f"solution.{name}", array, shape, "f")
    if solution.strategy is not None:
        validity.check_answer("strategy", solution.strategy, shape)
    arena = as_checked_as(arena, to_numpy(arena.unpad()))
    lower, upper, strategy = (
        None if x is None else np.asarray(x)[: arena.shape[0]] for x in parts
    )
    assert lower is not None  # as a type checker does not see
    assert upper is not None
    lower, upper = lower.astype(np.float64), upper.astype(np.float64)
    return host.verify(arena, exact(discount), lower, upper, strategy)

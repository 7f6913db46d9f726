"""Checks a solution of an energy parity game: the front door."""

from typing import Any, Unpack

import numpy as np

from jaxgames import validity
from jaxgames.arena import Arena, as_checked_as, is_traced
from jaxgames.arguments import as_array, check_array, fields
from jaxgames.energyparity import host
from jaxgames.energyparity._checks import check
from jaxgames.energyparity._solution import Solution
from jaxgames.energyparity._verdict import Verdict
from jaxgames.later import to_numpy
from jaxgames.limits import Bounds, limited


@limited()
def verify(
    arena: Arena,
    solution: Solution,
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks winners and both strategies of an energy parity game, trusting nothing.

    Player 1's moves stay where he wins, and player 0 has no edge out of there. If he
    could win against them he could do so among vertices that are strongly connected,
    with an even priority on top that he visits: there no cycle may gain, and none
    through a vertex of that priority may keep the energy. Potentials show this, and the
    edges that are tight under them. The search goes from the largest priorities down.

    Player 0's modes are a proof by themselves. In each core the credits must satisfy
    the inequalities of an energy game along all edges that earning leaves, and cycles
    of edges where they are equalities must have even priorities on top. Outside of
    earning the order must fall until a top or a core is there. And along every edge
    there must be as much energy as is needed after it. Every play then stays in a core
    for ever, where it earns for ever, or visits tops again and again.

    It shares no code with the solver. One pass over all edges for each priority, and
    one for each core, in the worst case.

    On the host.

    Args:
        arena: the game.
        solution: winners, player 1's moves, credits and modes.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        True if all is right, else what is wrong first, and where:
        [`Verdict`][jaxgames.energyparity.Verdict].

    Raises:
        ValueError: the arena is no such game, or a part of the solution is not there or
            has not its shape.

    Examples:
        >>> import dataclasses
        >>> from jaxgames import Arena, energyparity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 0, 2], owner=[0, 0, 1],
        ...     weight=[1, -5, 0, 1], priority=[1, 2, 3],
        ... )
        >>> solution = energyparity.solve(arena)
        >>> print(energyparity.verify(arena, solution))
        valid
        >>> poor = dataclasses.replace(solution, credit=np.array([-1, 0, -1]))
        >>> print(energyparity.verify(arena, poor))
        vertex 0: player 0 may come there, or leave it, with less energy than he needs
    """
    names = "winner", "strategy", "credit", "modes"
    parts = fields("solution", solution, *names)
    if is_traced((arena, parts[:2])):
        raise ValueError(
            "energy parity games are verified on the host, where a traced game cannot "
            "be: verify it outside of jax.jit"
        )
    check(arena)
    *arrays, modes = parts
    for name, array in zip(names, arrays, strict=False):
        wide = name == "credit"
        validity.check_answer(name, array, arena.owner.shape, wide=wide)
    _check_modes(arena, modes)
    plain = as_checked_as(arena, to_numpy(arena.unpad()))
    size = plain.shape[0]
    winner, strategy, credit = (np.asarray(x)[:size] for x in arrays)
    return host.verify(plain, winner, strategy, credit, to_numpy(modes))


def _check_modes(arena: Arena, modes: Any) -> None:
    """Raises ValueError unless arrays have the shapes that `Modes` says."""
    if modes is None:
        raise ValueError(
            "solution.modes is None: it was solved with strategies=False, or not to "
            "the end"
        )
    size, cores, all_in = arena.shape[0], np.shape(modes.outer), np.shape(modes.vertex)
    of_vertices = "core", "move", "is_top", "reaches", "order", "need"
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(of_vertices, (size,))
    shapes |= dict.fromkeys(("outer", "level", "floor", "core_order"), cores[:1])
    shapes |= dict.fromkeys(("vertex", "earn", "credit"), all_in[:1])
    shapes["begin"] = (sum(cores[:1]) + 1,)
    for name, shape in shapes.items():
        array = as_array(f"solution.modes.{name}", getattr(modes, name))
        kinds = "b" if name in ("is_top", "reaches") else "iO"
        check_array(f"solution.modes.{name}", array, shape, kinds)

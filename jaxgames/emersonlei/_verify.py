"""Checks a solution: the front door."""

from typing import Any, Unpack

import numpy as np

from jaxgames import validity
from jaxgames.arena import is_traced
from jaxgames.arguments import as_array, check_array
from jaxgames.emersonlei import host
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._problem import check
from jaxgames.emersonlei._product import unpadded
from jaxgames.emersonlei._solution import Solution
from jaxgames.emersonlei._verdict import Verdict
from jaxgames.later import to_numpy
from jaxgames.limits import Bounds, limited


@limited()
def verify(game: Game, solution: Solution, **bounds: Unpack[Bounds]) -> Verdict:
    """Checks winners and strategies, trusting nothing (host only).

    The machine must follow the game: each edge of a node is one of its vertex. Then the
    moves of a player are fixed where he wins, and what is left is searched for a
    strongly connected part whose marks the other player wants: components are found,
    marks that he must not meet are taken out, and so on. It knows neither parity games
    nor the tree: whatever memory a machine has, it is judged by the plays that it
    allows.

    Polynomial in the size of the machine for Rabin and Streett conditions and those
    whose normal form is small; exponential in the condition at worst.

    Args:
        game: the game.
        solution: its winners and its machine.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        True if all is right, else what is wrong first, and where:
        [`Verdict`][jaxgames.emersonlei.Verdict].

    Raises:
        ValueError: it is no such game, or a part of the solution is not there or has
            not its shape.

    Examples:
        >>> import dataclasses
        >>> from jaxgames import Arena, emersonlei
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0])
        >>> game = emersonlei.Game.streett(arena, [([0], [1])])
        >>> solution = emersonlei.solve(game)
        >>> print(emersonlei.verify(game, solution))
        valid
        >>> wrong = dataclasses.replace(solution, winner=np.zeros(2, np.int8))
        >>> print(emersonlei.verify(game, wrong))
        vertex 1: its owner wins it, but has no move there with some memory
    """
    if is_traced((game, solution.winner)):
        raise ValueError(
            "machines are verified on the host, where a traced game cannot be: verify "
            "it outside of jax.jit"
        )
    game, _ = check(game)
    size = game.shape[0]
    validity.check_answer("winner", solution.winner, (size,))
    machine = solution.machine
    if machine is None:
        raise ValueError(
            "solution.machine is None: it was solved with strategies=False, or not to "
            "the end"
        )
    nodes = np.shape(machine.vertex)[:1]
    shapes: dict[str, Any] = dict.fromkeys(("vertex", "memory", "move"), nodes)
    shapes |= {
        "start": np.shape(machine.start)[:1],
        "row_ptr": (sum(nodes) + 1,),
        "target": np.shape(machine.target)[:1],
    }
    for name, shape in shapes.items():
        array = as_array(f"solution.machine.{name}", getattr(machine, name))
        check_array(f"solution.machine.{name}", array, shape, "i")
    machine, game = to_numpy(machine), game.unpad()
    own = game.shape[0]
    if len(machine.start) not in (own, size):
        raise ValueError(
            f"solution.machine.start must be integers [{own}], got "
            f"{list(machine.start.shape)}"
        )
    if len(machine.start) > own:
        machine = unpadded(machine, own)
    return host.verify(game, np.asarray(solution.winner)[:own], machine)

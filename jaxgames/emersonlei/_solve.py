"""The front door of games with conditions of Emerson and Lei."""

from typing import Unpack

from jaxgames import drive
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._problem import PROBLEM
from jaxgames.emersonlei._solution import Solution
from jaxgames.solver import Solver


@drive.front_door
def solve(
    game: Game,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Decides who wins from each vertex, and how: Rabin, Streett, Muller and others.

    Player 0 wins a play if the condition holds of the marks that it meets infinitely
    often. A memory of what was met makes a parity game of it, see
    [`product`][jaxgames.emersonlei.product], which
    [`parity.solve`][jaxgames.parity.solve] solves, wherever and however it is asked to.
    The memory has as many states as the Zielonka tree of the condition has leaves: one
    for Rabin conditions of one pair and parity conditions, `k` for `k` marks all of
    which are wanted, at worst `k!` for `k` pairs.

    On a concrete game only: the host makes the product.

    Args:
        game: the game; every vertex has a successor.
        solver: of the parity game, as for [`parity.solve`][jaxgames.parity.solve].
        strategies: whether strategies are wanted.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        Winners, and strategies of both players as one
        [`Machine`][jaxgames.emersonlei.Machine]:
        [`Solution`][jaxgames.emersonlei.Solution]. `stats` has the number of `nodes`.

    Raises:
        ValueError: it is no such game, its condition has too large a tree, or an
            argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    References:
        Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
        Casares, Colcombet and Fijalkow, Optimal transformations of games and automata
        using Muller conditions, ICALP 2021, doi:10.4230/LIPIcs.ICALP.2021.123.

    Examples:
        >>> from jaxgames import Arena, emersonlei
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 0], owner=[0, 1, 1]
        ... )
        >>> wanted = emersonlei.both([emersonlei.inf(0), emersonlei.inf(1)])
        >>> game = emersonlei.Game.of_sets(arena, wanted, [[1], [2]])
        >>> emersonlei.solve(game)
        Solution(player 0 wins 3, player 1 wins 0)
        >>> emersonlei.solve(game).machine
        Machine(6 nodes, 2 memories)
    """
    return drive.solve(PROBLEM, game, solver, strategies=strategies, **how)

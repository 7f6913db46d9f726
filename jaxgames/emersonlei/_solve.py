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
    often. There are two ways:

    - A memory of what was met makes a parity game of it, see
      [`product`][jaxgames.emersonlei.product], which
      [`parity.solve`][jaxgames.parity.solve] solves, wherever and however it is asked
      to. The memory has as many states as the Zielonka tree of the condition has
      leaves [1]: one for parity conditions and single pairs, `k` for `k` marks all of
      which are wanted, at worst `k!` for `k` pairs.
    - A recursion over the sets of the tree [2] works on the game itself, and makes no
      product: `"recursion"`. Its strategies remember no more than they need.

    Inside `jax.jit` and `jax.vmap` it is the product, with a copy of the game for each
    leaf of the tree: how much of it plays reach depends on the game. Arrays of JAX have
    31 marks, where nobody has set `jax_enable_x64`.

    Args:
        game: the game; every vertex has a successor.
        solver: `"recursion"`; or for the product, as for
            [`parity.solve`][jaxgames.parity.solve]; or `"auto"`: the product
            where it is small, else the recursion.
        strategies: whether strategies are wanted.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. The first two ask for the product.

    Returns:
        Winners, and strategies of both players as one
        [`Machine`][jaxgames.emersonlei.Machine]:
        [`Solution`][jaxgames.emersonlei.Solution]. `stats` has the number of `nodes`
        of the product or the machine. A traced machine has all nodes, and moves of what
        was decided.

    Raises:
        ValueError: it is no such game, its condition has too large a tree, or an
            argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    References:
        [1] Casares, Colcombet and Fijalkow, Optimal transformations of games and
        automata using Muller conditions, ICALP 2021,
        doi:10.4230/LIPIcs.ICALP.2021.123.
        [2] Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.

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

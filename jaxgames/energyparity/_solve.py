"""The front door of energy parity games."""

from typing import Unpack

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.energyparity._problem import PROBLEM
from jaxgames.energyparity._solution import Solution
from jaxgames.solver import Solver


@drive.front_door
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Decides who wins an energy parity game from each vertex, and how.

    Player 0 wins from a vertex if, with some initial energy, he can see to it that the
    energy never falls below zero and that the largest priority seen infinitely often is
    even. Else player 1 wins [1].

    The recursion of [1] over priorities, whose steps are parity games and energy games:
    these are solved by [`parity.solve`][jaxgames.parity.solve] and
    [`energy.solve`][jaxgames.energy.solve], and what one of them alone decides is taken
    out first. In the worst case there are exponentially many in the number of
    priorities; on random games about one for each priority. Numbers in them are exact,
    of as many bits as it takes.

    The host chooses the games, from concrete arenas. Inside `jax.jit` and `jax.vmap` it
    is a fixpoint iteration instead, which finds winners and the least credits, but no
    strategies: for small games, in batches. A round is one sweep over the edges then,
    and a solve of more than a million ends with a status, if `max_steps` says nothing.

    Args:
        arena: a game with one integer weight on each edge, in a unit of energy, and
            priorities on vertices; every vertex has a successor.
        solver: of the energy games, as for [`energy.solve`][jaxgames.energy.solve];
            with `"host"` parity games are the host's, too. `"auto"` for traced arenas.
        strategies: whether strategies are wanted.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. A round is one inner game. A state holds the
            answers of those that were solved, and takes memory for each; there is none
            where a call without `state` and `max_steps` has solved the game.

    Returns:
        Winners, strategies of both players, and energy that is enough:
        [`Solution`][jaxgames.energyparity.Solution]. Player 1 needs no memory; player 0
        remembers the energy, see [`Modes`][jaxgames.energyparity.Modes].

    Raises:
        ValueError: the arena is no such game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set. Its `solution` has what
            was decided.

    References:
        [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012),
        doi:10.1016/j.tcs.2012.07.038.

    Examples:
        >>> from jaxgames import Arena, energyparity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 0, 2], owner=[0, 0, 1],
        ...     weight=[1, -5, 0, 1], priority=[1, 2, 3],
        ... )
        >>> solution = energyparity.solve(arena)
        >>> solution  # it earns on the loop of vertex 0, and visits vertex 1
        Solution(player 0 wins 2, player 1 wins 1)
        >>> solution.modes
        Modes(1 cores, levels up to 10)
        >>> memory = solution.modes.start(0, int(solution.credit[0]))
        >>> solution.modes.edge(0, memory)
        0
    """
    return drive.solve(PROBLEM, arena, solver, strategies=strategies, **how)

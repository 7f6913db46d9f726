"""The front door of the decomposition into maximal end components."""

from typing import Any, Unpack

from jaxgames import drive
from jaxgames.mdp._model import MDP
from jaxgames.mdp._problem import PROBLEM, Part
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp._solver import EndComponentSolver
from jaxgames.solver import Solver


@drive.front_door
def mec(
    model: MDP,
    solver: str | EndComponentSolver = "auto",
    *,
    states: Any = None,
    choices: Any = None,
    **how: Unpack[drive.How],
) -> EndComponents:
    """Decomposes a model into its maximal end components.

    An end component is a set of states, with some choices of each, that one can stay in
    for ever and go everywhere in: its choices lead to its own states alone, and connect
    them strongly. Those that share a state make up a larger one, so every state lies in
    at most one that is maximal. A single state is one if a choice leads back to it with
    certainty.

    Works inside `jax.jit` and `jax.vmap` on a traced model. On a concrete one the host
    lays it out for the device, drives the loop in chunks and can be interrupted.

    Args:
        model: the model; its probabilities are not looked at.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for both at
            once, the first to finish wins; or `"auto"`, which chooses among all these
            and says in `stats` what it took.
        states: bool `[S]`, the states to look at; None for all. A choice that may lead
            to another state is in no component.
        choices: bool `[C]`, the choices to look at; None for all.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        [`EndComponents`][jaxgames.mdp.EndComponents], the same from every solver. The
        `stats` hold `outer`, how often components were told apart; and those of a
        device `propagation` and `removal`, the rounds that were spent on telling them
        apart, and on taking out what cannot stay; of `interleaved` also `near`, those
        of the latter that read little, and `jumps`, how often chains of states went
        at once.

    Raises:
        ValueError: an argument is wrong.
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds
            the state to go on from.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
        ... )
        >>> components = mdp.mec(model)
        >>> components
        EndComponents(2 of 2 states and 2 choices)
        >>> components.state_label.tolist()
        [0, -1, 1]
        >>> mdp.mec(model, states=[1, 1, 0])
        EndComponents(1 of 1 states and 1 choices)
    """
    return drive.solve(PROBLEM, Part(model, states, choices), solver, **how)


def place_for(model: MDP, solver: str | Solver = "auto") -> str:
    """Where `mec` decomposes a concrete model: `"device"`, `"host"` or `"race"`.

    Args:
        model: the model.
        solver: as for `mec`.

    Raises:
        ValueError: there is no such solver.
    """
    return drive.place_for(PROBLEM, Part(model), solver)

"""What a slice says of itself, so that many of its games can be solved at once."""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import ops
from jaxgames.arena import Arena
from jaxgames.batch._form import ARENAS, Form
from jaxgames.ops import Game
from jaxgames.solution import Solution
from jaxgames.solver import Registry, Solver

PADDED = 4
"""Rows are made dense if they have at most so many cells for each edge."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """A kind of game, of which stacks are solved in rounds.

    `game`, `answer` and `finish` are pure functions of a single game: batches map them.
    Where it says arena that is whatever `form` stacks.

    Attributes:
        name: the name of the problem.
        solvers: the registry of its solvers.
        auto: the solver that `"auto"` stands for, for a stack.
        check: raises ValueError for an arena, or a stack of such, that is no game of
            this kind.
        facts: what of a concrete stack decides shapes and types, from the stack and the
            solver. All games of a stack share a compilation with the same facts.
        game: what the solver works on, from an arena, the solver and the facts.
        answer: the answers over the vertices of the arena, from the solver, its game,
            its state and the number of these vertices. Arrays have vertices in front.
        solution: the solution, from the answers by vertex and the keywords of
            [`Solution`][jaxgames.Solution].
        then: another solve that completes the answers; None where there is none.
        finish: completes the answers when all rounds are over, from the solver, the
            arena and the answers; None where nothing is missing.
        form: what games are made of.
        bits: of the integers that each of some arenas, or stacks, wants: 32 or 64.
        alone: solves a game of a list whose numbers did not fit, in the way in which
            games are solved one by one; None where numbers always fit.
    """

    name: str
    solvers: Registry
    auto: Callable[[Arena], Solver]
    check: Callable[[Any], None]
    facts: Callable[[Any, Solver], Hashable]
    game: Callable[[Any, Solver, Any], Any]
    answer: Callable[[Solver, Any, Any, int], Any]
    solution: Callable[..., Solution]
    then: "Then | None" = None
    finish: Callable[[Solver, Any, Any], Any] | None = None
    form: Form = ARENAS
    bits: Callable[[Sequence[Any]], Sequence[int]] = lambda games: [32] * len(games)
    alone: Callable[..., Solution] | None = None

    def resolve(self, solver: str | Solver, arena: Any, strategies: bool) -> Solver:
        """A solver from its name or itself, with or without strategies."""
        auto = solver == "auto"
        chosen = self.auto(arena) if auto else self.solvers.resolve(solver)
        if strategies:
            return chosen
        return dataclasses.replace(chosen, strategies=False)


@dataclasses.dataclass(frozen=True)
class Then:
    """A second solve, of games whose first answers are known.

    `arena` and `merge` are pure functions of a single game. The facts of the first
    solve hold for it too.

    Attributes:
        problem: what is to be solved; it is not registered.
        solver: the solver, from that of the first solve; None if it is not wanted.
        arena: the arena to solve, from that of the first solve, its answers, and
            whether it was solved (bool scalar).
        merge: the answers, from those of both.
    """

    problem: Problem
    solver: Callable[[Solver], Solver | None]
    arena: Callable[[Arena, Any, jax.Array], Arena]
    merge: Callable[[Any, Any], Any]


@dataclasses.dataclass(frozen=True)
class Union:
    """A kind of game of which many are solved as one, side by side.

    Attributes:
        name: the name of the problem.
        solve: solves games of a list: from these, the solver, and the keywords
            `max_steps`, `state`, `progress` and `strategies` of a solve. Returns their
            solutions, and a state to go on from.
    """

    name: str
    solve: Callable[..., tuple[Sequence[Solution], Any]]


PROBLEMS: dict[str, Problem | Union] = {}
"""What can be solved in batches, by name."""


def register(problem: Any) -> Any:
    """Makes a problem known by its name, and returns it."""
    PROBLEMS[problem.name] = problem
    return problem


def problem_of(problem: Any) -> Problem | Union:
    """A problem from itself, its name, or the package that has it.

    Raises:
        ValueError: there is no such problem.
    """
    if isinstance(problem, str) and problem not in PROBLEMS:
        for name in dir(
            jaxgames
        ):  # a package registers its problem when it is imported
            getattr(jaxgames, name)
    found = PROBLEMS.get(problem) if isinstance(problem, str) else problem
    found = getattr(found, "PROBLEM", found)
    if not isinstance(found, Problem | Union):
        raise ValueError(
            f"problem must be one of {', '.join(map(repr, PROBLEMS))}, or a package of "
            f"jaxgames that solves games in batches, got {problem!r}"
        )
    return found


# ---- what slices have in common --------------------------------------------------


def widest(arena: Arena) -> int:
    """The largest out-degree of a concrete arena, or of all of a stack (host).

    Rounded up a little, so that stacks share a compilation. Padding is left out: of its
    edges, which all are self-loops, one is as good as many.
    """
    most = _on_its_place(_most_edges, arena.row_ptr, arena.num_vertices)
    return most if most <= 4 else -(-most // 4) * 4


def _most_edges(xp: Any, row_ptr: Any, num_vertices: Any) -> Any:
    degree = row_ptr[..., 1:] - row_ptr[..., :-1]
    real = xp.arange(degree.shape[-1]) < num_vertices[..., None]
    return xp.max(xp.where(real, degree, 0), initial=1)


def largest(x: Any) -> int:
    """The largest absolute value of some integers, 0 if there are none (host)."""
    return max(_on_its_place(_most, x), -_on_its_place(_least, x)) if x.size else 0


def _most(xp: Any, x: Any) -> Any:
    return xp.max(x)


def _least(xp: Any, x: Any) -> Any:
    return xp.min(x)


def _on_its_place(fact: Callable[..., Any], *arrays: Any) -> int:
    """A number that is true of arrays: found where these are, as one program."""
    if isinstance(arrays[0], jax.Array):
        return int(_on_device(fact, *arrays))
    return int(fact(np, *map(np.asarray, arrays)))


@functools.partial(jax.jit, static_argnums=0)
def _on_device(fact: Callable[..., Any], *arrays: Any) -> jax.Array:
    return fact(jnp, *arrays)


def laid_out(arena: Arena, degree: int) -> Game:
    """An arena with dense rows, unless that takes many more cells (pure).

    Args:
        arena: one arena, each of whose vertices has an edge.
        degree: its largest out-degree without padding, or that of its stack.
    """
    vertices, edges = arena.shape
    if vertices * degree <= PADDED * edges:
        return ops.dense_rows(arena, degree)
    return arena

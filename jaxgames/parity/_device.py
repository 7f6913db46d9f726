"""Solving a concrete game on the device, with one solver or with several in turn."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple, Unpack

import jax
import numpy as np

from jaxgames import fixpoint, memory, ops, states, validity
from jaxgames.arena import Arena
from jaxgames.kept import kept
from jaxgames.limits import Bounds, limited
from jaxgames.parity._game import Answer, normal_form
from jaxgames.parity._solution import Solution
from jaxgames.progress import Meter
from jaxgames.solution import NO_EDGE, Stats, Status
from jaxgames.solver import Solver
from jaxgames.states import register


def normal(arena: Arena, solver: Solver | None = None) -> Arena:
    """The normal form of a concrete arena; kept with it.

    Args:
        arena: the game.
        solver: says whether priorities may stay on edges.
    """
    on_edges = arena.edge_priority is not None and (
        solver is not None and solver.edge_priorities
    )
    key = "parity normal form", on_edges
    return kept(arena, key, lambda: normal_form(arena, on_edges))


def top_priority(arena: Arena) -> int:
    """The largest priority of the normal form; kept with the arena."""
    return kept(arena, "parity top", lambda: int(normal(arena).priority.max(initial=0)))


@limited()
def prepare(
    arena: Arena, solver: Solver | None = None, **bounds: Unpack[Bounds]
) -> tuple[Arena, ops.Game]:
    """The normal form of a concrete arena, and its layout on the device; kept with it.

    `solve` calls this; call it before to have its cost apart. Within
    [`parallel.over`][jaxgames.parallel.over] the layout is spread over the devices.

    Args:
        arena: a concrete arena.
        solver: the solver that it is for.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
    """
    game = normal(validity.checked(arena)[0], solver)
    return game, ops.prepare(game, ops.current_spread())


def on_device(
    arena: Arena,
    solver: Solver,
    *,
    state: fixpoint.Carry | None = None,
    max_steps: int | None = None,
    progress: Meter | None = None,
) -> Solution:
    """Runs one solver on the default device."""
    fitted = normal(arena, solver)
    solver = solver.fit(fitted)
    memory.check(
        solver,
        lambda: memory.shape_of(fitted),
        *fitted.shape,
        resident=ops.is_prepared(fitted, ops.current_spread()),
    )
    _, game = prepare(arena, solver)
    outcome = fixpoint.run(solver, game, state, max_steps=max_steps, progress=progress)
    # Cut on the host: a device would compile a slice for each number of vertices.
    answer = jax.device_get(outcome.answer)
    measures = answer.measures
    if measures is not None:
        measures = measures.resized(_num_own(arena), arena.shape[0])
    answer = Answer(*fit(arena, answer.winner, answer.strategy), measures)
    return device_solution(solver, game, outcome._replace(answer=answer))


def _num_own(arena: Arena) -> int:
    """Vertices of an answer that are the arena's, and not its layout's.

    An arena with edge priorities may have lost its padding on the way.
    """
    return arena.shape[0] if arena.edge_priority is None else int(arena.num_vertices)


def fit(arena: Arena, winner, strategy) -> tuple[np.ndarray, np.ndarray | None]:
    """An answer for the arena, without the vertices that split its edges."""
    own = _num_own(arena)

    def resized(x, fill: int):
        return np.pad(x[:own], (0, arena.shape[0] - own), constant_values=fill)

    strategy = None if strategy is None else resized(strategy, NO_EDGE)
    return resized(winner, 0), strategy


def device_solution(
    solver: Solver, game: ops.Game, outcome: fixpoint.Outcome
) -> Solution:
    """What the outcome of a solver says."""
    answer = outcome.answer
    return Solution(
        winner=answer.winner,
        strategy=answer.strategy if solver.strategies else None,
        measures=answer.measures,
        status=outcome.status,
        stats=Stats(
            solver=solver.name,
            layout=ops.layout(game),
            rounds=outcome.rounds,
            cells=ops.num_cells(game),
            **solver.stats(game, outcome.carry.state),  # type: ignore[arg-type]
        ),
        state=outcome.carry,
    )


# ---- several solvers in turn ---------------------------------------------------


class Leg(NamedTuple):
    """A part of a run on the device: a solver, and rounds after which it gives up."""

    solver: Solver
    budget: int | None = None


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LegState:
    """What a run of several legs goes on from.

    Attributes:
        carry: of the leg's solver.
        leg: which leg.
        spent: rounds of the legs before it.
    """

    carry: fixpoint.Carry
    leg: int = dataclasses.field(metadata={"static": True})
    spent: int = dataclasses.field(metadata={"static": True})


def along_legs(
    arena: Arena,
    legs: Sequence[Leg],
    *,
    state: LegState | None = None,
    max_steps: int | None = None,
    progress: Meter | None = None,
    run: Callable[..., Solution] = on_device,
) -> Solution:
    """Runs one solver after the other, until one is done within its budget.

    Args:
        arena: the game.
        legs: the solvers.
        state: of an earlier solution, to go on from.
        max_steps: rounds of all legs together, those before `state` counted in.
        progress: told between chunks of rounds.
        run: how a solver is run, as `on_device`.
    """
    spent, carry, first = 0, None, 0
    if state is not None:
        states.check_class(state, LegState)
        if not 0 <= state.leg < len(legs):
            raise ValueError("state is not of this solve: it has other solvers in turn")
        spent, carry, first = state.spent, state.carry, state.leg
    tried = [leg.solver.name for leg in legs[:first]]
    for index, leg in enumerate(legs[first:], start=first):
        left = None if max_steps is None else max_steps - spent
        limits = [limit for limit in (leg.budget, left) if limit is not None]
        solution = run(
            arena,
            leg.solver,
            state=carry,
            max_steps=min(limits, default=None),
            progress=progress,
        )
        state = LegState(solution.state, index, spent)
        over_budget = (
            solution.status in (Status.MAX_STEPS, Status.OVERFLOW)
            and (left is None or left > int(solution.stats["rounds"]))
            and index + 1 < len(legs)
        )
        if not over_budget:
            break
        tried.append(leg.solver.name)
        spent, carry = spent + int(solution.stats["rounds"]), None
    stats = dict(solution.stats)
    if tried:
        stats["tried"] = ", ".join(tried)
    return dataclasses.replace(solution, stats=Stats(**stats), state=state)

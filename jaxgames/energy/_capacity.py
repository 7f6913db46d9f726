"""Batteries: energy above a capacity is lost."""

import dataclasses
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from jaxgames import drive, fixpoint, ops, validity
from jaxgames.arena import Arena, is_traced, refuse_cut
from jaxgames.arguments import as_array, fields
from jaxgames.energy import _bounds, _device, _potentials
from jaxgames.energy._bounds import check_capacity, largest_credit
from jaxgames.energy._fvi import FVI, State
from jaxgames.energy._potentials import Answer
from jaxgames.energy._problem import Energy
from jaxgames.energy._solution import Solution
from jaxgames.energy._verdict import Verdict
from jaxgames.energy._verify import checked_on_host
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.solution import Stats, Status
from jaxgames.solver import Registry


class Battery(NamedTuple):
    """A game with a capacity, as the solver works on it.

    Attributes:
        game: the game.
        scale: int32, bits of a potential that count steps.
        lost: bool `[S]`: where player 0 is known to lose.
        capacity: number, the largest credit.
    """

    game: ops.Game
    scale: jax.Array
    lost: jax.Array
    capacity: jax.Array


@dataclasses.dataclass(frozen=True)
class CappedFVI(FVI):
    """Fast value iteration where a potential above the capacity is as good as infinite.

    Potentials never are above what is needed. So a vertex that rises above the capacity
    is lost at once, and what is raised because of that stays below what is needed.
    """

    name: ClassVar[str] = "fvi"
    solves: ClassVar[str] = "energy games with a capacity"

    def _turn(
        self, game: Any, potential: jax.Array, turns: jax.Array, rounds: jax.Array
    ) -> State:
        full = game.capacity.astype(potential.dtype) << game.scale
        infinite = _potentials.infinite(potential.dtype)
        potential = jnp.where(potential > full, infinite, potential)
        return super()._turn(game, potential, turns, rounds)

    def _fits(self, *_: Any) -> jax.Array:
        # What is too large for a number is above the capacity.
        return jnp.array(True)


class Capped(NamedTuple):
    """A game, and the capacity of its battery."""

    arena: Any
    capacity: Any


class _Capped(Energy):
    """Energy games with a capacity."""

    name = "energy with a capacity"
    solvers = Registry(
        "energy", CappedFVI, places=(drive.HOST, drive.RACE), base=CappedFVI
    )

    def read(self, question: Capped) -> tuple[Capped, Any]:
        """The capacity is no less than zero."""
        arena, fault = _bounds.check(question.arena)
        capacity = question.capacity
        if not is_traced((arena, capacity)):
            capacity = check_capacity(capacity)
        return Capped(arena, capacity), fault

    def shape(self, question: Capped) -> tuple[int, int]:
        return question.arena.shape

    def undecided(self, question: Capped) -> Answer:
        return super().undecided(question.arena)

    def is_hosts(self, question: Capped) -> bool:
        """What 64 bits are too few for."""
        return _bits(question)[1] > 64

    def on_device(
        self,
        question: Capped,
        solver: Any,
        *,
        state=None,
        max_steps=None,
        progress=None,
    ) -> Solution:
        return _on_device(question, solver, state, max_steps, progress)

    def traced(self, question: Capped, solver: Any, state: Any, max_steps: Any) -> Any:
        return _traced(*question, solver, state, max_steps)

    def on_host(self, question: Capped, **how: Any) -> Solution:
        return super().on_host(question.arena, capacity=question.capacity, **how)


CAPPED = _Capped()


@drive.front_door
def solve_with_capacity(
    arena: Arena,
    capacity: Any,
    solver: str | CappedFVI = "auto",
    *,
    strategies: bool = True,
    **how: Unpack[drive.How],
) -> Solution:
    """Finds the least initial energy when a battery holds no more than a capacity.

    Each edge adds its weight to the energy level; above the capacity the level is cut
    to it, below zero player 0 has lost. This is the lower-weak-upper-bound problem of
    [1]. The credits are the least `f` with values from 0 to the capacity and, for each
    vertex `v`, the best (player 0) or worst (player 1) of `max(0, f(u) - w)` over its
    edges; where that is above the capacity, no battery of this size is enough.

    Works inside `jax.jit` and `jax.vmap`, on traced capacities too, which must then be
    small enough: capacity and weights, times the number of vertices, fit the weights'
    type, or the status is `Status.OVERFLOW`.

    Args:
        arena: a game with one integer weight on each edge, in a unit of energy; every
            vertex has a successor.
        capacity: the battery's, in the same unit, not negative.
        solver: `"fvi"`, fast value iteration on the device; `"host"`, the same one
            vertex after the other; `"race"` for both at once; or `"auto"`, which
            chooses.
        strategies: whether a strategy is wanted.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. A round is a turn of fast
            value iteration.

    Returns:
        Credits and winners; a vertex is won by player 1 if he wins even from a full
        battery. The strategy is player 0's alone, the edge of least index that the
        credit is enough for. Player 1 has none here: there are vertices where no edge
        is right at all levels, he must know how full the battery is.

    Raises:
        ValueError: the arena is no energy game, or an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    References:
        [1] Bouyer, Fahrenberg, Larsen, Markey and Srba, Infinite runs in weighted timed
        automata with energy constraints, FORMATS 2008, doi:10.1007/978-3-540-85778-5_4.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 1, 1], [1, 0, 1], owner=[0, 1], weight=[5, -5, -1]
        ... )
        >>> energy.solve_with_capacity(arena, 5).credit
        array([-1, -1], dtype=int32)
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[6, -5])
        >>> energy.solve_with_capacity(arena, 4).credit
        array([-1, -1], dtype=int32)
        >>> energy.solve_with_capacity(arena, 5).credit
        array([0, 5], dtype=int32)
    """
    return drive.solve(
        CAPPED, Capped(arena, capacity), solver, strategies=strategies, **how
    )


@limited()
def verify_with_capacity(
    arena: Arena,
    solution: Solution,
    capacity: Any,
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks the solution of a game with a capacity (host only), trusting nothing.

    Credits must satisfy their inequalities, and value iteration from below, with
    counters, must reach them: O(E C) time for a capacity of C at worst.

    Args:
        arena: the game.
        solution: its solution.
        capacity: the battery's capacity.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        True if all is right, else what is wrong first, and where.

    Raises:
        ValueError: the arena is no energy game, or the solution is not of its shape.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[6, -5])
        >>> solution = energy.solve_with_capacity(arena, 5)
        >>> print(energy.verify_with_capacity(arena, solution, 5))
        valid
        >>> print(energy.verify_with_capacity(arena, solution, 4))
        vertex 1: player 0 needs less than its credit
    """
    capacity = check_capacity(capacity)
    arena, _ = _bounds.check(arena)
    *parts, strategy = fields("solution", solution, "credit", "winner", "strategy")
    for name, part in zip(("credit", "winner"), parts, strict=True):
        validity.check_answer(name, part, arena.owner.shape)
    credit, winner = map(np.asarray, parts)
    return checked_on_host(arena, credit, winner, strategy, capacity)


def survives(solution: Solution, level: Any) -> Any:
    """From which vertices a play with a given initial level can go on for ever.

    The fixed initial credit problem: bool of the shape of `solution.credit`. Of a level
    above the battery's capacity what is above is lost, which changes nothing here. May
    be traced.

    Args:
        solution: of a game, with a capacity or without.
        level: the initial energy level: a number, or one for each vertex.

    Raises:
        ValueError: the level is no integer.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[6, -5])
        >>> energy.survives(energy.solve(arena), 4)
        array([ True, False])
    """
    xp = jnp if is_traced((solution, level)) else np
    (credit,) = fields("solution", solution, "credit")
    if isinstance(level, int) and credit.dtype != object:
        level = max(-1, min(level, np.iinfo(credit.dtype).max))  # no credit is larger
    level = jnp.asarray(level) if xp is jnp else as_array("level", level)
    if level.ndim and level.shape != credit.shape:
        raise ValueError(
            f"level must be one number, or one for each vertex {credit.shape}, got "
            f"shape {level.shape}"
        )
    if not np.issubdtype(level.dtype, np.integer):
        raise ValueError(f"level must be an integer, got {level.dtype}")
    return (credit >= 0) & (credit <= level)


# ---- on the device ---------------------------------------------------------------


def _bits(question: Capped) -> tuple[int, int, int]:
    """The largest credit, and bits: of an integer, and of steps."""
    most, _ = largest_credit(*question)
    steps, room = int(question.arena.num_vertices).bit_length(), (most + 1).bit_length()
    fitting = (bits for bits in (32, 64) if steps + room < bits - 3)
    return most, next(fitting, 128), steps


def _on_device(question: Capped, solver, state, max_steps, progress) -> Solution:
    arena, kind = question.arena, largest_credit(*question)[1]
    most, bits, steps = _bits(question)
    # Nobody needs more, so that no edge need give or take more.
    weight = np.clip(np.asarray(arena.weight).astype(np.int64), -most - 1, most)
    narrow = dataclasses.replace(arena, weight=weight.astype(f"int{bits}"))
    with _device.of_bits(bits):
        task = _battery(ops.prepare(narrow), steps, most)
        how = {"max_steps": max_steps, "progress": progress}
        outcome = fixpoint.run(solver, task, state, **how)
        facts = solver.stats(task, outcome.carry.state)
        answer, facts, carry = to_numpy((outcome.answer, facts, outcome.carry))
    own = arena.shape[0]
    return Solution(
        credit=answer.credit[:own].astype(kind),
        winner=answer.winner[:own],
        strategy=answer.strategy[:own] if solver.strategies else None,
        status=outcome.status,
        stats=Stats(
            solver=solver.name, rounds=outcome.rounds, bits=bits,
            **{name: int(value) for name, value in facts.items()},
        ),
        state=carry,
    )  # fmt: skip


def _traced(arena: Arena, capacity: Any, solver: Any, state, max_steps) -> Solution:
    """Solves inside somebody's `jit` or `vmap`, in the numbers of the weights."""
    refuse_cut(arena)
    weight = jnp.asarray(arena.weight)
    weight = weight.astype(jnp.promote_types(weight.dtype, jnp.int32))
    capacity = jnp.asarray(capacity).astype(weight.dtype)
    steps = int(arena.shape[0]).bit_length()
    most = _potentials.beyond(weight.dtype) >> (steps + 1)
    fits = (capacity >= 0) & (capacity <= most)
    cut = jnp.clip(capacity, 0, most)
    game = dataclasses.replace(arena, weight=jnp.clip(weight, -cut - 1, cut))
    task = _battery(game, steps, cut)
    outcome = fixpoint.traced(solver, task, state, max_steps)
    answer: Answer = outcome.answer
    return Solution(
        credit=answer.credit,
        winner=answer.winner,
        strategy=answer.strategy if solver.strategies else None,
        status=jnp.where(fits, outcome.status, Status.OVERFLOW),
        stats=Stats(
            solver=solver.name,
            rounds=outcome.rounds,
            **solver.stats(task, outcome.carry.state),
        ),
        state=outcome.carry,
    )


def _battery(game: Any, scale: int, capacity) -> Any:
    lost = jnp.zeros(ops.num_slots(game), bool)
    capacity = jnp.asarray(capacity, _potentials.number_type(game))
    return Battery(game, jnp.int32(scale), lost, capacity)

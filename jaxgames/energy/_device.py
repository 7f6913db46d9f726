"""Solving on the device: credits, then the strategy of player 1, in 32 or 64 bits."""

import contextlib
import dataclasses
from typing import Any, Unpack

import numpy as np

from jaxgames import fixpoint, memory, ops
from jaxgames.arena import Arena
from jaxgames.energy import _bounds, _potentials
from jaxgames.energy._bounds import Width
from jaxgames.energy._fvi import FVI, PotentialSolver, Task
from jaxgames.energy._potentials import Answer
from jaxgames.energy._solution import Solution
from jaxgames.energy._strategies import Dual
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.progress import Meter
from jaxgames.solution import NO_EDGE, Stats, Status
from jaxgames.solver import Solver
from jaxgames.states import check_class, register


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Standing:
    """What a solve goes on from.

    Attributes:
        credits: the carry of the solver.
        moves: that of the search for player 1's strategy, once it has begun.
        widths: which of the widths each of them has, counted from the narrowest.
        given_up: rounds made with narrower ones.
    """

    credits: fixpoint.Carry
    moves: fixpoint.Carry | None = None
    widths: tuple[int, int] = dataclasses.field(
        default=(0, 0), metadata={"static": True}
    )
    given_up: int = dataclasses.field(default=0, metadata={"static": True})


@limited()
def prepare(arena: Arena, **bounds: Unpack[Bounds]) -> ops.Game:
    """Lays a concrete arena out on the default device, as `solve` needs it first.

    `solve` calls this; call it before to have its cost apart. Within
    [`parallel.over`][jaxgames.parallel.over] the layout is spread over the devices.

    Args:
        arena: a concrete arena.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
    """
    arena, _ = _bounds.check(arena)
    return laid_out(arena, _bounds.widths(arena)[0].bits)


def laid_out(arena: Arena, bits: int) -> ops.Game:
    """The arena with weights of so many bits, on the device; kept with it."""
    with of_bits(bits):
        return ops.prepare(_bounds.narrowed(arena, bits), ops.current_spread())


def _check_room(arena: Arena, solver: Solver, bits: int) -> None:
    with of_bits(bits):
        narrow = _bounds.narrowed(arena, bits)

        def shapes():
            game = memory.shape_of(narrow)
            if not isinstance(solver, PotentialSolver):
                return game
            scale = jax.ShapeDtypeStruct((), np.int32)
            return Task(game, scale, memory.mask(arena.shape[0]))  # type: ignore

        resident = ops.is_prepared(narrow, ops.current_spread())
        memory.check(solver, shapes, *arena.shape, resident=resident)


def of_bits(bits: int):
    """The context in which JAX has integers of so many bits."""
    return jax.enable_x64(True) if bits == 64 else contextlib.nullcontext()


def widths_for(arena: Arena, solver: Solver) -> tuple[Width, ...]:
    """What a solver computes with: one after the other, until numbers fit."""
    if not isinstance(solver, PotentialSolver):
        most = _bounds.bound(arena)
        return (Width(32 if most < 2**29 - 1 else 64, 1),)
    if solver.scale is not None:
        return Width(32, min(solver.scale, 28)), Width(64, min(solver.scale, 60))
    return _bounds.widths(arena, solver.player)


def _task(solver: Solver, game: Any, scale: int, lost=None) -> Any:
    """What a solver works on."""
    if not isinstance(solver, PotentialSolver):
        return game
    if lost is None:
        lost = jnp.zeros(ops.num_slots(game), bool)
    return Task(game, jnp.int32(scale), jnp.asarray(lost))


def _scale_for(game: ops.Game) -> int:
    """Bits of steps for a traced game: enough for every path, or half of them all."""
    steps = ops.num_slots(game).bit_length()
    return min(steps, jnp.iinfo(_potentials.number_type(game)).bits // 2 - 1)


def dual_of(solver: Solver) -> Dual:
    """The search for player 1's strategy, with the options of a solver."""
    if not isinstance(solver, FVI):
        return Dual()
    return Dual(**{x.name: getattr(solver, x.name) for x in dataclasses.fields(Dual)})


def on_device(
    arena: Arena,
    solver: Solver,
    *,
    state: Standing | None = None,
    max_steps: int | None = None,
    progress: Meter | None = None,
) -> Solution:
    """Runs one solver on the default device."""
    if state is not None:
        check_class(state, Standing)
    run = _Run(arena, max_steps, progress)
    first, second = (0, 0) if state is None else state.widths
    run.given_up = 0 if state is None else state.given_up
    widths, dual = widths_for(arena, solver), dual_of(solver)
    dual_widths = widths_for(arena, dual)
    if state is None and solver.strategies and isinstance(solver, PotentialSolver):
        run.then = dataclasses.replace(dual, scale=None), dual_widths[0]
    first, outcome = run.up(widths, first, solver, state and state.credits, None)
    run.then = None
    answer: Answer = outcome.answer
    rounds, moves, status = int(outcome.rounds), None, outcome.status
    strategy, facts = answer.strategy, run.facts
    wins = np.asarray(answer.winner)[: len(arena.owner)] == 1
    if solver.strategies and status == Status.SOLVED and np.any(arena.owner & wins):
        run.spent = rounds
        second, other = run.up(
            dual_widths, second, dual, state and state.moves, ~answer.lost
        )
        rounds, status, moves = rounds + int(other.rounds), other.status, other.carry
        strategy = _merged(strategy, other.answer)
        facts |= {f"dual_{k}": v for k, v in run.facts.items() if k in _COUNTED}
    others = answer._replace(strategy=None, lost=None)
    strategy, others = ops.edges_on_host(run.game, strategy, arena.row_ptr, others)
    answer = others._replace(strategy=strategy)
    standing = Standing(outcome.carry, moves, (first, second), run.given_up)
    return _solution(arena, solver, answer, status, facts, rounds, standing)


@jax.jit
def _merged(ours: jax.Array, theirs: jax.Array) -> jax.Array:
    """The moves of both players."""
    return jnp.where(theirs == NO_EDGE, ours, theirs)


_COUNTED = ("turns", "inner", "bits", "scale")


def _solution(arena, solver, answer, status, facts, rounds, state) -> Solution:
    own = arena.shape[0]
    return Solution(
        credit=answer.credit[:own].astype(_bounds.credit_type(arena), copy=False),
        winner=answer.winner[:own],
        strategy=answer.strategy[:own] if solver.strategies else None,
        status=status,
        stats=Stats(solver=solver.name, rounds=rounds, **facts),
        state=state,
    )


class _Run:
    """Runs of solvers in widths that grow, on one arena, under one limit."""

    def __init__(self, arena: Arena, max_steps: int | None, progress: Meter | None):
        self.arena, self.max_steps, self.progress = arena, max_steps, progress
        self.spent = 0
        self.given_up = 0
        self.facts: dict[str, Any] = {}
        self.game: Any = None
        # What may follow: its programs are compiled meanwhile.
        self.then: tuple[Solver, Width] | None = None

    def up(self, widths, index: int, solver: Solver, carry, lost):
        """The index of the first width that numbers fit, and the outcome there."""
        if index >= len(widths):
            raise ValueError("state is not of this solve: its numbers are wider")
        while True:
            width = widths[index]
            outcome = self._once(width, solver, carry, lost)
            last = index + 1 == len(widths)
            if outcome.status != Status.OVERFLOW or last:
                return index, outcome
            self.given_up += int(outcome.rounds)
            index, carry = index + 1, None

    def _once(self, width: Width, solver: Solver, carry, lost) -> fixpoint.Outcome:
        limit = self.max_steps
        if limit is not None:
            limit = max(limit - self.spent - self.given_up, 0)
        _check_room(self.arena, solver, width.bits)
        self.game = game = laid_out(self.arena, width.bits)
        scaled = isinstance(solver, PotentialSolver)
        if scaled:
            solver = dataclasses.replace(solver, scale=None)  # it is the task's
        with of_bits(width.bits):
            if scaled and lost is None:
                lost = fixpoint.placed(game, jnp.zeros(ops.num_slots(game), bool))
            task = _task(solver, game, width.scale, lost)
            if self.then is not None and self.then[1].bits == width.bits:
                fixpoint.compile_ahead(solver, task)
                fixpoint.compile_ahead(self.then[0], task)
            outcome = fixpoint.run(
                solver, task, carry, max_steps=limit, progress=self.progress
            )
            facts = to_numpy(solver.stats(task, outcome.carry.state))
            if width.bits == 64:
                # Outside, JAX would cut what is left on the device to 32 bits.
                outcome = outcome._replace(carry=to_numpy(outcome.carry))
        self.facts = {
            "layout": ops.layout(game),
            "cells": ops.num_cells(game),
            "bits": width.bits,
            **({"scale": width.scale} if scaled else {}),
            **{name: int(value) for name, value in facts.items()},
        }
        return outcome


# ---- traced ----------------------------------------------------------------------


def cut(arena: Arena) -> Arena:
    """A traced arena with weights that are numbers, see `_bounds.narrowed` (pure)."""
    weight = jnp.asarray(arena.weight)
    if weight.dtype.itemsize < 4:
        weight = weight.astype(jnp.int32)
    most = _potentials.beyond(weight.dtype)
    return dataclasses.replace(arena, weight=jnp.clip(weight, -most, most))


def traced(arena: Arena, solver: Solver, max_steps: Any, state: Standing | None):
    """Solves inside somebody's `jit` or `vmap`: in the width that the weights have."""
    game = cut(arena)
    limit = fixpoint.MAX_ROUNDS if max_steps is None else max_steps
    scale = solver.scale if isinstance(solver, FVI) else None
    scale = scale or _scale_for(game)
    task = _task(solver, game, scale)
    known = None if state is None else state.moves
    if state is not None:
        check_class(state, Standing)
    credits = None if state is None else state.credits
    outcome = fixpoint.traced(solver, task, credits, max_steps)
    answer: Answer = outcome.answer
    status, rounds, strategy = outcome.status, outcome.rounds, answer.strategy
    moves, facts = None, solver.stats(task, outcome.carry.state)
    if solver.strategies:
        dual = dual_of(solver)
        region = _task(dual, game, scale, ~(answer.lost & (status == Status.SOLVED)))
        moves = fixpoint.start(dual, region)
        if state is not None and known is not None:
            # If it had begun: credits were known then.
            begun = state.credits.rounds == outcome.carry.rounds
            begun &= fixpoint.belongs(known, moves)
            moves = jax.tree.map(
                lambda old, new: jnp.where(begun, old, new), known, moves
            )
        moves = fixpoint.iterate(dual, region, moves, limit - rounds)
        other = fixpoint.finish(dual, region, moves)
        strategy = jnp.where(other.answer == NO_EDGE, strategy, other.answer)
        status = jnp.where(status == Status.SOLVED, other.status, status)
        rounds = rounds + other.rounds
        more = dual.stats(region, moves.state)
        facts = facts | {f"dual_{name}": value for name, value in more.items()}
    return Solution(
        credit=answer.credit,
        winner=answer.winner,
        strategy=strategy,
        status=status,
        stats=Stats(
            solver=solver.name, layout=ops.layout(game), rounds=rounds, **facts
        ),
        state=Standing(outcome.carry, moves),
    )

"""The one loop that drives every solver: the only file with `lax.while_loop`.

[`iterate`][jaxgames.fixpoint.iterate] is pure and runs inside a user's `jit` and `vmap`.
[`run`][jaxgames.fixpoint.run] drives it from the host in chunks that grow, so that a long
solve reports progress, can be interrupted and can be resumed.
"""

import functools
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames import ops
from jaxgames.ops import Game
from jaxgames.progress import Progress, Report, as_progress
from jaxgames.solution import Status
from jaxgames.solver import Solver

FIRST_CHUNK = 64
"""Rounds of the first chunk that the host asks for; they double from there ..."""

CHUNK_SECONDS = 0.25
"""... as long as a chunk takes less than this."""

MAX_ROUNDS = 2**31 - 2**16
"""Rounds that the counter holds: the limit where none is given."""


class Carry(NamedTuple):
    """What a loop carries: the solver's state and the rounds done."""

    state: Any
    rounds: jax.Array


class Outcome(NamedTuple):
    """What a run ends with."""

    answer: Any
    status: Any
    carry: Carry


def start(solver: Solver, game: Game) -> Carry:
    """The carry before the first round."""
    return Carry(solver.init(game), jnp.int32(0))


def iterate(solver: Solver, game: Game, carry: Carry, limit) -> Carry:
    """Runs a solver until it is done or has made `limit` rounds in all (pure)."""
    sweeps = solver.sweeps_per_check or default_sweeps(game)

    def steps(count: int, carry: Carry) -> Carry:
        state = carry.state
        for _ in range(count):
            state = solver.step(game, state)
        return Carry(state, carry.rounds + count)

    def open_for(count: int, carry: Carry):
        stop = solver.done(game, carry.state) | solver.overflow(carry.state)
        return ~stop & (carry.rounds <= limit - count)

    for count in dict.fromkeys((sweeps, 1)):
        carry = jax.lax.while_loop(
            functools.partial(open_for, count), functools.partial(steps, count), carry
        )
    return carry


def default_sweeps(game: Game) -> int:
    """Sweeps between two tests: enough that the test costs little beside them.

    On a GPU a test costs some 20 microseconds, the time in which a sweep reads about
    a million edges; on a CPU it costs nothing that matters.
    """
    if jax.default_backend() == "cpu":
        return 1
    return max(2, min(16, (1 << 23) // max(ops.num_cells(game), 1)))


def finish(solver: Solver, game: Game, carry: Carry) -> Outcome:
    """The outcome of a carry (pure)."""
    status = jnp.where(
        solver.done(game, carry.state), jnp.int32(Status.SOLVED), Status.MAX_STEPS
    )
    status = jnp.where(solver.overflow(carry.state), Status.OVERFLOW, status)
    return Outcome(solver.answer(game, carry.state), status, carry)


@functools.partial(jax.jit, static_argnums=0)
def _start(solver: Solver, game: Game) -> Carry:
    return start(solver, game)


@functools.partial(jax.jit, static_argnums=0)
def _chunk(solver: Solver, game: Game, carry: Carry, limit) -> Outcome:
    return finish(solver, game, iterate(solver, game, carry, limit))


def run(
    solver: Solver,
    game: Game,
    carry: Carry | None = None,
    *,
    max_steps: int | None = None,
    progress: Progress | bool | None = None,
) -> Outcome:
    """Drives a solver on a concrete game from the host.

    Args:
        solver: the solver.
        game: the game, laid out.
        carry: where to go on; None to start.
        max_steps: rounds to make at most, those of `carry` counted in.
        progress: told after each chunk; may end the run (see
            [`progress`][jaxgames.progress]).

    Returns:
        The outcome; its status is a `Status`.
    """
    progress = as_progress(progress)
    limit = MAX_ROUNDS if max_steps is None else min(max_steps, MAX_ROUNDS)
    if carry is None:
        carry = _start(solver, game)
    outcome, chunk, began, stopped = None, FIRST_CHUNK, time.perf_counter(), None
    done_before = int(carry.rounds)
    try:
        while True:
            target = min(limit, done_before + chunk)
            chunk_began = time.perf_counter()
            outcome = _chunk(solver, game, carry, jnp.int32(target))
            status = Status(int(outcome.status))
            carry, now = outcome.carry, time.perf_counter()
            done_before = int(carry.rounds)
            if status != Status.MAX_STEPS or done_before >= limit:
                break
            stopped = progress(Report(solver.name, done_before, now - began))
            if stopped is not None:
                status = stopped
                break
            if now - chunk_began < CHUNK_SECONDS:
                chunk *= 2
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        outcome = _chunk(solver, game, carry, jnp.int32(0))
    finally:
        progress.close()
    return Outcome(outcome.answer, status, carry)

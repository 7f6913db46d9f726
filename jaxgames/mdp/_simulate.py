"""Random runs of a model under a scheduler."""

import functools
from typing import Any, Protocol, Unpack

import numpy as np

from jaxgames import limits, ops
from jaxgames.arena import is_traced
from jaxgames.arguments import as_array, integer
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import check_quantitative
from jaxgames.mdp._schedulers import checked_choices, induced_chain


class MemoryScheduler(Protocol):
    """A scheduler that remembers something of the path."""

    def start(self, state: int) -> Any:
        """What it remembers where a path begins."""
        ...

    def next(self, memory: Any, state: int) -> tuple[int, Any]:
        """The choice to take in a state, and what it remembers then."""
        ...


@limited()
def simulate(
    model: MDP,
    scheduler: Any,
    start: Any,
    steps: int,
    key: jax.Array,
    **bounds: Unpack[Bounds],
) -> jax.Array:
    """Random runs of a model under a scheduler.

    Under a memoryless scheduler all runs go on at once, on the device, and under one
    with a clock on the host; under another with memory, one after the other. Random
    numbers have 23 bits, so a branch of a probability much smaller than 1e-7 may never
    be taken.

    Args:
        model: a concrete model with probabilities.
        scheduler: memoryless, as for [`induced_chain`][jaxgames.mdp.induced_chain]; or
            integers `[k, S]`, the choices after 0, 1, ... steps, the last ones also for
            all that follow, as [`check`][jaxgames.mdp.check] finds them; or an object
            with `start(state)` and `next(memory, state)`, such as a
            [`visiting_scheduler`][jaxgames.mdp.visiting_scheduler].
        start: the state where the run begins, or integers of any shape for as many
            runs. May be traced, as `key` may, if the scheduler has no memory.
        steps: how many steps to take.
        key: a key of `jax.random`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        int32 `[steps + 1, ...]`: the states, the first included. A run stays where a
        scheduler that is an array has no choice.

    Raises:
        ValueError: the model has no probabilities, or the scheduler does not fit it.

    Examples:
        >>> import jax
        >>> from jaxgames import mdp
        >>> coin = mdp.MDP.from_arrays(
        ...     [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1]
        ... )
        >>> runs = mdp.simulate(coin, [0, -1], [0, 0, 1], 50, jax.random.key(0))
        >>> runs.shape, runs[-1].tolist()
        ((51, 3), [1, 1, 1])
    """
    check_quantitative(model)
    steps = integer("steps", steps, 0)
    if not is_traced(start):
        start = _checked(model, start)
    if hasattr(scheduler, "next"):
        return jnp.asarray(_remembering(model, scheduler, start, steps, key))
    if np.ndim(scheduler) == 2:
        return jnp.asarray(_by_clock(model, np.asarray(scheduler), start, steps, key))
    chain = induced_chain(model, scheduler)
    rows = chain.row_offsets
    depth = int(np.diff(rows).max(initial=1)).bit_length()
    upto = jnp.asarray(_bounds(rows, chain.probs), jnp.float32)
    start = jnp.asarray(start, jnp.int32)
    return _walk(
        jnp.asarray(rows),
        jnp.asarray(chain.columns),
        upto,
        start,
        key,
        steps=steps,
        depth=depth,
    )


def _bounds(rows: np.ndarray, probs: np.ndarray) -> np.ndarray:
    """Up to where in `[0, 1)` a random number takes each branch."""
    after = np.cumsum(probs)
    before = np.append(0.0, after)[rows[:-1]]
    degree = np.diff(rows)
    after = after - np.repeat(before, degree)
    return after / np.repeat(after[rows[1:] - 1], degree)


def _checked(model: MDP, start: Any) -> np.ndarray:
    """States where runs begin; else raises ValueError."""
    states = as_array("start", start)
    if states.size and states.dtype.kind not in "iu":
        raise ValueError(f"start must be states, got {states.dtype}")
    wrong = states[(states < 0) | (states >= model.num_states)]
    if wrong.size:
        raise ValueError(
            f"start must be states from 0 to {model.num_states - 1}, got {wrong[0]}"
        )
    return states


@functools.partial(jax.jit, static_argnames=("steps", "depth"))
def _walk(rows, columns, bounds, start, key, *, steps: int, depth: int):
    def step(at, key):
        number = jax.random.uniform(key, at.shape)
        # The first branch whose bound is above the number, by bisection.
        low, high = ops.take(rows, at), ops.take(rows, at + 1) - 1
        for _ in range(depth):
            middle = (low + high) // 2
            beyond = (ops.take(bounds, middle) <= number) & (middle < high)
            low = jnp.where(beyond, middle + 1, low)
            high = jnp.where(beyond, high, middle)
        after = ops.take(columns, low)
        return after, after

    _, visited = jax.lax.scan(step, start, jax.random.split(key, steps))
    return jnp.concatenate([start[None], visited])


def _by_clock(model: MDP, scheduler: np.ndarray, start, steps: int, key) -> np.ndarray:
    """Runs under a scheduler that looks at a clock: int32 `[steps + 1, ...]`."""
    for row in scheduler[:steps]:
        checked_choices(model, row)
    at = np.asarray(start, np.int32)
    numbers = np.asarray(jax.random.uniform(key, (steps, *at.shape)), np.float64)
    rows = np.asarray(model.row_offsets)
    columns = np.asarray(model.columns)
    bounds = _bounds(rows[: model.row_group_offsets[-1] + 1], model.probs[: rows[-1]])
    many = int(np.diff(rows).max(initial=1))
    visited = np.empty((steps + 1, *at.shape), np.int32)
    visited[0] = at
    for step in limits.ticking(range(steps), "simulating"):
        choice = scheduler[min(step, len(scheduler) - 1)][at]
        some = np.maximum(choice, 0)
        first, stop = rows[some], rows[some + 1]
        place = first.copy()
        for _ in range(many - 1):  # the first branch whose bound is above the number
            beyond = (place < stop - 1) & (bounds[place] <= numbers[step])
            place += beyond
        at = np.where(choice < 0, at, columns[place])
        visited[step + 1] = at
    return visited


def _remembering(model: MDP, scheduler: MemoryScheduler, start, steps, key):
    """Runs under a scheduler with memory: int32 `[steps + 1, ...]`."""
    start = np.asarray(start, np.int32)
    numbers = np.asarray(jax.random.uniform(key, (steps, start.size)))
    visited = np.empty((steps + 1, start.size), np.int32)
    visited[0] = start.ravel()
    rows = np.asarray(model.row_offsets)
    bounds = _bounds(rows[: model.row_group_offsets[-1] + 1], model.probs[: rows[-1]])
    for run in limits.ticking(range(start.size), "simulating"):
        state = int(visited[0, run])
        memory = scheduler.start(state)
        for step in range(steps):
            choice, memory = scheduler.next(memory, state)
            first, stop = rows[choice : choice + 2]
            place = np.searchsorted(bounds[first:stop], numbers[step, run], "right")
            state = int(model.columns[min(first + place, stop - 1)])
            visited[step + 1, run] = state
    return visited.reshape(steps + 1, *start.shape)

"""How the host drives a solver: with one launch and one wait where that is enough."""

from functools import partial
from typing import Any

import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.buchi._solver import Answer
from jaxgames.later import backend, jax, jnp, to_numpy
from jaxgames.progress import Meter, as_progress
from jaxgames.solution import Status
from jaxgames.tuning.buchi import FIRST_CELLS, MOST_ROUNDS


def run(
    solver: Any,
    game: Any,
    carry: fixpoint.Carry | None = None,
    *,
    max_steps: int | None = None,
    meter: Meter | None = None,
    hands_on: bool = True,
) -> tuple[fixpoint.Outcome, dict[str, int]]:
    """Solves as `fixpoint.run` does, and a small problem by a single program.

    Launches and waits are most of the time that a small graph takes. A large one would
    only have more to compile. A state that is handed on says what it is of.

    Returns:
        The outcome, the scalars of its answer numbers on the host; and the solver's
        statistics.
    """
    meter = as_progress(meter)
    plain = carry is None and max_steps is None and ops.current_spread() is None
    if plain and _first_rounds(game) >= fixpoint.FIRST_CHUNK:
        try:
            outcome, summary = _opening(solver, game)
            if hands_on:
                origin = fixpoint.origin(solver, game)
                outcome = outcome._replace(carry=outcome.carry._replace(origin=origin))
            if outcome.answer.left.size <= fixpoint.SMALL:
                outcome.answer.left.copy_to_host_async()
            status, rounds, *numbers = np.asarray(summary).tolist()
        except KeyboardInterrupt:
            outcome = fixpoint.run(solver, game, max_steps=0, progress=meter)
            return _told(solver, game, outcome._replace(status=Status.INTERRUPTED))
        if status != Status.MAX_STEPS:
            meter.close()
            outcome = outcome._replace(status=Status(status), rounds=rounds)
            return _told(solver, game, outcome, numbers)
        carry = outcome.carry
    if carry is None and not hands_on:
        carry = fixpoint.initial(solver, game)
    outcome = fixpoint.run(solver, game, carry, max_steps=max_steps, progress=meter)
    return _told(solver, game, outcome)


@partial(jax.jit, static_argnums=0)
def _opening(solver: Any, game: Any) -> tuple[fixpoint.Outcome, jax.Array]:
    """The outcome of the first rounds, and all of its numbers in one array."""
    carry = fixpoint.initial(solver, game)
    carry = fixpoint.iterate(solver, game, carry, _first_rounds(game))
    outcome = fixpoint.finish(solver, game, carry)
    numbers = jax.tree.leaves(_numbers(solver, game, outcome))
    numbers = (outcome.status, outcome.rounds, *numbers)
    summary = jnp.stack([jnp.int32(number) for number in numbers])
    if backend() != "cpu":
        # Into the host's memory: to ask for it afterwards is a second wait.
        summary = jax.device_put(summary, jax.memory.Space.Host)
    return outcome, summary


def _first_rounds(game: Any) -> int:
    cells = sum(x.size for x in jax.tree.leaves(game))
    return min(FIRST_CELLS // max(cells, 1), MOST_ROUNDS)


def _numbers(solver: Any, game: Any, outcome: fixpoint.Outcome) -> Any:
    """What the host wants to know in any case."""
    facts = solver.stats(game, outcome.carry.state)
    return outcome.answer.exists, outcome.answer.witness, facts


def _told(
    solver: Any, game: Any, outcome: fixpoint.Outcome, numbers: list[int] | None = None
) -> tuple[fixpoint.Outcome, dict[str, int]]:
    """An outcome with these numbers on the host, which may have them already."""
    wanted = _numbers(solver, game, outcome)
    if numbers is None:
        numbers = [int(x) for x in to_numpy(jax.tree.leaves(wanted))]
    exists, witness, facts = jax.tree.unflatten(jax.tree.structure(wanted), numbers)
    answer = Answer(bool(exists), witness, outcome.answer.left)
    return outcome._replace(answer=answer), {name: facts[name] for name in wanted[2]}

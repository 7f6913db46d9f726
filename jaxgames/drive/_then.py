"""The second solve of a batch, which completes the answers of the first."""

import functools
from typing import Any

from jaxgames.drive._problem import Problem
from jaxgames.drive._rounds import Run, Standing, Written, begin, origin
from jaxgames.later import jax, jnp
from jaxgames.solution import Status


def unstarted(run: Run, arena: Any, of: Any) -> Standing:
    """Where the games are before anybody has begun: the same arrays, with no games."""
    _, first = jax.eval_shape(functools.partial(begin, run), arena, of)

    ids, carry = jax.tree.map(
        lambda x: jnp.zeros((0, *x.shape[1:]) if x.shape else (), x.dtype),
        (first.ids, first.carry),
    )
    written = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), first.written)
    return Standing(ids, carry, written, origin(run, of))


def marked(problem: Problem, arena: Any, written: Written) -> Any:
    """The games of the second solve; not compiled, so that nothing is copied."""
    assert problem.then is not None
    solved = written.status == Status.SOLVED
    return jax.vmap(problem.then.arena)(arena, written.answer, solved)


@functools.partial(jax.jit, static_argnums=0)
def merged(problem: Problem, first: Written, second: Written) -> Written:
    """What both solves say."""
    assert problem.then is not None
    return Written(
        jax.vmap(problem.then.merge)(first.answer, second.answer),
        jnp.where(first.status == Status.SOLVED, second.status, first.status),
        first.rounds + second.rounds,
    )


@jax.jit
def unfinished(first: Written) -> Written:
    """What the first solve says while the second has not begun."""
    solved = first.status == Status.SOLVED
    return first._replace(status=jnp.where(solved, Status.MAX_STEPS, first.status))

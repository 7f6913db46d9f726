"""JAX's transformations around a pure solve: each must give what it gives alone."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from jaxgames import parallel
from jaxgames.solution import Status


def check_transforms(
    solve: Callable[[Any], Any], stack: Any, *, nested: bool = False
) -> None:
    """Checks that JAX may transform a solve in every way, with the same answers.

    Runs `solve` on each game of a stack under `jax.jit`, which must find no host
    callback and no shape that depends on data; then on all under `jax.vmap`,
    `jax.lax.map` and, over the devices that there are, `jax.shard_map`. All answers
    must agree bit by bit. Then takes derivatives of what is computed from an answer:
    they must stop at the solve.

    Args:
        solve: from a game to a solution with arrays for answers; called under tracing
            only.
        stack: a pytree whose arrays have one axis more in front: twice as many games
            as there are devices, or a multiple of that.
        nested: whether to run a single program with `vmap` in `lax.map` in `shard_map`
            in place of one for each, which compiles faster.

    Raises:
        AssertionError: naming the transformation, the answer and the game.

    Examples:
        >>> from jaxgames import generate, parity
        >>> keys = jax.random.split(jax.random.key(0), 2 * len(jax.devices()))
        >>> make = jax.vmap(lambda key: generate.random_game_by_key(key, 5))
        >>> games = jax.jit(make)(keys)
        >>> check_transforms(parity.solve, games, nested=True)
    """
    count = len(jax.tree.leaves(stack)[0])
    games = [jax.tree.map(lambda x, at=at: x[at], stack) for at in range(count)]

    @jax.jit
    def alone(game: Any) -> tuple[Any, dict[str, Any]]:
        found = solve(game)
        return found.status, answers(found)

    expected = []
    for at, game in enumerate(games):
        status, answer = jax.device_get(alone(game))
        if status != Status.SOLVED:
            raise AssertionError(f"game {at}: status {status} under jit")
        expected.append(answer)
    for way, transformed in _ways(lambda game: alone(game)[1], count, nested).items():
        found = jax.device_get(jax.jit(transformed)(stack))
        for name, each in found.items():
            for at, one in enumerate(expected):
                if not _same(each[at], one[name]):
                    raise AssertionError(
                        f"{name} of game {at} under {way}: {each[at]} is not "
                        f"{one[name]}"
                    )
    _check_gradients(lambda game: alone(game)[1], games[0])


def answers(solution: Any) -> dict[str, Any]:
    """What a solution says, by name: without its status, statistics and state."""
    fields = (field.name for field in dataclasses.fields(solution))
    named = {name: getattr(solution, name) for name in fields}
    return {
        name: x
        for name, x in named.items()
        if name not in ("status", "stats", "state") and isinstance(x, jax.Array)
    }


def _ways(solve: Callable[[Any], Any], count: int, nested: bool) -> dict[str, Callable]:
    mesh = parallel.mesh()
    share = PartitionSpec(*mesh.axis_names)

    def shared(batch: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return jax.shard_map(
            batch, mesh=mesh, in_specs=share, out_specs=share, check_vma=False
        )

    def in_pairs(stack: Any) -> Any:
        pairs = jax.tree.map(lambda x: x.reshape(-1, 2, *x.shape[1:]), stack)
        found = jax.lax.map(jax.vmap(solve), pairs)
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), found)

    if count % (2 * mesh.size):
        raise ValueError(
            f"a stack must have a multiple of {2 * mesh.size} games, got {count}"
        )
    if nested:
        return {"vmap in lax.map in shard_map": shared(in_pairs)}
    return {
        "vmap": jax.vmap(solve),
        "lax.map": lambda stack: jax.lax.map(solve, stack),
        "shard_map": shared(jax.vmap(solve)),
    }


def _same(x: Any, y: Any) -> bool:
    return x.dtype == y.dtype and np.array_equal(x, y)


def _check_gradients(solve: Callable[[Any], dict[str, Any]], game: Any) -> None:
    """A derivative goes through what is done with answers, and not through a solve."""

    def loss(scale: Any, game: Any) -> Any:
        found = jax.tree.leaves(solve(game))
        return scale * sum(jnp.sum(x.astype(jnp.float32)) for x in found)

    gradients = jax.value_and_grad(loss, argnums=(0, 1), allow_int=True)
    value, (by_scale, by_game) = gradients(jnp.float32(1), game)
    if value != by_scale:
        raise AssertionError(f"the derivative by a factor is {by_scale}, not {value}")
    for x in jax.tree.leaves(by_game):
        if x.dtype != jax.dtypes.float0 and np.any(np.asarray(x)):
            raise AssertionError("a derivative goes through the solve")

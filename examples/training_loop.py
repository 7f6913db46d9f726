"""Games made, solved and learnt from in one jitted loop: nothing leaves the device.

A small message passing network learns to tell who wins each vertex of random parity
games. Every step draws new games, and their solver is a part of the same program. Run
it with

    python examples/training_loop.py [STEPS]
"""

import functools
import sys

import jax
import jax.numpy as jnp

from jaxgames import generate, parity

GAMES, VERTICES, PRIORITIES, WIDTH, LAYERS, RATE = 32, 12, 3, 16, 3, 0.05

make = functools.partial(
    generate.random_game_by_key,
    num_vertices=VERTICES,
    num_priorities=PRIORITIES,
    min_degree=2,
    max_degree=2,
)


def batch(key):
    """Games with the winners of their vertices: integers, without gradients."""
    games = jax.vmap(make)(jax.random.split(key, GAMES))
    return games, jax.vmap(parity.solve)(games).winner


def initial(key):
    """Random weights."""
    sizes = [(1 + PRIORITIES, WIDTH), *[(3 * WIDTH, WIDTH)] * LAYERS, (WIDTH, 1)]
    keys = jax.random.split(key, len(sizes))
    return [
        jax.random.normal(k, (inward, outward)) / inward**0.5
        for k, (inward, outward) in zip(keys, sizes, strict=True)
    ]


def logits(weights, game):
    """How likely player 1 is to win each vertex."""
    first, *middle, last = weights
    labels = jax.nn.one_hot(game.priority, PRIORITIES)
    x = jnp.tanh(jnp.concatenate([game.owner[:, None], labels], axis=1) @ first)
    for layer in middle:
        there = x[game.dst.reshape(VERTICES, 2)]
        seen = jnp.concatenate([x, there.max(axis=1), there.min(axis=1)], axis=1)
        x = x + jnp.tanh(seen @ layer)
    return (x @ last)[:, 0]


def loss(weights, games, winner):
    """Cross entropy, and the share of vertices that are told right."""
    y = jax.vmap(functools.partial(logits, weights))(games)
    truth = winner.astype(y.dtype)
    entropy = jnp.mean(jnp.logaddexp(0, y) - truth * y)
    return entropy, jnp.mean((y > 0) == (winner == 1))


@functools.partial(jax.jit, static_argnums=1)
def train(key, steps):
    """All steps, in one program."""
    start, *keys = jax.random.split(key, steps + 1)

    def step(weights, key):
        games, winner = batch(key)
        slope, right = jax.grad(loss, has_aux=True)(weights, games, winner)
        return [w - RATE * g for w, g in zip(weights, slope, strict=True)], right

    return jax.lax.scan(step, initial(start), jnp.stack(keys))[1]


def main():
    """Trains."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    right = train(jax.random.key(0), steps)
    tenth = max(steps // 10, 1)
    early, late = right[:tenth].mean(), right[-tenth:].mean()
    print(f"told right at first: {early:.2f} of the vertices, in the end: {late:.2f}")
    print("it has learnt something:", bool(late > early + 0.05))


if __name__ == "__main__":
    main()

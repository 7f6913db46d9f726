"""How random parity games change with their out-degree: thousands, solved at once.

A cycle of vertices of one player that he wins needs no help from the other: whoever is
there has won, and so has whoever he can force there. Combes and Touati (Solving random
parity games in polynomial time, arXiv:2007.08387) show that from some degree on there
are such cycles with high probability, and that random games are solved by them. This
program draws games of each degree, and tells how much such cycles and their attractors
decide, in one pass. Run it with

    python examples/random_games.py [GAMES] [VERTICES]
"""

import dataclasses
import functools
import sys

import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import generate, graph, parity

DEGREES = range(1, 7)
PRIORITIES = 8


@functools.partial(jax.jit, static_argnums=1)
def drawn(keys, vertices, degree):
    """A stack of random games in which all vertices have one out-degree.

    Successors are drawn independently: games of any degree have one shape if the
    places that are left repeat the first.
    """
    most = max(DEGREES)
    make = functools.partial(
        generate.random_game_by_key,
        num_vertices=vertices,
        num_priorities=PRIORITIES,
        min_degree=most,
        max_degree=most,
        parallel_edges=True,
    )

    def of_one(key):
        game = make(key)
        rows = game.dst.reshape(vertices, most)
        rows = jnp.where(jnp.arange(most) < degree, rows, rows[:, :1])
        return dataclasses.replace(game, dst=rows.reshape(-1))

    return jax.vmap(of_one)(keys)


@jax.jit
def alone(games, player):
    """The games without the other player: to come to a vertex of his is to lose."""

    def of_one(game):
        own = game.owner == (player > 0)
        return dataclasses.replace(
            game,
            dst=jnp.where(own[game.src], game.dst, game.src),
            priority=jnp.where(own, game.priority, 1 - player),
        )

    return jax.vmap(of_one)(games)


@jax.jit
def forced(games, goals, player):
    """From where the player can force a play to his goal, in each game."""
    return jax.vmap(lambda game, goal: graph.attractor(game, goal, player).mask)(
        games, goals
    )


def measured(key, count, vertices, degree):
    """Vertices that player 0 wins, those that cycles decide, games they decide."""
    games = drawn(jax.random.split(key, count), vertices, degree)
    winner = jaxgames.solve_many(parity, games, strategies=False).winner
    decided = jnp.zeros(games.owner.shape, bool)
    for player in (0, 1):
        own = jaxgames.solve_many(parity, alone(games, player), strategies=False)
        region = forced(games, own.winner == player, player)
        assert bool(jnp.all(~region | (winner == player)))  # it is the truth
        decided |= region
    whole = jnp.all(decided, axis=1)
    return float(jnp.mean(winner == 0)), float(jnp.mean(decided)), float(whole.mean())


def main(count=200, vertices=50):
    """Prints a row for each degree."""
    print(f"{count} games of {vertices} vertices for each out-degree")
    print("degree  won by player 0  decided by cycles  games so decided")
    for degree in DEGREES:
        key = jax.random.key(degree)
        won, decided, whole = measured(key, count, vertices, degree)
        print(f"{degree:6}  {won:15.1%}  {decided:17.1%}  {whole:16.1%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""A data set of solved parity games for a graph network, made on the device.

Games are drawn by key, solved in rounds, checked, and written as batches of one padded
size, with the fields that jraph's `GraphsTuple` has: to learn who wins each vertex, and
which edge to take. Run it with

    python examples/dataset.py [GAMES] [FOLDER]

where a million GAMES make about three gigabytes.
"""

import functools
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import generate, parity

VERTICES, DEGREE, PRIORITIES = 20, 2, 5
GAMES_A_FILE = 1 << 14

make = functools.partial(
    generate.random_game_by_key,
    num_vertices=VERTICES,
    num_priorities=PRIORITIES,
    min_degree=DEGREE,
    max_degree=DEGREE,
)


@jax.jit
def made(keys):
    """A stack of games, one for each key."""
    return jax.vmap(make)(keys)


@jax.jit
def all_valid(games, winner, strategy):
    """Whether every answer passes its certificate's check."""
    solutions = parity.Solution(0, winner=winner, strategy=strategy)
    verify = jax.vmap(lambda game, s: parity.verify(game, s).valid)
    solutions = jax.tree.map(lambda x: jnp.broadcast_to(x, winner.shape), solutions)
    return jnp.all(verify(games, solutions))


def graphs(games, solution, room):
    """The games as one batch of `room` graphs and one of padding, in numpy.

    Node features are owner and priority, labels the winner; an edge is labelled if the
    strategy takes it. Nodes are numbered through the batch, as jraph does.
    """
    count, edges = games.dst.shape
    first = np.arange(count)[:, None] * VERTICES
    taken = np.zeros((count, edges), bool)
    row, vertex = np.nonzero(solution.strategy >= 0)
    taken[row, solution.strategy[row, vertex]] = True

    def padded(x, size):
        return np.pad(x, [(0, size - len(x)), *[(0, 0)] * (x.ndim - 1)])

    nodes = np.stack([games.owner, games.priority], axis=-1).astype(np.int8)
    all_nodes, all_edges = room * VERTICES + 1, room * edges
    # What is left over belongs to the last graph, whose edges are at the last node.
    senders = np.full(all_edges, all_nodes - 1, np.int32)
    receivers = senders.copy()
    senders[: count * edges] = (games.src + first).ravel()
    receivers[: count * edges] = (games.dst + first).ravel()
    sizes = np.zeros((2, room + 1), np.int32)
    sizes[:, :count] = [[VERTICES], [edges]]
    sizes[:, -1] = [all_nodes, all_edges] - sizes.sum(axis=1)
    return {
        "nodes": padded(nodes.reshape(-1, 2), all_nodes),
        "senders": senders,
        "receivers": receivers,
        "n_node": sizes[0],
        "n_edge": sizes[1],
        "winner": padded(solution.winner.ravel(), all_nodes),
        "in_strategy": padded(taken.ravel(), all_edges),
    }


def main():
    """Makes the data set."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else "dataset")
    folder.mkdir(exist_ok=True)
    keys = jax.random.split(jax.random.key(0), count)
    room, won, valid = min(count, GAMES_A_FILE), 0, True
    for number, start in enumerate(range(0, count, room)):
        games = made(keys[start : start + room])
        solution = jaxgames.solve_many(parity, games)
        valid &= bool(all_valid(games, solution.winner, solution.strategy))
        won += int((solution.winner == 0).sum())
        games, solution = jax.device_get((games, solution))
        batch = graphs(games, solution, room)
        np.savez(folder / f"part-{number:05}.npz", **batch)
    print(f"{count} games in {number + 1} files")
    print(f"player 0 wins {won / (count * VERTICES):.2f} of the vertices")
    print(f"all answers are certified: {valid}")


if __name__ == "__main__":
    main()

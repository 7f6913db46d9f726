"""Energy games for the tests: from the data folders, and small ones of odd shapes."""

from pathlib import Path

import jax
import numpy as np

from jaxgames import Arena

DATA = Path(__file__).parents[3] / "shared/data"
FILES = sorted((DATA / "made/energy").glob("*.npz"))
FILES += sorted((DATA / "public/energy").glob("*.npz"))


def load(path):
    """A game and its least credits."""
    with np.load(path) as file:
        arena = Arena.from_csr(
            file["offsets"],
            file["targets"],
            owner=file["owner"],
            weight=file["weights"],
        )
        return arena, file["credit"]


def in_few_sizes(arena):
    """Padded to one of two sizes, where the game is small."""
    for size in ((1024, 4096), (10240, 30720)):
        if arena.shape[0] < size[0] and arena.shape[1] < size[1] - size[0]:
            return arena.pad(*size)
    return arena


def odd_games(count, seed, most=12):
    """Small games: loops, parallel edges, one owner, only gains, only losses."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        size = int(rng.integers(1, most))
        src = np.repeat(np.arange(size), rng.integers(1, 4, size))
        dst = rng.integers(0, size, len(src))
        if index % 3 == 0:
            dst = np.where(rng.random(len(src)) < 0.4, src, dst)
        low, high = [(-3, 3), (-50, 50), (-1, 1), (0, 2), (-2, 0), (-9, 6)][index % 6]
        owner = rng.random(size) < [0.5, 0.5, 0.0, 0.5, 1.0][index % 5]
        yield Arena.from_edges(
            src, dst, owner=owner, weight=rng.integers(low, high + 1, len(src))
        )


def stacked(games, vertices, edges):
    """A batch of games of one size."""
    padded = [game.pad(vertices, edges) for game in games]
    return jax.tree.map(lambda *xs: np.stack(xs), *padded)

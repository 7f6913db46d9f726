"""Four devices: one arena cut into shares, and many games dealt out.

Where JAX knows one CPU only, it is told to make four devices of it, which must happen
before JAX starts. Run it with

    python examples/sharding.py [GAMES]
"""

import functools
import os
import sys

if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    os.environ.setdefault("JAX_NUM_CPU_DEVICES", "4")
    os.environ.setdefault("NPROC", "16")  # threads enough for all that wait

import jax
import numpy as np
from jax.sharding import PartitionSpec

import jaxgames
from jaxgames import generate, parallel, parity

DEVICES = min(4, jax.device_count())

make = functools.partial(
    generate.random_game_by_key,
    num_vertices=20,
    num_priorities=4,
    min_degree=2,
    max_degree=2,
)


def same(found, expected):
    """Whether two solutions are equal, bit by bit."""
    return np.array_equal(found.winner, expected.winner) and np.array_equal(
        found.strategy, expected.strategy
    )


def one_arena():
    """Edges and vertices of one game lie in shares, one on each device."""
    arena = generate.random_game(0, 5000, num_priorities=4)
    alone = parity.solve(arena, "promotion")
    with parallel.over(DEVICES):
        spread = parity.solve(arena, "promotion")
    print(f"one arena, in {spread.stats['layout']}: same {same(spread, alone)}")


def a_batch(games):
    """The host packs what each device has left of its games."""
    stack = jax.jit(jax.vmap(make))(jax.random.split(jax.random.key(0), games))
    alone = jaxgames.solve_many(parity, stack, "promotion")
    with parallel.over(DEVICES):
        dealt = jaxgames.solve_many(parity, stack, "promotion")
    where = len(dealt.winner.sharding.device_set)
    print(f"{games} games, dealt out to {where} devices: same {same(dealt, alone)}")


def in_one_program(games):
    """Each device makes and solves its own games, inside somebody's program."""
    mesh = parallel.mesh(DEVICES)
    share = PartitionSpec(mesh.axis_names)

    def label(keys):
        return parity.solve(make(keys)).winner

    keys = jax.random.split(jax.random.key(0), games)
    spread = jax.shard_map(
        jax.vmap(label), mesh=mesh, in_specs=share, out_specs=share, check_vma=False
    )
    same = np.array_equal(jax.jit(spread)(keys), jax.jit(jax.vmap(label))(keys))
    print(f"{games} games, made and solved where they lie: same {same}")


def main(games=256):
    """Spreads work in three ways."""
    one_arena()
    a_batch(games)
    in_one_program(games)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""A shield: an agent that learns in a grid, and never runs into its guard.

The guard moves as it likes. From where it can force a crash is an attractor; the shield
leaves the agent the moves that do not lead there. It is computed in the same compiled
program in which the agent learns, and holds from the first step on, whatever the agent
tries and the guard does. Run it with

    python examples/shield.py [SEED] [STEPS]
"""

import functools
import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import Arena, graph

MAZE = """
a......
.##.##.
......g
.##.##.
......x
"""  # the agent, the guard, and the exit; # is a wall

WIDTH = MAZE.index("\n", 1) - 1
CELLS = MAZE.replace("\n", "")
FREE = np.array([c != "#" for c in CELLS])
EXIT = CELLS.index("x")
START = [CELLS.index("a"), CELLS.index("g"), 0]  # two cells, and whose turn it is
MOVES = np.array([0, -1, 1, -WIDTH, WIDTH])  # stay, left, right, up, down

AGENTS, RATE, DISCOUNT, WARMTH, CHASE = 64, 0.2, 0.95, 0.1, 0.7


def successors(states):
    """Agent and guard move in turn; a crash is the end. For numpy and for JAX."""
    xp = states.__array_namespace__()
    turn = states[:, 2:]
    one = xp.where(turn == 0, states[:, :1], states[:, 1:2])  # who moves
    y, x = one // WIDTH, one % WIDTH
    inside = xp.stack([y >= 0, x > 0, x < WIDTH - 1, y > 0, one < len(CELLS) - WIDTH])
    enabled = inside[:, :, 0].T & (states[:, :1] != states[:, 1:2])
    after = xp.where(enabled, one + MOVES, one)
    enabled &= xp.asarray(FREE)[after]
    agent = xp.where(turn == 0, after, states[:, :1])
    guard = xp.where(turn == 0, states[:, 1:2], after)
    return xp.stack([agent, guard, 1 - turn + 0 * after], axis=2), enabled


class World(NamedTuple):
    """The grid as tables, a row for each state.

    Attributes:
        states: int32 `[V, 3]`; the first is the start.
        arena: the game of the agent, player 0, and the guard.
        after: int32 `[V, 5]`, the state that a move leads to.
        enabled: bool `[V, 5]`, the moves that there are.
        crash: bool `[V]`, where the two are in one cell.
        arrived: bool `[V]`, where the agent is at the exit, and no crash.
        guards: float32 `[V, 5]`, what the guard prefers: to come nearer, mostly.
    """

    states: jax.Array
    arena: Arena
    after: jax.Array
    enabled: jax.Array
    crash: jax.Array
    arrived: jax.Array
    guards: jax.Array


def explored():
    """The world."""
    space = graph.explore(successors, START, ranges=[len(CELLS), len(CELLS), 2])
    states, arena = space.states, space.arena(owner=lambda states: states[:, 2] == 1)
    after = np.zeros((space.num_states, len(MOVES)), np.int32)
    enabled = np.zeros(after.shape, bool)
    after[arena.src, space.actions] = space.targets
    enabled[arena.src, space.actions] = True
    agent, guard, _ = states.T
    crash = agent == guard
    apart = abs(agent // WIDTH - guard // WIDTH) + abs(agent % WIDTH - guard % WIDTH)
    guards = np.where(enabled, -CHASE * apart[after], -np.inf).astype(np.float32)
    tables = after, enabled, crash, (agent == EXIT) & ~crash, guards
    return World(jnp.asarray(states), arena, *map(jnp.asarray, tables))


def shield(world):
    """Where the guard can force a crash, `[V]`, and moves that do not lead there."""
    lost = graph.attractor(world.arena, world.crash, player=1).mask
    return lost, world.enabled & ~lost[world.after]


def train(world, allowed, key, steps):
    """Q-learning by a crowd of agents with one table, each in a grid of its own.

    Args:
        world: the tables.
        allowed: bool `[V, 5]`, the moves from which an agent chooses, and learns.
        key: of all random choices.
        steps: how many.

    Returns:
        The table, and for each step how many agents crashed and how many arrived.
    """

    def step(carry, key):
        table, state = carry
        for_agent, for_guard = jax.random.split(key)
        logits = jnp.where(allowed, table / WARMTH, -jnp.inf)[state]
        action = jax.random.categorical(for_agent, logits)
        moved = world.after[state, action]
        caught = world.crash[moved]
        answer = jax.random.categorical(for_guard, world.guards[moved])
        after = jnp.where(caught, moved, world.after[moved, answer])
        crash, arrived = world.crash[after], world.arrived[after]
        # Where there is no move, the game is over or lost: nothing is to be had.
        best = jnp.max(table[after], axis=1, where=allowed[after], initial=-1.0)
        ahead = jnp.where(crash | arrived, 0, DISCOUNT * best)
        wrong = arrived * 1.0 - crash + ahead - table[state, action]
        table = table.at[state, action].add(RATE * wrong)
        over = crash | arrived
        return (table, jnp.where(over, 0, after)), (crash.sum(), arrived.sum())

    table = jnp.zeros(allowed.shape, jnp.float32)
    start = table, jnp.zeros(AGENTS, jnp.int32)
    (table, _), told = jax.lax.scan(step, start, jax.random.split(key, steps))
    return table, *told


@functools.partial(jax.jit, static_argnums=3)
def trained(world, shielded, key, steps):
    """The shield, and training with it if that is wanted: all in one program.

    Returns:
        Where the guard can force a crash; and for each step how many agents crashed and
        how many arrived.
    """
    lost, safe = shield(world)
    allowed = jnp.where(shielded, safe, world.enabled)
    return lost, *train(world, allowed, key, steps)[1:]


def main():
    """Trains without the shield and with it."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    world, crashes = explored(), []
    for shielded in (False, True):
        told = trained(world, shielded, jax.random.key(seed), steps)
        lost, crash, arrived = jax.device_get(told)
        if lost[0]:
            sys.exit("the guard can force a crash from the start: there is no shield")
        if not shielded:
            print(
                f"the guard can force a crash from {lost.sum()} of {len(lost)} states"
            )
        print("with the shield:" if shielded else "without a shield:")
        for name, count in [("crashes", crash), ("arrivals", arrived)]:
            early, late = count[: steps // 2].sum(), count[steps // 2 :].sum()
            print(f"  {name}: {early} in the first half, {late} in the second")
        crashes.append(int(crash.sum()))
    print("agents crash without a shield:", crashes[0] > 0)
    print("no agent crashes with the shield:", crashes[1] == 0)


if __name__ == "__main__":
    main()

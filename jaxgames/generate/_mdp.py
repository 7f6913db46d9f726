"""Markov decision processes that are hard in one way, and random ones.

Their graphs (`model.graph()`) are what strongly connected components are tried on.
"""

from typing import Unpack

import numpy as np

from jaxgames.arena import MAX_SIZE
from jaxgames.arguments import integer
from jaxgames.generate._arguments import generator, share
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import MDP

NOWHERE = -1
"""Fills up choices with fewer branches than others, and states with fewer choices."""


@limited()
def path_mdp(n: int, **bounds: Unpack[Bounds]) -> MDP:
    """A path: from each state to the next, and from the last one to itself.

    `n` states, `n` choices and branches, one maximal end component of one state. The
    components of its graph are as many as there are states, one behind the other.

    Args:
        n: number of states, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or out of range.

    Examples:
        >>> path_mdp(4).columns
        array([1, 2, 3, 3], dtype=int32)
    """
    state = np.arange(integer("n", n, 1, MAX_SIZE))
    return _one_choice_each(np.minimum(state + 1, n - 1)[:, None])


@limited()
def cycle_mdp(n: int, **bounds: Unpack[Bounds]) -> MDP:
    """A cycle: from each state to the next, and from the last one to the first.

    `n` states, `n` choices and branches, one maximal end component: all of it.

    Args:
        n: number of states, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or out of range.

    Examples:
        >>> cycle_mdp(4).columns
        array([1, 2, 3, 0], dtype=int32)
    """
    state = np.arange(integer("n", n, 1, MAX_SIZE))
    return _one_choice_each(((state + 1) % n)[:, None])


@limited()
def walk_mdp(n: int, **bounds: Unpack[Bounds]) -> MDP:
    """A random walk on a line: from each state to either neighbour.

    `n` states with a choice each, `2 * n - 2` branches, one maximal end component: all
    of it, and as deep as it is large.

    Args:
        n: number of states, at least 2.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or out of range.

    Examples:
        >>> walk_mdp(4)
        MDP(4 states, 4 choices, 6 branches)
    """
    state = np.arange(integer("n", n, 2, MAX_SIZE // 2))
    targets = np.stack([state - 1, state + 1], axis=1)
    return _one_choice_each(np.where((targets < 0) | (targets >= n), NOWHERE, targets))


@limited()
def torus_mdp(rows: int, columns: int, **bounds: Unpack[Bounds]) -> MDP:
    """A grid whose borders meet: in each state one may go down or to the right.

    `rows * columns` states with two choices each, one maximal end component: all of it.

    Args:
        rows: number of rows, at least 1.
        columns: number of columns, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is no integer or out of range.

    Examples:
        >>> torus_mdp(2, 3).successors(2)
        [array([5], dtype=int32), array([0], dtype=int32)]
    """
    rows = integer("rows", rows, 1, MAX_SIZE // 2)
    columns = integer("columns", columns, 1, MAX_SIZE // 2 // rows)
    row, column = np.divmod(np.arange(rows * columns), columns)
    down = (row + 1) % rows * columns + column
    right = row * columns + (column + 1) % columns
    return _choices(np.stack([down, right], axis=1)[:, :, None])


@limited()
def ladder_mdp(n: int, **bounds: Unpack[Bounds]) -> MDP:
    """A ladder of which each outer step of the basic algorithm takes one rung off.

    `2 * n + 3` states; in the graph all but the last are one component. On each rung
    two states lead to one another; the first may go on to the next rung, and the second
    takes a chance between that and the rung before, which only holds until the rungs
    behind are known to be left for good. `n + 2` maximal end components, and as many
    outer steps.

    Args:
        n: number of rungs, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or out of range.

    Examples:
        >>> ladder_mdp(8)
        MDP(19 states, 35 choices, 43 branches)
        >>> from jaxgames import mdp
        >>> components = mdp.mec(ladder_mdp(8), "host")
        >>> int(components.count), components.stats["outer"]
        (10, 10)
    """
    n = integer("n", n, 1, MAX_SIZE // 8)
    low = 2 * np.arange(n + 1)
    targets = np.full((2 * n + 3, 2, 2), NOWHERE)
    targets[low, 0, 0] = low + 1
    targets[low[:-1], 1, 0] = low[:-1] + 2
    targets[low + 1, 0, 0] = low
    targets[low[1:] + 1, 1] = np.stack([low[1:] - 1, low[1:] + 2], axis=1)
    targets[-1, 0, 0] = 2 * n + 2
    return _choices(targets)


@limited()
def chain_mdp(n: int, **bounds: Unpack[Bounds]) -> MDP:
    """A random walk that ends: what cannot stay is taken out state by state.

    `n + 1` states with a choice each; the last is left no more, and the only maximal
    end component. Then the one before it is seen to have no choice that stays, and so
    on down to the first.

    Args:
        n: number of states before the last, at least 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: `n` is no integer or out of range.

    Examples:
        >>> from jaxgames import mdp
        >>> components = mdp.mec(chain_mdp(1000), "host")
        >>> int(components.count), components.stats["removed"]
        (1, 999)
    """
    n = integer("n", n, 1, MAX_SIZE // 2 - 1)
    state = np.arange(n + 1)
    targets = np.stack([np.maximum(state - 1, 0), state + 1], axis=1)
    targets[n] = n, NOWHERE
    return _one_choice_each(targets)


@limited()
def random_mdp(
    seed: int | np.random.Generator,
    num_states: int,
    *,
    max_choices: int = 3,
    max_branches: int = 3,
    reach: int | None = None,
    loop_share: float = 0.0,
    **bounds: Unpack[Bounds],
) -> MDP:
    """A random process, with targets from anywhere or from nearby.

    Every state draws its number of choices and every choice its number of branches,
    each uniform from one on. The targets of a choice are drawn independently, and what
    was drawn twice is there once; all are equally probable. Near targets make many
    maximal end components, and several outer steps.

    Args:
        seed: seed, not negative, or a `numpy.random.Generator` to draw from.
        num_states: number of states, at least 1.
        max_choices: most choices of a state.
        max_branches: most branches of a choice.
        reach: how far targets are from their state at most, counted round the end of
            the numbers; None for no limit.
        loop_share: probability that the first branch of a choice leads back.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    Examples:
        >>> model = random_mdp(0, 1000, reach=2)
        >>> model
        MDP(1000 states, 2040 choices, 3571 branches)
    """
    rng = generator(seed)
    size = integer("num_states", num_states, 1, MAX_SIZE)
    most = integer("max_choices", max_choices, 1, MAX_SIZE // size)
    width = integer("max_branches", max_branches, 1, MAX_SIZE // (size * most))
    loop_share = share("loop_share", loop_share)
    count = rng.integers(1, most, size, endpoint=True)
    owner = np.repeat(np.arange(size), count)
    shape = len(owner), width
    if reach is None:
        targets = rng.integers(0, size, shape)
    else:
        far = integer("reach", reach, 0, size)
        targets = (
            owner[:, None] + rng.integers(-far, far, shape, endpoint=True)
        ) % size
    loops = rng.random(len(owner)) < loop_share
    targets[loops, 0] = owner[loops]
    branches = rng.integers(1, width, len(owner), endpoint=True)
    targets[np.arange(width) >= branches[:, None]] = NOWHERE
    return _from_table(np.append(0, np.cumsum(count)), targets)


def _one_choice_each(targets: np.ndarray) -> MDP:
    """The model with one choice in each state: integers `[S, D]`."""
    return _choices(targets[:, None])


def _choices(targets: np.ndarray) -> MDP:
    """The model with the choices of each state: integers `[S, K, D]`."""
    there = (targets != NOWHERE).any(axis=2)
    groups = np.append(0, np.cumsum(there.sum(axis=1)))
    return _from_table(groups, targets[there])


def _from_table(groups: np.ndarray, targets: np.ndarray) -> MDP:
    """The model with the targets of each choice: integers `[C, D]`."""
    targets = np.sort(targets, axis=1)
    first = np.ones(targets.shape, bool)
    first[:, 1:] = targets[:, 1:] != targets[:, :-1]
    first &= targets != NOWHERE
    branches = first.sum(axis=1)
    return MDP.from_arrays(
        groups,
        np.append(0, np.cumsum(branches)),
        targets[first],
        np.repeat(1 / branches, branches),
        initial=[0],
    )

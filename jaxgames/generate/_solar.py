"""A device that lives on the sun, as an energy game."""

from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import fits
from jaxgames.limits import Bounds, limited

MOST = 2**61
"""Energies are at most this."""


@limited()
def solar_energy_game(
    backlog: int,
    darkness: int,
    *,
    harvest: int = 12,
    sleep: int = 1,
    slow: int = 2,
    fast: int = 5,
    **bounds: Unpack[Bounds],
) -> Arena:
    """A solar-powered device that must keep up with its tasks through dark times.

    In every slot of time the environment (player 1) lets a task arrive or none, and the
    sun shine or not, but not for more than `darkness` slots on end. Then the controller
    (player 0) chooses what to do: sleep, serve a task slowly, or serve two at once
    fast, which costs most. It must end the slot with at most `backlog` tasks waiting.
    The credit of a vertex is the charge with which the battery never runs empty; with a
    [capacity][jaxgames.energy.solve_with_capacity], how large it must be.

    Vertex `q * (darkness + 1) + k` is the environment's, with `q` tasks waiting after
    `k` dark slots; its edges, of weight 0: no task and sun, no task and darkness, task
    and sun, task and darkness, without darkness where `k` is `darkness`. They lead to
    the controller's vertices, which follow, in the same order, with up to one task more
    and `k` 0 where the sun shines. Their edges: to sleep, serve slowly, serve fast,
    where there are tasks for it and it leaves no more than the backlog; their weight is
    the harvest where the sun shines, less the cost.

    Args:
        backlog: how many tasks may wait, not negative.
        darkness: how many slots on end may be dark, not negative.
        harvest: energy that a slot with sun gives.
        sleep: energy that a slot of sleep costs.
        slow: energy to serve one task in a slot.
        fast: energy to serve two tasks in a slot.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is no integer or out of range.

    Examples:
        >>> from jaxgames import energy
        >>> game = solar_energy_game(2, 3)
        >>> game
        Arena(28 vertices, 74 edges, weight)
        >>> energy.solve(game, "host").credit[0]  # nothing waits, the sun has shone
        np.int32(4)
    """
    backlog, darkness = integer("backlog", backlog, 0), integer("darkness", darkness, 0)
    span = darkness + 1
    fits(2 * (backlog + 2) * span, 7 * (backlog + 2) * span)
    costs = [
        integer(name, cost, 0, MOST)
        for name, cost in (("sleep", sleep), ("slow", slow), ("fast", fast))
    ]
    harvest = integer("harvest", harvest, 0, MOST)
    first = (backlog + 1) * span  # of the controller

    waiting, dark = np.divmod(np.arange(first), span)
    ends, there, given = [], [], []
    for task in (0, 1):
        for sun in (True, False):
            row = first + (waiting + task) * span
            ends.append(row if sun else row + dark + 1)
            there.append(np.full(first, True) if sun else dark < darkness)
            given.append(np.zeros(first, np.int64))
    environment = [np.stack(x, axis=1) for x in (ends, there, given)]

    waiting, dark = np.divmod(np.arange((backlog + 2) * span), span)
    ends, there, given = [], [], []
    for served, cost in enumerate(costs):
        left = waiting - served
        ends.append(left * span + dark)
        there.append((left >= 0) & (left <= backlog))
        given.append(np.where(dark == 0, harvest, 0) - cost)
    controller = [np.stack(x, axis=1) for x in (ends, there, given)]

    present = [environment[1], controller[1]]
    degree = np.concatenate([np.count_nonzero(x, axis=1) for x in present])
    targets, weights = (
        np.concatenate([environment[i][present[0]], controller[i][present[1]]])
        for i in (0, 2)
    )
    return Arena.from_csr(
        np.concatenate([[0], np.cumsum(degree)]),
        targets,
        owner=np.arange(len(degree)) < first,
        weight=weights,
    )

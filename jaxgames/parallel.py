"""One large arena on several devices, of one host or of many.

Within [`over`][jaxgames.parallel.over] every arena that a solve lays out is spread over
the devices of a mesh: each holds a share of the edges, and of all that is known of the
vertices. The solvers are the same, and so are their answers, bit by bit.

What is computed for a vertex or an edge is computed where that lies; a sweep sends one
value of every vertex to every device. So more devices can pay where there are many
edges, and where one device's memory does not hold them.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxgames.later import jax
from jaxgames.ops import spread_over


def mesh(devices: int | Sequence[Any] | None = None) -> jax.sharding.Mesh:
    """A mesh of some devices along one axis.

    Args:
        devices: how many of those that JAX knows, or which; by default all, those of
            other hosts included (`jax.distributed.initialize` comes first there).

    Raises:
        ValueError: there are not so many.
    """
    known = jax.devices()
    if devices is None:
        devices = known
    elif isinstance(devices, int):
        if not 1 <= devices <= len(known):
            raise ValueError(
                f"devices must be between 1 and {len(known)}, which is how many JAX "
                f"knows, got {devices}"
            )
        devices = known[:devices]
    return jax.sharding.Mesh(np.asarray(devices), ("share",))


@contextlib.contextmanager
def over(
    devices: jax.sharding.Mesh | int | Sequence[Any] | None = None,
    shares: int | None = None,
) -> Iterator[jax.sharding.Mesh]:
    """Spreads arenas over several devices while the context lasts.

    On several hosts every process calls the same, with the same arena; each puts only
    its own devices' share of the edges on them.

    Args:
        devices: a mesh of one axis, or what [`mesh`][jaxgames.parallel.mesh] takes.
        shares: how many shares an arena is cut into: by default as many as there are
            devices, else a multiple of that. A solve that was stopped may go on with
            its `state` on another number of devices if the shares are as many.

    Raises:
        ValueError: the mesh has several axes, there are not so many devices, or the
            shares cannot be dealt out evenly.

    Examples:
        >>> from jaxgames import generate, parallel, parity
        >>> arena = generate.random_game(0, 100, num_priorities=6)
        >>> with parallel.over(1):
        ...     solution = parity.solve(arena, "fpi")
        >>> solution.stats["layout"]
        'slices on 1 device'
        >>> bool((solution.winner == parity.solve(arena, "host").winner).all())
        True
    """
    if not isinstance(devices, jax.sharding.Mesh):
        devices = mesh(devices)
    if len(devices.axis_names) != 1:
        raise ValueError(f"expected a mesh of one axis, got {devices.axis_names}")
    shares = devices.size if shares is None else shares
    if shares < 1 or shares % devices.size:
        raise ValueError(
            f"shares must be a multiple of the {devices.size} devices, got {shares}"
        )
    with spread_over(devices, shares):
        yield devices

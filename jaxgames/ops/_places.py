"""Where arrays lie on the devices of a mesh, as said to XLA, which moves them there.

A program is written for all devices as for one. Values over vertices and over edges lie
in shares, and so does the work on them; what is read at other places than its own, at
the targets of edges say, is first gathered by all. XLA does that, and reduces what all
have found.
"""

import contextlib
from typing import Any

from jaxgames.later import jax


def on_devices(mesh: jax.sharding.Mesh | None) -> str:
    """How many devices there are, in words; nothing where there is no mesh."""
    return "" if mesh is None else f" on {mesh.size} device" + "s" * (mesh.size > 1)


def whole(mesh: jax.sharding.Mesh) -> jax.sharding.NamedSharding:
    """All of an array on each device."""
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())


def in_shares(mesh: jax.sharding.Mesh) -> jax.sharding.NamedSharding:
    """An array whose first axis is dealt out."""
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(mesh.axis_names))


def spread(x: jax.Array, mesh: jax.sharding.Mesh | None) -> jax.Array:
    """Deals values out along their first axis, if there is a mesh (pure)."""
    if mesh is None or x.shape[0] % mesh.size:
        return x
    return jax.lax.with_sharding_constraint(x, in_shares(mesh))


def programs_for(
    mesh: jax.sharding.Mesh | None,
) -> contextlib.AbstractContextManager[Any]:
    """What is traced meanwhile is for the devices of a mesh, if there is one."""
    if mesh is None:
        return contextlib.nullcontext()
    # JAX keeps traces of functions, and tells them apart by this.
    return jax.sharding.use_abstract_mesh(mesh.abstract_mesh)


def num_devices() -> int:
    """How many devices what is traced now is for; 1 within somebody's `shard_map`."""
    return jax.sharding.get_abstract_mesh().size if _are_many() else 1


def _are_many() -> bool:
    axes = jax.sharding.get_abstract_mesh().axis_types
    return bool(axes) and all(axis == jax.sharding.AxisType.Auto for axis in axes)


def deal(x: jax.Array) -> jax.Array:
    """Values dealt out along their first axis, where that goes evenly (pure).

    To all devices that there are, see `programs_for`.
    """
    devices = num_devices()
    if devices == 1 or x.shape[0] % devices:
        return x
    axes = jax.sharding.get_abstract_mesh().axis_names
    return jax.lax.with_sharding_constraint(x, jax.sharding.PartitionSpec(axes))


def known_to_all(x: jax.Array) -> jax.Array:
    """Values that are read anywhere: gathered by all devices that there are (pure)."""
    if not _are_many():
        return x  # within somebody's `shard_map` a device has all that it reads
    return jax.lax.with_sharding_constraint(x, jax.sharding.PartitionSpec())


def sent_to_all(values: Any) -> Any:
    """Values, a pytree, gathered once for all that reads them (pure)."""
    return jax.tree.map(known_to_all, jax.lax.optimization_barrier(values))

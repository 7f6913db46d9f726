"""Arenas of arrays that lie on a device with its own memory: built and checked there.

One program looks at all that may be wrong, and one narrow answer comes back. What is
wrong is then said by the host, which is sent the arrays for it.
"""

import functools
from typing import Any

import numpy as np

from jaxgames import ops, validity
from jaxgames.arena import (
    DEAD_END,
    MAX_PRIORITY,
    MAX_SIZE,
    NO_DEAD_END,
    ON_EDGES,
    Arena,
    labels_by,
    restated,
)
from jaxgames.kept import kept
from jaxgames.later import Tracer, jax, jnp

SMALL_KINDS = ("bool", "int8", "int16", "int32", "uint8", "uint16")
"""Types whose values int32 holds."""


def lie_there(*arrays: Any) -> bool:
    """Whether arrays are concrete and on such a device; those that are None may be."""
    return all(x is None or _lies_there(x) for x in arrays)


def _lies_there(x: Any) -> bool:
    if not isinstance(x, jax.Array) or isinstance(x, Tracer):
        return False
    return x.is_fully_addressable and all(d.platform != "cpu" for d in x.devices())


def from_csr(
    row_ptr: Any,
    dst: Any,
    owner: Any,
    labels: dict[str, Any],
    condition: str,
    dead_ends: str,
) -> Arena | None:
    """An arena from rows that lie on such a device, as of `Arena.from_csr`.

    None where not all lies there, something is wrong, or the host has to do it. Some of
    the labels may be None.
    """
    if not lie_there(row_ptr, dst, owner, *labels.values()):
        return None
    sizes = {"row_ptr": len(owner) + 1, "priority": len(owner), "accepting": len(owner)}
    arrays = {"row_ptr": row_ptr, "dst": dst, "owner": owner, **labels}
    arrays = {name: x for name, x in arrays.items() if x is not None}
    for name, x in arrays.items():
        axes = (1, 2) if name == "weight" else (1,)
        wanted = len(owner) if name == "owner" else sizes.get(name, len(dst))
        if x.ndim not in axes or len(x) != wanted or x.dtype.name not in SMALL_KINDS:
            return None
        if x.dtype == bool and name not in ("owner", "accepting"):
            return None
    if not 0 < len(owner) < MAX_SIZE or not 0 < len(dst) < MAX_SIZE:
        return None
    arrays, verdict = _built(arrays, condition)
    wrong, dead = np.asarray(verdict).tolist()
    if wrong or (dead != NO_DEAD_END and dead_ends != "allow"):
        return None
    ends = np.int32(len(owner)), np.int32(len(dst))
    arena = Arena(**arrays, num_vertices=ends[0], num_edges=ends[1])
    kept(arena, DEAD_END, lambda: dead)
    return arena


@functools.partial(jax.jit, static_argnums=1)
def _built(given: dict[str, Any], condition: str):
    arrays = dict(given)
    wrong = jnp.array(False)
    for name in ("owner", "accepting"):
        if name in arrays:
            x = arrays[name]
            arrays[name] = x != 0
            if x.dtype != bool:
                wrong |= jnp.any((x < 0) | (x > 1))
    for name in arrays.keys() - {"owner", "accepting"}:
        arrays[name] = arrays[name].astype(jnp.int32)
    own = [name for name in ("priority", "edge_priority") if name in arrays]
    for name in own:
        wrong |= jnp.any((arrays[name] < 0) | (arrays[name] > MAX_PRIORITY))
    if own and condition != "max even":
        top = functools.reduce(jnp.maximum, (jnp.max(arrays[name]) for name in own))
        for name in own:
            arrays[name] = restated(arrays[name], top, condition)
    row_ptr, edges = arrays["row_ptr"], len(arrays["dst"])
    arrays["src"] = ops.rows_of(row_ptr, edges)
    sizes = jnp.int32(len(arrays["owner"])), jnp.int32(edges)
    arena = Arena(**arrays, num_vertices=sizes[0], num_edges=sizes[1])
    return arrays, jnp.stack(_verdict(arena, wrong))


def from_edges(
    src: Any,
    dst: Any,
    owner: Any,
    labels: dict[str, Any],
    condition: str,
    dead_ends: str,
) -> Arena | None:
    """As `from_csr`, from edges in any order."""
    if not lie_there(src, dst, owner, *labels.values()):
        return None
    edges = {"dst": dst} | {
        name: labels[name] for name in ON_EDGES if labels[name] is not None
    }
    if src.ndim != 1 or src.dtype.name not in SMALL_KINDS[1:] or not len(src):
        return None
    if not len(owner) or any(x.ndim < 1 or len(x) != len(src) for x in edges.values()):
        return None
    row_ptr, edges, wrong = _sorted_by_source(src, len(owner), edges)
    if np.asarray(wrong):
        return None
    dst = edges.pop("dst")
    return from_csr(row_ptr, dst, owner, labels | edges, condition, dead_ends)


@functools.partial(jax.jit, static_argnums=1)
def _sorted_by_source(src, size: int, others):
    src = src.astype(jnp.int32)
    number = jnp.arange(len(src), dtype=jnp.int32)
    _, order = jax.lax.sort((src, number), num_keys=1, is_stable=True)
    degree = ops.sum_into(src, jnp.ones_like(src), size)
    row_ptr = jnp.append(jnp.zeros(1, jnp.int32), ops.running_sum(degree))
    sorted_others = {name: ops.take(x, order) for name, x in others.items()}
    return row_ptr, sorted_others, jnp.any((src < 0) | (src >= size))


def first_dead_end(arena: Arena) -> int | None:
    """The first dead end of an arena that lies there, or -1; None: it is no arena."""
    wrong, dead = np.asarray(_looked_at(arena)).tolist()
    return None if wrong else dead


@jax.jit
def _looked_at(arena: Arena) -> jax.Array:
    return jnp.stack(_verdict(arena, jnp.array(False)))


def _verdict(arena: Arena, wrong: Any) -> list[Any]:
    dead = arena.row_ptr[1:] == arena.row_ptr[:-1]
    first = jnp.where(jnp.any(dead), jnp.argmax(dead), NO_DEAD_END).astype(jnp.int32)
    wrong |= validity.wrong_at_once(arena, False)
    return [wrong.astype(jnp.int32), first]


@jax.jit
def reversed_rows(arena: Arena) -> dict[str, Any]:
    """The arrays of a transposed arena (pure)."""
    size, edges = arena.shape
    number = jnp.arange(edges, dtype=jnp.int32)
    dst, order = jax.lax.sort((arena.dst, number), num_keys=1, is_stable=True)
    degree = ops.sum_into(arena.dst, jnp.ones_like(number), size)
    return {
        "row_ptr": jnp.append(jnp.zeros(1, jnp.int32), ops.running_sum(degree)),
        "src": dst,
        "dst": ops.take(arena.src, order),
        **labels_by(arena, None, lambda x: ops.take(x, order)),
    }

"""Facts about stacks on their way to dense rows, which slices have in common."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames import ops
from jaxgames.arena import Arena
from jaxgames.later import jax, jnp
from jaxgames.ops import Game
from jaxgames.tuning.drive import PADDED


def widest(arena: Arena) -> int:
    """The largest out-degree of a concrete arena, or of all of a stack (host).

    Rounded up a little, so that stacks share a compilation. Padding is left out: of its
    edges, which all are self-loops, one is as good as many.
    """
    most = _on_its_place(_most_edges, arena.row_ptr, arena.num_vertices)
    return most if most <= 4 else -(-most // 4) * 4


def _most_edges(xp: Any, row_ptr: Any, num_vertices: Any) -> Any:
    degree = row_ptr[..., 1:] - row_ptr[..., :-1]
    real = xp.arange(degree.shape[-1], dtype=np.int32) < num_vertices[..., None]
    return xp.max(xp.where(real, degree, 0), initial=1)


def largest(x: Any) -> int:
    """The largest absolute value of some integers, 0 if there are none (host)."""
    return max(_on_its_place(_most, x), -_on_its_place(_least, x)) if x.size else 0


def _most(xp: Any, x: Any) -> Any:
    return xp.max(x)


def _least(xp: Any, x: Any) -> Any:
    return xp.min(x)


def _on_its_place(fact: Callable[..., Any], *arrays: Any) -> int:
    """A number that is true of arrays: found where these are, as one program."""
    if isinstance(arrays[0], jax.Array):
        return int(_on_device(fact, *arrays))
    return int(fact(np, *map(np.asarray, arrays)))


@functools.partial(jax.jit, static_argnums=0)
def _on_device(fact: Callable[..., Any], *arrays: Any) -> jax.Array:
    return fact(jnp, *arrays)


def laid_out(arena: Arena, degree: int) -> Game:
    """An arena with dense rows, unless that takes many more cells (pure).

    Args:
        arena: one arena, each of whose vertices has an edge.
        degree: its largest out-degree without padding, or that of its stack.
    """
    vertices, edges = arena.shape
    if vertices * degree <= PADDED * edges:
        return ops.dense_rows(arena, degree)
    return arena

"""Large arrays on their way to a device and back.

One transfer is one thread's work, and waits for pages of memory; several at a time use
what the connection carries.
"""

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from jaxgames.later import jax, jnp
from jaxgames.tuning.ops import IN_PIECES_FROM as LARGE
from jaxgames.tuning.ops import PIECES_AT_A_TIME as PIECES

Pieces = tuple[jax.Array, ...]
"""One array in pieces, one after the other."""


def default_device() -> Any:
    """Where JAX puts what nobody asks it to put elsewhere."""
    usual = jax.local_devices()[0]  # imports JAX, so that its settings are there
    asked = jax.config.jax_default_device  # pyright: ignore
    if isinstance(asked, str):
        return jax.local_devices(backend=asked)[0]
    return usual if asked is None else asked


def put(x: Any) -> Any:
    """Arrays on the default device, and tied to it.

    So is all that is made of them: JAX compiles apart for what it may still move, and
    to tie arrays later takes a call for each.
    """
    return jax.device_put(x, default_device())


def send(x: np.ndarray) -> Pieces:
    """An array on the default device, in pieces if it is large."""
    if x.nbytes < LARGE:
        return (put(x),)
    ends = np.linspace(0, len(x), PIECES + 1).astype(int)
    return tuple(put([x[i:j] for i, j in zip(ends[:-1], ends[1:], strict=True)]))


@jax.jit
def joined(pieces: Pieces) -> jax.Array:
    """The array that pieces are of, as int32."""
    return jnp.concatenate(pieces).astype(jnp.int32)


def to_host(x: jax.Array) -> np.ndarray:
    """An array of one axis that lies on a device, as one of numpy."""
    if x.nbytes < LARGE or not lies_apart(x):
        return np.asarray(x)
    found = np.empty(x.shape, x.dtype)
    places = np.array_split(found, PIECES)
    list(_threads().map(_fetch, _split(x), places))
    return found


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(PIECES, "jaxgames-transfers")


def lies_apart(x: jax.Array) -> bool:
    """Whether an array lies on one device, which has memory of its own."""
    (device, *others) = x.devices()
    return not others and device.platform != "cpu"


@jax.jit
def _split(x: jax.Array) -> list[jax.Array]:
    return jnp.array_split(x, PIECES)


def _fetch(piece: jax.Array, place: np.ndarray) -> None:
    place[:] = piece

"""Large arrays on their way to a device and back.

One transfer to a device is one thread's work, and waits for pages of memory; several at
a time use what the connection carries. Back they come through memory that the device
writes to.
"""

from typing import Any

import numpy as np

from jaxgames.later import jax, jnp
from jaxgames.tuning.ops import IN_PIECES_FROM as LARGE
from jaxgames.tuning.ops import PIECES_AT_A_TIME as PIECES
from jaxgames.tuning.ops import WRITTEN_FROM
from jaxgames.value import copied

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


def to_host(x: Any) -> Any:
    """An array of a device, or a pytree of such, as arrays of numpy to be read.

    Large ones come through memory of the host that its device writes to by itself:
    through other memory a transfer takes several times as long, most of it a wait.
    """
    leaves = jax.tree.leaves(x)
    large = sum(each.nbytes for each in leaves) >= WRITTEN_FROM
    if large and all(isinstance(y, jax.Array) and lies_apart(y) for y in leaves):
        return taken(_at_host(x))
    return jax.tree.map(np.asarray, x)


def at_host(x: Any) -> Any:
    """Arrays in memory of the host that devices write to (pure)."""
    return jax.device_put(x, jax.memory.Space.Host)


_at_host = jax.jit(at_host)


def taken(x: Any) -> Any:
    """Arrays in such memory, a pytree, as arrays of numpy in its own.

    There is not much of the other, and processes that are forked off cannot read it.
    """
    return jax.tree.map(lambda y: copied(np.asarray(y)), x)


def lies_apart(x: jax.Array) -> bool:
    """Whether an array lies on one device, which has memory of its own."""
    (device, *others) = x.devices()
    return not others and device.platform != "cpu"

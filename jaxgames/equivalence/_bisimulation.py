"""Bisimilarity by signature refinement.

All states start in one class. A state's signature is the set of pairs (label, class of
the target) of its transitions; each round splits the classes by their states'
signatures, until no class splits [1]. Signatures are compared by sums of hashes, which
can only take different ones for equal: so the last partition is checked, and if a hash
has misled, refined further with another.

References:
    [1] Blom, Orzan: A distributed algorithm for strong bisimulation reduction of state
        spaces. STTT 2005. https://doi.org/10.1007/s10009-004-0159-4
"""

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, host, ops
from jaxgames.arena import bucket
from jaxgames.equivalence import _refine
from jaxgames.equivalence._system import System
from jaxgames.limits import limited, ticking_beside
from jaxgames.progress import Meter, Progress
from jaxgames.solution import Status
from jaxgames.solver import Solver

if TYPE_CHECKING:
    from jaxgames.io import LTS

DEVICE_FROM = 1 << 17
"""Transitions from which on an accelerator is worth its calls: the host, which looks
only at what has changed, takes about as long for half as many.
"""

FEW = 300
"""Transitions up to which Python looks at them before anything is compiled."""

Engine = Literal["auto", "device", "host"]


@limited()
def bisimulation(
    lts: "LTS",
    *,
    engine: Engine = "auto",
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> np.ndarray:
    """The strong bisimilarity class of each state of a labelled transition system.

    O(E log E) for each round, at most as many rounds as there are classes.

    Args:
        lts: the system.
        engine: `"device"`, an array program in JAX; `"host"`, loops that look only at
            what has changed; `"auto"` takes the device where it is an accelerator and
            the system is large. The classes are the same.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] in every phase. Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        int32 `[V]`, numbered in the order of their first states.

    Raises:
        ValueError: an unknown engine.

    Examples:
        >>> from jaxgames.io import LTS
        >>> bisimulation(LTS.from_edges([0, 1, 2, 3], "abab", [1, 2, 3, 0]))
        array([0, 1, 0, 1], dtype=int32)
    """
    return classes_of(System.of(lts), engine=engine)


def classes_of(system: System, *, engine: Engine = "auto") -> np.ndarray:
    """The bisimilarity classes of a system's states."""
    if engine not in ("auto", "device", "host"):
        raise ValueError(f"engine must be 'auto', 'device' or 'host', got {engine!r}")
    if engine == "auto":
        large = len(system.label) >= DEVICE_FROM and jax.default_backend() != "cpu"
        slow = len(system.label) > FEW and not host.can_compile()
        engine = "device" if large or slow else "host"
    refine = _refine_on_device if engine == "device" else _refine_on_host
    # Few transitions are looked at sooner than anything is compiled.
    small = len(system.label) <= FEW and not _refine.refine.ready
    with host.interpreted() if small else contextlib.nullcontext():
        classes = np.zeros(system.num_states, np.int32)
        salt = 0
        while True:
            classes = refine(system, classes, salt)
            if is_stable(system, classes):
                return classes
            salt += 1


def is_stable(system: System, classes: np.ndarray) -> bool:
    """Whether the states of each class have the same signatures: no hash is used."""
    count = int(classes.max(initial=-1)) + 1
    return bool(_refine.stable(*_rows(system), classes, count))


def _rows(system: System) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return system.offsets, system.label, system.target


def _refine_on_host(system: System, classes: np.ndarray, salt: int) -> np.ndarray:
    back = ops.transpose(system.offsets, system.target, system.num_states)
    with ticking_beside("refining classes") as stop:
        return _refine.refine(*_rows(system), *back, classes, salt, stop)


# ---- on the device ----------------------------------------------------------


class Transitions(NamedTuple):
    """What a refinement works on."""

    source: jax.Array
    """int32 `[E]`, `V` for padding."""
    label: jax.Array
    """int32 `[E]`."""
    target: jax.Array
    """int32 `[E]`."""
    start: jax.Array
    """int32 `[V]`, the classes to start from."""
    salt: jax.Array
    """uint32 scalar, which hash."""


class Partition(NamedTuple):
    """Where a refinement is."""

    classes: jax.Array
    """int32 `[V]`, numbered in the order of their first states."""
    count: jax.Array
    """int32 scalar, how many there are."""
    before: jax.Array
    """int32 scalar, how many there were a round ago."""
    left: jax.Array
    """int32 scalar, states whose signatures found no place in the tables."""


@dataclasses.dataclass(frozen=True)
class Refinement(Solver):
    """Signature refinement as a solver: its answer are classes, int32 `[V]`."""

    name: ClassVar[str] = "refinement"

    def init(self, game: Transitions) -> Partition:
        """The classes to start from."""
        return Partition(game.start, jnp.int32(0), jnp.int32(-1), jnp.int32(0))

    def step(self, game: Transitions, state: Partition) -> Partition:
        """Splits all classes by the signatures of their states."""
        size = len(state.classes)
        aim = ops.take(state.classes, game.target)
        source, label, aim = ops.sort_rows(game.source, game.label, aim)
        fresh = ops.differs_from_last(source, label, aim)
        source = jnp.where(fresh, source, size)
        sums = [
            ops.sum_into(source, scramble(label, scramble(aim, game.salt + word)), size)
            for word in range(2)
        ]
        keys = (state.classes, *sums)
        first, left = ops.first_equal(keys, jnp.ones(size, bool), game.salt)
        classes, count = ops.number_groups(first)
        return Partition(classes, count, state.count, state.left + left)

    def overflow(self, state: Partition) -> jax.Array:
        """Whether equal signatures were left apart: the tables were too full."""
        return state.left > 0

    def done(self, game: Transitions, state: Partition) -> jax.Array:
        """Whether the last round has split nothing."""
        del game
        return state.count == state.before

    def answer(self, game: Transitions, state: Partition) -> Any:
        """The classes."""
        del game
        return state.classes


def scramble(x: jax.Array, salt: jax.Array) -> jax.Array:
    """A hash of integers: uint32, of the shape of both."""
    x = x.astype(jnp.uint32) + jnp.asarray(salt, jnp.uint32) * jnp.uint32(0x9E3779B9)
    x = (x ^ (x >> 16)) * jnp.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * jnp.uint32(0xC2B2AE35)
    return x ^ (x >> 16)


def _refine_on_device(system: System, classes: np.ndarray, salt: int) -> np.ndarray:
    states, edges = system.num_states, len(system.label)
    # Padding is one more class of states without transitions, behind all others.
    more, extra = bucket(edges) - edges, bucket(states + 1) - states
    aside = int(classes.max(initial=-1)) + 1
    game = Transitions(
        jnp.asarray(np.pad(system.source, (0, more), constant_values=states + extra)),
        jnp.asarray(np.pad(system.label, (0, more))),
        jnp.asarray(np.pad(system.target, (0, more))),
        jnp.asarray(np.pad(classes, (0, extra), constant_values=aside)),
        jnp.uint32(2 * salt),
    )
    sweeps = 1 if jax.default_backend() == "cpu" else 4
    outcome = fixpoint.run(Refinement(sweeps_per_check=sweeps), game)
    if outcome.status == Status.OVERFLOW:
        return classes  # to be tried with another hash
    return np.asarray(outcome.answer)[:states]

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

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.arena import bucket
from jaxgames.equivalence._system import System
from jaxgames.solution import Status
from jaxgames.solver import Solver

if TYPE_CHECKING:
    from jaxgames.io import LTS

DEVICE_FROM = 1 << 16
"""Transitions from which on an accelerator is worth its calls."""

Engine = Literal["auto", "device", "host"]


def bisimulation(lts: "LTS", *, engine: Engine = "auto") -> np.ndarray:
    """The strong bisimilarity class of each state of a labelled transition system.

    O(E log E) for each round, at most as many rounds as there are classes.

    Args:
        lts: the system.
        engine: `"device"`, an array program in JAX; `"host"`, the same in NumPy;
            `"auto"` takes the device where it is an accelerator and the system is
            large. The classes are the same.

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
        large = len(system.label) >= DEVICE_FROM
        engine = "device" if large and jax.default_backend() != "cpu" else "host"
    refine = _refine_on_device if engine == "device" else _refine_on_host
    classes = np.zeros(system.num_states, np.int32)
    salt = 0
    while True:
        classes = refine(system, classes, salt)
        if is_stable(system, classes):
            return classes
        salt += 1


def is_stable(system: System, classes: np.ndarray) -> bool:
    """Whether the states of each class have the same signatures: no hash is used."""
    if not system.num_states:
        return True
    source, label, aim = _signatures(system, classes)
    sizes = np.bincount(source, minlength=system.num_states)
    starts = np.cumsum(sizes) - sizes
    _, first, of = np.unique(classes, return_index=True, return_inverse=True)
    model = first[of]
    if (sizes != sizes[model]).any():
        return False
    place = np.arange(len(source)) - starts[source]
    there = starts[model[source]] + place
    return bool((label == label[there]).all() and (aim == aim[there]).all())


def _signatures(system: System, classes: np.ndarray):
    """State, label and class of the target of each different signature entry."""
    source, label, aim = system.source, system.label, classes[system.target]
    order = np.lexsort((aim, label, source))
    rows = np.stack([source, label[order], aim[order]])
    fresh = np.ones(len(source), bool)
    fresh[1:] = (rows[:, 1:] != rows[:, :-1]).any(0)
    return rows[:, fresh]


# ---- on the host ------------------------------------------------------------


def _refine_on_host(system: System, classes: np.ndarray, salt: int) -> np.ndarray:
    count = 0
    while True:
        source, label, aim = _signatures(system, classes)
        hashes = _scramble64(
            _scramble64(label, 2 * salt + 1) ^ aim.astype(np.uint64), salt
        )
        total = np.zeros(system.num_states + 1, np.uint64)
        np.cumsum(hashes, out=hashes)  # wraps round, and so do the differences
        ends = np.searchsorted(source, np.arange(system.num_states), side="right")
        total[1:] = np.append(np.uint64(0), hashes)[ends]
        classes = _numbered(classes, np.diff(total))
        before, count = count, int(classes.max(initial=-1)) + 1
        if count == before:
            return classes


def _numbered(*keys: np.ndarray) -> np.ndarray:
    """Numbers different entries in the order of their first appearance."""
    order = np.lexsort(keys)
    fresh = np.zeros(len(order), bool)
    for key in keys:
        fresh[1:] |= key[order][1:] != key[order][:-1]
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(fresh)
    first = np.unique(group, return_index=True)[1]
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[group]


def _scramble64(x: np.ndarray, salt: int) -> np.ndarray:
    x = x.astype(np.uint64) + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % (1 << 64))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


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

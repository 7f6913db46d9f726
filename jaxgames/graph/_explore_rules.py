"""What a search of a state space is about: the transition function, looked at once."""

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jaxgames.graph._packing import Packing
from jaxgames.kept import keeps
from jaxgames.later import imported, jax, jnp
from jaxgames.states import spread
from jaxgames.tuning.explore import ONE_BY_ONE

EMPTY = np.iinfo(np.int32).max
"""An entry of a table of states that has none."""


@runtime_checkable
class OfWords(Protocol):
    """A transition function that can do without taking states apart."""

    def of_words(
        self, packing: Packing, words: jax.Array
    ) -> tuple[list[list[jax.Array]], list[jax.Array], list[jax.Array]]:
        """For each action the words of successors, which there are, and are no states.

        Args:
            packing: what the words hold.
            words: uint32 `[N, W]`.

        Returns:
            Vectors `[N]`: uint32 for each word of each action; and bool for each
            action, twice.
        """
        ...


@dataclasses.dataclass(frozen=True)
class Rules:
    """A transition function, and how its states are kept.

    Attributes:
        successors: the function.
        packing: where components are.
        num_actions: how many successors a state has at most.
        parallel_edges: whether an edge is kept that repeats another one.
    """

    successors: Callable[[Any], tuple[Any, Any]]
    packing: Packing
    num_actions: int
    parallel_edges: bool

    @classmethod
    def of(
        cls, successors: Any, starts: np.ndarray, packing: Packing, parallel_edges: bool
    ) -> "Rules":
        """Looks what a function returns.

        Raises:
            ValueError: it is none, or returns arrays of other shapes or types.
        """
        if not callable(successors):
            raise ValueError(
                f"successors must be a function of states, got {successors!r}"
            )
        if not isinstance(successors, Hashable):
            successors = functools.partial(successors)  # compiled once for each search
        function: Callable[[Any], Any] = successors
        few = np.repeat(starts[:1], 3, axis=0)
        # Without JAX a small search is over before that could be imported. With it,
        # operations of JAX would be compiled one by one.
        ways = [lambda: _shapes(function, packing.size), lambda: function(few)]
        if not imported():
            ways.reverse()
        try:
            found = ways[0]()
        except Exception:  # what one of them does not understand raises anything
            try:
                found = ways[1]()
            except Exception:
                found = function(few)  # an error of the function's own
        shape = check_successors(found, 3, packing.size)
        return cls(function, packing, shape, parallel_edges)

    @keeps
    def traceable(self) -> bool:
        """Whether JAX can compile the function."""
        try:
            _shapes(self.successors, self.packing.size)
        except Exception:  # what numpy code raises here is anything
            return False
        return True


@functools.lru_cache(maxsize=64)
def _shapes(function: Callable[[Any], Any], size: int) -> Any:
    """The shapes of what JAX traces: that takes longer than a small search."""
    return jax.eval_shape(function, jax.ShapeDtypeStruct((3, size), np.int32))


def check_successors(found: Any, rows: int, size: int) -> int:
    """How many actions there are in what a transition function has returned.

    Raises:
        ValueError: it has not returned arrays of the right shapes and types.
    """
    try:
        after, enabled = found
        shapes = tuple(after.shape), tuple(enabled.shape)
        types = np.dtype(after.dtype), np.dtype(enabled.dtype)
    except (TypeError, ValueError, AttributeError):
        raise ValueError(
            "successors must return two arrays, the states that follow and which of "
            f"them there are, got {type(found).__name__}"
        ) from None
    if len(shapes[0]) != 3 or shapes[0] != (rows, shapes[0][1], size):
        raise ValueError(
            f"successors of [{rows}, {size}] states must have shape [{rows}, A, "
            f"{size}], got {list(shapes[0])}"
        )
    if types[0].kind not in "iu":
        raise ValueError(f"successors must return integers, got {types[0]}")
    if shapes[1] != shapes[0][:2] or types[1].kind != "b":
        raise ValueError(
            f"successors must return booleans {list(shapes[0][:2])} that say which "
            f"states there are, got {types[1]} of shape {list(shapes[1])}"
        )
    if not shapes[0][1]:
        raise ValueError("successors must return one successor at least for each state")
    return shapes[0][1]


def check_initial(initial: Any) -> np.ndarray:
    """Initial states as an array: integers `[N, K]`.

    Raises:
        ValueError: they are no integers, or there are none.
    """
    array = np.asarray(initial)
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.dtype.kind not in "iu" or not array.size:
        raise ValueError(
            "initial must be a state, integers [K], or several [N, K], got "
            f"{array.dtype} of shape {list(array.shape)}"
        )
    return array


def packed_successors(
    rules: Rules, words: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The successors of states as words, of such: uint32 `[N, W]` (pure).

    A transition function stacks components to states, and these to successors. Taken
    apart again, one by one, no such array is ever made: XLA would compute each of its
    entries as one of many cases, and neighbours differ in theirs. And what is computed
    for many states at a time comes in long vectors, which are transposed at the end.

    Returns:
        The words of all successors, uint32 `[N, A, W]`; which of them there are, bool
        `[N, A]`; and which of these are out of range.
    """
    packing, actions = rules.packing, range(rules.num_actions)

    def together(vectors: list[jax.Array]) -> jax.Array:
        # One dimension has one layout: it is not made transposed.
        return jnp.concatenate(vectors).reshape(-1, len(words)).T

    if isinstance(rules.successors, OfWords):
        vectors, there, wrong = rules.successors.of_words(packing, words)
        keys = together([x for vector in vectors for x in vector])
        enabled = together(there)
        return keys.reshape(*enabled.shape, -1), enabled, together(wrong) & enabled
    after, enabled = rules.successors(packing.unpack(words))
    if rules.num_actions * packing.size > ONE_BY_ONE:
        outside = enabled & packing.outside(after)
        return packing.pack(after.astype(jnp.int32)), enabled, outside

    keys = [packing.pack(after[:, a].astype(jnp.int32)) for a in actions]
    each = range(packing.num_words)
    flat = together([keys[a][:, w] for a in actions for w in each])
    outside = together([packing.outside(after[:, a]) for a in actions])
    enabled = together([enabled[:, a] for a in actions])
    return (
        flat.reshape(len(words), *(len(actions), len(each))),
        enabled,
        (outside & enabled),
    )


def action_type(rules: Rules) -> np.dtype:
    """The smallest type that holds the numbers of actions."""
    return np.min_scalar_type(rules.num_actions - 1)


def hashes(words: Any) -> Any:
    """A number for each state, from its words `[..., W]`: uint32 `[...]`.

    It works for numpy and for JAX.
    """
    xp = jnp if isinstance(words, jax.Array) else np
    key = xp.zeros(words.shape[:-1], np.uint32)
    for w in range(words.shape[-1]):
        key = spread((key ^ words[..., w]) + np.uint32(0x9E3779B9))
    return key

"""Games with other conditions as energy games: facts about concrete arenas."""

import dataclasses
import operator
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from jaxgames import graph, validity
from jaxgames.arena import Arena, as_checked_as, changed, is_traced, refuse_cut
from jaxgames.arguments import as_array
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited

MOST = 2**62
"""Weights, and sums of them, stay below."""


@limited()
def vertex_weights(arena: Arena, weights: Any, **bounds: Unpack[Bounds]) -> Arena:
    """Moves weights from the vertices to the edges that leave them (host only).

    Args:
        arena: the game, which may lack weights; those that it has are replaced.
        weights: integers `[V]`, in a unit of energy: what a play gains when it leaves a
            vertex.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the weights are no integers, or not one for each vertex.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[0, 1])
        >>> vertex_weights(arena, [-2, 3]).weight
        array([-2, -2,  3], dtype=int32)
    """
    validity.checked(arena, total=False)
    array = as_array("weights", weights)
    if array.shape != np.shape(arena.owner):
        raise ValueError(
            f"weights must have one entry for each vertex, shape "
            f"{np.shape(arena.owner)}, got {array.shape}"
        )
    if array.dtype.kind not in "iu" or array.dtype == np.uint64:
        raise ValueError(f"weights must hold signed integers, got {array.dtype}")
    return _with_weight(arena, array[arena.src])


@limited()
def from_mean_payoff(arena: Arena, threshold: Any, **bounds: Unpack[Bounds]) -> Arena:
    """The energy game that asks whether the mean payoff is at least a threshold.

    The weights are `q w - p` for the threshold `p/q`: a play's mean payoff is at least
    `p/q` if its energy has a bound from below. Player 0 wins the same vertices, by the
    same strategies. They are Python's integers where 64 bits do not fit. Those of a
    traced arena keep its type, in which what does not fit is as far from zero as can
    be: a solve then ends with `Status.OVERFLOW`, or is right.

    Args:
        arena: a game with one integer weight on each edge.
        threshold: an integer, a `fractions.Fraction`, or a pair of integers `(p, q)`
            with `q` not 0, which is not looked at where it is traced.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits]. None
            of them under tracing.

    Raises:
        ValueError: the arena has no such weights, or the threshold is no such number.

    References:
        Brim, Chaloupka, Doyen, Gentilini and Raskin, Faster algorithms for mean-payoff
        games, doi:10.1007/s10703-010-0105-x.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], weight=[4, -1])
        >>> from_mean_payoff(arena, (3, 2)).weight
        array([ 5, -5], dtype=int32)
    """
    if is_traced((arena, threshold)):
        return _traced(arena, threshold)
    validity.checked(arena, total=False)
    if arena.weight is None or np.ndim(arena.weight) != 1:
        raise ValueError(
            "a mean-payoff game has one integer weight on each edge, shape [E]: weight "
            f"is {'None' if arena.weight is None else np.shape(arena.weight)}"
        )
    p, q = as_ratio(threshold)
    weight = np.asarray(arena.weight)  # JAX may have no 64 bits
    edges = weight[: int(arena.num_edges)]
    if not len(edges):
        return arena
    least, most = int(edges.min()) * q - p, int(edges.max()) * q - p
    # `q w` alone may not fit where `q w - p` does.
    whole, rest = divmod(p, q)
    if max(-least, most, abs(whole), q) < MOST:
        weight = (weight.astype(np.int64) - whole) * q - rest
    else:
        weight = weight.astype(object) * q - p
    real = np.arange(len(weight)) < int(arena.num_edges)
    return _with_weight(arena, np.where(real, weight, 0))


def as_ratio(threshold: Any) -> tuple[int, int]:
    """A rational number in lowest terms, with a positive denominator.

    Raises:
        ValueError: it is no number, or a float, or the denominator is zero.
    """
    numbers = threshold if isinstance(threshold, tuple) else (threshold, 1)
    try:
        if isinstance(threshold, Fraction):
            ratio = threshold
        elif any(isinstance(x, bool | np.bool_) for x in numbers):
            raise TypeError
        else:
            p, q = map(operator.index, numbers)
            ratio = Fraction(p, q)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ValueError(
            "threshold must be an integer, a Fraction or a pair of integers (p, q) "
            f"with q not 0, got {threshold!r}"
        ) from None
    return ratio.numerator, ratio.denominator


@limited()
def from_parity(
    arena: Arena, *, by_component: bool = True, **bounds: Unpack[Bounds]
) -> Arena:
    """An energy game in which each player wins what it wins in a parity game.

    A priority becomes a weight on the edges that leave its vertices, positive if even.
    On a cycle the highest priority must decide: the weight of priority `p` is, in
    absolute value, one more than all vertices of lower priorities of the other parity
    have together. That is the least that is always enough, and far less than the usual
    `n**p` for `n` vertices where priorities are many or some are rare.

    Cycles stay within a strongly connected component, so that only its vertices need
    be counted; edges between components get the weight 0.

    Args:
        arena: a parity game of condition max even, with priorities on vertices or on
            edges (host only).
        by_component: whether to count in each component by itself. Otherwise each
            priority has one weight in the whole game, as in the instances of [1].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The same arena with weights, and without priorities. A vertex is won by player 0
        if it has a finite credit there.

    Raises:
        ValueError: the arena has no priorities, or on both vertices and edges; or a
            weight does not fit 64 bits, with the component and the bound.

    References:
        [1] Formisano, Gentilini and Vella, Accelerating energy games solvers on modern
        architectures, IA3 2017, doi:10.1145/3149704.3149771.
        [2] Jurdzinski, Deciding the winner in parity games is in UP and co-UP, 1998,
        doi:10.1016/S0020-0190(98)00150-1.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 1, 2, 3], [1, 2, 3, 0], owner=[0, 1, 0, 1], priority=[1, 1, 2, 3]
        ... )
        >>> energy.from_parity(arena).weight
        array([-1, -1,  3, -4], dtype=int32)
    """
    validity.checked(arena, total=False)
    if (arena.priority is None) == (arena.edge_priority is None):
        raise ValueError(
            "a parity game needs priorities either on its vertices or on its edges"
        )
    real = int(arena.num_edges)
    # JAX may have no 64 bits.
    src, dst = (np.asarray(x)[:real].astype(np.int64) for x in (arena.src, arena.dst))
    priority = (
        np.asarray(arena.priority)[src]
        if arena.edge_priority is None
        else np.asarray(arena.edge_priority)[:real]
    )
    if by_component:
        # A cycle's own edges are all that it adds up.
        label = np.asarray(graph.scc(arena).labels)
        inside = label[src] == label[dst]
        component = label[src]
    else:
        component, inside = np.zeros(real, np.int64), np.ones(real, bool)
    weight = np.zeros(arena.shape[1], np.int64)
    edges = np.flatnonzero(inside)
    if len(edges):
        weight[edges] = _compressed(
            src[edges], priority[edges].astype(np.int64), component[edges]
        )
    bare = changed(arena, priority=None, edge_priority=None)
    return _with_weight(as_checked_as(arena, bare), weight)


def _compressed(source, priority, component) -> np.ndarray:
    """Weights of edges, from the least priority of each component upwards.

    A simple cycle leaves a vertex once: it meets a priority at most as often as there
    are vertices with an edge of that priority.
    """
    names, component = np.unique(component, return_inverse=True)
    keys, kind = np.unique(priority * len(names) + component, return_inverse=True)
    kinds = np.stack(np.divmod(keys, len(names)))  # priorities, and components
    pairs = np.unique(source * len(keys) + kind) % len(keys)
    count = np.bincount(pairs, minlength=len(keys))
    size = np.zeros(len(keys), np.int64)
    total = np.zeros((2, len(names)), np.int64)  # of each parity, in absolute value
    steps = np.flatnonzero(np.diff(kinds[0], prepend=-1))
    for start, stop in zip(steps, [*steps[1:], len(keys)], strict=True):
        rows, where = slice(start, stop), kinds[1, start:stop]
        parity = int(kinds[0, start] % 2)
        size[rows] = total[1 - parity, where] + 1
        most = (MOST - 1 - total[parity, where]) // count[rows]
        wrong = size[rows] > most
        if wrong.any():
            first = int(np.argmax(wrong))
            own = names[where[first]]
            taken = int(total[parity, where[first]])
            taken += int(size[start + first]) * int(count[start + first])
            raise ValueError(
                "the game's priorities make weights that do not fit 64 bits: in the "
                f"component {own} those of parity {parity} up to the priority "
                f"{kinds[0, start]} sum up to {taken}, expected less than 2**62; solve "
                "it as a parity game"
            )
        total[parity, where] += count[rows] * size[rows]
    sign = np.where(kinds[0] % 2 == 0, 1, -1)
    return (sign * size)[kind]


def _with_weight(arena: Arena, weight: np.ndarray) -> Arena:
    """The arena with other weights, in 32 or in 64 bits where these are enough."""
    small = np.iinfo(np.int32)
    least, most = (int(weight.min()), int(weight.max())) if weight.size else (0, 0)
    if max(-least, most) >= MOST:
        weight = weight.astype(object)
    else:
        wide = least < small.min or most > small.max
        weight = weight.astype(np.int64 if wide else np.int32)
    return as_checked_as(arena, changed(arena, weight=weight))


def _traced(arena: Arena, threshold: Any) -> Arena:
    """The weights `q w - p` of a traced game; what does not fit is as far as can be.

    With `p = q f + r` and `|r| < |q|` that is `|q| (w - f) - |r|`, whose sign is that
    of `w - f` unless that is 0.
    """
    pair = threshold if isinstance(threshold, tuple) else (threshold, 1)
    if not is_traced(threshold):
        pair = as_ratio(threshold)
    if len(pair) != 2:
        raise ValueError(f"threshold must be a pair (p, q), got {len(pair)} numbers")
    refuse_cut(arena)
    weight = jnp.asarray(arena.weight)
    if weight.dtype.itemsize < 4:
        weight = weight.astype(jnp.int32)
    dtype = weight.dtype
    p, q = (_number(x, dtype) for x in pair)
    largest, most = jnp.iinfo(dtype).max, jnp.iinfo(dtype).max // 2
    # The least number has no opposite: a rest of one is left of it then.
    whole = jnp.where((p < -largest) & (q == -1), largest, p // q)
    rest, q = jnp.abs(p - whole * q), jnp.abs(q)
    # Halves cannot wrap round.
    near = jnp.abs((weight >> 1) - (whole >> 1)) < most // 2
    over = jnp.where(near, weight - whole, jnp.where(weight > whole, most, -most))
    fits = jnp.abs(over) < most // q
    less = jnp.where(
        fits, jnp.where(fits, over, 0) * q - rest, jnp.sign(over) * (most + 1)
    )
    less = jnp.where(over == 0, -rest, less)
    return dataclasses.replace(arena, weight=less.astype(dtype))


def _number(value: Any, dtype) -> jax.Array:
    if not is_traced(value) and isinstance(value, int):
        info = jnp.iinfo(dtype)
        if not info.min <= value <= info.max:
            raise ValueError(
                f"threshold: {value} does not fit {dtype}, the type of the weights of "
                "a traced game"
            )
    array = jnp.asarray(value)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise ValueError(f"threshold must be made of integers, got {array.dtype}")
    return array.astype(dtype)

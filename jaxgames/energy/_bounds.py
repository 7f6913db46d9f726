"""How large the numbers of an energy game get: facts about concrete arenas."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import ops, validity
from jaxgames.arena import MANY, Arena, as_checked_as, changed
from jaxgames.arguments import integer
from jaxgames.host import can_compile, compiled, on_ranges, ranges_of
from jaxgames.kept import kept
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.tuning.energy import FEWEST_BITS
from jaxgames.value import freeze


class Width(NamedTuple):
    """What a run on the device computes with.

    Attributes:
        bits: of an integer, 32 or 64.
        scale: bits of a potential that count steps; the others hold energy.
    """

    bits: int
    scale: int


def check(arena: Arena, *, wide: bool = False) -> tuple[Arena, Any]:
    """Checks that an arena is an energy game of one dimension; it may be traced.

    Args:
        arena: the game.
        wide: whether weights may be Python's integers.

    Returns:
        What `validity.checked` does.

    Raises:
        ValueError: naming what is missing or wrong.
    """
    found = validity.checked(arena)
    check_weight(arena, wide=wide)
    return found


def check_weight(arena: Arena, *, wide: bool = False) -> None:
    """Checks that an arena, or a stack, has one integer weight on each edge.

    If `wide`, weights may be Python's integers.

    Raises:
        ValueError: it has not.
    """
    weight = arena.weight
    if weight is None:
        raise ValueError("an energy game needs a weight on each edge: weight is None")
    if np.ndim(weight) != np.ndim(arena.dst):
        raise ValueError(
            "an energy game has one weight on each edge, shape [E]: weight has shape "
            f"{np.shape(weight)}; use jaxgames.multienergy for several dimensions"
        )
    signed = np.issubdtype(weight.dtype, np.signedinteger)
    if not signed and not (wide and weight.dtype == object):
        raise ValueError(f"weight must hold signed integers, got {weight.dtype}")


@limited()
def bound(arena: Arena, **bounds: Unpack[Bounds]) -> int:
    """The largest credit that a vertex can need at most, M_G (host only).

    A play under good strategies that asks for the credit is a path without repetition,
    which takes no more from each vertex than its worst edge does.

    Args:
        arena: a concrete energy game.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The sum over the vertices of what the most negative edge that leaves them takes,
        in units of the weights: exact, whatever its size.

    Reference:
        Brim, Chaloupka, Doyen, Gentilini and Raskin, Faster algorithms for mean-payoff
        games, doi:10.1007/s10703-010-0105-x.

    Examples:
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [1, 1, 0], owner=[1, 0], weight=[-5, -2, 7]
        ... )
        >>> bound(arena)
        5
    """
    check(arena, wide=True)
    return extremes(arena).losses


def gain(arena: Arena) -> int:
    """What a path without repetition can gain at most (host only): exact."""
    return extremes(arena).gains


class Extremes(NamedTuple):
    """What the weights of a game add up to at worst: exact.

    Attributes:
        losses: the sum over the vertices of what the most negative edge takes, or 0.
        gains: of what the most positive one gives, or 0.
        least: the least weight, or 0.
        most: the largest one, or 0.
    """

    losses: int
    gains: int
    least: int
    most: int


def extremes(arena: Arena) -> Extremes:
    """Looks at all weights once, where they are; kept with the arena.

    Raises:
        ValueError: it is no energy game.
    """

    def find() -> Extremes:
        check(arena, wide=True)
        row_ptr, weight = arena.row_ptr, arena.weight
        if not weight.size:
            return Extremes(0, 0, 0, 0)
        if not isinstance(weight, np.ndarray):
            with jax.enable_x64(True):
                found = _there(row_ptr, weight)
        elif weight.dtype != object and len(weight) >= MANY and can_compile():
            found = _by_all_cores(np.asarray(row_ptr), weight)
        else:
            return _by_numpy(np.asarray(row_ptr), weight)
        found = Extremes(*map(int, found))
        if max(found.most, -found.least) < 2**31:  # so that sums fit 64 bits
            return found
        return _by_numpy(np.asarray(row_ptr), np.asarray(weight))

    return kept(arena, "energy extremes", find)


def _by_all_cores(row_ptr: np.ndarray, weight: np.ndarray) -> np.ndarray:
    ranges = ranges_of(len(row_ptr) - 1, work=len(weight))
    found = np.zeros((len(ranges), 4), np.int64)
    parts = [(part, *each) for part, each in enumerate(ranges)]
    on_ranges(_add_extremes, parts, row_ptr, weight, found)
    sums, ends = found[:, :2].sum(axis=0), found[:, 2:]
    return np.array([*sums, ends[:, 0].min(), ends[:, 1].max()])


@compiled
def _add_extremes(row_ptr, weight, found, part, begin, end):
    """Puts what the weights of some vertices add up to into a row of what is found."""
    losses, gains = np.int64(0), np.int64(0)
    least, most = np.int64(0), np.int64(0)
    for v in range(max(begin, 0), end):
        low, high = np.int64(0), np.int64(0)
        for e in range(row_ptr[v], row_ptr[v + 1]):
            low, high = min(low, np.int64(weight[e])), max(high, np.int64(weight[e]))
        losses -= low
        gains += high
        least, most = min(least, low), max(most, high)
    found[part, 0], found[part, 1] = losses, gains
    found[part, 2], found[part, 3] = least, most


@jax.jit
def _there(row_ptr: jax.Array, weight: jax.Array) -> jax.Array:
    rows, edges = len(row_ptr) - 1, len(weight)
    tail = jnp.repeat(jnp.arange(rows), jnp.diff(row_ptr), total_repeat_length=edges)
    wide = weight.astype(jnp.int64)
    low, high = (ops.max_into(tail, x, rows, 0) for x in (-wide, wide))
    return jnp.stack([jnp.sum(low), jnp.sum(high), -jnp.max(low), jnp.max(high)])


def _by_numpy(row_ptr: np.ndarray, weight: np.ndarray) -> Extremes:
    """Whatever the weights are."""
    rows = row_ptr[:-1][row_ptr[1:] > row_ptr[:-1]]
    low = np.minimum(np.minimum.reduceat(weight, rows), 0)
    high = np.maximum(np.maximum.reduceat(weight, rows), 0)
    return Extremes(-_sum(low), _sum(high), int(low.min()), int(high.max()))


def _sum(values: np.ndarray) -> int:
    if values.dtype == object:
        return int(values.sum())
    # Sums of these fit 64 bits where those of the whole may not.
    high, low = np.divmod(values.astype(np.int64), 2**31)
    return int(high.sum()) * 2**31 + int(low.sum())


def credit_type(arena: Arena) -> type:
    """int32 where every credit fits, else int64; object for Python's integers."""
    if arena.weight.dtype == object:
        return object
    return np.int32 if extremes(arena).losses < 2**31 else np.int64


def widths(arena: Arena, player: int = 0) -> tuple[Width, ...]:
    """What to compute with: the first that does is the cheapest.

    Potentials count energy and steps, see [`FVI`][jaxgames.energy.FVI]. Their proved
    bound is far above what most games need. So narrower ones are tried before, with
    room for both that is rarely too small: a run finds out whether it was.

    The player pays for losses, or player 1 for gains.
    """
    steps = int(arena.num_vertices).bit_length()
    weights = extremes(arena)
    most = weights.gains if player else weights.losses
    extreme = weights.most if player else -weights.least
    found = []
    proved = steps + most.bit_length()
    if proved <= 29:
        return (Width(32, steps),)
    # A path of so many steps takes no more energy than there is room for.
    room = (31 - extreme.bit_length()) // 2
    if room >= min(FEWEST_BITS, steps):
        found.append(Width(32, min(room, steps)))
    found.append(Width(64, steps))
    # Where energy needs the room: fewer steps, as few as there are bits left.
    for scale in range(steps - 6, max(61 - most.bit_length(), 0), -6):
        found.append(Width(64, scale))
    if proved > 61:
        found.append(Width(64, max(61 - most.bit_length(), 1)))
    return tuple(dict.fromkeys(found))


def narrowed(arena: Arena, bits: int) -> Arena:
    """The arena with weights of so many bits; kept with it.

    A weight that does not fit is cut to the nearest that does: solvers see it as more
    than they can hold.
    """

    def find() -> Arena:
        found, limit = extremes(arena), 2 ** (bits - 3) - 1
        fits, kind = max(found.most, -found.least) <= limit, np.dtype(f"int{bits}")
        if fits and arena.weight.dtype == kind:
            return arena
        weight = np.asarray(arena.weight)
        if not fits:
            weight = np.clip(weight, -limit, limit)
        narrow = changed(arena, weight=freeze(weight.astype(kind)))
        return as_checked_as(arena, narrow)

    return kept(arena, ("energy width", bits), find)


def check_capacity(capacity) -> int:
    """The capacity as an int.

    Raises:
        ValueError: it is no integer, negative, or does not fit.
    """
    return integer("capacity", capacity, 0, 2**62 - 1)


def largest_credit(arena: Arena, capacity: int | None) -> tuple[int, type]:
    """The largest credit that a vertex can need, and the type for credits."""
    if capacity is None:
        return bound(arena), credit_type(arena)
    most = min(check_capacity(capacity), bound(arena))
    return most, np.int32 if most < 2**31 else np.int64

"""How large the numbers of an energy game get: facts about concrete arenas."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import validity
from jaxgames.arena import MANY, Arena, as_checked_as, changed
from jaxgames.arguments import integer
from jaxgames.host import can_compile, linear
from jaxgames.kept import kept
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

    def find() -> int:
        check(arena, wide=True)
        return -_total(arena, np.minimum)

    return kept(arena, "energy bound", find)


def gain(arena: Arena) -> int:
    """What a path without repetition can gain at most (host only): exact."""
    return kept(arena, "energy gain", lambda: _total(arena, np.maximum))


def _total(arena: Arena, extreme: np.ufunc) -> int:
    """The sum over the vertices of their least or largest weight, or 0."""
    if not arena.weight.size:
        return 0
    row_ptr, weight = np.asarray(arena.row_ptr), np.asarray(arena.weight)
    if weight.dtype == np.int32 and len(weight) >= MANY and can_compile():
        return int(
            _sum_of_extremes(row_ptr, weight, 1 if extreme is np.maximum else -1)
        )
    found = extreme(extreme.reduceat(weight, row_ptr[:-1]), 0)
    if found.dtype == object:
        return int(found.sum())
    # Sums of these fit 64 bits where those of the whole may not.
    high, low = np.divmod(found.astype(np.int64), 2**31)
    return int(high.sum()) * 2**31 + int(low.sum())


@linear
def _sum_of_extremes(row_ptr, weight, sign):
    """As `_total`, of numbers whose sum fits 64 bits, in one pass."""
    total = 0
    for vertex in range(len(row_ptr) - 1):
        most = 0
        for edge in range(row_ptr[vertex], row_ptr[vertex + 1]):
            most = max(most, sign * weight[edge])
        total += most
    return sign * total


def credit_type(arena: Arena) -> type:
    """int32 where every credit fits, else int64; object for Python's integers."""
    if arena.weight.dtype == object:
        return object
    return np.int32 if bound(arena) < 2**31 else np.int64


def widths(arena: Arena, player: int = 0) -> tuple[Width, ...]:
    """What to compute with: the first that does is the cheapest.

    Potentials count energy and steps, see [`FVI`][jaxgames.energy.FVI]. Their proved
    bound is far above what most games need. So narrower ones are tried before, with
    room for both that is rarely too small: a run finds out whether it was.

    The player pays for losses, or player 1 for gains.
    """
    steps = int(arena.num_vertices).bit_length()
    most = gain(arena) if player else bound(arena)
    extreme = arena.weight.max(initial=0) if player else arena.weight.min(initial=0)
    found = []
    proved = steps + most.bit_length()
    if proved <= 29:
        return (Width(32, steps),)
    # A path of so many steps takes no more energy than there is room for.
    room = (31 - abs(int(extreme)).bit_length()) // 2
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
        weight = np.asarray(arena.weight)
        if bits == 64:
            weight = weight.astype(np.int64)
        limit = 2 ** (bits - 3) - 1
        weight = np.clip(weight, -limit, limit)
        if bits == 32:
            weight = weight.astype(np.int32)
        narrow = changed(arena, weight=freeze(weight))
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

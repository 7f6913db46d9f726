"""Checks of what users pass, with messages that name the place."""

from typing import Any

import numpy as np

from jaxgames import validity
from jaxgames.arguments import as_array, check_offsets, check_places, integer
from jaxgames.later import jax
from jaxgames.validity import Fault, Rules
from jaxgames.value import freeze

MOST = (1 << 30) - 1
"""Energies above it are not held: they, and sums of two of them, fit into int32."""


def table(updates: Any) -> tuple[np.ndarray, np.ndarray]:
    """Sums and minima of a table of updates: int32 `[U, D]` and bool `[U, D, D]`."""
    rows = list(updates)
    if not rows:
        raise ValueError(
            "updates is empty: a row is needed to tell how many dimensions there are"
        )
    size = len(rows[0]) if _is_row(rows[0]) else 0
    if size == 0:
        raise ValueError(
            f"update 0 must be a row with an entry for each dimension, got {rows[0]!r}"
        )
    delta = np.zeros((len(rows), size), np.int32)
    minima = np.zeros((len(rows), size, size), bool)
    for number, row in enumerate(rows):
        if not _is_row(row) or len(row) != size:
            raise ValueError(
                f"update {number} must have {size} entries as update 0 has, got {row!r}"
            )
        for i, entry in enumerate(row):
            where = f"update {number}, energy {i}"
            if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
                if abs(int(entry)) > MOST:
                    raise ValueError(f"{where}: {entry} is beyond the limit of {MOST}")
                delta[number, i] = entry
                continue
            for j in _minimum_of(where, entry, size):
                if i != j:
                    minima[number, i, j] = True
    return delta, minima


def _is_row(row: Any) -> bool:
    return isinstance(row, tuple | list) or np.ndim(row) == 1


def _minimum_of(where: str, entry: Any, size: int) -> list[int]:
    """The dimensions of an entry `("min", j, ...)`."""
    fine = isinstance(entry, tuple | list) and len(entry) > 1 and entry[0] == "min"
    if not fine:
        raise ValueError(
            f'{where}: expected an integer or ("min", j, ...), got {entry!r}'
        )
    return [integer(f"{where}: a dimension", j, 0, size - 1) for j in entry[1:]]


def caps(cap: Any, delta: np.ndarray) -> tuple[int, ...] | None:
    """A cap for each dimension, 0 where there is none; None if there are none."""
    if cap is None:
        return None
    size = delta.shape[1]
    each = list(cap) if np.iterable(cap) and not isinstance(cap, str) else [cap] * size
    if len(each) != size:
        raise ValueError(
            f"cap must be an integer or have {size} entries, one for each dimension, "
            f"got {cap!r}"
        )
    for i, most in enumerate(each):
        if most is None:
            continue
        integer(f"the cap of energy {i}", most, 1, MOST)
        above = np.flatnonzero(np.abs(delta[:, i]) > most)
        if len(above):
            raise ValueError(
                f"update {above[0]} changes energy {i} by {delta[above[0], i]}, but "
                f"its cap is {most}: raise the cap to the largest weight at least"
            )
    found = tuple(0 if most is None else int(most) for most in each)
    return found if any(found) else None


def rows(offsets: Any, targets: Any, update_id: Any, updates: int) -> list[Any]:
    """Edges in compressed rows, each with one of so many updates, as arrays."""
    given = {"offsets": offsets, "targets": targets, "update_id": update_id}
    arrays = [_array(name, values) for name, values in given.items()]
    offsets, targets, update_id = arrays
    check_offsets("offsets", offsets, np.size(targets))
    check_places("targets", targets, len(offsets) - 1)
    check_places("update_id", update_id, updates)
    if len(update_id) != len(targets):
        raise ValueError(
            f"update_id must have an entry for each of {len(targets)} edges, got "
            f"{len(update_id)}"
        )
    if len(targets) > np.iinfo(np.int32).max:
        raise ValueError(f"there are {len(targets)} edges, more than int32 counts")
    return arrays


def booleans(name: str, values: Any, size: int) -> Any:
    """Booleans, or 0 and 1, one for each position."""
    values = _array(name, values)
    if values.shape != (size,):
        raise ValueError(
            f"{name} must have an entry for each of {size} positions, got shape "
            f"{values.shape}"
        )
    if values.dtype == bool:
        return values
    if values.dtype.kind not in "iu":
        raise ValueError(f"{name} must be booleans, got {values.dtype}")
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise ValueError(
            f"{name} of position {int(wrong.argmax())} is "
            f"{values[int(wrong.argmax())]}, expected 0 or 1"
        )
    return freeze(values.astype(bool))


def budget(values: Any, dimensions: int) -> np.ndarray:
    """A budget: int `[D]`, not negative."""
    found = as_array("a budget", values)
    if found.shape != (dimensions,) or found.dtype.kind not in "iu":
        raise ValueError(f"a budget must be {dimensions} integers, got {values!r}")
    if (found < 0).any():
        raise ValueError(f"a budget must not be negative, got {values!r}")
    return found.astype(np.int64)


def position(number: Any, size: int) -> int:
    """The number of a position."""
    return integer("a position", number, 0, size - 1)


def _array(name: str, values: Any) -> Any:
    """An array of JAX stays where it is; a list without entries is one of integers."""
    if not isinstance(values, jax.Array):
        values = as_array(name, values)
    return values if values.size else values.astype(np.int32)


# ---- games that somebody made by hand, or that are traced ----------------------


def checked(game: Any) -> tuple[Any, Any]:
    """Refuses what is no game.

    Returns:
        What [`checked`][jaxgames.validity.checked] does for an arena.

    Raises:
        ValueError: saying what is wrong with it.
    """
    return validity.sound(game, GAME)


def _shapes(game: Any, batch: tuple[int, ...]) -> None:
    edges, updates = np.shape(game.targets)[-1:], np.shape(game.delta)[-2:]
    positions = np.shape(game.defender)[-1:]
    for name, shape, kinds in (
        ("offsets", tuple(size + 1 for size in positions), "i"),
        ("targets", edges, "iu"),
        ("update_id", edges, "iu"),
        ("defender", positions, "b"),
        ("delta", updates, "i"),
        ("minima", (*updates, *updates[1:]), "b"),
    ):
        values, wanted = getattr(game, name), (*batch, *shape)
        kind = getattr(getattr(values, "dtype", None), "kind", "")
        if np.shape(values) != wanted or not shape:
            raise ValueError(f"{name} must have shape {wanted}, got {np.shape(values)}")
        if kind not in kinds or not kind:
            expected = "booleans" if kinds == "b" else "integers"
            raise ValueError(f"{name} must hold {expected}, got {values.dtype}")
    if game.cap is not None and len(game.cap) != game.delta.shape[-1]:
        raise ValueError(
            f"cap must have an entry for each of {game.delta.shape[-1]} energies, got "
            f"{game.cap}"
        )


def _faults(xp: Any, game: Any) -> list[Fault]:
    starts, targets, rows = (
        xp.asarray(x).astype(np.int32)
        for x in (game.offsets, game.targets, game.update_id)
    )
    size, edges = game.defender.shape[-1], targets.shape[-1]
    updates = game.delta.shape[-2]
    degree = starts[..., 1:] - starts[..., :-1]
    delta, minima = xp.asarray(game.delta), xp.asarray(game.minima)

    def flat(x: Any) -> Any:
        return x.reshape(*starts.shape[:-1], -1)

    def says(name: str, values: Any, high: int):
        return lambda at: f"{name}[{at}] is {values[at]}, expected 0 to {high}"

    def beyond(name: str, has: int, most: Any):
        return lambda _: f"{name} is {has}, but the game's arrays need {most}"

    ties = minima.sum((-1, -2))
    found = [
        Fault(starts[..., :1] != 0, says("offsets", starts, 0)),
        Fault(degree < 0, lambda v: f"offsets must ascend, but fall after {v}"),
        Fault(
            starts[..., -1:] > edges,
            lambda _: f"offsets must end with {edges} at most, got {starts[-1]}",
        ),
        Fault((targets < 0) | (targets >= size), says("targets", targets, size - 1)),
        Fault((rows < 0) | (rows >= updates), says("update_id", rows, updates - 1)),
        Fault(degree > game.width, beyond("width", game.width, "more moves")),
        Fault(ties > game.ties, beyond("ties", game.ties, "more minima")),
        Fault(
            flat((delta > MOST) | (delta < -MOST)),
            lambda _: f"an update is beyond the limit of {MOST}",
        ),
    ]
    if not game.gains:
        found.append(Fault(flat(delta > 0), beyond("gains", game.gains, "gains")))
    return [fault for fault in found if fault.wrong.shape[-1]]


def _harmless(game: Any) -> dict[str, Any]:
    """Nobody has a move."""
    names = "offsets", "targets", "update_id", "delta", "minima"
    return {name: getattr(game, name) ^ getattr(game, name) for name in names}


GAME = Rules(_shapes, _faults, _harmless)
"""When a game is one."""

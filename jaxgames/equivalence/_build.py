"""Builds the spectroscopy game by one of two engines."""

from typing import Literal, Unpack

import numpy as np

from jaxgames import host
from jaxgames.equivalence._game import Spectroscopy
from jaxgames.equivalence._room import check_room, complain_of_size
from jaxgames.equivalence._system import System
from jaxgames.equivalence.host import build_on_host, is_ready
from jaxgames.later import backend, may_have_accelerator
from jaxgames.limits import Bounds, limited
from jaxgames.tuning.equivalence import FEW_POSITIONS as FEW
from jaxgames.tuning.equivalence import FEW_STATES

MODEST, MOVES = 1 << 16, 4
"""Positions, and moves for each of them, up to which the host is tried first where
there is an accelerator, if there is a pair for twelve of them at most: until then it is
done before the device is, and a game that turns out to be larger has cost little.
"""

Engine = Literal["auto", "device", "host"]


@limited()
def build(
    system: System,
    pairs: np.ndarray,
    *,
    engine: Engine = "auto",
    max_positions: int | None = None,
    **bounds: Unpack[Bounds],
) -> Spectroscopy:
    """The spectroscopy game from the attack positions (p, {q}) of some pairs.

    Args:
        system: the processes, no two of them bisimilar.
        pairs: int32 `[N, 2]`, p and q, which differ.
        engine: `"device"`, many positions at a time in JAX; `"host"`, position by
            position; `"auto"` takes the device where it is an accelerator. The game is
            the same in every bit.
        max_positions: positions beyond which it is given up; None: what there is
            memory for.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an unknown engine.
        TooLargeError: the game has more positions.
        SolveError: `progress` has stopped it.
    """
    if engine not in ("auto", "device", "host"):
        raise ValueError(f"engine must be 'auto', 'device' or 'host', got {engine!r}")
    if engine == "auto":
        if may_have_accelerator():
            game = _if_modest(system, pairs, max_positions)
            if game is not None:
                return game
        engine = "host" if backend() == "cpu" else "device"
    most = check_room(len(pairs), max_positions, on_host=engine == "host")
    game = _built(system, pairs, engine, most)
    if game is None:
        raise complain_of_size(most)
    return game


def _if_modest(
    system: System, pairs: np.ndarray, max_positions: int | None
) -> Spectroscopy | None:
    """The game built on the host, if that is done before a device would wake up."""
    most = check_room(len(pairs), max_positions, on_host=True)
    first = min(most, MODEST)
    if not host.can_compile() or 12 * len(pairs) > first:
        return None
    return _sequentially(system, pairs, first, min(most, MOVES * first))


def _built(
    system: System, pairs: np.ndarray, engine: Engine, most: int
) -> Spectroscopy | None:
    """The game, or None where it is larger."""
    if engine == "host":
        return _sequentially(system, pairs, most)
    from jaxgames.equivalence._device import build_on_device

    return build_on_device(system, pairs, most)


def _sequentially(
    system: System, pairs: np.ndarray, most: int, moves: int | None = None
) -> Spectroscopy | None:
    """The game built on the host, by Python alone where it is small."""
    small = system.num_states <= FEW_STATES and len(pairs) * 3 <= FEW
    if small and not is_ready():
        with host.interpreted():
            game = build_on_host(system, pairs, min(most, FEW))
        if game is not None or most <= FEW:
            return game
    return build_on_host(system, pairs, most, moves)


def pairs_that_enable_the_same(system: System) -> np.ndarray:
    """Ordered pairs of different states that enable the same labels: int32 `[N, 2]`.

    No other pair is equivalent by any notion. In lexicographic order.
    """
    of = system.enabled().of
    order = np.argsort(of, kind="stable")
    counts = np.bincount(of)
    starts = np.cumsum(counts) - counts
    # Each state with each of its set.
    size = counts[of]
    first = np.repeat(np.arange(len(of)), size)
    place = np.arange(len(first)) - np.repeat(np.cumsum(size) - size, size)
    second = order[starts[of[first]] + place]
    pairs = np.stack([first, second], axis=1).astype(np.int32)
    return pairs[first != second]

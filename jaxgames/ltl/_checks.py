"""Whether automata are such, looked at once for each.

Their constructors make sound ones; by hand, as by `dataclasses.replace`, others can be
made, and machine code would read beyond the ends of arrays.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxgames.kept import kept

if TYPE_CHECKING:
    from jaxgames.ltl._automaton import Automaton


def check_automaton(automaton: "Automaton") -> None:
    """Refuses an automaton whose arrays do not fit one another: raises ValueError."""

    def look() -> bool:
        size = check_rows("automaton", automaton.offsets, automaton.targets)
        edges, cubes = len(automaton.targets), len(automaton.required)
        check_offsets("automaton.cube_offsets", automaton.cube_offsets, cubes, least=1)
        check_array(
            "automaton.cube_offsets", automaton.cube_offsets, (edges + 1,), "iu"
        )
        for name in ("required", "forbidden"):
            check_array(f"automaton.{name}", getattr(automaton, name), (cubes,), "u")
        check_array("automaton.sets", automaton.sets, (len(automaton.sets), edges), "b")
        check_places("automaton.initial", automaton.initial, size)
        return True

    kept(automaton, "sound", look)


def check_rows(what: str, offsets: Any, targets: Any) -> int:
    """Checks rows of edges; how many rows there are."""
    check_offsets(f"{what}.offsets", offsets, len(targets))
    check_places(f"{what}.targets", targets, len(offsets) - 1)
    return len(offsets) - 1


def check_offsets(name: str, offsets: Any, end: int, least: int = 0) -> None:
    """Checks where rows begin that each have so many entries at least."""
    if np.ndim(offsets) != 1 or not len(offsets) or offsets.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, one at least, got {offsets!r}")
    if offsets[0] != 0 or offsets[-1] != end:
        raise ValueError(
            f"{name} must go from 0 to {end}, got {offsets[0]} to {offsets[-1]}"
        )
    wrong = offsets[1:] < offsets[:-1] + least
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{name}[{row + 1}] is {offsets[row + 1]}, expected {offsets[row] + least} "
            "or more"
        )


def check_places(name: str, values: Any, count: int) -> None:
    """Checks numbers of things of which there are so many."""
    if np.ndim(values) != 1 or values.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a list of integers, got {values!r}")
    wrong = (values < 0) | (values >= count)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"{name}[{place}] is {values[place]}, expected a number from 0 to "
            f"{count - 1}"
        )


def check_array(name: str, values: Any, shape: tuple[int, ...], kinds: str) -> None:
    found = np.shape(values)
    if found != shape or values.dtype.kind not in kinds:
        kind = {"b": "booleans", "u": "masks without sign"}.get(kinds, "integers")
        raise ValueError(
            f"{name} must hold {kind} of shape {shape}, got {values.dtype} of shape "
            f"{found}"
        )

"""Whether automata are such, looked at once for each.

Their constructors make sound ones; by hand, as by `dataclasses.replace`, others can be
made, and machine code would read beyond the ends of arrays.
"""

from typing import TYPE_CHECKING

from jaxgames.arguments import check_array, check_offsets, check_places, check_rows
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

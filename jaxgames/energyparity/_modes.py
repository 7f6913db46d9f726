"""Player 0's strategy of an energy parity game: moves, modes and levels."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames.later import jax

NO_CORE = -1
"""In place of a core where there is none."""

NEVER = -1
"""Level of a core whose mode of earning is never left."""


class Memory(NamedTuple):
    """What player 0 remembers of a play.

    Attributes:
        core: the core in which he earns energy, or `NO_CORE`.
        energy: how much there is.
    """

    core: int
    energy: int


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """A strategy of player 0 that remembers the energy, and where he is earning it.

    It is made of *cores*, sets of vertices that lie one in another, or apart. In a core
    there are two modes. Earning, he takes moves with which no cycle loses energy, and
    one that gains none has an even priority on top. Else he goes to the *tops* of the
    core, vertices of even priorities that are larger than all odd ones of the core that
    they lead to and back; or stays in a core inside it, and wins there. He begins to
    earn where there is less energy than the core's *level* when he comes into it or
    leaves one of its tops, and ends when there is as much.

    So the memory is a core and the energy, of which no more than the highest level
    needs to be told apart: finite, and pseudo-polynomial in the weights, as it has to
    be [1]. In a core without tops all cycles of earning have even priorities on top:
    there he earns for ever, without memory.

    C is the number of cores, P the sum of their sizes.

    Attributes:
        core: int32 `[V]`, the innermost core that a vertex lies in, -1 for none.
        move: int32 `[V]`, the edge to take outside of earning, where player 0 owns the
            vertex and wins; else -1.
        is_top: bool `[V]`, whether the vertex is a top of its innermost core.
        reaches: bool `[V]`, whether moves lead from it to a top of that core.
        order: int32 `[V]`: outside of earning it falls until a top or a core is there.
        need: integers `[V]`: energy that is enough to come there so. Not negative.
        outer: int32 `[C]`, the core around each, -1 for none.
        level: integers `[C]`: from so much energy on nothing is to be earned; -1 if
            earning is all there is.
        floor: integers `[C]`: earning leaves as much, on leaving the core too.
        core_order: int32 `[C]`: place of each among all that is directly inside the
            core around it; plays go on to smaller ones only.
        begin: int32 `[C + 1]`: the vertices of core `c` are those from `begin[c]` on.
        vertex: int32 `[P]`, the vertices of each core, ascending.
        earn: int32 `[P]`, the edge to take while earning, -1 where player 1 moves.
        credit: integers `[P]`: energy beyond the floor that earning needs there.

    References:
        [1] Chatterjee and Doyen, Energy parity games, TCS 458 (2012),
        doi:10.1016/j.tcs.2012.07.038.
    """

    core: Any
    move: Any
    is_top: Any
    reaches: Any
    order: Any
    need: Any
    outer: Any
    level: Any
    floor: Any
    core_order: Any
    begin: Any
    vertex: Any
    earn: Any
    credit: Any

    def __repr__(self) -> str:
        cores = len(self.outer)
        top = max((int(x) for x in self.level), default=0)
        return f"Modes({cores} cores, levels up to {max(top, 0)})"

    def chain(self, vertex: int) -> list[int]:
        """The cores that a vertex lies in, the outermost first."""
        found, core = [], int(self.core[vertex])
        while core != NO_CORE:
            found.append(core)
            core = int(self.outer[core])
        return found[::-1]

    def place(self, core: int, vertex: int) -> int:
        """Where a vertex of a core is among the vertices of all cores."""
        begin, end = int(self.begin[core]), int(self.begin[core + 1])
        return begin + int(np.searchsorted(self.vertex[begin:end], vertex))

    def start(self, vertex: int, energy: int) -> Memory:
        """The memory of a play that begins at a vertex.

        Args:
            vertex: one that player 0 wins.
            energy: at least its `credit` in the solution.
        """
        return self._into(self.chain(vertex), energy)

    def edge(self, vertex: int, memory: Memory) -> int:
        """The edge to take, for a vertex that player 0 owns and wins."""
        if memory.core == NO_CORE:
            return int(self.move[vertex])
        return int(self.earn[self.place(memory.core, vertex)])

    def after(self, vertex: int, memory: Memory, weight: int, target: int) -> Memory:
        """The memory after an edge, whoever took it.

        Args:
            vertex: where it leaves.
            memory: the memory there.
            weight: of the edge.
            target: where it leads.
        """
        energy = memory.energy + weight
        old, new = self.chain(vertex), self.chain(target)
        for at, core in enumerate(new):
            if at >= len(old) or old[at] != core:
                return self._into(new[at:], energy)
            if core == memory.core:
                if self._earns(core, energy):
                    return Memory(core, energy)
                return self._into(new[at + 1 :], energy)
            leaves_top = at == len(old) - 1 and bool(self.is_top[vertex])
            if leaves_top and self._earns(core, energy):
                return Memory(core, energy)
        return Memory(NO_CORE, energy)

    def _into(self, cores: list[int], energy: int) -> Memory:
        """The memory on coming into some cores at once, the outermost first."""
        earning = (core for core in cores if self._earns(core, energy))
        return Memory(next(earning, NO_CORE), energy)

    def _earns(self, core: int, energy: int) -> bool:
        level = int(self.level[core])
        return level == NEVER or energy < level

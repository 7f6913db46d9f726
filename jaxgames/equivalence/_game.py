"""The strong spectroscopy game: positions, moves and what they cost.

The attacker claims that a formula tells process p from all processes of a set Q; the
defender contests it. Positions are

- attack (p, Q): the attacker observes an action of p, after which Q is what its members
  can reach by it, or challenges by a conjunction, which splits Q into a rest, and a
  part Q* that one positive clause of its own (the revival) has to deal with;
- defend (p, Q, Q*): the defender names a member of Q for which there is to be a clause,
  or asks for the revival;
- clause (p, q): the attacker tells p from q by a positive clause, or q from p by a
  negated one.

A budget limits, in this order: observations; conjunctions; the observations in the
deepest positive clause, in the other positive clauses, and in the negated clauses of
conjunctions; nested negations.

References:
    Bisping: Process equivalence problems as energy games. CAV 2023.
    https://doi.org/10.1007/978-3-031-37706-8_5 (arXiv:2303.08904)
"""

from typing import Any, NamedTuple

import numpy as np

from jaxgames.kept import keeps
from jaxgames.value import Value, freeze

DIMENSIONS = 6
"""Components of a budget."""

UNLIMITED = 3
"""The component that means no limit: none of the notions asks for more than 2."""

OBSERVE, CHALLENGE, REVIVE, ANSWER, POSITIVE, NEGATIVE = range(6)
"""Kinds of moves: indices into `UPDATES`."""

UPDATES = (
    (-1, 0, 0, 0, 0, 0),
    (0, -1, 0, 0, 0, 0),
    (("min", 2), 0, 0, 0, 0, 0),
    (0, 0, 0, ("min", 2), 0, 0),
    (("min", 3), 0, 0, 0, 0, 0),
    (("min", 4), 0, 0, 0, 0, -1),
)
"""What each kind of move does to each component of the budget."""

ATTACK, CLAUSE = -1, -2
"""`second` of the positions of these kinds; that of others is a set."""

POSITION_BYTES = 4 + 12 + 1
"""Bytes of a position: its moves' start, its three numbers, its player."""

MOVE_BYTES = 4 + 1
"""Bytes of a move: its target, its kind."""


BUILDING = "building the game"
"""What is going on until its positions are found, for those who wait."""


class Arrays(NamedTuple):
    """The arrays of a game, of numpy, or of JAX where a device has built it."""

    offsets: Any
    targets: Any
    moves: Any
    process: Any
    first: Any
    second: Any
    set_offsets: Any
    members: Any
    starts: Any


class Spectroscopy(Value):
    """A spectroscopy game with `V` positions, `E` moves and `S` sets of processes.

    Positions are numbered breadth first: the starts, then what they lead to.

    What was built on a device stays there, in `arrays`; an attribute is fetched when it
    is first asked for.

    Attributes:
        arrays: all that follow, where they are.
        offsets: int32 `[V + 1]`, where the moves of each position start.
        targets: int32 `[E]`, where each move leads.
        moves: integers `[E]`, the kind of each move.
        process: int32 `[V]`, p.
        first: int32 `[V]`, the set Q, or q where the position is a clause.
        second: int32 `[V]`, the set Q*, or `ATTACK`, or `CLAUSE`.
        set_offsets: int32 `[S + 1]`, where the members of each set start.
        members: int32, the processes of each set, ascending.
        starts: int32 `[N]`, the positions that were asked for.
    """

    def __init__(self, *arrays: Any):
        self.arrays = Arrays(*map(freeze, arrays))

    @keeps
    def offsets(self) -> np.ndarray:
        """Where the moves of each position start."""
        return np.asarray(self.arrays.offsets)

    @keeps
    def targets(self) -> np.ndarray:
        """Where each move leads."""
        return np.asarray(self.arrays.targets)

    @keeps
    def moves(self) -> np.ndarray:
        """The kind of each move."""
        return np.asarray(self.arrays.moves)

    @keeps
    def process(self) -> np.ndarray:
        """Process p of each position."""
        return np.asarray(self.arrays.process)

    @keeps
    def first(self) -> np.ndarray:
        """Set Q or process q of each position."""
        return np.asarray(self.arrays.first)

    @keeps
    def second(self) -> np.ndarray:
        """Set Q* of each position, or what it is."""
        return np.asarray(self.arrays.second)

    @keeps
    def set_offsets(self) -> np.ndarray:
        """Where the members of each set start."""
        return np.asarray(self.arrays.set_offsets)

    @keeps
    def members(self) -> np.ndarray:
        """The processes of each set."""
        return np.asarray(self.arrays.members)

    @keeps
    def starts(self) -> np.ndarray:
        """The positions that were asked for."""
        return np.asarray(self.arrays.starts)

    @property
    def num_positions(self) -> int:
        """How many positions there are."""
        return len(self.arrays.process)

    @property
    def num_moves(self) -> int:
        """How many moves there are."""
        return len(self.arrays.targets)

    @property
    def defender(self) -> np.ndarray:
        """Where the defender moves: bool `[V]`."""
        return self.second >= 0

    @property
    def updates(self) -> tuple[tuple, ...]:
        """What each kind of move does to each component of the budget."""
        return UPDATES

    def members_of(self, which: int) -> tuple[int, ...]:
        """The processes of a set."""
        part = slice(self.set_offsets[which], self.set_offsets[which + 1])
        return tuple(self.members[part].tolist())

    def position(self, index: int) -> tuple:
        """A position as a tuple: `("attack", p, Q)`, `("clause", p, q)` and so on."""
        p, first = int(self.process[index]), int(self.first[index])
        second = int(self.second[index])
        if second == CLAUSE:
            return "clause", p, first
        if second == ATTACK:
            return "attack", p, self.members_of(first)
        return "defend", p, self.members_of(first), self.members_of(second)

    def successors(self, index: int) -> list[tuple[int, int]]:
        """Kind and target of each move from a position."""
        part = slice(self.offsets[index], self.offsets[index + 1])
        moves, targets = self.moves[part].tolist(), self.targets[part].tolist()
        return list(zip(moves, targets, strict=True))

    def __repr__(self) -> str:
        return (
            f"Spectroscopy({self.num_positions} positions, {self.num_moves} moves, "
            f"{len(self.arrays.starts)} starts)"
        )

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


def _fetched(name: str) -> keeps[Any, np.ndarray]:
    """An array of a game, which is fetched when it is first asked for."""
    return keeps(lambda game: np.asarray(getattr(game.arrays, name)))


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

    offsets = _fetched("offsets")
    targets = _fetched("targets")
    moves = _fetched("moves")
    process = _fetched("process")
    first = _fetched("first")
    second = _fetched("second")
    set_offsets = _fetched("set_offsets")
    members = _fetched("members")
    starts = _fetched("starts")

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

"""The weak spectroscopy game, which does not count silent steps.

It has nine energies: observations; branching, unstable, stable
and immediate conjunctions; observations in the revivals of conjunctions, in other
positive clauses, in negated clauses; nested negations [1]. Between two observations p
may take silent steps, and Q is closed under them: then the attacker observes, or
challenges by a conjunction that is unstable; stable, if p has no silent step, and about
those of Q that have none either; or branching, which observes one step of p and
deals with the rest of Q before that step.

The attacker may choose any part of Q for a revival or for the step of a branching
conjunction, so that there are as many positions as Q has parts: the game is for small
systems.

References:
    [1] Bisping, Jansen: Linear-time - branching-time spectroscopy accounting for silent
        steps. arXiv:2305.17671
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from jaxgames import limits
from jaxgames.equivalence._formula import TRUE, Delay, Formula, Not, Observe, Stutter
from jaxgames.equivalence._game import BUILDING
from jaxgames.equivalence._room import complain_of_size
from jaxgames.equivalence._system import System
from jaxgames.equivalence._witness import Speller, conjunction
from jaxgames.kept import keeps
from jaxgames.value import Value

(
    _FREE,
    _OBSERVE,
    _UNSTABLE,
    _STABLE,
    _STABLE_REVIVAL,
    _STABILITY,
    _IMMEDIATE,
    _BRANCH,
    _BRANCH_CLAUSE,
    _NEGATIVE,
    _POSITIVE,
    _POSITIVE_STABLE,
) = range(12)

UPDATES = (
    (0, 0, 0, 0, 0, 0, 0, 0, 0),
    (-1, 0, 0, 0, 0, 0, 0, 0, 0),
    (0, 0, -1, 0, 0, 0, 0, 0, 0),
    (0, 0, 0, -1, 0, 0, ("min", 5), 0, 0),
    (("min", 5), 0, 0, -1, 0, 0, 0, 0, 0),
    (0, 0, 0, -1, 0, 0, 0, 0, -1),
    (0, 0, 0, 0, -1, 0, 0, 0, 0),
    (("min", 5), -1, -1, 0, 0, 0, 0, 0, 0),
    (0, -1, -1, 0, 0, 0, 0, 0, 0),
    (("min", 7), 0, 0, 0, 0, 0, 0, 0, -1),
    (("min", 5), 0, 0, 0, 0, 0, 0, 0, 0),
    (("min", 6), 0, 0, 0, 0, 0, 0, 0, 0),
)
"""What each kind of move does to each component of the budget."""

Position = tuple
"""Its kind, then processes, and sets of processes as sorted tuples."""

_DEFENDER = ("conjunction", "stable conjunction", "branching conjunction")


class Processes:
    """A system with some silent labels."""

    def __init__(self, system: System, silent: set[int]):
        self.silent = silent
        self.rows = [system.row(p) for p in range(system.num_states)]
        self.stable = [all(a not in silent for a, _ in row) for row in self.rows]
        self.reached = [self._closure(p) for p in range(system.num_states)]

    def _closure(self, p: int) -> frozenset[int]:
        found, waiting = {p}, [p]
        while waiting:
            new = [t for a, t in self.rows[waiting.pop()] if a in self.silent]
            new = [t for t in new if t not in found]
            found.update(new)
            waiting += new
        return frozenset(found)

    def closure(self, processes: Iterable[int]) -> tuple[int, ...]:
        """What some reach by silent steps."""
        return tuple(sorted(set().union(*(self.reached[q] for q in processes))))

    def after(self, processes: Iterable[int], action: int) -> tuple[int, ...]:
        """What some reach by a step."""
        found = {t for q in processes for a, t in self.rows[q] if a == action}
        return tuple(sorted(found))

    # ---- moves --------------------------------------------------------------

    def moves(self, position: Position) -> Iterator[tuple[int, Position]]:
        """Kinds of moves, and where they lead."""
        match position:
            case "observe", p, whole:
                if p not in whole:
                    yield _FREE, ("delay", p, self.closure(whole))
                    kind = _IMMEDIATE if whole else _FREE
                    yield kind, ("conjunction", p, whole)
            case "delay", p, whole:
                if p not in whole:
                    yield from self._delayed(p, whole)
            case "branch", p, whole:
                yield _OBSERVE, ("observe", p, whole)
            case ("clause" | "stable clause") as kind, p, q:
                positive = _POSITIVE if kind == "clause" else _POSITIVE_STABLE
                yield positive, ("delay", p, self.closure([q]))
                yield _NEGATIVE, ("delay", q, self.closure([p]))
            case "conjunction", p, whole:
                for q in whole:
                    yield _UNSTABLE, ("clause", p, q)
            case "stable conjunction", p, rest, taken:
                for q in rest:
                    yield _STABLE, ("stable clause", p, q)
                yield _STABILITY, ("conjunction", p, ())
                if taken:
                    yield _STABLE_REVIVAL, ("observe", p, taken)
            case "branching conjunction", p, action, target, rest, taken:
                for q in rest:
                    yield _BRANCH_CLAUSE, ("clause", p, q)
                after = self.after(taken, action)
                if action in self.silent:
                    after = tuple(sorted({*after, *taken}))
                yield _BRANCH, ("branch", target, after)

    def _delayed(self, p: int, whole: tuple[int, ...]):
        yield _FREE, ("conjunction", p, whole)
        if not whole:
            return
        for action, target in self.rows[p]:
            if action not in self.silent:
                yield _OBSERVE, ("observe", target, self.after(whole, action))
            elif target != p:
                yield _FREE, ("delay", target, whole)
        if self.stable[p]:
            stable = tuple(q for q in whole if self.stable[q])
            for taken in [(), *_parts(stable)]:
                rest = tuple(q for q in stable if q not in taken)
                yield _FREE, ("stable conjunction", p, rest, taken)
        if len(whole) > 1:
            for action, target in self.rows[p]:
                for taken in _parts(whole):
                    rest = tuple(q for q in whole if q not in taken)
                    yield _FREE, (
                        "branching conjunction", p, action, target, rest, taken
                    )  # fmt: skip


def _parts(whole: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All parts but the empty one."""
    sizes = range(1, len(whole) + 1)
    return itertools.chain.from_iterable(
        itertools.combinations(whole, size) for size in sizes
    )


@dataclasses.dataclass(frozen=True)
class WeakSpectroscopy(Value):
    """A weak spectroscopy game: its positions, and moves as kinds and targets."""

    positions: list[Position]
    moves: list[list[tuple[int, int]]]

    @property
    def updates(self) -> tuple[tuple, ...]:
        """What each kind of move does to each component of the budget."""
        return UPDATES

    @keeps
    def defender(self) -> np.ndarray:
        """Where the defender moves: bool `[V]`."""
        return np.array([position[0] in _DEFENDER for position in self.positions])

    def successors(self, index: int) -> list[tuple[int, int]]:
        """Kind and target of each move from a position."""
        return self.moves[index]


def build_weak(processes: Processes, starts: list[Position], most: int):
    """The game from some positions, breadth first."""
    number = {position: i for i, position in enumerate(starts)}
    positions = list(starts)
    moves: list[list[tuple[int, int]]] = []
    for position in positions:
        row = []
        for kind, target in processes.moves(position):
            limits.tick(BUILDING, len(positions), "positions")
            if target not in number:
                number[target] = len(positions)
                positions.append(target)
                if len(positions) > most:
                    raise complain_of_size(most)
            row.append((kind, number[target]))
        moves.append(row)
    return WeakSpectroscopy(positions, moves)


def weak_speller(
    game: WeakSpectroscopy, processes: Processes, names: tuple[str, ...]
) -> Speller:
    silent = tuple(names[a] for a in sorted(processes.silent))

    def spell(
        position: int, moves: list[tuple[int, int]], parts: list[Formula]
    ) -> Formula:
        here = game.positions[position]
        match here[0]:
            case "conjunction":
                return conjunction(parts)
            case "stable conjunction":
                still = [Not(Observe(name, TRUE)) for name in silent]
                kept = [
                    part
                    for (kind, _), part in zip(moves, parts, strict=True)
                    if kind != _STABILITY
                ]
                return conjunction([*still, *kept])
            case "branching conjunction":
                *clauses, step = parts
                kind = Stutter if here[2] in processes.silent else Observe
                return conjunction([*clauses, kind(names[here[2]], step)])
        ((kind, target),) = moves
        there = game.positions[target]
        if kind == _NEGATIVE:
            return Not(Delay(silent, parts[0]))
        if there[0] == "delay" and here[0] != "delay":
            return Delay(silent, parts[0])
        if here[0] == "delay" and there[0] == "observe":
            return Observe(names[_action(processes, here, there)], parts[0])
        return parts[0]

    return spell


def _action(processes: Processes, here: Position, there: Position) -> int:
    """The first action by which an observation leads from a position to another."""
    (_, p, whole), (_, target, reached) = here, there
    for action, after in processes.rows[p]:
        visible = after == target and action not in processes.silent
        if visible and processes.after(whole, action) == reached:
            return action
    raise AssertionError("an observation without an action")

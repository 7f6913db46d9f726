"""Compares processes: by one game for all notions and pairs."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from jaxgames import drive, multienergy
from jaxgames.equivalence._build import Engine, build
from jaxgames.equivalence._comparison import Comparison, Solved
from jaxgames.equivalence._energy import RELATIONS, energy_game
from jaxgames.equivalence._notions import STRONG
from jaxgames.equivalence._problem import classes_of
from jaxgames.equivalence._system import System, check_process
from jaxgames.equivalence._witness import speller
from jaxgames.solution import Stats
from jaxgames.solver import Solver

if TYPE_CHECKING:
    from jaxgames.io import LTS


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Pairs of processes to be compared; of a single one the answer is no list."""

    lts: "LTS"
    pairs: list[tuple[int, int]]
    single: bool
    engine: Engine = "auto"
    max_positions: int | None = None

    notions = STRONG

    def check(self) -> None:
        """Raises ValueError unless all are processes."""
        for p, q in self.pairs:
            check_process(self.lts, p=p, q=q)

    def put(self) -> tuple[multienergy.Game, drive.Undo]:
        """One game of the classes of bisimilar processes, for all pairs."""
        system = System.of(self.lts)
        classes = classes_of(system)
        system = system.quotient(classes)
        pairs = [(int(classes[p]), int(classes[q])) for p, q in self.pairs]
        wanted: dict[tuple[int, int], int] = {}
        for one, other in pairs:
            if one != other:
                wanted.setdefault((one, other), len(wanted))
                wanted.setdefault((other, one), len(wanted))
        game, solved, starts = self.built(system, list(wanted))
        first = dict(zip(wanted, starts, strict=True))

        def answer(fronts: multienergy.Fronts) -> Any:
            done, found = solved(fronts), []
            stats = Stats(**fronts.stats, classes=system.num_states, **sizes(game))
            for (p, q), (one, other) in zip(self.pairs, pairs, strict=True):
                how: dict[str, Any] = {"stats": stats}
                if one != other:
                    how["starts"] = first[one, other], first[other, one]
                    how |= {"status": fronts.status, "state": fronts.state}
                own = Comparison(int(p), int(q), self.notions, solved=done, **how)
                found.append(own)
            return self._whole(found, fronts.state)

        return game, answer

    def built(
        self, system: System, pairs: list[tuple[int, int]]
    ) -> tuple[multienergy.Game, Callable[[multienergy.Fronts], Solved], Sequence[int]]:
        """The game of pairs of classes, what solves it, and where each pair starts."""
        asked = np.array(pairs, np.int32).reshape(-1, 2)
        limit = self.max_positions
        game = build(system, asked, engine=self.engine, max_positions=limit)

        whole = energy_game(game)

        def solved(fronts: multienergy.Fronts) -> Solved:
            spell = speller(game, system, self.lts.names)
            return Solved(game, whole, fronts, spell)

        return whole, solved, game.starts.tolist()

    def undecided(self, state: Any = None, **how: Any) -> Any:
        found = [
            Comparison(p, q, self.notions, state=state, **how) for p, q in self.pairs
        ]
        return self._whole(found, state)

    def _whole(self, found: list[Comparison], state: Any) -> Any:
        return found[0] if self.single else drive.Solutions(found, state)


def sizes(game: multienergy.Game) -> dict[str, int]:
    """What solutions say of a game."""
    return {"positions": game.num_positions, "moves": game.num_edges}


@drive.front_door
def compare(
    lts: "LTS",
    p: int,
    q: int,
    solver: str | Solver = "auto",
    *,
    engine: Engine = "auto",
    max_positions: int | None = None,
    **how: Unpack[drive.How],
) -> Comparison:
    """Which notions of the linear-time branching-time spectrum relate two processes.

    The system is minimised by bisimilarity, the spectroscopy game [1] of both
    directions is built and solved once for all notions, in time and space exponential
    in the number of classes at worst.

    Args:
        lts: the system, as [`load`][jaxgames.equivalence.load] returns it.
        p: a state.
        q: another.
        solver: of the energy game: see
            [`multienergy.solve`][jaxgames.multienergy.solve].
        engine: which builds the game: `"device"`, `"host"` or `"auto"`.
        max_positions: positions of the game beyond which it is given up; None: what
            there is memory for.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How]. Rounds are those in which
            the game is solved; to go on it is built again.

    Returns:
        A mapping from the notion's name to its preorder both ways and its equivalence;
        its `formula(notion)` says why one does not hold. None is what is not known
        where the solve stopped early.

    Raises:
        ValueError: a process is out of range, or an option unknown.
        TooLargeError: the game has too many positions.
        SolveError: it stopped early, and `throw` is set. Its `solution` holds what was
            found, and the state to go on from.

    References:
        [1] Bisping: Process equivalence problems as energy games. CAV 2023.
            arXiv:2303.08904

    Examples:
        >>> from jaxgames.io import LTS
        >>> coffee = LTS.from_edges(
        ...     [0, 1, 1, 2, 2, 3, 4],
        ...     ["coin", "tea", "coffee", "coin", "coin", "tea", "coffee"],
        ...     [1, 5, 5, 3, 4, 5, 5],
        ... )
        >>> found = compare(coffee, 0, 2)
        >>> found["traces"]
        Holds(preorder=True, reverse=True, equivalent=True)
        >>> found["failures"]
        Holds(preorder=True, reverse=False, equivalent=False)
        >>> found.formula("failures")
        ⟨coin⟩¬⟨coffee⟩
    """
    return drive.solve(
        RELATIONS, Pairs(lts, [(p, q)], True, engine, max_positions), solver, **how
    )


@drive.front_door
def compare_many(
    lts: "LTS",
    pairs: Iterable[tuple[int, int]],
    solver: str | Solver = "auto",
    *,
    engine: Engine = "auto",
    max_positions: int | None = None,
    **how: Unpack[drive.How],
) -> list[Comparison]:
    """Compares many pairs of processes by one game.

    Args:
        lts: the system; several are put side by side by
            [`union`][jaxgames.equivalence.union].
        pairs: two states each.
        solver: see [`compare`][jaxgames.equivalence.compare], as for the rest.
        engine: likewise.
        max_positions: likewise.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        For each pair what `compare` returns: a list with a `status`, and a `state` to
        go on from.

    Raises:
        ValueError: as `compare`.
        TooLargeError: as `compare`.
        SolveError: as `compare`.

    Examples:
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 1, 2], ["a", "b", "a"], [3, 3, 1])
        >>> compare_many(lts, [(0, 1), (0, 2)])
        [Comparison(0 and 1: nothing), Comparison(0 and 2: enabledness)]
    """
    return drive.solve(
        RELATIONS,
        Pairs(lts, [(p, q) for p, q in pairs], False, engine, max_positions),
        solver,
        **how,
    )

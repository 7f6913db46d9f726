"""All notions on all processes of a system."""

import dataclasses
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from jaxgames import drive, multienergy
from jaxgames.equivalence._build import Engine, build, pairs_that_enable_the_same
from jaxgames.equivalence._classes import Classes
from jaxgames.equivalence._compare import sizes
from jaxgames.equivalence._energy import RELATIONS, distinguished, energy_game
from jaxgames.equivalence._notions import NOTIONS, STRONG, check_notion
from jaxgames.equivalence._problem import classes_of
from jaxgames.equivalence._system import System
from jaxgames.limits import Bounds, limited
from jaxgames.solution import UNDECIDED, Solution, SolveError, Stats, Status
from jaxgames.solver import Solver

if TYPE_CHECKING:
    from jaxgames.io import LTS


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Solution):
    """Which processes of a system the notions relate.

    Its `stats` have the numbers of classes, pairs, positions and moves too.

    Attributes:
        bisimulation: int32 `[V]`, the bisimilarity class of each process, numbered in
            the order of their first ones; -1 where it is not known.
        pairs: int32 `[N, 2]`, the ordered pairs of different classes that were
            compared, in lexicographic order.
        apart: bool `[N, 13]`, for each notion whether the first of a pair is not below
            the second. Where the solve stopped early, whether that was found.
    """

    bisimulation: Any = None
    pairs: Any = None
    apart: Any = None

    @property
    def num_classes(self) -> int:
        """How many bisimilarity classes there are."""
        return int(self.bisimulation.max(initial=-1)) + 1

    @limited()
    def preorder(self, notion: str, **bounds: Unpack[Bounds]) -> np.ndarray:
        """The ordered pairs of classes whose first is below the second: `[M, 2]`.

        Only of those that were compared.

        Args:
            notion: one of `NOTIONS`.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: there is no such notion.
            SolveError: the solve stopped early.
        """
        check_notion(notion)
        if self.status != Status.SOLVED:
            raise SolveError(Status(self.status), self)
        return self.pairs[~self.apart[:, NOTIONS.index(notion)]]

    @limited()
    def classes(self, notion: str, **bounds: Unpack[Bounds]) -> np.ndarray:
        """The equivalence class of each process: int32 `[V]`.

        Numbered in the order of their first processes.

        Args:
            notion: one of `NOTIONS`.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: there is no such notion.
            SolveError: the solve stopped early.
        """
        below = self.preorder(notion).astype(np.int64)
        count = self.num_classes
        there = below[:, 0] * count + below[:, 1]
        back = below[:, 1] * count + below[:, 0]
        both = below[np.isin(there, back)]
        first = np.arange(count)
        # A class is equivalent to the least one of its own: the relation is transitive.
        np.minimum.at(first, both[:, 0], both[:, 1])
        numbers = np.unique(first, return_inverse=True)[1].astype(np.int32)
        return numbers[self.bisimulation]

    def __repr__(self) -> str:
        if self.status != Status.SOLVED:
            return f"Spectrum({Status(self.status).name})"
        counts = (f"{n} {int(self.classes(n).max(initial=-1)) + 1}" for n in NOTIONS)
        return f"Spectrum(classes: {', '.join(counts)})"


@dataclasses.dataclass(frozen=True)
class Relating:
    """All processes of a system, by all notions or by one."""

    lts: "LTS"
    preorders: bool
    engine: Engine
    max_positions: int | None
    notion: str | None = None

    def check(self) -> None:
        """Raises ValueError unless there is such a notion."""
        if self.notion is not None:
            check_notion(self.notion)

    def put(self) -> tuple[multienergy.Game, drive.Undo]:
        """One game for all pairs that may be related."""
        system, notion = System.of(self.lts), self.notion
        if notion == "enabledness":
            return self._without_game(system, system.enabled().of)
        classes = classes_of(system)
        if notion == "bisimulation":
            return self._without_game(system, classes)
        system = system.quotient(classes)
        if self.preorders:
            pairs = np.argwhere(~np.eye(system.num_states, dtype=bool)).astype(np.int32)
        else:
            pairs = pairs_that_enable_the_same(system)
        game = build(
            system, pairs, engine=self.engine, max_positions=self.max_positions
        )
        put = energy_game(game)

        def answer(fronts: multienergy.Fronts) -> Any:
            counts = {"classes": system.num_states, "pairs": len(pairs), **sizes(put)}
            how: dict[str, Any] = {
                "status": fronts.status,
                "stats": Stats(**fronts.stats, **counts),
                "state": fronts.state,
            }
            apart = distinguished(fronts, game.arrays.starts, STRONG)
            found = Spectrum(bisimulation=classes, pairs=pairs, apart=apart, **how)
            if notion is None:
                return found
            if found.status != Status.SOLVED:
                return self.undecided(**how)
            return Classes(labels=found.classes(notion), **how)

        return put, answer

    def _without_game(
        self, system: System, labels: np.ndarray
    ) -> tuple[multienergy.Game, drive.Undo]:
        """Classes that no game has to tell: that of no pairs says the same."""
        game = energy_game(build(system, np.empty((0, 2), np.int32), engine="host"))
        return game, lambda fronts: Classes(
            Status.SOLVED, labels=labels, stats=fronts.stats
        )

    def undecided(self, **how: Any) -> Spectrum | Classes:
        labels = np.full(self.lts.num_states, UNDECIDED, np.int32)
        if self.notion is not None:
            return Classes(labels=labels, **how)
        none = np.empty((0, 2), np.int32), np.empty((0, len(NOTIONS)), bool)
        return Spectrum(bisimulation=labels, pairs=none[0], apart=none[1], **how)


@drive.front_door
def spectrum(
    lts: "LTS",
    solver: str | Solver = "auto",
    *,
    preorders: bool = False,
    engine: Engine = "auto",
    max_positions: int | None = None,
    **how: Unpack[drive.How],
) -> Spectrum:
    """Relates all processes of a system by all notions of the strong spectrum.

    Args:
        lts: the system.
        solver: see [`compare`][jaxgames.equivalence.compare].
        preorders: whether pairs are compared too that enable different labels. They are
            equivalent by no notion, but one may be below the other.
        engine: as for `compare`, like the rest.
        max_positions: likewise.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Raises:
        ValueError: an option is unknown.
        TooLargeError: the game has too many positions.
        SolveError: it stopped early, and `throw` is set.

    Examples:
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 0, 2, 3], "aaab", [1, 3, 3, 1])
        >>> found = spectrum(lts)
        >>> found.num_classes
        4
        >>> found.classes("traces")
        array([0, 1, 0, 2], dtype=int32)
    """
    return drive.solve(
        RELATIONS, Relating(lts, preorders, engine, max_positions), solver, **how
    )


@drive.front_door
def relation(
    lts: "LTS",
    notion: str,
    solver: str | Solver = "auto",
    *,
    engine: Engine = "auto",
    max_positions: int | None = None,
    **how: Unpack[drive.How],
) -> Classes:
    """The equivalence class of each process by a notion.

    For several notions [`spectrum`][jaxgames.equivalence.spectrum] does the work once.

    Args:
        lts: the system.
        notion: its name, one of [`NOTIONS`][jaxgames.equivalence.NOTIONS].
        solver: see [`compare`][jaxgames.equivalence.compare], as for the rest.
        engine: likewise.
        max_positions: likewise.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        [`Classes`][jaxgames.equivalence.Classes]. Where it stopped early no class is
        known.

    Raises:
        ValueError: there is no such notion, or an option is unknown.
        TooLargeError: the game has too many positions.
        SolveError: it stopped early, and `throw` is set.

    Examples:
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 0, 2, 3], "aaab", [1, 3, 3, 1])
        >>> relation(lts, "traces").labels
        array([0, 1, 0, 2], dtype=int32)
    """
    return drive.solve(
        RELATIONS, Relating(lts, False, engine, max_positions, notion), solver, **how
    )

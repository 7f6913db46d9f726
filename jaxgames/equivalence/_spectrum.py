"""All notions on all processes of a system."""

import dataclasses
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from jaxgames.equivalence._bisimulation import classes_of
from jaxgames.equivalence._build import Engine, pairs_that_enable_the_same
from jaxgames.equivalence._notions import NOTIONS, STRONG, check_notion
from jaxgames.equivalence._solve import build_and_solve, distinguished
from jaxgames.equivalence._system import System
from jaxgames.limits import Bounds, limited
from jaxgames.progress import Meter

if TYPE_CHECKING:
    from jaxgames.io import LTS


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Which processes of a system the notions relate.

    Attributes:
        bisimulation: int32 `[V]`, the bisimilarity class of each process, numbered in
            the order of their first ones.
        pairs: int32 `[N, 2]`, the ordered pairs of different classes that were
            compared, in lexicographic order.
        apart: bool `[N, 13]`, for each notion whether the first of a pair is not below
            the second.
        stats: the numbers of classes, pairs, positions and moves.
    """

    bisimulation: np.ndarray
    pairs: np.ndarray
    apart: np.ndarray
    stats: dict[str, int]

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
        """
        check_notion(notion)
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
        """One line: the number of classes by notion."""
        counts = (f"{n} {int(self.classes(n).max(initial=-1)) + 1}" for n in NOTIONS)
        return f"Spectrum(classes: {', '.join(counts)})"


@limited()
def spectrum(
    lts: "LTS",
    *,
    preorders: bool = False,
    solver: Any = "auto",
    engine: Engine = "auto",
    max_positions: int | None = None,
    progress: Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> Spectrum:
    """Relates all processes of a system by all notions of the strong spectrum.

    Args:
        lts: the system.
        preorders: whether pairs are compared too that enable different labels. They are
            equivalent by no notion, but one may be below the other.
        solver: see [`compare`][jaxgames.equivalence.compare], as for the rest.
        engine: likewise.
        max_positions: likewise.
        progress: likewise.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Raises:
        ValueError: an option is unknown.
        TooLargeError: the game has too many positions.
        SolveError: `progress` has stopped it.

    Examples:
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 0, 2, 3], "aaab", [1, 3, 3, 1])
        >>> found = spectrum(lts)
        >>> found.num_classes
        4
        >>> found.classes("traces")
        array([0, 1, 0, 2], dtype=int32)
    """
    system = System.of(lts)
    classes = classes_of(system)
    system = system.quotient(classes)
    if preorders:
        pairs = np.argwhere(~np.eye(system.num_states, dtype=bool)).astype(np.int32)
    else:
        pairs = pairs_that_enable_the_same(system)
    game, fronts = build_and_solve(
        system, pairs, solver, progress, engine=engine, max_positions=max_positions
    )
    apart = distinguished(fronts, game.arrays.starts, STRONG)
    stats = {
        "classes": system.num_states,
        "pairs": len(pairs),
        "positions": game.num_positions,
        "moves": game.num_moves,
    }
    return Spectrum(classes, pairs, apart, stats)


@limited()
def relation(
    lts: "LTS",
    notion: str,
    *,
    solver: Any = "auto",
    engine: Engine = "auto",
    max_positions: int | None = None,
    progress: Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> np.ndarray:
    """The equivalence class of each process by a notion: int32 `[V]`.

    Numbered in the order of their first processes. For several notions
    [`spectrum`][jaxgames.equivalence.spectrum] does the work once.

    Args:
        lts: the system.
        notion: its name, one of [`NOTIONS`][jaxgames.equivalence.NOTIONS].
        solver: see [`compare`][jaxgames.equivalence.compare], as for the rest.
        engine: likewise.
        max_positions: likewise.
        progress: likewise.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Raises:
        ValueError: there is no such notion, or an option is unknown.
        TooLargeError: the game has too many positions.
        SolveError: `progress` has stopped it.

    Examples:
        >>> from jaxgames.io import LTS
        >>> relation(LTS.from_edges([0, 0, 2, 3], "aaab", [1, 3, 3, 1]), "traces")
        array([0, 1, 0, 2], dtype=int32)
    """
    check_notion(notion)
    if notion == "bisimulation":
        return classes_of(System.of(lts))
    if notion == "enabledness":
        system = System.of(lts)
        return system.enabled().of
    found = spectrum(
        lts,
        solver=solver,
        engine=engine,
        max_positions=max_positions,
        progress=progress,
    )
    return found.classes(notion)

"""Which notions of equivalence hold between processes."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from jaxgames import multienergy
from jaxgames.equivalence._bisimulation import classes_of
from jaxgames.equivalence._build import Engine
from jaxgames.equivalence._formula import Formula, Not
from jaxgames.equivalence._notions import STRONG, check_notion
from jaxgames.equivalence._solve import build_and_solve
from jaxgames.equivalence._system import System, check_process
from jaxgames.equivalence._witness import Moves, Speller, speller, witness
from jaxgames.limits import Bounds, limited
from jaxgames.progress import Meter

if TYPE_CHECKING:
    from jaxgames.io import LTS


class Holds(NamedTuple):
    """Whether two processes p and q are related by a notion."""

    preorder: bool
    """Whether p is below q: whatever tells p from q costs more."""
    reverse: bool
    """Whether q is below p."""
    equivalent: bool
    """Whether both are."""


class Solved(NamedTuple):
    """What the comparisons of one call share."""

    notions: Mapping[str, tuple[int, ...]]
    """The budget of each notion."""
    game: Moves
    """The game of all pairs."""
    fronts: multienergy.Fronts
    """Its solution."""
    spell: Speller
    """What its formulas are."""
    turned: Mapping[str, str] = MappingProxyType({})
    """For some notions one that must hold the other way round, so that p is below q."""


class Comparison(Mapping[str, Holds]):
    """Which notions hold between two processes, by name.

    Attributes:
        p: a process.
        q: another.
    """

    def __init__(self, p: int, q: int, solved: Solved, starts: tuple[int, int] | None):
        self.p, self.q = p, q
        self._solved, self._starts = solved, starts
        self._formulas: dict[tuple[str, bool], Formula] = {}
        limits = solved.notions.values()
        if starts is None:  # they are bisimilar
            apart = np.zeros((2, len(solved.notions)), bool)
        else:
            apart = np.array(
                [
                    [solved.fronts.winning(start, limit) for limit in limits]
                    for start in starts
                ]
            )
        # By the languages of formulas alone, both ways.
        self._within = {
            notion: (not forth, not back)
            for notion, forth, back in zip(solved.notions, *apart.tolist(), strict=True)
        }
        self._holds = {notion: self._related(notion) for notion in solved.notions}

    def _related(self, notion: str) -> Holds:
        forth, back = self._within[notion]
        if notion in self._solved.turned:
            against = self._within[self._solved.turned[notion]]
            forth, back = forth and against[1], back and against[0]
        return Holds(forth, back, forth and back)

    def __getitem__(self, notion: str) -> Holds:
        """Whether a notion holds.

        Raises:
            KeyError: there is no such notion.
        """
        return self._holds[notion]

    def __iter__(self) -> Iterator[str]:
        """The notions, from the coarsest to the finest."""
        return iter(self._holds)

    def __len__(self) -> int:
        """How many notions there are."""
        return len(self._holds)

    def __repr__(self) -> str:
        """One line: what the processes are equivalent by."""
        held = [notion for notion, holds in self.items() if holds.equivalent]
        return f"Comparison({self.p} and {self.q}: {', '.join(held) or 'nothing'})"

    @property
    def budgets(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The cheapest budgets that tell p from q, and q from p."""
        if self._starts is None:
            return [], []
        there, back = (self._budgets(start) for start in self._starts)
        return there, back

    def _budgets(self, start: int) -> list[tuple[int, ...]]:
        return [tuple(each) for each in self._solved.fronts.budgets(start).tolist()]

    @limited()
    def formula(
        self, notion: str, *, reverse: bool | None = None, **bounds: Unpack[Bounds]
    ) -> Formula | None:
        """A formula of the notion's language that only one of the processes satisfies.

        Of the formulas that the notion's budget pays for, one that takes the fewest
        moves of the game; or, where a notion wants another one the other way round, the
        negation of what tells apart by that.

        Args:
            notion: the notion.
            reverse: False: p satisfies it and q does not, so that p is not below q;
                True: the other way round; None: the first of both that there is.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Returns:
            The formula; None where there is none, since the notion holds.

        Raises:
            ValueError: there is no such notion.
        """
        check_notion(notion, self._solved.notions)
        for back in (False, True) if reverse is None else (reverse,):
            if not self[notion][back]:
                if (notion, back) not in self._formulas:
                    self._formulas[notion, back] = self._witness(notion, back)
                return self._formulas[notion, back]
        return None

    def _witness(self, notion: str, back: bool) -> Formula:
        assert self._starts is not None
        if self._within[notion][back]:
            return Not(self._witness(self._solved.turned[notion], not back))
        solved, start = self._solved, self._starts[back]
        limit = solved.notions[notion]
        budgets = [
            budget
            for budget in self._budgets(start)
            if all(spent <= most for spent, most in zip(budget, limit, strict=True))
        ]
        return witness(solved.game, start, budgets, solved.fronts.winning, solved.spell)


@limited()
def compare(
    lts: "LTS",
    p: int,
    q: int,
    *,
    solver: Any = "auto",
    engine: Engine = "auto",
    max_positions: int | None = None,
    progress: Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
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
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then, and may end it all.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        A mapping from the notion's name to its preorder both ways and its equivalence;
        its `formula(notion)` says why one does not hold.

    Raises:
        ValueError: a process is out of range, or an option unknown.
        TooLargeError: the game has too many positions.
        SolveError: `progress` has stopped it.

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
    found = compare_many(
        lts,
        [(p, q)],
        solver=solver,
        engine=engine,
        max_positions=max_positions,
        progress=progress,
    )
    return found[0]


@limited()
def compare_many(
    lts: "LTS",
    pairs: Iterable[tuple[int, int]],
    *,
    solver: Any = "auto",
    engine: Engine = "auto",
    max_positions: int | None = None,
    progress: Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> list[Comparison]:
    """Compares many pairs of processes by one game.

    Args:
        lts: the system; several are put side by side by
            [`union`][jaxgames.equivalence.union].
        pairs: two states each.
        solver: see [`compare`][jaxgames.equivalence.compare], as for the rest.
        engine: likewise.
        max_positions: likewise.
        progress: likewise.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        For each pair what `compare` returns.

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
    asked = [(p, q) for p, q in pairs]
    for p, q in asked:
        check_process(lts, p=p, q=q)
    system = System.of(lts)
    classes = classes_of(system)
    system = system.quotient(classes)
    wanted: dict[tuple[int, int], int] = {}
    for p, q in asked:
        one, other = int(classes[p]), int(classes[q])
        if one != other:
            wanted.setdefault((one, other), len(wanted))
            wanted.setdefault((other, one), len(wanted))
    starts = np.array(list(wanted), np.int32).reshape(-1, 2)
    game, fronts = build_and_solve(
        system, starts, solver, progress, engine=engine, max_positions=max_positions
    )
    spell = speller(game, system, lts.names)
    solved = Solved(STRONG, game, fronts, spell)
    return comparisons(
        asked, classes, solved, dict(zip(wanted, game.starts, strict=True))
    )


def comparisons(
    pairs: list[tuple[int, int]],
    classes: np.ndarray,
    solved: Solved,
    starts: Mapping[tuple[int, int], Any],
) -> list[Comparison]:
    """What was found for each pair of processes.

    Args:
        pairs: the processes.
        classes: the bisimilarity class of each process.
        solved: the game of the classes, and its solution.
        starts: the position of each pair of classes.
    """
    found = []
    for p, q in pairs:
        one, other = int(classes[p]), int(classes[q])
        both = None
        if one != other:
            both = int(starts[one, other]), int(starts[other, one])
        found.append(Comparison(int(p), int(q), solved, both))
    return found

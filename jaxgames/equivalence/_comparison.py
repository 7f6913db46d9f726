"""Which notions of equivalence hold between two processes."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Unpack

from jaxgames import multienergy
from jaxgames.equivalence._formula import Formula, Not
from jaxgames.equivalence._notions import check_notion
from jaxgames.equivalence._witness import Moves, Speller, witness
from jaxgames.limits import Bounds, limited
from jaxgames.solution import Stats, Status


class Holds(NamedTuple):
    """Whether two processes p and q are related by a notion.

    None where it is not known, since the solve was stopped early.
    """

    preorder: bool | None
    """Whether p is below q: whatever tells p from q costs more."""
    reverse: bool | None
    """Whether q is below p."""
    equivalent: bool | None
    """Whether both are."""


class Solved(NamedTuple):
    """What the comparisons of one call share."""

    game: Moves
    """The game of all pairs."""
    whole: multienergy.Game
    """The same as a game of energies."""
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
        status: a [`Status`][jaxgames.Status]: whether all is known.
        stats: facts about the game and its solve.
        state: what a later call needs to go on, or None.
    """

    def __init__(
        self,
        p: int,
        q: int,
        notions: Mapping[str, tuple[int, ...]],
        *,
        solved: Solved | None = None,
        starts: tuple[int, int] | None = None,
        status: Any = Status.SOLVED,
        stats: Stats | None = None,
        state: Any = None,
    ):
        self.p, self.q = p, q
        self.status, self.stats, self.state = Status(status), stats or Stats(), state
        self._notions, self._solved, self._starts = notions, solved, starts
        self._formulas: dict[tuple[str, bool], Formula] = {}
        # By the languages of formulas alone, both ways.
        self._within = {
            notion: (self._below(limit, 0), self._below(limit, 1))
            for notion, limit in notions.items()
        }
        self._holds = {notion: self._related(notion) for notion in notions}

    def _below(self, limit: tuple[int, ...], back: int) -> bool | None:
        """Whether no formula that the budget pays for tells one from the other."""
        so_far = True if self.status == Status.SOLVED else None
        if self._solved is None or self._starts is None:
            return so_far
        apart = self._solved.fronts.winning(self._starts[back], limit)
        return False if apart else so_far

    def _related(self, notion: str) -> Holds:
        forth, back = self._within[notion]
        if self._solved is not None and notion in self._solved.turned:
            against = self._within[self._solved.turned[notion]]
            forth, back = _both(forth, against[1]), _both(back, against[0])
        return Holds(forth, back, _both(forth, back))

    def __getitem__(self, notion: str) -> Holds:
        """Whether a notion holds."""
        return self._holds[notion]

    def __iter__(self) -> Iterator[str]:
        """The notions, from the coarsest to the finest."""
        return iter(self._holds)

    def __len__(self) -> int:
        return len(self._holds)

    def __repr__(self) -> str:
        if self.status != Status.SOLVED:
            return f"Comparison({self.p} and {self.q}: {self.status.name})"
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
        assert self._solved is not None
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
            The formula; None where there is none, since the notion holds, or where none
            was found until the solve was stopped.

        Raises:
            ValueError: there is no such notion.
        """
        check_notion(notion, self)
        for back in (False, True) if reverse is None else (reverse,):
            if self[notion][back] is False:
                if (notion, back) not in self._formulas:
                    self._formulas[notion, back] = self._witness(notion, back)
                return self._formulas[notion, back]
        return None

    def _witness(self, notion: str, back: bool) -> Formula:
        solved = self._solved
        assert solved is not None
        assert self._starts is not None
        if self._within[notion][back] is not False:
            return Not(self._witness(solved.turned[notion], not back))
        start = self._starts[back]
        limit = self._notions[notion]
        budgets = [
            budget
            for budget in self._budgets(start)
            if all(spent <= most for spent, most in zip(budget, limit, strict=True))
        ]
        return witness(solved.game, start, budgets, solved.fronts.winning, solved.spell)


def _both(one: bool | None, other: bool | None) -> bool | None:
    """Whether both hold, as far as that is known."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True

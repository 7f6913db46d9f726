"""What the fuzzer knows of a slice: how to draw, check, shrink and print its cases."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

Complaint = str | None
"""What is wrong with a case, or None."""

T = TypeVar("T")


class Cases(Sequence[Any]):
    """Cases that are checked together, and what several checks need of them."""

    def __init__(self, cases: Iterable[Any]):
        self._cases = list(cases)
        self._kept: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, index):
        return self._cases[index]

    def once(self, make: Callable[..., T], *args: Any) -> T:
        """What a function makes of these cases, made once."""
        key = make, args
        if key not in self._kept:
            self._kept[key] = make(self, *args)
        return self._kept[key]


Check = Callable[[Cases], list[Complaint]]
"""Has a complaint, or None, for each case."""


@dataclasses.dataclass(frozen=True)
class Subject:
    """A slice as the fuzzer sees it.

    Attributes:
        name: of the slice.
        draw: makes a case, from randomness, its number and the size of cases.
        checks: what may go wrong, by name: mostly that of a solver.
        smaller: all cases that are a step smaller than one, the smallest first.
        show: lines of Python that make a case.
        size: of a case, such as the most vertices.
        batch: how many cases are checked together.
    """

    name: str
    draw: Callable[[Any, int, int], Any]
    checks: Mapping[str, Check]
    smaller: Callable[[Any], Iterable[Any]]
    show: Callable[[Any], str]
    size: int
    batch: int


def apart(check: Callable[[Cases], list[Complaint]]) -> Check:
    """A check of all cases at once; if it raises, of each alone.

    If none of them alone is complained of, the first is blamed for all.
    """

    def checked(cases: Cases) -> list[Complaint]:
        try:
            return check(cases)
        except Exception as error:  # whatever it is, the case that raises it is wanted
            said = f"{type(error).__name__}: {error}"
        if len(cases) == 1:
            return [said]
        found = [checked(Cases([case]))[0] for case in cases]
        if not any(found):
            found[0] = f"only with other games beside it: {said}"
        return found

    return checked


def each(check: Callable[[Any], Complaint | Iterator[Complaint]]) -> Check:
    """A check of one case after the other; an exception is a complaint.

    Of complaints that it yields of a case the first one counts.
    """

    def checked(cases: Cases) -> list[Complaint]:
        found: list[Complaint] = []
        for case in cases:
            try:
                said = check(case)
                if isinstance(said, Iterator):
                    said = next(filter(None, said), None)
                found.append(said)
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
        return found

    return checked


def first(check: Check, count: int = 1) -> Check:
    """A check of the first few cases only, since each of them takes long."""

    def checked(cases: Cases) -> list[Complaint]:
        found = check(Cases(cases[:count]))
        return found + [None] * (len(cases) - len(found))

    return checked

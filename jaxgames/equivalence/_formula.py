"""Formulas of Hennessy-Milner logic, and which processes satisfy them.

References:
    Hennessy, Milner: Algebraic laws for nondeterminism and concurrency. JACM 1985.
    https://doi.org/10.1145/2455.2460
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from jaxgames.equivalence._system import System, check_process
from jaxgames.limits import Bounds, limited

if TYPE_CHECKING:
    from jaxgames.io import LTS


@dataclasses.dataclass(frozen=True, repr=False)
class Formula:
    """Base of the formulas: `Observe`, `And`, `Not`, and `Delay`, `Stutter`."""

    @property
    def parts(self) -> tuple["Formula", ...]:
        """The formulas that it is made of."""
        return ()

    def fold(self, combine: Callable[["Formula", list], Any]) -> Any:
        """Computes something from the parts up, without recursion.

        Args:
            combine: from a formula, and what was computed of its parts.
        """
        done: dict[int, Any] = {}
        waiting: list[Formula] = [self]
        while waiting:
            formula = waiting[-1]
            missing = [part for part in formula.parts if id(part) not in done]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if id(formula) not in done:
                values = [done[id(part)] for part in formula.parts]
                done[id(formula)] = combine(formula, values)
        return done[id(self)]

    @property
    def size(self) -> int:
        """How many observations, conjunctions and negations it has."""
        return self.fold(lambda _, sizes: 1 + sum(sizes))

    def __str__(self) -> str:
        return self.fold(lambda formula, texts: formula._text(texts))

    def __repr__(self) -> str:
        return str(self)

    def _text(self, parts: list[str]) -> str:
        raise NotImplementedError


class _OfOne(Formula):
    formula: Formula

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.formula,)


@dataclasses.dataclass(frozen=True, repr=False)
class Observe(_OfOne):
    """Some transition by the action leads to where the formula holds.

    Attributes:
        action: the label's name.
        formula: what holds afterwards.
    """

    action: str
    formula: Formula

    def _text(self, parts: list[str]) -> str:
        return f"⟨{self.action}⟩" + ("" if self.formula == TRUE else parts[0])


@dataclasses.dataclass(frozen=True, repr=False)
class And(Formula):
    """All of some formulas hold; true where there are none.

    Attributes:
        formulas: which.
    """

    formulas: tuple[Formula, ...] = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas."""
        return self.formulas

    def _text(self, parts: list[str]) -> str:
        if not parts:
            return "⊤"
        return parts[0] if len(parts) == 1 else f"({' ∧ '.join(parts)})"


@dataclasses.dataclass(frozen=True, repr=False)
class Not(_OfOne):
    """A formula does not hold.

    Attributes:
        formula: which.
    """

    formula: Formula

    def _text(self, parts: list[str]) -> str:
        return f"¬{parts[0]}"


@dataclasses.dataclass(frozen=True, repr=False)
class Delay(_OfOne):
    """A formula holds after some silent steps, or none.

    Attributes:
        silent: the names of the silent labels.
        formula: what holds then.
    """

    silent: tuple[str, ...]
    formula: Formula

    def _text(self, parts: list[str]) -> str:
        return "⟨ε⟩" + ("" if self.formula == TRUE else parts[0])


@dataclasses.dataclass(frozen=True, repr=False)
class Stutter(_OfOne):
    """A formula holds here, or after one silent step.

    Attributes:
        action: the silent label's name.
        formula: what holds.
    """

    action: str
    formula: Formula

    def _text(self, parts: list[str]) -> str:
        return f"({self.action})" + ("" if self.formula == TRUE else parts[0])


TRUE = And()
"""The formula that holds everywhere."""


@limited()
def satisfying(lts: "LTS", formula: Formula, **bounds: Unpack[Bounds]) -> np.ndarray:
    """The processes that satisfy a formula: bool `[V]`.

    O(E) for each part of the formula.

    Args:
        lts: the system.
        formula: of Hennessy-Milner logic; no transition has an action that the system
            does not know.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Examples:
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 1], ["a", "b"], [1, 2])
        >>> satisfying(lts, Observe("a", Not(Observe("a", TRUE))))
        array([ True, False, False])
    """
    system = System.of(lts)
    source, states = system.source, system.num_states
    number = {name: i for i, name in enumerate(lts.names)}

    def before(actions: tuple[str, ...], reached: np.ndarray) -> np.ndarray:
        wanted = [number[action] for action in actions if action in number]
        moves = np.isin(system.label, wanted) & reached[system.target]
        found = np.zeros(states, bool)
        found[source[moves]] = True
        return found

    def combine(part: Formula, values: list[np.ndarray]) -> np.ndarray:
        match part:
            case Not():
                return ~values[0]
            case And():
                return np.logical_and.reduce([np.ones(states, bool), *values])
            case Observe():
                return before((part.action,), values[0])
            case Stutter():
                return values[0] | before((part.action,), values[0])
            case Delay():
                found = values[0]
                while (more := found | before(part.silent, found)).sum() > found.sum():
                    found = more
                return found
        raise ValueError(f"expected a formula, got {type(part).__name__}")

    return formula.fold(combine)


@limited()
def satisfies(
    lts: "LTS", process: int, formula: Formula, **bounds: Unpack[Bounds]
) -> bool:
    """Whether a process satisfies a formula of Hennessy-Milner logic.

    Args:
        lts: the system.
        process: a state.
        formula: what to check.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: there is no such state.

    Examples:
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 1], ["a", "b"], [1, 2])
        >>> satisfies(lts, 0, Observe("a", Observe("b", TRUE)))
        True
    """
    check_process(lts, process=process)
    return bool(satisfying(lts, formula)[process])


@limited()
def price(formula: Formula, **bounds: Unpack[Bounds]) -> tuple[int, ...]:
    """What a formula costs in the spectroscopy game, as a budget without limits.

    That are observations; conjunctions, `TRUE` counted in; the observations in the
    deepest positive part of a conjunction, in its other positive parts, in its negated
    parts; nested negations: the greatest number anywhere in the formula [1].

    Args:
        formula: the formula.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    References:
        [1] Bisping: Process equivalence problems as energy games, definition 4.
            arXiv:2303.08904

    Raises:
        ValueError: the formula is about silent steps.

    Examples:
        >>> price(Observe("a", And((Observe("b", TRUE), Not(Observe("c", TRUE))))))
        (2, 2, 1, 0, 1, 1)
    """

    def combine(part: Formula, values: list[tuple[int, ...]]) -> tuple[int, ...]:
        most = list(map(max, zip((0,) * 6, *values, strict=True)))
        match part:
            case Observe():
                most[0] += 1
            case Not():
                most[5] += 1
            case Delay() | Stutter():
                raise ValueError(f"{part} has no price: it is about silent steps")
            case And():
                depths = ([], [])
                for inner, value in zip(part.formulas, values, strict=True):
                    depths[isinstance(inner, Not)].append(value[0])
                first, second = sorted([*depths[0], 0, 0])[:-3:-1]
                most[1] += 1
                most[2] = max(most[2], first)
                most[3] = max(most[3], second)
                most[4] = max(most[4], *depths[1], 0)
        return tuple(most)

    return formula.fold(combine)

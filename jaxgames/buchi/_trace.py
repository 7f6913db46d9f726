"""Lassos in the words of the system, for people and programs."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxgames.buchi._solution import Lasso
from jaxgames.systems._marked import MarkedProduct
from jaxgames.systems._product import Product
from jaxgames.systems._system import System


@dataclasses.dataclass(frozen=True)
class Step:
    """One vertex on a run.

    Attributes:
        vertex: the vertex of the graph or the product.
        accepting: whether it accepts.
        state: the state of the system, or None where there is none.
        automaton_state: the state of the automaton, or None.
        name: what the state is called; may be empty.
        propositions: those that hold there, or None where there is no system.
    """

    vertex: int
    accepting: bool = False
    state: int | None = None
    automaton_state: int | None = None
    name: str = ""
    propositions: tuple[str, ...] | None = None

    @property
    def number(self) -> int:
        """The state of the system, or else the vertex."""
        return self.vertex if self.state is None else self.state

    @property
    def holds(self) -> str:
        """The propositions in braces; empty where there is no system."""
        if self.propositions is None:
            return ""
        return "{" + " ".join(self.propositions) + "}"


@dataclasses.dataclass(frozen=True, repr=False)
class Trace:
    """A lasso with all that is known of its vertices; a run that is told.

    Attributes:
        prefix: the way to the cycle; may be empty.
        cycle: what goes on for ever.

    Examples:
        >>> from jaxgames import buchi, ltl, systems
        >>> system = systems.System.from_graph(
        ...     ([0, 1, 3], [1, 0, 1]), {"on": [False, True]}, names=["dark", "light"]
        ... )
        >>> product = systems.product(system, ltl.translate("F G on"))
        >>> found = buchi.accepting_cycle(product)
        >>> print(buchi.Trace.of(found.lasso, product, system))
        prefix
            0  dark   {}    automaton 0
            1  light  {on}  automaton 0
        cycle
          * 1  light  {on}  automaton 1
        <BLANKLINE>
    """

    prefix: tuple[Step, ...]
    cycle: tuple[Step, ...]

    @classmethod
    def of(
        cls,
        lasso: Lasso,
        product: Product | MarkedProduct | None = None,
        system: System | None = None,
        *,
        accepting: Any = None,
    ) -> "Trace":
        """Looks up what is known of the vertices of a lasso.

        Args:
            lasso: the lasso.
            product: the graph that the lasso is of, if it is a product.
            system: the system that the product was made of; or the graph itself.
            accepting: the accepting vertices, bool `[V]`; by default those of the
                product.
        """
        if accepting is None:
            accepting = product.accepting if isinstance(product, Product) else None

        def step(vertex: int) -> Step:
            state = vertex if product is None else int(product.system_state[vertex])
            names = None if system is None else system.names
            return Step(
                vertex=vertex,
                accepting=bool(accepting is not None and accepting[vertex]),
                state=None if product is None and system is None else state,
                automaton_state=None
                if product is None
                else int(product.automaton_state[vertex]),
                name="" if names is None else str(names[state]),
                propositions=None
                if system is None
                else tuple(
                    system.propositions[i] for i in np.flatnonzero(system.labels[state])
                ),
            )

        return cls(
            tuple(step(int(v)) for v in lasso.prefix),
            tuple(step(int(v)) for v in lasso.cycle),
        )

    def parts(
        self, most: int | None = None
    ) -> tuple[list[Step | None], list[Step | None]]:
        """Prefix and cycle; of a part longer than `most` its first and last steps.

        None stands where steps are left out.
        """
        return _elided(self.prefix, most), _elided(self.cycle, most)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """The steps of both parts, for JSON; what is not known is left out."""
        return {
            part: [
                {
                    name: list(value) if isinstance(value, tuple) else value
                    for name, value in dataclasses.asdict(step).items()
                    if value not in (None, "")
                }
                for step in steps
            ]
            for part, steps in (("prefix", self.prefix), ("cycle", self.cycle))
        }

    def to_text(self, most: int | None = None) -> str:
        """A line for each step, with a star where it accepts.

        Args:
            most: from a longer part only so many steps are shown; None for all.
        """
        shown = self.parts(most)
        rows = [_cells(step) for steps in shown for step in steps if step is not None]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for title, part, steps in zip(
            ("prefix", "cycle"), (self.prefix, self.cycle), shown, strict=True
        ):
            lines += [title] if part else []
            for step in steps:
                if step is None:
                    lines.append(f"    ... {len(part) - len(steps) + 1:,} more ...")
                    continue
                mark, number, *rest = _cells(step)
                texts = [number.rjust(widths[1])]
                texts += [
                    text.ljust(width)
                    for text, width in zip(rest, widths[2:], strict=True)
                    if width
                ]
                lines.append(f"  {mark:1} {'  '.join(texts)}".rstrip())
        return "\n".join([*lines, ""])

    def __iter__(self) -> Iterator[Step]:
        """The steps of the prefix, then those of the cycle."""
        return iter((*self.prefix, *self.cycle))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Trace({len(self.prefix)} + {len(self.cycle)} steps)"


def _elided(steps: Sequence[Step], most: int | None) -> list[Step | None]:
    if most is None or len(steps) <= most:
        return list(steps)
    tail = most // 2
    return [*steps[: most - tail], None, *steps[len(steps) - tail :]]


def _cells(step: Step) -> list[str]:
    state = "" if step.automaton_state is None else f"automaton {step.automaton_state}"
    mark = "*" if step.accepting else ""
    return [mark, str(step.number), step.name, step.holds, state]

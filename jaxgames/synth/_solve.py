"""Who wins the game of a specification, and the controller that says how."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Unpack

from jaxgames import drive, fixpoint, parity
from jaxgames.kept import kept
from jaxgames.limits import Bounds, limited
from jaxgames.synth._controller import Circuit, Controller
from jaxgames.synth._extract import extract
from jaxgames.synth._specification import Specification


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Whether there is a controller, and how the winner plays.

    Attributes:
        specification: what was asked.
        game: the solution of its parity game: winner and strategy of each vertex.

    Examples:
        >>> from jaxgames.synth import Specification
        >>> specification = Specification.from_ltl("G(r <-> X g)", ["r"], ["g"])
        >>> solution = solve(specification)
        >>> solution
        Solution(realizable)
        >>> solution.controller()
        Controller(2 states, reads r, writes g)
    """

    specification: Specification
    game: parity.Solution

    @property
    def realizable(self) -> bool | None:
        """Whether there is a controller; None where that was not decided."""
        winner = int(self.game.winner[self.specification.parity().initial])
        return None if winner < 0 else winner == 0

    @limited()
    def controller(self, **bounds: Unpack[Bounds]) -> Controller:
        """The machine of the winner.

        It is a controller if the specification is realizable. Else it plays the
        environment so that no system does what is asked: it reads the outputs and
        writes the inputs. Where its player moves first it is a Moore machine. States
        that answer alike are one.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the initial state is undecided.
        """
        return kept(self, "controller", self._made)

    def _made(self) -> Controller:
        machine = extract(self.specification, self.game)
        circuit = self.specification.machine()
        if circuit is not None and _size(circuit) < _size(machine.circuit()):
            return machine.with_circuit(circuit)
        return machine

    def __repr__(self) -> str:
        known = {True: "realizable", False: "unrealizable", None: "undecided"}
        return f"Solution({known[self.realizable]})"


def _size(circuit: Circuit) -> int:
    return len(circuit.gates) + len(circuit.following)


@limited()
def solve(
    specification: Specification,
    solver: Any = "auto",
    *,
    max_steps: int | None = None,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> Solution:
    """Decides whether a controller does what is asked, whatever the environment does.

    Args:
        specification: what is asked.
        solver: of the parity game, as [`parity.solve`][jaxgames.parity.solve] takes it.
        max_steps: rounds on that game at most, by a solver of the device.
        throw: whether to raise where the solve ended early.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the automaton is not deterministic, or not complete.
        SolveError: the solve stopped early and `throw` is set.

    Examples:
        >>> from jaxgames.synth import Specification
        >>> solve(Specification.from_ltl("G(r <-> g)", ["r"], ["g"]))
        Solution(realizable)
        >>> solve(Specification.from_ltl("G(r <-> g)", ["r"], ["g"], moore=True))
        Solution(unrealizable)
    """
    max_steps = fixpoint.checked_steps(max_steps)  # before what may take long
    arena = specification.arena()
    game = parity.solve(arena, solver, max_steps=max_steps, throw=throw)
    return Solution(specification, game)


@limited()
def solve_many(
    specifications: Sequence[Specification],
    solver: Any = "auto",
    *,
    max_steps: int | None = None,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> list[Solution]:
    """Decides many specifications: their games are one batch.

    Args:
        specifications: what is asked of each.
        solver: as for `solve`.
        max_steps: rounds on each game at most.
        throw: likewise.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an automaton is not deterministic, or not complete.
        SolveError: a solve stopped early and `throw` is set.

    Examples:
        >>> from jaxgames.synth import Specification
        >>> asked = [
        ...     Specification.from_ltl(text, ["r"], ["g"])
        ...     for text in ("G(r -> F g)", "F r")
        ... ]
        >>> solve_many(asked)
        [Solution(realizable), Solution(unrealizable)]
    """
    max_steps = fixpoint.checked_steps(max_steps)
    arenas = [specification.arena() for specification in specifications]
    found = drive.solve_many(parity, arenas, solver, max_steps=max_steps, throw=throw)
    pairs = zip(specifications, found, strict=True)
    return [Solution(specification, game) for specification, game in pairs]

"""Which notions that do not count silent steps hold between processes."""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Unpack

import numpy as np

from jaxgames import drive, multienergy
from jaxgames.arguments import texts
from jaxgames.equivalence._compare import Pairs
from jaxgames.equivalence._comparison import Comparison, Solved
from jaxgames.equivalence._energy import RELATIONS, of_arrays
from jaxgames.equivalence._room import check_room
from jaxgames.equivalence._system import System
from jaxgames.equivalence._weak_game import (
    UPDATES,
    Processes,
    build_weak,
    weak_speller,
)
from jaxgames.solver import Solver

if TYPE_CHECKING:
    from jaxgames.io import LTS

SILENT = ("i", "tau")
"""Labels that are silent where nothing else is said: CADP's and CCS's."""

WEAK: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "weak_enabledness": (1, 0, 0, 0, 0, 0, 0, 0, 0),
        "weak_traces": (3, 0, 0, 0, 0, 0, 0, 0, 0),
        "weak_failures": (3, 0, 1, 0, 0, 0, 0, 1, 1),
        "stable_failures": (3, 0, 0, 1, 0, 0, 0, 1, 1),
        "weak_readiness": (3, 0, 1, 0, 0, 1, 0, 1, 1),
        "stable_revivals": (3, 0, 0, 1, 0, 1, 0, 1, 1),
        "stable_readiness": (3, 0, 0, 1, 0, 1, 1, 1, 1),
        "stable_failure_traces": (3, 0, 0, 3, 0, 3, 0, 1, 1),
        "stable_readiness_traces": (3, 0, 0, 3, 0, 3, 1, 1, 1),
        "stable_impossible_futures": (3, 0, 0, 1, 0, 0, 0, 3, 1),
        "weak_impossible_futures": (3, 0, 1, 0, 0, 0, 0, 3, 1),
        "weak_possible_futures": (3, 0, 1, 0, 0, 3, 0, 3, 1),
        "weak_simulation": (3, 0, 3, 0, 0, 3, 0, 0, 0),
        "eta_simulation": (3, 3, 3, 0, 0, 3, 0, 0, 0),
        "weak_ready_simulation": (3, 0, 3, 0, 0, 3, 0, 1, 1),
        "stable_simulation": (3, 0, 0, 3, 0, 3, 3, 0, 1),
        "stable_ready_simulation": (3, 0, 0, 3, 0, 3, 3, 1, 1),
        "nested_2weak_simulation": (3, 0, 3, 0, 0, 3, 0, 3, 1),
        "contrasimulation": (3, 0, 3, 0, 0, 0, 0, 3, 3),
        "stable_bisimulation": (3, 0, 0, 3, 0, 3, 3, 3, 3),
        "weak_bisimulation": (3, 0, 3, 0, 0, 3, 0, 3, 3),
        "delay_bisimulation": (3, 0, 3, 0, 3, 3, 0, 3, 3),
        "stability_respecting_delay_bisimulation": (3, 0, 3, 3, 3, 3, 3, 3, 3),
        "eta_bisimulation": (3, 3, 3, 0, 0, 3, 0, 3, 3),
        "branching_bisimulation": (3, 3, 3, 0, 3, 3, 0, 3, 3),
        "stability_respecting_branching_bisimulation": (3, 3, 3, 3, 3, 3, 3, 3, 3),
    }
)
"""The budget of each notion of the weak spectrum; 3 is no limit."""

TURNED: Mapping[str, str] = MappingProxyType(
    {
        "weak_ready_simulation": "weak_enabledness",
        "nested_2weak_simulation": "weak_simulation",
    }
)
"""What must hold the other way round for the relation of the textbook.

A formula may begin with silent steps, and only then negates: its language does not look
at the process itself, as a simulation within the converse of another relation does. It
does so after each step, since silent steps may follow. Both together are the relation.
"""


@dataclasses.dataclass(frozen=True)
class WeakPairs(Pairs):
    """Pairs of processes to be compared by notions that do not count silent steps."""

    silent: Collection[str] | None = None

    notions = WEAK

    def check(self) -> None:
        """Raises ValueError unless all are processes, and all labels there."""
        super().check()
        self._silent_labels()

    def _silent_labels(self) -> set[int]:
        number = {name: i for i, name in enumerate(self.lts.names)}
        if self.silent is None:
            return {number[name] for name in SILENT if name in number}
        for name in texts("silent", self.silent):
            if name not in number:
                known = ", ".join(map(repr, self.lts.names[:20]))
                raise ValueError(
                    f"no transition has the label {name!r}; there are {known}"
                )
        return {number[name] for name in self.silent}

    def built(
        self, system: System, pairs: list[tuple[int, int]]
    ) -> tuple[multienergy.Game, Callable[[multienergy.Fronts], Solved], Sequence[int]]:
        processes = Processes(system, self._silent_labels())
        most = check_room(len(pairs), self.max_positions, on_host=True)
        game = build_weak(processes, [("observe", p, (q,)) for p, q in pairs], most)
        rows = [len(row) for row in game.moves]
        flat = np.array([move for row in game.moves for move in row], np.int32)
        kinds, targets = flat.reshape(-1, 2).T
        offsets = np.append(0, np.cumsum(rows)).astype(np.int32)
        defender = np.asarray(game.defender, bool)

        whole = of_arrays(offsets, targets, kinds, UPDATES, defender)

        def solved(fronts: multienergy.Fronts) -> Solved:
            spell = weak_speller(game, processes, self.lts.names)
            return Solved(game, whole, fronts, spell, TURNED)

        return whole, solved, range(len(pairs))


@drive.front_door
def compare_weak(
    lts: "LTS",
    p: int,
    q: int,
    solver: str | Solver = "auto",
    *,
    silent: Collection[str] | None = None,
    max_positions: int | None = None,
    **how: Unpack[drive.How],
) -> Comparison:
    """Which notions of the spectrum with silent steps relate two processes.

    Space exponential in the number of processes that one process reaches by a word.

    One is below the other if it satisfies no formula of the notion's language that the
    other does not. Negations stand in conjunctions there, which silent steps may
    precede, so that preorders of bisimilarities need not be symmetric: processes are
    bisimilar if both hold. For `weak_ready_simulation` and `nested_2weak_simulation`
    the preorder is that of the textbook: a weak simulation between processes that
    enable the same, or of which the second is simulated by the first.

    Args:
        lts: the system, as [`load`][jaxgames.equivalence.load] returns it.
        p: a state.
        q: another.
        solver: see [`compare`][jaxgames.equivalence.compare].
        silent: the labels of silent steps; None: `i` and `tau`, where they occur.
        max_positions: as for `compare`.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        As `compare`, for the notions of [`WEAK`][jaxgames.equivalence.WEAK].

    Raises:
        ValueError: a process is out of range, or a silent label unknown.
        TooLargeError: the game has too many positions.
        SolveError: it stopped early, and `throw` is set.

    References:
        Bisping, Jansen: Linear-time - branching-time spectroscopy accounting for silent
        steps. arXiv:2305.17671

    Examples:
        >>> from jaxgames.io import LTS
        >>> lts = LTS.from_edges([0, 1, 2], ["a", "tau", "a"], [1, 3, 3])
        >>> found = compare_weak(lts, 0, 2)
        >>> found["branching_bisimulation"].equivalent
        True
    """
    return drive.solve(
        RELATIONS,
        WeakPairs(lts, [(p, q)], True, "host", max_positions, silent),
        solver,
        **how,
    )


@drive.front_door
def compare_many_weak(
    lts: "LTS",
    pairs: Iterable[tuple[int, int]],
    solver: str | Solver = "auto",
    *,
    silent: Collection[str] | None = None,
    max_positions: int | None = None,
    **how: Unpack[drive.How],
) -> list[Comparison]:
    """Compares many pairs of processes by one game with silent steps.

    Args:
        lts: the system.
        pairs: two states each.
        solver: as for [`compare_weak`][jaxgames.equivalence.compare_weak], like the
            rest.
        silent: likewise.
        max_positions: likewise.
        how: `max_steps`, `state`, `throw`, `progress`, `deadline`, `memory`: see
            [`How`][jaxgames.drive.How].

    Returns:
        For each pair what `compare_weak` returns.

    Raises:
        ValueError: as `compare_weak`.
        TooLargeError: as `compare_weak`.
        SolveError: as `compare_weak`.
    """
    return drive.solve(
        RELATIONS,
        WeakPairs(
            lts, [(p, q) for p, q in pairs], False, "host", max_positions, silent
        ),
        solver,
        **how,
    )

"""Products whose edges have the marks of an automaton with any condition."""

import dataclasses
from typing import Unpack

import numpy as np

from jaxgames import validity
from jaxgames.acceptance import both, inf
from jaxgames.arena import Arena
from jaxgames.kept import keeps
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._emerson_lei import EmersonLei
from jaxgames.systems._product import Deadlock, Engine, explored, united
from jaxgames.systems._system import System
from jaxgames.value import Value, freeze


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MarkedProduct(Value):
    """The reachable part of a product of a system and an automaton with marks.

    Vertices and edges are in the order of those of a
    [`Product`][jaxgames.systems.Product]. Several edges may lead from one vertex to
    another, if their marks differ.

    Attributes:
        offsets: int32 `[V + 1]`; the edges of vertex `v` are
            `offsets[v] .. offsets[v + 1] - 1`.
        targets: int32 `[E]`.
        initial: int32 `[K]`, the initial vertices.
        system_state: int32 `[V]`.
        automaton_state: int32 `[V]`, states of `automaton`.
        automaton_edge: int32 `[E]`, its edge that each edge takes.
        automaton: an automaton with any acceptance condition.
    """

    offsets: np.ndarray
    targets: np.ndarray
    initial: np.ndarray
    system_state: np.ndarray
    automaton_state: np.ndarray
    automaton_edge: np.ndarray
    automaton: EmersonLei

    @property
    def num_vertices(self) -> int:
        """Number of vertices."""
        return len(self.offsets) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return len(self.targets)

    @keeps
    def graph(self) -> Arena:
        """Vertices and edges as an arena, all of player 0."""
        return Arena.from_csr(
            self.offsets,
            self.targets,
            owner=freeze(np.zeros(self.num_vertices, bool)),
            dead_ends="allow",
        )

    @property
    def sources(self) -> np.ndarray:
        """Where each edge starts: int32 `[E]`."""
        states = np.arange(self.num_vertices, dtype=np.int32)
        return np.repeat(states, np.diff(self.offsets))

    def __repr__(self) -> str:
        condition = str(self.automaton.condition)
        condition = condition if len(condition) < 60 else condition[:57] + "..."
        return (
            f"MarkedProduct({self.num_vertices} vertices, {self.num_edges} edges, "
            f"{condition})"
        )


@limited()
def marked_product(
    system: System,
    automaton: Automaton | EmersonLei,
    *,
    deadlock: Deadlock = "stutter",
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> MarkedProduct:
    """The reachable product of a system and an automaton with any acceptance condition.

    Nothing is degeneralised: there are as many vertices as pairs of states are reached.
    The automaton accepts a run of the system from an initial state if and only if there
    is a [fair cycle][jaxgames.buchi.fair_cycle]. O(S A + E') time and space for S
    states of the system, A of the automaton and E' edges of the product.

    Args:
        system: the system.
        automaton: a generalised Büchi automaton, or one of Emerson and Lei.
        deadlock: as for [`product`][jaxgames.systems.product].
        engine: likewise.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: as `product` does.

    Examples:
        >>> from jaxgames import ltl, systems
        >>> system = systems.System.from_graph(
        ...     ([0, 2, 3], [0, 1, 0]), {"on": [False, True]}
        ... )
        >>> automaton = ltl.translate("GF on & GF !on", generalised=True)
        >>> marked_product(system, automaton)
        MarkedProduct(2 vertices, 3 edges, Inf(0) & Inf(1))
    """
    if isinstance(automaton, EmersonLei):
        graph, condition = automaton.graph, automaton.condition
    else:
        graph, condition = automaton, both(map(inf, range(automaton.num_sets)))
    graph = united(graph)
    found, starts, rules, moves = explored(system, graph, deadlock, engine)
    # The edges of a vertex: for each transition of the system all moves by its letter.
    letter = rules.letter[found.system_state].astype(np.int64)
    row = letter * max(graph.num_states, 1) + found.automaton_state
    first = rules.move_offsets[row].astype(np.int64)
    count = rules.move_offsets[row + 1] - first
    degree = np.diff(found.offsets)
    place = np.arange(len(found.targets)) - np.repeat(found.offsets[:-1], degree)
    move = np.repeat(first, degree) + place % np.repeat(np.maximum(count, 1), degree)
    made = MarkedProduct(
        offsets=freeze(found.offsets),
        targets=freeze(found.targets),
        initial=np.arange(len(starts), dtype=np.int32),
        system_state=freeze(found.system_state),
        automaton_state=freeze(found.automaton_state),
        automaton_edge=freeze(moves[move].astype(np.int32)),
        automaton=EmersonLei(graph, condition),
    )
    validity.known(made)
    return made

"""The product of a system and an automaton: what is reachable, breadth first."""

import dataclasses
from typing import Literal, Unpack, get_args

import numpy as np

from jaxgames import host, ops, validity
from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._automaton import Automaton
from jaxgames.ltl._operations import edges_of, from_rows
from jaxgames.systems._checks import check_system
from jaxgames.systems._expand import expand_on_device
from jaxgames.systems._system import System
from jaxgames.systems.host import Found, Rules, expand
from jaxgames.tuning.explore import FEW_PROPOSITIONS as _FEW_PROPOSITIONS
from jaxgames.value import Value, freeze

Deadlock = Literal["stutter", "error", "reject"]
Engine = Literal["auto", "host", "device"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Product(Value):
    """The reachable part of a product of a system and an automaton.

    Vertices are numbered breadth first; those of a level are in ascending order of the
    state of the system, then of that of the automaton. The edges of a vertex are in the
    order of the transitions of the system, then of the edges of the automaton.

    Attributes:
        offsets: int32 `[V + 1]`; the edges of vertex `v` are
            `offsets[v] .. offsets[v + 1] - 1`.
        targets: int32 `[E]`.
        accepting: bool `[V]`.
        initial: int32 `[K]`, the initial vertices.
        system_state: int32 `[V]`.
        automaton_state: int32 `[V]`, states of `automaton`.
        automaton: the automaton with one set of accepting states.
        levels: int32 `[L + 1]`, where each level begins, and the number of vertices.
    """

    offsets: np.ndarray
    targets: np.ndarray
    accepting: np.ndarray
    initial: np.ndarray
    system_state: np.ndarray
    automaton_state: np.ndarray
    automaton: Automaton
    levels: np.ndarray

    @property
    def num_vertices(self) -> int:
        """Number of vertices."""
        return len(self.accepting)

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return len(self.targets)

    def arena(self) -> Arena:
        """The product as an arena with accepting vertices, all of player 0."""
        return Arena.from_csr(
            self.offsets,
            self.targets,
            owner=freeze(np.zeros(self.num_vertices, bool)),
            accepting=self.accepting,
            dead_ends="allow",
        )

    def __repr__(self) -> str:
        return f"Product({self.num_vertices} vertices, {self.num_edges} edges)"


@limited()
def product(
    system: System,
    automaton: Automaton,
    *,
    deadlock: Deadlock = "stutter",
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Product:
    """The reachable product of a system and a Büchi automaton.

    A vertex is a pair of a state of each; it has an edge to `(s', q')` if there is a
    transition from `s` to `s'`, and an edge from `q` to `q'` whose guard holds in `s`.
    The automaton accepts a run of the system from an initial state if and only if the
    product has a cycle through an accepting vertex. O(S A + E') time and space for S
    states of the system, A of the automaton and E' edges of the product.

    Args:
        system: the system.
        automaton: the automaton; if its acceptance is generalised or that of edges, it
            is degeneralised first.
        deadlock: what a state of the system without successor means: `"stutter"`, it
            stays there for ever; `"error"`, it must not be reached; `"reject"`, no run
            goes through it.
        engine: `"host"`, one vertex after the other; `"device"`, one level after the
            other; or `"auto"`: the host if the system is small, or numba is there and
            the backend is a CPU. The result is the same.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the automaton has a proposition that the system has not, a deadlock
            is reached with `deadlock="error"`, the product has more vertices or edges
            than int32 can index, or an argument is wrong.

    Examples:
        >>> from jaxgames import ltl, systems
        >>> system = systems.System.from_graph(
        ...     ([0, 2, 3], [0, 1, 0]), {"on": [False, True]}
        ... )
        >>> found = product(system, ltl.translate("FG !on"))
        >>> found
        Product(4 vertices, 7 edges)
        >>> found.system_state, found.automaton_state, found.accepting
        (array([0, 0, 1, 1], dtype=int32), array([0, 1, 0, 1], dtype=int32),
            array([False,  True, False,  True]))
    """
    automaton = united(automaton.degeneralise())
    found, starts, _, _ = explored(system, automaton, deadlock, engine)
    made = Product(
        offsets=freeze(found.offsets),
        targets=freeze(found.targets),
        accepting=freeze(automaton.accepting[found.automaton_state]),
        initial=np.arange(len(starts), dtype=np.int32),
        system_state=freeze(found.system_state),
        automaton_state=freeze(found.automaton_state),
        automaton=automaton,
        levels=found.levels,
    )
    validity.known(made)
    return made


def explored(
    system: System, automaton: Automaton, deadlock: Deadlock, engine: Engine
) -> tuple[Found, np.ndarray, Rules, np.ndarray]:
    """The pairs that are reached; what `product` says of its arguments holds here.

    Vertices and edges, the initial pairs, what was searched by, and the edge of the
    automaton that each of its moves is.
    """
    if deadlock not in get_args(Deadlock):
        raise ValueError(
            f"deadlock must be 'stutter', 'error' or 'reject', got {deadlock!r}"
        )
    check_system(system)
    rules, moves = _rules(system, automaton, deadlock == "stutter")
    starts = (
        system.initial[:, None].astype(np.int64) * automaton.num_states
        + automaton.initial
    ).ravel()
    search = expand if _on_host(system, engine) else expand_on_device
    found = search(rules, starts)
    if found is None:
        raise ValueError(
            f"the product has more vertices or edges than int32 can index ({MAX_SIZE})"
        )
    if deadlock == "error":
        dead = np.diff(system.offsets)[found.system_state] == 0
        if dead.any():
            state = found.system_state[np.argmax(dead)]
            raise ValueError(
                f"the system can reach state {state}, which has no successor; with "
                "deadlock='stutter' it would stay there for ever"
            )
    return found, starts, rules, moves


def _on_host(system: System, engine: Engine) -> bool:
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be 'auto', 'host' or 'device', got {engine!r}")
    if engine != "auto":
        return engine == "host"
    return host.serves(system.num_transitions, ops.SLICE_FROM)


def united(automaton: Automaton) -> Automaton:
    """One edge for all with the same marks that lead from one state to another."""
    return from_rows(
        edges_of(automaton),
        like=automaton,
        num_states=automaton.num_states,
        num_sets=automaton.num_sets,
        initial=automaton.initial,
    )


def _rules(
    system: System, automaton: Automaton, stutter: bool
) -> tuple[Rules, np.ndarray]:
    offsets, targets = system.offsets, system.targets
    if stutter:
        offsets, targets = _with_loops(offsets, targets)
    letters = system.letters(automaton.propositions)
    if len(automaton.propositions) <= _FEW_PROPOSITIONS:
        # All letters that occur, without sorting them.
        occurs = np.bincount(
            letters.astype(np.int64), minlength=1 << len(automaton.propositions)
        )
        distinct = np.flatnonzero(occurs).astype(np.uint64)
        number = np.cumsum(occurs > 0, dtype=np.int32) - 1
        letter = number[letters.astype(np.int64)]
    else:
        distinct, letter = np.unique(letters, return_inverse=True)
    # For each letter and state the edges that it can take.
    kind, edge = np.nonzero(automaton.enabled(distinct))
    row = kind * automaton.num_states + automaton.sources[edge]
    counts = np.bincount(row, minlength=len(distinct) * automaton.num_states)
    order = np.argsort(row, kind="stable")
    rules = Rules(
        offsets=offsets,
        targets=targets,
        letter=letter.astype(np.int32),
        move_offsets=np.append(0, np.cumsum(counts)).astype(np.int32),
        move_targets=automaton.targets[edge[order]],
        num_automaton_states=automaton.num_states,
    )
    return rules, edge[order]


def _with_loops(
    offsets: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A graph with a self-loop at every state that has no successor."""
    degree = np.diff(offsets)
    dead = np.flatnonzero(degree == 0)
    if not len(dead):
        return offsets, targets
    loops = np.cumsum(degree == 0)
    if len(targets) + len(dead) > MAX_SIZE:
        raise ValueError(f"the system has more transitions than {MAX_SIZE}")
    targets = np.insert(targets, offsets[dead], dead.astype(np.int32))
    return offsets + np.append(0, loops).astype(np.int32), targets

"""Systems and products from transition functions."""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from jaxgames import graph
from jaxgames.graph import StateSpace
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._automaton import Automaton
from jaxgames.systems._pieces import Piece
from jaxgames.systems._product import Deadlock, Engine, united
from jaxgames.systems._system import System
from jaxgames.tuning.explore import KEPT

Predicate = Callable[[Any], Any]
"""A vectorised function of states, int32 `[N, K]`, to bool `[N]`."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Explored(System):
    """A system that was found from a transition function.

    Attributes:
        space: its states, and what else was found.
    """

    space: StateSpace = dataclasses.field(kw_only=True)

    def __repr__(self) -> str:
        """One line: the sizes."""
        return super().__repr__().replace("System", "Explored", 1)


def explore(
    successors: Callable[[Any], tuple[Any, Any]],
    initial: Any,
    *,
    propositions: Mapping[str, Predicate] | None = None,
    components: Sequence[str] | None = None,
    **options: Any,
) -> Explored:
    """The system that a vectorised transition function describes.

    Args:
        successors: the transition function, as for
            [`graph.explore`][jaxgames.graph.explore].
        initial: the initial state, integers `[K]`, or several, `[N, K]`.
        propositions: by name, vectorised functions of states, int32 `[N, K]`, that say
            where they hold: bool `[N]`. None: there are none.
        components: what the components of a state are called, for its name.
        options: more for `graph.explore`: `ranges`, `engine`, `max_states` and others.

    Raises:
        ValueError: as `graph.explore`; or a proposition is no such function.
        SolveError: the search ended early; its `solution` is the
            [`StateSpace`][jaxgames.graph.StateSpace] that was found.

    Examples:
        >>> def successors(states):  # one light, switched on and off; or it breaks
        ...     xp = states.__array_namespace__()
        ...     after = xp.stack([1 - states, 0 * states + 2], axis=1)
        ...     return after, xp.concatenate([states < 2, states == 1], axis=1)
        >>> system = explore(
        ...     successors, [0], propositions={"on": lambda states: states[:, 0] == 1}
        ... )
        >>> system
        Explored(3 states, 3 transitions, propositions on)
        >>> list(system.names)
        ['0', '1', '2']
    """
    options, propositions = {**options, "throw": True}, propositions or {}
    space = graph.explore(successors, initial, **options)
    labels = np.zeros((space.num_states, len(propositions)), bool)
    holds = space.evaluate_each(list(propositions.values()))
    for i, (name, values) in enumerate(zip(propositions, holds, strict=True)):
        labels[:, i] = _holds(name, values)
    return Explored(
        offsets=space.offsets,
        targets=space.targets,
        propositions=tuple(propositions),
        labels=labels,
        initial=space.initial,
        names=Names(space, components),
        space=space,
    )


def _holds(name: str, values: Any) -> Any:
    if values.dtype != bool:
        raise ValueError(f"proposition {name!r} must be boolean, got {values.dtype}")
    return values


class Names(Sequence):
    """What states are called: their components, made when they are asked for."""

    def __init__(self, space: StateSpace, components: Sequence[str] | None):
        self._space = space
        size = space.packing.size
        if components is not None and len(components) != size:
            raise ValueError(
                f"{size} components must have {size} names, got {len(components)}"
            )
        self._components = components

    def __len__(self) -> int:
        return self._space.num_states

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return name_of(self._space.at(index), self._components)


def name_of(state: np.ndarray, components: Sequence[str] | None = None) -> str:
    """A state in words.

    Examples:
        >>> name_of(np.array([1, 0]), ["pc", "turn"])
        'pc=1 turn=0'
    """
    values = [str(x) for x in state.tolist()]
    if components is not None:
        values = [f"{k}={x}" for k, x in zip(components, values, strict=True)]
    return " ".join(values)


# ---- the product, on the fly -----------------------------------------------------


class ProductSearch:
    """The pieces of a product of a system and an automaton that are made on demand.

    It is an iterable for
    [`accepting_cycle_of`][jaxgames.buchi.accepting_cycle_of], once. What has been told
    stays here, so that a lasso can be read.

    Attributes:
        automaton: the automaton with one set of accepting states.
        initial: int32 `[N]`, the initial vertices.
        num_vertices: how many vertices have been told.
    """

    def __init__(self, found: Iterator[graph.Expansion], automaton, initial: int):
        self._found = found
        self.automaton: Automaton = automaton
        self.initial = np.arange(initial, dtype=np.int32)
        self._part = automaton.components().label
        self._states: list[np.ndarray] = []
        self.num_vertices = 0

    def __iter__(self) -> Iterator[Piece]:
        """The pieces, with the component of the automaton as part of each vertex."""
        for piece in self._found:
            self._states.append(piece.states)
            self.num_vertices += len(piece.states)
            state = piece.states[:, -1]
            accepting = self.automaton.accepting[state]
            yield Piece(piece.offsets, piece.targets, accepting, self._part[state])

    def states(self, vertices: Any) -> np.ndarray:
        """The states of the system at some vertices: int32 `[N, K]`."""
        return self._at(vertices)[:, :-1]

    def automaton_states(self, vertices: Any) -> np.ndarray:
        """The states of the automaton at some vertices: int32 `[N]`."""
        return self._at(vertices)[:, -1]

    def _at(self, vertices: Any) -> np.ndarray:
        begins = np.cumsum([0, *(len(x) for x in self._states)])
        vertices = np.atleast_1d(np.asarray(vertices, np.int64))
        which = np.searchsorted(begins, vertices, "right") - 1
        pairs = zip(which, vertices - begins[which], strict=True)
        width = self._states[0].shape[1]
        rows = [self._states[i][j] for i, j in pairs]
        return np.array(rows, np.int32).reshape(-1, width)


@limited()
def explore_product(
    successors: Callable[[Any], tuple[Any, Any]],
    initial: Any,
    automaton: Automaton,
    *,
    propositions: Mapping[str, Predicate],
    deadlock: Deadlock = "stutter",
    ranges: Sequence[Any] | None = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> ProductSearch:
    """The product of a transition function and a Büchi automaton, on the fly.

    Vertices are states of the system with a state of the automaton as last component.
    They are found as they are asked for, so that a search that ends early saves the
    rest: with A successors at most for a state of the system and D for one of the
    automaton, a vertex has up to `A D`.

    Args:
        successors: as for [`explore`][jaxgames.systems.explore], like all that is not
            described here.
        initial: the initial state, or several.
        automaton: the automaton; if need be, it is degeneralised first.
        propositions: functions of states by name: those of the automaton at least.
        deadlock: `"stutter"`: a state without successor stays there for ever;
            `"reject"`: no run goes through it.
        ranges: the range of each component.
        engine: `"host"`, `"device"` or `"auto"`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the automaton has a proposition that there is no function for, or an
            argument is wrong. What the transition function returns is checked when the
            pieces are made.

    Examples:
        >>> from jaxgames import buchi, ltl
        >>> def successors(states):  # counts for ever
        ...     return states[:, None] + 1, states >= 0
        >>> search = explore_product(
        ...     successors,
        ...     [0],
        ...     ltl.translate("F big", negate=True),
        ...     propositions={"big": lambda states: states[:, 0] > 50},
        ... )
        >>> buchi.accepting_cycle_of(search, initial=search.initial)
        AcceptingCycle(none)
    """
    if deadlock not in ("stutter", "reject"):
        raise ValueError(
            f"deadlock must be 'stutter' or 'reject' on the fly, got {deadlock!r}"
        )
    automaton = united(automaton.degeneralise())
    for name in automaton.propositions:
        if name not in propositions:
            raise ValueError(
                f"the automaton has proposition {name!r}; there are functions for "
                f"{', '.join(propositions) or 'none at all'}"
            )
    starts = np.asarray(initial)
    starts = starts[None] if starts.ndim == 1 else starts
    pairs = np.concatenate(
        [
            np.repeat(starts, len(automaton.initial), axis=0),
            np.tile(automaton.initial, len(starts))[:, None],
        ],
        axis=1,
    )
    if ranges is not None:
        ranges = [*ranges, max(automaton.num_states, 1)]
    functions = tuple(propositions[name] for name in automaton.propositions)
    kept = all(isinstance(x, Hashable) for x in (successors, *functions))
    make = _product_of if kept else _product_of.__wrapped__
    follow = make(successors, Moves(automaton), functions, deadlock == "stutter")
    found = graph.expansions(follow, pairs, ranges=ranges, engine=engine)
    return ProductSearch(found, automaton, len(np.unique(pairs, axis=0)))


class Moves:
    """An automaton that is equal to another one with the same edges.

    A function that is made for it is the same for both, and compiled once.
    """

    def __init__(self, automaton: Automaton):
        self.automaton = automaton
        self._key = (
            automaton.propositions,
            *(x.tobytes() for x in (automaton.offsets, automaton.targets)),
            *(x.tobytes() for x in (automaton.required, automaton.forbidden)),
            automaton.cube_offsets.tobytes(),
        )

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moves) and self._key == other._key


@functools.lru_cache(maxsize=KEPT)
def _product_of(
    successors: Callable[[Any], tuple[Any, Any]],
    moves_of: Moves,
    propositions: tuple[Predicate, ...],
    stutter: bool,
) -> Callable[[Any], tuple[Any, Any]]:
    """The transition function of pairs."""
    automaton = moves_of.automaton
    guards = automaton.guards
    rows = [
        range(automaton.offsets[q], automaton.offsets[q + 1])
        for q in range(automaton.num_states)
    ]
    moves = max(map(len, rows), default=0)

    def follow(pairs: Any) -> tuple[Any, Any]:
        xp = pairs.__array_namespace__()
        states, q = pairs[:, :-1], pairs[:, -1]
        after, enabled = successors(states)
        if stutter:
            # Where nothing else is enabled, the state itself follows.
            stays = ~enabled.any(axis=1, keepdims=True)
            after = xp.concatenate([after, states[:, None].astype(after.dtype)], axis=1)
            enabled = xp.concatenate([enabled, stays], axis=1)
        holds = [
            _holds(name, predicate(states))
            for name, predicate in zip(
                automaton.propositions, propositions, strict=True
            )
        ]
        found, there = [], []
        for move in range(moves):
            # The move of each state: automata are small, so all are looked at.
            target, takes = xp.zeros_like(q), xp.zeros(q.shape, bool)
            for state, edges in enumerate(rows):
                if move < len(edges):
                    edge = edges[move]
                    here = q == state
                    target = xp.where(here, int(automaton.targets[edge]), target)
                    takes = takes | here & _guard(xp, guards[edge], holds, q)
            count = after.shape[1]
            last = xp.broadcast_to(target[:, None, None], (len(q), count, 1))
            found.append(xp.concatenate([after, last.astype(after.dtype)], axis=2))
            there.append(enabled & takes[:, None])
        # By successor of the system first, as in a product.
        after = xp.stack(found, axis=2).reshape(len(q), -1, pairs.shape[1])
        return after, xp.stack(there, axis=2).reshape(len(q), -1)

    return follow


def _guard(xp: Any, guard: Any, holds: list[Any], like: Any) -> Any:
    """Where one of the cubes of a guard holds: bool `[N]`."""
    some = xp.zeros(like.shape, bool)
    for must, never in guard:
        every = xp.ones(like.shape, bool)
        for i, value in enumerate(holds):
            if must >> i & 1:
                every = every & value
            if never >> i & 1:
                every = every & ~value
        some = some | every
    return some

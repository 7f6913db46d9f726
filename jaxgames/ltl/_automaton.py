"""Büchi automata: edges in CSR order, guards as cubes of bit masks, sets of edges."""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from jaxgames.arguments import as_array
from jaxgames.graph import host
from jaxgames.kept import keeps
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import _guards
from jaxgames.ltl._checks import check_automaton
from jaxgames.ltl._formula import Formula, as_formula
from jaxgames.ltl._guards import Guard
from jaxgames.value import Value

if TYPE_CHECKING:
    from jaxgames.ltl._operations import Classification
    from jaxgames.ltl._parity_automaton import ParityAutomaton


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Automaton(Value):
    """A generalised Büchi automaton over sets of propositions.

    A run accepts if it takes edges of every acceptance set infinitely often; without a
    set every infinite run does. Acceptance of states is that of the edges that leave
    them. A *letter* is a set of propositions: a 64-bit mask, proposition `i` bit `i`.
    An edge is taken by the letters that its guard holds for: those with all bits of
    `required` and none of `forbidden` of one of its cubes.

    Build one with [`Automaton.from_edges`][jaxgames.ltl.Automaton.from_edges]. `A`,
    `E` and `N` are the numbers of states, edges and acceptance sets.

    Attributes:
        initial: int32 `[K]`, the initial states, ascending.
        propositions: what the propositions are called.
        offsets: int32 `[A + 1]`; the edges of state `q` are
            `offsets[q] .. offsets[q + 1] - 1`.
        targets: int32 `[E]`.
        cube_offsets: int32 `[E + 1]`; the cubes of the guard of edge `e` are
            `cube_offsets[e] .. cube_offsets[e + 1] - 1`, one at least.
        required: uint64 `[C]`, propositions that must hold.
        forbidden: uint64 `[C]`, propositions that must not.
        sets: bool `[N, E]`, the acceptance sets.
        name: what the automaton is called; may be empty.

    Examples:
        >>> automaton = Automaton.from_edges(
        ...     [0, 0, 1], ["true", "!p", "!p"], [0, 1, 1], accepting=[False, True]
        ... )
        >>> automaton
        Automaton(2 states, 3 edges, 1 acceptance set, propositions p)
        >>> automaton.accepts([{"p"}], [set()]), automaton.accepts([], [{"p"}, set()])
        (True, False)
    """

    initial: np.ndarray
    propositions: tuple[str, ...]
    offsets: np.ndarray
    targets: np.ndarray
    cube_offsets: np.ndarray
    required: np.ndarray
    forbidden: np.ndarray
    sets: np.ndarray
    name: str = ""

    # ---- building -----------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        sources: Any,
        guards: Sequence[str | Formula | Iterable[tuple[int, int]]],
        targets: Any,
        *,
        num_states: int | None = None,
        initial: Any = 0,
        propositions: Iterable[str] | None = None,
        sets: Any = None,
        accepting: Any = None,
        name: str = "",
    ) -> "Automaton":
        """Builds an automaton from a list of edges.

        They are sorted by source, stably. An edge that no letter can take is left out.

        Args:
            sources: integers `[E]`, where each edge starts.
            guards: for each edge a Boolean formula, as a text or an object, or its
                cubes: pairs of masks of the propositions that must and must not hold.
            targets: integers `[E]`, where each edge ends.
            num_states: how many states there are; by default those that occur.
            initial: the initial state, or several.
            propositions: names, in the order of the bits; by default those in the
                formulas, in alphabetical order.
            sets: booleans `[N, E]`, acceptance sets of edges; by default there is none.
            accepting: booleans `[A]`: the accepting states, instead of `sets`.
            name: what the automaton is called.

        Raises:
            ValueError: a state is out of range, a guard is not Boolean or has an
                unknown proposition, there are too many propositions, or lengths differ.
        """
        heads, tails = _states("targets", targets), _states("sources", sources)
        starts = _states("initial", np.atleast_1d(as_array("initial", initial)))
        if len({len(heads), len(tails), len(guards)}) > 1:
            raise ValueError(
                "sources, guards and targets must have the same length, got "
                f"{len(tails)}, {len(guards)} and {len(heads)}"
            )
        given = -1 if accepting is None else len(accepting) - 1
        last = int(max(given, *(x.max(initial=-1) for x in (heads, tails, starts))))
        num_states = last + 1 if num_states is None else num_states
        if num_states <= last:
            raise ValueError(f"state {last} is not there: num_states is {num_states}")
        parsed = [as_formula(x) if isinstance(x, str) else x for x in guards]
        if propositions is None:
            formulas = [x for x in parsed if isinstance(x, Formula)]
            propositions = sorted({p for x in formulas for p in x.propositions})
        propositions = _guards.check_propositions(propositions)
        known: dict[Any, Guard] = {}
        cubes = []
        for x in parsed:
            key = x if isinstance(x, Formula) else tuple(x)
            if key not in known:
                known[key] = _guards.guard_of(key, propositions)
            cubes.append(known[key])
        if accepting is not None:
            if sets is not None:
                raise ValueError("give the accepting states or sets of edges, not both")
            states = as_array("accepting", accepting)
            if states.shape != (num_states,) or states.dtype.kind not in "bi":
                raise ValueError(
                    f"accepting must have one boolean for each state ({num_states}), "
                    f"got {states.dtype} of shape {states.shape}"
                )
            sets = states.astype(bool)[None, tails]
        sets = np.zeros((0, len(tails)), bool) if sets is None else sets
        sets = as_array("sets", sets)
        if sets.ndim != 2 or sets.shape[1] != len(tails):
            raise ValueError(
                f"sets must have shape [N, E] with E = {len(tails)}, got {sets.shape}"
            )
        return cls.of_cubes(
            tails,
            cubes,
            heads,
            num_states=num_states,
            initial=starts,
            propositions=propositions,
            sets=sets,
            name=name,
        )

    @classmethod
    def of_cubes(
        cls,
        tails: np.ndarray,
        cubes: Sequence[Guard],
        heads: np.ndarray,
        *,
        num_states: int,
        initial: np.ndarray,
        propositions: tuple[str, ...],
        sets: np.ndarray,
        name: str,
    ) -> "Automaton":
        """As `from_edges`, of what is known to be right: guards are not simplified."""
        order = np.argsort(tails, kind="stable")
        order = order[[bool(cubes[e]) for e in order]] if len(order) else order
        kept = [cubes[e] for e in order]
        flat = np.array([c for guard in kept for c in guard], np.uint64).reshape(-1, 2)
        return cls(
            initial=np.unique(initial),
            propositions=propositions,
            offsets=_offsets(np.bincount(tails[order], minlength=num_states)),
            targets=heads[order],
            cube_offsets=_offsets([len(guard) for guard in kept]),
            required=flat[:, 0].copy(),
            forbidden=flat[:, 1].copy(),
            sets=sets[:, order].astype(bool),
            name=name,
        )

    @staticmethod
    def cubes_of(
        label: Formula | Iterable[tuple[int, int]], propositions: Sequence[str]
    ) -> Guard:
        """The cubes of a guard: of a Boolean formula, or fewer of the same function.

        Args:
            label: a formula, or pairs of masks of what must and must not hold.
            propositions: names, in the order of the bits.

        Raises:
            ValueError: the formula is not Boolean, or there is no such proposition.

        Examples:
            >>> Automaton.cubes_of([(0b01, 0b10), (0b11, 0)], ["p", "q"])
            ((1, 0),)
        """
        return _guards.guard_of(label, propositions)

    # ---- looking ------------------------------------------------------------

    @property
    def num_states(self) -> int:
        """Number of states."""
        return len(self.offsets) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return len(self.targets)

    @property
    def num_sets(self) -> int:
        """Number of acceptance sets."""
        return len(self.sets)

    @property
    def sources(self) -> np.ndarray:
        """Where each edge starts: int32 `[E]`."""
        check_automaton(self)
        states = np.arange(self.num_states, dtype=np.int32)
        return np.repeat(states, np.diff(self.offsets))

    def guard(self, edge: int) -> Guard:
        """The cubes of an edge: pairs of masks, what must hold and what must not."""
        cubes = slice(self.cube_offsets[edge], self.cube_offsets[edge + 1])
        pairs = zip(self.required[cubes], self.forbidden[cubes], strict=True)
        return tuple((int(must), int(never)) for must, never in pairs)

    @property
    def guards(self) -> list[Guard]:
        """The cubes of all edges."""
        pairs = zip(self.required.tolist(), self.forbidden.tolist(), strict=True)
        cubes, ends = list(pairs), self.cube_offsets.tolist()
        return [tuple(cubes[a:b]) for a, b in itertools.pairwise(ends)]

    @keeps
    def labels(self) -> tuple[list[int], list[Guard]]:
        """The number of the guard of each edge, and the different guards."""
        number: dict[Guard, int] = {}
        of_edges = [number.setdefault(x, len(number)) for x in self.guards]
        return of_edges, list(number)

    def members(self) -> np.ndarray:
        """Which states have all their edges in each acceptance set: bool `[N, A]`.

        States without edges are in none.
        """
        check_automaton(self)
        degree = np.diff(self.offsets)
        before = np.zeros((self.num_sets, self.num_edges + 1), np.int64)
        np.cumsum(self.sets, axis=1, out=before[:, 1:])
        return (np.diff(before[:, self.offsets]) == degree) & (degree > 0)

    @property
    def is_state_based(self) -> bool:
        """Whether the edges of each state are all in the same acceptance sets."""
        return bool((self.members()[:, self.sources] == self.sets).all())

    @property
    def accepting(self) -> np.ndarray:
        """The accepting states of a Büchi automaton with such: bool `[A]`.

        Raises:
            ValueError: acceptance is generalised or that of edges.
        """
        if self.num_sets != 1 or not self.is_state_based:
            raise ValueError(
                "only a Büchi automaton with accepting states has them, this has "
                f"{_sets(self.num_sets)} of edges: call degeneralise() first"
            )
        return self.members()[0]

    def enabled(self, letters: Any) -> np.ndarray:
        """Which edges letters (uint64 `[L]`) can take: bool `[L, E]`."""
        check_automaton(self)
        letters = np.asarray(letters, np.uint64)[:, None]
        fits = (letters & self.required == self.required) & (
            letters & self.forbidden == 0
        )
        if not self.num_edges:
            return np.zeros((len(letters), 0), bool)
        return np.logical_or.reduceat(fits, self.cube_offsets[:-1], axis=1)

    def letter(self, names: Iterable[str]) -> int:
        """The mask of a set of propositions; unknown ones do not count."""
        names = set(names)
        return sum(1 << i for i, x in enumerate(self.propositions) if x in names)

    @limited()
    def accepts(
        self,
        prefix: Iterable[Iterable[str]],
        cycle: Iterable[Iterable[str]],
        **bounds: Unpack[Bounds],
    ) -> bool:
        """Whether a word is accepted that runs through a cycle for ever.

        O((A + E) L) time for L letters in all.

        Args:
            prefix: letters, each the names of the propositions that hold.
            cycle: letters, one at least.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the cycle is empty.
        """
        tails, heads, edge, size = self.along(prefix, cycle)
        order = np.argsort(tails, kind="stable")
        return _has_accepting_cycle(
            size, tails[order], heads[order], self.sets[:, edge[order]], self.initial
        )

    def along(
        self, prefix: Iterable[Iterable[str]], cycle: Iterable[Iterable[str]]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """The automaton read along a word that runs through a cycle for ever.

        Args:
            prefix: letters, each the names of the propositions that hold.
            cycle: letters, one at least.

        Returns:
            Where each edge starts and ends, and which edge of the automaton it is; and
            the number of vertices: `L A`, of which position `i` and state `q` is number
            `i A + q`.

        Raises:
            ValueError: the cycle is empty.
        """
        prefix, cycle = list(prefix), list(cycle)
        if not cycle:
            raise ValueError("the cycle of a word needs a letter")
        masks = [self.letter(names) for names in (*prefix, *cycle)]
        follower = np.append(np.arange(1, len(masks)), len(prefix))
        at, edge = np.nonzero(self.enabled(np.array(masks, np.uint64)))
        tails = at * self.num_states + self.sources[edge]
        heads = follower[at] * self.num_states + self.targets[edge]
        return tails, heads, edge, len(masks) * self.num_states

    @limited()
    def is_empty(self, **bounds: Unpack[Bounds]) -> bool:
        """Whether no word is accepted: by Tarjan's components, O(A + N E) time.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
        """
        return not _has_accepting_cycle(
            self.num_states, self.sources, self.targets, self.sets, self.initial
        )

    # ---- making others ------------------------------------------------------

    @limited()
    def degeneralise(self, **bounds: Unpack[Bounds]) -> "Automaton":
        """The same words with one set of accepting states.

        There is a copy of the automaton for each set that it waits for, and one where
        it has met them all: at most `A (N + 1)` states, of which those that can be
        reached are kept, breadth first. An automaton of that form is returned as it is.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        References:
            Gastin and Oddoux, Fast LTL to Büchi automata translation, CAV 2001,
            doi:10.1007/3-540-44585-4_6.
        """
        from jaxgames.ltl import _operations

        return _operations.degeneralise(self)

    @limited()
    def complete(self, **bounds: Unpack[Bounds]) -> "Automaton":
        """The same words, with an edge for every letter in every state.

        Where some are missing a last state is added that accepts nothing.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
        """
        from jaxgames.ltl import _operations

        return _operations.complete(self)

    @limited()
    def intersect(self, other: "Automaton", **bounds: Unpack[Bounds]) -> "Automaton":
        """The words that this automaton and another one both accept.

        The propositions are the own, then the others of the other one; the states are
        the pairs that can be reached, and the acceptance sets those of both.

        Args:
            other: the other one.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: there are more than 64 propositions together.
        """
        from jaxgames.ltl import _operations

        return _operations.intersect(self, other)

    @limited()
    def union(self, other: "Automaton", **bounds: Unpack[Bounds]) -> "Automaton":
        """The words that this automaton or another one accepts: both side by side.

        The propositions are the own, then the others of the other one.

        Args:
            other: the other one.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: there are more than 64 propositions together.
        """
        from jaxgames.ltl import _language

        return _language.unite(self, other)

    @limited()
    def determinise(
        self, *, max_states: int = 1 << 16, **bounds: Unpack[Bounds]
    ) -> "ParityAutomaton":
        """A deterministic parity automaton of the same words.

        Exponential in the number of states at worst.

        Args:
            max_states: how many states may be made.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: there are more states.

        References:
            Piterman, From nondeterministic Büchi and Streett automata to deterministic
            parity automata, LMCS 3 (2007), doi:10.2168/LMCS-3(3:5)2007.
        """
        from jaxgames.ltl import _language

        return _language.determinise(self, max_states)

    @limited()
    def complement(
        self, *, max_states: int = 1 << 16, **bounds: Unpack[Bounds]
    ) -> "Automaton":
        """A generalised Büchi automaton of all other words.

        Args:
            max_states: how many states the deterministic automaton on the way may have.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: it has more.

        Examples:
            >>> from jaxgames import ltl
            >>> ltl.translate("F G p").complement().accepts([], [{"p"}, set()])
            True
        """
        from jaxgames.ltl import _language

        found = _language.determinise(self, max_states)
        return found.complement().emerson_lei.to_buchi()

    @limited()
    def some_word(
        self, **bounds: Unpack[Bounds]
    ) -> "tuple[list[frozenset[str]], list[frozenset[str]]] | None":
        """A word that is accepted: letters, and letters that come again and again.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Returns:
            Both, as `accepts` takes them; None if no word is accepted.

        Examples:
            >>> from jaxgames import ltl
            >>> ltl.translate("p & X G !p").some_word()
            ([frozenset({'p'})], [frozenset()])
        """
        from jaxgames.ltl import _language

        return _language.some_word(self)

    @limited()
    def word_outside(
        self, other: "Automaton", **bounds: Unpack[Bounds]
    ) -> "tuple[list[frozenset[str]], list[frozenset[str]]] | None":
        """A word that this automaton accepts and another one does not.

        The words of an automaton are among those of another one if there is none, and
        they are the same if there is none either way.

        Args:
            other: the other one; it is complemented.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Returns:
            As `some_word`.

        Raises:
            ValueError: there are more than 64 propositions together, or the complement
                is too large.

        Examples:
            >>> from jaxgames import ltl
            >>> ltl.translate("F p").word_outside(ltl.translate("F G p")) is None
            False
            >>> ltl.translate("F G p").word_outside(ltl.translate("F p")) is None
            True
        """
        return self.intersect(other.complement()).some_word()

    @limited()
    def components(self, **bounds: Unpack[Bounds]) -> "Classification":
        """The strongly connected components, and what each can do for acceptance.

        They are rejecting, terminal, weak or strong, as
        [`Kind`][jaxgames.ltl.Kind] says. O(N) calls of Tarjan's algorithm.

        Args:
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Examples:
            >>> from jaxgames import ltl
            >>> ltl.translate("F p").components()
            Classification(label=array([0, 1], dtype=int32), kind=(<Kind.REJECTING: 0>,
                <Kind.TERMINAL: 1>))
        """
        from jaxgames.ltl import _operations

        return _operations.classify(self)

    def __repr__(self) -> str:
        return (
            f"Automaton({_count(self.num_states, 'state')}, "
            f"{_count(self.num_edges, 'edge')}, {_sets(self.num_sets)}, propositions "
            f"{' '.join(self.propositions) or 'none'})"
        )


def _has_accepting_cycle(size, tails, heads, sets, initial) -> bool:
    graph = _offsets(np.bincount(tails, minlength=size)), heads
    reached = host.reachable(graph, initial)
    count, label = host.scc(graph, vertices=reached)
    inside = reached[tails] & (label[tails] == label[heads])
    good = np.bincount(label[tails[inside]], minlength=count) > 0
    for one in sets:
        good &= np.bincount(label[tails[inside & one]], minlength=count) > 0
    return bool(good.any())


# ---- checks of what users pass -----------------------------------------------


def _states(name: str, values: Any) -> np.ndarray:
    array = as_array(name, values)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        raise ValueError(
            f"{name} must hold states (integers from 0 on), got {values!r}"
        )
    return array.astype(np.int32)


def _offsets(counts: Any) -> np.ndarray:
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _sets(count: int) -> str:
    return _count(count, "acceptance set")


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

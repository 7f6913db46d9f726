"""Controllers: machines that read some propositions and write others; circuits."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from jaxgames.arguments import texts
from jaxgames.kept import kept
from jaxgames.later import jnp
from jaxgames.ltl import Automaton
from jaxgames.synth import _fewer_states, _gates
from jaxgames.synth._circuit_states import explored
from jaxgames.value import Value

MAX_STATES = 1 << 20
"""States of a circuit that are looked at."""

MAX_READ = 64
"""Inputs that a controller may have."""

Path = tuple[int, int, int]
"""What a machine may read, and what it then does: masks of the propositions that must
and must not hold, and the number of an action."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Controller(Value):
    """A machine with finitely many states; state 0 is the initial one.

    In each round it reads some propositions, walks from the node of its state down a
    decision diagram, and comes to an action: what it writes, and its next state. Nodes
    below 0 are actions: action `a` is node `-1 - a`.

    Attributes:
        reads: names of the propositions that it reads.
        writes: names of those that it writes.
        node: int32 `[S]`, where each state begins.
        test: int32 `[N]`, the place in `reads` that each node looks at; ascends along
            every path.
        low: int32 `[N]`, the node to go to if it does not hold.
        high: int32 `[N]`, the node to go to if it does.
        output: uint64 `[T]`, what each action writes: place `i` in `writes` is bit `i`.
        successor: int32 `[T]`, the state after each action.
        name: what it is called; may be empty.

    Raises:
        ValueError: the arrays are no such machine; says where.

    Examples:
        >>> echo = Controller.from_arrays(
        ...     ["r"], ["g"], node=[0], test=[0], low=[-1], high=[-2],
        ...     output=[0, 1], successor=[0, 0],
        ... )
        >>> echo
        Controller(1 state, reads r, writes g)
        >>> echo.run([{"r"}, set(), {"r"}])
        [frozenset({'g'}), frozenset(), frozenset({'g'})]
        >>> echo.is_moore
        False
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    node: np.ndarray
    test: np.ndarray
    low: np.ndarray
    high: np.ndarray
    output: np.ndarray
    successor: np.ndarray
    name: str = ""

    def __post_init__(self):
        """Checks all that walks rely on."""
        super().__post_init__()
        if not len(self.node):
            raise ValueError("a controller has at least one state")
        nodes, actions = len(self.test), len(self.output)
        for name, least, end in (
            ("node", -actions, nodes),
            ("test", 0, len(self.reads)),
            ("low", -actions, nodes),
            ("high", -actions, nodes),
            ("successor", 0, len(self.node)),
        ):
            values = getattr(self, name)
            wrong = (values < least) | (values >= end)
            if wrong.any():
                place = int(np.argmax(wrong))
                raise ValueError(
                    f"{name}[{place}] is {values[place]}, expected {least} to {end - 1}"
                )
        if len(self.low) != nodes or len(self.high) != nodes:
            raise ValueError("test, low and high must have the same length")
        if len(self.successor) != actions:
            raise ValueError("output and successor must have the same length")
        for name in ("low", "high"):
            inner = getattr(self, name) >= 0
            below = self.test[getattr(self, name)[inner]]
            if (below <= self.test[inner]).any():
                raise ValueError(f"{name} does not lead to a later test")
        if (self.output >> np.uint64(len(self.writes))).any() and len(self.writes) < 64:
            raise ValueError(f"an action writes more than {len(self.writes)} outputs")

    @classmethod
    def from_arrays(
        cls,
        reads: Iterable[str],
        writes: Iterable[str],
        *,
        node: Any,
        test: Any,
        low: Any,
        high: Any,
        output: Any,
        successor: Any,
        name: str = "",
    ) -> "Controller":
        """A controller of lists; the arguments are those of the class.

        Raises:
            ValueError: they are no machine.
        """

        def integers(values: Any) -> np.ndarray:
            return np.asarray(values, np.int32).reshape(-1)

        return cls(
            tuple(reads),
            tuple(writes),
            integers(node),
            integers(test),
            integers(low),
            integers(high),
            np.asarray(output, np.uint64).reshape(-1),
            integers(successor),
            name,
        )

    @property
    def num_states(self) -> int:
        """Number of states."""
        return len(self.node)

    @property
    def is_moore(self) -> bool:
        """Whether what it writes depends on its state alone."""
        return all(
            len({int(self.output[a]) for _, _, a in self.paths(q)}) == 1
            for q in range(self.num_states)
        )

    def paths(self, state: int) -> Iterator[Path]:
        """All ways down from a state: what is read, and the action."""
        work = [(int(self.node[state]), 0, 0)]
        while work:
            node, must, never = work.pop()
            if node < 0:
                yield must, never, -1 - node
                continue
            bit = 1 << int(self.test[node])
            work.append((int(self.high[node]), must | bit, never))
            work.append((int(self.low[node]), must, never | bit))

    def step(self, state: int, letter: int) -> tuple[int, int]:
        """The next state, and what is written: a mask.

        Args:
            state: the state before.
            letter: what is read, a mask of places in `reads`.
        """
        node = int(self.node[state])
        while node >= 0:
            side = self.high if letter >> int(self.test[node]) & 1 else self.low
            node = int(side[node])
        return int(self.successor[-1 - node]), int(self.output[-1 - node])

    def run(self, word: Iterable[Iterable[str]]) -> list[frozenset[str]]:
        """What it writes when it reads a word; letters are sets of names.

        Raises:
            ValueError: a letter has a name that it does not read, or is a text.
        """
        state, written = 0, []
        for place, names in enumerate(word):
            names = set(texts(f"letter {place} of the word", names))
            unknown = sorted(map(repr, names.difference(self.reads)))
            if unknown:
                raise ValueError(
                    f"letter {place} of the word has {', '.join(unknown)}, which the "
                    f"controller does not read: it reads {', '.join(self.reads)}"
                )
            letter = sum(1 << i for i, name in enumerate(self.reads) if name in names)
            state, output = self.step(state, letter)
            held = (x for i, x in enumerate(self.writes) if output >> i & 1)
            written.append(frozenset(held))
        return written

    def step_function(self) -> Callable[[Any, Any], tuple[Any, Any]]:
        """A function for JAX: from a state and what is read to the next and the output.

        It takes an int32 scalar and bool `[len(reads)]`, and gives an int32 scalar and
        bool `[len(writes)]`. It may be jitted, mapped over batches by `jax.vmap`, and
        be the body of a `jax.lax.scan`; its work is one look-up for each proposition.

        Examples:
            >>> import jax, jax.numpy as jnp
            >>> echo = Controller.from_arrays(
            ...     ["r"], ["g"], node=[0], test=[0], low=[-1], high=[-2],
            ...     output=[0, 1], successor=[0, 0],
            ... )
            >>> state, written = jax.jit(echo.step_function())(0, jnp.array([True]))
            >>> int(state), written.tolist()
            (0, [True])
        """
        places = range(len(self.writes))
        table = [[int(x) >> i & 1 for i in places] for x in self.output]
        written = np.array(table, bool).reshape(len(self.output), len(self.writes))
        # Without a test there is nothing to look up, but arrays are not empty.
        test, low, high = (
            np.append(x, np.int32(0)) for x in (self.test, self.low, self.high)
        )
        node, successor, depth = self.node, self.successor, len(self.reads)

        def step(state: Any, inputs: Any) -> tuple[Any, Any]:
            inputs = jnp.append(jnp.asarray(inputs, bool), False)
            at = jnp.asarray(node)[state]
            for _ in range(depth):
                here = jnp.maximum(at, 0)
                side = jnp.where(
                    inputs[jnp.asarray(test)[here]],
                    jnp.asarray(high)[here],
                    jnp.asarray(low)[here],
                )
                at = jnp.where(at >= 0, side, at)
            action = -1 - at
            return jnp.asarray(successor)[action], jnp.asarray(written)[action]

        return step

    def automaton(self, propositions: Iterable[str] | None = None) -> Automaton:
        """The words that it can bring about: an automaton in which all runs accept.

        Args:
            propositions: names, in the order of the bits; by default those that it
                reads and then those that it writes.
        """
        names = (*self.reads, *self.writes)
        names = names if propositions is None else tuple(propositions)
        reads = [names.index(x) for x in self.reads]
        writes = [names.index(x) for x in self.writes]
        rows: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        for q in range(self.num_states):
            for must, never, action in self.paths(q):
                output = int(self.output[action])
                must, never = _moved(must, reads), _moved(never, reads)
                must |= _moved(output, writes)
                never |= _moved(~output & (1 << len(writes)) - 1, writes)
                key = q, int(self.successor[action]), output
                rows.setdefault(key, []).append((must, never))
        return Automaton.from_edges(
            [q for q, _, _ in rows],
            list(rows.values()),
            [r for _, r, _ in rows],
            num_states=self.num_states,
            propositions=names,
            name=self.name,
        )

    def is_same(self, other: "Controller") -> bool:
        """Whether another machine answers alike, and its states are paired with these.

        It walks down the diagrams of both at once. Two machines that write the same
        need not be so: one of them may have states to spare.
        """
        if (self.reads, self.writes) != (other.reads, other.writes):
            return False
        pair_of: dict[int, int] = {0: 0}
        order = [0]
        seen: dict[int, int] = {}
        for q in order:
            work = [(int(self.node[q]), int(other.node[pair_of[q]]))]
            while work:
                one, two = work.pop()
                if seen.get(one) == two:
                    continue
                if one in seen or (one < 0) != (two < 0):
                    return False
                seen[one] = two
                if one >= 0:
                    if self.test[one] != other.test[two]:
                        return False
                    work.append((int(self.low[one]), int(other.low[two])))
                    work.append((int(self.high[one]), int(other.high[two])))
                    continue
                if self.output[-1 - one] != other.output[-1 - two]:
                    return False
                after = int(self.successor[-1 - one]), int(other.successor[-1 - two])
                if after[0] not in pair_of:
                    pair_of[after[0]] = after[1]
                    order.append(after[0])
                elif pair_of[after[0]] != after[1]:
                    return False
        return True

    def circuit(self) -> "Circuit":
        """The controller as a circuit of latches and gates; kept."""
        return kept(self, "circuit", self._made)

    def reduced(self) -> "Controller":
        """The machine of fewest states that always answers as this one does.

        States that answer alike are one (Moore's algorithm): O(N) time a round for N
        tests, actions and states, and at most as many rounds as states.

        Examples:
            >>> twice = Controller.from_arrays(
            ...     ["r"], ["g"], node=[0, 1], test=[0, 0], low=[-1, -3], high=[-2, -4],
            ...     output=[0, 1, 0, 1], successor=[0, 1, 1, 0],
            ... )
            >>> twice.num_states, twice.reduced().num_states
            (2, 1)
        """
        made = _fewer_states.reduced(self._tables())
        if made is None:
            return self
        return Controller.from_arrays(self.reads, self.writes, **made, name=self.name)

    def with_circuit(self, circuit: "Circuit") -> "Controller":
        """The same machine, with a circuit that is known to answer as it does."""
        made = dataclasses.replace(self)
        kept(made, "circuit", lambda: circuit)
        return made

    def _tables(self) -> dict[str, np.ndarray]:
        names = ("node", "test", "low", "high", "output", "successor")
        return {name: getattr(self, name) for name in names}

    def _made(self) -> "Circuit":
        tables = self._tables()
        parts = _gates.of_tables(tables, len(self.reads), len(self.writes))
        return Circuit(self.reads, self.writes, *parts)

    def to_dot(self) -> str:
        """A drawing for Graphviz: states, and what is read and written between them."""
        rows = (
            (
                q,
                int(self.successor[action]),
                f"{_words(must, never, self.reads)} / {self._output(action)}",
            )
            for q in range(self.num_states)
            for must, never, action in self.paths(q)
        )
        return _dot(rows)

    def _output(self, action: int) -> str:
        output = int(self.output[action])
        return _words(output, (1 << len(self.writes)) - 1 & ~output, self.writes)

    def __repr__(self) -> str:
        count = self.num_states
        return (
            f"Controller({count} state{'' if count == 1 else 's'}, reads "
            f"{' '.join(self.reads) or 'nothing'}, writes "
            f"{' '.join(self.writes) or 'nothing'})"
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Circuit(Value):
    """A circuit of and-gates and inverters, as in the AIGER format.

    A *literal* is a number: `2 v` is variable `v` and `2 v + 1` its negation; 0 is
    false and 1 is true. Variables are the inputs from 1 on, then the latches, then the
    gates.

    Attributes:
        inputs: names.
        outputs: names.
        following: int64 `[L]`, the literal that is each latch in the next round.
        begin: int64 `[L]`, 0 or 1, each latch in the first round.
        driver: int64 `[O]`, the literal of each output.
        gates: int64 `[A, 2]`, the literals whose conjunction each gate is; they are of
            earlier variables.

    Raises:
        ValueError: a literal is out of range.

    Examples:
        >>> from jaxgames.synth import Controller
        >>> echo = Controller.from_arrays(
        ...     ["r"], ["g"], node=[0], test=[0], low=[-1], high=[-2],
        ...     output=[0, 1], successor=[0, 0],
        ... )
        >>> echo.circuit()
        Circuit(1 input, 0 latches, 0 gates, 1 output)
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    following: np.ndarray
    begin: np.ndarray
    driver: np.ndarray
    gates: np.ndarray

    def __post_init__(self):
        super().__post_init__()
        before = len(self.inputs) + len(self.following)
        last = 2 * (before + len(self.gates)) + 1
        for name, values in (("following", self.following), ("driver", self.driver)):
            if len(values) and not (values.min() >= 0 and values.max() <= last):
                raise ValueError(f"{name} has a literal that is not from 0 to {last}")
        first = 2 * (before + 1 + np.arange(len(self.gates)))
        if (self.gates < 0).any() or (self.gates >= first[:, None]).any():
            raise ValueError("a gate reads a variable that is not defined before it")
        if not np.isin(self.begin, (0, 1)).all():
            raise ValueError("a latch begins as 0 or 1")

    def controller(self, *, max_states: int = MAX_STATES, name: str = "") -> Controller:
        """The controller that the circuit is: all states that it may come to.

        Args:
            max_states: how many these may be.
            name: what it is called.

        Raises:
            ValueError: there are more, or more than 64 inputs or outputs.
        """
        if max(len(self.inputs), len(self.outputs)) > MAX_READ:
            raise ValueError(f"a controller has at most {MAX_READ} inputs and outputs")
        tables = explored(
            len(self.inputs),
            self.begin,
            self.following,
            self.driver,
            self.gates,
            max_states,
        )
        return Controller.from_arrays(self.inputs, self.outputs, **tables, name=name)

    def __repr__(self) -> str:
        parts = (
            (len(self.inputs), "input"),
            (len(self.following), "latch"),
            (len(self.gates), "gate"),
            (len(self.outputs), "output"),
        )
        texts = (
            f"{n} {what}{'' if n == 1 else 'es' if what == 'latch' else 's'}"
            for n, what in parts
        )
        return f"Circuit({', '.join(texts)})"


def _words(must: int, never: int, names: tuple[str, ...]) -> str:
    words = [
        name if must >> i & 1 else f"!{name}"
        for i, name in enumerate(names)
        if (must | never) >> i & 1
    ]
    return " & ".join(words) or "true"


def _moved(mask: int, places: list[int]) -> int:
    return sum(1 << place for i, place in enumerate(places) if mask >> i & 1)


def _dot(rows: Iterable[tuple[int, int, str]]) -> str:
    """A drawing of what is read and written from one state to another."""
    labels: dict[tuple[int, int], list[str]] = {}
    for q, r, text in rows:
        labels.setdefault((q, r), []).append(text)
    lines = [
        "digraph {",
        "  rankdir=LR; node [shape=circle];",
        '  start [shape=point, label=""]; start -> 0;',
    ]
    for (q, r), guards in labels.items():
        text = "\\n".join(x.replace("\\", "\\\\").replace('"', '\\"') for x in guards)
        lines.append(f'  {q} -> {r} [label="{text}"];')
    return "\n".join([*lines, "}", ""])

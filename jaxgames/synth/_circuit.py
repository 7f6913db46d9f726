"""Controllers as circuits: latches that hold the state, and gates."""

import dataclasses
from typing import Any

import numpy as np

from jaxgames import limits
from jaxgames.ltl._diagrams import FALSE, TRUE, Diagrams
from jaxgames.synth._controller import Controller
from jaxgames.synth._extract import _of_diagrams
from jaxgames.value import Value

MAX_STATES = 1 << 20
"""States of a circuit that are looked at."""

MAX_READ = 64
"""Inputs that a controller may have."""


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
        """Checks the literals."""
        super().__post_init__()
        before = len(self.inputs) + len(self.following)
        last = 2 * (before + len(self.gates)) + 1
        for name, values in (("following", self.following), ("driver", self.driver)):
            if len(values) and not (values.min() >= 0 and values.max() <= last):
                raise ValueError(f"{name} has a literal that is not from 0 to {last}")
        first = 2 * (before + 1 + np.arange(len(self.gates)))
        if (self.gates < 0).any() or (self.gates >= first[:, None]).any():
            raise ValueError("a gate reads what is no earlier variable")
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
        store = Diagrams()
        variables = [store.variable(i) for i in range(len(self.inputs))]
        number: dict[tuple[int, ...], int] = {tuple(self.begin.tolist()): 0}
        order, roots = list(number), []
        ends = [*self.driver.tolist(), *self.following.tolist()]
        count = len(self.outputs)
        for state in order:
            limits.tick("exploring a circuit", len(order), "states")
            nodes = [FALSE, *variables, *(TRUE if x else FALSE for x in state)]
            for one, other in self.gates.tolist():
                nodes.append(
                    store.both(
                        _literal(store, nodes, one), _literal(store, nodes, other)
                    )
                )
            values = tuple(_literal(store, nodes, x) for x in ends)
            memo: dict[tuple[int, ...], int] = {}

            def joined(values: tuple[int, ...], memo: dict = memo) -> int:
                if values not in memo:
                    level = min((store.level[x] for x in values), default=1 << 30)
                    if level < len(self.inputs):
                        pairs = [store.cofactors(x, level) for x in values]
                        low, high = (
                            joined(tuple(pair[side] for pair in pairs))
                            for side in (0, 1)
                        )
                        memo[values] = store.node(level, low, high)
                    else:
                        output = sum(x << i for i, x in enumerate(values[:count]))
                        after = values[count:]
                        if after not in number:
                            if len(number) == max_states:
                                raise ValueError(
                                    f"the circuit has more than {max_states} states"
                                )
                            number[after] = len(number)
                            order.append(after)
                        memo[values] = store.terminal((output, number[after]))
                return memo[values]

            roots.append(joined(values))
        return _of_diagrams(store, roots, self.inputs, self.outputs, name)

    def __repr__(self) -> str:
        """One line: the sizes."""
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


def _literal(store: Diagrams, nodes: list[int], literal: int) -> int:
    node = nodes[literal >> 1]
    return store.negated(node) if literal & 1 else node


def of_controller(controller: Controller) -> Circuit:
    """A circuit with as many latches as the number of a state has bits.

    Each output and each bit of the next state is a tree of choices, by the bits of the
    state and then by what is read. Numbers that no state has are left out of it: what
    happens there does not matter. Equal gates are one.
    """
    size, reads = controller.num_states, len(controller.reads)
    bits = (size - 1).bit_length()
    making = _Gates(reads + bits)
    memo: dict[tuple[int, int], int] = {}

    def of_node(node: int, values: list[int], which: int) -> int:
        """The literal of a bit of what comes of a node."""
        if node < 0:
            return values[-1 - node] & 1
        key = (which, node)
        if key not in memo:
            low, high = (
                of_node(int(side[node]), values, which)
                for side in (controller.low, controller.high)
            )
            memo[key] = making.choice(2 * (int(controller.test[node]) + 1), high, low)
        return memo[key]

    def of_states(states: list[int], bit: int, values: list[int], which: int) -> int:
        """The same for some states, whose numbers differ below a bit."""
        if bit < 0 or len(states) == 1:
            return of_node(int(controller.node[states[0]]), values, which)
        sides = [[q for q in states if (q >> bit & 1) == on] for on in (0, 1)]
        parts = [of_states(side, bit - 1, values, which) for side in sides if side]
        if len(parts) == 1:
            return parts[0]
        return making.choice(2 * (reads + bit + 1), parts[1], parts[0])

    wanted = [
        [int(x) >> i & 1 for x in controller.output]
        for i in range(len(controller.writes))
    ]
    wanted += [[int(x) >> i & 1 for x in controller.successor] for i in range(bits)]
    found = []
    for which, values in enumerate(wanted):
        limits.tick("making gates", len(making.gates), "gates")
        found.append(of_states(list(range(size)), bits - 1, values, which))
    driver, following = found[: len(controller.writes)], found[len(controller.writes) :]
    return Circuit(
        controller.reads,
        controller.writes,
        np.array(following, np.int64),
        np.zeros(bits, np.int64),
        np.array(driver, np.int64),
        np.array(making.gates, np.int64).reshape(-1, 2),
    )


class _Gates:
    """Gates, each made once.

    Attributes:
        gates: pairs of literals.
    """

    def __init__(self, before: int):
        self.gates: list[tuple[int, int]] = []
        self._before = before
        self._known: dict[tuple[int, int], int] = {}

    def both(self, one: int, other: int) -> int:
        if one > other:
            one, other = other, one
        if one == 0 or one ^ other == 1:
            return 0
        if one == 1 or one == other:
            return other
        key: Any = (other, one)
        if key not in self._known:
            self.gates.append(key)
            self._known[key] = 2 * (self._before + len(self.gates))
        return self._known[key]

    def choice(self, test: int, high: int, low: int) -> int:
        """One literal or the other, as a third one says."""
        if high == low:
            return high
        if high == 1 and low == 0:
            return test
        if high == 0 and low == 1:
            return test ^ 1
        if high == low ^ 1:  # an equivalence: both gates are of one form
            one, other = self.both(test, low), self.both(test ^ 1, low ^ 1)
            return self.both(one ^ 1, other ^ 1)
        if low == 0:
            return self.both(test, high)
        if low == 1:
            return self.both(test, high ^ 1) ^ 1
        if high == 0:
            return self.both(test ^ 1, low)
        if high == 1:
            return self.both(test ^ 1, low ^ 1) ^ 1
        one, other = self.both(test, high), self.both(test ^ 1, low)
        return self.both(one ^ 1, other ^ 1) ^ 1

"""The states that a circuit may come to."""

from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.arguments import integer
from jaxgames.ltl._diagrams import FALSE, TRUE, Diagrams
from jaxgames.synth._tables import tables
from jaxgames.tuning.ltl import CIRCUIT_BITS, CIRCUIT_TABLES_UP_TO


class _Parts(NamedTuple):
    """The arrays of a circuit, as lists; see `Circuit`."""

    num_inputs: int
    begin: list[int]
    following: list[int]
    driver: list[int]
    gates: list[list[int]]


def explored(
    num_inputs: int,
    begin: np.ndarray,
    following: np.ndarray,
    driver: np.ndarray,
    gates: np.ndarray,
    max_states: int,
) -> dict[str, list[int]]:
    """The tables of the machine that a circuit is; the arrays are those of `Circuit`.

    With few inputs the gates are evaluated for all letters and for many states at once,
    a bit for each. Else they are decision diagrams in each state.
    """
    max_states = integer("max_states", max_states, 1)
    lists = (x.tolist() for x in (begin, following, driver, gates))
    parts = _Parts(num_inputs, *lists)
    few = num_inputs <= CIRCUIT_TABLES_UP_TO
    store, roots = (_by_letters if few else _by_diagrams)(parts, max_states)
    return tables(store, roots)


def _too_many(max_states: int) -> ValueError:
    return ValueError(f"the circuit has more than {max_states} states")


def _by_letters(parts: _Parts, max_states: int) -> tuple[Diagrams, list[int]]:
    letters, latches = 1 << parts.num_inputs, len(parts.begin)
    # A bit of a letter is an input, the first one on top: so are those of diagrams.
    letter = np.arange(letters)
    inputs = [letter >> i & 1 for i in reversed(range(parts.num_inputs))]
    at_once = max(1, CIRCUIT_BITS // (letters * (len(parts.gates) + 1)))
    states = np.array([parts.begin], np.uint8).reshape(1, latches)
    number = {np.packbits(states, axis=1).tobytes(): 0}
    store, roots = Diagrams(), []
    while len(roots) < len(states):
        limits.tick("exploring a circuit", len(states), "states")
        some = states[len(roots) : len(roots) + at_once]
        ends = _evaluated(parts, inputs, some)
        count = len(parts.driver)
        outputs = np.zeros(ends.shape[1], np.uint64)
        for i, bits in enumerate(ends[:count]):
            outputs |= bits.astype(np.uint64) << np.uint64(i)
        after = np.ascontiguousarray(ends[count:].T)
        packed = np.packbits(after, axis=1)
        if latches:
            keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
            _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        else:
            first, which = np.zeros(1, int), np.zeros(len(outputs), int)
        known = np.zeros(len(first), np.int64)
        new = []
        for i in np.argsort(first).tolist():
            key = packed[first[i]].tobytes()
            if key not in number:
                if len(number) == max_states:
                    raise _too_many(max_states)
                number[key] = len(number)
                new.append(first[i])
            known[i] = number[key]
        if new:
            states = np.concatenate([states, after[new]])
        roots += _nodes(store, outputs, known[which.reshape(-1)], parts.num_inputs)
    return store, roots


def _evaluated(parts: _Parts, inputs: list, states: np.ndarray) -> np.ndarray:
    """Outputs, and the next value of each latch: uint8 `[O + L, states letters]`."""
    size, letters = len(states), 1 << parts.num_inputs

    def as_bits(values: np.ndarray) -> int:
        packed = np.packbits(values.astype(np.uint8), bitorder="little")
        return int.from_bytes(packed.tobytes(), "little")

    every = (1 << size * letters) - 1
    variables = [as_bits(np.tile(x, size)) for x in inputs]
    variables += [as_bits(np.repeat(x, letters)) for x in states.T]
    # By literals: each function is followed by its negation.
    values = [0, every]
    for x in variables:
        values += (x, every ^ x)
    for place, (one, other) in enumerate(parts.gates):
        if not place & 1023:
            limits.tick("exploring a circuit")
        x = values[one] & values[other]
        values += (x, every ^ x)
    ends = [*parts.driver, *parts.following]
    length = (size * letters + 7) // 8
    found = np.zeros((len(ends), size * letters), np.uint8)
    for row, literal in zip(found, ends, strict=True):
        packed = np.frombuffer(values[literal].to_bytes(length, "little"), np.uint8)
        row[:] = np.unpackbits(packed, count=len(row), bitorder="little")
    return found


def _nodes(
    store: Diagrams, outputs: np.ndarray, targets: np.ndarray, num_inputs: int
) -> list[int]:
    """The diagrams of what comes of the letters of some states."""
    pairs = np.empty(len(outputs), [("output", np.uint64), ("target", np.int64)])
    pairs["output"], pairs["target"] = outputs, targets
    unique, which = np.unique(pairs, return_inverse=True)
    nodes = np.array([store.terminal(x) for x in unique.tolist()], np.int64)
    nodes = nodes[which.reshape(-1)]
    for level in reversed(range(num_inputs)):
        keys = nodes[0::2] << 32 | nodes[1::2]
        unique, which = np.unique(keys, return_inverse=True)
        made = [store.node(level, x >> 32, x & 0xFFFFFFFF) for x in unique.tolist()]
        nodes = np.array(made, np.int64)[which.reshape(-1)]
    return nodes.tolist()


def _by_diagrams(parts: _Parts, max_states: int) -> tuple[Diagrams, list[int]]:
    store, num_inputs = Diagrams(), parts.num_inputs
    variables = []
    for i in range(num_inputs):
        variable = store.variable(i)
        variables += (variable, store.negated(variable))
    number: dict[tuple[int, ...], int] = {tuple(parts.begin): 0}
    order, roots = list(number), []
    ends = [*parts.driver, *parts.following]
    count = len(parts.driver)
    for state in order:
        limits.tick("exploring a circuit", len(order), "states")
        # By literals: each function is followed by its negation.
        nodes = [FALSE, TRUE, *variables]
        for x in state:
            nodes += (TRUE, FALSE) if x else (FALSE, TRUE)
        for one, other in parts.gates:
            a, b = nodes[one], nodes[other]
            if a == FALSE or b == TRUE:
                nodes += (a, nodes[one ^ 1])
            elif b == FALSE or a == TRUE:
                nodes += (b, nodes[other ^ 1])
            else:
                found = store.both(a, b)
                nodes += (found, store.negated(found))
        values = tuple(nodes[x] for x in ends)
        memo: dict[tuple[int, ...], int] = {}

        def joined(values: tuple[int, ...], memo: dict = memo) -> int:
            if values not in memo:
                level = min((store.level[x] for x in values), default=1 << 30)
                if level < num_inputs:
                    pairs = [store.cofactors(x, level) for x in values]
                    low, high = (
                        joined(tuple(pair[side] for pair in pairs)) for side in (0, 1)
                    )
                    memo[values] = store.node(level, low, high)
                else:
                    output = sum(x << i for i, x in enumerate(values[:count]))
                    after = values[count:]
                    if after not in number:
                        if len(number) == max_states:
                            raise _too_many(max_states)
                        number[after] = len(number)
                        order.append(after)
                    memo[values] = store.terminal((output, number[after]))
            return memo[values]

        roots.append(joined(values))
    return store, roots

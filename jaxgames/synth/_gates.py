"""Circuits of machines: latches that hold the state, and gates."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.tuning.ltl import RENUMBERED_UP_TO


class Parts(NamedTuple):
    """The arrays of a circuit, as `Circuit` has them."""

    following: np.ndarray
    begin: np.ndarray
    driver: np.ndarray
    gates: np.ndarray


def of_tables(
    tables: Mapping[str, np.ndarray], num_reads: int, num_writes: int
) -> Parts:
    """A circuit with as many latches as the number of a state has bits.

    States keep their numbers, or get those of a breadth-first search in which what is
    read is true before it is false: what takes fewer gates.
    """
    found = _of_tables(tables, num_reads, num_writes)
    order = _searched(tables)
    size = len(order)
    if order == list(range(size)) or size * len(found.gates) > RENUMBERED_UP_TO:
        return found
    number = np.zeros(size, np.int64)
    number[order] = np.arange(size)
    named = {
        "node": np.asarray(tables["node"])[order],
        "successor": number[tables["successor"]],
    }
    other = _of_tables({**tables, **named}, num_reads, num_writes)
    return min(found, other, key=lambda parts: len(parts.gates))


def _searched(tables: Mapping[str, np.ndarray]) -> list[int]:
    """The states in the order of a search that follows `high` first."""
    node_of, low_of, high_of, successor = (
        tables[name].tolist() for name in ("node", "low", "high", "successor")
    )
    order, seen = [0], {0}
    for q in order:
        work, met = [node_of[q]], set[int]()
        while work:
            node = work.pop()
            if node in met:
                continue
            met.add(node)
            if node >= 0:
                work += [low_of[node], high_of[node]]
            elif successor[-1 - node] not in seen:
                seen.add(successor[-1 - node])
                order.append(successor[-1 - node])
    # What is not reached keeps its place behind.
    return order + [q for q in range(len(node_of)) if q not in seen]


def _of_tables(
    tables: Mapping[str, np.ndarray], num_reads: int, num_writes: int
) -> Parts:
    """The circuit of states as they are numbered.

    Each output and each bit of the next state is a tree of choices, by the bits of the
    state and then by what is read. Numbers that no state has are left out of it: what
    happens there does not matter. Equal gates are one.
    """
    node_of, test, low_of, high_of, output, successor = (
        tables[name].tolist()
        for name in ("node", "test", "low", "high", "output", "successor")
    )
    size, reads = len(node_of), num_reads
    bits = (size - 1).bit_length()
    making = Gates(reads + bits)
    memo: dict[tuple[int, int], int] = {}

    def of_node(node: int, values: list[int], which: int) -> int:
        """The literal of a bit of what comes of a node."""
        if node < 0:
            return values[-1 - node] & 1
        key = (which, node)
        if key not in memo:
            low, high = (
                of_node(side[node], values, which) for side in (low_of, high_of)
            )
            memo[key] = making.choice(2 * (test[node] + 1), high, low)
        return memo[key]

    def of_states(states: list[int], bit: int, values: list[int], which: int) -> int:
        """The same for some states, whose numbers differ below a bit."""
        if bit < 0 or len(states) == 1:
            return of_node(node_of[states[0]], values, which)
        sides = [[q for q in states if (q >> bit & 1) == on] for on in (0, 1)]
        parts = [of_states(side, bit - 1, values, which) for side in sides if side]
        if len(parts) == 1:
            return parts[0]
        return making.choice(2 * (reads + bit + 1), parts[1], parts[0])

    wanted = [[x >> i & 1 for x in output] for i in range(num_writes)]
    wanted += [[x >> i & 1 for x in successor] for i in range(bits)]
    found = []
    for which, values in enumerate(wanted):
        limits.tick("making gates", len(making.gates), "gates")
        found.append(of_states(list(range(size)), bits - 1, values, which))
    return Parts(
        np.array(found[num_writes:], np.int64),
        np.zeros(bits, np.int64),
        np.array(found[:num_writes], np.int64),
        np.array(making.gates, np.int64).reshape(-1, 2),
    )


class Gates:
    """Gates, each made once: pairs of literals."""

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

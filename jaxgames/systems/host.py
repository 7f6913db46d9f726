"""The reachable product of a system and an automaton, by a queue."""

from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.arena import MAX_SIZE
from jaxgames.host import linear


class Rules(NamedTuple):
    """A system and an automaton, as far as they tell what follows a pair of states.

    Attributes:
        offsets: int32 `[S + 1]`, the transitions of each state of the system.
        targets: int32, where they lead.
        letter: int32 `[S]`, the number of the letter that each state has.
        move_offsets: int32 `[L A + 1]`; entry `a A + q` is where the edges begin that
            state `q` of the automaton can take by letter `a`.
        move_targets: int32, where they lead.
        num_automaton_states: A.
    """

    offsets: Any
    targets: Any
    letter: Any
    move_offsets: Any
    move_targets: Any
    num_automaton_states: Any


class Found(NamedTuple):
    """A product, as [`Product`][jaxgames.systems.Product] describes it.

    Attributes:
        offsets: int32 `[V + 1]`.
        targets: int32 `[E]`.
        system_state: int32 `[V]`.
        automaton_state: int32 `[V]`.
        levels: int32 `[L + 1]`.
    """

    offsets: np.ndarray
    targets: np.ndarray
    system_state: np.ndarray
    automaton_state: np.ndarray
    levels: np.ndarray


def expand(rules: Rules, starts: np.ndarray) -> Found | None:
    """Breadth-first search from some pairs, level by level.

    O(S A) space and O(S A + E + V log V) time.

    Args:
        rules: the system and the automaton.
        starts: int64 `[K]`, ascending: pair `(s, q)` is `s A + q`.

    Returns:
        The product; None if it has more vertices or edges than int32 can index.
    """
    size = (len(rules.offsets) - 1) * rules.num_automaton_states
    kind = np.int32 if size <= MAX_SIZE else np.int64
    with limits.ticking_beside("building the product") as stop:
        codes, offsets, targets, levels = _search(
            rules.offsets,
            rules.targets,
            rules.letter,
            rules.move_offsets,
            rules.move_targets,
            max(rules.num_automaton_states, 1),
            starts.astype(kind),
            MAX_SIZE,
            stop,
        )
    if len(levels) == 0:
        return None
    states = max(rules.num_automaton_states, 1)
    return Found(
        offsets=offsets,
        targets=targets.astype(np.int32, copy=False),
        system_state=(codes // states).astype(np.int32, copy=False),
        automaton_state=(codes % states).astype(np.int32, copy=False),
        levels=levels,
    )


@linear
def _search(
    offsets, targets, letter, move_offsets, move_targets, states, starts, limit, stop
):
    number = np.zeros((len(offsets) - 1) * states, np.int32)  # 1 + that of each pair
    codes = _grown(starts, 1024)
    rows = np.zeros(1025, np.int32)
    heads = np.empty(1024, starts.dtype)
    levels = np.zeros(16, np.int32)
    for v in range(len(starts)):
        number[starts[v]] = v + 1
    depth, begin, end, edges = 0, 0, len(starts), 0
    while begin < end:
        depth += 1
        levels = _grown(levels, depth + 1)
        levels[depth] = end
        found, first = end, edges
        rows = _grown(rows, end + 1)
        for v in range(begin, end):
            s, q = codes[v] // states, codes[v] % states
            row = np.int64(letter[s]) * states + q
            lo, hi = move_offsets[row], move_offsets[row + 1]
            more = np.int64(offsets[s + 1] - offsets[s]) * (hi - lo)
            if edges + more > limit or found + more > limit or stop[0] != 0:
                return codes, rows, heads, levels[:0]
            heads = _grown(heads, edges + more)
            codes = _grown(codes, found + more)
            for e in range(offsets[s], offsets[s + 1]):
                for m in range(lo, hi):
                    code = np.int64(targets[e]) * states + move_targets[m]
                    heads[edges] = code
                    edges += 1
                    if number[code] == 0:
                        number[code] = -1
                        codes[found] = code
                        found += 1
            rows[v + 1] = edges
        codes[end:found] = np.sort(codes[end:found])
        for v in range(end, found):
            number[codes[v]] = v + 1
        for e in range(first, edges):
            heads[e] = number[heads[e]] - 1
        begin, end = end, found
    return (
        codes[:end].copy(),
        rows[: end + 1].copy(),
        heads[:edges].copy(),
        levels[: depth + 1].copy(),
    )


@linear
def _grown(array, size):
    """The array itself, or a longer copy if it is too short."""
    if size <= len(array):
        return array
    longer = np.empty(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer

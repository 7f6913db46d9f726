"""Formulas of linear temporal logic, and products with deterministic automata.

A run is followed by the automaton, so that a formula is met where the run stays in end
components of the product whose largest priority is even [1].

References:
    [1] Baier and Katoen, Principles of Model Checking, MIT Press, 2008, section 10.6.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.ltl import Formula
from jaxgames.mdp import host
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._property import (
    Constant,
    Operation,
    PropertyError,
    Temporal,
    is_path,
)

MOST_STATES = 10_000
"""States that the automaton of a formula may have."""

MOST_NEXT = 50
"""Steps that a bound inside of a formula may name: each is written out."""

_OPERATORS = {"!": "!", "&": "&", "|": "|", "=>": "->", "<=>": "<->"}
"""Those of properties as `ltl` writes them."""


def shared_atoms(paths: Sequence[Any]) -> set[str]:
    """What several properties of states in properties of paths are made of.

    Were each of them a proposition, an automaton would not know that `"a"` and `!"a"`
    do not hold together, and could be far larger.
    """
    found: dict[str, set[str]] = {}

    def look(node: Any) -> None:
        if not is_path(node):
            found[str(node)] = set(_atoms(node))
            return
        for part in node.operands:
            look(part)

    for path in paths:
        look(path)
    counts = Counter(atom for atoms in found.values() for atom in atoms)
    return {atom for atom, count in counts.items() if count > 1}


def _atoms(node: Any) -> Iterator[str]:
    """What a property of states is a Boolean combination of."""
    if isinstance(node, Operation) and node.operator in _OPERATORS:
        for part in node.operands:
            yield from _atoms(part)
    elif not isinstance(node, Constant):
        yield str(node)


def formula_of(
    path: Any,
    number: Callable[[Any], int],
    bounds_of: Any,
    shared: set[str],
    within: bool = False,
) -> Formula:
    """A property of paths as a formula: the property of states with number k is `pk`.

    `number` gives that of a property of states, `bounds_of` the first and the last step
    of an operator. A property of states is one proposition, unless it has `shared`
    atoms or is `within` one that has: then its atoms are.
    """
    if not is_path(path):
        if isinstance(path, Constant) and isinstance(path.value, bool):
            return Formula("true" if path.value else "false")
        combines = isinstance(path, Operation) and path.operator in _OPERATORS
        if not combines or not (within or shared.intersection(_atoms(path))):
            return Formula("name", name=f"p{number(path)}")
        within = True
    assert isinstance(path, Operation | Temporal)
    parts = [formula_of(x, number, bounds_of, shared, within) for x in path.operands]
    if isinstance(path, Operation):
        if path.operator not in _OPERATORS:
            raise PropertyError(path.place, f"{path.operator} of a property of paths")
        return Formula(_OPERATORS[path.operator], tuple(parts))
    first, last = bounds_of(path)
    if last is None and not first:
        return Formula(path.operator, tuple(parts))
    if last is not None and last > MOST_NEXT or first > MOST_NEXT:
        raise PropertyError(
            path.place, f"a bound inside of a formula may be {MOST_NEXT} at most"
        )
    return _written_out(path.operator, parts, first, last)


def _written_out(kind: str, parts: list[Formula], first: int, last: Any) -> Formula:
    """A temporal operator with a bound, step by step."""
    if kind in ("G", "R", "W"):
        opposite = [Formula("!", (x,)) for x in parts]
        if kind == "W":  # not both fail before the second has held
            one, other = opposite
            opposite = [other, Formula("&", (one, other))]
        dual = "F" if kind == "G" else "U"
        return Formula("!", (_written_out(dual, opposite, first, last),))
    left, right = (Formula("true"), parts[0]) if kind == "F" else parts

    def before(later: Formula) -> Formula:
        return Formula("&", (left, Formula("X", (later,))))

    if last is None:
        found = Formula("U", (left, right))
    else:
        found = right
        for _ in range(last - first):
            found = Formula("|", (right, before(found)))
    for _ in range(first):
        found = before(found)
    return found


class Deterministic(NamedTuple):
    """A deterministic automaton over the letters that occur; state 0 is the first.

    Attributes:
        delta: int `[Q, L]`, the next state for each letter, -1 where there is none.
        label: int64 `[Q, L]`, what the edge there has.
    """

    delta: np.ndarray
    label: np.ndarray


def deterministic(graph: Any, label: np.ndarray, letters: list[int]) -> Deterministic:
    """An automaton over some letters, with its first state at 0.

    Args:
        graph: an `ltl.Automaton` with one initial state.
        label: integers `[E]`, of its edges.
        letters: masks of its propositions.

    Raises:
        ValueError: a letter has two edges.
    """
    size, sources = graph.num_states, graph.sources
    number = np.arange(size)
    first = int(graph.initial[0])
    number[first], number[0] = 0, first
    delta = np.full((size, len(letters)), -1)
    there = np.zeros((size, len(letters)), np.int64)
    for at, letter in enumerate(letters):
        edges = np.flatnonzero(graph.enabled([letter])[0])
        twice = np.flatnonzero(np.bincount(sources[edges], minlength=size) > 1)
        if len(twice):
            held = [x for i, x in enumerate(graph.propositions) if letter >> i & 1]
            raise ValueError(
                f"the automaton is not deterministic: state {twice[0]} has two edges "
                f"where {', '.join(held) or 'nothing'} holds; "
                "ltl.Automaton.determinise makes one that is"
            )
        here = number[sources[edges]]
        delta[here, at] = number[graph.targets[edges]]
        there[here, at] = label[edges]
    return Deterministic(delta, there)


def followed(
    model: MDP, found: Deterministic, letter: np.ndarray
) -> tuple[MDP, np.ndarray]:
    """A model whose states are those of another one with those of an automaton.

    Args:
        model: a concrete model with probabilities.
        found: the automaton.
        letter: int `[S]`, the place of the letter of each state.

    Returns:
        The product, and what the edge has that is taken in each of its states but the
        last: int64. State `q * S + s` is that in which the automaton is in q before it
        reads s; the last one is that of runs that it cannot follow.
    """
    size, count, owner = model.num_states, len(found.delta), owner_of(model)
    real = int(np.asarray(model.row_group_offsets)[-1])
    rows = np.asarray(model.row_offsets)[: real + 1]
    columns = np.asarray(model.columns)[: rows[-1]]
    limits.check_room(count * (len(columns) * 24 + size * 16), "the product")
    sink, branches = count * size, len(columns)
    source = np.repeat(letter[owner[:real]], np.diff(rows))
    target = np.full(count * branches + 1, sink, np.int32)
    for q in limits.ticking(range(count), "making the product"):
        to = found.delta[q][source]
        own = target[q * branches : (q + 1) * branches]
        own[:] = np.where(to < 0, sink, to * size + columns)
    # A padding state has no choice here either.
    groups = np.asarray(model.row_group_offsets)[:-1]
    probs = np.asarray(model.probs, np.float64)[:branches]
    made = MDP(
        row_group_offsets=_copied(groups, real, count),
        row_offsets=_copied(rows[:-1], branches, count),
        columns=target,
        probs=np.append(np.tile(probs, count), 1.0),
    )
    return made, found.label[:, letter].ravel()


def _copied(begins: np.ndarray, end: int, count: int) -> np.ndarray:
    """Offsets of so many copies, one behind the other, and of one thing more: int32."""
    copies = begins + end * np.arange(count)[:, None]
    return np.append(copies, [count * end, count * end + 1]).astype(np.int32)


def components_of(
    model: MDP,
    priority: np.ndarray,
    parity: int,
    check: Callable[[np.ndarray, Any], None] | None = None,
) -> np.ndarray:
    """The states of end components whose largest priority has a parity: bool `[S]`.

    Args:
        model: a concrete model.
        priority: int64 `[S]`.
        parity: 0 for even, 1 for odd.
        check: called with the states that were looked at, and the components in them.
    """
    left = np.diff(np.asarray(model.row_group_offsets, np.int64)) > 0
    good = np.zeros(model.num_states, bool)
    while left.any():
        limits.tick("looking for components of a priority", int(left.sum()), "states")
        found = host.mec(model, states=left)
        if check is not None:
            check(left, found)
        label = np.asarray(found.state_label)
        inside = label >= 0
        top = np.full(int(found.count) + 1, -1)  # the last one is of no component
        np.maximum.at(top, label[inside], priority[inside])
        largest = top[label]
        won = inside & (largest % 2 == parity)
        good |= won
        left = inside & ~won & (priority < largest)
    return good

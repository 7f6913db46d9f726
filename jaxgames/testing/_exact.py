"""Exact answers for small models: by every scheduler, and by all sets of states."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames import mdp

Chain = list[list[tuple[int, Fraction]]]
"""For each state its branches: target and probability."""


def random_model(
    rng, size: int, max_choices: int = 2, max_branches: int = 3
) -> mdp.MDP:
    """A model of random choices; loops, and branches that meet, are likely."""
    groups, rows, columns, probs = [0], [0], [], []
    for _ in range(size):
        for _ in range(rng.integers(1, max_choices + 1)):
            degree = rng.integers(1, max_branches + 1)
            columns += rng.integers(0, size, degree).tolist()
            weight = rng.integers(1, 5, degree)
            probs += (weight / weight.sum()).tolist()
            rows.append(len(columns))
        groups.append(len(rows) - 1)
    return mdp.MDP.from_arrays(groups, rows, columns, probs)


def branches(model: mdp.MDP, choice: int) -> list[tuple[int, Fraction]]:
    """Where a choice leads, with probabilities relative to their sum."""
    here = slice(*model.row_offsets[choice : choice + 2].tolist())
    probs = [Fraction(p) for p in model.probs[here].tolist()]
    total = sum(probs)
    targets = model.columns[here].tolist()
    return [(t, p / total) for t, p in zip(targets, probs, strict=True)]


def chains(model: mdp.MDP):
    """Each deterministic memoryless scheduler, with the chain it makes."""
    groups = model.row_group_offsets.tolist()
    own = [range(*pair) for pair in itertools.pairwise(groups)]
    rows = [branches(model, choice) for choice in range(model.num_choices)]
    for scheduler in itertools.product(*own):
        yield scheduler, [rows[choice] for choice in scheduler]


def closure(chain: Chain) -> Any:
    """Which states reach which, in any number of steps: bool `[S, S]`."""
    size = len(chain)
    reach: Any = np.eye(size, dtype=bool)
    for state, out in enumerate(chain):
        reach[state, [t for t, _ in out]] = True
    for middle in range(size):
        reach = reach | (reach[:, middle, None] & reach[None, middle])
    return reach


def stopped(chain: Chain, target, passed) -> Chain:
    """The chain made absorbing in the target, and where a path has failed."""
    return [
        out if passed[state] and not target[state] else [(state, Fraction(1))]
        for state, out in enumerate(chain)
    ]


def chain_values(chain: Chain, target, passed) -> list[Fraction]:
    """The probability to reach a target from each state, by elimination."""
    chain = stopped(chain, target, passed)
    size = len(chain)
    reaches = closure(chain)[:, np.asarray(target, bool)].any(1)
    value = [Fraction(int(t)) for t in target]
    open_ = [s for s in range(size) if reaches[s] and not target[s]]
    place = {s: i for i, s in enumerate(open_)}
    rows = []
    for s in open_:
        row = [Fraction(int(t == s)) for t in open_] + [Fraction(0)]
        for t, p in chain[s]:
            if t in place:
                row[place[t]] -= p
            else:
                row[-1] += p * value[t]
        rows.append(row)
    for s, found in zip(open_, solved(rows), strict=True):
        value[s] = found
    return value


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """The solution of linear equations, by elimination."""
    rows = [list(row) for row in rows]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                rows[i] = [
                    x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)
                ]
    return [row[-1] for row in rows]


def reach_values(
    model: mdp.MDP, target, passed
) -> tuple[list[Fraction], list[Fraction]]:
    """The least and largest probability to reach a target, over all schedulers."""
    values = [chain_values(chain, target, passed) for _, chain in chains(model)]
    return [min(x) for x in zip(*values, strict=True)], [
        max(x) for x in zip(*values, strict=True)
    ]


def surely_for_ever(chain: Chain, accepting) -> Any:
    """From where a chain visits a set infinitely often with probability one."""
    reach = closure(chain)
    accepting = np.asarray(accepting, bool)
    recurrent = np.array(
        [all(reach[t, s] for t in np.flatnonzero(reach[s])) for s in range(len(chain))]
    )
    good = np.array([(reach[s] & accepting).any() for s in range(len(chain))])
    return ~(reach & (recurrent & ~good)[None]).any(1)


def buchi_states(model: mdp.MDP, accepting) -> Any:
    """From where some scheduler visits a set for ever with probability one."""
    won: Any = [surely_for_ever(chain, accepting) for _, chain in chains(model)]
    return np.asarray(won).any(0)


def chain_of(model: mdp.MDP) -> Chain:
    """A model with one choice in each state as a chain."""
    return [branches(model, state) for state in range(model.num_choices)]


# ---- end components --------------------------------------------------------------


def targets_of(model: mdp.MDP) -> list[list[tuple[int, set[int]]]]:
    """Of each state its choices: number and targets."""
    groups, offsets = model.row_group_offsets, model.row_offsets
    return [
        [
            (c, set(model.columns[offsets[c] : offsets[c + 1]].tolist()))
            for c in range(groups[s], groups[s + 1])
        ]
        for s in range(model.num_states)
    ]


def end_component(table, members: set[int]) -> set[int] | None:
    """The choices of the largest end component on these states, if there is one."""
    inside = {s: [(c, t) for c, t in table[s] if t <= members] for s in members}
    if not all(inside.values()):
        return None
    for start in members:
        seen, todo = {start}, [start]
        while todo:
            for _, targets in inside[todo.pop()]:
                todo += targets - seen
                seen |= targets
        if seen != members:
            return None
    return {c for choices in inside.values() for c, _ in choices}


def end_components(model: mdp.MDP, states=None, choices=None):
    """Labels and kept choices, from all sets of states."""
    table = targets_of(model)
    if choices is not None:
        table = [[(c, t) for c, t in row if choices[c]] for row in table]
    allowed = [s for s in range(model.num_states) if states is None or states[s]]
    label = np.full(model.num_states, -1, np.int32)
    kept = np.zeros(model.num_choices, bool)
    # The largest sets first: what lies in one that was found is not maximal.
    found: list[set[int]] = []
    for size in range(len(allowed), 0, -1):
        for members in map(set, itertools.combinations(allowed, size)):
            inside = any(members <= larger for larger in found)
            connected = None if inside else end_component(table, members)
            if connected is not None:
                found.append(members)
                kept[list(connected)] = True
    for number, members in enumerate(sorted(found, key=min)):
        label[list(members)] = number
    return label, kept

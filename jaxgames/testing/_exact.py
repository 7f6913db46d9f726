"""Exact answers for small models: by every scheduler, and by all sets of states."""

import itertools
from fractions import Fraction

import numpy as np

from jaxgames import mdp
from jaxgames.mdp import reference


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


branches = reference._branches
"""Where a choice leads, with probabilities relative to their sum."""


def chain_of(model: mdp.MDP) -> reference.Chain:
    """A model with one choice in each state as a chain."""
    return [branches(model, state) for state in range(model.num_choices)]


def closure(chain: reference.Chain) -> np.ndarray:
    """Which states reach which, in any number of steps: bool `[S, S]`."""
    return np.array(reference._reachability(chain))


def chain_values(chain: reference.Chain, target, passed) -> list[reference.Exact]:
    """The probability to reach a target from each state, by elimination."""
    one = Fraction(1)
    return reference._chain_values("reach", chain, [], target, passed, one)


def reach_values(model: mdp.MDP, target, passed) -> tuple[list, list]:
    """The least and largest probability to reach a target, over all schedulers."""
    asked = {"target": target, "states": passed}
    least = reference.values(model, "reach", "min", **asked)
    return least, reference.values(model, "reach", "max", **asked)


def surely_for_ever(chain: reference.Chain, accepting) -> np.ndarray:
    """From where a chain visits a set infinitely often with probability one."""
    one = Fraction(1)
    values = reference._chain_values("buchi", chain, [], accepting, [], one)
    return np.array([value == 1 for value in values])


def buchi_states(model: mdp.MDP, accepting) -> np.ndarray:
    """From where some scheduler visits a set for ever with probability one."""
    values = reference.values(model, "buchi", target=accepting)
    return np.array([value == 1 for value in values])


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

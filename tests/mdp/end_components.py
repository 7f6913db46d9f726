"""Models of all shapes to try, and their end components by definition."""

import dataclasses

import numpy as np

from jaxgames import ops
from jaxgames.mdp import MDP, _layout


def tiny_model(rng: np.random.Generator, max_states: int = 6) -> MDP:
    """A random model for brute force: sparse or dense, with loops and repetitions."""
    size = int(rng.integers(1, max_states, endpoint=True))
    choices = rng.integers(1, rng.integers(1, 4), size, endpoint=True)
    branches = rng.integers(1, rng.integers(1, 4), choices.sum(), endpoint=True)
    columns = rng.integers(0, size, branches.sum())
    if rng.random() < 0.5:  # neighbours: more components
        owner = np.repeat(np.repeat(np.arange(size), choices), branches)
        columns = (owner + rng.integers(-1, 2, len(owner))) % size
    return MDP.from_arrays(
        np.append(0, np.cumsum(choices)), np.append(0, np.cumsum(branches)), columns
    )


def tiny_models(seed: int, count: int) -> list[MDP]:
    rng = np.random.default_rng(seed)
    return [tiny_model(rng) for _ in range(count)]


def padded(model: MDP) -> MDP:
    """To the size of all tiny models: one compilation for all."""
    return model.pad(8, 32, 64)


def with_rows(model: MDP) -> _layout.Layout:
    """The layout of a padded model, with rows, so that all have one shape."""
    groups, rows = model.row_group_offsets, model.row_offsets
    into, entering = ops.transpose(rows, model.columns[: rows[-1]], model.num_states)
    entering = np.pad(entering, (0, model.num_branches - len(entering)))
    lists = _layout.Rows(into, entering, rows[groups], model.columns, rows)
    layout = _layout.prepare(model, graph=True)
    return dataclasses.replace(layout, rows=lists)


def timed_model(rng: np.random.Generator, most: int) -> MDP:
    """A few states, and chains of states that count on the way from one to another.

    A state of a chain may be left early, go back to itself, or leave the rest to lots.
    """
    corners = int(rng.integers(1, 8))
    places = rng.permutation(most).tolist()  # in no order
    states = {place: [] for place in places[:corners]}
    free = places[corners:]

    def somewhere() -> int:
        return int(rng.choice(list(states)))

    def chain(goal: int) -> int:
        """The first state of a chain to a state."""
        exits, lots, loops = rng.choice([0, 0.1, 0.5, 1], 3) * [1, 0.3, 0.2]
        for _ in range(min(int(rng.integers(0, 13)), len(free))):
            state = free.pop()
            choices = [[goal, somewhere()] if rng.random() < lots else [goal]]
            if rng.random() < exits:
                choices.append([somewhere()])
            if rng.random() < loops:
                choices.append([state])
            states[state] = choices
            goal = state
        return goal

    for corner in places[:corners]:
        for _ in range(int(rng.integers(1, 4))):
            goals = [chain(somewhere()) for _ in range(int(rng.integers(1, 3)))]
            states[corner].append(goals)
    return packed(states)


def packed(states: dict[int, list[list[int]]]) -> MDP:
    """The model of states under any numbers, in their order."""
    order = sorted(states)
    place = {state: number for number, state in enumerate(order)}
    choices = [choice for state in order for choice in states[state]]
    return MDP.from_arrays(
        np.append(0, np.cumsum([len(states[state]) for state in order])),
        np.append(0, np.cumsum([len(choice) for choice in choices])),
        np.array([place[target] for choice in choices for target in choice]),
    )


COUNTEREXAMPLE = MDP.from_arrays(
    [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2], [1, 0.5, 0.5, 1, 1]
)
"""Its graph has a component {0, 1} of which each state keeps a choice, yet which is no
end component: the only edge from 0 to 1 belongs to a choice that may leave."""

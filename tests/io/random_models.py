"""Random Markov decision processes, and comparing them, for the tests of formats."""

import contextlib
import dataclasses
import random

import numpy as np
from hypothesis import strategies as st

from jaxgames import io
from jaxgames.mdp import MDP

WORDS = ("a", "goal", "x1", "done_2")
ODD = ("((l = 4) & (ip = 1))", "a b", "é & ü", "[x>=1]{!}", "#END", "7", "//", "a: 1")
"""Names with what is special in some format."""


@st.composite
def models(
    draw,
    labels=True,
    actions=True,
    rewards=True,
    names=WORDS,
    branches=False,
    variables=False,
    intervals=False,
    rates=False,
):
    """A model with probabilities that are no round numbers.

    Args:
        labels: whether states may have labels.
        actions: whether choices may.
        rewards: whether states and choices may have rewards.
        names: of labels and of reward models.
        branches: whether branches may have rewards.
        variables: whether states may have values of variables.
        intervals: whether only bounds of the probabilities are known.
        rates: whether it is a chain in continuous time.
    """
    size = draw(st.integers(1, 6))
    choices = [
        [
            draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
            for _ in range(1 if rates else draw(st.integers(1, 3)))
        ]
        for _ in range(size)
    ]
    rows = [row for group in choices for row in group]
    probs = []
    for row in rows:
        parts = [draw(st.integers(1, 9)) for _ in row]
        probs += [part / sum(parts) for part in parts]
    count = len(rows)

    def sets(length):
        bits = st.lists(st.booleans(), min_size=length, max_size=length).map(np.array)
        return draw(st.dictionaries(st.sampled_from(names), bits, max_size=3))

    def values(length, names=names):
        number = st.integers(0, 3) | st.floats(-1e3, 1e3)
        array = st.lists(number, min_size=length, max_size=length).map(np.array)
        return draw(st.dictionaries(st.sampled_from(names), array, max_size=2))

    def valuations():
        kinds = st.sampled_from(
            [st.booleans(), st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)]
        )
        return {
            name: np.array([draw(kind) for _ in range(size)])
            for name in ("x", "y_1")
            for kind in [draw(kinds)]
        } | draw(st.just({}) | st.just({"z": np.arange(size) / 3}))

    bounds = {}
    if intervals:
        slack = np.array([draw(st.floats(0, 1)) for _ in probs])
        bounds = {
            "lower": probs * slack,
            "upper": probs + (1 - np.array(probs)) * slack,
        }
        bounds["upper"] = np.minimum(bounds["upper"], 1)
    if rates:
        rate = st.floats(1e-3, 1e3)
        bounds["exit_rates"] = draw(st.lists(rate, min_size=size, max_size=size))
    action = np.array([draw(st.integers(0, 2)) for _ in rows])
    words = draw(st.permutations(WORDS))
    return MDP.from_arrays(
        np.cumsum([0] + [len(group) for group in choices]),
        np.cumsum([0] + [len(row) for row in rows]),
        [target for row in rows for target in row],
        None if intervals else probs,
        initial=sorted(draw(st.sets(st.integers(0, size - 1)))),
        labels=sets(size) if labels else None,
        choice_labels=(
            {words[k]: action == k for k in (1, 2) if (action == k).any()}
            if actions
            else None
        ),
        state_rewards=values(size) if rewards else None,
        choice_rewards=values(count) if rewards else None,
        branch_rewards=values(len(probs)) if branches else None,
        valuations=valuations() if variables else None,
        **bounds,
    )


def equal(a: MDP, b: MDP, *, empty_sets: bool = True, rewards: bool = True) -> bool:
    """Whether two models are the same.

    Args:
        a: a model.
        b: another.
        empty_sets: whether labels count that are nowhere.
        rewards: whether rewards count.
    """
    arrays = ("row_group_offsets", "row_offsets", "columns", "probs", "lower", "upper")
    arrays += ("exit_rates",)
    for name in arrays:
        x, y = getattr(a, name), getattr(b, name)
        if (x is None) != (y is None):
            return False
        if x is not None and (x.dtype != y.dtype or not np.array_equal(x, y)):
            return False
    if not np.array_equal(a.initial, b.initial):
        return False
    names = ["labels", "choice_labels", "valuations"]
    names += ["state_rewards", "choice_rewards", "branch_rewards"] * rewards
    for name in names:
        x, y = (getattr(model, name) or {} for model in (a, b))
        if not empty_sets and name.endswith("labels"):
            x, y = ({k: v for k, v in z.items() if v.any()} for z in (x, y))
        if set(x) != set(y) or not all(np.array_equal(x[k], y[k]) for k in x):
            return False
        if any(x[k].dtype != y[k].dtype for k in x):
            return False
    return True


def without(model: MDP, *names: str) -> MDP:
    return dataclasses.replace(model, **dict.fromkeys(names))


def check_that_damage_is_told(path, data: bytes, seed: int, rounds: int = 60):
    """Files that are cut, or have bytes changed, are read or refused, nothing else."""
    choose = random.Random(seed)
    refused = 0
    for _ in range(rounds):
        damaged = bytearray(data)
        for _ in range(choose.randint(1, 3)):
            where = choose.randrange(len(damaged))
            match choose.randrange(4):
                case 0:
                    damaged[where] = choose.randrange(256)
                case 1:
                    damaged[where] = choose.choice(b'0123456789 :[]"(),-\n@e/')
                case 2:
                    damaged.insert(where, choose.choice(b'9 :[]"(),-\n@e/'))
                case _:
                    del damaged[where : where + choose.randint(1, 40)]
            if not damaged:
                break
        path.write_bytes(bytes(damaged))
        with contextlib.suppress(io.FormatError):
            refused += 1
            io.load(path)
            refused -= 1
    assert refused

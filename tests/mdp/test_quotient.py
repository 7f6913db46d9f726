"""The quotient by end components."""

import numpy as np
import pytest

from jaxgames import mdp
from jaxgames.testing import _exact as exact


def pair() -> mdp.MDP:
    """{0, 2} is a component with two ways out; 1 is in none, {3} cannot be left."""
    return mdp.MDP.from_arrays(
        [0, 2, 3, 5, 6],
        [0, 1, 3, 5, 6, 9, 10],
        [2, 1, 3, 0, 2, 0, 0, 2, 3, 3],
        [1, 0.5, 0.5, 0.25, 0.75, 1, 0.25, 0.25, 0.5, 1],
        initial=[2, 0, 3],
        labels={"a": [0, 0, 1, 0], "b": [0, 1, 0, 0]},
    )


def rows(model: mdp.MDP) -> list[list[dict[int, float]]]:
    """The branches of each choice of each state, as a mapping."""
    found = []
    for state in range(model.num_states):
        first, stop = model.row_group_offsets[state : state + 2]
        here = []
        for choice in range(first, stop):
            cut = slice(*model.row_offsets[choice : choice + 2])
            here.append(
                dict(
                    zip(
                        model.columns[cut].tolist(),
                        model.probs[cut].tolist(),
                        strict=True,
                    )
                )
            )
        found.append(here)
    return found


def test_by_hand():
    model = pair()
    small = mdp.quotient(model, mdp.mec(model))
    assert small.new_state.tolist() == [0, 1, 0, 2]
    assert small.component.tolist() == [0, -1, 1]
    assert small.old_choice.tolist() == [1, 4, 2, -1]
    assert small.new_choice.tolist() == [-1, 0, 2, -1, 1, -1]
    assert rows(small.model) == [
        [{1: 0.5, 2: 0.5}, {0: 0.5, 2: 0.5}],
        [{0: 1.0}],
        [{2: 1.0}],
    ]
    assert small.model.initial.tolist() == [0, 2]
    assert small.model.labels["a"].tolist() == [True, False, False]
    assert small.model.labels["b"].tolist() == [False, True, False]


def test_every_component_may_stay():
    model = pair()
    small = mdp.quotient(model, mdp.mec(model), stay=True)
    assert small.old_choice.tolist() == [1, 4, -1, 2, -1]
    assert rows(small.model)[0][-1] == {0: 1.0}
    assert len(rows(small.model)[1]) == 1


def test_no_probabilities():
    model = mdp.MDP.from_arrays([0, 2, 3], [0, 1, 3, 4], [0, 0, 1, 1])
    small = mdp.quotient(model, mdp.mec(model))
    assert small.model.probs is None
    assert small.old_choice.tolist() == [1, -1]
    assert [x.tolist() for x in small.model.successors(0)] == [[0, 1]]


def test_it_is_a_valid_model_of_the_same_values():
    rng = np.random.default_rng(0)
    smaller = 0
    for _ in range(60):
        model = exact.random_model(rng, int(rng.integers(1, 6)))
        components = mdp.reference.mec(model)
        small = mdp.quotient(model, components)
        quotient = small.model
        mdp.MDP.from_arrays(
            quotient.row_group_offsets,
            quotient.row_offsets,
            quotient.columns,
            quotient.probs,
        )
        smaller += quotient.num_states < model.num_states
        # Its components have one state each, and are those that cannot be left.
        again = mdp.reference.mec(quotient)
        assert again.count == (again.state_label >= 0).sum()
        assert set(np.flatnonzero(again.choice_kept)) == {
            *np.flatnonzero(small.old_choice == -1)
        }
        # The largest probability to reach a whole component, or a state in none.
        goal = np.arange(quotient.num_states) == rng.integers(quotient.num_states)
        through = np.ones(quotient.num_states, bool)
        _, value = exact.reach_values(quotient, goal, through)
        _, expected = exact.reach_values(
            model, goal[small.new_state], through[small.new_state]
        )
        assert [float(value[s]) for s in small.new_state] == pytest.approx(
            [float(x) for x in expected], abs=1e-12
        )
    assert smaller > 10


def test_padding_stays_padding():
    model = pair()
    padded = model.pad(8, 16, 32)
    small = mdp.quotient(padded, mdp.reference.mec(padded))
    alone = mdp.quotient(model, mdp.reference.mec(model))
    assert small.model.num_states == alone.model.num_states + 4
    assert small.old_choice.tolist() == alone.old_choice.tolist()
    np.testing.assert_array_equal(small.model.columns, alone.model.columns)


def test_components_of_another_model():
    model = pair()
    other = mdp.MDP.from_arrays([0, 1], [0, 1], [0])
    with pytest.raises(ValueError, match="of a model with 1 states and 1 choices"):
        mdp.quotient(model, mdp.mec(other))

"""Paths that are bounded by what they earn."""

from fractions import Fraction

import numpy as np
import pytest

from jaxgames import mdp
from jaxgames.mdp import Property, PropertyError, _budget


def some_model(seed: int) -> mdp.MDP:
    """A small decision process with rewards of states, choices and branches."""
    rng = np.random.default_rng(seed)
    groups, rows, columns, probs = [0], [0], [], []
    for _ in range(6):
        for _ in range(rng.integers(1, 4)):
            many = int(rng.integers(1, 4))
            columns += rng.choice(6, many, replace=False).tolist()
            parts = rng.integers(1, 5, many)
            probs += (parts / parts.sum()).tolist()
            rows.append(len(columns))
        groups.append(len(rows) - 1)
    return mdp.MDP.from_arrays(
        groups,
        rows,
        columns,
        probs,
        labels={"a": rng.random(6) < 0.8, "b": rng.random(6) < 0.3},
        state_rewards={"r": rng.integers(0, 2, 6) / 2},
        choice_rewards={"r": rng.integers(0, 3, len(rows) - 1) / 2},
        branch_rewards={"r": rng.integers(0, 2, len(columns)) / 2},
    )


def followed(model: mdp.MDP, low: float, high: float, optimum: str) -> np.ndarray:
    """`a U b` where so much has been earned, from the definition: steps from below."""
    best = min if optimum == "min" else max
    groups, rows = np.asarray(model.row_group_offsets), np.asarray(model.row_offsets)
    assert model.labels is not None
    assert model.state_rewards is not None
    assert model.choice_rewards is not None
    assert model.branch_rewards is not None
    left, right = np.asarray(model.labels["a"]), np.asarray(model.labels["b"])
    of_state, of_choice, of_branch = (
        np.asarray(x["r"])
        for x in (model.state_rewards, model.choice_rewards, model.branch_rewards)
    )
    # All that is earned is a multiple of a half; beyond the bounds it is all the same.
    most = int(2 * min(high, low)) + 2 if np.isinf(high) else int(2 * high) + 1
    values = np.zeros((6, most + 1))
    for _ in range(4000):
        before = values.copy()
        for s in range(6):
            for level in range(most + 1):
                if right[s] and low <= level / 2 <= high:
                    values[s, level] = 1
                elif left[s]:
                    worth = []
                    for c in range(groups[s], groups[s + 1]):
                        sum_ = 0.0
                        for b in range(rows[c], rows[c + 1]):
                            earned = of_state[s] + of_choice[c] + of_branch[b]
                            then = min(level + int(2 * earned), most)
                            to = np.asarray(model.columns)[b]
                            sum_ += np.asarray(model.probs)[b] * before[to, then]
                        worth.append(sum_)
                    values[s, level] = best(worth)
        if np.abs(values - before).max() < 1e-13:
            return values[:, 0]
    raise AssertionError("steps do not come to an end")


@pytest.mark.parametrize("at_once", [1, 1 << 20])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("<=3", 0, 3), ("<2", 0, 1.5), (">=2", 2, np.inf), ("[1,2.5]", 1, 2.5)],
)
def test_against_the_definition(text, low, high, seed, at_once, monkeypatch):
    monkeypatch.setattr(_budget, "LEVELS_AT_ONCE", at_once)
    model = some_model(seed)
    for optimum in ("min", "max"):
        expected = followed(model, low, high, optimum)
        asked = f'P{optimum}=? [ "a" U^{{rew{{"r"}}{text}}} "b" ]'
        found = mdp.check(model, asked)
        assert (found.lower <= expected + 1e-9).all()
        assert (found.upper >= expected - 1e-9).all()
        assert (found.upper - found.lower <= 1e-6 * found.lower + 1e-280).all()
        other = "max" if optimum == "min" else "min"
        opposed = mdp.check(model, f'P{other}=? [ !("a" U{{"r"}}{text} "b") ]')
        assert (opposed.lower <= 1 - expected + 1e-9).all()
        assert (opposed.upper >= 1 - expected - 1e-9).all()


def tries(reward: float, after: float = 0.0) -> mdp.MDP:
    """A chain that pays for each try until one is a success."""
    return mdp.MDP.from_arrays(
        [0, 1, 2],
        [0, 2, 3],
        [0, 1, 1],
        [0.5, 0.5, 1],
        labels={"done": [0, 1]},
        choice_rewards={"cost": [reward, after]},
    )


def test_decimals_are_meant_as_they_are_written():
    # Three times 0.1 is more than 0.3 in float64.
    found = mdp.check(tries(0.1), 'P=? [ F^{rew{"cost"}<=0.3} "done" ]')
    assert found.lower[0] <= 0.875 <= found.upper[0]
    assert found.upper[0] - found.lower[0] < 1e-9
    less = mdp.check(tries(0.1), 'P=? [ F^{rew<0.3} "done" ]')
    assert less.value == pytest.approx(0.75)


def test_what_can_be_said_exactly():
    found = mdp.check(tries(2), 'P=? [ G^{rew{"cost"}<=7} !"done" ]', exact=True)
    assert found.exact == (Fraction(1, 8), 0)
    large = mdp.check(tries(1e18), 'P=? [ F^{rew{"cost"}<=3e18} "done" ]', exact=True)
    assert large.exact == (Fraction(7, 8), 1)
    assert mdp.check(tries(2), 'P>=0.875 [ F^{rew{"cost"}<=7} "done" ]').value is True


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('F^{rew{"cost"}=3} "done"', 0),
        ('F^{rew{"cost"}[2.5,3.5]} "done"', 0),
        ('G^{rew{"cost"}=3} !"done"', 1),
        ('F^{rew{"cost"}=4} "done"', Fraction(1, 4)),
    ],
)
def test_what_lies_between_two_sums_is_never_earned(text, value, exact):
    """Each try costs 2: exactly 3 is a bound as any other, and has no goal."""
    found = mdp.check(tries(2), f"P=? [ {text} ]", exact=exact)
    assert found.lower[0] <= value <= found.upper[0]
    assert found.upper[0] - found.lower[0] < 1e-6
    if exact:
        assert found.exact[0] == value


def test_they_print_as_they_are_read():
    for text in ('F^{rew{"cost"}<=5} x', "F^{rew>=2} x", 'F^{rew{"cost"}[1,2]} x'):
        assert str(Property.parse(f"P=? [ {text} ]")) == f"P=? [ {text} ]"
    one, other = (
        Property.parse(f"P=? [ F{bound} x ]").formula
        for bound in ('{"r"}<=5', '^{rew{"r"}<=5}')
    )
    assert one == other


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('F^{rew{"gain"}<=1} "done"', "no rewards 'gain'"),
        ('F^{rew{"cost"}[3,2]} "done"', "nothing that is earned is within"),
        ('F^{rew{"cost"}<0} "done"', "nothing that is earned is within"),
        ('F^{rew{"cost"}<=-1} "done"', "nothing that is earned is within"),
        ('F (F^{rew{"cost"}<=1} "done")', "is supported for one operator"),
        ('F "done" || F^{rew{"cost"}<=1} "done"', "is supported for one operator"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(PropertyError, match=message):
        mdp.check(tries(1), f"P=? [ {text} ]")


def test_models_for_which_it_means_nothing():
    with pytest.raises(ValueError, match="finite rewards from 0 on"):
        mdp.check(tries(-1), 'P=? [ F^{rew{"cost"}<=1} "done" ]')
    with pytest.raises(ValueError, match="no common unit"):
        mdp.check(tries(1e18, 0.1), 'P=? [ F^{rew{"cost"}<=1} "done" ]')
    with pytest.raises(ValueError, match="too much"):
        mdp.check(tries(1), 'P=? [ F^{rew{"cost"}<=1e12} "done" ]')
    with pytest.raises(ValueError, match="more than .* levels: that is too much"):
        mdp.check(tries(1), 'P=? [ F^{rew{"cost"}<=1e400} "done" ]')
    timed = mdp.MDP.from_arrays(
        [0, 1, 2],
        [0, 1, 2],
        [1, 0],
        [1.0, 1.0],
        exit_rates=[1.0, 2.0],
        state_rewards={"r": [1.0, 0.0]},
    )
    with pytest.raises(PropertyError, match="moves in time"):
        mdp.check(timed, "P=? [ F^{rew<=1} true ]")
    between = mdp.MDP.from_arrays(
        [0, 1, 2],
        [0, 2, 3],
        [0, 1, 1],
        lower=[0.4, 0.4, 1],
        upper=[0.6, 0.6, 1],
        state_rewards={"r": [1.0, 0.0]},
    )
    with pytest.raises(PropertyError, match="interval models"):
        mdp.check(between, "Pmin=? [ F^{rew<=1} true ]")


def test_what_may_be_worth_something_is_not_taken_for_nothing():
    """An end between 0 and something is no goal of a block: its upper bound counts."""
    high, lower, upper = np.array([0.0, 0.5]), np.array([[0.0]]), np.array([[1e-9]])
    for relative in (False, True):
        raised = _budget._raised(high, lower, upper, relative)
        assert (raised >= high + 1e-9).all()
    # Where all ends that are not known are goals, what gets to none is worth nothing.
    raised = _budget._raised(high, lower + 0.1, upper + 0.1, False)
    assert raised[0] == 0
    assert raised[1] >= 0.5 + 1e-9


@pytest.mark.parametrize("at_once", [1, 1 << 20])
@pytest.mark.parametrize(
    ("bound", "value"),
    [("<=0", 0.75), ("<=2", 0.75), (">=1", 0.0), (">0.5", 0.0), ("[0,3]", 0.75)],
)
def test_what_earns_nothing_on_the_way(bound, value, at_once, monkeypatch):
    """Only the goal earns, and all that is on the way to it nothing.

    State 0 draws itself (1/3), the goal 1 (1/2) and the trap 2 (1/6): it gets to the
    goal with 3/4, and has nothing by then.
    """
    monkeypatch.setattr(_budget, "LEVELS_AT_ONCE", at_once)
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3],
        [0, 3, 4, 5],
        [0, 1, 2, 2, 2],
        [1 / 3, 1 / 2, 1 / 6, 1, 1],
        labels={"b": [False, True, False]},
        state_rewards={"r": [0, 1, 1]},
    )
    found = mdp.check(model, f'P=? [ !"b" U^{{rew{{"r"}}{bound}}} "b" ]')
    assert found.value == pytest.approx(value, abs=1e-6)

"""Interval models: published answers, all that both sides may do, and verification."""

import dataclasses
import gzip
import json
from fractions import Fraction

import numpy as np
import pytest

from jaxgames import io, mdp
from jaxgames.mdp._property import PropertyError
from jaxgames.mdp.robust import _graph, _solve
from jaxgames.mdp.robust._natures import natures
from jaxgames.testing import fuzz
from jaxgames.testing._robust import _asked, _draw_bounded, _missed
from jaxgames.testing._slices import SLICES
from tests.mdp.quantitative_cases import FOLDER, interval_chain, needs_folder
from tests.repeats import some_of

WORDS = "minmin", "minmax", "maxmin", "maxmax"


def games() -> list[dict]:
    return json.loads((FOLDER / "games" / "imdp.json").read_text())


def model_of(game: dict) -> mdp.MDP:
    groups, rows, columns, bounds = [0], [0], [], []
    for state in game["states"]:
        for choice in state:
            columns += [target for target, *_ in choice]
            bounds += [[float(Fraction(x)) for x in ends] for _, *ends in choice]
            rows.append(len(columns))
        groups.append(len(rows) - 1)
    goal = np.zeros(len(groups) - 1, bool)
    goal[game["target"]] = True
    lower, upper = np.array(bounds).T
    return mdp.MDP.from_arrays(
        *(groups, rows, columns), lower=lower, upper=upper, labels={"goal": goal}
    )


@needs_folder
def test_games_of_scheduler_and_nature_with_exact_answers():
    for game in games():
        model = model_of(game)
        for words in WORDS:
            found = mdp.check(model, f'P{words}=? [ F "goal" ]', "host", epsilon=1e-8)
            exact = np.array([float(Fraction(x)) for x in game["values"][f"P{words}"]])
            assert (found.lower <= exact + 1e-12).all(), (game["id"], words)
            assert (found.upper >= exact - 1e-12).all(), (game["id"], words)
            assert (found.upper - found.lower <= 1e-8 * found.lower).all()


@needs_folder
def test_strategies_of_both_sides_attain_the_bounds():
    for game in games()[:10]:
        model = model_of(game)
        for words in WORDS:
            text = f'P{words}=? [ F "goal" ]'
            found = mdp.check(model, text, "host")
            chain = mdp.MDP.from_arrays(  # without what nature leaves out
                *(model.row_group_offsets, model.row_offsets, model.columns),
                found.nature,
                labels=model.labels,
            )
            # What both do makes a chain, whose value is an ordinary question.
            scheduler = np.where(
                found.scheduler < 0, model.row_group_offsets[:-1], found.scheduler
            )
            alone = mdp.check(
                mdp.induced_chain(chain, scheduler), 'P=? [ F "goal" ]', "host"
            )
            assert (alone.upper >= found.lower - 1e-9).all()
            assert (alone.lower <= found.upper + 1e-9).all()


@needs_folder
@pytest.mark.parametrize("name", ["brp_int", "coin2_int", "crowds_int", "robot_int"])
def test_published_models_have_their_published_answers(name):
    facts = json.loads((FOLDER / "intervals" / f"{name}.json").read_text())
    model = io.load(str(FOLDER / "intervals" / f"{name}.umb"))
    constants = facts["environment"]
    for case in facts["cases"]:
        found = mdp.check(model, case["property"], "host", constants=constants)
        stated = eval(case["prism_result"], {}, dict(constants))
        iterated = case["value_by_sorting_vi"]
        at = found.initial[0]
        assert found.value == pytest.approx(stated, rel=2e-5), case["property"]
        assert found.lower[at] <= iterated + 1e-9
        assert found.upper[at] >= iterated * (1 - 1e-6)  # it comes from below


@needs_folder
def test_storms_text_format_has_the_same_intervals():
    folder = FOLDER / "intervals"
    text = gzip.decompress((folder / "brp_int.drn.gz").read_bytes()).decode()
    assert "[" in text
    for name, goal in (("robot_int.drn", '"goal1"'), ("coin2_int.drn", '"finished"')):
        one, other = (
            io.load(str(folder / name)),
            io.load(str(folder / name[:-3]) + "umb"),
        )
        asked = f"Pminmax=? [ F<=9 {goal} ]"
        first, second = mdp.check(one, asked, "host"), mdp.check(other, asked, "host")
        assert first.value == pytest.approx(second.value, rel=1e-9)


def fan(**more) -> mdp.MDP:
    """A state that nature may keep; and one where it may leave a branch out."""
    return mdp.MDP.from_arrays(
        [0, 2, 3, 4],
        [0, 3, 5, 6, 7],
        [0, 1, 2, 1, 2, 1, 2],
        lower=[0.1, 0.4, 0, 0.3, 0, 1, 1],
        upper=[0.3, 0.8, 0.4, 0.9, 0.7, 1, 1],
        labels={"goal": [0, 1, 0]},
        **more,
    )


def test_the_device_says_what_the_host_says():
    found = [mdp.check(fan(), 'Pmaxmin=? [ F "goal" ]', x) for x in ("host", "values")]
    for one in found:
        assert one.lower[0] <= 0.5 <= one.upper[0]
    assert found[1].stats["solver"] == "values"


def test_bounds_that_sum_up_to_one_in_decimals_leave_nothing():
    # 0.3 + 0.7 is less than one as fractions of the doubles; nature may leave 0.1 out.
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3], [0, 3, 4, 5], [1, 1, 2, 1, 2], lower=[0, 0, 0, 1, 1],
        upper=[0.3, 0.7, 0.1, 1, 1], labels={"goal": [0, 1, 0]},
    )  # fmt: skip
    assert mdp.check(model, 'Pmax=? [ F "goal" ]').lower[0] == 1
    tenths = mdp.MDP.from_arrays(
        [0, 1, 2], [0, 11, 12], [*[1] * 10, 0, 1], lower=[*[0.1] * 10, 0, 1],
        upper=[*[0.2] * 10, 0.5, 1], labels={"goal": [0, 1]},
    )  # fmt: skip
    assert mdp.check(tenths, 'Pmin=? [ X "goal" ]').lower[0] == 1


def test_a_branch_that_may_vanish_decides_what_is_infinite():
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], lower=[0.5, 0, 1, 1],
        upper=[1, 0.5, 1, 1], labels={"goal": [0, 1, 0]}, state_rewards={"": [2, 0, 0]},
    )  # fmt: skip
    assert mdp.check(model, 'Rmin=? [ F "goal" ]').value == 2
    assert mdp.check(model, 'Rmax=? [ F "goal" ]').value == np.inf


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('Pmax=? [ F "goal" ]', "must say min or max twice"),
        ('P=? [ F "goal" ]', "must say min or max twice"),
        ('Pmaxmin=? [ G F "goal" ]', "nested formulas of paths"),
        ('Rmaxmin=? [ LRA ]', "may leave out branches, such as 2, whose lower bound"),
        ('LRAminmax=? [ "goal" ]', "ask for minmin or maxmax"),
        ('Smax=? [ "goal" ]', "'Smax=. . \"goal\" .' must say min or max twice"),
        ('Rmaxmin=? [ C ]', "nature is against"),
        ('Pmaxmin=? [ F "goal" || F "goal" ]', "conditional"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_said(asked, said):
    with pytest.raises(PropertyError, match=said):
        mdp.check(fan(choice_rewards={"": [1, 1, 0, 0]}), asked)


def test_averages_where_nature_may_leave_a_component():
    # In 0 nature may stay, or go on to 1 at once; 1 is a trap, 2 leads back to 0.
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 4], [0, 2, 3, 4, 5], [0, 2, 1, 0, 1], lower=[0, 0, 1, 1, 1],
        upper=[1, 1, 1, 1, 1], choice_rewards={"": [2, 1, 6, 0]},
        labels={"first": [1, 0, 0]},
    )  # fmt: skip
    for text, expected in (
        ("Rminmin=? [ LRA ]", [1, 1, 1]),
        ("Rmaxmax=? [ LRA ]", [4, 1, 4]),  # to and fro
        ('LRAmaxmax=? [ "first" ]', [1, 0, 1]),
        ('Sminmin=? [ "first" ]', [0, 0, 0]),
        ('Tminmin=? [ F "first" ]', [0, np.inf, 1]),
    ):
        found = mdp.check(model, text)
        assert (found.lower <= expected).all(), text
        assert (found.upper >= expected).all(), text
        assert found.status == 0
    found = mdp.check(model, "Rmaxmax=? [ LRA ]")
    assert found.scheduler.tolist() == [0, 1, 2]
    assert found.nature[:2].round(9).tolist() == [0, 1]


def test_nothing_counts_that_is_earned_once():
    model = mdp.MDP.from_arrays(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], lower=[0.25, 0.25, 1, 1],
        upper=[0.75, 0.75, 1, 1], choice_rewards={"": [8, 1, 3]},
    )  # fmt: skip
    for word, value in (("min", 1.5), ("max", 2.5)):
        found = mdp.check(model, f"R{word}=? [ LRA ]")
        assert found.lower[0] <= value <= found.upper[0]
        assert found.upper[0] - found.lower[0] <= 1e-6 * value


def test_averages_of_walks_that_drift_as_nature_likes():
    for many in (8, 300):
        left = np.maximum(np.arange(many) - 1, 0)
        right = np.minimum(np.arange(many) + 1, many - 1)
        model = mdp.MDP.from_arrays(
            range(many + 1), range(0, 2 * many + 1, 2),
            np.stack([left, right], 1).ravel(), lower=[0.4, 0.4] * many,
            upper=[0.6, 0.6] * many, labels={"end": np.arange(many) == many - 1},
        )  # fmt: skip
        # The stationary distribution is geometric.
        for word, base in (("max", Fraction(3, 2)), ("min", Fraction(2, 3))):
            found = mdp.check(model, f'S{word}=? [ "end" ]', relative=False)
            value = float(base ** (many - 1) * (1 - base) / (1 - base**many))
            assert found.lower[0] - 1e-12 <= value <= found.upper[0] + 1e-12
            assert found.upper[0] - found.lower[0] <= 1e-6


def test_averages_against_nature():
    # The scheduler stays in 0, or goes to 1 and comes back some time.
    model = mdp.MDP.from_arrays(
        [0, 2, 3], [0, 1, 2, 4], [0, 1, 0, 1], lower=[1, 1, 0.25, 0.25],
        upper=[1, 1, 0.75, 0.75], choice_rewards={"": [2, 0, 3]},
    )  # fmt: skip
    for words, expected, choice in (
        ("maxmax", Fraction(12, 5), 1),
        ("maxmin", 2, 0),
        ("minmax", 2, 0),
        ("minmin", Fraction(12, 7), 1),
    ):
        found = mdp.check(model, f"R{words}=? [ LRA ]", epsilon=1e-9)
        assert np.allclose([found.lower, found.upper], float(expected), rtol=1e-9)
        assert found.scheduler[0] == choice


def test_nature_may_have_to_take_a_branch_whose_lower_bound_is_zero():
    # The other branch carries a half at most.
    model = mdp.MDP.from_arrays(
        [0, 2, 3], [0, 2, 3, 4], [0, 1, 0, 0], lower=[0, 0.25, 1, 1],
        upper=[0.75, 0.5, 1, 1], choice_rewards={"": [2, 1, 0]},
    )  # fmt: skip
    found = mdp.check(model, "Rmaxmin=? [ LRA ]", epsilon=1e-9)
    assert np.allclose(found.lower, 4 / 3, rtol=1e-9)
    assert np.allclose(found.upper, 4 / 3, rtol=1e-9)


def test_rewards_of_branches_are_refused():
    model = fan(branch_rewards={"x": np.ones(7)})
    with pytest.raises(ValueError, match="are of branches"):
        mdp.check(model, 'Rminmin=? [ F "goal" ]')


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        ([0.5, 0.6], [0.6, 0.7], "sum up to"),
        ([0.1, 0.1], [0.2, 0.2], "sum up to"),
        ([0.5, 0.6], [0.4, 0.7], "branch 0 of choice 0"),
        ([np.nan, 0.6], [0.4, 0.7], "branch 0 of choice 0"),
    ],
)
def test_bad_bounds_are_named(lower, upper, said):
    with pytest.raises(ValueError, match=said):
        mdp.MDP.from_arrays(
            [0, 1, 2], [0, 2, 3], [0, 1, 1], lower=[*lower, 1], upper=[*upper, 1]
        )


SPOILT = {
    "lower": lambda x: x.lower + [0.01, 0, 0],
    "upper": lambda x: x.upper - [0.01, 0, 0],
    "scheduler": lambda x: np.array([1 - x.scheduler[0], 2, 3]),
}


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("field", SPOILT)
def test_verification_sees_what_is_spoilt(words, field):
    text = f'P{words}=? [ F "goal" ]'
    found = mdp.check(fan(), text)
    assert mdp.verify_values(fan(), text, found)
    spoilt = dataclasses.replace(found, **{field: SPOILT[field](found)})
    if field != "scheduler":
        both = {"lower": spoilt.lower, "upper": spoilt.lower}
        both = both if field == "lower" else dict.fromkeys(both, spoilt.upper)
        spoilt = dataclasses.replace(found, **both)
    assert not mdp.verify_values(fan(), text, spoilt)


def test_nature_that_does_not_keep_to_its_bounds_is_seen():
    text = 'Pmaxmax=? [ F "goal" ]'
    found = mdp.check(fan(), text)
    nature = found.nature.copy()
    nature[:3] = [0, 1, 0]
    wrong = dataclasses.replace(found, nature=nature)
    assert not mdp.verify_values(fan(), text, wrong)


@pytest.mark.sweep
def test_nothing_is_found_in_many_small_models():
    summary = fuzz(SLICES["robust"], ["host", "verify"], games=4000, limit=None)
    assert summary.failure is None, summary.failure


@pytest.mark.parametrize("solver", ["host", "values"])
def test_what_is_infinite_elsewhere_makes_no_bound_wider(solver):
    model = mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 1, 2], [0, 1]), lower=[1, 1], upper=[1, 1],
        choice_rewards={"": [0, 2]},
    )  # fmt: skip
    found = mdp.check(model, "Rmaxmax=? [ C ]", solver)
    assert found.lower.tolist() == found.upper.tolist() == [0, np.inf]


def test_what_is_not_known_does_not_add_up_over_many_components():
    """Each state is stayed in with a probability from 0.4 to 0.6."""
    size = 100_000
    model = interval_chain(size, 1.0)
    for text, steps in (("Rmin", Fraction(5, 3)), ("Rmax", Fraction(5, 2))):
        found = mdp.check(model, f'{text}=? [ F "end" ]')
        for s in range(0, size, 999):
            value = steps * (size - 1 - s)
            assert Fraction(found.lower[s]) <= value <= Fraction(found.upper[s])
            assert found.upper[s] - found.lower[s] <= 1e-6 * value


def test_where_nothing_is_ever_earned_is_known():
    model = mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 1, 2], [0, 0]),
        lower=[0.75, 1.0],
        upper=[1.0, 1.0],
        choice_rewards={"": [0.0, 2.0]},
    )
    for solver in ("values", "host"):
        found = mdp.check(model, "Rmax=? [ C ]", solver)
        assert found.lower[0] == found.upper[0] == 0
        np.testing.assert_allclose([found.lower[1], found.upper[1]], 2)
        assert mdp.verify_values(model, "Rmax=? [ C ]", found)


# ---- components that are slow --------------------------------------------------------


def bounded(states: list, goal: int, ends: list[int], reward: list) -> mdp.MDP:
    """A model of states: lists of choices, lists of (target, lower, upper)."""
    choices = [choice for state in states for choice in state]
    branches = [branch for choice in choices for branch in choice]
    columns, lower, upper = zip(*branches, strict=True)
    number = np.arange(len(states))
    return mdp.MDP.from_arrays(
        np.cumsum([0, *map(len, states)]),
        np.cumsum([0, *map(len, choices)]),
        columns,
        lower=lower,
        upper=upper,
        labels={"goal": number == goal, "end": np.isin(number, ends)},
        choice_rewards={"": np.array(reward, float)},
    )


def walk(size: int) -> mdp.MDP:
    """To both sides with probabilities from 0.45 to 0.55; the ends are left no more."""
    inner = [[[(s - 1, 0.45, 0.55), (s + 1, 0.45, 0.55)]] for s in range(1, size - 1)]
    states = [[[(0, 1, 1)]], *inner, [[(size - 1, 1, 1)]]]
    return bounded(states, size - 1, [0, size - 1], [0, *[1] * (size - 2), 0])


@pytest.mark.parametrize("least", [True, False])
def test_long_walks_drift_as_nature_likes(least):
    """Those who want the goal drift there, and where most get there that is one."""
    size = 400
    found = mdp.check(
        walk(size), f'P{"min" if least else "max"}=? [ F "goal" ]', "host"
    )
    ratio = Fraction(11, 9) if least else Fraction(9, 11)
    for s in range(1, size):
        exact = (1 - ratio**s) / (1 - ratio ** (size - 1))  # of the gambler's ruin
        ends = found.lower[s], found.upper[s]
        assert ends == pytest.approx((float(exact), float(exact)), rel=1e-9)


def test_long_walks_end_soonest_at_the_nearer_end():
    size = 401
    found = mdp.check(walk(size), 'Rmin=? [ F "end" ]', "host")
    # x[s] = 1 + 0.55 x[s - 1] + 0.45 x[s + 1] up to the middle, whose neighbours are
    # as good: by how much x grows, from there outwards.
    half = size // 2
    grows = [Fraction(1)]
    for _ in range(half - 1):
        grows.append((1 + Fraction(9, 20) * grows[-1]) / Fraction(11, 20))
    exact = np.cumsum([0.0, *map(float, reversed(grows))])
    for bound in (found.lower, found.upper):
        np.testing.assert_allclose(bound[: half + 1], exact, rtol=1e-9)
        np.testing.assert_allclose(bound[half:], exact[::-1], rtol=1e-9)


def anew(size: int) -> mdp.MDP:
    """A line that begins anew: each state may also get to the goal, or be lost."""
    goal, lost = size, size + 1
    states = [
        [[(s + 1, 0.9, 0.95), (0, 0.05, 0.1), (goal, 1e-4, 1e-3), (lost, 1e-4, 1e-3)]]
        for s in range(size - 1)
    ]
    last = [[(0, 0.998, 1), (goal, 1e-4, 1e-3), (lost, 1e-4, 1e-3)]]
    states = [*states, last, [[(goal, 1, 1)]], [[(lost, 1, 1)]]]
    return bounded(states, goal, [goal, lost], [*[1] * size, 0, 0])


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ('Pmin=? [ F "goal" ]', 1 / 11),
        ('Pmax=? [ F "goal" ]', 10 / 11),
        ('Rmin=? [ F "end" ]', 500.0),
        ('Rmax=? [ F "end" ]', 5000.0),
    ],
)
def test_long_lines_that_begin_anew(text, exact):
    """All states have the same value, whatever nature does between them."""
    found = mdp.check(anew(100_000), text, "host", deadline=60)
    for bound in (found.lower, found.upper):
        np.testing.assert_allclose(bound[:100_000], exact, rtol=1e-9)


def test_components_are_found_in_one_pass(monkeypatch):
    """What is left by one state after the other is not searched once for each."""
    searches = []
    search = _graph.tarjan
    monkeypatch.setattr(
        _graph, "tarjan", lambda *how: searches.append(how) or search(*how)
    )
    size = 300  # all but the last may be kept from the goal, if it were not for that
    inner = [[[(s + 1, 0.9, 0.95), (0, 0.05, 0.1)]] for s in range(size - 1)]
    last = [[(0, 0.5, 0.6), (size, 0.4, 0.5)]]
    nat = natures(bounded([*inner, last, [[(size, 1, 1)]]], size, [], [0] * (size + 1)))
    found = _graph.components(nat, np.ones(size + 1, bool))
    assert found.label.tolist() == [-1] * size + [0]
    assert len(searches) <= 3


@pytest.fixture
def improved(monkeypatch):
    """Policies are improved at once, without a round before: the ones that were."""
    seen = []
    improve = _solve.improve

    def noted(*how):
        seen.append(improve(*how))
        return seen[-1]

    monkeypatch.setattr(_solve, "improve", noted)
    monkeypatch.setattr(_solve, "PATIENCE_WITH_NATURE", 0)
    return seen


@needs_folder
def test_policies_alone_solve_games_of_scheduler_and_nature(improved):
    for game in games():
        model = model_of(game)
        for words in WORDS:
            text = f'P{words}=? [ F "goal" ]'
            found = mdp.check(model, text, "host", epsilon=1e-8)
            exact = np.array([float(Fraction(x)) for x in game["values"][f"P{words}"]])
            np.testing.assert_allclose(found.lower, exact, rtol=1e-8, atol=1e-300)
            np.testing.assert_allclose(found.upper, exact, rtol=1e-8, atol=1e-300)
            assert mdp.verify_values(model, text, found)
    assert len(improved) > 50
    assert all(improved)


@some_of(15, 1000)
def test_policies_alone_find_what_all_strategies_come_to(improved, count):
    for seed in range(count):
        case = _draw_bounded(np.random.default_rng(seed), seed, 3)
        for model, text, expected in _asked(case):
            if "LRA" in text:  # rounds see to these
                continue
            found = mdp.check(model, text, "host")
            assert _missed(text, found, expected) is None, (seed, text)
    assert len(improved) > count
    assert all(improved)


def grid(size: int) -> mdp.MDP:
    """Two choices in each place; two corners are left no more."""
    rng = np.random.default_rng(size)
    count = size * size
    states: list = []
    for s in range(count):
        row, column = divmod(s, size)
        if s in (0, count - 1):
            states.append([[(s, 1, 1)]])
            continue
        steps = (
            (row + 1, column),
            (row - 1, column),
            (row, column + 1),
            (row, column - 1),
        )
        near = [i * size + j for i, j in steps if 0 <= i < size and 0 <= j < size]
        choices = []
        for _ in range(2):
            shares = rng.dirichlet([5.0] * len(near))
            ends = zip(near, shares.tolist(), strict=True)
            choices.append(
                [(to, max(x - 0.04, 0.01), min(x + 0.04, 1)) for to, x in ends]
            )
        states.append(choices)
    reward = [0, *[1] * (2 * count - 4), 0]
    return bounded(states, count - 1, [0, count - 1], reward)


GRIDS = [
    *(f'P{words}=? [ F "goal" ]' for words in WORDS),
    *(f'R{words}=? [ F "end" ]' for words in ("minmin", "minmax", "maxmin")),
]
"""Both together could stay for some 10^15 steps, which float64 cannot tell."""


@pytest.mark.parametrize("asked", GRIDS)
def test_grids_against_all_that_both_may_do(asked):
    model = grid(30)
    found = mdp.check(model, asked, "host")
    assert (found.upper - found.lower <= 1e-6 * found.lower).all()
    assert mdp.verify_values(model, asked, found)

"""Several objectives: published fronts, all schedulers, and verification."""

import dataclasses
import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from jaxgames import SolveError, Status, io, mdp
from jaxgames.cli import main
from jaxgames.mdp._property import PropertyError
from jaxgames.mdp._verify_values import chain_values
from jaxgames.mdp.multi import _exact, _oracle, _pareto
from jaxgames.mdp.multi._game import mixture
from jaxgames.solution import Stats
from jaxgames.testing import fuzz
from jaxgames.testing._slices import SLICES
from tests.mdp.quantitative_cases import FOLDER, needs_folder


def model(**more) -> mdp.MDP:
    """A sure gain of 1, a lot for the goal, or one for both."""
    return mdp.MDP.from_arrays(
        [0, 3, 4, 5],
        [0, 1, 3, 5, 6, 7],
        [2, 1, 2, 1, 2, 1, 2],
        [1, 0.5, 0.5, 0.125, 0.875, 1, 1],
        labels={"goal": [0, 1, 0]},
        choice_rewards={"gain": [1, 0, 0.875, 0, 0]},
        **more,
    )


BOTH = 'multi(Pmax=? [ F "goal" ], R{"gain"}max=? [ C ])'


@needs_folder
@pytest.mark.parametrize("name", ["simple11", "simple2", "simple3", "test1"])
def test_published_fronts(name):
    facts = json.loads((FOLDER / "multi" / f"multi_{name}.json").read_text())
    built = io.load(str(FOLDER / "multi" / facts["model"]))
    for case in facts["cases"]:
        found = mdp.pareto(built, case["property"])
        front = sorted(found.points[found.vertices].round(6).tolist())
        wanted = np.array(sorted(case["pareto"]))
        assert np.array(front).shape == wanted.shape, case["property"]
        np.testing.assert_allclose(front, wanted, atol=1e-5)
        assert mdp.verify_pareto(built, case["property"], found)


def test_a_front_its_schedulers_and_a_mixture():
    found = mdp.pareto(model(), BOTH)
    np.testing.assert_allclose(
        found.points[found.vertices], [[0, 1], [0.125, 0.875], [0.5, 0]], atol=1e-6
    )
    assert found.schedulers[found.vertices][:, 0].tolist() == [0, 2, 1]
    shares, more = found.mix([0.25, 0.5])
    assert shares.sum() == pytest.approx(1)
    assert more > 0
    assert ((shares @ found.points) >= [0.25, 0.5]).all()
    assert found.mix([0.5, 0.5])[1] < 0


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ('multi(P>=0.25 [ F "goal" ], R{"gain"}>=0.58 [ C ])', True),
        ('multi(P>=0.25 [ F "goal" ], R{"gain"}>=0.59 [ C ])', False),
        ('multi(P>=0.49 [ F "goal" ], R{"gain"}<=0.01 [ C ])', True),
        ('multi(P>0.51 [ F "goal" ], R{"gain"}<=3 [ C ])', False),
        ('multi(P<=0.4 [ G !"goal" ], R<=3 [ C ])', False),
    ],
)
def test_achievability(asked, value):
    assert mdp.check(model(), asked).value is value
    assert mdp.verify_pareto(model(), asked, mdp.pareto(model(), asked))


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ('multi(P>=0.5 [ F "goal" ], R{"gain"}>=0 [ C ])', True),
        ('multi(P>0.5 [ F "goal" ], R{"gain"}>=0 [ C ])', False),
        ('multi(P>0.25 [ F "goal" ], R{"lost"}<=0 [ C ])', True),
        ('multi(P>0.25 [ F "goal" ], R{"lost"}<0 [ C ])', False),
        ('multi(P>=0.25 [ F "goal" ], R{"gain"}>=7/12 [ C ])', True),
        ('multi(P>=0.25 [ F "goal" ], R{"gain"}>7/12 [ C ])', False),
        ('multi(P>=1/4 [ F "goal" ], R{"gain"}>=0.58333333333333333334 [ C ])', False),
        ('multi(P<=0.5 [ G !"goal" ], P>=0.5 [ F<=1 "goal" ])', True),
        ('multi(P>=0.3 [ G F "goal" ], P>=0.7 [ F G !"goal" ])', True),
        ('multi(P>=0.3 [ G F "goal" ], P>0.7 [ F G !"goal" ])', False),
    ],
)  # fmt: skip
def test_what_lies_exactly_at_the_border(asked, value):
    rewards = {**(model().choice_rewards or {}), "lost": np.zeros(5)}
    built = dataclasses.replace(model(), choice_rewards=rewards)
    assert mdp.check(built, asked).value is value
    found = mdp.pareto(built, asked)
    assert mdp.verify_pareto(built, asked, found)
    wrong = dataclasses.replace(found, achievable=not value)
    assert not mdp.verify_pareto(built, asked, wrong)


def borders(points: set) -> list[tuple]:
    """Vertices from which no point is better in both coordinates, by the first one."""
    found: list[tuple] = []
    for x, y in sorted(points, reverse=True):
        if found and y <= found[-1][1]:
            continue
        while len(found) > 1:
            (a, b), (c, d) = found[-2:]
            if (c - a) * (y - b) > (d - b) * (x - a):
                break
            found.pop()
        found.append((x, y))
    return found


def test_borders_against_all_schedulers():
    """Mixtures of neighbouring vertices are had, and a hair more is not."""
    rng = np.random.default_rng(5)
    hair, mixed = Fraction(1, 2**70), 0
    for _ in range(12):
        size, many = 3, 2
        targets = rng.integers(size, size=(size, many))
        stays = rng.choice([1 / 4, 1 / 3, 1 / 5], (size, many))
        gains = rng.integers(4, size=(size, many, 2))
        columns, probs = [], []
        for to, stay in zip(targets.ravel(), stays.ravel(), strict=True):
            columns += [int(to), size]
            probs += [stay, 1 - stay]
        built = mdp.MDP.from_arrays(
            [0, 2, 4, 6, 7],
            [*range(0, 14, 2), 13],
            [*columns, size],
            [*probs, 1],
            choice_rewards={
                name: [*gains[:, :, j].ravel().tolist(), 0]
                for j, name in enumerate(("one", "other"))
            },
        )
        points = set()
        for policy in itertools.product(range(many), repeat=size):
            rows, worth = [], [[], []]
            for state, choice in enumerate(policy):
                stay = Fraction(stays[state, choice])
                leave = Fraction(1 - stays[state, choice])
                rows.append({int(targets[state, choice]): stay / (stay + leave)})
                for j in range(2):
                    worth[j].append(Fraction(int(gains[state, choice, j])))
            had = [chain_values([dict(row) for row in rows], own) for own in worth]
            points.add(tuple(x[0] for x in had))
        for a, b in itertools.pairwise(borders(points)):
            mixed += 1
            x, y = ((2 * p + 3 * q) / 5 for p, q in zip(a, b, strict=True))
            for relation, goal, value in (
                (">=", (x, y), True),
                (">", (x, y), False),
                (">=", (x, y + hair), False),
                (">", (x - hair, y - hair), True),
            ):
                first, second = (
                    f'R{{"{name}"}}{relation}{at} [ C ]'
                    for name, at in (("one", "x"), ("other", "y"))
                )
                asked = f"multi({first}, {second})"
                constants = dict(zip("xy", goal, strict=True))
                assert mdp.check(built, asked, constants=constants).value is value
    assert mixed > 5


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ('multi(Pmax=? [ F "goal" ], R{"gain"}>=0.4375 [ C ])', 0.3125),
        ('multi(Pmin=? [ G !"goal" ], R{"gain"}>=0.4375 [ C ])', 0.6875),
        ('multi(R{"gain"}min=? [ C ], P>=0.25 [ F "goal" ])', 0),
        ('multi(R{"gain"}max=? [ C<=1 ], P>=0.25 [ X "goal" ])', 7 / 12),
        ('multi(R{"gain"}max=? [ C ], P>=0.25 [ F<=1 "goal" ], P<=1 [ F "goal" ])',
            7 / 12),
        ('multi(R{"gain"}max=? [ F false | x=2 | "goal" ], P>=0.25 [ G F "goal" ])',
            7 / 12),
    ],
)  # fmt: skip
def test_the_best_of_one_under_bounds_of_others(asked, value):
    built = model(valuations={"x": [0, 1, 2]})
    found = mdp.check(built, asked)
    assert found.lower[0] <= value + 1e-12
    assert found.upper[0] >= value - 1e-12
    assert found.value == pytest.approx(value, abs=1e-6)
    assert mdp.verify_pareto(built, asked, mdp.pareto(built, asked))


def tries(**more) -> mdp.MDP:
    """Each try of 0 costs 1 and may fail; a surer one costs 2, and may be lost in 2."""
    return mdp.MDP.from_arrays(
        [0, 2, 3, 4],
        [0, 3, 5, 6, 7],
        [0, 1, 2, 0, 1, 1, 2],
        [0.25, 0.5, 0.25, 0.5, 0.5, 1, 1],
        labels={"goal": [0, 1, 0], "end": [0, 1, 1]},
        choice_rewards={"cost": [1, 2, 0, 0], "none": [0, 0, 0, 0]},
        **more,
    )


@pytest.mark.parametrize("fractions", [True, False])
@pytest.mark.parametrize(
    ("asked", "value"),
    [
        # The surer try takes two of them on average, at 2 each.
        ('multi(R{"cost"}min=? [ C ], P>=1 [ F "goal" ])', 4),
        ('multi(R{"cost"}min=? [ C ], P<=0 [ G !"goal" ])', 4),
        # The other takes 4/3 tries; it gets there with probability 2/3.
        ('multi(R{"cost"}min=? [ C ], P<=1 [ F "goal" ])', Fraction(4, 3)),
        ('multi(R{"cost"}min=? [ C ], P>=1 [ F "end" ])', Fraction(4, 3)),
        ('multi(R{"cost"}min=? [ C ], P>=1 [ F G "end" ])', Fraction(4, 3)),
        ('multi(R{"cost"}min=? [ C ], P>=1 [ F "goal" ], P<=1 [ F "end" ])', 4),
        ('multi(Pmax=? [ F "goal" ], R{"none"}<=0 [ C ])', 1),
        ('multi(Pmax=? [ F "goal" ], R{"cost"}>=0 [ C ], P<=1 [ X "end" ])', 1),
    ],
)
def test_bounds_that_are_met_on_the_border_alone(asked, value, fractions, monkeypatch):
    """By what branches tell, too, where a model is too large for fractions."""
    if not fractions:
        monkeypatch.setattr(_pareto, "exactly", lambda *_: None)
    found = mdp.pareto(tries(), asked)
    assert Fraction(found.lower) <= value <= Fraction(found.upper)
    assert found.upper - found.lower <= 1e-6
    assert mdp.verify_pareto(tries(), asked, found)


def test_an_optimum_on_the_border_of_what_can_be_had():
    """At most 1/2 gets to the goal, by the lot that gains nothing."""
    asked = 'multi(R{"gain"}max=? [ C ], P>=0.5 [ F "goal" ])'
    found = mdp.pareto(model(), asked)
    assert found.lower == found.upper == 0
    assert mdp.verify_pareto(model(), asked, found)
    wrong = dataclasses.replace(found, lower=0.1, upper=0.1)
    assert not mdp.verify_pareto(model(), asked, wrong)


@pytest.mark.parametrize(
    ("others", "value"),
    [
        ('P>0.5 [ F "goal" ]', None),
        ('P<0 [ F "goal" ]', None),
        ('P>=0.25 [ F "goal" ], P<0.25 [ F "goal" ]', None),
        ('P>0.25 [ F "goal" ]', 7 / 12),
        ('P<0.5 [ F "goal" ]', 1),
    ],
)
def test_strict_bounds_beside_an_optimum(others, value):
    """What can be had comes as near to the best as one likes, or there is nothing."""
    asked = f'multi(R{{"gain"}}max=? [ C ], {others})'
    found = mdp.pareto(model(), asked)
    if value is None:
        assert np.isnan(found.lower)
        assert np.isnan(found.upper)
        wrong = dataclasses.replace(found, lower=1.0, upper=1.0)
    else:
        assert found.lower <= value + 1e-15
        assert found.upper >= value - 1e-15
        wrong = dataclasses.replace(found, lower=np.nan, upper=np.nan)
    assert mdp.verify_pareto(model(), asked, found)
    assert not mdp.verify_pareto(model(), asked, wrong)


def test_nothing_is_earned_in_no_steps():
    asked = 'multi(R{"gain"}max=? [ C<=0 ], P>=0 [ F "goal" ])'
    assert mdp.check(model(), asked).upper[0] <= 1e-6
    asked = 'multi(R{"gain"}>=0.1 [ C<=0 ], P>=0 [ F "goal" ])'
    assert mdp.check(model(), asked).value is False


def test_constraints_that_nothing_meets():
    asked = 'multi(R{"gain"}max=? [ C ], P>=0.51 [ F "goal" ])'
    found = mdp.pareto(model(), asked)
    assert np.isnan(found.lower)
    assert np.isnan(found.upper)
    assert mdp.verify_pareto(model(), asked, found)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('multi(P=? [ F "goal" ], Pmax=? [ F true ])', "must say min or max"),
        ('multi(Pmax>=0.5 [ F "goal" ], Pmax=? [ F true ])', "a bound and an optimum"),
        ('multi(Pmax=? [ F "goal" ], Rmax=? [ LRA ])', "only F, C and C<= are"),
        ('multi(Pmax=? [ F "goal" ], Rmin=? [ F "goal" ])', "may never come about"),
        ('multi(Pmax=? [ F>=2 "goal" ], Rmin=? [ C ])', "counts from a step on"),
        ('multi(Pmax=? [ G F "goal" & F !"goal" ], Rmin=? [ C ])', "not supported"),
        ('multi(Pmax=? [ F "goal" || F true ], Rmin=? [ C ])', "not supported"),
        ('Pmax=? [ F "goal" ]', "expected several objectives"),
    ],
)
def test_what_is_not_supported_is_said(asked, said):
    with pytest.raises(PropertyError, match=said):
        mdp.pareto(model(), asked)


def test_rewards_without_end_and_fronts_for_check_are_refused():
    paid = dataclasses.replace(model(), choice_rewards={"": np.ones(5)})
    with pytest.raises(PropertyError, match="objective 2 has no bound: choice"):
        mdp.pareto(paid, 'multi(Pmax=? [ F "goal" ], Rmax=? [ C ])')
    with pytest.raises(PropertyError, match=r"for mdp\.pareto"):
        mdp.check(model(), BOTH)


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        # Between (1/8, 7/8) and (1/2, 0): 1/8 + (7/8 - 1/2) / (7/8) * 3/8.
        ('multi(Pmax=? [ F "goal" ], R{"gain"}>=0.5 [ C ])', Fraction(2, 7)),
        # The other way round: 7/8 - (1/3 - 1/8) / (3/8) * 7/8.
        ('multi(R{"gain"}max=? [ C ], P>=1/3 [ F "goal" ])', Fraction(7, 18)),
        # Half of (0, 1), and half of (1/2, 0).
        ('multi(Pmin=? [ F "goal" ], R{"gain"}<=0.5 [ C ])', Fraction(1, 4)),
        ('multi(R{"gain"}max=? [ C ], P>=0.75 [ F "goal" ])', None),
    ],
)
def test_optima_under_bounds_of_others_are_known_as_fractions(
    asked, value, tmp_path, capsys
):
    found = mdp.check(model(), asked, exact=True)
    assert found.exact == (None if value is None else (value, None, None))
    front = mdp.pareto(model(), asked, exact=True)
    assert front.exact == value
    assert mdp.verify_pareto(model(), asked, front)
    path = tmp_path / "model.umb"
    io.save(str(path), model())
    line = ["mdp", str(path), "--prop", asked, "--exact", "-v"]
    assert main(line) == (1 if value is None else 0)
    told = capsys.readouterr().out
    assert f"is {'impossible' if value is None else value}" in told
    if value is not None:
        assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0])


def test_fronts_have_no_fractions_and_what_is_too_large_says_so(
    tmp_path, capsys, monkeypatch
):
    with pytest.raises(ValueError, match="asks for a front"):
        mdp.pareto(model(), BOTH, exact=True)
    met = 'multi(P>=0.5 [ F "goal" ], R{"gain"}>=0 [ C ])'
    assert mdp.check(model(), met, exact=True).value is True
    path = tmp_path / "model.umb"
    io.save(str(path), model())
    assert main(["mdp", str(path), "--prop", BOTH, "--exact"]) == 2
    assert "exact" in capsys.readouterr().err
    assert main(["mdp", str(path), "--prop", met, "--exact"]) == 0
    monkeypatch.setattr(_pareto, "exactly", lambda *_: None)
    asked = 'multi(Pmax=? [ F "goal" ], R{"gain"}>=0.5 [ C ])'
    found = mdp.check(model(), asked, exact=True, throw=False)
    assert (found.status, found.exact) == (Status.PRECISION, None)
    assert found.lower[0] <= 2 / 7 <= found.upper[0]
    with pytest.raises(SolveError):
        mdp.check(model(), asked, exact=True)


def test_the_command_says_what_is_too_stiff(tmp_path, capsys, monkeypatch):
    def stiff(*_, **__):
        raise _oracle.Stiff

    monkeypatch.setattr(_pareto.Case, "solved", stiff)
    path = tmp_path / "model.umb"
    io.save(str(path), model())
    assert main(["mdp", str(path), "--prop", BOTH, "-v"]) == 4
    assert "is not solved" in capsys.readouterr().out


SPOILT = {
    "points": lambda x: x.points + 0.01,
    "bounds": lambda x: x.bounds - 0.01,
    "weights": lambda x: x.weights * 2,
    "schedulers": lambda x: np.where(x.schedulers < 3, 9, x.schedulers),
    "potentials": lambda x: x.potentials - 0.01,
}


@pytest.mark.parametrize("field", SPOILT)
def test_verification_sees_what_is_spoilt(field):
    found = mdp.pareto(model(), BOTH)
    assert mdp.verify_pareto(model(), BOTH, found)
    spoilt = dataclasses.replace(found, **{field: SPOILT[field](found)})
    assert not mdp.verify_pareto(model(), BOTH, spoilt)


def test_verification_sees_a_wrong_answer():
    asked = 'multi(P>=0.25 [ F "goal" ], R{"gain"}>=0.59 [ C ])'
    found = mdp.pareto(model(), asked)
    wrong = dataclasses.replace(found, achievable=True)
    assert not mdp.verify_pareto(model(), asked, wrong)


def test_weights_in_one_program_find_the_same(monkeypatch):
    alone = mdp.pareto(model(), BOTH)
    monkeypatch.setattr(_oracle, "BATCHED_FROM", 0)
    together = mdp.pareto(model(), BOTH)
    np.testing.assert_allclose(together.points, alone.points, atol=1e-6)
    assert mdp.verify_pareto(model(), BOTH, together)


def test_mixtures_by_hand():
    points = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    found = mixture(points, [Fraction(1, 4), Fraction(1, 4)])
    assert found.value == Fraction(1, 4)
    assert found.columns == [Fraction(1, 2)] * 2


def test_on_the_command_line(tmp_path, capsys):
    path, out = tmp_path / "model.umb", tmp_path / "front.npz"
    io.save(str(path), model())
    call = ["mdp", str(path), "--prop", BOTH, "--verify", "--json", "-o", str(out)]
    assert main(call) == 0
    told = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(told["front"], [[0, 1], [0.125, 0.875], [0.5, 0]],
        atol=1e-6)  # fmt: skip
    assert told["verified"] is True
    with np.load(out) as file:
        assert file["points"].shape[1] == 2
    asked = 'multi(P>=0.25 [ F "goal" ], R{"gain"}>=0.59 [ C ])'
    assert main(["mdp", str(path), "--prop", asked]) == 1
    assert "is false" in capsys.readouterr().out


@pytest.mark.sweep
def test_nothing_is_found_in_many_small_models():
    summary = fuzz(SLICES["values"], ["front"], games=4000, limit=None)
    assert summary.failure is None, summary.failure


def test_what_rounds_tell_nothing_of_is_found_in_fractions(monkeypatch):
    """A state that is left once in 2^31 steps."""
    model = mdp.MDP.from_arrays(
        [0, 2, 4],
        [0, 1, 3, 4, 5],
        [0, 1, 0, 0, 1],
        [1, 2.0**-31, 1 - 2.0**-31, 1, 1],
        labels={"goal": [0, 1], "ok": [1, 0]},
    )
    asked = 'multi(Pmax=? [ F "goal" ], Pmax=? [ F "ok" ])'
    bounded = 'multi(P>=0.5 [ F "goal" ], P>=0.5 [ F "ok" ])'
    found = mdp.pareto(model, asked)
    np.testing.assert_allclose(found.points[found.vertices], [[1, 1]], atol=1e-6)
    assert mdp.verify_pareto(model, asked, found)
    assert mdp.check(model, bounded).value is True
    monkeypatch.setattr(_exact, "EXACT_UP_TO", 0)
    with pytest.raises(SolveError, match="PRECISION"):
        mdp.pareto(model, asked)
    assert mdp.pareto(model, asked, throw=False).status == Status.PRECISION
    assert mdp.check(model, bounded, throw=False).status == Status.PRECISION


@pytest.mark.parametrize("goal", [[0.5], [0.5, np.nan], [0.5, 0.5, 0.5]])
def test_a_goal_is_a_number_for_each_objective(goal):
    with pytest.raises(ValueError, match="goal must be 2 finite numbers"):
        mdp.pareto(model(), BOTH).mix(goal)


def test_a_front_of_which_nothing_is_known_is_neither_mixed_nor_verified():
    nothing = mdp.Front(Status.PRECISION, stats=Stats(), asked=BOTH)
    with pytest.raises(ValueError, match="nothing is known to be mixed"):
        nothing.mix([0, 0])
    with pytest.raises(ValueError, match="nothing is known that could be checked"):
        mdp.verify_pareto(model(), BOTH, nothing)


def test_a_model_without_states_has_no_first_one():
    model = mdp.MDP.from_arrays([0], [0], [], [])
    for ask in (mdp.pareto, mdp.check):
        with pytest.raises(ValueError, match="the model has no states"):
            ask(model, "multi(Pmax=? [ F true ], Pmax=? [ X true ])")

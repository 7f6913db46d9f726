"""Schedulers that look at a clock: written, read, verified, and made to run."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgames import io, mdp
from jaxgames.cli import main
from jaxgames.mdp import ValueReason

# Being late, only the risk is in time: with two steps left it is better to wait.
RACE = """mdp
module race
  x : [0..3];
  [wait] x=0 -> 0.9:(x'=1) + 0.1:(x'=0);
  [risk] x<2 -> 0.4:(x'=3) + 0.6:(x'=2);
  [go] x=1 -> 0.75:(x'=3) + 0.25:(x'=2);
  [stay] x>1 -> true;
endmodule
label "home" = x=3;
rewards "fee" [wait] x=0 : 1; [risk] true : 3; [go] true : 5; endrewards
"""

ASKED = {
    'Pmax=? [ F<=2 "home" ]': "home",
    'Pmin=? [ G<=3 !"home" ]': "home",
    'Pmax=? [ F[2,3] "home" ]': "home",
    'R{"fee"}max=? [ C<=2 ]': "fee",
    'R{"fee"}min=? [ C<=3 ]': "fee",
    'Pmax=? [ F>=2 "home" ]': "home",
}


@pytest.fixture(scope="module")
def race():
    return mdp.Program.parse(RACE).build()


def test_with_less_time_another_choice_is_best(race):
    found = mdp.check(race, 'Pmax=? [ F<=2 "home" ]')
    # 0.9 * 0.75 + 0.1 * 0.4 is more than 0.4 at once; with one step left, there is
    # only the risk.
    assert found.value == pytest.approx(0.715)
    first = np.asarray(race.row_group_offsets)
    assert (found.scheduler[:, 0] - first[0]).tolist() == [0, 1]


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_written_is_read_again_and_attains_its_value(race, asked, tmp_path):
    model = race
    found = mdp.check(model, asked)
    path = tmp_path / "clock.txt"
    io.scheduler.save(found.scheduler, path, model)
    scheduler = io.scheduler.load(path, model)
    assert np.array_equal(scheduler, found.scheduler)
    assert mdp.verify_values(model, asked, found)
    runs, steps = 40_000, 4
    visited = np.asarray(
        mdp.simulate(model, scheduler, np.zeros(runs, int), steps, jax.random.key(3))
    )
    assert visited.shape == (steps + 1, runs)
    x = model.valuations["x"][visited]
    home = np.asarray(model.labels["home"])[visited]
    if "F<=2" in asked:
        sample = home[:3].any(0)
    elif "G<=3" in asked:
        sample = ~home[:4].any(0)
    elif "F[2,3]" in asked:
        sample = home[2:4].any(0)
    elif "F>=2" in asked:
        sample = home[2:].any(0)  # after two more steps all is decided
    else:
        fee, count = np.asarray(model.choice_rewards["fee"]), int(asked[-3])
        rows = (scheduler[min(t, len(scheduler) - 1)][visited[t]] for t in range(count))
        sample = sum(np.where(row < 0, 0, fee[row]) for row in rows)
    assert ((x >= 0) & (x <= 3)).all()
    off = 5 * sample.std() / np.sqrt(runs) + 1e-9
    assert abs(sample.mean() - found.value) <= off


@pytest.mark.parametrize("asked", ASKED)
def test_a_worse_scheduler_with_a_clock_is_found(race, asked):
    found = mdp.check(race, asked)
    first = np.asarray(race.row_group_offsets)
    worse = found.scheduler.copy()
    worse[0, 0] = first[0] + (1 - (worse[0, 0] - first[0]))  # the other choice
    wrong = dataclasses.replace(found, scheduler=worse)
    verdict = mdp.verify_values(race, asked, wrong)
    assert not verdict
    assert verdict.vertex == 0
    worse[0, 0] = first[1]
    verdict = mdp.verify_values(
        race, asked, dataclasses.replace(wrong, scheduler=worse)
    )
    assert verdict.reason == ValueReason.NO_CHOICE_OF_IT


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "expected '# state choice names'"),
        ("0 0\n", 1, "expected '# state choice names'"),
        ("# state choice names\n0\n", 2, "expected state choice, found '0'"),
        ("# state choice names\n0 x\n", 2, "expected state choice, found '0 x'"),
        ("# state choice names\n9 0\n", 2, "state 9 is too large: there are 4"),
        ("# state choice names\n0 2\n", 2, "choice 2 is too large: state 0 of the"),
        ("# step state choice names; 2 steps\n2 0 0\n", 2, "step 2 is too large"),
        ("# step state choice names; 1 step\n0 0\n", 2, "expected step state choice"),
    ],
)
def test_files_that_are_none(race, tmp_path, text, line, said):
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    with pytest.raises(io.FormatError, match=said) as caught:
        io.scheduler.load(path, race)
    assert caught.value.line == line


def test_simulation_refuses_what_is_no_scheduler(race):
    first = np.asarray(race.row_group_offsets)
    wrong = np.tile(first[1:], (2, 1))
    with pytest.raises(ValueError, match="takes choice 2 in state 0"):
        mdp.simulate(race, wrong, 0, 2, jax.random.key(0))
    with pytest.raises(ValueError, match="for each of 4 states"):
        mdp.simulate(race, np.zeros((2, 3), int), 0, 2, jax.random.key(0))
    none = np.full((1, 4), -1)
    assert (
        mdp.simulate(race, none, [0, 1], 2, jax.random.key(0)).tolist() == [[0, 1]] * 3
    )


def test_the_command_writes_clocks_and_verifies_them(
    race, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "race.prism").write_text(RACE)
    asked = ("--prop", 'Pmax=? [ F<=2 "home" ]')
    line = ["mdp", "race.prism", *asked, "-q", "-v", "-o", "found.npz"]
    assert main([*line, "--scheduler", "clock.txt"]) == 0
    found = np.load("found.npz")["scheduler"]
    assert found.shape == (2, 4)
    assert np.array_equal(io.scheduler.load("clock.txt", race), found)
    assert main(["verify", "race.prism", "found.npz", *asked]) == 0
    arrays = dict(np.load("found.npz"))
    arrays["scheduler"][0, 0] += 1
    np.savez("worse.npz", **arrays)
    assert main(["verify", "race.prism", "worse.npz", *asked]) == 1
    assert main(["mdp", "race.prism", *asked, "-q", "-o", "found.txt"]) == 0
    assert (tmp_path / "found.txt").read_text().startswith("# vertex lower upper\n")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('Pmax=? [ F ("home" & X "home") ]', "would remember states of an automaton"),
        ('Pmax=? [ F^{rew{"fee"}<=4} "home" ]', "would remember what has been earned"),
        ("Pmax=? [ (G F x=1) & (G F x=0) ]", "from one of several sets of states"),
        ("Pmax=? [ F x=3 || F x=1 ]", "whether the condition is met"),
        ('Pmax=? [ F<=100000000 "home" ]', "each of 100000000 steps and 4 states"),
        ('R{"fee"}max=? [ C<=100000000 ]', "each of 100000000 steps and 4 states"),
        ('Pmax=? [ F>=100000000 "home" ]', "each of 100000000 steps and 4 states"),
        ("filter(max, Pmax=? [ F x=3 ])", "it is no query"),
        ("multi(Pmax=? [ F x=3 ], P>=0.1 [ F x=1 ])", "several schedulers"),
    ],
)
def test_what_has_no_scheduler_says_so_before_it_is_solved(
    race, asked, said, tmp_path, monkeypatch, capsys
):
    assert said in mdp.why_no_scheduler(race, asked)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "race.prism").write_text(RACE)

    def solved(*_, **__):
        raise AssertionError("it was solved")

    monkeypatch.setattr(mdp, "check", solved)
    monkeypatch.setattr(mdp, "pareto", solved)
    line = ["mdp", "race.prism", "--prop", asked, "--scheduler", "out.txt"]
    assert main(line) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "has no scheduler to write" in err
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize(
    "asked",
    ["Pmax=? [ G F x=1 ]", "Pmin=? [ F G x=0 ]", "P>=0.1 [ F x=3 ]", *ASKED],
)
def test_what_has_a_scheduler_has_one(race, asked):
    assert mdp.why_no_scheduler(race, asked) is None
    assert mdp.check(race, asked).scheduler is not None

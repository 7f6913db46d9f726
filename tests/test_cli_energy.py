import json

import numpy as np
import pytest

from jaxgames import Arena, energy, generate, io, meanpayoff
from jaxgames.cli import Exit, _energy, _meanpayoff, main
from jaxgames.energy import reference

# Player 1 goes to and fro between 0 and 1, with a loss of 1 or a gain of 1; vertex 3
# loses energy without end.
GAME = """\
energy 4
0 0 1 -4
1 1 0 3,2 1
2 0 0 5,3 9
3 1 3 -1
"""


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    """Relative paths, and none of JAX's settings changed for other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")


@pytest.fixture
def game(tmp_path):
    (tmp_path / "game.energy").write_text(GAME)
    return "game.energy"


@pytest.fixture
def run(capsys):
    """Runs a command here; returns exit code, output and errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


def lines(out: str) -> list[str]:
    """What is printed, without the phases."""
    return [line for line in out.splitlines() if " s  " not in line]


# ---- energy --------------------------------------------------------------------


def test_credits_are_told_and_written(run, game):
    code, out, err = run("energy", game, "--verify", "-s", "host", "-o", "credit.npz")
    assert (code, err) == (Exit.DONE, "")
    assert lines(out)[-1] == f"{game}: player 0 wins 0, player 1 wins 4"
    assert "verify" in out
    assert "valid" in out
    arrays = np.load("credit.npz")
    assert arrays["credit"].tolist() == [energy.TOP] * 4
    assert arrays["winner"].tolist() == [1] * 4
    assert arrays["successor"].tolist() == [-1, 0, -1, 3]


def test_text_has_a_line_for_each_vertex(run, tmp_path):
    text = "energy 2\n0 0 1 -4\n1 1 0 4\n"
    (tmp_path / "small.energy").write_text(text)
    assert run("energy", "small.energy", "-q", "-s", "host", "-o", "out.txt")[:2] == (
        Exit.DONE,
        "",
    )
    assert (tmp_path / "out.txt").read_text().splitlines() == [
        "# vertex credit winner successor",
        "0 4 0 1",
        "1 0 0 -1",
    ]


def test_energy_json(run):
    arena = generate.random_energy_game(3, 50, min_weight=-5, max_weight=6)
    io.save("random.energy", arena)
    solution = reference.solve(arena)
    assert solution.credit.min() == energy.TOP < 0 < solution.credit.max()
    code, out, _ = run("energy", "random.energy", "--json", "--all", "-v", "-s", "host")
    facts = json.loads(out)
    assert code == Exit.DONE
    assert facts["status"] == "solved"
    assert facts["verified"] is True
    assert facts["won"] == [int((solution.winner == x).sum()) for x in (0, 1)]
    assert facts["largest_credit"] == solution.credit.max()
    assert facts["credit"] == solution.credit.tolist()
    assert facts["successor"] == solution.successor(arena).tolist()
    assert facts["capacity"] is None


def test_whether_a_credit_is_enough(run, tmp_path):
    (tmp_path / "small.energy").write_text("energy 2\n0 0 1 -4\n1 1 0 4\n")
    ask = ("energy", "small.energy", "-s", "host", "--credit")
    code, out, err = run(*ask, 3)
    assert (code, err) == (Exit.DONE, "")
    assert lines(out)[-1] == "  3 is enough from 1 vertex"
    code, out, err = run(*ask, 3, "--from", 0)
    assert (code, err) == (Exit.WRONG, "")
    assert lines(out)[-1] == "  vertex 0: needs 4"
    assert run(*ask, 4, "--from", 0)[0] == Exit.DONE
    assert run(*ask, 3, "--from", 0, "-q") == (Exit.WRONG, "", "")
    facts = json.loads(run(*ask, 3, "--from", 0, "--json")[1])
    assert (facts["enough"], facts["needed"], facts["enough_from"]) == (False, 4, 1)


def test_a_play_is_followed(run, tmp_path, game):
    (tmp_path / "small.energy").write_text("energy 2\n0 0 1 -4\n1 1 0 4\n")
    play = ("energy", "small.energy", "-s", "host", "--from", 0, "--play", 5)
    code, out, _ = run(*play)
    assert code == Exit.DONE
    assert lines(out)[-1] == "  play: 5 steps, lowest level 0, last 0"
    facts = json.loads(run(*play, "--credit", 2, "--json")[1])
    assert facts["play"] == {"survives": False, "vertex": [0, 1], "level": [2, -2]}
    _, out, _ = run("energy", game, "-s", "host", "--from", 3, "--play", 5)
    assert lines(out)[-2:] == [
        "  vertex 3: no credit is enough",
        "  play: 1 step, lowest level -1, last -1, where player 0 loses",
    ]


def test_a_battery(run, tmp_path):
    (tmp_path / "small.energy").write_text("energy 2\n0 0 1 6\n1 1 0 -5\n")
    for capacity, won in ((4, [0, 2]), (5, [2, 0])):
        code, out, _ = run(
            *("energy", "small.energy", "--capacity", capacity),
            *("-s", "host", "-v", "--json"),
        )
        facts = json.loads(out)
        assert (code, facts["won"], facts["verified"]) == (Exit.DONE, won, True)


def test_a_parity_game_becomes_one(run, tmp_path):
    (tmp_path / "game.pg").write_text("parity 1;\n0 2 0 1;\n1 1 1 0,1;\n")
    code, _, err = run("energy", "game.pg")
    assert code == Exit.BAD_INPUT
    assert "no weights on its edges (--from-parity makes some of priorities)" in err
    code, out, _ = run("energy", "game.pg", "--from-parity", "-s", "host", "--json")
    assert code == Exit.DONE
    assert json.loads(out)["won"] == [0, 2]
    io.save("weights.energy", Arena.from_edges([0], [0], owner=[0], weight=[1]))
    code, _, err = run("meanpayoff", "weights.energy", "--from-parity")
    assert code == Exit.BAD_INPUT
    assert "--from-parity needs a game with priorities" in err


def test_a_wrong_answer_is_not_written(run, game, monkeypatch):
    wrong = energy.Verdict.at(energy.Reason.CREDIT_TOO_LARGE, 2)
    monkeypatch.setattr(_energy.energy, "verify", lambda *_: wrong)
    code, _, err = run("energy", game, "-s", "host", "-v", "-o", "out.npz")
    assert code == Exit.UNVERIFIED
    assert "vertex 2: player 0 needs less than its credit" in err


def test_a_limit_is_reached(run, game):
    code, _, err = run("energy", game, "-s", "fvi", "--max-steps", 0, "-q")
    assert code == Exit.UNSOLVED
    assert err == (
        f"jaxgames: {game}: not solved: the limit of 0 rounds was reached; "
        "allow more by --max-steps, or leave it out\n"
    )


# ---- mean payoff ---------------------------------------------------------------


def test_values_are_told_and_written(run, game, tmp_path):
    code, out, err = run("meanpayoff", game, "-v", "-s", "host", "-o", "values.txt")
    assert (code, err) == (Exit.DONE, "")
    assert [line.split() for line in lines(out)[-3:]] == [
        [f"{game}:", "2", "values,", "from", "-1", "to", "-1/2"],
        ["-1/2", "3", "vertices"],
        ["-1", "1", "vertex"],
    ]
    assert (tmp_path / "values.txt").read_text().splitlines() == [
        "# vertex value_num value_den successor",
        *("0 -1 2 1", "1 -1 2 0", "2 -1 2 0", "3 -1 1 3"),
    ]


def test_meanpayoff_json(run, game):
    code, out, _ = run("meanpayoff", game, "--json", "--all", "-s", "host")
    facts = json.loads(out)
    assert code == Exit.DONE
    assert facts["values"] == [
        {"value": "-1", "vertices": 1},
        {"value": "-1/2", "vertices": 3},
    ]
    assert facts["value_den"] == [2, 2, 2, 1]
    assert facts["stats"]["values"] == 2


def test_a_threshold_is_decided(run, game):
    ask = ("meanpayoff", game, "-s", "host", "-v")
    code, out, _ = run(*ask, "--threshold=-1/2", "-o", "won.npz")
    assert code == Exit.DONE
    assert lines(out)[-1] == (
        f"{game}: the mean payoff is at least -1/2 from 3 vertices, and less from 1"
    )
    assert np.load("won.npz")["winner"].tolist() == [0, 0, 0, 1]
    facts = json.loads(run(*ask, "--threshold", "0.25", "--json")[1])
    assert (facts["threshold"], facts["won"]) == ("1/4", [0, 4])
    for far, won in ((10**40, [0, 4]), (-(10**40), [4, 0])):
        ratio = f"{far}/{10**19 + 1}"
        facts = json.loads(run(*ask, f"--threshold={ratio}", "--json")[1])
        assert (facts["threshold"], facts["won"]) == (ratio, won)
        assert facts["verified"] is True


def test_wrong_values_are_not_written(run, game, monkeypatch):
    wrong = meanpayoff.Verdict.at(meanpayoff.Reason.UNDECIDED, 1)
    monkeypatch.setattr(_meanpayoff.meanpayoff, "verify", lambda *_: wrong)
    code, _, err = run("meanpayoff", game, "-s", "host", "-v", "-o", "out.npz")
    assert code == Exit.UNVERIFIED
    assert "nothing is written: vertex 1: it has no value" in err


def test_values_and_a_limit(run, game):
    code, _, err = run("meanpayoff", game, "-s", "host", "--max-steps", 1, "-q")
    assert code == Exit.UNSOLVED
    assert "the limit of 1 round was reached" in err


# ---- bad usage -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("energy", "-s", "best"), "no energy solver is called 'best'"),
        (("energy", "--all"), "--all goes with --json"),
        (("energy", "-o", "out.csv"), "-o takes a file that ends in"),
        (("energy", "--play", "3"), "--play needs the vertex --from which it begins"),
        (("energy", "--from", "1"), "--from goes with --credit or --play"),
        (("energy", "--from", "9", "--credit", "1", "-q"), "has the vertices 0 to 3"),
        (("energy", "--capacity", "3", "-s", "vi"), "--capacity has the solvers auto"),
        (("energy", "--opponent", "kind"), "--opponent is random, greedy or tight"),
        (("energy", "--credit", "-1"), "expected an integer from 0 on"),
        (
            ("energy", "--no-strategies", "--from", "1", "--play", "3"),
            "--play needs the strategies",
        ),
        (("meanpayoff", "--threshold", "a/b"), "a fraction such as 3/2, got a/b"),
        (("meanpayoff", "--threshold", "1/0"), "a fraction such as 3/2, got 1/0"),
        (("meanpayoff", "-s", "best"), "no energy solver is called 'best'"),
    ],
)
def test_bad_usage(run, game, arguments, message):
    command, *rest = arguments
    code, out, err = run(command, game, *rest)
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert message in err


def test_several_weights_on_an_edge(run):
    arena = Arena.from_edges([0], [0], owner=[0], weight=[[1, 2]])
    io.save("two.npz", arena)
    code, _, err = run("energy", "two.npz")
    assert code == Exit.BAD_INPUT
    assert "this game has 2 weights on each edge, expected one" in err


def test_a_value_may_need_more_than_64_bits(run, tmp_path):
    most = 2**62
    text = f"energy 3\n0 0 1 {most}\n1 1 2 {most}\n2 0 0 {most - 1}\n"
    (tmp_path / "large.energy").write_text(text)
    out = run("meanpayoff", "large.energy", "--json", "--all", "-v", "-s", "host")[1]
    facts = json.loads(out)
    assert facts["verified"]
    assert facts["value_num"] == [3 * most - 1] * 3
    run("meanpayoff", "large.energy", "-q", "-s", "host", "-o", "values.npz")
    assert np.load("values.npz")["value_num"].tolist() == [str(3 * most - 1)] * 3

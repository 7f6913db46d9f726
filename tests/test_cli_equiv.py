"""`jaxgames equiv`: tables, formulas, pictures, and what is refused."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from jaxgames import cli

VENDING = """des (0, 7, 9)
(0,"coin",1)
(1,"tea",2)
(1,"coffee",3)
(4,"coin",5)
(4,"coin",6)
(5,"tea",7)
(6,"coffee",8)
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vending.aut").write_text(VENDING)

    def run(*arguments):
        code = cli.main(["equiv", "--no-cache", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_two_states(run):
    code, out, err = run("vending.aut", 0, 4)
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "0 ≤ 4 4 ≤ 0 equivalent" in lines
    assert "traces yes yes yes" in lines
    assert "failures yes no no" in lines
    assert "simulation no yes no" in lines
    assert "bisimulation no no no" in lines
    there = lines.index("0 satisfies, and 4 does not:")
    back = lines.index("4 satisfies, and 0 does not:")
    assert lines[there + 1].startswith("⟨coin⟩(")
    assert lines[back + 1] in ("⟨coin⟩¬⟨tea⟩", "⟨coin⟩¬⟨coffee⟩")
    assert lines[back + 2].startswith("failures, revivals, ")


def test_one_notion_as_json(run):
    code, out, err = run("vending.aut", 4, 0, "--notion", "failures", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert list(facts["notions"]) == ["failures"]
    failures = facts["notions"]["failures"]
    assert failures["formula"] in ("⟨coin⟩¬⟨tea⟩", "⟨coin⟩¬⟨coffee⟩")
    assert failures["reverse_formula"] is None
    assert (failures["preorder"], failures["reverse"]) == (False, True)
    assert facts["budgets"] == [[2, 2, 0, 0, 1, 1]]
    assert (facts["file"], facts["p"], facts["q"]) == ("vending.aut", 4, 0)


def test_classes(run):
    code, out, _ = run("vending.aut")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "traces 5 classes" in lines
    assert "bisimulation 6 classes" in lines
    code, out, _ = run("vending.aut", "--notion", "traces", "--labels", "classes.txt")
    assert "  0: 0, 4\n" in out
    assert np.loadtxt("classes.txt", int).tolist() == [0, 1, 2, 2, 0, 3, 4, 2, 2]
    assert json.loads(run("vending.aut", "--json")[1])["classes"]["traces"] == 5


def test_two_systems(run, tmp_path):
    (tmp_path / "b.aut").write_text(
        'des (1, 4, 4)\n(1,"coin",2)\n(1,"coin",3)\n(2,"tea",0)\n(3,"coffee",0)\n'
    )
    code, out, err = run("vending.aut", "b.aut", "--verify", "--notion", "failures")
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "vending.aut ≤ b.aut b.aut ≤ vending.aut equivalent" in lines
    assert "failures yes no no" in lines
    code, out, err = run("vending.aut", "b.aut", 0, 1, 4, 1, "--jsonl", "-v")
    assert (code, err) == (0, "")
    first, second = map(json.loads, out.splitlines())
    assert (first["p"], first["q"], second["p"], second["q"]) == (0, 1, 4, 1)
    assert first["other"] == "b.aut"
    assert first["verified"]
    assert not first["notions"]["failures"]["equivalent"]
    assert second["notions"]["bisimulation"]["equivalent"]
    code, _, err = run("vending.aut", "b.aut", 0, 4)
    assert (code, err) == (2, "jaxgames: b.aut: expected a state from 0 to 3, got 4\n")


def test_several_pairs(run):
    code, out, err = run("vending.aut", 0, 4, 2, 3, "-s", "host")
    assert (code, err) == (0, "")
    assert out.count("equivalent\n") == 2
    assert run("vending.aut", 0, 4, 2, 3, "--json")[0] == 2


def test_classes_are_verified(run, tmp_path, capsys):
    for notion in ("traces", "bisimulation"):
        labels = f"{notion}.npz"
        code, out, _ = run("vending.aut", "-v", "--notion", notion, "--labels", labels)
        assert (code, "valid" in out) == (0, True)
        assert cli.main(["verify", "vending.aut", labels]) == 0
        assert capsys.readouterr().out == f"{labels}: valid\n"
    wrong = np.array([0, 1, 2, 2, 0, 3, 4, 2, 2], np.int32)
    np.savez("wrong.npz", labels=wrong, notion="bisimulation", count=5)
    assert cli.main(["verify", "vending.aut", "wrong.npz"]) == 1
    said = "state 4: it is not equivalent to the first state of its class"
    assert said in capsys.readouterr().out


def test_steps_end(run):
    code, out, err = run("vending.aut", 0, 4, "--max-steps", 0, "--json")
    assert (code, json.loads(out)["status"]) == (4, "max_steps")
    assert "the limit of 0 rounds was reached" in err


def test_picture(run):
    code, out, _ = run("vending.aut", 0, 4, "--draw", "lattice.svg", "--quiet")
    assert (code, out) == (0, "")
    words = [
        node.text
        for node in ElementTree.parse("lattice.svg").iter()
        if node.tag.endswith("text")
    ]
    assert {"bisimulation", "ready simulation", "only 4 is below 0"} <= set(words)


def test_silent_steps(run, tmp_path):
    (tmp_path / "steps.csv").write_text("0,1,a\n1,3,tau\n2,3,a\n")
    assert json.loads(run("steps.csv", 0, 2, "--json")[1])["notions"]["traces"][
        "preorder"
    ] is False  # fmt: skip
    code, out, _ = run("steps.csv", 0, 2, "--weak", "--draw", "weak.svg")
    assert code == 0
    assert "branching_bisimulation" in out
    assert "no" not in out.split("equivalent")[1].split()
    assert "branching bisimulation" in (tmp_path / "weak.svg").read_text()
    code, out, _ = run("steps.csv", 0, 2, "--weak", "--silent", "a", "--json")
    assert not json.loads(out)["notions"]["weak_traces"]["preorder"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vending.aut", 0, 9], "vending.aut: expected a state from 0 to 8, got 9"),
        (["vending.aut", 0], "expected two states or none, got 1"),
        (["vending.aut", 0, "x"], "expected a state, got 'x'"),
        (["vending.aut", "--notion", "x"], "no notion is called 'x'; there are enab"),
        (["vending.aut", "--draw", "x.svg"], "--draw goes with two states"),
        (["vending.aut", 0, 4, "--draw", "x.jpg"], "--draw takes a file that ends in"),
        (["vending.aut", "--labels", "x.txt"], "--labels goes with --notion"),
        (["vending.aut", "--weak"], "--weak goes with two states"),
        (["vending.aut", 0, 4, "--silent", "tea"], "--silent goes with --weak"),
        (
            ["vending.aut", 0, 4, "--weak", "--silent", "milk"],
            "no transition has the label 'milk'; there are 'coin', 'tea', 'coffee'",
        ),
        (["bad.csv"], "bad.csv:2: expected a state (a number from 0 to "),
        (["bad.aut"], "bad.aut:2: expected '(from,\"label\",to)', found 'x'"),
        (["game.pg", 0, 1], "game.pg: expected a labelled transition system"),
        (["none.aut"], "none.aut: No such file or directory"),
    ],
)
def test_bad_input(run, tmp_path, arguments, message):
    (tmp_path / "bad.csv").write_text("0,1,a\n1,x,b\n")
    (tmp_path / "bad.aut").write_text("des (0, 1, 2)\nx\n")
    (tmp_path / "game.pg").write_text("parity 0;\n0 0 0 0;\n")
    code, out, err = run("-q", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"jaxgames: {message}")


def test_a_game_that_is_too_large_is_not_solved(run):
    code, _, err = run("vending.aut", 0, 4, "--max-positions", 10)
    assert code == 4
    assert "the game has more than 10 positions or moves" in err


@pytest.mark.parametrize("states", [(), (0, 4)])
def test_a_time_limit(run, states, monkeypatch):
    from jaxgames.multienergy._problem import MultiEnergy

    monkeypatch.setattr(MultiEnergy, "place", lambda self, game: "device")
    code, out, err = run("vending.aut", *states, "--timeout", 1e-9, "--quiet")
    assert (code, out) == (cli.Exit.UNSOLVED, "")
    assert "vending.aut: not done: the limit of 1e-09 s was reached while" in err
    code, _, err = run("vending.aut", *states, "--timeout", 1e3, "--quiet")
    assert (code, err) == (0, "")

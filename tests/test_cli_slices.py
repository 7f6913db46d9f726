"""Commands for Büchi games, reachability, probabilities, several energies, models."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

from jaxgames import (
    Arena,
    buchi,
    emersonlei,
    generate,
    graph,
    io,
    mdp,
    multienergy,
    systems,
)
from jaxgames.cli import Exit, _buchi, _multienergy, main
from jaxgames.io import hoa_game
from jaxgames.multienergy import Reason as Wrong
from jaxgames.multienergy import Verdict


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    """Relative paths, and none of JAX's settings changed for other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")


@pytest.fixture
def run(capfd):
    """Runs a command here; returns exit code, output and errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def ask(run):
    """What a command says as JSON; it must succeed."""

    def ask(*arguments, code=Exit.DONE):
        found, out, err = run(*arguments, "--json")
        assert (found, err) == (code, "")
        return json.loads(out)

    return ask


def lines(out: str) -> list[str]:
    """What is printed, without the phases."""
    return [line for line in out.splitlines() if " s  " not in line]


def rows(path: str) -> list[list[float]]:
    """The numbers in a text, without its heading."""
    with open(path) as file:
        assert file.readline().startswith("# ")
        return [[float(x) for x in line.split()] for line in file]


# ---- Büchi games -----------------------------------------------------------------


@pytest.fixture
def game():
    arena = generate.random_game(5, 60)
    accepting = np.arange(60) % 7 == 0
    io.save("game.pg", arena)
    arena = Arena.from_csr(
        arena.row_ptr, arena.dst, owner=arena.owner, accepting=accepting
    )
    io.save("game.npz", arena)
    return arena


def test_a_buchi_game(ask, run, game):
    winner = buchi.reference.solve(game, game.accepting)[0]
    assert 0 < winner.sum() < 60
    facts = ask("buchi", "game.npz", "-v", "--all", "-s", "host", "-o", "won.txt")
    assert facts["status"] == "solved"
    assert facts["verified"] is True
    assert facts["accepting"] == 9
    assert facts["winner"] == winner.tolist()
    assert facts["won"] == [60 - winner.sum(), winner.sum()]
    assert rows("won.txt") == [
        [v, *row]
        for v, row in enumerate(zip(facts["winner"], facts["successor"], strict=True))
    ]
    text = ",".join(map(str, range(0, 60, 7)))
    again = ask("buchi", "game.pg", "--accepting", text, "--all", "-s", "host")
    assert again["winner"] == facts["winner"]
    code, out, err = run("buchi", "game.npz", "-s", "host", "--no-strategies")
    assert (code, err) == (Exit.DONE, "")
    told = f"player 0 wins {facts['won'][0]}, player 1 wins {facts['won'][1]}"
    assert lines(out)[-1] == f"game.npz: {told}"


def test_who_wins_is_told_as_far_as_it_is_known(run, game):
    code, out, _ = run("buchi", "game.npz", "--max-steps", 1, "--json", "--all")
    facts, right = json.loads(out), buchi.reference.solve(game, game.accepting)[0]
    assert (code, facts["status"]) == (Exit.UNSOLVED, "max_steps")
    assert facts["undecided"] == facts["winner"].count(-1)
    known = [(x, y) for x, y in zip(facts["winner"], right, strict=True) if x >= 0]
    assert all(x == y for x, y in known)
    assert "successor" not in facts


def test_a_wrong_buchi_winner_is_found(run, game, monkeypatch):
    found = buchi.solve(game, "host")
    wrong = dataclasses.replace(found, winner=found.winner ^ 1)
    monkeypatch.setattr(_buchi.buchi, "solve", lambda *_, **__: wrong)
    code, _, err = run("buchi", "game.npz", "-v", "-q", "-o", "won.npz")
    assert code == Exit.UNVERIFIED
    assert "nothing is written" in err
    assert not Path("won.npz").exists()


def test_what_is_no_buchi_game(run, game):
    assert run("buchi", "game.pg") == (
        *(Exit.BAD_INPUT, ""),
        "jaxgames: game.pg: this game has no accepting vertices (--accepting names "
        "some)\n",
    )
    dead = Arena.from_edges([0], [1], owner=[0, 0], weight=[1], dead_ends="allow")
    io.save("dead.npz", dead)
    code, _, err = run("buchi", "dead.npz", "--accepting", "0")
    assert code == Exit.BAD_INPUT
    assert "dead.npz: " in err
    assert "vertex 1 has no successor" in err


# ---- reachability ----------------------------------------------------------------


def test_what_is_reached(ask, game):
    backward = graph.reference.reachable(game, [3], backward=True)
    forward = graph.reference.reachable(game, [3])
    facts = ask("reach", "game.npz", "--to", 3, "--all", "-o", "to.txt")
    assert facts["found"]["reached"] == backward.tolist()
    assert [row[1] for row in rows("to.txt")] == backward.tolist()
    assert facts["reached"] == backward.sum() > 1
    assert facts["holds"] is None
    facts = ask("reach", "game.npz", "--from", 3, "--all", "-s", "host")
    assert facts["found"]["reached"] == forward.tolist()


@pytest.mark.parametrize("player", [0, 1])
def test_an_attractor(ask, game, player):
    target = [3, 10, 11, 12]
    won = graph.reference.attractor(game, target, player)
    assert 4 < won.mask.sum() < 60
    asked = ("reach", "game.npz", "--to", "3,10-12", "--player", player)
    facts = ask(*asked, "--all", "-o", "won.npz")
    assert facts["found"]["reached"] == won.mask.tolist()
    assert facts["found"]["rank"] == won.rank.tolist()
    assert facts["farthest"] == won.rank.max()
    arrays = np.load("won.npz")
    moves = np.flatnonzero(arrays["successor"] >= 0)
    assert len(moves)
    for v in moves:  # each leads to the target
        assert arrays["successor"][v] in game.successors(v)
        assert arrays["rank"][arrays["successor"][v]] < arrays["rank"][v]
    inside, outside = (int(np.flatnonzero(won.mask == x)[-1]) for x in (True, False))
    assert ask(*asked, "--from", inside)["holds"] is True
    assert ask(*asked, "--from", outside, code=Exit.WRONG)["holds"] is False


@pytest.mark.parametrize("player", [None, 0])
def test_a_limit_of_steps_of_reach(run, game, player):
    target = [3, 10, 11, 12]
    who = [] if player is None else ["--player", player]
    asked = ("reach", "game.npz", "--to", "3,10-12", *who)
    code, out, err = run(*asked, "--max-steps", 1, "--json", "--all", "-v")
    assert (code, err) == (
        Exit.UNSOLVED,
        "jaxgames: game.npz: not solved: the limit of 1 round was reached; allow more "
        "by --max-steps, or leave it out\n",
    )
    facts = json.loads(out)
    near = np.isin(np.arange(60), target)
    for v in range(60):
        into = np.isin(game.successors(v), target)
        all_of_them = player == 0 and game.owner[v] == 1
        near[v] |= into.all() if all_of_them else into.any()
    assert facts["found"]["reached"] == near.tolist()
    assert (facts["status"], facts["verified"]) == ("max_steps", None)
    far = int(np.flatnonzero(~near)[0])
    code, out, err = run(*asked, "--max-steps", 1, "--from", far, "-o", "some.txt")
    assert code == Exit.UNSOLVED
    assert lines(out)[-1] == f"  not from {far} in so few steps"
    assert "from at least " in lines(out)[-2]
    assert not Path("some.txt").exists()
    # With so many steps that no more would find more, it is solved.
    code, out, err = run(*asked, "--max-steps", 60, "--stats", "-v", "-s", "host")
    assert (code, err) == (Exit.DONE, "")
    won = graph.reference.attractor(game, target, 0)
    rounds = "" if player is None else f", rounds {won.rank.max()}"
    assert f"  stats    solver host{rounds}" in out.splitlines()


def test_vertices_in_a_file(ask, run, game, tmp_path):
    (tmp_path / "some.txt").write_text("3, 10-12  # four\n\n13 14\n")
    facts = ask("reach", "game.npz", "--to", "@some.txt", "--player", 0, "--all")
    rank = np.array(facts["found"]["rank"])
    assert np.flatnonzero(rank == 0).tolist() == [3, 10, 11, 12, 13, 14]
    (tmp_path / "some.txt").write_text("3\n60\n")
    assert run("reach", "game.npz", "--to", "@some.txt", "-q") == (
        *(Exit.BAD_INPUT, ""),
        "jaxgames: some.txt:2: there is no vertex 60, expected 0 to 59\n",
    )


def test_a_graph_has_no_players(run):
    Path("lts.aut").write_text('des (0, 2, 3)\n(0, "a", 1)\n(1, "b", 2)\n')
    code, out, _ = run("reach", "lts.aut", "--to", 1, "--from", "0,2")
    assert code == Exit.WRONG
    assert lines(out)[-2:] == [
        "lts.aut: it is reached from 2 of 3 vertices",
        "  not from 2",
    ]
    code, _, err = run("reach", "lts.aut", "--to", 1, "--player", 0)
    assert code == Exit.BAD_INPUT
    assert "lts.aut: --player needs a game, whose vertices have owners" in err


# ---- probabilities ---------------------------------------------------------------


@pytest.fixture
def model():
    found = mdp.MDP.from_arrays(
        row_group_offsets=[0, 2, 4, 5, 6],
        row_offsets=[0, 1, 3, 4, 7, 8, 9],
        columns=[1, 2, 3, 0, 1, 2, 3, 2, 3],
        probs=[1, 0.5, 0.5, 1, 0.2, 0.6, 0.2, 1, 1],
        labels={"goal": [0, 0, 1, 0]},
        initial=[0],
    )
    io.save("model.drn", found)
    return found


def test_probabilities(ask, run, model):
    asked = ("probability", "model.drn", "--to")
    facts = ask(*asked, "goal", "--all", "-o", "values.txt")
    for name, bound in (("lower", np.less_equal), ("upper", np.greater_equal)):
        assert bound(facts[name], [0.75, 0.75, 1, 0]).all()
    assert facts["gap"] <= 2e-6
    assert facts["scheduler"] == [0, 3, -1, 5]
    assert facts["initial"][0]["state"] == 0
    assert abs(facts["initial"][0]["value"] - 0.75) < 1e-6
    assert [row[3] for row in rows("values.txt")] == facts["value"]
    assert ask(*asked, "2", "--min", "--all")["value"] == [0, 0, 1, 0]
    code, out, _ = run(*asked, "goal", "--through", "0", "--epsilon", "0.001")
    assert code == Exit.DONE
    assert "from state 0 the largest probability is 0.5, between 0.4999" in out


def test_probabilities_of_zero_and_one(ask, model):
    facts = ask("probability", "model.drn", "--to", "goal", "--zero-one", "--all")
    assert facts["found"]["zero"] == [False, False, False, True]
    assert facts["found"]["one"] == [False, False, True, False]
    assert (facts["zero"], facts["one"]) == (1, 1)
    assert facts["initial"] == [{"state": 0, "zero": False, "one": False}]
    asked = ("probability", "model.drn", "--to", 1, "--for-ever")
    facts = ask(*asked, "--all", "-o", "for_ever.npz")
    assert facts["found"]["one"] == [True, True, False, False]
    assert np.load("for_ever.npz")["scheduler_one"].tolist() == [0, 2, -1, -1]


def test_bounds_that_have_not_met(run):
    loop = mdp.MDP.from_arrays(
        [0, 1, 2, 3, 4],
        [0, 2, 4, 5, 6],
        [1, 2, 0, 3, 2, 3],
        [0.9, 0.1, 0.9, 0.1, 1, 1],
        labels={"goal": [0, 0, 1, 0]},
    )
    io.save("loop.drn", loop)
    code, _, err = run(
        "probability", "loop.drn", "--to", "goal", "--max-steps", 1, "-q"
    )
    assert code == Exit.UNSOLVED
    assert "the limit of 1 round was reached" in err


# ---- several energies ------------------------------------------------------------


@pytest.fixture
def energies():
    arena = Arena.from_edges(
        [0, 0, 1, 1, 2],
        [1, 2, 2, 3, 3],
        owner=[0, 1, 0, 1],
        weight=[[-1, 0], [0, -1], [0, 0], [-2, 0], [0, -2]],
        dead_ends="allow",
    )
    io.save("energies.npz", arena)
    return arena


def test_several_energies(ask, run, energies):
    game = _multienergy.of_arena(energies, None)
    textbook = [sorted(map(list, x)) for x in multienergy.reference.solve(game)]
    asked = ("multienergy", "energies.npz", "-s", "host")
    facts = ask(*asked, "-v", "--all", "--from", 0, "-o", "budgets.txt")
    # By hand: from 2 two of the second; from 1 also two of the first; from 0 either
    # one more of the second, or one more of the first.
    assert facts["verified"] is True
    assert facts["needed"] == [[0, 3], [3, 2]]
    assert facts["offsets"] == [0, 2, 3, 4, 5]
    assert facts["points"] == sum(textbook, [])
    assert facts["points"] == [[0, 3], [3, 2], [2, 2], [0, 2], [0, 0]]
    assert (facts["won"], facts["budgets"], facts["largest_front"]) == (4, 5, 2)
    assert rows("budgets.txt") == [
        *([0, 0, 3], [0, 3, 2], [1, 2, 2], [2, 0, 2], [3, 0, 0])
    ]
    facts = ask(*asked, "--budget", "1,3", "--from", 0)
    assert (facts["enough"], facts["enough_from"]) == (True, 3)
    assert ask(*asked, "--budget", "2,2", "--from", 0, code=Exit.WRONG)["enough"] is (
        False
    )
    code, out, _ = run(*asked, "--from", 0, "--cap", 3)
    assert code == Exit.DONE
    assert lines(out)[-1] == "  vertex 0: 0, 3; 3, 2"


def test_one_energy_is_a_case_of_several(ask):
    Path("one.energy").write_text("energy 2\n0 0 1 -4,0 0\n1 1 1 0\n")
    facts = ask("multienergy", "one.energy", "-s", "host")
    assert (facts["energies"], facts["won"]) == (1, 0)


def test_wrong_budgets_are_not_written(run, energies, monkeypatch):
    wrong = Verdict.at(list(Wrong)[-1], 1)
    monkeypatch.setattr(_multienergy.multienergy, "verify", lambda *_: wrong)
    code, _, err = run("multienergy", "energies.npz", "-v", "-q", "-o", "out.npz")
    assert code == Exit.UNVERIFIED
    assert "the answer is wrong, nothing is written" in err
    assert not Path("out.npz").exists()


# ---- models in Python ------------------------------------------------------------

LIGHT = """\
import beside

initial = [0]
ranges = [3]
components = ["light"]
propositions = {"on": lambda states: states[:, 0] == beside.ON}


def successors(states):
    after = beside.numpy.stack([abs(1 - states), 0 * states + 2], axis=1)
    return after, beside.numpy.concatenate([states < 2, states == 1], axis=1)


def fails(states):
    def inner():
        return missing

    return inner()


def shapes(states):
    return states, states
"""


@pytest.fixture
def light(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "beside.py").write_text("import numpy\n\nON = 1\n")
    (folder / "light.py").write_text(LIGHT)
    return "models/light.py"


def test_a_model_in_python(ask, run, light):
    facts = ask("explore", f"{light}:successors", "-o", "light.npz")
    assert (facts["states"], facts["transitions"], facts["depth"]) == (3, 3, 2)
    assert (facts["propositions"], facts["deadlocks"]) == ({"on": 1}, 1)
    system = io.load("light.npz")
    assert isinstance(system, systems.System)
    assert list(system.names) == ["light=0", "light=1", "light=2"]
    assert system.labels[:, 0].tolist() == [False, True, False]
    code, out, err = run("explore", f"{light}:successors", "-o", "-", "-q")
    assert (code, err) == (Exit.DONE, "")
    assert out.splitlines()[-2] == '1 "light=1" {on} -> 0 2;'
    code, _, _ = run("check", "--graph", "light.npz", "--ltl", "F on", "-q")
    assert code == Exit.DONE
    code, out, _ = run("explore", f"{light}:successors", "--initial", "1;2")
    assert lines(out)[0].startswith(f"{light}: 3 states, 3 transitions, 1 propo")
    assert lines(out)[-1] == "  deadlocks   1, such as light=2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("light.py:fails", "light.py:16: NameError: name 'missing' is not defined"),
        ("light.py:shapes", "light.py: successors of [3, 1] states must have shape"),
        ("light.py:succesors", "'succesors' (did you mean 'successors'?)"),
        ("light.py:ranges", "light.py: successors must be a function of states"),
        ("light.py", "expected a model as FILE.py:FUNCTION"),
        ("other.py:f", "other.py: No such file or directory"),
        ("broken.py:f", "broken.py:2: this is not Python: "),
        ("zero.py:f", "zero.py: this is not Python: source code "),
        ("raising.py:f", "raising.py:1: ZeroDivisionError: division by zero"),
        ("empty.py:f", "empty.py: there is no function 'f'"),
        ("begin.py:f", "begin.py: no initial states: assign some to `initial`"),
    ],
)
def test_errors_of_a_model_are_told_with_its_line(run, light, tmp_path, name, message):
    for stem, text in {
        "broken": "x = 1\nx = = 1\n",
        "raising": "1 / 0\n",
        "empty": "",
        "zero": "x = 1\n\0",
        "begin": "def f(states):\n    return states\n",
    }.items():
        (tmp_path / "models" / f"{stem}.py").write_text(text)
    code, out, err = run("explore", f"models/{name}")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_model_is_checked(ask, run, light):
    asked = ("check", "--model", f"{light}:successors", "-s", "host")
    facts = ask(*asked, "--ltl", "F on", "-v")
    assert (facts["holds"], facts["verified"], facts["states"]) == (True, True, 3)
    facts = ask(*asked, "--ltl", "G F on", "-v", code=Exit.WRONG)
    assert facts["holds"] is False
    assert "light=2" in json.dumps(facts["lasso"])
    for more, message in {
        (): "--model goes with --ltl or --automaton",
        ("--ltl", "F off"): "the system has no proposition 'off', only on",
        ("--ltl", "F on", "--initial", 1): "a model names its initial states",
        ("--ltl", "F on", "--graph", "x"): "not allowed with argument --model",
    }.items():
        code, _, err = run(*asked, *more)
        assert code == Exit.BAD_INPUT
        assert message in err
    code, _, err = run("check", "--model", f"{light}:fails", "--ltl", "F on")
    assert code == Exit.BAD_INPUT
    assert "light.py:16: NameError" in err


def test_a_model_with_too_many_states(run, light):
    code, _, err = run("explore", f"{light}:successors", "--max-states", 2)
    assert code == Exit.UNSOLVED
    assert re.fullmatch(
        r"jaxgames: \S+light.py: not done: there are more than --max-states 2 states; "
        r"1 of 2 that were found were expanded\.\n",
        err,
    )


# ---- all of them -----------------------------------------------------------------

ALL = {
    "buchi": ("game.npz",),
    "reach": ("game.npz", "--to", 0),
    "probability": ("model.drn", "--to", "goal"),
    "multienergy": ("energies.npz",),
    "explore": ("models/light.py:successors",),
}


@pytest.mark.parametrize("command", ALL)
def test_limits_and_outputs(run, command, game, model, energies, light):
    line = (command, *ALL[command], "-q")
    code, out, err = run(*line, "--timeout", 1e-6)
    assert (code, out) == (Exit.UNSOLVED, "")
    assert "the limit of 1e-06 s was reached" in err
    code, out, err = run(*line, "-o", "folder/out.npz")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err == "jaxgames: folder: there is no such folder\n"
    Path("out.npz").write_text("mine")
    code, _, err = run(*line, "-o", "out.npz")
    assert code == Exit.BAD_INPUT
    assert "--force replaces it" in err
    assert Path("out.npz").read_text() == "mine"
    assert run(*line, "-o", "out.npz", "--force") == (Exit.DONE, "", "")
    assert zip(*np.load("out.npz"), strict=True)


@pytest.mark.parametrize("command", ["buchi", "reach", "probability", "multienergy"])
def test_many_files(run, command, game, model, energies):
    file, *rest = ALL[command]
    Path("bad.npz").write_text("no archive")
    copy = Path(file).with_stem("copy")
    copy.write_bytes(Path(file).read_bytes())
    line = (command, file, "bad.npz", copy, *rest, "--jsonl", "-o", "out/")
    code, out, err = run(*line)
    assert code == Exit.BAD_INPUT
    assert "bad.npz" in err
    found = [json.loads(text) for text in out.splitlines()]
    assert [facts["status"] for facts in found] == ["solved", "failed", "solved"]
    assert {path.name for path in Path("out").iterdir()} == {
        f"{Path(file).stem}.npz",
        "copy.npz",
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("buchi", "game.npz", "-s", "best"), "no Büchi game solver is called 'best'"),
        (("buchi", "game.npz", "-v", "--no-strategies"), "--verify needs the strat"),
        (("buchi", "game.npz", "--accepting", "x"), "--accepting: expected vertex"),
        (("reach", "game.npz"), "expected --to, or --from, or both"),
        (
            ("reach", "game.npz", "--from", 0, "--player", 0),
            "--player needs --to: the v",
        ),
        (("reach", "game.npz", "--to", "9-3"), "ranges such as 10-19, got '9-3'"),
        (("reach", "game.npz", "--to", 0, "--all"), "--all goes with --json"),
        (("reach", "game.npz", "--to", 0, "-o", "x.csv"), "-o takes a file that ends"),
        (("probability", "game.npz", "--to", 0), "expected a Markov decision process"),
        (("probability", "model.drn"), "one of the arguments --to --ltl --automaton"),
        (("probability", "model.drn", "--to", "gaol"), "no label 'gaol', only goal"),
        (("probability", "model.drn", "--to", "7"), "there is no state 7"),
        (
            ("probability", "model.drn", "--to", "1", "--for-ever", "--min"),
            "--for-ever does not go with --min",
        ),
        (("multienergy", "game.pg"), "game.pg: expected a game with weights"),
        (("multienergy", "energies.npz", "--cap", 1), "energy 0 by -2, but its cap is"),
        (("multienergy", "energies.npz", "--budget", 1), "has 1 energy, energies"),
        (("multienergy", "energies.npz", "--from", 9), "has the vertices 0 to 3"),
    ],
)
def test_bad_usage(run, game, model, energies, line, message):
    code, _, err = run(*line)
    assert code == Exit.BAD_INPUT
    assert message in err
    assert err.count("\n") == 1


# ---- energy parity games -----------------------------------------------------------


@pytest.fixture
def both():
    """A game of weights and priorities that player 0 wins at two vertices."""
    arena = Arena.from_edges(
        [0, 0, 1, 2],
        [0, 1, 0, 2],
        owner=[0, 0, 1],
        weight=[1, -5, 0, 1],
        priority=[1, 2, 3],
    )
    io.save("both.npz", arena)
    return "both.npz"


def test_energyparity(run, ask, both):
    code, out, err = run("energyparity", both, "-v", "-s", "host", "-o", "found.txt")
    assert (code, err) == (Exit.DONE, "")
    assert lines(out) == [
        "both.npz: player 0 wins from 2 vertices, player 1 from 1",
    ]
    assert [row[:2] for row in rows("found.txt")] == [[0, 0], [1, 0], [2, 1]]
    told = ask("energyparity", both, "--threshold", "1", "--all", "-v")
    assert (told["won"], told["winner"], told["verified"]) == ([2, 1], [0, 0, 1], True)
    out = run("energyparity", both, "--threshold=2", "--no-strategies", "-q")[1]
    assert out == ""
    code, _, err = run("energyparity", both, "--max-steps", 1)
    assert code == Exit.UNSOLVED
    assert "limit of 1 round" in err
    for more in ((), ("--resume", "-s", "host")):
        kept = (
            "--checkpoint",
            "state",
            "-s",
            "host",
            "-o",
            "kept.txt",
            "--force",
            "-q",
        )
        assert run("energyparity", both, *kept, *more)[0] == Exit.DONE
        assert Path("kept.txt").read_text() == Path("found.txt").read_text()
        assert Path("state").is_file()


def test_energyparity_says_what_is_wrong(run, both):
    io.save("plain.energy", Arena.from_edges([0], [0], owner=[0], weight=[0]))
    for arguments, message in (
        (("plain.energy",), "expected one weight on each edge and a priority"),
        ((both, "-v", "--no-strategies"), "--verify needs the strategies"),
        (
            (both, "--resume"),
            "--resume continues from the file that --checkpoint names",
        ),
        ((both, "-s", "spm"), "no energy solver is called 'spm'"),
    ):
        code, _, err = run("energyparity", *arguments)
        assert code == Exit.BAD_INPUT
        assert message in err


# ---- games of Emerson and Lei ------------------------------------------------------


@pytest.fixture
def streett():
    """A game in which player 0 must go to two vertices in turn."""
    arena = Arena.from_edges([0, 0, 1, 2], [1, 2, 0, 0], owner=[0, 1, 1])
    pairs = [([1], [2]), ([2], [1])]
    hoa_game.save("streett.hoa", emersonlei.Game.streett(arena, pairs))
    return "streett.hoa"


def test_emersonlei(run, ask, streett):
    code, out, err = run("emersonlei", streett, "-v", "-s", "host", "-o", "found.npz")
    assert (code, err) == (Exit.DONE, "")
    assert lines(out)[0].startswith(
        "streett.hoa: player 0 wins from 3 vertices, player 1 from 0; "
    )
    with np.load("found.npz") as found:
        assert found["winner"].tolist() == [0, 0, 0]
        assert len(found["move"]) == len(found["vertex"])
    run("emersonlei", streett, "-o", "found.txt", "-q")
    assert rows("found.txt") == [[0, 0], [1, 0], [2, 0]]
    told = ask("emersonlei", streett, "--all", "-v")
    assert (told["won"], told["winner"], told["verified"]) == ([3, 0], [0, 0, 0], True)


def test_emersonlei_says_what_is_wrong(run, streett):
    Path("broken.hoa").write_text("HOA: v1\nAcceptance: 1 Inf(1)\n")
    for arguments, message in (
        (("broken.hoa",), "broken.hoa:2: column 19: expected the number of"),
        ((streett, "-v", "--no-strategies"), "--verify needs the strategies"),
        ((streett, "--checkpoint", "state.npz"), "takes no --checkpoint"),
        ((streett, "-s", "fvi"), "no parity solver is called 'fvi'"),
    ):
        code, _, err = run("emersonlei", *arguments)
        assert code == Exit.BAD_INPUT
        assert message in err


# ---- discounted games --------------------------------------------------------------


def test_discounted(run, ask):
    arena = Arena.from_edges(
        [0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1], weight=[0, 5, 4, 2]
    )
    io.save("game.energy", arena)
    ask_for = ("discounted", "game.energy", "--discount", "3/4")
    code, out, err = run(*ask_for, "-v", "-s", "host", "-o", "found.txt")
    assert (code, err) == (Exit.DONE, "")
    assert lines(out)[0].startswith("game.energy: values from 2 to 4, known to ")
    np.testing.assert_allclose(np.array(rows("found.txt"))[:, 1], [3, 4, 2], atol=1e-9)
    told = ask(*ask_for, "--all", "-v")
    assert (told["discount"], told["successor"]) == ("3/4", [1, 1, 2])
    code, _, err = run(*ask_for, "--epsilon", "1e-30")
    assert code == Exit.UNSOLVED
    assert "larger epsilon" in err
    for more, message in (
        (("--epsilon", "0"), "--epsilon is a positive number"),
        (("--discount", "1"), "--discount is between 0 and 1"),
        (("--discount", "0." + 40 * "9"), "and float64 can tell it from 1, got 9999"),
        (("-s", "fvi"), "no discounted solver is called 'fvi'"),
    ):
        code, _, err = run(*ask_for, *more)
        assert code == Exit.BAD_INPUT
        assert message in err


# ---- what was written is checked ---------------------------------------------------


@pytest.mark.parametrize(
    ("command", "field"),
    [
        ("energyparity both.npz", "winner"),
        ("energyparity both.npz", "modes_need"),
        ("energyparity both.npz --threshold 1", "enough"),
        ("emersonlei streett.hoa", "move"),
        ("discounted both.npz --discount 3/4", "lower"),
    ],
)
def test_verify_what_these_wrote(run, both, streett, command, field):
    words = command.split()
    assert run(*words, "-o", "found.npz", "-q")[0] == Exit.DONE
    question = words[2:]
    code, out, err = run("verify", words[1], "found.npz", *question)
    assert (code, out, err) == (Exit.DONE, "found.npz: valid\n", "")
    with np.load("found.npz") as found:
        arrays = dict(found)
    arrays[field] = arrays[field].copy()
    arrays[field][0] += -1 if field == "enough" else 1
    np.savez("spoilt.npz", **arrays)
    code, out, _ = run("verify", words[1], "spoilt.npz", *question)
    assert code == Exit.WRONG
    assert out.startswith("spoilt.npz: vertex ")


def test_verify_needs_what_was_asked(run, both, streett):
    run("energyparity", both, "-o", "found.txt", "-q")
    run("discounted", both, "--discount", "1/2", "-o", "found.npz", "-q")
    run("emersonlei", streett, "-o", "machine.npz", "-q")
    with np.load("machine.npz") as found:
        arrays = dict(found)
    np.savez("short.npz", **arrays | {"move": arrays["move"][:1]})
    for words, message in (
        ((both, "found.txt"), "needs the strategies of both players"),
        ((both, "found.npz"), "values were found with --discount"),
        ((streett, "short.npz"), "machine.move must hold integers of shape (6,)"),
    ):
        code, _, err = run("verify", *words)
        assert code == Exit.BAD_INPUT
        assert message in err

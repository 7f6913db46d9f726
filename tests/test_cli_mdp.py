"""The command that checks properties of Markov chains and decision processes."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from jaxgames import io, ltl, mdp
from jaxgames.cli import Exit, _mdp, main

REACH = 'Pmax=? [ F "goal" ]'


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    """Relative paths, and none of JAX's settings changed for other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    model = mdp.MDP.from_arrays(
        [0, 2, 4, 5, 6],
        [0, 1, 3, 4, 7, 8, 9],
        [1, 2, 3, 0, 1, 2, 3, 2, 3],
        [1, 0.5, 0.5, 1, 0.25, 0.5, 0.25, 1, 1],
        labels={"goal": [0, 0, 1, 0], "end": [0, 0, 1, 1]},
        choice_labels={"go": [1, 1, 0, 1, 0, 0], "back": [0, 0, 1, 0, 0, 0]},
        choice_rewards={"cost": [1, 5, 1, 2, 0, 0]},
        valuations={"x": [0, 1, 2, 3]},
        initial=[0],
    )
    io.save("model.umb", model)


@pytest.fixture
def run(capfd):
    """Runs a command here; returns exit code, output and errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def ask(run):
    """What the command says as JSON."""

    def ask(*arguments, code=Exit.DONE):
        found, out, err = run("mdp", "model.umb", *arguments, "--json")
        assert (found, err) == (code, "")
        return json.loads(out)

    return ask


def test_a_limit_of_rounds(run, tmp_path):
    model = mdp.MDP.from_arrays(
        [0, 1, 3, 5, 6],
        [0, 1, 3, 5, 7, 9, 10],
        [0, 0, 2, 0, 2, 1, 3, 1, 3, 3],
        [1, 0.5, 0.5, 0.6, 0.4, 0.5, 0.5, 0.6, 0.4, 1],
        labels={"goal": np.array([0, 0, 0, 1], bool)},
        initial=[1],
    )
    io.save(tmp_path / "ruin.drn", model)
    asked = ("mdp", "ruin.drn", "--prop", 'Pmax=? [ F "goal" ]', "--max-steps")
    code, out, err = run(*asked, 1)
    assert code == Exit.UNSOLVED
    told = out.splitlines()[-1]
    assert told == 'ruin.drn: Pmax=? [ F "goal" ] is 0.5, between 0.0 and 1.0'
    assert err == (
        "jaxgames: ruin.drn: not solved: the limit of 1 round was reached; allow more "
        "by --max-steps, or leave it out\n"
    )
    code, out, err = run(*asked, 1000, "--json")
    facts = json.loads(out)
    assert (code, err, facts["status"]) == (Exit.DONE, "", "solved")
    assert facts["lower"] <= 1 / 3 <= facts["upper"]
    assert 1 < facts["stats"]["rounds"] < 1000
    two = "multi(Pmax=? [ F goal ], P>=0.1 [ F goal ])".replace("goal", '"goal"')
    code, out, err = run("mdp", "ruin.drn", "--prop", two, "--max-steps", 3)
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert "--max-steps: " in err


def test_one_property(ask, run):
    facts = ask("--prop", REACH, "--verify", "--all", "-o", "found.npz")
    assert facts["status"] == "solved"
    assert facts["verified"] is True
    assert facts["value"] == pytest.approx(2 / 3, rel=1e-6)
    assert facts["lower"] <= 2 / 3 <= facts["upper"]
    assert facts["properties"][0]["scheduler"][:2] == [0, 3]
    assert (facts["rewards"], facts["variables"]) == (["cost"], ["x"])
    with np.load("found.npz") as file:
        assert file["lower"].tolist() == facts["lowers"]
        assert file["scheduler"].tolist() == facts["scheduler"]
    code, out, err = run("mdp", "model.umb", "--prop", REACH)
    assert (code, err) == (Exit.DONE, "")
    assert f"model.umb: {REACH} is 0.66666666" in out
    assert "between 0.666666" in out


def test_a_value_as_a_fraction(ask, run):
    assert ask("--prop", REACH, "--exact")["exact"] == "2/3"
    code, out, err = run("mdp", "model.umb", "--prop", REACH, "--exact")
    assert (code, err) == (Exit.DONE, "")
    assert f"model.umb: {REACH} is 2/3\n" in out
    assert "exact" not in ask("--prop", REACH)
    facts = ask("--prop", f"filter(max, {REACH})", "--exact", code=Exit.UNSOLVED)
    assert facts["exact"] is None


def test_automata(ask, run):
    automaton = ltl.deterministic("F G goal")
    io.hoa.save(Path("stays.hoa"), automaton)
    facts = ask("--automaton", "stays.hoa", "--exact")
    assert facts["property"] == "Pmax=? [ stays.hoa ]"
    assert facts["exact"] == "2/3"
    facts = ask("--automaton", "stays.hoa", "--optimum", "min", "--prop", REACH)
    least = ask("--prop", 'Pmin=? [ F "goal" ]')
    assert facts["properties"][1]["value"] == pytest.approx(least["value"])
    code, _, err = run("mdp", "model.umb", "--automaton", "model.umb")
    assert code == Exit.BAD_INPUT
    assert "model.umb: expected an automaton" in err


def test_several_properties(ask, run):
    Path("asked.props").write_text(
        'const int k;\n// one\n"soon": Pmax>=1/2 [ F<=k "goal" ];\n'
        '"cost": R{"cost"}max=? [ F "end" ]; P<0.1 [ F "goal" ]'
    )
    line = ("--props", "asked.props", "--const", "k=1", "--prop", REACH)
    facts = ask(*line, code=Exit.WRONG)
    assert [x["name"] for x in facts["properties"]] == [None, "soon", "cost", None]
    values = [x["value"] for x in facts["properties"]]
    assert values[1:] == [True, "inf", False]
    assert "value" not in facts
    code, out, _ = run("mdp", "model.umb", *line, "-q")
    assert (code, out) == (Exit.WRONG, "")
    named = ask("--props", "asked.props", "--name", "cost")
    assert named["value"] == "inf"
    code, out, _ = run("mdp", "model.umb", "--props", "asked.props", "--name", "cost")
    assert 'model.umb: "cost" is inf\n' in out


def test_a_scheduler_with_names(run):
    line = ("mdp", "model.umb", "--scheduler", "choices.txt", "-q", "--prop")
    assert run(*line, REACH) == (Exit.DONE, "", "")
    assert Path("choices.txt").read_text().splitlines() == [
        "# state choice names",
        "0 0 (x=0) go",
        "1 1 (x=1) go",
        "3 0 (x=3)",
    ]
    assert run(*line, 'Pmin=? [ F<=2 "goal" ]', "--force")[0] == Exit.DONE
    assert Path("choices.txt").read_text().splitlines()[:3] == [
        "# step state choice names; 2 steps",
        "0 0 0 (x=0) go",
        "0 1 0 (x=1) back",
    ]


def test_a_wrong_answer_is_found(run, monkeypatch):
    model = io.load("model.umb")
    assert isinstance(model, mdp.MDP)
    found = mdp.check(model, REACH)
    wrong = dataclasses.replace(found, lower=found.lower / 2, upper=found.upper / 2)
    monkeypatch.setattr(_mdp.mdp, "check", lambda *_, **__: wrong)
    code, _, err = run("mdp", "model.umb", "--prop", REACH, "-v", "-q", "-o", "x.npz")
    assert code == Exit.UNVERIFIED
    assert "the answer is wrong: state 2: its upper bound is less than what" in err
    assert not Path("x.npz").exists()


def test_many_files(run):
    Path("copy.umb").write_bytes(Path("model.umb").read_bytes())
    Path("bad.umb").write_text("no archive")
    line = ("mdp", "model.umb", "bad.umb", "copy.umb", "--prop", REACH, "--jsonl")
    code, out, err = run(*line, "-o", "out/")
    assert code == Exit.BAD_INPUT
    assert "bad.umb" in err
    found = [json.loads(text)["status"] for text in out.splitlines()]
    assert found == ["solved", "failed", "solved"]
    assert {path.name for path in Path("out").iterdir()} == {"model.npz", "copy.npz"}


def test_limits(run):
    code, out, err = run("mdp", "model.umb", "--prop", REACH, "-q", "--timeout", 1e-6)
    assert (code, out) == (Exit.UNSOLVED, "")
    assert "the limit of 1e-06 s was reached" in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ((), "nothing is asked: expected --prop, or --props"),
        (("--prop", "Pmax=? [ F ]"), "--prop 'Pmax=? [ F ]': line 1, column 12: exp"),
        (("--prop", 'P=? [ F "goal" ]'), "line 1, column 1: 'P=? [ F \"goal\" ]' must"),
        (("--prop", 'Pmax=? [ F "gaol" ]'), "no label 'gaol' (did you mean 'goal'?)"),
        (("--prop", f'{REACH}; Pmax=? [ F "gaol" ]'), "did you mean 'goal'?"),
        (("--props", "bad.props"), "jaxgames: bad.props:2: column 4: expected an ex"),
        (("--props", "latin.props"), "jaxgames: latin.props:2: expected UTF-8 text"),
        (("--props", "none.props"), "jaxgames: none.props: expected properties, found"),
        (("--props", "label.props"), "jaxgames: label.props:2: column 12: the model"),
        (("--props", "label.props", "--name", "x"), "no property is called 'x'"),
        (("--prop", REACH, "--name", "x"), "--name names a property of --props"),
        (("--prop", REACH, "--const", "k"), "--const: expected NAME=VALUE, got 'k'"),
        (("--prop", REACH, "--const", "k=x"), "k must be a number, true or false"),
        (
            ("--prop", REACH, "--const", "k=1:9"),
            "'1:9'; of a range, ask for each value",
        ),
        (("--prop", REACH, "--const", "k=1", "--const", "k=2"), "gives k two values"),
        (("--prop", REACH, "--const", "k=1e999999999"), "--const: k is too long"),
        (("--prop", REACH, "--const", "k=1e400"), "'k' must be a finite number"),
        (("--prop", REACH, "-s", "best"), "no value solver is called 'best'"),
        (
            ("--prop", REACH, "--prop", "x=1", "-o", "x.npz"),
            "and there are 2: name one",
        ),
        (("--prop", REACH, "--scheduler", "x.npz"), "--scheduler takes a file that"),
        (
            ("--prop", "x=1", "--scheduler", "x.txt"),
            "--scheduler: 'x=1' has no scheduler to write: it is no query",
        ),
    ],
)
def test_what_is_refused(run, line, message):
    Path("bad.props").write_text("x=1;\nx= ;")
    Path("latin.props").write_bytes(b"// one\n// \xfc\nx=1;\n")
    Path("none.props").write_text("// none\n")
    Path("label.props").write_text('"a": x=0;\nPmax=? [ F "no" ]')
    code, _, err = run("mdp", "model.umb", *line)
    assert code == Exit.BAD_INPUT
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_stochastic_game(run):
    """Player 0 tries, or gives the move to player 1, who would rather give it back."""
    game = mdp.Game.from_arrays(
        [0, 2, 4, 5, 6],
        [0, 2, 3, 4, 6, 7, 8],
        [2, 3, 1, 0, 2, 3, 2, 3],
        [0.25, 0.75, 1, 1, 0.5, 0.5, 1, 1],
        [0, 1, -1, -1],
        labels={"goal": [0, 0, 1, 0]},
        initial=[0],
    )
    io.save("game.umb", game)
    to = "probability", "game.umb", "--to", "goal"
    code, out, err = run(*to, "--verify", "--json", "--all", "-o", "found.npz")
    facts = json.loads(out)
    assert (code, err, facts["verified"], facts["player"]) == (Exit.DONE, "", True, 0)
    assert facts["value"] == pytest.approx([0.25, 0.25, 1, 0])
    Path("found.json").write_text(out)
    for name in ("found.npz", "found.json"):
        assert run("verify", "game.umb", name, "--to", "goal")[0] == Exit.DONE
    wrong = run("verify", "game.umb", "found.npz", "--to", "goal", "--player", 1)
    assert wrong[0] == Exit.WRONG
    code, out, _ = run(*to, "--player", 1)
    assert code == Exit.DONE
    assert "from state 0 player 1's probability is 0.25" in out
    assert "0: 3 states, 1: 1 state" in run("info", "game.umb")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("game.umb", "--min"), "--min is for models of one player"),
        (("game.umb", "--zero-one"), "--zero-one is for models of one player"),
        (("game.umb", "-s", "host"), "-s 'host' is for models of one player"),
        (("model.umb", "--player", "1"), "--player is for stochastic games"),
    ],
)
def test_what_games_are_not_asked(run, arguments, message):
    game = mdp.Game(io.load("model.umb"), np.array([0, 1, 0, 0], np.int8))
    io.save("game.umb", game)
    code, _, err = run("probability", *arguments, "--to", "goal")
    assert code == Exit.BAD_INPUT
    assert message in err
    code, _, err = run("mdp", "game.umb", "--prop", REACH)
    assert code != Exit.DONE
    assert "must say who plays together, such as <<0>> before it" in err


def save_parity_game():
    """In 0 player 1 stays, or leaves it to a fair lot between p for ever and not p."""
    game = mdp.Game.from_arrays(
        [0, 2, 3, 4],
        [0, 1, 3, 4, 5],
        [0, 1, 2, 1, 2],
        [1, 0.5, 0.5, 1, 1],
        [1, -1, -1],
        labels={"p": [0, 1, 0]},
        valuations={"rank": [1, 2, 1], "up": [True, False, True]},
        initial=[0],
    )
    io.save("game.umb", game)


GFP = """HOA: v1
States: 1
Start: 0
AP: 1 "p"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[0] 0 {0}
[!0] 0
--END--
"""


@pytest.mark.parametrize(
    ("asked", "player", "value", "rows"),
    [
        (("--priority", "rank"), 0, [0, 1, 0], 3),
        (("--priority", "rank"), 1, [0.5, 1, 0], 3),
        (("--ltl", "G F p"), 0, [0, 1, 0], 3),
        (("--ltl", "G F p"), 1, [0.5, 1, 0], 3),
        (("--ltl", "G !p"), 1, [1, 0, 1], 3),
        (("--ltl", "G !p"), 0, [0.5, 0, 1], 3),
        (("--ltl", "F (p & X p)"), 1, [0.5, 1, 0], 6),
        (("--ltl", 'X "rank=2"'), 1, [0.5, 1, 0], 9),
        (("--automaton", "gfp.hoa"), 1, [0.5, 1, 0], 3),
    ],
)
def test_objectives_of_games(run, asked, player, value, rows):
    save_parity_game()
    Path("gfp.hoa").write_text(GFP)
    about = ("game.umb", *asked, "--player", player)
    line = ("probability", *about, "--verify", "--json", "--all", "-o", "found.npz")
    code, out, err = run(*line)
    facts = json.loads(out)
    assert (code, err, facts["verified"]) == (Exit.DONE, "", True)
    assert facts["player"] == player
    assert facts["objective"] == asked[1]
    assert facts["value"][:3] == pytest.approx(value)
    assert facts["initial"][0]["value"] == pytest.approx(value[0])
    assert len(facts["value"]) >= rows
    assert len(facts["value"]) % 3 == 0
    assert ("memory" in facts) == (asked[0] != "--priority")
    Path("found.json").write_text(out)
    assert run("probability", *about, "-o", "found.txt", "-q")[0] == Exit.DONE
    for name in ("found.npz", "found.json", "found.txt"):
        assert run("verify", "game.umb", name, *about[1:])[0] == 0
    arrays = dict(np.load("found.npz"))
    arrays["upper"] = arrays["lower"] = arrays["lower"] - 0.01
    np.savez("wrong.npz", **arrays)
    assert run("verify", "game.umb", "wrong.npz", *about[1:])[0] == Exit.WRONG


def test_a_strategy_for_a_formula_says_what_to_remember(run):
    """Player 0 sees p and then q only if he turns round once he has seen p."""
    game = mdp.Game.from_arrays(
        [0, 2, 3, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 0, 2],
        [1, 1, 1, 1],
        [0, -1, -1],
        labels={"p": [0, 1, 0], "q": [0, 0, 1]},
    )
    io.save("game.umb", game)
    asked = ("--ltl", "F p & F q")
    code, _, _ = run("probability", "game.umb", *asked, "-q", "-o", "found.npz")
    assert code == Exit.DONE
    found = np.load("found.npz")
    state, memory, seen = 0, 0, []
    for _ in range(6):
        row = 3 * memory + state
        choice = found["strategy"][row]
        memory = found["memory"][row]
        seen.append(state)
        state = int(game.model.columns[game.model.row_offsets[choice]])
    assert set(seen) == {0, 1, 2}
    assert seen[-1] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("model.umb", "--ltl", "G F goal"), "use jaxgames mdp for formulas"),
        (("game.umb", "--ltl", "G (F p"), "--ltl: "),
        (("game.umb", "--ltl", "G F no"), "--ltl: proposition 'no' of the automaton"),
        (("game.umb", "--priority", "no"), "no variable 'no', only rank, up"),
        (("game.umb", "--priority", "up"), "'up' must be integers"),
        (("game.umb", "--ltl", "G p", "--through", "p"), "--through goes with --to"),
        (("game.umb", "--ltl", "G p", "--zero-one"), "--zero-one is for models of one"),
        (("game.umb", "--automaton", "model.umb"), "expected an automaton"),
        (("game.umb",), "one of the arguments --to --ltl --automaton --priority"),
    ],
)
def test_objectives_that_cannot_be(run, arguments, message):
    save_parity_game()
    code, _, err = run("probability", *arguments)
    assert code == Exit.BAD_INPUT
    assert message in err


def test_objectives_within_a_time(run):
    save_parity_game()
    asked = ("game.umb", "--ltl", "G F p", "--timeout", 1e-6)
    code, _, err = run("probability", *asked)
    assert code == Exit.UNSOLVED
    assert "the limit of 1e-06 s was reached" in err


PROGRAM = """dtmc
const int N; const double p;
module walk x : [0..N] init 1;
  [] 0<x & x<N -> p : (x'=x-1) + 1-p : (x'=x+1);
endmodule
label "won" = x=N;
"""


def test_programs_take_constants_that_properties_may_name(run, tmp_path):
    (tmp_path / "walk.pm").write_text(PROGRAM)
    constants = ("--const", "N=4,p=1/2", "--const", "k=0")
    for asked in ('P=? [ F "won" ]', "P=? [ F x=N ]", "P=? [ F x=N & k=0 ]"):
        code, out, _ = run(
            *("mdp", "walk.pm", "--prop", f"{asked}", *constants, "--json", "--exact")
        )
        assert code == Exit.DONE
        found = json.loads(out)
        assert found["lower"] <= 0.25 <= found["upper"]
        assert found["states"] == 5


def test_constants_that_nothing_has_are_told(run, tmp_path):
    (tmp_path / "walk.pm").write_text(PROGRAM)
    ask = ("mdp", "walk.pm", "--prop", "const int k; P=? [ F<=k x=N ]", "--const")
    code, _, err = run(*ask, "N=4,p=1/2,k=3")
    assert (code, err) == (Exit.DONE, "")
    code, _, err = run(*ask, "N=4,p=1/2,k=3,K=4,q=1")
    assert code == Exit.DONE
    said = "note: --const: the model and the properties have no constants K, q\n"
    assert err == f"jaxgames: {said}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("N=4", "walk.pm:4: column 19: the constant p has no value"),
        ("N=4,p=2", "walk.pm:4: column 19: a probability is 2"),
        ("N=1.5,p=1", "--const: the constant 'N' must be of type int"),
        ("N=4,p=1e400", "--const: the constant 'p' must be of type double, got 1000"),
    ],
)
def test_constants_of_programs_that_cannot_be(run, tmp_path, given, said):
    (tmp_path / "walk.pm").write_text(PROGRAM)
    code, _, err = run("mdp", "walk.pm", "--prop", "P=? [ F x=0 ]", "--const", given)
    assert code == Exit.BAD_INPUT
    assert said in err


def test_a_program_that_leaves_constants_open_is_converted(run, tmp_path):
    (tmp_path / "walk.pm").write_text(PROGRAM)
    code, _, err = run("mec", "walk.pm")
    assert code == Exit.BAD_INPUT
    assert "N has no value: mdp, info and convert take --const NAME=VALUE" in err
    constants = ("--const", "N=4,p=1/4")
    code, out, _ = run("convert", "walk.pm", "walk.umb", *constants, "--json")
    assert (code, json.loads(out)["states"]) == (Exit.DONE, 5)
    code, out, _ = run("probability", "walk.umb", "--to", "won", "--json", "--all")
    # The gambler's ruin, from x = 1 with odds of 1 to 3 against a step down.
    (found,) = json.loads(out)["initial"]
    assert found["lower"] <= (1 - 1 / 3) / (1 - 3**-4) <= found["upper"]
    assert found["upper"] - found["lower"] <= 2e-6
    code, out, _ = run("info", "walk.pm", *constants, "--json")
    assert (code, json.loads(out)["choices"]) == (Exit.DONE, 5)
    for given, said in (
        ("N=4,p=1,M=2", "--const: the program has no constant 'M'; it has N, p"),
        ("N=4", "walk.pm:4: column 19: the constant p has no value"),
    ):
        code, _, err = run("info", "walk.pm", "--const", given)
        assert code == Exit.BAD_INPUT
        assert said in err
    for command in (["info", "walk.umb"], ["convert", "walk.umb", "walk.drn"]):
        code, _, err = run(*command, *constants)
        assert code == Exit.BAD_INPUT
        assert "--const: walk.umb is no program in PRISM's language" in err


def test_properties_name_what_a_program_defines(run):
    Path("walk.prism").write_text(
        "dtmc\nconst int N = 2;\nconst double p;\nformula end = x = N;\nmodule walk\n"
        "x : [0..N];\n[] !end -> p:(x'=x+1) + 1-p:(x'=0);\n[] end -> true;\nendmodule\n"
    )
    ask = ("walk.prism", "--const", "p=0.5", "--prop", "P=? [ F<=2 end & x = N ]")
    code, out, err = run("mdp", *ask, "--json", "-o", "values.npz")
    assert (code, err, json.loads(out)["value"]) == (Exit.DONE, "", 0.25)
    code, _, err = run("verify", "walk.prism", "values.npz", *ask[1:])
    assert (code, err) == (Exit.DONE, "")
    code, _, err = run("mdp", *ask[:3], "--prop", "P=? [ F ende ]")
    assert code == Exit.BAD_INPUT
    assert "did you mean 'end'?" in err


def test_what_is_not_verified_says_why(run):
    Path("walk.prism").write_text(
        "mdp\nmodule walk x : [0..2];\n[a] x<2 -> 0.5:(x'=x+1) + 0.5:(x'=x);\n"
        "[b] x=0 -> (x'=2);\n[] x=2 -> true;\nendmodule\n"
    )
    asked = (
        ("Pmax=? [ G F x=2 ]", True, ""),
        ("LRAmin=? [ x=2 ]", True, ""),
        ("Pmin=? [ F>=3 x=1 ]", True, ""),
        ("P>=0.5 [ F x=2 ]", True, ""),
        ("filter(max, Pmax=? [ F x=2 ])", None, "expected a query such as"),
        ("Pmax=? [ F x=1 || F x=2 ]", None, "only where there are no choices"),
    )
    for text, verified, said in asked:
        line = ("mdp", "walk.prism", "--prop", text, "-v", "--json")
        code, out, err = run(*line)
        assert code == Exit.DONE, err
        assert json.loads(out)["verified"] is verified
        assert said in err
        assert ("not verified" in err) == bool(said)

"""`jaxgames synth`: specifications, verdicts, controllers, and what is wrong."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from jaxgames import Arena, io, parity, synth
from jaxgames.cli import Exit, main
from jaxgames.synth import Specification


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    io.save("good.ehoa", Specification.from_ltl("G(r -> X g)", ["r"]))
    io.save("bad.ehoa", Specification.from_ltl("G(g <-> X r)", ["r"]))
    Path("cut.ehoa").write_text("HOA: v1\nAP: 1 a\n")
    Path("holes.ehoa").write_text(
        'HOA: v1 Start: 0 AP: 1 "a" controllable-AP: 0 Acceptance: 0 t --BODY-- '
        "State: 0 [0] 0 --END--"
    )


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = main(["synth", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_a_verdict(run):
    code, out, err = run("good.ehoa")
    assert (code, err) == (Exit.REALIZABLE, "") == (10, "")
    assert out == "REALIZABLE\n"
    code, out, err = run("bad.ehoa", "-v")
    assert (code, err) == (Exit.UNREALIZABLE, "") == (20, "")
    assert out.splitlines()[-1] == "UNREALIZABLE"
    assert "valid" in out
    assert run("good.ehoa", "-q") == (Exit.REALIZABLE, "", "")
    assert run("good.ehoa", "--moore")[0] == Exit.REALIZABLE


@pytest.mark.parametrize(
    "asked",
    [
        ["good.ehoa"],
        ["good.ehoa", "bad.ehoa"],
        ["--ltl", "G(r <-> X g) & G(a <-> X h)", "--ins", "r,a"],
    ],
)
def test_a_limit_of_rounds(run, asked):
    code, out, err = run(*asked, "--max-steps", 0)
    assert (code, out) == (Exit.UNSOLVED, "")
    said = "not solved: the limit of 0 rounds was reached; allow more by --max-steps"
    assert all(said in line for line in err.splitlines())
    assert err.count("\n") == max(1, sum(word.endswith(".ehoa") for word in asked))
    assert run(*asked, "--max-steps", 1000) == run(*asked)


def test_facts(run):
    code, out, _ = run("good.ehoa", "--json", "-v")
    facts = json.loads(out)
    assert code == Exit.REALIZABLE
    assert facts["realizable"] is True
    assert facts["verified"] is True
    assert (facts["inputs"], facts["outputs"]) == (["r"], ["g"])
    assert facts["controller"] == {"states": 2, "latches": 1, "gates": 0}


@pytest.mark.parametrize("suffix", ["aag", "aig", "aag.gz"])
def test_controllers_are_written(run, suffix):
    for name, expected in (("good", Exit.REALIZABLE), ("bad", Exit.UNREALIZABLE)):
        file = f"{name}.{suffix}"
        assert run(f"{name}.ehoa", "-o", file)[0] == expected
        specification = io.load(f"{name}.ehoa")
        won = expected == Exit.REALIZABLE
        assert synth.verify(specification, io.load(file), realizable=won)
        assert run(f"{name}.ehoa", "-o", file)[0] == Exit.BAD_INPUT  # it is there
        assert run(f"{name}.ehoa", "-o", file, "--force")[0] == expected


def test_other_ways_to_write_it(capfd):
    assert main(["synth", "good.ehoa", "-o", "good.hoa"]) == Exit.REALIZABLE
    assert io.load("good.hoa").accepts([{"r"}], [{"r"}]) is False
    assert main(["synth", "good.ehoa", "-o", "good.dot"]) == Exit.REALIZABLE
    assert "digraph" in Path("good.dot").read_text()
    capfd.readouterr()
    main(["synth", "good.ehoa", "-o", "-"])
    captured = capfd.readouterr()
    assert captured.out.startswith("aag 2 1 1 1 0\n")
    assert captured.err.endswith("REALIZABLE\n")


def test_a_controller_in_extended_hoa_says_what_it_sets(run):
    code, _, _ = run("bad.ehoa", "-o", "bad-machine.ehoa")
    assert code == Exit.UNREALIZABLE
    found = io.load("bad-machine.ehoa")
    assert isinstance(found, Specification)
    assert (found.inputs, found.outputs) == (("g",), ("r",))


def test_the_game_is_written(run):
    assert run("good.ehoa", "--game", "g.npz", "--pg", "g.pg")[0] == Exit.REALIZABLE
    game, other = io.load("g.npz"), io.load("g.pg")
    assert isinstance(game, Arena)
    assert game.edge_priority is not None
    assert other.priority is not None
    who = parity.solve(other).winner[: game.num_vertices]
    assert who.tolist() == parity.solve(game).winner.tolist()


def test_a_formula(run):
    how = ("--ltl", "G(r -> X g)", "--ins", "r", "--outs", "g")
    code, out, _ = run(*how, "-o", "c.aag")
    assert (code, out.splitlines()[-1]) == (Exit.REALIZABLE, "REALIZABLE")
    assert io.load("c.aag").writes == ("g",)
    assert run("--ltl", "G(r <-> g)", "--ins", "r", "--moore")[0] == Exit.UNREALIZABLE
    assert run("--ltl", "G(r <-> g)", "--outs", "g")[0] == Exit.REALIZABLE


def test_names_with_operators_in_them_are_told(run):
    code, out, err = run("--ltl", "G(r -> Fg)", "--ins", "r")
    assert (code, out) == (Exit.REALIZABLE, "REALIZABLE\n")
    assert err.startswith("jaxgames: note: 'Fg': taken as outputs, since --ins names")
    assert err.endswith("write 'F g'\n")
    Path("list.txt").write_text("G(Xr -> g)\nG(GFr -> g)\n")
    err = run("--formulas", "list.txt", "--outs", "g")[2]
    assert "note: 'Xr', 'GFr': taken as inputs, since --outs names" in err
    assert run("--ltl", "G(r -> Fg)", "--ins", "r", "-q")[2] == ""
    for more in (["--outs", "Fg"], []):
        text = "G(r -> Fg)" if more else "G(r -> F g & GRANT)"
        assert run("--ltl", text, "--ins", "r", *more)[2] == ""


def test_many_files(run):
    code, out, err = run("good.ehoa", "bad.ehoa")
    assert (code, err) == (Exit.UNREALIZABLE, "")
    assert out == "good.ehoa: REALIZABLE\nbad.ehoa: UNREALIZABLE\n"
    code, out, err = run("good.ehoa", "cut.ehoa", "bad.ehoa", "--jsonl")
    assert code == Exit.BAD_INPUT
    found = [json.loads(line) for line in out.splitlines()]
    assert [x.get("realizable") for x in found] == [True, None, False]
    assert "cut.ehoa:2: column 7" in err
    lines = run("good.ehoa", "holes.ehoa", "--jsonl")[1].splitlines()
    alone = run("holes.ehoa", "--json")[1]
    for text in (lines[1], alone):
        error = json.loads(text)["error"]
        assert (error["kind"], error["file"]) == ("FormatError", "holes.ehoa")
    assert run("good.ehoa", "bad.ehoa", "-o", "out/")[0] == Exit.UNREALIZABLE
    assert run("good.ehoa", "good.ehoa")[0] == Exit.REALIZABLE
    assert io.load("out/good.aag").reads == ("r",)
    assert io.load("out/bad.aag").reads == ("g",)


def test_a_list_of_formulas(run):
    Path("list.txt").write_text("# three\nG(r -> g)\n\nF r\nG(r <-> X g)\n")
    how = ("--formulas", "list.txt", "--ins", "r", "--outs", "g")
    code, out, err = run(*how)
    assert (code, err) == (Exit.UNREALIZABLE, "")
    assert out.splitlines() == [
        "list.txt:2: REALIZABLE",
        "list.txt:4: UNREALIZABLE",
        "list.txt:5: REALIZABLE",
    ]
    code, out, _ = run(*how, "--jsonl", "-o", "c.aag")
    found = [json.loads(line) for line in out.splitlines()]
    assert [x["realizable"] for x in found] == [True, False, True]
    assert [x["formula"] for x in found] == ["G(r -> g)", "F r", "G(r <-> X g)"]
    assert io.load("c-5.aag").writes == ("g",)
    Path("list.txt").write_text("G(r -> g)\nF\nF q\n")
    code, out, err = run(*how)
    assert (code, out) == (Exit.BAD_INPUT, "list.txt:1: REALIZABLE\n")
    assert "list.txt:2: column 2 of 'F'" in err
    assert "list.txt:3: proposition 'q' of the formula is neither" in err
    assert run(*how[:2])[0] == Exit.BAD_INPUT
    assert run("--formulas", "none.txt", "--ins", "r")[0] == Exit.BAD_INPUT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("cut.ehoa",),
            "cut.ehoa:2: column 7: expected the names of 1 proposition in",
        ),
        (("holes.ehoa",), "holes.ehoa: the automaton is not complete: state 0 has no"),
        (("none.ehoa",), "none.ehoa: No such file"),
        ((), "one of the arguments FILE .* is required|expected a file"),
        (("--ltl", "G(r", "--ins", "r"), "column 4 of 'G\\(r': expected an op"),
        (("--ltl", "G r"), "--ltl goes with --ins and --outs"),
        (("--ltl", "G r", "--ins", "r", "--outs", "r"), "is an input and an output as"),
        (("--ltl", "G r & q", "--ins", "r", "--outs", "g"), "'q' .* neither an input"),
        (("--ltl", "GFg", "--ins", "r", "--outs", "g"), "or with blanks 'G F g'"),
        (("good.ehoa", "--ins", "r"), "--ins and --outs go with --ltl"),
        (("good.ehoa", "-o", "c.txt"), "-o takes a file that ends in .aag"),
        (("good.ehoa", "--game", "c.pg"), "--game takes a file that ends in .npz"),
        (("good.ehoa", "-s", "best"), "no .*solver is called 'best'"),
    ],
)
def test_bad_input(run, arguments, message):
    code, out, err = run(*arguments, "-q")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.count("\n") == 1
    assert re.search(message, err), err


def test_a_limit(run):
    text = " & ".join(f"(GF a{i} -> GF b{i} & F(c{i} U X d{i}))" for i in range(9))
    code, _, err = run("--ltl", text, "--ins", "a0", "--timeout", "0.0001")
    assert code == Exit.UNSOLVED
    assert "limit" in err


def test_what_else_reads_specifications_and_controllers(capsys):
    assert main(["synth", "good.ehoa", "-o", "c.aag"]) == Exit.REALIZABLE
    assert main(["synth", "bad.ehoa", "-o", "e.aag"]) == Exit.UNREALIZABLE
    capsys.readouterr()
    for file, words in (
        ("good.ehoa", ["good.ehoa: ", "3 states", "inputs r"]),
        ("c.aag", ["c.aag: ", "2 states", "writes g"]),
    ):
        assert main(["info", file]) == Exit.DONE
        out = capsys.readouterr().out
        assert all(word in out for word in words)
    assert main(["verify", "good.ehoa", "c.aag"]) == Exit.DONE
    assert main(["verify", "bad.ehoa", "e.aag"]) == Exit.DONE
    assert main(["verify", "bad.ehoa", "c.aag"]) == Exit.WRONG
    assert "wrong: a run does not" in capsys.readouterr().out
    assert main(["verify", "good.ehoa", "good.ehoa"]) == Exit.BAD_INPUT
    assert main(["solve", "good.ehoa", "-q"]) == Exit.DONE
    assert main(["solve", "holes.ehoa", "-q"]) == Exit.BAD_INPUT
    assert main(["convert", "c.aag", "c.aig"]) == Exit.DONE
    assert io.load("c.aig").num_states == 2


APART = "G(r -> F g) & G(s <-> X h)"


@pytest.mark.parametrize("suffix", ["aag", "aig", "hoa"])
def test_parts_are_put_together(run, suffix):
    more = ("--ins", "r,s", "-o", f"machine.{suffix}", "--json")
    code, out, err = run("--ltl", APART, *more)
    facts = json.loads(out)
    assert (code, err) == (Exit.REALIZABLE, "")
    assert (facts["parts"], facts["verified"]) == (2, True)
    assert facts["controller"]["latches"] == 1
    if suffix != "hoa":
        asked = Specification.from_ltl(APART, ["r", "s"])
        assert synth.verify(asked, io.aiger.load(f"machine.{suffix}"))
    code, out, _ = run("--ltl", f"{APART} & G(X s <-> k)", *more, "--force")
    assert (code, json.loads(out)["verified"]) == (Exit.UNREALIZABLE, True)
    code, out, _ = run("--ltl", APART, "--ins", "r,s", "--json", "--pg", "game.pg")
    assert (code, json.loads(out)["parts"]) == (Exit.REALIZABLE, 1)  # the whole game


def test_parts_of_a_file(run, capsys):
    asked = Specification.from_ltl(APART, ["r", "s"])
    io.save("parts.tlsf", asked)
    io.save("whole.tlsf", Specification.from_ltl("F r", ["r"], ["g"]))
    code, out, err = run("parts.tlsf", "whole.tlsf", "-o", "out/")
    said = "parts.tlsf: REALIZABLE\nwhole.tlsf: UNREALIZABLE\n"
    assert (code, out, err) == (Exit.UNREALIZABLE, said, "")
    assert main(["verify", "parts.tlsf", "out/parts.aag"]) == Exit.DONE
    circuit = io.aiger.load_circuit("out/parts.aag")
    io.save("spoilt.aag", dataclasses.replace(circuit, driver=circuit.driver ^ 1))
    assert main(["verify", "parts.tlsf", "spoilt.aag"]) == Exit.WRONG
    assert capsys.readouterr().out.endswith("does not do what is asked\n")
    assert run("parts.tlsf", "--moore", "-q")[0] == Exit.REALIZABLE


WIDE = """INFO { TITLE: "" DESCRIPTION: "" SEMANTICS: Mealy TARGET: Mealy }
GLOBAL { PARAMETERS { n = 1; } }
MAIN { INPUTS { r[n]; } OUTPUTS { g[n]; }
  GUARANTEES { &&[0 <= i < n] G (r[i] -> X g[i]); } }
"""


@pytest.mark.parametrize("name", ["good.ehoa", "bad.ehoa", "parts.tlsf"])
def test_an_object_with_the_machine_is_checked(run, capsys, name):
    io.save("parts.tlsf", Specification.from_ltl(APART, ["r", "s"]))
    code, out, err = run(name, "--json", "--all")
    facts = json.loads(out)
    assert (code, err) == (20 if name == "bad.ehoa" else 10, "")
    assert facts["verified"] is True
    Path("c.json").write_text(out)
    assert main(["verify", name, "c.json"]) == Exit.DONE
    assert capsys.readouterr().out == "c.json: valid\n"
    Path("c.aag").write_text(facts["aag"])
    circuit = io.aiger.load_circuit("c.aag")
    assert len(circuit.gates) == facts["controller"]["gates"]
    # All outputs turned around: what is asked does not hold any more.
    wrong = dataclasses.replace(circuit, driver=circuit.driver ^ 1)
    facts["aag"] = io.aiger.dumps(wrong).decode()
    Path("c.json").write_text(json.dumps(facts))
    assert main(["verify", name, "c.json"]) == Exit.WRONG
    for text, why in (("aag x", "c.json, in aag"), (None, "there is no machine in it")):
        Path("c.json").write_text(json.dumps(facts | {"aag": text}))
        assert main(["verify", name, "c.json"]) == Exit.BAD_INPUT
        assert why in capsys.readouterr().err
    assert "aag" not in json.loads(run(name, "--json", "-v")[1])
    lines = run(name, name, "--jsonl", "--all")[1].splitlines()
    assert [json.loads(x)["aag"] for x in lines] == [Path("c.aag").read_text()] * 2


def test_a_controller_is_checked_for_the_question_that_was_asked(run, capsys):
    Path("wide.tlsf").write_text(WIDE)
    assert run("wide.tlsf", "--param", "n=2", "-o", "c.aag")[0] == Exit.REALIZABLE
    assert main(["verify", "wide.tlsf", "c.aag", "--param", "n=2"]) == Exit.DONE
    assert main(["verify", "wide.tlsf", "c.aag"]) != Exit.DONE
    # Who moves first cannot answer at once.
    io.save("echo.ehoa", Specification.from_ltl("G(g <-> r)", ["r"]))
    assert run("echo.ehoa", "--moore", "-o", "e.aag")[0] == Exit.UNREALIZABLE
    assert main(["verify", "echo.ehoa", "e.aag", "--moore"]) == Exit.DONE
    assert main(["verify", "echo.ehoa", "e.aag"]) != Exit.DONE
    capsys.readouterr()
    assert main(["verify", "good.ehoa", "e.aag", "--param", "n=2"]) == Exit.BAD_INPUT
    assert "--param is for .tlsf files" in capsys.readouterr().err


def test_a_controller_of_a_formula_is_checked(run, capsys):
    how = ("--ltl", "G(r -> X g)", "--ins", "r")
    lost = ("--ltl", "G(g <-> X r)", "--ins", "r")
    for suffix in ("aag", "aig", "ehoa", "hoa"):
        assert run(*how, "-o", f"c.{suffix}")[0] == Exit.REALIZABLE
        assert run(*lost, "-o", f"e.{suffix}")[0] == Exit.UNREALIZABLE
        for asked, machine in ((how, "c"), (lost, "e")):
            assert main(["verify", *asked, f"{machine}.{suffix}"]) == Exit.DONE
        assert main(["verify", f"e.{suffix}", *lost]) == Exit.DONE
        assert capsys.readouterr().out.count("valid") == 3
        assert main(["verify", f"c.{suffix}", *lost]) == Exit.WRONG
        assert main(["verify", "good.ehoa", f"c.{suffix}"]) == Exit.DONE
        assert main(["verify", "bad.ehoa", f"e.{suffix}"]) == Exit.DONE
        assert main(["verify", "bad.ehoa", f"c.{suffix}"]) == Exit.WRONG
    capsys.readouterr()
    assert main(["verify", *how, "c.hoa", "--json"]) == Exit.DONE
    facts = json.loads(capsys.readouterr().out)
    assert (facts["realizable"], facts["states"], facts["verified"]) == (True, 2, True)
    code, out, _ = run(*how, "--json", "--all")
    Path("c.json").write_text(out)
    assert main(["verify", *how, "c.json"]) == Exit.DONE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c.aag"], "verify takes FILE and ANSWER"),
        (["--ltl", "G g", "c.aag"], "--ltl with --ins or --outs"),
        (["good.ehoa", "c.aag", "--ins", "r"], "--ins and --outs go with --ltl"),
        (["good.ehoa", "c.aag", "--ltl", "G g"], "--ltl is for a controller without"),
        (["--ltl", "G g", "--ins", "s", "c.hoa"], "the machine mentions r"),
        (["--ltl", "G g", "--ins", "s", "c.aag"], "the controller reads r"),
        (["--ltl", "G x", "--ins", "g,r", "c.aag"], "the controller"),
        (["--ltl", "G x", "--ins", "r", "c.ehoa"], "the machine sets g, the system x"),
        (["good.ehoa", "good.ehoa"], "'Acceptance: 0 t'"),
    ],
)
def test_what_cannot_be_checked(run, capsys, arguments, message):
    for suffix in ("aag", "hoa", "ehoa"):
        run("good.ehoa", "-o", f"c.{suffix}")
    # An automaton that has runs that do not accept.
    io.save("good.ehoa", Specification.from_ltl("G(r -> F g)", ["r"]))
    capsys.readouterr()
    assert main(["verify", *arguments]) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err

"""What commands print with `--json --all`, and what `verify` says of it."""

import dataclasses
import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from jaxgames import Arena, emersonlei, io, mdp
from jaxgames.cli import Exit, main
from jaxgames.io import hoa_game


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small inputs of each kind."""
    folder = tmp_path_factory.mktemp("objects")
    both = Arena.from_edges(
        [0, 0, 1, 1, 2, 3],
        [1, 2, 2, 3, 3, 0],
        owner=[0, 1, 0, 1],
        weight=[[-1, 0], [0, -1], [0, 0], [-2, 0], [0, -2], [1, 1]],
        accepting=[True, False, False, False],
    )
    ends = Arena.from_edges(
        [0, 1], [1, 2], owner=[0, 0, 1], weight=[[-2], [1]], dead_ends="allow"
    )
    io.save(folder / "chain.npz", ends)
    one = dataclasses.replace(both, weight=both.weight[:, 0], accepting=None)
    io.save(folder / "both.npz", both)
    io.save(folder / "game.energy", one)
    priority = np.array([0, 1, 2, 3], np.int32)
    io.save(folder / "game.eparity", dataclasses.replace(one, priority=priority))
    plain = dataclasses.replace(one, priority=priority, weight=None)
    io.save(folder / "game.pg", plain)
    streett = emersonlei.Game.streett(both, [([0], [1]), ([2], [3])])
    hoa_game.save(folder / "game.hoa", streett)
    model = mdp.MDP.from_arrays(
        row_group_offsets=[0, 2, 4, 5, 6],
        row_offsets=[0, 1, 3, 4, 7, 8, 9],
        columns=[1, 2, 3, 0, 1, 2, 3, 2, 3],
        probs=[1, 0.5, 0.5, 1, 0.2, 0.6, 0.2, 1, 1],
        labels={"goal": [0, 0, 1, 0], "all": [1, 1, 1, 1]},
        choice_rewards={"cost": [1, 2, 1, 1, 1, 1]},
    )
    io.save(folder / "model.umb", model)
    between = mdp.MDP.from_arrays(
        row_group_offsets=[0, 2, 3, 4],
        row_offsets=[0, 2, 4, 5, 6],
        columns=[1, 2, 1, 2, 1, 2],
        lower=[0.2, 0.3, 0.1, 0.1, 1, 1],
        upper=[0.7, 0.8, 0.9, 0.9, 1, 1],
        labels={"goal": [0, 1, 0]},
    )
    io.save(folder / "between.umb", between)
    (folder / "lts.aut").write_text(
        'des (0, 5, 4)\n(0,"a",1)\n(1,"b",0)\n(1,"c",2)\n(2,"tau",2)\n(3,"d",0)\n'
    )
    (folder / "lock.kripke").write_text(
        "kripke;\npropositions cs;\ninitial 0;\n0 -> 0 1;\n1 {cs} -> 0;\n"
    )
    return folder


@pytest.fixture
def run(capfd, folder, monkeypatch):
    """Runs a command there; returns exit code, output and errors."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")

    def run(line, *more):
        code = main([*shlex.split(line), *map(str, more)])
        return code, *capfd.readouterr()

    return run


REWARD = """--prop 'R{"cost"}max=? [ F goal ]'""".replace("goal", '"goal"')
NATURE = "--prop 'Pmaxmin=? [ F \"goal\" ]'"
ASKED = {
    # A command, and the options that say what was asked.
    "solve game.pg": "",
    "energy game.energy": "",
    "energy game.energy --capacity 9": "--capacity 9",
    "meanpayoff game.energy": "",
    "discounted game.energy --discount 1/2": "--discount 1/2",
    "energyparity game.eparity": "",
    "energyparity game.eparity --threshold 0": "--threshold 0",
    "emersonlei game.hoa": "",
    "buchi both.npz": "",
    "multienergy both.npz --cap 4,4": "--capacity 4,4",
    "multienergy chain.npz --cap 4": "--capacity 4",
    "reach game.pg --to 3 --player 1": "--to 3 --player 1",
    "reach game.pg --from 1": "--from 1",
    "probability model.umb --to goal": "--to goal",
    "probability model.umb --to goal --min": "--to goal --min",
    "probability model.umb --to goal --through 0-2": "--to goal --through 0-2",
    "probability model.umb --to goal --zero-one": "--to goal",
    "probability model.umb --to goal --zero-one --min": "--to goal --min",
    "probability model.umb --to goal --for-ever": "--to goal",
    "mdp model.umb --prop 'Pmin=? [ F<=3 \"goal\" ]'": (
        "--prop 'Pmin=? [ F<=3 \"goal\" ]'"
    ),
    f"mdp model.umb {REWARD}": REWARD,
    "mdp model.umb --prop 'Rmax=? [ LRA ]'": "--prop 'Rmax=? [ LRA ]'",
    f"mdp between.umb {NATURE}": NATURE,
    "scc lts.aut": "",
    "mec model.umb": "",
    "equiv lts.aut --notion simulation": "",
    "check lock.kripke --ltl 'G !cs'": "--ltl 'G !cs'",
}
WITHOUT_ALL = "equiv", "check"


@pytest.mark.parametrize("line", ASKED)
def test_an_object_is_an_answer_that_is_checked(run, line):
    file = line.split()[1]
    more = [] if line.split()[0] in WITHOUT_ALL else ["--all"]
    code, out, err = run(line, "--json", *more)
    assert (code in (Exit.DONE, Exit.WRONG), err) == (True, "")
    Path("answer.json").write_text(out)
    again = f"verify {file} answer.json {ASKED[line]}"
    assert run(again) == (Exit.DONE, "answer.json: valid\n", "")
    facts = json.loads(run(again, "--json")[1])
    assert (facts["status"], facts["verified"]) == ("solved", True)


MUTANTS = {
    "solve game.pg": ("winner", 1),
    "energy game.energy": ("credit", 1),
    "meanpayoff game.energy": ("value_num", 1),
    "discounted game.energy --discount 1/2": ("lower", 1e-3),
    "energyparity game.eparity": ("winner", 1),
    "emersonlei game.hoa": ("winner", 1),
    "buchi both.npz": ("winner", 1),
    "multienergy chain.npz --cap 4": ("points", 1),
    "reach game.pg --to 3 --player 1": ("reached", 1),
    "probability model.umb --to goal": ("upper", -1e-3),
    "probability model.umb --to goal --min": ("lower", 1e-3),
    "probability model.umb --to goal --zero-one": ("one", 1),
    "probability model.umb --to goal --for-ever": ("one", 1),
    f"mdp model.umb {REWARD}": ("upper", -1e-3),
    "scc lts.aut": ("labels", 1),
    "mec model.umb": ("state_label", 1),
    "equiv lts.aut --notion simulation": ("labels", 1),
}
PLACES = "vertex", "state", "position", "process", "classes", "components"


@pytest.mark.parametrize("line", MUTANTS)
def test_a_changed_object_is_wrong(run, line):
    name, change = MUTANTS[line]
    file = line.split()[1]
    more = [] if line.split()[0] in WITHOUT_ALL else ["--all"]
    facts = json.loads(run(line, "--json", *more)[1])
    holder, key = facts.get("found", facts), name
    if line.startswith("mdp"):
        key += "s"
    refused = 0
    for place in range(len(holder[key])):
        old = holder[key][place]
        if isinstance(old, str):
            continue  # an infinite bound
        new = [1 + x for x in old] if isinstance(old, list) else old + change
        if name in ("winner", "reached", "one"):
            new = type(old)(1 - old)
        if name == "labels":
            new %= max(holder[key]) + 1  # a class more may be right, by another name
        holder[key][place] = new
        Path("mutant.json").write_text(json.dumps(facts))
        holder[key][place] = old
        code, out, err = run(f"verify {file} mutant.json {ASKED[line]}")
        assert (code, err) == (Exit.WRONG, ""), (place, out)
        assert out.startswith("mutant.json: ")
        assert any(word in out for word in PLACES), out
        refused += 1
    assert refused


@pytest.mark.parametrize(
    ("line", "change", "question", "message"),
    [
        ("solve game.pg", {}, "", "--all prints what was found of each vertex"),
        ("solve game.pg --all", {"schema": 7}, "", "expected schema 1, found 7"),
        ("solve game.pg --all", {"winner": ["x"]}, "", "winner is no array of numbers"),
        ("solve game.pg --all", {"winner": [0]}, "", "expected winner of 4 vertices"),
        ("solve game.pg --all", {"successor": [3] * 4}, "", "no edge leads from"),
        ("solve game.pg --all", {"error": {"exit": 2}}, "", "why there is no answer"),
        ("info game.pg", {}, "", "'info' prints nothing to be checked"),
        ("check lock.kripke --ltl 'F F !cs'", {}, "", "there is no lasso in it"),
        ("probability model.umb --to goal --all", {}, "", "were asked with --to"),
        (f"mdp model.umb {REWARD} --all", {}, "", "asked with a property"),
        (
            f"mdp model.umb {REWARD} --all",
            {},
            "--prop 'R=? [ F \"goal ]'",
            "--prop 'R=?",
        ),
        (
            'mdp model.umb --prop \'Pmax=? [ F "goal" || F "all" ]\' --all',
            {},
            '--prop \'Pmax=? [ F "goal" || F "all" ]\'',
            "cannot be verified: under a condition",
        ),
        (
            "discounted game.energy --discount 1/2 --no-strategies --all",
            {},
            "--discount 1/2",
            "leave --no-strategies out",
        ),
        (
            "equiv lts.aut --notion simulation",
            {},
            "--notion traces",
            "these are classes of simulation, not of traces",
        ),
    ],
)
def test_what_is_no_answer_is_told(run, line, change, question, message):
    facts = json.loads(run(line, "--json")[1]) | change
    Path("no.json").write_text(json.dumps(facts))
    code, out, err = run(f"verify {line.split()[1]} no.json {question}")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("suffix", ["npz", "txt"])
@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("probability model.umb --to goal -v", "--to goal"),
        ("probability model.umb --to goal --zero-one -v", "--to goal"),
        ("probability model.umb --to goal --for-ever -v", "--to goal"),
        (f"mdp model.umb {REWARD} -v", REWARD),
        ("discounted game.energy --discount 1/2 -v", "--discount 1/2"),
        ("equiv lts.aut --notion traces -v", "--notion traces"),
    ],
)
def test_files_of_real_numbers_and_of_classes(run, line, question, suffix):
    code, out, err = run(line, "-o", f"real.{suffix}", "--force")
    assert (code, "valid" in out, err) == (Exit.DONE, True, "")
    done = run(f"verify {line.split()[1]} real.{suffix} {question}")
    assert done == (Exit.DONE, f"real.{suffix}: valid\n", "")


def test_choices_alone_claim_nothing(run):
    assert run(f"mdp model.umb {REWARD} --scheduler moves.txt -q")[0] == Exit.DONE
    code, _, err = run(f"verify model.umb moves.txt {REWARD}")
    assert code == Exit.BAD_INPUT
    assert "moves.txt:1: choices alone claim no value: mdp -o writes them" in err


def test_a_game_of_marks_needs_its_machine(run):
    assert run("emersonlei game.hoa -o marks.txt -q")[0] == Exit.DONE
    code, _, err = run("verify game.hoa marks.txt")
    assert code == Exit.BAD_INPUT
    assert (
        "the check needs strategies, and the file has only winners: write .npz" in err
    )

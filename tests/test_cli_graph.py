"""The commands that decompose graphs and models, and convert models."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import jaxgames
from jaxgames import Arena, cli, graph, io, ltl, mdp, systems
from jaxgames.cli import Exit, main
from jaxgames.cli._parts import histogram
from jaxgames.mdp import MDP

# Components {0, 1} and {2}; vertex 3 is trivial.
LTS = 'des (0, 5, 4)\n(0,"a",1)\n(1,"b",0)\n(1,"c",2)\n(2,"tau",2)\n(3,"d",0)\n'
# State 0 may stay in {0, 1} by two choices; from 2 there is no way back to it.
MODEL = MDP.from_arrays(
    [0, 3, 4, 5, 6],
    [0, 1, 3, 4, 5, 6, 7],
    [0, 0, 1, 2, 0, 2, 0],
    [1, 0.5, 0.5, 1, 1, 1, 1],
    initial=[0],
    labels={"goal": [0, 0, 1, 0]},
)


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")


@pytest.fixture
def files(tmp_path):
    """The same graph as a system, a matrix, an archive and a game."""
    (tmp_path / "a.aut").write_text(LTS)
    arena = io.load("a.aut").arena
    io.save("a.mtx.gz", arena)
    io.save("a.npz", arena)
    rows = ["0 0 0 1;", "1 0 0 0,2;", "2 0 0 2;", "3 0 0 0;"]
    (tmp_path / "a.pg").write_text("\n".join(rows))
    return ["a.aut", "a.mtx.gz", "a.npz", "a.pg"]


@pytest.fixture
def models():
    names = ["m.umb", "m.umb.xz", "m.drn", "m.tra"]
    for name in names:
        io.save(name, MODEL)
    return names


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


# ---- scc ---------------------------------------------------------------------


def test_scc_of_every_kind_of_file(run, files, models):
    for name in files:
        code, out, err = run(
            "scc", name, "-s", "host", "-v", "--force", "--labels", "l.npz"
        )
        assert (code, err) == (Exit.DONE, "")
        seconds = r" +\d+\.\d{3} s"
        lines = [
            rf"  load{seconds}  4 (vertices|states), 5 (edges|transitions).*",
            rf"  prepare{seconds}",
            rf"  solve{seconds}  host.*",
            rf"  verify{seconds}  valid",
            rf"{name}: 3 strongly connected components, 1 trivial; "
            r"the largest has 2 vertices \(50.0 %\)",
            r"  of size 1 +2",
            r"  of size 2 to 3 +1",
        ]
        assert re.fullmatch("\n".join(lines) + "\n", out), out
        with np.load("l.npz") as found:
            assert found["labels"].tolist() == [0, 0, 1, 2]
            assert found["count"] == 3
    for name in models:
        labels = f"{name}.txt"
        assert run("scc", name, "-s", "host", "-q", "--labels", labels)[0] == Exit.DONE
        with open(labels) as file:
            assert file.read() == "0\n0\n1\n2\n"


@pytest.mark.parametrize("solver", ["auto", "race", *graph.SOLVERS])
def test_scc_json(run, files, solver):
    code, out, err = run("scc", "a.aut", "--json", "-v", "-s", solver)
    facts = json.loads(out)
    assert (code, err) == (Exit.DONE, "")
    seconds = facts.pop("seconds")
    assert list(seconds) == ["load", "prepare", "solve", "verify"]
    assert facts == {
        "schema": 1,
        "version": jaxgames.__version__,
        "command": "scc",
        "file": "a.aut",
        "vertices": 4,
        "edges": 5,
        "status": "solved",
        "solver": facts["solver"],
        "stats": facts["stats"],
        "verified": True,
        "components": 3,
        "trivial": 1,
        "largest": 2,
        "sizes": [
            {"from": 1, "to": 1, "components": 2},
            {"from": 2, "to": 3, "components": 1},
        ],
    }


def test_scc_of_no_vertices_and_with_dead_ends(run):
    io.save("none.mtx", Arena.from_edges([], [], owner=[]))
    code, out, _ = run("scc", "none.mtx")
    assert code == Exit.DONE
    assert "none.mtx: 0 strongly connected components, 0 trivial; the largest" in out
    io.save("one.npz", Arena.from_edges([], [], owner=[0], dead_ends="allow"))
    facts = json.loads(run("scc", "one.npz", "--json")[1])
    assert (facts["components"], facts["trivial"]) == (1, 1)


def test_scc_stops_early(run, files):
    name = next(iter(graph.SOLVERS))
    code, out, err = run(
        "scc", "a.aut", "-s", name, "--max-steps", "0", "--labels", "l.npz"
    )
    assert code == Exit.UNSOLVED
    assert "strongly" not in out
    assert err == (
        "jaxgames: a.aut: not solved: the limit of 0 rounds was reached; "
        "allow more by --max-steps, or leave it out\n"
    )
    assert not Path("l.npz").exists()
    arguments = ("-s", name, "--max-steps", "0", "--json")
    facts = json.loads(run("scc", "a.aut", *arguments)[1])
    assert facts["status"] == "max_steps"
    assert "components" not in facts


def test_a_wrong_answer_is_not_written(run, files, monkeypatch):
    right = graph.scc(io.load("a.aut").arena, "host")

    class Wrong:
        status, stats, count = right.status, right.stats, right.count
        labels = np.array([0, 1, 2, 2])

    monkeypatch.setattr(graph, "scc", lambda *_, **__: Wrong)
    code, out, err = run("scc", "a.aut", "-v", "--labels", "l.txt")
    assert code == Exit.UNVERIFIED
    assert "WRONG" in out
    assert err.startswith("jaxgames: a.aut: the answer is wrong, nothing is written: ")
    assert not Path("l.txt").exists()


# ---- mec ---------------------------------------------------------------------


def test_mec_of_every_kind_of_file(run, models):
    for name in models:
        code, out, err = run("mec", name, "-s", "host", "-v", "--force", "-o", "c.npz")
        assert (code, err) == (Exit.DONE, "")
        seconds = r" +\d+\.\d{3} s"
        lines = [
            rf"  load{seconds}  4 states, 6 choices, 7 branches",
            rf"  prepare{seconds}",
            rf"  solve{seconds}  host.*",
            rf"  verify{seconds}  valid",
            rf"{name}: 2 maximal end components of 3 states \(75.0 %\) and 4 choices; "
            r"the largest has 2 states",
            r"  of size 1 +1",
            r"  of size 2 to 3 +1",
        ]
        assert re.fullmatch("\n".join(lines) + "\n", out), out
        with np.load("c.npz") as found:
            assert found["state_label"].tolist() == [0, 0, 1, -1]
            assert found["choice_kept"].tolist() == [1, 1, 0, 1, 1, 0]
            assert found["count"] == 2
    assert run("mec", "m.umb", "-q", "--output", "c.txt.gz")[0] == Exit.DONE
    with gzip.open("c.txt.gz", "rt") as file:
        assert file.read() == "0\n0\n1\n-1\n"


@pytest.mark.parametrize("solver", ["auto", *mdp.SOLVERS])
def test_mec_json(run, models, solver):
    code, out, err = run("mec", "m.umb", "--json", "-s", solver)
    facts = json.loads(out)
    assert (code, err) == (Exit.DONE, "")
    assert list(facts.pop("seconds")) == ["load", "prepare", "solve"]
    assert facts == {
        "schema": 1,
        "version": jaxgames.__version__,
        "command": "mec",
        "file": "m.umb",
        "states": 4,
        "choices": 6,
        "branches": 7,
        "status": "solved",
        "solver": facts["solver"],
        "stats": facts["stats"],
        "verified": None,
        "components": 2,
        "states_inside": 3,
        "choices_kept": 4,
        "largest": 2,
        "sizes": [
            {"from": 1, "to": 1, "components": 1},
            {"from": 2, "to": 3, "components": 1},
        ],
    }


def test_mec_stops_early(run, models):
    name = next(iter(mdp.SOLVERS))
    code, _, err = run("mec", "m.umb", "-s", name, "--max-steps", "0", "-o", "c.npz")
    assert code == Exit.UNSOLVED
    assert err == (
        "jaxgames: m.umb: not solved: the limit of 0 rounds was reached; "
        "allow more by --max-steps, or leave it out\n"
    )
    assert not Path("c.npz").exists()


def test_mec_takes_models_only(run, files):
    code, out, err = run("mec", "a.aut")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err == (
        "jaxgames: a.aut: expected a Markov decision process, found: LTS(4 states, 5 "
        "transitions, 5 labels)\n"
    )


# ---- both --------------------------------------------------------------------


@pytest.mark.parametrize("command", ["scc", "mec"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.umb",), "nowhere.umb: No such file or directory"),
        (("broken.umb",), "broken.umb: expected a tar archive, as UMB files are"),
        (
            ("broken.drn",),
            "broken.drn:1: expected '@type: MDP', DTMC or CTMC, found 'x'",
        ),
        (("m.xyz",), "m.xyz: No such file or directory"),
        (("m.umb", "-s", "fastest"), "no .* solver is called 'fastest'; there are"),
        (("m.umb", "OUT", "c.csv"), "takes a file that ends in .npz, .txt, .*'c.csv'"),
        (("m.umb", "OUT", "no/c.npz"), "no: there is no such folder"),
        (("m.umb", "--timeout", "-1"), "expected a positive number, got -1"),
        ((), "the following arguments are required: FILE"),
    ],
)
def test_bad_input(run, models, command, arguments, message):
    for name in ("broken.umb", "broken.drn"):
        with open(name, "w") as file:
            file.write("x\n")
    option = {"scc": "--labels", "mec": "--output"}[command]
    arguments = [option if word == "OUT" else word for word in arguments]
    code, out, err = run(command, *arguments)
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert re.match(f"jaxgames: .*{message}", err), err
    assert len(err.splitlines()) == 1


def test_traceback_when_asked(run, models):
    assert "Traceback" in run("mec", "nowhere.umb", "--traceback")[2]


def test_commands_that_are_for_games_say_so(run, models):
    code, _, err = run("solve", "m.umb")
    assert code == Exit.BAD_INPUT
    assert err == (
        "jaxgames: m.umb: expected a game, found MDP(4 states, 6 choices, 7 branches)\n"
    )


def test_info_of_models_and_systems(run, models, files):
    assert run("info", "m.umb")[1].splitlines()[1:] == [
        "  labels      goal",
        "  initial     1",
        "  per state   1 to 3 choices, mean 1.50",
        "  per choice  1 to 2 branches, mean 1.17",
    ]
    facts = json.loads(run("info", "a.aut", "--json")[1])
    assert (facts["states"], facts["labels"]) == (4, ["a", "b", "c", "tau", "d"])
    system = systems.System.from_graph(([0, 1, 1], [1]), {"p": [0, 1], "q": [1, 0]})
    for name in ("s.npz", "s.kripke"):
        io.save(name, system)
        assert run("info", name)[1].splitlines() == [
            f"{name}: 2 states, 1 transition, 2 propositions, "
            f"{Path(name).stat().st_size:,} bytes",
            "  propositions p, q",
            "  initial     1",
            "  deadlocks   1",
            "  out degree  0 to 1, mean 0.50",
            "  in degree   0 to 1, mean 0.50",
            "  self loops  0",
        ]
    io.save("a.hoa", ltl.translate("G F p"))
    facts = json.loads(run("info", "a.hoa", "--json")[1])
    assert (facts["states"], facts["acceptance"]) == (2, 1)


def test_models_are_converted(run, models, files):
    code, out, _ = run("convert", "m.drn", "other.umb")
    assert (code, out) == (
        Exit.DONE,
        "other.umb: 4 states, 6 choices, 7 branches\n",
    )
    assert io.load("other.umb").columns.tolist() == MODEL.columns.tolist()
    assert run("convert", "a.aut", "b.aut.gz")[1] == (
        "b.aut.gz: 4 states, 5 transitions, 5 labels\n"
    )
    code, _, err = run("convert", "m.drn", "other.aut")
    assert code == Exit.BAD_INPUT
    assert ".aut files hold an object of class LTS, got MDP" in err


def test_histogram():
    size = np.array([1, 1, 2, 3, 4, 7, 8, 0])
    assert [tuple(bar.values()) for bar in histogram(size)] == [
        (1, 1, 2),
        (2, 3, 2),
        (4, 7, 2),
        (8, 15, 1),
    ]
    assert histogram(np.empty(0, int)) == []


def test_commands_are_listed():
    assert {"scc", "mec"} <= set(cli.COMMANDS)

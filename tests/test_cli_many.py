"""Several files in one call: a line for each, whatever becomes of the others."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

import jaxgames
from jaxgames import Arena, generate, io, mdp, parity, synth
from jaxgames.cli import Exit, _many, _solve, main

GAMES = {
    "elevator.pg.gz": generate.elevator(2),
    "ladder.npz": generate.ladder(3),
    "hanoi": generate.hanoi(2),
    "random.gm": generate.random_game(1, 20),
}


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    for name, arena in GAMES.items():
        io.save(name, arena, format=None if "." in name else "pg")
    (tmp_path / "bad.pg").write_text("parity 1;\n0 0 0 1;\n1 0 x 0;\n")
    io.save("weights.energy", generate.FAMILIES["energy_ring"](1, 10))
    io.save("more.mpg", generate.FAMILIES["energy_ring"](2, 12))
    io.save("model.drn", mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1]))
    io.save("model.umb", mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1]))


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


PUBLISHED = Path(__file__).parents[2] / "shared/data/public/parity"
"""Games in folders, and `winners.npz` with their winners."""


def objects(text):
    """What is printed as JSON; each has what all have."""
    found = [json.loads(line) for line in text.splitlines()]
    for facts in found:
        assert facts["schema"] == 1
        assert type(facts["schema"]) is int
        assert facts["version"] == jaxgames.__version__
        assert {"command", "file", "status"} <= facts.keys()
    return found


def won(arena):
    winner = np.asarray(parity.solve(arena).winner)
    return [int((winner == player).sum()) for player in (0, 1)]


@pytest.mark.parametrize("solver", ["auto", "host", "fpi", "race"])
def test_a_line_for_each_in_the_order_given(run, solver):
    names = [*reversed(GAMES), *GAMES]
    code, out, err = run("solve", *names, "--jsonl", "-s", solver, "--verify")
    assert (code, err) == (Exit.DONE, "")
    found = objects(out)
    assert [facts["file"] for facts in found] == names
    for facts in found:
        assert facts["won"] == won(GAMES[facts["file"]])
        assert (facts["status"], facts["verified"]) == ("solved", True)
        assert facts["command"] == "solve"


def test_a_line_of_text_for_each(run):
    code, out, err = run("solve", *GAMES)
    assert (code, err) == (Exit.DONE, "")
    counts = (won(arena) for arena in GAMES.values())
    assert out.splitlines() == [
        f"{name}: player 0 wins {even}, player 1 wins {odd}"
        for name, (even, odd) in zip(GAMES, counts, strict=True)
    ]
    assert run("solve", *GAMES, "-q") == (Exit.DONE, "", "")


@pytest.mark.parametrize("solver", ["host", "fpi"])
def test_bad_files_are_lines_of_their_own(run, solver):
    names = ["hanoi", "bad.pg", "missing.pg", "ladder.npz", "model.drn"]
    code, out, err = run("solve", *names, "--jsonl", "-s", solver)
    assert code == Exit.BAD_INPUT
    found = objects(out)
    assert [facts["file"] for facts in found] == names
    status = [facts["status"] for facts in found]
    assert status == ["solved", "failed", "failed", "solved", "failed"]
    error = found[1]["error"]
    assert "won" not in found[1]
    assert error["exit"] == Exit.BAD_INPUT
    assert (error["kind"], error["file"], error["line"]) == ("FormatError", "bad.pg", 3)
    assert f"bad.pg:3: {error['message']}" in err
    missing = found[2]["error"]
    assert (missing["kind"], missing["file"]) == ("FileNotFoundError", "missing.pg")
    assert missing["message"] == "No such file or directory"
    assert err.count("\n") == 3
    code, out, err = run("solve", *names)
    assert (code, out.count("\n"), err.count("\n")) == (Exit.BAD_INPUT, 2, 3)


def test_files_and_options_in_any_order(run):
    code, out, err = run("solve", "hanoi", "-q", "random.gm", "--jsonl", "ladder.npz")
    assert (code, err) == (Exit.DONE, "")
    names = ["hanoi", "random.gm", "ladder.npz"]
    assert [facts["file"] for facts in objects(out)] == names
    run("solve", *names, "-o", "solutions/", "-q")
    for line in (
        ("hanoi", "-q", "solutions/hanoi.sol"),
        ("hanoi", "ladder.npz", "-q", "solutions"),
        ("hanoi", "-q", "ladder.npz", "solutions"),
        ("-q", "hanoi", "ladder.npz", "solutions"),
    ):
        assert run("verify", *line) == (Exit.DONE, "", "")
    code, out, err = run("solve", "hanoi", "--nothing", "random.gm")
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert err.startswith("jaxgames: unrecognized arguments: --nothing (see")


def test_one_file_as_a_line(run):
    code, out, err = run("solve", "hanoi", "--jsonl", "--winners", "-o", "hanoi.sol")
    assert (code, err) == (Exit.DONE, "")
    (facts,) = objects(out)
    assert facts["winner"] == np.asarray(parity.solve(GAMES["hanoi"]).winner).tolist()
    assert run("verify", "hanoi", "hanoi.sol")[0] == Exit.DONE
    code, out, err = run("solve", "bad.pg", "--jsonl")
    assert (code, objects(out)[0]["status"]) == (Exit.BAD_INPUT, "failed")


def test_solutions_in_a_folder(run, tmp_path):
    code, out, err = run("solve", *GAMES, "-o", "new/solutions/", "-q")
    assert (code, out, err) == (Exit.DONE, "", "")
    found = sorted(os.listdir("new/solutions"))
    assert found == ["elevator.sol", "hanoi.sol", "ladder.sol", "random.sol"]
    code, out, err = run("verify", *GAMES, "new/solutions")
    assert (code, out.count(".sol: valid"), err) == (Exit.DONE, 4, "")
    os.replace("new/solutions/hanoi.sol", "new/solutions/ladder.sol")
    code, out, err = run("verify", *GAMES, "new/solutions", "--jsonl")
    assert code == Exit.BAD_INPUT
    status = [facts["status"] for facts in objects(out)]
    assert status == ["solved", "failed", "failed", "solved"]
    verified = [facts.get("verified") for facts in objects(out)]
    assert verified == [True, None, None, True]


def test_the_worst_exit_code_is_that_of_the_command(run):
    code, out, err = run("solve", "hanoi", "random.gm", "-s", "fpi", "--max-steps", 5)
    assert code == Exit.UNSOLVED
    assert "random.gm: not solved: the limit of" in err
    code, out, err = run("solve", "bad.pg", "random.gm", "-sfpi", "--max-steps=5")
    assert code == Exit.BAD_INPUT
    # A command whose reader has gone has no exit code of a file.
    assert sorted(_many.WORST_FIRST) == sorted(set(Exit) - {Exit.BROKEN_PIPE})


def test_of_several_specifications_one_that_is_unrealizable_is_the_worst(run):
    for name, formula in (("yes", "G(r -> F g)"), ("other", "G g"), ("no", "F r")):
        asked = synth.Specification.from_ltl(formula, ["r"], ["g"])
        io.save(f"{name}.ehoa", asked)
    code, out, err = run("synth", "yes.ehoa", "other.ehoa")
    expected = "yes.ehoa: REALIZABLE\nother.ehoa: REALIZABLE\n"
    assert (code, out, err) == (Exit.REALIZABLE, expected, "")
    code, out, err = run("synth", "yes.ehoa", "no.ehoa", "other.ehoa")
    assert (code, out.count("UNREALIZABLE"), err) == (Exit.UNREALIZABLE, 1, "")
    Path("bad.ehoa").write_text("HOA: v1")
    code, out, err = run("synth", "no.ehoa", "bad.ehoa", "yes.ehoa")
    assert (code, out.count("REALIZABLE")) == (Exit.BAD_INPUT, 2)
    assert err.startswith("jaxgames: bad.ehoa:1: ")


def test_a_wrong_solution_among_right_ones(run, tmp_path):
    run("solve", *GAMES, "-o", "solutions/", "-q")
    arena = GAMES["random.gm"]
    solution = parity.solve(arena)
    turned = parity.Solution(
        solution.status, winner=1 - np.asarray(solution.winner),
        strategy=np.full(arena.shape[0], -1, np.int32),
    )  # fmt: skip
    io.save_solution("solutions/random.sol", arena, turned)
    code, out, err = run("verify", *GAMES, "solutions", "--jsonl")
    assert (code, err) == (Exit.WRONG, "")
    assert [facts["verified"] for facts in objects(out)] == [True, True, True, False]


def test_a_limit_is_that_of_the_whole_command(run):
    code, out, err = run("solve", *GAMES, "--jsonl", "--timeout", "1e-6")
    assert code == Exit.UNSOLVED
    assert [facts["status"] for facts in objects(out)] == ["timeout"] * 4
    assert err.count("not done: the limit of 1e-06 s was reached") == 4


@pytest.mark.parametrize("solver", ["host", "fpi"])
def test_an_interrupt_leaves_what_is_done(run, monkeypatch, solver):
    told, count = _solve._told, []

    def interrupted(*args):
        count.append(args)
        if len(count) == 3:
            raise KeyboardInterrupt
        return told(*args)

    monkeypatch.setattr(_solve, "_told", interrupted)
    code, out, err = run("solve", *GAMES, "--jsonl", "-s", solver)
    assert code == Exit.INTERRUPTED
    assert [facts["file"] for facts in objects(out)] == list(GAMES)[:2]
    assert err == "jaxgames: interrupted: 2 of 4 files are done\n"


def test_games_are_not_kept(run, monkeypatch):
    """On the host one game is there at a time, and few wait for a batch."""
    there = []
    told = _solve._told
    loaded = _solve._Loaded.__init__

    def load(self, args):
        loaded(self, args)
        there.append(args.file)

    def tell(args, *more):
        seen.append(list(there))
        there.remove(args.file)
        return told(args, *more)

    monkeypatch.setattr(_solve._Loaded, "__init__", load)
    monkeypatch.setattr(_solve, "_told", tell)
    seen = []
    run("solve", *GAMES, "-s", "host")
    assert [len(names) for names in seen] == [1] * 4
    monkeypatch.setattr(_solve, "MOST_IN_BATCH", 3)
    seen = []
    run("solve", *GAMES, "-s", "fpi")
    assert [len(names) for names in seen] == [3, 2, 1, 1]


@pytest.mark.parametrize(
    "line",
    [
        "info elevator.pg.gz ladder.npz model.drn weights.energy",
        "scc elevator.pg.gz ladder.npz model.drn --verify",
        "mec model.drn model.umb --verify",
        "energy weights.energy more.mpg --verify",
        "meanpayoff weights.energy more.mpg --verify",
    ],
)
def test_other_commands(run, line):
    words = line.split()
    files = [word for word in words[1:] if word != "--verify"]
    code, out, err = run(*words)
    assert (code, err) == (Exit.DONE, "")
    assert [text.partition(":")[0] for text in out.splitlines()] == files
    code, out, err = run(*words, "missing.npz", "--jsonl")
    assert code == Exit.BAD_INPUT
    found = objects(out)
    assert [facts["file"] for facts in found] == [*files, "missing.npz"]
    assert [facts["status"] for facts in found] == ["solved"] * len(files) + ["failed"]
    assert {facts["command"] for facts in found} == {words[0]}


def test_other_outputs_in_folders(run):
    assert run("scc", *GAMES, "--labels", "labels/", "-q") == (Exit.DONE, "", "")
    assert np.load("labels/hanoi.npz")["labels"].shape == (GAMES["hanoi"].shape[0],)
    os.mkdir("credits")
    line = ("energy", "weights.energy", "more.mpg", "-o", "credits", "-q")
    assert run(*line) == (Exit.DONE, "", "")
    assert np.load("credits/more.npz")["credit"].shape == (12,)
    code, out, err = run(*line)
    assert code == Exit.BAD_INPUT
    assert "weights.npz: the file exists already; --force replaces it" in err
    assert run(*line, "--force") == (Exit.DONE, "", "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("solve hanoi ladder.npz --json", "--json is for one answer; --jsonl prints"),
        ("solve hanoi ladder.npz --draw x.svg", "--draw is for one answer, and there"),
        ("solve hanoi ladder.npz -o x.sol", "-o x.sol: for several files it names a"),
        ("solve hanoi hanoi.pg -o out/", "out/hanoi.sol: that is written for both"),
        ("solve hanoi hanoi -o out/", "that is written for both hanoi and hanoi"),
        ("solve hanoi ladder.npz -s zielonk", "no parity solver is called 'zielonk'"),
        ("solve - hanoi -", "standard input is read once, and cannot be two files"),
        ("verify hanoi ladder.npz x.sol", "ANSWER x.sol: for several files it names"),
        ("scc hanoi ladder.npz -s fpi", "solver is called 'fpi'"),
        ("energy more.mpg weights.energy --all", "--all goes with --json and --jsonl"),
        ("mec model.drn -o x.csv", "-o takes a file that ends in .npz"),
    ],
)
def test_what_is_wrong_with_all_is_told_once(run, line, message):
    code, out, err = run(*line.split())
    assert (code, err.count("\n")) == (Exit.BAD_INPUT, 1)
    assert bool(out) == ("--json" in line)
    assert message in err


def test_no_output_is_an_input(run, tmp_path):
    os.mkdir("folder")
    os.link("hanoi", "folder/ladder.sol")
    code, out, err = run("solve", "hanoi", "ladder.npz", "-o", "folder/", "--force")
    assert code == Exit.BAD_INPUT
    assert "folder/ladder.sol: this is the input hanoi, which would be lost" in err


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/vb143.pg.gz", "vb143.sol"),
        ("vb143.gz", "vb143.sol"),
        ("a.b/vb.143", "vb.143.sol"),
        ("vb.143.PG", "vb.143.sol"),
        ("x.sol", "x.sol.sol"),
        ("/dev/stdin", "stdin.sol"),
    ],
)
def test_names_of_files_beside(file, name):
    assert _many.within("folder/", file, ".sol") == f"folder/{name}"


def test_compressed_files_without_a_suffix_of_their_format(run, tmp_path):
    with open("hanoi", "rb") as file:
        (tmp_path / "hanoi.gz").write_bytes(gzip.compress(file.read()))
    code, out, err = run("solve", "hanoi.gz", "hanoi", "--jsonl")
    assert (code, err) == (Exit.DONE, "")
    first, second = objects(out)
    assert first["won"] == second["won"] == won(GAMES["hanoi"])
    assert isinstance(io.load("hanoi.gz"), Arena)


@pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the folder of published games is not there"
)
def test_a_folder_of_published_games(run):
    """Many of which have no suffix of their format."""
    files = sorted(PUBLISHED.glob("oink-*/*.gz"))
    assert any(not file.name.endswith(".pg.gz") for file in files)
    files = [file for file in files if file.stat().st_size < 20_000]
    code, out, err = run("solve", *files, "--jsonl", "--winners", "--verify")
    assert (code, err) == (Exit.DONE, "")
    found = objects(out)
    assert [facts["file"] for facts in found] == list(map(str, files))
    winners = np.load(PUBLISHED / "winners.npz")
    for file, facts in zip(files, found, strict=True):
        packed = winners[file.relative_to(PUBLISHED).as_posix().removesuffix(".gz")]
        known = np.unpackbits(packed[8:], count=len(facts["winner"]), bitorder="little")
        assert np.array_equal(facts["winner"], known), file
        assert facts["verified"]


# ---- what fails ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "file", "code", "status", "message"),
    [
        ("solve bad.pg --json", "bad.pg", 2, "failed", "expected"),
        ("scc none.pg --json", "none.pg", 2, "failed", "No such file"),
        ("solve hanoi --jsn --json", None, 2, "failed", "did you mean '--json'"),
        ("nothing --json", None, 2, "failed", "invalid choice"),
        ("info hanoi ladder.npz --json", None, 2, "failed", "--jsonl prints"),
        ("solve hanoi --timeout 1e-9 --json", "hanoi", 4, "timeout", "1e-09 s"),
        ("verify hanoi none.sol --json", "hanoi", 2, "failed", "none.sol"),
        ("solve hanoi -o no/x.sol --json", "hanoi", 2, "failed", "no such folder"),
    ],
)
def test_an_object_tells_what_failed(run, line, file, code, status, message):
    end, out, err = run(*line.split())
    (facts,) = objects(out)
    assert (end, facts["error"]["exit"]) == (code, code)
    assert (facts["file"], facts["status"]) == (file, status)
    assert message in facts["error"]["message"]
    assert err.count("\n") == 1


# ---- convert ---------------------------------------------------------------------


def test_convert_writes_a_folder(run):
    files = ("elevator.pg.gz", "bad.pg", "hanoi")
    code, out, err = run("convert", *files, "-o", "copies/", "--to-format", "npz")
    assert code == Exit.BAD_INPUT
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "copies/elevator.npz",
        "copies/hanoi.npz",
    ]
    assert err.startswith("jaxgames: bad.pg:3: ")
    assert io.load("copies/hanoi.npz").num_edges == GAMES["hanoi"].num_edges
    # The last one is what is written, where nothing else says it.
    assert run("convert", *files, "copies/", "--to-format", "pg")[0] == Exit.BAD_INPUT
    assert io.load("copies/hanoi.pg").num_edges == GAMES["hanoi"].num_edges
    assert run("convert", "hanoi", "-o", "copy.pg")[::2] == (Exit.DONE, "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hanoi", "convert IN OUT"),
        ("hanoi ladder.npz -o x/", "--to-format says what several files"),
        ("hanoi ladder.npz -o x --to-format pg", "it names a folder, as in x/"),
        ("hanoi ./hanoi -o x/ --to-format pg", "is written for both"),
    ],
)
def test_what_convert_refuses(run, line, message):
    code, out, err = run("convert", *line.split())
    assert (code, not out) == (Exit.BAD_INPUT, "--json" not in line)
    assert message in err


def test_a_file_is_named_whatever_its_name_is(run, tmp_path):
    """Also where its name is a part of what is wrong."""
    (tmp_path / "dir").mkdir()
    (tmp_path / "e").write_text("")
    code, out, err = run("solve", "dir", "e", "ladder.npz")
    assert code == Exit.BAD_INPUT
    assert out.startswith("ladder.npz: ")
    first, second = err.splitlines()
    assert first == "jaxgames: dir: Is a directory"
    assert second.startswith("jaxgames: e: no suffix, and it is empty")
    code, _, err = run("verify", "ladder.npz", "bad.pg", "one.sol")
    assert code == Exit.BAD_INPUT
    assert err.startswith("jaxgames: ANSWER one.sol: for several files it names a fol")

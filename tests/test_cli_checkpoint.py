"""Solves that are kept in a file by commands, and gone on with."""

import functools
import json
import os
import signal

import pytest

from jaxgames import checkpoint, generate, io
from jaxgames.cli import Exit, main
from jaxgames.solution import Status

LINES = {
    "solve": ["solve", "game.pg", "-s", "spm"],
    "solve auto": ["solve", "game.pg"],
    "scc": ["scc", "game.pg", "-s", "max_id"],
    "energy": ["energy", "game.pg", "--from-parity"],
    "energy capacity": ["energy", "game.pg", "--from-parity", "--capacity=9"],
    "meanpayoff": ["meanpayoff", "game.pg", "--from-parity"],
    "check": ["check", "--graph=lts.aut", "--ltl=G F a", "-s", "map"],
    "mec": ["mec", "model.drn"],
}
"""Commands that solve something."""

MODEL = (
    "@type: MDP\n@nr_states\n2\n@model\nstate 0 init\n\taction 0\n\t\t1 : 1\nstate 1\n"
)
MODEL += "\taction 0\n\t\t0 : 1\n"


@pytest.fixture(autouse=True)
def _where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    io.save("game.pg", generate.FAMILIES["jurdzinski"](2, 4))
    (tmp_path / "lts.aut").write_text('des (0, 2, 2)\n(0,"a",1)\n(1,"b",0)\n')
    (tmp_path / "model.drn").write_text(MODEL)


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


def answer(out):
    """What an object says, but for how it was found."""
    facts = json.loads(out)
    for name in ("seconds", "stats", "solver", "layout", "cells", "rounds", "steps"):
        facts.pop(name, None)
    return facts


@pytest.fixture
def interrupted(monkeypatch):
    """Has a solve interrupted when it has been saved some times."""

    def interrupted(saves):
        save, count = checkpoint.save, []

        def saved(*args):
            save(*args)
            count.append(args)
            if len(count) == saves:
                os.kill(os.getpid(), signal.SIGINT)

        solve = functools.partial(checkpoint.solve, every=1e-6)
        with monkeypatch.context() as change:
            change.setattr(checkpoint, "save", saved)
            change.setattr(checkpoint, "solve", solve)
            yield
        assert len(count) == saves

    return interrupted


@pytest.mark.parametrize("name", LINES)
def test_a_kept_solve_has_the_same_answer(run, name):
    line = [*LINES[name], "--json", "--verify"]
    code, out, err = run(*line)
    kept = [*line, "--checkpoint", "kept"]
    assert (code, err) == (Exit.DONE, "")
    for more in ([], ["--resume"], ["--force"]):
        found = run(*kept, *more)
        assert (found[0], found[2]) == (code, "")
        assert answer(found[1]) == answer(out)


def test_an_interrupted_solve_is_gone_on_with(run, interrupted):
    io.save("game.pg", generate.FAMILIES["jurdzinski"](3, 6))
    line = ("solve", "game.pg", "-s", "spm", "--json")
    whole = json.loads(run(*line)[1])
    line += ("--checkpoint", "kept")
    rounds = []
    for more in ([], ["--resume"]):
        for _ in interrupted(1):
            code, out, err = run(*line, *more)
        assert code == Exit.INTERRUPTED
        assert err == (
            "jaxgames: game.pg: not done: interrupted; the same command with --resume "
            "continues from kept\n"
        )
        rounds.append(int(checkpoint.load("kept", _begin()).rounds))
    assert 0 < rounds[0] < rounds[1] < whole["rounds"]
    code, out, err = run(*line, "--resume")
    assert (code, err) == (Exit.DONE, "")
    assert json.loads(out)["rounds"] == whole["rounds"]
    assert answer(out) == answer(json.dumps(whole))


def _begin():
    from jaxgames import parity

    return parity.solve(io.load("game.pg"), "spm", max_steps=0, throw=False).state


def test_a_limit_ends_what_is_kept(run):
    line = ("solve", "game.pg", "-s", "spm", "--checkpoint", "kept")
    code, out, err = run(*line, "--timeout", "1e-6")
    assert code == Exit.UNSOLVED
    assert "the limit of 1e-06 s was reached" in err
    assert run(*line, "--resume", "--json")[0] == Exit.DONE


def test_what_is_over_ends_a_solve_with_checkpoints(tmp_path):
    """The end of what is around it, and not only its own interval's."""
    from jaxgames import limits, parity

    arena = io.load("game.pg")
    begin = parity.solve(arena, "spm", max_steps=0, throw=False)
    with limits.within(deadline=1e-6):
        found = checkpoint.solve(
            tmp_path / "kept",
            lambda state=begin.state, **how: parity.solve(
                arena, "spm", state=state, **how
            ),
            throw=False,
        )
    assert found.status == Status.TIMEOUT


def test_an_interrupt_says_how_it_could_have_been_kept(run, monkeypatch):
    from jaxgames import parity

    solve = parity.solve

    def interrupted(*args, **options):
        if options.get("max_steps") == 0:
            return solve(*args, **options)
        options["progress"] = lambda report: Status.INTERRUPTED
        return solve(*args, **options)

    monkeypatch.setattr(parity, "solve", interrupted)
    code, out, err = run("solve", "game.pg", "-s", "spm")
    assert code == Exit.INTERRUPTED
    assert err.endswith("; with --checkpoint FILE it could be continued by --resume\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--resume", "--resume continues from the file that --checkpoint names"),
        (
            "--checkpoint kept -s host",
            "-s host has none to keep: leave -s out, or name",
        ),
        ("--checkpoint kept --max-steps 3", "do not go together"),
        ("--checkpoint game.pg --force", "--checkpoint game.pg: this is the input"),
        ("--checkpoint out.sol -o out.sol", "--checkpoint out.sol: -o writes to that"),
        ("--checkpoint there", "a saved solve exists already; --resume continues it"),
        ("--checkpoint there --resume -s spm", "there holds no state of a solve"),
        ("lts.aut --checkpoint kept", "--checkpoint is for one answer, and there"),
        ("--checkpoint kept --resume there", "; --resume takes no name of a file"),
        ("--checkpoint nowhere/kept", "nowhere: there is no such folder"),
        ("--checkpoint pipe --force", "pipe is a folder, a device or a pipe"),
    ],
)
def test_what_cannot_be_kept(run, tmp_path, line, message):
    (tmp_path / "there").write_text("something")
    os.mkfifo("pipe")
    code, out, err = run("solve", "game.pg", "-q", *line.split())
    assert (code, out) == (Exit.BAD_INPUT, "")
    assert message in err
    assert (tmp_path / "there").read_text() == "something"
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    "line",
    [
        ["probability", "model.drn", "--to", "1"],
        ["equiv", "lts.aut", "--notion", "bisimulation"],
    ],
)
def test_what_needs_no_round_needs_no_state(run, line):
    """A script may repeat its command with --resume until the answer is there."""
    code, out, _ = run(*line, "--json")
    assert code == Exit.DONE
    found = run(*line, "--json", "--checkpoint", "kept", "--resume")
    assert found[0] == Exit.DONE
    assert answer(found[1]) == answer(out)


def test_a_link_to_a_kept_solve_stays(run, tmp_path):
    os.symlink("kept", "link")
    line = ("solve", "game.pg", "-q", "-s", "fpi", "--checkpoint", "link")
    for more in ((), ("--resume",), ("--force",)):
        code, out, err = run(*line, *more)
        assert (code, out, err) == (Exit.DONE, "", "")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "kept").is_file()


def test_nothing_to_go_on_from_is_told(run):
    line = ("solve", "game.pg", "-q", "-s", "fpi", "--checkpoint", "kept", "--resume")
    code, out, err = run(*line)
    assert (code, out) == (Exit.DONE, "")
    assert (
        err == "jaxgames: kept: there is no saved solve yet, so this one starts anew\n"
    )
    code, out, err = run(*line[:-4], "spm", *line[-3:])
    assert code == Exit.BAD_INPUT
    assert "kept holds a state of another solve: it is of another solver" in err

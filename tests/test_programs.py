"""The folder of compiled programs: the user's own, and nobody else writes there."""

import argparse
import json
import os

import jax
import pytest

from jaxgames import cli, fixpoint, generate, parity, programs
from jaxgames.cli._games import start_jax
from jaxgames.limits import LimitError
from jaxgames.solution import Status

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such modes")


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "base"))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    return tmp_path / "base"


def mode(path) -> int:
    return path.stat().st_mode & 0o7777


def test_it_is_made_for_the_user_alone(base):
    before = os.umask(0)
    try:
        assert programs.default_folder() == base / "jaxgames"
    finally:
        os.umask(before)
    assert (mode(base), mode(base / "jaxgames")) == (0o700, 0o700)
    (base / "jaxgames").chmod(0o755)
    programs.default_folder()
    assert mode(base / "jaxgames") == 0o700


@pytest.mark.parametrize("bits", [0o777, 0o770, 0o707, 0o775, 0o1777])
def test_where_others_can_write(base, bits):
    place = programs.default_folder()
    place.chmod(bits)
    with pytest.raises(OSError, match=r"others can write to .*jaxgames: chmod go-w"):
        programs.default_folder()
    assert mode(place) == bits  # what they have put there is there


@pytest.mark.parametrize("bits", [0o777, 0o775])
def test_where_others_can_put_another_in_its_place(base, bits):
    programs.default_folder()
    base.chmod(bits)
    with pytest.raises(OSError, match="others can write to .*base: chmod"):
        programs.default_folder()
    base.chmod(0o1777)  # where they cannot move it
    assert programs.default_folder() == base / "jaxgames"


def test_that_of_somebody_else(base, monkeypatch):
    place = programs.default_folder()
    owner = place.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(OSError, match=f"belongs to user {owner}, not to {owner + 1}"):
        programs.default_folder()


def test_a_link(base, tmp_path):
    base.mkdir()
    other = tmp_path / "open" / "jaxgames"
    other.mkdir(parents=True, mode=0o700)
    (base / "jaxgames").symlink_to(other)
    assert programs.default_folder() == base / "jaxgames"
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(OSError, match="others can write to .*open"):
        programs.default_folder()


def test_no_folder_and_no_home(base, monkeypatch):
    base.mkdir()
    (base / "jaxgames").touch()
    with pytest.raises(OSError, match="jaxgames"):
        programs.default_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(OSError, match="home"):
        programs.default_folder()


def test_one_line_says_why_it_is_not_used(base, monkeypatch, capsys):
    changed = []
    monkeypatch.setattr(jax.config, "update", lambda *of: changed.append(of))
    args = argparse.Namespace(device=None, cache=True)
    start_jax(args)
    assert ("jax_compilation_cache_dir", str(base / "jaxgames")) in changed
    assert capsys.readouterr() == ("", "")
    changed.clear()
    (base / "jaxgames").chmod(0o777)
    start_jax(args)
    out, err = capsys.readouterr()
    assert (out, changed) == ("", [])
    assert err.startswith("jaxgames: compiled programs are not kept: others can write")
    assert err.count("\n") == 1


def test_a_folder_of_ones_own(base, tmp_path, monkeypatch):
    changed = []
    monkeypatch.setattr(jax.config, "update", lambda *of: changed.append(of))
    assert programs.keep(tmp_path / "new" / "folder") == tmp_path / "new" / "folder"
    assert mode(tmp_path / "new" / "folder") == 0o700
    assert ("jax_compilation_cache_dir", str(tmp_path / "new" / "folder")) in changed
    (tmp_path / "new").chmod(0o777)
    changed.clear()
    with pytest.raises(OSError, match="others can write to .*new"):
        programs.keep(tmp_path / "new" / "folder")
    assert not changed


# ---- before they are wanted ------------------------------------------------------


def test_what_is_warmed_is_there_for_others_of_the_size(base, counted):
    fixpoint._met.cache_clear()  # how many games of the size other tests have solved
    (done,) = programs.warm("parity", 40, 2, solver="fpi")
    assert done[:4] == ("parity", 40, 80, "fpi")
    first = counted()
    arena = generate.random_game(7, 39, min_degree=2, max_degree=2)
    assert parity.solve(arena, "fpi").status == Status.SOLVED
    assert counted() == first  # not one more


@pytest.mark.parametrize("question", programs.QUESTIONS)
def test_every_question_has_games_and_an_engine(question):
    (done,) = programs.warm(question, 5, solver="host")
    assert (done.question, done.vertices, done.solver) == (question, 5, "host")
    assert done.edges > 0


def test_an_accelerator_has_both(monkeypatch):
    asked = []

    def solve(game, **how):
        asked.append(how)
        return parity.solve(game, "host")

    make = generate.random_game
    monkeypatch.setattr(programs, "backend", lambda: "gpu")
    monkeypatch.setattr(
        programs,
        "_makers",
        lambda: {"parity": (solve, lambda seed, n, _: make(seed, n))},
    )
    assert [done.solver for done in programs.warm("parity", 9)] == ["host", "auto"]
    limit = {"max_steps": fixpoint.MAX_ROUNDS}
    assert asked == [{"solver": "host"}] * 2 + [limit] * 2


def test_what_cannot_be_warmed():
    with pytest.raises(ValueError, match="question must be one of 'parity', .*'chess'"):
        programs.warm("chess", 10)
    with pytest.raises(ValueError, match="no parity solver"):
        programs.warm("parity", 10, solver="nobody")
    with pytest.raises(LimitError, match="TIMEOUT"):
        programs.warm("parity", 10, solver="host", deadline=1e-9)


def test_the_command(capsys):
    line = ["warm", "parity", "scc", "--sizes", "5", "6", "-s", "host", "--no-cache"]
    assert cli.main([*line, "--json"]) == cli.Exit.DONE
    facts = json.loads(capsys.readouterr().out)
    assert (facts["command"], facts["status"]) == ("warm", "solved")
    assert [(each["question"], each["vertices"]) for each in facts["warmed"]] == [
        *(("parity", 5), ("parity", 6), ("scc", 5), ("scc", 6))
    ]
    assert cli.main(line) == cli.Exit.DONE
    assert capsys.readouterr().out.count("parity, host") == 2
    assert cli.main([*line, "--json", "--timeout", "1e-6"]) == cli.Exit.UNSOLVED
    facts = json.loads(capsys.readouterr().out)
    assert (facts["status"], facts["warmed"]) == ("timeout", [])
    assert cli.main(["warm", "pairty"]) == cli.Exit.BAD_INPUT
    assert "did you mean 'parity'" in capsys.readouterr().err

"""The folder of compiled programs: the user's own, and nobody else writes there."""

import argparse
import os

import jax
import pytest

from jaxgames.cli import _cache
from jaxgames.cli._games import start_jax

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
        assert _cache.folder() == base / "jaxgames"
    finally:
        os.umask(before)
    assert (mode(base), mode(base / "jaxgames")) == (0o700, 0o700)
    (base / "jaxgames").chmod(0o755)
    _cache.folder()
    assert mode(base / "jaxgames") == 0o700


@pytest.mark.parametrize("bits", [0o777, 0o770, 0o707, 0o775, 0o1777])
def test_where_others_can_write(base, bits):
    place = _cache.folder()
    place.chmod(bits)
    with pytest.raises(OSError, match=r"others can write to .*jaxgames: chmod go-w"):
        _cache.folder()
    assert mode(place) == bits  # what they have put there is there


@pytest.mark.parametrize("bits", [0o777, 0o775])
def test_where_others_can_put_another_in_its_place(base, bits):
    _cache.folder()
    base.chmod(bits)
    with pytest.raises(OSError, match="others can write to .*base: chmod"):
        _cache.folder()
    base.chmod(0o1777)  # where they cannot move it
    assert _cache.folder() == base / "jaxgames"


def test_that_of_somebody_else(base, monkeypatch):
    place = _cache.folder()
    owner = place.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(OSError, match=f"belongs to user {owner}, not to {owner + 1}"):
        _cache.folder()


def test_a_link(base, tmp_path):
    base.mkdir()
    other = tmp_path / "open" / "jaxgames"
    other.mkdir(parents=True, mode=0o700)
    (base / "jaxgames").symlink_to(other)
    assert _cache.folder() == base / "jaxgames"
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(OSError, match="others can write to .*open"):
        _cache.folder()


def test_no_folder_and_no_home(base, monkeypatch):
    base.mkdir()
    (base / "jaxgames").touch()
    with pytest.raises(OSError, match="jaxgames"):
        _cache.folder()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(OSError, match="home"):
        _cache.folder()


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

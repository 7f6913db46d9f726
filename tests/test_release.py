"""What a package index would show: its links work away from the repository."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def hook():
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        (
            "https://example.org/games/jaxgames.git",
            "https://example.org/games/jaxgames",
        ),
        ("https://me:secret@example.org/a/b", "https://example.org/a/b"),
        ("git@example.org:games/jaxgames.git", "https://example.org/games/jaxgames"),
        ("ssh://git@example.org:22/games/x", "https://example.org/games/x"),
        ("http://example.org/x/", "https://example.org/x"),
        ("/srv/git/jaxgames.git", ""),
        ("../jaxgames", ""),
        ("file:///srv/git/jaxgames", ""),
        ("https://localhost/x.git", ""),
        ("", ""),
    ],
)
def test_the_address_is_that_of_a_page(hook, remote, address):
    assert hook.public(remote) == address


def test_links_work_away_from_the_repository(hook):
    text = (ROOT / "README.md").read_text()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    files = [x for x in targets if not x.startswith(("http", "#"))]
    assert files
    assert all((ROOT / x.partition("#")[0]).exists() for x in files)
    address = "https://example.org/games/jaxgames"
    found = re.findall(r"\]\(([^)]+)\)", hook.described(text, address))
    assert len(found) == len(targets)
    assert all(x.startswith(("http", "#")) for x in found)
    assert f"{address}/blob/HEAD/docs/install.md" in found
    assert f"{address}/raw/HEAD/docs/assets/handshake.svg" in found
    # Without an address nothing leads nowhere, and no word is lost.
    alone = hook.described(text, "")
    left = re.findall(r"\]\(([^)]+)\)", alone)
    assert left == [x for x in targets if x.startswith(("http", "#"))]
    assert "![" not in alone
    assert "the installation page lists" in " ".join(alone.split())


def test_the_address_is_that_of_the_remote(hook, tmp_path):
    assert hook.origin(tmp_path / "nowhere") == ""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert hook.origin(tmp_path) == ""
    remote = "git@example.org:games/jaxgames.git"
    command = ["git", "-C", tmp_path, "remote", "add", "origin", remote]
    subprocess.run(command, check=True)
    assert hook.origin(tmp_path) == remote


def test_the_metadata(hook, monkeypatch):
    monkeypatch.setenv("JAXGAMES_URL", "https://example.org/games/jaxgames")
    metadata = {}
    hook.Hook(str(ROOT), {}).update(metadata)
    assert metadata["urls"]["Issues"] == "https://example.org/games/jaxgames/issues"
    assert metadata["readme"]["text"].startswith("# jaxgames")
    monkeypatch.setenv("JAXGAMES_URL", "/srv/git/jaxgames")
    metadata = {}
    hook.Hook(str(ROOT), {}).update(metadata)
    assert "urls" not in metadata

"""What the suite promises of itself: a test that hangs is ended and named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parent.parent / "pyproject.toml"

ENDLESS = """
import time

def test_before():
    pass

def test_endless():
    while True:
        time.sleep(0.01)

def test_after():
    pass
"""


@pytest.mark.parametrize("processes", [0, 1])
def test_a_test_that_hangs_is_ended_and_named(tmp_path, processes):
    (tmp_path / "test_them.py").write_text(ENDLESS)
    command = [
        *(sys.executable, "-m", "pytest", "-c", CONFIGURATION, "-n", str(processes)),
        *("-o", "faulthandler_timeout=1", "-p", "no:cacheprovider", "test_them.py"),
        f"--rootdir={tmp_path}",
    ]
    environment = {k: v for k, v in os.environ.items() if "PYTEST" not in k}
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode != 0
    assert "test_endless" in ended.stdout + ended.stderr
    if processes:  # the others are run by a new process
        assert "2 passed" in ended.stdout

"""The examples run, and say what they should."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

SAYS = {
    "model_checking.py": [
        "Explored(34 states, 88 transitions, propositions neighbours_eat hungry eats)",
        "deadlocks: ['hungry hungry hungry hungry']",
        "G !neighbours_eat: holds",
        "G(hungry -> F eats): violated",
        "then again and again",
    ],
    "dataset.py": ["100 games in 1 files", "all answers are certified: True"],
    "training_loop.py": ["it has learnt something: True"],
}


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if line in SAYS[name]] == SAYS[name]

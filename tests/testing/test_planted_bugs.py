"""The bugs of the gate can be planted, and one is seen to be killed."""

from collections import Counter
from pathlib import Path

import planted_bugs
import pytest
from planted_bugs import BUGS, FORGETS, Bug, misfit

from jaxgames.testing import SLICES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_each_bug_can_be_planted(bug):
    assert misfit(bug) is None
    assert bug.old != bug.new
    assert set(bug.checks.split(",")) <= set(SLICES[bug.slice]().checks)
    assert (ROOT / "tests" / bug.tests).is_file()


def test_there_are_bugs_of_all_slices_and_kinds():
    assert len(BUGS) >= 24
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    # Priorities on edges are the same code; readers have tests of their own.
    assert {bug.slice for bug in BUGS} == set(SLICES) - {"parity-edges", "files"}
    kinds = Counter(bug.kind for bug in BUGS)
    assert len(kinds) >= 6
    assert kinds[FORGETS] >= 6


def test_a_text_that_is_gone_fails_loudly(capsys, monkeypatch):
    gone = BUGS[0]._replace(old="what was never there")
    twice = BUGS[0]._replace(old="import")
    monkeypatch.setattr(planted_bugs, "BUGS", [gone, twice])
    assert planted_bugs.main(["--by", "fuzzer"]) == 2
    out = capsys.readouterr().out
    assert "occurs 0 times in parity/_fpi.py, not once" in out
    assert out.count("not once") == 2


def test_a_bug_is_killed_and_what_is_none_survives(capsys, monkeypatch):
    bug = next(bug for bug in BUGS if bug.name == "trivial-loops")
    harmless = Bug(
        *("harmless", "a comment", bug.file, bug.old, f"{bug.old}  # as it was"),
        *(bug.slice, bug.checks, bug.tests),
    )
    monkeypatch.setattr(planted_bugs, "BUGS", [bug, harmless])
    assert planted_bugs.main(["--by", "fuzzer", "--seconds", "1"]) == 1
    out = capsys.readouterr().out
    assert "1 of 2 killed: 1 by the fuzzer, 0 by tests" in out
    assert [line.split()[2] for line in out.splitlines()[1:3]] == ["killed", "survived"]

"""Tuned numbers are in one place, say what they are, and can be measured again."""

import ast
import re

import pytest
from benchmark_results import ROOT, row

from benchmarks import run, tune
from jaxgames import tuning

NUMBERS = tune.numbers()
SOURCES = {
    path.relative_to(ROOT / "jaxgames"): path.read_text()
    for path in sorted((ROOT / "jaxgames").rglob("*.py"))
}
TUNED = re.compile(
    r"_?(\w+_(FROM|LINES|ROWS|UP_TO|WORTH_IT|SECONDS|AT_ONCE|BUDGET|CHUNK|ROOM|CELLS)"
    r"|(BLOCK|STRETCH|READY|IMPORTED|FOREIGN)_BYTES"
    r"|AT_ONCE|BLOCK|BUDGET|CELLS|CHEAP|FEW\w*|FIRST_\w+|GAIN|GROWTH|LARGE|LEAST_\w+|LOOKS"
    r"|MANY|PATIENCE\w*|PIECES|POLL|ROOMS|ROUNDS|SHARE|SHRUNK\w*|STRETCH\w*|SWEEPS\w*"
    r"|TILE|TRIES|WINDOW)"
)
"""Names that numbers have which are tuned."""

ELSEWHERE = {"cli", "plot", "testing", "tuning"}
"""Packages that are not looked at: their numbers bound or show something, no more."""


def thresholds(source: str) -> list[str]:
    """Numbers that a module gives names of that kind to, by itself."""
    return [
        name
        for statement in ast.parse(source).body
        for name, value in tune._assigned(statement)
        if TUNED.fullmatch(name)
        and any(
            isinstance(part, ast.Constant) and type(part.value) in (int, float)
            for part in ast.walk(value)
        )
    ]


def test_no_module_has_thresholds_of_its_own():
    assert thresholds("FEW = 3\n_SWEEPS = {'cpu': 2}\nLEFT, STOP_FROM = 1, 1 << 4") == [
        *("FEW", "_SWEEPS", "STOP_FROM")
    ]
    assert thresholds("WORD = 32\nFEW = max(x)\ndef f():\n    FEW = 2\n") == []
    found = {
        str(path): thresholds(source)
        for path, source in SOURCES.items()
        if path.parts[0] not in ELSEWHERE
    }
    assert not {path: names for path, names in found.items() if names}


def test_numbers_say_what_they_are_and_where_they_are_measured():
    for number in NUMBERS:
        assert number.about, number
        assert number.suite in run.SUITES
        for file in number.shown:
            assert (ROOT / "benchmarks" / "results" / f"{file}.json").is_file()
        taken = re.compile(
            rf"from jaxgames\.tuning\.{number.part} import [^)]*?\b{number.name}\b"
        )
        assert any(taken.search(source) for source in SOURCES.values()), number
        if isinstance(number.value, dict):
            assert set(number.value) == {"cpu", "gpu"}


def test_what_is_said_of_numbers_is_said_of_some():
    for path, source in SOURCES.items():
        if path.parts[0] == "tuning" and path.stem != "__init__":
            scope = {}
            exec(source, scope)
            said = {*scope.get("AGAIN", {}), *scope.get("SHOWN", {})}
            assert said <= {n.name for n in NUMBERS if n.part == path.stem}


def test_a_number_is_read_for_the_backend(monkeypatch):
    monkeypatch.setattr(tuning, "backend", lambda: "cpu")
    assert tuning.here({"cpu": 1, "gpu": 2}) == 1
    monkeypatch.setattr(tuning, "backend", lambda: "tpu")
    assert tuning.here({"cpu": 1, "gpu": 2}) == 2


def test_one_number_is_changed():
    text = 'A = 1 << 3\n"""About A."""\n\nB, C = 2, (\n    4,\n    5,\n)\n'
    scope = {}
    exec(tune.changed(tune.changed(text, "C", "8"), "A", "1 << 5"), scope)
    assert (scope["A"], scope["B"], scope["C"]) == (32, 2, 8)
    with pytest.raises(ValueError, match="no number has the name D"):
        tune.changed(text, "D", "1")


def test_values_to_compare_with():
    assert tune.others(16) == ["4", "16", "64"]
    assert tune.others(1) == ["1", "4"]
    with pytest.raises(ValueError, match="--values"):
        tune.others((1, 2))


def test_a_suite_runs_for_each_value(monkeypatch, capsys, tmp_path):
    seen = {}

    def ran(number, value, results, more):
        seen[value] = (number.suite, results.parent, more)
        return [row("g", "auto", 1.0 / int(value)), row("h", "auto", None)]

    monkeypatch.setattr(tune, "_run", ran)
    name = ["graph.STAY", "--values", "2", "4", "--results", str(tmp_path)]
    tune.main([*name, "--games", "g"])
    assert seen == {value: ("graph", tmp_path, ["--games", "g"]) for value in "24"}
    out = capsys.readouterr().out
    assert "seconds\t2\t4\ng, auto\t0.5\t0.25\nh, auto\t-\t-\n" in out


def test_numbers_are_listed(capsys):
    tune.main([])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(NUMBERS)
    assert (
        "ops.SLICE_FROM\t32768\tlayouts\tlayouts-amd-epyc, layouts-nvidia-h200" in lines
    )
    assert any(line.endswith("\tnot measured since") for line in lines)
    with pytest.raises(SystemExit):
        tune.main(["graph.NOTHING"])

"""The benchmarks' suite of samples."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks import run, samples  # noqa: E402
from benchmarks.schema import Results  # noqa: E402


def test_values_and_gradients_are_measured_and_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(samples, "QUESTIONS", {"steps": samples.QUESTIONS["steps"]})
    options = run.Options(small=True, runs=1, scratch=tmp_path, results=tmp_path)
    results = Results(suite="samples", machine={}, copy_bandwidth_gb_s=1.0)
    samples.run(options, results)
    assert [row.experiment for row in results.rows] == ["values", "gradient"]
    assert {row.status for row in results.rows} == {"SOLVED"}
    assert all(row.verified and row.games == 16 for row in results.rows)

"""The benchmarks' suite of values."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks import run, values  # noqa: E402
from benchmarks.schema import Results  # noqa: E402


def test_a_small_model_is_measured_and_verified(tmp_path):
    options = run.Options(small=True, runs=1, scratch=tmp_path, results=tmp_path)
    results = Results(suite="values", machine={}, copy_bandwidth_gb_s=1.0)
    values.run(options, results)
    (row,) = results.rows
    assert (row.status, row.verified) == ("SOLVED", True)
    assert row.solve_runs is not None
    assert len(row.solve_runs) >= 3

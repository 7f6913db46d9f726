"""What the tests of the benchmarks' suites share: options, and rows of results."""

import dataclasses
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks import run  # noqa: E402
from benchmarks.schema import Results, Row  # noqa: E402


def options(folder: Path, **changes) -> run.Options:
    chosen = run.Options(
        small=True, runs=1, scratch=folder, results=folder / "results", libraries=()
    )
    return dataclasses.replace(chosen, **changes)


def results(suite, rows=(), peers=(), backend="gpu", **machine) -> Results:
    facts = {
        "device": "NVIDIA H200" if backend == "gpu" else "Some CPU",
        "devices": 1,
        "backend": backend,
        "cpu": "Some CPU",
        "cores": 16,
        "python": "3.12.0",
        "jax": "0.11.2",
        "numpy": "2.4.0",
        "jaxgames": "0.1.0",
        **machine,
    }
    return Results(
        suite=suite,
        machine=facts,
        copy_bandwidth_gb_s=4000.0,
        created="2026-01-02",
        rows=list(rows),
        peers=list(peers),
    )


def row(game, solver, solve_s, **more) -> Row:
    made = Row(
        game=game,
        vertices=10,
        edges=20,
        solver=solver,
        solve_s=solve_s,
        solve_runs=[solve_s],
        verified=True,
        status="SOLVED",
    )
    return dataclasses.replace(made, **more)

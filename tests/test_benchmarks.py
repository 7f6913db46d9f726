"""The benchmarks' own parts: results files, the page, adapters of peers."""

import dataclasses
import platform
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from jaxgames import Arena

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks import machine, peers, report  # noqa: E402
from benchmarks.schema import RESULTS, PeerRow, Results, Row  # noqa: E402

# Player 1 wins everywhere, from vertex 1 by moving to the loop at vertex 2.
ARENA = Arena.from_edges(
    [0, 1, 1, 2], [1, 0, 2, 2], owner=[0, 1, 0], priority=[2, 1, 5]
)
WINNER = np.array([1, 1, 1], np.int8)

OINK = """#!/bin/sh
answer="paritysol 3;\n0 1;\n1 1 2;\n2 1;"
echo "[    0.00] parsing took 0.000250 sec."
echo "[    0.00] parity game with 3 nodes and 4 edges."
case "$3 $4" in
"--npp --no")
    echo "[    0.00] preprocessing took 0.000010 sec."
    echo "[    0.01] solving took 0.004000 sec."
    echo "[    0.01] total solving time: 0.004010 sec." ;;
"--zlk ")
    echo "[    0.00] preprocessing took 0.000003 sec."
    echo "[    0.00] solved by preprocessor."
    echo "[    0.00] total solving time: 0.000020 sec." ;;
"--tl ")
    echo "[    0.00] solving took 0.001000 sec."
    answer="paritysol 3;\n0 0 1;\n1 1 2;\n2 1;" ;;
"--fpi ")
    exec sleep 60 ;;
"--fpj ")
    echo "[    0.00] parsing error: missing successor"
    exit 255 ;;
"--psi ")
    echo "[    0.00] solving took 0.001000 sec."
    answer="no solution" ;;
"--spm ")
    echo "solved" ;;
esac
printf "$answer\n" > "$2"
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a program on a PATH of its own, before the system's."""

    def put(name: str, script: str):
        program = tmp_path / name
        program.write_text(script)
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return put


class FakeOink(peers.Oink):
    solvers: tuple[str, ...] = ("npp --no", "zlk", "tl", "fpi", "fpj", "psi", "spm")


def test_oink_times_answers_and_failures_are_told_apart(install):
    install("oink", OINK)
    rows = peers.side_by_side(
        "tiny", ARENA, WINNER, (FakeOink(),), time_limit_s=2, repeats=2
    )
    assert [row.solver for row in rows] == list(FakeOink.solvers)
    assert {(row.game, row.peer) for row in rows} == {("tiny", "oink")}
    npp, zlk, tl, fpi, fpj, psi, spm = rows
    assert (npp.parse_s, npp.preprocess_s, npp.solve_s) == (0.00025, 1e-05, 0.004)
    assert (npp.status, npp.runs, npp.agrees) == ("ok", 2, True)
    assert npp.version is not None
    assert npp.version.startswith("sha256:")
    assert (zlk.preprocess_s, zlk.solve_s, zlk.agrees) == (3e-06, 0.0, True)
    assert (tl.status, tl.preprocess_s, tl.solve_s) == ("ok", None, 0.001)
    assert tl.agrees is False
    assert (fpi.status, fpi.solve_s, fpi.total_s) == ("timeout", None, None)
    assert fpi.reason == "no answer within 2 s"
    assert fpj.status == "error"
    assert fpj.reason == "exit code 255: parsing error: missing successor"
    assert (psi.status, spm.status) == ("error", "error")
    assert "no solution" in (psi.reason or "")
    assert "how long" in (spm.reason or "")


def test_padding_is_not_compared(install):
    install("oink", OINK)
    padded = ARENA.pad()
    ours = np.zeros(padded.shape[0], np.int8)
    ours[:3] = WINNER

    class OneSolver(FakeOink):
        solvers: tuple[str, ...] = ("npp --no",)

    (row,) = peers.side_by_side("padded", padded, ours, (OneSolver(),))
    assert row.agrees is True


def test_absent_peer_is_skipped_with_a_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    peers._tell_once.cache_clear()
    for game in ("a", "b"):
        (row,) = peers.side_by_side(game, ARENA, WINNER)
        assert (row.status, row.solver, row.agrees) == ("absent", None, None)
        assert row.reason == "there is no program oink on the PATH"
    assert capsys.readouterr().out == (
        "oink: skipped, there is no program oink on the PATH\n"
    )


@pytest.mark.skipif(not shutil.which("oink"), reason="oink is not installed")
def test_oink_itself_agrees():
    rows = peers.side_by_side("tiny", ARENA, WINNER, repeats=1)
    assert [row.solver for row in rows] == list(peers.Oink.solvers)
    assert [row.reason for row in rows] == [None] * len(rows)
    assert all(row.agrees for row in rows)


def results(**changes) -> Results:
    def ours(game, solver, solve_s, **more):
        row = Row(
            game=game,
            vertices=1_000,
            edges=4_000,
            solver=solver,
            solve_s=solve_s,
            solve_runs=[solve_s],
            verified=True,
            status="SOLVED",
        )
        return dataclasses.replace(row, **more)

    def peer(game, solver, solve_s, **more):
        row = PeerRow(
            game=game,
            peer="oink",
            solver=solver,
            preprocess_s=0.001,
            solve_s=solve_s,
            status="ok",
            agrees=True,
        )
        return dataclasses.replace(row, **more)

    made = Results(
        suite="parity",
        machine={
            "device": "NVIDIA H200",
            "devices": 1,
            "backend": "gpu",
            "cpu": "Some CPU",
            "cores": 16,
            "python": "3.12.0",
            "jax": "0.11.2",
            "numpy": "2.4.0",
            "jaxgames": "0.1.0",
        },
        copy_bandwidth_gb_s=4000.0,
        created="2026-01-02",
        rows=[
            ours("wide", "fpi", 0.002, rounds=10, bytes_per_round=400_000_000),
            ours("wide", "spm", 0.5),
            ours("wide", "wrong", 1e-6, verified=False),
            ours("deep", "fpi", 0.018),
            ours("deep", "slow", 1e-6, status="MAX_STEPS", verified=None),
            ours("lonely", "fpi", 0.0123),
        ],
        peers=[
            peer("wide", "npp", 0.007),
            peer("wide", "zlk", 0.020),
            peer("deep", "npp", 0.001),
            peer("deep", "liar", 1e-6, agrees=False),
            peer("deep", "spm", None, status="timeout", reason="no answer within 15 s"),
        ],
    )
    return dataclasses.replace(made, **changes)


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "template.md"
    path.write_text("# Page\n\n<!-- results: parity -->\n\nThe end.\n")
    return path


def line_of(text: str, start: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_page_compares_the_best_of_both_sides(tmp_path, template):
    text = report.page([results()], tmp_path, template)
    assert text.startswith("# Page\n\n### NVIDIA H200\n")
    assert text.endswith("\n\nThe end.\n")
    side_by_side, every_solver = text.split("#### Every solver")
    assert line_of(side_by_side, "wide") == [
        *("wide", "1,000", "4,000", "2.00 ms (fpi)", "8.00 ms (oink npp)"),
        *("0.250", "4.00× faster"),
    ]
    assert line_of(side_by_side, "deep")[3:] == [
        *("18.0 ms (fpi)", "2.00 ms (oink npp)", "9.00", "9.00× **slower**")
    ]
    assert line_of(side_by_side, "lonely")[3:] == ["12.3 ms (fpi)", "–", "–", "–"]
    assert "on 1 of 2 games, slower on 1" in text
    assert "mean of the ratios 1.50." in text
    assert "**Answers that differ from ours:** oink liar on deep." in text
    # 10 rounds of 0.4 GB in 2 ms are 2000 GB/s, half of the copy bandwidth.
    assert line_of(every_solver, "wide | fpi")[8:] == [
        *("10", "400 MB", "2,000", "50%", "verified")
    ]
    assert line_of(every_solver, "wide | wrong")[-1] == "**WRONG**"
    assert line_of(every_solver, "deep | slow")[-1] == "max steps"
    peers_table = every_solver.split("#### Every peer")[1]
    # npp, zlk, liar, spm, after the game and the time to parse.
    assert line_of(peers_table, "deep")[2:] == [
        *("2.00 ms", "–", "1.00 ms (differs)", "timeout")
    ]


def test_page_without_peers_says_so(tmp_path, template):
    absent = PeerRow(game="wide", peer="oink", status="absent", reason="not found")
    text = report.page([results(peers=[absent])], tmp_path, template)
    assert "Not on this machine: oink (not found)." in text
    assert "Every peer" not in text
    assert "No peer was run." in report.page([results(peers=[])], tmp_path, template)


def test_page_needs_a_place_for_each_suite(tmp_path, template):
    with pytest.raises(ValueError, match="no place for the suite 'energy'"):
        report.page([results(suite="energy")], tmp_path, template)
    assert "No results yet" in report.page([], tmp_path, template)


def test_committed_page_is_made_of_the_committed_results():
    page = ROOT / "docs" / "performance.md"
    if not page.exists():
        pytest.skip("the page was not made yet")
    found = [Results.load(path) for path in sorted(RESULTS.glob("*.json"))]
    assert page.read_text() == report.page(found, page.parent), (
        "run python -m benchmarks.report"
    )


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "–"),
        (0.0, "0 µs"),
        (2e-7, "0.200 µs"),
        (3.4e-5, "34.0 µs"),
        (0.00123, "1.23 ms"),
        (25.64, "25.6 s"),
        (1234.0, "1,234 s"),
    ],
)
def test_seconds_are_shown_with_a_unit(seconds, shown):
    assert report._seconds(seconds) == shown


def test_plots_are_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib")
    drawn = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        report.plot([results()], folder)
        drawn.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {
        "parity-nvidia-h200-times.svg",
        "parity-nvidia-h200-bandwidth.svg",
    }


def test_results_file_keeps_everything(tmp_path):
    path = results().save(tmp_path)
    assert path.name == "parity-nvidia-h200.json"
    assert Results.load(path) == results()
    path.write_text(path.read_text().replace('"solve_s"', '"solve"'))
    with pytest.raises(TypeError, match="solve"):
        Results.load(path)


def test_machine_facts_name_no_host_and_no_path():
    facts = machine.facts()
    assert {"device", "cpu", "cores", "python", "jax", "jaxlib", "numpy"} <= set(facts)
    values = [str(value) for value in facts.values()]
    assert platform.node() not in values
    assert not any(value.startswith("/") for value in values)


def test_copy_bandwidth_is_of_this_world():
    assert 0.01 < machine.copy_bandwidth(2**22, repeats=2) < 100_000

"""The benchmarks' own parts: results files, the page, adapters of peers."""

import dataclasses
import platform
import shutil
import sys
import time
from pathlib import Path

import benchmark_results
import numpy as np
import pytest

from jaxgames import Arena, Status, generate, io, ops, parity
from jaxgames.parity import reference
from jaxgames.progress import Report

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

from benchmarks import (  # noqa: E402
    compare,
    corpus,
    games,
    layouts,
    machine,
    merge,
    peers,
    plots,
    report,
    run,
    summary,
    tables,
    thesis,
    thesis_page,
    traffic,
)
from benchmarks import parity as parity_suite  # noqa: E402
from benchmarks.entrants import Attempt, Engine, OnDevice, Sequential  # noqa: E402
from benchmarks.run import Options  # noqa: E402
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


def fake_oink() -> peers.Oink:
    return peers.Oink(("npp --no", "zlk", "tl", "fpi", "fpj", "psi", "spm"))


def test_oink_times_answers_and_failures_are_told_apart(install):
    install("oink", OINK)
    rows = peers.side_by_side(
        "tiny", ARENA, WINNER, (fake_oink(),), time_limit_s=2, repeats=2
    )
    assert [row.solver for row in rows] == list(fake_oink().solvers)
    assert {(row.game, row.peer) for row in rows} == {("tiny", "oink")}
    npp, zlk, tl, fpi, fpj, psi, spm = rows
    assert (npp.parse_s, npp.preprocess_s, npp.solve_s) == (0.00025, 1e-05, 0.004)
    assert (npp.status, npp.runs, npp.agrees) == ("ok", 2, True)
    assert "sha256:" in (npp.version or "")
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


def test_who_built_oink_tells_its_commit(install, monkeypatch):
    install("oink", OINK)
    monkeypatch.delenv("OINK_COMMIT", raising=False)
    digest = fake_oink().version()
    assert digest.startswith("sha256:")
    monkeypatch.setenv("OINK_COMMIT", "0a4a37f")
    assert fake_oink().version() == f"0a4a37f {digest}"


def test_padding_is_not_compared(install):
    install("oink", OINK)
    padded = ARENA.pad()
    ours = np.zeros(padded.shape[0], np.int8)
    ours[:3] = WINNER
    one = fake_oink().only(["npp --no"])
    (row,) = peers.side_by_side("padded", padded, ours, (one,))
    assert row.agrees is True


def test_a_file_that_lies_there_is_not_written_again(tmp_path):
    (tmp_path / peers.TEXT).write_text("as it is")
    assert peers.Oink().save(tmp_path, ARENA) == tmp_path / peers.TEXT
    assert (tmp_path / peers.TEXT).read_text() == "as it is"


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
        sizes = {"vertices": 1_000, "edges": 4_000}
        return benchmark_results.row(game, solver, solve_s, **{**sizes, **more})

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


@pytest.mark.usefixtures("wide_pages")
def test_page_compares_the_best_of_both_sides(tmp_path, template):
    text = report.page([results()], tmp_path, template)
    assert text.startswith("# Page\n\n### NVIDIA H200\n")
    assert text.endswith("\n\nThe end.\n")
    side_by_side, every_solver = text.split("#### Every solver")
    assert line_of(side_by_side, "wide") == [
        *("wide", "1,000", "4,000", "2.00 ms (fpi)", "2.00 ms (fpi)"),
        *("8.00 ms (oink npp)", "0.250", "4.00× faster"),
    ]
    assert line_of(side_by_side, "deep")[4:] == [
        *("18.0 ms (fpi)", "2.00 ms (oink npp)", "9.00", "9.00× **slower**")
    ]
    assert line_of(side_by_side, "lonely")[4:] == ["12.3 ms (fpi)", "–", "–", "–"]
    assert "on 1 of 2 games, slower on 1" in text
    assert "mean of the ratios 1.50." in text
    assert "Faster: wide (4.00 times).\n" in text
    assert "Slower: deep (9.00 times).\n" in text
    assert "Without an answer of a peer: lonely." not in text  # no peer was run on it
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


def test_the_automatic_solver_stands_for_us(tmp_path, template):
    auto = dataclasses.replace(
        results().rows[0], solver="auto", engine="host", solve_s=0.004
    )
    late = dataclasses.replace(
        auto, game="deep", status="TIMEOUT", solve_s=None, verified=None
    )
    made = results(rows=[*results().rows, auto, late])
    text, _ = report.page([made], tmp_path, template).split("#### Every solver")
    assert line_of(text, "wide")[3:] == [
        *("4.00 ms (host)", "2.00 ms (fpi)"),
        *("8.00 ms (oink npp)", "0.500", "2.00× faster"),
    ]
    assert line_of(text, "deep")[3] == "–"
    assert "Without an answer of ours: deep." in text


def test_page_without_peers_says_so(tmp_path, template):
    absent = PeerRow(game="wide", peer="oink", status="absent", reason="not found")
    text = report.page([results(peers=[absent])], tmp_path, template)
    assert "Not on this machine: oink (not found)." in text
    assert "Every peer" not in text
    assert "Without an answer of a peer" not in text
    assert "No peer was run." in report.page([results(peers=[])], tmp_path, template)


def test_page_needs_a_place_for_each_suite(tmp_path, template):
    with pytest.raises(ValueError, match="no place for the suite 'chess'"):
        report.page([results(suite="chess")], tmp_path, template)
    assert "No results yet" in report.page([], tmp_path, template)


def test_committed_pages_are_made_of_the_committed_results():
    docs = ROOT / "docs"
    found = [Results.load(path) for path in sorted(RESULTS.glob("*.json"))]
    for name, text in report.pages(found, docs).items():
        assert (docs / name).read_text() == text, "run python -m benchmarks.report"


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
    assert tables.seconds(seconds) == shown


def test_plots_are_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib")
    drawn = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        plots.plot([results(), thesis_results()], folder)
        drawn.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {
        "parity-nvidia-h200-times.svg",
        "parity-nvidia-h200-bandwidth.svg",
        "thesis-nvidia-h200-8-6.svg",
        "thesis-nvidia-h200-8-8.svg",
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


# ---- the summary -------------------------------------------------------------


def compared(sizes_and_ratios, *, backend="gpu", engine="host") -> Results:
    """Results in which `auto` takes one second times a ratio, the peer one second."""
    rows, others = [], []
    for i, (vertices, ratio) in enumerate(sizes_and_ratios):
        game = f"game {i}"
        rows.append(
            Row(
                game=game,
                vertices=vertices,
                edges=2 * vertices,
                solver="auto",
                engine=engine,
                load_s=0.5,
                solve_s=float(ratio),
                verified=True,
                status="SOLVED",
            )
        )
        others.append(
            PeerRow(
                game=game,
                peer="oink",
                solver="npp",
                parse_s=1.0,
                solve_s=1.0,
                status="ok",
                agrees=True,
            )
        )
    made = results(rows=rows, peers=others)
    made.machine["backend"] = backend
    return made


def test_bars_of_a_gpu():
    text = summary.bars(
        compared([(600_000, 0.1), (500_000, 0.025), (100, 4), (10_000_000, 0.05)])
    )
    # The geometric mean of 10, 40 and 20.
    assert line_of(text, "best peer's time over ours")[:2] == [
        "best peer's time over ours, geometric mean over games of at least 500,000 "
        "vertices (3)",
        "20.0 times",
    ]
    assert line_of(text, "our time over the best peer's, the worst of 4")[1] == (
        "4.00 times (game 2)"
    )
    assert line_of(text, "games on which")[1] == "1 of 4"
    assert line_of(text, "our time to load")[1] == "0.500 times"


def test_bars_of_a_cpu():
    made = compared([(10_000, 2), (20_000, 8), (9_999, 100)], backend="cpu")
    made.rows[1].engine = "promotion"
    text = summary.bars(made)
    start = (
        "our time over the best peer's, geometric mean over games of at least 10,000"
    )
    assert line_of(text, start)[0].endswith("vertices (2)")
    assert line_of(text, start)[1] == "4.00 times"
    served = line_of(text, "the same where the host engine serves (1)")
    assert served[1] == "2.00 times"
    assert "to load" not in text


def test_bars_need_somebody_to_compare_with():
    assert summary.bars(results(peers=[])) == ""


def test_folders_of_games_are_summed_up_apart():
    made = compared([(600_000, 0.5), (700_000, 3)])
    made.rows[1].games = 7
    best = dataclasses.replace(made.peers[1], solver=compare.BEST, solve_s=0.5)
    made.peers.append(best)
    text = summary.bars(made)
    assert "vertices (1)" in text
    start = "our time for the 7 published games together over that of oink "
    assert line_of(text, start + "best for each")[1] == "6.00 times (3.00 s, 500 ms)"
    assert line_of(text, start + "npp")[1] == "3.00 times (3.00 s, 1.00 s)"


# ---- measuring ---------------------------------------------------------------


def options(tmp_path, **changes) -> Options:
    made = Options(
        small=True, scratch=tmp_path, results=tmp_path / "results", runs=3, peers=()
    )
    return dataclasses.replace(made, **changes)


class Fake:
    """An entrant whose calls take as long as it is told."""

    def __init__(self, *seconds: float, status=Status.SOLVED):
        self.left = list(seconds)
        self.status = status
        self.asked: list[Arena] = []

    def refuses(self, arena: Arena) -> None:
        pass

    def start(self, arena: Arena, time_limit_s: float) -> Attempt:
        return self.run(arena, time_limit_s)

    def run(self, arena: Arena, time_limit_s: float) -> Attempt:
        self.asked.append(arena)
        solution = parity.solve(arena, "fpi")
        solution = dataclasses.replace(solution, status=self.status)
        return Attempt(solution, self.left.pop(0))


def test_a_solve_is_taken_apart(tmp_path):
    # First call, first run, on a copy, started again, and three warm runs.
    fake = Fake(2.0, 0.1, 0.75, 0.25, 0.3, 0.1, 0.2)
    found = run.measure(fake, ARENA, options(tmp_path))
    assert (found.compile_s, found.prepare_s) == (1.25, 0.5)
    assert found.runs == [0.3, 0.1, 0.2]
    assert found.fields()["solve_s"] == 0.2
    assert [arena is ARENA for arena in fake.asked] == [1, 1, 0, 1, 1, 1, 1]


def test_what_takes_too_long_is_not_repeated(tmp_path):
    late = Fake(15.0, status=Status.TIMEOUT)
    found = run.measure(late, ARENA, options(tmp_path))
    assert (found.runs, found.fields()["solve_s"]) == ([15.0], None)
    assert (found.compile_s, found.prepare_s) == (None, None)
    slow = run.measure(Fake(9.0, 8.0, 7.0), ARENA, options(tmp_path))
    assert slow.runs == [7.0]


def test_a_wrong_answer_is_told_and_has_no_winners(tmp_path, capsys):
    class Liar(Fake):
        def run(self, arena, time_limit_s):
            attempt = super().run(arena, time_limit_s)
            lie = dataclasses.replace(
                attempt.solution, winner=1 - np.asarray(attempt.solution.winner)
            )
            return attempt._replace(solution=lie)

    about = {"game": "tiny", "vertices": 3, "edges": 4}
    row, winner = run.row_of(about, "liar", Liar(*[0.1] * 7), ARENA, options(tmp_path))
    assert (row.status, row.verified, row.answered, winner) == (
        *("SOLVED", False, False, None),
    )


def test_the_answer_to_an_easier_game_is_undone(tmp_path):
    arena = generate.hanoi(2)
    reduced = parity.preprocess.apply(arena, ["order-reversed", "shortcuts"])
    about = run.facts("hanoi", arena)
    row, winner = run.row_of(
        about, "host", Engine("host"), arena, options(tmp_path), reduced
    )
    assert row.answered
    np.testing.assert_array_equal(winner, reference.solve(arena).winner)


def test_sequential_measures_heed_the_time():
    game = generate.jurdzinski(8, 8)
    Sequential("queue").start(game, 0.2)  # compiles, which takes longer than the limit
    attempt = Sequential("queue").run(game, 0.2)
    assert attempt.solution.status == Status.TIMEOUT
    found = run.Measured(attempt.solution, None, None, [attempt.seconds])
    assert found.fields()["lifts"] > 0
    assert Sequential("stack", alternating=True).run(ARENA, 60).solved


def test_engines_heed_the_time():
    game = generate.jurdzinski(8, 8)
    assert OnDevice("fpi").run(game, 0.05).solution.status == Status.TIMEOUT


def test_the_clock_starts_when_the_last_race_is_over(monkeypatch):
    waited, solve = [], parity.solve

    def wait():
        time.sleep(0.3)  # longer than the limit
        waited.append(True)

    def watched(*given, progress, **options):
        assert waited
        assert progress(Report("", 0, 0.0)) is None
        return solve(*given, **options)

    monkeypatch.setattr(parity, "solve", watched)
    monkeypatch.setattr(parity, "wait_for_losers", wait)
    attempt = Engine("host").run(ARENA, 0.2)
    assert attempt.solved


def test_measures_of_very_many_words_are_refused():
    size = 3000
    game = generate.random_game(1, size, num_priorities=size)
    assert OnDevice("spm").refuses(game) == "TOO_MANY_WORDS"
    assert OnDevice("zielonka").refuses(game) is None
    assert OnDevice("spm").refuses(ARENA) is None


def test_bytes_of_a_round():
    arena = generate.random_game(1, 100, num_priorities=4).pad()
    normal, game = parity.prepare(arena)
    cells, size = ops.num_cells(game), ops.num_slots(game)
    labels = game.owner.nbytes + game.priority.nbytes

    def moved(solver):
        return traffic.bytes_per_round(solver.fit(normal), game)

    # An int8 of each successor; kind and removed, winner and move, and six scalars.
    one = moved(parity.Zielonka(sweeps=1))
    three = moved(parity.Zielonka(sweeps=3))
    move = 4 * size
    assert three - one == 2 * (5 * cells + 2 * (size + move))
    # A measure of one word gathered; measure and two numbers of lifts rewritten.
    assert moved(parity.SPM(words=1)) == 8 * cells + 2 * (4 * size + 8) + labels
    implicit = moved(parity.SPM(words=1, queue="implicit"))
    assert implicit == moved(parity.SPM(words=1)) + 5 * cells + 2 * size
    # Two sweeps for each player; measure, won and trial.
    assert moved(parity.Alternating(words=1)) == (
        2 * (2 * 8 * cells + 2 * (4 + 1 + 1) * size) + labels
    )
    # Rounds of an explicit queue have no fixed length, unknown solvers no number.
    assert moved(parity.SPM(queue="explicit")) is None


def test_every_solver_has_its_bytes():
    assert set(parity.SOLVERS) <= set(traffic.ROUNDS)


# ---- games -------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    """A folder with one game, as min parity, and with a solution."""
    folder = tmp_path / "data"
    folder.mkdir()
    np.savez(
        folder / "tiny.npz",
        offsets=ARENA.row_ptr,
        targets=ARENA.dst,
        owner=ARENA.owner,
        priority=6 - ARENA.priority,
    )
    np.savez(folder / "tiny.sol.npz", winner=WINNER)
    return folder


@pytest.fixture
def published(tmp_path):
    """A folder of folders with games."""
    for name in ("one/a.pg.gz", "one/b.pg.gz", "one/c.pg.gz", "two/d.pg.gz"):
        (tmp_path / "published" / name).parent.mkdir(parents=True, exist_ok=True)
        io.save(tmp_path / "published" / name, ARENA)
    return tmp_path / "published"


def test_games_of_a_folder_are_min_parity(data):
    (game,) = games.from_data(data)
    assert (game.name, game.group) == ("tiny", "thesis")
    np.testing.assert_array_equal(reference.solve(game.make()).winner, WINNER)
    with pytest.raises(ValueError, match="no folder"):
        games.from_data(data / "nowhere")


def test_games_have_one_name_each():
    names = [game.name for game in games.all_games(None)]
    assert len(names) == len(set(names))
    assert {"jurdz5_10", "random 1e7 p=n d=1-2", "jurdzinski 50x100"} <= set(names)


def test_games_are_chosen_by_name_or_group(tmp_path):
    chosen = options(tmp_path, chosen=("random 1e5 *", "ladder")).games(
        games.all_games(None)
    )
    assert {game.group for game in chosen} == {"random", "ladder"}
    assert len(chosen) == 6 + 3


def test_random_games_are_what_their_names_say():
    (game,) = [g for g in games.RANDOM if g.name == "random 1e5 p=n d=1-2"]
    arena = game.make()
    assert arena.shape[0] == 10**5
    assert set(np.diff(arena.row_ptr)) == {1, 2}
    assert len(np.unique(arena.priority)) > 50_000


def test_a_folder_is_one_row_of_sums(published, tmp_path, install):
    install("oink", OINK)
    files = games.from_corpus(published)["one"]
    assert len(files) == 3
    oink = peers.Oink(("npp --no", "tl", "zlk"))
    rows, others = corpus.measure(
        "corpus one", files, options(tmp_path, solvers=("host",), peers=(oink,))
    )
    (row,) = rows
    assert (row.games, row.vertices, row.solver, row.answered) == (3, 9, "host", True)
    assert row.solve_s == sum(row.solve_runs)
    npp, tl, zlk, best = others
    assert npp.total_s == pytest.approx(3 * 0.00401)
    assert (tl.status, tl.solve_s, tl.agrees) == ("error", None, False)
    assert zlk.total_s == pytest.approx(3 * 3e-6)
    assert (best.solver, best.total_s) == (compare.BEST, zlk.total_s)


# ---- suites and results --------------------------------------------------------


def test_small_suites_run(tmp_path, data, published, install, capsys):
    install("oink", OINK)
    made = results(rows=[], peers=[])
    chosen = options(
        tmp_path,
        data=data,
        corpus=published,
        solvers=("auto", "host", "fpi"),
        peers=(peers.Oink(("npp --no",)),),
    )
    parity_suite.run(chosen, made)
    assert {(row.game, row.solver) for row in made.rows} == {
        *((game.name, s) for game in games.SMALL for s in ("auto", "host", "fpi")),
        *(("tiny", solver) for solver in ("auto", "host", "fpi")),
        *((f"corpus {name}", s) for name in ("one", "two") for s in ("auto", "host")),
    }
    assert all(row.answered and row.load_s for row in made.rows)
    assert {peer.agrees for peer in made.peers if peer.game == "tiny"} == {True}
    assert not (tmp_path / "results").exists()


def test_small_thesis_runs(tmp_path, data):
    made = results(rows=[], peers=[], suite="thesis")
    chosen = options(
        tmp_path,
        data=data,
        chosen=("tiny",),
        experiments=("cpu", "lengths", "race", "orders"),
    )
    thesis.run(chosen, made)
    found = {(row.experiment, row.solver): row for row in made.rows}
    assert set(found) == {
        *(("cpu", "queue"), ("cpu", "random, alternating")),
        *(("race", "host"), ("race", "race"), ("lengths", "spm explicit")),
        *(("orders", "race, original"), ("orders", "queue, alternating, order-bfs")),
    }
    watched = found.pop(("lengths", "spm explicit"))
    _, game = parity.prepare(ARENA)
    assert watched.trace[0] == [0, ops.num_slots(game)]  # at first all are queued
    assert watched.status == "SOLVED"
    assert all(row.answered for row in found.values())
    assert found["orders", "queue, alternating, order-bfs"].reduce_s is not None


@pytest.mark.sweep
def test_everything_runs_small(monkeypatch, tmp_path):
    monkeypatch.setattr(run.schema, "RESULTS", tmp_path)
    run.main(["--small", "--runs", "1", "--no-peers", "--results", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_the_command_line_is_understood(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(machine, "copy_bandwidth", lambda: 123.0)
    monkeypatch.setattr(layouts, "run", lambda *given: seen.append(given))
    results_of = ["--suite", "layouts", "--results", str(tmp_path)]
    run.main(
        [
            *(*results_of, "--games", "random 1e5*", "ladder", "--solvers", "auto"),
            *("--time-limit", "3", "--peer-solvers", "npp --no", "tl"),
        ]
    )
    run.main([*results_of, "--append", "--no-peers"])
    (first, made), (second, _) = seen
    assert first.chosen == ("random 1e5*", "ladder")
    assert first.wants("auto")
    assert not first.wants("fpi")
    assert (first.time_limit_s, first.peer_time_limit_s) == (3.0, 15.0)
    assert [peer.solvers for peer in first.peers] == [("npp --no", "tl")]
    assert second.peers == ()
    assert second.wants("fpi")
    assert Results.load(tmp_path / made.file_name) == made


def test_results_are_added(tmp_path):
    path = results().save(tmp_path / "here")
    changed = dataclasses.replace(results().rows[0], solve_s=1.0)
    fresh = dataclasses.replace(changed, game="new")
    newer = results(
        rows=[changed, fresh],
        peers=[],
        machine={**results().machine, "jax": "0.12.0"},
        created="2026-01-03",
    )
    there = newer.save(tmp_path / "there")
    merge.main([str(there), "--into", str(path.parent)])
    both = Results.load(path)
    assert [row.game for row in both.rows] == [
        *(row.game for row in results().rows),
        "new",
    ]
    assert both.rows[0].solve_s == 1.0
    assert both.peers == results().peers
    assert both.machine["jax"] == "0.11.2 and 0.12.0"
    assert both.created == "2026-01-03"
    merge.main([str(there), "--into", str(tmp_path / "empty")])
    assert Results.load(tmp_path / "empty" / path.name) == newer
    with pytest.raises(ValueError, match="cannot be added"):
        both.absorb(results(suite="layouts"))


# ---- the page of the thesis ----------------------------------------------------


def thesis_results() -> Results:
    def row(experiment, game, solver, solve_s, **more):
        made = Row(
            experiment=experiment,
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

    late = row("cpu", "flctl7", "queue", 15.0, lifts=3e6)
    late = dataclasses.replace(late, status="TIMEOUT", verified=None, solve_s=None)
    return results(
        suite="thesis",
        peers=[],
        rows=[
            late,
            row("cpu", "flctl7", "stack", 2.0),
            row("cpu", "flctl7", "queue, alternating", 0.1),
            row("cpu", "hanoi12", "queue", 4.0, lifts=8e6),
            row("cpu", "hanoi12", "stack", 8.0),
            row("cpu", "hanoi12", "queue, alternating", 6.0),
            row("queue", "hanoi12", "spm implicit", 0.1, lifts=4e6),
            row("period", "hanoi12", "every 1", 0.5),
            row("period", "hanoi12", "every 32", 0.25),
            row("shortcuts", "hanoi12", "alternating, no shortcuts", 0.5),
            row("shortcuts", "hanoi12", "alternating, 1 level", 0.25, reduce_s=2.0),
            row("lengths", "hanoi12", "spm explicit", None, trace=[[0, 99], [32, 7]]),
        ],
    )


def section(text: str, figure: str) -> str:
    return text.split(f"Figure {figure}")[1].split("\n###")[0].split("\n##")[0]


def test_page_of_the_thesis(tmp_path):
    text = thesis_page.page([thesis_results(), results()], tmp_path)
    said = "over 100 times faster with alternation (8.2)"
    assert line_of(section(text, "8.4"), "flctl7") == [
        *("flctl7", "> 15.0 s", "2.00 s", "100 ms", "> 150", said)
    ]
    assert line_of(section(text, "8.4"), "hanoi12")[-2:] == ["0.667", ""]
    # Of those that both strategies solve.
    assert line_of(section(text, "8.5"), "one player")[1:] == ["1 of 1", "2.00"]
    assert line_of(section(text, "8.6"), "32") == ["32", "250 ms"]
    assert line_of(section(text, "8.8"), "hanoi12: round") == [
        *("hanoi12: round", "0", "32")
    ]
    assert line_of(section(text, "8.11"), "hanoi12")[1:4] == ["2.00", "40.0", "20.0"]
    assert line_of(section(text, "8.11"), "flctl7")[1:3] == ["0.200", "–"]
    assert "2.00 s + 250 ms" in line_of(text, "hanoi12 | 500 ms")
    assert "Not measured yet." in section(text, "8.14")
    assert "Measured on one machine only." in section(text, "8.16")
    assert "- **NVIDIA H200**: 1 × NVIDIA H200" in text


def test_two_machines_are_set_side_by_side(tmp_path):
    slow = thesis_results()
    slow.machine["device"] = "Some CPU"
    for row in slow.rows:
        row.solve_s = row.solve_s and 10 * row.solve_s
    text = thesis_page.page([slow, thesis_results()], tmp_path)
    assert line_of(section(text, "8.16"), "hanoi12")[1:3] == ["1.00 s", "100 ms"]


def test_tools_stand_beside_our_measures(tmp_path):
    mine = thesis_results()
    theirs = results()
    for line in [*theirs.rows, *theirs.peers]:
        line.game = "hanoi12"
    theirs.peers.append(dataclasses.replace(theirs.peers[0], solver="tspm"))
    text = thesis_page.page([mine, theirs], tmp_path)
    assert line_of(section(text, "8.15"), "hanoi12")[1:5] == [
        *("100 ms (spm implicit)", "8.00 ms (tspm)", "2.00 ms (fpi)", "2.00 ms (npp)")
    ]


def test_page_of_the_thesis_without_results(tmp_path):
    text = thesis_page.page([results()], tmp_path)
    assert "No results yet" in text
    assert "<!-- figure" not in text


def test_every_reduction_exists():
    for experiment in thesis.EXPERIMENTS.values():
        for variant in experiment.variants.values():
            assert set(variant.reductions) <= set(parity.preprocess.REDUCTIONS)


def test_every_figure_has_its_experiment():
    """A column that no experiment measures would never be filled."""
    for figure in thesis_page.FIGURES.values():
        for experiment, variant in figure.columns.values():
            assert variant in thesis.EXPERIMENTS[experiment].variants


def test_tables_that_are_too_wide_are_cut():
    head = ["game", "solver", *"abcdefghij"]
    text = tables.table(head, [["x", "y", *map(str, range(10))]])
    first, second = text.split("\n\n")
    assert first.splitlines()[0] == "| game | solver | a | b | c | d | e |"
    assert second.splitlines() == [
        "| game | solver | f | g | h | i | j |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
        "| x | y | 5 | 6 | 7 | 8 | 9 |",
    ]
    narrow = ["", *"abcdefgh"]
    assert tables.table(narrow, []).splitlines()[0] == f"| {' | '.join(narrow)} |"


def test_no_table_of_a_page_is_wider_than_the_page():
    for page in (Path(__file__).parents[1] / "docs").glob("*.md"):
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("|"):
                assert line.count(" | ") < tables.MOST_COLUMNS, (page, line)

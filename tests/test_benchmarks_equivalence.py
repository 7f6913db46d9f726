"""The benchmarks' suite on spectra of equivalences: systems, steps, the page."""

import dataclasses
import json

import numpy as np
import pytest
from benchmark_results import options, results, row

from benchmarks import equivalence as suite
from benchmarks import equivalence_page, equivalence_systems, report, run
from benchmarks.equivalence_systems import lossy_queue
from benchmarks.schema import Results
from jaxgames import equivalence


def cells(text: str, start: str) -> list[str]:
    """The cells of the last line of a table that starts so."""
    line = [x for x in text.splitlines() if x.startswith(f"| {start}")][-1]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_lossy_queue():
    lts = lossy_queue(1)
    # Empty, or with one of two values: each may be put and lost, and got.
    assert (lts.num_states, lts.num_transitions) == (3, 10)
    assert equivalence.relation(lts, "traces").labels.tolist() == [0, 1, 2]


def test_systems_of_a_folder(tmp_path):
    (tmp_path / "small.csv").write_text("0,1,a\n1,0,b\n")
    (tmp_path / "other.aut").write_text('des (0,1,2)\n(0,"a",1)\n')
    (tmp_path / "vasy_18_73.csv").write_text("0,1,a\n")
    (tmp_path / "notes.txt").write_text("nothing")
    found = list(equivalence_systems.from_data(tmp_path))
    assert [each.name for each in found] == ["other", "small", "vasy_18_73"]
    assert [each.large for each in found] == [False, False, True]
    assert found[1].make().num_states == 2
    assert list(equivalence_systems.from_data(None)) == []
    with pytest.raises(ValueError, match="is no folder"):
        list(equivalence_systems.from_data(tmp_path / "nowhere"))


@pytest.mark.usefixtures("wide_pages")
def test_a_small_suite_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(equivalence_systems, "SMALL", (equivalence_systems.queue(1),))
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "small.csv").write_text("0,1,a\n0,2,a\n1,3,b\n2,3,c\n4,1,a\n")
    found = results("equivalence", backend="cpu")
    suite.run(options(tmp_path, data=folder, solvers=("host", "auto")), found)
    rows = {(each.game, each.solver): each for each in found.rows}
    assert {name for name, _ in rows} == {"lossy queue 1", "small"}
    assert all(each.answered for each in found.rows)
    small = rows["small", "host"]
    spectrum = equivalence.spectrum(equivalence.load(folder / "small.csv"))
    assert small.vertices == spectrum.stats["positions"]
    assert small.edges == spectrum.stats["moves"]
    assert small.phases["classes"] == spectrum.num_classes
    assert small.load_s is not None
    assert small.generate_s is None
    assert rows["lossy queue 1", "auto"].generate_s is not None
    steps = [getattr(small, name) for name in suite.STEPS]
    assert sum(steps) == pytest.approx(small.solve_s)
    assert "small: host: SOLVED" in capsys.readouterr().out
    text = equivalence_page.page([found], tmp_path)
    assert cells(text, "small | host")[-1] == "verified"
    assert cells(text, "small | 5 |")[1:4] == ["5", "5", str(spectrum.stats["pairs"])]


def test_a_game_that_is_too_large_has_a_row(monkeypatch, tmp_path):
    def too_large(*args, **options):
        raise equivalence.TooLargeError("no room")

    monkeypatch.setattr(suite, "build", too_large)
    found = results("equivalence")
    chosen = options(tmp_path, solvers=("host",), chosen=("lossy queue 1",))
    suite.run(chosen, found)
    assert [(each.status, each.verified) for each in found.rows] == [
        ("TOO_LARGE", None)
    ]


def test_wrong_answers_are_found(monkeypatch):
    found = suite.solved(lossy_queue(2), suite.ENGINES["host"])
    wrong = found._replace(apart=~found.apart)
    judge, right = suite.Judge(), row("a", "host", 1.0, verified=None)
    judge(right, found)
    assert right.verified is True
    other = row("a", "device", 1.0, verified=None)
    judge(other, wrong)
    assert other.verified is False
    # In a large game two engines must agree.
    monkeypatch.setattr(suite, "VERIFIED_UP_TO", 0)
    judge = suite.Judge()
    first, same, second = (
        row("a", name, 1.0, engine=name, verified=None)
        for name in ("host", "host", "fronts")
    )
    judge(first, found)
    judge(same, found)
    assert (first.verified, same.verified) == (None, None)
    judge(second, found)
    assert [each.verified for each in (first, same, second)] == [True] * 3
    # Budgets that are wrong are no certificate.
    monkeypatch.setattr(suite, "VERIFIED_UP_TO", 10**6)
    empty = tuple(np.full_like(word, 2**31 - 1) for word in found.fronts.words)
    lost = dataclasses.replace(found.fronts, words=empty)
    judge(right, found)
    refused = row("a", "host", 1.0, verified=None)
    suite.Judge()(refused, found._replace(fronts=lost))
    assert refused.verified is False


def of_a_gpu() -> Results:
    about = {
        "vertices": 59_531,
        "edges": 145_576,
        "phases": {"states": 8_879, "classes": 416, "pairs": 4_418, "bytes": 2_000_000},
    }
    return results(
        "equivalence",
        rows=[
            row("vasy_8_24", "host", 0.02, engine="host", reduce_s=0.005, **about),
            row("vasy_8_24", "device", 0.05, engine="fronts", rounds=23, **about),
            row(
                *("vasy_8_24", "auto", 0.01),
                engine="host",
                **{"build_s": 0.004, "fronts_s": 0.003, "notions_s": 0.001},
                **about,
            ),
            row("other", "auto", 0.5, engine="fronts"),
        ],
    )


@pytest.mark.usefixtures("wide_pages")
def test_the_page_holds_the_aims_against_the_results(tmp_path):
    text = equivalence_page.page([of_a_gpu()], tmp_path)
    assert cells(text, "our time on vasy_8_24")[1:] == ["10.0 ms", "less than 20.0 ms"]
    beside = cells(text, "vasy_8_24 | 8,879 | 416 | 4,418 | 59,531 | 145,576")
    assert beside[6:] == [
        *("10.0 ms (host)", "50.0 ms", "20.0 ms", "66.0 ms", "42.0 ms", "1.35 s"),
        *("6.60", "6.60× faster"),
    ]
    assert cells(text, "other | –")[-2:] == ["–", "–"]
    steps = cells(text, "vasy_8_24 | auto")
    assert steps[5:10] == ["–", "4.00 ms", "3.00 ms", "1.00 ms", "10.0 ms"]
    assert cells(text, "vasy_8_24 | device")[10] == "23"
    assert cells(text, "vasy_8_24 | device")[-2:] == ["2.00 MB", "verified"]


def test_the_aims_of_a_cpu(tmp_path):
    made = results("equivalence", rows=[row("vasy_10_56", "auto", 12.0)], backend="cpu")
    text = equivalence_page.page([made], tmp_path)
    assert cells(text, "our time on vasy_10_56")[1:] == ["12.0 s", "less than 30.0 s"]


def test_the_page_is_one_of_the_documentation(tmp_path):
    assert "equivalence" in run.SUITES
    assert "equivalence-measured.md" in report.pages([of_a_gpu()], tmp_path)
    text = equivalence_page.page([], tmp_path)
    assert "No results yet" in text
    assert "<!-- table" not in text


def test_results_keep_the_steps(tmp_path):
    path = of_a_gpu().save(tmp_path)
    assert json.loads(path.read_text())["rows"][2]["fronts_s"] == 0.003
    assert Results.load(path).rows[2].notions_s == 0.001

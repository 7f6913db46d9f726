"""The benchmarks' suite on whole calls: its inputs, its parts, its page."""

import dataclasses

import jax
import numpy as np
import pytest
from benchmark_results import options, results, row

from benchmarks import (
    call_inputs,
    calls,
    calls_page,
    graphs,
    libraries,
    models,
    mutual,
    package_calls,
    plots,
    report,
)
from benchmarks.schema import PeerRow, Results
from jaxgames import graph

PARTS = ("arena_s", "prepare_s", "solve_s", "results_s", "call_s", "first_call_s")


def cells(text: str, start: str) -> list[str]:
    """The cells of the last line of a table that starts so."""
    line = [x for x in text.splitlines() if x.startswith(f"| {start}")][-1]
    return [cell.strip() for cell in line.strip("|").split("|")]


# ---- inputs ----------------------------------------------------------------------


def pairs(arena) -> set[tuple[int, int]]:
    return set(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))


def test_a_mesh_links_neighbours_once():
    arena = graphs.mesh(1, 4)
    assert arena.shape == (64, 3 * 4 * 4 * 3)
    steps = np.abs(arena.dst.astype(int) - arena.src)
    assert set(steps.tolist()) == {1, 4, 16}
    assert not pairs(arena) & {(w, v) for v, w in pairs(arena)}
    backward = np.mean(arena.dst < arena.src)
    assert 0 < backward < 0.3
    assert np.all(graphs.mesh(1, 3, 0.0).dst > graphs.mesh(1, 3, 0.0).src)


def test_streets_lead_both_ways_but_for_some():
    arena = graphs.roads(1, 30)
    both = pairs(arena) & {(w, v) for v, w in pairs(arena)}
    assert 0.8 < len(both) / len(pairs(arena)) < 1
    assert set(np.abs(arena.dst.astype(int) - arena.src).tolist()) == {1, 30}


def test_a_recursive_matrix_has_skewed_degrees_and_no_repeats():
    arena = graphs.rmat(1, 10)
    degrees = np.diff(arena.row_ptr)
    assert arena.shape[0] == 1024
    assert len(pairs(arena)) == arena.shape[1] < 16 * 1024
    assert degrees.max() > 10 * degrees.mean()
    # The quarters: 0.76 of the edges begin in the upper half, as many end in the left.
    assert np.mean(arena.src < 512) == pytest.approx(0.76, abs=0.05)
    assert np.mean(arena.dst < 512) == pytest.approx(0.76, abs=0.05)


def steps(p: int, q: int) -> list[list[int]]:
    """The commands of a process at `p` beside one at `q`, from the case study."""
    low_to_tie, admit = 4 <= q <= 13, q >= 14
    high_or_admit = q in (4, 5) or q >= 10
    high_to_admit = q in (4, 5, 6) or q >= 9
    return {
        0: [[0], [1]],
        1: [[2]],
        2: [[3] if not low_to_tie or admit else [2]],
        3: [[4], [7]],
        4: [[5] if high_or_admit else [10]],
        5: [[6]],
        6: [[6] if high_or_admit else [9]],
        7: [[7] if high_to_admit else [8]],
        8: [[9]],
        9: [[4, 7]],
        10: [[11]],
        11: [[12] if low_to_tie else [13]],
        12: [[0]],
        13: [[14]],
        14: [[14] if q in (2, 3) else [15]],
        15: [[0]],
    }[p]


def test_mutual_exclusion_is_the_case_study():
    model, found = mutual.mutual(2), {(0, 0): 0}
    todo = [(0, 0)]
    for p, q in todo:
        ways = [[(x, q) for x in way] for way in steps(p, q)]
        ways += [[(p, x) for x in way] for way in steps(q, p)]
        for place in sum(ways, []):
            if place not in found:
                found[place] = len(found)
                todo.append(place)
    assert model.num_states == len(found)
    order = sorted(found, key=lambda place: place[0] + 16 * place[1])
    for state, (p, q) in enumerate(order):
        ways = [[(x, q) for x in way] for way in steps(p, q)]
        ways += [[(p, x) for x in way] for way in steps(q, p)]
        told = [[order[t] for t in way.tolist()] for way in model.successors(state)]
        assert told == ways
    assert set(model.probs.tolist()) == {0.5, 1.0}


def test_inputs_have_one_name_each_and_all_groups():
    named = [(each.group, each.name) for each in call_inputs.INPUTS]
    assert len(named) == len(set(named))
    for some in (call_inputs.SMALL, [x for x in call_inputs.INPUTS if not x.large]):
        assert {each.group for each in some} == set(call_inputs.GROUPS)
    known = {name for _, name in named}
    assert set(calls_page.SECONDS) <= known
    of_files = {*models.INSTANCES, *(f"graph of {name}" for name in models.INSTANCES)}
    assert {x for names in calls_page.AIMED.values() for x in names} <= known | of_files
    assert len(calls_page.GRAPHS) == len(set(calls_page.GRAPHS)) == 23


def test_large_inputs_want_an_accelerator_or_their_names(tmp_path):
    every = dataclasses.replace(options(tmp_path), small=False)
    names = {x.name for x in call_inputs.chosen(every, on_cpu=True)}
    assert "mutual 4" in names
    assert "mutual 6" not in names
    assert "mutual 6" in {x.name for x in call_inputs.chosen(every, on_cpu=False)}
    asked = dataclasses.replace(every, chosen=("mutual *",))
    assert {x.name for x in call_inputs.chosen(asked, on_cpu=True)} == {
        *("mutual 4", "mutual 5", "mutual 6")
    }


# ---- the suite -------------------------------------------------------------------


@pytest.fixture
def forgotten(monkeypatch):
    """How often programs were forgotten; other tests still need theirs."""
    times = []
    monkeypatch.setattr(calls, "forget_programs", lambda: times.append(1))
    return times


@pytest.mark.usefixtures("wide_pages")
def test_a_small_suite_times_every_part(tmp_path, forgotten, capsys):
    found = results("calls", backend="cpu")
    chosen = options(tmp_path, libraries=(), peers=(), runs=2)
    calls.run(chosen, found)
    assert {each.experiment for each in found.rows} == set(call_inputs.GROUPS)
    engines = 2 if jax.default_backend() == "cpu" else 3  # the solver of the device
    assert len(found.rows) == len(forgotten) == engines * len(call_inputs.SMALL)
    for each in found.rows:
        assert each.answered, each
        assert all(getattr(each, name) is not None for name in PARTS), each
        if each.engine == "host":
            assert (each.upload_s, each.layout_s) == (None, each.prepare_s)
        assert each.compile_s == max(0.0, each.first_call_s - each.call_s)
        assert len(each.call_runs) == 2
        assert (each.other_call_s is not None) == (each.game == "tiny game")
    assert "tiny graph: auto: SOLVED" in capsys.readouterr().out
    text = calls_page.page([found], tmp_path)
    assert cells(text, "tiny graph | 60 |")[-3:] == ["–", "–", "–"]
    assert len(cells(text, "components: tiny graph | auto")) == 14


def test_each_call_builds_anew_what_it_solves(monkeypatch):
    kind = calls.KINDS[call_inputs.COMPONENTS]
    arrays = {"indptr": np.array([0, 1, 2]), "indices": np.array([1, 0])}
    given = []

    def scc(arena, solver, **how):
        given.append(arena)
        return graph.scc(arena, solver, **how)

    kind = kind._replace(problem=kind.problem._replace(decompose=scc))
    for _ in range(2):
        assert calls.call(kind, "host", arrays).solution.count == 1
    assert given[0] is not given[1]
    calls.parts_of(kind, "host", arrays, 1, last=1.0)
    assert given[2] is given[3]  # what was solved before


def test_a_call_that_takes_too_long_has_no_time(monkeypatch, forgotten, tmp_path):
    kind = calls.KINDS[call_inputs.COMPONENTS]
    arrays = {"indptr": np.array([0, 1, 2]), "indices": np.array([1, 0])}
    late = graph.scc(([0, 1, 2], [1, 0]), "max_id", max_steps=0, throw=False)
    kind = kind._replace(problem=kind.problem._replace(decompose=lambda *_, **__: late))
    about = {"game": "late", "vertices": 2, "edges": 2}
    made, _ = calls.row_of(kind, about, "host", arrays, None, options(tmp_path))
    assert (made.status, made.call_s) == ("MAX_STEPS", None)
    assert not made.answered


def test_scipy_from_arrays_counts_the_matrix(tmp_path):
    (library,) = [
        x for x in libraries.LIBRARIES if (x.name, x.solves) == ("scipy", "graph")
    ]
    assert library.from_arrays().whole
    assert library.from_arrays().solvers == ("connected_components, from arrays",)
    arena = graph.as_arena(([0, 2, 3], [1, 1, 0]))  # an edge twice
    folder = library.save(tmp_path, arena)
    made = []
    convert = package_calls.CALLS["scipy"](folder)

    def counted():
        made.append(1)
        return convert()

    names = {**package_calls.CALLS, "scipy": lambda folder: counted}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(package_calls, "CALLS", names)
        told = package_calls.decompose("scipy", folder, 2, 10.0, whole=True)
    assert len(told["runs"]) == 2
    assert len(made) == 4  # once apart, to warm up, and for each run
    assert np.load(folder / "answer.npy").tolist() == [0, 0]


# ---- the page --------------------------------------------------------------------


def of_a_machine(backend: str) -> Results:
    def of(group, game, call_s, **more):
        return row(
            *(game, "auto", call_s / 10),
            experiment=group,
            engine="max_id",
            call_s=call_s,
            **{"compile_s": 2.0, "first_call_s": 2.0 + call_s, **more},
        )

    def peer(game, name, solve_s, **more):
        return PeerRow(
            *(),
            **{"game": game, "peer": name, "solver": "best", "status": "ok"},
            **{"solve_s": solve_s, "agrees": True, **more},
        )

    large = {"vertices": 10_000_000}
    return results(
        "calls",
        rows=[
            of("parity", "random 10,000,000 p=16", 2.0, **large),
            of("parity", "few", 1.0, vertices=100),
            of("components", "rmat 22", 0.5),
            of("components", "torus 1000x1000", 0.1),
        ],
        peers=[
            peer("random 10,000,000 p=16", "oink", 3.0, preprocess_s=1.0),
            peer("few", "oink", 0.001),
            peer("rmat 22", "scipy", 1.0),
            peer("torus 1000x1000", "scipy", 0.3),
            peer("rmat 22", "igraph", 0.1),
        ],
        backend=backend,
    )


def test_the_aims_of_a_gpu_are_of_calls(tmp_path):
    text = calls_page.page([of_a_machine("gpu")], tmp_path)
    of_parity = cells(text, "parity: the peer's time over our call, geometric mean (1)")
    assert of_parity[1:] == ["2.00 times", "at least 15 times"]
    aimed = cells(text, "components: the peer's time over our call, the worst")
    assert aimed[1:] == ["3.00 times (torus 1000x1000)", "at least once"]
    every = cells(text, "components: the same, all inputs of this page, the worst")
    assert every[1:] == ["2.00 times (rmat 22)", "–"]
    assert "| components: rmat 22 | 500 ms | at most 100 ms |" in text


def test_the_aims_of_a_cpu_are_of_calls(tmp_path):
    text = calls_page.page([of_a_machine("cpu")], tmp_path)
    found = cells(text, "components: our call over the peer's time, geometric mean (2)")
    assert found[1:] == ["0.408 times", "at most 0.5 times"]
    assert "at most 100 ms" not in text


def test_the_plot_is_of_calls_that_have_a_peer(tmp_path):
    matplotlib = pytest.importorskip("matplotlib.figure")
    figure, results = matplotlib.Figure(), of_a_machine("gpu")
    assert plots._draw_calls(figure, results)
    (axes,) = figure.axes
    shown = [label.get_text() for label in axes.get_yticklabels()]
    answered = {f"{row.experiment}: {row.game}" for row in results.rows}
    assert shown
    assert set(shown) <= answered
    ours, theirs = (line.get_xdata() for line in axes.get_lines()[::-1])
    for label, ours_s, theirs_s in zip(shown, ours, theirs, strict=True):
        game = label.partition(": ")[2]
        assert ours_s in [row.call_s for row in results.rows if row.game == game]
        assert theirs_s in [peer.total_s for peer in results.peers if peer.game == game]
    assert not plots._draw_calls(figure, dataclasses.replace(results, peers=[]))


@pytest.mark.usefixtures("wide_pages")
def test_the_page_puts_calls_first_and_compiling_in_every_row(tmp_path):
    text = calls_page.page([of_a_machine("gpu")], tmp_path)
    shown = cells(text, "rmat 22 | 10")
    assert shown[3:] == [
        *("**500 ms** (max_id)", "–", "1.00 s (scipy best)", "2.00", "2.00× faster")
    ]
    parts = cells(text, "components: rmat 22 | auto")
    assert parts[3] == "500 ms"
    assert parts[-5:-2] + parts[-1:] == ["2.00 s", "2.50 s", "–", "verified"]
    assert "calls.md" in report.pages([], tmp_path)

"""The benchmarks' suite on model checking: products, traffic, scipy, the page."""

import dataclasses
import json

import numpy as np
import pytest
from benchmark_results import options, results, row

from benchmarks import (
    cycle_traffic,
    libraries,
    ltl,
    ltl_page,
    package_calls,
    plots,
    products,
)
from benchmarks.schema import PeerRow, Results
from jaxgames import buchi, graph
from jaxgames.buchi._question import Question

# 0 -> 1 -> 2 -> 1, an edge twice, and 3 with a self-loop, from 0 too.
OFFSETS, TARGETS = [0, 3, 4, 5, 6], [1, 1, 3, 2, 1, 3]


def scipy(game, solve_s) -> PeerRow:
    return PeerRow(
        game=game,
        peer="scipy",
        version="1.0",
        solver="connected_components, test",
        solve_s=solve_s,
        status="ok",
        agrees=True,
    )


def cells(text: str, start: str) -> list[str]:
    """The cells of the last line of a table that starts so."""
    line = [x for x in text.splitlines() if x.startswith(f"| {start}")][-1]
    return [cell.strip() for cell in line.strip("|").split("|")]


# ---- products ----------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    """A folder with a violated product, one that holds, and other archives."""
    folder = tmp_path / "data"
    folder.mkdir()
    graph_of = {"offsets": OFFSETS, "targets": TARGETS}
    np.savez(folder / "bad.npz", **graph_of, accepting=[0, 0, 1, 0], initial=0)
    np.savez(
        folder / "good.npz",
        **graph_of,
        accepting=[True, False, False, False],
        prop_state=[0, 0, 0, 1],
        prop_edges=[[0, 0], [0, 1], [1, 1]],
    )
    np.savez(folder / "game.npz", **graph_of, owner=[0, 0, 0, 0])
    return folder


def test_products_of_a_folder(data):
    assert sorted(name for name, _ in products.from_files(data)) == ["bad", "good"]
    with pytest.raises(ValueError, match="is no folder"):
        list(products.from_files(data / "nowhere"))
    good = products.read(data / "good.npz")
    assert isinstance(good, Question)
    assert good.known.count == 2
    assert not buchi.accepting_cycle(good).exists


def test_models_have_one_name_each():
    names = [each.name for each in (*products.SMALL, *products.INSTANCES)]
    assert len(names) == len(set(names))


# ---- the peer ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accepting", "exists"),
    [([0], False), ([1], True), ([3], True), ([], False)],
)
def test_scipy_tests_components_that_have_a_cycle(tmp_path, accepting, exists):
    question = buchi.prepare((OFFSETS, TARGETS), accepting=np.isin(range(4), accepting))
    (library,) = [x for x in libraries.LIBRARIES if x.solves == "ltl"]
    folder = library.save(tmp_path, question)
    told = package_calls.decompose("scipy ltl", folder, 2, 10.0)
    assert len(told["runs"]) == 2
    assert np.load(folder / "answer.npy").tolist() == [exists]
    assert buchi.accepting_cycle(question).exists == exists


def test_bytes_of_a_round():
    question = buchi.prepare((OFFSETS, TARGETS), accepting=[2])
    moved = {}
    for name in buchi.SOLVERS:
        if name == "trim":
            continue
        found = buchi.accepting_cycle(question, solver=name)
        moved[name] = cycle_traffic.bytes_per_round(question, found)
    assert moved["scc"] is None
    # At the least an index, a value and a mark for each edge.
    assert moved["map"] > moved["owcty"] > 6 * len(TARGETS)
    weak = buchi.prepare((OFFSETS, TARGETS), accepting=[0, 1, 2, 3])
    found = buchi.accepting_cycle(weak, solver="trim")
    # Four numbers for each vertex, padding included.
    assert cycle_traffic.bytes_per_round(weak, found) == 4 * 4 * 8
    assert ltl.refuses(question, "trim") == "STRONG"
    assert ltl.refuses(weak, "trim") is None


# ---- the suite -----------------------------------------------------------------------


class Model:
    """A counter up to 3 that starts again, or stops."""

    propositions = {"end": lambda states: states[:, 0] == 3}
    properties = {"ends": "F end"}

    def __init__(self, wrong: bool = False):
        self.wrong = wrong

    def successors(self, states):
        xp = states.__array_namespace__()
        after = xp.stack([xp.minimum(states + 1, 3), xp.zeros_like(states)], axis=1)
        there = xp.ones(after.shape[:2], bool)
        return (after, there & (not self.wrong)) if self.wrong else (after, there)

    def state_space(self, **how):
        return graph.explore(Model().successors, np.array([0]), **how)


def test_a_small_suite_runs(monkeypatch, data, tmp_path, capsys):
    counter = products.Instance("counter", Model, ("ends",))
    monkeypatch.setattr(products, "SMALL", (counter,))
    found = results("ltl", backend="cpu")
    chosen = options(tmp_path, data=data, libraries=())
    ltl.run(
        dataclasses.replace(chosen, solvers=("host", "owcty", "explore, host")), found
    )
    rows = {(each.game, each.solver): each for each in found.rows}
    assert {key[0] for key in rows} == {"bad", "good", "counter", "counter.ends"}
    assert all(each.verified for each in found.rows)
    told = {
        game: rows[game, "owcty"].exists for game in ("bad", "good", "counter.ends")
    }
    assert told == {"bad": True, "good": False, "counter.ends": True}
    assert rows["bad", "host"].lasso_s > 0
    assert rows["good", "host"].lasso_s is None
    space = rows["counter", "explore, host"]
    assert (space.experiment, space.vertices, space.edges) == ("explore", 4, 8)
    assert "counter.ends: host: SOLVED" in capsys.readouterr().out
    text = ltl_page.page([found], tmp_path)
    assert cells(text, "bad | 4 |")[3] == "yes"
    assert cells(text, "good | 4 |")[3] == "no"


def test_a_state_space_with_other_edges_is_found():
    space = Model().state_space()
    assert ltl.verify_space(Model(), space)
    assert not ltl.verify_space(Model(wrong=True), space)


def test_products_of_a_model():
    counter = products.Instance("counter", Model, ("ends",))
    ((name, product),) = counter.products(counter.model.state_space())
    assert name == "counter.ends"
    # The end is in it, and has no edge there.
    assert (product.num_vertices, product.num_edges) == (4, 6)


# ---- the page ------------------------------------------------------------------------


def of_a_gpu() -> Results:
    large = {"vertices": 26_000_000, "edges": 84_000_000}
    some = {"vertices": 2_000_000, "edges": 11_000_000}
    return results(
        "ltl",
        rows=[
            row("leader-6.elect", "host", 5.0, exists=False, **large),
            row(
                *("leader-6.elect", "trim", 0.05),
                exists=False,
                rounds=10,
                bytes_per_round=3_000_000_000,
                phases={"trim": 10},
                **large,
            ),
            row("leader-6.elect", "auto", 0.1, engine="trim", exists=False, **large),
            row(
                *("peterson-4.someone", "auto", 0.05),
                exists=True,
                lasso_s=0.02,
                engine="map",
                **some,
            ),
            row("leader-6", "explore, host", 20.0, experiment="explore", **large),
            row("leader-6", "explore, device", 1.0, experiment="explore", **large),
        ],
        peers=[scipy("leader-6.elect", 4.0), scipy("peterson-4.someone", 0.4)],
    )


def test_the_aims_of_a_gpu(tmp_path):
    text = ltl_page.page([of_a_gpu()], tmp_path)
    ours = "scipy's time over ours, products of at least "
    assert cells(text, f"{ours}1,000,000 vertices, the worst")[1:] == [
        "8.00 times (peterson-4.someone)",
        "at least 10 times",
    ]
    assert cells(text, f"{ours}20,000,000 vertices, the worst")[1:] == [
        "40.0 times (leader-6.elect)",
        "at least 30 times",
    ]
    assert cells(text, "states a second on the device, leader-6")[1:] == [
        *("26.0 M", "at least 20 M")
    ]


def test_the_aims_of_a_cpu(tmp_path):
    some = {"vertices": 20_000, "edges": 80_000}
    made = results(
        "ltl",
        rows=[row("a", "host", 0.2, **some), row("a", "map", 0.6, **some)],
        peers=[scipy("a", 0.2)],
        backend="cpu",
    )
    text = ltl_page.page([made], tmp_path)
    ours = cells(text, "time of our fastest array program over scipy's, products")
    assert ours[1:] == ["3.00 times (a)", "at most 3 times"]
    assert cells(text, "time of the host engine over scipy's")[1:] == [
        *("1.00 times (a)", "at most 1.2 times")
    ]


@pytest.mark.usefixtures("wide_pages")
def test_the_page_shows_every_row(tmp_path):
    text = ltl_page.page([of_a_gpu()], tmp_path)
    assert cells(text, "leader-6.elect | 26")[3:] == [
        *("no", "100 ms (trim)", "50.0 ms (trim)", "5.00 s", "4.00 s", "40.0"),
        "40.0× faster",
    ]
    # 10 rounds of 3 GB in 50 ms are 600 GB/s, of 4000.
    assert cells(text, "leader-6.elect | trim")[-6:] == [
        *("10", "trim 10", "3.00 GB", "600", "15%", "verified")
    ]
    assert "20.0 ms" in cells(text, "peterson-4.someone | auto")
    assert cells(text, "leader-6 | device")[-2:] == ["26.0", "verified"]
    assert "Peers: scipy 1.0." in text


def test_the_page_without_results(tmp_path):
    text = ltl_page.page([], tmp_path)
    assert "No results yet" in text
    assert "<!-- table" not in text


def test_plots_show_products_only(tmp_path):
    pytest.importorskip("matplotlib")
    plots.plot([of_a_gpu()], tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"ltl-nvidia-h200-{x}.svg" for x in ("times", "bandwidth")}


def test_results_keep_what_is_told_of_cycles(tmp_path):
    path = of_a_gpu().save(tmp_path)
    assert json.loads(path.read_text())["rows"][3]["lasso_s"] == 0.02
    assert Results.load(path).rows[3].exists is True

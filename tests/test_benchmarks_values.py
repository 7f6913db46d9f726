"""The benchmarks' suite of values, and the page that shows it and samples."""

from benchmark_results import options, results, row

from benchmarks import run, values, values_page
from benchmarks.schema import PeerRow


def storm(game, solve_s, **more) -> PeerRow:
    return PeerRow(game=game, peer="stormpy", status="ok", solve_s=solve_s, **more)


def test_a_small_model_is_measured_and_verified(tmp_path):
    found = results("values")
    values.run(options(tmp_path), found)
    (measured,) = found.rows
    assert (measured.status, measured.verified) == ("SOLVED", True)
    assert measured.solve_runs is not None
    assert len(measured.solve_runs) >= 3


def test_each_suite_is_named_once():
    assert len(set(run.SUITES)) == len(run.SUITES)


def test_the_page_says_how_far_aims_are_reached(tmp_path):
    def line(game, states, solve_s, **more):
        how = {"experiment": values.CHECKED, "solver": "auto", **more}
        return row(game, how.pop("solver"), solve_s, vertices=states, **how)

    rows = [
        line("large: P", 2_000_000, 0.1),
        line("medium: P", 20_000, 0.04),
        line("small: P", 100, 9.0),
        line("build large", 10_000_000, 0.5, experiment=values.BUILT),
    ]
    peers = [
        storm("large: P", 3.0),
        storm("medium: P", 0.02),
        storm("small: P", 0.1),
        storm("build large", 50.0),
    ]
    on_gpu = results("values", rows, peers)
    on_cpu = results("values", rows, peers, backend="cpu")
    sampled = [
        line("grid: steps", 100, 2.0, experiment="values", games=1000),
        line("grid: steps", 100, 3.0, experiment="gradient", games=1000),
    ]
    both = results("samples", sampled, [storm("grid: steps", 1.0, games=10)])
    text = values_page.page([on_gpu, on_cpu, both], tmp_path)
    for said in (
        "1,000,000 states and more, geometric mean (1) | 30.0 | at least 20",
        "10,000 states and more, geometric mean (2) | 0.258 | at most 1",
        "10,000 states and more, the worst | 2.00 | at most 2",
        "states a second, build large | 20.0 M | at least 20 M",
        "Storm's time over ours, grid: steps | 50.0 | at least 100",
        "| small: P | 100 | 20 |",
    ):
        assert said in text, said

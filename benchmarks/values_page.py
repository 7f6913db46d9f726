"""The page on probabilities and rewards: models, samples and programs, beside Storm.

The prose stands in the template, with a line such as `<!-- table: values-models -->`
where a table goes, once for each machine.
"""

import statistics
from collections.abc import Iterable
from pathlib import Path

from benchmarks.compare import best_peer, by_game, ratio
from benchmarks.decomposition_bars import bars_table
from benchmarks.decomposition_page import Tables, filled
from benchmarks.schema import PeerRow, Results, Row
from benchmarks.tables import count, number, seconds, table, verdict
from benchmarks.values import BUILT, CHECKED

VALUES, SAMPLES = "values", "samples"
SUITES = VALUES, SAMPLES
TEMPLATE = Path(__file__).parent / "values_template.md"

OF_CPU, OF_GPU = 10_000, 1_000_000
"""States from which models are in the aims."""


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page.
        template: the prose.
    """
    return filled(results, docs, template, TABLES)


def _lines(results: Results, experiment: str) -> list[tuple[Row, PeerRow | None]]:
    """The rows of one experiment, each beside its peer."""
    return [
        (row, best_peer(peers))
        for _, rows, peers in by_game(results)
        for row in rows
        if row.experiment == experiment
    ]


def _times(lines: Iterable[tuple[Row, PeerRow | None]]) -> list[float]:
    """How many times longer the peers took."""
    found = (ratio(*line) for line in lines)
    return [1 / each for each in found if each]


def _bars(results: Results) -> str:
    """A table of the aims, and how far they are reached."""
    on_gpu = results.machine["backend"] == "gpu"
    least = OF_GPU if on_gpu else OF_CPU
    lines = _lines(results, CHECKED)
    times = _times(x for x in lines if (x[0].vertices or 0) >= least)
    found = []
    if times and on_gpu:
        mean = statistics.geometric_mean(times)
        what = f"Storm's time over ours, models of {count(least)} states and more"
        found += [
            [f"{what}, geometric mean ({len(times)})", number(mean), "at least 20"],
            [f"{what}, the least", number(min(times)), "none named"],
        ]
    elif times:
        shares = [1 / each for each in times]
        mean = statistics.geometric_mean(shares)
        what = f"our time over Storm's, models of {count(least)} states and more"
        found += [
            [f"{what}, geometric mean ({len(times)})", number(mean), "at most 1"],
            [f"{what}, the worst", number(max(shares)), "at most 2"],
        ]
    for row, _ in _lines(results, BUILT):
        if on_gpu and row.solve_s:
            speed = f"{number((row.vertices or 0) / row.solve_s / 1e6)} M"
            found.append([f"states a second, {row.game}", speed, "at least 20 M"])
    return bars_table(found) if found else ""


def _speed_of_samples(results: Results) -> str:
    on_gpu = results.machine["backend"] == "gpu"
    found = [
        [f"Storm's time over ours, {row.game}", number(1 / over), "at least 100"]
        for row, peer in _lines(results, "values")
        if (over := ratio(row, peer)) and on_gpu
    ]
    return bars_table(found) if found else ""


def _models(results: Results) -> str:
    """A line for each model and property."""

    def line(row: Row, peer: PeerRow | None) -> list[str]:
        compared = ratio(row, peer)
        return [
            row.game.replace("|", "\\|"),
            count(row.vertices),
            count(row.edges),
            seconds(row.first_call_s),
            seconds(row.solve_s),
            seconds(peer.total_s if peer else None),
            number(compared),
            verdict(compared),
        ]

    lines = [line(*each) for each in _lines(results, CHECKED)]
    head = "model and property,states,branches,first call,call,Storm,ratio,"
    return table(head.split(","), lines) if lines else ""


def _samples(results: Results) -> str:
    """A line for each question of a model with samples."""

    def line(row: Row, peer: PeerRow | None) -> list[str]:
        peer = peer if row.experiment == "values" else None
        each = peer and peer.total_s and peer.games and peer.total_s / peer.games
        compared = ratio(row, peer)
        return [
            row.game,
            row.experiment or "",
            count(row.rounds),
            seconds(row.compile_s),
            seconds(row.solve_s),
            seconds(row.solve_s and row.games and row.solve_s / row.games),
            seconds(each),
            number(compared and 1 / compared),
        ]

    lines = [
        line(*each) for what in ("values", "gradient") for each in _lines(results, what)
    ]
    head = "model and question,what,rounds,compile,all,a sample,Storm a sample,times"
    return table(head.split(","), lines) if lines else ""


def _programs(results: Results) -> str:
    """A line for each program that was built."""

    def line(row: Row, peer: PeerRow | None) -> list[str]:
        states = row.vertices or 0
        return [
            row.game,
            row.solver or "",
            count(states),
            count(row.edges),
            seconds(row.first_call_s),
            seconds(row.solve_s),
            number(row.solve_s and states / row.solve_s / 1e6),
            seconds(peer.total_s if peer else None),
            number(ratio(row, peer)),
        ]

    lines = [line(*each) for each in _lines(results, BUILT)]
    head = (
        "program,engine,states,branches,first build,build,M states a second,Storm,ratio"
    )
    return table(head.split(","), lines) if lines else ""


TABLES: Tables = {
    "values-bars": (VALUES, _bars),
    "samples-bars": (SAMPLES, _speed_of_samples),
    "values-models": (VALUES, _models),
    "values-samples": (SAMPLES, _samples),
    "values-programs": (VALUES, _programs),
}

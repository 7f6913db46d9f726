"""The page on model checking: accepting cycles beside scipy, and state spaces.

The prose stands in the template, with a line such as `<!-- table: ltl -->` where a
table goes, once for each machine.
"""

import dataclasses
from pathlib import Path

from benchmarks.compare import by_game, entry
from benchmarks.decomposition_bars import (
    SCIPY,
    Game,
    bars_table,
    mean_and_worst,
    of_device,
    of_host,
    over_scipy,
    peer_of,
    ratios,
    to_scipy,
)
from benchmarks.decomposition_page import (
    Tables,
    answer,
    filled,
    moved,
    named,
    peer_cell,
    peer_table,
    time_of,
    with_engine,
)
from benchmarks.ltl import EXPLORE, states_per_s
from benchmarks.schema import Results, Row
from benchmarks.tables import (
    DASH,
    count,
    number,
    seconds,
    table,
    verdict,
)

SUITE = "ltl"
TEMPLATE = Path(__file__).parent / "ltl_template.md"

LARGE = 1_000_000
"""Vertices of a product from which a GPU should be far ahead."""

LARGEST = 20_000_000
"""Vertices from which it should be farther ahead."""

SOME = 10_000
"""Vertices from which a CPU should be not far behind."""


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page; plots are shown if they are in its `assets`.
        template: the prose.
    """
    return filled(results, docs, template, TABLES)


def products_of(results: Results) -> Results:
    """The same without the rows on state spaces."""
    rows = [row for row in results.rows if row.experiment is None]
    return dataclasses.replace(results, rows=rows)


# ---- the aims --------------------------------------------------------------------


def _bars(results: Results) -> str:
    """A table of the aims, and how far they are reached."""
    games = by_game(products_of(results))
    if results.machine["backend"] == "cpu":
        return bars_table(_cpu_bars(games))
    return bars_table(_gpu_bars(games) + _explore_bars(results))


def _gpu_bars(games: list[Game]) -> list[list[str]]:
    lines = []
    for least, times in ((LARGE, 10), (LARGEST, 30)):
        large = [game for game in games if game[1][0].vertices >= least]
        lines += mean_and_worst(
            f"scipy's time over ours, products of at least {least:,} vertices",
            ratios(large, over_scipy),
            f"at least {times} times",
            least=True,
        )
    return lines


def _cpu_bars(games: list[Game]) -> list[list[str]]:
    some = [game for game in games if game[1][0].vertices >= SOME]
    lines = []
    for whose, ours, aim in (
        ("our fastest array program", of_device, "3 times"),
        ("the host engine", of_host, "1.2 times"),
    ):
        found = ratios(some, lambda game, ours=ours: to_scipy(ours(game[1]), game))
        lines += mean_and_worst(
            f"time of {whose} over scipy's, products of at least {SOME:,} vertices",
            found,
            f"at most {aim}",
        )
    return lines


def _explore_bars(results: Results) -> list[list[str]]:
    lines = []
    for game, rows, _ in by_game(_spaces_of(results)):
        fastest = of_device(rows)
        if fastest is not None and fastest.vertices >= LARGE:
            rate = _rate(fastest)
            lines.append(
                [
                    f"states a second on the device, {game}, {count(fastest.vertices)} "
                    "states",
                    f"{number(rate)} M" if rate else DASH,
                    "at least 20 M",
                ]
            )
    return lines


# ---- everything ------------------------------------------------------------------


def _side_by_side(results: Results) -> str:
    """Every product: ours, and scipy."""

    def line(game: Game) -> list[str]:
        name, rows, peers = game
        ours, scipy = entry(rows), peer_of(peers, SCIPY)
        compared = to_scipy(ours, game) if scipy else None
        found = [row.exists for row in rows if row.exists is not None]
        return [
            name,
            count(rows[0].vertices),
            count(rows[0].edges),
            {True: "yes", False: "no"}[found[0]] if found else DASH,
            with_engine(ours),
            named(of_device(rows)),
            time_of(of_host(rows)),
            peer_cell(peers, SCIPY),
            number(1 / compared if compared else None),
            verdict(compared),
        ]

    head = (
        ",vertices,edges,cycle,jaxgames,our fastest on the device,compiled,scipy,"
        "scipy / ours,"
    )
    games = by_game(products_of(results))
    return table(head.split(","), [line(game) for game in games]) if games else ""


def _solvers(results: Results) -> str:
    """Every row of ours, with its rounds and what they move."""

    def line(row: Row) -> list[str]:
        return [
            row.game,
            row.solver,
            row.engine or DASH,
            seconds(row.generate_s if row.load_s is None else row.load_s),
            *map(seconds, (row.prepare_s, row.compile_s, row.solve_s, row.lasso_s)),
            *moved(row, results.copy_bandwidth_gb_s),
            answer(row),
        ]

    rows = products_of(results).rows
    head = (
        ",solver,engine,make,prepare,compile,solve,lasso,rounds,of which,a round,GB/s,"
        "of copy,answer"
    )
    return table(head.split(","), [line(row) for row in rows]) if rows else ""


def _spaces(results: Results) -> str:
    """Every state space, by each engine."""

    def line(row: Row) -> list[str]:
        return [
            row.game,
            row.solver.removeprefix(f"{EXPLORE}, "),
            count(row.vertices),
            count(row.edges),
            *map(seconds, (row.compile_s, row.solve_s)),
            number(_rate(row)),
            answer(row),
        ]

    rows = _spaces_of(results).rows
    head = "model,engine,states,edges,compile,explore,M states/s,answer"
    return table(head.split(","), [line(row) for row in rows]) if rows else ""


def _spaces_of(results: Results) -> Results:
    rows = [row for row in results.rows if row.experiment == EXPLORE]
    return dataclasses.replace(results, rows=rows)


def _rate(row: Row) -> float | None:
    """Millions of states per second."""
    found = states_per_s(row.vertices, row.solve_s)
    return None if found is None else found / 1e6


TABLES: Tables = {
    "ltl-bars": (SUITE, _bars),
    "ltl": (SUITE, _side_by_side),
    "ltl-solvers": (SUITE, _solvers),
    "ltl-spaces": (SUITE, _spaces),
    "ltl-peers": (SUITE, peer_table),
}

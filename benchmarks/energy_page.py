"""The page on energy games: ours beside the paper's program and that of FVI's authors.

The prose stands in the template, with a line such as `<!-- table: energy -->` where a
table goes, once for each machine.
"""

from pathlib import Path

from benchmarks.compare import best_peer, by_game, entry, ratio
from benchmarks.decomposition_bars import (
    Game,
    bars_table,
    mean_and_worst,
    of_device,
    of_host,
    over_sequential,
    ratios,
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
from benchmarks.schema import Results, Row
from benchmarks.tables import DASH, count, number, seconds, table, verdict

SUITE = "energy"
TEMPLATE = Path(__file__).parent / "energy_template.md"

HEADLINE = 36
"""Times that the paper's GPU is faster than its sequential program."""

LARGE = 1_000_000
"""Vertices from which a GPU should be as far ahead."""

LIMITS = {"hanoi 12": 0.05, "hanoi 13": 0.2, "ieee1394_prop4": 0.02}
"""Seconds that instances of the paper should take at most on a GPU."""

PAPER = {
    "hanoi 12": ("M3", 3.5),
    "hanoi 13": ("M4", 11.8),
    "ieee1394_prop4": ("M11", 4.4),
}
"""By our name, the paper's name and its seconds on a K80."""

WEAK = "ring"
"""Beginning of the names of the family that is hard for us."""


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page; plots are shown if they are in its `assets`.
        template: the prose.
    """
    return filled(results, docs, template, TABLES)


def _bars(results: Results) -> str:
    """A table of the aims, and how far they are reached."""
    games = list(by_game(results))
    if results.machine["backend"] == "cpu":
        return bars_table(_cpu_bars(games))
    return bars_table(_gpu_bars(games))


def _gpu_bars(games: list[Game]) -> list[list[str]]:
    large = [
        game
        for game in games
        if game[0].startswith("random") and game[1][0].vertices >= LARGE
    ]
    lines = mean_and_worst(
        "time of the fastest sequential program over ours, random games of at least "
        f"{LARGE:,} vertices",
        ratios(large, over_sequential),
        f"at least {HEADLINE} times",
        least=True,
    )
    for name, rows, _ in games:
        if name in LIMITS:
            lines.append(
                [
                    f"our time on {name}, {PAPER[name][0]} of the paper",
                    time_of(entry(rows)),
                    f"less than {seconds(LIMITS[name])}",
                ]
            )
    return lines


def _cpu_bars(games: list[Game]) -> list[list[str]]:
    lines = []
    for whose, ours, aim in (
        ("our fastest array program", of_device, 3),
        ("the host engine", of_host, 1.3),
    ):
        lines += mean_and_worst(
            f"time of {whose} over that of the fastest other program",
            ratios(
                games, lambda game, ours=ours: ratio(ours(game[1]), best_peer(game[2]))
            ),
            f"at most {aim} times",
        )
    return lines


def _paper(results: Results) -> str:
    """The instances that the paper measured too."""
    lines = [
        [
            PAPER[name][0],
            name,
            count(rows[0].vertices),
            count(rows[0].edges),
            seconds(PAPER[name][1]),
            with_engine(entry(rows)),
            named(of_device(rows)),
            time_of(of_host(rows)),
        ]
        for name, rows, _ in by_game(results)
        if name in PAPER
    ]
    head = "paper,here,vertices,edges,K80,jaxgames,our fastest on the device,compiled"
    return table(head.split(","), lines) if lines else ""


def _side_by_side(results: Results) -> str:
    """Every game: ours, and each other program."""
    names = list(
        dict.fromkeys(peer.peer for peer in results.peers if peer.status != "absent")
    )

    def line(game: Game) -> list[str]:
        name, rows, peers = game
        ours = entry(rows)
        compared = over_sequential(game)
        return [
            name,
            count(rows[0].vertices),
            count(rows[0].edges),
            with_engine(ours),
            named(of_device(rows)),
            time_of(of_host(rows)),
            *(_best_cell(peers, each) for each in names),
            number(compared),
            verdict(1 / compared if compared else None),
        ]

    head = [
        *("", "vertices", "edges", "jaxgames", "our fastest on the device"),
        *("compiled, one core", *names, "sequential / ours", ""),
    ]
    return table(head, [line(game) for game in by_game(results)])


def _best_cell(peers, name: str) -> str:
    """The fastest solver of a program, or what became of it."""
    mine = [peer for peer in peers if peer.peer == name]
    found = best_peer(mine)
    return peer_cell([found] if found else mine, name)


def _weak(results: Results) -> str:
    """What the hard family costs."""
    rows = [row for row in results.rows if row.game.startswith(WEAK)]
    lines = [
        [
            row.game,
            row.solver,
            seconds(row.solve_s),
            count(row.phases.get("turns")),
            count(row.rounds),
            answer(row),
        ]
        for row in rows
    ]
    head = ",solver,solve,turns,rounds,answer"
    return table(head.split(","), lines) if lines else ""


def _solvers(results: Results) -> str:
    """Every row of ours, with its rounds and what they move."""

    def line(row: Row) -> list[str]:
        return [
            row.game,
            row.solver,
            row.engine or DASH,
            seconds(row.generate_s if row.load_s is None else row.load_s),
            *map(seconds, (row.prepare_s, row.compile_s, row.solve_s)),
            *moved(row, results.copy_bandwidth_gb_s),
            answer(row),
        ]

    head = (
        ",solver,engine,make,prepare,compile,solve,rounds,of which,a round,GB/s,"
        "of copy,answer"
    )
    return table(head.split(","), [line(row) for row in results.rows])


TABLES: Tables = {
    "energy-bars": (SUITE, _bars),
    "energy-paper": (SUITE, _paper),
    "energy": (SUITE, _side_by_side),
    "energy-weak": (SUITE, _weak),
    "energy-solvers": (SUITE, _solvers),
    "energy-peers": (SUITE, peer_table),
}

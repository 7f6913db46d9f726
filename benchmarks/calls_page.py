"""The page on whole calls: ours, part by part, beside other programs by one clock.

The prose stands in the template, with a line such as `<!-- table: parity -->` where a
table goes, once for each machine.
"""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path

from benchmarks.call_inputs import (
    COMPONENTS,
    CYCLES,
    END_COMPONENTS,
    GROUPS,
    PARITY,
)
from benchmarks.compare import AUTO, HOST, best_peer, by_game
from benchmarks.decomposition_bars import Game, bars_table, mean_and_worst, ratios
from benchmarks.decomposition_page import Tables, answer, filled, peer_table
from benchmarks.schema import PeerRow, Results, Row
from benchmarks.tables import DASH, count, number, seconds, table, verdict

SUITE = "calls"
TEMPLATE = Path(__file__).parent / "calls_template.md"

LARGE = 500_000
"""Vertices of a game from which a GPU should be far ahead."""

ON_A_GPU = {
    PARITY: ("15 times", "once"),
    COMPONENTS: ("10 times", "once"),
    END_COMPONENTS: ("20 times", "10 times"),
    CYCLES: ("15 times", None),
}
"""How often a peer's time should be ours, at the least: on average, and at worst."""

ON_A_CPU = {PARITY: "0.35", COMPONENTS: "0.5", END_COMPONENTS: "0.4"}
"""What part of a peer's time ours should be, at most, on two cores."""

SECONDS = {
    "random 10,000,000 p=16": 0.15,
    "elevator 7 unfair": 0.012,
    "random 10,000,000 d=6": 0.12,
    "rmat 22": 0.1,
    "mutual 6": 0.06,
    "leader-6.elect": 0.13,
    "random 10,000,000 W=100": 0.3,
}
"""What a call should take on one NVIDIA H200, at most."""

MODELS = (
    *("phil6", "mutual 6", "wlan6_t10", "coin6_k8", "csma3_4", "wlan4_t2500"),
    *("coin6_k2", "leader7", "dining_crypt8"),
)
GRAPHS = (
    *("path 1,000,000", "cycle 1,000,000", "walk 1,000,000", "torus 1000x1000"),
    *(f"{kind} 1,000,000 d={d}" for kind in ("random", "local") for d in (1.5, 3, 6)),
    *(f"{kind} 10,000,000 d={d}" for kind in ("random", "local") for d in (3, 6)),
    *(f"graph of {model}" for model in MODELS),
)
PRODUCTS = (
    *("anderson-4-last.fair", "phils-11-left.anyeat", "leader-5.elect"),
    *("phils-13-left.anyeat", "anderson-5.recur0", "peterson-4.someone"),
    *("peterson-4.recur0", "elevator-10-clever.pass1"),
    *("elevator-10-clever.serve1", "leader-6.elect"),
)
AIMED = {COMPONENTS: GRAPHS, END_COMPONENTS: MODELS, CYCLES: PRODUCTS}
"""Inputs that the aims on a GPU were set for: those of the other pages, which have
hundreds of thousands of vertices. All others are measured beside them."""

PEERS = {PARITY: "oink", END_COMPONENTS: "stormpy"}
"""Whose time counts; SciPy's for the other groups."""


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page; plots are shown if they are in its `assets`.
        template: the prose.
    """
    return filled(results, docs, template, TABLES)


def of_group(results: Results, group: str) -> Results:
    """The rows of a group of inputs, and the peers on these."""
    rows = [row for row in results.rows if row.experiment == group]
    games = {row.game for row in rows}
    peers = [peer for peer in results.peers if peer.game in games]
    return dataclasses.replace(results, rows=rows, peers=peers)


def called(rows: list[Row], solver: str = AUTO) -> Row | None:
    """The row of a solver that gave a verified answer."""
    for row in rows:
        if row.solver == solver and row.answered and row.call_s:
            return row
    return None


def rival(group: str, peers: list[PeerRow]) -> PeerRow | None:
    """The fastest of the solvers of the peer that counts."""
    name = PEERS.get(group, "scipy")
    return best_peer(peer for peer in peers if peer.peer == name)


def ahead(group: str, game: Game) -> float | None:
    """The peer's time over that of our call."""
    ours, theirs = called(game[1]), rival(group, game[2])
    if ours is None or theirs is None or not (ours.call_s and theirs.total_s):
        return None
    return theirs.total_s / ours.call_s


def _behind(group: str, game: Game) -> float | None:
    found = ahead(group, game)
    return None if found is None else 1 / found


# ---- the aims --------------------------------------------------------------------


def _bars(results: Results) -> str:
    """A table of the aims, and how far they are reached."""
    lines: list[list[str]] = []
    on_cpu = results.machine["backend"] == "cpu"
    for group in GROUPS:
        games = list(by_game(of_group(results, group)))
        if on_cpu and group in ON_A_CPU:
            lines += mean_and_worst(
                f"{group}: our call over the peer's time",
                ratios(games, functools.partial(_behind, group)),
                f"at most {ON_A_CPU[group]} times",
            )
        elif not on_cpu and group in ON_A_GPU:
            mean, worst = ON_A_GPU[group]
            aimed = [game for game in games if _is_aimed(group, game)]
            lines += mean_and_worst(
                f"{group}: the peer's time over our call",
                ratios(aimed, functools.partial(ahead, group)),
                f"at least {mean}",
                least=True,
                worst_aim=worst and f"at least {worst}",
            )
            lines += mean_and_worst(
                f"{group}: the same, all inputs of this page",
                ratios(games, functools.partial(ahead, group)),
                DASH,
                least=True,
            )
        for game, rows, _ in [] if on_cpu else games:
            ours = called(rows)
            if ours is not None and game in SECONDS:
                aim = f"at most {seconds(SECONDS[game])}"
                lines.append([f"{group}: {game}", seconds(ours.call_s), aim])
    return bars_table(lines)


def _is_aimed(group: str, game: Game) -> bool:
    """Whether the aim of a group on a GPU is for this input."""
    name, rows, _ = game
    return rows[0].vertices >= LARGE if group == PARITY else name in AIMED[group]


# ---- everything ------------------------------------------------------------------


def _side_by_side(group: str, results: Results) -> str:
    """Every input of a group: the call, and the peer."""

    def line(game: Game) -> list[str]:
        name, rows, peers = game
        ours, on_host = called(rows), called(rows, HOST)
        theirs, compared = rival(group, peers), ahead(group, game)
        return [
            name,
            count(rows[0].vertices),
            count(rows[0].edges),
            f"**{seconds(ours.call_s)}** ({ours.engine})" if ours else DASH,
            seconds(on_host.call_s if on_host else None),
            f"{seconds(theirs.total_s)} ({theirs.peer} {theirs.solver})"
            if theirs
            else DASH,
            number(compared),
            verdict(1 / compared if compared else None),
        ]

    games = by_game(of_group(results, group))
    head = ",vertices,edges,the call,with the host engine,best peer,peer / ours,"
    return table(head.split(","), [line(game) for game in games]) if games else ""


def _parts(results: Results) -> str:
    """Every row of ours, with its parts."""

    def line(row: Row) -> list[str]:
        times = (
            row.call_s,
            row.arena_s,
            row.upload_s,
            row.layout_s,
            row.solve_s,
            row.results_s,
            row.compile_s,
            row.first_call_s,
            row.other_call_s,
            row.generate_s,
        )
        return [
            f"{row.experiment}: {row.game}",
            row.solver,
            row.engine or DASH,
            *map(seconds, times),
            answer(row),
        ]

    head = (
        ",solver,engine,**the call**,build,upload,layout,solve,results,compile,"
        "first call,another input,make,answer"
    )
    rows = results.rows
    return table(head.split(","), [line(row) for row in rows]) if rows else ""


def _of(group: str) -> tuple[str, Callable[[Results], str]]:
    return SUITE, functools.partial(_side_by_side, group)


def _compared(results: Results) -> str:
    """How many inputs have a peer, and on how many of these our call is the faster."""
    found = [
        ratio
        for group in GROUPS
        for game in by_game(of_group(results, group))
        if (ratio := ahead(group, game)) is not None
    ]
    won = sum(ratio >= 1 for ratio in found)
    return f"Our call is the faster one on {won} of {len(found)} inputs." * bool(found)


TABLES: Tables = {
    "calls": (SUITE, _compared),
    "calls-bars": (SUITE, _bars),
    **{group.replace(" ", "-"): _of(group) for group in GROUPS},
    "calls-parts": (SUITE, _parts),
    "calls-peers": (SUITE, peer_table),
}

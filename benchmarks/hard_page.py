"""The page on hard games: families beside Oink, and games with more than parity.

The prose stands in the template, with a line such as `<!-- table: hard-families -->`
where a table goes, once for each machine.
"""

from pathlib import Path

from benchmarks.compare import best_peer, by_game, ratio
from benchmarks.decomposition_bars import bars_table
from benchmarks.decomposition_page import Tables, filled
from benchmarks.hard import ALONE, OINK, PRODUCT, QUASI, RECURSION
from benchmarks.hard_games import ENERGY, FAMILIES, STREETT
from benchmarks.schema import PeerRow, Results, Row
from benchmarks.tables import count, number, seconds, table, verdict

SUITE = "hard"
TEMPLATE = Path(__file__).parent / "hard_template.md"

AUTO = "auto"

SLOWER, UNSEEN_S = 5, 0.02
"""Times that Oink's best may be faster on a family, unless we take less than that."""

MOST_S = 2.0
"""Seconds that a game of up to 5,000 vertices may take."""

TIMES = 20
"""Times that an energy parity game may take longer than its energy game alone."""


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page.
        template: the prose.
    """
    return filled(results, docs, template, TABLES)


def _games(results: Results, group: str) -> list[tuple[str, dict, list[PeerRow]]]:
    """The rows of each game of a group by solver, and its peers."""
    return [
        (name, {row.solver: row for row in rows}, peers)
        for name, rows, peers in by_game(results)
        if rows[0].experiment == group
    ]


def _over(one: Row | None, other: Row | None) -> float | None:
    """Time of a solve over that of another."""
    if one is None or other is None or not (one.solve_s and other.solve_s):
        return None
    return one.solve_s / other.solve_s


def _checked(row: Row | None) -> float | None:
    """Time of a check over that of the solve."""
    if row is None or not row.solve_s or row.verify_s is None:
        return None
    return row.verify_s / row.solve_s


def _is_slow(ours: Row | None, peers: list[PeerRow]) -> bool:
    compared = ratio(ours, best_peer(peers))
    if ours is None or compared is None or ours.solve_s is None:
        return False
    return compared > SLOWER and ours.solve_s > UNSEEN_S


def _bars(results: Results) -> str:
    """A table of the aims, and how far they are reached."""
    families = _games(results, FAMILIES)
    ours = [rows.get(AUTO) for _, rows, _ in families]
    times = [row.solve_s for row in ours if row and row.solve_s is not None]
    slow = sum(_is_slow(rows.get(AUTO), peers) for _, rows, peers in families)
    lines = []
    if times:
        lines = [
            [
                f"families on which Oink's best is more than {SLOWER} times faster and "
                f"we take more than {seconds(UNSEEN_S)}",
                f"{slow} of {len(families)}",
                "none",
            ],
            ["slowest game of a family", seconds(max(times)), seconds(MOST_S)],
        ]
    for name, rows, _ in _games(results, ENERGY):
        over = _over(rows.get(AUTO), rows.get(ALONE[0]))
        what = f"{name}: energy parity over energy alone"
        lines.append([what, number(over), f"at most {TIMES}"])
    checks = [
        found
        for group in (ENERGY, STREETT)
        for _, rows, _ in _games(results, group)
        if (found := _checked(rows.get(AUTO))) is not None
    ]
    if checks:
        what = "longest check over its solve, games with more than parity"
        lines.append([what, number(max(checks)), "at most 1"])
    return bars_table(lines)


def _families(results: Results) -> str:
    """A line for each game: ours, Oink's best, and the ratio."""

    def line(name: str, rows: dict[str, Row], peers: list[PeerRow]) -> list[str]:
        ours, peer = rows.get(AUTO), best_peer(peers)
        compared = ratio(ours, peer)
        some = next(iter(rows.values()))
        gave_up = [
            each.solver
            for each in peers
            if each.status == "timeout" and each.solver in OINK.solvers
        ]
        return [
            name,
            count(some.vertices),
            count(some.edges),
            seconds(ours.solve_s if ours else None),
            seconds(peer.total_s if peer else None),
            (peer and peer.solver) or "–",
            number(compared),
            verdict(compared),
            ", ".join(gave_up) or "–",
        ]

    lines = [line(*game) for game in _games(results, FAMILIES)]
    head = "game,vertices,edges,jaxgames,Oink's best,its solver,ratio,,no answer of"
    return table(head.split(","), lines) if lines else ""


def _solvers(results: Results) -> str:
    """A line for each of Oink's solvers: of how many games it has an answer."""
    answered: dict[str, list[bool]] = {}
    fastest: dict[str, int] = {}
    for _, _, peers in _games(results, FAMILIES):
        best = best_peer(peers)
        for peer in peers:
            if peer.solver is None:
                continue
            right = peer.status == "ok" and peer.agrees is not False
            answered.setdefault(peer.solver, []).append(right)
            fastest[peer.solver] = fastest.get(peer.solver, 0) + (peer is best)

    def line(solver: str) -> list[str]:
        right = answered[solver]
        kind = "quasi-polynomial" if solver in QUASI else ""
        return [solver, kind, f"{sum(right)} of {len(right)}", count(fastest[solver])]

    names = sorted(answered, key=lambda solver: (-sum(answered[solver]), solver))
    head = "Oink's solver,,right answers,fastest on"
    return table(head.split(","), [line(name) for name in names]) if names else ""


def _energy(results: Results) -> str:
    """A line for each energy parity game, and what its two conditions take alone."""

    def line(name: str, rows: dict[str, Row], _: list[PeerRow]) -> list[str]:
        ours = rows.get(AUTO)
        alone = [rows.get(solver) for solver in ALONE]
        return [
            name,
            count(next(iter(rows.values())).vertices),
            count(ours.rounds if ours else None),
            seconds(ours.solve_s if ours else None),
            seconds(ours.verify_s if ours else None),
            *(seconds(row.solve_s if row else None) for row in alone),
            number(_over(ours, alone[0])),
        ]

    lines = [line(*game) for game in _games(results, ENERGY)]
    head = "game,vertices,inner games,both,its check,energy alone,parity alone,times"
    return table(head.split(","), lines) if lines else ""


def _streett(results: Results) -> str:
    """A line for each Streett game: ours, both ways, and Oink on the product."""

    def line(name: str, rows: dict[str, Row], peers: list[PeerRow]) -> list[str]:
        ours, through = rows.get(AUTO), rows.get(PRODUCT)
        peer = best_peer(peers)
        nodes = None if through is None else through.phases.get("nodes")
        return [
            name,
            count(next(iter(rows.values())).vertices),
            seconds(ours.solve_s if ours else None),
            seconds(ours.verify_s if ours else None),
            *(
                seconds(row.solve_s if row else None)
                for row in (rows.get(RECURSION), through)
            ),
            count(nodes),
            seconds(peer.total_s if peer else None),
            number(ratio(ours, peer)),
        ]

    lines = [line(*game) for game in _games(results, STREETT)]
    head = (
        "game,vertices,jaxgames,its check,recursion,product,its nodes,Oink on it,ratio"
    )
    return table(head.split(","), lines) if lines else ""


TABLES: Tables = {
    "hard-bars": (SUITE, _bars),
    "hard-families": (SUITE, _families),
    "hard-solvers": (SUITE, _solvers),
    "hard-energy": (SUITE, _energy),
    "hard-streett": (SUITE, _streett),
}

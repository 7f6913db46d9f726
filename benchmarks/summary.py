"""What a results file says in short: how we stand against the peers and the aims."""

import statistics
from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.compare import AUTO, BEST, HOST, best_peer, by_game, entry, ratio
from benchmarks.schema import PeerRow, Results, Row
from benchmarks.tables import DASH, count, number, seconds, table

WIDE = 500_000
"""Vertices from which a GPU should be far ahead."""

SOME = 10_000
"""Vertices from which a CPU should be not far behind."""

HUGE = 10_000_000
"""Vertices of the files whose loading is compared."""

SHOWN = 100_000
"""Vertices of the files whose loading is shown."""


class Compared(NamedTuple):
    """A game that both sides solved: our time over the best peer's."""

    game: str
    row: Row
    ratio: float


def compared(results: Results) -> list[Compared]:
    """Every game that both sides solved; sums over folders of games are none."""
    found = []
    for game, rows, peers in by_game(results):
        ours = entry(rows)
        value = ratio(ours, best_peer(peers))
        if ours is not None and value is not None and ours.games is None:
            found.append(Compared(game, ours, value))
    return found


def bars(results: Results) -> str:
    """A table of the aims, and how far they are reached; empty without peers."""
    games = [each for each in compared(results) if each.row.solver == AUTO]
    if not games:
        return ""
    on_cpu = results.machine["backend"] == "cpu"
    lines = _cpu_bars(games) if on_cpu else _gpu_bars(games)
    lines += [_line_of_loading(results), *_lines_of_corpus(results)]
    return table(["what", "measured", "aim"], [line for line in lines if line])


def account(results: Results) -> str:
    """Wins and losses by name, and what could not be compared."""
    if not results.peers:
        return "No peer was run."
    games, said = sorted(compared(results), key=lambda each: each.ratio), []
    if games:
        mean = statistics.geometric_mean(each.ratio for each in games)
        wins = [each for each in games if each.ratio < 1]
        losses = [each for each in games[::-1] if each.ratio > 1]
        said += [
            f"Faster than the best peer on {len(wins)} of {len(games)} games, slower "
            f"on {len(losses)}; geometric mean of the ratios {number(mean)}.",
            _listed("Faster", wins),
            _listed("Slower", losses),
        ]
    unsolved, alone = [], []
    for game, rows, peers in by_game(results):
        ran = any(peer.status != "absent" for peer in peers)
        if entry(rows) is None:
            unsolved.append(game)
        elif ran and best_peer(peers) is None:
            alone.append(game)
    if unsolved:
        said.append(f"Without an answer of ours: {', '.join(unsolved)}.")
    if alone:
        said.append(f"Without an answer of a peer: {', '.join(alone)}.")
    absent = {
        f"{peer.peer} ({peer.reason})"
        for peer in results.peers
        if peer.status == "absent"
    }
    if absent:
        said.append(f"Not on this machine: {', '.join(sorted(absent))}.")
    differ = [
        f"{peer.peer} {peer.solver} on {peer.game}"
        for peer in results.peers
        if peer.agrees is False
    ]
    if differ:
        said.append(f"**Answers that differ from ours:** {', '.join(differ)}.")
    return "\n\n".join(each for each in said if each)


def loading(results: Results) -> str:
    """A table of files: our time to read them, and the peers' to parse them."""
    lines = []
    for game, rows, peers in by_game(results):
        ours, theirs = _loads(rows, peers)
        if ours is None or theirs is None or rows[0].vertices < SHOWN:
            continue
        if rows[0].games is None:
            about = [game, count(rows[0].vertices), count(rows[0].edges)]
            lines.append([*about, *map(seconds, (ours, theirs)), number(ours / theirs)])
    if not lines:
        return ""
    head = ["file", "vertices", "edges", "jaxgames", "best peer", "ratio"]
    return "\n\n".join(["#### Loading text files", table(head, lines)])


def _gpu_bars(games: list[Compared]) -> list[list[str]]:
    wide = [each for each in games if each.row.vertices >= WIDE]
    slow = [each for each in games if each.ratio > 1.5]
    worst = max(games, key=lambda each: each.ratio)
    mean = _mean(1 / each.ratio for each in wide)
    return [
        [
            f"best peer's time over ours, geometric mean over games of at least "
            f"{WIDE:,} vertices ({len(wide)})",
            f"{number(mean)} times",
            "at least 20 times",
        ],
        [
            f"our time over the best peer's, the worst of {len(games)} games",
            f"{number(worst.ratio)} times ({worst.game})",
            "at most 1.5 times",
        ],
        [
            "games on which we are more than 1.5 times slower",
            f"{len(slow)} of {len(games)}",
            "none",
        ],
    ]


def _cpu_bars(games: list[Compared]) -> list[list[str]]:
    large = [each for each in games if each.row.vertices >= SOME]
    on_host = [each for each in large if each.row.engine == HOST]
    return [
        [
            f"our time over the best peer's, geometric mean over games of at least "
            f"{SOME:,} vertices ({len(large)})",
            f"{number(_mean(each.ratio for each in large))} times",
            "at most 2 times",
        ],
        [
            f"the same where the host engine serves ({len(on_host)})",
            f"{number(_mean(each.ratio for each in on_host))} times",
            "at most 1.2 times",
        ],
    ]


def _line_of_loading(results: Results) -> list[str] | None:
    found = [
        _loads(rows, peers)
        for _, rows, peers in by_game(results)
        if rows[0].vertices >= HUGE and rows[0].games is None
    ]
    ratios = [ours / theirs for ours, theirs in found if ours and theirs]
    if not ratios:
        return None
    return [
        f"our time to load a text file of {HUGE:,} vertices over the best peer's, "
        f"geometric mean of {len(ratios)}",
        f"{number(_mean(ratios))} times",
        "at most once",
    ]


def _lines_of_corpus(results: Results) -> list[list[str]]:
    """Folders of games as one: against the best for each game, and the best of all."""
    folders = [
        (rows, peers)
        for _, rows, peers in by_game(results)
        if rows[0].games is not None
    ]
    ours = [entry(rows) for rows, _ in folders]
    if not ours or None in ours:
        return []
    spent = sum(row.solve_s or 0.0 for row in ours if row)
    games = sum(row.games or 0 for row in ours if row)
    solvers = dict.fromkeys(
        (peer.peer, peer.solver) for _, peers in folders for peer in peers
    )
    lines = []
    for name in solvers:
        sums = [
            peer.total_s
            for _, peers in folders
            for peer in peers
            if (peer.peer, peer.solver) == name and peer.agrees
        ]
        known = [each for each in sums if each is not None]
        if len(known) == len(folders) and sum(known):
            lines.append((sum(known), " ".join(map(str, name))))
    return [
        [
            f"our time for the {games} published games together over that of {name}",
            f"{number(spent / total)} times ({seconds(spent)}, {seconds(total)})",
            DASH,
        ]
        for total, name in sorted(lines, key=lambda line: BEST not in line[1])[:2]
    ]


def _loads(rows: list[Row], peers: list[PeerRow]) -> tuple[float | None, float | None]:
    """Our seconds to read a game's file, and the least of the peers."""
    ours = next((row.load_s for row in rows if row.load_s), None)
    theirs = [peer.parse_s for peer in peers if peer.parse_s]
    return ours, min(theirs, default=None)


def _listed(word: str, games: list[Compared]) -> str:
    if not games:
        return ""
    return (
        f"{word}: "
        + ", ".join(
            f"{each.game} ({number(max(each.ratio, 1 / each.ratio))} times)"
            for each in games
        )
        + "."
    )


def _mean(ratios: Iterable[float]) -> float | None:
    ratios = list(ratios)
    return statistics.geometric_mean(ratios) if ratios else None

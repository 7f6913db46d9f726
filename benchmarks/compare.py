"""What is compared: rows of one game, the best of each side, their ratio."""

import math
from collections.abc import Iterable

from benchmarks.schema import PeerRow, Results, Row

AUTO = "auto"
"""Name of the solver that users get who name none."""

HOST = "host"
"""Name of the compiled sequential engine among our solvers."""

BEST = "best for each game"
"""In place of a peer's solver, for many games: the sum of the least times."""


def best(rows: Iterable[Row]) -> Row | None:
    """The fastest of our solvers that gave a verified answer."""
    timed = [row for row in rows if row.answered and row.solve_s is not None]
    return min(timed, key=lambda row: row.solve_s or 0.0, default=None)


def entry(rows: Iterable[Row]) -> Row | None:
    """What stands for us: `"auto"` where it was measured, else the fastest solver.

    The host engine alone does not: it would win where `"auto"` was only left out.
    """
    rows = list(rows)
    auto = [row for row in rows if row.solver == AUTO]
    return best(auto or [row for row in rows if row.solver != HOST])


def best_peer(peers: Iterable[PeerRow]) -> PeerRow | None:
    """The fastest peer that gave an answer, and not another one than ours."""
    timed = [
        peer for peer in peers if peer.total_s is not None and peer.agrees is not False
    ]
    return min(timed, key=lambda peer: peer.total_s or 0.0, default=None)


def sequential(rows: Iterable[Row], peers: Iterable[PeerRow]) -> Row | PeerRow | None:
    """The fastest sequential program: our compiled engine, or a peer."""
    found = [best(row for row in rows if row.solver == HOST), best_peer(peers)]
    return min((each for each in found if each), key=spent, default=None)


def spent(line: Row | PeerRow | None) -> float:
    """Seconds of a solve; infinitely many where there was none."""
    seconds = line and (line.solve_s if isinstance(line, Row) else line.total_s)
    return math.inf if seconds is None else seconds


def ratio(ours: Row | None, peer: PeerRow | None) -> float | None:
    """Our time over the peer's: below one, we are faster.

    For each game, where the peer was given fewer of many.
    """
    if ours is None or ours.solve_s is None or peer is None or not peer.total_s:
        return None
    fewer = (ours.games or 1) / (peer.games or ours.games or 1)
    return ours.solve_s / (peer.total_s * fewer)


def by_game(results: Results) -> list[tuple[str, list[Row], list[PeerRow]]]:
    """Rows of each game, in the order in which the games were run."""
    games = dict.fromkeys(row.game for row in results.rows)
    return [
        (
            game,
            [row for row in results.rows if row.game == game],
            [peer for peer in results.peers if peer.game == game],
        )
        for game in games
    ]

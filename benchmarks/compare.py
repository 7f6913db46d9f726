"""What is compared: rows of one game, the best of each side, their ratio."""

from collections.abc import Iterable

from benchmarks.schema import PeerRow, Results, Row

AUTO = "auto"
"""Name of the solver that users get who name none."""

BEST = "best for each game"
"""In place of a peer's solver, for many games: the sum of the least times."""


def best(rows: Iterable[Row]) -> Row | None:
    """The fastest of our solvers that gave a verified answer."""
    timed = [row for row in rows if row.answered and row.solve_s is not None]
    return min(timed, key=lambda row: row.solve_s or 0.0, default=None)


def entry(rows: Iterable[Row]) -> Row | None:
    """What stands for us: `"auto"` where it was measured, else the fastest solver."""
    rows = list(rows)
    auto = [row for row in rows if row.solver == AUTO]
    return best(auto or rows)


def best_peer(peers: Iterable[PeerRow]) -> PeerRow | None:
    """The fastest peer that gave an answer, and not another one than ours."""
    timed = [
        peer for peer in peers if peer.total_s is not None and peer.agrees is not False
    ]
    return min(timed, key=lambda peer: peer.total_s or 0.0, default=None)


def ratio(ours: Row | None, peer: PeerRow | None) -> float | None:
    """Our time over the peer's: below one, we are faster."""
    if ours is None or ours.solve_s is None or peer is None or not peer.total_s:
        return None
    return ours.solve_s / peer.total_s


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
